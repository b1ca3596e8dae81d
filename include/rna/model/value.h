/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value: a number and its state. Absent is not zero, unreadable is not absent, and a saturated
 * counter is a lower bound.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum rna_value_state {
	RNA_VALUE_ABSENT = 0, /* this hardware does not have it; also the zeroed struct */
	RNA_VALUE_OK,
	RNA_VALUE_UNREADABLE, /* it exists, but reading failed; number is meaningless */
	/* it stopped at its maximum (IBTA PMA counters stick); true value >= number */
	RNA_VALUE_SATURATED,
};

struct rna_value {
	uint64_t number;
	enum rna_value_state state;
};

static inline struct rna_value rna_value_ok(uint64_t number)
{
	return (struct rna_value){.number = number, .state = RNA_VALUE_OK};
}

static inline struct rna_value rna_value_unreadable(void)
{
	return (struct rna_value){.state = RNA_VALUE_UNREADABLE};
}

/* Does the value have a number? */
static inline bool rna_value_is_known(struct rna_value value)
{
	return value.state == RNA_VALUE_OK || value.state == RNA_VALUE_SATURATED;
}

/* Are both known, and is value less than other? */
static inline bool rna_value_is_below(struct rna_value value, struct rna_value other)
{
	return rna_value_is_known(value) && rna_value_is_known(other) &&
	       value.number < other.number;
}

/* A rate as people say it of links. */
static inline double rna_gigabits(uint64_t bytes_per_second)
{
	return (double)bytes_per_second * 8 / 1e9;
}

const char *rna_value_state_name(enum rna_value_state state); /* "ok", "absent", ... */
