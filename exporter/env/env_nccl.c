// SPDX-License-Identifier: Apache-2.0
/*
 * What only NCCL and RCCL have: NICs that they join, and how far a NIC may be from a GPU whose
 * memory it accesses. RCCL has the names, the algorithms and the defaults of the NCCL that it
 * follows, unless stated otherwise here (ROCm/rccl 2.21.5; ROCm/rocm-systems
 * projects/rccl, 2.31.2).
 */
#include <string.h>

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
	PORTS_MAX = 32, /* MAX_IB_DEVS of NCCL */
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

static bool is_one_card(const struct rna_subject *a, const struct rna_subject *b)
{
	return a->card && a->card == b->card;
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
	for (size_t i = of + 1; i < ports->count && i < PORTS_MAX; i++)
		if (is_one_bus(ports->items[of], ports->items[i]) &&
		    !is_one_slot(ports->items[of], ports->items[i]) &&
		    !is_one_card(ports->items[of], ports->items[i]))
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

	for (size_t i = 0; i < ports->count && i < PORTS_MAX; i++) {
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

	for (size_t i = 0; i < ports->count && i < PORTS_MAX; i++) {
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

/* -- GPUDirect --------------------------------------------------------------------------------- */

/* Is a method known by which NICs can access the memory of GPUs? */
static bool is_ready_for_gpudirect(const struct rna_view *view)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(view->snapshot);

	return readiness && (readiness->gpudirect_state == RNA_GPUDIRECT_READY ||
			     readiness->gpudirect_state == RNA_GPUDIRECT_READY_FOR_NEWER);
}

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
 * in src/graph/xml.cc). Over one host bridge this is faster, because otherwise all data are copied.
 * From one host bridge to another it seldom is, so it needs a measurement. RCCL's level is PHB by
 * itself on one kind of processor, AMD's Rome; the agent does not tell processors apart.
 */
static void choose_gpu_direct(struct rna_env_advising *advising)
{
	const struct gpus gpus = gpus_of(advising);
	size_t bridge = count_gpus_at(&gpus, RNA_PATH_PHB);
	size_t node = count_gpus_at(&gpus, RNA_PATH_NODE);
	size_t system = count_gpus_at(&gpus, RNA_PATH_SYS), all = gpus.end - gpus.first;

	if (bridge > 0 && is_ready_for_gpudirect(advising->view))
		rna_env_set(
			advising, "NCCL_NET_GDR_LEVEL", "PHB",
			rna_arena_printf(advising->arena,
					 "%zu of %zu GPUs reach their NIC over a host bridge; by "
					 "itself %s uses GPUDirect below switches only",
					 bridge + node, all, title_of(advising)));
	else if (bridge + node > 0)
		RNA_ENV_WARN(advising,
			     "GPUs without a NIC nearer than %s: %zu of %zu; %s copies their data "
			     "through the memory of the host, unless NCCL_NET_GDR_LEVEL is PHB%s",
			     rna_path_class_name(bridge > 0 ? RNA_PATH_PHB : RNA_PATH_NODE),
			     bridge + node, all, title_of(advising),
			     bridge > 0 ? "" : "; measure which of both is faster");
	if (system > 0)
		RNA_ENV_WARN(
			advising,
			"GPUs without a NIC in their NUMA node: %zu of %zu; %s copies their data "
			"through the memory of the host, unless NCCL_NET_GDR_LEVEL is SYS",
			system, all, title_of(advising));
}

/*
 * RCCL 2.21.5 uses dma-buf only if this variable says so (src/misc/rocmwrap.cc); 2.31.2 does by
 * itself. NCCL does so since it has dma-buf.
 */
static void choose_dma_buf(struct rna_env_advising *advising)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(advising->view->snapshot);
	struct rna_value peer, buffer;

	if (!readiness || !rna_same_text(readiness->gpu_driver.name, "amdgpu"))
		return;
	peer = readiness->gpudirect[RNA_GPUDIRECT_PEER_MEMORY];
	buffer = readiness->gpudirect[RNA_GPUDIRECT_DMA_BUF];
	if (rna_value_is_known(peer) && peer.number == 0 && rna_value_is_known(buffer) &&
	    buffer.number == 1)
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
	choose_gpu_direct(advising);
	warn_of_flat_topology(advising);
	warn_of_one_gpu(advising);
	warn_of_file(advising);
}

void rna_env_choose_rccl(struct rna_env_advising *advising)
{
	rna_env_choose_nccl(advising);
	choose_dma_buf(advising);
	rna_env_warn_of_vendor(advising, RNA_ENV_VENDOR_AMD, "AMD");
}
