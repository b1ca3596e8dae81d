// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about the profile of this node (agent/baseline): what must be there, and what is there.
 *
 * Each comparison adds what differs to a list; a rule makes one finding of the list of its object.
 * A shipped profile that the operator did not ask for is information: then all lists together are
 * one finding of severity info. What cannot be read is unknown and no difference.
 */
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "baseline/baseline.h"
#include "baseline/profile_traits.h"

#include "rules.h"

enum {
	TEXTS_MAX = 16, /* of one finding; further ones are counted */
	SUMMARY_MAX = 3,
	NAMES_MAX = 16,
};

/* What differs, in words. */
struct list {
	struct rna_strbuf text;
	size_t count;
	size_t most; /* texts */
	bool unknown;
	bool lacking; /* something is absent that must be there */
};

static void deinit_list(struct list *list)
{
	rna_strbuf_deinit(&list->text);
}

#define LIST RNA_CLEANUP(deinit_list) struct list

/* Begins a text: behind it the caller writes to list->text. False: there are enough. */
static bool begin(struct list *list)
{
	if (list->count++ >= list->most)
		return false;
	if (list->count > 1)
		rna_strbuf_puts(&list->text, "; ");
	return true;
}

static const struct rna_profile *profile_of(const struct rna_rule_input *in)
{
	return in->baseline ? in->baseline->profile : NULL;
}

static bool raises_findings(const struct rna_rule_input *in)
{
	return profile_of(in) && in->baseline->alarms;
}

/* -- A device ---------------------------------------------------------------------------------- */

static void compare_trait(const struct rna_profile_trait *trait,
			  const struct rna_profile_device *entry, const struct rna_subject *subject,
			  struct list *list)
{
	struct rna_value wanted = rna_profile_trait_wanted(trait, entry), is;

	if (!rna_value_is_known(wanted))
		return;
	is = trait->get(subject);
	if (!rna_value_is_known(is)) {
		list->unknown = true;
		return;
	}
	if (is.number == wanted.number || !begin(list))
		return;
	rna_strbuf_printf(&list->text, "%s is ", trait->what);
	trait->write(is.number, &list->text);
	rna_strbuf_puts(&list->text, ", expected ");
	trait->write(wanted.number, &list->text);
}

static void compare_traits(enum rna_profile_trait_scope scope,
			   const struct rna_profile_device *entry,
			   const struct rna_subject *subject, struct list *list)
{
	for (size_t i = 0; i < RNA_PROFILE_TRAITS; i++)
		if (rna_profile_traits[i].scope == scope)
			compare_trait(&rna_profile_traits[i], entry, subject, list);
}

static void compare_firmware(const struct rna_profile_device *entry,
			     const struct rna_subject *device, struct list *list)
{
	const char *version = device->identity ? device->identity->firmware_version : NULL;

	if (!entry->firmware)
		return;
	if (!version)
		list->unknown = true;
	else if (!rna_profile_version_fits(entry->firmware, version) && begin(list))
		rna_strbuf_printf(&list->text, "firmware is %.64s, expected %s", version,
				  entry->firmware);
}

/* A driver of the kernel has no version of its own: the package that was demanded is not loaded. */
static void compare_driver(const struct rna_rule_input *in, const struct rna_profile_device *entry,
			   const struct rna_subject *device, struct list *list)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(in->view->snapshot);
	const char *version = device->identity ? device->identity->driver_version : NULL;
	const char *driver = device->device->device->driver;

	if (!entry->driver_version)
		return;
	if (!device->identity || !driver) {
		list->unknown = true;
		return;
	}
	if (version && rna_profile_version_fits(entry->driver_version, version))
		return;
	if (!begin(list))
		return;
	if (version)
		rna_strbuf_printf(&list->text, "driver %s is version %.64s, expected %s", driver,
				  version, entry->driver_version);
	else
		rna_strbuf_printf(&list->text,
				  "driver %s has no version, as it is that of the kernel%s%s, "
				  "expected %s",
				  driver, readiness && readiness->kernel ? " " : "",
				  readiness && readiness->kernel ? readiness->kernel : "",
				  entry->driver_version);
}

/* What selects devices by name gets another card. */
static void compare_name(const struct rna_profile_device *entry, const struct rna_subject *device,
			 struct list *list)
{
	const char *name = device->device->device->name;

	if (entry->called && fnmatch(entry->called, name, 0) != 0 && begin(list))
		rna_strbuf_printf(&list->text, "%s is called %s, expected %s",
				  device->device->device->pci_address
					  ? device->device->device->pci_address
					  : "it",
				  name, entry->called);
}

static void compare_device(const struct rna_rule_input *in, const struct rna_profile_device *entry,
			   const struct rna_subject *device, struct list *list)
{
	compare_name(entry, device, list);
	compare_firmware(entry, device, list);
	compare_driver(in, entry, device, list);
	compare_traits(RNA_PROFILE_TRAIT_OF_DEVICE, entry, device, list);
}

/* -- A port ------------------------------------------------------------------------------------ */

static bool has_pkey(const struct rna_port_fabric *fabric, uint16_t wanted)
{
	const uint16_t full = 0x8000;

	return RNA_ANY(i, fabric->pkey_count,
		       fabric->pkeys[i].key == (wanted & ~full) &&
			       (fabric->pkeys[i].full || !(wanted & full)));
}

static void compare_pkeys(const struct rna_profile_device *entry, const struct rna_subject *port,
			  struct list *list)
{
	const uint16_t *wanted = entry->pkeys.items;

	if (entry->pkeys.count > 0 && (!port->fabric || !port->fabric->pkeys_known)) {
		list->unknown = true;
		return;
	}
	for (size_t i = 0; i < entry->pkeys.count; i++)
		if (!has_pkey(port->fabric, wanted[i]) && begin(list))
			rna_strbuf_printf(&list->text, "P_Key 0x%04x is missing", wanted[i]);
}

static void compare_lid(const struct rna_profile_device *entry, const struct rna_subject *port,
			struct list *list)
{
	if (!rna_value_is_known(entry->lid) || !entry->lid.number)
		return;
	if (!port->link || !rna_value_is_known(port->link->lid))
		list->unknown = true;
	else if (port->link->lid.number == 0 && begin(list))
		rna_strbuf_puts(&list->text, "no LID: the subnet manager has not configured it");
}

/* "module vendor is FS, expected Mellanox or NVIDIA" */
static void compare_module_text(const char *what, const char *text,
				const struct rna_profile_list *wanted, struct list *list)
{
	const char *const *globs = wanted->items;

	if (wanted->count == 0)
		return;
	if (!text) {
		list->unknown = true;
		return;
	}
	for (size_t i = 0; i < wanted->count; i++)
		if (fnmatch(globs[i], text, 0) == 0)
			return;
	if (!begin(list))
		return;
	rna_strbuf_printf(&list->text, "module %s is %.64s, expected ", what, text);
	for (size_t i = 0; i < wanted->count; i++)
		rna_strbuf_printf(&list->text, "%s%s", i == 0 ? "" : " or ", globs[i]);
}

/* Also of a port that is down: a module that does not belong there may be the reason. */
static void compare_port_modules(const struct rna_profile_device *entry,
				 const struct rna_subject *port, struct list *list)
{
	const struct rna_modules *modules = rna_device_modules(port->device);

	if (entry->module_vendors.count == 0 && entry->module_part_numbers.count == 0)
		return;
	list->unknown |= !modules || modules->denied;
	for (size_t i = 0; modules && i < modules->count; i++) {
		const struct rna_port_module *module = &modules->modules[i];

		if (module->port != port->port)
			continue;
		compare_module_text("vendor", module->vendor, &entry->module_vendors, list);
		compare_module_text("part number", module->part_number, &entry->module_part_numbers,
				    list);
	}
}

static void compare_port(const struct rna_profile_device *entry, const struct rna_subject *port,
			 struct list *list)
{
	compare_traits(RNA_PROFILE_TRAIT_OF_PORT, entry, port, list);
	compare_port_modules(entry, port, list);
	if (!rna_subject_is_active(port))
		return;
	compare_traits(RNA_PROFILE_TRAIT_OF_LINK, entry, port, list);
	if (port->link_layer != RNA_LINK_LAYER_INFINIBAND)
		return;
	compare_pkeys(entry, port, list);
	compare_lid(entry, port, list);
}

/* -- Their entries ----------------------------------------------------------------------------- */

static uint64_t entries_of(const struct rna_rule_input *in, const struct rna_subject *subject)
{
	return in->baseline->entries[subject->device - in->view->snapshot->devices];
}

/* A device as a whole, or one of its ports, with all entries that mean it. */
static void compare_subject(const struct rna_rule_input *in, const struct rna_subject *subject,
			    struct list *list)
{
	uint64_t entries = entries_of(in, subject);

	for (; entries; entries &= entries - 1) {
		const struct rna_profile_device *entry =
			&in->baseline->profile->devices[__builtin_ctzll(entries)];

		if (subject->port == 0)
			compare_device(in, entry, subject, list);
		else if (subject->judged)
			compare_port(entry, subject, list);
	}
}

/* -- How many there are ------------------------------------------------------------------------ */

/* The devices and ports of one entry. */
struct tally {
	size_t devices, ports_up, ports_unknown, elsewhere, excluded;
	struct rna_strbuf present, down, absent; /* names; absent: PCI addresses */
	size_t present_count, down_count, absent_count;
};

static void deinit_tally(struct tally *tally)
{
	rna_strbuf_deinit(&tally->present);
	rna_strbuf_deinit(&tally->down);
	rna_strbuf_deinit(&tally->absent);
}

static void add_name(struct rna_strbuf *names, size_t *count, const char *format, ...)
	RNA_PRINTF(3, 4);

static void add_name(struct rna_strbuf *names, size_t *count, const char *format, ...)
{
	char name[80];
	va_list args;

	if (++*count > NAMES_MAX)
		return;
	va_start(args, format);
	(void)vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	rna_strbuf_printf(names, "%s%s%s", *count > 1 ? ", " : "", name,
			  *count == NAMES_MAX ? " and others" : "");
}

static void count_subject(const struct rna_subject *subject, struct tally *tally)
{
	const char *name = subject->device->device->name;

	if (subject->port == 0) {
		tally->devices++;
		add_name(&tally->present, &tally->present_count, "%s", name);
	} else if (rna_subject_is_active(subject)) {
		tally->ports_up++;
	} else if (!rna_subject_state_is_known(subject)) {
		tally->ports_unknown++;
	} else {
		add_name(&tally->down, &tally->down_count, "%s/%u", name, subject->port);
	}
}

/* Is it one of the functions that the entry means? It has no device name. */
static bool means_nic(const struct rna_profile_device *entry, const struct rna_nic *nic,
		      const struct rna_pci_object *object)
{
	if (entry->model.vendor_id == 0 ||
	    !rna_profile_model_fits(&entry->model, object->vendor_id, object->device_id, NULL))
		return false;
	if (!entry->name || fnmatch(entry->name, object->address, 0) == 0)
		return true;
	return RNA_ANY(i, nic->netdev_count, fnmatch(entry->name, nic->netdevs[i], 0) == 0);
}

static void find_bare(const struct rna_topology *topology, const struct rna_profile_device *entry,
		      struct tally *tally)
{
	for (size_t i = 0; topology && i < topology->nic_count; i++) {
		const struct rna_nic *nic = &topology->nics[i];
		const struct rna_pci_object *object = &topology->objects[nic->object];

		if (nic->device_count == 0 && !nic->switch_management &&
		    means_nic(entry, nic, object))
			add_name(&tally->absent, &tally->absent_count, "%s", object->address);
	}
}

/* Devices in another network namespace are there: a container uses them. */
static void find_moved(const struct rna_rule_input *in, const struct rna_profile_device *entry,
		       struct tally *tally)
{
	RNA_EACH (missing, in->view->missing, in->view->missing_count) {
		if (entry->name && fnmatch(entry->name, missing->name, 0) != 0 &&
		    (!missing->pci_address || fnmatch(entry->name, missing->pci_address, 0) != 0))
			continue;
		if (missing->whereabouts == RNA_WHEREABOUTS_MOVED)
			tally->elsewhere++;
		else if (missing->whereabouts == RNA_WHEREABOUTS_LOST && missing->pci_address)
			add_name(&tally->absent, &tally->absent_count, "%s at %s", missing->name,
				 missing->pci_address);
	}
}

static void count_entry(const struct rna_rule_input *in, size_t entry, struct tally *tally)
{
	const struct rna_snapshot *snapshot = in->view->snapshot;
	const struct rna_presence *presence = rna_snapshot_presence(snapshot);

	RNA_EACH (device, in->devices->items, in->devices->count) {
		if (!(entries_of(in, device) & UINT64_C(1) << entry))
			continue;
		count_subject(device, tally);
		for (size_t p = 0; p < device->rdma_device->port_count; p++)
			count_subject(&device->ports[p], tally);
	}
	tally->excluded = presence ? presence->excluded_count : 0;
}

/* "MT4129 mlx5_*" */
static void write_entry(const struct rna_profile_device *entry, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%s%s%s", entry->model.text ? entry->model.text : "",
			  entry->model.text && entry->name ? " " : "",
			  entry->name ? entry->name : "");
}

/* Fewer than wanted is a fault, unless the others may be there. */
static bool may_be_enough(const struct rna_rule_input *in, size_t entry, const struct tally *tally,
			  uint64_t there, uint64_t wanted)
{
	return (in->baseline->vague & UINT64_C(1) << entry) ||
	       !rna_snapshot_presence(in->view->snapshot) ||
	       there + tally->elsewhere + tally->excluded >= wanted;
}

static void compare_count(const struct rna_rule_input *in, size_t index, struct tally *tally,
			  struct list *list)
{
	const struct rna_profile_device *entry = &in->baseline->profile->devices[index];
	uint64_t wanted = rna_value_is_known(entry->count) ? entry->count.number : 1;

	if (tally->devices < wanted && may_be_enough(in, index, tally, tally->devices, wanted)) {
		list->unknown = true;
		return;
	}
	if (rna_value_is_known(entry->count) ? tally->devices == wanted : tally->devices > 0)
		return;
	list->lacking |= tally->devices < wanted && rna_value_is_known(entry->count);
	if (!begin(list))
		return;
	find_bare(rna_snapshot_topology(in->view->snapshot), entry, tally);
	rna_strbuf_printf(&list->text, "%zu RDMA device%s ", tally->devices,
			  tally->devices == 1 ? "" : "s");
	write_entry(entry, &list->text);
	rna_strbuf_printf(&list->text, ", expected %s%ju",
			  rna_value_is_known(entry->count) ? "" : "at least ", (uintmax_t)wanted);
	if (tally->present_count > 0)
		rna_strbuf_printf(&list->text, " (present: %s)", tally->present.data);
	if (tally->absent_count > 0)
		rna_strbuf_printf(&list->text, " (absent: %s)", tally->absent.data);
}

static void compare_ports_up(const struct rna_rule_input *in, size_t index,
			     const struct tally *tally, struct list *list)
{
	const struct rna_profile_device *entry = &in->baseline->profile->devices[index];
	uint64_t wanted = entry->ports_up.number;

	if (!rna_value_is_known(entry->ports_up) || tally->ports_up >= wanted)
		return;
	if (may_be_enough(in, index, tally, tally->ports_up + tally->ports_unknown, wanted)) {
		list->unknown = true;
		return;
	}
	list->lacking = true;
	if (!begin(list))
		return;
	rna_strbuf_printf(&list->text, "%zu port%s up of ", tally->ports_up,
			  tally->ports_up == 1 ? "" : "s");
	write_entry(entry, &list->text);
	rna_strbuf_printf(&list->text, ", expected %ju", (uintmax_t)wanted);
	if (tally->down_count > 0)
		rna_strbuf_printf(&list->text, " (down: %s)", tally->down.data);
}

/* O(entries * ports), and a profile has 64 entries at most. */
static void compare_counts(const struct rna_rule_input *in, struct list *list)
{
	for (size_t i = 0; i < in->baseline->profile->device_count; i++) {
		RNA_CLEANUP(deinit_tally) struct tally tally = {0};

		count_entry(in, i, &tally);
		find_moved(in, &in->baseline->profile->devices[i], &tally);
		compare_count(in, i, &tally, list);
		compare_ports_up(in, i, &tally, list);
	}
}

/* -- The node ---------------------------------------------------------------------------------- */

static void compare_gpus(const struct rna_profile_node *node, const struct rna_topology *topology,
			 struct list *list)
{
	if (!rna_value_is_known(node->gpus))
		return;
	if (!topology) {
		list->unknown = true;
		return;
	}
	if (topology->gpu_count == node->gpus.number)
		return;
	list->lacking |= topology->gpu_count < node->gpus.number;
	if (begin(list))
		rna_strbuf_printf(&list->text, "%zu GPU%s, expected %ju", topology->gpu_count,
				  topology->gpu_count == 1 ? "" : "s",
				  (uintmax_t)node->gpus.number);
}

static void compare_gpus_per_nic(const struct rna_profile_node *node,
				 const struct rna_topology *topology, struct list *list)
{
	RNA_FREE unsigned *counts = NULL;
	size_t odd = 0, first = 0;

	if (!rna_value_is_known(node->gpus_per_nic))
		return;
	counts = topology ? calloc(topology->nic_count + 1, sizeof(*counts)) : NULL;
	if (!counts) {
		list->unknown = true;
		return;
	}
	for (size_t i = 0; i < topology->gpu_count; i++)
		if (topology->affinities[i].nic >= 0)
			counts[topology->affinities[i].nic]++;
	for (size_t i = topology->nic_count; i-- > 0;)
		if (counts[i] > 0 && counts[i] != node->gpus_per_nic.number) {
			first = i;
			odd++;
		}
	if (odd > 0 && begin(list))
		rna_strbuf_printf(&list->text, "the NIC at %s serves %u GPU%s%s, expected %ju",
				  topology->objects[topology->nics[first].object].address,
				  counts[first], counts[first] == 1 ? "" : "s",
				  odd > 1 ? ", as do others" : "",
				  (uintmax_t)node->gpus_per_nic.number);
}

static bool is_loaded(const struct rna_readiness *readiness, const char *name, size_t len)
{
	for (size_t i = 0; i < readiness->module_count; i++)
		if (strlen(readiness->modules[i].name) == len &&
		    strncmp(readiness->modules[i].name, name, len) == 0)
			return readiness->modules[i].loaded;
	return false;
}

static bool is_any_loaded(const struct rna_readiness *readiness, const char *names)
{
	for (const char *name = names;; name++) {
		size_t len = strcspn(name, "|");

		if (is_loaded(readiness, name, len))
			return true;
		name += len;
		if (*name == '\0')
			return false;
	}
}

static void compare_modules(const struct rna_profile_node *node,
			    const struct rna_readiness *readiness, struct list *list)
{
	const char *const *wanted = node->modules.items;

	if (node->modules.count > 0 && (!readiness || readiness->module_count == 0)) {
		list->unknown = true;
		return;
	}
	for (size_t i = 0; i < node->modules.count; i++)
		if (!is_any_loaded(readiness, wanted[i]) && begin(list))
			rna_strbuf_printf(&list->text, "module %s is not loaded", wanted[i]);
}

static void compare_acs(const struct rna_rule_input *in, const struct rna_profile_node *node,
			struct list *list)
{
	const struct rna_pcie_hop *hop = NULL;
	const struct rna_snapshot_device *below = NULL;
	struct rna_value acs;

	if (!rna_value_is_known(node->acs))
		return;
	acs = rna_profile_acs(in->view->snapshot, &hop, &below);
	if (!rna_value_is_known(acs)) {
		list->unknown = true;
		return;
	}
	if (acs.number == node->acs.number || !begin(list))
		return;
	if (hop)
		rna_strbuf_printf(&list->text, "ACS redirects at %s above %s, expected off",
				  hop->address, below->device->name);
	else
		rna_strbuf_puts(&list->text, "ACS redirects at no switch port, expected on");
}

static void compare_iommu(const struct rna_rule_input *in, const struct rna_profile_node *node,
			  struct list *list)
{
	struct rna_value iommu = rna_profile_iommu(in->view->snapshot);

	if (!rna_value_is_known(node->iommu))
		return;
	if (!rna_value_is_known(iommu))
		list->unknown = true;
	else if (iommu.number != node->iommu.number && begin(list))
		rna_strbuf_printf(&list->text, "the IOMMU translates addresses of %s, expected %s",
				  iommu.number ? "NICs or GPUs" : "no NIC and no GPU",
				  iommu.number ? "off" : "on");
}

static void compare_governors(const struct rna_profile_node *node,
			      const struct rna_readiness *readiness, struct list *list)
{
	size_t count = readiness ? readiness->cpu_frequency.governor_count : 0;

	if (!node->cpu_governor)
		return;
	list->unknown |= count == 0;
	for (size_t i = 0; i < count; i++) {
		const char *name = readiness->cpu_frequency.governors[i].name;

		if (fnmatch(node->cpu_governor, name, 0) == 0)
			continue;
		if (begin(list))
			rna_strbuf_printf(&list->text, "CPUs have the governor %s, expected %s",
					  name, node->cpu_governor);
		return;
	}
}

static void compare_node(const struct rna_rule_input *in, struct list *list)
{
	const struct rna_profile_node *node = &in->baseline->profile->node;
	const struct rna_topology *topology = rna_snapshot_topology(in->view->snapshot);

	compare_gpus(node, topology, list);
	compare_gpus_per_nic(node, topology, list);
	compare_modules(node, rna_snapshot_readiness(in->view->snapshot), list);
	compare_acs(in, node, list);
	compare_iommu(in, node, list);
	compare_governors(node, rna_snapshot_readiness(in->view->snapshot), list);
}

/* -- The rules --------------------------------------------------------------------------------- */

/* False: the rule has nothing to compare. What is not decided keeps earlier findings. */
static bool applies(const struct rna_rule_input *in, struct rna_finds *out)
{
	if (in->baseline && in->baseline->unknown)
		rna_finds_add_unknown(out);
	return raises_findings(in);
}

/* NULL: nothing differs. */
static struct rna_finding *report(const struct rna_rule_input *in, const struct list *list,
				  struct rna_finds *out)
{
	if (list->count == 0 || !rna_strbuf_ok(&list->text)) {
		if (list->unknown)
			rna_finds_add_unknown(out);
		return NULL;
	}
	return rna_finds_add(out, "profile %s: %s%s", in->baseline->profile->name, list->text.data,
			     list->count > list->most ? "; and more" : "");
}

/* Names of objects are in front of what differs there. */
static void sum_up_subject(const struct rna_rule_input *in, const struct rna_subject *subject,
			   struct list *list)
{
	LIST own = {.most = 1};
	const char *name = subject->device->device->name;

	compare_subject(in, subject, &own);
	if (own.count == 0)
		return;
	list->count += own.count - 1;
	if (!begin(list))
		return;
	rna_strbuf_puts(&list->text, name);
	if (subject->port > 0)
		rna_strbuf_printf(&list->text, "/%u", subject->port);
	rna_strbuf_printf(&list->text, ": %s", own.text.data ? own.text.data : "");
}

static void sum_up(const struct rna_rule_input *in, struct rna_finds *out)
{
	LIST list = {.most = SUMMARY_MAX};
	struct rna_finding *found;

	compare_node(in, &list);
	compare_counts(in, &list);
	RNA_EACH (device, in->devices->items, in->devices->count) {
		sum_up_subject(in, device, &list);
		for (size_t p = 0; p < device->rdma_device->port_count; p++)
			sum_up_subject(in, &device->ports[p], &list);
	}
	if (list.count == 0 || !rna_strbuf_ok(&list.text))
		return;
	found = rna_finds_add(out, "differs in %zu place%s from the shipped profile %s: %s%s",
			      list.count, list.count == 1 ? "" : "s", in->baseline->profile->name,
			      list.text.data ? list.text.data : "",
			      list.count > list.most ? "; and more" : "");
	found->severity = RNA_SEVERITY_INFO;
	found->remedy =
		"No action required. Set expect.profile to auto if this node should be like "
		"the profile, or to a file of your own (rdma-node-agent expect profile).";
}

static void check_profile_unusable(const struct rna_rule_input *in, struct rna_finds *out)
{
	struct rna_finding *found;

	if (in->baseline && in->baseline->unknown)
		rna_finds_add_unknown(out);
	if (!in->baseline || !in->baseline->problem || !in->baseline->alarms)
		return;
	found = rna_finds_add(out, "no profile is used: %s", in->baseline->problem);
	if (in->baseline->shipped && !in->baseline->invalid)
		found->severity = RNA_SEVERITY_INFO;
}

const struct rna_rule rna_rule_profile_unusable = {
	RNA_RULE_ROW("profile-unusable", NODE, WARNING, AGENT, HOST, NOT_OBSERVED),
	.hold = "1m",
	.help = "The file that expect.profile names cannot be used, or none of its profiles "
		"fits this node, or several do. The agent continues without a profile. "
		"Severity info if expect.profile is auto and no profile of the program "
		"fits.",
	.check = check_profile_unusable,
	.remedy = "Run: rdma-node-agent check-config. To write a profile for this node, "
		  "run: rdma-node-agent expect profile.",
	.message_id = "ab5b2492b9094200ba0ecbcd234b34ee",
};

static void check_profile_node(const struct rna_rule_input *in, struct rna_finds *out)
{
	LIST list = {.most = TEXTS_MAX};

	if (profile_of(in) && !in->baseline->alarms) {
		sum_up(in, out);
		return;
	}
	if (!applies(in, out))
		return;
	compare_node(in, &list);
	(void)report(in, &list, out);
}

const struct rna_rule rna_rule_profile_node = {
	RNA_RULE_ROW("profile-node", NODE, WARNING, HOST, HOST, NOT_READY),
	.settles = true,
	.hold = "1m",
	.help = "GPUs, kernel modules, ACS, the IOMMU or CPU governors differ from the "
		"profile of this node. Severity info, for all differences of the node "
		"together, if the profile is one of the program and expect.profile is "
		"empty.",
	.check = check_profile_node,
	.remedy = "Compare the node with others of its kind, and repair it. If the profile "
		  "is wrong, correct the file of expect.profile.",
	.message_id = "c3f6a0a697ea491db94e673e0209cca8",
};

/* A device that is there but was not asked for is no fault of the node. */
static void check_profile_count(const struct rna_rule_input *in, struct rna_finds *out)
{
	LIST list = {.most = TEXTS_MAX};
	struct rna_finding *found;

	if (!applies(in, out))
		return;
	compare_counts(in, &list);
	found = report(in, &list, out);
	if (found && !list.lacking)
		found->severity = RNA_SEVERITY_WARNING;
}

const struct rna_rule rna_rule_profile_count = {
	RNA_RULE_ROW("profile-count", NODE, CRITICAL, RAIL_LOST, CARD, DEVICE_MISSING),
	.settles = true,
	.hold = "1m",
	.help = "There are fewer RDMA devices, or fewer ports that are up, than the profile "
		"of this node demands. Severity warning if there are more devices, or if "
		"no device is meant by an entry without a number.",
	.check = check_profile_count,
	.remedy = "Look for the absent PCI functions with lspci and for the reason in the "
		  "kernel log; see the findings about ports that are down. If the profile is "
		  "wrong, correct the file of expect.profile.",
	.message_id = "a3a8ba2b44604e249c1145eb16e845d2",
};

static void check_subject(const struct rna_rule_input *in, struct rna_finds *out)
{
	LIST list = {.most = TEXTS_MAX};

	if (!in->subject || !applies(in, out))
		return;
	compare_subject(in, in->subject, &list);
	(void)report(in, &list, out);
}

static void check_profile_device(const struct rna_rule_input *in, struct rna_finds *out)
{
	check_subject(in, out);
}

const struct rna_rule rna_rule_profile_device = {
	RNA_RULE_ROW("profile-device", DEVICE, WARNING, RAIL_SLOW, CARD, LINK_DEGRADED),
	.settles = true,
	.hold = "6m", /* as pcie-degraded */
	.help = "Name, firmware, PCIe link, MaxReadReq or the number of virtual functions of a "
		"device differ from the profile of this node.",
	.check = check_profile_device,
	.remedy = "Compare {device} with its siblings: rdma-node-agent status, and lspci "
		  "-vv -s {pci}. If its firmware differs, {update}. If the profile "
		  "is wrong, correct the file of expect.profile.",
	.message_id = "c407ec6982c042f999a2eefff445c741",
};

static void check_profile_port(const struct rna_rule_input *in, struct rna_finds *out)
{
	check_subject(in, out);
}

const struct rna_rule rna_rule_profile_port = {
	RNA_RULE_ROW("profile-port", PORT, WARNING, RAIL_SLOW, CABLE, LINK_DEGRADED),
	.settles = true,
	.hold = "30s",
	.help = "Link layer, rate, number of lanes, MTU, P_Keys or LID of a port differ "
		"from the profile of this node. A port that is down is compared by link "
		"layer and by the MTU of its interface only.",
	.check = check_profile_port,
	.remedy = "Compare {object} with its siblings: rdma-node-agent status. Check the speed of "
		  "both ends and the MTU of {interface}{partitions}. If the profile is wrong, "
		  "correct the file of expect.profile.",
	.message_id = "3ed792b4cd7d4c1b88eb71c64458ab3e",
};
