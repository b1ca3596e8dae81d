/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view made by hand, for the tests of exporter/. Devices come in threes:
 *   mlx5_0  InfiniBand, ACTIVE, with a network interface, one saturated counter, one unknown file
 *   mlx5_1  Ethernet, DOWN, identity with a quote in its description, a GID table of two entries
 *   rxe2    virtual, nothing known but its name and its port
 */
#pragma once

#include <assert.h>
#include <string.h>

#include "rna/model/view.h"

#include "own_view.h"

#define EXPORTER_NOW                                                                               \
	{                                                                                          \
		.monotonic = 100 * RNA_USEC_PER_SEC,                                               \
		.realtime = 1763716800 * RNA_USEC_PER_SEC, /* 2025-11-21T09:20:00Z */              \
	}

#define EXPORTER_STARTED                                                                           \
	{                                                                                          \
		.realtime = 1763709600 * RNA_USEC_PER_SEC, /* 2025-11-21T07:20:00Z */              \
	}

static const struct rna_time exporter_now = EXPORTER_NOW;

static void *new_part(enum rna_collector_id id, size_t size)
{
	struct rna_part *part = rna_part_new(id, size, 4096);

	assert(part);
	part->taken = exporter_now;
	return part;
}

static struct rna_part *new_identity(bool ethernet)
{
	struct rna_identity *part = new_part(RNA_COLLECTOR_IDENTITY, sizeof(*part));
	struct rna_port_identity *port = rna_arena_array(part->part.arena, 1, sizeof(*port));

	*port = (struct rna_port_identity){
		.number = 1,
		.link_layer = ethernet ? RNA_LINK_LAYER_ETHERNET : RNA_LINK_LAYER_INFINIBAND,
		.port_guid = "1070:fd03:0000:0001",
	};
	part->node_type = RNA_NODE_TYPE_CA;
	part->node_guid = "1070:fd03:0000:0000";
	part->firmware_version = "28.39.1002";
	part->hca_type = "MT4129";
	part->board_id = "MT_0000000838";
	part->node_description = ethernet ? "a \"b\" <c>\\\xff" : "node1 HCA-1";
	part->port_count = 1;
	part->ports = port;
	return &part->part;
}

static struct rna_part *new_state(uint64_t state, uint64_t physical)
{
	struct rna_state *part = new_part(RNA_COLLECTOR_STATE, sizeof(*part));
	struct rna_port_state_value *port = rna_arena_array(part->part.arena, 1, sizeof(*port));

	*port = (struct rna_port_state_value){
		.number = 1,
		.state = rna_value_ok(state),
		.physical_state = rna_value_ok(physical),
	};
	part->port_count = 1;
	part->ports = port;
	return &part->part;
}

static struct rna_part *new_link(bool ethernet)
{
	struct rna_link *part = new_part(RNA_COLLECTOR_LINK, sizeof(*part));
	struct rna_port_link *port = rna_arena_array(part->part.arena, 1, sizeof(*port));

	*port = (struct rna_port_link){
		.number = 1,
		.rate = rna_value_ok(50000000000),
		.width = rna_value_ok(4),
		.speed_code = rna_value_ok(128),
		.speed_name = "NDR",
		.active_mtu = rna_value_ok(4096),
		.max_mtu = rna_value_ok(4096),
	};
	if (!ethernet) {
		port->lid = rna_value_ok(17);
		port->sm_lid = rna_value_ok(1);
		port->lmc = rna_value_ok(0);
	}
	part->verbs = true;
	part->port_count = 1;
	part->ports = port;
	return &part->part;
}

/* Every known counter of place has the value of its row's number, one file is not known. */
static struct rna_counter_group new_group(struct rna_arena *arena, enum rna_counter_place place,
					  unsigned port, uint64_t resets)
{
	struct rna_counter_group group = {.place = place, .port = port, .resets = resets};
	struct rna_counter_value *values =
		rna_arena_array(arena, rna_counter_count + 1, sizeof(*values));

	assert(values);
	for (size_t i = 0; i < rna_counter_count; i++)
		if (rna_counters[i].place == place)
			values[group.count++] = (struct rna_counter_value){
				.counter = &rna_counters[i],
				.file = rna_counters[i].file,
				.value = rna_value_ok(i + 1000000),
			};
	values[group.count++] = (struct rna_counter_value){
		.file = "brand_new",
		.value = rna_value_ok(7),
	};
	group.values = values;
	return group;
}

static struct rna_part *new_counters(enum rna_collector_id id)
{
	struct rna_counters_part *part = new_part(id, sizeof(*part));
	struct rna_counter_group *groups =
		rna_arena_array(part->part.arena, RNA_PLACE_COUNT, sizeof(*groups));

	for (enum rna_counter_place place = 0; place < RNA_PLACE_COUNT; place++) {
		bool device = place == RNA_PLACE_DEVICE_HW_COUNTERS;
		uint64_t resets = device ? 6 : place == RNA_PLACE_PORT_COUNTERS ? 3 : 5;

		if (rna_counter_directory(place) && rna_counter_collector(place) == id)
			groups[part->group_count++] =
				new_group(part->part.arena, place, !device, resets);
	}
	part->groups = groups;
	return &part->part;
}

/* A peer that is gone and another before it, a subnet manager, and a limited P_Key. */
static inline struct rna_part *new_fabric(void)
{
	static const struct rna_peer former = {.name = "leaf 1", .port = "3"};
	static const struct rna_peer peer = {
		.type = RNA_NODE_TYPE_SWITCH,
		.name = "leaf \"7\"",
		.port = "12",
		.guid = "fc6a:1c03:0042:7700",
		.lid = {.number = 7, .state = RNA_VALUE_OK},
		.link.width_supported = {.number = 4, .state = RNA_VALUE_OK},
		.stale = true,
	};
	static const struct rna_pkey pkey = {.key = RNA_DEFAULT_PKEY};
	static const struct rna_port_fabric port = {
		.number = 1,
		.peer = &peer,
		.former_peer = &former,
		.answered = true,
		.peer_changes = 1,
		.manager = {.guid = "1070:fd03:00aa:0001",
			    .lid = {.number = 1, .state = RNA_VALUE_OK},
			    .priority = {.number = 14, .state = RNA_VALUE_OK},
			    .state = {.number = RNA_MANAGER_STANDBY, .state = RNA_VALUE_OK},
			    .changes = 2},
		.pkeys_known = true,
		.pkey_count = 1,
		.pkeys = &pkey,
	};
	struct rna_fabric *part = new_part(RNA_COLLECTOR_FABRIC, sizeof(*part));
	struct rna_arena *arena = part->counters.part.arena;
	struct rna_counter_group *group = rna_arena_alloc(arena, sizeof(*group));

	*group = new_group(arena, RNA_PLACE_PORT_FABRIC, 1, 4);
	part->counters.groups = group;
	part->counters.group_count = 1;
	part->ports = &port;
	part->port_count = 1;
	return &part->counters.part;
}

/* An application has two queue pairs on it, and the kernel one. */
static inline struct rna_part *new_resources(void)
{
	static const struct rna_optional_counter items[] = {{"cc_\"rx\"", true},
							    {"cc_tx_cnp_pkts", false}};
	static const struct rna_port_optional_counters port = {1, 2, items};
	struct rna_resources *part = new_part(RNA_COLLECTOR_RESOURCES, sizeof(*part));

	part->now.of[RNA_RESOURCE_QP] = rna_value_ok(3);
	part->now.of[RNA_RESOURCE_CTX] = rna_value_ok(2);
	part->now.own_contexts = rna_value_ok(1);
	part->idle[RNA_RESOURCE_QP] = rna_value_ok(1);
	part->idle[RNA_RESOURCE_CTX] = rna_value_ok(0);
	part->port_count = 1;
	part->ports = &port;
	return &part->part;
}

/* The reading of one known counter, to be changed by a test. */
static inline struct rna_value *counter_of(struct rna_view *view, size_t device, const char *file)
{
	static const enum rna_collector_id sources[] = {RNA_COLLECTOR_COUNTERS,
							RNA_COLLECTOR_HW_COUNTERS,
							RNA_COLLECTOR_FABRIC};

	for (size_t s = 0; s < RNA_ARRAY_SIZE(sources); s++) {
		const struct rna_counters_part *part =
			rna_device_counters(&view->snapshot->devices[device], sources[s]);

		for (size_t g = 0; part && g < part->group_count; g++)
			for (size_t i = 0; i < part->groups[g].count; i++)
				if (strcmp(part->groups[g].values[i].file, file) == 0)
					return (struct rna_value *)(uintptr_t)&part->groups[g]
						.values[i]
						.value;
	}
	return NULL;
}

/* A table with a hole; for RoCE v2 there is no address but IPv4. */
static struct rna_part *new_gids(void)
{
	static const struct rna_gid_entry entries[] = {
		{.gid = {{0xfe, 0x80, [15] = 1}}, .type = RNA_GID_TYPE_ROCE_V1, .netdev = "eth1"},
		{.index = 3,
		 .gid = {{[10] = 0xff, 0xff, 10, 0, 1, 1}},
		 .type = RNA_GID_TYPE_ROCE_V2,
		 .netdev = "eth1.100"},
	};
	struct rna_gids *part = new_part(RNA_COLLECTOR_GIDS, sizeof(*part));
	struct rna_port_gids *port = rna_arena_array(part->part.arena, 1, sizeof(*port));

	*port = (struct rna_port_gids){
		.number = 1,
		.count = RNA_ARRAY_SIZE(entries),
		.entries = entries,
		.changes = 7,
	};
	part->port_count = 1;
	part->ports = port;
	return &part->part;
}

static struct rna_part *new_presence(size_t count)
{
	static const unsigned one_port[] = {1};
	struct rna_presence *part = new_part(RNA_COLLECTOR_PRESENCE, sizeof(*part));
	struct rna_arena *arena = part->part.arena;
	struct rna_device *devices = rna_arena_array(arena, count, sizeof(*devices));

	for (size_t i = 0; i < count; i++) {
		bool virtual = i % 3 == 2;

		devices[i] = (struct rna_device){
			.name = rna_arena_printf(arena, virtual ? "rxe%zu" : "mlx5_%zu", i),
			.key = rna_arena_printf(arena, "0000:%02zx:00.0", i % 256),
			.pci_address =
				virtual ? NULL
					: rna_arena_printf(arena, "0000:%02zx:00.0", i % 256),
			.driver = virtual ? NULL : "mlx5_core",
			.function = virtual ? RNA_FUNCTION_VIRTUAL : RNA_FUNCTION_PF,
			.numa_node = virtual ? -1 : 0,
			.vendor_id = virtual ? 0 : 0x15b3,
			.device_id = virtual ? 0 : 0x1021,
			.port_count = 1,
			.ports = one_port,
		};
	}
	part->stack = true;
	part->device_count = count;
	part->devices = devices;
	return &part->part;
}

/* One interface for the first port of each three. */
static struct rna_part *new_netdevs(const struct rna_presence *presence)
{
	struct rna_netdevs *part = new_part(RNA_COLLECTOR_NETDEV, sizeof(*part));
	struct rna_arena *arena = part->part.arena;
	struct rna_netdev *netdevs =
		rna_arena_array(arena, presence->device_count + 1, sizeof(*netdevs));
	struct rna_port_netdev *ports =
		rna_arena_array(arena, presence->device_count + 1, sizeof(*ports));

	for (size_t i = 0; i < presence->device_count; i += 3) {
		netdevs[part->count] = (struct rna_netdev){
			.name = rna_arena_printf(arena, "ib%zu", i),
			.operstate = RNA_OPER_UP,
			.admin_up = true,
			.carrier = rna_value_ok(1),
			.mtu = rna_value_ok(2044),
			.speed = rna_value_ok(400000000000),
			.carrier_up = rna_value_ok(3),
			.carrier_down = rna_value_ok(2),
		};
		ports[part->port_count++] = (struct rna_port_netdev){
			.device = presence->devices[i].name,
			.port = 1,
			.netdev = netdevs[part->count++].name,
			.source = RNA_NETDEV_BY_IPOIB,
		};
	}
	part->netdevs = netdevs;
	part->ports = ports;
	return &part->part;
}

static struct rna_part *new_process(void)
{
	struct rna_process *part = new_part(RNA_COLLECTOR_PROCESS, sizeof(*part));

	part->cpu = 1250000;
	part->resident_memory = rna_value_ok(6000000);
	part->open_fds = rna_value_ok(40);
	return &part->part;
}

static inline void expect(struct rna_view *view, size_t port, enum rna_expected expected)
{
	own_ports(view)[port].expectation =
		(struct rna_expectation){expected, RNA_EXPECTATION_CONFIGURED};
}

/* The ports of each three: expected up, accepted as down, unknown; the second one flapped. */
static void remember_in(struct rna_view *view)
{
	static const struct rna_expectation expectations[] = {
		{RNA_EXPECTED_UP, RNA_EXPECTATION_REMEMBERED},
		{RNA_EXPECTED_DOWN, RNA_EXPECTATION_ACCEPTED},
		{RNA_EXPECTED_UNKNOWN, RNA_EXPECTATION_NONE},
	};
	static const struct rna_change changes[] = {
		{.sequence = 3, EXPORTER_STARTED, RNA_CHANGE_STARTED, .text = "version 1"},
		{.sequence = 4,
		 EXPORTER_NOW,
		 RNA_CHANGE_DOWN,
		 "mlx5_1",
		 1,
		 "<told>",
		 "eth1",
		 RNA_SOURCE_COUNTER,
		 3},
		{.sequence = 5,
		 EXPORTER_NOW,
		 RNA_CHANGE_UP,
		 "mlx5_1",
		 1,
		 "state ACTIVE",
		 .source = RNA_SOURCE_POLL,
		 .count = 1},
		{.sequence = 6,
		 EXPORTER_NOW,
		 RNA_CHANGE_RESOLVED,
		 "mlx5_1",
		 1,
		 "mlx5_1/1: <down>",
		 .rule = "port-down",
		 .severity = RNA_SEVERITY_CRITICAL,
		 .impact = RNA_IMPACT_RAIL_LOST,
		 .cause = RNA_CAUSE_CABLE,
		 .since = 1763716700 * RNA_USEC_PER_SEC},
	};
	static const struct rna_missing_device missing[] = {
		{"0000:aa:00.0", "mlx5_9", "0000:aa:00.0", RNA_WHEREABOUTS_MOVED,
		 1763716000 * RNA_USEC_PER_SEC, EXPORTER_NOW},
	};
	size_t count = view->snapshot->device_count;
	struct rna_view_port *ports = rna_arena_array(view->arena, count, sizeof(*ports));

	assert(ports);
	for (size_t i = 0; i < count; i++) {
		ports[i].number = 1;
		ports[i].expectation = expectations[i % 3];
		ports[i].peer = rna_port_peer(&view->snapshot->devices[i], 1);
		if (i % 3 == 1)
			ports[i].history = (struct rna_port_history){
				4, 3, {.monotonic = 88 * RNA_USEC_PER_SEC, .realtime = 1}};
	}
	view->ports = ports;
	view->missing = missing;
	view->missing_count = RNA_ARRAY_SIZE(missing);
	view->changes = changes;
	view->change_count = RNA_ARRAY_SIZE(changes);
}

static void add_jobs_to(struct rna_view *view)
{
	static const uint64_t errors[RNA_REASON_COUNT] = {[RNA_REASON_INVALID] = 5};
	struct rna_job_status *jobs =
		rna_arena_array(view->arena, view->snapshot->device_count + 1, sizeof(*jobs));

	view->jobs = jobs;
	jobs[view->job_count++] = (struct rna_job_status){
		.collector = RNA_COLLECTOR_PRESENCE,
		.name = "presence",
		.device = "node",
		.ran = true,
		.success = true,
		.duration = 250,
		.taken = 98 * RNA_USEC_PER_SEC,
	};
	for (size_t i = 0; i < view->snapshot->device_count; i++)
		jobs[view->job_count++] = (struct rna_job_status){
			.collector = RNA_COLLECTOR_STATE,
			.name = "state",
			.device = view->snapshot->devices[i].device->name,
			.ran = i % 3 != 2,
			.success = i % 3 == 0,
			.duration = 1500000,
			.taken = i % 3 == 2 ? 0 : 99500000,
			.stalled = i % 3 == 2 ? 90 * RNA_USEC_PER_SEC : 0,
			.errors = i % 3 == 1 ? errors : NULL,
		};
}

static struct rna_view *new_view(size_t device_count)
{
	struct rna_arena *arena = rna_arena_new(4096);
	struct rna_view *view = rna_arena_alloc(arena, sizeof(*view));
	struct rna_snapshot *snapshot = rna_snapshot_new(device_count, exporter_now);
	const struct rna_presence *presence;

	assert(view && snapshot);
	*view = (struct rna_view){.refs = 1, .snapshot = snapshot, .arena = arena};
	view->agent = (struct rna_agent_status){
		.started = {.monotonic = 40 * RNA_USEC_PER_SEC, .realtime = 1763716740500000},
		.snapshots = 12,
		.lanes = 2,
		.lanes_stalled = 1,
		.name = "node1",
		.config_loaded = 1763716740000000,
		.root = "/",
		.live = true,
	};
	view->metrics.all_jobs = true;
	view->metrics.details = true;
	view->metrics.gid_info = true;
	view->metrics.priorities = true;
	snapshot->device_set = 1;
	snapshot->parts[RNA_COLLECTOR_PRESENCE] = new_presence(device_count);
	presence = rna_snapshot_presence(snapshot);
	snapshot->parts[RNA_COLLECTOR_NETDEV] = new_netdevs(presence);
	snapshot->parts[RNA_COLLECTOR_PROCESS] = new_process();
	for (size_t i = 0; i < device_count; i++) {
		struct rna_snapshot_device *device = &snapshot->devices[i];
		bool ethernet = i % 3 == 1;

		device->device = &presence->devices[i];
		if (i % 3 == 2)
			continue;
		device->parts[RNA_COLLECTOR_IDENTITY] = new_identity(ethernet);
		device->parts[RNA_COLLECTOR_STATE] =
			ethernet ? new_state(RNA_PORT_DOWN, RNA_PHYSICAL_DISABLED)
				 : new_state(RNA_PORT_ACTIVE, RNA_PHYSICAL_LINK_UP);
		device->parts[RNA_COLLECTOR_LINK] = new_link(ethernet);
		if (ethernet)
			device->parts[RNA_COLLECTOR_GIDS] = new_gids();
		device->parts[RNA_COLLECTOR_COUNTERS] = new_counters(RNA_COLLECTOR_COUNTERS);
		device->parts[RNA_COLLECTOR_HW_COUNTERS] = new_counters(RNA_COLLECTOR_HW_COUNTERS);
		device->parts[RNA_COLLECTOR_FABRIC] = new_fabric();
	}
	add_jobs_to(view);
	remember_in(view);
	return joined(view);
}
