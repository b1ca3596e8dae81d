/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extends counters from run to run, independent of their source.
 *
 * Prometheus would treat the wrap of a 32-bit register as a reset and compute wrong rates, so wraps
 * are counted here and added to the published number. Any other fall is a reset: the number is
 * published as read, and the reset is counted. The agent never resets a counter.
 *
 * The previous numbers come from the previous part, not from the reader, which is dropped when a
 * device fails; that must not make a counter jump. Pure functions.
 */
#pragma once

#include <stdbool.h>

#include "rna/model/counter.h"

enum rna_movement {
	RNA_STEP,  /* forward or unchanged; or unknown */
	RNA_WRAP,  /* once past the end of the register, continuing at zero */
	RNA_RESET, /* cleared by an administrator or the driver */
};

/*
 * How a counter moved between two readings. A fall is a wrap if the distance forward over the end
 * is less than half of the range, otherwise a reset. Several wraps between two readings cannot be
 * detected: with a run every 10 s, 32 bits suffice up to 200 million events per second.
 */
enum rna_movement rna_counter_movement(const struct rna_counter *counter, uint64_t before,
				       uint64_t now);

/* The order within a group: known counters as in their table, then unknown ones by name. */
int rna_counter_value_compare(const void *a, const void *b);

/*
 * Turns values, the group's values as read, into published values, and fills group->resets.
 * previous: the group of the previous run; NULL: none. A previous group of another generation only
 * counts as a reset.
 */
void rna_counter_group_extend(struct rna_counter_group *group, struct rna_counter_value *values,
			      const struct rna_counter_group *previous);
