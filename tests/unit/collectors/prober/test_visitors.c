// SPDX-License-Identifier: Apache-2.0
/* collectors/prober, visitors: which probes of peers are new, missing, or too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "prober/visitors.h"

#define SECOND RNA_USEC_PER_SEC
#define START  (1000 * SECOND)

static struct rna_visitors visitors;

static int set_up(void **state)
{
	(void)state;
	memset(&visitors, 0, sizeof(visitors));
	return 0;
}

static struct rna_packet probe_of(uint64_t session, uint32_t number, bool large)
{
	return (struct rna_packet){.kind = RNA_PACKET_PROBE,
				   .from = session,
				   .target = 1,
				   .number = number,
				   .large = large};
}

static struct rna_visitor *find(uint64_t session, rna_usec now)
{
	struct rna_packet probe = probe_of(session, 0, false);
	struct rna_aims old;

	return rna_visitors_find(&visitors, &probe, now, &old);
}

static enum rna_probe_stranger hear(uint64_t session, uint32_t number, bool large, rna_usec now)
{
	struct rna_packet probe = probe_of(session, number, large);
	struct rna_aims old;

	return rna_visitor_accept(rna_visitors_find(&visitors, &probe, now, &old), &probe, now);
}

static struct rna_prober_visitor_report report_of(uint64_t session)
{
	struct rna_prober_visitor_report report = {0};

	assert_true(rna_visitor_report(find(session, START), &report));
	return report;
}

static void test_a_probe_is_answered_once(void **state)
{
	(void)state;
	assert_int_equal(hear(7, 500, false, START), RNA_STRANGER_COUNT);
	assert_int_equal(hear(7, 500, false, START + SECOND), RNA_STRANGER_REPLAY);
	assert_int_equal(hear(7, 499, false, START + SECOND), RNA_STRANGER_REPLAY); /* before it */
	assert_int_equal(hear(7, 500, true, START + SECOND), RNA_STRANGER_COUNT); /* another size */
	assert_int_equal(hear(7, 502, false, START + 2 * SECOND), RNA_STRANGER_COUNT);
	assert_int_equal(hear(7, 501, false, START + 3 * SECOND),
			 RNA_STRANGER_COUNT); /* overtaken */
	assert_int_equal(hear(7, 501, false, START + 4 * SECOND), RNA_STRANGER_REPLAY);
	assert_int_equal(report_of(7).heard, 4);
}

static void test_gaps_are_missing_when_two_newer_ones_came(void **state)
{
	struct rna_prober_visitor_report report;
	rna_usec now = START;

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		if (i % 50 != 10) /* 10, 60, 110, 160 */
			(void)hear(7, i, false, now += SECOND);
	report = report_of(7);
	assert_int_equal(report.heard, 196);
	assert_int_equal(report.missing, 4);
	assert_int_equal(report.large_missing, 0);
	for (uint32_t i = 0; i < 200; i++)
		if (i != 10)
			(void)hear(7, i, true, now += SECOND);
	report = report_of(7);
	assert_int_equal(report.missing, 1);
	assert_int_equal(report.large_missing, 1);
	(void)hear(7, 201, false, now += SECOND);
	(void)hear(7, 202, false, now += SECOND);
	assert_int_equal(report_of(7).missing, 1); /* 200 */
	(void)hear(7, 204, false, now += SECOND);
	assert_int_equal(report_of(7).missing, 0); /* 203 may still come */
}

/* Overtaken by two: it was missing, and then it was not. */
static void test_a_late_one_is_missing_no_longer(void **state)
{
	rna_usec now = START;

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		if (i != 5)
			(void)hear(7, i, false, now += SECOND);
	assert_int_equal(hear(7, 5, false, now), RNA_STRANGER_COUNT);
	assert_int_equal(report_of(7).missing, 0);
}

static void test_after_a_long_absence_nothing_is_missing(void **state)
{
	(void)state;
	assert_int_equal(hear(7, 1, false, START), RNA_STRANGER_COUNT);
	assert_int_equal(hear(7, 5000, false, START + SECOND), RNA_STRANGER_COUNT);
	for (uint32_t i = 5001; i < 5100; i++)
		(void)hear(7, i, false, START + i * SECOND);
	assert_int_equal(report_of(7).missing, 0);
}

static void test_numbers_wrap(void **state)
{
	(void)state;
	assert_int_equal(hear(7, UINT32_MAX, false, START), RNA_STRANGER_COUNT);
	assert_int_equal(hear(7, 0, false, START + SECOND), RNA_STRANGER_COUNT);
	assert_int_equal(hear(7, UINT32_MAX, false, START + 2 * SECOND), RNA_STRANGER_REPLAY);
}

static void test_a_visitor_gets_no_more_answers_than_its_rate(void **state)
{
	unsigned answered = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) /* in ten seconds */
		answered += hear(7, i, false, START + i * SECOND / 100) == RNA_STRANGER_COUNT;
	assert_in_range(answered, 10 * RNA_VISITOR_RATE, 11 * RNA_VISITOR_RATE + 1);
}

static void test_idle_visitors_give_way(void **state)
{
	static int aim;
	struct rna_packet probe = probe_of(1000, 0, false);
	struct rna_visitor *place;
	struct rna_aims old;

	(void)state;
	for (uint64_t i = 1; i <= RNA_VISITORS_MAX; i++)
		assert_non_null(find(i, START + i));
	find(1, START)->aims.aims[3] = &aim;
	assert_null(rna_visitors_find(&visitors, &probe, START + SECOND, &old));
	place = rna_visitors_find(&visitors, &probe, START + 20 * SECOND, &old);
	assert_non_null(place);
	assert_ptr_equal(old.aims[3], &aim);
	assert_null(place->aims.aims[3]);
	assert_true(place->session == 1000);
	probe.from = 0; /* no prober has it */
	assert_null(rna_visitors_find(&visitors, &probe, START + 40 * SECOND, &old));
}

/* The aimer has its place's address in mind. */
static void test_visitors_that_are_aimed_at_stay(void **state)
{
	struct rna_packet probe = probe_of(1000, 0, false);
	struct rna_aims old;

	(void)state;
	for (uint64_t i = 1; i <= RNA_VISITORS_MAX; i++)
		find(i, START + i)->aiming = true;
	assert_null(rna_visitors_find(&visitors, &probe, START + 20 * SECOND, &old));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_probe_is_answered_once, set_up),
		cmocka_unit_test_setup(test_gaps_are_missing_when_two_newer_ones_came, set_up),
		cmocka_unit_test_setup(test_a_late_one_is_missing_no_longer, set_up),
		cmocka_unit_test_setup(test_after_a_long_absence_nothing_is_missing, set_up),
		cmocka_unit_test_setup(test_numbers_wrap, set_up),
		cmocka_unit_test_setup(test_a_visitor_gets_no_more_answers_than_its_rate, set_up),
		cmocka_unit_test_setup(test_idle_visitors_give_way, set_up),
		cmocka_unit_test_setup(test_visitors_that_are_aimed_at_stay, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
