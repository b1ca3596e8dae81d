// SPDX-License-Identifier: Apache-2.0
/*
 * agent/probe, pairs: which pairs ports and peers make, in which state, and what a port counts. The
 * views and reports are made up.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "probe/probe_memory.h"

#define SECOND RNA_USEC_PER_SEC
#define NOW    (1000 * SECOND)

static struct rna_pairs *pairs;
static struct rna_probe_memory memory;
enum { RAILS = 4 };

static struct rna_probe_plan plans[RAILS];
static struct rna_peer_news news;

static const struct rna_pairs_terms terms = {
	.group = "",
	.key_check = "0123abcd",
	.host_mesh = true,
};

static struct rna_probe_plan plan_of(const char *device, unsigned rail, bool infiniband)
{
	struct rna_probe_plan plan = {.port = 1,
				      .class = {.traffic_class = 104, .dscp = 26},
				      .infiniband = infiniband,
				      .rail = rail,
				      .card = (int)rail,
				      .gid = {[10] = 0xff, [11] = 0xff, [12] = 10}};

	(void)snprintf(plan.device, sizeof(plan.device), "%s", device);
	(void)snprintf(plan.leaf, sizeof(plan.leaf), "leaf-%u", rail);
	return plan;
}

static void open_all(void)
{
	for (uint32_t i = 0; i < RAILS; i++) {
		pairs->ports[i].id = i + 1;
		pairs->ports[i].session = 77 + i;
		pairs->ports[i].open = pairs->ports[i].listed;
	}
}

/* Two ports on two rails, and a peer with the same. */
static int set_up(void **state)
{
	(void)state;
	pairs = calloc(1, sizeof(*pairs));
	if (!pairs)
		return -1;
	plans[0] = plan_of("mlx5_0", 0, false);
	plans[1] = plan_of("mlx5_1", 1, false);
	rna_pairs_set_ports(pairs, plans, 2);
	open_all();
	memset(&news, 0, sizeof(news));
	(void)snprintf(news.name, sizeof(news.name), "n2");
	news.asked = NOW;
	news.answered = true;
	news.facts = (struct rna_peer_facts){.runs = true, .port_count = 2};
	(void)snprintf(news.facts.key_check, sizeof(news.facts.key_check), "0123abcd");
	for (unsigned i = 0; i < 2; i++) {
		struct rna_peer_port *port = &news.facts.ports[i];

		*port = (struct rna_peer_port){.port = 1,
					       .open = true,
					       .session = 99 + i,
					       .rail = i};
		(void)snprintf(port->device, sizeof(port->device), "mlx5_%u", i);
		(void)snprintf(port->leaf, sizeof(port->leaf), "leaf-%u", 2 * i);
		port->address.qpn_count = 1;
		port->address.qpns[0] = 17 + i;
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(pairs);
	rna_probe_memory_deinit(&memory);
	return 0;
}

static struct rna_probing_peer *hear(void)
{
	struct rna_probing_peer *peer = rna_pairs_peer(pairs, "n2");

	peer->choice = 1;
	rna_pairs_hear(peer, &news);
	return peer;
}

/* The pair of that port with the peer. */
static struct rna_probing_pair *pair_of(size_t port)
{
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++)
		if (pairs->pairs[i].port == &pairs->ports[port] && pairs->pairs[i].peer)
			return &pairs->pairs[i];
	fail_msg("port %zu has no pair", port);
	return NULL;
}

static size_t count_listed(void)
{
	size_t count = 0;

	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++)
		count += pairs->pairs[i].port && pairs->pairs[i].listed;
	return count;
}

static void make(void)
{
	rna_pairs_make(pairs, &terms);
}

static void assert_state(enum rna_probe_state state, const char *text)
{
	make();
	assert_int_equal(pair_of(0)->state, state);
	assert_string_equal(pair_of(0)->text, text);
	assert_int_equal(pair_of(0)->word.runs, state == RNA_PROBE_RUNNING);
}

static void test_ports_pair_up_on_their_rail(void **state)
{
	(void)state;
	(void)hear();
	make();
	assert_int_equal(count_listed(), 4); /* two with the peer, two within the node */
	assert_int_equal(pair_of(0)->state, RNA_PROBE_RUNNING);
	assert_string_equal(pair_of(0)->device, "mlx5_0");
	assert_int_equal(pair_of(0)->address.qpns[0], 17);
	assert_true(pair_of(0)->session == 99);
	assert_int_equal(pair_of(0)->scope, RNA_PROBE_LEAF); /* leaf-0 and leaf-0 */
	assert_int_equal(pair_of(1)->address.qpns[0], 18);
	assert_true(pair_of(1)->session == 100);
	assert_int_equal(pair_of(1)->scope, RNA_PROBE_FABRIC); /* leaf-1 and leaf-2 */
}

/* With the first two plans as they are now. */
static void assert_own(enum rna_probe_state state, const char *text)
{
	memset(pairs, 0, sizeof(*pairs));
	rna_pairs_set_ports(pairs, plans, 2);
	open_all();
	make();
	assert_int_equal(count_listed(), 2);
	assert_int_equal(pairs->pairs[0].scope, RNA_PROBE_HOST);
	assert_true(pairs->pairs[0].session == 78); /* of the other port */
	assert_int_equal(pairs->pairs[0].state, state);
	assert_string_equal(pairs->pairs[0].text, text);
}

static void report_losses(struct rna_probing_pair *pair, uint64_t lost, rna_usec now)
{
	const struct rna_prober_target_report report = {.counts = {.sent = lost, .lost = lost}};

	rna_pairs_add(pairs, pair, &report, now);
}

static void test_ports_of_the_node_pair_up_through_their_cables(void **state)
{
	(void)state;
	assert_own(RNA_PROBE_RUNNING, "");
	plans[1].card = plans[0].card;
	assert_own(RNA_PROBE_LOCAL, "ports of one card may deliver it without the cable");
	plans[0].card = plans[1].card = -1;
	assert_own(RNA_PROBE_LOCAL, "ports of one card may deliver it without the cable");
	plans[1].software = true;
	assert_own(RNA_PROBE_LOCAL, "software devices deliver it without the cable");
	plans[0] = plan_of("mlx5_0", 0, false);
	plans[1] = plan_of("mlx5_1", 1, false);
	plans[1].gid[0] = 0xfd;
	assert_own(RNA_PROBE_LOCAL, "the kernel routes IPv6 addresses of this node to itself");
	plans[0].infiniband = plans[1].infiniband = true;
	assert_own(RNA_PROBE_RUNNING, "");
}

/* -- Four ports, and no peer ------------------------------------------------------------------- */

static void report_own(struct rna_probing_pair *pair, bool answered, rna_usec now)
{
	struct rna_prober_target_report report = {
		.counts = {.sent = 2, .answered = answered ? 2 : 0, .lost = answered ? 0 : 2},
		.unanswered = answered ? 0 : pair->ledger.unanswered + 2,
		.there = {26, 0, 62},
		.last_answer = answered ? now : pair->ledger.last_answer,
	};

	rna_pairs_add(pairs, pair, &report, now);
}

/* A second in which the pairs of port dead are not answered, and the rest are; -1: all are. */
static void pass_second(int dead, rna_usec now)
{
	const struct rna_time time = {now, now};

	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++) {
		struct rna_probing_pair *pair = &pairs->pairs[i];
		bool bad = pair->port &&
			   (pair->port - pairs->ports == dead || (int)pair->rail == dead);

		if (pair->port)
			report_own(pair, !bad, now);
	}
	(void)rna_pairs_judge(pairs, time);
}

static void set_up_node(void)
{
	memset(pairs, 0, sizeof(*pairs));
	for (unsigned i = 0; i < RAILS; i++) {
		char device[16];

		(void)snprintf(device, sizeof(device), "mlx5_%u", i);
		plans[i] = plan_of(device, i, false);
	}
	rna_pairs_set_ports(pairs, plans, RAILS);
	open_all();
	make();
	assert_int_equal(count_listed(), RAILS * (RAILS - 1));
}

static void test_a_dead_port_shows_within_the_node(void **state)
{
	(void)state;
	set_up_node();
	for (rna_usec i = 0; i < 30; i++)
		pass_second(-1, NOW + i * SECOND);
	for (size_t port = 0; port < RAILS; port++)
		assert_int_equal(pairs->ports[port].verdict.verdict, RNA_PROBE_WELL);
	for (rna_usec i = 30; i < 36; i++) {
		pass_second(2, NOW + i * SECOND);
		for (size_t port = 0; port < RAILS; port++)
			if (port != 2)
				assert_int_not_equal(pairs->ports[port].verdict.verdict,
						     RNA_PROBE_UNREACHABLE);
	}
	assert_int_equal(pairs->ports[2].verdict.verdict, RNA_PROBE_UNREACHABLE);
	assert_int_equal(pairs->ports[2].verdict.bad, RAILS - 1);
}

/* Nothing tells then which of them it is, or whether it is the host. */
static void test_ports_that_are_all_dead_are_not_blamed(void **state)
{
	(void)state;
	set_up_node();
	for (rna_usec i = 0; i < 30; i++)
		pass_second(-1, NOW + i * SECOND);
	for (rna_usec i = 30; i < 50; i++) {
		for (size_t k = 0; k < RNA_PROBING_PAIRS_MAX; k++)
			if (pairs->pairs[k].port)
				report_own(&pairs->pairs[k], false, NOW + i * SECOND);
		(void)rna_pairs_judge(pairs, (struct rna_time){NOW + i * SECOND, NOW + i * SECOND});
		for (size_t port = 0; port < RAILS; port++)
			assert_int_not_equal(pairs->ports[port].verdict.verdict,
					     RNA_PROBE_UNREACHABLE);
	}
	assert_int_equal(pairs->pairs[0].signs, RNA_PROBE_SILENT);
}

/* For ten seconds after it stood still, its losses are no faults. */
static void test_a_host_that_stood_still_was_away(void **state)
{
	(void)state;
	news.asked = NOW;
	(void)hear();
	news.asked = NOW + 30 * SECOND;
	(void)hear();
	assert_int_equal(pairs->peers[0].word.back, NOW);
	news.asked = NOW + 60 * SECOND;
	news.facts.late = true;
	(void)hear();
	assert_int_equal(pairs->peers[0].word.back, NOW + 60 * SECOND);
	news.facts.late = false;
}

/* A visitor is known by its GID, and by the port that it visits. */
static void test_a_visitor_belongs_to_the_pair_with_its_gid(void **state)
{
	const struct rna_probing_pair *pair = &pairs->pairs[0];
	uint8_t stranger[16] = {0xfe, 0x80};

	(void)state;
	set_up_node();
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++)
		pairs->pairs[i].address.gid[15] = (uint8_t)(100 + i);
	assert_ptr_equal(rna_pairs_find_gid(pairs, pair->port->id, pair->address.gid), pair);
	assert_null(rna_pairs_find_gid(pairs, pair->port->id + 1, pair->address.gid));
	assert_null(rna_pairs_find_gid(pairs, pair->port->id, stranger));
}

/* A network may not route between rails. */
static void test_own_paths_that_never_worked_are_not_judged(void **state)
{
	(void)state;
	set_up_node();
	for (rna_usec i = 0; i < 60; i++)
		pass_second(2, NOW + i * SECOND);
	assert_int_equal(pairs->ports[2].verdict.verdict, RNA_PROBE_UNKNOWN);
	assert_int_equal(pairs->ports[1].verdict.verdict, RNA_PROBE_WELL);
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++)
		assert_int_equal(pairs->pairs[i].signs, 0);
}

static void test_why_a_peer_is_not_probed(void **state)
{
	struct rna_probing_peer *peer = rna_pairs_peer(pairs, "n2");

	(void)state;
	assert_state(RNA_PROBE_WAITING, "it was not asked yet");
	news.answered = false;
	(void)snprintf(news.text, sizeof(news.text), "http://n2: connection refused");
	(void)hear();
	assert_state(RNA_PROBE_PEER_DOWN, "http://n2: connection refused");
	news.refused = true;
	(void)hear();
	assert_state(RNA_PROBE_PEER_REFUSED, "http://n2: connection refused");
	news = (struct rna_peer_news){.answered = true, .facts = news.facts, .asked = NOW};
	(void)hear();
	assert_state(RNA_PROBE_RUNNING, "");
	(void)snprintf(peer->facts.group, sizeof(peer->facts.group), "other");
	assert_state(RNA_PROBE_PEER_REFUSED, "it is of another group");
	peer->facts.group[0] = '\0';
	peer->facts.key_check[0] = 'f';
	assert_state(RNA_PROBE_PEER_REFUSED, "it has another secret");
	peer->facts.runs = false;
	(void)snprintf(peer->facts.why, sizeof(peer->facts.why), "the agent is quiesced");
	assert_state(RNA_PROBE_PEER_DOWN, "the agent is quiesced");
	(void)hear();
	peer->facts.ports[0].open = false;
	assert_state(RNA_PROBE_PEER_DOWN, "its port is not open");
	peer->facts.ports[0].rail = 7;
	assert_state(RNA_PROBE_PEER_DOWN, "it has no port on this rail");
}

static void test_a_host_that_cannot_send(void **state)
{
	(void)state;
	(void)hear();
	make();
	pair_of(0)->ledger.refusal = EHOSTUNREACH;
	make();
	assert_int_equal(pair_of(0)->state, RNA_PROBE_NO_NEIGHBOUR);
	assert_true(pair_of(0)->word.runs);
	pair_of(0)->ledger.refusal = EADDRINUSE;
	make();
	assert_int_equal(pair_of(0)->state, RNA_PROBE_LOCAL);
	pair_of(0)->ledger.refusal = EHOSTUNREACH;
	pair_of(0)->signs = RNA_PROBE_SILENT; /* it could a moment ago */
	make();
	assert_int_equal(pair_of(0)->state, RNA_PROBE_RUNNING);
}

static void add_refusals(rna_usec now)
{
	const struct rna_prober_target_report report = {.refused = 1, .refusal = EHOSTUNREACH};

	rna_pairs_add(pairs, pair_of(0), &report, now);
}

static void add_report(uint64_t answered, uint64_t lost, rna_usec now)
{
	const struct rna_prober_target_report report = {
		.counts = {.sent = answered + lost, .answered = answered, .lost = lost},
		.sample_count = 1,
		.samples = {5000},
		.last_answer = now,
	};

	rna_pairs_add(pairs, pair_of(0), &report, now);
}

/* The cable at this end: the kernel finds no neighbour any more, and the peer is well. */
static void test_a_host_that_cannot_send_any_more(void **state)
{
	const struct rna_time heard = {NOW + 3 * SECOND, NOW + 3 * SECOND};
	const struct rna_time later = {NOW + 5 * SECOND, NOW + 5 * SECOND};

	(void)state;
	news.asked = NOW - 60 * SECOND;
	(void)hear();
	make();
	add_report(10, 0, NOW);
	for (rna_usec i = 1; i <= 5; i++) {
		add_refusals(NOW + i * SECOND);
		make();
	}
	assert_int_equal(pair_of(0)->state, RNA_PROBE_NO_NEIGHBOUR);
	news.asked = NOW + 3 * SECOND;
	(void)hear();
	make();
	assert_false(rna_pairs_judge(pairs, heard)); /* what it answered may be under way */
	assert_true(rna_pairs_judge(pairs, later));
	assert_int_equal(pair_of(0)->signs, RNA_PROBE_SILENT);
	make();
	assert_int_equal(pair_of(0)->state, RNA_PROBE_RUNNING);
}

/* On the way to the peer's first port. */
static void lose_some(void)
{
	(void)hear();
	make();
	add_report(10, 0, NOW);
	add_report(0, 4, NOW + SECOND);
}

/* Probes that were under way when the peer went are no losses. */
static void test_a_peer_that_goes_leaves_no_losses(void **state)
{
	const struct rna_time later = {NOW + 60 * SECOND, NOW + 60 * SECOND};
	const struct rna_probe_counts *counts = &pairs->ports[0].counts[RNA_PROBE_LEAF];

	(void)state;
	lose_some();
	news.answered = false;
	(void)snprintf(news.text, sizeof(news.text), "connection refused");
	(void)hear();
	make();
	(void)rna_pairs_judge(pairs, later);
	assert_int_equal(counts->lost, 0);
	assert_int_equal(counts->voided, 4);
	assert_int_equal(counts->answered, 10);
	assert_int_equal(counts->sent, 14);
	assert_int_equal(pairs->rtt[RNA_PROBE_LEAF].sum, 10000);
}

/* It is opened again, with another session, after a flood or by another prober. */
static void test_a_peer_that_begins_anew_leaves_no_losses(void **state)
{
	const struct rna_time later = {NOW + 60 * SECOND, NOW + 60 * SECOND};
	const struct rna_probe_counts *counts = &pairs->ports[0].counts[RNA_PROBE_LEAF];

	(void)state;
	lose_some();
	news.facts.ports[0].session++;
	(void)hear();
	make();
	assert_int_equal(pair_of(0)->state, RNA_PROBE_RUNNING);
	assert_true(pair_of(0)->session == 100);
	(void)rna_pairs_judge(pairs, later);
	assert_int_equal(counts->lost, 0);
	assert_int_equal(counts->voided, 4);
}

/* A rolling upgrade: agents of both versions run for hours, and neither blames the other. */
static void test_a_peer_of_another_version_leaves_no_losses(void **state)
{
	const struct rna_time later = {NOW + 60 * SECOND, NOW + 60 * SECOND};

	(void)state;
	lose_some();
	news.answered = false;
	news.refused = true;
	(void)snprintf(news.text, sizeof(news.text), "it speaks version 1 of probes");
	(void)hear();
	assert_state(RNA_PROBE_PEER_REFUSED, "it speaks version 1 of probes");
	(void)rna_pairs_judge(pairs, later);
	assert_int_equal(pair_of(0)->signs, 0);
	assert_int_equal(pairs->ports[0].counts[RNA_PROBE_LEAF].lost, 0);
}

static void flood(rna_usec now)
{
	const struct rna_probe_flood packets = {.packets = 2001, .qpn = 17};

	rna_pairs_pause(&pairs->ports[0], &packets, (struct rna_time){now, now});
}

static void test_a_flooded_port_pauses_for_longer_each_time(void **state)
{
	static const rna_usec pauses[] = {5, 10, 20, 40, 80, 160, 300, 300};
	struct rna_probing_port *port = &pairs->ports[0];
	rna_usec now = NOW;

	(void)state;
	for (unsigned i = 0; i < RNA_ARRAY_SIZE(pauses); i++) {
		flood(now);
		assert_int_equal(port->pauses.count, i + 1);
		assert_int_equal(port->again - now, pauses[i] * SECOND);
		assert_int_equal(port->pauses.until - now, pauses[i] * SECOND);
		assert_int_equal(port->pauses.since, NOW);
		rna_pairs_forget_pauses(pairs, now = port->again + 299 * SECOND);
		assert_int_equal(port->pauses.count, i + 1);
	}
	assert_int_equal(port->pauses.flood.qpn, 17);
	assert_string_equal(port->text, "flooded: 2001 packets refused");
	rna_pairs_forget_pauses(pairs, now = port->again + 300 * SECOND);
	assert_int_equal(port->pauses.count, 0);
	flood(now);
	assert_int_equal(port->again - now, 5 * SECOND);
	assert_int_equal(port->pauses.since, now);
}

static void test_a_port_counts_on_without_its_pairs(void **state)
{
	const struct rna_time later = {NOW + 60 * SECOND, NOW + 60 * SECOND};

	(void)state;
	(void)hear();
	make();
	add_report(9, 0, NOW);
	add_report(1, 3, NOW + SECOND);
	(void)rna_pairs_judge(pairs, later);
	assert_int_equal(pairs->ports[0].counts[RNA_PROBE_LEAF].lost, 3);
	rna_pairs_drop_peers(pairs, 2); /* a newer choice without it */
	make();
	assert_int_equal(count_listed(), 2);
	assert_int_equal(pairs->ports[0].counts[RNA_PROBE_LEAF].lost, 3);
	assert_int_equal(pairs->ports[0].counts[RNA_PROBE_LEAF].answered, 10);
	(void)hear();
	make();
	add_report(1, 0, NOW + 61 * SECOND);
	assert_int_equal(pairs->ports[0].counts[RNA_PROBE_LEAF].answered, 11);
}

static void test_ports_that_change_are_closed(void **state)
{
	(void)state;
	plans[0].gid_index = 3;
	rna_pairs_set_ports(pairs, plans, 2);
	assert_false(pairs->ports[0].listed); /* open with another address */
	assert_true(pairs->ports[1].listed);
	pairs->ports[0].id = 0;
	rna_pairs_set_ports(pairs, plans, 2);
	assert_true(pairs->ports[0].listed);
	assert_int_equal(pairs->ports[0].plan.gid_index, 3);
	rna_pairs_set_ports(pairs, plans, 1);
	assert_false(pairs->ports[1].listed);
	make();
	assert_int_equal(count_listed(), 0);
}

static void test_an_interrupted_peer_begins_anew(void **state)
{
	struct rna_probing_peer *peer = hear();

	(void)state;
	assert_true(peer->word.back == NOW);
	news.asked = NOW + 30 * SECOND;
	(void)hear();
	assert_true(peer->word.back == NOW);
	assert_true(peer->word.asked == NOW + 30 * SECOND);
	news.answered = false;
	(void)hear();
	news.answered = true;
	news.asked = NOW + 60 * SECOND;
	(void)hear();
	assert_true(peer->word.back == NOW + 60 * SECOND);
}

static void test_more_peers_than_there_are_places(void **state)
{
	char name[16];

	(void)state;
	for (int i = 0; i < RNA_PROBING_PEERS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		assert_non_null(rna_pairs_peer(pairs, name));
	}
	assert_null(rna_pairs_peer(pairs, "one more"));
	assert_non_null(rna_pairs_peer(pairs, "n3"));
}

/* Six peers on two rails, each pair with its round trips: nanoseconds, which are usual. */
enum { MANY = 6 };

static struct rna_probing_pair *pair_with(size_t port, int peer)
{
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++)
		if (pairs->pairs[i].port == &pairs->ports[port] &&
		    pairs->pairs[i].peer == &pairs->peers[peer])
			return &pairs->pairs[i];
	fail_msg("port %zu has no pair with peer %d", port, peer);
	return NULL;
}

static void report_trips(struct rna_probing_pair *pair, uint32_t nanoseconds, rna_usec now)
{
	struct rna_prober_target_report report = {
		.counts = {.sent = RNA_PROBER_SAMPLES_MAX, .answered = RNA_PROBER_SAMPLES_MAX},
		.sample_count = RNA_PROBER_SAMPLES_MAX,
		.there = {26, 0, 62},
		.last_answer = now,
	};

	for (size_t i = 0; i < RNA_PROBER_SAMPLES_MAX; i++)
		report.samples[i] = nanoseconds;
	for (size_t i = 0; i < RNA_LEDGER_SAMPLES / RNA_PROBER_SAMPLES_MAX; i++)
		rna_pairs_add(pairs, pair, &report, now);
}

static void set_up_many(void)
{
	const struct rna_time now = {NOW, NOW};
	char name[16];

	news.facts.ports[1].leaf[5] = '1'; /* the scopes are the same then */
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		rna_pairs_hear(rna_pairs_peer(pairs, name), &news);
		(void)snprintf(pairs->peers[i].origin, sizeof(pairs->peers[i].origin),
			       "http://10.0.0.%d:10879", i);
	}
	make();
	for (size_t port = 0; port < 2; port++)
		for (int i = 0; i < MANY; i++)
			report_trips(pair_with(port, i), 5000 + (uint32_t)i, NOW);
	(void)rna_pairs_judge(pairs, now);
}

static bool is_slower(size_t port, int peer)
{
	const struct rna_time later = {NOW + SECOND, NOW + SECOND};

	(void)rna_pairs_judge(pairs, later);
	return pair_with(port, peer)->ledger.slow_since > 0;
}

static void test_a_pair_is_compared_with_its_rail_and_the_rail_with_the_node(void **state)
{
	const uint32_t slow = 50000000;

	(void)state;
	set_up_many();
	report_trips(pair_with(0, 2), slow, NOW + SECOND);
	assert_true(is_slower(0, 2));
	assert_false(is_slower(0, 3));
	assert_false(is_slower(1, 2));
	for (int i = 0; i < MANY; i++)
		report_trips(pair_with(0, i), slow + (uint32_t)i, NOW + SECOND);
	for (int i = 0; i < MANY; i++)
		assert_true(is_slower(0, i)); /* no queue holds so much */
	for (int i = 0; i < MANY; i++)
		report_trips(pair_with(1, i), slow - (uint32_t)i, NOW + SECOND);
	for (int i = 0; i < MANY; i++) /* the whole node: its host */
		assert_false(is_slower(0, i) || is_slower(1, i));
}

static void test_hops_of_a_rail_change_together(void **state)
{
	const struct rna_time later = {NOW + 61 * SECOND, NOW + 61 * SECOND};

	(void)state;
	set_up_many();
	for (int i = 0; i < 10 * MANY; i++) { /* often enough to be usual */
		report_trips(pair_with(0, i % MANY), 5000, NOW);
		report_trips(pair_with(1, i % MANY), 5000, NOW);
	}
	pair_with(0, 0)->ledger.hops = (struct rna_ledger_run){60, 10, NOW};
	for (int i = 0; i < MANY / 2 + 1; i++)
		pair_with(1, i)->ledger.hops = (struct rna_ledger_run){60, 10, NOW};
	(void)rna_pairs_judge(pairs, later);
	assert_int_equal(pair_with(0, 0)->signs, RNA_PROBE_DETOUR);
	assert_int_equal(pair_with(1, 0)->signs, 0); /* that is routing */
}

/* All pairs of a port are silent. Is one of the peers answered by its other port? */
static void test_a_port_is_unreachable_if_another_is_answered(void **state)
{
	const struct rna_time heard = {NOW + 18 * SECOND, NOW + 18 * SECOND};
	const struct rna_time later = {NOW + 20 * SECOND, NOW + 20 * SECOND};

	(void)state;
	set_up_many();
	news.asked = heard.monotonic;
	for (int i = 0; i < MANY; i++) {
		rna_pairs_hear(&pairs->peers[i], &news);
		pair_with(0, i)->ledger.unanswered = 10;
	}
	make();
	(void)rna_pairs_judge(pairs, heard);
	(void)rna_pairs_judge(pairs, later); /* the other port was not answered lately */
	assert_int_equal(pair_with(0, 0)->signs, RNA_PROBE_SILENT);
	assert_int_equal(pairs->ports[0].verdict.verdict, RNA_PROBE_UNKNOWN);
	report_trips(pair_with(1, MANY - 1), 5000, later.monotonic);
	(void)rna_pairs_judge(pairs, later);
	assert_int_equal(pairs->ports[0].verdict.verdict, RNA_PROBE_UNREACHABLE);
	assert_int_equal(pairs->ports[0].verdict.bad, MANY);
	assert_int_equal(pairs->ports[1].verdict.verdict, RNA_PROBE_WELL);
}

/* -- Restarts ---------------------------------------------------------------------------------- */

/* The agent ends and starts again: what it knows is what its file has. */
static void restart(rna_usec realtime)
{
	RNA_STRBUF struct rna_strbuf file = RNA_STRBUF_INIT;
	struct rna_error error = {0};

	rna_probe_memory_learn(&memory, pairs, realtime);
	rna_probe_memory_write(&memory, &file);
	assert_true(rna_strbuf_ok(&file));
	rna_probe_memory_deinit(&memory);
	assert_int_equal(rna_probe_memory_read(&memory, file.data, file.len, &error), 0);
	memset(pairs, 0, sizeof(*pairs));
	pairs->memory = &memory;
	for (size_t i = 0; i < memory.peer_count; i++)
		assert_true(rna_pairs_choose(pairs, &memory.peers[i], 0));
	rna_pairs_set_ports(pairs, plans, 2);
	open_all();
	make();
}

static void find_port_unreachable(void)
{
	const struct rna_time heard = {NOW + 18 * SECOND, NOW + 18 * SECOND};
	const struct rna_time later = {NOW + 20 * SECOND, NOW + 20 * SECOND};

	set_up_many();
	news.asked = heard.monotonic;
	for (int i = 0; i < MANY; i++) {
		rna_pairs_hear(&pairs->peers[i], &news);
		pair_with(0, i)->ledger.unanswered = 10;
	}
	make();
	report_trips(pair_with(1, 0), 5000, later.monotonic);
	(void)rna_pairs_judge(pairs, heard);
	(void)rna_pairs_judge(pairs, later);
	assert_int_equal(pairs->ports[0].verdict.verdict, RNA_PROBE_UNREACHABLE);
	assert_true(pairs->ports[0].since == later.realtime);
}

/* Peers have not been asked yet, and the time of the fault is that of before. */
static void test_a_fault_survives_a_restart(void **state)
{
	const struct rna_time after = {NOW + 60 * SECOND, NOW + 60 * SECOND};

	(void)state;
	find_port_unreachable();
	restart(after.realtime);
	assert_int_equal(memory.peer_count, MANY);
	assert_string_equal(memory.peers[3].origin, "http://10.0.0.3:10879");
	(void)rna_pairs_judge(pairs, after);
	assert_int_equal(pair_with(0, 3)->state, RNA_PROBE_WAITING);
	assert_int_equal(pair_with(0, 3)->signs, RNA_PROBE_SILENT);
	assert_true(pair_with(0, 3)->since == NOW + 20 * SECOND);
	assert_int_equal(pair_with(1, 3)->signs, 0);
	assert_int_equal(pairs->ports[0].verdict.verdict, RNA_PROBE_UNREACHABLE);
	assert_true(pairs->ports[0].since == NOW + 20 * SECOND);
	assert_int_equal(pairs->ports[1].verdict.verdict, RNA_PROBE_UNKNOWN);
	restart(after.realtime + SECOND); /* before anything new was seen */
	(void)rna_pairs_judge(pairs, after);
	assert_true(pairs->ports[0].since == NOW + 20 * SECOND);
}

static void test_an_answer_ends_what_is_recalled(void **state)
{
	struct rna_time after = {NOW + 60 * SECOND, NOW + 60 * SECOND};

	(void)state;
	find_port_unreachable();
	restart(after.realtime);
	(void)rna_pairs_judge(pairs, after);
	news.asked = after.monotonic;
	for (int i = 0; i < MANY; i++)
		rna_pairs_hear(&pairs->peers[i], &news);
	make();
	for (int i = 0; i < MANY; i++)
		report_trips(pair_with(0, i), 5000, after.monotonic);
	(void)rna_pairs_judge(pairs, after);
	assert_int_equal(pair_with(0, 0)->signs, 0);
	assert_true(pair_with(0, 0)->since == 0);
	assert_int_equal(pairs->ports[0].verdict.verdict, RNA_PROBE_WELL);
	assert_true(pairs->ports[0].since == after.realtime);
}

/* A peer that went meanwhile is no fault, nor is what nothing shows any more after two minutes. */
static void test_what_is_recalled_ends(void **state)
{
	struct rna_time after = {NOW + 60 * SECOND, NOW + 60 * SECOND};

	(void)state;
	find_port_unreachable();
	restart(after.realtime);
	(void)rna_pairs_judge(pairs, after);
	news.answered = false;
	(void)snprintf(news.text, sizeof(news.text), "connection refused");
	rna_pairs_hear(&pairs->peers[0], &news);
	make();
	after.monotonic += SECOND;
	(void)rna_pairs_judge(pairs, after);
	assert_int_equal(pair_with(0, 0)->signs, 0);
	assert_int_equal(pair_with(0, 1)->signs, RNA_PROBE_SILENT);
	after.monotonic += 120 * SECOND;
	(void)rna_pairs_judge(pairs, after);
	assert_int_equal(pair_with(0, 1)->signs, 0);
	assert_int_equal(pairs->ports[0].verdict.verdict, RNA_PROBE_UNKNOWN);
}

/* Each window counts on what was lost in it, and the usual round trip stays. */
static void test_losses_count_on_after_a_restart(void **state)
{
	struct rna_time now = {NOW, NOW};
	struct rna_probing_pair *pair;

	(void)state;
	set_up_many();
	now.monotonic = now.realtime += SECOND;
	report_losses(pair_with(0, 2), 7, now.monotonic);
	report_trips(pair_with(0, 2), 5000, now.monotonic);
	now.monotonic = now.realtime += 20 * SECOND;
	(void)rna_pairs_judge(pairs, now);
	assert_int_equal(pair_with(0, 2)->signs, RNA_PROBE_LOSS);
	restart(now.realtime);
	(void)rna_pairs_judge(pairs, now);
	pair = pair_with(0, 2);
	assert_int_equal(pair->signs, RNA_PROBE_LOSS);
	assert_true(pair->since == NOW + 21 * SECOND);
	assert_int_equal(rna_ledger_window(&pair->ledger, 30 * SECOND).lost, 7);
	assert_int_equal(pair->ledger.total.lost, 0); /* of this process */
	assert_in_range(pair->ledger.usual, 5000, 5010);
	now.realtime += 300 * SECOND; /* it was away for that time */
	restart(now.realtime);
	for (size_t i = 0; i < memory.pair_count; i++)
		memory.pairs[i].when -= 300 * SECOND;
	(void)rna_pairs_judge(pairs, now);
	assert_int_equal(rna_ledger_window(&pair_with(0, 2)->ledger, 120 * SECOND).lost, 0);
	assert_int_equal(rna_ledger_recent(&pair_with(0, 2)->ledger).lost, 7);
}

/* A command beside the agent knows what was lost lately. */
static void test_what_a_command_knows(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	const rna_usec now = NOW + 21 * SECOND;
	struct rna_probe_pairs known;
	const struct rna_probe_pair *pair;

	(void)state;
	set_up_many();
	report_losses(pair_with(0, 2), 7, NOW + SECOND);
	report_trips(pair_with(0, 2), 5000, NOW + SECOND);
	(void)rna_pairs_judge(pairs, (struct rna_time){now, now});
	restart(now);
	assert_int_equal(rna_probe_memory_pairs(&memory, now + 600 * SECOND, arena, &known), 0);
	assert_int_equal(known.count, memory.pair_count);
	pair = known.items;
	while (strcmp(pair->device, "mlx5_0") != 0 || strcmp(pair->peer, "n2") != 0)
		assert_true(++pair < known.items + known.count);
	assert_int_equal(pair->scope, RNA_PROBE_FABRIC);
	assert_int_equal(pair->recent.lost, 7);
	assert_true(pair->total.answered > 0);
	assert_int_equal(pair->signs, RNA_PROBE_LOSS);
	assert_int_equal(rna_probe_memory_pairs(&memory, now + 3600 * SECOND, arena, &known), 0);
	assert_int_equal(known.count, 0);
}

static void assert_not_read(const char *text, int status)
{
	struct rna_error error = {0};

	assert_int_equal(rna_probe_memory_read(&memory, text, strlen(text), &error), status);
	assert_int_equal(memory.pair_count, 0);
}

static void test_a_memory_that_is_damaged(void **state)
{
	static const char wrong[] =
		"{\"version\": 1, \"peers\": [{\"name\": \"n1\", \"origin\": \"file:///\"}],"
		" \"ports\": [{\"device\": \"mlx5_0\", \"verdict\": \"fine\"}],"
		" \"pairs\": [{\"device\": \"mlx5_0\", \"signs\": 64, \"time\": 1}, 7]}";
	struct rna_error error = {0};

	(void)state;
	assert_not_read("", -EBADMSG);
	assert_not_read("{}", -EBADMSG);
	assert_not_read("{\"version\": 2}", -EOPNOTSUPP);
	assert_int_equal(rna_probe_memory_read(&memory, wrong, sizeof(wrong) - 1, &error), 0);
	assert_int_equal(memory.peer_count + memory.port_count + memory.pair_count, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ports_pair_up_on_their_rail),
		TEST(test_a_visitor_belongs_to_the_pair_with_its_gid),
		TEST(test_a_host_that_stood_still_was_away),
		TEST(test_ports_of_the_node_pair_up_through_their_cables),
		TEST(test_a_dead_port_shows_within_the_node),
		TEST(test_ports_that_are_all_dead_are_not_blamed),
		TEST(test_own_paths_that_never_worked_are_not_judged),
		TEST(test_why_a_peer_is_not_probed),
		TEST(test_a_host_that_cannot_send),
		TEST(test_a_host_that_cannot_send_any_more),
		TEST(test_a_peer_that_goes_leaves_no_losses),
		TEST(test_a_peer_that_begins_anew_leaves_no_losses),
		TEST(test_a_peer_of_another_version_leaves_no_losses),
		TEST(test_a_flooded_port_pauses_for_longer_each_time),
		TEST(test_a_port_counts_on_without_its_pairs),
		TEST(test_ports_that_change_are_closed),
		TEST(test_an_interrupted_peer_begins_anew),
		TEST(test_more_peers_than_there_are_places),
		TEST(test_a_pair_is_compared_with_its_rail_and_the_rail_with_the_node),
		TEST(test_hops_of_a_rail_change_together),
		TEST(test_a_port_is_unreachable_if_another_is_answered),
		TEST(test_a_fault_survives_a_restart),
		TEST(test_an_answer_ends_what_is_recalled),
		TEST(test_what_is_recalled_ends),
		TEST(test_losses_count_on_after_a_restart),
		TEST(test_what_a_command_knows),
		TEST(test_a_memory_that_is_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
