// SPDX-License-Identifier: Apache-2.0
/* agent/core/selftest: what a bandwidth is worth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/model/selftest.h"

#define GBIT (1000000000 / 8) /* bytes per second */

static const struct rna_selftest_limits limits = {.ok = 900, .warning = 800, .siblings = 930};

static enum rna_grade judge(uint64_t bandwidth, uint64_t expected, uint64_t siblings)
{
	return rna_selftest_judge(bandwidth, expected, siblings, &limits);
}

static void test_against_what_is_expected(void **state)
{
	(void)state;
	assert_int_equal(judge(180ULL * GBIT, 200ULL * GBIT, 0), RNA_GRADE_OK);
	assert_int_equal(judge(180ULL * GBIT - 1, 200ULL * GBIT, 0), RNA_GRADE_WARNING);
	assert_int_equal(judge(160ULL * GBIT, 200ULL * GBIT, 0), RNA_GRADE_WARNING);
	assert_int_equal(judge(160ULL * GBIT - 1, 200ULL * GBIT, 0), RNA_GRADE_FAILED);
	assert_int_equal(judge(0, 200ULL * GBIT, 0), RNA_GRADE_FAILED);
	/* more than the link: PCIe allowed it */
	assert_int_equal(judge(250ULL * GBIT, 200ULL * GBIT, 0), RNA_GRADE_OK);
}

static void test_against_siblings(void **state)
{
	(void)state;
	assert_int_equal(judge(93, 0, 100), RNA_GRADE_OK);
	assert_int_equal(judge(92, 0, 100), RNA_GRADE_WARNING);
	/* good by itself, and yet slower than its siblings */
	assert_int_equal(judge(181ULL * GBIT, 200ULL * GBIT, 197ULL * GBIT), RNA_GRADE_WARNING);
	/* siblings that are as bad do not make it good */
	assert_int_equal(judge(100ULL * GBIT, 200ULL * GBIT, 100ULL * GBIT), RNA_GRADE_FAILED);
}

static void test_without_a_measure(void **state)
{
	(void)state;
	assert_int_equal(judge(100ULL * GBIT, 0, 0), RNA_GRADE_NONE);
}

static void test_large_numbers_do_not_wrap(void **state)
{
	(void)state;
	assert_int_equal(judge(UINT64_MAX, UINT64_MAX, UINT64_MAX), RNA_GRADE_OK);
	assert_int_equal(judge(UINT64_MAX / 2, UINT64_MAX, 0), RNA_GRADE_FAILED);
}

static void test_median(void **state)
{
	uint64_t many[] = {7, 1, 9, 3, 5}, even[] = {4, 1, 3, 2}, one[] = {5};

	(void)state;
	assert_int_equal(rna_selftest_median(many, 5), 5);
	assert_int_equal(rna_selftest_median(even, 4), 3);
	assert_int_equal(rna_selftest_median(one, 1), 0);
	assert_int_equal(rna_selftest_median(one, 0), 0);
}

static void test_searches_go_on_where_they_ended(void **state)
{
	static const struct rna_selftest_port ports[] = {
		{.device = "mlx5_0", .port = 1},
		{.device = "mlx5_0", .port = 2},
		{.device = "mlx5_1", .port = 1},
	};
	const struct rna_selftests selftests = {.count = 3, .ports = ports};
	size_t hint = 0;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_ptr_equal(rna_selftest_find(&selftests, ports[i].device, ports[i].port,
						   &hint),
				 &ports[i]);
		assert_int_equal(hint, i + 1);
	}
	assert_null(rna_selftest_find(&selftests, "mlx5_1", 2, &hint));
	assert_ptr_equal(rna_selftest_find(&selftests, "mlx5_0", 1, &hint), &ports[0]);
	assert_null(rna_selftest_find(NULL, "mlx5_0", 1, &hint));
}

static void test_the_newest_that_counts(void **state)
{
	struct rna_selftest_run runs[] = {
		{.request.endpoint = RNA_ENDPOINT_LOCAL, .result.end = RNA_LOOPBACK_DONE},
		{.request.endpoint = RNA_ENDPOINT_REMOTE, .result.end = RNA_LOOPBACK_DONE},
		{.request.endpoint = RNA_ENDPOINT_LOCAL, .result.end = RNA_LOOPBACK_CORRUPT},
		{.request.endpoint = RNA_ENDPOINT_LOCAL, .result.end = RNA_LOOPBACK_SKIPPED},
		{.request.endpoint = RNA_ENDPOINT_LOCAL, .special = true},
	};
	const struct rna_selftest_port port = {.count = RNA_ARRAY_SIZE(runs), .runs = runs};

	(void)state;
	assert_ptr_equal(rna_selftest_newest(&port, RNA_ENDPOINT_LOCAL, NULL), &runs[2]);
	assert_ptr_equal(rna_selftest_newest(&port, RNA_ENDPOINT_LOCAL, &runs[2]), &runs[0]);
	assert_null(rna_selftest_newest(&port, RNA_ENDPOINT_LOCAL, &runs[0]));
	assert_ptr_equal(rna_selftest_newest(&port, RNA_ENDPOINT_REMOTE, NULL), &runs[1]);
	assert_null(rna_selftest_newest(&port, RNA_ENDPOINT_GPU, NULL));
}

/* They are metric labels: each has its own word, and the words stay. */
static void test_names(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RNA_SKIP_COUNT; i++)
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(rna_skip_name(i), rna_skip_name(j));
	assert_string_equal(rna_skip_name(RNA_SKIP_BUSY), "busy");
	assert_string_equal(rna_skip_name(RNA_SKIP_COUNT), "?");
	assert_string_equal(rna_endpoint_name(RNA_ENDPOINT_GPU), "gpu");
	assert_string_equal(rna_endpoint_name(RNA_ENDPOINT_COUNT), "?");
	assert_string_equal(rna_grade_name(RNA_GRADE_FAILED), "failed");
	assert_string_equal(rna_grade_name(RNA_GRADE_COUNT), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_what_is_expected),
		cmocka_unit_test(test_against_siblings),
		cmocka_unit_test(test_without_a_measure),
		cmocka_unit_test(test_large_numbers_do_not_wrap),
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_searches_go_on_where_they_ended),
		cmocka_unit_test(test_the_newest_that_counts),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
