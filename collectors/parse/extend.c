// SPDX-License-Identifier: Apache-2.0
#include "extend.h"

#include "rna/base/parse.h"

/* 0 also if the width is unknown. */
static uint64_t range_of(const struct rna_counter *counter)
{
	return counter->width < 64 ? UINT64_C(1) << counter->width : 0;
}

/*
 * Another driver may have a wider register under the same name; a number above the range shows
 * that.
 */
static bool may_wrap(const struct rna_counter *counter, uint64_t before)
{
	return counter->width > 0 && counter->width < 64 && !counter->saturates &&
	       before < range_of(counter);
}

enum rna_movement rna_counter_movement(const struct rna_counter *counter, uint64_t before,
				       uint64_t now)
{
	if (now >= before || !counter || counter->kind == RNA_GAUGE)
		return RNA_STEP;
	if (may_wrap(counter, before) && range_of(counter) - before + now < range_of(counter) / 2)
		return RNA_WRAP;
	return RNA_RESET;
}

static bool is_at_maximum(const struct rna_counter *counter, uint64_t raw)
{
	if (counter->small_width > 0 && raw == (UINT64_C(1) << counter->small_width) - 1)
		return true;
	return counter->saturates && raw == range_of(counter) - 1;
}

/*
 * A counter is saturated if it was at its maximum in the previous run as well: some vendor kernels
 * have wider registers than IBTA specifies, and these pass 255 while rising.
 */
static bool is_saturated(const struct rna_counter_value *value,
			 const struct rna_counter_value *before)
{
	const struct rna_counter *counter = value->counter;

	return counter && is_at_maximum(counter, value->raw) &&
	       (!before || before->raw == value->raw);
}

/* before: NULL: first reading. True if the counter was reset. */
static bool extend(struct rna_counter_value *value, const struct rna_counter_value *before)
{
	enum rna_movement movement;

	if (!rna_value_is_known(value->value)) {
		value->value.number = before ? before->value.number : 0;
		value->raw = before ? before->raw : 0;
		return false;
	}
	value->raw = value->value.number;
	if (is_saturated(value, before))
		value->value.state = RNA_VALUE_SATURATED;
	if (!before)
		return false;
	movement = rna_counter_movement(value->counter, before->raw, value->raw);
	if (movement == RNA_RESET)
		return true;
	value->value.number += before->value.number - before->raw; /* all wraps so far */
	if (movement == RNA_WRAP)
		value->value.number += range_of(value->counter);
	return false;
}

int rna_counter_value_compare(const void *a, const void *b)
{
	const struct rna_counter_value *x = a, *y = b;

	if (x->counter && y->counter)
		return x->counter < y->counter ? -1 : x->counter > y->counter;
	if (x->counter || y->counter)
		return x->counter ? -1 : 1;
	return rna_compare_names(x->file, y->file);
}

void rna_counter_group_extend(struct rna_counter_group *group, struct rna_counter_value *values,
			      const struct rna_counter_group *previous)
{
	bool same = previous && previous->generation == group->generation;
	bool reset = previous && !same;
	const struct rna_counter_value *before = same ? previous->values : NULL;
	const struct rna_counter_value *end = same ? before + previous->count : NULL;

	for (size_t i = 0; i < group->count; i++) {
		int order = -1;

		while (before < end && (order = rna_counter_value_compare(before, &values[i])) < 0)
			before++;
		reset |= extend(&values[i], order == 0 ? before : NULL);
	}
	group->resets = (previous ? previous->resets : 0) + reset;
}
