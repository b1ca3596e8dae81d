// SPDX-License-Identifier: Apache-2.0
/* collectors/extend: what is a wrap and what a reset, and what is published of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"

#include "parse/extend.h"

#define RANGE (UINT64_C(1) << 32)
#define HALF  (UINT64_C(1) << 31)

static const struct rna_counter wraps32 = {.file = "wraps32", .width = 32};
static const struct rna_counter wraps64 = {.file = "wraps64", .width = 64};
static const struct rna_counter sticks8 = {.file = "sticks8", .width = 8, .saturates = true};
static const struct rna_counter sticks32 = {.file = "sticks32", .width = 32, .saturates = true};
static const struct rna_counter gauge32 = {.file = "gauge32", .width = 32, .kind = RNA_GAUGE};
static const struct rna_counter no_width = {.file = "no_width"};

static void test_movements(void **state)
{
	static const struct {
		const struct rna_counter *counter; /* NULL: a file without a row */
		uint64_t before, now;
		enum rna_movement movement;
	} cases[] = {
		{&wraps32, 0, 0, RNA_STEP},
		{&wraps32, 7, 7, RNA_STEP},
		{&wraps32, 0, RANGE - 1, RNA_STEP},
		{&wraps32, RANGE - 1, 0, RNA_WRAP},
		{&wraps32, RANGE - 1, HALF - 2, RNA_WRAP}, /* one less than half */
		{&wraps32, RANGE - 1, HALF - 1, RNA_RESET},
		{&wraps32, HALF + 1, 0, RNA_WRAP},
		{&wraps32, HALF, 0, RNA_RESET},
		{&wraps32, HALF + 1, HALF, RNA_RESET}, /* not once around but for one */
		{&wraps32, 1000, 3, RNA_RESET},
		{&wraps32, 1, 0, RNA_RESET},
		{&wraps32, RANGE, 3, RNA_RESET}, /* it is wider than its row says */
		{&wraps32, RANGE + HALF + 1, 0, RNA_RESET},
		{&wraps64, UINT64_MAX, 0, RNA_RESET},
		{&wraps64, 5, 4, RNA_RESET},
		{&wraps64, RANGE - 1, RANGE, RNA_STEP},
		{&sticks8, 255, 0, RNA_RESET}, /* perfquery -R */
		{&sticks8, 200, 199, RNA_RESET},
		{&sticks32, RANGE - 1, 0, RNA_RESET},
		{&gauge32, RANGE - 1, 0, RNA_STEP},
		{&gauge32, 5, 4, RNA_STEP},
		{&no_width, RANGE - 1, 0, RNA_RESET},
		{NULL, RANGE - 1, 0, RNA_STEP}, /* for all we know it is a gauge */
		{NULL, 5, 4, RNA_STEP},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++)
		if (rna_counter_movement(cases[i].counter, cases[i].before, cases[i].now) !=
		    cases[i].movement)
			fail_msg("case %zu", i);
}

/* One counter in a group of its own, run after run. */
struct run {
	struct rna_counter_value value;
	struct rna_counter_group group;
};

static struct run first_run(const struct rna_counter *counter, struct rna_value read)
{
	struct run run = {
		.value = {.counter = counter, .file = counter->file, .value = read},
		.group = {.generation = 1, .count = 1},
	};

	rna_counter_group_extend(&run.group, &run.value, NULL);
	return run;
}

static void next_run(struct run *run, uint64_t generation, struct rna_value read)
{
	struct run before = *run;

	before.group.values = &before.value;
	run->value.value = read;
	run->value.raw = 0;
	run->group.generation = generation;
	run->group.resets = 0;
	rna_counter_group_extend(&run->group, &run->value, &before.group);
}

static void assert_run(const struct run *run, uint64_t number, uint64_t resets)
{
	assert_int_equal(run->value.value.number, number);
	assert_int_equal(run->group.resets, resets);
}

static void test_wraps_add_up(void **state)
{
	struct run run = first_run(&wraps32, rna_value_ok(RANGE - 6));

	(void)state;
	assert_run(&run, RANGE - 6, 0);
	next_run(&run, 1, rna_value_ok(4));
	assert_run(&run, RANGE + 4, 0);
	assert_int_equal(run.value.raw, 4);
	next_run(&run, 1, rna_value_ok(4));
	assert_run(&run, RANGE + 4, 0);
	next_run(&run, 1, rna_value_ok(HALF + 4));
	next_run(&run, 1, rna_value_ok(RANGE - 1));
	assert_run(&run, 2 * RANGE - 1, 0);
	next_run(&run, 1, rna_value_ok(0));
	assert_run(&run, 2 * RANGE, 0);
}

static void test_a_reset_begins_with_what_was_read(void **state)
{
	struct run run = first_run(&wraps32, rna_value_ok(RANGE - 1));

	(void)state;
	next_run(&run, 1, rna_value_ok(1000));
	assert_run(&run, RANGE + 1000, 0);
	next_run(&run, 1, rna_value_ok(3));
	assert_run(&run, 3, 1);
	next_run(&run, 1, rna_value_ok(5));
	assert_run(&run, 5, 1);
	next_run(&run, 1, rna_value_ok(0));
	assert_run(&run, 0, 2);
}

/* What falls far enough to be a wrap, rises, or stays as it was. */
static void test_another_generation_is_a_reset(void **state)
{
	static const uint64_t after[] = {3, RANGE - 1, RANGE - 2};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(after); i++) {
		struct run run = first_run(&wraps32, rna_value_ok(RANGE - 7));

		next_run(&run, 1, rna_value_ok(RANGE - 2));
		next_run(&run, 2, rna_value_ok(after[i]));
		assert_run(&run, after[i], 1);
		next_run(&run, 2, rna_value_ok(RANGE - 1));
		assert_run(&run, RANGE - 1, 1);
	}
}

static void test_runs_without_a_number_are_bridged(void **state)
{
	struct run run = first_run(&wraps32, rna_value_ok(RANGE - 1));

	(void)state;
	next_run(&run, 1, rna_value_ok(9));
	next_run(&run, 1, rna_value_unreadable());
	assert_int_equal(run.value.value.state, RNA_VALUE_UNREADABLE);
	next_run(&run, 1, (struct rna_value){0});
	assert_int_equal(run.value.value.state, RNA_VALUE_ABSENT);
	next_run(&run, 1, rna_value_ok(10));
	assert_run(&run, RANGE + 10, 0);
	next_run(&run, 1, rna_value_unreadable());
	next_run(&run, 1, rna_value_ok(2));
	assert_run(&run, 2, 1);
}

static void test_a_first_run_without_a_number(void **state)
{
	struct run run = first_run(&wraps32, rna_value_unreadable());

	(void)state;
	next_run(&run, 1, rna_value_ok(RANGE - 1));
	assert_run(&run, RANGE - 1, 0);
}

static void test_a_saturated_counter_that_is_cleared(void **state)
{
	struct run run = first_run(&sticks8, rna_value_ok(255));

	(void)state;
	assert_int_equal(run.value.value.state, RNA_VALUE_SATURATED);
	next_run(&run, 1, rna_value_unreadable());
	next_run(&run, 1, rna_value_ok(255));
	assert_int_equal(run.value.value.state, RNA_VALUE_SATURATED);
	assert_run(&run, 255, 0);
	next_run(&run, 1, rna_value_ok(1));
	assert_int_equal(run.value.value.state, RNA_VALUE_OK);
	assert_run(&run, 1, 1);
}

static void test_only_what_can_wrap_is_extended(void **state)
{
	static const struct rna_counter *const counters[] = {&gauge32, &wraps64, &no_width};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(counters); i++) {
		struct run run = first_run(counters[i], rna_value_ok(RANGE - 1));

		next_run(&run, 1, rna_value_ok(2));
		assert_run(&run, 2, counters[i] != &gauge32);
	}
}

/* Counters that come and go between two runs do not mix up the others. */
static void test_values_find_themselves(void **state)
{
	const struct rna_counter *a = &rna_counters[0], *b = a + 1, *c = a + 2;
	const struct rna_counter_value before[] = {
		{.counter = a, .file = a->file, .value = rna_value_ok(1000), .raw = 10},
		{.counter = c, .file = c->file, .value = rna_value_ok(3000), .raw = 30},
		{.file = "new_2", .value = rna_value_ok(7), .raw = 7},
		{.file = "new_10", .value = rna_value_ok(8), .raw = 8},
	};
	struct rna_counter_value now[] = {
		{.counter = b, .file = b->file, .value = rna_value_ok(21)},
		{.counter = c, .file = c->file, .value = rna_value_ok(31)},
		{.file = "new_1", .value = rna_value_ok(5)},
		{.file = "new_10", .value = rna_value_unreadable()},
	};
	const struct rna_counter_group previous = {
		.generation = 1,
		.resets = 4,
		.count = RNA_ARRAY_SIZE(before),
		.values = before,
	};
	struct rna_counter_group group = {.generation = 1, .count = RNA_ARRAY_SIZE(now)};

	(void)state;
	rna_counter_group_extend(&group, now, &previous);
	assert_int_equal(now[0].value.number, 21);
	assert_int_equal(now[1].value.number, 3001);
	assert_int_equal(now[2].value.number, 5);
	assert_int_equal(now[3].raw, 8);
	assert_int_equal(group.resets, 4);
}

static void test_a_run_counts_one_reset(void **state)
{
	struct rna_counter_value before[] = {
		{.counter = &rna_counters[0], .value = rna_value_ok(9), .raw = 9},
		{.counter = &rna_counters[1], .value = rna_value_ok(9), .raw = 9},
	};
	struct rna_counter_value now[] = {
		{.counter = &rna_counters[0], .value = rna_value_ok(0)},
		{.counter = &rna_counters[1], .value = rna_value_ok(0)},
	};
	const struct rna_counter_group previous = {.count = 2, .values = before};
	struct rna_counter_group group = {.count = 2};

	(void)state;
	rna_counter_group_extend(&group, now, &previous);
	assert_int_equal(group.resets, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_movements),
		cmocka_unit_test(test_wraps_add_up),
		cmocka_unit_test(test_a_reset_begins_with_what_was_read),
		cmocka_unit_test(test_another_generation_is_a_reset),
		cmocka_unit_test(test_runs_without_a_number_are_bridged),
		cmocka_unit_test(test_a_first_run_without_a_number),
		cmocka_unit_test(test_a_saturated_counter_that_is_cleared),
		cmocka_unit_test(test_only_what_can_wrap_is_extended),
		cmocka_unit_test(test_values_find_themselves),
		cmocka_unit_test(test_a_run_counts_one_reset),
	};

	return cmocka_run_group_tests_name("extend", tests, NULL, NULL);
}
