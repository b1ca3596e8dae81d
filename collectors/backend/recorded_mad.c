// SPDX-License-Identifier: Apache-2.0
/* The MAD backend of a recorded machine. */
#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"

#include "mad.h"
#include "recorded.h"

#define FIELD(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct rna_mad_port, name)                                         \
	}

static const struct rna_recorded_field port_fields[] = {
	FIELD(state),           FIELD(physical_state), FIELD(lid),
	FIELD(sm_lid),          FIELD(sm_sl),          FIELD(lmc),
	FIELD(lanes),           FIELD(lanes_enabled),  FIELD(lanes_supported),
	FIELD(speed_code),      FIELD(speed_enabled),  FIELD(speed_supported),
	FIELD(capability_mask), FIELD(virtual_lanes),
};
const struct rna_recorded_fields rna_recorded_mad_port = {RNA_ARRAY_SIZE(port_fields), port_fields};

#define FABRIC_FIELD(name, member, kind)                                                           \
	{                                                                                          \
		(name), offsetof(struct rna_mad_fabric, member), RNA_RECORDED_##kind               \
	}

static const struct rna_recorded_field fabric_fields[] = {
	FABRIC_FIELD("peer/type", peer.type, NUMBER),
	FABRIC_FIELD("peer/port_number", peer.port_number, NUMBER),
	FABRIC_FIELD("peer/guid", peer.guid, GUID),
	FABRIC_FIELD("peer/system_image_guid", peer.system_image_guid, GUID),
	FABRIC_FIELD("peer/port_guid", peer.port_guid, GUID),
	FABRIC_FIELD("manager/guid", manager.guid, GUID),
	FABRIC_FIELD("manager/priority", manager.priority, NUMBER),
	FABRIC_FIELD("manager/state", manager.state, NUMBER),
	FABRIC_FIELD("congestion_capability", congestion_capability, NUMBER),
};
const struct rna_recorded_fields rna_recorded_mad_fabric = {RNA_ARRAY_SIZE(fabric_fields),
							    fabric_fields};

/* *ret_arena is the memory of the paths. 0, -ENOENT when there is no such directory, or -ENOMEM. */
static int find_mad(const struct rna_root *root, const struct rna_device *device, unsigned port,
		    struct rna_recorded_place *ret, struct rna_arena **ret_arena)
{
	struct rna_arena *arena = rna_arena_new(1024);

	*ret_arena = arena;
	if (!arena)
		return -ENOMEM;
	*ret = RNA_RECORDED_AT(root, arena, RNA_RECORDED_MAD, device->name, port);
	if (!ret->directory)
		return -ENOMEM;
	return rna_root_exists(root, ret->directory) ? 0 : -ENOENT;
}

static bool has_mad(const struct rna_root *root, const struct rna_device *device, unsigned port)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = NULL;
	struct rna_recorded_place place;

	return find_mad(root, device, port, &place, &arena) == 0;
}

static int read_mad_port(const struct rna_root *root, const struct rna_device *device,
			 unsigned port, struct rna_mad_port *ret)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = NULL;
	struct rna_recorded_place place;
	int status = find_mad(root, device, port, &place, &arena);

	return status < 0 ? status : rna_recorded_read(&place, &rna_recorded_mad_port, ret);
}

static int read_mad_counters(const struct rna_root *root, const struct rna_device *device,
			     unsigned port, struct rna_mad_counters *ret)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = NULL;
	struct rna_recorded_place place;
	int status = find_mad(root, device, port, &place, &arena);

	if (status < 0)
		return status;
	place.directory = rna_recorded_path(&place, "counters");
	if (!place.directory || !rna_root_exists(root, place.directory))
		return -ENOENT;
	rna_mad_init_counters(ret);
	for (size_t i = 0; i < RNA_MAD_COUNTERS; i++)
		ret->items[i].value = rna_recorded_value(&place, ret->items[i].file);
	return 0;
}

/* -- The fabric -------------------------------------------------------------------------------- */

static void read_peer(const struct rna_recorded_place *place, struct rna_mad_fabric *ret)
{
	const char *name = rna_recorded_path(place, "peer/name");
	const struct rna_recorded_place peer = {place->root, place->arena,
						rna_recorded_path(place, "peer")};

	if (!rna_value_is_known(ret->peer.port_number) ||
	    ret->peer.guid.state == RNA_VALUE_UNREADABLE)
		return; /* half an answer would be another peer */
	ret->status[RNA_MAD_PEER_NODE] = 0;
	if (name && rna_root_read(place->root, name, ret->peer.name, sizeof(ret->peer.name)) > 0)
		ret->status[RNA_MAD_PEER_NAME] = 0;
	(void)rna_recorded_read(&peer, &rna_recorded_mad_port, &ret->peer.port); /* no texts */
	if (rna_value_is_known(ret->peer.port.lanes) || rna_value_is_known(ret->peer.port.lid))
		ret->status[RNA_MAD_PEER_PORT] = 0;
}

/* pkeys/N: as files of sysfs are. */
static void read_pkeys(const struct rna_recorded_place *place, struct rna_mad_fabric *ret)
{
	for (unsigned i = 0; i < RNA_MAD_PKEYS_MAX; i++) {
		const char *path =
			rna_arena_printf(place->arena, "%s/pkeys/%u", place->directory, i);
		uint64_t key;
		int status = path ? rna_root_read_hex(place->root, path, &key) : -ENOMEM;

		if (rna_error_is_absence(status))
			continue;
		if (status < 0) {
			ret->status[RNA_MAD_PKEYS] = status; /* half a table is none */
			ret->pkeys.count = 0;
			return;
		}
		ret->status[RNA_MAD_PKEYS] = 0;
		ret->pkeys.items[ret->pkeys.count++] = (struct rna_mad_pkey){
			.index = (uint16_t)i,
			.key = (uint16_t)key,
		};
	}
}

static void read_details(const struct rna_recorded_place *place, struct rna_mad_fabric *ret)
{
	const struct rna_recorded_place details = {place->root, place->arena,
						   rna_recorded_path(place, "details")};

	if (!details.directory || !rna_root_exists(place->root, details.directory))
		return;
	for (size_t i = 0; i < RNA_MAD_DETAILS; i++) {
		ret->details[i].value = rna_recorded_value(&details, ret->details[i].file);
		if (ret->details[i].value.state != RNA_VALUE_ABSENT)
			ret->status[rna_mad_topic_of_detail(i)] = 0;
	}
}

static int read_mad_fabric(const struct rna_root *root, const struct rna_device *device,
			   unsigned port, unsigned topics, struct rna_mad_fabric *ret)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = NULL;
	struct rna_recorded_place place;
	int status = find_mad(root, device, port, &place, &arena);

	(void)topics; /* a file costs nothing */
	rna_mad_init_fabric(ret);
	if (status < 0)
		return status;
	(void)rna_recorded_read(&place, &rna_recorded_mad_port, &ret->port); /* no texts */
	(void)rna_recorded_read(&place, &rna_recorded_mad_fabric, ret);
	read_peer(&place, ret);
	read_pkeys(&place, ret);
	read_details(&place, ret);
	if (rna_value_is_known(ret->manager.guid))
		ret->status[RNA_MAD_MANAGER] = 0;
	if (rna_value_is_known(ret->congestion_capability))
		ret->status[RNA_MAD_CONGESTION] = 0;
	return 0;
}

const struct rna_mad_backend rna_recorded_mad = {
	.serves = has_mad,
	.query_port = read_mad_port,
	.query_counters = read_mad_counters,
	.query_fabric = read_mad_fabric,
};
