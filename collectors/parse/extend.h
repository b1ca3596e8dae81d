/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters that stay right from one run to the next, wherever their numbers were read.
 *
 * A register of 32 bits that wraps would look like a reset in every rate computation; so the
 * wraps are counted here and added to what is published. A counter that falls otherwise was reset:
 * it is published as read, falls, and the reset is counted. Nothing is ever reset by us.
 *
 * What was known before comes from the part before, not from the reader, which is dropped whenever
 * a device fails: that must not make a counter jump.
 * Pure functions.
 */
#pragma once

#include <stdbool.h>

#include "rna/model/counter.h"

enum rna_movement {
	RNA_STEP,  /* forward or not at all; or nothing can be concluded */
	RNA_WRAP,  /* once past the end of the register, and on from zero */
	RNA_RESET, /* cleared by a user or by the driver */
};

/*
 * How a counter came from one number to the next. Less than half of its range forward over the end
 * is a wrap, every other fall a reset. Between two numbers there may have been further wraps, which
 * cannot be known: 32 bits are enough for a run every 10 s up to 200 million events a second.
 */
enum rna_movement rna_counter_movement(const struct rna_counter *counter, uint64_t before,
				       uint64_t now);

/* The order within a group: known counters as in their table, then unknown ones by name. */
int rna_counter_value_compare(const void *a, const void *b);

/*
 * Makes of values, the group's own as they were just read, what is published; fills group->resets.
 * previous: the group in the run before, NULL: none. Of another generation it is only counted as
 * a reset.
 */
void rna_counter_group_extend(struct rna_counter_group *group, struct rna_counter_value *values,
			      const struct rna_counter_group *previous);
