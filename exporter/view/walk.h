/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk over the known counters. Families come in the order of the counter table, and so do the
 * values of each group: one cursor per group, all moving forward together, and a render reads
 * every value once, without searching.
 */
#pragma once

#include "subjects.h"

struct rna_cursor {
	/* the row of the value at the cursor; the end of the table when no known one is left */
	const struct rna_counter *next;
	const struct rna_counter_value *at;
	const struct rna_counter_value *end;
	const struct rna_subject *subject;
};

struct rna_cursor_list {
	size_t count;
	struct rna_cursor *items;
	const struct rna_counter *first; /* no cursor is before this row */
};

struct rna_walk {
	struct rna_cursor_list places[RNA_PLACE_COUNT];
	struct rna_cursor *cursors; /* memory of all lists */
	size_t size;
};

#define RNA_WALK_INIT ((struct rna_walk){0})

/* Puts a cursor at the start of each group. subjects must outlive the walk. 0 or -ENOMEM. */
int rna_walk_start(struct rna_walk *walk, const struct rna_subjects *subjects);
void rna_walk_deinit(struct rna_walk *walk); /* idempotent */

/*
 * The next value of counter, in the order of subjects, from cursor *from on, which moves on; NULL:
 * there are no more. Counters must be asked for in the order of their table.
 */
const struct rna_counter_value *rna_walk_next(struct rna_walk *walk,
					      const struct rna_counter *counter, size_t *from,
					      const struct rna_subject **ret_subject);
