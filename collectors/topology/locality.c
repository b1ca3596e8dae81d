// SPDX-License-Identifier: Apache-2.0
/*
 * NUMA node, package and processors of each object.
 *
 * /sys comes first, because drivers and nvidia-smi use it: numa_node of the function, and the
 * package of that NUMA node's CPUs. hwloc fills in what /sys lacks; it knows quirks of firmware. If
 * the machine has only one NUMA node, all objects are on it. The rest stays unknown.
 */
#include <limits.h>
#include <string.h>

#include "rna/base/parse.h"

#include "builder.h"

#define NODES "sys/devices/system/node"

/* The first number of "0-15,32"; -1: none. */
static int first_number(const char *list)
{
	char number[16];
	size_t len = list ? strspn(list, "0123456789") : 0;
	uint64_t value;

	if (len == 0 || len >= sizeof(number))
		return -1;
	memcpy(number, list, len);
	number[len] = '\0';
	return rna_parse_u64(number, &value) == 0 && value <= INT_MAX ? (int)value : -1;
}

/* The only node of the machine, or -1. */
static int find_only_node(struct rna_topology_run *run)
{
	const char *online = rna_topology_read_text(run, NODES, "online", run->scratch);

	return online && !strpbrk(online, ",-") ? first_number(online) : -1;
}

static const char *read_cpus(struct rna_topology_run *run, int node)
{
	const char *directory =
		rna_topology_need(run, rna_arena_printf(run->scratch, NODES "/node%d", node));

	return directory ? rna_topology_read_text(run, directory, "cpulist", run->part->arena)
			 : NULL;
}

static int read_package(struct rna_topology_run *run, int cpu)
{
	const char *directory;

	if (cpu < 0)
		return -1;
	directory = rna_topology_need(run, rna_arena_printf(run->scratch,
							    "sys/devices/system/cpu/cpu%d/topology",
							    cpu));
	return directory ? first_number(rna_topology_read_text(run, directory,
							       "physical_package_id", run->scratch))
			 : -1;
}

/* Caches the last answer, because objects of one NUMA node are adjacent. */
static void add_processors(struct rna_topology_run *run, struct rna_pci_object *objects,
			   size_t count)
{
	int node = -1, package = -1;
	const char *cpus = NULL;

	for (size_t i = 0; i < count; i++) {
		if (objects[i].numa_node < 0)
			continue;
		if (objects[i].numa_node != node) {
			node = objects[i].numa_node;
			cpus = read_cpus(run, node);
			package = read_package(run, first_number(cpus));
		}
		objects[i].cpus = cpus;
		if (objects[i].package < 0)
			objects[i].package = package;
	}
}

static void add_from_hwloc(struct rna_topology_run *run, struct rna_pci_object *objects,
			   size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct rna_pci_function *function =
			rna_pci_functions_find(&run->hwloc, objects[i].address);

		if (!function)
			continue;
		if (objects[i].numa_node < 0)
			objects[i].numa_node = function->numa_node;
		if (objects[i].package < 0)
			objects[i].package = function->package;
	}
}

/* /sys has no locality of host bridges: they take that of their first child. */
static void add_to_parents(struct rna_pci_object *objects, size_t count)
{
	for (size_t i = count; i-- > 0;) {
		struct rna_pci_object *parent =
			objects[i].parent >= 0 ? &objects[objects[i].parent] : NULL;

		if (!parent || objects[i].numa_node < 0)
			continue;
		if (parent->role == RNA_PCI_HOST_BRIDGE || parent->numa_node < 0)
			parent->numa_node = objects[i].numa_node;
	}
}

void rna_topology_locate(struct rna_topology_run *run, struct rna_pci_object *objects, size_t count)
{
	int only = find_only_node(run);

	for (size_t i = 0; i < count; i++)
		if (objects[i].numa_node < 0)
			objects[i].numa_node = only;
	add_from_hwloc(run, objects, count);
	add_to_parents(objects, count);
	add_processors(run, objects, count);
}
