// SPDX-License-Identifier: Apache-2.0
/*
 * A driver names a PCI function, a network interface or an RDMA device, often two of them; errors
 * of PCIe are reported by the port above the card. The function is the surest name: the others
 * change when interfaces are renamed or moved to another network namespace.
 *
 * Elsewhere are all objects that RDMA does not depend on, what the settings exclude, functions that
 * were handed to a virtual machine, and those that manage NVSwitches: each read of a counter of the
 * latter fails with a line in the log (node_exporter issue 3434). Where the driver of a NIC speaks
 * of a function that is none of the topology's, the card may be gone from the bus, or have lost its
 * RDMA half: that is a finding all the same.
 */
#include "episode_object.h"

#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/card.h"
#include "rna/model/log_match.h"

struct search {
	const struct rna_episode *episode;
	const struct rna_view *view;
	const struct rna_snapshot *snapshot;
	const struct rna_settings *settings;
};

/* Intel's IOMMU leaves the domain out of an address. */
static bool is_at(const char *named, const char *address)
{
	return named && address && rna_log_pci_is(named, address);
}

/* -- Devices ----------------------------------------------------------------------------------- */

/* A scalable function has the address of its parent. */
static const struct rna_snapshot_device *device_at(const struct rna_snapshot *snapshot,
						   const char *address)
{
	const struct rna_snapshot_device *ret = NULL;

	RNA_EACH (device, snapshot->devices, snapshot->device_count) {
		if (!is_at(address, device->device->pci_address))
			continue;
		if (device->device->function != RNA_FUNCTION_SF)
			return device;
		ret = ret ? ret : device;
	}
	return ret;
}

/* Rules skip virtual and scalable functions unless a setting says otherwise. */
static const struct rna_snapshot_device *physical_of(const struct search *search,
						     const struct rna_snapshot_device *device)
{
	const char *address = device->device->physical_function;
	const struct rna_snapshot_device *physical;

	if ((device->device->function != RNA_FUNCTION_VF &&
	     device->device->function != RNA_FUNCTION_SF) ||
	    search->settings->health_virtual_functions || !address)
		return device;
	physical = device_at(search->snapshot, address);
	return physical ? physical : device;
}

static struct rna_episode_object at_device(const struct search *search,
					   const struct rna_snapshot_device *device)
{
	const struct rna_snapshot_device *physical = physical_of(search, device);

	if (device->device->function == RNA_FUNCTION_SWITCH_MANAGEMENT)
		return (struct rna_episode_object){.place = RNA_EPISODE_ELSEWHERE};
	return (struct rna_episode_object){
		.place = RNA_EPISODE_AT_DEVICE,
		.relation = physical == device ? RNA_EPISODE_ITSELF : RNA_EPISODE_VIRTUAL,
		.device = physical,
		.witness = device,
	};
}

/* A virtual function without an RDMA device on this node. */
static bool find_virtual(const struct search *search, const char *address,
			 struct rna_episode_object *ret)
{
	RNA_EACH (device, search->snapshot->devices, search->snapshot->device_count) {
		const struct rna_virtual_functions *list = rna_device_virtual_functions(device);

		for (size_t f = 0; list && f < list->count; f++) {
			if (!is_at(address, list->functions[f].pci_address))
				continue;
			*ret = at_device(search, device);
			ret->relation = RNA_EPISODE_VIRTUAL;
			ret->witness = NULL;
			return true;
		}
	}
	return false;
}

/* -- Ports above ------------------------------------------------------------------------------- */

static bool is_above(const struct rna_snapshot_device *device, const char *address)
{
	const struct rna_pcie *pcie = rna_device_pcie(device);

	for (size_t i = 1; pcie && i < pcie->hop_count; i++)
		if (is_at(address, pcie->hops[i].address))
			return true;
	return false;
}

static bool is_same_card(const struct rna_view *view, size_t device, size_t other)
{
	const struct rna_cards *cards = view->cards;

	return device == other || (cards && cards->of_devices[device] >= 0 &&
				   cards->of_devices[device] == cards->of_devices[other]);
}

static bool find_below(const struct search *search, const char *address,
		       struct rna_episode_object *ret)
{
	size_t first = 0, count = 0;
	bool one_card = true;

	for (size_t i = 0; i < search->snapshot->device_count; i++) {
		if (!is_above(&search->snapshot->devices[i], address))
			continue;
		first = count++ == 0 ? i : first;
		one_card = one_card && is_same_card(search->view, i, first);
	}
	if (count == 0)
		return false;
	*ret = at_device(search, &search->snapshot->devices[first]);
	if (ret->place == RNA_EPISODE_ELSEWHERE)
		return true;
	ret->relation = RNA_EPISODE_ABOVE;
	ret->below = count;
	if (one_card)
		return true;
	ret->place = RNA_EPISODE_AT_BRIDGE;
	ret->address = address;
	return true;
}

/* -- Functions without a device ---------------------------------------------------------------- */

/* As in rules_absent.c: drivers that hand the function to a virtual machine or to user space. */
static bool is_handed_over(const struct rna_nic *nic)
{
	static const char *const parts[] = {"vfio", "uio", "pci-stub", "pciback"};

	return RNA_ANY(i, nic->driver ? RNA_ARRAY_SIZE(parts) : 0, strstr(nic->driver, parts[i]));
}

static bool is_excluded(const struct search *search, const char *address)
{
	const struct rna_presence *presence = rna_snapshot_presence(search->snapshot);

	return RNA_ANY(i, presence ? presence->excluded_function_count : 0,
		       is_at(address, presence->excluded[i]));
}

/* The name that the device had, unless another one has it now. */
static const char *former_name(const struct search *search, const char *address)
{
	const char *name = search->episode->name;

	for (size_t i = 0; !name && i < search->view->missing_count; i++)
		if (is_at(address, search->view->missing[i].pci_address))
			name = search->view->missing[i].name;
	return name && !rna_snapshot_find(search->snapshot, name) ? name : NULL;
}

static struct rna_episode_object at_function(const struct search *search, const char *address)
{
	return (struct rna_episode_object){
		.place = RNA_EPISODE_AT_FUNCTION,
		.address = address,
		.name = former_name(search, address),
	};
}

/* The device of a function's LAG is another function's; a device that is there is found by now. */
static struct rna_episode_object at_nic(const struct search *search, const struct rna_nic *nic)
{
	const char *address = rna_snapshot_topology(search->snapshot)->objects[nic->object].address;
	const struct rna_snapshot_device *device =
		nic->device_count > 0 ? rna_snapshot_find(search->snapshot, nic->devices[0]) : NULL;

	if (nic->switch_management || nic->rdma == RNA_NIC_RDMA_EXCLUDED ||
	    nic->rdma == RNA_NIC_RDMA_OFF || is_handed_over(nic))
		return (struct rna_episode_object){.place = RNA_EPISODE_ELSEWHERE};
	return device ? at_device(search, device) : at_function(search, address);
}

/* By the address of its function, or the name of an interface; NULL: not looked for. */
static const struct rna_nic *find_nic(const struct search *search, const char *address,
				      const char *netdev)
{
	const struct rna_topology *topology = rna_snapshot_topology(search->snapshot);

	for (size_t i = 0; topology && i < topology->nic_count; i++) {
		const struct rna_nic *nic = &topology->nics[i];

		if (is_at(address, topology->objects[nic->object].address))
			return nic;
		for (size_t n = 0; netdev && n < nic->netdev_count; n++)
			if (strcmp(nic->netdevs[n], netdev) == 0)
				return nic;
	}
	return NULL;
}

static bool is_missing(const struct search *search, const char *address)
{
	return RNA_ANY(i, search->view->missing_count,
		       is_at(address, search->view->missing[i].pci_address));
}

/* -- By each name ------------------------------------------------------------------------------ */

/* A stranger is still elsewhere: its other names may be known. */
static struct rna_episode_object find_by_address(const struct search *search)
{
	struct rna_episode_object ret = {.place = RNA_EPISODE_ELSEWHERE};
	const char *address = search->episode->pci;
	const struct rna_snapshot_device *device =
		address ? device_at(search->snapshot, address) : NULL;
	const struct rna_nic *nic;

	if (device)
		return at_device(search, device);
	if (!address || is_excluded(search, address) || find_virtual(search, address, &ret) ||
	    find_below(search, address, &ret))
		return ret;
	nic = find_nic(search, address, NULL);
	if (nic)
		return at_nic(search, nic);
	if (search->episode->name || is_missing(search, address))
		return at_function(search, address);
	ret.stranger = !search->episode->pattern->of_any && rna_snapshot_topology(search->snapshot);
	return ret;
}

static const struct rna_netdev *netdev_named(const struct rna_netdevs *netdevs, const char *name)
{
	return RNA_FIND(i, netdevs->netdevs, netdevs ? netdevs->count : 0,
			strcmp(netdevs->netdevs[i].name, name) == 0);
}

static struct rna_episode_object find_by_netdev(const struct search *search, const char *name)
{
	const struct rna_netdevs *netdevs = rna_snapshot_netdevs(search->snapshot);
	const struct rna_netdev *netdev = netdev_named(netdevs, name);
	const char *device_name = netdev ? netdev->device : NULL;
	const struct rna_snapshot_device *device;
	struct rna_episode_object ret = {.place = RNA_EPISODE_ELSEWHERE};
	const struct rna_nic *nic = find_nic(search, NULL, name);
	unsigned port = 0;

	for (size_t i = 0; netdevs && i < netdevs->port_count; i++)
		if (strcmp(netdevs->ports[i].netdev, name) == 0) {
			device_name = netdevs->ports[i].device;
			port = netdevs->ports[i].port;
			break;
		}
	device = device_name ? rna_snapshot_find(search->snapshot, device_name) : NULL;
	if (device)
		ret = at_device(search, device);
	else if (nic)
		ret = at_nic(search, nic);
	ret.port = port;
	return ret;
}

/* Also of a child of an interface: "ib0.8001", "eth0.100". */
static struct rna_episode_object find_by_netdev_or_parent(const struct search *search)
{
	enum { NAME_MAX_LEN = 16 }; /* IFNAMSIZ */
	const char *name = search->episode->netdev;
	struct rna_episode_object ret = find_by_netdev(search, name);
	size_t len = strcspn(name, ".");
	char parent[NAME_MAX_LEN];

	if (ret.place != RNA_EPISODE_ELSEWHERE || name[len] == '\0' || len >= sizeof(parent))
		return ret;
	memcpy(parent, name, len);
	parent[len] = '\0';
	return find_by_netdev(search, parent);
}

/* The interface that the messages name; else that of the first port of the device. */
static const char *find_interface(const struct search *search,
				  const struct rna_episode_object *object)
{
	const struct rna_netdevs *netdevs = rna_snapshot_netdevs(search->snapshot);
	const struct rna_netdev *netdev =
		search->episode->netdev ? netdev_named(netdevs, search->episode->netdev) : NULL;

	for (size_t i = 0; !netdev && object->witness && netdevs && i < netdevs->port_count; i++)
		if (strcmp(netdevs->ports[i].device, object->witness->device->name) == 0)
			netdev = netdev_named(netdevs, netdevs->ports[i].netdev);
	return netdev ? netdev->name : NULL;
}

/* Whatever the messages name, a processor that is stuck concerns all devices. */
static bool is_of_node(enum rna_log_kind kind)
{
	return kind == RNA_LOG_CPU || kind == RNA_LOG_GPUDIRECT;
}

struct rna_episode_object rna_episode_find_object(const struct rna_episode *episode,
						  const struct rna_view *view,
						  const struct rna_settings *settings)
{
	const struct search search = {episode, view, view->snapshot, settings};
	const struct rna_snapshot_device *device;
	struct rna_episode_object ret;
	bool stranger;

	if (!episode->pci && !episode->netdev && !episode->rdma)
		return (struct rna_episode_object){.place = RNA_EPISODE_AT_NODE};
	ret = find_by_address(&search);
	stranger = ret.stranger;
	if (ret.place == RNA_EPISODE_ELSEWHERE && episode->rdma) {
		device = rna_snapshot_find(view->snapshot, episode->rdma);
		if (device)
			ret = at_device(&search, device);
	}
	if (ret.place == RNA_EPISODE_ELSEWHERE && episode->netdev)
		ret = find_by_netdev_or_parent(&search);
	if (ret.place == RNA_EPISODE_ELSEWHERE && is_of_node(episode->pattern->kind))
		ret.place = RNA_EPISODE_AT_NODE;
	if (ret.place == RNA_EPISODE_ELSEWHERE && stranger) {
		ret = at_function(&search, episode->pci);
		ret.stranger = true;
	}
	ret.netdev = find_interface(&search, &ret);
	return ret;
}
