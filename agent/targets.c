// SPDX-License-Identifier: Apache-2.0
#include "targets.h"

#include <string.h>

const char *rna_target_name(const struct rna_target *target)
{
	return target->device ? target->device->name : "node";
}

/* What a port of an mlx5 device has, the most common one, and some room. */
static const unsigned wanted_descriptors[RNA_COLLECTOR_COUNT] = {
	[RNA_COLLECTOR_STATE] = 3,
	[RNA_COLLECTOR_COUNTERS] = 24,
	[RNA_COLLECTOR_HW_COUNTERS] = 72,
};

/*
 * Divides what a device may keep open among its readers: a directory for each first, where most
 * files are opened below it before others, and those are the later collectors; then files, for
 * those first that are read most often.
 */
static void divide_descriptors(const struct rna_device *device, unsigned left,
			       unsigned ret[RNA_COLLECTOR_COUNT])
{
	unsigned ports = device->port_count < 1024 ? (unsigned)device->port_count : 1024;

	for (unsigned id = RNA_COLLECTOR_COUNT; id-- > 0;) {
		ret[id] = wanted_descriptors[id] > 0 && left > 0;
		left -= ret[id];
	}
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++) {
		unsigned want = wanted_descriptors[id] * ports;
		unsigned more = want > ret[id] ? want - ret[id] : 0;

		more = more < left ? more : left;
		ret[id] += more;
		left -= more;
	}
}

struct rna_target *rna_target_free(struct rna_target *target)
{
	if (!target)
		return NULL;
	for (unsigned id = 0; id < target->slot_count; id++) {
		(void)rna_reader_free(target->slots[id].reader);
		(void)rna_part_unref(target->slots[id].presence);
		(void)rna_part_unref(target->slots[id].netdevs);
		(void)rna_device_filter_unref(target->slots[id].filter);
		(void)rna_texts_unref(target->slots[id].functions);
		(void)rna_texts_unref(target->slots[id].statistics);
		(void)rna_part_unref(target->slots[id].part);
		(void)rna_part_unref(target->slots[id].inherited);
	}
	(void)rna_part_unref(target->presence);
	free(target);
	return NULL;
}

struct rna_target *rna_target_new(unsigned collectors)
{
	unsigned count = RNA_COLLECTOR_COUNT;
	struct rna_target *target;

	while (count > 0 && !(collectors & rna_collector_bit(count - 1)))
		count--;
	target = calloc(1, sizeof(*target) + count * sizeof(target->slots[0]));
	if (!target)
		return NULL;
	target->collectors = collectors;
	target->slot_count = count;
	for (unsigned id = 0; id < count; id++)
		target->slots[id].job.owner = target;
	return target;
}

static unsigned collectors_where(bool per_device)
{
	unsigned set = 0;

	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (rna_collectors[id].per_device == per_device)
			set |= rna_collector_bit(id);
	return set;
}

void rna_target_move(struct rna_target *target, struct rna_part *presence,
		     const struct rna_device *device)
{
	(void)rna_part_ref(presence);
	(void)rna_part_unref(target->presence);
	target->presence = presence;
	target->device = device;
}

struct rna_target *rna_target_new_device(const struct rna_root *root, struct rna_part *presence,
					 const struct rna_device *device, unsigned descriptors)
{
	RNA_CLEANUP(rna_target_free_p)
	struct rna_target *target = rna_target_new(collectors_where(true));
	unsigned shares[RNA_COLLECTOR_COUNT];

	if (!target)
		return NULL;
	rna_target_move(target, presence, device);
	divide_descriptors(device, descriptors, shares);
	for (unsigned id = 0; id < target->slot_count; id++) {
		struct rna_slot *slot = &target->slots[id];

		if (!(target->collectors & rna_collector_bit(id)))
			continue;
		slot->reader = rna_reader_new(root, shares[id]);
		if (!slot->reader)
			return NULL;
	}
	return RNA_TAKE(target);
}

static const struct rna_target *find_key(const struct rna_target *list, const char *key)
{
	while (list && strcmp(list->device->key, key) != 0)
		list = list->next;
	return list;
}

void rna_target_inherit(struct rna_target *target, const struct rna_target *list)
{
	const struct rna_target *before = find_key(list, target->device->key);

	for (unsigned id = 0; before && id < target->slot_count; id++) {
		const struct rna_slot *slot = &before->slots[id];

		target->slots[id].inherited =
			rna_part_ref(slot->part ? slot->part : slot->inherited);
	}
}

void rna_target_set_cause(struct rna_target *target, unsigned collectors,
			  const struct rna_origin *origin)
{
	for (unsigned id = 0; id < target->slot_count; id++)
		if ((collectors & rna_collector_bit(id)) &&
		    target->slots[id].cause.source == RNA_SOURCE_POLL)
			target->slots[id].cause = *origin;
}

static bool same_device(const struct rna_device *a, const struct rna_device *b)
{
	return a->generation == b->generation && a->port_count == b->port_count &&
	       strcmp(a->name, b->name) == 0 && strcmp(a->key, b->key) == 0 &&
	       strcmp(a->sysfs_path, b->sysfs_path) == 0;
}

struct rna_target *rna_target_take(struct rna_target **list, const struct rna_device *device)
{
	for (struct rna_target **link = list; *link; link = &(*link)->next) {
		struct rna_target *target = *link;

		if (!same_device(target->device, device))
			continue;
		*link = target->next;
		target->next = NULL;
		return target;
	}
	return NULL;
}
