// SPDX-License-Identifier: Apache-2.0
/*
 * The driver of each NIC, and where its RDMA device is. Only of a NIC without one is the directory
 * listed: it has a hundred entries, and nearly every NIC has a device.
 *
 * A function that lost its device can look like one that was never meant to have any; enum
 * rna_nic_rdma says what tells them apart. A ConnectX whose firmware died keeps its driver, without
 * an interface and without auxiliary devices (scitix/sichek#115).
 */
#include <stdlib.h>
#include <string.h>

#include "rna/model/card.h"

#include "parse/auxiliary.h"
#include "parse/pci.h"

#include "builder.h"

enum { VENDOR_MELLANOX = 0x15b3, DEVICE_CONNECTX7 = 0x1021 };

static int compare_address(const void *key, const void *item)
{
	return strcmp(key, *(const char *const *)item);
}

static bool is_excluded(const struct rna_topology_run *run, const struct rna_pci_function *function)
{
	const struct rna_presence *presence = run->in->presence;

	if (presence && presence->excluded_function_count > 0 &&
	    bsearch(function->address, presence->excluded, presence->excluded_function_count,
		    sizeof(*presence->excluded), compare_address))
		return true;
	return rna_device_filter_excludes(run->in->filter, &function->address, 1) ||
	       rna_device_filter_excludes(run->in->filter, function->netdevs.items,
					  function->netdevs.count);
}

/* Has the auxiliary device a driver? Without that, its module is missing, or its probe failed. */
static bool is_bound(struct rna_topology_run *run, const char *directory, const char *auxiliary)
{
	const char *path = rna_topology_need(run, rna_arena_printf(run->scratch, "%s/%s", directory,
								   auxiliary));

	return path && rna_topology_read_link_name(run, path, "driver", run->scratch);
}

static bool is_empty(struct rna_topology_run *run, const char *directory)
{
	const char *path =
		rna_topology_need(run, rna_arena_printf(run->scratch, "%s/infiniband", directory));
	char **names;

	return path && rna_root_list(run->in->root, path, run->scratch, &names) == 0;
}

static enum rna_nic_rdma look_below(struct rna_topology_run *run, const char *directory)
{
	enum rna_nic_rdma ret = RNA_NIC_RDMA_NONE;
	bool class_directory = false;
	char **names;
	ssize_t count = rna_root_list(run->in->root, directory, run->scratch, &names);

	if (rna_error_is_lack((int)count))
		rna_topology_note(run, count);
	for (ssize_t i = 0; i < count; i++) {
		class_directory |= strcmp(names[i], "infiniband") == 0;
		switch (rna_auxiliary_kind(names[i])) {
		case RNA_AUXILIARY_RDMA:
			return is_bound(run, directory, names[i]) ? RNA_NIC_RDMA_HIDDEN
								  : RNA_NIC_RDMA_UNBOUND;
		case RNA_AUXILIARY_SHARED:
			return is_bound(run, directory, names[i]) ? RNA_NIC_RDMA_SHARED
								  : RNA_NIC_RDMA_UNBOUND;
		case RNA_AUXILIARY_ETHERNET:
			ret = RNA_NIC_RDMA_OFF;
			break;
		case RNA_AUXILIARY_NONE:
			break;
		}
	}
	if (ret == RNA_NIC_RDMA_NONE && class_directory && is_empty(run, directory))
		return RNA_NIC_RDMA_EMPTY;
	return ret;
}

/*
 * Dual-port RoCE on kernels without auxiliary devices: the first function of the card has a device
 * with two ports. by_address: the functions of a card follow each other.
 */
static bool has_port_elsewhere(const struct rna_topology_run *run, size_t index)
{
	struct rna_pci_function **functions = run->functions.by_address;

	for (size_t i = index; i-- > 0;) {
		if (!rna_pci_is_one_device(functions[i]->address, functions[index]->address))
			return false;
		if (functions[i]->port_count > 1)
			return true;
	}
	return false;
}

/* The VPD is read once per function: in later runs the previous part knows. */
static bool manages_switches(const struct rna_topology_run *run,
			     const struct rna_pci_function *function)
{
	const struct rna_topology *last = run->last;

	if (function->vendor_id != VENDOR_MELLANOX || function->device_id != DEVICE_CONNECTX7)
		return false;
	for (size_t i = 0; last && i < last->nic_count; i++)
		if (strcmp(last->objects[last->nics[i].object].address, function->address) == 0)
			return last->nics[i].switch_management;
	return rna_pci_is_switch_management(run->in->root, function->directory);
}

static enum rna_nic_rdma find_rdma(struct rna_topology_run *run, size_t index)
{
	struct rna_pci_function *function = run->functions.by_address[index];

	if (function->rdma)
		return RNA_NIC_RDMA_PRESENT;
	if (is_excluded(run, function))
		return RNA_NIC_RDMA_EXCLUDED;
	if (function->lag || has_port_elsewhere(run, index))
		return RNA_NIC_RDMA_SHARED;
	if (!function->directory)
		return RNA_NIC_RDMA_UNKNOWN;
	function->switch_management |= manages_switches(run, function);
	return look_below(run, function->directory);
}

static uint32_t read_subsystem(struct rna_topology_run *run, const char *directory)
{
	uint32_t vendor =
		rna_topology_read_bridge_id(run, directory, "subsystem_vendor", 0) & 0xffff;
	uint32_t device =
		rna_topology_read_bridge_id(run, directory, "subsystem_device", 0) & 0xffff;

	return vendor << 16 | device;
}

void rna_topology_find_rdma(struct rna_topology_run *run)
{
	for (size_t i = 0; i < run->functions.count; i++) {
		struct rna_pci_function *function = run->functions.by_address[i];

		if (!function->nic || function->data_direct)
			continue;
		function->where = find_rdma(run, i);
		if (!function->directory)
			continue;
		function->driver = rna_topology_read_link_name(run, function->directory, "driver",
							       run->part->arena);
		function->subsystem = read_subsystem(run, function->directory);
	}
}
