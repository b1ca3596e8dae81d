// SPDX-License-Identifier: Apache-2.0
/*
 * Two questions about each text that changed: which device had the present one before, and which
 * one has the former one now? Both are answered from sorted lists, for a node may have thousands of
 * devices; as long as nothing has changed, which is nearly always, there are no lists.
 */
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/view.h"

#include "memory.h"

void rna_former_memory_deinit(struct rna_former_memory *former)
{
	free(former->text);
	*former = (struct rna_former_memory){0};
}

static bool is_live(const struct rna_former_memory *former, rna_usec accepted, rna_usec now)
{
	return former->text && former->changed > accepted &&
	       rna_usec_since(former->changed, now) <= RNA_FORMER_SPAN;
}

bool rna_former_learn(struct rna_former_memory *former, char **present, const char *text,
		      rna_usec accepted, rna_usec now)
{
	bool live = is_live(former, accepted, now);
	char *copy;

	if (!*present || !text)
		return rna_memory_set_text(present, text);
	if (strcmp(*present, text) == 0)
		return false;
	copy = strdup(text);
	if (!copy)
		return false; /* the next call tries again */
	if (live)
		free(*present);
	else {
		free(former->text);
		former->text = *present;
	}
	*present = copy;
	former->changed = now;
	if (strcmp(former->text, text) == 0)
		rna_former_memory_deinit(former); /* it is back */
	return true;
}

rna_usec rna_former_accepted(const struct rna_device_memory *device)
{
	rna_usec newest = 0;

	for (size_t i = 0; i < device->port_count; i++) {
		rna_usec time = rna_accepted_time(&device->ports[i].accepted);

		newest = time > newest ? time : newest;
	}
	return newest;
}

/* -- For the view ------------------------------------------------------------------------------ */

enum kind { NAME, GUID, NETDEV, KIND_COUNT };

struct entry {
	const char *before; /* the same as present if it did not change */
	const char *present;
	const struct rna_device_memory *device;
	unsigned port; /* 0: it is about the device */
	const struct rna_former_memory *former;
	struct rna_former *out; /* NULL: it did not change, or is not there */
};

struct place {
	const char *text;
	const struct entry *entry;
};

struct list {
	size_t count, changed;
	struct entry *entries;
	struct place *by_before, *by_present;
	size_t present_count;
};

struct work {
	struct rna_view *view;
	struct list lists[KIND_COUNT];
	rna_usec now;
	bool no_memory;
};

static void add(struct work *work, enum kind kind, const struct entry *about, rna_usec accepted)
{
	struct list *list = &work->lists[kind];
	bool live = is_live(about->former, accepted, work->now);
	struct entry *entry = &list->entries[list->count];

	if (!about->present)
		return;
	*entry = *about;
	entry->before = live ? about->former->text : about->present;
	if (!about->device->present)
		entry->present = NULL;
	if (!live)
		entry->out = NULL;
	list->changed += entry->out != NULL;
	list->count++;
}

static struct rna_former *find_netdev(struct rna_view_port *ports, size_t count, unsigned number)
{
	for (size_t i = 0; i < count; i++)
		if (ports[i].number == number)
			return &ports[i].netdev;
	return NULL;
}

/* out: its place in the view, NULL: it is not there. ports: those of the view, likewise. */
static void add_device(struct work *work, const struct rna_device_memory *device,
		       struct rna_view_device *out, struct rna_view_port *ports, size_t count)
{
	rna_usec accepted = rna_former_accepted(device);
	const struct entry name = {
		.present = device->name,
		.device = device,
		.former = &device->former_name,
		.out = out ? &out->name : NULL,
	};
	const struct entry guid = {
		.present = device->guid,
		.device = device,
		.former = &device->former_guid,
		.out = out ? &out->guid : NULL,
	};

	add(work, NAME, &name, accepted);
	add(work, GUID, &guid, accepted);
	RNA_EACH (port, device->ports, device->port_count) {
		const struct entry netdev = {
			.present = port->netdev,
			.device = device,
			.port = port->number,
			.former = &port->former_netdev,
			.out = find_netdev(ports, count, port->number),
		};

		add(work, NETDEV, &netdev, rna_accepted_time(&port->accepted));
	}
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	/* One that is there first: an absent one may have had the name long ago. */
	return order != 0 ? order
			  : (int)(x->entry->present == NULL) - (int)(y->entry->present == NULL);
}

static void sort(struct list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct entry *entry = &list->entries[i];

		list->by_before[i] = (struct place){entry->before, entry};
		if (entry->present)
			list->by_present[list->present_count++] =
				(struct place){entry->present, entry};
	}
	qsort(list->by_before, list->count, sizeof(*list->by_before), compare_places);
	qsort(list->by_present, list->present_count, sizeof(*list->by_present), compare_places);
}

/* Another one than self with that text; NULL: none. */
static const struct entry *find_other(const struct place *places, size_t count, const char *text,
				      const struct entry *self)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(places[middle].text, text) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && strcmp(places[low].text, text) == 0; low++)
		if (places[low].entry != self)
			return places[low].entry;
	return NULL;
}

static const char *say(struct work *work, const struct entry *entry)
{
	const struct rna_device_memory *device = entry ? entry->device : NULL;
	struct rna_arena *arena = work->view->arena;
	const char *text;

	if (!device)
		return NULL;
	text = entry->port ? rna_arena_printf(arena, "%s/%u", device->name, entry->port)
			   : rna_arena_strdup(arena, device->pci_address ? device->pci_address
									 : device->key);
	work->no_memory |= !text;
	return text;
}

static void tell(struct work *work, struct list *list)
{
	if (list->changed == 0)
		return;
	sort(list);
	RNA_EACH (entry, list->entries, list->count) {
		if (!entry->out)
			continue;
		*entry->out = (struct rna_former){
			.text = rna_arena_keep(work->view->arena, entry->before, &work->no_memory),
			.changed = entry->former->changed,
			.owner = say(work, find_other(list->by_before, list->count, entry->present,
						      entry)),
			.holder = say(work, find_other(list->by_present, list->present_count,
						       entry->before, entry)),
		};
	}
}

/* Has anything changed lately? */
static bool is_any_live(const struct rna_memory *memory, rna_usec now)
{
	for (size_t i = 0; i < memory->count; i++) {
		const struct rna_device_memory *device = memory->devices[i];
		rna_usec accepted = rna_former_accepted(device);

		if (is_live(&device->former_name, accepted, now) ||
		    is_live(&device->former_guid, accepted, now))
			return true;
		RNA_EACH (port, device->ports, device->port_count)
			if (is_live(&port->former_netdev, rna_accepted_time(&port->accepted), now))
				return true;
	}
	return false;
}

static bool make_lists(struct work *work, const struct rna_memory *memory,
		       struct rna_arena *scratch)
{
	size_t count = 0;

	for (size_t i = 0; i < memory->count; i++)
		count += 1 + memory->devices[i]->port_count;
	for (size_t i = 0; i < KIND_COUNT; i++) {
		struct list *list = &work->lists[i];

		list->entries = rna_arena_array(scratch, count + 1, sizeof(*list->entries));
		list->by_before = rna_arena_array(scratch, count + 1, sizeof(struct place));
		list->by_present = rna_arena_array(scratch, count + 1, sizeof(struct place));
		if (!list->entries || !list->by_before || !list->by_present)
			return false;
	}
	return true;
}

/* The devices of the view, in their order, then those that are expected and absent. */
static void list_all(struct work *work, struct rna_memory *memory, struct rna_view_device *devices,
		     struct rna_view_port *ports)
{
	const struct rna_snapshot *snapshot = work->view->snapshot;

	for (size_t i = 0; i < snapshot->device_count; i++) {
		const struct rna_device *device = snapshot->devices[i].device;
		const struct rna_device_memory *known = rna_memory_find(memory, device->key);

		if (known)
			add_device(work, known, &devices[i], ports, device->port_count);
		ports += device->port_count;
	}
	for (size_t i = 0; i < memory->count; i++)
		if (!memory->devices[i]->present && memory->devices[i]->lasting)
			add_device(work, memory->devices[i], NULL, NULL, 0);
}

bool rna_formers_tell(struct rna_memory *memory, struct rna_view *view, struct rna_view_port *ports)
{
	struct work work = {.view = view, .now = view->snapshot->time.realtime};
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = NULL;
	struct rna_view_device *devices;

	if (!is_any_live(memory, work.now))
		return true;
	scratch = rna_arena_new(0);
	devices = rna_arena_array(view->arena, view->snapshot->device_count + 1, sizeof(*devices));
	if (!scratch || !devices || !make_lists(&work, memory, scratch))
		return false;
	list_all(&work, memory, devices, ports);
	for (enum kind kind = 0; kind < KIND_COUNT; kind++)
		tell(&work, &work.lists[kind]);
	view->devices = devices;
	return !work.no_memory;
}
