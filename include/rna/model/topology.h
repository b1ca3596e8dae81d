/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topology: the PCI tree of this node with its GPUs and NICs, and the distances between them.
 *
 * Distances are those of `nvidia-smi topo -m`, counted in switches: the upstream port of a switch
 * and its downstream ports are one switch, whatever the number of bridges in between. If a locality
 * is unknown, so is the class. Sources: hwloc; PCI sysfs (Documentation/ABI/testing/sysfs-bus-pci);
 * PCI Express Base Specification 7.5.3 (port types, link registers); nvidia-smi(1), section "topo".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/model/part.h"
#include "rna/model/value.h"

/* The distance of two functions, nearest first. The number is the value of a metric. */
enum rna_path_class {
	RNA_PATH_SAME, /* X: one function */
	RNA_PATH_PIX,  /* at most one PCIe switch, or functions of one card */
	RNA_PATH_PXB,  /* several PCIe switches, no host bridge */
	RNA_PATH_PHB,  /* over a PCIe host bridge */
	RNA_PATH_NODE, /* over the interconnect between host bridges in a NUMA node */
	RNA_PATH_SYS,  /* over the interconnect of NUMA nodes */
	RNA_PATH_UNKNOWN,
	RNA_PATH_COUNT,
};

const char *rna_path_class_name(enum rna_path_class path); /* "X", "PIX", ..., "unknown" */

/* The role of an object in the tree. */
enum rna_pci_role {
	RNA_PCI_HOST_BRIDGE, /* a root of the tree; it has no PCI address: "pci0000:3a" */
	RNA_PCI_ROOT_PORT,
	RNA_PCI_UPSTREAM,   /* port of a switch, towards the root */
	RNA_PCI_DOWNSTREAM, /* port of a switch, away from the root */
	RNA_PCI_BRIDGE,     /* any other bridge, or unknown port type */
	RNA_PCI_GPU,
	RNA_PCI_NIC,
	RNA_PCI_DATA_DIRECT, /* 15b3:2100, through which a ConnectX-8 reaches GPU memory */
	RNA_PCI_ROLE_COUNT,
};

const char *rna_pci_role_name(enum rna_pci_role role); /* "gpu", "root-port", ... */

/*
 * The link between an object and its parent. Absent: no PCIe link, or not reported by the kernel.
 */
struct rna_pcie_link {
	struct rna_value speed; /* millions of transfers per second: 2500, 5000, 8000 ... 64000 */
	struct rna_value width; /* lanes */
	struct rna_value max_speed; /* maximum of this end */
	struct rna_value max_width;
};

enum { RNA_NO_OBJECT = -1 };

/* One function of the PCI tree. */
struct rna_pci_object {
	const char *address; /* "0000:3b:00.0"; of a host bridge "pci0000:3a" */
	enum rna_pci_role role;
	int parent;         /* index of an earlier object, or RNA_NO_OBJECT */
	uint32_t class_id;  /* class and subclass: 0x0302 */
	uint32_t vendor_id; /* 0: unknown */
	uint32_t device_id;
	int numa_node;    /* -1: unknown */
	int package;      /* socket number of the kernel; -1: unknown */
	const char *cpus; /* of the NUMA node: "0-15,32-47"; NULL: unknown */
	struct rna_pcie_link link;
};

/* A GPU: one PCI function, even if its driver creates several devices for it. */
struct rna_gpu {
	unsigned object;
	const char *model;      /* "NVIDIA H100 80GB HBM3"; NULL: unknown */
	const char *uuid;       /* "GPU-..."; NULL: unknown */
	const char *driver;     /* kernel driver bound to it, or NULL */
	struct rna_value minor; /* of /dev/nvidiaN, or of the DRM render node */
	/* devices of the driver on this function: 6 in CPX mode, otherwise 1 */
	unsigned os_devices;
};

/*
 * Where the RDMA device of a NIC is. What the agent knows of a function without one comes from the
 * auxiliary devices that its driver creates: mlx5_core makes one for RDMA (mlx5_core.rdma.N), one
 * for Ethernet and so on, and another driver binds to each (drivers/net/ethernet/mellanox/mlx5/
 * core/dev.c, Linux 5.11). A driver without such devices registers the RDMA device itself.
 */
enum rna_nic_rdma {
	RNA_NIC_RDMA_UNKNOWN,  /* only hwloc knows the function */
	RNA_NIC_RDMA_PRESENT,  /* the function has a hardware RDMA device, which is watched */
	RNA_NIC_RDMA_EXCLUDED, /* the settings exclude the device, or the function */
	RNA_NIC_RDMA_SHARED,   /* another function of the card has it: LAG, dual-port RoCE */
	RNA_NIC_RDMA_HIDDEN,   /* its RDMA driver is bound: in another network namespace */
	/*
	 * The function has the class directory "infiniband", with nothing in it: as HIDDEN if the
	 * namespaces are exclusive.
	 */
	RNA_NIC_RDMA_EMPTY,
	RNA_NIC_RDMA_OFF,     /* the driver made Ethernet without RDMA: devlink enable_rdma */
	RNA_NIC_RDMA_UNBOUND, /* the driver made RDMA, and no RDMA driver is bound to it */
	RNA_NIC_RDMA_NONE,    /* no device, and the kernel gives no reason */
};

/*
 * A NIC: a physical function, or a virtual function whose physical function is not visible (in a
 * VM).
 *
 * The list has functions with an RDMA device, and RDMA-capable functions that currently have none:
 * those of an InfiniBand, Omni-Path or fabric class, network functions of NVIDIA (15b3) and HPE
 * Slingshot (17db), and those for RDMA alone (rna/model/driver.h). Other Ethernet functions
 * (management, NAT, a thousand virtual ones) would hide these. One is listed if another function of
 * its vendor and device has an RDMA device, or if its driver makes RDMA devices and it either
 * shares a root port with a GPU, or is of a model that a node with GPUs has more of than servers
 * have ports.
 */
struct rna_nic {
	unsigned object;
	enum rna_nic_rdma rdma;
	const char *driver; /* kernel driver bound to it, or NULL */
	/* PCI subsystem, vendor in the upper half: the kind of board; 0: unknown */
	uint32_t subsystem;
	bool switch_management; /* manages NVSwitches, carries no traffic */
	int data_direct;        /* object through which it reaches GPU memory, or RNA_NO_OBJECT */
	unsigned virtual_functions; /* folded into it */
	unsigned scalable_functions;
	size_t netdev_count;
	const char **netdevs; /* names, sorted; without those of its VFs and SFs */
	/*
	 * RDMA devices, sorted: of the function itself, software devices on its interfaces (rxe),
	 * and that of the LAG to which it belongs.
	 */
	size_t device_count;
	const char **devices;
	int lag; /* index of nics: the other function that has the device of its LAG; -1: none */
	/*
	 * A rail is a cable that serves GPUs, or several of one card that are planes of it. From 0,
	 * in order of PCI addresses; -1: none. If there are GPUs nearby, only NICs that serve GPUs
	 * have a rail: the NIC of a GPU, or a NIC as near to one and of the same kind (vendor,
	 * device, class) as the NIC of a GPU, unless each GPU has its own without it. Storage and
	 * frontend NICs then have none, nor have functions that no card uses (struct rna_nic_fact).
	 * Otherwise the NICs of the most frequent kind among the eligible ones (below) have a rail;
	 * of all such kinds if several are equally frequent. Members of a LAG share one, as planes
	 * do. A NIC that
	 * has lost its RDMA device keeps its number; where most GPUs have a NIC behind their switch
	 * and one has none, a number stays free for it. While a NIC is missing that had a rail, the
	 * numbers are those of before, see below.
	 */
	int rail;
};

/* What is remembered of a NIC, so that rails keep their numbers. */
struct rna_known_nic {
	const char *address; /* of the slot: a card that is replaced keeps the rail */
	uint32_t vendor_id;
	uint32_t device_id;
	bool had_device; /* of RDMA */
	int rail;        /* -1: it had none */
};

/*
 * The NICs of a node when all that had a rail were there, or those that its profile declares. The
 * loop counts references and may replace it while a job still uses the old one; the content is
 * const.
 */
struct rna_known_rails {
	unsigned refs;
	bool declared;           /* these are all the rails there are, whatever the tree suggests */
	struct rna_arena *arena; /* owns this struct and its texts */
	size_t gpu_count;
	size_t count;
	struct rna_known_nic *nics;
};

/* The NICs at these PCI addresses, in the order of their rails. NULL: no memory. */
struct rna_known_rails *rna_known_rails_declare(const char *const *addresses, size_t count,
						size_t gpu_count);
/* Are these the ones that were declared so? rails: NULL: none are. */
bool rna_known_rails_are(const struct rna_known_rails *rails, const char *const *addresses,
			 size_t count);

/* With room for that many NICs; the caller fills them in. One reference. NULL: no memory. */
struct rna_known_rails *rna_known_rails_new(size_t room);
struct rna_known_rails *rna_known_rails_ref(struct rna_known_rails *rails);   /* accepts NULL */
struct rna_known_rails *rna_known_rails_unref(struct rna_known_rails *rails); /* accepts NULL */
RNA_DEFINE_CLEANUP(struct rna_known_rails, rna_known_rails_unref)

/*
 * What its devices tell of a function, beyond the PCI tree. Functions of which they tell nothing
 * that matters have none.
 */
struct rna_nic_fact {
	const char *address; /* of the function */
	uint64_t rate;       /* bytes per second, the highest so far; 0: not known, or as all */
	/*
	 * No port of it is used, nor that of the same function on any other card of its model,
	 * while others are: the second port of dual-port cards with one cable each, the silent half
	 * of cards in two slots (drivers/net/ethernet/mellanox/mlx5/core/lib/sd.c, Linux 6.12).
	 */
	bool unused;
	/*
	 * Another function of the card, whose rail is that of this one as well: they are planes of
	 * one rail, or in two slots and behind one cable. NULL: none.
	 */
	const char *rail_of;
};

/* Likewise counted and const. */
struct rna_nic_facts {
	unsigned refs;
	struct rna_arena *arena; /* owns this struct and its texts */
	size_t count;
	struct rna_nic_fact *items; /* by address */
};

/*
 * Those of a view that has its subjects. previous: the last ones, which stay where nothing is known
 * at the moment; NULL: none. One reference. NULL: no memory.
 */
struct rna_view;
struct rna_nic_facts *rna_nic_facts_make(const struct rna_view *view,
					 const struct rna_nic_facts *previous);
/* NULL is as good as facts that tell nothing. */
bool rna_nic_facts_are_same(const struct rna_nic_facts *a, const struct rna_nic_facts *b);
const struct rna_nic_fact *rna_nic_facts_find(const struct rna_nic_facts *facts,
					      const char *address);   /* NULL: none; accepts NULL */
struct rna_nic_facts *rna_nic_facts_ref(struct rna_nic_facts *facts); /* accepts NULL */
struct rna_nic_facts *rna_nic_facts_unref(struct rna_nic_facts *facts); /* accepts NULL */
RNA_DEFINE_CLEANUP(struct rna_nic_facts, rna_nic_facts_unref)

/*
 * The nearest NICs of one GPU, and the NIC assigned to it. Eligible are NICs with an RDMA device
 * (if no NIC has one: all), except those that manage NVSwitches.
 */
struct rna_gpu_affinity {
	size_t nearest_count;     /* several if equally near; 0: none is eligible */
	const unsigned *nearest;  /* indexes of nics, ascending */
	enum rna_path_class path; /* to each of them; unknown if nearest_count is 0 */
	/*
	 * Index of nics, or -1. The assignment gives each GPU its own NIC among those of the same
	 * path class as the nearest. Of all such assignments it takes that with the fewest bridges
	 * in total, then the highest rates, the fastest links, the model that is as near to most
	 * other GPUs, then the order of addresses. If there are fewer NICs
	 * that near than GPUs, GPUs share a NIC: half of a near NIC is better than a far one, which
	 * is NCCL's choice, too. (With more than 64 GPUs or 4096 NICs it is the first nearest.)
	 */
	int nic;
};

struct rna_topology {
	struct rna_part part;
	bool hwloc; /* did hwloc answer? otherwise all is from sysfs */
	/*
	 * "FILE: ...": why an hwloc XML file could not be used, and what to do. NULL: no problem.
	 */
	const char *problem;
	size_t object_count; /* parents before children, otherwise by address */
	const struct rna_pci_object *objects;
	size_t gpu_count;
	const struct rna_gpu *gpus; /* by PCI address */
	size_t nic_count;
	/* those with an RDMA device of their own first, both by PCI address */
	const struct rna_nic *nics;
	const struct rna_gpu_affinity *affinities; /* one for each GPU */
	/* Something is missing that the memory or the profile knows: rails have its numbers. */
	bool rails_recalled;
};

/* The distance of two objects of one tree. O(depth); pairs are not stored. */
enum rna_path_class rna_topology_path(const struct rna_topology *topology, unsigned a, unsigned b);

/*
 * The distance of a GPU (index of gpus) and a NIC (index of nics). If the NIC's Data Direct
 * function is nearer, its distance counts, because data takes that path. nvidia-smi prints the path
 * of the NIC itself.
 */
enum rna_path_class rna_topology_gpu_path(const struct rna_topology *topology, unsigned gpu,
					  unsigned nic);

/*
 * Creates the affinities of a topology, in arena, from its objects, gpus and nics, which the caller
 * has filled, and sets the rails in nics, the topology's own array. Pure. 0 or -ENOMEM.
 *
 * known: the rails of before, or NULL. If a NIC that had one is missing, or has no RDMA device, or
 * there are fewer GPUs than before, each NIC keeps the rail that it had, or that it had none; the
 * number of a missing one stays free. A NIC that was never seen is numbered behind the others, and
 * only if it is of their model. If all are there, the numbers are as those of a node without a
 * memory, and so they are if no NIC of before is there: it is another machine.
 * facts: NULL: nothing is known but the tree.
 */
int rna_topology_assign(struct rna_topology *topology, struct rna_nic *nics,
			const struct rna_known_rails *known, const struct rna_nic_facts *facts,
			struct rna_arena *arena);

/*
 * The NIC at a PCI address. NULL: none; topology and address may be NULL.
 */
const struct rna_nic *rna_topology_nic_at(const struct rna_topology *topology, const char *address);

/*
 * The NIC of an RDMA device: found by device name, otherwise by its function or its PF. NULL: none.
 */
struct rna_device;
const struct rna_nic *rna_topology_find_nic(const struct rna_topology *topology,
					    const struct rna_device *device);

/* Index of the object with this address, or RNA_NO_OBJECT. */
int rna_topology_find_object(const struct rna_topology *topology, const char *address);
