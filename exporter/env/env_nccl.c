// SPDX-License-Identifier: Apache-2.0
/*
 * What only NCCL and RCCL have: NICs that they join, and how far a NIC may be from a GPU whose
 * memory it accesses. RCCL has the names, the algorithms and the defaults of the NCCL that it
 * follows, unless stated otherwise here (ROCm/rccl 2.21.5; ROCm/rocm-systems
 * projects/rccl, 2.31.2).
 */
#include <string.h>
#include <strings.h>

#include "rna/base/parse.h"
#include "rna/model/card.h"

#include "view/facts.h"

#include "dialect.h"

static const char *title_of(const struct rna_env_advising *advising)
{
	return advising->dialect->words.title;
}

/* -- Merging ----------------------------------------------------------------------------------- */

/*
 * NCCL joins ports into one NIC if their PCI paths are the same after it has replaced the function,
 * and with NCCL_IB_MERGE_VFS=1, the default, the device number as well (ncclIbGetPciPath() in
 * src/transport/net_ib/init.cc, ncclTopoAutoMerge() in src/graph/topo.cc, NCCL 2.30.7). Virtual
 * functions of one card follow each other on its bus, which is what this is for. In a virtual
 * machine different cards may be on one bus, as 00:05.0, 00:06.0 and so on (nccl#811, and
 * nccl-rdma-sharp-plugins#145).
 */
enum {
	MERGED_MAX = 8, /* NCCL_NET_MAX_DEVS_PER_NIC_V12; 4 in the interface before */
};

static bool is_one_slot(const struct rna_subject *a, const struct rna_subject *b)
{
	const char *x = a->device->device->pci_address, *y = b->device->device->pci_address;

	return x && y && rna_pci_is_one_device(x, y);
}

static bool is_one_bus(const struct rna_subject *a, const struct rna_subject *b)
{
	const char *x = a->device->device->pci_address, *y = b->device->device->pci_address;
	const char *end = x ? strrchr(x, ':') : NULL;

	return end && y && strncmp(x, y, (size_t)(end - x) + 1) == 0;
}

/* "the card 0000:3b:00", in the arena; without its address where cards are not known. */
static const char *say_card(struct rna_env_advising *advising, const struct rna_subject *port)
{
	const char *text =
		port->card ? rna_arena_printf(advising->arena, "the card %s", port->card->address)
			   : "one card";

	advising->failed |= !text;
	return text ? text : "";
}

/* Another card that NCCL takes for the card of this port; NULL: none. */
static const struct rna_subject *find_mistaken(const struct rna_env_ports *ports, size_t of)
{
	for (size_t i = of + 1; i < ports->count; i++)
		if (is_one_bus(ports->items[of], ports->items[i]) &&
		    !is_one_slot(ports->items[of], ports->items[i]) &&
		    !rna_env_is_one_card(ports->items[of], ports->items[i]))
			return ports->items[i];
	return NULL;
}

/* They have addresses, or they would not be on one bus. */
static const char *slot_of(const struct rna_subject *port)
{
	return port->card ? port->card->address : port->device->device->pci_address;
}

static void choose_merging(struct rna_env_advising *advising)
{
	const struct rna_env_ports *ports = &advising->ports;

	for (size_t i = 0; i < ports->count; i++) {
		const struct rna_subject *other = find_mistaken(ports, i);

		if (!other)
			continue;
		rna_env_set(advising, "NCCL_IB_MERGE_VFS", "0",
			    rna_arena_printf(advising->arena,
					     "%s and %s are different cards (%s, %s) on one PCI "
					     "bus, as in virtual machines; by itself %s takes "
					     "them for functions of one card and joins them",
					     rna_env_name(advising, ports->items[i]),
					     rna_env_name(advising, other),
					     slot_of(ports->items[i]), slot_of(other),
					     title_of(advising)));
		return;
	}
}

/* The ports of a card that NCCL joins into one NIC. */
struct merged {
	const struct rna_subject *first, *last;
	size_t count;
	bool rates_differ;
};

static struct merged find_merged(const struct rna_env_ports *ports, size_t of)
{
	const struct rna_subject *first = ports->items[of];
	struct merged ret = {.first = first, .last = first};

	for (size_t i = 0; i < ports->count; i++) {
		const struct rna_subject *port = ports->items[i];

		if (port != first && !is_one_slot(first, port))
			continue;
		if (i < of)
			return (struct merged){0}; /* found before */
		ret.last = port;
		ret.count++;
		ret.rates_differ |= rna_port_rate(port).number != rna_port_rate(first).number;
	}
	return ret;
}

/*
 * That the ports or planes of one card become one NIC is right, as long as they are equal and NCCL
 * does not have to divide them.
 */
static void warn_of_cards(struct rna_env_advising *advising)
{
	const struct rna_env_ports *ports = &advising->ports;

	for (size_t i = 0; i < ports->count; i++) {
		struct merged merged = find_merged(ports, i);

		if (merged.count <= 1 || (!merged.rates_differ && merged.count <= MERGED_MAX))
			continue;
		RNA_ENV_WARN(advising,
			     "%s to %s, %zu ports, are on %s%s: %s joins %s into one NIC; "
			     "NCCL_IB_MERGE_NICS=0 keeps them apart",
			     rna_env_name(advising, merged.first),
			     rna_env_name(advising, merged.last), merged.count,
			     say_card(advising, merged.first),
			     merged.rates_differ ? " and have different rates" : "",
			     title_of(advising),
			     merged.count > MERGED_MAX ? "at most eight of them" : "them");
	}
}

/* -- Bonds ------------------------------------------------------------------------------------- */

/*
 * The card binds a queue pair to one member of the bond, and NCCL makes one for each connection
 * (NVIDIA/nccl#1015). Each message then takes the next one, not a part of each, which is the
 * default of 2.30.7 (src/transport/net_ib/common.cc), and was documented otherwise (nccl#1401).
 */
static void choose_queue_pairs(struct rna_env_advising *advising)
{
	size_t members = rna_env_count_members(advising, false);

	if (members == 0)
		return;
	rna_env_set(advising, "NCCL_IB_QPS_PER_CONNECTION",
		    rna_arena_printf(advising->arena, "%zu", members),
		    rna_arena_printf(advising->arena,
				     "ports are bonds of %zu members, and one queue pair, of which "
				     "%s has one for each connection, uses one member (nccl#1015); "
				     "measure whether more are faster",
				     members, title_of(advising)));
	rna_env_set(advising, "NCCL_IB_SPLIT_DATA_ON_QPS", "0",
		    "messages take turns with the queue pairs, as NCCL's authors advise for bonds "
		    "(nccl#1015)");
}

/* -- GPUDirect --------------------------------------------------------------------------------- */

/* GPUs of the request. */
struct gpus {
	const struct rna_topology *topology;
	size_t first, end;
};

static struct gpus gpus_of(const struct rna_env_advising *advising)
{
	const struct rna_topology *topology = rna_snapshot_topology(advising->view->snapshot);
	struct gpus ret = {.topology = topology, .end = topology ? topology->gpu_count : 0};

	if (rna_env_is_of_gpu(advising))
		ret = (struct gpus){topology, (size_t)advising->request->gpu,
				    (size_t)advising->request->gpu + 1};
	return ret;
}

static bool has_c2c(const struct rna_topology *topology, const struct rna_gpu *gpu)
{
	const struct rna_pci_object *object = &topology->objects[gpu->object];

	return rna_platform_of(NULL, object->vendor_id, object->device_id).c2c;
}

/*
 * How many GPUs have their nearest NIC at that distance, and by default no GPUDirect because of it.
 * Over C2C NCCL uses it up to the NICs of the processor: its path type is then P2C, which is nearer
 * than PHB (mergePathType() in src/graph/paths.cc; NCCL_NET_GDR_C2C is 1 by default since 2.27).
 */
static size_t count_gpus_at(const struct gpus *gpus, enum rna_path_class path)
{
	const struct rna_topology *topology = gpus->topology;
	size_t count = 0;

	for (size_t i = gpus->first; i < gpus->end; i++)
		count += topology->affinities[i].nearest_count > 0 &&
			 topology->affinities[i].path == path &&
			 (path > RNA_PATH_NODE || !has_c2c(topology, &topology->gpus[i]));
	return count;
}

/*
 * By default NCCL lets a NIC access the memory of a GPU if only PCIe switches are between them
 * (ncclTopoCheckGdr() in src/graph/paths.cc, 2.30.7). Its next level, PHB, is the NUMA node: in its
 * tree the processor is a NUMA node, whatever the number of host bridges (ncclTopoGetXmlFromSys()
 * in src/graph/xml.cc). No source says that it is faster there, and NVIDIA/nccl#1295 measures that
 * reading over the processor can be slower, so it needs a measurement. RCCL's level is PHB by
 * itself on one kind of processor, AMD's Rome; the agent does not tell processors apart.
 */
static void warn_of_gpu_direct(struct rna_env_advising *advising)
{
	static const struct {
		enum rna_path_class path;
		const char *nearer, *level;
	} levels[] = {
		{RNA_PATH_PHB, "nearer than PHB", "PHB"},
		{RNA_PATH_NODE, "nearer than NODE", "PHB"},
		{RNA_PATH_SYS, "in their NUMA node", "SYS"},
	};
	const struct gpus gpus = gpus_of(advising);

	for (size_t i = 0; i < RNA_ARRAY_SIZE(levels); i++) {
		size_t count = count_gpus_at(&gpus, levels[i].path);

		if (count > 0)
			RNA_ENV_WARN(advising,
				     "GPUs without a NIC %s: %zu of %zu; %s copies their data "
				     "through the memory of the host, unless NCCL_NET_GDR_LEVEL is "
				     "%s; measure which of both is faster",
				     levels[i].nearer, count, gpus.end - gpus.first,
				     title_of(advising), levels[i].level);
	}
}

/*
 * RCCL 2.21.5 uses dma-buf only if this variable says so (src/misc/rocmwrap.cc); 2.31.2 does by
 * itself. NCCL does so since it has dma-buf.
 */
static void choose_dma_buf(struct rna_env_advising *advising)
{
	if (rna_env_needs_dma_buf(advising, "amdgpu"))
		rna_env_set(
			advising, "NCCL_DMABUF_ENABLE", "1",
			"dma-buf is the only way for NICs to access the memory of GPUs here (no "
			"module for peer memory is loaded), and RCCL 2.21 does not use it by "
			"itself");
}

/* -- Virtual machines -------------------------------------------------------------------------- */

/*
 * Without NCCL_TOPO_FILE NCCL reads virtualTopology.xml, if it exists, before it looks into /sys
 * (ncclTopoGetSystem() in src/graph/topo.cc; of RCCL, too).
 */
static void warn_of_flat_topology(struct rna_env_advising *advising)
{
	if (rna_env_is_flat_guest(advising) && !rna_env_given(advising, "NCCL_TOPO_FILE"))
		rna_env_warn(advising,
			     "the PCI tree of this virtual machine does not show which NIC is near "
			     "which GPU; set NCCL_TOPO_FILE to the topology file that the provider "
			     "has for this type of machine, unless "
			     "/var/run/nvidia-topologyd/virtualTopology.xml exists");
}

/* -- The file of the node ---------------------------------------------------------------------- */

/*
 * NCCL reads it as well, and what it sets is hidden from those who read the environment of a job.
 * RCCL has another file (/etc/rccl.conf, its documentation of 7.1).
 */
static void warn_of_file(struct rna_env_advising *advising)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(advising->view->snapshot);
	const struct rna_nccl_file *file = readiness ? &readiness->nccl_file : NULL;
	const char *text = NULL;

	if (!file || advising->request->library != RNA_ENV_NCCL)
		return;
	for (size_t i = 0; i < RNA_NCCL_FILE_COUNT; i++)
		if (file->values[i])
			text = rna_arena_printf(advising->arena, "%s%s%s=%.128s", text ? text : "",
						text ? ", " : "", rna_nccl_file_names[i],
						file->values[i]);
	if (text)
		RNA_ENV_WARN(advising,
			     "/etc/nccl.conf of this node sets %s for all jobs outside of "
			     "containers; variables of a job, such as these, take precedence",
			     text);
}

/* -- Further variables ------------------------------------------------------------------------- */

/*
 * Since 2.30 ports are also merged by the rails of NCCL_IB_HCA (ncclTopoGetMergePolicy() in
 * src/graph/topo.cc); without rails that leaves none merged.
 */
static void warn_of_merge_policy(struct rna_env_advising *advising)
{
	const char *given = rna_env_given(advising, "NCCL_NET_MERGE_POLICY");

	if (given && strcasecmp(given, "RAIL") == 0 &&
	    !rna_env_networks_are_apart(&advising->ports))
		rna_env_warn(advising,
			     "NCCL_NET_MERGE_POLICY=RAIL of the environment merges ports of one "
			     "rail, and NCCL_IB_HCA here names no rails: none would be merged");
}

/* Both default to NCCL_IB_TC (src/transport/net_ib/connect.cc and gin.cc, 2.30.7). */
static void warn_of_classes(struct rna_env_advising *advising)
{
	static const char *const names[] = {"NCCL_IB_FIFO_TC", "NCCL_GIN_IB_TC"};
	const char *class = NULL;

	for (size_t i = 0; i < advising->variable_count; i++)
		if (strcmp(advising->variables[i].name, "NCCL_IB_TC") == 0)
			class = advising->variables[i].value;
	for (size_t i = 0; class && i < RNA_ARRAY_SIZE(names); i++) {
		const char *given = rna_env_given(advising, names[i]);

		if (given && strcmp(given, class) != 0)
			RNA_ENV_WARN(advising,
				     "%s=%.16s of the environment takes packets out of the traffic "
				     "class that NCCL_IB_TC=%s has; without it they would be in it",
				     names[i], given, class);
	}
}

/* Overview of NCCL/gIB, cloud.google.com/ai-hypercomputer/docs/nccl/overview */
static void warn_of_google(struct rna_env_advising *advising)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(advising->view->snapshot);
	const char *net = rna_env_given(advising, "NCCL_NET");

	if (readiness && rna_same_text(readiness->dmi.vendor, "Google") &&
	    !(net && strcasecmp(net, "gIB") == 0))
		rna_env_warn(advising,
			     "Google recommends its plugin NCCL/gIB on machines with RDMA, with "
			     "the variables that come with it instead of these");
}

/* -- All of it --------------------------------------------------------------------------------- */

/*
 * A process asks another one of its node for a connection by the number of the NIC, and numbers are
 * those of the NICs that NCCL_IB_HCA leaves (sendSetup() in src/transport/net.cc,
 * ncclIbInitDevices() in src/transport/net_ib/init.cc, 2.30.7).
 */
static void warn_of_one_gpu(struct rna_env_advising *advising)
{
	if (rna_env_is_of_gpu(advising))
		RNA_ENV_WARN(advising,
			     "for a job that has no other GPU of this node: the processes of a job "
			     "on one node need the same NCCL_IB_HCA, because %s numbers NICs by it",
			     title_of(advising));
}

void rna_env_choose_nccl(struct rna_env_advising *advising)
{
	choose_merging(advising);
	warn_of_cards(advising);
	choose_queue_pairs(advising);
	warn_of_gpu_direct(advising);
	warn_of_flat_topology(advising);
	warn_of_merge_policy(advising);
	warn_of_classes(advising);
	warn_of_google(advising);
	warn_of_one_gpu(advising);
	warn_of_file(advising);
}

void rna_env_choose_rccl(struct rna_env_advising *advising)
{
	rna_env_choose_nccl(advising);
	choose_dma_buf(advising);
	rna_env_warn_of_vendor(advising, RNA_ENV_VENDOR_AMD, "AMD");
}
