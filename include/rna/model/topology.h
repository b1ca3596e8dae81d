/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topology: the PCI tree of this node as far as GPUs and NICs hang on it, and which of them are
 * near each other.
 *
 * Distances are those of `nvidia-smi topo -m`, counted in switches: the upstream port of a switch
 * and its downstream ports are one switch, whatever the number of bridges in between. Where a
 * locality is not known, the class is not known either; nothing is guessed.
 * Sources: hwloc; PCI sysfs (Documentation/ABI/testing/sysfs-bus-pci); PCI Express Base
 * Specification 7.5.3 (port types, link registers); nvidia-smi(1), section "topo".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/model/part.h"
#include "rna/model/value.h"

/* How far apart two functions are; nearer ones come first. The order is a metric's value. */
enum rna_path_class {
	RNA_PATH_SAME, /* X: one function */
	RNA_PATH_PIX,  /* at most one PCIe switch, or functions of one card */
	RNA_PATH_PXB,  /* several PCIe switches, no host bridge */
	RNA_PATH_PHB,  /* over a PCIe host bridge */
	RNA_PATH_NODE, /* over the interconnect of host bridges within a NUMA node */
	RNA_PATH_SYS,  /* over the interconnect of NUMA nodes */
	RNA_PATH_UNKNOWN,
	RNA_PATH_COUNT,
};

const char *rna_path_class_name(enum rna_path_class path); /* "X", "PIX", ..., "unknown" */

/* What an object of the tree is. */
enum rna_pci_role {
	RNA_PCI_HOST_BRIDGE, /* a root of the tree; it has no PCI address: "pci0000:3a" */
	RNA_PCI_ROOT_PORT,
	RNA_PCI_UPSTREAM,   /* port of a switch, towards the root */
	RNA_PCI_DOWNSTREAM, /* port of a switch, away from the root */
	RNA_PCI_BRIDGE,     /* any other, or one whose kind is not known */
	RNA_PCI_GPU,
	RNA_PCI_NIC,
	RNA_PCI_DATA_DIRECT, /* 15b3:2100, through which a ConnectX-8 reaches GPU memory */
	RNA_PCI_ROLE_COUNT,
};

const char *rna_pci_role_name(enum rna_pci_role role); /* "gpu", "root-port", ... */

/* The link between an object and what is above it. Absent: no PCIe, or the kernel does not tell. */
struct rna_pcie_link {
	struct rna_value speed; /* millions of transfers per second: 2500, 5000, 8000 ... 64000 */
	struct rna_value width; /* lanes */
	struct rna_value max_speed; /* what this end can do */
	struct rna_value max_width;
};

enum { RNA_NO_OBJECT = -1 };

/* One function of the PCI tree. */
struct rna_pci_object {
	const char *address; /* "0000:3b:00.0"; of a host bridge "pci0000:3a" */
	enum rna_pci_role role;
	int parent;         /* index of an object in front of this one, or RNA_NO_OBJECT */
	uint32_t class_id;  /* class and subclass: 0x0302 */
	uint32_t vendor_id; /* 0: unknown */
	uint32_t device_id;
	int numa_node; /* -1: unknown */
	int package;   /* socket, as the kernel numbers them; -1: unknown */
	struct rna_pcie_link link;
};

/* A GPU: one PCI function, however many devices its driver makes of it. */
struct rna_gpu {
	unsigned object;
	const char *model;      /* "NVIDIA H100 80GB HBM3"; NULL: nobody tells */
	const char *uuid;       /* "GPU-..."; NULL likewise */
	const char *driver;     /* kernel driver bound to it, or NULL */
	struct rna_value minor; /* of /dev/nvidiaN, or of the DRM render node */
	unsigned os_devices;    /* of the driver on this function: 6 in CPX mode, 1 elsewhere */
};

/*
 * A NIC: a physical function, or a virtual one whose physical one is not on this node (a VM).
 *
 * Listed are functions that carry an RDMA device, and those that are made for it and have none at
 * the moment: of an InfiniBand, Omni-Path or fabric class, of NVIDIA's (15b3) and HPE Slingshot's
 * (17db) network functions, and EFA. Other Ethernet functions (management, NAT, a thousand virtual
 * ones) would bury these.
 */
struct rna_nic {
	unsigned object;
	bool switch_management; /* manages NVSwitches and carries no traffic */
	int data_direct;        /* object through which it reaches GPU memory, or RNA_NO_OBJECT */
	unsigned virtual_functions; /* folded into it */
	unsigned scalable_functions;
	size_t netdev_count;
	const char **netdevs; /* names, sorted; those of its VFs and SFs are not among them */
	/*
	 * RDMA devices, sorted: on the function itself, virtual ones on its interfaces (rxe), and
	 * the LAG of which it is a member.
	 */
	size_t device_count;
	const char **devices;
	int lag; /* index of nics: the function that has the device of its LAG, if another; -1 */
	/*
	 * From 0, by PCI address among NICs of one role, -1: none. The role: to serve GPUs, where
	 * there are any near. That is to be the NIC of a GPU, or as near to one and of the same
	 * kind (vendor, device, class) as a NIC of a GPU; storage and frontend NICs have no rail
	 * then. Where that tells nothing, NICs of the kind that there are most of, among those that
	 * may serve (below); of several such kinds all. Members of a LAG share it.
	 */
	int rail;
};

/*
 * What is nearest to one GPU, and which NIC is its own. NICs that may serve are those with an RDMA
 * device (on a node without any: all), not the management of NVSwitches.
 */
struct rna_gpu_affinity {
	size_t nearest_count;     /* several where they are equally near; 0: none may serve */
	const unsigned *nearest;  /* indexes of nics, ascending */
	enum rna_path_class path; /* to each of them; unknown where nothing is nearest */
	/*
	 * Index of nics, or -1: of the assignment that gives each GPU a NIC of its own among those
	 * of the same path class as the nearest, and sums up to the fewest bridges, then to the
	 * fastest links, then to the order of addresses. Several GPUs share a NIC when there are
	 * fewer NICs that near than GPUs: a far one of one's own is worse than half of a near one,
	 * which is what NCCL chooses, too. (Beyond 64 GPUs or 4096 NICs it is the first nearest.)
	 */
	int nic;
};

struct rna_topology {
	struct rna_part part;
	bool hwloc; /* did hwloc answer? else all is from sysfs */
	/* "FILE: ...": why an hwloc XML file was of no use, and what to do; NULL: nothing wrong. */
	const char *problem;
	size_t object_count; /* parents in front of children, else by address */
	const struct rna_pci_object *objects;
	size_t gpu_count;
	const struct rna_gpu *gpus; /* by PCI address */
	size_t nic_count;
	const struct rna_nic *nics;                /* by PCI address */
	const struct rna_gpu_affinity *affinities; /* one for each GPU */
};

/* How far two objects of one tree are apart. O(depth): nothing is stored of pairs. */
enum rna_path_class rna_topology_path(const struct rna_topology *topology, unsigned a, unsigned b);

/*
 * How far a GPU (index of gpus) and a NIC (of nics) are apart: over the NIC's Data Direct function
 * where that is nearer, for then data goes that way. nvidia-smi prints the path of the NIC itself.
 */
enum rna_path_class rna_topology_gpu_path(const struct rna_topology *topology, unsigned gpu,
					  unsigned nic);

/*
 * Makes the affinities of a topology whose objects, gpus and nics are there, in arena, and fills in
 * the rails of nics, which are the topology's. Pure. 0 or -ENOMEM.
 */
int rna_topology_assign(struct rna_topology *topology, struct rna_nic *nics,
			struct rna_arena *arena);

/* The NIC on which an RDMA device is: by name, else of its function or its PF; NULL: none. */
struct rna_device;
const struct rna_nic *rna_topology_find_nic(const struct rna_topology *topology,
					    const struct rna_device *device);

/* Index of the object with this address, or RNA_NO_OBJECT. */
int rna_topology_find_object(const struct rna_topology *topology, const char *address);
