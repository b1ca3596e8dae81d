// SPDX-License-Identifier: Apache-2.0
#include "rna/model/snapshot.h"

#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/driver.h"
#include "rna/model/log_match.h"
#include "rna/model/view.h"

struct rna_snapshot *rna_snapshot_new(size_t device_count, struct rna_time time)
{
	struct rna_snapshot *snapshot;

	snapshot = calloc(1, sizeof(*snapshot) + device_count * sizeof(snapshot->devices[0]));
	if (!snapshot)
		return NULL;
	snapshot->time = time;
	snapshot->device_count = device_count;
	return snapshot;
}

struct rna_snapshot *rna_snapshot_free(const struct rna_snapshot *snapshot)
{
	if (!snapshot)
		return NULL;
	for (size_t i = 0; i < snapshot->device_count; i++)
		for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
			(void)rna_part_unref(snapshot->devices[i].parts[id]);
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		(void)rna_part_unref(snapshot->parts[id]);
	free((void *)(uintptr_t)snapshot);
	return NULL;
}

/* refs is the only field that changes in a published view. */
static unsigned *refs_of(const struct rna_view *view)
{
	return &((struct rna_view *)(uintptr_t)view)->refs;
}

const struct rna_view *rna_view_ref(const struct rna_view *view)
{
	if (view)
		++*refs_of(view);
	return view;
}

struct rna_view *rna_view_unref(const struct rna_view *view)
{
	if (!view || --*refs_of(view) > 0)
		return NULL;
	(void)rna_snapshot_free(view->snapshot);
	if (view->selftests)
		(void)rna_part_unref(&view->selftests->part);
	if (view->probes)
		(void)rna_part_unref(&view->probes->part);
	if (view->bandwidths)
		(void)rna_part_unref(&view->bandwidths->part);
	(void)rna_arena_free(view->arena); /* contains the view itself */
	return NULL;
}

const struct rna_snapshot_device *rna_snapshot_find(const struct rna_snapshot *snapshot,
						    const char *name)
{
	return RNA_FIND(i, snapshot->devices, snapshot->device_count,
			strcmp(snapshot->devices[i].device->name, name) == 0);
}

/* Each concrete part begins with its struct rna_part, so the pointers are the same. */
const struct rna_presence *rna_snapshot_presence(const struct rna_snapshot *snapshot)
{
	return (const void *)snapshot->parts[RNA_COLLECTOR_PRESENCE];
}

const struct rna_netdevs *rna_snapshot_netdevs(const struct rna_snapshot *snapshot)
{
	return (const void *)snapshot->parts[RNA_COLLECTOR_NETDEV];
}

const struct rna_gateways *rna_snapshot_gateways(const struct rna_snapshot *snapshot)
{
	return (const void *)snapshot->parts[RNA_COLLECTOR_GATEWAYS];
}

const struct rna_lldp *rna_snapshot_lldp(const struct rna_snapshot *snapshot)
{
	return (const void *)snapshot->parts[RNA_COLLECTOR_LLDP];
}

const struct rna_topology *rna_snapshot_topology(const struct rna_snapshot *snapshot)
{
	return (const void *)snapshot->parts[RNA_COLLECTOR_TOPOLOGY];
}

const struct rna_readiness *rna_snapshot_readiness(const struct rna_snapshot *snapshot)
{
	return (const void *)snapshot->parts[RNA_COLLECTOR_READINESS];
}

const struct rna_kernel_log *rna_snapshot_kernel_log(const struct rna_snapshot *snapshot)
{
	return (const void *)snapshot->parts[RNA_COLLECTOR_KERNEL_LOG];
}

const struct rna_process *rna_snapshot_process(const struct rna_snapshot *snapshot)
{
	return (const void *)snapshot->parts[RNA_COLLECTOR_PROCESS];
}

const struct rna_identity *rna_device_identity(const struct rna_snapshot_device *device)
{
	return (const void *)device->parts[RNA_COLLECTOR_IDENTITY];
}

const struct rna_state *rna_device_state(const struct rna_snapshot_device *device)
{
	return (const void *)device->parts[RNA_COLLECTOR_STATE];
}

const struct rna_link *rna_device_link(const struct rna_snapshot_device *device)
{
	return (const void *)device->parts[RNA_COLLECTOR_LINK];
}

const struct rna_gids *rna_device_gids(const struct rna_snapshot_device *device)
{
	return (const void *)device->parts[RNA_COLLECTOR_GIDS];
}

const struct rna_ethernet *rna_device_ethernet(const struct rna_snapshot_device *device)
{
	return (const void *)device->parts[RNA_COLLECTOR_ETHERNET];
}

const struct rna_fabric *rna_device_fabric(const struct rna_snapshot_device *device)
{
	return (const void *)device->parts[RNA_COLLECTOR_FABRIC];
}

const struct rna_pcie *rna_device_pcie(const struct rna_snapshot_device *device)
{
	return (const void *)device->parts[RNA_COLLECTOR_PCIE];
}

const struct rna_users *rna_device_users(const struct rna_snapshot_device *device)
{
	const struct rna_resources *resources = rna_device_resources(device);

	return resources ? resources->users : NULL;
}

const struct rna_resources *rna_device_resources(const struct rna_snapshot_device *device)
{
	return (const void *)device->parts[RNA_COLLECTOR_RESOURCES];
}

const struct rna_qos *rna_device_qos(const struct rna_snapshot_device *device)
{
	return (const void *)device->parts[RNA_COLLECTOR_QOS];
}

const struct rna_virtual_functions *rna_device_virtual_functions(
	const struct rna_snapshot_device *device)
{
	return (const void *)device->parts[RNA_COLLECTOR_VIRTUAL_FUNCTIONS];
}

const struct rna_modules *rna_device_modules(const struct rna_snapshot_device *device)
{
	return (const void *)device->parts[RNA_COLLECTOR_MODULE];
}

const struct rna_counters_part *rna_device_counters(const struct rna_snapshot_device *device,
						    enum rna_collector_id collector)
{
	return (const void *)device->parts[collector];
}

/* Finds a port in an array of structs that all begin with the port number. */
static const void *find_port(const void *ports, size_t count, size_t size, unsigned number)
{
	for (size_t i = 0; i < count; i++) {
		const void *port = (const char *)ports + i * size;
		unsigned found;

		memcpy(&found, port, sizeof(found));
		if (found == number)
			return port;
	}
	return NULL;
}

const struct rna_port_identity *rna_port_identity(const struct rna_snapshot_device *device,
						  unsigned port)
{
	const struct rna_identity *part = rna_device_identity(device);

	return part ? find_port(part->ports, part->port_count, sizeof(*part->ports), port) : NULL;
}

/*
 * Only node types with the transport of InfiniBand have its link layer (Linux 6.12 core/verbs.c,
 * rdma_port_get_link_layer()), and of these only a CA is a device of a node. With Ethernet it is
 * RoCE or iWARP.
 */
enum rna_node_type rna_device_node_type(const struct rna_snapshot_device *device)
{
	const struct rna_identity *identity = rna_device_identity(device);
	const struct rna_driver *driver;

	if (!identity)
		return RNA_NODE_TYPE_UNKNOWN;
	if (identity->node_type != RNA_NODE_TYPE_UNKNOWN)
		return identity->node_type;
	for (size_t i = 0; i < identity->port_count; i++)
		if (identity->ports[i].link_layer == RNA_LINK_LAYER_INFINIBAND)
			return RNA_NODE_TYPE_CA;
	driver = rna_driver_named(device->device->driver);
	return driver && driver->is_ca ? RNA_NODE_TYPE_CA : RNA_NODE_TYPE_UNKNOWN;
}

const struct rna_port_state_value *rna_port_state(const struct rna_snapshot_device *device,
						  unsigned port)
{
	const struct rna_state *part = rna_device_state(device);

	return part ? find_port(part->ports, part->port_count, sizeof(*part->ports), port) : NULL;
}

static bool has_readable(const struct rna_counter_group *group)
{
	return RNA_ANY(i, group->count, group->values[i].value.state != RNA_VALUE_UNREADABLE);
}

/*
 * efa reports ACTIVE and LinkUp whatever happens (efa_query_port() in
 * drivers/infiniband/hw/efa/efa_verbs.c of Linux 6.12), and a port of it has no interface. Its
 * counters are answers of the device: if one is not answered, the driver closes its queue of
 * commands, and all further ones fail with ENODEV (efa_com_submit_admin_cmd() in efa_com.c).
 *
 * Nothing else shows the health of the port:
 * - ENA is another PCI function with its own queue and its own link state. An EFA-only interface
 *   has none (AWS, "Amazon EC2 announces EFA updates", 28 October 2024), and no source says that
 *   the ENA function of an interface stops when EFA does.
 * - EFA has no event about its link: efa_main.c asks for errors, warnings, notifications and
 *   keep-alives, and handles the last only. It counts them (keep_alive_rcvd), and no source gives
 *   their period, so that it is not known when one is late.
 */
bool rna_port_is_mute(const struct rna_snapshot_device *device, unsigned port)
{
	const struct rna_counters_part *part =
		rna_device_counters(device, RNA_COLLECTOR_HW_COUNTERS);
	const struct rna_driver *driver = rna_driver_named(device->device->driver);
	size_t unreadable = 0;

	if (!driver || !driver->always_up)
		return false;
	for (size_t i = 0; part && i < part->group_count; i++) {
		const struct rna_counter_group *group = &part->groups[i];

		if (group->place != RNA_PLACE_PORT_HW_COUNTERS || group->port != port)
			continue;
		if (has_readable(group))
			return false;
		unreadable += group->count;
	}
	return unreadable > 0;
}

bool rna_port_works(const struct rna_snapshot_device *device, unsigned port)
{
	return rna_port_is_up(rna_port_state(device, port)) && !rna_port_is_mute(device, port);
}

const struct rna_port_link *rna_port_link(const struct rna_snapshot_device *device, unsigned port)
{
	const struct rna_link *part = rna_device_link(device);

	return part ? find_port(part->ports, part->port_count, sizeof(*part->ports), port) : NULL;
}

const struct rna_port_gids *rna_port_gids(const struct rna_snapshot_device *device, unsigned port)
{
	const struct rna_gids *part = rna_device_gids(device);

	return part ? find_port(part->ports, part->port_count, sizeof(*part->ports), port) : NULL;
}

const struct rna_port_optional_counters *rna_port_optional_counters(
	const struct rna_snapshot_device *device, unsigned port)
{
	const struct rna_resources *part = rna_device_resources(device);

	return part ? find_port(part->ports, part->port_count, sizeof(*part->ports), port) : NULL;
}

const struct rna_qos_port *rna_port_qos(const struct rna_snapshot_device *device, unsigned port)
{
	size_t from = 0;

	return rna_qos_next(rna_device_qos(device), port, &from);
}

const struct rna_port_fabric *rna_port_fabric(const struct rna_snapshot_device *device,
					      unsigned port)
{
	const struct rna_fabric *part = rna_device_fabric(device);

	return part ? find_port(part->ports, part->port_count, sizeof(*part->ports), port) : NULL;
}

const struct rna_peer *rna_port_peer(const struct rna_snapshot_device *device, unsigned port)
{
	const struct rna_port_fabric *fabric = rna_port_fabric(device, port);

	return fabric ? fabric->peer : NULL;
}

static int compare_port(const void *wanted, const void *item)
{
	const struct rna_port_netdev *x = wanted, *y = item;
	int order = rna_compare_names(x->device, y->device);

	return order != 0 ? order : (x->port > y->port) - (x->port < y->port);
}

static int compare_name(const void *wanted, const void *item)
{
	return rna_compare_names(wanted, ((const struct rna_netdev *)item)->name);
}

/*
 * Searches follow the order of the list for the most part: the item behind the last one is tried
 * first. A node with virtual functions may lack most of what is searched.
 */
const struct rna_port_netdev *rna_netdev_search_port(struct rna_netdev_search *search,
						     const char *device, unsigned port)
{
	const struct rna_netdevs *part = search->netdevs;
	const struct rna_port_netdev wanted = {.device = device, .port = port}, *found = NULL;

	if (!part || part->port_count == 0)
		return NULL;
	if (search->port < part->port_count)
		found = &part->ports[search->port];
	if (!found || found->port != port || strcmp(found->device, device) != 0)
		found = bsearch(&wanted, part->ports, part->port_count, sizeof(wanted),
				compare_port);
	if (found)
		search->port = (size_t)(found - part->ports) + 1;
	return found;
}

const struct rna_netdev *rna_netdev_search_name(struct rna_netdev_search *search, const char *name)
{
	const struct rna_netdevs *part = search->netdevs;
	const struct rna_netdev *found = NULL;

	if (!part || part->count == 0)
		return NULL;
	if (search->netdev < part->count)
		found = &part->netdevs[search->netdev];
	if (!found || strcmp(found->name, name) != 0)
		found = bsearch(name, part->netdevs, part->count, sizeof(*found), compare_name);
	if (found)
		search->netdev = (size_t)(found - part->netdevs) + 1;
	return found;
}

const struct rna_followed_netdev *rna_netdevs_followed(const struct rna_netdevs *netdevs,
						       const struct rna_device *device,
						       unsigned port)
{
	for (size_t i = 0; device->process && netdevs && i < netdevs->followed_count; i++)
		if (netdevs->followed[i].port.port == port &&
		    strcmp(netdevs->followed[i].port.device, device->name) == 0)
			return &netdevs->followed[i];
	return NULL;
}

const struct rna_netdev *rna_port_netdev(const struct rna_snapshot *snapshot,
					 const struct rna_snapshot_device *device, unsigned port)
{
	struct rna_netdev_search search = {.netdevs = rna_snapshot_netdevs(snapshot)};
	const struct rna_followed_netdev *followed =
		rna_netdevs_followed(search.netdevs, device->device, port);
	const struct rna_port_netdev *found =
		rna_netdev_search_port(&search, device->device->name, port);

	if (followed)
		return &followed->netdev;
	return found ? rna_netdev_search_name(&search, found->netdev) : NULL;
}

const struct rna_netdev *rna_netdevs_bond_of(const struct rna_netdevs *netdevs,
					     const struct rna_netdev *netdev)
{
	struct rna_netdev_search search = {.netdevs = netdevs};

	if (netdev && !netdev->bond)
		netdev = netdev->master ? rna_netdev_search_name(&search, netdev->master) : NULL;
	return netdev && netdev->bond ? netdev : NULL;
}

bool rna_netdev_has_no_link(const struct rna_netdev *netdev)
{
	return !netdev->admin_up || netdev->operstate == RNA_OPER_DOWN ||
	       netdev->operstate == RNA_OPER_LOWERLAYERDOWN ||
	       (netdev->carrier.state == RNA_VALUE_OK && netdev->carrier.number == 0);
}

bool rna_lacp_has_no_partner(const struct rna_lacp *lacp)
{
	return rna_same_text(lacp->partner, "00:00:00:00:00:00");
}

struct rna_value rna_lacp_carries_traffic(const struct rna_lacp *lacp)
{
	const uint64_t both = RNA_LACP_COLLECTING | RNA_LACP_DISTRIBUTING;

	if (!rna_value_is_known(lacp->actor_state) || !rna_value_is_known(lacp->partner_state))
		return (struct rna_value){0};
	return rna_value_ok((lacp->actor_state.number & lacp->partner_state.number & both) == both);
}

const struct rna_netdev *rna_netdevs_next_member(const struct rna_netdevs *netdevs,
						 const char *bond, const struct rna_device *device,
						 size_t *from)
{
	while (*from < netdevs->count) {
		const struct rna_netdev *netdev = &netdevs->netdevs[(*from)++];
		bool any = !device || !device->pci_address || !netdev->device;

		if (rna_same_text(netdev->master, bond) &&
		    (any || strcmp(netdev->device, device->name) == 0))
			return netdev;
	}
	return NULL;
}

bool rna_netdevs_same_names(const struct rna_netdevs *a, const struct rna_netdevs *b)
{
	if (a->count != b->count || a->port_count != b->port_count ||
	    a->followed_count != b->followed_count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!rna_same_text(a->netdevs[i].name, b->netdevs[i].name) ||
		    !rna_same_text(a->netdevs[i].master, b->netdevs[i].master) ||
		    !rna_same_text(a->netdevs[i].device, b->netdevs[i].device) ||
		    !rna_same_text(a->netdevs[i].lacp.partner, b->netdevs[i].lacp.partner))
			return false;
	for (size_t i = 0; i < a->port_count; i++)
		if (a->ports[i].port != b->ports[i].port ||
		    a->ports[i].source != b->ports[i].source ||
		    !rna_same_text(a->ports[i].device, b->ports[i].device) ||
		    !rna_same_text(a->ports[i].netdev, b->ports[i].netdev))
			return false;
	return !RNA_ANY(i, a->followed_count,
			a->followed[i].port.port != b->followed[i].port.port ||
				!rna_same_text(a->followed[i].port.device,
					       b->followed[i].port.device) ||
				!rna_same_text(a->followed[i].port.netdev,
					       b->followed[i].port.netdev));
}

static const char *device_of_netdev(const struct rna_netdevs *netdevs, const char *netdev)
{
	struct rna_netdev_search search = {.netdevs = netdevs};
	const struct rna_netdev *found = rna_netdev_search_name(&search, netdev);

	if (found && found->device)
		return found->device;
	for (size_t i = 0; netdevs && i < netdevs->port_count; i++)
		if (strcmp(netdevs->ports[i].netdev, netdev) == 0)
			return netdevs->ports[i].device;
	return NULL;
}

const char *rna_log_episode_device(const struct rna_snapshot *snapshot,
				   const struct rna_log_episode *episode)
{
	for (size_t i = 0; i < snapshot->device_count; i++) {
		const struct rna_device *device = snapshot->devices[i].device;

		if ((episode->rdma && strcmp(device->name, episode->rdma) == 0) ||
		    (!episode->rdma && episode->pci && device->pci_address &&
		     rna_log_pci_is(episode->pci, device->pci_address)))
			return device->name;
	}
	return episode->netdev && !episode->rdma
		       ? device_of_netdev(rna_snapshot_netdevs(snapshot), episode->netdev)
		       : NULL;
}

uint64_t rna_job_errors(const struct rna_job_status *job, enum rna_reason reason)
{
	return job->errors ? job->errors[reason] : 0;
}

enum rna_job_state rna_job_state(const struct rna_job_status *job)
{
	if (job->stalled)
		return RNA_JOB_STALLED;
	if (!job->ran)
		return RNA_JOB_PENDING;
	return job->success ? RNA_JOB_SUCCEEDED : RNA_JOB_FAILED;
}
