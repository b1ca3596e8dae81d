/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index: finds an item by its key, a text and a number, by binary search. For lists that grow
 * while they are searched; lists that are complete are sorted and searched instead.
 * Ownership: the texts are the caller's, and have to live as long as the index. Thread: any, one at
 * a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rna/base/cleanup.h"

struct rna_index_entry {
	const char *text;
	uint64_t number;
	size_t item; /* where the item is in the caller's list */
};

struct rna_index {
	size_t count;
	struct rna_index_entry *entries; /* sorted */
};

#define RNA_INDEX_INIT ((struct rna_index){0})

/*
 * Adds an item. The caller adds a key once; of items with the same key, any may be found. 0 or
 * -ENOMEM.
 */
int rna_index_add(struct rna_index *index, const char *text, uint64_t number, size_t item);

/* The item with this key. -ENOENT: there is none. */
int rna_index_find(const struct rna_index *index, const char *text, uint64_t number, size_t *ret);

void rna_index_deinit(struct rna_index *index); /* idempotent */

#define RNA_INDEX RNA_CLEANUP(rna_index_deinit)
