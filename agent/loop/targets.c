// SPDX-License-Identifier: Apache-2.0
#include "targets.h"

#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/topology.h"

const char *rna_target_name(const struct rna_target *target)
{
	return target->device ? target->device->name : "node";
}

/* For each port; node-wide collectors keep them elsewhere. */
static unsigned descriptors_of_device(enum rna_collector_id id)
{
	return rna_collectors[id].per_device ? rna_collectors[id].descriptors : 0;
}

/*
 * A port of mlx5 has some 54 files. To keep a few of them open saves nothing that can be measured
 * (8 of each of 512 ports: 921 ms of CPU a minute instead of 893), and the kernel takes 4.5 kB for
 * each.
 */
unsigned rna_target_share(unsigned descriptors, size_t devices)
{
	enum { FEW = 16, DIRECTORIES = 2 };
	unsigned share = devices > 0 ? (unsigned)(descriptors / devices) : descriptors;

	return share < FEW && share > DIRECTORIES ? DIRECTORIES : share;
}

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
		ret[id] = descriptors_of_device(id) > 0 && left > 0;
		left -= ret[id];
	}
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++) {
		unsigned want = descriptors_of_device(id) * ports;
		unsigned more = want > ret[id] ? want - ret[id] : 0;

		more = more < left ? more : left;
		ret[id] += more;
		left -= more;
	}
}

void rna_slot_count_errors(struct rna_slot *slot, enum rna_reason reason, uint64_t count)
{
	if (count > 0 && !slot->errors)
		slot->errors = calloc(RNA_REASON_COUNT, sizeof(*slot->errors));
	if (slot->errors)
		slot->errors[reason] += count;
}

void rna_slot_release(struct rna_slot *slot)
{
	slot->held.presence = rna_part_unref(slot->held.presence);
	slot->held.netdevs = rna_part_unref(slot->held.netdevs);
	slot->held.filter = rna_device_filter_unref(slot->held.filter);
	slot->held.functions = rna_texts_unref(slot->held.functions);
	slot->held.rails = rna_known_rails_unref(slot->held.rails);
	slot->held.nic_facts = rna_nic_facts_unref(slot->held.nic_facts);
	slot->held.statistics = rna_texts_unref(slot->held.statistics);
}

static struct rna_slot *slot_free(struct rna_slot *slot)
{
	if (!slot)
		return NULL;
	rna_slot_release(slot);
	(void)rna_reader_free(slot->reader);
	(void)rna_part_unref(slot->part);
	(void)rna_part_unref(slot->inherited);
	free(slot->errors);
	free(slot);
	return NULL;
}
RNA_DEFINE_CLEANUP(struct rna_slot, slot_free)

struct rna_target *rna_target_free(struct rna_target *target)
{
	if (!target)
		return NULL;
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		(void)slot_free(target->slots[id]);
	(void)rna_part_unref(target->presence);
	free(target);
	return NULL;
}

/* If it has none yet. 0 or -ENOMEM. */
static int make_slot(struct rna_target *target, enum rna_collector_id id)
{
	RNA_CLEANUP(slot_free_p) struct rna_slot *slot = NULL;
	unsigned shares[RNA_COLLECTOR_COUNT];

	if (target->slots[id])
		return 0;
	slot = calloc(1, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	slot->job.owner = target;
	shares[id] = rna_collectors[id].descriptors;
	if (target->device)
		divide_descriptors(target->device, target->descriptors, shares);
	if (target->device || rna_collectors[id].descriptors > 0) {
		slot->reader = rna_reader_new(target->root, shares[id]);
		if (!slot->reader)
			return -ENOMEM;
	}
	target->slots[id] = RNA_TAKE(slot);
	return 0;
}

static int make_slots(struct rna_target *target, unsigned collectors)
{
	int status = 0;

	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if ((collectors & rna_collector_bit(id)) && make_slot(target, id) < 0)
			status = -ENOMEM;
		else
			target->collectors |= collectors & rna_collector_bit(id);
	return status;
}

struct rna_target *rna_target_new(const struct rna_root *root, unsigned collectors)
{
	RNA_CLEANUP(rna_target_free_p)
	struct rna_target *target = calloc(1, sizeof(*target));

	if (!target)
		return NULL;
	target->root = root;
	return make_slots(target, collectors) < 0 ? NULL : RNA_TAKE(target);
}

/* -- Which collectors a device has ------------------------------------------------------------- */

static const struct rna_slot *identity_slot(const struct rna_target *target)
{
	return target->slots[rna_collector_listing(RNA_LISTS_LINK_LAYERS)];
}

const struct rna_identity *rna_target_identity(const struct rna_target *target)
{
	const struct rna_slot *slot = identity_slot(target);

	return slot ? (const void *)slot->part : NULL;
}

/* A collector for one link layer waits for the first attempt to read the link layers. */
static bool has_something_for(const struct rna_target *target,
			      const struct rna_collector *collector)
{
	const struct rna_slot *slot = identity_slot(target);

	if (collector->link_layer != RNA_LINK_LAYER_UNKNOWN && (!slot || !slot->ran))
		return false;
	return rna_collector_suits(collector, (const void *)target->presence, target->device,
				   rna_target_identity(target));
}

int rna_target_choose_collectors(struct rna_target *target, unsigned *ret_new)
{
	unsigned before = target->collectors, chosen = 0;
	int status;

	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (has_something_for(target, &rna_collectors[id]))
			chosen |= rna_collector_bit(id);
	target->collectors &= chosen;
	target->wanted &= chosen;
	status = make_slots(target, chosen);
	*ret_new = target->collectors & ~before;
	return status;
}

void rna_target_move(struct rna_target *target, const struct rna_part *presence,
		     const struct rna_device *device)
{
	(void)rna_part_ref(presence);
	(void)rna_part_unref(target->presence);
	target->presence = presence;
	target->device = device;
}

struct rna_target *rna_target_new_device(const struct rna_root *root,
					 const struct rna_part *presence,
					 const struct rna_device *device, unsigned descriptors)
{
	RNA_CLEANUP(rna_target_free_p) struct rna_target *target = rna_target_new(root, 0);
	unsigned chosen;

	if (!target)
		return NULL;
	target->descriptors = descriptors;
	rna_target_move(target, presence, device);
	return rna_target_choose_collectors(target, &chosen) < 0 ? NULL : RNA_TAKE(target);
}

/* -- In the course of time --------------------------------------------------------------------- */

static const struct rna_target *find_key(const struct rna_target *list, const char *key)
{
	while (list && strcmp(list->device->key, key) != 0)
		list = list->next;
	return list;
}

void rna_target_inherit(struct rna_target *target, const struct rna_target *list)
{
	const struct rna_target *before = find_key(list, target->device->key);

	for (unsigned id = 0; before && id < RNA_COLLECTOR_COUNT; id++) {
		const struct rna_slot *slot = before->slots[id];
		const struct rna_part *part = NULL;

		if (slot)
			part = slot->part ? slot->part : slot->inherited;
		if (part && make_slot(target, id) == 0) /* else it begins anew */
			target->slots[id]->inherited = rna_part_ref(part);
	}
}

void rna_target_set_cause(struct rna_target *target, unsigned collectors,
			  const struct rna_origin *origin)
{
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++) {
		struct rna_slot *slot = target->slots[id];

		if (slot && (collectors & rna_collector_bit(id)) &&
		    slot->cause.source == RNA_SOURCE_POLL)
			slot->cause = *origin;
	}
}

static bool same_registration(const struct rna_device *a, const struct rna_device *b)
{
	return a->generation == b->generation && a->port_count == b->port_count &&
	       strcmp(a->name, b->name) == 0 && strcmp(a->key, b->key) == 0 &&
	       strcmp(a->sysfs_path, b->sysfs_path) == 0;
}

static bool same_device(const struct rna_device *a, const struct rna_device *b)
{
	if (!a->smi != !b->smi || (a->smi && !same_registration(a->smi, b->smi)))
		return false;
	return same_registration(a, b);
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
