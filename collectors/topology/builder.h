/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a topology is made of while it is read: PCI functions as /sys or hwloc have them, each with
 * the way to it as a text. The tree is made of these texts at the end, when it is known which
 * functions are worth a place in it.
 */
#pragma once

#include "rna/collector.h"
#include "rna/model/topology.h"

/* A growing list of names, in scratch. */
struct rna_names {
	size_t count;
	size_t size;
	const char **items;
};

struct rna_pci_function {
	/* From its host bridge down: "pci0000:3a/0000:3a:00.0/0000:3b:00.0"; unique, and the key.
	 */
	const char *path;
	const char *address;   /* the end of path */
	const char *directory; /* below the root; NULL: only hwloc knows the function */
	const char *physical;  /* address of its PF, if that is on this node; else NULL */
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
	unsigned os_devices; /* of a GPU, where hwloc tells; 0: it does not */
	const char *model;   /* of a GPU, where hwloc tells */
	const char *uuid;    /* likewise */
	const char *serial;  /* of its VPD, once it was asked; NULL: it has none */
	bool asked_for_serial;
	struct rna_names netdevs;
	struct rna_names devices;
	struct rna_pci_function *lag; /* the one that has the device of its LAG, if another */
	int object;                   /* of the tree, once that is built */
};

struct rna_pci_functions {
	size_t count;
	size_t size;
	struct rna_pci_function
		*items; /* sorted by path, once rna_pci_functions_sort() was called */
	/* As it was then: what was added since is not found, and items may have moved. */
	size_t sorted;
	struct rna_pci_function **by_address;
};

struct rna_topology_run {
	const struct rna_collect_input *in;
	struct rna_part *part;
	struct rna_arena *scratch;
	struct rna_pci_functions functions;
	struct rna_pci_functions hwloc;  /* all that hwloc knows; empty where it was not asked */
	const struct rna_topology *last; /* the part before, or NULL */
	bool pci;                        /* has /sys a list of PCI functions? */
	int error; /* why a helper that answers "not there" could not look; 0: it could */
};

/*
 * Remembers a status that is no answer. A function that cannot be looked at would change the rails
 * of others, so that nothing is said then.
 */
void rna_topology_note(struct rna_topology_run *run, ssize_t status);

/* topology_functions.c: lists of them */

/* Room for one more, zeroed, at the end. NULL: no memory, remembered. */
struct rna_pci_function *rna_pci_functions_add(struct rna_topology_run *run,
					       struct rna_pci_functions *functions);
void rna_pci_functions_sort(struct rna_topology_run *run, struct rna_pci_functions *functions);
struct rna_pci_function *rna_pci_functions_find(const struct rna_pci_functions *functions,
						const char *address);
/* Says what a function is by its class and vendor. */
void rna_pci_function_classify(struct rna_pci_function *function);
/* Is it made for RDMA, so that it is worth showing without an RDMA device, too? */
bool rna_pci_function_is_fabric(const struct rna_pci_function *function);
/* Are both functions of one card, by their addresses? */
bool rna_pci_is_one_card(const char *a, const char *b);
bool rna_pci_is_host_bridge(const char *component); /* "pci0000:3a" */
void rna_names_add(struct rna_topology_run *run, struct rna_names *names, const char *name);
/* Passes an allocation through, and remembers when it failed. */
void *rna_topology_need(struct rna_topology_run *run, void *memory);

/* topology_sysfs.c: what /sys says */

void rna_topology_read_functions(struct rna_topology_run *run);
void rna_topology_read_netdevs(struct rna_topology_run *run);
void rna_topology_read_devices(struct rna_topology_run *run); /* behind the one above */
/* Texts and numbers below a function's directory; NULL, 0 or -1 where there are none. */
const char *rna_topology_read_text(struct rna_topology_run *run, const char *directory,
				   const char *name, struct rna_arena *arena);
uint32_t rna_topology_read_id(struct rna_topology_run *run, const char *directory,
			      const char *name);
int rna_topology_read_node(struct rna_topology_run *run, const char *directory);
const char *rna_topology_read_link_name(struct rna_topology_run *run, const char *directory,
					const char *name, struct rna_arena *arena);

/* topology_locality.c: NUMA nodes and packages of objects */

void rna_topology_locate(struct rna_topology_run *run, struct rna_pci_object *objects,
			 size_t count);

/* topology_tree.c: the objects, of functions that are kept. 0 or -ENOMEM. */
int rna_topology_build(struct rna_topology_run *run, struct rna_topology *topology);

/* topology_gpus.c */
int rna_topology_read_gpus(struct rna_topology_run *run, struct rna_topology *topology);

/* topology_nics.c */

/* Behind the last rna_pci_functions_sort(): it points to functions. */
void rna_topology_find_lags(struct rna_topology_run *run);
int rna_topology_make_nics(struct rna_topology_run *run, struct rna_topology *topology,
			   struct rna_nic **ret);
