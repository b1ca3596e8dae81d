// SPDX-License-Identifier: Apache-2.0
/*
 * agent/probe, verdicts: simulated ports with six pairs of two probes a second each. The faults are
 * those of a fabric; time and chance are made up, from seeds that do not change.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "probe/verdicts.h"

#define SECOND RNA_USEC_PER_SEC
#define START  (100000 * SECOND)

enum {
	PAIRS = 6,
	LARGE_EVERY = 14, /* what 60 kb/s allow: a large probe of a pair each seven seconds */
	TRIALS = 20,
	DAY = 24 * 3600, /* seconds */
};

/* Of several equal paths one that is broken. */
struct broken_path {
	unsigned spines;     /* 0: none is */
	unsigned labels;     /* source ports that take turns */
	double small, large; /* losses of it, there and back */
	bool rewrites;       /* the DSCP */
};

/* One pair: what happens to its probes, and what is known of it. */
struct pair {
	double loss;       /* of a probe or its answer */
	double large_loss; /* of large ones, beside that */
	double rewritten;  /* of those that arrive */
	struct broken_path broken;
	uint64_t hash; /* of the switches, for this pair */
	bool refused;  /* this host cannot send */
	uint32_t nanoseconds;
	uint8_t dscp, hop_limit;
	struct rna_ledger ledger;
	struct rna_peer_word word;
	unsigned turn, large_turn, unanswered;
	rna_usec last_answer;
	unsigned signs;
};

struct port {
	struct pair pairs[PAIRS];
	bool peer_has_others;
	uint64_t rail_median, node_median; /* of the others, nanoseconds */
	uint64_t medians[PAIRS];           /* of the others of each pair; 0: rail_median */
	bool hardware_times;
	uint64_t chance;
	rna_usec now;
	struct rna_port_verdict verdict;
};

/* -- The simulation ---------------------------------------------------------------------------- */

/* SplitMix64 (Steele, Lea and Flood, 2014): the same numbers in each run. */
static double draw(struct port *port)
{
	uint64_t z = (port->chance += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void begin(struct port *port, uint64_t seed)
{
	*port = (struct port){.chance = seed,
			      .now = START,
			      .peer_has_others = true,
			      .hardware_times = true,
			      .rail_median = 6000,
			      .node_median = 6000};
	for (size_t i = 0; i < PAIRS; i++) {
		port->pairs[i].dscp = 26;
		port->pairs[i].hop_limit = 62;
		port->pairs[i].nanoseconds = 5000;
		port->pairs[i].hash = seed * 1000003 + i;
		port->pairs[i].word = (struct rna_peer_word){START, START - 100 * SECOND, true};
		rna_ledger_init(&port->pairs[i].ledger);
	}
}

/*
 * As collectors/prober/aims.h has it: eight source ports take turns, and if there are 128, others
 * after eight rounds. Large ones have turns of their own.
 */
static unsigned label_of(struct pair *pair, bool large)
{
	unsigned place = (large ? pair->large_turn++ : pair->turn) % 8;

	return pair->broken.labels > 8 ? (pair->turn / 64 * 8 + place) % pair->broken.labels
				       : place;
}

/* The switches choose a path by the source port; the first one takes the broken one. */
static bool is_on_broken(const struct pair *pair, unsigned label)
{
	struct port hash = {.chance = pair->hash + ((uint64_t)label << 32)};

	return pair->broken.spines > 0 && (label == 0 || draw(&hash) * pair->broken.spines < 1);
}

static void send_one(struct port *port, struct pair *pair)
{
	struct rna_prober_target_report report = {
		.there = {pair->dscp, 0, pair->hop_limit},
		.back = {26, 0, 62},
	};
	bool large = ++pair->turn % LARGE_EVERY == 0;
	unsigned label = label_of(pair, large);
	bool broken = is_on_broken(pair, label);
	bool lost = draw(port) < pair->loss || (large && draw(port) < pair->large_loss) ||
		    (broken && draw(port) < (large ? pair->broken.large : pair->broken.small));

	if ((broken && pair->broken.rewrites) ||
	    (pair->rewritten > 0 && draw(port) < pair->rewritten))
		report.there.dscp = 0;
	if (lost)
		report.classes_lost = 1u << label % RNA_PROBE_CLASSES;
	else
		report.classes_seen = 1u << label % RNA_PROBE_CLASSES;
	if (pair->refused) {
		report.refused = 1;
		report.refusal = EHOSTUNREACH;
	} else {
		report.counts.sent = 1;
		report.counts.large_sent = large;
	}
	if (!pair->refused && lost) {
		pair->unanswered++;
		report.counts.lost = 1;
		report.counts.large_lost = large;
	} else if (!pair->refused) {
		pair->unanswered = 0;
		pair->last_answer = port->now;
		report.counts.answered = 1;
		report.counts.large_answered = large;
		report.sample_count = 1;
		report.samples[0] = pair->nanoseconds + (uint32_t)(draw(port) * 2000);
	}
	report.unanswered = pair->unanswered;
	report.last_answer = pair->last_answer;
	rna_ledger_add(&pair->ledger, &report, 26, port->now);
}

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

/* From now on each pair is judged beside the others of the port, as agent/probe/pairs.c does. */
static void compare_pairs(struct port *port)
{
	for (size_t own = 0; own < PAIRS; own++) {
		uint64_t others[PAIRS];
		size_t count = 0;

		for (size_t i = 0; i < PAIRS; i++)
			if (i != own)
				others[count++] = rna_ledger_rtt(&port->pairs[i].ledger, 50);
		qsort(others, count, sizeof(others[0]), compare_numbers);
		port->medians[own] = others[count / 2];
	}
}

static void judge(struct port *port)
{
	struct rna_port_evidence evidence[PAIRS];

	for (size_t i = 0; i < PAIRS; i++) {
		struct pair *pair = &port->pairs[i];
		const struct rna_judged_pair judged = {
			.ledger = &pair->ledger,
			.peer = &pair->word,
			.hardware_times = port->hardware_times,
			.dscp = 26,
			.rail_median = port->medians[i] > 0 ? port->medians[i] : port->rail_median,
			.node_median = port->node_median,
		};

		rna_ledger_advance(&pair->ledger, port->now);
		rna_ledger_set_slow(&pair->ledger, rna_pair_is_slower(&judged), port->now);
		rna_ledger_set_confirmed(&pair->ledger, rna_pair_is_confirmed(&judged), port->now);
		pair->signs = rna_pair_signs(&judged, port->now);
		rna_ledger_set_silent(&pair->ledger, pair->signs & RNA_PROBE_SILENT, port->now);
		evidence[i] = (struct rna_port_evidence){
			.ledger = &pair->ledger,
			.signs = pair->signs,
			.judged = pair->word.runs,
			.peer_has_others = port->peer_has_others,
		};
	}
	port->verdict = rna_port_judge(evidence, PAIRS);
}

/* One second. A peer whose agent answers is asked as soon as its pair is quiet for two seconds. */
static void pass(struct port *port)
{
	port->now += SECOND;
	for (size_t i = 0; i < PAIRS; i++) {
		struct pair *pair = &port->pairs[i];

		send_one(port, pair);
		send_one(port, pair);
		if (pair->word.runs && (pair->unanswered >= 2 || pair->refused))
			pair->word.asked = port->now;
	}
	judge(port);
}

static bool is_quiet(const struct port *port)
{
	for (size_t i = 0; i < PAIRS; i++)
		if (port->pairs[i].signs != 0)
			return false;
	return port->verdict.verdict == RNA_PROBE_WELL ||
	       port->verdict.verdict == RNA_PROBE_UNKNOWN;
}

static void run_quietly(struct port *port, unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++) {
		pass(port);
		assert_true(is_quiet(port));
	}
}

/* Seconds until the port has that verdict; limit: it never had. */
static unsigned time_to_verdict(struct port *port, enum rna_probe_verdict verdict, unsigned limit)
{
	for (unsigned i = 1; i < limit; i++) {
		pass(port);
		if (port->verdict.verdict == verdict)
			return i;
	}
	return limit;
}

static unsigned time_to_sign(struct port *port, struct pair *pair, enum rna_probe_sign sign,
			     unsigned limit)
{
	for (unsigned i = 1; i < limit; i++) {
		pass(port);
		if (pair->signs & sign)
			return i;
	}
	return limit;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* -- Tests ------------------------------------------------------------------------------------- */

static void test_a_sound_port_is_well(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 1);
	pass(&port);
	assert_int_equal(port.verdict.verdict, RNA_PROBE_UNKNOWN); /* too little was seen */
	run_quietly(&port, 30);
	assert_int_equal(port.verdict.verdict, RNA_PROBE_WELL);
}

/* A day of a path that loses what is allowed: 1 of 100,000. */
static void test_a_day_without_a_false_verdict(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 2);
	for (size_t i = 0; i < PAIRS; i++)
		port.pairs[i].loss = 1e-5;
	run_quietly(&port, DAY);
}

static void test_a_dead_path_is_known_in_five_seconds(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 3);
	run_quietly(&port, 60);
	for (size_t i = 0; i < PAIRS; i++)
		port.pairs[i].loss = 1;
	assert_in_range(time_to_verdict(&port, RNA_PROBE_UNREACHABLE, 60), 3, 5);
	assert_int_equal(port.verdict.bad, PAIRS);
	assert_int_equal(port.verdict.judged, PAIRS);
	for (size_t i = 0; i < PAIRS; i++) {
		assert_int_equal(port.pairs[i].signs, RNA_PROBE_SILENT);
		port.pairs[i].loss = 0;
	}
	for (int i = 0; i < 5; i++)
		pass(&port);
	assert_int_equal(port.pairs[0].signs & RNA_PROBE_SILENT, 0);
	assert_int_not_equal(port.verdict.verdict, RNA_PROBE_UNREACHABLE);
}

/* What an outage has lost is no loss of the path that was mended. */
static void test_an_outage_leaves_no_loss_behind(void **state)
{
	struct rna_probe_counts total;
	struct port port;

	(void)state;
	begin(&port, 15);
	run_quietly(&port, 60);
	for (size_t i = 0; i < PAIRS; i++)
		port.pairs[i].loss = 1;
	assert_in_range(time_to_verdict(&port, RNA_PROBE_UNREACHABLE, 60), 3, 5);
	for (int i = 0; i < 60; i++)
		pass(&port);
	for (size_t i = 0; i < PAIRS; i++)
		port.pairs[i].loss = 0;
	run_quietly(&port, 700);
	assert_int_equal(port.verdict.verdict, RNA_PROBE_WELL);
	total = port.pairs[0].ledger.total;
	assert_in_range(total.lost, 120, 130); /* but they are counted */
	assert_int_equal(total.sent, total.answered + total.lost + total.voided);
	port.pairs[0].loss = 0.1; /* and new ones make a sign */
	assert_in_range(time_to_sign(&port, &port.pairs[0], RNA_PROBE_LOSS, 120), 10, 60);
}

/* Until its kernel knows the way back, a peer that has just started does not answer. */
static void test_the_first_seconds_of_a_peer_are_no_loss(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 16);
	for (size_t i = 0; i < PAIRS; i++) {
		port.pairs[i].loss = 1;
		port.pairs[i].word.back = START; /* it gets ten seconds */
	}
	run_quietly(&port, 6);
	for (size_t i = 0; i < PAIRS; i++)
		port.pairs[i].loss = 0;
	run_quietly(&port, 60);
	assert_int_equal(port.pairs[0].ledger.total.lost, 0);
	assert_int_equal(port.pairs[0].ledger.total.voided, 12);
	assert_int_equal(port.verdict.verdict, RNA_PROBE_WELL);
}

/* Nothing says that it is not this host: no peer answers another port. */
static void test_without_a_sibling_the_port_is_not_blamed(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 4);
	run_quietly(&port, 60);
	port.peer_has_others = false;
	for (size_t i = 0; i < PAIRS; i++)
		port.pairs[i].loss = 1;
	assert_int_equal(time_to_verdict(&port, RNA_PROBE_UNREACHABLE, 60), 60);
	assert_int_equal(port.pairs[0].signs, RNA_PROBE_SILENT);
}

static void test_one_silent_peer_is_its_own_affair(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 5);
	run_quietly(&port, 60);
	port.pairs[2].loss = 1;
	assert_in_range(time_to_sign(&port, &port.pairs[2], RNA_PROBE_SILENT, 60), 3, 5);
	for (int i = 0; i < 300; i++) {
		pass(&port);
		assert_true(port.verdict.verdict == RNA_PROBE_WELL);
	}
}

/* Its probes stop, and its agent no longer says that it runs. */
static void test_a_stopped_peer_is_no_fault(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 6);
	run_quietly(&port, 60);
	port.pairs[0].loss = 1;
	port.pairs[0].word.runs = false;
	run_quietly(&port, 5);
	for (int i = 0; i < 300; i++) {
		pass(&port);
		assert_false(port.pairs[0].signs & RNA_PROBE_SILENT);
		assert_true(port.verdict.verdict == RNA_PROBE_WELL);
	}
}

/* SIGSTOP, then SIGCONT: its agent answers again a little before its prober does. */
static void test_a_peer_that_comes_back_gets_time(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 7);
	run_quietly(&port, 60);
	port.pairs[0].loss = 1;
	port.pairs[0].word.runs = false;
	for (int i = 0; i < 60; i++)
		pass(&port);
	port.pairs[0].word = (struct rna_peer_word){port.now, port.now, true};
	for (int i = 0; i < 9; i++) {
		pass(&port);
		assert_int_equal(port.pairs[0].signs & RNA_PROBE_SILENT, 0);
	}
	for (int i = 0; i < 3; i++) /* unless it stays silent */
		pass(&port);
	assert_int_equal(port.pairs[0].signs, RNA_PROBE_SILENT);
}

/*
 * Its host stood still, for a time that is no absence of its agent: the question that was asked
 * meanwhile is answered, and a moment later the late answers of the prober are reported.
 */
static void test_a_host_that_stood_still_is_no_silence(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 26);
	run_quietly(&port, 60);
	port.pairs[0].loss = 1;
	port.pairs[0].word.asked = port.now - SECOND;
	for (int i = 0; i < 6; i++) {
		rna_usec asked = port.pairs[0].word.asked;

		pass(&port);
		port.pairs[0].word.asked = i < 5 ? asked : port.now; /* no answer until now */
		judge(&port);
		assert_int_equal(port.pairs[0].signs & RNA_PROBE_SILENT, 0);
	}
	port.pairs[0].loss = 0;
	pass(&port);
	assert_int_equal(port.pairs[0].signs & RNA_PROBE_SILENT, 0);
}

/* It was asked just before it stood still, as it is now and then. */
static void test_an_answer_before_the_silence_says_nothing(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 27);
	run_quietly(&port, 60);
	port.pairs[0].loss = 1;
	for (int i = 0; i < 6; i++) {
		pass(&port);
		port.pairs[0].word.asked = port.pairs[0].last_answer + SECOND;
		judge(&port);
		assert_int_equal(port.pairs[0].signs & RNA_PROBE_SILENT, 0);
	}
}

/* The kernel finds no neighbour although there was one: the cable at this end. */
static void test_a_host_that_cannot_send_any_more(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 8);
	run_quietly(&port, 60);
	for (size_t i = 0; i < PAIRS; i++)
		port.pairs[i].refused = true;
	assert_in_range(time_to_verdict(&port, RNA_PROBE_UNREACHABLE, 60), 3, 6);
}

/* The port is dead since the boot: after the time in which a kernel finds a neighbour. */
static void test_a_host_that_never_could_send(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 9);
	for (size_t i = 0; i < PAIRS; i++)
		port.pairs[i].refused = true;
	assert_in_range(time_to_verdict(&port, RNA_PROBE_UNREACHABLE, 60), 10, 14);
	begin(&port, 9);
	port.peer_has_others = false; /* it may be the host */
	for (size_t i = 0; i < PAIRS; i++)
		port.pairs[i].refused = true;
	for (int i = 0; i < 120; i++) {
		pass(&port);
		assert_int_equal(port.pairs[0].signs, i < 10 ? 0 : port.pairs[0].signs);
		assert_int_equal(port.verdict.verdict, RNA_PROBE_UNKNOWN);
	}
	assert_int_equal(port.pairs[0].signs, RNA_PROBE_SILENT);
}

static void measure_loss(double loss, unsigned goal, int allowed_late)
{
	int times[TRIALS], late = 0;
	struct port port;

	for (int trial = 0; trial < TRIALS; trial++) {
		begin(&port, 100 + (uint64_t)trial);
		run_quietly(&port, 700);
		for (size_t i = 0; i < PAIRS; i++)
			port.pairs[i].loss = loss;
		times[trial] = (int)time_to_verdict(&port, RNA_PROBE_LOSSY, 4 * goal);
		late += times[trial] > (int)goal;
	}
	qsort(times, TRIALS, sizeof(times[0]), compare);
	print_message("loss %g: median %d s, longest %d s\n", loss, times[TRIALS / 2],
		      times[TRIALS - 1]);
	assert_in_range(late, 0, allowed_late);
}

static void test_one_percent_is_known_in_a_minute(void **state)
{
	(void)state;
	measure_loss(0.02, 60, 0); /* on both ways */
	measure_loss(0.01, 60, 3); /* on one: 12 probes a second lose one in 8 s */
}

static void test_one_per_mille_is_known_in_ten_minutes(void **state)
{
	(void)state;
	measure_loss(0.002, 600, 2);
}

static void test_an_mtu_hole_is_no_loss(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 10);
	run_quietly(&port, 60);
	for (size_t i = 0; i < PAIRS; i++)
		port.pairs[i].large_loss = 1;
	for (int i = 0; i < 325; i++) {
		pass(&port);
		for (size_t p = 0; p < PAIRS; p++) /* not even for a moment */
			assert_false(port.pairs[p].signs & RNA_PROBE_LOSS);
		if (i < 60)
			continue;
		assert_int_equal(port.pairs[0].signs, RNA_PROBE_MTU_HOLE);
		assert_int_not_equal(port.verdict.verdict, RNA_PROBE_LOSSY);
	}
	assert_false(rna_paths_are_some(&port.pairs[0].ledger.hole));
}

static void test_an_mtu_hole_makes_no_port_lossy(void **state)
{
	struct rna_probe_counts total;
	struct port port;

	(void)state;
	begin(&port, 18);
	run_quietly(&port, 60);
	for (size_t i = 0; i < PAIRS; i++)
		port.pairs[i].large_loss = 1;
	for (int i = 0; i < 120; i++) {
		pass(&port);
		assert_int_equal(port.verdict.verdict, RNA_PROBE_WELL);
	}
	for (size_t i = 0; i < PAIRS; i++) {
		assert_int_equal(port.pairs[i].signs, RNA_PROBE_MTU_HOLE);
		port.pairs[i].large_loss = 0;
	}
	for (int i = 0; i < 60; i++)
		pass(&port);
	run_quietly(&port, 700);
	total = port.pairs[0].ledger.total;
	assert_in_range(total.large_lost, 16, 18); /* but they are counted */
	assert_int_equal(total.sent, total.answered + total.lost + total.voided);
}

/* -- Several paths ----------------------------------------------------------------------------- */

static const unsigned spine_counts[] = {2, 4, 16}, label_counts[] = {8, 128};

struct times {
	int found[TRIALS], over[TRIALS];
};

/* The sign lasts as long as the fault: twenty minutes after it was found. */
static void try_broken(struct broken_path broken, enum rna_probe_sign sign, unsigned limit,
		       unsigned trial, struct times *times)
{
	struct port port;
	struct pair *pair = &port.pairs[1];

	begin(&port, 300 + trial);
	run_quietly(&port, 60);
	pair->broken = broken;
	times->found[trial] = (int)time_to_sign(&port, pair, sign, limit);
	for (int i = 0; i < 1200; i++) {
		pass(&port);
		assert_int_equal(pair->signs, sign);
		assert_int_equal(port.pairs[0].signs, 0);
		assert_int_equal(port.verdict.verdict, RNA_PROBE_WELL);
	}
	assert_true(rna_paths_are_some(sign == RNA_PROBE_DSCP ? &pair->ledger.dscp
							      : &pair->ledger.hole));
	pair->broken.spines = 0;
	for (times->over[trial] = 1; pair->signs != 0; times->over[trial]++)
		pass(&port);
	run_quietly(&port, 60);
}

static void measure_broken(struct broken_path broken, const char *name, enum rna_probe_sign sign,
			   int found_within, int over_within)
{
	struct times times;

	for (unsigned trial = 0; trial < TRIALS; trial++)
		try_broken(broken, sign, 4 * (unsigned)found_within, trial, &times);
	qsort(times.found, TRIALS, sizeof(times.found[0]), compare);
	qsort(times.over, TRIALS, sizeof(times.over[0]), compare);
	print_message("%s, 1 of %u spines, %u source ports: found after %d s (%d s), over after "
		      "%d s (%d s)\n",
		      name, broken.spines, broken.labels, times.found[TRIALS / 2],
		      times.found[TRIALS - 1], times.over[TRIALS / 2], times.over[TRIALS - 1]);
	assert_in_range(times.found[TRIALS - 1], 1, found_within);
	assert_in_range(times.over[TRIALS - 1], 1, over_within);
}

static void test_a_dscp_rewritten_on_one_path(void **state)
{
	static const int within[3] = {60, 120, 900};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 2; k++)
			measure_broken((struct broken_path){.spines = spine_counts[i],
							    .labels = label_counts[k],
							    .rewrites = true},
				       "DSCP", RNA_PROBE_DSCP, within[i],
				       label_counts[k] > 8 ? 610 : 60);
}

static void test_an_mtu_hole_on_one_path(void **state)
{
	static const int within[3] = {600, 1200, 10800};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 2; k++)
			measure_broken((struct broken_path){.spines = spine_counts[i],
							    .labels = label_counts[k],
							    .large = 1},
				       "MTU hole", RNA_PROBE_MTU_HOLE, within[i], 1800);
}

/* A path that loses everything, or a share of all sizes, has no hole, whatever the classes show. */
static void test_a_lossy_path_of_several_is_no_hole(void **state)
{
	struct port port;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 2; k++) {
			begin(&port, 400 + 2 * i + k);
			run_quietly(&port, 700);
			for (size_t p = 0; p < PAIRS; p++)
				port.pairs[p].broken = (struct broken_path){
					.spines = spine_counts[i],
					.labels = label_counts[k],
					.small = p % 2 ? 1 : 0.2,
					.large = p % 2 ? 1 : 0.2,
				};
			for (int second = 0; second < DAY / 8; second++) {
				pass(&port);
				for (size_t p = 0; p < PAIRS; p++)
					assert_false(port.pairs[p].signs & RNA_PROBE_MTU_HOLE);
			}
		}
}

/* A day in which each probe has a chance of 2 % to be lost, or to arrive with another DSCP. */
static void test_noise_is_no_fault_of_a_path(void **state)
{
	struct port port;

	(void)state;
	for (unsigned how = 0; how < 3; how++) {
		begin(&port, 500 + how);
		for (size_t i = 0; i < PAIRS; i++) {
			struct pair *pair = &port.pairs[i];

			pair->broken = (struct broken_path){.spines = 1000000, .labels = 8};
			pair->loss = how == 0 ? 0.02 : 0;
			pair->large_loss = how == 1 ? 0.02 : 0;
			pair->rewritten = how == 2 ? 0.02 : 0;
		}
		for (int second = 0; second < DAY; second++) {
			pass(&port);
			for (size_t i = 0; i < PAIRS; i++)
				assert_false(port.pairs[i].signs &
					     (RNA_PROBE_MTU_HOLE | RNA_PROBE_DSCP));
		}
	}
}

/* -- Two faults at once ------------------------------------------------------------------------ */

/*
 * The cable of one of two peers is dead, and the other one is behind a link that loses 2 %: no
 * third pair says that this port is well.
 */
static void test_a_loss_beside_a_dead_cable(void **state)
{
	struct rna_port_evidence evidence[2];
	struct port port;

	(void)state;
	begin(&port, 28);
	run_quietly(&port, 60);
	port.pairs[0].loss = 1;
	port.pairs[1].loss = 0.02;
	for (int i = 0; i < 150; i++)
		pass(&port);
	for (size_t i = 0; i < 2; i++)
		evidence[i] = (struct rna_port_evidence){.ledger = &port.pairs[i].ledger,
							 .signs = port.pairs[i].signs,
							 .judged = true};
	assert_int_equal(evidence[0].signs, RNA_PROBE_SILENT);
	assert_int_equal(evidence[1].signs, RNA_PROBE_LOSS);
	assert_int_equal(rna_port_judge(evidence, 2).verdict, RNA_PROBE_LOSSY);
	assert_int_equal(rna_port_judge(evidence, 2).bad, 1);
	evidence[0].signs = 0; /* another pair answers: it may be the peer of the second one */
	evidence[0].ledger = &port.pairs[2].ledger;
	assert_int_equal(rna_port_judge(evidence, 2).verdict, RNA_PROBE_WELL);
}

/* By chance one pair alone loses within half a minute, and others within two. */
static void test_a_longer_window_shows_what_pairs_share(void **state)
{
	struct rna_prober_target_report answers = {.counts = {.sent = 60, .answered = 60}};
	struct rna_prober_target_report losses = {.counts = {.lost = 3}};
	struct rna_ledger ledgers[2];
	struct rna_port_evidence evidence[2];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		rna_ledger_init(&ledgers[i]);
		rna_ledger_add(&ledgers[i], &answers, 26, START);
		rna_ledger_add(&ledgers[i], &losses, 26, START + (i == 0 ? 0 : 60 * SECOND));
		rna_ledger_add(&ledgers[i], &answers, 26, START + SECOND);
		rna_ledger_advance(&ledgers[i], START + 10 * SECOND);
		rna_ledger_add(&ledgers[i], &answers, 26, START + 61 * SECOND);
		rna_ledger_advance(&ledgers[i], START + 70 * SECOND);
		evidence[i] = (struct rna_port_evidence){.ledger = &ledgers[i], .judged = true};
	}
	assert_int_equal(rna_ledger_window(&ledgers[0], 30 * SECOND).lost, 0);
	assert_int_equal(rna_port_judge(evidence, 2).verdict, RNA_PROBE_LOSSY);
}

/* Runs of two pairs, as they are by chance where one of two spines loses everything. */
static void test_short_runs_of_few_pairs_make_no_port_unreachable(void **state)
{
	struct rna_ledger ledgers[2];
	struct rna_port_evidence evidence[2];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		rna_ledger_init(&ledgers[i]);
		ledgers[i].unanswered = 7;
		evidence[i] = (struct rna_port_evidence){.ledger = &ledgers[i],
							 .signs = RNA_PROBE_SILENT,
							 .judged = true,
							 .peer_has_others = true};
	}
	assert_int_not_equal(rna_port_judge(evidence, 2).verdict, RNA_PROBE_UNREACHABLE);
	ledgers[0].unanswered = ledgers[1].unanswered = 8;
	assert_int_equal(rna_port_judge(evidence, 2).verdict, RNA_PROBE_UNREACHABLE);
	ledgers[0].unanswered = ledgers[1].unanswered = 0;
	ledgers[0].refusal = ledgers[1].refusal = EHOSTUNREACH;
	assert_int_equal(rna_port_judge(evidence, 2).verdict, RNA_PROBE_UNREACHABLE);
}

/* One of four spines loses everything: 44 % of the probes cross it, or their answers do. */
static void test_a_dead_path_of_several_is_no_silence(void **state)
{
	unsigned silent = 0;
	struct port port;

	(void)state;
	begin(&port, 23);
	run_quietly(&port, 300);
	port.pairs[0].loss = 0.44;
	for (int i = 0; i < 1800; i++) {
		pass(&port);
		silent += (port.pairs[0].signs & RNA_PROBE_SILENT) != 0;
	}
	assert_int_equal(silent, 0);
	assert_true(port.pairs[0].signs & RNA_PROBE_LOSS);
	port.pairs[0].loss = 1; /* now all are dead */
	assert_in_range(time_to_sign(&port, &port.pairs[0], RNA_PROBE_SILENT, 60), 3, 15);
}

/* Each second, what the prober says of the peer's own probes: two a second, of which some come. */
static void visit(struct port *port, uint64_t heard)
{
	for (size_t i = 0; i < PAIRS; i++)
		rna_ledger_visited(&port->pairs[i].ledger, heard, 2 - heard);
	pass(port);
}

/*
 * One of two spines begins to lose everything. By chance, or by the hash of its source ports, no
 * probe of this port comes back for a while, but the peers' probes show that half of them arrive.
 */
static void test_a_dead_path_shows_in_the_peers_probes(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 24);
	run_quietly(&port, 60);
	for (size_t i = 0; i < PAIRS; i++)
		port.pairs[i].loss = 1;
	for (int i = 0; i < 12; i++) {
		visit(&port, 1);
		assert_int_equal(port.pairs[0].signs & RNA_PROBE_SILENT, 0);
		assert_int_not_equal(port.verdict.verdict, RNA_PROBE_UNREACHABLE);
	}
	for (int i = 0; i < 90; i++) /* after this time it is no chance */
		visit(&port, 1);
	assert_int_equal(port.verdict.verdict, RNA_PROBE_UNREACHABLE);
}

/* All the peers' probes arrive: only the way there is dead, and that is a dead cable as well. */
static void test_a_dead_way_out_is_a_silence(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 25);
	run_quietly(&port, 60);
	for (size_t i = 0; i < PAIRS; i++)
		port.pairs[i].loss = 1;
	for (int i = 0; i < 6; i++)
		visit(&port, 2);
	assert_int_equal(port.verdict.verdict, RNA_PROBE_UNREACHABLE);
}

static void test_slower_than_its_past_and_its_rail(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 11);
	run_quietly(&port, 300);
	port.pairs[1].nanoseconds = 200000;
	assert_in_range(time_to_sign(&port, &port.pairs[1], RNA_PROBE_SLOW, 300), 60, 120);
	assert_int_equal(port.pairs[0].signs, 0);
	assert_int_equal(port.verdict.verdict, RNA_PROBE_WELL);
}

/* A collective fills all queues: the whole rail is slower, which is no fault of a path. */
static void test_a_slow_rail_is_traffic(void **state)
{
	const struct rna_ledger *ledger;
	struct port port;

	(void)state;
	begin(&port, 12);
	run_quietly(&port, 300);
	ledger = &port.pairs[0].ledger;
	port.pairs[0].nanoseconds = 200000;
	for (int i = 0; i < 100; i++)
		pass(&port);
	assert_true(rna_pair_is_slower(&(const struct rna_judged_pair){.ledger = ledger,
								       .hardware_times = true,
								       .rail_median = 6000}));
	assert_false(rna_pair_is_slower(&(const struct rna_judged_pair){.ledger = ledger,
									.hardware_times = true,
									.rail_median = 180000}));
	assert_false(rna_pair_is_slower(
		&(const struct rna_judged_pair){.ledger = ledger, .rail_median = 6000}));
}

/* No queue holds so much: the cable or the leaf port, if the other ports of the node are well. */
static void test_a_slow_port_is_slower_than_its_siblings(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 17);
	run_quietly(&port, 300);
	for (size_t i = 0; i < PAIRS; i++)
		port.pairs[i].nanoseconds = 50000000;
	port.rail_median = 50000000;
	assert_in_range(time_to_sign(&port, &port.pairs[0], RNA_PROBE_SLOW, 300), 60, 120);
	port.node_median = 50000000; /* the whole node: its host */
	for (int i = 0; i < 3; i++)
		pass(&port);
	assert_int_equal(port.pairs[0].signs, 0);
}

/* What delays the probes of a sound fabric in a day, in seconds of that day. */
static bool is_within(int second, int every, int length)
{
	return second % every < length;
}

/* Nanoseconds beside those of the path. */
static uint32_t delay_of_paths(struct port *port, size_t pair, int second)
{
	double load = 0.5 - 0.5 * cos(second * 2 * 3.14159265 / (double)DAY);
	double delay = 3000 * load * draw(port);

	if (draw(port) < 0.01 * load) /* a burst in a switch */
		delay += 400000 * draw(port);
	if (is_within(second, 1200, 180) && draw(port) < 0.7) /* a collective: all paths */
		delay += 100000 + 200000 * draw(port);
	if (is_within(second + 977 * (int)pair, 2400, 480) && draw(port) < 0.6) /* to that peer */
		delay += 50000 + 200000 * draw(port);
	return (uint32_t)delay;
}

/* Without a clock in the HCA it is the host that measures. */
static uint32_t delay_of_hosts(struct port *port, size_t pair, int second)
{
	double delay = 0;

	if (is_within(second, 611, 3)) /* this host stands still now and then */
		delay += 30e6 * draw(port);
	if (is_within(second + 1301 * (int)pair, 1811, 5)) /* that peer does */
		delay += 30e6 * draw(port);
	if (is_within(second, 4 * 3600, 600)) /* programs take the CPU of this host */
		delay += 4e6 * draw(port) * draw(port);
	if (is_within(second + 2203 * (int)pair, 2 * 3600, 300)) /* and of that peer */
		delay += 4e6 * draw(port) * draw(port);
	return (uint32_t)delay;
}

/* By medians alone, with those of the other pairs. */
static bool seems_slow(const struct port *port, size_t own)
{
	const struct rna_ledger *ledger = &port->pairs[own].ledger;
	uint64_t median = rna_ledger_rtt(ledger, 50);

	return ledger->usual > 0 && median > 2 * ledger->usual + 20000 &&
	       median > port->medians[own] + port->medians[own] / 2;
}

/* A day in which nothing is wrong with the fabric. */
static void spend_a_day(bool hardware_times)
{
	struct port port;
	int seeming = 0, longest = 0;

	begin(&port, 21);
	port.hardware_times = hardware_times;
	for (int second = 0; second < DAY; second++) {
		for (size_t i = 0; i < PAIRS; i++)
			port.pairs[i].nanoseconds =
				5000 + delay_of_paths(&port, i, second) +
				(hardware_times ? 0 : delay_of_hosts(&port, i, second));
		if (second % 5 == 0)
			compare_pairs(&port);
		pass(&port);
		for (size_t i = 0; i < PAIRS; i++)
			if (port.pairs[i].signs)
				fail_msg("pair %zu shows %u after %d s", i, port.pairs[i].signs,
					 second);
		seeming = seems_slow(&port, 0) ? seeming + 1 : 0;
		longest = seeming > longest ? seeming : longest;
	}
	assert_in_range(longest, 60, 1000); /* longer than a sign waits: a hard day */
	assert_int_equal(port.verdict.verdict, RNA_PROBE_WELL);
}

static void test_a_day_of_round_trips_without_a_false_verdict(void **state)
{
	(void)state;
	spend_a_day(true);
	spend_a_day(false);
}

static void test_a_rewritten_dscp(void **state)
{
	struct port port;

	(void)state;
	begin(&port, 13);
	run_quietly(&port, 60);
	port.pairs[3].dscp = 0;
	assert_in_range(time_to_sign(&port, &port.pairs[3], RNA_PROBE_DSCP, 60), 3, 5);
}

static void test_a_detour_lasts_a_minute(void **state)
{
	struct rna_judged_pair judged = {.dscp = 26};
	struct port port;

	(void)state;
	begin(&port, 14);
	run_quietly(&port, 60);
	port.pairs[3].hop_limit = 60;
	assert_in_range(time_to_sign(&port, &port.pairs[3], RNA_PROBE_DETOUR, 300), 60, 62);
	judged.ledger = &port.pairs[3].ledger;
	judged.rail_moved = true; /* the whole rail goes another way: that is routing */
	assert_int_equal(rna_pair_signs(&judged, port.now), 0);
	port.pairs[2].hop_limit = 63; /* a shorter way is none */
	for (int i = 0; i < 100; i++)
		pass(&port);
	assert_int_equal(port.pairs[2].signs, 0);
}

static void test_what_is_next_to_impossible(void **state)
{
	(void)state;
	assert_false(rna_loss_is_real(0, 1000));
	assert_false(rna_loss_is_real(1, 1)); /* one alone never */
	assert_true(rna_loss_is_real(3, 180));
	assert_false(rna_loss_is_real(3, 1000000)); /* ten are to be expected */
	assert_false(rna_loss_is_real(20, 1000000));
	assert_true(rna_loss_is_real(40, 1000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_sound_port_is_well),
		cmocka_unit_test(test_a_day_without_a_false_verdict),
		cmocka_unit_test(test_a_dead_path_is_known_in_five_seconds),
		cmocka_unit_test(test_an_outage_leaves_no_loss_behind),
		cmocka_unit_test(test_the_first_seconds_of_a_peer_are_no_loss),
		cmocka_unit_test(test_without_a_sibling_the_port_is_not_blamed),
		cmocka_unit_test(test_one_silent_peer_is_its_own_affair),
		cmocka_unit_test(test_a_stopped_peer_is_no_fault),
		cmocka_unit_test(test_a_peer_that_comes_back_gets_time),
		cmocka_unit_test(test_a_host_that_stood_still_is_no_silence),
		cmocka_unit_test(test_an_answer_before_the_silence_says_nothing),
		cmocka_unit_test(test_a_host_that_cannot_send_any_more),
		cmocka_unit_test(test_a_host_that_never_could_send),
		cmocka_unit_test(test_one_percent_is_known_in_a_minute),
		cmocka_unit_test(test_one_per_mille_is_known_in_ten_minutes),
		cmocka_unit_test(test_an_mtu_hole_is_no_loss),
		cmocka_unit_test(test_an_mtu_hole_makes_no_port_lossy),
		cmocka_unit_test(test_a_dscp_rewritten_on_one_path),
		cmocka_unit_test(test_an_mtu_hole_on_one_path),
		cmocka_unit_test(test_a_lossy_path_of_several_is_no_hole),
		cmocka_unit_test(test_noise_is_no_fault_of_a_path),
		cmocka_unit_test(test_a_loss_beside_a_dead_cable),
		cmocka_unit_test(test_a_longer_window_shows_what_pairs_share),
		cmocka_unit_test(test_short_runs_of_few_pairs_make_no_port_unreachable),
		cmocka_unit_test(test_a_dead_path_shows_in_the_peers_probes),
		cmocka_unit_test(test_a_dead_way_out_is_a_silence),
		cmocka_unit_test(test_a_dead_path_of_several_is_no_silence),
		cmocka_unit_test(test_slower_than_its_past_and_its_rail),
		cmocka_unit_test(test_a_slow_rail_is_traffic),
		cmocka_unit_test(test_a_slow_port_is_slower_than_its_siblings),
		cmocka_unit_test(test_a_day_of_round_trips_without_a_false_verdict),
		cmocka_unit_test(test_a_rewritten_dscp),
		cmocka_unit_test(test_a_detour_lasts_a_minute),
		cmocka_unit_test(test_what_is_next_to_impossible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
