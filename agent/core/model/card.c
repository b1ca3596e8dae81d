// SPDX-License-Identifier: Apache-2.0
/*
 * Cards from the devices of a snapshot: devices are sorted by the address of their PCI device, so
 * that a group is a run of neighbours; then groups with the same system image GUID are joined. A
 * node may have thousands of virtual functions, so devices are not compared in pairs.
 */
#include "rna/model/card.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/snapshot.h"

/* A device, with what its card follows from. */
struct entry {
	unsigned device;     /* index */
	const char *address; /* of its physical function, or its own */
	size_t slot;         /* length of address without the function */
	bool physical;
	uint32_t vendor_id;
	const char *guid; /* system image GUID; NULL: none */
	unsigned group;
};

struct work {
	size_t count;
	struct entry *entries;
	unsigned *joined;       /* for each group: the lowest group of its card */
	int *of_groups;         /* for the lowest group of a card: its index */
	struct rna_card *cards; /* one more than there can be: the last one stays empty */
	unsigned *devices;      /* of all cards, one after the other */
};

static const char *find_guid(const struct rna_snapshot_device *device)
{
	const struct rna_identity *identity = rna_device_identity(device);
	const char *guid = identity ? identity->system_image_guid : NULL;

	/* EFA, among others, has the GUID zero. */
	return guid && guid[strspn(guid, "0:")] ? guid : NULL;
}

static void list_entries(const struct rna_snapshot *snapshot, struct work *work)
{
	for (size_t i = 0; i < snapshot->device_count; i++) {
		const struct rna_device *device = snapshot->devices[i].device;
		const char *physical = device->physical_function;
		const char *address = physical ? physical : device->pci_address;

		if (!address)
			continue;
		work->entries[work->count++] = (struct entry){
			.device = (unsigned)i,
			.address = address,
			.slot = strcspn(address, "."),
			.physical = !physical,
			.vendor_id = device->vendor_id,
			.guid = find_guid(&snapshot->devices[i]),
		};
	}
}

/* PCI domains have four digits or more; of equal length they sort as texts. */
static int compare_slots(const struct entry *a, const struct entry *b)
{
	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	return strncmp(a->address, b->address, a->slot);
}

/* By address; physical functions first, so that the first of a card names it. */
static int compare_addresses(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = compare_slots(x, y);

	if (order == 0)
		order = (int)y->physical - (int)x->physical;
	if (order == 0)
		order = rna_compare_names(x->address, y->address);
	return order != 0 ? order : (x->device > y->device) - (x->device < y->device);
}

static int compare_guids(const void *a, const void *b)
{
	const struct entry *x = *(const struct entry *const *)a;
	const struct entry *y = *(const struct entry *const *)b;

	if (x->vendor_id != y->vendor_id)
		return x->vendor_id < y->vendor_id ? -1 : 1;
	return strcmp(x->guid, y->guid);
}

static void number_groups(struct work *work)
{
	unsigned group = 0;

	for (size_t i = 0; i < work->count; i++) {
		if (i > 0 && compare_slots(&work->entries[i - 1], &work->entries[i]) != 0)
			group++;
		work->entries[i].group = group;
		work->joined[group] = group;
	}
}

static unsigned find_first(const unsigned *joined, unsigned group)
{
	while (joined[group] != group)
		group = joined[group];
	return group;
}

static void join(struct work *work, unsigned a, unsigned b)
{
	a = find_first(work->joined, a);
	b = find_first(work->joined, b);
	work->joined[a > b ? a : b] = a < b ? a : b;
}

static int join_groups(struct work *work, struct rna_arena *scratch)
{
	struct entry **by_guid = rna_arena_array(scratch, work->count + 1, sizeof(struct entry *));
	size_t count = 0;

	if (!by_guid)
		return -ENOMEM;
	for (size_t i = 0; i < work->count; i++)
		if (work->entries[i].guid)
			by_guid[count++] = &work->entries[i];
	qsort(by_guid, count, sizeof(struct entry *), compare_guids);
	for (size_t i = 1; i < count; i++)
		if (compare_guids(&by_guid[i - 1], &by_guid[i]) == 0)
			join(work, by_guid[i - 1]->group, by_guid[i]->group);
	return 0;
}

/* The first group of each card comes first, so cards are numbered by address. */
static size_t count_devices(struct work *work)
{
	size_t count = 0;

	for (size_t i = 0; i < work->count; i++) {
		const struct entry *entry = &work->entries[i];
		unsigned first = find_first(work->joined, entry->group);

		if (entry->group == first && (i == 0 || entry[-1].group != first)) {
			work->of_groups[first] = (int)count;
			work->cards[count++].address = entry->address;
		}
		work->cards[work->of_groups[first]].device_count++;
	}
	return count;
}

/* Fills in the devices of the cards, in the order of the snapshot. */
static void list_devices(const struct work *work, int *of_devices, size_t device_count)
{
	unsigned *next = work->devices;

	for (size_t i = 0; i < work->count; i++)
		of_devices[work->entries[i].device] =
			work->of_groups[find_first(work->joined, work->entries[i].group)];
	for (struct rna_card *card = work->cards; card->device_count > 0; card++) {
		card->devices = next;
		next += card->device_count;
		card->device_count = 0;
	}
	for (size_t i = 0; i < device_count; i++)
		if (of_devices[i] >= 0) {
			struct rna_card *card = &work->cards[of_devices[i]];
			size_t offset = (size_t)(card->devices - work->devices);

			work->devices[offset + card->device_count++] = (unsigned)i;
		}
}

static int make_room(size_t count, struct rna_arena *arena, struct rna_arena *scratch,
		     struct work *work)
{
	*work = (struct work){
		.entries = rna_arena_array(scratch, count + 1, sizeof(*work->entries)),
		.joined = rna_arena_array(scratch, count + 1, sizeof(*work->joined)),
		.of_groups = rna_arena_array(scratch, count + 1, sizeof(*work->of_groups)),
		.cards = rna_arena_array(arena, count + 1, sizeof(*work->cards)),
		.devices = rna_arena_array(arena, count + 1, sizeof(*work->devices)),
	};
	return work->entries && work->joined && work->of_groups && work->cards && work->devices
		       ? 0
		       : -ENOMEM;
}

int rna_cards_make(const struct rna_snapshot *snapshot, struct rna_arena *arena,
		   struct rna_cards *ret)
{
	size_t count = snapshot->device_count;
	int *of_devices = rna_arena_array(arena, count + 1, sizeof(*of_devices));
	RNA_CLEANUP(rna_arena_free_p)
	struct rna_arena *scratch = rna_arena_new((count + 1) * sizeof(struct entry));
	struct work work;

	if (!of_devices || !scratch || make_room(count, arena, scratch, &work) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		of_devices[i] = -1;
	list_entries(snapshot, &work);
	qsort(work.entries, work.count, sizeof(*work.entries), compare_addresses);
	number_groups(&work);
	if (join_groups(&work, scratch) < 0)
		return -ENOMEM;
	*ret = (struct rna_cards){
		.count = count_devices(&work),
		.items = work.cards,
		.of_devices = of_devices,
	};
	list_devices(&work, of_devices, count);
	return 0;
}

const struct rna_card *rna_card_of(const struct rna_cards *cards, size_t device)
{
	int index = cards ? cards->of_devices[device] : -1;

	return index >= 0 ? &cards->items[index] : NULL;
}

bool rna_card_is_same_model(const struct rna_snapshot_device *a,
			    const struct rna_snapshot_device *b)
{
	const struct rna_identity *x = rna_device_identity(a), *y = rna_device_identity(b);

	return a->device->vendor_id == b->device->vendor_id &&
	       a->device->device_id == b->device->device_id &&
	       (!x || !y || rna_same_text(x->board_id, y->board_id));
}
