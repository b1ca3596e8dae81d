/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views made by hand, for the tests of rules and health: ports that are well, of which a test
 * changes what it is about.
 */
#pragma once

#include <assert.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/view.h"

#include "settings/settings.h"

#include "own_view.h"

enum { NODE_PORTS_MAX = 8, NODE_COUNTERS_MAX = 4, NODE_RUNS_MAX = 4, NODE_EPISODES_MAX = 4 };

/* One device with one port. Values are as in the parts; what is zeroed is absent. */
struct node_port {
	bool gone; /* the device is not there */
	const char *name;
	const char *pci_address; /* NULL: none; the name is the key then */
	const char *node_guid;
	const char *firmware;
	const char *driver_version;
	enum rna_function function;
	const char *driver;
	const char *physical_function;
	bool model_unread; /* its device number */
	uint64_t generation;
	enum rna_link_layer layer;
	bool iwarp;
	struct rna_value state, physical;
	uint64_t gigabits;
	struct rna_value width_supported;
	struct rna_value speed_supported;
	struct rna_value width_enabled, speed_enabled;
	const char *speed_name;
	struct rna_value active_mtu;
	size_t plane_count; /* 0: no SMI device */
	struct rna_plane planes[4];
	bool has_fabric;
	struct rna_port_fabric fabric; /* number aside */
	bool has_gids;
	struct rna_port_gids gids;
	struct rna_netdev netdev; /* no name: none */
	struct rna_expectation expectation;
	struct rna_port_history history;
	struct rna_port_best best;
	struct rna_former former_netdev;
	bool odd_counters; /* the table of counters need not have them */
	size_t counter_count;
	struct node_counter {
		const char *file;
		enum rna_counter_place place;
		struct rna_value value;
	} counters[NODE_COUNTERS_MAX];
	struct rna_value traffic_class;
	bool has_qos;
	struct rna_qos_port qos;
	struct rna_qos_port other_qos; /* of another member of its bond; without netdev: none */
	struct rna_ethernet_link ethernet_link;    /* of the interface */
	struct rna_ethernet_count statistic;       /* of it; absent: none */
	struct rna_ethernet_count other_statistic; /* of another member of its bond, likewise */
	struct rna_ethernet_pause pause;           /* of the interface */
	struct rna_value virtual_functions;
	size_t module_count;
	struct rna_port_module module;
	size_t vf_count; /* that are listed individually */
	struct rna_virtual_function vfs[2];
	size_t hop_count; /* 0: no PCIe path */
	struct rna_pcie_hop hops[4];
	struct rna_value iommu;
	bool failing;
	bool unread;       /* its jobs have not run yet */
	bool link_lapsed;  /* its link was read, so long ago that it is not shown any more */
	rna_usec stalled;  /* duration; 0: it answers */
	rna_usec age;      /* of the state */
	rna_usec accepted; /* realtime */
	rna_usec last_test, last_good_test;
	size_t run_count; /* 0: it was never tested */
	struct rna_selftest_run runs[NODE_RUNS_MAX];
	int stuck; /* a test */
};

struct node {
	struct rna_time now;
	bool live;
	size_t count;
	struct node_port ports[NODE_PORTS_MAX];
	struct rna_netdev bond, member; /* no name: none */
	/* The neighbour that lldpd lists; NULL: none. */
	const struct rna_lldp_neighbour *neighbour;
	size_t gateway_count;
	struct rna_gateway gateways[2];
	struct rna_host_network host;
	struct rna_rail_address addresses[NODE_PORTS_MAX]; /* of host */
	struct rna_readiness readiness;                    /* without its part */
	size_t gpu_count;                                  /* 0: no PCI tree is known */
	uint32_t gpu_class;
	const char *bare_function; /* a NIC without an RDMA device in the PCI tree; NULL: none */
	rna_usec accepted;         /* realtime */
	bool has_log;              /* the log of the kernel is read */
	struct rna_kernel_log log; /* without its part and episodes */
	size_t episode_count;
	struct rna_log_episode episodes[NODE_EPISODES_MAX];
	const char *gpu_bridge; /* above all GPUs; NULL: nothing is */
	bool data_direct;       /* the NICs have such a function */
	size_t missing_count;
	struct rna_missing_device missing;
	struct rna_follow_reach reach;                  /* of presence */
	struct rna_contested_device contested;          /* of presence; no name: none */
	struct rna_view_device changes[NODE_PORTS_MAX]; /* what was before, of each device */
	const struct rna_probes *probes;                /* without its part; NULL: none are sent */
};

static const struct rna_gid_entry node_gids[] = {
	{.gid = {{0xfe, 0x80, [15] = 1}}, .type = RNA_GID_TYPE_ROCE_V1},
	{.index = 1, .gid = {{0xfe, 0x80, [15] = 1}}, .type = RNA_GID_TYPE_ROCE_V2},
	{.index = 2, .gid = {{[10] = 0xff, 0xff, 10, 0, 0, 1}}, .type = RNA_GID_TYPE_ROCE_V1},
	{.index = 3, .gid = {{[10] = 0xff, 0xff, 10, 0, 0, 1}}, .type = RNA_GID_TYPE_ROCE_V2},
};

static void node_init(struct node *node, enum rna_link_layer layer, size_t count)
{
	static const char *const names[] = {"mlx5_0", "mlx5_1", "mlx5_2",
					    "mlx5_3", "mlx5_4", "mlx5_5"};
	static const char *const netdevs[] = {"eth0", "eth1", "eth2", "eth3", "eth4", "eth5"};

	assert(count <= RNA_ARRAY_SIZE(names));
	*node = (struct node){
		.now = {1000000 * RNA_USEC_PER_SEC, 1763716800 * RNA_USEC_PER_SEC},
		.live = true,
		.count = count,
	};
	for (size_t i = 0; i < count; i++)
		node->ports[i] = (struct node_port){
			.name = names[i],
			.layer = layer,
			.state = rna_value_ok(RNA_PORT_ACTIVE),
			.physical = rna_value_ok(RNA_PHYSICAL_LINK_UP),
			.gigabits = 400,
			.speed_name = "NDR",
			.active_mtu = rna_value_ok(4096),
			.has_gids = true,
			.gids = {.number = 1,
				 .count = RNA_ARRAY_SIZE(node_gids),
				 .entries = node_gids},
			.netdev = {.name = netdevs[i],
				   .admin_up = true,
				   .operstate = RNA_OPER_UP,
				   .carrier = rna_value_ok(1),
				   .mtu = rna_value_ok(9000),
				   .ipv4_addresses = rna_value_ok(1),
				   .ipv6_addresses = rna_value_ok(0)},
		};
}

static void *node_part(const struct node *node, enum rna_collector_id id, size_t size)
{
	struct rna_part *part = rna_part_new(id, size, 2048);

	assert(part);
	part->started = part->taken = node->now;
	return part;
}

/* A part of a device, with what it has of the device's port. */
#define NODE_PORT_PART(part_type, port_type, id, ...)                                              \
	({                                                                                         \
		struct part_type *part_ = node_part(node, id, sizeof(*part_));                     \
		struct port_type *one_ = rna_arena_alloc(part_->part.arena, sizeof(*one_));        \
		*one_ = (struct port_type){.number = 1, __VA_ARGS__};                              \
		part_->port_count = 1;                                                             \
		part_->ports = one_;                                                               \
		part_;                                                                             \
	})

static struct rna_part *node_presence(const struct node *node)
{
	static const unsigned one_port[] = {1};
	static const struct rna_device smi = {.name = "smi0", .has_planes = true};
	struct rna_presence *part = node_part(node, RNA_COLLECTOR_PRESENCE, sizeof(*part));
	struct rna_device *devices =
		rna_arena_array(part->part.arena, NODE_PORTS_MAX, sizeof(*devices));

	for (size_t i = 0; i < node->count; i++)
		if (!node->ports[i].gone)
			devices[part->device_count++] = (struct rna_device){
				.name = node->ports[i].name,
				.key = node->ports[i].pci_address ? node->ports[i].pci_address
								  : node->ports[i].name,
				.pci_address = node->ports[i].pci_address,
				.function = node->ports[i].function,
				.driver = node->ports[i].driver,
				.physical_function = node->ports[i].physical_function,
				.generation = node->ports[i].generation,
				.vendor_id = 0x15b3,
				.device_id = node->ports[i].model_unread ? 0 : 0x1021,
				.port_count = 1,
				.ports = one_port,
				.smi = node->ports[i].plane_count > 0 ? &smi : NULL,
			};
	part->stack = true;
	part->devices = devices;
	part->reach = node->reach;
	part->contested = &node->contested;
	part->contested_count = node->contested.name ? 1 : 0;
	return &part->part;
}

static int compare_netdevs(const void *a, const void *b)
{
	return rna_compare_names(((const struct rna_netdev *)a)->name,
				 ((const struct rna_netdev *)b)->name);
}

static int compare_port_netdevs(const void *a, const void *b)
{
	return rna_compare_names(((const struct rna_port_netdev *)a)->device,
				 ((const struct rna_port_netdev *)b)->device);
}

/* Sorted, as the collector does. */
static struct rna_part *node_netdevs(const struct node *node)
{
	struct rna_netdevs *part = node_part(node, RNA_COLLECTOR_NETDEV, sizeof(*part));
	struct rna_netdev *netdevs =
		rna_arena_array(part->part.arena, NODE_PORTS_MAX + 2, sizeof(*netdevs));
	struct rna_port_netdev *ports =
		rna_arena_array(part->part.arena, NODE_PORTS_MAX, sizeof(*ports));

	for (size_t i = 0; i < node->count; i++) {
		const struct node_port *port = &node->ports[i];

		if (!port->netdev.name)
			continue;
		netdevs[part->count++] = port->netdev;
		ports[part->port_count++] = (struct rna_port_netdev){.device = port->name,
								     .port = 1,
								     .netdev = port->netdev.name};
	}
	if (node->bond.name)
		netdevs[part->count++] = node->bond;
	if (node->member.name)
		netdevs[part->count++] = node->member;
	qsort(netdevs, part->count, sizeof(*netdevs), compare_netdevs);
	qsort(ports, part->port_count, sizeof(*ports), compare_port_netdevs);
	part->netdevs = netdevs;
	part->ports = ports;
	return &part->part;
}

static struct rna_part *node_lldp(const struct node *node)
{
	struct rna_lldp *part = node_part(node, RNA_COLLECTOR_LLDP, sizeof(*part));

	part->neighbours = node->neighbour;
	part->count = node->neighbour ? 1 : 0;
	return &part->part;
}

static struct rna_part *node_gateways(const struct node *node)
{
	struct rna_gateways *part = node_part(node, RNA_COLLECTOR_GATEWAYS, sizeof(*part));
	struct rna_gateway *items =
		rna_arena_array(part->part.arena, RNA_ARRAY_SIZE(node->gateways), sizeof(*items));

	memcpy(items, node->gateways, sizeof(node->gateways));
	part->items = items;
	part->count = node->gateway_count;
	part->host = node->host;
	part->host.addresses = node->addresses;
	return &part->part;
}

static struct rna_part *node_counters(const struct node *node, const struct node_port *port,
				      enum rna_collector_id id, size_t size)
{
	struct rna_counters_part *part = node_part(node, id, size);
	struct rna_counter_group *groups =
		rna_arena_array(part->part.arena, NODE_COUNTERS_MAX, sizeof(*groups));
	struct rna_counter_value *values =
		rna_arena_array(part->part.arena, NODE_COUNTERS_MAX, sizeof(*values));

	for (size_t i = 0; i < port->counter_count; i++) {
		struct rna_counter_value *value = &values[i];

		if (rna_counter_collector(port->counters[i].place) != id)
			continue;
		value->file = port->counters[i].file;
		value->value = port->counters[i].value;
		value->counter = rna_counter_find(port->counters[i].place, value->file);
		assert(value->counter || port->odd_counters);
		if (i > 0 && port->counters[i].place == port->counters[i - 1].place) {
			groups[part->group_count - 1].count++; /* in the order of the table */
			continue;
		}
		groups[part->group_count++] = (struct rna_counter_group){
			.place = port->counters[i].place,
			.port = port->counters[i].place != RNA_PLACE_DEVICE_HW_COUNTERS,
			.count = 1,
			.values = value,
		};
	}
	part->groups = groups;
	return &part->part;
}

/* Of the port's interface, and of another one. */
static struct rna_part *node_ethernet(const struct node *node, const struct node_port *port)
{
	struct rna_ethernet *part = node_part(node, RNA_COLLECTOR_ETHERNET, sizeof(*part));
	struct rna_ethernet_netdev *netdevs =
		rna_arena_array(part->part.arena, 2, sizeof(*netdevs));
	struct rna_ethernet_count *counts = rna_arena_array(part->part.arena, 2, sizeof(*counts));

	counts[0] = port->statistic;
	counts[1] = port->other_statistic;
	netdevs[0] = (struct rna_ethernet_netdev){
		.name = port->netdev.name,
		.ifindex = port->netdev.ifindex,
		.port = 1,
		.link = port->ethernet_link,
		.pause = port->pause,
		.count = counts[0].value.state != RNA_VALUE_ABSENT,
		.counts = &counts[0],
	};
	netdevs[1] = (struct rna_ethernet_netdev){
		.name = port->other_qos.netdev ? port->other_qos.netdev : "other",
		.ifindex = 1000,
		.port = 1,
		.count = counts[1].value.state != RNA_VALUE_ABSENT,
		.counts = &counts[1],
	};
	part->netdevs = netdevs;
	part->count = (port->netdev.name != NULL) + netdevs[1].count;
	return &part->part;
}

static struct rna_part *node_fabric(const struct node *node, const struct node_port *port)
{
	struct rna_part *counters =
		node_counters(node, port, RNA_COLLECTOR_FABRIC, sizeof(struct rna_fabric));
	struct rna_fabric *part = (struct rna_fabric *)counters;
	struct rna_port_fabric *one = rna_arena_alloc(counters->arena, sizeof(*one));

	*one = port->fabric;
	one->number = 1;
	part->ports = one;
	part->port_count = port->has_fabric;
	return counters;
}

static struct rna_part *node_pcie(const struct node *node, const struct node_port *port)
{
	struct rna_pcie *part = node_part(node, RNA_COLLECTOR_PCIE, sizeof(*part));
	struct rna_pcie_hop *hops = rna_arena_array(part->part.arena, 4, sizeof(*hops));

	memcpy(hops, port->hops, sizeof(port->hops));
	part->hops = hops;
	part->hop_count = port->hop_count;
	part->virtual_functions = port->virtual_functions;
	part->iommu = port->iommu;
	return &part->part;
}

static struct rna_part *node_modules(const struct node *node, const struct node_port *port)
{
	struct rna_modules *part = node_part(node, RNA_COLLECTOR_MODULE, sizeof(*part));
	struct rna_port_module *module = rna_arena_array(part->part.arena, 1, sizeof(*module));

	*module = port->module;
	part->modules = module;
	part->count = port->module_count;
	return &part->part;
}

static struct rna_part *node_vfs(const struct node *node, const struct node_port *port)
{
	struct rna_virtual_functions *part =
		node_part(node, RNA_COLLECTOR_VIRTUAL_FUNCTIONS, sizeof(*part));
	struct rna_virtual_function *functions =
		rna_arena_array(part->part.arena, 2, sizeof(*functions));

	memcpy(functions, port->vfs, sizeof(port->vfs));
	part->functions = functions;
	part->count = port->vf_count;
	return &part->part;
}

static struct rna_part *node_readiness(const struct node *node)
{
	struct rna_readiness *part = node_part(node, RNA_COLLECTOR_READINESS, sizeof(*part));
	struct rna_part own = part->part;

	*part = node->readiness;
	part->part = own;
	return &part->part;
}

static struct rna_part *node_topology(const struct node *node)
{
	struct rna_topology *part = node_part(node, RNA_COLLECTOR_TOPOLOGY, sizeof(*part));
	struct rna_pci_object *objects = rna_arena_array(part->part.arena, 3, sizeof(*objects));
	struct rna_nic *nic = rna_arena_alloc(part->part.arena, sizeof(*nic));
	const char **names = rna_arena_alloc(part->part.arena, sizeof(*names));
	struct rna_gpu *gpus =
		rna_arena_array(part->part.arena, node->gpu_count + 1, sizeof(*gpus));
	struct rna_gpu_affinity *affinities =
		rna_arena_array(part->part.arena, node->gpu_count + 1, sizeof(*affinities));

	objects[0] = (struct rna_pci_object){.role = RNA_PCI_UPSTREAM,
					     .address = node->gpu_bridge ? node->gpu_bridge : "",
					     .parent = RNA_NO_OBJECT};
	objects[1] = (struct rna_pci_object){.role = RNA_PCI_GPU,
					     .address = "0000:99:00.0",
					     .parent = node->gpu_bridge ? 0 : RNA_NO_OBJECT,
					     .class_id = node->gpu_class};
	objects[2] = (struct rna_pci_object){.role = RNA_PCI_NIC,
					     .address = node->bare_function,
					     .parent = RNA_NO_OBJECT};
	part->objects = objects;
	part->object_count = node->bare_function ? 3 : 2;
	for (size_t i = 0; i < node->gpu_count; i++)
		gpus[i].object = 1;
	*names = node->ports[0].name;
	*nic = (struct rna_nic){.object = 2,
				.driver = "mlx5_core",
				.rdma = RNA_NIC_RDMA_NONE,
				.data_direct = RNA_NO_OBJECT,
				.lag = -1,
				.rail = -1};
	if (node->gpu_bridge)
		*nic = (struct rna_nic){.data_direct = node->data_direct ? 0 : RNA_NO_OBJECT,
					.device_count = 1,
					.devices = names,
					.lag = -1,
					.rail = -1};
	if (node->bare_function || node->gpu_bridge) {
		part->nics = nic;
		part->nic_count = 1;
	}
	part->gpus = gpus;
	part->gpu_count = node->gpu_count;
	part->affinities = affinities; /* no NIC is near */
	return &part->part;
}

static struct rna_part *node_log(const struct node *node)
{
	struct rna_kernel_log *part = node_part(node, RNA_COLLECTOR_KERNEL_LOG, sizeof(*part));
	struct rna_log_episode *episodes =
		rna_arena_array(part->part.arena, NODE_EPISODES_MAX, sizeof(*episodes));
	struct rna_part own = part->part;

	*part = node->log;
	part->part = own;
	memcpy(episodes, node->episodes, sizeof(node->episodes));
	part->episodes = episodes;
	part->episode_count = node->episode_count;
	return &part->part;
}

static void node_set_parts(const struct node *node, const struct node_port *port,
			   struct rna_snapshot_device *device)
{
	struct rna_identity *identity =
		NODE_PORT_PART(rna_identity, rna_port_identity, RNA_COLLECTOR_IDENTITY,
			       .link_layer = port->layer, .traffic_class = port->traffic_class);

	identity->node_type = port->iwarp ? RNA_NODE_TYPE_RNIC : RNA_NODE_TYPE_CA;
	identity->board_id = "MT_0000000838";
	identity->node_guid = port->node_guid;
	identity->firmware_version = port->firmware;
	identity->driver_version = port->driver_version;
	device->parts[RNA_COLLECTOR_IDENTITY] = &identity->part;
	if (port->state.state != RNA_VALUE_ABSENT)
		device->parts[RNA_COLLECTOR_STATE] =
			&NODE_PORT_PART(rna_state, rna_port_state_value, RNA_COLLECTOR_STATE,
					.state = port->state, .physical_state = port->physical)
				 ->part;
	if (!port->link_lapsed)
		device->parts[RNA_COLLECTOR_LINK] =
			&NODE_PORT_PART(rna_link, rna_port_link, RNA_COLLECTOR_LINK,
					.rate = rna_value_ok(port->gigabits * 125000000),
					.width = rna_value_ok(4), .speed_code = rna_value_ok(128),
					.width_supported = port->width_supported,
					.speed_supported = port->speed_supported,
					.width_enabled = port->width_enabled,
					.speed_enabled = port->speed_enabled,
					.speed_name = port->speed_name,
					.active_mtu = port->active_mtu,
					.max_mtu = rna_value_ok(4096))
				 ->part;
	if (port->plane_count > 0) {
		struct rna_link *link =
			(struct rna_link *)(uintptr_t)device->parts[RNA_COLLECTOR_LINK];

		link->plane_count = port->plane_count;
		link->planes = port->planes;
	}
	if (port->has_fabric || port->counter_count > 0)
		device->parts[RNA_COLLECTOR_FABRIC] = node_fabric(node, port);
	if (port->has_gids) {
		struct rna_gids *gids =
			NODE_PORT_PART(rna_gids, rna_port_gids, RNA_COLLECTOR_GIDS, .count = 0);

		*(struct rna_port_gids *)(uintptr_t)gids->ports = port->gids;
		device->parts[RNA_COLLECTOR_GIDS] = &gids->part;
	}
	if (port->has_qos) {
		struct rna_qos *qos = node_part(node, RNA_COLLECTOR_QOS, sizeof(*qos));
		struct rna_qos_port *ports = rna_arena_array(qos->part.arena, 2, sizeof(*ports));

		ports[0] = port->qos;
		ports[1] = port->other_qos;
		qos->ports = ports;
		qos->port_count = 1 + (port->other_qos.netdev != NULL);
		device->parts[RNA_COLLECTOR_QOS] = &qos->part;
	}
	device->parts[RNA_COLLECTOR_PCIE] = node_pcie(node, port);
	device->parts[RNA_COLLECTOR_MODULE] = node_modules(node, port);
	device->parts[RNA_COLLECTOR_VIRTUAL_FUNCTIONS] = node_vfs(node, port);
	device->parts[RNA_COLLECTOR_ETHERNET] = node_ethernet(node, port);
	device->parts[RNA_COLLECTOR_COUNTERS] =
		node_counters(node, port, RNA_COLLECTOR_COUNTERS, sizeof(struct rna_counters_part));
	device->parts[RNA_COLLECTOR_HW_COUNTERS] =
		node_counters(node, port, RNA_COLLECTOR_HW_COUNTERS,
			      sizeof(struct rna_counters_part));
}

static void node_add_jobs(const struct node *node, const struct node_port *port,
			  struct rna_view *view)
{
	own_jobs(view)[view->job_count++] = (struct rna_job_status){
		.collector = RNA_COLLECTOR_STATE,
		.name = "state",
		.device = port->name,
		.ran = !port->unread,
		.success = !port->failing,
		.taken = node->now.monotonic - port->age,
		.stalled = port->stalled ? node->now.monotonic - port->stalled : 0,
	};
	own_jobs(view)[view->job_count++] = (struct rna_job_status){
		.collector = RNA_COLLECTOR_LINK,
		.name = "link",
		.device = port->name,
		.ran = true,
		.success = true,
		.taken = node->now.monotonic,
	};
}

static struct rna_selftests *node_selftests(const struct node *node)
{
	struct rna_selftests *part = node_part(node, RNA_COLLECTOR_COUNT, sizeof(*part));
	struct rna_selftest_port *ports =
		rna_arena_array(part->part.arena, NODE_PORTS_MAX, sizeof(*ports));

	for (size_t i = 0; i < node->count; i++) {
		const struct node_port *port = &node->ports[i];
		struct rna_selftest_run *runs =
			rna_arena_array(part->part.arena, NODE_RUNS_MAX, sizeof(*runs));

		memcpy(runs, port->runs, sizeof(port->runs));
		ports[part->count++] =
			(struct rna_selftest_port){.device = port->name,
						   .port = 1,
						   .count = port->run_count,
						   .runs = runs,
						   .last_run = port->last_test,
						   .last_success = port->last_good_test,
						   .stuck = port->stuck};
	}
	part->ports = ports;
	return part;
}

static const struct rna_cards *node_cards(const struct rna_view *view)
{
	struct rna_cards *cards = rna_arena_alloc(view->arena, sizeof(*cards));

	assert(cards && rna_cards_make(view->snapshot, view->arena, cards) == 0);
	return cards;
}

/* The view of the node as it is; the caller unrefs it. */
static struct rna_probes *node_probes(const struct node *node)
{
	struct rna_probes *part = node_part(node, RNA_COLLECTOR_COUNT, sizeof(*part));
	struct rna_part own = part->part;

	*part = *node->probes;
	part->part = own;
	return part;
}

static struct rna_view *node_view(const struct node *node)
{
	struct rna_arena *arena = rna_arena_new(8192);
	struct rna_view *view = rna_arena_alloc(arena, sizeof(*view));
	const struct rna_presence *presence;
	struct rna_part *part = node_presence(node);
	struct rna_snapshot *snapshot;
	size_t next = 0;

	presence = (const struct rna_presence *)part;
	*view = (struct rna_view){.refs = 1, .arena = arena};
	view->agent.live = node->live;
	view->probes = node->probes ? node_probes(node) : NULL;
	snapshot = rna_snapshot_new(presence->device_count, node->now);
	view->snapshot = snapshot;
	snapshot->parts[RNA_COLLECTOR_PRESENCE] = part;
	snapshot->parts[RNA_COLLECTOR_NETDEV] = node_netdevs(node);
	snapshot->parts[RNA_COLLECTOR_LLDP] = node_lldp(node);
	snapshot->parts[RNA_COLLECTOR_GATEWAYS] = node_gateways(node);
	snapshot->parts[RNA_COLLECTOR_READINESS] = node_readiness(node);
	if (node->has_log)
		snapshot->parts[RNA_COLLECTOR_KERNEL_LOG] = node_log(node);
	if (node->gpu_count > 0 || node->bare_function)
		snapshot->parts[RNA_COLLECTOR_TOPOLOGY] = node_topology(node);
	view->jobs = rna_arena_array(arena, 2 * NODE_PORTS_MAX, sizeof(*view->jobs));
	view->ports = rna_arena_array(arena, NODE_PORTS_MAX, sizeof(*view->ports));
	for (size_t i = 0; i < node->count; i++) {
		const struct node_port *port = &node->ports[i];

		if (port->gone)
			continue;
		snapshot->devices[next].device = &presence->devices[next];
		node_set_parts(node, port, &snapshot->devices[next]);
		own_ports(view)[next] =
			(struct rna_view_port){1,
					       port->history,
					       port->expectation,
					       port->best,
					       port->former_netdev,
					       port->accepted,
					       .peer = rna_port_peer(&snapshot->devices[next], 1)};
		next++;
		node_add_jobs(node, port, view);
	}
	view->devices = node->changes;
	view->cards = node_cards(view);
	view->selftests = node_selftests(node);
	view->accepted = node->accepted;
	view->missing_count = node->missing_count;
	view->missing = &node->missing;
	return joined(view);
}
