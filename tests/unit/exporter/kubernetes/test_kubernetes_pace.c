// SPDX-License-Identifier: Apache-2.0
/*
 * When the API is spoken to: the rules one by one, and ten thousand agents in virtual time, whose
 * bounds that helm/README.md promises (load).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kubernetes/pace.h"

#define SECOND RNA_USEC_PER_SEC
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)

static const struct rna_kubernetes_options standard = {
	.first_delay = RNA_KUBERNETES_FIRST_DELAY,
	.spread = RNA_KUBERNETES_SPREAD,
	.resync = RNA_KUBERNETES_RESYNC,
	.look = RNA_KUBERNETES_LOOK,
	.heartbeat = RNA_KUBERNETES_HEARTBEAT,
	.burst = RNA_KUBERNETES_BURST,
	.reserve = RNA_KUBERNETES_RESERVE,
	.refill = RNA_KUBERNETES_REFILL,
};

static const struct rna_kubernetes_options at_once = {
	.burst = RNA_KUBERNETES_BURST,
	.reserve = RNA_KUBERNETES_RESERVE,
	.refill = RNA_KUBERNETES_REFILL,
};

enum news { LATER, FIRST_EVER, URGENT };

static void want(struct rna_pace *pace, enum news news, rna_usec now)
{
	rna_pace_want(pace, news == URGENT, news == FIRST_EVER, now);
}

/* Lets all pass that is due until time. */
static void pass(struct rna_pace *pace, rna_usec time)
{
	while (rna_pace_next(pace) <= time)
		assert_true(rna_pace_take(pace, rna_pace_next(pace)) != 0);
}

static void start(struct rna_pace *pace, const struct rna_kubernetes_options *options)
{
	rna_pace_init(pace, options, 42);
}

static void test_nothing_to_say_is_no_reason_to_wake_up(void **state)
{
	struct rna_pace pace;

	(void)state;
	start(&pace, &standard);
	assert_true(rna_pace_next(&pace) == RNA_USEC_NEVER);
}

/* One look, not two: the first change has no other one. */
static void test_a_start_looks_before_there_is_anything_to_say(void **state)
{
	struct rna_pace pace;
	rna_usec now;

	(void)state;
	start(&pace, &standard);
	rna_pace_start(&pace, 0);
	now = rna_pace_next(&pace);
	assert_in_range(now, 0, standard.first_delay);
	assert_int_equal(rna_pace_take(&pace, now), RNA_PACE_LOOK);
	want(&pace, FIRST_EVER, now);
	assert_int_equal(rna_pace_take(&pace, rna_pace_next(&pace)), RNA_PACE_CHANGE);
}

/* An Event may come before labels, and conditions behind them. */
static void test_what_is_first_is_spread_like_a_start(void **state)
{
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct rna_pace pace;

		rna_pace_init(&pace, &standard, seed);
		want(&pace, LATER, 0);
		assert_in_range(pace.change, 0, standard.first_delay - 1);
		pass(&pace, standard.first_delay);
		want(&pace, FIRST_EVER, HOUR);
		assert_in_range(pace.change, HOUR, HOUR + standard.first_delay - 1);
	}
	(void)state;
}

/* A port that came up late in a boot is about to be written when the first conditions come. */
static void test_what_is_first_takes_along_what_waits(void **state)
{
	unsigned sooner = 0;

	for (uint64_t seed = 0; seed < 100; seed++) {
		struct rna_pace pace;
		rna_usec waits;

		rna_pace_init(&pace, &standard, seed);
		want(&pace, FIRST_EVER, 0);
		pass(&pace, standard.first_delay);
		want(&pace, LATER, HOUR);
		waits = pace.change;
		want(&pace, FIRST_EVER, HOUR + SECOND);
		assert_true(pace.change <= waits);
		assert_in_range(pace.change, HOUR, HOUR + SECOND + standard.first_delay - 1);
		sooner += pace.change < waits;
		waits = pace.change;
		for (unsigned i = 0; i < 100; i++)
			want(&pace, i % 2 ? LATER : FIRST_EVER, HOUR + 2 * SECOND);
		assert_int_equal(pace.change, waits); /* many draws would make it come at once */
		rna_pace_forget(&pace);
		want(&pace, LATER, HOUR + 3 * SECOND);
		want(&pace, FIRST_EVER, 2 * HOUR);
		assert_in_range(pace.change, HOUR, HOUR + 3 * SECOND + standard.spread - 1);
	}
	assert_in_range(sooner, 50, 100); /* first_delay is shorter than spread */
	(void)state;
}

static void test_the_first_round_looks(void **state)
{
	struct rna_pace pace;

	(void)state;
	start(&pace, &standard);
	want(&pace, FIRST_EVER, SECOND);
	assert_in_range(rna_pace_next(&pace), SECOND, SECOND + standard.first_delay - 1);
	assert_int_equal(rna_pace_take(&pace, rna_pace_next(&pace)),
			 RNA_PACE_CHANGE | RNA_PACE_LOOK);
}

static void test_a_change_is_spread_once(void **state)
{
	struct rna_pace pace;
	rna_usec first;

	(void)state;
	start(&pace, &standard);
	want(&pace, FIRST_EVER, 0);
	pass(&pace, standard.first_delay);
	want(&pace, LATER, HOUR);
	first = pace.change;
	assert_in_range(first, HOUR, HOUR + standard.spread - 1);
	want(&pace, LATER, HOUR + SECOND); /* more of it does not put it off */
	assert_int_equal(pace.change, first);
}

static void test_what_changed_back_is_forgotten_but_not_the_first(void **state)
{
	struct rna_pace pace;

	(void)state;
	start(&pace, &standard);
	want(&pace, FIRST_EVER, 0);
	rna_pace_forget(&pace);
	assert_true(pace.change != RNA_USEC_NEVER);
	pass(&pace, standard.first_delay);
	want(&pace, LATER, MINUTE);
	rna_pace_forget(&pace);
	assert_true(pace.change == RNA_USEC_NEVER);
}

/* Wants something all the time; how often it is heard. */
static unsigned flap(struct rna_pace *pace, rna_usec from, rna_usec until)
{
	unsigned count = 0;

	for (rna_usec now = from; now < until; now += SECOND) {
		want(pace, LATER, now);
		count += (rna_pace_take(pace, now) & RNA_PACE_CHANGE) != 0;
	}
	return count;
}

static void test_a_port_that_flaps_for_ever_costs_five_an_hour(void **state)
{
	struct rna_pace pace;

	(void)state;
	start(&pace, &at_once);
	assert_int_equal(flap(&pace, 0, HOUR), RNA_KUBERNETES_BURST + 4);
	assert_int_equal(flap(&pace, HOUR, 11 * HOUR), 50);
	assert_int_equal(flap(&pace, 30 * HOUR, 30 * HOUR + MINUTE),
			 RNA_KUBERNETES_BURST); /* rested */
}

/* What else changed a lot does not hide that the node is down. */
static void test_urgent_changes_have_a_reserve(void **state)
{
	const struct rna_kubernetes_options few = {.burst = 2, .reserve = 7, .refill = HOUR};
	struct rna_pace pace;
	rna_usec now = MINUTE;

	(void)state;
	start(&pace, &few);
	assert_int_equal(flap(&pace, 0, now), 2);
	want(&pace, LATER, now);
	assert_true(rna_pace_is_spent(&pace, now));
	assert_true(rna_pace_next(&pace) > now);
	for (unsigned i = 0; i < few.reserve; i++) {
		want(&pace, URGENT, now);
		assert_false(rna_pace_is_spent(&pace, now));
		assert_int_equal(rna_pace_take(&pace, now), RNA_PACE_CHANGE);
	}
	want(&pace, URGENT, now);
	assert_true(rna_pace_is_spent(&pace, now));
	assert_int_equal(rna_pace_take(&pace, now), 0);
	assert_int_equal(rna_pace_take(&pace, HOUR), RNA_PACE_CHANGE); /* the first is back */
	want(&pace, URGENT, HOUR);
	assert_int_equal(rna_pace_take(&pace, HOUR), 0);
	assert_int_equal(rna_pace_take(&pace, HOUR + SECOND), 0);
	assert_int_equal(rna_pace_take(&pace, HOUR + now), RNA_PACE_CHANGE); /* of the reserve */
}

static void test_zero_is_never(void **state)
{
	struct rna_pace pace;

	(void)state;
	start(&pace, &at_once);
	want(&pace, FIRST_EVER, 5);
	assert_int_equal(rna_pace_next(&pace), 5);
	pass(&pace, 5);
	assert_true(rna_pace_next(&pace) == RNA_USEC_NEVER);
}

static void test_looks_and_resyncs_are_half_to_one_and_a_half_apart(void **state)
{
	struct rna_pace pace;
	rna_usec before, shortest = RNA_USEC_NEVER, longest = 0;

	(void)state;
	start(&pace, &standard);
	want(&pace, FIRST_EVER, 0);
	pass(&pace, standard.first_delay);
	for (int i = 0; i < 1000; i++) {
		before = pace.look;
		pass(&pace, before);
		shortest = pace.look - before < shortest ? pace.look - before : shortest;
		longest = pace.look - before > longest ? pace.look - before : longest;
	}
	assert_in_range(shortest, standard.look / 2, standard.look / 2 + MINUTE);
	assert_in_range(longest, 3 * standard.look / 2 - MINUTE, 3 * standard.look / 2);
}

/* It may be told by an annotation to take the taint away. */
static void test_a_tainted_node_is_looked_at_each_minute(void **state)
{
	rna_usec shortest = RNA_USEC_NEVER, longest = 0, now = HOUR;
	struct rna_pace pace;

	(void)state;
	start(&pace, &standard);
	rna_pace_glance(&pace, true, now);
	for (int i = 0; i < 1000; i++) {
		rna_usec next = pace.glance;

		rna_pace_glance(&pace, true, next); /* the next one stays */
		assert_int_equal(pace.glance, next);
		shortest = next - now < shortest ? next - now : shortest;
		longest = next - now > longest ? next - now : longest;
		pace.look = RNA_USEC_NEVER;
		now = next;
		assert_int_equal(rna_pace_take(&pace, now), RNA_PACE_GLANCE);
	}
	assert_in_range(shortest, MINUTE / 2, MINUTE / 2 + SECOND);
	assert_in_range(longest, MINUTE - SECOND, MINUTE);
	rna_pace_glance(&pace, false, now);
	assert_true(pace.glance == RNA_USEC_NEVER);
}

static void test_waits_grow_to_their_longest(void **state)
{
	struct rna_wait wait = {0};
	uint64_t random = 7;
	rna_usec most = 2 * SECOND;

	(void)state;
	for (int i = 0; i < 40; i++) {
		rna_wait_longer(&wait, RNA_WAIT_LONGEST, 0, &random, HOUR);
		assert_in_range(wait.until - HOUR, RNA_WAIT_FIRST, most);
		most = most * 2 < RNA_WAIT_LONGEST ? most * 2 : RNA_WAIT_LONGEST;
	}
	assert_int_equal(wait.failures, 40);
}

static void test_a_server_may_ask_for_more_but_not_for_ever(void **state)
{
	struct rna_wait wait = {0};
	uint64_t random = 7;

	(void)state;
	rna_wait_longer(&wait, RNA_WAIT_LONGEST, 30 * SECOND, &random, 0);
	assert_in_range(wait.until, 31 * SECOND, 32 * SECOND);
	rna_wait_longer(&wait, RNA_WAIT_LONGEST, 1000 * HOUR, &random, 0);
	assert_in_range(wait.until, 10 * MINUTE, 10 * MINUTE + 4 * SECOND);
}

/* -- Ten thousand agents ----------------------------------------------------------------------- */

enum { AGENTS = 10000, SECONDS = 26 * 3600 };

struct agent {
	struct rna_pace pace;
	struct rna_wait wait;
	unsigned writes; /* requests of the round that is open: labels, condition, event */
	unsigned looks;  /* what is read: the Node, and the Leases */
	bool rules;      /* it lists its rules for devices */
	bool sick;       /* it wants the taint, and another holds each Lease */
	bool tainted;    /* it has the taint, since there are no Leases */
	bool said;       /* that the taint is withheld: a change behind that */
	bool changed;    /* and not told yet */
	rna_usec told;   /* when the API took the newest change */
};

/* What the API does to all that comes. */
struct server {
	rna_usec down_from, down_until;
	unsigned capacity; /* requests a second, above which it answers 429; 0: any number */
};

struct fleet {
	struct server server;
	struct agent agents[AGENTS];
	unsigned heap[AGENTS]; /* agents by when they wake up next */
	rna_usec at[AGENTS];
	unsigned asked[SECONDS];   /* requests in each second, answered or not */
	unsigned written[SECONDS]; /* writes that were taken */
};

static rna_usec wake_time(const struct agent *agent)
{
	rna_usec paced = rna_pace_next(&agent->pace);
	bool open = agent->writes + agent->looks > 0;

	return open && agent->wait.until < paced ? agent->wait.until : paced;
}

static void sift(struct fleet *fleet, unsigned place)
{
	for (;;) {
		unsigned child = 2 * place + 1, least = place, moved;

		for (unsigned i = child; i < child + 2 && i < AGENTS; i++)
			if (fleet->at[fleet->heap[i]] < fleet->at[fleet->heap[least]])
				least = i;
		if (least == place)
			return;
		moved = fleet->heap[place];
		fleet->heap[place] = fleet->heap[least];
		fleet->heap[least] = moved;
		place = least;
	}
}

static void order(struct fleet *fleet)
{
	for (unsigned i = 0; i < AGENTS; i++) {
		fleet->heap[i] = i;
		fleet->at[i] = wake_time(&fleet->agents[i]);
	}
	for (unsigned i = AGENTS; i-- > 0;)
		sift(fleet, i);
}

/* false: there is no API, or it has had enough. */
static bool ask(struct fleet *fleet, rna_usec now, rna_usec *ret_retry_after)
{
	const struct server *server = &fleet->server;
	unsigned second = (unsigned)(now / SECOND);

	*ret_retry_after = 0;
	fleet->asked[second]++;
	if (now >= server->down_from && now < server->down_until)
		return false;
	if (server->capacity == 0 || fleet->asked[second] <= server->capacity)
		return true;
	*ret_retry_after = SECOND;
	return false;
}

/* The lane's business: what is due is opened, what is open is asked until something fails. */
static void run_round(struct fleet *fleet, struct agent *agent, rna_usec now)
{
	unsigned due = rna_pace_take(&agent->pace, now);
	rna_usec retry_after;

	rna_pace_glance(&agent->pace, agent->tainted, now);
	if (due & (RNA_PACE_LOOK | RNA_PACE_GLANCE))
		agent->looks = 1U + (due & RNA_PACE_LOOK && agent->sick) +
			       (due & RNA_PACE_LOOK && agent->rules);
	if (due & RNA_PACE_CHANGE)
		agent->looks += agent->sick && !agent->said;
	agent->changed |= (due & RNA_PACE_CHANGE) != 0;
	if (due & RNA_PACE_CHANGE)
		agent->writes = agent->said ? 2 : 3; /* no label says it */
	else if (agent->writes == 0)
		agent->writes = due & RNA_PACE_RESYNC ? 2 : (due & RNA_PACE_HEARTBEAT) != 0;
	while (agent->looks + agent->writes > 0 && agent->wait.until <= now) {
		if (!ask(fleet, now, &retry_after)) {
			rna_wait_longer(&agent->wait, RNA_WAIT_LONGEST, retry_after,
					&agent->pace.random, now);
			return;
		}
		agent->wait = (struct rna_wait){0};
		if (agent->looks > 0) {
			agent->looks--;
			continue;
		}
		fleet->written[now / SECOND]++;
		if (--agent->writes > 0 || !agent->changed)
			continue;
		agent->changed = false;
		agent->told = now;
		if (!agent->sick || agent->said)
			continue;
		agent->said = true;
		want(&agent->pace, LATER, now);
	}
}

static void run_until(struct fleet *fleet, rna_usec until)
{
	order(fleet);
	while (fleet->at[fleet->heap[0]] < until) {
		unsigned which = fleet->heap[0];

		run_round(fleet, &fleet->agents[which], fleet->at[which]);
		fleet->at[which] = wake_time(&fleet->agents[which]);
		sift(fleet, 0);
	}
}

/* Something strikes all nodes within the second behind now. */
static void strike(struct fleet *fleet, rna_usec now)
{
	uint64_t random = now + 1;

	for (unsigned i = 0; i < AGENTS; i++)
		want(&fleet->agents[i].pace, LATER, now + rna_pace_random(&random, SECOND));
}

/* All agents start within a second, and have written once when an hour has passed. */
static struct fleet *begin(void)
{
	struct fleet *fleet = calloc(1, sizeof(*fleet));

	assert_non_null(fleet);
	fleet->server.down_from = RNA_USEC_NEVER;
	for (unsigned i = 0; i < AGENTS; i++)
		rna_pace_init(&fleet->agents[i].pace, &standard, i);
	strike(fleet, 0);
	run_until(fleet, HOUR);
	return fleet;
}

struct load {
	unsigned peak;
	double mean;
};

static struct load load_of(const unsigned *counts, rna_usec from, rna_usec until)
{
	struct load load = {0};
	unsigned long sum = 0;

	for (rna_usec second = from / SECOND; second < until / SECOND; second++) {
		sum += counts[second];
		load.peak = counts[second] > load.peak ? counts[second] : load.peak;
	}
	load.mean = (double)sum / (double)((until - from) / SECOND);
	return load;
}

static void report(const char *what, const struct fleet *fleet, rna_usec from, rna_usec until)
{
	struct load asked = load_of(fleet->asked, from, until);
	struct load written = load_of(fleet->written, from, until);

	printf("%d agents, %-32s writes/s: peak %4u, mean %6.1f; requests/s: peak %4u, mean "
	       "%6.1f\n",
	       AGENTS, what, written.peak, written.mean, asked.peak, asked.mean);
}

static void assert_all_told(const struct fleet *fleet, rna_usec from, rna_usec until)
{
	for (unsigned i = 0; i < AGENTS; i++) {
		assert_int_equal(fleet->agents[i].writes, 0);
		assert_in_range(fleet->agents[i].told, from, until);
	}
}

static void test_all_start_at_once(void **state)
{
	struct fleet *fleet = begin();

	(void)state;
	report("all start at once", fleet, 0, standard.first_delay);
	assert_true(load_of(fleet->asked, 0, HOUR).peak < 1600);
	assert_true(load_of(fleet->written, 0, HOUR).peak < 1200);
	free(fleet);
}

static void test_a_quiet_day(void **state)
{
	struct fleet *fleet = begin();
	struct load asked, written;

	(void)state;
	run_until(fleet, 25 * HOUR);
	report("a quiet day", fleet, HOUR, 25 * HOUR);
	asked = load_of(fleet->asked, HOUR, 25 * HOUR);
	written = load_of(fleet->written, HOUR, 25 * HOUR);
	assert_true(asked.mean < 15 && asked.peak < 60);
	assert_true(written.mean < 10 && written.peak < 40);
	free(fleet);
}

static void test_a_quiet_day_with_device_taints(void **state)
{
	struct fleet *fleet = begin();

	(void)state;
	for (unsigned i = 0; i < AGENTS; i++)
		fleet->agents[i].rules = true;
	run_until(fleet, 25 * HOUR);
	report("a quiet day with device taints", fleet, HOUR, 25 * HOUR);
	assert_true(load_of(fleet->asked, HOUR, 25 * HOUR).mean < 20);
	free(fleet);
}

static void test_a_spine_switch_restarts(void **state)
{
	struct fleet *fleet = begin();

	(void)state;
	strike(fleet, HOUR);
	run_until(fleet, HOUR + 5 * MINUTE);
	assert_all_told(fleet, HOUR, HOUR + standard.spread + SECOND);
	strike(fleet, HOUR + 5 * MINUTE);
	run_until(fleet, HOUR + 10 * MINUTE);
	report("a spine switch restarts", fleet, HOUR, HOUR + 10 * MINUTE);
	assert_true(load_of(fleet->written, HOUR, 2 * HOUR).peak < 400);
	assert_true(load_of(fleet->asked, HOUR, 2 * HOUR).peak < 420);
	free(fleet);
}

/*
 * An update breaks a driver on all nodes: the Leases are listed with the change, and with each look
 * at the Node; and that the taint is withheld is another change.
 */
static void test_all_are_sick_for_a_day(void **state)
{
	struct fleet *fleet = begin();
	struct load asked;

	(void)state;
	for (unsigned i = 0; i < AGENTS; i++)
		fleet->agents[i].sick = true;
	strike(fleet, HOUR);
	run_until(fleet, 25 * HOUR);
	report("all are sick: ten minutes", fleet, HOUR, HOUR + 10 * MINUTE);
	report("all are sick: the day behind", fleet, 2 * HOUR, 25 * HOUR);
	assert_true(load_of(fleet->written, HOUR, 25 * HOUR).peak < 520);
	assert_true(load_of(fleet->asked, HOUR, 25 * HOUR).peak < 620);
	asked = load_of(fleet->asked, 2 * HOUR, 25 * HOUR);
	assert_true(asked.mean < 20 && asked.peak < 80);
	free(fleet);
}

/* The same without Leases: what it costs that each of them can be told to stop within a minute. */
static void test_all_have_the_taint_for_a_day(void **state)
{
	struct fleet *fleet = begin();
	struct load asked;

	(void)state;
	for (unsigned i = 0; i < AGENTS; i++)
		fleet->agents[i].tainted = true;
	strike(fleet, HOUR);
	run_until(fleet, 25 * HOUR);
	report("all have the taint: the day behind", fleet, 2 * HOUR, 25 * HOUR);
	asked = load_of(fleet->asked, 2 * HOUR, 25 * HOUR);
	assert_true(asked.mean < 240 && asked.peak < 320);
	assert_true(load_of(fleet->written, 2 * HOUR, 25 * HOUR).mean < 10);
	free(fleet);
}

static void test_the_api_is_away_for_an_hour(void **state)
{
	struct fleet *fleet = begin();

	(void)state;
	fleet->server.down_from = HOUR;
	fleet->server.down_until = 2 * HOUR;
	strike(fleet, HOUR + MINUTE);
	run_until(fleet, 2 * HOUR + 10 * MINUTE);
	report("the API is away", fleet, HOUR, 2 * HOUR);
	report("the API is back", fleet, 2 * HOUR, 2 * HOUR + 5 * MINUTE);
	assert_true(load_of(fleet->asked, HOUR, 2 * HOUR).peak < 700);
	assert_true(load_of(fleet->asked, HOUR + 10 * MINUTE, 2 * HOUR).peak < 120);
	assert_true(load_of(fleet->written, HOUR, 2 * HOUR).peak == 0);
	assert_true(load_of(fleet->asked, 2 * HOUR, 3 * HOUR).peak < 420);
	assert_all_told(fleet, 2 * HOUR, 2 * HOUR + RNA_WAIT_LONGEST + SECOND);
	free(fleet);
}

/* An API server that takes a tenth of what the fleet has to say: no collapse, all get through. */
static void test_the_api_has_little_capacity(void **state)
{
	struct fleet *fleet = begin();

	(void)state;
	fleet->server.capacity = 40;
	strike(fleet, HOUR);
	run_until(fleet, 3 * HOUR);
	report("40 requests/s and 429 above", fleet, HOUR, 2 * HOUR);
	assert_true(load_of(fleet->asked, HOUR, 3 * HOUR).peak < 700);
	assert_true(load_of(fleet->asked, HOUR + 10 * MINUTE, 3 * HOUR).peak < 160);
	assert_all_told(fleet, HOUR, 3 * HOUR);
	free(fleet);
}

/* Every node changes every other minute, all day. */
static void test_all_flap_for_ever(void **state)
{
	struct fleet *fleet = begin();

	(void)state;
	for (rna_usec now = HOUR; now < 5 * HOUR; now += 2 * MINUTE) {
		strike(fleet, now);
		run_until(fleet, now + 2 * MINUTE);
	}
	report("all flap for ever", fleet, 3 * HOUR, 5 * HOUR);
	assert_true(load_of(fleet->written, 3 * HOUR, 5 * HOUR).mean < 55);
	free(fleet);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_to_say_is_no_reason_to_wake_up),
		cmocka_unit_test(test_a_start_looks_before_there_is_anything_to_say),
		cmocka_unit_test(test_what_is_first_is_spread_like_a_start),
		cmocka_unit_test(test_what_is_first_takes_along_what_waits),
		cmocka_unit_test(test_the_first_round_looks),
		cmocka_unit_test(test_a_change_is_spread_once),
		cmocka_unit_test(test_what_changed_back_is_forgotten_but_not_the_first),
		cmocka_unit_test(test_a_port_that_flaps_for_ever_costs_five_an_hour),
		cmocka_unit_test(test_urgent_changes_have_a_reserve),
		cmocka_unit_test(test_zero_is_never),
		cmocka_unit_test(test_looks_and_resyncs_are_half_to_one_and_a_half_apart),
		cmocka_unit_test(test_a_tainted_node_is_looked_at_each_minute),
		cmocka_unit_test(test_waits_grow_to_their_longest),
		cmocka_unit_test(test_a_server_may_ask_for_more_but_not_for_ever),
		cmocka_unit_test(test_all_start_at_once),
		cmocka_unit_test(test_a_quiet_day),
		cmocka_unit_test(test_a_quiet_day_with_device_taints),
		cmocka_unit_test(test_a_spine_switch_restarts),
		cmocka_unit_test(test_all_are_sick_for_a_day),
		cmocka_unit_test(test_all_have_the_taint_for_a_day),
		cmocka_unit_test(test_the_api_is_away_for_an_hour),
		cmocka_unit_test(test_the_api_has_little_capacity),
		cmocka_unit_test(test_all_flap_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
