// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"

#include "pairs.h"

enum { ARENA = 32 << 10 };

/* What is made, and whether memory was sufficient. */
struct making {
	struct rna_probes *probes;
	bool failed;
	struct rna_time now;
};

static const char *keep(struct making *making, const char *text)
{
	return rna_arena_keep(making->probes->part.arena, text, &making->failed);
}

/* -- Ports ------------------------------------------------------------------------------------- */

static enum rna_probe_use use_of(const struct rna_probing_port *port)
{
	if (port->plan.why)
		return RNA_PROBE_OFF;
	if (port->open)
		return RNA_PROBE_OPEN;
	if (port->paused)
		return RNA_PROBE_PAUSED;
	return port->text[0] != '\0' ? RNA_PROBE_FAILED : RNA_PROBE_OPENING;
}

static struct rna_probe_port describe_port(struct making *making,
					   const struct rna_probing_port *port)
{
	struct rna_probe_port ret = {
		.device = keep(making, port->plan.device),
		.port = port->plan.port,
		.use = use_of(port),
		.text = keep(making, port->plan.why ? port->plan.why : port->text),
		.pauses = port->pauses,
		.session = port->session,
		.rail = port->plan.rail,
		.leaf = keep(making, port->plan.leaf),
		.infiniband = port->plan.infiniband,
		.hardware_times = port->hardware_times,
		.verdict = port->verdict.verdict,
		.since = port->since,
		.pairs_bad = port->verdict.bad,
		.pairs_judged = port->verdict.judged,
		.window = port->verdict.window,
		.window_length = port->verdict.length,
	};

	if (port->open)
		ret.address = port->address;
	memcpy(ret.counts, port->counts, sizeof(ret.counts));
	return ret;
}

static int compare_ports(const void *a, const void *b)
{
	const struct rna_probe_port *first = a, *second = b;
	int order = rna_compare_names(first->device, second->device);

	return order != 0 ? order : (first->port > second->port) - (first->port < second->port);
}

static void add_ports(struct making *making, const struct rna_pairs *pairs)
{
	struct rna_probe_port *ports =
		rna_arena_array(making->probes->part.arena, RNA_PROBING_PORTS_MAX, sizeof(*ports));
	size_t count = 0;

	making->failed |= !ports;
	for (size_t i = 0; ports && i < RNA_PROBING_PORTS_MAX; i++)
		if (pairs->ports[i].plan.device[0] != '\0')
			ports[count++] = describe_port(making, &pairs->ports[i]);
	if (making->failed)
		return;
	qsort(ports, count, sizeof(*ports), compare_ports);
	making->probes->ports = ports;
	making->probes->port_count = count;
}

/* -- Pairs ------------------------------------------------------------------------------------- */

/* A moment of the monotonic clock on the other one. */
static rna_usec to_realtime(rna_usec monotonic, struct rna_time now)
{
	return monotonic > 0 ? now.realtime - rna_usec_since(monotonic, now.monotonic) : 0;
}

static unsigned find_some_paths(const struct rna_probing_pair *pair)
{
	unsigned ret = 0;

	if (rna_paths_are_some(&pair->ledger.hole))
		ret |= RNA_PROBE_MTU_HOLE;
	if (rna_paths_are_some(&pair->ledger.dscp))
		ret |= RNA_PROBE_DSCP;
	return ret & pair->signs;
}

static struct rna_probe_pair describe_pair(struct making *making,
					   const struct rna_probing_pair *pair)
{
	const struct rna_ledger *ledger = &pair->ledger;

	return (struct rna_probe_pair){
		.device = keep(making, pair->port->plan.device),
		.port = pair->port->plan.port,
		.peer = keep(making, pair->peer ? pair->peer->name : making->probes->node),
		.peer_device = keep(making, pair->device),
		.peer_port = pair->number,
		.peer_leaf = keep(making, pair->leaf),
		.peer_rail = pair->rail,
		.scope = pair->scope,
		.state = pair->state,
		.signs = pair->signs,
		.some_paths = find_some_paths(pair),
		.text = keep(making, pair->text),
		.total = ledger->total,
		.recent = rna_ledger_recent(ledger),
		.rtt_median = rna_ledger_rtt(ledger, 50),
		.rtt_p99 = rna_ledger_rtt(ledger, 99),
		.rtt_usual = ledger->usual,
		.dscp_sent = pair->port->plan.class.dscp,
		.dscp_other = ledger->dscp_other,
		.there = ledger->there,
		.back = ledger->back,
		.hops_usual = ledger->hops_usual,
		.since = pair->since,
		.last_answer = to_realtime(ledger->last_answer, making->now),
		.classes_lost = ledger->classes_lost | ledger->classes_before,
		.classes_seen = ledger->classes_seen,
	};
}

static int compare_pairs(const void *a, const void *b)
{
	const struct rna_probe_pair *first = a, *second = b;
	int order = rna_compare_names(first->device, second->device);

	if (order == 0)
		order = (first->port > second->port) - (first->port < second->port);
	if (order == 0)
		order = (first->scope > second->scope) - (first->scope < second->scope);
	if (order == 0)
		order = rna_compare_names(first->peer, second->peer);
	return order != 0 ? order : rna_compare_names(first->peer_device, second->peer_device);
}

static void add_pairs(struct making *making, const struct rna_pairs *pairs)
{
	struct rna_probes *probes = making->probes;
	struct rna_probe_pair *list;
	size_t count = 0;

	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++)
		count += pairs->pairs[i].port != NULL;
	list = rna_arena_array(probes->part.arena, count + 1, sizeof(*list));
	making->failed |= !list;
	count = 0;
	for (size_t i = 0; list && i < RNA_PROBING_PAIRS_MAX; i++)
		if (pairs->pairs[i].port)
			list[count++] = describe_pair(making, &pairs->pairs[i]);
	if (making->failed)
		return;
	qsort(list, count, sizeof(*list), compare_pairs);
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++) {
		struct rna_probe_counts own =
			rna_ledger_window(&pairs->pairs[i].ledger, 60 * RNA_USEC_PER_SEC);

		if (pairs->pairs[i].port)
			rna_probe_counts_merge(&probes->minute, &own);
	}
	probes->pairs = list;
	probes->pair_count = count;
	for (size_t i = 0; i < count; i++)
		probes->peers[list[i].state]++;
}

/* -- The whole --------------------------------------------------------------------------------- */

static void add_node(struct making *making, const struct rna_probes *node)
{
	struct rna_probes *probes = making->probes;
	struct rna_part part = probes->part;

	*probes = *node;
	probes->part = part;
	probes->node = keep(making, node->node);
	probes->member = keep(making, node->member);
	probes->group = keep(making, node->group);
	probes->stopped = keep(making, node->stopped);
	probes->source.kind = keep(making, node->source.kind);
	probes->source.name = keep(making, node->source.name);
	probes->source.error = keep(making, node->source.error);
}

struct rna_probes *rna_pairs_results(const struct rna_pairs *pairs, const struct rna_probes *node,
				     struct rna_time now)
{
	struct making making = {
		/* It is of no collector; nothing asks for the number of such parts. */
		.probes = rna_part_new(RNA_COLLECTOR_COUNT, sizeof(*making.probes), ARENA),
		.now = now,
	};

	if (!making.probes)
		return NULL;
	making.probes->part.started = making.probes->part.taken = now;
	add_node(&making, node);
	add_ports(&making, pairs);
	add_pairs(&making, pairs);
	memcpy(making.probes->rtt, pairs->rtt, sizeof(making.probes->rtt));
	if (!making.failed)
		return making.probes;
	(void)rna_part_unref(&making.probes->part);
	return NULL;
}
