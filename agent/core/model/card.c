// SPDX-License-Identifier: Apache-2.0
/*
 * Cards from the devices of a snapshot: devices, and the NICs of the topology, are sorted by the
 * address of their PCI device, so that a group is a run of neighbours; then groups with the same
 * system image GUID are joined. A node may have thousands of virtual functions, so devices are not
 * compared in pairs.
 */
#include "rna/model/card.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/driver.h"
#include "rna/model/snapshot.h"

/* -- PCI devices ------------------------------------------------------------------------------- */

/* PCI domains have four digits or more; of equal length they sort as texts. */
int rna_pci_compare_devices(const char *a, const char *b)
{
	size_t x = strcspn(a, "."), y = strcspn(b, ".");

	if (x != y)
		return x < y ? -1 : 1;
	return strncmp(a, b, x);
}

bool rna_pci_is_one_device(const char *a, const char *b)
{
	return strchr(a, '.') && strchr(b, '.') && rna_pci_compare_devices(a, b) == 0;
}

/* -- Groups ------------------------------------------------------------------------------------ */

/* A device or a NIC of the topology, with what its card follows from. */
struct entry {
	int device;                /* index; RNA_NO_DEVICE: it is a NIC */
	const struct rna_nic *nic; /* NULL: it is a device */
	const char *address;       /* of its physical function, or its own */
	bool physical;
	uint32_t vendor_id;
	const char *guid; /* system image GUID; NULL: none */
	unsigned group;
};

enum { NO_CARD = -1 };

struct work {
	const struct rna_snapshot *snapshot;
	struct rna_arena *arena;
	size_t count;
	struct entry *entries;
	size_t group_count;
	unsigned *joined; /* for each group: the lowest group of its card */
	int *of_groups;   /* for each group: the index of its card, or NO_CARD */
	size_t card_count;
	struct rna_card *cards;
	unsigned *devices;                   /* of all cards, one after the other */
	struct rna_card_function *functions; /* likewise */
	struct rna_card_slot *slots;
	size_t slot_count;
};

static const char *find_guid(const struct rna_snapshot_device *device)
{
	const struct rna_identity *identity = rna_device_identity(device);
	const char *guid = identity ? identity->system_image_guid : NULL;

	/* EFA, among others, has the GUID zero. */
	return guid && guid[strspn(guid, "0:")] ? guid : NULL;
}

static void list_devices(struct work *work)
{
	for (size_t i = 0; i < work->snapshot->device_count; i++) {
		const struct rna_device *device = work->snapshot->devices[i].device;
		const char *physical = device->physical_function;
		const char *address = physical ? physical : device->pci_address;

		if (!address)
			continue;
		work->entries[work->count++] = (struct entry){
			.device = (int)i,
			.address = address,
			.physical = !physical,
			.vendor_id = device->vendor_id,
			.guid = find_guid(&work->snapshot->devices[i]),
		};
	}
}

static void list_nics(struct work *work, const struct rna_topology *topology)
{
	for (size_t i = 0; topology && i < topology->nic_count; i++)
		work->entries[work->count++] = (struct entry){
			.device = RNA_NO_DEVICE,
			.nic = &topology->nics[i],
			.address = topology->objects[topology->nics[i].object].address,
			.physical = true,
		};
}

/* By address; physical functions first, and a device in front of the NIC at its address. */
static int compare_addresses(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = rna_pci_compare_devices(x->address, y->address);

	if (order == 0)
		order = (int)y->physical - (int)x->physical;
	if (order == 0)
		order = rna_compare_names(x->address, y->address);
	if (order == 0)
		order = (x->nic != NULL) - (y->nic != NULL);
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

static void begin_group(struct work *work)
{
	work->joined[work->group_count] = (unsigned)work->group_count;
	work->group_count++;
}

static void number_groups(struct work *work)
{
	for (size_t i = 0; i < work->count; i++) {
		struct entry *entry = &work->entries[i];

		if (i == 0 || rna_pci_compare_devices(entry[-1].address, entry->address) != 0)
			begin_group(work);
		entry->group = (unsigned)work->group_count - 1;
	}
}

/* Shortens the way for those who come later. */
static unsigned find_first(unsigned *joined, unsigned group)
{
	while (joined[group] != group) {
		joined[group] = joined[joined[group]];
		group = joined[group];
	}
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

/* -- Cards ------------------------------------------------------------------------------------- */

static struct rna_card *card_of(const struct work *work, const struct entry *entry)
{
	int card = work->of_groups[entry->group];

	return card == NO_CARD ? NULL : &work->cards[card];
}

/* The first group of a card is its lowest, so cards are numbered by address. */
static int number_cards(struct work *work, struct rna_arena *scratch)
{
	bool *has_device = rna_arena_array(scratch, work->group_count + 1, sizeof(*has_device));

	if (!has_device)
		return -ENOMEM;
	for (size_t i = 0; i < work->count; i++)
		if (work->entries[i].device != RNA_NO_DEVICE)
			has_device[find_first(work->joined, work->entries[i].group)] = true;
	for (unsigned group = 0; group < work->group_count; group++) {
		unsigned first = find_first(work->joined, group);

		if (first < group)
			work->of_groups[group] = work->of_groups[first];
		else
			work->of_groups[group] =
				has_device[group] ? (int)work->card_count++ : NO_CARD;
	}
	return 0;
}

/* The first entry of a card names it, and each first one of a group a slot. */
static int list_slots(struct work *work)
{
	for (size_t i = 0; i < work->count; i++) {
		const struct entry *entry = &work->entries[i];
		struct rna_card *card = card_of(work, entry);

		if (!card || (i > 0 && entry[-1].group == entry->group))
			continue;
		work->slots[work->slot_count++] =
			(struct rna_card_slot){entry->address, (unsigned)(card - work->cards)};
		if (card->address)
			continue;
		card->address = rna_arena_printf(work->arena, "%.*s",
						 (int)strcspn(entry->address, "."), entry->address);
		if (!card->address)
			return -ENOMEM;
	}
	return 0;
}

/* Fills in the devices of the cards, in the order of the snapshot. */
static void give_devices(struct work *work, int *of_devices)
{
	unsigned *next = work->devices;

	for (size_t i = 0; i < work->count; i++)
		if (work->entries[i].device != RNA_NO_DEVICE) {
			of_devices[work->entries[i].device] =
				work->of_groups[work->entries[i].group];
			card_of(work, &work->entries[i])->device_count++;
		}
	for (size_t i = 0; i < work->card_count; i++) {
		work->cards[i].devices = next;
		next += work->cards[i].device_count;
		work->cards[i].device_count = 0;
	}
	for (size_t i = 0; i < work->snapshot->device_count; i++)
		if (of_devices[i] != NO_CARD) {
			struct rna_card *card = &work->cards[of_devices[i]];
			size_t offset = (size_t)(card->devices - work->devices);

			work->devices[offset + card->device_count++] = (unsigned)i;
		}
}

/* -- Functions --------------------------------------------------------------------------------- */

static bool is_function(const struct work *work, const struct entry *entry)
{
	const struct rna_device *device;

	if (entry->nic)
		return true;
	device = work->snapshot->devices[entry->device].device;
	return rna_device_is_nic(device) || device->function == RNA_FUNCTION_SWITCH_MANAGEMENT;
}

/* A device and its NIC follow each other: one function. */
static bool is_repeated(const struct rna_card *card, const struct rna_card_function *functions,
			const struct entry *entry)
{
	return card->function_count > 0 &&
	       strcmp(functions[card->function_count - 1].address, entry->address) == 0;
}

static void add_function(const struct work *work, struct rna_card *card, const struct entry *entry)
{
	size_t offset = (size_t)(card->functions - work->functions);
	struct rna_card_function *functions = work->functions + offset;

	if (is_repeated(card, functions, entry)) {
		if (entry->nic)
			functions[card->function_count - 1].nic = entry->nic;
		return;
	}
	functions[card->function_count++] = (struct rna_card_function){
		.address = entry->address,
		.device = entry->device,
		.nic = entry->nic,
	};
}

/* Room for each entry of a card, one after the other; then functions take what they need of it. */
static void give_functions(struct work *work)
{
	struct rna_card_function *next = work->functions;

	for (size_t i = 0; i < work->count; i++)
		if (card_of(work, &work->entries[i]))
			card_of(work, &work->entries[i])->function_count++;
	for (size_t i = 0; i < work->card_count; i++) {
		work->cards[i].functions = next;
		next += work->cards[i].function_count;
		work->cards[i].function_count = 0;
	}
	for (size_t i = 0; i < work->count; i++) {
		struct rna_card *card = card_of(work, &work->entries[i]);

		if (card && is_function(work, &work->entries[i]))
			add_function(work, card, &work->entries[i]);
	}
}

static void take_first(const char **text, const char *other)
{
	if (!*text)
		*text = other;
}

static void take_identity(struct rna_card *card, const struct rna_identity *identity)
{
	if (!identity)
		return;
	take_first(&card->hca_type, identity->hca_type);
	take_first(&card->board_id, identity->board_id);
	take_first(&card->firmware_version, identity->firmware_version);
	card->firmware_differs |= identity->firmware_version &&
				  strcmp(card->firmware_version, identity->firmware_version) != 0;
}

static void describe(const struct work *work, struct rna_card *card)
{
	bool first = true;

	card->identified = true;
	for (size_t i = 0; i < card->function_count; i++) {
		const struct rna_snapshot_device *device;

		if (card->functions[i].device == RNA_NO_DEVICE)
			continue;
		device = &work->snapshot->devices[card->functions[i].device];
		card->identified &= device->device->vendor_id > 0 && device->device->device_id > 0;
		take_first(&card->model, rna_driver_card_name(device->device->vendor_id,
							      device->device->device_id));
		take_identity(card, rna_device_identity(device));
		if (first || card->numa_node == device->device->numa_node)
			card->numa_node = device->device->numa_node;
		else
			card->numa_node = -1;
		first = false;
	}
	if (first)
		card->numa_node = -1;
}

static size_t *list_first_ports(const struct rna_snapshot *snapshot, struct rna_arena *arena)
{
	size_t *ret = rna_arena_array(arena, snapshot->device_count + 1, sizeof(*ret));
	size_t port = 0;

	for (size_t i = 0; ret && i < snapshot->device_count; i++) {
		ret[i] = port;
		port += snapshot->devices[i].device->port_count;
	}
	return ret;
}

/* -- All of it --------------------------------------------------------------------------------- */

static int make_room(size_t count, struct rna_arena *scratch, struct work *work)
{
	work->entries = rna_arena_array(scratch, count + 1, sizeof(*work->entries));
	work->joined = rna_arena_array(scratch, count + 1, sizeof(*work->joined));
	work->of_groups = rna_arena_array(scratch, count + 1, sizeof(*work->of_groups));
	work->cards = rna_arena_array(work->arena, count + 1, sizeof(*work->cards));
	work->devices = rna_arena_array(work->arena, count + 1, sizeof(*work->devices));
	work->functions = rna_arena_array(work->arena, count + 1, sizeof(*work->functions));
	work->slots = rna_arena_array(work->arena, count + 1, sizeof(*work->slots));
	return work->entries && work->joined && work->of_groups && work->cards && work->devices &&
			       work->functions && work->slots
		       ? 0
		       : -ENOMEM;
}

int rna_cards_make(const struct rna_snapshot *snapshot, struct rna_arena *arena,
		   struct rna_cards *ret)
{
	const struct rna_topology *topology = rna_snapshot_topology(snapshot);
	size_t count = snapshot->device_count + (topology ? topology->nic_count : 0);
	int *of_devices = rna_arena_array(arena, count + 1, sizeof(*of_devices));
	RNA_CLEANUP(rna_arena_free_p)
	struct rna_arena *scratch = rna_arena_new((count + 1) * sizeof(struct entry));
	size_t *first_ports = list_first_ports(snapshot, arena);
	struct work work = {.snapshot = snapshot, .arena = arena};

	if (!of_devices || !first_ports || !scratch || make_room(count, scratch, &work) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->device_count; i++)
		of_devices[i] = NO_CARD;
	list_devices(&work);
	list_nics(&work, topology);
	qsort(work.entries, work.count, sizeof(*work.entries), compare_addresses);
	number_groups(&work);
	if (join_groups(&work, scratch) < 0 || number_cards(&work, scratch) < 0 ||
	    list_slots(&work) < 0)
		return -ENOMEM;
	give_devices(&work, of_devices);
	give_functions(&work);
	for (size_t i = 0; i < work.card_count; i++)
		describe(&work, &work.cards[i]);
	*ret = (struct rna_cards){
		.count = work.card_count,
		.items = work.cards,
		.of_devices = of_devices,
		.first_ports = first_ports,
		.slot_count = work.slot_count,
		.slots = work.slots,
	};
	return 0;
}

/* -- Questions --------------------------------------------------------------------------------- */

bool rna_card_function_is_bare(const struct rna_card_function *function)
{
	return function->device == RNA_NO_DEVICE && function->nic &&
	       function->nic->device_count == 0 && function->nic->lag < 0;
}

const struct rna_card *rna_card_of(const struct rna_cards *cards, size_t device)
{
	int index = cards ? cards->of_devices[device] : NO_CARD;

	return index >= 0 ? &cards->items[index] : NULL;
}

static int compare_slot(const void *address, const void *slot)
{
	return rna_pci_compare_devices(address, ((const struct rna_card_slot *)slot)->address);
}

const struct rna_card *rna_card_at(const struct rna_cards *cards, const char *address)
{
	const struct rna_card_slot *slot = NULL;

	if (cards && address && cards->slot_count > 0)
		slot = bsearch(address, cards->slots, cards->slot_count, sizeof(*cards->slots),
			       compare_slot);
	return slot ? &cards->items[slot->card] : NULL;
}

bool rna_card_is_same_model(const struct rna_snapshot_device *a,
			    const struct rna_snapshot_device *b)
{
	const struct rna_identity *x = rna_device_identity(a), *y = rna_device_identity(b);

	return a->device->vendor_id == b->device->vendor_id &&
	       a->device->device_id == b->device->device_id &&
	       (!x || !y || rna_same_text(x->board_id, y->board_id));
}
