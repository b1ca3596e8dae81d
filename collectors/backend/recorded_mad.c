// SPDX-License-Identifier: Apache-2.0
/*
 * The MAD backend of a recorded machine.
 *
 *	recorded/mad/DEVICE/ports/N/	PortInfo, by the names below; congestion_capability. No
 *					directory: the port could not be asked.
 *	    counters/NAME		as the PMA had them, where no file of /sys has them
 *	    details/NAME		what no file of /sys ever has, by the names of
 *rna/model/counter.h peer/			port_number: there was one; type, guid, name; its
 *PortInfo manager/			guid, priority, state of the subnet manager pkeys/N
 *as files of sysfs are
 *
 * A file that is not there is a value that the machine did not have.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"

#include "mad.h"
#include "recorded.h"

#define FIELD(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct rna_mad_port, name)                                         \
	}

const struct rna_mad_field rna_mad_fields[] = {
	FIELD(state),           FIELD(physical_state), FIELD(lid),
	FIELD(sm_lid),          FIELD(sm_sl),          FIELD(lmc),
	FIELD(lanes),           FIELD(lanes_enabled),  FIELD(lanes_supported),
	FIELD(speed_code),      FIELD(speed_enabled),  FIELD(speed_supported),
	FIELD(capability_mask), FIELD(virtual_lanes),
};
const size_t rna_mad_field_count = RNA_ARRAY_SIZE(rna_mad_fields);

#define FABRIC_FIELD(name, member)                                                                 \
	{                                                                                          \
		(name), offsetof(struct rna_mad_fabric, member)                                    \
	}

const struct rna_mad_field rna_mad_fabric_numbers[] = {
	FABRIC_FIELD("peer/type", peer.type),
	FABRIC_FIELD("peer/port_number", peer.port_number),
	FABRIC_FIELD("manager/priority", manager.priority),
	FABRIC_FIELD("manager/state", manager.state),
	FABRIC_FIELD("congestion_capability", congestion_capability),
};
const size_t rna_mad_fabric_number_count = RNA_ARRAY_SIZE(rna_mad_fabric_numbers);

const struct rna_mad_field rna_mad_fabric_guids[] = {
	FABRIC_FIELD("peer/guid", peer.guid),
	FABRIC_FIELD("peer/system_image_guid", peer.system_image_guid),
	FABRIC_FIELD("peer/port_guid", peer.port_guid),
	FABRIC_FIELD("manager/guid", manager.guid),
};
const size_t rna_mad_fabric_guid_count = RNA_ARRAY_SIZE(rna_mad_fabric_guids);

/* *ret_arena is the memory of the paths. 0, -ENOENT when there is no such directory, or -ENOMEM. */
static int find_mad(const struct rna_root *root, const struct rna_device *device, unsigned port,
		    struct rna_recorded_place *ret, struct rna_arena **ret_arena)
{
	struct rna_arena *arena = rna_arena_new(1024);

	*ret_arena = arena;
	if (!arena)
		return -ENOMEM;
	*ret = (struct rna_recorded_place){
		.root = root,
		.arena = arena,
		.directory = rna_arena_printf(arena, RNA_RECORDED_MAD, device->name, port),
	};
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

	for (size_t i = 0; status == 0 && i < rna_mad_field_count; i++) {
		struct rna_value *value = (void *)((char *)ret + rna_mad_fields[i].offset);

		*value = rna_recorded_value(&place, rna_mad_fields[i].name);
	}
	return status;
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

static void read_numbers(const struct rna_recorded_place *place, const struct rna_mad_field *fields,
			 size_t count, void *ret)
{
	for (size_t i = 0; i < count; i++)
		*(struct rna_value *)(void *)((char *)ret + fields[i].offset) =
			rna_recorded_value(place, fields[i].name);
}

/* "1070:fd03:0000:0001", as a number. */
static struct rna_value read_guid(const struct rna_recorded_place *place, const char *name)
{
	const char *path = rna_recorded_path(place, name);
	char text[32], *to = text;
	ssize_t len = path ? rna_root_read(place->root, path, text, sizeof(text)) : -ENOMEM;
	uint64_t guid;

	if (len < 0)
		return rna_error_is_absence((int)len) ? (struct rna_value){0}
						      : rna_value_unreadable();
	for (const char *from = text; *from; from++)
		if (*from != ':')
			*to++ = *from;
	*to = '\0';
	return rna_parse_hex_u64(text, &guid) == 0 ? rna_value_ok(guid) : rna_value_unreadable();
}

static void read_peer(const struct rna_recorded_place *place, struct rna_mad_fabric *ret)
{
	const char *name = rna_recorded_path(place, "peer/name");
	const struct rna_recorded_place peer = {
		.root = place->root,
		.arena = place->arena,
		.directory = rna_recorded_path(place, "peer"),
	};

	if (!rna_value_is_known(ret->peer.port_number) ||
	    ret->peer.guid.state == RNA_VALUE_UNREADABLE)
		return; /* half an answer would be another peer */
	ret->status[RNA_MAD_PEER_NODE] = 0;
	if (name && rna_root_read(place->root, name, ret->peer.name, sizeof(ret->peer.name)) > 0)
		ret->status[RNA_MAD_PEER_NAME] = 0;
	read_numbers(&peer, rna_mad_fields, rna_mad_field_count, &ret->peer.port);
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
	const struct rna_recorded_place details = {
		.root = place->root,
		.arena = place->arena,
		.directory = rna_recorded_path(place, "details"),
	};

	if (!details.directory || !rna_root_exists(place->root, details.directory))
		return;
	for (size_t i = 0; i < RNA_MAD_DETAILS; i++)
		ret->details[i].value = rna_recorded_value(&details, ret->details[i].file);
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
	read_numbers(&place, rna_mad_fields, rna_mad_field_count, &ret->port);
	read_numbers(&place, rna_mad_fabric_numbers, rna_mad_fabric_number_count, ret);
	for (size_t i = 0; i < rna_mad_fabric_guid_count; i++)
		*(struct rna_value *)(void *)((char *)ret + rna_mad_fabric_guids[i].offset) =
			read_guid(&place, rna_mad_fabric_guids[i].name);
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
