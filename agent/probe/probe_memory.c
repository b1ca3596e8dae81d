// SPDX-License-Identifier: Apache-2.0
#include "probe_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/kept.h"

enum {
	VERSION = 1,
	ALL_SIGNS = (1u << RNA_PROBE_SIGNS) - 1,
};

static const struct rna_json_limits limits = {
	.bytes = 4 << 20,
	.memory = 32 << 20,
	.levels = 6,
	.flags = JSON_REJECT_DUPLICATES,
};

/* -- What is kept ------------------------------------------------------------------------------ */

static void keep_peer(struct rna_kept *kept, void *record)
{
	struct rna_peer_place *peer = record;

	rna_keep_chars(kept, "name", peer->name, sizeof(peer->name));
	rna_keep_chars(kept, "origin", peer->origin, sizeof(peer->origin));
	rna_kept_want(kept, peer->name[0] != '\0' && strncmp(peer->origin, "http", 4) == 0);
}

static void keep_port(struct rna_kept *kept, void *record)
{
	struct rna_kept_port *port = record;

	rna_keep_chars(kept, "device", port->device, sizeof(port->device));
	RNA_KEEP(kept, "port", port->port);
	RNA_KEEP_WORD(kept, "verdict", port->verdict, rna_probe_verdict_name,
		      RNA_PROBE_VERDICT_COUNT);
	RNA_KEEP(kept, "since", port->since);
	rna_kept_want(kept, port->device[0] != '\0' && port->verdict < RNA_PROBE_VERDICT_COUNT);
}

static void keep_counts(struct rna_kept *kept, void *record)
{
	struct rna_probe_counts *counts = record;

	for (size_t i = 0; i < RNA_PROBE_COUNTS; i++)
		RNA_KEEP(kept, rna_probe_count_name(i), *rna_probe_count_of(counts, i));
}

static void keep_pair(struct rna_kept *kept, void *record)
{
	static const char *const names[RNA_LEDGER_PASTS] = {"half_minute", "two_minutes",
							    "ten_minutes"};
	struct rna_kept_pair *pair = record;

	rna_keep_chars(kept, "device", pair->device, sizeof(pair->device));
	RNA_KEEP(kept, "port", pair->port);
	rna_keep_chars(kept, "peer", pair->peer, sizeof(pair->peer));
	rna_keep_chars(kept, "peer_device", pair->peer_device, sizeof(pair->peer_device));
	RNA_KEEP(kept, "peer_port", pair->peer_port);
	RNA_KEEP(kept, "signs", pair->signs);
	RNA_KEEP(kept, "since", pair->since);
	RNA_KEEP(kept, "time", pair->when);
	RNA_KEEP(kept, "answered", pair->answered);
	RNA_KEEP(kept, "rtt_usual", pair->usual);
	RNA_KEEP(kept, "hop_limit_usual", pair->hops_usual);
	for (size_t i = 0; i < RNA_LEDGER_PASTS; i++)
		RNA_KEEP_RECORD(kept, names[i], keep_counts, pair->pasts[i]);
	rna_kept_want(kept, pair->device[0] != '\0' && (pair->signs & ~(uint32_t)ALL_SIGNS) == 0 &&
				    pair->hops_usual <= UINT8_MAX && pair->when > 0);
}

static void keep_memory(struct rna_kept *kept, void *record)
{
	struct rna_probe_memory *memory = record;

	RNA_KEEP_ARRAY(kept, "peers", keep_peer, memory->peers, memory->peer_count,
		       RNA_PROBING_PEERS_MAX, false);
	RNA_KEEP_ARRAY(kept, "ports", keep_port, memory->ports, memory->port_count,
		       RNA_PROBING_PORTS_MAX, false);
	RNA_KEEP_ARRAY(kept, "pairs", keep_pair, memory->pairs, memory->pair_count,
		       RNA_PROBING_PAIRS_MAX, false);
}

void rna_probe_memory_deinit(struct rna_probe_memory *memory)
{
	rna_kept_free(keep_memory, memory, sizeof(*memory));
}

void rna_probe_memory_write(struct rna_probe_memory *memory, struct rna_strbuf *out)
{
	rna_kept_write_file(keep_memory, memory, VERSION, out);
	memory->changed = false;
}

int rna_probe_memory_read(struct rna_probe_memory *memory, const char *text, size_t len,
			  struct rna_error *error)
{
	RNA_CLEANUP(rna_json_free_p) json_t *file = NULL;
	RNA_CLEANUP(rna_probe_memory_deinit) struct rna_probe_memory found = {0};
	int status = rna_kept_read_file(text, len, &limits, VERSION, &file, error);

	if (status == 0)
		status = rna_kept_read(file, keep_memory, &found, error);
	if (status < 0)
		return status;
	*memory = found;
	found = (struct rna_probe_memory){0};
	return 0;
}

/* -- What was known ---------------------------------------------------------------------------- */

static bool is_port(const char *device, unsigned number, const struct rna_probing_port *port)
{
	return number == port->plan.port && strcmp(device, port->plan.device) == 0;
}

const struct rna_kept_port *rna_probe_memory_port(const struct rna_probe_memory *memory,
						  const struct rna_probing_port *port)
{
	for (size_t i = 0; memory && i < memory->port_count; i++)
		if (is_port(memory->ports[i].device, memory->ports[i].port, port))
			return &memory->ports[i];
	return NULL;
}

/* A pair with a peer is the only one of its port with that peer. */
static bool is_it(const struct rna_kept_pair *kept, const struct rna_probing_pair *pair)
{
	if (!is_port(kept->device, kept->port, pair->port))
		return false;
	if (pair->peer)
		return strcmp(kept->peer, pair->peer->name) == 0;
	return kept->peer[0] == '\0' && kept->peer_port == pair->number &&
	       strcmp(kept->peer_device, pair->device) == 0;
}

const struct rna_kept_pair *rna_probe_memory_pair(const struct rna_probe_memory *memory,
						  const struct rna_probing_pair *pair)
{
	for (size_t i = 0; memory && i < memory->pair_count; i++)
		if (is_it(&memory->pairs[i], pair))
			return &memory->pairs[i];
	return NULL;
}

/* An agent that runs learns all pairs every RNA_PROBE_RECENT. */
#define LATELY (2 * RNA_PROBE_RECENT)

/* texts: its own, in arena, because the memory learns other pairs while a view is used. */
static struct rna_probe_pair recall(const struct rna_kept_pair *kept, struct rna_kept_pair *texts)
{
	struct rna_probe_pair ret = {
		.device = texts->device,
		.port = kept->port,
		.peer = texts->peer,
		.peer_device = texts->peer_device,
		.peer_port = kept->peer_port,
		.scope = kept->peer[0] == '\0' ? RNA_PROBE_HOST : RNA_PROBE_FABRIC,
		.state = RNA_PROBE_RUNNING,
		.signs = kept->signs,
		.total.answered = kept->answered,
	};

	*texts = *kept;
	for (size_t i = 0; i < RNA_LEDGER_PASTS; i++)
		rna_probe_counts_merge(&ret.recent, &kept->pasts[i]);
	return ret;
}

int rna_probe_memory_pairs(const struct rna_probe_memory *memory, rna_usec realtime,
			   struct rna_arena *arena, struct rna_probe_pairs *ret)
{
	struct rna_probe_pair *pairs =
		rna_arena_array(arena, memory->pair_count + 1, sizeof(*pairs));
	struct rna_kept_pair *texts =
		rna_arena_array(arena, memory->pair_count + 1, sizeof(*texts));

	*ret = (struct rna_probe_pairs){.items = pairs};
	if (!pairs || !texts)
		return -ENOMEM;
	for (size_t i = 0; i < memory->pair_count; i++)
		if (rna_usec_since(memory->pairs[i].when, realtime) <= LATELY) {
			pairs[ret->count] = recall(&memory->pairs[i], &texts[ret->count]);
			ret->count++;
		}
	return 0;
}

/* -- Learning ---------------------------------------------------------------------------------- */

/* A list of the memory: what there is now, and what was known before and still holds. */
struct list {
	size_t most, size; /* records, and bytes of one */
	/* Record number i of what there is now. False: there is none. */
	bool (*describe)(const struct rna_pairs *pairs, size_t i, rna_usec realtime, void *ret);
	/* Does a record of before still hold? NULL: none does. */
	bool (*holds)(const struct rna_pairs *pairs, const void *record, rna_usec realtime);
};

/* Takes over the records of before. Without memory they stay: the next change is learned. */
static void *learn(const struct list *list, const struct rna_pairs *pairs, rna_usec realtime,
		   void *before, size_t *count)
{
	char *records = calloc(list->most, list->size), *old = before;
	size_t known = 0;

	if (!records)
		return before;
	for (size_t i = 0; i < list->most; i++)
		known += list->describe(pairs, i, realtime, records + known * list->size);
	for (size_t i = 0; list->holds && i < *count && known < list->most; i++)
		if (list->holds(pairs, old + i * list->size, realtime))
			memcpy(records + known++ * list->size, old + i * list->size, list->size);
	free(before);
	*count = known;
	return records;
}

static bool describe_pair(const struct rna_pairs *pairs, size_t i, rna_usec realtime, void *ret)
{
	const struct rna_probing_pair *pair = &pairs->pairs[i];
	const struct rna_ledger *ledger = &pair->ledger;
	struct rna_kept_pair *kept = ret;

	if (!pair->port || pair->began == 0)
		return false;
	*kept = (struct rna_kept_pair){
		.port = pair->port->plan.port,
		.peer_port = pair->number,
		.signs = pair->signs,
		.since = pair->since,
		.when = realtime,
		.answered = ledger->answered,
		.usual = ledger->usual,
		.hops_usual = ledger->hops_usual,
	};
	memcpy(kept->device, pair->port->plan.device, sizeof(kept->device));
	memcpy(kept->peer_device, pair->device, sizeof(kept->peer_device));
	if (pair->peer)
		memcpy(kept->peer, pair->peer->name, sizeof(kept->peer));
	rna_ledger_pasts(ledger, kept->pasts);
	return true;
}

static bool pair_holds(const struct rna_pairs *pairs, const void *record, rna_usec realtime)
{
	const struct rna_kept_pair *kept = record;

	if (rna_usec_since(kept->when, realtime) >= RNA_PROBE_MEMORY_SIGNS)
		return false;
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX; i++)
		if (pairs->pairs[i].port && is_it(kept, &pairs->pairs[i]))
			return false;
	return true;
}

/* Of ports that are judged. */
static bool describe_port(const struct rna_pairs *pairs, size_t i, rna_usec realtime, void *ret)
{
	const struct rna_probing_port *port = &pairs->ports[i];
	struct rna_kept_port *kept = ret;

	(void)realtime;
	if (port->plan.device[0] == '\0' || port->verdict.verdict == RNA_PROBE_UNKNOWN)
		return false;
	*kept = (struct rna_kept_port){
		.port = port->plan.port,
		.verdict = port->verdict.verdict,
		.since = port->since,
	};
	memcpy(kept->device, port->plan.device, sizeof(kept->device));
	return true;
}

/* One that is unknown again may still be as it was. */
static bool port_holds(const struct rna_pairs *pairs, const void *record, rna_usec realtime)
{
	const struct rna_kept_port *kept = record;

	(void)realtime;
	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++)
		if (is_port(kept->device, kept->port, &pairs->ports[i]))
			return pairs->ports[i].verdict.verdict == RNA_PROBE_UNKNOWN;
	return true;
}

static bool describe_peer(const struct rna_pairs *pairs, size_t i, rna_usec realtime, void *ret)
{
	const struct rna_probing_peer *peer = &pairs->peers[i];
	struct rna_peer_place *place = ret;

	(void)realtime;
	if (peer->name[0] == '\0' || peer->origin[0] == '\0')
		return false;
	memcpy(place->name, peer->name, sizeof(peer->name));
	memcpy(place->origin, peer->origin, sizeof(peer->origin));
	return true;
}

void rna_probe_memory_learn(struct rna_probe_memory *memory, const struct rna_pairs *pairs,
			    rna_usec realtime)
{
	static const struct list of_pairs = {RNA_PROBING_PAIRS_MAX, sizeof(*memory->pairs),
					     describe_pair, pair_holds},
				 of_ports = {RNA_PROBING_PORTS_MAX, sizeof(*memory->ports),
					     describe_port, port_holds},
				 of_peers = {RNA_PROBING_PEERS_MAX, sizeof(*memory->peers),
					     describe_peer, NULL};

	memory->pairs = learn(&of_pairs, pairs, realtime, memory->pairs, &memory->pair_count);
	memory->ports = learn(&of_ports, pairs, realtime, memory->ports, &memory->port_count);
	memory->peers = learn(&of_peers, pairs, realtime, memory->peers, &memory->peer_count);
	memory->changed = true;
}
