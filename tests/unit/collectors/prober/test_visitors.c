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
	struct rna_visitor *visitor;
	struct rna_aims old;

	(void)rna_visitors_find(&visitors, &probe, now, &visitor, &old);
	return visitor;
}

static enum rna_probe_stranger hear(uint64_t session, uint32_t number, bool large, rna_usec now)
{
	struct rna_packet probe = probe_of(session, number, large);
	struct rna_visitor *visitor;
	struct rna_aims old;
	enum rna_probe_stranger stranger =
		rna_visitors_find(&visitors, &probe, now, &visitor, &old);

	return visitor ? rna_visitor_accept(visitor, &probe, now) : stranger;
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
	assert_int_equal(hear(7, 500, false, START + SECOND - 1), RNA_STRANGER_DUPLICATE);
	assert_int_equal(hear(7, 500, false, START + SECOND), RNA_STRANGER_REPLAY);
	assert_int_equal(hear(7, 499, false, START + 1), RNA_STRANGER_REPLAY);    /* before it */
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
	assert_in_range(answered, 10 * RNA_VISITOR_RATE, 14 * RNA_VISITOR_RATE + 1);
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
	assert_int_equal(rna_visitors_find(&visitors, &probe, START + SECOND, &place, &old),
			 RNA_STRANGER_RATE);
	assert_null(place);
	assert_int_equal(rna_visitors_find(&visitors, &probe, START + 20 * SECOND, &place, &old),
			 RNA_STRANGER_COUNT);
	assert_ptr_equal(old.aims[3], &aim);
	assert_null(place->aims.aims[3]);
	assert_true(place->session == 1000);
	assert_null(find(0, START + 40 * SECOND)); /* no port has it */
}

/* So many others that all who were silent for ten seconds give way. */
static void crowd(uint64_t first, rna_usec now)
{
	for (uint64_t i = 0; i < RNA_VISITORS_MAX; i++)
		assert_int_equal(hear(first + i, 1, false, now), RNA_STRANGER_COUNT);
}

static void test_old_probes_are_refused_however_long_their_sender_was_silent(void **state)
{
	static const rna_usec silences[] = {10, 600, 86400};
	rna_usec now = START;

	(void)state;
	assert_int_equal(hear(7, 500, false, now), RNA_STRANGER_COUNT);
	assert_int_equal(hear(7, 20, true, now), RNA_STRANGER_COUNT);
	for (size_t i = 0; i < sizeof(silences) / sizeof(silences[0]); i++) {
		now += (silences[i] + 1) * SECOND;
		crowd(1000 * (i + 1), now);
		assert_int_equal(hear(7, 500, false, now), RNA_STRANGER_REPLAY);
		assert_int_equal(hear(7, 3, false, now), RNA_STRANGER_REPLAY);
		assert_int_equal(hear(7, 20, true, now), RNA_STRANGER_REPLAY);
	}
	assert_false(visitors.full);
}

/* A peer whose cable was out for an hour goes on where it was. */
static void test_a_former_visitor_comes_back(void **state)
{
	rna_usec now = START + 3600 * SECOND;

	(void)state;
	assert_int_equal(hear(7, 500, false, START), RNA_STRANGER_COUNT);
	crowd(1000, now);
	assert_int_equal(hear(7, 501, false, now), RNA_STRANGER_RATE); /* the others are there */
	now += 11 * SECOND;
	assert_int_equal(hear(7, 500, false, now), RNA_STRANGER_REPLAY);
	assert_int_equal(hear(7, 501, false, now), RNA_STRANGER_COUNT);
	assert_int_equal(hear(7, 1, true, now), RNA_STRANGER_COUNT); /* the first large one */
	assert_int_equal(hear(7, 499, false, now), RNA_STRANGER_REPLAY);
	assert_int_equal(hear(7, 501, false, now), RNA_STRANGER_DUPLICATE);
	assert_int_equal(visitors.former_count, 1); /* the one that gave way to it */
}

/* An old probe takes no place, so that it makes no visitor give way. */
static void test_a_replay_disturbs_no_visitor(void **state)
{
	rna_usec now = START + 20 * SECOND;

	(void)state;
	assert_int_equal(hear(7, 500, false, START), RNA_STRANGER_COUNT);
	crowd(1000, now);
	for (uint32_t i = 0; i < 500; i++)
		assert_int_equal(hear(7, i, false, now + i * SECOND), RNA_STRANGER_REPLAY);
	assert_int_equal(visitors.former_count, 1);
}

/* Then the port begins another session, for which no old packet is valid. */
static void test_no_visitor_is_forgotten(void **state)
{
	rna_usec now = START;
	uint64_t session = 1;

	(void)state;
	for (; session <= RNA_VISITORS_MAX + RNA_FORMER_VISITORS_MAX; session++)
		assert_int_equal(hear(session, 9, false, now += SECOND), RNA_STRANGER_COUNT);
	assert_false(visitors.full);
	assert_int_equal(hear(1, 9, false, now), RNA_STRANGER_REPLAY);
	assert_int_equal(hear(1, 10, false, now), RNA_STRANGER_COUNT); /* it changes places */
	assert_false(visitors.full);
	assert_int_equal(hear(session, 9, false, now + SECOND), RNA_STRANGER_RATE);
	assert_true(visitors.full);
}

/* The aimer has its place's address in mind. */
static void test_visitors_that_are_aimed_at_stay(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= RNA_VISITORS_MAX; i++)
		find(i, START + i)->aiming = true;
	assert_null(find(1000, START + 20 * SECOND));
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
		cmocka_unit_test_setup(
			test_old_probes_are_refused_however_long_their_sender_was_silent, set_up),
		cmocka_unit_test_setup(test_a_former_visitor_comes_back, set_up),
		cmocka_unit_test_setup(test_a_replay_disturbs_no_visitor, set_up),
		cmocka_unit_test_setup(test_no_visitor_is_forgotten, set_up),
		cmocka_unit_test_setup(test_visitors_that_are_aimed_at_stay, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
