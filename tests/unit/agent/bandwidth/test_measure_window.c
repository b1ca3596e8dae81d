// SPDX-License-Identifier: Apache-2.0
/* agent/bandwidth: when in a window a port is tested, and what is kept of its tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bandwidth/measure_plan.h"

#define MINUTE (60 * RNA_USEC_PER_SEC)
#define HOUR   (60 * MINUTE)
/* 2026-11-28 02:00 UTC, a Saturday */
#define BEGIN (1795831200 * RNA_USEC_PER_SEC)
#define STEP  (10 * RNA_USEC_PER_SEC)
#define PLACE 0x9e3779b97f4a7c15

static char window[] = "Sat 02:00-04:00";
static char *const windows[] = {window, NULL};

static bool is_due(struct rna_measure_turn *turn, rna_usec now)
{
	return rna_measure_turn_is_due(turn, windows, "mlx5_0", PLACE, now);
}

/* The first moment at which it is due, from now on, within the window. 0: none. */
static rna_usec find_due(struct rna_measure_turn *turn, uint64_t place, rna_usec now)
{
	for (; now < BEGIN + 2 * HOUR; now += STEP)
		if (rna_measure_turn_is_due(turn, windows, "mlx5_0", place, now))
			return now;
	return 0;
}

static void test_not_outside(void **state)
{
	struct rna_measure_turn turn = {0};

	(void)state;
	assert_false(is_due(&turn, BEGIN - MINUTE));
	assert_false(turn.inside);
	assert_false(is_due(&turn, BEGIN + 2 * HOUR));
	assert_false(rna_measure_turn_is_due(&turn, NULL, "mlx5_0", PLACE, BEGIN + HOUR));
}

static void test_once_in_each_window(void **state)
{
	struct rna_measure_turn turn = {0};
	rna_usec due;

	(void)state;
	assert_false(is_due(&turn, BEGIN - MINUTE));
	due = find_due(&turn, PLACE, BEGIN);
	assert_true(due >= BEGIN && due <= BEGIN + 20 * MINUTE);
	rna_measure_turn_end(&turn, RNA_MEASURE_WELL, PLACE, due);
	assert_true(find_due(&turn, PLACE, due) == 0);
	assert_false(is_due(&turn, BEGIN + 3 * HOUR)); /* the window ends */
	(void)is_due(&turn, BEGIN + 7 * 24 * HOUR);
	assert_true(is_due(&turn, BEGIN + 7 * 24 * HOUR + 21 * MINUTE));
}

static void test_again_after_minutes(void **state)
{
	struct rna_measure_turn turn = {0};
	rna_usec due = find_due(&turn, PLACE, BEGIN), pauses[4];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		rna_usec next;

		assert_true(due > 0);
		rna_measure_turn_end(&turn, RNA_MEASURE_BUSY, PLACE, due);
		next = find_due(&turn, PLACE, due);
		pauses[i] = next - due;
		assert_true(pauses[i] >= 3 * MINUTE && pauses[i] <= 6 * MINUTE + STEP);
		due = next;
	}
	assert_true(pauses[0] != pauses[1] || pauses[1] != pauses[2]);
}

static void test_a_bad_result_is_confirmed_once(void **state)
{
	struct rna_measure_turn turn = {0};
	rna_usec due = find_due(&turn, PLACE, BEGIN);

	(void)state;
	rna_measure_turn_end(&turn, RNA_MEASURE_BAD, PLACE, due);
	due = find_due(&turn, PLACE, due);
	assert_true(due > 0);
	rna_measure_turn_end(&turn, RNA_MEASURE_BUSY, PLACE, due);
	due = find_due(&turn, PLACE, due);
	assert_true(due > 0);
	rna_measure_turn_end(&turn, RNA_MEASURE_BAD, PLACE, due);
	assert_true(find_due(&turn, PLACE, due) == 0);
}

/* Of a fleet at most a share begins in the same minute; all begin in the first twenty. */
static void test_a_fleet_is_spread(void **state)
{
	enum { NODES = 1000, MINUTES = 21 };
	unsigned begun[MINUTES] = {0};
	uint64_t place = 1;

	(void)state;
	for (unsigned i = 0; i < NODES; i++) {
		struct rna_measure_turn turn = {0};
		rna_usec due;

		place = place * 6364136223846793005 + 1442695040888963407; /* Knuth's MMIX */
		due = find_due(&turn, place, BEGIN);
		assert_true(due >= BEGIN);
		assert_true((due - BEGIN) / MINUTE < MINUTES);
		begun[(due - BEGIN) / MINUTE]++;
	}
	for (size_t i = 0; i < MINUTES; i++)
		assert_true(begun[i] < NODES / 10);
}

/* An agent that starts late in a window has what is left of it. */
static void test_what_is_left_suffices(void **state)
{
	struct rna_measure_turn turn = {0};
	rna_usec late = BEGIN + 2 * HOUR - 4 * MINUTE;

	(void)state;
	assert_true(find_due(&turn, PLACE, late) > 0);
	assert_true(turn.due <= late + 2 * MINUTE);
}

/* -- What is kept ------------------------------------------------------------------------------ */

static struct rna_bandwidth_test made(unsigned port, rna_usec when, enum rna_loopback_end end)
{
	return (struct rna_bandwidth_test){.time.realtime = when,
					   .device = "mlx5_0",
					   .port = port,
					   .end = end};
}

static void keep(struct rna_measured_ports *ports, unsigned port, rna_usec when,
		 enum rna_loopback_end end)
{
	const struct rna_bandwidth_test test = made(port, when, end);

	rna_measured_keep(ports, &test);
}

static void test_the_newest_is_kept_and_the_newest_completed(void **state)
{
	struct rna_measured_ports ports = {0};
	struct rna_bandwidths *results;

	(void)state;
	assert_non_null(rna_measured_port(&ports, "mlx5_1", 1)); /* a turn, but no test */
	keep(&ports, 2, BEGIN, RNA_LOOPBACK_DONE);
	keep(&ports, 1, BEGIN, RNA_LOOPBACK_DONE);
	keep(&ports, 1, BEGIN + 1, RNA_LOOPBACK_SKIPPED);
	results = rna_measured_results(&ports, 9998, "", 3);
	assert_non_null(results);
	assert_int_equal(results->count, 2);
	assert_int_equal(results->ports[0].last.port, 1);
	assert_int_equal(results->ports[0].last.time.realtime, BEGIN + 1);
	assert_int_equal(results->ports[0].done.time.realtime, BEGIN);
	assert_int_equal(results->ports[1].last.port, 2);
	assert_int_equal(results->tcp_port, 9998);
	assert_int_equal(results->strangers, 3);
	assert_null(results->problem);
	(void)rna_part_unref(&results->part);
}

static void test_the_oldest_gives_way(void **state)
{
	struct rna_measured_ports ports = {0};

	(void)state;
	for (unsigned i = 0; i < RNA_PROBING_PORTS_MAX; i++)
		keep(&ports, i + 1, BEGIN + (i + 5) % RNA_PROBING_PORTS_MAX, RNA_LOOPBACK_DONE);
	rna_measured_port(&ports, "mlx5_0", 28)->turn.inside = true; /* the oldest, but needed */
	assert_non_null(rna_measured_port(&ports, "mlx5_9", 1));
	for (unsigned i = 0; i < RNA_PROBING_PORTS_MAX; i++)
		assert_true(ports.items[i].port != 29 || ports.items[i].device[5] == '9');
	assert_int_equal(rna_measured_port(&ports, "mlx5_0", 28)->tests.last.time.realtime, BEGIN);
	for (unsigned i = 0; i < RNA_PROBING_PORTS_MAX; i++)
		ports.items[i].turn.inside = true;
	assert_null(rna_measured_port(&ports, "mlx5_9", 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_outside),
		cmocka_unit_test(test_once_in_each_window),
		cmocka_unit_test(test_again_after_minutes),
		cmocka_unit_test(test_a_bad_result_is_confirmed_once),
		cmocka_unit_test(test_a_fleet_is_spread),
		cmocka_unit_test(test_what_is_left_suffices),
		cmocka_unit_test(test_the_newest_is_kept_and_the_newest_completed),
		cmocka_unit_test(test_the_oldest_gives_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
