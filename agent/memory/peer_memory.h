/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was at the other end of a port's cable, as it outlives the process: one peer for each port,
 * of the HCA that had it. Another HCA in the same slot has another cable.
 * Thread: the loop's.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/clock.h"
#include "rna/model/fabric.h"
#include "rna/model/part.h"

struct rna_device;
struct rna_device_memory;
struct rna_identity;
struct rna_memory;

/* All of it empty: nothing was ever known. */
struct rna_peer_memory {
	char *hca; /* node GUID of the port's own device */
	char *name;
	char *port;
	char *port_description;
	char *guid;
	char *system_image_guid;
	enum rna_peer_source source;
	unsigned type; /* enum rna_node_type */
	uint64_t lid;  /* 0: not known */
	rna_usec seen; /* realtime */
};

void rna_peer_memory_deinit(struct rna_peer_memory *memory); /* idempotent */

/*
 * Takes what is known of a port now. hca: NULL: not known, then nothing is learned; another one
 * than before: what was known of its peer is forgotten. peer: NULL: nothing. True: it is something
 * else than what was known; that it was seen again is no news.
 */
bool rna_peer_memory_learn(struct rna_peer_memory *memory, const char *hca,
			   const struct rna_peer *peer);

/*
 * The peer of a port of this HCA as the memory knows it, stale, in arena. NULL: none, or no memory
 * (then *no_memory).
 */
const struct rna_peer *rna_peer_memory_tell(const struct rna_peer_memory *memory, const char *hca,
					    struct rna_arena *arena, bool *no_memory);

/*
 * What the memory knows of a device, as a part of that collector, for use before the first run of
 * it. identity: NULL: it was not read yet. NULL: nothing is known, or no memory.
 */
struct rna_part *rna_memory_recall(struct rna_memory *memory, enum rna_collector_id id,
				   const struct rna_device *device,
				   const struct rna_identity *identity);

/*
 * The part of the collector fabric, with the peers of the ports of this HCA that were found by MAD.
 * NULL as above.
 */
struct rna_part *rna_peers_recall(const struct rna_device_memory *device, const char *hca);
