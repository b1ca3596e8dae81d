// SPDX-License-Identifier: Apache-2.0
#include "peer_memory.h"

#include <string.h>

#include "rna/model/fabric.h"

#include "memory_text.h"

void rna_peer_memory_deinit(struct rna_peer_memory *memory)
{
	free(memory->hca);
	free(memory->name);
	free(memory->port);
	free(memory->guid);
	free(memory->system_image_guid);
	*memory = (struct rna_peer_memory){0};
}

bool rna_peer_memory_learn(struct rna_peer_memory *memory, const char *hca,
			   const struct rna_peer *peer)
{
	bool changed = false;

	if (!hca)
		return false;
	if (memory->hca && strcmp(memory->hca, hca) != 0) {
		rna_peer_memory_deinit(memory);
		changed = true;
	}
	if (!peer || peer->stale || peer->source != RNA_PEER_BY_MAD)
		return changed;
	changed |= rna_memory_set_text(&memory->hca, hca);
	changed |= rna_memory_set_text(&memory->name, peer->name);
	changed |= rna_memory_set_text(&memory->port, peer->port);
	changed |= rna_memory_set_text(&memory->guid, peer->guid);
	changed |= rna_memory_set_text(&memory->system_image_guid, peer->system_image_guid);
	changed |= memory->type != peer->type || memory->lid != peer->lid.number;
	memory->type = peer->type;
	memory->lid = peer->lid.number;
	memory->seen = peer->seen.realtime;
	return changed;
}
