/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that the loop has and jobs are given: the PCI functions that had an RDMA device, which
 * presence looks for, and the statistics that a setting names. The loop may have others before a
 * job is done with these.
 * Thread: counted by the loop, as parts are; const in between, so any lane may read.
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

/* How many texts stand in a NULL-ended list; NULL: none. */
size_t rna_texts_len(char *const *list);

/* Room for count texts, which the caller fills in, counting them; one reference. NULL: no memory.
 */
struct rna_texts *rna_texts_new(size_t room);
/* Copies of a NULL-ended list; NULL is an empty one. One reference. NULL: no memory. */
struct rna_texts *rna_texts_copy(char *const *list);
struct rna_texts *rna_texts_ref(struct rna_texts *texts);   /* accepts NULL */
struct rna_texts *rna_texts_unref(struct rna_texts *texts); /* accepts NULL */
RNA_DEFINE_CLEANUP(struct rna_texts, rna_texts_unref)
