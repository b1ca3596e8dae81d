// SPDX-License-Identifier: Apache-2.0
/* exporter/http/connections: who is expected to ask for metrics, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/connections.h"

#define SECOND RNA_USEC_PER_SEC

static void asks(struct rna_scraper *scraper, rna_usec now)
{
	rna_scraper_asks(scraper, RNA_EXPOSITION_OPENMETRICS, true, now);
}

static void test_one_scrape_is_no_rhythm(void **state)
{
	struct rna_scraper scraper = {0};

	(void)state;
	assert_false(rna_scraper_is_due(&scraper, 100 * SECOND, 200 * SECOND));
	asks(&scraper, 100 * SECOND);
	assert_false(rna_scraper_is_due(&scraper, 100 * SECOND, 200 * SECOND));
}

static void test_it_is_due_after_its_interval(void **state)
{
	struct rna_scraper scraper = {0};

	(void)state;
	asks(&scraper, 100 * SECOND);
	asks(&scraper, 115 * SECOND);
	assert_int_equal(scraper.format, RNA_EXPOSITION_OPENMETRICS);
	assert_true(scraper.gzip);
	assert_false(rna_scraper_is_due(&scraper, 128 * SECOND, SECOND));
	assert_true(rna_scraper_is_due(&scraper, 129 * SECOND, SECOND));
	assert_true(rna_scraper_is_due(&scraper, 131 * SECOND, SECOND));  /* it may be late */
	assert_false(rna_scraper_is_due(&scraper, 132 * SECOND, SECOND)); /* it has given up */
}

static void test_the_last_interval_counts(void **state)
{
	struct rna_scraper scraper = {0};

	(void)state;
	asks(&scraper, 100 * SECOND);
	asks(&scraper, 115 * SECOND);
	asks(&scraper, 120 * SECOND);
	assert_true(rna_scraper_is_due(&scraper, 125 * SECOND, SECOND));
	assert_false(rna_scraper_is_due(&scraper, 135 * SECOND, SECOND));
}

static void test_when_it_is_expected(void **state)
{
	struct rna_scraper scraper = {0};

	(void)state;
	assert_true(rna_scraper_next(&scraper, 100 * SECOND, 100 * SECOND) == RNA_USEC_NEVER);
	asks(&scraper, 100 * SECOND);
	assert_true(rna_scraper_next(&scraper, 101 * SECOND, 100 * SECOND) == RNA_USEC_NEVER);
	asks(&scraper, 115 * SECOND);
	assert_int_equal(rna_scraper_next(&scraper, 116 * SECOND, 116 * SECOND), 130 * SECOND);
	assert_int_equal(rna_scraper_next(&scraper, 130 * SECOND, 116 * SECOND), 130 * SECOND);
	assert_int_equal(rna_scraper_next(&scraper, 131 * SECOND, 116 * SECOND), 145 * SECOND);
	/* it has left its rhythm */
	assert_true(rna_scraper_next(&scraper, 160 * SECOND, 146 * SECOND) == RNA_USEC_NEVER);
	/* it asks each second: nothing is read for that */
	asks(&scraper, 116 * SECOND);
	assert_true(rna_scraper_next(&scraper, 117 * SECOND, 116 * SECOND) == RNA_USEC_NEVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_scrape_is_no_rhythm),
		cmocka_unit_test(test_it_is_due_after_its_interval),
		cmocka_unit_test(test_the_last_interval_counts),
		cmocka_unit_test(test_when_it_is_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
