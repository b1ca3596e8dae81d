/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Working data of a topology run: PCI functions from /sys or hwloc, each with its path from the
 * host bridge as text. The tree is built from these paths at the end, when it is known which
 * functions it must contain.
 */
#pragma once

#include "rna/collector.h"
#include "rna/model/topology.h"

/* A growing list of names, in scratch. */
struct rna_names {
	size_t count;
	const char **items;
};

struct rna_pci_function {
	/* From its host bridge down: "pci0000:3a/0000:3a:00.0/0000:3b:00.0"; unique, and the key.
	 */
	const char *path;
	const char *address;   /* points to the end of path */
	const char *directory; /* below the root; NULL: only hwloc knows the function */
	const char *physical;  /* address of its PF if visible on this node, otherwise NULL */
	bool gpu;
	bool nic; /* of a network class, or with an RDMA device */
	bool data_direct;
	bool switch_management;
	uint32_t class_id;
	uint32_t vendor_id;
	uint32_t device_id;
	int numa_node;
	int package;
	unsigned virtual_functions;
	unsigned scalable_functions;
	unsigned os_devices; /* of a GPU, from hwloc; 0: unknown */
	const char *model;   /* of a GPU, from hwloc; NULL: unknown */
	const char *uuid;    /* of a GPU, from hwloc; NULL: unknown */
	const char *chip;    /* the UUID in its VPD, once read; NULL: none */
	bool asked_for_chip;
	bool rdma;               /* has it a hardware RDMA device of its own? */
	size_t port_count;       /* of that */
	enum rna_nic_rdma where; /* of a NIC, as the next two: see struct rna_nic */
	const char *driver;
	uint32_t subsystem;
	struct rna_names netdevs;
	struct rna_names devices;
	/* the other function that has the device of its LAG, or NULL */
	struct rna_pci_function *lag;
	int object; /* index in the tree, once it is built */
};

struct rna_pci_functions {
	size_t count;
	struct rna_pci_function *items; /* sorted by path after rna_pci_functions_sort() */
	/*
	 * Number of sorted items. Later ones are not found by the search, and items may have moved.
	 */
	size_t sorted;
	struct rna_pci_function **by_address;
};

struct rna_topology_run {
	const struct rna_collect_input *in;
	struct rna_part *part;
	struct rna_arena *scratch;
	struct rna_pci_functions functions;
	struct rna_pci_functions hwloc;  /* all functions of hwloc; empty if it was not called */
	const struct rna_topology *last; /* the previous part, or NULL */
	bool pci;                        /* has /sys a list of PCI functions? */
	int error; /* first error of a helper that returned "none" because a read failed; 0: none */
};

/*
 * Records a failed read in run->error. A missing function would change the rails of others, so the
 * whole run fails then.
 */
void rna_topology_note(struct rna_topology_run *run, ssize_t status);

/* functions.c: lists of them */

/* Adds a zeroed function at the end. NULL: no memory, recorded in run. */
struct rna_pci_function *rna_pci_functions_add(struct rna_topology_run *run,
					       struct rna_pci_functions *functions);
void rna_pci_functions_sort(struct rna_topology_run *run, struct rna_pci_functions *functions);
struct rna_pci_function *rna_pci_functions_find(const struct rna_pci_functions *functions,
						const char *address);
/* Sets the role of a function by its class and vendor. */
void rna_pci_function_classify(struct rna_pci_function *function);
/* Is it RDMA-capable, so that it is listed even without an RDMA device? */
bool rna_pci_function_is_fabric(const struct rna_pci_function *function);
bool rna_pci_is_host_bridge(const char *component); /* "pci0000:3a" */
void rna_names_add(struct rna_topology_run *run, struct rna_names *names, const char *name);
/* Returns memory and records in run if it is NULL. */
void *rna_topology_need(struct rna_topology_run *run, void *memory);

/* sysfs.c: what /sys says */

void rna_topology_read_functions(struct rna_topology_run *run);
void rna_topology_read_netdevs(struct rna_topology_run *run);
void rna_topology_read_devices(struct rna_topology_run *run); /* call after the function above */
/* Read texts and numbers below a function's directory; NULL, 0 or -1 if there are none. */
const char *rna_topology_read_text(struct rna_topology_run *run, const char *directory,
				   const char *name, struct rna_arena *arena);
uint32_t rna_topology_read_id(struct rna_topology_run *run, const char *directory,
			      const char *name);
/*
 * The same of a bridge, which decides about no rail: one that cannot be read is counted in the part
 * and does not fail the run. known: what to return then, and if there is none.
 */
uint32_t rna_topology_read_bridge_id(struct rna_topology_run *run, const char *directory,
				     const char *name, uint32_t known);
int rna_topology_read_node(struct rna_topology_run *run, const char *directory);
const char *rna_topology_read_link_name(struct rna_topology_run *run, const char *directory,
					const char *name, struct rna_arena *arena);

/* locality.c: NUMA nodes and packages of objects */

void rna_topology_locate(struct rna_topology_run *run, struct rna_pci_object *objects,
			 size_t count);

/* tree.c: the objects for the kept functions. 0, or run->error. */
int rna_topology_build(struct rna_topology_run *run, struct rna_topology *topology);

/* gpus.c */
int rna_topology_read_gpus(struct rna_topology_run *run, struct rna_topology *topology);

/* nics.c */

/* Call after the last rna_pci_functions_sort(): it stores pointers to functions. */
void rna_topology_find_lags(struct rna_topology_run *run);
int rna_topology_make_nics(struct rna_topology_run *run, struct rna_topology *topology,
			   struct rna_nic **ret);

/* nic_devices.c: driver and RDMA device of each NIC. Call after rna_topology_find_lags(). */
void rna_topology_find_rdma(struct rna_topology_run *run);
