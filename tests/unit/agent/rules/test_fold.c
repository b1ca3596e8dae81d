// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/arena.h"

#include "rules/fold.h"

static void add(struct rna_finds *finds, const char *device, const char *text, const char *cause,
		enum rna_severity severity)
{
	finds->items[finds->count++] = (struct rna_find){
		.rule = finds->number,
		.fold = cause,
		.finding =
			{
				.rule = "driver-failing",
				.severity = severity,
				.device = device,
				.text = text,
			},
	};
}

static void test_one_cause_is_one_finding(void **state)
{
	struct rna_find items[8];
	struct rna_finds finds = {.arena = rna_arena_new(1024), .items = items};

	(void)state;
	add(&finds, "mlx5_10", "mlx5_10: x", "efa -22", RNA_SEVERITY_CRITICAL);
	add(&finds, "mlx5_2", "mlx5_2: x", "efa -22", RNA_SEVERITY_CRITICAL);
	add(&finds, "mlx5_3", "mlx5_3: x", "efa -22", RNA_SEVERITY_WARNING);
	add(&finds, "mlx5_4", "mlx5_4: y", NULL, RNA_SEVERITY_CRITICAL);
	add(&finds, "mlx5_1", "mlx5_1: x", "efa -22", RNA_SEVERITY_CRITICAL);
	add(&finds, "mlx5_5", "mlx5_5: z", NULL, RNA_SEVERITY_CRITICAL);
	rna_finds_fold(&finds);
	assert_int_equal(finds.count, 4);
	for (size_t i = 0; i < finds.count; i++) {
		const struct rna_finding *finding = &finds.items[i].finding;
		bool first = strcmp(finding->device, "mlx5_1") == 0;

		assert_int_equal(finding->other_count, first ? 2 : 0);
		assert_int_equal(rna_finding_is_about(finding, "mlx5_10"), first);
		if (first)
			assert_string_equal(finding->text, "mlx5_1: x; likewise mlx5_2, mlx5_10");
	}
	(void)rna_arena_free(finds.arena);
}

static void test_many_are_counted(void **state)
{
	static const char names[8][4] = {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"};
	struct rna_find items[8];
	struct rna_finds finds = {.arena = rna_arena_new(1024), .items = items};

	(void)state;
	for (size_t i = 0; i < 8; i++)
		add(&finds, names[i], "d0: x", "same", RNA_SEVERITY_WARNING);
	rna_finds_fold(&finds);
	assert_int_equal(finds.count, 1);
	assert_int_equal(finds.items[0].finding.other_count, 7);
	assert_string_equal(finds.items[0].finding.text,
			    "d0: x; likewise d1, d2, d3, d4 and 3 more");
	(void)rna_arena_free(finds.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_cause_is_one_finding),
		cmocka_unit_test(test_many_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
