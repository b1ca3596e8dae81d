// SPDX-License-Identifier: Apache-2.0
/*
 * One entry of devices for each model. If the ports of a model differ in link layer or rate, as on
 * cards for storage beside those for compute, each of its devices has an entry of its own as well.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/view.h"

#include "baseline.h"
#include "profile_rows.h"
#include "profile_traits.h"

enum { MODULE_TEXTS_MAX = 32 }; /* as profile_rows.c has it */

struct make {
	const struct rna_view *view;
	const struct rna_snapshot *snapshot;
	struct rna_arena *arena;
	bool no_memory;
	struct rna_profile_device *devices; /* room for RNA_PROFILE_DEVICES_MAX */
	size_t count;
};

static const char *text_of(struct make *make, const char *text)
{
	make->no_memory |= !text;
	return text;
}

static void *array_of(struct make *make, size_t count, size_t size)
{
	void *array = rna_arena_array(make->arena, count, size);

	make->no_memory |= !array;
	return array;
}

/* -- The nodes that it is for ------------------------------------------------------------------ */

/* A text of firmware as a glob that fits only itself. */
static const char *quote_glob(struct make *make, const char *text)
{
	char *quoted = array_of(make, 2 * strlen(text) + 1, 1), *to = quoted;

	for (; quoted && *text; text++) {
		if (strchr("*?[\\", *text))
			*to++ = '\\';
		*to++ = *text < ' ' || *text > '~' ? '?' : *text;
	}
	return quoted && strlen(quoted) <= RNA_PROFILE_TEXT_MAX ? quoted : NULL;
}

static struct rna_profile_model model_of(struct make *make, uint32_t vendor_id, uint32_t device_id)
{
	const char *text = rna_arena_printf(make->arena, "%04x:%04x", vendor_id, device_id);

	if (vendor_id == 0x15b3) /* the name that status shows, see profile.h */
		text = rna_arena_printf(make->arena, "MT%u", device_id);
	return (struct rna_profile_model){text_of(make, text), vendor_id, device_id};
}

static void add_gpu_models(struct make *make, const struct rna_baseline_census *gpus,
			   struct rna_profile_match *match)
{
	struct rna_profile_model *models = array_of(make, gpus->count, sizeof(*models));

	for (size_t i = 0; models && i < gpus->count; i++)
		models[i] = model_of(make, gpus->models[i].vendor_id, gpus->models[i].device_id);
	match->gpu_models = (struct rna_profile_list){models ? gpus->count : 0, models};
}

static void add_nics(struct make *make, const struct rna_baseline_census *nics,
		     struct rna_profile_match *match)
{
	struct rna_profile_nics *items = array_of(make, nics->count, sizeof(*items));

	for (size_t i = 0; items && i < nics->count; i++) {
		items[i].model =
			model_of(make, nics->models[i].vendor_id, nics->models[i].device_id);
		items[i].count = nics->models[i].count;
	}
	match->nics = (struct rna_profile_list){items ? nics->count : 0, items};
}

/* Not the number of GPUs if there is a better sign: a node that lost one still is what it is. */
static void add_match(struct make *make, const struct rna_baseline_facts *facts,
		      struct rna_profile_match *match)
{
	const struct rna_dmi *dmi = facts->readiness ? &facts->readiness->dmi : NULL;

	if (dmi && dmi->vendor)
		match->vendor = quote_glob(make, dmi->vendor);
	if (dmi && dmi->product)
		match->product = quote_glob(make, dmi->product);
	add_gpu_models(make, &facts->gpus, match);
	if (!match->product && facts->gpus.count == 0)
		add_nics(make, &facts->nics, match);
	if (!match->product && facts->gpus.count == 0 && facts->nics.count == 0)
		match->gpus = rna_value_ok(0);
}

/* "DGXH100" becomes "dgxh100". */
static const char *name_of(struct make *make, const struct rna_baseline_facts *facts)
{
	enum { NAME_MAX_LEN = 63 };
	const char *product = facts->readiness ? facts->readiness->dmi.product : NULL;
	char *name = array_of(make, NAME_MAX_LEN + 1, 1);
	size_t len = 0;

	for (; name && product && *product && len < NAME_MAX_LEN; product++)
		if (isalnum((unsigned char)*product))
			name[len++] = (char)tolower((unsigned char)*product);
		else if (len > 0 && name[len - 1] != '-')
			name[len++] = '-';
	while (len > 0 && name[len - 1] == '-')
		name[--len] = '\0';
	return len > 0 ? name : "this-node";
}

/* -- The node ---------------------------------------------------------------------------------- */

static struct rna_value gpus_per_nic(const struct rna_topology *topology)
{
	size_t served = 0;

	for (size_t n = 0; n < topology->nic_count; n++) {
		size_t gpus = 0;

		for (size_t g = 0; g < topology->gpu_count; g++)
			gpus += topology->affinities[g].nic == (int)n;
		if (served > 0 && gpus > 0 && gpus != served)
			return (struct rna_value){0};
		served = gpus > 0 ? gpus : served;
	}
	return served > 0 ? rna_value_ok(served) : (struct rna_value){0};
}

/* Without drivers, which the devices prove. */
static void add_modules(struct make *make, const struct rna_readiness *readiness,
			struct rna_profile_node *node)
{
	static const struct {
		const char *loaded, *wanted;
	} modules[] = {
		{"ib_uverbs", "ib_uverbs"},
		{"ib_umad", "ib_umad"},
		{"rdma_ucm", "rdma_ucm"},
		{"nvidia_peermem", "nvidia_peermem|nv_peer_mem"},
		{"nv_peer_mem", "nvidia_peermem|nv_peer_mem"},
	};
	const char **wanted = array_of(make, RNA_ARRAY_SIZE(modules), sizeof(*wanted));
	size_t count = 0;

	for (size_t m = 0; wanted && m < RNA_ARRAY_SIZE(modules); m++)
		for (size_t i = 0; i < readiness->module_count; i++)
			if (readiness->modules[i].loaded &&
			    strcmp(readiness->modules[i].name, modules[m].loaded) == 0 &&
			    (count == 0 || strcmp(wanted[count - 1], modules[m].wanted) != 0))
				wanted[count++] = modules[m].wanted;
	node->modules = (struct rna_profile_list){count, wanted};
}

/* If each rail is one NIC: the members of a LAG share theirs. */
static void add_rails(struct make *make, const struct rna_topology *topology,
		      struct rna_profile_node *node)
{
	const char **rails = array_of(make, topology->nic_count + 1, sizeof(*rails));
	size_t count = 0;

	for (size_t i = 0; rails && i < topology->nic_count; i++) {
		const struct rna_nic *nic = &topology->nics[i];

		if (nic->rail < 0)
			continue;
		if ((size_t)nic->rail >= topology->nic_count || rails[nic->rail])
			return;
		rails[nic->rail] = topology->objects[nic->object].address;
		count++;
	}
	for (size_t i = 0; rails && i < count; i++)
		if (!rails[i])
			return;
	node->rails = (struct rna_profile_list){rails ? count : 0, rails};
}

static void add_node(struct make *make, struct rna_profile_node *node)
{
	const struct rna_topology *topology = rna_snapshot_topology(make->snapshot);
	const struct rna_readiness *readiness = rna_snapshot_readiness(make->snapshot);

	if (topology && topology->gpu_count > 0) {
		node->gpus = rna_value_ok(topology->gpu_count);
		node->gpus_per_nic = gpus_per_nic(topology);
		add_rails(make, topology, node);
	}
	if (readiness)
		add_modules(make, readiness, node);
	node->acs = rna_profile_acs(make->snapshot, NULL, NULL);
	node->iommu = rna_profile_iommu(make->snapshot);
	if (readiness && readiness->cpu_frequency.governor_count == 1)
		node->cpu_governor = readiness->cpu_frequency.governors[0].name;
}

/* -- Devices ----------------------------------------------------------------------------------- */

static bool is_of(const struct rna_profile_device *entry, const struct rna_snapshot_device *device)
{
	return rna_device_is_nic(device->device) && device->device->vendor_id != 0 &&
	       entry->model.vendor_id == device->device->vendor_id &&
	       entry->model.device_id == device->device->device_id;
}

/* A value is demanded if all have it: mixed remembers which ones are not. */
static void take_value(struct rna_value *common, struct rna_value value, bool *mixed)
{
	if (*mixed || !rna_value_is_known(value))
		return;
	if (rna_value_is_known(*common) && common->number != value.number) {
		*mixed = true;
		*common = (struct rna_value){0};
		return;
	}
	*common = value;
}

/* A value that no profile may demand, as drivers invent them, is as good as none. */
static struct rna_value allowed_value(struct make *make, const struct rna_profile_trait *trait,
				      struct rna_value value)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_schema_load load = {.arena = make->arena};
	struct rna_value taken = {0};

	for (size_t i = 0; rna_value_is_known(value) && i < rna_profile_device_rows.count; i++) {
		const struct rna_schema_row *row = &rna_profile_device_rows.rows[i];

		if (row->offset != trait->offset)
			continue;
		row->type->write(row, &value, &text);
		if (!text.data || rna_schema_take(&load, row, text.data, &taken) < 0)
			return (struct rna_value){0};
	}
	return taken;
}

static void take_subject(struct make *make, struct rna_profile_device *entry,
			 const struct rna_subject *subject, bool mixed[RNA_PROFILE_TRAITS])
{
	bool up = subject->port > 0 && rna_subject_is_active(subject);

	for (size_t i = 0; i < RNA_PROFILE_TRAITS; i++) {
		const struct rna_profile_trait *trait = &rna_profile_traits[i];
		bool of_device = trait->scope == RNA_PROFILE_TRAIT_OF_DEVICE;

		if (of_device == (subject->port == 0) &&
		    (trait->scope != RNA_PROFILE_TRAIT_OF_LINK || up))
			take_value((struct rna_value *)((char *)entry + trait->offset),
				   allowed_value(make, trait, trait->get(subject)), &mixed[i]);
	}
}

static void take_lid(struct rna_profile_device *entry, const struct rna_subject *port,
		     bool *without)
{
	if (!port->link || port->link_layer != RNA_LINK_LAYER_INFINIBAND)
		return;
	*without |= !rna_value_is_known(port->link->lid) || port->link->lid.number == 0;
	entry->lid = *without ? (struct rna_value){0} : rna_value_ok(1);
}

/* Of which the devices of an entry have several. */
struct mixed {
	bool firmware, driver;
};

/* Demanded if all have it. */
static void take_version(const char *version, const char **common, bool *mixed)
{
	*mixed |= !version || version[strcspn(version, " <>=")] || strlen(version) > 64 ||
		  (*common && !rna_same_text(*common, version));
	*common = *mixed ? NULL : version;
}

static void take_versions(struct rna_profile_device *entry, const struct rna_identity *identity,
			  struct mixed *mixed)
{
	take_version(identity ? identity->firmware_version : NULL, &entry->firmware,
		     &mixed->firmware);
	take_version(identity ? identity->driver_version : NULL, &entry->driver_version,
		     &mixed->driver);
}

static void add_text(struct make *make, const char *text, struct rna_profile_list *list)
{
	const char **items = (const char **)(uintptr_t)list->items;
	const char *quoted = text ? quote_glob(make, text) : NULL;

	for (size_t i = 0; quoted && i < list->count; i++)
		if (strcmp(items[i], quoted) == 0)
			return;
	if (!quoted || list->count == MODULE_TEXTS_MAX)
		return;
	if (!items)
		list->items = items = array_of(make, MODULE_TEXTS_MAX, sizeof(*items));
	if (items)
		items[list->count++] = quoted;
}

/*
 * All of them, as a proposal: which ones are approved is decided where they are bought, and the
 * next node may have others that are as good.
 */
static void take_modules(struct make *make, struct rna_profile_device *entry,
			 const struct rna_snapshot_device *device)
{
	const struct rna_modules *modules = rna_device_modules(device);

	for (size_t i = 0; modules && i < modules->count; i++) {
		add_text(make, modules->modules[i].vendor, &entry->module_vendors);
		add_text(make, modules->modules[i].part_number, &entry->module_part_numbers);
	}
}

/* All values of one device, or of all devices of the entry's model. */
static void fill_entry(struct make *make, const struct rna_snapshot_device *only,
		       struct rna_profile_device *entry, bool mixed[RNA_PROFILE_TRAITS])
{
	const struct rna_subject_list *devices = rna_view_devices(make->view);
	struct mixed versions = {0};
	bool without_lid = false;

	entry->count = entry->ports_up = rna_value_ok(0);
	RNA_EACH (device, devices->items, devices->count) {
		if (only ? only != device->device : !is_of(entry, device->device))
			continue;
		entry->count.number++;
		take_versions(entry, device->identity, &versions);
		take_modules(make, entry, device->device);
		take_subject(make, entry, device, mixed);
		RNA_EACH (port, device->ports, device->rdma_device->port_count) {
			take_subject(make, entry, port, mixed);
			if (!rna_subject_is_active(port))
				continue;
			entry->ports_up.number++;
			take_lid(entry, port, &without_lid);
		}
	}
}

static bool differ_in_links(const bool mixed[RNA_PROFILE_TRAITS])
{
	return RNA_ANY(i, RNA_PROFILE_TRAITS,
		       mixed[i] && rna_profile_traits[i].scope != RNA_PROFILE_TRAIT_OF_DEVICE);
}

/* What only single devices of the model have. */
static void add_single(struct make *make, const struct rna_snapshot_device *device)
{
	struct rna_profile_device own = {.name = device->device->name};
	bool ignored[RNA_PROFILE_TRAITS] = {0};

	if (make->count == RNA_PROFILE_DEVICES_MAX)
		return;
	fill_entry(make, device, &own, ignored);
	make->devices[make->count++] = own;
}

static void add_model(struct make *make, const struct rna_snapshot_device *first)
{
	struct rna_profile_device *entry = &make->devices[make->count];
	bool mixed[RNA_PROFILE_TRAITS] = {0};

	if (make->count == RNA_PROFILE_DEVICES_MAX)
		return;
	make->count++;
	entry->model = model_of(make, first->device->vendor_id, first->device->device_id);
	fill_entry(make, NULL, entry, mixed);
	for (size_t i = 0; differ_in_links(mixed) && i < make->snapshot->device_count; i++)
		if (is_of(entry, &make->snapshot->devices[i]))
			add_single(make, &make->snapshot->devices[i]);
}

static bool has_model(const struct make *make, const struct rna_snapshot_device *device)
{
	return RNA_ANY(i, make->count, is_of(&make->devices[i], device));
}

static void add_devices(struct make *make)
{
	RNA_EACH (device, make->snapshot->devices, make->snapshot->device_count)
		if (rna_device_is_nic(device->device) && device->device->vendor_id != 0 &&
		    !has_model(make, device))
			add_model(make, device);
}

int rna_profile_make(const struct rna_view *view, struct rna_arena *arena, struct rna_profile *ret)
{
	struct make make = {.view = view, .snapshot = view->snapshot, .arena = arena};
	struct rna_baseline_facts facts;

	*ret = (struct rna_profile){.draft = true};
	make.devices = array_of(&make, RNA_PROFILE_DEVICES_MAX, sizeof(*make.devices));
	if (!make.devices)
		return -ENOMEM;
	rna_baseline_facts_read(view->snapshot, &facts);
	ret->name = name_of(&make, &facts);
	add_match(&make, &facts, &ret->match);
	add_node(&make, &ret->node);
	add_devices(&make);
	ret->devices = make.devices;
	ret->device_count = make.count;
	return make.no_memory ? -ENOMEM : 0;
}
