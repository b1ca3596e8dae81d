/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of the node's rails, so that they keep their numbers while a NIC is missing
 * (rna/model/topology.h). Thread: the loop's.
 */
#pragma once

#include <stdbool.h>

#include "rna/model/topology.h"

struct rna_memory;

struct rna_rail_memory {
	rna_usec learned; /* realtime; 0: never */
	size_t gpu_count;
	size_t count;
	struct rna_known_nic *nics; /* owns the addresses */
	rna_usec accepted;          /* realtime: what was learned until then is void; other file */
	/* Not kept: */
	rna_usec taken;   /* monotonic, of the newest topology that was seen */
	uint64_t version; /* grows when rna_rails_known() may give something else */
};

void rna_rail_memory_deinit(struct rna_rail_memory *memory); /* idempotent */

/*
 * Takes the rails of a topology, unless something is missing there. True: something changed that
 * is kept. Without memory for it the next topology tries again.
 */
bool rna_rail_memory_learn(struct rna_rail_memory *memory, const struct rna_topology *topology,
			   rna_usec now);

/* For the collector; without NICs whose absence was accepted. NULL: nothing, or no memory. */
struct rna_known_rails *rna_rails_known(const struct rna_memory *memory);
