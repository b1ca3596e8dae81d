/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of probes: peers, ports and pairs as they were when something changed. It outlives the
 * prober, and in the state directory the agent: a fault that was found does not begin anew with a
 * restart, losses of the last ten minutes count on, and peers are asked before the list of members
 * is there.
 * Thread: the loop's.
 */
#pragma once

#include "rna/base/error.h"
#include "rna/base/strbuf.h"

#include "pairs.h"

#define RNA_PROBE_MEMORY_FILE "probes.json"

/* Signs that are older than that are not taken from the memory. */
#define RNA_PROBE_MEMORY_SIGNS (3600 * RNA_USEC_PER_SEC)

struct rna_kept_port {
	char device[RNA_PROBER_NAME_MAX];
	uint32_t port;
	enum rna_probe_verdict verdict;
	rna_usec since; /* realtime */
};

struct rna_kept_pair {
	char device[RNA_PROBER_NAME_MAX];
	uint32_t port;
	char peer[RNA_PEER_TEXT_SIZE];        /* "": of this node */
	char peer_device[RNA_PEER_NAME_SIZE]; /* with peer_port: of a pair of this node */
	uint32_t peer_port;
	uint32_t signs;
	rna_usec since; /* realtime */
	rna_usec when;  /* realtime: it was like this */
	bool answered;  /* ever */
	uint64_t usual; /* of the ledger, as the others: */
	uint32_t hops_usual;
	struct rna_probe_counts pasts[RNA_LEDGER_PASTS];
};

struct rna_probe_memory {
	bool changed; /* since the file was written */
	size_t peer_count, port_count, pair_count;
	struct rna_peer_place *peers;
	struct rna_kept_port *ports;
	struct rna_kept_pair *pairs;
};

void rna_probe_memory_deinit(struct rna_probe_memory *memory); /* fine on zeroed structs */

/* What there is now. What is not there now, but was within an hour, stays. */
void rna_probe_memory_learn(struct rna_probe_memory *memory, const struct rna_pairs *pairs,
			    rna_usec realtime);

/* NULL: nothing is known. */
const struct rna_kept_port *rna_probe_memory_port(const struct rna_probe_memory *memory,
						  const struct rna_probing_port *port);
const struct rna_kept_pair *rna_probe_memory_pair(const struct rna_probe_memory *memory,
						  const struct rna_probing_pair *pair);

/* Those of its pairs that it has learned lately, in arena. 0 or -ENOMEM. */
int rna_probe_memory_pairs(const struct rna_probe_memory *memory, rna_usec realtime,
			   struct rna_arena *arena, struct rna_probe_pairs *ret);

void rna_probe_memory_write(struct rna_probe_memory *memory, struct rna_strbuf *out);
/* -EBADMSG: it is damaged; -EOPNOTSUPP: a newer version wrote it; -ENOMEM. Then memory is as it
 * was.
 */
int rna_probe_memory_read(struct rna_probe_memory *memory, const char *text, size_t len,
			  struct rna_error *error);
