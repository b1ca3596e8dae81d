// SPDX-License-Identifier: Apache-2.0
#include "peer_memory.h"

#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/fabric.h"

#include "memory.h"

void rna_peer_memory_deinit(struct rna_peer_memory *memory)
{
	free(memory->hca);
	free(memory->name);
	free(memory->port);
	free(memory->port_description);
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
	if (!peer || peer->stale)
		return changed;
	changed |= rna_memory_set_text(&memory->hca, hca);
	changed |= rna_memory_set_text(&memory->name, peer->name);
	changed |= rna_memory_set_text(&memory->port, peer->port);
	changed |= rna_memory_set_text(&memory->port_description, peer->port_description);
	changed |= rna_memory_set_text(&memory->guid, peer->guid);
	changed |= rna_memory_set_text(&memory->system_image_guid, peer->system_image_guid);
	changed |= memory->source != peer->source || memory->type != peer->type ||
		   memory->lid != peer->lid.number;
	memory->source = peer->source;
	memory->type = peer->type;
	memory->lid = peer->lid.number;
	memory->seen = peer->seen.realtime;
	return changed;
}

/* -- Telling ----------------------------------------------------------------------------------- */

const struct rna_peer *rna_peer_memory_tell(const struct rna_peer_memory *memory, const char *hca,
					    struct rna_arena *arena, bool *no_memory)
{
	struct rna_peer *peer;

	if (!hca || !rna_same_text(memory->hca, hca))
		return NULL;
	peer = rna_arena_alloc(arena, sizeof(*peer));
	*no_memory |= !peer;
	if (!peer)
		return NULL;
	*peer = (struct rna_peer){
		.source = memory->source,
		.type = memory->type <= RNA_NODE_TYPE_ROUTER ? (enum rna_node_type)memory->type
							     : RNA_NODE_TYPE_UNKNOWN,
		.name = rna_arena_keep(arena, memory->name, no_memory),
		.port = rna_arena_keep(arena, memory->port, no_memory),
		.port_description = rna_arena_keep(arena, memory->port_description, no_memory),
		.guid = rna_arena_keep(arena, memory->guid, no_memory),
		.system_image_guid = rna_arena_keep(arena, memory->system_image_guid, no_memory),
		.stale = true,
		.seen.realtime = memory->seen,
	};
	if (memory->lid > 0)
		peer->lid = rna_value_ok(memory->lid);
	return peer;
}

struct rna_part *rna_peers_recall(const struct rna_device_memory *device, const char *hca)
{
	struct rna_fabric *fabric = rna_part_new(RNA_COLLECTOR_FABRIC, sizeof(*fabric), 256);
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = (struct rna_part *)fabric;
	struct rna_port_fabric *ports;
	bool no_memory = false;

	if (!part || !hca)
		return NULL;
	ports = rna_arena_array(part->arena, device->port_count, sizeof(*ports));
	fabric->ports = ports;
	for (size_t i = 0; ports && i < device->port_count; i++) {
		const struct rna_port_memory *port = &device->ports[i];
		const struct rna_peer *peer = NULL;

		if (port->peer.source == RNA_PEER_BY_MAD)
			peer = rna_peer_memory_tell(&port->peer, hca, part->arena, &no_memory);
		if (peer)
			ports[fabric->port_count++] =
				(struct rna_port_fabric){.number = port->number, .peer = peer};
	}
	return fabric->port_count > 0 && !no_memory ? RNA_TAKE(part) : NULL;
}

struct rna_part *rna_memory_recall(struct rna_memory *memory, enum rna_collector_id id,
				   const struct rna_device *device,
				   const struct rna_identity *identity)
{
	const struct rna_device_memory *known = rna_memory_find(memory, device->key);

	if (id != RNA_COLLECTOR_FABRIC || !known || !identity)
		return NULL;
	return rna_peers_recall(known, identity->node_guid);
}
