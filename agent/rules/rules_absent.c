// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about RDMA devices that a node ought to have by its own facts: no memory and no profile is
 * needed. Functions of one model are compared, those in the same place on their cards: a function
 * without an RDMA device is convicted by the others that have one, or by its place beside a GPU.
 *
 * There is no finding for what an administrator decided, or another finding reports: functions that
 * are assigned to virtual machines or to user space, members of a LAG, functions whose RDMA was
 * turned off (info), devices in other network namespaces, what the settings exclude, and devices
 * that the agent remembers (device-missing).
 */
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/driver.h"

#include "absence.h"
#include "remedy.h"
#include "rules.h"

enum {
	CLASS_ETHERNET = 0x0200,

	MODELS_MAX = 64,   /* functions of further ones are not judged */
	NAMED_MAX = 3,     /* siblings, or functions, that a text names */
	SIBLINGS_SURE = 2, /* so many convict for certain */
};

/* -- One function ------------------------------------------------------------------------------ */

static const struct rna_pci_object *object_of(const struct rna_topology *topology,
					      const struct rna_nic *nic)
{
	return &topology->objects[nic->object];
}

/* Is it of a data centre? A display controller may be a workstation card. */
static bool is_accelerator(const struct rna_topology *topology, size_t gpu)
{
	enum { DISPLAY_CONTROLLER = 0x0300 };

	return topology->objects[topology->gpus[gpu].object].class_id != DISPLAY_CONTROLLER;
}

/* NULL: no driver is known that makes RDMA devices of it. Slingshot has a library instead. */
static const struct rna_driver *driver_of(const struct rna_topology *topology,
					  const struct rna_nic *nic)
{
	const struct rna_pci_object *object = object_of(topology, nic);

	return rna_driver_of(nic->driver, object->vendor_id, object->device_id);
}

/* "0" of "0000:3b:00.0": functions are numbered alike on cards of one model. */
static const char *function_of(const char *address)
{
	const char *dot = strrchr(address, '.');

	return dot ? dot + 1 : "";
}

/*
 * Drivers that hand the function to a virtual machine or to user space: vfio-pci and its variants
 * (mlx5_vfio_pci), uio_pci_generic, igb_uio, pci-stub, xen-pciback.
 */
static bool is_handed_over(const struct rna_nic *nic)
{
	static const char *const parts[] = {"vfio", "uio", "pci-stub", "pciback"};

	return RNA_ANY(i, nic->driver ? RNA_ARRAY_SIZE(parts) : 0, strstr(nic->driver, parts[i]));
}

static struct rna_value netns_exclusive(const struct rna_rule_input *in)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(in->view->snapshot);

	return readiness ? readiness->netns_exclusive : (struct rna_value){0};
}

/* Where devices are shared by all namespaces, none is hidden. */
static bool is_hidden(const struct rna_rule_input *in, const struct rna_nic *nic)
{
	struct rna_value exclusive = netns_exclusive(in);
	bool known = rna_value_is_known(exclusive);

	if (nic->rdma == RNA_NIC_RDMA_HIDDEN)
		return !known || exclusive.number;
	return nic->rdma == RNA_NIC_RDMA_EMPTY && known && exclusive.number;
}

/* Has the function no RDMA device, and no reason that excuses it? OFF is up to the caller. */
static bool lacks_device(const struct rna_rule_input *in, const struct rna_nic *nic)
{
	switch (nic->rdma) {
	case RNA_NIC_RDMA_HIDDEN:
	case RNA_NIC_RDMA_EMPTY:
	case RNA_NIC_RDMA_OFF:
	case RNA_NIC_RDMA_UNBOUND:
	case RNA_NIC_RDMA_NONE:
		return !nic->switch_management && !is_handed_over(nic) && !is_hidden(in, nic);
	default:
		return false;
	}
}

/* The topology that tells of every device; NULL: it cannot be told which functions have none. */
static const struct rna_topology *topology_of(const struct rna_rule_input *in)
{
	const struct rna_presence *presence = rna_snapshot_presence(in->view->snapshot);

	return presence && !presence->problem ? rna_snapshot_topology(in->view->snapshot) : NULL;
}

/* -- Devices that the agent remembers ---------------------------------------------------------- */

struct remembered {
	size_t count;
	const char **addresses; /* sorted; in the arena of the view */
};

static void list_remembered(const struct rna_rule_input *in, struct rna_arena *arena,
			    struct remembered *ret)
{
	const struct rna_view *view = in->view;

	if (view->missing_count > 0)
		ret->addresses =
			rna_arena_array(arena, view->missing_count, sizeof(*ret->addresses));
	for (size_t i = 0; ret->addresses && i < view->missing_count; i++)
		if (view->missing[i].pci_address)
			ret->addresses[ret->count++] = view->missing[i].pci_address;
	if (ret->count > 0)
		qsort(ret->addresses, ret->count, sizeof(*ret->addresses), rna_compare_text_items);
}

static bool is_remembered(const struct remembered *remembered, const char *address)
{
	return remembered->count > 0 &&
	       bsearch(&address, remembered->addresses, remembered->count,
		       sizeof(*remembered->addresses), rna_compare_text_items);
}

/* -- Models ------------------------------------------------------------------------------------ */

/* The functions in one place on cards of one model. */
struct model {
	const struct rna_pci_object *object; /* of the first */
	uint32_t subsystem;                  /* 0: not known of any of them */
	size_t with, without;                /* an RDMA device */
	const char *driver;                  /* of those with one */
	const char *named[NAMED_MAX];
};

struct models {
	const struct rna_topology *topology;
	size_t count;
	struct model items[MODELS_MAX];
};

/* Boards are compared if both are known. */
static bool is_of_model(const struct model *model, const struct rna_pci_object *object,
			const struct rna_nic *nic)
{
	return model->object->vendor_id == object->vendor_id &&
	       model->object->device_id == object->device_id &&
	       model->object->class_id == object->class_id &&
	       (!model->subsystem || !nic->subsystem || model->subsystem == nic->subsystem) &&
	       strcmp(function_of(model->object->address), function_of(object->address)) == 0;
}

/* NULL: there are too many models. */
static struct model *model_of(struct models *models, const struct rna_nic *nic)
{
	const struct rna_pci_object *object = object_of(models->topology, nic);

	for (size_t i = 0; i < models->count; i++) {
		struct model *model = &models->items[i];

		if (!is_of_model(model, object, nic))
			continue;
		model->subsystem = model->subsystem ? model->subsystem : nic->subsystem;
		return model;
	}
	if (models->count == MODELS_MAX)
		return NULL;
	models->items[models->count] =
		(struct model){.object = object, .subsystem = nic->subsystem};
	return &models->items[models->count++];
}

static void list_models(const struct rna_rule_input *in, struct models *models)
{
	RNA_EACH (nic, models->topology->nics, models->topology->nic_count) {
		bool present = nic->rdma == RNA_NIC_RDMA_PRESENT && !nic->switch_management;
		struct model *model =
			present || lacks_device(in, nic) ? model_of(models, nic) : NULL;

		if (!model)
			continue;
		model->without += !present;
		if (!present)
			continue;
		model->driver = nic->driver ? nic->driver : model->driver;
		if (model->with < NAMED_MAX && nic->device_count > 0)
			model->named[model->with] = nic->devices[0];
		model->with++;
	}
}

/* "mlx5_0, mlx5_3, mlx5_4 and 4 others" */
static const char *name_siblings(const struct model *model, struct rna_arena *arena)
{
	const char *text = "";
	size_t named = model->with < NAMED_MAX ? model->with : NAMED_MAX;

	for (size_t i = 0; text && i < named; i++)
		text = rna_arena_printf(arena, "%s%s%s", text, i > 0 ? ", " : "",
					model->named[i] ? model->named[i] : "?");
	if (text && model->with > named)
		text = rna_arena_printf(arena, "%s and %zu other%s", text, model->with - named,
					model->with - named == 1 ? "" : "s");
	return text ? text : "?";
}

/* -- Why there is none ------------------------------------------------------------------------- */

/* The module that is not loaded and would bind to the function, or make its device. NULL: none. */
static const char *missing_module(const struct rna_rule_input *in,
				  const struct rna_topology *topology, const struct rna_nic *nic)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(in->view->snapshot);
	const struct rna_driver *driver = driver_of(topology, nic);
	const char *module = NULL;
	struct rna_value loaded;

	if (driver)
		module = nic->driver ? driver->rdma : driver->name;
	if (!module)
		return NULL;
	loaded = rna_module_loaded(readiness, module);
	return rna_value_is_known(loaded) && loaded.number == 0 ? module : NULL;
}

/* Is the module that makes its device loaded? Then modprobe does nothing. */
static bool has_module(const struct rna_rule_input *in, const struct rna_topology *topology,
		       const struct rna_nic *nic)
{
	const struct rna_driver *driver = driver_of(topology, nic);

	return driver &&
	       rna_module_loaded(rna_snapshot_readiness(in->view->snapshot), driver->rdma).number >
		       0;
}

/* "module mlx5_ib is loaded and made no device ..."; is_about_its_module() looks for this. */
static const char *say_no_device(const struct rna_topology *topology, const struct rna_nic *nic,
				 struct rna_arena *arena)
{
	const char *text = rna_arena_printf(
		arena, "module %s is loaded and made no device: its probe may have failed",
		driver_of(topology, nic)->rdma);

	return text ? text : "its RDMA driver is not bound";
}

/* A module that is loaded does not bind to a function whose probe failed. */
static const char *say_unbound(const struct rna_rule_input *in, const struct rna_topology *topology,
			       const struct rna_nic *nic, struct rna_arena *arena)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(in->view->snapshot);
	const struct rna_driver *driver = driver_of(topology, nic);
	const char *text = NULL;

	if (driver && rna_module_loaded(readiness, driver->name).number > 0)
		text = rna_arena_printf(arena,
					"module %s is loaded and not bound to it: its probe may "
					"have failed",
					driver->name);
	return text ? text : "no driver is bound to it";
}

const char *rna_absence_text(const struct rna_rule_input *in, const char *module,
			     struct rna_arena *arena)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(in->view->snapshot);
	const struct rna_module *known = rna_module_find(readiness, module);
	const char *text;

	if (known && known->blacklist)
		text = rna_arena_printf(arena, "module %s is not loaded: %s blacklists it", module,
					known->blacklist);
	else if (known && rna_value_is_known(known->installed) && !known->installed.number)
		text = rna_arena_printf(arena,
					"module %s is not loaded: there is none for this kernel "
					"(%s)",
					module, readiness->kernel);
	else
		text = rna_arena_printf(arena, "module %s is not loaded", module);
	return text ? text : "its module is not loaded";
}

const char *rna_absence_remedy(const struct rna_rule_input *in, const char *module,
			       struct rna_arena *arena)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(in->view->snapshot);
	const struct rna_module *known = rna_module_find(readiness, module);
	const char *text;

	if (known && known->blacklist && strcmp(known->blacklist, "/proc/cmdline") == 0)
		text = rna_arena_printf(arena,
					"Take %s out of module_blacklist= or modprobe.blacklist= "
					"on the command line of the kernel (boot loader), and "
					"reboot. ",
					module);
	else if (known && known->blacklist)
		text = rna_arena_printf(arena,
					"Remove the line about %s from %s, make the initramfs anew "
					"if it has that file, and run: modprobe %s. ",
					module, known->blacklist, module);
	else if (known && rna_value_is_known(known->installed) && !known->installed.number)
		text = rna_arena_printf(arena,
					"Install the package that has %s for kernel %s, or build "
					"it (dkms autoinstall -k %s); then run: depmod -a; "
					"modprobe %s. ",
					module, readiness->kernel, readiness->kernel, module);
	else
		text = rna_arena_printf(
			arena,
			"Run: modprobe %s. If it is not found, or its symbols disagree, install "
			"the package that has it for this kernel. If it loads and is missing again "
			"after a boot, search for it in /etc/modprobe.d and /proc/cmdline: it may "
			"be blacklisted. ",
			module);
	return text ? text : "";
}

/* What the kernel tells of the reason, and what to do. */
static const char *explain(const struct rna_rule_input *in, const struct rna_topology *topology,
			   const struct rna_nic *nic, struct rna_arena *arena,
			   const char **ret_remedy)
{
	const char *module = missing_module(in, topology, nic);
	const struct rna_driver *driver = driver_of(topology, nic);

	*ret_remedy = "Search the kernel log for {pci}: the firmware of the card may have failed. "
		      "Then {cycle}. If it is not meant to have an RDMA device, add {pci} to "
		      "devices.exclude.";
	if (nic->rdma == RNA_NIC_RDMA_OFF) {
		*ret_remedy = "No action required if this is intended. To use RDMA on it, run: "
			      "devlink dev param set pci/{pci} name enable_rdma value true cmode "
			      "driverinit, then: devlink dev reload pci/{pci}.";
		return "its driver runs Ethernet only (devlink parameter enable_rdma)";
	}
	if (module) {
		*ret_remedy = rna_arena_printf(
			arena, "%sIf {pci} is not meant to have one, add it to devices.exclude.",
			rna_absence_remedy(in, module, arena));
		return rna_absence_text(in, module, arena);
	}
	if (!nic->driver)
		return say_unbound(in, topology, nic, arena);
	if (has_module(in, topology, nic) && strcmp(driver->name, driver->rdma) != 0 &&
	    (nic->rdma == RNA_NIC_RDMA_UNBOUND || nic->netdev_count > 0)) {
		*ret_remedy = rna_arena_printf(
			arena,
			"Search the kernel log for {pci} and %s: the probe of that driver may have "
			"failed. If {pci} is not meant to have one, add it to devices.exclude.",
			driver->rdma);
		return say_no_device(topology, nic, arena);
	}
	if (nic->rdma == RNA_NIC_RDMA_UNBOUND) {
		*ret_remedy = rna_arena_printf(
			arena,
			"Run: modprobe %s, and search the kernel log for {pci}: the probe of that "
			"driver may have failed.",
			driver ? driver->rdma : "with the RDMA driver of this card");
		return "its RDMA driver is not bound";
	}
	return nic->netdev_count > 0 ? "its driver made only a network interface"
				     : "its driver made neither an RDMA device nor a network "
				       "interface";
}

const char *rna_absence_module(const struct rna_rule_input *in, const char *address)
{
	const struct rna_topology *topology = topology_of(in);
	const struct rna_nic *nic = rna_topology_nic_at(topology, address);

	return nic && lacks_device(in, nic) ? missing_module(in, topology, nic) : NULL;
}

/* -- Functions without a device ---------------------------------------------------------------- */

static const char *describe(const struct rna_topology *topology, const struct rna_nic *nic,
			    struct rna_arena *arena)
{
	const struct rna_pci_object *object = object_of(topology, nic);
	const char *text =
		rna_arena_printf(arena, "%s (%04x:%04x%s%s%s%s)", object->address,
				 object->vendor_id, object->device_id,
				 nic->driver ? ", driver " : "", nic->driver ? nic->driver : "",
				 nic->netdev_count > 0 ? ", interface " : "",
				 nic->netdev_count > 0 ? nic->netdevs[0] : "");

	return text ? text : object->address;
}

/* What convicts a function. */
struct conviction {
	const struct model *model; /* with siblings that have a device */
	bool by_driver;
	const struct rna_gpu *gpu; /* beside it, and served by no other NIC */
};

static const char *say_although(const struct rna_topology *topology, const struct rna_nic *nic,
				const struct conviction *conviction, struct rna_arena *arena)
{
	const struct model *model = conviction->model;

	if (model->with > 0)
		return rna_arena_printf(arena, "%zu of %zu functions of this model have one (%s)",
					model->with, model->with + model->without,
					name_siblings(model, arena));
	if (conviction->by_driver)
		return rna_arena_printf(arena, "%s is loaded and serves other functions",
					driver_of(topology, nic)->rdma);
	return rna_arena_printf(arena, "it is beside GPU %s, which no other NIC serves",
				topology->objects[conviction->gpu->object].address);
}

/* The severity if siblings have a device, or GPUs have none: the more of them, the surer. */
static enum rna_severity severity_of(const struct rna_nic *nic, const struct conviction *conviction)
{
	const struct model *model = conviction->model;
	bool siblings = model->with >= SIBLINGS_SURE && model->with >= model->without;
	bool place = conviction->gpu && model->without >= SIBLINGS_SURE;

	if (nic->rdma == RNA_NIC_RDMA_OFF)
		return RNA_SEVERITY_INFO;
	return siblings || place ? RNA_SEVERITY_CRITICAL : RNA_SEVERITY_WARNING;
}

static void report(const struct rna_rule_input *in, const struct rna_topology *topology,
		   const struct rna_nic *nic, const struct conviction *conviction,
		   struct rna_finds *out)
{
	const char *address = object_of(topology, nic)->address, *remedy;
	const char *why = explain(in, topology, nic, out->arena, &remedy);
	const char *although = say_although(topology, nic, conviction, out->arena);
	const struct rna_remedy_place place = rna_rule_place_at(in, address);
	struct rna_finding *found;

	if (!why || !although || !remedy)
		return; /* no memory */
	found = rna_finds_add(out, "%s: no RDMA device, although %s; %s",
			      describe(topology, nic, out->arena), although, why);
	found->device = address;
	if (missing_module(in, topology, nic))
		rna_finds_share_cause(out, why);
	else
		rna_finds_share_cause(out,
				      rna_arena_printf(out->arena, "%.*s %s",
						       (int)strcspn(address, "."), address, why));
	found->severity = severity_of(nic, conviction);
	found->remedy = rna_rule_fill_remedy(remedy, &place, out->arena);
}

/* Its RDMA module is loaded as soon as any function has a device of it. */
static bool is_convicted_by_driver(const struct rna_topology *topology, const struct rna_nic *nic)
{
	const struct rna_driver *driver = driver_of(topology, nic);

	if (!driver || !driver->serves_all || !nic->driver || nic->rdma == RNA_NIC_RDMA_OFF)
		return false;
	return RNA_ANY(i, topology->nic_count,
		       topology->nics[i].rdma == RNA_NIC_RDMA_PRESENT &&
			       rna_same_text(topology->nics[i].driver, driver->name));
}

static bool is_near(const struct rna_topology *topology, size_t gpu, const struct rna_nic *nic)
{
	return rna_topology_gpu_path(topology, (unsigned)gpu, (unsigned)(nic - topology->nics)) <=
	       RNA_PATH_PXB;
}

/* Would it have a device, if its driver were complete? */
static bool is_bare(const struct rna_rule_input *in, const struct rna_topology *topology,
		    const struct rna_nic *nic)
{
	return lacks_device(in, nic) && nic->rdma != RNA_NIC_RDMA_OFF && driver_of(topology, nic);
}

/* A GPU that the NIC shares a PCIe switch with, and no NIC that could serve it. NULL: none. */
static const struct rna_gpu *find_unserved_gpu(const struct rna_rule_input *in,
					       const struct rna_topology *topology,
					       const struct rna_nic *nic)
{
	for (size_t gpu = 0; gpu < topology->gpu_count; gpu++) {
		bool served = false;

		if (!is_accelerator(topology, gpu) || !is_near(topology, gpu, nic))
			continue;
		for (size_t i = 0; i < topology->nic_count && !served; i++)
			served = is_near(topology, gpu, &topology->nics[i]) &&
				 !is_bare(in, topology, &topology->nics[i]);
		if (!served)
			return &topology->gpus[gpu];
	}
	return NULL;
}

/* A driver other than that of the siblings has another purpose. */
static bool has_other_driver(const struct rna_nic *nic, const struct model *model)
{
	return nic->driver && model->driver && strcmp(nic->driver, model->driver) != 0;
}

static void judge(const struct rna_rule_input *in, struct models *models, bool absent,
		  const struct rna_nic *nic, struct rna_finds *out)
{
	const struct rna_topology *topology = models->topology;
	struct conviction conviction = {.model = model_of(models, nic)};

	if (!conviction.model)
		return;
	conviction.by_driver = is_convicted_by_driver(topology, nic);
	if (conviction.model->with == 0 && !absent && is_bare(in, topology, nic))
		conviction.gpu = find_unserved_gpu(in, topology, nic);
	if ((conviction.model->with > 0 && !has_other_driver(nic, conviction.model)) ||
	    conviction.by_driver || conviction.gpu)
		report(in, topology, nic, &conviction, out);
}

static void check_function_without_device(const struct rna_rule_input *in, struct rna_finds *out)
{
	struct models models = {.topology = topology_of(in)};
	struct remembered remembered = {0};
	struct rna_absence absence;
	bool absent = rna_absence_find(in, &absence);

	if (!models.topology)
		return;
	list_remembered(in, out->arena, &remembered);
	list_models(in, &models);
	RNA_EACH (nic, models.topology->nics, models.topology->nic_count)
		if (lacks_device(in, nic) &&
		    !is_remembered(&remembered, object_of(models.topology, nic)->address))
			judge(in, &models, absent, nic, out);
}

const struct rna_rule rna_rule_function_without_device = {
	RNA_RULE_ROW("function-without-device", NODE, CRITICAL, RAIL_LOST, CARD, DEVICE_MISSING),
	.settles = true,
	.hold = "1m",
	.help = "A PCI function of a NIC has no RDMA device, although the same functions of "
		"other cards of its model have one. Severity warning if fewer than two "
		"have one, or fewer than have none, or if only the loaded module mlx5_ib "
		"speaks for a device; info if RDMA is turned off for the function. Or the "
		"function shares a PCIe switch with a data centre GPU, and no other NIC "
		"serves that: severity warning if there is only one such function.",
	.check = check_function_without_device,
	.remedy = "Search the kernel log for {pci}: the firmware of the card, or the probe "
		  "of its RDMA driver, may have failed. If the function is not meant to "
		  "have an RDMA device, add its PCI address to devices.exclude.",
	.message_id = "db940a0dfee942b686f2502017c6a048",
};

/* -- No device at all -------------------------------------------------------------------------- */

/* What is it for but RDMA? An Ethernet function of a ConnectX may do without. */
static bool is_for_rdma_alone(const struct rna_topology *topology, const struct rna_nic *nic)
{
	return object_of(topology, nic)->class_id != CLASS_ETHERNET ||
	       driver_of(topology, nic)->rdma_alone;
}

static bool has_hardware_device(const struct rna_snapshot *snapshot)
{
	return RNA_ANY(i, snapshot->device_count,
		       snapshot->devices[i].device->function != RNA_FUNCTION_VIRTUAL &&
			       snapshot->devices[i].device->function !=
				       RNA_FUNCTION_SWITCH_MANAGEMENT);
}

static size_t count_accelerators(const struct rna_topology *topology)
{
	return RNA_COUNT(i, topology->gpu_count, is_accelerator(topology, i));
}

static void count_near_gpus(const struct rna_rule_input *in, const struct rna_topology *topology,
			    struct rna_absence *ret)
{
	for (size_t i = 0; ret->accelerators > 0 && i < topology->gpu_count; i++) {
		const struct rna_gpu_affinity *affinity = &topology->affinities[i];
		size_t count = affinity->path <= RNA_PATH_PXB ? affinity->nearest_count : 0;

		for (size_t n = 0; n < count; n++)
			ret->near_gpus +=
				is_bare(in, topology, &topology->nics[affinity->nearest[n]]);
	}
}

static void count_bare(const struct rna_rule_input *in, const struct rna_topology *topology,
		       struct rna_absence *ret)
{
	RNA_EACH (nic, topology->nics, topology->nic_count) {
		const struct rna_pci_object *object = object_of(topology, nic);

		if (!is_bare(in, topology, nic))
			continue;
		ret->first = ret->first ? ret->first : nic;
		ret->count++;
		ret->for_rdma += is_for_rdma_alone(topology, nic);
		ret->cards += strcmp(function_of(object->address), "0") == 0;
	}
	count_near_gpus(in, topology, ret);
}

/*
 * Beside data centre GPUs the NICs are for RDMA if they can do nothing else, share a PCIe switch
 * with a GPU, or are many; without GPUs only in the first case. A ConnectX that is the Ethernet NIC
 * of a server is no reason for an alarm.
 */
bool rna_absence_find(const struct rna_rule_input *in, struct rna_absence *ret)
{
	const struct rna_topology *topology = topology_of(in);
	const struct rna_presence *presence = rna_snapshot_presence(in->view->snapshot);

	*ret = (struct rna_absence){.topology = topology};
	if (!topology || presence->excluded_count > 0 || in->view->missing_count > 0 ||
	    has_hardware_device(in->view->snapshot))
		return false;
	ret->accelerators = count_accelerators(topology);
	count_bare(in, topology, ret);
	return ret->for_rdma > 0 || (ret->accelerators > 0 &&
				     (ret->near_gpus > 0 || ret->cards >= RNA_DRIVER_CARDS_MANY));
}

/* Why there is none, as far as it is known. */
static const char *why_none(const struct rna_rule_input *in, const struct rna_absence *absence,
			    struct rna_arena *arena)
{
	const struct rna_presence *presence = rna_snapshot_presence(in->view->snapshot);
	const char *module = missing_module(in, absence->topology, absence->first), *text = NULL;

	if (module)
		text = rna_arena_printf(arena, "; %s", rna_absence_text(in, module, arena));
	if (text)
		return text;
	if (absence->first->driver && has_module(in, absence->topology, absence->first))
		text = rna_arena_printf(arena, "; %s",
					say_no_device(absence->topology, absence->first, arena));
	if (text)
		return text;
	if (!presence->stack)
		return "; the kernel has no /sys/class/infiniband (is ib_core loaded?)";
	if (!absence->first->driver)
		text = rna_arena_printf(arena, "; %s",
					say_unbound(in, absence->topology, absence->first, arena));
	return text ? text : "";
}

static const char *remedy_of_absence(const struct rna_rule_input *in,
				     const struct rna_absence *absence, struct rna_arena *arena)
{
	const char *module = missing_module(in, absence->topology, absence->first);
	const struct rna_driver *driver = driver_of(absence->topology, absence->first);
	bool bound = absence->first->driver || strcmp(driver->name, driver->rdma) == 0;
	const char *first = "";

	if (module)
		first = rna_absence_remedy(in, module, arena);
	else if (!has_module(in, absence->topology, absence->first))
		first = rna_arena_printf(arena, "Run: modprobe --all ib_uverbs %s%s%s. ",
					 bound ? "" : driver->name, bound ? "" : " ", driver->rdma);

	return rna_arena_printf(arena,
				"%sSearch the kernel log for errors of the driver: its probe may "
				"have failed. If the node is not meant to use RDMA, add "
				"rdma-absent to health.disable.",
				first ? first : "");
}

static void check_rdma_absent(const struct rna_rule_input *in, struct rna_finds *out)
{
	const char *gpus = "", *remedy;
	struct rna_absence absence;
	struct rna_finding *found;

	if (!rna_absence_find(in, &absence))
		return;
	if (absence.accelerators > 0)
		gpus = rna_arena_printf(out->arena, "%zu GPU%s and ", absence.accelerators,
					absence.accelerators == 1 ? "" : "s");
	found = rna_finds_add(out,
			      "no RDMA device on a node with %s%zu NIC function%s for RDMA; the "
			      "first is %s%s",
			      gpus ? gpus : "", absence.count, absence.count == 1 ? "" : "s",
			      describe(absence.topology, absence.first, out->arena),
			      why_none(in, &absence, out->arena));
	remedy = remedy_of_absence(in, &absence, out->arena);
	if (remedy)
		found->remedy = remedy;
	if (absence.accelerators == 0)
		found->severity = RNA_SEVERITY_WARNING;
}

const struct rna_rule rna_rule_rdma_absent = {
	RNA_RULE_ROW("rdma-absent", NODE, CRITICAL, NODE_LOST, HOST, DEVICE_MISSING),
	.settles = true,
	.hold = "1m",
	.help = "A node with NICs that are meant for RDMA has no RDMA device at all: NICs "
		"of InfiniBand, Omni-Path, EFA or eRDMA, or, beside data centre GPUs, "
		"Ethernet NICs whose drivers make RDMA devices, and that are near GPUs or at "
		"least four. Severity warning without data centre GPUs.",
	.check = check_rdma_absent,
	.remedy = "Load the RDMA module of these NICs with modprobe, and search the kernel "
		  "log for errors of the driver. If the node is not meant to use RDMA, add "
		  "rdma-absent to health.disable.",
	.message_id = "ce66a4b899e8435aa8b235f2d5609451",
	.second_condition = RNA_CONDITION_NOT_READY,
};

/* -- A GPU without a NIC ----------------------------------------------------------------------- */

/* Is it one that an earlier one was counted with: a plane of its rail, a function of its card? */
static bool is_counted(const struct rna_topology *topology, size_t gpu, size_t nic)
{
	const struct rna_nic *own = &topology->nics[nic];

	for (size_t i = 0; i < nic; i++)
		if (is_near(topology, gpu, &topology->nics[i]) &&
		    (own->rail >= 0 ? topology->nics[i].rail == own->rail
				    : rna_pci_is_one_device(
					      object_of(topology, &topology->nics[i])->address,
					      object_of(topology, own)->address)))
			return true;
	return false;
}

/* The NICs that share a PCIe switch with the GPU, without those that are there for storage. */
static size_t count_own_nics(const struct rna_topology *topology, size_t gpu)
{
	size_t count = 0;

	for (size_t i = 0; i < topology->nic_count; i++) {
		const struct rna_nic *nic = &topology->nics[i];

		count += !nic->switch_management &&
			 (nic->rail >= 0 || nic->rdma != RNA_NIC_RDMA_PRESENT) &&
			 is_near(topology, gpu, nic) && !is_counted(topology, gpu, i);
	}
	return count;
}

/* What GPUs have, and how many of them have that. */
struct shares {
	size_t usual;
	size_t with_usual;
	size_t gpus;
};

static struct shares find_shares(const struct rna_topology *topology, const size_t *counts)
{
	struct shares ret = {.gpus = count_accelerators(topology)};

	for (size_t i = 0; i < topology->gpu_count; i++) {
		size_t with = 0;

		for (size_t k = 0; k < topology->gpu_count; k++)
			with += is_accelerator(topology, k) && counts[k] == counts[i];
		if (is_accelerator(topology, i) && with > ret.with_usual) {
			ret.usual = counts[i];
			ret.with_usual = with;
		}
	}
	return ret;
}

/* "0000:d3:00.0, 0000:db:00.0 and 2 more", of GPUs that have fewer. */
static size_t list_poor(const struct rna_topology *topology, const size_t *counts, size_t usual,
			struct rna_strbuf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < topology->gpu_count; i++) {
		if (!is_accelerator(topology, i) || counts[i] >= usual)
			continue;
		if (count++ < NAMED_MAX)
			rna_strbuf_printf(out, "%s%s", count > 1 ? ", " : "",
					  topology->objects[topology->gpus[i].object].address);
	}
	if (count > NAMED_MAX)
		rna_strbuf_printf(out, " and %zu more", count - NAMED_MAX);
	return count;
}

/*
 * A NIC that was off the bus when the agent first started has no function, and nothing remembers
 * it. That of a GPU leaves a gap: most other GPUs have one, or two, in its place.
 */
static void check_gpu_without_nic(const struct rna_rule_input *in, struct rna_finds *out)
{
	enum { GPUS_LEAST = 8, GPUS_MAX = 256 };
	const struct rna_topology *topology = topology_of(in);
	RNA_STRBUF struct rna_strbuf gpus = RNA_STRBUF_INIT;
	size_t counts[GPUS_MAX], poor;
	struct shares shares;

	if (!topology || in->view->missing_count > 0 || topology->gpu_count < GPUS_LEAST ||
	    topology->gpu_count > GPUS_MAX)
		return; /* most nodes: distances are not worth their time */
	for (size_t i = 0; i < topology->gpu_count; i++)
		counts[i] = count_own_nics(topology, i);
	shares = find_shares(topology, counts);
	if (shares.gpus < GPUS_LEAST || shares.usual == 0 ||
	    shares.with_usual * 4 < shares.gpus * 3)
		return;
	poor = list_poor(topology, counts, shares.usual, &gpus);
	if (poor == 0 || !rna_strbuf_ok(&gpus))
		return;
	(void)rna_finds_add(out,
			    "GPU %s: fewer NICs behind %s PCIe switch than %zu of %zu GPUs have, "
			    "each %zu: a NIC may be missing",
			    gpus.data, poor == 1 ? "its" : "their", shares.with_usual, shares.gpus,
			    shares.usual);
}

const struct rna_rule rna_rule_gpu_without_nic = {
	RNA_RULE_ROW("gpu-without-nic", NODE, WARNING, RAIL_LOST, CARD, DEVICE_MISSING),
	.settles = true,
	.hold = "1m",
	.help = "A data centre GPU has fewer NICs behind its PCIe switch than at least three "
		"quarters of the GPUs of the node: one may have been off the bus already when the "
		"agent first started. NICs that the agent has seen are device-missing.",
	.check = check_gpu_without_nic,
	.remedy = "Compare lspci with that of a healthy node of this kind. If a NIC is not in it, "
		  "{cycle}. If the node is built like this, add gpu-without-nic to health.disable.",
	.message_id = "ed2ab6b8c51545ddaee1279cace72422",
};

/* -- Nothing is watched ------------------------------------------------------------------------ */

static void check_nothing_watched(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_presence *presence = rna_snapshot_presence(in->view->snapshot);

	if (presence && presence->excluded_count > 0 && presence->device_count == 0)
		(void)rna_finds_add(out,
				    "devices.include and devices.exclude leave none of %zu RDMA "
				    "device%s to watch",
				    presence->excluded_count,
				    presence->excluded_count == 1 ? "" : "s");
}

const struct rna_rule rna_rule_nothing_watched = {
	RNA_RULE_ROW("nothing-watched", NODE, WARNING, AGENT, HOST, NOT_OBSERVED),
	.settles = true,
	.hold = "1m",
	.help = "The node has RDMA devices, and the settings exclude all of them.",
	.check = check_nothing_watched,
	.remedy = "Correct devices.include and devices.exclude. On nodes that need no "
		  "monitoring, do not run the agent.",
	.message_id = "0afe3761aef64247b4260fe7e8be3e94",
};
