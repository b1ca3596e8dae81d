// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <search.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/fabric.h"

bool rna_memory_set_text(char **field, const char *text)
{
	return !rna_same_text(*field, text) && rna_text_set(field, text);
}

/* -- Devices by their key ---------------------------------------------------------------------- */

/* The tree of tsearch(3) is balanced: a state file with many devices must not hold up the start. */
struct rna_device_memory *rna_memory_find(struct rna_memory *memory, const char *key)
{
	const struct rna_device_memory wanted = {.key = (char *)(uintptr_t)key}; /* only read */
	struct rna_device_memory *device = NULL, *const * found;

	if (memory->next < memory->count)
		device = memory->devices[memory->next];
	if (!device || strcmp(device->key, key) != 0) {
		found = tfind(&wanted, &memory->by_key, rna_compare_text_items);
		device = found ? *found : NULL;
	}
	if (device)
		memory->next = device->place + 1;
	return device;
}

/* The list has room for the next power of two, so that it is copied rarely. */
static bool make_room(struct rna_memory *memory)
{
	bool is_full = (memory->count & (memory->count - 1)) == 0; /* or empty */
	struct rna_device_memory **more;

	if (!is_full)
		return true;
	more = reallocarray(memory->devices, memory->count > 0 ? 2 * memory->count : 1,
			    sizeof(struct rna_device_memory *));
	if (more)
		memory->devices = more;
	return more;
}

static bool keep_device(struct rna_memory *memory, struct rna_device_memory *device)
{
	if (!make_room(memory) || !tsearch(device, &memory->by_key, rna_compare_text_items))
		return false;
	device->place = memory->count;
	memory->devices[memory->count++] = device;
	return true;
}

static struct rna_device_memory *add_device(struct rna_memory *memory, const char *key)
{
	RNA_CLEANUP(rna_device_memory_free_p)
	struct rna_device_memory *device = calloc(1, sizeof(*device));

	if (!device)
		return NULL;
	device->key = strdup(key);
	device->name = strdup(key);
	if (!device->key || !device->name || !keep_device(memory, device))
		return NULL;
	return RNA_TAKE(device);
}

struct rna_device_memory *rna_memory_device(struct rna_memory *memory, const char *key)
{
	struct rna_device_memory *found = rna_memory_find(memory, key);

	return found ? found : add_device(memory, key);
}

/* -- Ports and tests --------------------------------------------------------------------------- */

struct rna_port_memory *rna_memory_port(struct rna_device_memory *device, unsigned number)
{
	struct rna_port_memory *more;

	for (size_t i = 0; i < device->port_count; i++)
		if (device->ports[i].number == number)
			return &device->ports[i];
	more = reallocarray(device->ports, device->port_count + 1, sizeof(*more));
	if (!more)
		return NULL;
	device->ports = more;
	more[device->port_count] = (struct rna_port_memory){.number = number};
	return &more[device->port_count++];
}

static void keep_test(struct rna_port_memory *port, const struct rna_selftest_run *run)
{
	if (run)
		port->tests[port->test_count++] = *run;
}

bool rna_memory_keep_tests(struct rna_port_memory *port, const struct rna_selftest_port *tested)
{
	struct rna_selftest_run *tests = calloc(RNA_TESTS_REMEMBERED, sizeof(*tests));

	if (!tests)
		return false;
	free(port->tests);
	port->tests = tests;
	port->test_count = 0;
	for (enum rna_endpoint e = 0; e < RNA_ENDPOINT_COUNT; e++) {
		const struct rna_selftest_run *run = rna_selftest_newest(tested, e, NULL);

		keep_test(port, run ? rna_selftest_newest(tested, e, run) : NULL);
		keep_test(port, run);
	}
	return true;
}

/* -- Peers ------------------------------------------------------------------------------------- */

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

/* -- Rails ------------------------------------------------------------------------------------- */

static struct rna_known_nic describe_nic(const struct rna_topology *topology, size_t index)
{
	const struct rna_nic *nic = &topology->nics[index];
	const struct rna_pci_object *object = &topology->objects[nic->object];

	return (struct rna_known_nic){
		.address = object->address,
		.vendor_id = object->vendor_id,
		.device_id = object->device_id,
		.had_device = nic->device_count > 0 || nic->lag >= 0,
		.rail = nic->rail,
	};
}

static bool is_same_nic(const struct rna_known_nic *a, const struct rna_known_nic *b)
{
	return strcmp(a->address, b->address) == 0 && a->vendor_id == b->vendor_id &&
	       a->device_id == b->device_id && a->had_device == b->had_device && a->rail == b->rail;
}

static bool says_the_same(const struct rna_rail_memory *memory, const struct rna_topology *topology)
{
	if (memory->count != topology->nic_count || memory->gpu_count != topology->gpu_count)
		return false;
	for (size_t i = 0; i < memory->count; i++) {
		const struct rna_known_nic nic = describe_nic(topology, i);

		if (!is_same_nic(&memory->nics[i], &nic))
			return false;
	}
	return true;
}

/* False: no memory. */
static bool add_nic(struct rna_rail_memory *memory, const struct rna_known_nic *nic)
{
	char *address = strdup(nic->address);

	if (!address)
		return false;
	memory->nics[memory->count] = *nic;
	memory->nics[memory->count++].address = address;
	return true;
}

/* What replaces the old one; its times are those of the old one. */
static void replace_rails(struct rna_rail_memory *memory, struct rna_rail_memory *fresh)
{
	fresh->accepted = memory->accepted;
	fresh->taken = memory->taken;
	fresh->version = memory->version + 1;
	rna_rail_memory_deinit(memory);
	*memory = *fresh;
	*fresh = (struct rna_rail_memory){0};
}

bool rna_rail_memory_learn(struct rna_rail_memory *memory, const struct rna_topology *topology,
			   rna_usec now)
{
	RNA_CLEANUP(rna_rail_memory_deinit) struct rna_rail_memory fresh = {.learned = now};

	if (topology->part.taken.monotonic == memory->taken || topology->rails_recalled)
		return false;
	if (says_the_same(memory, topology) && memory->learned > memory->accepted) {
		memory->taken = topology->part.taken.monotonic;
		return false;
	}
	fresh.gpu_count = topology->gpu_count;
	fresh.nics = calloc(topology->nic_count + 1, sizeof(*fresh.nics));
	for (size_t i = 0; fresh.nics && i < topology->nic_count; i++) {
		const struct rna_known_nic nic = describe_nic(topology, i);

		if (!add_nic(&fresh, &nic))
			return false;
	}
	if (!fresh.nics)
		return false;
	memory->taken = topology->part.taken.monotonic;
	replace_rails(memory, &fresh);
	return true;
}

static bool is_absence_accepted(const struct rna_memory *memory, const char *address)
{
	for (size_t i = 0; i < memory->count; i++) {
		const struct rna_device_memory *device = memory->devices[i];

		if (device->pci_address && strcmp(device->pci_address, address) == 0 &&
		    !device->present && device->accepted.expected == RNA_EXPECTED_DOWN &&
		    device->last_seen <= device->accepted.time)
			return true;
	}
	return false;
}

struct rna_known_rails *rna_rails_known(const struct rna_memory *memory)
{
	const struct rna_rail_memory *rails = &memory->rails;
	RNA_CLEANUP(rna_known_rails_unref_p) struct rna_known_rails *known = NULL;
	bool no_memory = false;

	if (rails->count == 0 || rails->learned <= rails->accepted)
		return NULL;
	known = rna_known_rails_new(rails->count);
	if (!known)
		return NULL;
	known->gpu_count = rails->gpu_count;
	for (size_t i = 0; i < rails->count; i++) {
		struct rna_known_nic *nic = &known->nics[known->count];

		if (is_absence_accepted(memory, rails->nics[i].address))
			continue;
		*nic = rails->nics[i];
		nic->address = rna_arena_keep(known->arena, nic->address, &no_memory);
		known->count++;
	}
	return no_memory ? NULL : RNA_TAKE(known);
}
