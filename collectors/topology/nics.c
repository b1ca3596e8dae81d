// SPDX-License-Identifier: Apache-2.0
/*
 * NICs: their interfaces, the LAG that each belongs to, and its Data Direct function.
 *
 * The RDMA device of a LAG is on the first of its functions; the others have no device, but an
 * interface in the same bond. A ConnectX-8 and its Data Direct function are one chip with one UUID
 * in the VPD, which only root can read. Reading it accesses the device, so it is done once per
 * function.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/card.h"

#include "parse/pci.h"

#include "builder.h"

enum { VENDOR_MELLANOX = 0x15b3 };

/* -- LAG --------------------------------------------------------------------------------------- */

/* The master of the first interface of a function, in scratch; NULL: none. */
static const char *find_master(struct rna_topology_run *run,
			       const struct rna_pci_function *function)
{
	for (size_t i = 0; i < function->netdevs.count; i++) {
		const char *directory =
			rna_topology_need(run, rna_arena_printf(run->scratch, "sys/class/net/%s",
								function->netdevs.items[i]));
		const char *master = directory ? rna_topology_read_link_name(run, directory,
									     "master", run->scratch)
					       : NULL;

		if (master)
			return master;
	}
	return NULL;
}

/* The earlier function of the same card that has the device of the LAG. */
static struct rna_pci_function *find_leader(struct rna_topology_run *run, size_t member)
{
	struct rna_pci_function **functions = run->functions.by_address;
	const char *master = NULL;

	for (size_t i = member; i-- > 0;) {
		if (!rna_pci_is_one_device(functions[i]->address, functions[member]->address))
			return NULL;
		if (functions[i]->devices.count == 0 || functions[i]->netdevs.count == 0)
			continue;
		if (!master)
			master = find_master(run, functions[member]);
		if (master && rna_same_text(find_master(run, functions[i]), master))
			return functions[i];
	}
	return NULL;
}

void rna_topology_find_lags(struct rna_topology_run *run)
{
	for (size_t i = 0; i < run->functions.count; i++) {
		struct rna_pci_function *function = run->functions.by_address[i];

		if (!function->nic || function->devices.count > 0 ||
		    function->vendor_id != VENDOR_MELLANOX || function->netdevs.count == 0)
			continue;
		function->lag = find_leader(run, i);
		if (function->lag)
			function->devices = function->lag->devices;
	}
}

/* -- Data Direct ------------------------------------------------------------------------------- */

static const char *uuid_of(struct rna_topology_run *run, struct rna_pci_function *function)
{
	if (!function->asked_for_chip && function->directory)
		function->chip =
			rna_pci_read_uuid(run->in->root, function->directory, run->scratch);
	function->asked_for_chip = true;
	return function->chip;
}

/* Data of the function in the previous part, if it has it, so that no device is read twice. */
static const struct rna_pci_function *recall(const struct rna_topology_run *run,
					     const char *address)
{
	const struct rna_topology *last = run->last;

	for (size_t i = 0; last && i < last->nic_count; i++)
		if (last->nics[i].data_direct != RNA_NO_OBJECT &&
		    strcmp(last->objects[last->nics[i].object].address, address) == 0)
			return rna_pci_functions_find(
				&run->functions, last->objects[last->nics[i].data_direct].address);
	return NULL;
}

static int find_data_direct(struct rna_topology_run *run, struct rna_pci_function *nic)
{
	const struct rna_pci_function *known = recall(run, nic->address);

	if (known)
		return known->object;
	for (size_t i = 0; i < run->functions.count && nic->vendor_id == VENDOR_MELLANOX; i++) {
		struct rna_pci_function *function = run->functions.by_address[i];

		if (!function->data_direct)
			continue;
		if (!uuid_of(run, nic))
			break;
		if (rna_same_text(uuid_of(run, nic), uuid_of(run, function)))
			return function->object;
	}
	return RNA_NO_OBJECT;
}

/* -- NICs -------------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	return rna_compare_names(*(const char *const *)a, *(const char *const *)b);
}

static const char **keep_names(struct rna_topology_run *run, const struct rna_names *names)
{
	const char **kept =
		rna_topology_need(run, rna_arena_array(run->part->arena, names->count + 1,
						       sizeof(*kept)));

	for (size_t i = 0; kept && i < names->count; i++)
		kept[i] =
			rna_topology_need(run, rna_arena_strdup(run->part->arena, names->items[i]));
	if (kept && run->error == 0)
		qsort(kept, names->count, sizeof(*kept), compare_names);
	return kept;
}

static int find_index(const struct rna_topology *topology, const struct rna_pci_function *function)
{
	for (size_t i = topology->nic_count; function && i-- > 0;)
		if (topology->nics[i].object == (unsigned)function->object)
			return (int)i;
	return -1;
}

static bool has_own_device(const struct rna_pci_function *function)
{
	return function->devices.count > 0 && !function->lag;
}

static void add_nic(struct rna_topology_run *run, struct rna_topology *topology,
		    struct rna_pci_function *function, struct rna_nic *nics)
{
	nics[topology->nic_count] = (struct rna_nic){
		.object = (unsigned)function->object,
		.rdma = function->where,
		.driver = function->driver,
		.subsystem = function->subsystem,
		.switch_management = function->switch_management,
		.data_direct = find_data_direct(run, function),
		.virtual_functions = function->virtual_functions,
		.scalable_functions = function->scalable_functions,
		.netdev_count = function->netdevs.count,
		.netdevs = keep_names(run, &function->netdevs),
		.device_count = function->devices.count,
		.devices = keep_names(run, &function->devices),
		.lag = find_index(topology, function->lag),
		.rail = -1,
	};
	topology->nic_count++;
}

static void add_nics(struct rna_topology_run *run, struct rna_topology *topology, bool own_device,
		     struct rna_nic *nics)
{
	for (size_t i = 0; i < run->functions.count; i++) {
		struct rna_pci_function *function = run->functions.by_address[i];

		if (function->nic && has_own_device(function) == own_device)
			add_nic(run, topology, function, nics);
	}
}

/*
 * Functions with a device come first: their numbers are then those of nvidia-smi, which lists RDMA
 * devices. One without a driver, or the second port of a LAG, would shift the numbers of the
 * others.
 */
int rna_topology_make_nics(struct rna_topology_run *run, struct rna_topology *topology,
			   struct rna_nic **ret)
{
	struct rna_nic *nics =
		rna_arena_array(run->part->arena, run->functions.count + 1, sizeof(*nics));

	if (!nics)
		return -ENOMEM;
	topology->nics = *ret = nics;
	add_nics(run, topology, true, nics);
	add_nics(run, topology, false, nics);
	return run->error;
}
