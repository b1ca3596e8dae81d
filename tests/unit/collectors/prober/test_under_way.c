// SPDX-License-Identifier: Apache-2.0
/* collectors/prober, under_way: what becomes of probes. Times are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "prober/under_way.h"

#define SECOND RNA_USEC_PER_SEC
#define START  (1000 * SECOND)

static const struct rna_probe_way quiet = {26, 2, 64};
static const struct rna_probe_way congested = {26, 3, 64};

static struct rna_under_way begin(void)
{
	struct rna_under_way under_way;

	rna_under_way_init(&under_way);
	return under_way;
}

static struct rna_packet answer_to(uint32_t number, bool large)
{
	return (struct rna_packet){.kind = RNA_PACKET_ANSWER,
				   .large = large,
				   .number = number,
				   .there = quiet};
}

static bool answer(struct rna_under_way *under_way, uint32_t number, bool large, rna_usec now)
{
	struct rna_packet packet = answer_to(number, large);

	return rna_under_way_answer(under_way, &packet, quiet, now, 0);
}

static struct rna_prober_target_report report_of(struct rna_under_way *under_way)
{
	struct rna_prober_target_report report = {0};

	assert_true(rna_under_way_report(under_way, &report));
	return report;
}

static void test_a_copy_of_an_answer_is_no_replay(void **state)
{
	struct rna_under_way under_way = begin();
	uint32_t first = rna_under_way_send(&under_way, false, 3, START);
	struct rna_packet packet = answer_to(first, false);

	(void)state;
	assert_false(rna_under_way_is_copy(&under_way, &packet, START));
	assert_true(answer(&under_way, first, false, START + 10));
	assert_true(rna_under_way_is_copy(&under_way, &packet, START + 20));
	assert_false(rna_under_way_is_copy(&under_way, &packet, START + 10 + SECOND));
	packet.number++;
	assert_false(rna_under_way_is_copy(&under_way, &packet, START + 20));
	packet = answer_to(first, true);
	assert_false(rna_under_way_is_copy(&under_way, &packet, START + 20));
}

static void test_answered_probes_count_once(void **state)
{
	struct rna_under_way under_way = begin();
	struct rna_prober_target_report report;
	uint32_t small = rna_under_way_send(&under_way, false, 3, START);
	uint32_t large = rna_under_way_send(&under_way, true, 4, START);

	(void)state;
	assert_int_equal(small, 0);
	assert_int_equal(large, 0); /* sizes are numbered separately */
	assert_true(answer(&under_way, small, false, START + 10));
	assert_true(answer(&under_way, large, true, START + 20));
	assert_false(answer(&under_way, small, false, START + 30)); /* a replay */
	rna_under_way_expire(&under_way, START + 5 * SECOND);
	report = report_of(&under_way);
	assert_int_equal(report.counts.sent, 2);
	assert_int_equal(report.counts.answered, 2);
	assert_int_equal(report.counts.large_sent, 1);
	assert_int_equal(report.counts.large_answered, 1);
	assert_int_equal(report.counts.lost, 0);
	assert_int_equal(report.classes_seen, 1 << 3 | 1 << 4);
	assert_int_equal(report.classes_lost, 0);
	assert_true(report.last_answer == START + 20);
	assert_false(rna_under_way_report(&under_way, &report));
}

static void test_losses_are_counted_after_the_patience(void **state)
{
	struct rna_under_way under_way = begin();
	struct rna_prober_target_report report;

	(void)state;
	(void)rna_under_way_send(&under_way, false, 3, START);
	(void)rna_under_way_send(&under_way, true, 4, START);
	rna_under_way_expire(&under_way, START + RNA_PROBER_PATIENCE);
	assert_int_equal(report_of(&under_way).counts.lost, 0);
	rna_under_way_expire(&under_way, START + RNA_PROBER_PATIENCE + 1);
	report = report_of(&under_way);
	assert_int_equal(report.counts.lost, 2);
	assert_int_equal(report.counts.large_lost, 1);
	assert_int_equal(report.unanswered, 2);
	assert_int_equal(report.classes_lost, 1 << 3 | 1 << 4);
	rna_under_way_expire(&under_way, START + 3 * SECOND); /* each once */
	assert_false(rna_under_way_report(&under_way, &report));
	(void)rna_under_way_send(&under_way, false, 5, START + 4 * SECOND);
	rna_under_way_expire(&under_way, START + 6 * SECOND);
	assert_int_equal(report_of(&under_way).unanswered, 3); /* goes on over reports */
}

static void test_a_late_answer_takes_a_loss_back(void **state)
{
	struct rna_under_way under_way = begin();
	struct rna_prober_target_report report;
	uint32_t number = rna_under_way_send(&under_way, true, 3, START);

	(void)state;
	rna_under_way_expire(&under_way, START + 2 * SECOND);
	assert_int_equal(report_of(&under_way).counts.lost, 1);
	assert_true(answer(&under_way, number, true, START + 3 * SECOND));
	report = report_of(&under_way);
	assert_int_equal(report.late, 1);
	assert_int_equal(report.late_large, 1);
	assert_int_equal(report.counts.answered, 0);
	assert_int_equal(report.unanswered, 0);
	assert_false(answer(&under_way, number, true, START + 3 * SECOND));
}

static void test_answers_later_than_the_memory_are_refused(void **state)
{
	struct rna_under_way under_way = begin();
	uint32_t number = rna_under_way_send(&under_way, false, 3, START);

	(void)state;
	rna_under_way_expire(&under_way, START + 2 * SECOND);
	assert_false(answer(&under_way, number, false, START + RNA_UNDER_WAY_MEMORY + 1));
	assert_false(answer(&under_way, number + 1, false, START)); /* never sent */
}

/* Meanwhile it could not look for answers: what was lost is lost, and known later. */
static void test_a_late_host_sees_losses_later(void **state)
{
	struct rna_under_way under_way = begin();
	struct rna_prober_target_report report;
	uint32_t answered = rna_under_way_send(&under_way, false, 3, START);

	(void)state;
	(void)rna_under_way_send(&under_way, false, 4, START);
	rna_under_way_delay(&under_way, 2 * SECOND, false);
	rna_under_way_expire(&under_way, START + 3 * SECOND);
	assert_int_equal(report_of(&under_way).counts.lost, 0);
	assert_true(answer(&under_way, answered, false, START + 3 * SECOND));
	rna_under_way_expire(&under_way, START + 3 * SECOND + 1);
	report = report_of(&under_way);
	assert_int_equal(report.counts.answered, 1);
	assert_int_equal(report.counts.lost, 1);
	assert_int_equal(report.counts.voided, 0);
	assert_int_equal(report.classes_lost, 1 << 4);
	assert_int_equal(report.unanswered, 1);
}

/* In which more may have come than fits: what stays without an answer is void. */
static void test_a_host_that_stood_still_for_long(void **state)
{
	struct rna_under_way under_way = begin();
	struct rna_prober_target_report report;
	uint32_t answered = rna_under_way_send(&under_way, false, 3, START);
	uint32_t number = rna_under_way_send(&under_way, false, 4, START);

	(void)state;
	rna_under_way_delay(&under_way, 4 * SECOND, false);
	(void)rna_under_way_send(&under_way, false, 5, START + 4 * SECOND); /* after it */
	assert_true(answer(&under_way, answered, false, START + 4 * SECOND));
	rna_under_way_expire(&under_way, START + 6 * SECOND);
	report = report_of(&under_way);
	assert_int_equal(report.counts.answered, 1);
	assert_int_equal(report.counts.voided, 1);
	assert_int_equal(report.counts.lost, 1);
	assert_int_equal(report.classes_lost, 1 << 5);
	/* An answer to a void one is no stranger's, and takes nothing back. */
	assert_true(answer(&under_way, number, false, START + 7 * SECOND));
	report = report_of(&under_way);
	assert_int_equal(report.counts.answered, 0);
	assert_int_equal(report.late, 0);
	assert_false(answer(&under_way, number, false, START + 7 * SECOND));
}

static void answer_late(struct rna_under_way *under_way, uint8_t seconds, rna_usec now)
{
	struct rna_packet packet = answer_to(rna_under_way_send(under_way, false, 3, now), false);

	packet.late = seconds;
	assert_true(rna_under_way_answer(under_way, &packet, quiet, now + 5, 0));
}

/* The same at the peer: of what was lost in that time it is not known where. */
static void test_a_peer_says_that_it_stood_still(void **state)
{
	struct rna_under_way under_way = begin();
	struct rna_prober_target_report report;

	(void)state;
	(void)rna_under_way_send(&under_way, false, 3, START);
	(void)rna_under_way_send(&under_way, true, 4, START + 10 * SECOND);
	rna_under_way_expire(&under_way, START + 12 * SECOND);
	(void)rna_under_way_send(&under_way, false, 5, START + 14 * SECOND);
	assert_int_equal(report_of(&under_way).counts.lost, 2);
	answer_late(&under_way, 3, START + 14 * SECOND); /* what was sent to it was kept for it */
	assert_int_equal(report_of(&under_way).excused, 0);
	answer_late(&under_way, 4, START + 14 * SECOND);
	rna_under_way_expire(&under_way, START + 16 * SECOND);
	report = report_of(&under_way);
	assert_int_equal(report.excused, 1);
	assert_int_equal(report.excused_large, 1);
	assert_int_equal(report.counts.voided, 1); /* the one that still waited */
	assert_int_equal(report.counts.lost, 0);
}

static void test_what_was_not_sent_in_time_is_counted(void **state)
{
	struct rna_under_way under_way = begin();
	struct rna_prober_target_report report;

	(void)state;
	rna_under_way_miss(&under_way, 3);
	report = report_of(&under_way);
	assert_int_equal(report.counts.missed, 3);
	assert_int_equal(report.counts.sent, 0);
}

static void test_what_was_refused_was_not_sent(void **state)
{
	struct rna_under_way under_way = begin();
	struct rna_prober_target_report report;
	uint32_t number = rna_under_way_send(&under_way, true, 3, START);

	(void)state;
	rna_under_way_refuse(&under_way, true, number, 113);
	rna_under_way_expire(&under_way, START + 2 * SECOND);
	report = report_of(&under_way);
	assert_int_equal(report.counts.sent, 0);
	assert_int_equal(report.counts.large_sent, 0);
	assert_int_equal(report.counts.lost, 0);
	assert_int_equal(report.refused, 1);
	assert_int_equal(report.refusal, 113);
	/* the peer sees no gap */
	assert_int_equal(rna_under_way_send(&under_way, true, 3, START), number);
}

/* A round trip counts when the next answer says how long the peer held the one before. */
static void test_round_trips_are_without_the_time_of_the_peer(void **state)
{
	struct rna_under_way under_way = begin();
	struct rna_prober_target_report report;
	struct rna_packet packet;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t number = rna_under_way_send(&under_way, false, 3, START);

		rna_under_way_left(&under_way, false, number, 1000000);
		packet = answer_to(number, false);
		packet.held = i > 0 ? 400 : 0;
		packet.held_number = number - 1;
		assert_true(rna_under_way_answer(&under_way, &packet, quiet, START + 5,
						 1000000 + 2500 + i));
	}
	report = report_of(&under_way);
	assert_int_equal(report.sample_count, 2);
	assert_int_equal(report.samples[0], 2100);
	assert_int_equal(report.samples[1], 2101);
}

/* The kernel's clock runs while this host is late; that of an HCA says when packets came and left.
 */
static void test_round_trips_of_a_late_host(void **state)
{
	(void)state;
	for (int clock = 0; clock < 2; clock++) {
		struct rna_under_way under_way = begin();
		struct rna_packet packet;

		for (uint32_t i = 0; i < 2; i++) {
			uint32_t number = rna_under_way_send(&under_way, false, 3, START);

			rna_under_way_left(&under_way, false, number, 1000000);
			rna_under_way_delay(&under_way, SECOND, clock);
			packet = answer_to(number, false);
			packet.held = i > 0 ? 400 : 0;
			packet.held_number = number - 1;
			assert_true(rna_under_way_answer(&under_way, &packet, quiet, START + SECOND,
							 1000000 + 2500));
		}
		assert_int_equal(report_of(&under_way).sample_count, clock);
	}
}

static void test_round_trips_that_make_no_sense_are_left_out(void **state)
{
	struct rna_under_way under_way = begin();
	struct rna_packet packet;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t number = rna_under_way_send(&under_way, false, 3, START);

		if (i != 1) /* when it left is not known */
			rna_under_way_left(&under_way, false, number, 1000000);
		packet = answer_to(number, false);
		packet.held = i == 3 ? 4000 : 400;             /* longer than the whole trip */
		packet.held_number = i == 1 ? 77 : number - 1; /* of another answer */
		assert_true(rna_under_way_answer(&under_way, &packet, quiet, START + 5,
						 1000000 + 2500));
	}
	assert_int_equal(report_of(&under_way).sample_count, 0);
}

static void test_congestion_on_either_way_counts(void **state)
{
	struct rna_under_way under_way = begin();
	struct rna_packet packet;
	struct rna_prober_target_report report;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		(void)rna_under_way_send(&under_way, false, 3, START);
	packet = answer_to(0, false);
	assert_true(rna_under_way_answer(&under_way, &packet, congested, START, 0));
	packet = answer_to(1, false);
	packet.there = congested;
	assert_true(rna_under_way_answer(&under_way, &packet, quiet, START, 0));
	packet = answer_to(2, false);
	assert_true(rna_under_way_answer(&under_way, &packet, quiet, START, 0));
	report = report_of(&under_way);
	assert_int_equal(report.counts.ecn_marked, 2);
	assert_int_equal(report.there.dscp, 26);
}

static void test_more_than_can_be_remembered(void **state)
{
	struct rna_under_way under_way = begin();
	struct rna_prober_target_report report;

	(void)state;
	for (unsigned i = 0; i < 3 * RNA_UNDER_WAY_MAX; i++)
		(void)rna_under_way_send(&under_way, false, 3, START + i);
	rna_under_way_expire(&under_way, START + 2 * SECOND);
	report = report_of(&under_way);
	assert_int_equal(report.counts.sent, 3 * RNA_UNDER_WAY_MAX);
	assert_int_equal(report.counts.lost, 3 * RNA_UNDER_WAY_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_copy_of_an_answer_is_no_replay),
		cmocka_unit_test(test_answered_probes_count_once),
		cmocka_unit_test(test_losses_are_counted_after_the_patience),
		cmocka_unit_test(test_a_late_answer_takes_a_loss_back),
		cmocka_unit_test(test_answers_later_than_the_memory_are_refused),
		cmocka_unit_test(test_a_late_host_sees_losses_later),
		cmocka_unit_test(test_a_host_that_stood_still_for_long),
		cmocka_unit_test(test_a_peer_says_that_it_stood_still),
		cmocka_unit_test(test_what_was_not_sent_in_time_is_counted),
		cmocka_unit_test(test_round_trips_of_a_late_host),
		cmocka_unit_test(test_what_was_refused_was_not_sent),
		cmocka_unit_test(test_round_trips_are_without_the_time_of_the_peer),
		cmocka_unit_test(test_round_trips_that_make_no_sense_are_left_out),
		cmocka_unit_test(test_congestion_on_either_way_counts),
		cmocka_unit_test(test_more_than_can_be_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
