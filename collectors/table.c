// SPDX-License-Identifier: Apache-2.0
/*
 * The collectors, and how they depend on each other, on devices and on events. rna/collector.h
 * says what each column means. To add one: an id in rna/model/part.h, a row here, and a file with
 * its function.
 */
#include "collectors.h"
#include "compare.h"

/* descriptors: as many as a port of an mlx5 device, the most common one, has, and some more. */

/* clang-format off */
const struct rna_collector rna_collectors[RNA_COLLECTOR_COUNT] = {
	[RNA_COLLECTOR_PRESENCE] = {
		.id = RNA_COLLECTOR_PRESENCE,
		.name = "presence",
		.help = "Which RDMA devices there are and what they sit on.",
		.events = RNA_AT(DEVICE) | RNA_AT(GONE) | RNA_AT(LOST),
		.lists = RNA_LISTS_DEVICES,
		.compare = rna_compare_presences,
		.collect = rna_collect_presence,
	},
	[RNA_COLLECTOR_STATE] = {
		.id = RNA_COLLECTOR_STATE,
		.name = "state",
		.help = "Logical and physical state of each port.",
		.per_device = true,
		.events = RNA_AT(INTERFACE) | RNA_AT(PORT) | RNA_AT(LID) | RNA_AT(GONE) | RNA_AT(LOST),
		.compare = rna_compare_states,
		.descriptors = 3,
		.collect = rna_collect_state,
	},
	[RNA_COLLECTOR_IDENTITY] = {
		.id = RNA_COLLECTOR_IDENTITY,
		.name = "identity",
		.help = "GUIDs, firmware, board and link layer.",
		.per_device = true,
		.events = RNA_AT(LOST),
		.lists = RNA_LISTS_LINK_LAYERS,
		.compare = rna_compare_identities,
		.collect = rna_collect_identity,
	},
	[RNA_COLLECTOR_LINK] = {
		.id = RNA_COLLECTOR_LINK,
		.name = "link",
		.help = "Rate, width, speed, MTU, LIDs and capabilities of each port.",
		.per_device = true,
		.follows = RNA_OF(STATE),
		.events = RNA_AT(LID) | RNA_AT(LOST),
		.events_later = RNA_AT(INTERFACE) | RNA_AT(PORT), /* the MTU */
		.compare = rna_compare_links,
		.collect = rna_collect_link,
	},
	[RNA_COLLECTOR_COUNTERS] = {
		.id = RNA_COLLECTOR_COUNTERS,
		.name = "counters",
		.help = "InfiniBand performance counters of each port.",
		.per_device = true,
		.descriptors = 32,
		.collect = rna_collect_counters,
	},
	[RNA_COLLECTOR_HW_COUNTERS] = {
		.id = RNA_COLLECTOR_HW_COUNTERS,
		.name = "hw_counters",
		.help = "Counters of the driver and of the kernel's connection manager.",
		.per_device = true,
		.descriptors = 116,
		.collect = rna_collect_hw_counters,
	},
	[RNA_COLLECTOR_GIDS] = {
		.id = RNA_COLLECTOR_GIDS,
		.name = "gids",
		.help = "GID tables of the ports: what addresses they are reached under.",
		.per_device = true,
		.later = true,
		.follows = RNA_OF(STATE) | RNA_OF(NETDEV),
		.events = RNA_AT(ADDRESS) | RNA_AT(LID) | RNA_AT(GID) | RNA_AT(LOST),
		/*
		 * A second time, because the kernel fills GID tables from a work queue
		 * (drivers/infiniband/core/roce_gid_mgmt.c).
		 */
		.events_later = RNA_AT(ADDRESS) | RNA_AT(GID),
		.compare = rna_compare_gids,
		.collect = rna_collect_gids,
	},
	[RNA_COLLECTOR_FABRIC] = {
		.id = RNA_COLLECTOR_FABRIC,
		.name = "fabric",
		.help = "What InfiniBand ports know of the fabric: the other end of the cable, the subnet manager.",
		.per_device = true,
		.link_layer = RNA_LINK_LAYER_INFINIBAND,
		.later = true,
		.follows = RNA_OF(STATE) | RNA_OF(LINK),
		.events_later = RNA_AT(PORT) | RNA_AT(LID),
		.settles = RNA_USEC_PER_SEC,
		.pause = 10 * RNA_USEC_PER_SEC,
		.recalled = true,
		.collect = rna_collect_fabric,
	},
	[RNA_COLLECTOR_PCIE] = {
		.id = RNA_COLLECTOR_PCIE,
		.name = "pcie",
		.help = "Links of the PCIe path up to the root port, and the errors on it.",
		.per_device = true,
		.own_path = true,
		.later = true,
		.collect = rna_collect_pcie,
	},
	[RNA_COLLECTOR_ETHERNET] = {
		.id = RNA_COLLECTOR_ETHERNET,
		.name = "ethernet",
		.help = "Links, FEC, pause frames and driver statistics of Ethernet interfaces; driver statistics of IPoIB interfaces.",
		.per_device = true,
		.functions = RNA_ON(PF) | RNA_ON(GUEST_VF) | RNA_ON(VIRTUAL),
		.later = true,
		.needs = RNA_OF(NETDEV),
		.follows = RNA_OF(NETDEV),
		.collect = rna_collect_ethernet,
	},
	[RNA_COLLECTOR_RESOURCES] = {
		.id = RNA_COLLECTOR_RESOURCES,
		.name = "resources",
		.help = "RDMA objects on a device: whether it is in use.",
		.per_device = true,
		.later = true,
		.collect = rna_collect_resources,
	},
	[RNA_COLLECTOR_QOS] = {
		.id = RNA_COLLECTOR_QOS,
		.name = "qos",
		.help = "Priorities, PFC, ETS, ECN and VLANs of RoCE ports.",
		.per_device = true,
		.link_layer = RNA_LINK_LAYER_ETHERNET,
		.later = true,
		.needs = RNA_OF(NETDEV),
		.follows = RNA_OF(NETDEV),
		.collect = rna_collect_qos,
	},
	[RNA_COLLECTOR_VIRTUAL_FUNCTIONS] = {
		.id = RNA_COLLECTOR_VIRTUAL_FUNCTIONS,
		.name = "virtual_functions",
		.help = "Virtual functions of a device (SR-IOV): driver or user, and configuration.",
		.per_device = true,
		.functions = RNA_ON(PF),
		.later = true,
		.collect = rna_collect_virtual_functions,
	},
	[RNA_COLLECTOR_MODULE] = {
		.id = RNA_COLLECTOR_MODULE,
		.name = "module",
		.help = "Transceivers and cables of Ethernet ports: temperature, light, and their limits.",
		.per_device = true,
		.functions = RNA_ON(PF),
		.link_layer = RNA_LINK_LAYER_ETHERNET,
		.later = true,
		.needs = RNA_OF(NETDEV),
		.follows = RNA_OF(NETDEV),
		.collect = rna_collect_module,
	},
	[RNA_COLLECTOR_NETDEV] = {
		.id = RNA_COLLECTOR_NETDEV,
		.name = "netdev",
		.help = "Network interfaces and which port each serves.",
		.needs = RNA_OF(PRESENCE),
		.follows = RNA_OF(PRESENCE) | RNA_OF(STATE),
		.source = RNA_SOURCE_RTNETLINK,
		.events = RNA_AT(INTERFACE) | RNA_AT(PORT) | RNA_AT(LOST),
		.lists = RNA_LISTS_INTERFACES,
		.compare = rna_compare_netdevs,
		.collect = rna_collect_netdev,
	},
	[RNA_COLLECTOR_GATEWAYS] = {
		.id = RNA_COLLECTOR_GATEWAYS,
		.name = "gateways",
		.help = "Gateways of RoCE interfaces, and whether the kernel's neighbour table knows them.",
		.later = true,
		.needs = RNA_OF(NETDEV),
		.follows = RNA_OF(NETDEV),
		.collect = rna_collect_gateways,
	},
	[RNA_COLLECTOR_LLDP] = {
		.id = RNA_COLLECTOR_LLDP,
		.name = "lldp",
		.help = "Who is at the other end of Ethernet cables, as lldpd heard it.",
		.later = true,
		.collect = rna_collect_lldp,
	},
	[RNA_COLLECTOR_TOPOLOGY] = {
		.id = RNA_COLLECTOR_TOPOLOGY,
		.name = "topology",
		.help = "The PCI tree, GPUs and NICs, and which are near each other.",
		.later = true,
		.needs = RNA_OF(PRESENCE),
		.follows = RNA_OF(PRESENCE) | RNA_OF(NETDEV), /* netdev: which are a LAG */
		.events_later = RNA_AT(PCI) | RNA_AT(LOST), /* functions come by the hundred */
		.compare = rna_compare_topologies,
		.collect = rna_collect_topology,
	},
	[RNA_COLLECTOR_READINESS] = {
		.id = RNA_COLLECTOR_READINESS,
		.name = "readiness",
		.help = "What the node needs for RDMA and GPUDirect: drivers, modules, device files, limits.",
		.later = true,
		.collect = rna_collect_readiness,
	},
	[RNA_COLLECTOR_PROCESS] = {
		.id = RNA_COLLECTOR_PROCESS,
		.name = "process",
		.help = "The agent's own process.",
		.collect = rna_collect_process,
	},
};
/* clang-format on */
