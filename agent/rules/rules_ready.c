// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about node prerequisites: what administrators verify by hand before the first job. A
 * warning makes jobs fail or run slowly for certain; everything else is information.
 *
 * Prerequisites of RDMA are checked only on nodes with an RDMA device that is not software.
 */
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/driver.h"
#include "rna/model/pcie.h"

#include "absence.h"
#include "rules.h"

static const struct rna_readiness *readiness_of(const struct rna_rule_input *in)
{
	return rna_snapshot_readiness(in->view->snapshot);
}

static bool has_hardware(const struct rna_rule_input *in)
{
	const struct rna_snapshot *snapshot = in->view->snapshot;

	return RNA_ANY(i, snapshot->device_count,
		       snapshot->devices[i].device->function != RNA_FUNCTION_VIRTUAL &&
			       snapshot->devices[i].device->function !=
				       RNA_FUNCTION_SWITCH_MANAGEMENT);
}

static bool is_known_zero(struct rna_value value)
{
	return rna_value_is_known(value) && value.number == 0;
}

/* -- GPUs -------------------------------------------------------------------------------------- */

/* *ret_accelerators: data centre GPUs; a display controller may be a workstation card. */
static size_t count_gpus(const struct rna_rule_input *in, size_t *ret_accelerators)
{
	enum { DISPLAY_CONTROLLER = 0x0300 };
	const struct rna_topology *topology = rna_snapshot_topology(in->view->snapshot);
	size_t count = topology ? topology->gpu_count : 0;

	*ret_accelerators = 0;
	for (size_t i = 0; i < count; i++)
		*ret_accelerators +=
			topology->objects[topology->gpus[i].object].class_id != DISPLAY_CONTROLLER;
	return count;
}

static void find_newer_only(const struct rna_readiness *readiness, size_t gpus,
			    struct rna_finds *out)
{
	struct rna_finding *found = rna_finds_add(
		out,
		"NCCL before 2.23 does not let NICs access the memory of %zu GPU%s: it looks only "
		"into /sys/kernel/mm/memory_peers, which has nothing (%s is there), and there is "
		"no dma-buf (%s)",
		gpus, gpus == 1 ? "" : "s", readiness->peer_memory, readiness->gpudirect_reason);

	found->severity = RNA_SEVERITY_INFO;
	found->remedy = "No action required with NCCL 2.23 or newer. For older versions, install "
			"NVIDIA's driver with open kernel modules, or the RDMA drivers of "
			"DOCA-Host.";
}

static void check_gpudirect_not_ready(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_readiness *readiness = readiness_of(in);
	size_t accelerators, gpus = count_gpus(in, &accelerators);
	struct rna_finding *found;

	if (!readiness || !has_hardware(in) || gpus == 0 || !readiness->gpudirect_reason)
		return;
	if (readiness->gpudirect_state == RNA_GPUDIRECT_READY_FOR_NEWER)
		find_newer_only(readiness, gpus, out);
	if (readiness->gpudirect_state != RNA_GPUDIRECT_NOT_READY &&
	    readiness->gpudirect_state != RNA_GPUDIRECT_NOT_SEEN)
		return;
	found = rna_finds_add(out, "NICs %s access the memory of %zu GPU%s: %s",
			      readiness->gpudirect_state == RNA_GPUDIRECT_NOT_READY
				      ? "cannot"
				      : "may be unable to",
			      gpus, gpus == 1 ? "" : "s", readiness->gpudirect_reason);
	if (accelerators == 0 || readiness->gpudirect_state == RNA_GPUDIRECT_NOT_SEEN)
		found->severity = RNA_SEVERITY_INFO;
	if (strcmp(readiness->gpu_driver.name, "nvidia") != 0)
		found->remedy =
			"Use a kernel with CONFIG_DMABUF_MOVE_NOTIFY and CONFIG_PCI_P2PDMA, "
			"or the RDMA drivers of the NIC's vendor with peer memory.";
}

const struct rna_rule rna_rule_gpudirect_not_ready = {
	RNA_RULE_ROW("gpudirect-not-ready", NODE, WARNING, HOST, HOST, NOT_READY),
	.help = "A node with GPUs and RDMA devices supports no form of GPUDirect RDMA: "
		"neither a peer memory module nor dma-buf.",
	.check = check_gpudirect_not_ready,
	.remedy = "Load nvidia_peermem, or install NVIDIA's driver with open kernel "
		  "modules (515 or newer) on a kernel of 5.12 or newer.",
	.message_id = "a36bc72605cf4dd5b5474e9eeb18710b",
};

static void check_gpudirect_async_off(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_readiness *readiness = readiness_of(in);
	size_t accelerators;
	bool memops, mapping;

	(void)count_gpus(in, &accelerators);
	if (!readiness || !has_hardware(in) || accelerators == 0)
		return;
	memops = is_known_zero(readiness->gpu_driver.stream_memops);
	mapping = is_known_zero(readiness->gpu_driver.peer_mapping_override);
	if (memops || mapping)
		(void)rna_finds_add(out,
				    "the nvidia driver has %s%s%s off: GPU kernels cannot start "
				    "transfers themselves (IBGDA)",
				    memops ? "EnableStreamMemOPs" : "",
				    memops && mapping ? " and " : "",
				    mapping ? "PeerMappingOverride" : "");
}

const struct rna_rule rna_rule_gpudirect_async_off = {
	RNA_RULE_ROW("gpudirect-async-off", NODE, INFO, HOST, HOST, NOT_READY),
	.help = "NVIDIA's driver does not allow GPU kernels to ring NIC doorbells, which "
		"NVSHMEM's IBGDA needs.",
	.check = check_gpudirect_async_off,
	.remedy = "No action required unless applications use IBGDA (DeepEP, NVSHMEM). "
		  "For these, load the driver with NVreg_EnableStreamMemOPs=1 and "
		  "NVreg_RegistryDwords=PeerMappingOverride=1.",
	.message_id = "a642b60a241244caac5a95af4f239f37",
};

/* -- Modules ----------------------------------------------------------------------------------- */

static bool is_loaded(const struct rna_readiness *readiness, const char *name)
{
	return rna_module_loaded(readiness, name).number > 0;
}

static const struct {
	const char *name, *without;
	enum rna_severity severity;
} modules[] = {
	{"ib_uverbs", "no application can use RDMA", RNA_SEVERITY_WARNING},
	{"rdma_ucm", "applications cannot use the RDMA connection manager", RNA_SEVERITY_INFO},
	{"ib_umad", "no tool can send MADs", RNA_SEVERITY_INFO},
};

/* Nodes without RDMA hardware do not need the modules. */
static void check_module_missing(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_readiness *readiness = readiness_of(in);
	enum rna_severity worst = RNA_SEVERITY_INFO;
	const char *text = NULL, *names = NULL, *remedy = NULL;
	struct rna_finding *found;

	if (!readiness || readiness->module_count == 0 || !has_hardware(in))
		return;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(modules); i++) {
		if (is_loaded(readiness, modules[i].name))
			continue;
		text = rna_arena_printf(out->arena, "%s%smodule %s is not loaded: %s",
					text ? text : "", text ? "; " : "", modules[i].name,
					modules[i].without);
		names = rna_arena_printf(out->arena, "%s %s", names ? names : "", modules[i].name);
		if (modules[i].severity > worst)
			worst = modules[i].severity;
	}
	if (!text)
		return;
	found = rna_finds_add(out, "%s", text);
	found->severity = worst;
	if (names)
		remedy = rna_arena_printf(out->arena,
					  "Run: modprobe --all%s, and list them in "
					  "/etc/modules-load.d; the package rdma-core does so by "
					  "default.",
					  names);
	if (remedy)
		found->remedy = remedy;
}

const struct rna_rule rna_rule_module_missing = {
	RNA_RULE_ROW("module-missing", NODE, INFO, HOST, HOST, NOT_READY),
	.help = "A kernel module of the RDMA stack is not loaded. Severity warning if no "
		"application works without it.",
	.check = check_module_missing,
	.remedy = "Load it with modprobe and list it in /etc/modules-load.d; the package "
		  "rdma-core does so by default.",
	.message_id = "100bd1c5ad6846f592bf40442499df71",
};

/* A module that is part of the kernel and has no parameters has no directory in /sys/module. */
static bool has_devices(const struct rna_rule_input *in, const struct rna_driver *driver)
{
	const struct rna_snapshot *snapshot = in->view->snapshot;

	return RNA_ANY(i, snapshot->device_count,
		       rna_driver_named(snapshot->devices[i].device->driver) == driver);
}

/*
 * Only drivers that serve each function: NICs of the others are commonly used without RDMA. Where
 * they are meant for RDMA, rdma-absent or function-without-device reports it.
 */
static void check_rdma_driver_missing(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_readiness *readiness = readiness_of(in);
	const struct rna_driver *driver;
	struct rna_absence absence;

	for (size_t at = 0; (driver = rna_driver_next(&at));) {
		struct rna_finding *found;
		const char *remedy;

		if (!driver->serves_all || !is_loaded(readiness, driver->name) ||
		    is_loaded(readiness, driver->rdma) || has_devices(in, driver) ||
		    rna_absence_find(in, &absence))
			continue;
		found = rna_finds_add(out, "NICs of %s have no RDMA devices: %s", driver->name,
				      rna_absence_text(in, driver->rdma, out->arena));
		remedy = rna_arena_printf(out->arena,
					  "%sIf RDMA is not wanted, no action is required.",
					  rna_absence_remedy(in, driver->rdma, out->arena));
		found->remedy = remedy ? remedy : found->remedy;
	}
}

const struct rna_rule rna_rule_rdma_driver_missing = {
	RNA_RULE_ROW("rdma-driver-missing", NODE, INFO, RAIL_LOST, HOST, NOT_READY),
	.help = "The Ethernet driver of NICs is loaded without the module that provides "
		"their RDMA devices.",
	.check = check_rdma_driver_missing,
	.remedy = "If RDMA is wanted, load the module that the finding names.",
	.message_id = "6ec9b7be51094088b09458fb1708b59d",
};

/* -- Device files ------------------------------------------------------------------------------ */

/* Containers see the file with its permissions on the host, and may run as any user. */
static bool is_closed(const struct rna_device_node *node)
{
	enum { FOR_OTHERS = 06 };

	return rna_value_is_known(node->mode) && (node->mode.number & FOR_OTHERS) != FOR_OTHERS;
}

/* GDRCopy is for applications that ask for it: NCCL_GDRCOPY_ENABLE, UCX, NVSHMEM. */
static void check_gdrdrv(const struct rna_readiness *readiness, struct rna_finds *out)
{
	for (size_t i = 0; readiness && i < readiness->node_count; i++) {
		const struct rna_device_node *node = &readiness->nodes[i];
		struct rna_finding *found;

		if (strcmp(node->name, "gdrdrv") != 0 || (!node->missing && !is_closed(node)))
			continue;
		found = rna_finds_add(
			out, "module gdrdrv is loaded, but /dev/gdrdrv %s: GDRCopy does not work",
			node->missing ? "is missing" : "is not open to all users");
		found->severity = RNA_SEVERITY_INFO;
		found->remedy =
			"No action required if no application uses GDRCopy. Otherwise start "
			"gdrcopy.service, or make the file: mknod /dev/gdrdrv c MAJOR 0, "
			"with the MAJOR of gdrdrv in /proc/devices and mode 0666.";
	}
}

/*
 * Without the module ib_umad, which is another finding, and in older recordings, no port has one.
 * The files of ports are the last that have a device.
 */
static bool knows_mads(const struct rna_readiness *readiness)
{
	for (size_t i = readiness ? readiness->node_count : 0; i-- > 0;)
		if (readiness->nodes[i].device)
			return readiness->nodes[i].port > 0;
	return false;
}

/*
 * Each InfiniBand port has MADs (RDMA_CORE_CAP_IB_MAD; ib_umad_add_one() in
 * drivers/infiniband/core/user_mad.c, 6.12). One that lacks its file cannot be asked for anything,
 * nor join a fabric tool.
 */
static void check_mads(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_readiness *readiness = readiness_of(in);
	const char *text = NULL;

	if (!knows_mads(readiness) || !rna_device_is_nic(in->subject->device->device))
		return;
	RNA_EACH (port, in->subject->ports, in->subject->rdma_device->port_count) {
		const struct rna_device_node *node =
			rna_readiness_find_node(readiness, port->device->device->name, port->port);

		if (port->link_layer != RNA_LINK_LAYER_INFINIBAND || (node && !node->missing))
			continue;
		text = rna_arena_printf(out->arena, "%s%sport %u has no %s", text ? text : "",
					text ? ", " : "", port->port,
					node ? "file in /dev/infiniband" : "umad device");
	}
	if (text)
		rna_finds_add(out, "%s: no tool can send MADs through it", text)->severity =
			RNA_SEVERITY_INFO;
}

static void check_device_node(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_device_node *node;

	if (!in->subject) {
		check_gdrdrv(readiness_of(in), out);
		return;
	}
	node = rna_readiness_find_node(readiness_of(in), in->subject->device->device->name, 0);
	if (node && node->missing) {
		(void)rna_finds_add(
			out, "/dev/infiniband/%s is missing: no application can use the device",
			node->name);
		rna_finds_share_cause(out, "missing");
	} else if (node && is_closed(node)) {
		rna_finds_add(out, "/dev/infiniband/%s has mode 0%jo: not all users can open it",
			      node->name, (uintmax_t)node->mode.number)
			->severity = RNA_SEVERITY_INFO;
		rna_finds_share_cause(out, "closed");
	} else {
		check_mads(in, out);
	}
}

const struct rna_rule rna_rule_device_node = {
	RNA_RULE_ROW("device-node", DEVICE, WARNING, RAIL_LOST, HOST, NOT_READY),
	.hold = "30s",
	.help = "The file in /dev/infiniband that applications open for a device is "
		"missing. Severity info if it exists but is not open to all users, if an "
		"InfiniBand port has no umad device, or if /dev/gdrdrv is missing although "
		"the module gdrdrv is loaded.",
	.check = check_device_node,
	.remedy = "Run: udevadm trigger --subsystem-match=infiniband_verbs. The mode is "
		  "0666 unless a udev rule changes it.",
	.message_id = "c6eba39512694e97beba179d1ccb7a16",
};

/* -- What programs can do with a device -------------------------------------------------------- */

/* libibverbs skips a device whose ABI its provider does not know: try_driver() in init.c. */
static void check_verbs_abi(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_device *device = in->subject ? in->subject->device->device : NULL;
	const struct rna_driver *driver = device ? rna_driver_named(device->driver) : NULL;
	const struct rna_device_node *node =
		driver ? rna_readiness_find_node(readiness_of(in), device->name, 0) : NULL;

	if (!node || driver->abi == 0 || !rna_value_is_known(node->abi) ||
	    node->abi.number <= driver->abi)
		return;
	rna_finds_add(out,
		      "its driver has ABI %ju of verbs, and libibverbs of rdma-core knows up to "
		      "%u: programs with that library do not see the device",
		      (uintmax_t)node->abi.number, driver->abi);
	rna_finds_share_cause(out, driver->name);
}

const struct rna_rule rna_rule_verbs_abi = {
	RNA_RULE_ROW("verbs-abi", DEVICE, INFO, HOST, HOST, NOT_READY),
	.hold = "30s",
	.help = "The driver of a device is not that of Linux: it has a newer ABI of verbs than "
		"the libibverbs of distributions.",
	.check = check_verbs_abi,
	.remedy = "No action required for programs with the vendor's libibverbs provider. Install "
		  "it in the images of containers as well, in the version that belongs to the "
		  "driver of the host: ibv_devinfo in a container must show {device}.",
	.message_id = "a82319b148df4b4cbe5e85576c7cc190",
};

static bool is_iwarp(const struct rna_subject *device)
{
	return rna_device_is_nic(device->device->device) &&
	       rna_device_node_type(device->device) == RNA_NODE_TYPE_RNIC;
}

/* Beside NICs of another kind, those of iWARP may be for storage. */
static bool is_all_iwarp(const struct rna_rule_input *in)
{
	const struct rna_subject_list *devices = rna_view_devices(in->view);

	return RNA_ALL(i, devices->count,
		       !rna_device_is_nic(devices->items[i].device->device) ||
			       is_iwarp(&devices->items[i]));
}

static void check_iwarp(const struct rna_rule_input *in, struct rna_finds *out)
{
	size_t accelerators;
	const struct rna_driver *driver;
	struct rna_finding *found;
	const char *remedy;

	(void)count_gpus(in, &accelerators);
	if (!in->subject || accelerators == 0 || !is_iwarp(in->subject) || !is_all_iwarp(in))
		return;
	driver = rna_driver_named(in->subject->device->device->driver);
	found = rna_finds_add(out,
			      "iWARP, which neither NCCL nor UCX uses: jobs on the GPUs of this "
			      "node have no RDMA");
	rna_finds_share_cause(out, "iwarp");
	if (!driver || !driver->to_roce)
		return;
	remedy = rna_arena_printf(out->arena, "If jobs need RDMA, drain the node and run: %s.",
				  driver->to_roce);
	found->remedy = remedy ? remedy : found->remedy;
}

const struct rna_rule rna_rule_iwarp = {
	RNA_RULE_ROW("iwarp", DEVICE, WARNING, HOST, HOST, NOT_READY),
	.hold = "30s",
	.help = "All RDMA devices of a node with data centre GPUs run iWARP, which libraries for "
		"GPUs do not use.",
	.check = check_iwarp,
	.remedy = "If jobs need RDMA, use NICs with RoCE or InfiniBand; if none do, disable this "
		  "rule here.",
	.message_id = "0746b9b62c2b49f794972eb5a9ef2e94",
};

/* -- CPUs and IOMMU ---------------------------------------------------------------------------- */

/*
 * These drivers choose frequencies themselves: their "powersave" follows the load, and is the
 * default (Documentation/admin-guide/pm/intel_pstate.rst, "Active Mode"; amd-pstate.rst). Of all
 * others it is the governor of the kernel, which keeps the lowest frequency (cpufreq.rst).
 */
static bool chooses_frequency_itself(const char *driver)
{
	static const char *const drivers[] = {"intel_pstate", "amd-pstate-epp", "amd_pstate_epp"};

	return RNA_ANY(i, RNA_ARRAY_SIZE(drivers), rna_same_text(driver, drivers[i]));
}

/* Governors that raise the frequency when there is load: the first packets find a slow CPU. */
static bool follows_load(const char *governor)
{
	static const char *const governors[] = {"ondemand", "conservative", "schedutil"};

	return RNA_ANY(i, RNA_ARRAY_SIZE(governors), strcmp(governor, governors[i]) == 0);
}

static void check_cpu_governor(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_readiness *readiness = readiness_of(in);
	const struct rna_cpu_governor *slow = NULL, *lazy = NULL;
	const struct rna_cpu_frequency *frequency;

	if (!readiness || !has_hardware(in) || !readiness->cpu_frequency.driver ||
	    chooses_frequency_itself(readiness->cpu_frequency.driver))
		return;
	frequency = &readiness->cpu_frequency;
	for (size_t i = 0; i < frequency->governor_count; i++) {
		if (strcmp(frequency->governors[i].name, "powersave") == 0)
			slow = &frequency->governors[i];
		else if (follows_load(frequency->governors[i].name))
			lazy = &frequency->governors[i];
	}
	if (slow)
		rna_finds_add(out,
			      "the governor powersave of %s keeps CPUs at their lowest frequency "
			      "(%zu frequency policies)",
			      frequency->driver, slow->policies)
			->severity = RNA_SEVERITY_WARNING;
	else if (lazy)
		(void)rna_finds_add(out,
				    "the governor %s of %s lowers the frequency of CPUs without "
				    "load (%zu frequency policies): latency varies",
				    lazy->name, frequency->driver, lazy->policies);
}

const struct rna_rule rna_rule_cpu_governor = {
	RNA_RULE_ROW("cpu-governor", NODE, INFO, HOST, HOST, NOT_READY),
	.hold = "1m",
	.help = "The kernel lowers the frequency of CPUs without load. Severity warning if "
		"it keeps the lowest frequency (powersave). Drivers that choose the "
		"frequency themselves (intel_pstate, amd-pstate-epp) are no finding.",
	.check = check_cpu_governor,
	.remedy = "Run: cpupower frequency-set -g performance, or select a profile of tuned "
		  "such as throughput-performance. No action required with severity info "
		  "unless latency matters.",
	.message_id = "ccebb68457474a7fa67cd0224a864b50",
};

static size_t count_translated(const struct rna_rule_input *in, struct rna_value *ret_mode)
{
	const struct rna_snapshot *snapshot = in->view->snapshot;
	size_t count = 0;

	for (size_t i = 0; i < snapshot->device_count; i++) {
		const struct rna_pcie *pcie = rna_device_pcie(&snapshot->devices[i]);

		if (!pcie || !rna_device_is_nic(snapshot->devices[i].device) ||
		    !rna_iommu_translates(pcie->iommu))
			continue;
		count++;
		if (!rna_value_is_known(*ret_mode) || pcie->iommu.number > ret_mode->number)
			*ret_mode = pcie->iommu;
	}
	return count;
}

/*
 * NVIDIA's guide "Developing a Linux Kernel Module using GPUDirect RDMA" asks for no IOMMU, or one
 * that does not translate; ROCm's page on IOMMUs for iommu=pt. Drivers of today map the addresses,
 * so that it works, at the price of translations and, with ACS, of the way through the root port:
 * so it is information. Machines with an SMMU are made for it, and in a virtual machine the IOMMU
 * is not that of the host.
 */
static void check_iommu_translating(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_readiness *readiness = readiness_of(in);
	struct rna_value mode = {0};
	size_t accelerators, devices;

	(void)count_gpus(in, &accelerators);
	if (!readiness || accelerators == 0 || !is_known_zero(readiness->virtual_machine) ||
	    !readiness->iommu || strcmp(readiness->iommu, "arm") == 0)
		return;
	devices = count_translated(in, &mode);
	if (rna_iommu_translates(readiness->gpu_iommu) &&
	    (!rna_value_is_known(mode) || readiness->gpu_iommu.number > mode.number))
		mode = readiness->gpu_iommu;
	if (!rna_value_is_known(mode))
		return;
	(void)rna_finds_add(out, "the IOMMU translates addresses of %zu RDMA device%s%s (%s%s)",
			    devices, devices == 1 ? "" : "s",
			    rna_iommu_translates(readiness->gpu_iommu) ? " and of GPUs" : "",
			    rna_iommu_mode_name((enum rna_iommu_mode)mode.number),
			    mode.number == RNA_IOMMU_STRICT
				    ? ", strict: each unmapping waits for the IOMMU"
				    : "");
}

const struct rna_rule rna_rule_iommu_translating = {
	RNA_RULE_ROW("iommu-translating", NODE, INFO, HOST, PLATFORM, NOT_READY),
	.help = "On a machine with GPUs, the IOMMU of Intel or AMD translates the addresses "
		"of RDMA devices or GPUs. Not in virtual machines.",
	.check = check_iommu_translating,
	.remedy = "No action required if GPUDirect RDMA is as fast as expected. Otherwise "
		  "boot with iommu=pt, or turn the IOMMU off in the BIOS if no virtual "
		  "machine needs it.",
	.message_id = "bfc31971658f4da48352a61583b5375c",
};

/* -- Containers -------------------------------------------------------------------------------- */

static void check_netns_exclusive(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_readiness *readiness = readiness_of(in);

	if (readiness && has_hardware(in) && rna_value_is_known(readiness->netns_exclusive) &&
	    readiness->netns_exclusive.number)
		(void)rna_finds_add(out,
				    "RDMA devices are bound to one network namespace each: a "
				    "container has only the devices that were moved into its own");
}

const struct rna_rule rna_rule_netns_exclusive = {
	RNA_RULE_ROW("netns-exclusive", NODE, INFO, HOST, HOST, NOT_READY),
	.help = "RDMA devices are bound to one network namespace each (exclusive mode).",
	.check = check_netns_exclusive,
	.remedy = "No action required if containers receive devices by SR-IOV or as host "
		  "devices. To share a device among containers, run: rdma system set "
		  "netns shared.",
	.message_id = "d03a4e897d27478eacde38035c01f7e6",
};

static void put_limit(struct rna_strbuf *out, struct rna_value limit)
{
	if (limit.number >= UINT64_C(1) << 20)
		rna_strbuf_printf(out, "%ju MiB", (uintmax_t)(limit.number >> 20));
	else
		rna_strbuf_printf(out, "%ju KiB", (uintmax_t)(limit.number >> 10));
}

static bool is_little(struct rna_value limit)
{
	return rna_value_is_known(limit) && limit.number < RNA_MEMLOCK_ENOUGH;
}

/*
 * What a new container gets: the specification decides, without one the process, which has its
 * limit since its start. Before it is seen, its unit says what it will have; systemd's default is
 * 8 MiB. True: it is low, and out has the reason.
 */
static bool gives_little(const struct rna_runtime *runtime, struct rna_strbuf *out)
{
	bool specified = runtime->spec.state != RNA_VALUE_ABSENT;
	bool runs = !specified && rna_value_is_known(runtime->running);
	struct rna_value limit = specified ? runtime->spec
				 : runs    ? runtime->running
					   : runtime->memlock;

	if (limit.state == RNA_VALUE_ABSENT) {
		rna_strbuf_printf(out, "%s sets no limit of its own", runtime->unit);
		return true;
	}
	if (!is_little(limit))
		return false;
	rna_strbuf_printf(out, "%s %s ", specified ? runtime->spec_file : runtime->unit,
			  runs ? "runs with" : "sets");
	put_limit(out, limit);
	if (runs && rna_value_is_known(runtime->memlock) && !is_little(runtime->memlock))
		rna_strbuf_puts(out, ", because its unit was changed after it started");
	return true;
}

/*
 * Containers that run show what they get. If none of them has little, something else raises the
 * limit (a hook, a plugin of NRI); if all of them have, that is so whatever the files say.
 */
static void check_memlock_low(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_readiness *readiness = readiness_of(in);
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_container_limits *seen = readiness ? &readiness->containers : NULL;

	if (!readiness || !has_hardware(in) || (seen->count > 0 && seen->low == 0))
		return;
	for (size_t i = 0; i < readiness->runtime_count; i++) {
		RNA_STRBUF struct rna_strbuf reason = RNA_STRBUF_INIT;

		if (gives_little(&readiness->runtimes[i], &reason) && rna_strbuf_ok(&reason))
			rna_strbuf_printf(&text, "%s%s", text.len > 0 ? ", " : "", reason.data);
		text.failed |= reason.failed;
	}
	if (seen->low > 0 && (text.len > 0 || seen->low == seen->count)) {
		rna_strbuf_printf(&text, "%s%zu of %zu containers have ", text.len > 0 ? "; " : "",
				  seen->low, seen->count);
		put_limit(&text, seen->lowest);
		rna_strbuf_printf(&text, seen->low > 1 ? " or more, for example %s" : ": %s",
				  seen->example ? seen->example : "?");
	}
	out->failed |= text.failed;
	if (text.len > 0 && !text.failed)
		(void)rna_finds_add(out, "containers get a low limit of locked memory: %s",
				    text.data);
}

const struct rna_rule rna_rule_memlock_low = {
	RNA_RULE_ROW("memlock-low", NODE, INFO, HOST, HOST, NOT_READY),
	.help = "A container runtime passes a low limit of locked memory (less than 1 GiB) "
		"to its containers; RDMA needs locked memory. What counts is the "
		"specification of the runtime (base_runtime_spec of containerd, "
		"default_ulimits of CRI-O, default-ulimits of Docker), then its running "
		"process, then its unit, and what running containers have.",
	.check = check_memlock_low,
	.remedy = "No action required if no container uses RDMA. Otherwise set "
		  "RLIMIT_MEMLOCK in the specification (see base_runtime_spec of "
		  "containerd, default_ulimits of CRI-O, default-ulimits of Docker), or "
		  "LimitMEMLOCK=infinity in a drop-in of the unit; then restart the runtime "
		  "and recreate the containers. CAP_IPC_LOCK helps only containers that run "
		  "as root.",
	.message_id = "6f6b441aa4d84b2bb519b38fb6402d2f",
};
