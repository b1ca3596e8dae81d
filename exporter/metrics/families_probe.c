// SPDX-License-Identifier: Apache-2.0
/*
 * Metrics of probes between nodes. Beside the histograms a node with eight ports has at most 100
 * series: pairs have one only while they show a sign of a fault, and the worst ones first.
 * Bandwidth that was measured adds six at most to a port.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rna/model/probe.h"

#include "family_rows.h"

enum {
	PAIRS_MAX = 12, /* with series of their own */
	NAME_SIZE = 96,
	MILLION = 1000000,
};

static const struct rna_probe_port *port_of(const struct rna_subject *port)
{
	return rna_probes_find_port(port->view->probes, port->device->device->name, port->port);
}

/* As peers call this node. */
static const char *member_name(const struct rna_probes *probes)
{
	return probes->member[0] != '\0' ? probes->member : probes->node;
}

static bool is_used(const struct rna_probe_port *port)
{
	return port && port->use != RNA_PROBE_OFF;
}

/* -- Ports ------------------------------------------------------------------------------------- */

/* A scope in which nothing was ever sent has no sample. */
static void write_scopes(const struct rna_subject *subject, struct rna_writer *writer,
			 uint64_t (*number)(const struct rna_probe_counts *counts))
{
	const struct rna_probe_port *port = port_of(subject);

	for (enum rna_probe_scope scope = 0; port && scope < RNA_PROBE_SCOPE_COUNT; scope++)
		if (port->counts[scope].sent > 0)
			rna_writer_sample_with(writer, subject->labels, "scope",
					       rna_probe_scope_name(scope),
					       number(&port->counts[scope]));
}

static uint64_t count_sent(const struct rna_probe_counts *counts)
{
	return counts->sent;
}

static uint64_t count_lost(const struct rna_probe_counts *counts)
{
	return counts->lost;
}

static void sent(const struct rna_subject *port, struct rna_writer *writer)
{
	write_scopes(port, writer, count_sent);
}

static void lost(const struct rna_subject *port, struct rna_writer *writer)
{
	write_scopes(port, writer, count_lost);
}

static struct rna_probe_counts sum_up(const struct rna_probe_port *port)
{
	struct rna_probe_counts sum = {0};

	for (size_t i = 0; i < RNA_PROBE_SCOPE_COUNT; i++)
		rna_probe_counts_merge(&sum, &port->counts[i]);
	return sum;
}

static struct rna_value voided(const struct rna_subject *subject)
{
	const struct rna_probe_port *port = port_of(subject);

	return is_used(port) ? rna_value_ok(sum_up(port).voided) : rna_no_value;
}

static struct rna_value missed(const struct rna_subject *subject)
{
	const struct rna_probe_port *port = port_of(subject);

	return is_used(port) ? rna_value_ok(sum_up(port).missed) : rna_no_value;
}

static struct rna_value large_lost(const struct rna_subject *subject)
{
	const struct rna_probe_port *port = port_of(subject);

	return is_used(port) ? rna_value_ok(sum_up(port).large_lost) : rna_no_value;
}

static struct rna_value ecn_marked(const struct rna_subject *subject)
{
	const struct rna_probe_port *port = port_of(subject);

	return is_used(port) ? rna_value_ok(sum_up(port).ecn_marked) : rna_no_value;
}

/* Joins losses with leaves, and the peers of pairs with their nodes. */
static void port_info(const struct rna_subject *subject, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
	const struct rna_probe_port *port = port_of(subject);
	char rail[16] = "";

	if (!is_used(port))
		return;
	if (port->rail != RNA_PROBE_RAIL_UNKNOWN)
		(void)snprintf(rail, sizeof(rail), "%u", port->rail);
	rna_labels_begin(&labels, subject->labels);
	rna_label_add(&labels, "rail", rail);
	rna_label_add(&labels, "leaf", port->leaf);
	rna_label_add(&labels, "group", subject->view->probes->group);
	rna_label_add(&labels, "member", member_name(subject->view->probes));
	rna_writer_sample_labels(writer, &labels, 1);
}

/* A state without pairs has no sample. */
static void pairs_by_result(const struct rna_subject *subject, struct rna_writer *writer)
{
	const struct rna_probes *probes = subject->view->probes;
	const struct rna_probe_port *port = port_of(subject);
	uint64_t losing = 0, answering = 0;

	for (size_t i = 0; port && i < probes->pair_count; i++) {
		const struct rna_probe_pair *pair = &probes->pairs[i];

		if (pair->port != port->port || strcmp(pair->device, port->device) != 0)
			continue;
		losing += (pair->signs & RNA_PROBE_LOSING) != 0;
		answering += !(pair->signs & RNA_PROBE_LOSING) &&
			     pair->state == RNA_PROBE_RUNNING && pair->recent.answered > 0;
	}
	if (losing > 0)
		rna_writer_sample_with(writer, subject->labels, "result", "losing", losing);
	if (answering > 0)
		rna_writer_sample_with(writer, subject->labels, "result", "answering", answering);
}

/* -- Bandwidth --------------------------------------------------------------------------------- */

static const struct rna_bandwidth_port *bandwidth_of(const struct rna_subject *port)
{
	return rna_bandwidths_find(port->view->bandwidths, port->device->device->name, port->port);
}

/* The newest completed test; NULL: none. */
static const struct rna_bandwidth_test *done_of(const struct rna_subject *port)
{
	const struct rna_bandwidth_port *bandwidth = bandwidth_of(port);

	return bandwidth && bandwidth->done.time.realtime > 0 ? &bandwidth->done : NULL;
}

static void write_direction(const struct rna_subject *port, struct rna_writer *writer,
			    const char *direction, uint64_t bandwidth)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	rna_labels_begin(&labels, port->labels);
	rna_label_add(&labels, "peer", done_of(port)->peer);
	rna_label_add(&labels, "direction", direction);
	rna_writer_sample_labels(writer, &labels, bandwidth);
}

static void bandwidth(const struct rna_subject *port, struct rna_writer *writer)
{
	const struct rna_bandwidth_test *test = done_of(port);

	if (!test)
		return;
	write_direction(port, writer, "in", test->in);
	write_direction(port, writer, "out", test->out);
}

static struct rna_value bandwidth_expected(const struct rna_subject *port)
{
	const struct rna_bandwidth_test *test = done_of(port);

	return test && test->expected > 0 ? rna_value_ok(test->expected) : rna_no_value;
}

static struct rna_value bandwidth_ok(const struct rna_subject *port)
{
	const struct rna_bandwidth_test *test = done_of(port);

	return test && test->grade != RNA_GRADE_NONE
		       ? rna_family_yes_or_no(test->grade == RNA_GRADE_OK)
		       : rna_no_value;
}

static struct rna_value bandwidth_time(const struct rna_subject *port)
{
	const struct rna_bandwidth_test *test = done_of(port);

	return test ? rna_value_ok(test->time.realtime) : rna_no_value;
}

static void bandwidth_skipped(const struct rna_subject *port, struct rna_writer *writer)
{
	const struct rna_bandwidth_port *known = bandwidth_of(port);

	if (known && known->last.end == RNA_LOOPBACK_SKIPPED)
		rna_writer_sample_with(writer, port->labels, "reason",
				       rna_skip_name(known->last.skip), 1);
}

static struct rna_value bandwidth_up(const struct rna_subject *node)
{
	const struct rna_bandwidths *bandwidths = node->view->bandwidths;

	return bandwidths ? rna_family_yes_or_no(bandwidths->tcp_port > 0) : rna_no_value;
}

static struct rna_value bandwidth_strangers(const struct rna_subject *node)
{
	const struct rna_bandwidths *bandwidths = node->view->bandwidths;

	return bandwidths ? rna_value_ok(bandwidths->strangers) : rna_no_value;
}

/* -- The node ---------------------------------------------------------------------------------- */

static struct rna_value running(const struct rna_subject *node)
{
	const struct rna_probes *probes = node->view->probes;

	return probes ? rna_family_yes_or_no(probes->runs) : rna_no_value;
}

static struct rna_value restarts(const struct rna_subject *node)
{
	const struct rna_probes *probes = node->view->probes;

	return probes ? rna_value_ok(probes->restarts) : rna_no_value;
}

static struct rna_value members(const struct rna_subject *node)
{
	const struct rna_probes *probes = node->view->probes;

	return probes && probes->source.looked > 0 ? rna_value_ok(probes->source.members)
						   : rna_no_value;
}

static struct rna_value ports_without_leaf(const struct rna_subject *node)
{
	const struct rna_probes *probes = node->view->probes;

	return probes ? rna_value_ok(rna_probes_without_leaf(probes)) : rna_no_value;
}

static void pairs_in_state(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_probes *probes = node->view->probes;

	for (enum rna_probe_state state = 0; probes && state < RNA_PROBE_STATE_COUNT; state++)
		if (probes->peers[state] > 0)
			rna_writer_sample_with(writer, node->labels, "state",
					       rna_probe_state_name(state), probes->peers[state]);
}

static void strangers(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_probes *probes = node->view->probes;

	for (enum rna_probe_stranger i = 0; probes && i < RNA_STRANGER_COUNT; i++)
		if (probes->strangers[i] > 0)
			rna_writer_sample_with(writer, node->labels, "reason",
					       rna_probe_stranger_name(i), probes->strangers[i]);
}

static void round_trips(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_probes *probes = node->view->probes;
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	for (enum rna_probe_scope scope = 0; probes && scope < RNA_PROBE_SCOPE_COUNT; scope++) {
		const struct rna_buckets buckets = {
			.count = RNA_PROBE_RTT_BOUNDS,
			.bounds = rna_probe_rtt_bounds,
			.counts = probes->rtt[scope].counts,
			.sum = probes->rtt[scope].sum,
			.unit = NANOSECONDS,
		};

		if (probes->rtt[scope].sum == 0)
			continue;
		rna_labels_begin(&labels, node->labels);
		rna_label_add(&labels, "scope", rna_probe_scope_name(scope));
		if (!rna_strbuf_ok(&labels))
			writer->out->failed = true;
		else
			rna_writer_buckets(writer, (struct rna_span){labels.data, labels.len},
					   &buckets);
	}
}

static uint64_t lost_ratio(const struct rna_probe_pair *pair)
{
	uint64_t judged = pair->recent.lost + pair->recent.answered;

	return judged > 0 ? pair->recent.lost * MILLION / judged : 0;
}

static int compare_ratios(const void *a, const void *b)
{
	uint64_t first = lost_ratio(*(const struct rna_probe_pair *const *)a);
	uint64_t second = lost_ratio(*(const struct rna_probe_pair *const *)b);

	return (first < second) - (first > second);
}

/* The first one: they are in the order of their weight. */
static const char *name_sign(unsigned signs)
{
	unsigned sign = 1;

	while (!(signs & sign))
		sign <<= 1;
	return rna_probe_sign_name(sign);
}

static void write_pair(const struct rna_probe_pair *pair, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
	char port[16], peer_port[NAME_SIZE];

	(void)snprintf(port, sizeof(port), "%u", pair->port);
	(void)snprintf(peer_port, sizeof(peer_port), "%s/%u", pair->peer_device, pair->peer_port);
	rna_label_add(&labels, "device", pair->device);
	rna_label_add(&labels, "port", port);
	rna_label_add(&labels, "peer", pair->peer);
	rna_label_add(&labels, "peer_port", peer_port);
	rna_label_add(&labels, "peer_leaf", pair->peer_leaf);
	rna_label_add(&labels, "scope", rna_probe_scope_name(pair->scope));
	rna_label_add(&labels, "sign", name_sign(pair->signs));
	rna_writer_sample_labels(writer, &labels, lost_ratio(pair));
}

static void pairs_with_signs(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_probes *probes = node->view->probes;
	const struct rna_probe_pair *list[PAIRS_MAX] = {NULL};
	size_t count = 0;

	for (size_t i = 0; probes && i < probes->pair_count; i++) {
		const struct rna_probe_pair *pair = &probes->pairs[i];

		if (pair->signs == 0)
			continue;
		if (count < PAIRS_MAX)
			list[count++] = pair;
		else if (lost_ratio(pair) > lost_ratio(list[PAIRS_MAX - 1]))
			list[PAIRS_MAX - 1] = pair;
		qsort(list, count, sizeof(list[0]), compare_ratios);
	}
	for (size_t i = 0; i < count; i++)
		write_pair(list[i], writer);
}

/* -- The tables -------------------------------------------------------------------------------- */

/* clang-format off */
static const struct rna_family port_rows[] = {
	METRIC(PORT, "rdma_probe_sent_total", COUNTER, PLAIN, EACH(sent, "scope"),
	       "Probes that the port sent, by where the other port is: host (the same node), leaf "
	       "(another node on the same leaf switch) or fabric."),
	METRIC(PORT, "rdma_probe_lost_total", COUNTER, PLAIN, EACH(lost, "scope"),
	       "Probes without an answer, although the peer ran."),
	METRIC(PORT, "rdma_probe_void_total", COUNTER, PLAIN, GET(voided),
	       "Probes that say nothing, because one of the hosts started, stopped or stood still."),
	METRIC(PORT, "rdma_probe_missed_total", COUNTER, PLAIN, GET(missed),
	       "Probes that were not sent in their time, because this host gave the prober no CPU."),
	METRIC(PORT, "rdma_probe_large_lost_total", COUNTER, PLAIN, GET(large_lost),
	       "Lost probes that were as large as the MTU."),
	METRIC(PORT, "rdma_probe_ecn_marked_total", COUNTER, PLAIN, GET(ecn_marked),
	       "Answered probes that a switch marked for congestion on either way."),
	METRIC(PORT, "rdma_probe_port_pairs", GAUGE, PLAIN, EACH(pairs_by_result, "result"),
	       "Pairs of the port with other ports, by result: losing (silent, losses, or losses "
	       "of large probes) or answering. A result without a pair is absent."),
	METRIC(PORT, "rdma_probe_port_info", INFO, PLAIN,
	       EACH(port_info, "rail, leaf, group, member"),
	       "Rail, leaf switch and group of a port that sends probes, and the name of its node "
	       "in the list of members, which is the label peer of others. Always 1."),
	METRIC(PORT, "rdma_probe_bandwidth_bytes_per_second", GAUGE, BYTES_PER_SEC,
	       EACH(bandwidth, "peer, direction"),
	       "Bandwidth between the port and one of the node peer in the newest completed test, "
	       "in bytes per second: out is what the port wrote, in what the peer wrote."),
	METRIC(PORT, "rdma_probe_bandwidth_expected_bytes_per_second", GAUGE, BYTES_PER_SEC,
	       GET(bandwidth_expected),
	       "Bandwidth that the slower of both ports should reach in that test, by link and PCIe "
	       "path, in bytes per second. Absent for software devices."),
	METRIC(PORT, "rdma_probe_bandwidth_ok", GAUGE, YES_NO, GET(bandwidth_ok),
	       "1 if both directions of the newest completed bandwidth test were fast enough, 0 "
	       "otherwise. Absent if there was no expected bandwidth."),
	METRIC(PORT, "rdma_probe_bandwidth_timestamp_seconds", GAUGE, SECONDS,
	       GET(bandwidth_time),
	       "Unix time of the newest completed bandwidth test of the port."),
	METRIC(PORT, "rdma_probe_bandwidth_skipped", GAUGE, PLAIN,
	       EACH(bandwidth_skipped, "reason"),
	       "1 if the newest bandwidth test of the port did not take place, with the reason. "
	       "Absent if it did."),
};

static const struct rna_family rows[] = {
	METRIC(NODE, "rdma_probe_up", GAUGE, YES_NO, GET(running),
	       "1 if the process runs that sends and answers probes. Absent if probe.enabled is "
	       "false."),
	METRIC(NODE, "rdma_probe_restarts_total", COUNTER, PLAIN, GET(restarts),
	       "Times that the process was replaced because it ended or did not report."),
	METRIC(NODE, "rdma_probe_members", GAUGE, PLAIN, GET(members),
	       "Nodes in the list of members, as it was last read without a mistake."),
	METRIC(NODE, "rdma_probe_ports_without_leaf", GAUGE, PLAIN, GET(ports_without_leaf),
	       "Ports that are to be probed and whose leaf switch neither a setting, LLDP, "
	       "InfiniBand, the Node nor the list of members names. Absent if probe.enabled is "
	       "false."),
	METRIC(NODE, "rdma_probe_peers", GAUGE, PLAIN, EACH(pairs_in_state, "state"),
	       "Pairs of a port of this node and a port of a peer, by state. States without a pair "
	       "are absent."),
	METRIC(NODE, "rdma_probe_strangers_total", COUNTER, PLAIN, EACH(strangers, "reason"),
	       "Packets made with the shared secret that were not answered, because they were "
	       "received before (replay), are copies that the network made, within a second "
	       "(duplicate), or exceed the rate of a peer (rate). A reason that did not occur is "
	       "absent."),
	METRIC(NODE, "rdma_probe_bandwidth_up", GAUGE, YES_NO, GET(bandwidth_up),
	       "1 if the agent listens on probe.bandwidth_port, 0 if it cannot. Absent if "
	       "probe.bandwidth is false."),
	METRIC(NODE, "rdma_probe_bandwidth_strangers_total", COUNTER, PLAIN,
	       GET(bandwidth_strangers),
	       "Connections to probe.bandwidth_port that were closed because they brought no call "
	       "with the shared secret."),
	METRIC(NODE, "rdma_probe_rtt_seconds", HISTOGRAM, NANOSECONDS, EACH(round_trips, "scope"),
	       "Round-trip times of probes in seconds, without the time that the peer needed."),
	METRIC(NODE, "rdma_probe_pair_lost_ratio", GAUGE, RATIO,
	       EACH(pairs_with_signs, "device, port, peer, peer_port, peer_leaf, scope, sign"),
	       "Share of probes lost in the last ten minutes by a pair that shows a sign of a "
	       "fault: the worst 12 of the node. /api/v1/probes has all pairs."),
};
/* clang-format on */

const struct rna_family_table rna_probe_port_table = {ROWS(port_rows)};
const struct rna_family_table rna_probe_table = {ROWS(rows)};
