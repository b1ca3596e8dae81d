/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepared label text. The labels of a subject are the same from scrape to scrape and would be
 * most of the work of a render; here they are written once per device set.
 */
#pragma once

#include "view/subjects.h"

struct rna_label_store;

struct rna_label_store *rna_label_store_new(void); /* NULL: no memory */
struct rna_label_store *rna_label_store_free(struct rna_label_store *store);
RNA_DEFINE_CLEANUP(struct rna_label_store, rna_label_store_free)

/*
 * The subjects of the view with their labels; GIDs and jobs only if a setting asks for their
 * series. Labels are prepared anew only if the device set or the jobs are others than last time.
 * Items of *ret are one array of memory, to be freed; labels are valid until the next call. 0 or
 * -ENOMEM.
 */
int rna_label_store_apply(struct rna_label_store *store, const struct rna_view *view,
			  struct rna_subjects *ret, struct rna_subject **ret_memory);
