/* SPDX-License-Identifier: Apache-2.0 */
/* A view with probes: eight ports that probe six peers each, three on the leaf, three elsewhere. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "exporter_view.h"

enum { PORTS = 8, PEERS = 6, HOST_PAIRS = PORTS * (PORTS - 1) };

struct fabric {
	struct rna_view *view;
	struct rna_probes probes;
	struct rna_probe_port ports[PORTS];
	struct rna_probe_pair pairs[PORTS * PEERS + HOST_PAIRS];
	char peers[PEERS][8];
};

static inline const char *fabric_device(const struct fabric *f, size_t port)
{
	return f->view->snapshot->devices[port].device->name;
}

static inline struct rna_probe_port fabric_port(const struct fabric *f, size_t number)
{
	struct rna_probe_port port = {
		.device = fabric_device(f, number),
		.port = 1,
		.use = RNA_PROBE_OPEN,
		.text = "",
		.session = 7,
		.rail = (unsigned)number,
		.leaf = "leaf-a",
		.verdict = RNA_PROBE_WELL,
		.since = exporter_now.realtime - 3600 * RNA_USEC_PER_SEC,
		.pairs_judged = PEERS,
	};

	for (size_t scope = RNA_PROBE_LEAF; scope < RNA_PROBE_SCOPE_COUNT; scope++)
		port.counts[scope].sent = 1000;
	return port;
}

static inline struct rna_probe_pair fabric_pair(const struct fabric *f, size_t port, size_t peer)
{
	return (struct rna_probe_pair){
		.device = fabric_device(f, port),
		.port = 1,
		.peer = f->peers[peer],
		.peer_device = fabric_device(f, port),
		.peer_port = 1,
		.peer_leaf = peer < 3 ? "leaf-a" : "leaf-b",
		.peer_rail = (unsigned)port,
		.scope = peer < 3 ? RNA_PROBE_LEAF : RNA_PROBE_FABRIC,
		.state = RNA_PROBE_RUNNING,
		.text = "",
		.recent = {.sent = 1000, .answered = 1000, .large_sent = 50},
		.rtt_median = 5230,
		.rtt_p99 = 12800,
		.rtt_usual = 5100,
		.dscp_sent = 26,
		.there = {.dscp = 26, .hop_limit = 62},
		.hops_usual = 62,
		.last_answer = exporter_now.realtime - RNA_USEC_PER_SEC,
	};
}

static inline int fabric_set_up(void **state)
{
	struct fabric *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->view = new_view(PORTS);
	for (size_t i = 0; i < PEERS; i++)
		(void)snprintf(f->peers[i], sizeof(f->peers[i]), "n%zu", i + 2);
	for (size_t i = 0; i < PORTS; i++) {
		f->ports[i] = fabric_port(f, i);
		for (size_t k = 0; k < PEERS; k++)
			f->pairs[i * PEERS + k] = fabric_pair(f, i, k);
	}
	f->probes = (struct rna_probes){
		.node = "n1",
		.member = "10.9.0.1",
		.group = "",
		.runs = true,
		.heard = exporter_now.monotonic,
		.source = {.kind = "file",
			   .name = "/etc/members.json",
			   .looked = exporter_now.realtime - 12 * RNA_USEC_PER_SEC,
			   .members = 7},
		.port_count = PORTS,
		.ports = f->ports,
		.pair_count = PORTS * PEERS,
		.pairs = f->pairs,
	};
	f->probes.peers[RNA_PROBE_RUNNING] = PORTS * PEERS;
	f->view->probes = &f->probes;
	*state = f;
	return 0;
}

static inline int fabric_tear_down(void **state)
{
	struct fabric *f = *state;

	f->view->probes = NULL;
	(void)rna_view_unref(f->view);
	free(f);
	return 0;
}

/* Each port also probes the seven others; in a state other than RUNNING it does not. */
static inline void fabric_add_host_pairs(struct fabric *f, enum rna_probe_state state,
					 const char *text)
{
	for (size_t i = 0; i < PORTS; i++)
		for (size_t k = 0; k < PORTS; k++) {
			struct rna_probe_pair *pair = &f->pairs[f->probes.pair_count];

			if (i == k)
				continue;
			*pair = fabric_pair(f, i, 0);
			pair->peer = f->probes.node;
			pair->peer_device = fabric_device(f, k);
			pair->scope = RNA_PROBE_HOST;
			pair->state = state;
			pair->text = text;
			if (state != RNA_PROBE_RUNNING)
				pair->recent = (struct rna_probe_counts){0};
			f->probes.pair_count++;
		}
}

/* The path from a port to a peer. */
static inline struct rna_probe_pair *fabric_path(struct fabric *f, size_t port, size_t peer)
{
	return &f->pairs[port * PEERS + peer];
}

/* A port whose cable is dead. */
static inline void fabric_cut_port(struct fabric *f, size_t port)
{
	f->ports[port].verdict = RNA_PROBE_UNREACHABLE;
	f->ports[port].since = exporter_now.realtime - 180 * RNA_USEC_PER_SEC;
	f->ports[port].pairs_bad = PEERS;
	f->ports[port].window = (struct rna_probe_counts){.lost = 360};
	f->ports[port].window_length = 30 * RNA_USEC_PER_SEC;
	for (size_t i = 0; i < PEERS; i++) {
		struct rna_probe_pair *pair = fabric_path(f, port, i);

		pair->signs = RNA_PROBE_SILENT;
		pair->since = f->ports[port].since;
		pair->recent = (struct rna_probe_counts){.sent = 1000,
							 .answered = 640,
							 .lost = 360,
							 .large_sent = 50,
							 .large_lost = 18};
	}
}
