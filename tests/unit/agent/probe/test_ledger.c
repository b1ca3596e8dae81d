// SPDX-License-Identifier: Apache-2.0
/* agent/probe, ledger: counts, losses that are taken back, and what is usual. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "probe/ledger.h"

#define SECOND RNA_USEC_PER_SEC
#define START  (100000 * SECOND)

static struct rna_ledger ledger;

static int set_up(void **state)
{
	(void)state;
	rna_ledger_init(&ledger);
	return 0;
}

static struct rna_prober_target_report answers(uint64_t count)
{
	return (struct rna_prober_target_report){
		.counts = {.sent = count, .answered = count},
		.there = {26, 0, 62},
		.back = {26, 0, 62},
	};
}

static struct rna_prober_target_report losses(uint64_t small, uint64_t large)
{
	return (struct rna_prober_target_report){
		.counts = {.lost = small + large, .large_lost = large},
		.there = {255, 255, 255},
		.back = {255, 255, 255},
	};
}

static void add(struct rna_prober_target_report report, rna_usec now)
{
	rna_ledger_add(&ledger, &report, 26, now);
}

static void test_losses_count_once_an_answer_has_followed(void **state)
{
	(void)state;
	add(answers(10), START);
	add(losses(2, 1), START);
	rna_ledger_advance(&ledger, START + 20 * SECOND);
	assert_int_equal(ledger.total.lost, 0);
	add(answers(1), START + 20 * SECOND);
	add(answers(1), START + 21 * SECOND);
	rna_ledger_advance(&ledger, START + 20 * SECOND + RNA_LEDGER_GRACE - 1);
	assert_int_equal(ledger.total.lost, 0);
	rna_ledger_advance(&ledger, START + 20 * SECOND + RNA_LEDGER_GRACE);
	assert_int_equal(ledger.total.lost, 3);
	assert_int_equal(ledger.total.large_lost, 1);
	assert_int_equal(ledger.total.answered, 12);
	assert_int_equal(rna_ledger_window(&ledger, 30 * SECOND).lost, 2);
	rna_ledger_advance(&ledger, START + 40 * SECOND); /* once */
	assert_int_equal(ledger.total.lost, 3);
}

/* The agent has not read for some seconds what the prober reports. */
static void test_an_agent_that_stood_still(void **state)
{
	(void)state;
	add(losses(2, 0), START);
	add(answers(1), START + SECOND);
	rna_ledger_delay(&ledger, 5 * SECOND);
	rna_ledger_advance(&ledger, START + SECOND + RNA_LEDGER_GRACE + 4 * SECOND);
	assert_int_equal(ledger.total.lost, 0);
	rna_ledger_advance(&ledger, START + SECOND + RNA_LEDGER_GRACE + 5 * SECOND);
	assert_int_equal(ledger.total.lost, 2);
}

/* Nothing comes back for so many seconds, in each of which two probes are lost. The time then. */
static rna_usec lose_for(unsigned seconds)
{
	rna_usec now = START;

	for (unsigned i = 1; i <= seconds; i++, now += SECOND) {
		struct rna_prober_target_report report = losses(2, 0);

		report.unanswered = 2 * i;
		add(report, now);
		rna_ledger_advance(&ledger, now);
	}
	return now;
}

/* When something comes back, the losses count if no silence was judged. */
static void test_losses_of_a_run_wait_until_it_ends(void **state)
{
	struct rna_prober_target_report end = answers(1);
	rna_usec now = lose_for(20);

	(void)state;
	assert_int_equal(ledger.total.lost, 0);
	end.last_answer = now;
	ledger.last_answer = START - 1; /* not its first answer, before which all is void */
	add(end, now);
	rna_ledger_advance(&ledger, now);
	assert_int_equal(ledger.total.lost, 0);
	rna_ledger_advance(&ledger, now + RNA_LEDGER_GRACE);
	assert_int_equal(ledger.total.lost, 2 * 20);
	assert_int_equal(rna_ledger_window(&ledger, 60 * SECOND).lost, 2 * 20);
}

/* However late a silence is judged, its losses are in no window. */
static void test_a_silence_may_be_judged_late(void **state)
{
	rna_usec now = lose_for(25);

	(void)state;
	rna_ledger_set_silent(&ledger, true, now);
	assert_int_equal(ledger.total.lost, 2 * 25);
	assert_int_equal(rna_ledger_window(&ledger, 60 * SECOND).lost, 0);
}

static void test_a_run_is_not_undecided_for_ever(void **state)
{
	(void)state;
	(void)lose_for(60);
	assert_int_equal(ledger.total.lost, 2 * 30);
}

static struct rna_prober_target_report large_answer(void)
{
	struct rna_prober_target_report report = answers(1);

	report.counts.large_sent = report.counts.large_answered = 1;
	return report;
}

static void add_large_answers(unsigned count, rna_usec now)
{
	for (unsigned i = 0; i < count; i++) {
		add(large_answer(), now);
		add(answers(10), now);
	}
}

/* In the windows that are judged, large losses wait until it is known whether there is a hole. */
static void test_large_losses_by_chance(void **state)
{
	(void)state;
	add(losses(0, 2), START);
	add(answers(1), START + SECOND);
	rna_ledger_advance(&ledger, START + 10 * SECOND);
	add(answers(100), START + 10 * SECOND);
	add_large_answers(40, START + 11 * SECOND);
	assert_int_equal(rna_ledger_window(&ledger, 30 * SECOND).lost, 0);
	assert_int_equal(rna_ledger_recent(&ledger).lost, 2);
	assert_int_equal(rna_ledger_recent(&ledger).large_lost, 2);
	add_large_answers(60, START + 11 * SECOND);
	assert_int_equal(rna_ledger_window(&ledger, 30 * SECOND).lost, 2);
	assert_int_equal(rna_ledger_recent(&ledger).large_lost, 2);
	assert_int_equal(ledger.total.lost, 2);
	assert_false(ledger.hole.found);
}

static void test_large_losses_of_a_hole(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		add(losses(0, 1), START + i * SECOND);
		add(answers(20), START + i * SECOND);
	}
	rna_ledger_advance(&ledger, START + 8 * SECOND);
	assert_false(ledger.hole.found); /* how many small ones come back is not known */
	add(answers(50), START + 8 * SECOND);
	rna_ledger_advance(&ledger, START + 20 * SECOND);
	assert_true(ledger.hole.found);
	assert_false(rna_paths_are_some(&ledger.hole));
	assert_int_equal(rna_ledger_recent(&ledger).large_lost, 8);
	assert_int_equal(rna_ledger_window(&ledger, 30 * SECOND).lost, 0);
	add(losses(1, 1), START + 21 * SECOND);
	add(answers(1), START + 22 * SECOND);
	rna_ledger_advance(&ledger, START + 30 * SECOND);
	assert_int_equal(rna_ledger_window(&ledger, 30 * SECOND).lost, 1); /* the small one */
	assert_int_equal(rna_ledger_recent(&ledger).lost, 10);
	assert_int_equal(ledger.total.large_lost, 9);
	add_large_answers(3, START + 31 * SECOND);
	assert_true(ledger.hole.found);
	add_large_answers(6, START + 32 * SECOND);
	assert_false(ledger.hole.found); /* it is over */
	assert_int_equal(rna_ledger_window(&ledger, 30 * SECOND).large_lost, 0);
	assert_int_equal(rna_ledger_recent(&ledger).large_lost, 9);
	rna_ledger_advance(&ledger, START + RNA_PROBE_RECENT + 60 * SECOND);
	assert_int_equal(rna_ledger_recent(&ledger).large_lost, 0);
}

/* Small ones are lost as often: no size matters. */
static void test_losses_of_all_sizes_are_no_hole(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		add(losses(1, 1), START + i * SECOND);
		add(answers(1), START + i * SECOND);
		add(large_answer(), START + i * SECOND);
		rna_ledger_advance(&ledger, START + i * SECOND);
		assert_false(ledger.hole.found);
	}
	assert_in_range(rna_ledger_window(&ledger, RNA_PROBE_RECENT).lost, 150, 200);
}

/* A late answer is one, and what was sent to an end that stood still for long is void. */
static void test_losses_are_taken_back(void **state)
{
	struct rna_prober_target_report late = answers(0);

	(void)state;
	add(losses(1, 1), START);
	add(losses(4, 0), START + SECOND);
	late.late = 3;
	late.late_large = 1;
	late.excused = 1;
	add(late, START + 2 * SECOND);
	rna_ledger_advance(&ledger, START + 20 * SECOND);
	assert_int_equal(ledger.total.lost, 2);
	assert_int_equal(ledger.total.large_lost, 0);
	assert_int_equal(ledger.total.answered, 3);
	assert_int_equal(ledger.total.large_answered, 1);
	assert_int_equal(ledger.total.voided, 1);
	late.late = 5; /* more than there are */
	add(late, START + 21 * SECOND);
	assert_int_equal(ledger.total.answered, 3);
	assert_int_equal(ledger.total.lost, 2);
}

static void test_more_groups_of_losses_than_can_wait(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3 * RNA_LEDGER_WAITING; i++)
		add(losses(1, 0), START + i * 1000);
	rna_ledger_advance(&ledger, START + 31 * SECOND);
	assert_int_equal(ledger.total.lost, 3 * RNA_LEDGER_WAITING);
}

static void test_windows_forget(void **state)
{
	(void)state;
	add(answers(100), START);
	rna_ledger_advance(&ledger, START + 60 * SECOND);
	assert_int_equal(rna_ledger_window(&ledger, 30 * SECOND).answered, 0);
	assert_int_equal(rna_ledger_window(&ledger, 120 * SECOND).answered, 100);
	rna_ledger_advance(&ledger, START + RNA_PROBE_RECENT + 20 * SECOND);
	assert_int_equal(rna_ledger_window(&ledger, RNA_PROBE_RECENT).answered, 0);
	assert_int_equal(ledger.total.answered, 100);
	add(answers(1), START + 1000 * RNA_PROBE_RECENT); /* after a long sleep */
	assert_int_equal(rna_ledger_window(&ledger, RNA_PROBE_RECENT).answered, 1);
}

static void test_refusals_last_until_an_answer(void **state)
{
	struct rna_prober_target_report refused = answers(0);

	(void)state;
	add(answers(1), START);
	refused.refused = 2;
	refused.refusal = EHOSTUNREACH;
	add(refused, START + SECOND);
	add(refused, START + 5 * SECOND);
	assert_int_equal(ledger.refusal, EHOSTUNREACH);
	assert_true(ledger.refused_first == START + SECOND);
	assert_true(ledger.refused_last == START + 5 * SECOND);
	assert_int_equal(ledger.refused, 4);
	add(answers(1), START + 6 * SECOND);
	assert_int_equal(ledger.refusal, 0);
	assert_true(ledger.refused_first == 0);
}

static void test_another_dscp(void **state)
{
	struct rna_prober_target_report rewritten = answers(1);

	(void)state;
	rewritten.there.dscp = 0;
	for (unsigned i = 0; i < 4; i++)
		add(rewritten, START + i * SECOND);
	assert_int_equal(ledger.dscp.all.shown, 4);
	assert_int_equal(ledger.dscp_other, 0);
	add(losses(5, 0), START + 4 * SECOND); /* no answer: nothing new */
	rewritten.there.dscp = 255;            /* the peer could not see it */
	add(rewritten, START + 6 * SECOND);
	assert_int_equal(ledger.dscp.all.shown, 4);
	assert_int_equal(ledger.dscp.all.run, 0);
	assert_false(ledger.dscp.found);
	rewritten.there.dscp = 8;
	add(rewritten, START + 7 * SECOND);
	assert_true(ledger.dscp.found);
	assert_int_equal(ledger.dscp_other, 8);
}

static void test_the_usual_hop_limit_is_learned(void **state)
{
	struct rna_prober_target_report longer = answers(1);
	rna_usec now = START;

	(void)state;
	for (int i = 0; i < 20; i++)
		add(answers(1), now += SECOND);
	assert_int_equal(ledger.hops_usual, 62);
	assert_int_equal(ledger.hops.length, 0);
	longer.there.hop_limit = 60;
	for (int i = 0; i < 100; i++)
		add(longer, now += SECOND);
	assert_int_equal(ledger.hops_usual, 62);
	assert_int_equal(ledger.hops.length, 100);
	assert_int_equal(ledger.hops.value, 60);
	add(longer, now + 2 * 3600 * SECOND); /* it stays so: that is how it is now */
	assert_int_equal(ledger.hops_usual, 60);
}

static void add_round_trip(uint32_t nanoseconds, rna_usec now)
{
	struct rna_prober_target_report report = answers(1);

	report.sample_count = 1;
	report.samples[0] = nanoseconds;
	add(report, now);
	rna_ledger_advance(&ledger, now);
}

static void test_round_trips_and_what_is_usual(void **state)
{
	rna_usec now = START;

	(void)state;
	for (unsigned i = 0; i < 7; i++)
		add_round_trip(5000, now += SECOND);
	assert_int_equal(rna_ledger_rtt(&ledger, 50), 0); /* too few */
	for (unsigned i = 0; i < 100; i++)
		add_round_trip(i % 10 == 0 ? 90000 : 5000, now += SECOND);
	assert_int_equal(rna_ledger_rtt(&ledger, 50), 5000);
	assert_int_equal(rna_ledger_rtt(&ledger, 99), 90000);
	assert_in_range(ledger.usual, 4900, 5100);
	rna_ledger_set_slow(&ledger, true, now);
	for (unsigned i = 0; i < 600; i++)
		add_round_trip(50000, now += SECOND);
	assert_in_range(ledger.usual, 4900, 5100); /* not learned while it is slow */
	assert_true(ledger.slow_since == now - 600 * SECOND);
	rna_ledger_set_slow(&ledger, false, now);
	for (unsigned i = 0; i < 8 * 3600; i++)
		add_round_trip(10000, now += SECOND);
	assert_in_range(ledger.usual, 9800, 10100); /* within hours */
}

static void test_a_busy_start_is_not_usual_for_long(void **state)
{
	rna_usec now = START;

	(void)state;
	for (unsigned i = 0; i < 60; i++)
		add_round_trip(50000, now += SECOND);
	assert_int_equal(ledger.usual, 50000);
	for (unsigned i = 0; i < 10 * 60; i++)
		add_round_trip(5000, now += SECOND);
	assert_in_range(ledger.usual, 5000, 15000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_losses_count_once_an_answer_has_followed, set_up),
		cmocka_unit_test_setup(test_an_agent_that_stood_still, set_up),
		cmocka_unit_test_setup(test_losses_of_a_run_wait_until_it_ends, set_up),
		cmocka_unit_test_setup(test_a_silence_may_be_judged_late, set_up),
		cmocka_unit_test_setup(test_a_run_is_not_undecided_for_ever, set_up),
		cmocka_unit_test_setup(test_large_losses_by_chance, set_up),
		cmocka_unit_test_setup(test_large_losses_of_a_hole, set_up),
		cmocka_unit_test_setup(test_losses_are_taken_back, set_up),
		cmocka_unit_test_setup(test_more_groups_of_losses_than_can_wait, set_up),
		cmocka_unit_test_setup(test_windows_forget, set_up),
		cmocka_unit_test_setup(test_losses_of_all_sizes_are_no_hole, set_up),
		cmocka_unit_test_setup(test_refusals_last_until_an_answer, set_up),
		cmocka_unit_test_setup(test_another_dscp, set_up),
		cmocka_unit_test_setup(test_the_usual_hop_limit_is_learned, set_up),
		cmocka_unit_test_setup(test_round_trips_and_what_is_usual, set_up),
		cmocka_unit_test_setup(test_a_busy_start_is_not_usual_for_long, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
