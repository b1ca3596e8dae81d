/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of texts that the loop passes to jobs: the PCI functions that had an RDMA device, which
 * presence looks for, and the statistics that a setting names. The loop may replace a list while a
 * job still uses the old one. Thread: the loop counts references; the content is const, so any lane
 * may read it.
 */
#pragma once

#include <stddef.h>

#include "rna/base/arena.h"

struct rna_texts {
	unsigned refs;
	struct rna_arena *arena; /* owns this struct and its texts */
	size_t count;
	const char **items;
};

/* The length of a NULL-terminated list. NULL: 0. */
size_t rna_texts_len(char *const *list);

/*
 * An empty list with room for that many texts; the caller fills items and count. One reference.
 * NULL: no memory.
 */
struct rna_texts *rna_texts_new(size_t room);
/* Copies a NULL-terminated list; a NULL list is empty. One reference. NULL: no memory. */
struct rna_texts *rna_texts_copy(char *const *list);
struct rna_texts *rna_texts_ref(struct rna_texts *texts);   /* accepts NULL */
struct rna_texts *rna_texts_unref(struct rna_texts *texts); /* accepts NULL */
RNA_DEFINE_CLEANUP(struct rna_texts, rna_texts_unref)
