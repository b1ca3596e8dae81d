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
 * Gives every subject its labels, prepared anew only if the device set or the jobs are others than
 * last time. They live until the next call with another set. 0 or -ENOMEM.
 */
int rna_label_store_apply(struct rna_label_store *store, struct rna_subjects *subjects);
