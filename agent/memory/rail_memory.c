// SPDX-License-Identifier: Apache-2.0
#include "rail_memory.h"

#include <string.h>

#include "memory.h"

void rna_rail_memory_deinit(struct rna_rail_memory *memory)
{
	for (size_t i = 0; i < memory->count; i++)
		free((char *)(uintptr_t)memory->nics[i].address);
	free(memory->nics);
	*memory = (struct rna_rail_memory){0};
}

/* -- Learning ---------------------------------------------------------------------------------- */

static struct rna_known_nic describe(const struct rna_topology *topology, size_t index)
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

static bool is_same(const struct rna_known_nic *a, const struct rna_known_nic *b)
{
	return strcmp(a->address, b->address) == 0 && a->vendor_id == b->vendor_id &&
	       a->device_id == b->device_id && a->had_device == b->had_device && a->rail == b->rail;
}

static bool says_the_same(const struct rna_rail_memory *memory, const struct rna_topology *topology)
{
	if (memory->count != topology->nic_count || memory->gpu_count != topology->gpu_count)
		return false;
	for (size_t i = 0; i < memory->count; i++) {
		const struct rna_known_nic nic = describe(topology, i);

		if (!is_same(&memory->nics[i], &nic))
			return false;
	}
	return true;
}

/* False: no memory. */
static bool add(struct rna_rail_memory *memory, const struct rna_known_nic *nic)
{
	char *address = strdup(nic->address);

	if (!address)
		return false;
	memory->nics[memory->count] = *nic;
	memory->nics[memory->count++].address = address;
	return true;
}

/* What replaces the old one; its times are those of the old one. */
static void replace(struct rna_rail_memory *memory, struct rna_rail_memory *fresh)
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
		const struct rna_known_nic nic = describe(topology, i);

		if (!add(&fresh, &nic))
			return false;
	}
	if (!fresh.nics)
		return false;
	memory->taken = topology->part.taken.monotonic;
	replace(memory, &fresh);
	return true;
}

/* -- For the collector ------------------------------------------------------------------------- */

static bool is_let_go(const struct rna_memory *memory, const char *address)
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

		if (is_let_go(memory, rails->nics[i].address))
			continue;
		*nic = rails->nics[i];
		nic->address = rna_arena_keep(known->arena, nic->address, &no_memory);
		known->count++;
	}
	return no_memory ? NULL : RNA_TAKE(known);
}
