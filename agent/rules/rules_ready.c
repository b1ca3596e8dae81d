// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about node prerequisites, and about rails that differ: what administrators verify by hand
 * before the first job. A warning makes jobs fail or run slowly for certain; everything else is
 * information.
 *
 * Prerequisites of RDMA are checked only on nodes with an RDMA device that is not software.
 */
#include <string.h>

#include "rna/base/hash.h"
#include "rna/base/parse.h"
#include "rna/model/card.h"
#include "rna/model/pcie.h"

#include "absence.h"
#include "rails.h"
#include "rules.h"

static const struct rna_readiness *readiness_of(const struct rna_rule_input *in)
{
	return rna_snapshot_readiness(in->view->snapshot);
}

static bool has_hardware(const struct rna_rule_input *in)
{
	const struct rna_snapshot *snapshot = in->view->snapshot;

	for (size_t i = 0; i < snapshot->device_count; i++)
		if (snapshot->devices[i].device->function != RNA_FUNCTION_VIRTUAL &&
		    snapshot->devices[i].device->function != RNA_FUNCTION_SWITCH_MANAGEMENT)
			return true;
	return false;
}

static bool is_known_zero(struct rna_value value)
{
	return rna_value_is_known(value) && value.number == 0;
}

/* -- GPUs -------------------------------------------------------------------------------------- */

static const char *why_no_dma_buf(const struct rna_gpu_driver *driver)
{
	if (is_known_zero(driver->open))
		return "its kernel modules are the proprietary ones";
	return "the kernel or the driver is too old";
}

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

/* No finding if the state of one of the methods is unknown. */
void rna_check_gpudirect_not_ready(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_readiness *readiness = readiness_of(in);
	size_t accelerators, gpus = count_gpus(in, &accelerators);
	const struct rna_gpu_driver *driver;
	struct rna_finding *found;

	if (!readiness || !has_hardware(in) || gpus == 0)
		return;
	for (enum rna_gpudirect method = 0; method < RNA_GPUDIRECT_COUNT; method++)
		if (!is_known_zero(readiness->gpudirect[method]))
			return;
	driver = &readiness->gpu_driver;
	found = rna_finds_add(
		out,
		"NICs cannot access the memory of %zu GPU%s: no peer memory module is "
		"loaded, and %s%s%s does not support dma-buf because %s",
		gpus, gpus == 1 ? "" : "s", driver->name, driver->version ? " " : "",
		driver->version ? driver->version : "", why_no_dma_buf(driver));
	if (accelerators == 0)
		found->severity = RNA_SEVERITY_INFO;
	if (strcmp(driver->name, "nvidia") != 0)
		found->remedy =
			"Use a kernel with CONFIG_DMABUF_MOVE_NOTIFY and CONFIG_PCI_P2PDMA, "
			"or the RDMA drivers of the GPU vendor.";
}

void rna_check_gpudirect_async_off(const struct rna_rule_input *in, struct rna_finds *out)
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

/* -- Modules ----------------------------------------------------------------------------------- */

static bool is_loaded(const struct rna_readiness *readiness, const char *name)
{
	for (size_t i = 0; i < readiness->module_count; i++)
		if (strcmp(readiness->modules[i].name, name) == 0)
			return readiness->modules[i].loaded;
	return false;
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
void rna_check_module_missing(const struct rna_rule_input *in, struct rna_finds *out)
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

/*
 * Only mlx5: NICs of other vendors are commonly used without RDMA. Where they are meant for RDMA,
 * rdma-absent reports it.
 */
void rna_check_rdma_driver_missing(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_readiness *readiness = readiness_of(in);
	struct rna_absence absence;

	if (readiness && is_loaded(readiness, "mlx5_core") && !is_loaded(readiness, "mlx5_ib") &&
	    !rna_absence_find(in, &absence))
		(void)rna_finds_add(
			out, "module mlx5_core is loaded without mlx5_ib: its NICs have no RDMA "
			     "devices");
}

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
	for (const struct rna_rule_subject *port = in->subject + 1;
	     port < in->subjects + in->count && port->device == in->subject->device; port++) {
		const struct rna_device_node *node =
			rna_readiness_find_node(readiness, port->device->device->name,
						port->number);

		if (port->link_layer != RNA_LINK_LAYER_INFINIBAND || (node && !node->missing))
			continue;
		text = rna_arena_printf(out->arena, "%s%sport %u has no %s", text ? text : "",
					text ? ", " : "", port->number,
					node ? "file in /dev/infiniband" : "umad device");
	}
	if (text)
		rna_finds_add(out, "%s: no tool can send MADs through it", text)->severity =
			RNA_SEVERITY_INFO;
}

void rna_check_device_node(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_device_node *node;

	if (!in->subject) {
		check_gdrdrv(readiness_of(in), out);
		return;
	}
	node = rna_readiness_find_node(readiness_of(in), in->subject->device->device->name, 0);
	if (node && node->missing)
		(void)rna_finds_add(
			out, "/dev/infiniband/%s is missing: no application can use the device",
			node->name);
	else if (node && is_closed(node))
		rna_finds_add(out, "/dev/infiniband/%s has mode 0%jo: not all users can open it",
			      node->name, (uintmax_t)node->mode.number)
			->severity = RNA_SEVERITY_INFO;
	else
		check_mads(in, out);
}

/* -- CPUs and IOMMU ---------------------------------------------------------------------------- */

/*
 * These drivers choose frequencies themselves: their "powersave" follows the load, and is the
 * default (Documentation/admin-guide/pm/intel_pstate.rst, "Active Mode"; amd-pstate.rst). Of all
 * others it is the governor of the kernel, which keeps the lowest frequency (cpufreq.rst).
 */
static bool chooses_frequency_itself(const char *driver)
{
	static const char *const drivers[] = {"intel_pstate", "amd-pstate-epp", "amd_pstate_epp"};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(drivers); i++)
		if (rna_same_text(driver, drivers[i]))
			return true;
	return false;
}

/* Governors that raise the frequency when there is load: the first packets find a slow CPU. */
static bool follows_load(const char *governor)
{
	static const char *const governors[] = {"ondemand", "conservative", "schedutil"};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(governors); i++)
		if (strcmp(governor, governors[i]) == 0)
			return true;
	return false;
}

void rna_check_cpu_governor(const struct rna_rule_input *in, struct rna_finds *out)
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
void rna_check_iommu_translating(const struct rna_rule_input *in, struct rna_finds *out)
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

/* -- Containers -------------------------------------------------------------------------------- */

void rna_check_netns_exclusive(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_readiness *readiness = readiness_of(in);

	if (readiness && has_hardware(in) && rna_value_is_known(readiness->netns_exclusive) &&
	    readiness->netns_exclusive.number)
		(void)rna_finds_add(out,
				    "RDMA devices are bound to one network namespace each: a "
				    "container has only the devices that were moved into its own");
}

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
void rna_check_memlock_low(const struct rna_rule_input *in, struct rna_finds *out)
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

/* -- Rails ------------------------------------------------------------------------------------- */

/* An RDMA MTU of 4096 and its headers, see rules_link.c. */
enum { MTU_ENOUGH_FOR_RDMA = 4192 };

static bool link_layer_of(const struct rna_rule_subject *port, uint64_t *ret)
{
	*ret = port->link_layer;
	return port->link_layer != RNA_LINK_LAYER_UNKNOWN && rna_subject_is_active(port);
}

/* The link layer is configured, so the state does not matter. */
static bool configured_layer_of(const struct rna_rule_subject *port, uint64_t *ret)
{
	*ret = port->link_layer;
	return port->link_layer != RNA_LINK_LAYER_UNKNOWN;
}

static bool has_gpus(const struct rna_rule_input *in)
{
	const struct rna_topology *topology = rna_snapshot_topology(in->view->snapshot);

	return topology && topology->gpu_count > 0;
}

/* A NIC that serves GPUs belongs to their fabric; one that does not may be for storage. */
void rna_check_rails_link_layer(const struct rna_rule_input *in, struct rna_finds *out)
{
	struct rna_finding *found;
	struct rna_rail_usual place;
	uint64_t usual;

	if (in->subject->rail && has_gpus(in) &&
	    rna_rail_is_odd_in_place(in, configured_layer_of, &place)) {
		found = rna_finds_add(
			out,
			"link layer %s; %zu of %zu such ports on cards of this model, which "
			"serve GPUs as well, are %s",
			rna_link_layer_name(in->subject->link_layer), place.count, place.known,
			rna_link_layer_name((enum rna_link_layer)place.value));
		found->severity = RNA_SEVERITY_WARNING;
		found->remedy = "Set the type of {device} in the firmware like that of the others "
				"(mlxconfig -d {pci} set LINK_TYPE_P1=...) and reboot. If it is "
				"intended, add rails-link-layer to health.disable.";
	} else if (rna_rail_is_odd(in, link_layer_of, &usual)) {
		(void)rna_finds_add(out, "link layer %s; most ports of this adapter model are %s",
				    rna_link_layer_name(in->subject->link_layer),
				    rna_link_layer_name((enum rna_link_layer)usual));
	}
}

/* Of the interface of an active RoCE port; a value that limits RDMA belongs to mtu-low. */
static bool netdev_mtu_of(const struct rna_rule_subject *port, uint64_t *ret)
{
	if (!rna_subject_is_active_roce(port) || !port->netdev ||
	    !rna_value_is_known(port->netdev->mtu) ||
	    port->netdev->mtu.number < MTU_ENOUGH_FOR_RDMA)
		return false;
	*ret = port->netdev->mtu.number;
	return true;
}

void rna_check_rails_mtu(const struct rna_rule_input *in, struct rna_finds *out)
{
	uint64_t own, usual;

	if (rna_rail_is_odd(in, netdev_mtu_of, &usual) && netdev_mtu_of(in->subject, &own))
		(void)rna_finds_add(
			out, "%s has MTU %ju; most interfaces of this adapter model have %ju",
			in->subject->netdev->name, (uintmax_t)own, (uintmax_t)usual);
}

/* 1: the port has an IPoIB interface, which exists whatever the state of the port is. */
static bool ipoib_of(const struct rna_rule_subject *port, uint64_t *ret)
{
	*ret = port->netdev ? 1 : 0;
	return port->link_layer == RNA_LINK_LAYER_INFINIBAND;
}

/*
 * ib_ipoib makes an interface for each InfiniBand port (ipoib_add_one() in ulp/ipoib/ipoib_main.c),
 * and no user can delete it (ipoib_del_child_link() in ipoib_netlink.c, Linux 6.12): either the
 * driver failed, or it is in another network namespace, where CNI plugins put it for a container.
 * The host cannot tell these apart, and MPI and NCCL work without IP on each port, hence
 * information. Siblings that have one prove that ib_ipoib is loaded.
 */
void rna_check_rails_ipoib(const struct rna_rule_input *in, struct rna_finds *out)
{
	struct rna_rail_usual place;

	if (!in->subject->netdev && rna_snapshot_netdevs(in->view->snapshot) &&
	    rna_rail_is_odd_in_place(in, ipoib_of, &place))
		(void)rna_finds_add(out,
				    "no IPoIB interface, which %zu of %zu such ports have: IP and "
				    "RDMA CM do not work through this port",
				    place.count, place.known);
}

/* One finding per node: 4200 is common and a matter of preference. */
void rna_check_jumbo_frames(const struct rna_rule_input *in, struct rna_finds *out)
{
	enum { JUMBO = 9000 };
	const struct rna_rule_subject *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < in->count; i++) {
		const struct rna_rule_subject *port = &in->subjects[i];
		uint64_t mtu;

		if (!rna_device_is_nic(port->device->device) || !netdev_mtu_of(port, &mtu) ||
		    mtu >= JUMBO)
			continue;
		first = first ? first : port;
		count++;
	}
	if (first)
		(void)rna_finds_add(
			out,
			"%zu RoCE interface%s an MTU that suffices for RDMA but is below "
			"9000, which would help TCP: %s has %ju%s",
			count, count == 1 ? " has" : "s have", first->netdev->name,
			(uintmax_t)first->netdev->mtu.number, count > 1 ? ", and others" : "");
}

static bool vfs_of(const struct rna_rule_subject *port, uint64_t *ret)
{
	const struct rna_pcie *pcie = port->number == 1 ? rna_device_pcie(port->device) : NULL;

	if (!pcie || !rna_value_is_known(pcie->virtual_functions))
		return false;
	*ret = pcie->virtual_functions.number;
	return true;
}

void rna_check_rails_virtual_functions(const struct rna_rule_input *in, struct rna_finds *out)
{
	uint64_t own, usual;

	if (rna_rail_is_odd(in, vfs_of, &usual) && vfs_of(in->subject, &own))
		(void)rna_finds_add(
			out, "%ju virtual functions; most devices of this adapter model have %ju",
			(uintmax_t)own, (uintmax_t)usual);
}

/* A number for each text; the same for equal ones. */
static bool firmware_of(const struct rna_rule_subject *port, uint64_t *ret)
{
	enum { VERSION_MAX = 64 };
	const char *version = port->identity ? port->identity->firmware_version : NULL;

	if (!version || *version == '\0' || strlen(version) > VERSION_MAX)
		return false;
	for (const char *c = version; *c; c++)
		if (*c <= ' ' || *c > '~') /* not a version */
			return false;
	*ret = rna_hash_text(RNA_HASH_INIT, version);
	return true;
}

/* The firmware is the card's: the first port of its first device speaks for it. */
static bool speaks_for_card(const struct rna_rule_input *in)
{
	size_t index = (size_t)(in->subject->device - in->view->snapshot->devices);
	const struct rna_card *card = rna_card_of(in->view->cards, index);

	return in->subject > in->subjects && in->subject[-1].number == 0 &&
	       (!card || card->device_count == 0 || card->devices[0] == index);
}

static const char *find_firmware(const struct rna_rule_input *in, uint64_t wanted)
{
	uint64_t own;

	for (size_t i = 0; i < in->count; i++)
		if (firmware_of(&in->subjects[i], &own) && own == wanted)
			return in->subjects[i].identity->firmware_version;
	return "another version";
}

/* Cards that serve GPUs work together in each job; others may be updated one by one. */
void rna_check_rails_firmware(const struct rna_rule_input *in, struct rna_finds *out)
{
	struct rna_finding *found;
	uint64_t usual;

	if (!speaks_for_card(in) || !rna_rail_is_odd(in, firmware_of, &usual))
		return;
	found = rna_finds_add(out, "firmware %s; most cards of this model have %s",
			      in->subject->identity->firmware_version, find_firmware(in, usual));
	if (in->subject->rail && has_gpus(in))
		found->severity = RNA_SEVERITY_WARNING;
}
