// SPDX-License-Identifier: Apache-2.0
/*
 * agent/rules*.c: each rule, when it holds, when it does not, and when the result is unknown. A
 * case changes one thing of a healthy node and lists all findings that this makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rna/base/duration.h"

#include "config/settings_table.h"
#include "health/health.h"
#include "settings/qos_profile.h"

#include "health_view.h"

#define IB   RNA_LINK_LAYER_INFINIBAND
#define ROCE RNA_LINK_LAYER_ETHERNET

static void set_state(struct node *node, uint64_t state, uint64_t physical)
{
	node->ports[0].state = rna_value_ok(state);
	node->ports[0].physical = rna_value_ok(physical);
}

static void expect(struct node *node, enum rna_expected expected)
{
	node->ports[0].expectation = (struct rna_expectation){expected, RNA_EXPECTATION_REMEMBERED};
}

static void nothing(struct node *node)
{
	(void)node;
}

static void down(struct node *node)
{
	set_state(node, RNA_PORT_DOWN, RNA_PHYSICAL_POLLING);
}

static void down_expected_up(struct node *node)
{
	down(node);
	expect(node, RNA_EXPECTED_UP);
}

static void down_expected_down(struct node *node)
{
	down(node);
	expect(node, RNA_EXPECTED_DOWN);
}

static void disabled(struct node *node)
{
	set_state(node, RNA_PORT_DOWN, RNA_PHYSICAL_DISABLED);
}

static void disabled_expected_up(struct node *node)
{
	disabled(node);
	expect(node, RNA_EXPECTED_UP);
}

static void training(struct node *node)
{
	set_state(node, RNA_PORT_DOWN, RNA_PHYSICAL_TRAINING);
}

static void state_unreadable(struct node *node)
{
	expect(node, RNA_EXPECTED_UP);
	node->ports[0].state = rna_value_unreadable();
}

static void state_absent(struct node *node)
{
	expect(node, RNA_EXPECTED_UP);
	node->ports[0].state = (struct rna_value){0};
}

static void state_of_tomorrow(struct node *node)
{
	set_state(node, 9, 12);
}

static void init(struct node *node)
{
	set_state(node, RNA_PORT_INIT, RNA_PHYSICAL_LINK_UP);
}

static void init_expected_up(struct node *node)
{
	init(node);
	expect(node, RNA_EXPECTED_UP);
}

static void armed(struct node *node)
{
	set_state(node, RNA_PORT_ARMED, RNA_PHYSICAL_LINK_UP);
}

static void only_physically_up(struct node *node)
{
	set_state(node, RNA_PORT_DOWN, RNA_PHYSICAL_LINK_UP);
}

static void virtual_function_down(struct node *node)
{
	down_expected_up(node);
	node->ports[0].function = RNA_FUNCTION_VF;
}

static void scalable_function_down(struct node *node)
{
	down_expected_up(node);
	node->ports[0].function = RNA_FUNCTION_SF;
}

/* A device in switchdev mode has a port for each function; of a pod that has ended it is down. */
static void representor_down(struct node *node)
{
	down_expected_up(node);
	node->ports[0].netdev.representor = true;
}

static void switch_management_down(struct node *node)
{
	down_expected_up(node);
	node->ports[0].function = RNA_FUNCTION_SWITCH_MANAGEMENT;
}

static void lose(struct node *node, enum rna_whereabouts where)
{
	node->ports[0].gone = true;
	node->missing = (struct rna_missing_device){.key = "mlx5_0",
						    .name = "mlx5_0",
						    .pci_address = "0000:3b:00.0",
						    .whereabouts = where};
	node->missing_count = 1;
}

static void lost(struct node *node)
{
	lose(node, RNA_WHEREABOUTS_LOST);
}

/* The first two ports are on functions of one card. */
static void on_one_card(struct node *node)
{
	node->ports[0].pci_address = "0000:3b:00.0";
	node->ports[1].pci_address = "0000:3b:00.1";
	node->ports[2].pci_address = "0000:5b:00.0";
}

static void one_function_down(struct node *node)
{
	on_one_card(node);
	down_expected_up(node);
}

static void both_functions_down(struct node *node)
{
	one_function_down(node);
	node->ports[1].state = node->ports[0].state;
	node->ports[1].physical = node->ports[0].physical;
	node->ports[1].expectation = node->ports[0].expectation;
}

static void one_function_expected_down(struct node *node)
{
	both_functions_down(node);
	node->ports[1].expectation.expected = RNA_EXPECTED_DOWN;
}

static void one_function_unknown(struct node *node)
{
	both_functions_down(node);
	node->ports[1].state = (struct rna_value){0};
}

static void function_lost(struct node *node)
{
	on_one_card(node);
	lost(node);
}

static void unbound(struct node *node)
{
	lose(node, RNA_WHEREABOUTS_UNBOUND);
}

static void moved(struct node *node)
{
	lose(node, RNA_WHEREABOUTS_MOVED);
}

static void relocated(struct node *node)
{
	lose(node, RNA_WHEREABOUTS_RELOCATED);
	node->missing.new_name = "mlx5_7";
	node->missing.new_address = "0000:af:00.0";
}

static void below_best(struct node *node)
{
	node->ports[0].best.rate = 2 * 50000000000;
}

static void above_best(struct node *node)
{
	node->ports[0].best = (struct rna_port_best){.rate = 1};
}

static void has_planes(struct node *node)
{
	node->ports[0].plane_count = 4;
	for (unsigned i = 0; i < 4; i++)
		node->ports[0].planes[i] = (struct rna_plane){
			.number = i + 1,
			.state = rna_value_ok(RNA_PORT_ACTIVE),
		};
}

static void plane_down(struct node *node)
{
	has_planes(node);
	node->ports[0].planes[2].state = rna_value_ok(RNA_PORT_DOWN);
}

/* The port has a finding of its own, and its planes have none. */
static void planes_and_port_down(struct node *node)
{
	plane_down(node);
	down_expected_up(node);
}

static void plane_unknown(struct node *node)
{
	plane_down(node);
	node->ports[0].planes[3].state = rna_value_unreadable();
}

static void below_siblings(struct node *node)
{
	node->ports[0].gigabits = 200;
}

static void siblings_differ(struct node *node)
{
	below_siblings(node);
	node->ports[1].gigabits = 100;
}

/* Two against one: neither is the usual rate, as the one that is compared does not count. */
static void two_below_siblings(struct node *node)
{
	below_siblings(node);
	node->ports[1].gigabits = 200;
}

static void fewer_lanes_than_supported(struct node *node)
{
	node->ports[0].width_supported = rna_value_ok(8);
}

static void slower_than_supported(struct node *node)
{
	node->ports[0].speed_supported = rna_value_ok(256);
}

static void as_supported(struct node *node)
{
	node->ports[0].width_supported = rna_value_ok(4);
	node->ports[0].speed_supported = rna_value_ok(128);
}

/* -- The fabric -------------------------------------------------------------------------------- */

/* In a switch that can do all that the port can. */
static const struct rna_peer leaf = {
	.type = RNA_NODE_TYPE_SWITCH,
	.name = "leaf-07",
	.port = "12",
	.guid = "fc6a:1c03:0042:7700",
	.link = {.width_enabled = {4, RNA_VALUE_OK},
		 .width_supported = {4, RNA_VALUE_OK},
		 .speed_enabled = {128, RNA_VALUE_OK},
		 .speed_supported = {128, RNA_VALUE_OK}},
};
static struct rna_peer other_leaf;

static void connect(struct node *node, const struct rna_peer *peer)
{
	struct node_port *port = &node->ports[0];

	port->has_fabric = true;
	port->fabric.peer = peer;
	port->width_enabled = port->width_supported = rna_value_ok(4);
	port->speed_enabled = port->speed_supported = rna_value_ok(128);
}

static void connected_well(struct node *node)
{
	connect(node, &leaf);
}

static void connected_and_down(struct node *node)
{
	down_expected_up(node);
	connect(node, &leaf);
}

static struct rna_peer *connect_to_other(struct node *node)
{
	other_leaf = leaf;
	other_leaf.name = "leaf-08";
	connect(node, &other_leaf);
	return &other_leaf;
}

static void peer_supports_less(struct node *node)
{
	connect_to_other(node)->link.speed_supported.number = 128;
	node->ports[0].speed_supported = rna_value_ok(256);
}

static void peer_is_set_to_less(struct node *node)
{
	struct rna_peer *peer = connect_to_other(node);

	peer->link.speed_supported = rna_value_ok(256);
	node->ports[0].speed_supported = node->ports[0].speed_enabled = rna_value_ok(256);
}

static void port_is_set_to_less(struct node *node)
{
	struct rna_peer *peer = connect_to_other(node);

	peer->link.speed_supported = peer->link.speed_enabled = rna_value_ok(256);
	node->ports[0].speed_supported = rna_value_ok(256);
}

static void both_ends_may_do_more(struct node *node)
{
	struct rna_peer *peer = connect_to_other(node);

	peer->link.speed_supported = peer->link.speed_enabled = rna_value_ok(256);
	node->ports[0].speed_supported = node->ports[0].speed_enabled = rna_value_ok(256);
}

static void both_ends_have_more_lanes(struct node *node)
{
	struct rna_peer *peer = connect_to_other(node);

	peer->link.width_supported = peer->link.width_enabled = rna_value_ok(8);
	node->ports[0].width_supported = node->ports[0].width_enabled = rna_value_ok(8);
}

/* What a peer could do that is gone says nothing; what the port could, is compared as without. */
static void peer_is_stale(struct node *node)
{
	peer_supports_less(node);
	other_leaf.stale = true;
}

static void swapped_names(struct node *node)
{
	rna_usec changed = node->now.realtime - 60 * RNA_USEC_PER_SEC;

	node->changes[0].name =
		(struct rna_former){"mlx5_1", changed, "0000:5e:00.0", "0000:5e:00.0"};
}

static void name_that_is_anothers(struct node *node)
{
	node->changes[0].name = (struct rna_former){"mlx5_1", 1, NULL, "0000:5e:00.0"};
}

static void new_name(struct node *node)
{
	node->changes[0].name = (struct rna_former){.text = "mlx5_9", .changed = 1};
}

static void swapped_interfaces(struct node *node)
{
	node->ports[0].former_netdev = (struct rna_former){"eth1", 1, "mlx5_1/1", "mlx5_1/1"};
}

static void new_interface_name(struct node *node)
{
	node->ports[0].former_netdev = (struct rna_former){.text = "ens1", .changed = 1};
}

static void other_card(struct node *node)
{
	node->ports[0].pci_address = "0000:3b:00.0";
	node->changes[0].guid = (struct rna_former){"0002:c903:0000:0001", 1, "0000:5e:00.0"};
}

static void cable_moved(struct node *node)
{
	connect_to_other(node);
	node->ports[0].fabric.former_peer = &leaf;
	node->ports[0].fabric.peer_changed.monotonic = node->now.monotonic - 60 * RNA_USEC_PER_SEC;
}

static void cable_moved_long_ago(struct node *node)
{
	cable_moved(node);
	node->ports[0].fabric.peer_changed.monotonic =
		node->now.monotonic - UINT64_C(90000) * RNA_USEC_PER_SEC;
}

static void set_manager(struct node *node, uint64_t state)
{
	connect(node, &leaf);
	node->ports[0].fabric.manager = (struct rna_manager){
		.guid = "1070:fd03:00aa:0001",
		.lid = rna_value_ok(1),
		.state = rna_value_ok(state),
	};
}

static void manager_is_well(struct node *node)
{
	set_manager(node, RNA_MANAGER_MASTER);
	node->ports[0].fabric.manager.unanswered = 2;
}

static void manager_is_standby(struct node *node)
{
	set_manager(node, RNA_MANAGER_STANDBY);
}

static void manager_is_silent(struct node *node)
{
	set_manager(node, RNA_MANAGER_MASTER);
	node->ports[0].fabric.manager.unanswered = 3;
}

static void manager_changed(struct node *node)
{
	set_manager(node, RNA_MANAGER_MASTER);
	node->ports[0].fabric.manager.changes = 1;
	node->ports[0].fabric.manager.changed = node->now;
}

static void manager_changed_long_ago(struct node *node)
{
	manager_changed(node);
	node->ports[0].fabric.manager.changed.monotonic -= UINT64_C(7200) * RNA_USEC_PER_SEC;
}

static void set_pkey(struct node *node, uint16_t key)
{
	static struct rna_pkey pkey;

	connect(node, &leaf);
	pkey.key = key;
	node->ports[0].fabric.pkeys_known = true;
	node->ports[0].fabric.pkey_count = 1;
	node->ports[0].fabric.pkeys = &pkey;
}

static void only_a_tenants_pkey(struct node *node)
{
	set_pkey(node, 0x12);
}

static void default_pkey_limited(struct node *node)
{
	set_pkey(node, RNA_DEFAULT_PKEY);
}

static void no_pkey_while_down(struct node *node)
{
	down_expected_down(node);
	set_pkey(node, 0x12);
}

/* Three rails that are in the same partitions. */
static void rails_share_partitions(struct node *node)
{
	static const struct rna_pkey table[] = {{0, 0x12, true}, {1, RNA_DEFAULT_PKEY, false}};

	for (size_t i = 0; i < node->count; i++) {
		node->ports[i].has_fabric = true;
		node->ports[i].fabric.pkeys_known = true;
		node->ports[i].fabric.pkey_count = RNA_ARRAY_SIZE(table);
		node->ports[i].fabric.pkeys = table;
	}
}

static void give_pkeys(struct node *node, const struct rna_pkey *table, size_t count)
{
	rails_share_partitions(node);
	node->ports[0].fabric.pkeys = table;
	node->ports[0].fabric.pkey_count = count;
}

static void rail_lacks_partition(struct node *node)
{
	static const struct rna_pkey table[] = {{0, RNA_DEFAULT_PKEY, false}};

	give_pkeys(node, table, RNA_ARRAY_SIZE(table));
}

static void rail_has_other_order(struct node *node)
{
	static const struct rna_pkey table[] = {{0, RNA_DEFAULT_PKEY, false}, {1, 0x12, true}};

	give_pkeys(node, table, RNA_ARRAY_SIZE(table));
}

static void rail_is_limited_member(struct node *node)
{
	static const struct rna_pkey table[] = {{0, 0x12, false}, {1, RNA_DEFAULT_PKEY, false}};

	give_pkeys(node, table, RNA_ARRAY_SIZE(table));
}

static void partitions_of_two_rails(struct node *node)
{
	rail_lacks_partition(node);
	node->count = 2;
}

static void partitions_of_a_rail_unknown(struct node *node)
{
	rail_lacks_partition(node);
	node->ports[0].fabric.pkeys_known = false;
}

static void below_without_speed_name(struct node *node)
{
	below_siblings(node);
	node->ports[0].speed_name = NULL;
	below_best(node);
}

static void below_while_down(struct node *node)
{
	below_siblings(node);
	below_best(node);
	down_expected_down(node);
}

static void no_gids(struct node *node)
{
	node->ports[0].gids.count = 0;
}

static void gids_not_read(struct node *node)
{
	node->ports[0].has_gids = false;
}

static void use_gids(struct node *node, const struct rna_gid_entry *entries, size_t count)
{
	node->ports[0].gids.entries = entries;
	node->ports[0].gids.count = count;
}

static void only_v1(struct node *node)
{
	static const struct rna_gid_entry entries[] = {
		{.gid = {{0xfe, 0x80, [15] = 1}}, .type = RNA_GID_TYPE_ROCE_V1},
		{.index = 1, .gid = {{[10] = 0xff, 0xff, 10}}, .type = RNA_GID_TYPE_ROCE_V1},
	};

	use_gids(node, entries, RNA_ARRAY_SIZE(entries));
}

static void types_not_read(struct node *node)
{
	static const struct rna_gid_entry entries[] = {
		{.gid = {{0xfe, 0x80, [15] = 1}}, .type = RNA_GID_TYPE_UNKNOWN},
	};

	use_gids(node, entries, RNA_ARRAY_SIZE(entries));
}

static void link_local(struct node *node)
{
	use_gids(node, node_gids, 2);
}

static void link_local_without_address(struct node *node)
{
	link_local(node);
	node->ports[0].netdev.ipv4_addresses = rna_value_ok(0);
}

static void representor_without_address(struct node *node)
{
	link_local_without_address(node);
	node->ports[0].netdev.representor = true;
}

static void virtual_functions_have_the_addresses(struct node *node)
{
	link_local_without_address(node);
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].virtual_functions = rna_value_ok(8);
}

static void without_address_but_gids(struct node *node)
{
	node->ports[0].netdev.ipv4_addresses = rna_value_ok(0);
}

static void addresses_not_read(struct node *node)
{
	link_local(node);
	node->ports[0].netdev.ipv4_addresses = node->ports[0].netdev.ipv6_addresses =
		(struct rna_value){0};
}

static void in_a_bridge(struct node *node)
{
	link_local_without_address(node);
	node->ports[0].netdev.master = "br0";
}

static void other_index(struct node *node)
{
	static const struct rna_gid_entry entries[] = {
		{.gid = {{0xfe, 0x80, [15] = 1}}, .type = RNA_GID_TYPE_ROCE_V2},
		{.index = 5, .gid = {{[10] = 0xff, 0xff, 10}}, .type = RNA_GID_TYPE_ROCE_V2},
	};

	use_gids(node, entries, RNA_ARRAY_SIZE(entries));
}

static void netdev_set_down(struct node *node)
{
	node->ports[0].netdev.admin_up = false;
}

static void netdev_without_carrier(struct node *node)
{
	node->ports[0].netdev.carrier = rna_value_ok(0);
}

static void netdev_does_not_say(struct node *node)
{
	node->ports[0].netdev.operstate = RNA_OPER_UNKNOWN;
	node->ports[0].netdev.carrier = (struct rna_value){0};
}

static void small_mtu(struct node *node)
{
	node->ports[0].active_mtu = rna_value_ok(1024);
	node->ports[0].netdev.mtu = rna_value_ok(1500);
}

static void small_mtu_of_iwarp(struct node *node)
{
	small_mtu(node);
	node->ports[0].iwarp = true;
}

static void mtu_not_read(struct node *node)
{
	node->ports[0].active_mtu = (struct rna_value){0};
}

static void bond_is_well(struct node *node)
{
	node->bond = (struct rna_netdev){.name = "bond0",
					 .bond = true,
					 .admin_up = true,
					 .operstate = RNA_OPER_UP};
	node->member = (struct rna_netdev){.name = "eth9",
					   .master = "bond0",
					   .admin_up = true,
					   .operstate = RNA_OPER_UP};
	node->ports[0].netdev.master = "bond0";
}

static void bond_monitors(struct node *node)
{
	bond_is_well(node);
	node->bond.bond_monitors = rna_value_ok(1);
}

static void bond_unmonitored(struct node *node)
{
	bond_is_well(node);
	node->bond.bond_monitors = rna_value_ok(0);
}

/* There is nothing that it could switch to. */
static void bond_of_one_unmonitored(struct node *node)
{
	bond_unmonitored(node);
	node->member.name = NULL;
}

static void bond_member_lost(struct node *node)
{
	bond_is_well(node);
	node->member.operstate = RNA_OPER_DOWN;
}

/* Activity, aggregation, synchronization, collecting and distributing. */
enum { LACP_GOOD = 0x3d };

/* Two switches with one system MAC address are one partner: one aggregator. */
static void lacp_is_well(struct node *node)
{
	bond_is_well(node);
	node->bond.lacp.aggregator = rna_value_ok(1);
	node->bond.lacp.partner = "02:00:5e:00:00:01";
	node->ports[0].netdev.lacp = (struct rna_lacp){
		.aggregator = rna_value_ok(1),
		.actor_state = rna_value_ok(LACP_GOOD),
		.partner_state = rna_value_ok(LACP_GOOD),
	};
	node->member.lacp = node->ports[0].netdev.lacp;
}

static void lacp_partner_missing(struct node *node)
{
	lacp_is_well(node);
	node->bond.lacp.partner = "00:00:00:00:00:00";
	node->member.lacp.aggregator = rna_value_ok(2);
	node->member.lacp.actor_state = rna_value_ok(0x45);
	node->member.lacp.partner_state = rna_value_ok(1);
}

static void lacp_without_any_link(struct node *node)
{
	lacp_partner_missing(node);
	node->ports[0].netdev.operstate = node->member.operstate = RNA_OPER_DOWN;
}

static void lacp_aggregators_differ(struct node *node)
{
	lacp_partner_missing(node);
	node->bond.lacp.partner = "02:00:5e:00:00:01";
}

/* A recording without the rights to see the partner. */
static void lacp_aggregators_differ_of_unknown(struct node *node)
{
	lacp_aggregators_differ(node);
	node->bond.lacp.partner = NULL;
}

/* Its aggregator is its own, as of any port without a link. */
static void lacp_member_lost(struct node *node)
{
	lacp_aggregators_differ(node);
	node->member.operstate = RNA_OPER_DOWN;
}

static void lacp_member_suspended(struct node *node)
{
	lacp_is_well(node);
	node->member.lacp.actor_state = rna_value_ok(0x0d);
	node->member.lacp.partner_state = rna_value_ok(0x05);
}

static void lacp_member_waits(struct node *node)
{
	lacp_is_well(node);
	node->member.lacp.actor_state = rna_value_ok(0x1d);
}

/* The kernel tells no states of a member before it has an aggregator. */
static void lacp_member_not_told(struct node *node)
{
	lacp_is_well(node);
	node->member.lacp = (struct rna_lacp){0};
}

/* The other device in the bond has the trouble, and the finding. */
static void lacp_member_of_another_device(struct node *node)
{
	lacp_aggregators_differ(node);
	node->ports[0].pci_address = "0000:3b:00.0";
	node->member.device = "mlx5_5";
}

/* -- Gateways -- */

static void gateway(struct node *node, uint64_t state)
{
	node->gateways[node->gateway_count++] = (struct rna_gateway){
		.netdev = "eth0",
		.lower = "eth0",
		.address = {{[10] = 0xff, 0xff, 10, 1, 0, 1}},
		.text = "10.1.0.1",
		.state = rna_value_ok(state),
		.changed = rna_value_ok(60 * RNA_USEC_PER_SEC),
	};
}

static void namespaces_crowded(struct node *node)
{
	node->reach = (struct rna_follow_reach){.asked = true, .left_out = 12, .crowded = 4711};
}

static void device_contested(struct node *node)
{
	node->contested = (struct rna_contested_device){"mlx5_0", {4711, 4712}};
}

static void gateway_reachable(struct node *node)
{
	gateway(node, RNA_NEIGHBOUR_REACHABLE);
}

/* For days, as a rule. */
static void gateway_stale(struct node *node)
{
	gateway(node, RNA_NEIGHBOUR_STALE);
	node->gateways[0].changed = rna_value_ok(100 * 3600 * RNA_USEC_PER_SEC);
}

static void gateway_permanent(struct node *node)
{
	gateway(node, RNA_NEIGHBOUR_PERMANENT);
}

static void gateway_never_asked(struct node *node)
{
	gateway(node, RNA_NEIGHBOUR_NONE);
}

static void gateway_unreadable(struct node *node)
{
	gateway(node, 0);
	node->gateways[0].state = rna_value_unreadable();
}

static void gateway_failed(struct node *node)
{
	gateway(node, RNA_NEIGHBOUR_FAILED);
}

/* No process has tried for an hour. */
static void gateway_failed_long_ago(struct node *node)
{
	gateway_failed(node);
	node->gateways[0].changed = rna_value_ok(3600 * RNA_USEC_PER_SEC);
}

static void gateway_of_another_port_failed(struct node *node)
{
	gateway_failed(node);
	node->gateways[0].netdev = node->gateways[0].lower = "eth9";
}

static void gateway_on_a_vlan_failed(struct node *node)
{
	gateway_failed(node);
	node->gateways[0].netdev = "eth0.100";
}

static void gateway_of_the_bond_failed(struct node *node)
{
	bond_is_well(node);
	gateway_failed(node);
	node->gateways[0].netdev = node->gateways[0].lower = "bond0";
}

static void gateway_of_a_port_that_is_down(struct node *node)
{
	gateway_failed(node);
	node->ports[0].state = rna_value_ok(RNA_PORT_DOWN);
	expect(node, RNA_EXPECTED_DOWN);
}

static void one_of_two_gateways_failed(struct node *node)
{
	gateway_reachable(node);
	gateway_failed(node);
}

/* It has been asked since a moment; the same at the next reading is a failure. */
static void gateway_asked_just_now(struct node *node)
{
	gateway(node, RNA_NEIGHBOUR_INCOMPLETE);
	node->gateways[0].failing_first = node->gateways[0].failing_last = node->now.monotonic;
}

static void gateway_asked_again_and_again(struct node *node)
{
	gateway_asked_just_now(node);
	node->gateways[0].failing_first -= 60 * RNA_USEC_PER_SEC;
}

/* -- The IP stack of the host -- */

/* Three rails in 10.1.0.0/16, each with its routing table, kept apart. */
static void rails_in_one_subnet(struct node *node)
{
	static const char *const texts[] = {"10.1.0.1", "10.1.0.2", "10.1.0.3"};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++)
		node->addresses[i] = (struct rna_rail_address){
			.netdev = node->ports[i].netdev.name,
			.address = {{[10] = 0xff, 0xff, 10, 1, 0, (uint8_t)(i + 1)}},
			.text = texts[i],
			.subnet = {{[10] = 0xff, 0xff, 10, 1}},
			.prefix_length = rna_value_ok(16),
			.leaves_by = node->ports[i].netdev.name,
			.arp_ignore = rna_value_ok(1),
			.arp_announce = rna_value_ok(2),
			.arp_filter = rna_value_ok(0),
			.rp_filter = rna_value_ok(2),
		};
	node->host.address_count = RNA_ARRAY_SIZE(texts);
}

static void without_source_routing(struct node *node)
{
	for (size_t i = 0; i < node->host.address_count; i++)
		node->addresses[i].leaves_by = node->addresses[0].netdev;
}

static void rails_answer_for_all(struct node *node)
{
	rails_in_one_subnet(node);
	for (size_t i = 0; i < node->host.address_count; i++)
		node->addresses[i].arp_ignore = rna_value_ok(0);
}

static void rails_of_a_guest_answer_for_all(struct node *node)
{
	rails_answer_for_all(node);
	node->readiness.virtual_machine = rna_value_ok(1);
}

static void one_rail_answers_for_all(struct node *node)
{
	rails_in_one_subnet(node);
	node->addresses[2].arp_ignore = rna_value_ok(3); /* of scope host only */
}

static void rails_answer_for_none(struct node *node)
{
	rails_in_one_subnet(node);
	node->addresses[1].arp_ignore = rna_value_ok(8);
}

static void rails_with_arp_filter(struct node *node)
{
	rails_answer_for_all(node);
	for (size_t i = 0; i < node->host.address_count; i++)
		node->addresses[i].arp_filter = rna_value_ok(1);
}

/* As oci-hpc sets them: RDMA works, sockets use the first rail. */
static void rails_with_sockets_astray(struct node *node)
{
	rails_in_one_subnet(node);
	without_source_routing(node);
}

/* Only the first rail answers, for the addresses of all. */
static void rails_with_arp_filter_without_routing(struct node *node)
{
	rails_with_arp_filter(node);
	without_source_routing(node);
}

static void rails_filter_strictly(struct node *node)
{
	rails_in_one_subnet(node);
	for (size_t i = 0; i < node->host.address_count; i++)
		node->addresses[i].rp_filter = rna_value_ok(1);
}

static void rails_filter_strictly_without_routing(struct node *node)
{
	rails_filter_strictly(node);
	without_source_routing(node);
}

static void rails_in_subnets_of_their_own(struct node *node)
{
	rails_answer_for_all(node);
	for (size_t i = 0; i < node->host.address_count; i++) {
		node->addresses[i].subnet.bytes[13] = (uint8_t)(i + 1);
		node->addresses[i].leaves_by = NULL;
	}
}

static void rails_in_subnets_of_other_lengths(struct node *node)
{
	rails_answer_for_all(node);
	for (size_t i = 0; i < node->host.address_count; i++)
		node->addresses[i].prefix_length = rna_value_ok(16 + i);
}

/* Two addresses of one interface. */
static void one_rail_with_two_addresses(struct node *node)
{
	rails_answer_for_all(node);
	node->host.address_count = 2;
	node->addresses[1].netdev = node->addresses[1].leaves_by = node->addresses[0].netdev;
}

static void rails_with_unknown_settings(struct node *node)
{
	rails_answer_for_all(node);
	for (size_t i = 0; i < node->host.address_count; i++)
		node->addresses[i].rp_filter = (struct rna_value){0};
}

static void neighbours(struct node *node, uint64_t entries, uint64_t overflows)
{
	node->host.tables[RNA_GID_IPV4] = (struct rna_neighbour_table){
		.entries = rna_value_ok(entries),
		.limit = rna_value_ok(1024),
		.overflows = rna_value_ok(overflows),
	};
}

static void neighbours_fit(struct node *node)
{
	neighbours(node, 900, 0);
}

/* Most of them are permanent. */
static void neighbours_of_a_routing_daemon(struct node *node)
{
	neighbours(node, 2000, 0);
}

static void neighbours_did_not_fit_once(struct node *node)
{
	neighbours(node, 900, 12);
	node->host.tables[RNA_GID_IPV4].overflowed = node->now.monotonic - 3600 * RNA_USEC_PER_SEC;
}

static void neighbours_do_not_fit(struct node *node)
{
	neighbours(node, 1020, 12);
	node->host.tables[RNA_GID_IPV4].overflowed = node->now.monotonic - 60 * RNA_USEC_PER_SEC;
}

static void neighbours_do_not_fit_at_the_start(struct node *node)
{
	neighbours(node, 1024, 12);
}

static void port_without_ipoib(struct node *node)
{
	node->ports[0].netdev.name = NULL;
}

static void ports_without_ipoib(struct node *node)
{
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].netdev.name = NULL;
}

static void count_in(struct node *node, enum rna_counter_place place, const char *file,
		     struct rna_value value)
{
	node->ports[0].counter_count = 1;
	node->ports[0].counters[0].file = file;
	node->ports[0].counters[0].place = place;
	node->ports[0].counters[0].value = value;
}

static void count(struct node *node, const char *file, struct rna_value value)
{
	count_in(node, RNA_PLACE_PORT_COUNTERS, file, value);
}

static void watched_saturated(struct node *node)
{
	count(node, "symbol_error", (struct rna_value){65535, RNA_VALUE_SATURATED});
}

static void other_saturated(struct node *node)
{
	count(node, "VL15_dropped", (struct rna_value){UINT16_MAX, RNA_VALUE_SATURATED});
}

/* As qib has them, or any driver on a kernel before 4.5. */
static void small_traffic_saturated(struct node *node)
{
	count(node, "port_rcv_data", (struct rna_value){UINT32_MAX, RNA_VALUE_SATURATED});
}

/* On a busy fabric this is only a matter of time. */
static void wait_saturated(struct node *node)
{
	count(node, "port_xmit_wait", (struct rna_value){UINT32_MAX, RNA_VALUE_SATURATED});
}

static void watched_of_the_fabric_saturated(struct node *node)
{
	count_in(node, RNA_PLACE_PORT_FABRIC, "fec_uncorrectable_blocks",
		 (struct rna_value){UINT32_MAX, RNA_VALUE_SATURATED});
}

static void other_of_the_fabric_saturated(struct node *node)
{
	count_in(node, RNA_PLACE_PORT_FABRIC, "sync_header_errors",
		 (struct rna_value){UINT16_MAX, RNA_VALUE_SATURATED});
}

/* Repaired blocks and waiting are ordinary, and there are many of them. */
static void repaired_saturated(struct node *node)
{
	count_in(node, RNA_PLACE_PORT_FABRIC, "fec_correctable_blocks",
		 (struct rna_value){UINT32_MAX, RNA_VALUE_SATURATED});
}

static void waiting_saturated(struct node *node)
{
	count_in(node, RNA_PLACE_PORT_FABRIC, "port_vl_xmit_wait_0",
		 (struct rna_value){UINT16_MAX, RNA_VALUE_SATURATED});
}

static void counter_unreadable(struct node *node)
{
	count(node, "symbol_error", rna_value_unreadable());
}

/* ACTIVE, as its driver always says. */
static void mute(struct node *node)
{
	node->ports[0].driver = "efa";
	count_in(node, RNA_PLACE_PORT_HW_COUNTERS, "tx_bytes", rna_value_unreadable());
}

static void mute_and_not_wanted(struct node *node)
{
	mute(node);
	expect(node, RNA_EXPECTED_DOWN);
}

static void almost_mute(struct node *node)
{
	struct node_port *port = &node->ports[0];

	mute(node);
	port->counters[port->counter_count] = port->counters[0];
	port->counters[port->counter_count].file = "rx_bytes";
	port->counters[port->counter_count++].value = rna_value_ok(0);
}

static void counters_of_another_driver_unreadable(struct node *node)
{
	mute(node);
	node->ports[0].driver = "bnxt_en";
}

static void stalled(struct node *node)
{
	node->ports[0].stalled = 10 * RNA_USEC_PER_SEC;
}

static void stalled_for_long(struct node *node)
{
	node->ports[0].stalled = 121 * RNA_USEC_PER_SEC;
}

static void failing(struct node *node)
{
	node->ports[0].failing = true;
}

static void old(struct node *node)
{
	node->ports[0].age = 60 * RNA_USEC_PER_SEC;
}

/* -- PCIe -------------------------------------------------------------------------------------- */

#define VALUE(n)                                                                                   \
	{                                                                                          \
		(n), (n) ? RNA_VALUE_OK : RNA_VALUE_ABSENT                                         \
	}
#define LINK(speed_, width_, max_speed_, max_width_)                                               \
	.link = {VALUE(speed_), VALUE(width_), VALUE(max_speed_), VALUE(max_width_)}

/* A switch between the device and its root port, all of the fifth generation. */
static void good_path(struct node *node)
{
	static const struct rna_pcie_hop hops[] = {
		{"0000:18:00.0", RNA_PCI_NIC, LINK(32000, 16, 32000, 16)},
		{"0000:17:00.0", RNA_PCI_DOWNSTREAM, LINK(32000, 16, 32000, 16)},
		{"0000:16:00.0", RNA_PCI_UPSTREAM, LINK(32000, 16, 32000, 16)},
		{"0000:15:01.0", RNA_PCI_ROOT_PORT, LINK(32000, 16, 32000, 16)},
	};

	memcpy(node->ports[0].hops, hops, sizeof(hops));
	node->ports[0].hop_count = RNA_ARRAY_SIZE(hops);
}

static void off_the_bus(struct node *node)
{
	good_path(node);
	node->ports[0].hops[0].silent = true;
}

static void off_the_bus_with_its_switch(struct node *node)
{
	off_the_bus(node);
	node->ports[0].hops[1].silent = node->ports[0].hops[2].silent = true;
}

/* What hides is a port above a function that responds. */
static void port_above_hides(struct node *node)
{
	good_path(node);
	node->ports[0].hops[1].silent = true;
}

static void set_link(struct node *node, size_t hop, uint64_t speed, uint64_t width)
{
	good_path(node);
	for (size_t i = hop; i < hop + 2; i++) {
		node->ports[0].hops[i].link.speed = rna_value_ok(speed);
		node->ports[0].hops[i].link.width = rna_value_ok(width);
	}
}

static void half_of_the_lanes(struct node *node)
{
	set_link(node, 0, 32000, 8);
}

static void half_of_the_lanes_above_a_switch(struct node *node)
{
	set_link(node, 2, 32000, 8);
}

static void slow_and_the_port_wants_more(struct node *node)
{
	set_link(node, 0, 16000, 16);
}

static void all_ports_at(struct node *node, uint64_t gigabits)
{
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].gigabits = gigabits;
}

static void slow_and_fast_enough(struct node *node)
{
	set_link(node, 0, 16000, 16);
	all_ports_at(node, 200);
}

static void slow_and_down(struct node *node)
{
	slow_and_fast_enough(node);
	disabled(node);
}

static void slow_as_one_end_is(struct node *node)
{
	set_link(node, 0, 16000, 16);
	node->ports[0].hops[1].link.max_speed = rna_value_ok(16000);
	all_ports_at(node, 200);
}

static void too_slow_as_one_end_is(struct node *node)
{
	slow_as_one_end_is(node);
	all_ports_at(node, 400);
}

/* As too slow, but another function of the board carries as much to the same cage. */
static void too_slow_for_half_a_cage(struct node *node)
{
	too_slow_as_one_end_is(node);
	node->readiness.platform.shared_cages = true;
}

static void too_slow_and_down(struct node *node)
{
	too_slow_as_one_end_is(node);
	disabled(node);
}

static void slow_and_the_other_end_unknown(struct node *node)
{
	set_link(node, 0, 16000, 16);
	node->ports[0].hops[1].link.max_speed = (struct rna_value){0};
	all_ports_at(node, 200);
}

/* Two functions of one card. */
static void share_the_path(struct node *node)
{
	good_path(node);
	memcpy(node->ports[1].hops, node->ports[0].hops, sizeof(node->ports[1].hops));
	node->ports[1].hops[0].address = "0000:18:00.1";
	node->ports[1].hop_count = node->ports[0].hop_count;
}

static void share_enough(struct node *node)
{
	share_the_path(node);
	all_ports_at(node, 200);
}

static void share_too_little_and_down(struct node *node)
{
	share_the_path(node);
	disabled(node);
}

static void share_a_slow_link(struct node *node)
{
	slow_and_fast_enough(node);
	memcpy(node->ports[1].hops, node->ports[0].hops, sizeof(node->ports[1].hops));
	node->ports[1].hop_count = node->ports[0].hop_count;
}

static void share_in_a_bond(struct node *node)
{
	share_the_path(node);
	node->bond = node->ports[0].netdev;
	node->bond.name = "bond0";
	node->bond.bond = true;
	node->ports[0].netdev.master = node->ports[1].netdev.master = node->bond.name;
	node->ports[0].netdev.device = "mlx5_0";
	node->ports[1].netdev.device = "mlx5_1";
}

static void share_in_a_spreading_bond(struct node *node)
{
	share_in_a_bond(node);
	node->bond.bond_spreads = true;
}

/* One device for two cables: its second interface has none of its own. */
static void bond_in_one_device(struct node *node)
{
	good_path(node);
	node->bond = node->ports[0].netdev;
	node->bond.name = "bond0";
	node->bond.bond = node->bond.bond_spreads = true;
	node->ports[0].netdev.master = node->bond.name;
	node->ports[0].netdev.device = "mlx5_0";
	node->ports[0].netdev.speed = rna_value_ok(400000000000);
	node->member = node->ports[0].netdev;
	node->member.name = "eth7";
	node->member.device = NULL;
}

static void share_below_a_virtual_function(struct node *node)
{
	share_the_path(node);
	node->ports[1].function = RNA_FUNCTION_VF;
}

/* Cards of their own below one switch. */
static void share_an_uplink(struct node *node)
{
	share_the_path(node);
	node->ports[1].hops[0].address = "0000:99:00.0";
	node->ports[1].hops[1].address = "0000:17:01.0";
}

static void share_with_one_expected_up(struct node *node)
{
	share_the_path(node);
	down_expected_up(node);
	node->ports[0].best.rate = 400 * 125000000ULL;
}

static void share_with_one_expected_down(struct node *node)
{
	share_the_path(node);
	down_expected_down(node);
	node->ports[0].best.rate = 400 * 125000000ULL;
}

static void speed_unknown(struct node *node)
{
	good_path(node);
	node->ports[0].hops[0].link = (struct rna_pcie_link){0};
	node->ports[0].hops[1].link = (struct rna_pcie_link){0};
}

static void bridges_unknown(struct node *node)
{
	half_of_the_lanes(node);
	for (size_t i = 1; i < 4; i++)
		node->ports[0].hops[i].role = RNA_PCI_BRIDGE;
}

static void switch_management_narrow(struct node *node)
{
	half_of_the_lanes(node);
	node->ports[0].function = RNA_FUNCTION_SWITCH_MANAGEMENT;
}

/* Counted before the first reading: no rise. */
/* Tests of the first port, oldest first: what they moved of 400 Gb/s with that memory. */
static void add_test(struct node *node, enum rna_endpoint endpoint, unsigned gigabits,
		     enum rna_grade grade)
{
	struct node_port *port = &node->ports[0];

	port->runs[port->run_count++] = (struct rna_selftest_run){
		.request = {.endpoint = endpoint, .memory_node = endpoint == RNA_ENDPOINT_REMOTE},
		.result = {.end = RNA_LOOPBACK_DONE, .bandwidth = gigabits * 125000000ULL},
		.expected = 400 * 125000000ULL,
		.grade = grade,
	};
}

static void tested_slow(struct node *node)
{
	add_test(node, RNA_ENDPOINT_LOCAL, 341, RNA_GRADE_WARNING);
}

static void tested_slow_twice(struct node *node)
{
	tested_slow(node);
	tested_slow(node);
}

static void tested_slow_twice_and_well(struct node *node)
{
	tested_slow_twice(node);
	add_test(node, RNA_ENDPOINT_LOCAL, 390, RNA_GRADE_OK);
}

static void tested_well_in_between(struct node *node)
{
	tested_slow(node);
	add_test(node, RNA_ENDPOINT_LOCAL, 390, RNA_GRADE_OK);
	tested_slow(node);
}

static void tested_slow_with_two_memories(struct node *node)
{
	tested_slow(node);
	add_test(node, RNA_ENDPOINT_GPU, 341, RNA_GRADE_WARNING);
}

static void tested_far_too_slow_twice(struct node *node)
{
	add_test(node, RNA_ENDPOINT_LOCAL, 190, RNA_GRADE_FAILED);
	add_test(node, RNA_ENDPOINT_LOCAL, 190, RNA_GRADE_FAILED);
}

static void tested_slow_and_then_far_too_slow(struct node *node)
{
	tested_slow(node);
	add_test(node, RNA_ENDPOINT_LOCAL, 190, RNA_GRADE_FAILED);
}

static void tested_slow_across_sockets(struct node *node)
{
	add_test(node, RNA_ENDPOINT_REMOTE, 190, RNA_GRADE_FAILED);
	add_test(node, RNA_ENDPOINT_REMOTE, 190, RNA_GRADE_FAILED);
}

/* Of both, the GPU's memory is what matters. */
static void tested_slow_across_sockets_and_to_the_gpu(struct node *node)
{
	tested_slow_across_sockets(node);
	add_test(node, RNA_ENDPOINT_GPU, 190, RNA_GRADE_FAILED);
	add_test(node, RNA_ENDPOINT_GPU, 190, RNA_GRADE_FAILED);
}

static void tests_end_with_an_error(struct node *node)
{
	for (size_t i = 0; i < 2; i++) {
		add_test(node, RNA_ENDPOINT_REMOTE, 0, RNA_GRADE_FAILED);
		node->ports[0].runs[i].result.end = RNA_LOOPBACK_FAILED;
	}
}

static void data_is_corrupt(struct node *node)
{
	add_test(node, RNA_ENDPOINT_LOCAL, 0, RNA_GRADE_FAILED);
	node->ports[0].runs[0].result.end = RNA_LOOPBACK_CORRUPT;
}

static void data_was_corrupt(struct node *node)
{
	data_is_corrupt(node);
	add_test(node, RNA_ENDPOINT_LOCAL, 390, RNA_GRADE_OK);
}

static void data_was_corrupt_once(struct node *node)
{
	data_was_corrupt(node);
	add_test(node, RNA_ENDPOINT_LOCAL, 390, RNA_GRADE_OK);
}

static void special_tests_are_slow(struct node *node)
{
	tested_far_too_slow_twice(node);
	node->ports[0].runs[1].special = true;
}

static void a_test_is_stuck(struct node *node)
{
	node->ports[0].stuck = 4711;
}

/* No state of the port says why; the driver of its interface does. */
static void down_without_a_cable(struct node *node)
{
	node->ports[0].layer = ROCE;
	set_state(node, RNA_PORT_DOWN, RNA_PHYSICAL_DISABLED);
	expect(node, RNA_EXPECTED_UP);
	node->ports[0].ethernet_link =
		(struct rna_ethernet_link){.up = rna_value_ok(0), .state = rna_value_ok(4)};
}

static void down_by_its_signal(struct node *node)
{
	down_without_a_cable(node);
	node->ports[0].ethernet_link.state = rna_value_ok(3);
	node->ports[0].ethernet_link.substate = rna_value_ok(1);
}

static void old_pcie_errors(struct node *node)
{
	good_path(node);
	node->ports[0].hops[3].aer[RNA_AER_FATAL] = rna_value_ok(7);
}

/* -- Traffic between NIC and GPU --------------------------------------------------------------- */

/* The GPUs are below the upstream port of good_path(), whose downstream port redirects. */
static void acs_redirects(struct node *node)
{
	good_path(node);
	node->ports[0].hops[1].acs_redirect = rna_value_ok(1);
	node->gpu_count = 2;
	node->gpu_class = 0x0302;
	node->gpu_bridge = "0000:16:00.0";
	node->readiness.virtual_machine = rna_value_ok(0);
}

static void acs_allows(struct node *node)
{
	acs_redirects(node);
	node->ports[0].hops[1].acs_redirect = rna_value_ok(0);
}

static void acs_redirects_in_a_virtual_machine(struct node *node)
{
	acs_redirects(node);
	node->readiness.virtual_machine = rna_value_ok(1);
}

static void acs_redirects_perhaps_in_a_virtual_machine(struct node *node)
{
	acs_redirects(node);
	node->readiness.virtual_machine = (struct rna_value){0};
}

static void acs_redirects_above_both(struct node *node)
{
	acs_allows(node);
	node->ports[0].hops[2].acs_redirect = rna_value_ok(1);
	node->ports[0].hops[3].acs_redirect = rna_value_ok(1);
}

static void acs_redirects_and_gpus_are_elsewhere(struct node *node)
{
	acs_redirects(node);
	node->gpu_bridge = "0000:96:00.0";
}

static void acs_redirects_a_display(struct node *node)
{
	acs_redirects(node);
	node->gpu_class = 0x0300;
}

static void acs_redirects_beside_data_direct(struct node *node)
{
	acs_redirects(node);
	node->data_direct = true;
}

static void acs_redirects_a_virtual_function(struct node *node)
{
	acs_redirects(node);
	node->ports[0].function = RNA_FUNCTION_GUEST_VF;
}

static void set_read_requests(struct node *node, unsigned first, unsigned others)
{
	for (size_t i = 0; i < node->count; i++) {
		node->ports[i].driver = "mlx5_core";
		node->ports[i].hop_count = 1;
		node->ports[i].hops[0].address = "0000:18:00.0";
		node->ports[i].hops[0].role = RNA_PCI_NIC;
		node->ports[i].hops[0].max_read_request = rna_value_ok(i == 0 ? first : others);
	}
}

static void reads_much(struct node *node)
{
	set_read_requests(node, 4096, 4096);
}

static void reads_little(struct node *node)
{
	set_read_requests(node, 512, 512);
}

static void reads_little_and_slowly(struct node *node)
{
	reads_little(node);
	all_ports_at(node, 25);
}

static void reads_little_by_another_driver(struct node *node)
{
	reads_little(node);
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].driver = "ice";
}

static void reads_less(struct node *node)
{
	set_read_requests(node, 512, 4096);
}

static void reads_more(struct node *node)
{
	set_read_requests(node, 4096, 1024);
}

/* -- Readiness --------------------------------------------------------------------------------- */

/* GPUs without a known form of GPUDirect. */
static void gpus_alone(struct node *node)
{
	node->gpu_count = 8;
	node->gpu_class = 0x0302;
	node->readiness.gpu_driver = (struct rna_gpu_driver){.name = "nvidia",
							     .version = "550.54.15",
							     .open = rna_value_ok(0)};
	node->readiness.gpudirect_state = RNA_GPUDIRECT_NOT_READY;
	node->readiness.gpudirect_reason = "no peer memory";
}

static void gpus_for_newer_libraries(struct node *node)
{
	gpus_alone(node);
	node->readiness.gpudirect_state = RNA_GPUDIRECT_READY_FOR_NEWER;
	node->readiness.peer_memory = "the module nvidia_peermem";
}

static void gpus_behind_a_hidden_list(struct node *node)
{
	gpus_alone(node);
	node->readiness.gpudirect_state = RNA_GPUDIRECT_NOT_SEEN;
}

static void gpus_of_a_board_that_cannot(struct node *node)
{
	gpus_alone(node);
	node->readiness.gpudirect_state = RNA_GPUDIRECT_IMPOSSIBLE;
}

static void gpus_of_a_desk(struct node *node)
{
	gpus_alone(node);
	node->gpu_class = 0x0300;
}

static void gpus_perhaps_alone(struct node *node)
{
	gpus_alone(node);
	node->readiness.gpudirect_state = RNA_GPUDIRECT_UNKNOWN;
}

static void gpus_with_dma_buf(struct node *node)
{
	gpus_alone(node);
	node->readiness.gpudirect_state = RNA_GPUDIRECT_READY;
}

static void driver_without_gpus(struct node *node)
{
	gpus_alone(node);
	node->gpu_count = 0;
}

static void software_and_gpus(struct node *node)
{
	gpus_alone(node);
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].function = RNA_FUNCTION_VIRTUAL;
}

static void async_off(struct node *node)
{
	gpus_with_dma_buf(node);
	node->readiness.gpu_driver.stream_memops = rna_value_ok(1);
	node->readiness.gpu_driver.peer_mapping_override = rna_value_ok(0);
}

static void set_modules(struct node *node, bool uverbs, bool ucm, bool mlx5)
{
	static struct rna_module modules[6];

	modules[0] = (struct rna_module){"ib_core", true};
	modules[1] = (struct rna_module){"ib_uverbs", uverbs};
	modules[2] = (struct rna_module){"ib_umad", true};
	modules[3] = (struct rna_module){"rdma_ucm", ucm};
	modules[4] = (struct rna_module){"mlx5_core", true};
	modules[5] = (struct rna_module){"mlx5_ib", mlx5};
	node->readiness.modules = modules;
	node->readiness.module_count = RNA_ARRAY_SIZE(modules);
}

static void all_modules(struct node *node)
{
	set_modules(node, true, true, true);
}

static void no_uverbs(struct node *node)
{
	set_modules(node, false, false, true);
}

static void no_ucm(struct node *node)
{
	set_modules(node, true, false, true);
}

static void no_mlx5_ib(struct node *node)
{
	set_modules(node, true, true, false);
}

/* Part of the kernel: its devices are there. */
static void no_mlx5_ib_and_its_devices(struct node *node)
{
	no_mlx5_ib(node);
	node->ports[0].driver = "mlx5_core";
}

static void set_file(struct node *node, bool missing, struct rna_value mode)
{
	static struct rna_device_node file;

	file = (struct rna_device_node){"uverbs0", "mlx5_0", .missing = missing, .mode = mode};
	node->readiness.nodes = &file;
	node->readiness.node_count = 1;
}

static void file_missing(struct node *node)
{
	set_file(node, true, (struct rna_value){0});
}

static void file_unknown(struct node *node)
{
	set_file(node, false, (struct rna_value){0});
}

static void set_abi(struct node *node, const char *driver, uint64_t abi)
{
	static struct rna_device_node file;

	file = (struct rna_device_node){"uverbs0", "mlx5_0", .abi = rna_value_ok(abi)};
	node->readiness.nodes = &file;
	node->readiness.node_count = 1;
	node->ports[0].driver = driver;
}

static void abi_of_linux(struct node *node)
{
	set_abi(node, "bnxt_en", 1);
}

static void abi_of_broadcom(struct node *node)
{
	set_abi(node, "bnxt_en", 6);
}

static void abi_of_a_driver_that_takes_any(struct node *node)
{
	set_abi(node, "hns3", 6);
}

static void gpus_beside_iwarp(struct node *node)
{
	gpus_alone(node);
	node->readiness.gpudirect_state = RNA_GPUDIRECT_READY;
	node->count = 1;
	node->ports[0].iwarp = true;
}

static void gpus_beside_iwarp_and_roce(struct node *node)
{
	gpus_beside_iwarp(node);
	node->count = 2;
}

static void iwarp_without_gpus(struct node *node)
{
	gpus_beside_iwarp(node);
	node->gpu_count = 0;
}

static void file_closed(struct node *node)
{
	set_file(node, false, rna_value_ok(0660));
}

static void file_open(struct node *node)
{
	set_file(node, false, rna_value_ok(0666));
}

/* The others have theirs. */
static void set_mads(struct node *node, bool first, bool missing)
{
	static struct rna_device_node files[4];
	size_t count = 0;

	files[count++] = (struct rna_device_node){"uverbs0", "mlx5_0", .mode = rna_value_ok(0666)};
	if (first)
		files[count++] = (struct rna_device_node){"umad0", "mlx5_0", 1, .missing = missing};
	files[count++] = (struct rna_device_node){"umad1", "mlx5_1", 1};
	files[count++] = (struct rna_device_node){"umad2", "mlx5_2", 1};
	node->readiness.nodes = files;
	node->readiness.node_count = count;
}

static void mads_of_all(struct node *node)
{
	set_mads(node, true, false);
}

static void mads_of_others(struct node *node)
{
	set_mads(node, false, false);
}

static void mads_without_a_file(struct node *node)
{
	set_mads(node, true, true);
}

static void set_gdrdrv(struct node *node, bool missing, struct rna_value mode)
{
	static struct rna_device_node file;

	file = (struct rna_device_node){"gdrdrv", .missing = missing, .mode = mode};
	node->readiness.nodes = &file;
	node->readiness.node_count = 1;
}

static void gdrdrv_works(struct node *node)
{
	set_gdrdrv(node, false, rna_value_ok(0666));
}

static void gdrdrv_missing(struct node *node)
{
	set_gdrdrv(node, true, (struct rna_value){0});
}

static void gdrdrv_closed(struct node *node)
{
	set_gdrdrv(node, false, rna_value_ok(0600));
}

static void set_governor(struct node *node, const char *driver, const char *name)
{
	static struct rna_cpu_governor governors[2];

	governors[0] = (struct rna_cpu_governor){"performance", 2};
	governors[1] = (struct rna_cpu_governor){name, 62};
	node->readiness.cpu_frequency = (struct rna_cpu_frequency){driver, 2, governors};
}

static void governor_slow(struct node *node)
{
	set_governor(node, "acpi-cpufreq", "powersave");
}

static void governor_slow_and_no_rdma(struct node *node)
{
	governor_slow(node);
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].function = RNA_FUNCTION_VIRTUAL;
}

static void governor_of_intel(struct node *node)
{
	set_governor(node, "intel_pstate", "powersave");
}

static void governor_of_amd(struct node *node)
{
	set_governor(node, "amd-pstate-epp", "powersave");
}

static void governor_follows_load(struct node *node)
{
	set_governor(node, "intel_cpufreq", "schedutil");
}

static void governor_of_a_person(struct node *node)
{
	set_governor(node, "acpi-cpufreq", "userspace");
}

static void iommu_translates(struct node *node)
{
	gpus_with_dma_buf(node);
	node->readiness.virtual_machine = rna_value_ok(0);
	node->readiness.iommu = "intel";
	node->ports[0].iommu = rna_value_ok(RNA_IOMMU_LAZY);
}

static void iommu_translates_strictly(struct node *node)
{
	iommu_translates(node);
	node->readiness.gpu_iommu = rna_value_ok(RNA_IOMMU_STRICT);
}

static void iommu_passes(struct node *node)
{
	iommu_translates(node);
	node->ports[0].iommu = rna_value_ok(RNA_IOMMU_IDENTITY);
}

static void iommu_of_arm(struct node *node)
{
	iommu_translates(node);
	node->readiness.iommu = "arm";
}

static void iommu_of_a_virtual_machine(struct node *node)
{
	iommu_translates(node);
	node->readiness.virtual_machine = rna_value_ok(1);
}

static void netns_shared(struct node *node)
{
	node->readiness.netns_exclusive = rna_value_ok(0);
}

static void netns_exclusive(struct node *node)
{
	node->readiness.netns_exclusive = rna_value_ok(1);
}

static void set_runtime(struct node *node, struct rna_runtime given)
{
	static struct rna_runtime runtime;

	runtime = given;
	runtime.unit = "containerd.service";
	runtime.spec_file = rna_value_is_known(given.spec) ? "/etc/cri-base.json" : NULL;
	node->readiness.runtimes = &runtime;
	node->readiness.runtime_count = 1;
}

#define MEMLOCK_LITTLE   rna_value_ok(8 << 20)
#define MEMLOCK_INFINITE rna_value_ok(RNA_MEMLOCK_INFINITY)

static void memlock_infinite(struct node *node)
{
	set_runtime(node, (struct rna_runtime){.memlock = MEMLOCK_INFINITE});
}

static void memlock_little(struct node *node)
{
	set_runtime(node, (struct rna_runtime){.memlock = MEMLOCK_LITTLE});
}

static void memlock_default(struct node *node)
{
	set_runtime(node, (struct rna_runtime){0});
}

static void memlock_unreadable(struct node *node)
{
	set_runtime(node, (struct rna_runtime){.memlock = rna_value_unreadable()});
}

/* The specification decides, then the process, then the unit. */
static void memlock_specified(struct node *node)
{
	set_runtime(node, (struct rna_runtime){.memlock = MEMLOCK_LITTLE,
					       .running = MEMLOCK_LITTLE,
					       .spec = MEMLOCK_INFINITE});
}

static void memlock_specified_low(struct node *node)
{
	set_runtime(node, (struct rna_runtime){.memlock = MEMLOCK_INFINITE,
					       .running = MEMLOCK_INFINITE,
					       .spec = rna_value_ok(64 << 10)});
}

static void memlock_hidden_specification(struct node *node)
{
	set_runtime(node, (struct rna_runtime){.memlock = MEMLOCK_LITTLE,
					       .running = MEMLOCK_LITTLE,
					       .spec = rna_value_unreadable()});
}

static void memlock_not_restarted(struct node *node)
{
	set_runtime(node,
		    (struct rna_runtime){.memlock = MEMLOCK_INFINITE, .running = MEMLOCK_LITTLE});
}

static void memlock_not_started_yet(struct node *node)
{
	set_runtime(node,
		    (struct rna_runtime){.memlock = MEMLOCK_LITTLE, .running = MEMLOCK_INFINITE});
}

static void set_containers(struct node *node, size_t low)
{
	node->readiness.containers = (struct rna_container_limits){
		.count = 4,
		.low = low,
		.lowest = low > 0 ? MEMLOCK_LITTLE : (struct rna_value){0},
		.example = low > 0 ? "0123456789ab" : NULL,
	};
}

/* A hook raises the limit of each container. */
static void memlock_raised(struct node *node)
{
	memlock_little(node);
	set_containers(node, 0);
}

/* They were created before the specification was written. */
static void memlock_old_containers(struct node *node)
{
	memlock_specified(node);
	set_containers(node, 3);
}

static void memlock_all_low(struct node *node)
{
	memlock_hidden_specification(node);
	set_containers(node, 4);
}

static void memlock_some_low(struct node *node)
{
	memlock_little(node);
	set_containers(node, 3);
}

/* mlx5_0 is InfiniBand as the case says, the others are not. */
static void other_layer(struct node *node)
{
	for (size_t i = 1; i < node->count; i++)
		node->ports[i].layer = ROCE;
}

static void layers_differ_by_half(struct node *node)
{
	other_layer(node);
	node->count = 2;
}

static void other_mtu(struct node *node)
{
	for (size_t i = 1; i < node->count; i++)
		node->ports[i].netdev.mtu = rna_value_ok(9216);
}

static void jumbo_off(struct node *node)
{
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].netdev.mtu = rna_value_ok(4200);
}

static void make_iwarp(struct node *node)
{
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].iwarp = true;
}

static void jumbo_off_of_iwarp(struct node *node)
{
	jumbo_off(node);
	make_iwarp(node);
}

static void other_firmware(struct node *node)
{
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].firmware = i == 0 ? "28.38.1002" : "28.39.1002";
}

static void other_firmware_of_two(struct node *node)
{
	other_firmware(node);
	node->count = 2;
}

static void other_firmware_beside_gpus(struct node *node)
{
	gpus_with_dma_buf(node);
	other_firmware(node);
}

static void fewer_virtual_functions(struct node *node)
{
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].virtual_functions = rna_value_ok(i == 0 ? 0 : 8);
}

/* -- Quality of service ------------------------------------------------------------------------ */

/* As a script leaves it: priority 3 is lossless, and DSCP 26 leads to it. */
static struct rna_dcb usual_dcb(void)
{
	struct rna_dcb dcb = {
		.pfc = rna_value_ok(0x08),
		.has_ets = true,
		.bandwidth = {10, 0, 0, 90},
		.trust = RNA_TRUST_DSCP,
		.dscp_count = 2,
	};

	memset(dcb.dscp_priority, RNA_PRIORITY_NONE, sizeof(dcb.dscp_priority));
	dcb.dscp_priority[0] = 0;
	dcb.dscp_priority[26] = 3;
	return dcb;
}

/* All rails are like this; the first may be changed by itself. */
static struct rna_dcb *rails_with_qos(struct node *node)
{
	static struct rna_dcb usual, first;

	usual = first = usual_dcb();
	for (size_t i = 0; i < node->count; i++) {
		node->ports[i].has_qos = true;
		node->ports[i].qos = (struct rna_qos_port){
			.number = 1,
			.netdev = "eth0",
			.dcb = i == 0 ? &first : &usual,
			.trust = RNA_TRUST_DSCP,
		};
	}
	return &first;
}

static void rails_alike(struct node *node)
{
	(void)rails_with_qos(node);
}

static void rail_without_pfc(struct node *node)
{
	rails_with_qos(node)->pfc = rna_value_ok(0);
}

static void rail_without_pfc_down(struct node *node)
{
	rails_with_qos(node)->pfc = rna_value_ok(0);
	node->ports[0].state = rna_value_ok(RNA_PORT_DOWN);
}

static void rail_of_which_nothing_is_known(struct node *node)
{
	rails_with_qos(node)->pfc = rna_value_unreadable();
	node->ports[0].qos.trust = RNA_TRUST_UNKNOWN;
	node->ports[0].qos.dcb = NULL;
}

static void rail_with_other_trust(struct node *node)
{
	(void)rails_with_qos(node);
	node->ports[0].qos.trust = RNA_TRUST_PCP;
}

/* The bond of the first rail; its first member is as all others are. */
static struct rna_dcb *bond_with_qos(struct node *node)
{
	static struct rna_dcb member;

	(void)rails_with_qos(node);
	member = usual_dcb();
	node->ports[0].other_qos = node->ports[0].qos;
	node->ports[0].other_qos.netdev = "eth1";
	node->ports[0].other_qos.dcb = &member;
	return &member;
}

static void members_alike(struct node *node)
{
	(void)bond_with_qos(node);
}

static void member_with_other_pfc(struct node *node)
{
	bond_with_qos(node)->pfc = rna_value_ok(1 << 4);
}

static void member_with_other_table(struct node *node)
{
	bond_with_qos(node)->dscp_priority[26] = 0;
}

static void member_of_which_nothing_is_known(struct node *node)
{
	(void)bond_with_qos(node);
	node->ports[0].other_qos.dcb = NULL;
	node->ports[0].other_qos.trust = RNA_TRUST_UNKNOWN;
}

/* The first member has that DSCP in a lossless priority. */
static void member_with_a_lossy_class(struct node *node)
{
	struct rna_dcb *member = bond_with_qos(node);

	for (size_t i = 0; i < node->count; i++)
		node->ports[i].traffic_class = rna_value_ok(26 << 2);
	member->dscp_priority[26] = 1;
}

static void rail_with_other_table(struct node *node)
{
	rails_with_qos(node)->dscp_priority[48] = 6;
}

static void rail_with_other_shares(struct node *node)
{
	rails_with_qos(node)->bandwidth[0] = 20;
}

static void rail_without_reaction(struct node *node)
{
	(void)rails_with_qos(node);
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].qos.ecn[RNA_ECN_REACTION] = rna_value_ok(i == 0 ? 0 : 0x08);
}

static void rail_with_a_traffic_class(struct node *node)
{
	(void)rails_with_qos(node);
	node->ports[0].traffic_class = rna_value_ok(26 << 2 | 2);
}

static void rails_with_a_lossy_class(struct node *node)
{
	(void)rails_with_qos(node);
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].traffic_class = rna_value_ok(i == 0 ? 0 : 26 << 2);
	node->ports[0].traffic_class = node->ports[1].traffic_class;
	((struct rna_dcb *)(uintptr_t)node->ports[0].qos.dcb)->dscp_priority[26] = 1;
}

static void rails_with_a_class_of_no_entry(struct node *node)
{
	(void)rails_with_qos(node);
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].traffic_class = rna_value_ok(30 << 2);
}

static void several_lossless_priorities(struct node *node)
{
	struct rna_dcb *first = rails_with_qos(node);

	first->pfc = rna_value_ok(0x18);
	for (size_t i = 1; i < node->count; i++)
		node->ports[i].qos.dcb = first;
}

static void no_lossless_priority(struct node *node)
{
	several_lossless_priorities(node);
	((struct rna_dcb *)(uintptr_t)node->ports[0].qos.dcb)->pfc = rna_value_ok(0);
}

static void no_lossless_priority_of_iwarp(struct node *node)
{
	no_lossless_priority(node);
	make_iwarp(node);
}

/* Its VLAN has the only address; how large it is, is said later. */
static void vlan_of(struct node *node, uint64_t mtu, const char *of_gid)
{
	static struct rna_gid_entry entries[1];
	static struct rna_qos_vlan vlan;

	(void)rails_with_qos(node);
	vlan = (struct rna_qos_vlan){.netdev = "eth0.7", .mtu = rna_value_ok(mtu)};
	entries[0] = (struct rna_gid_entry){.index = 3,
					    .gid = {{[10] = 0xff, 0xff, 10, 0, 0, 1}},
					    .type = RNA_GID_TYPE_ROCE_V2,
					    .netdev = of_gid};
	node->ports[0].has_gids = true;
	node->ports[0].gids = (struct rna_port_gids){.number = 1, .count = 1, .entries = entries};
	node->ports[0].qos.vlans = &vlan;
	node->ports[0].qos.vlan_count = 1;
}

static void small_vlan(struct node *node)
{
	vlan_of(node, 1500, "eth0.7");
}

static void small_vlan_without_gids(struct node *node)
{
	vlan_of(node, 1500, "eth0");
}

static void vlan_large_enough(struct node *node)
{
	vlan_of(node, 4192, "eth0.7");
}

/* -- Modules ----------------------------------------------------------------------------------- */

static void module_is_well(struct node *node)
{
	struct node_port *port = &node->ports[0];
	struct rna_value(*limits)[RNA_MODULE_LIMIT_COUNT] = port->module.limits;

	port->module_count = 1;
	port->module.netdev = "eth0";
	port->module.port = 1;
	port->module.temperature = rna_value_ok(50000);
	limits[RNA_MODULE_TEMPERATURE][RNA_MODULE_HIGH_ALARM] = rna_value_ok(80000);
	limits[RNA_MODULE_TEMPERATURE][RNA_MODULE_HIGH_WARNING] = rna_value_ok(70000);
	port->module.voltage = rna_value_ok(3300000);
	limits[RNA_MODULE_VOLTAGE][RNA_MODULE_HIGH_ALARM] = rna_value_ok(3630000);
	limits[RNA_MODULE_VOLTAGE][RNA_MODULE_HIGH_WARNING] = rna_value_ok(3465000);
	limits[RNA_MODULE_VOLTAGE][RNA_MODULE_LOW_WARNING] = rna_value_ok(3135000);
	limits[RNA_MODULE_VOLTAGE][RNA_MODULE_LOW_ALARM] = rna_value_ok(2970000);
	limits[RNA_MODULE_RECEIVE_POWER][RNA_MODULE_LOW_ALARM] = rna_value_ok(100000);
	limits[RNA_MODULE_RECEIVE_POWER][RNA_MODULE_LOW_WARNING] = rna_value_ok(500000);
	port->module.lane_count = 4;
	for (unsigned i = 0; i < 4; i++)
		port->module.lanes[i][RNA_MODULE_RECEIVE_POWER] = rna_value_ok(900000);
}

static void module_warm(struct node *node)
{
	module_is_well(node);
	node->ports[0].module.temperature = rna_value_ok(70001);
}

static void module_hot(struct node *node)
{
	module_is_well(node);
	node->ports[0].module.temperature = rna_value_ok(80001);
}

static void module_supply_low(struct node *node)
{
	module_is_well(node);
	node->ports[0].module.voltage = rna_value_ok(3134900);
}

static void module_supply_failing(struct node *node)
{
	module_is_well(node);
	node->ports[0].module.voltage = rna_value_ok(2900000);
}

static void module_supply_high(struct node *node)
{
	module_is_well(node);
	node->ports[0].module.voltage = rna_value_ok(3700000);
}

static void module_supply_unknown(struct node *node)
{
	module_is_well(node);
	node->ports[0].module.voltage = rna_value_unreadable();
}

static void module_receives(struct node *node, uint64_t nanowatts)
{
	module_is_well(node);
	node->ports[0].module.lanes[1][RNA_MODULE_RECEIVE_POWER] = rna_value_ok(nanowatts);
}

static void module_dark(struct node *node)
{
	module_receives(node, 99999);
}

static void module_dark_and_down(struct node *node)
{
	module_dark(node);
	node->ports[0].state = rna_value_ok(RNA_PORT_DOWN);
	node->ports[0].physical = rna_value_ok(RNA_PHYSICAL_DISABLED);
}

static void module_dim(struct node *node)
{
	module_receives(node, 499999);
}

static void module_lane_weak(struct node *node)
{
	module_receives(node, 449999);
	memset(node->ports[0].module.limits, 0, sizeof(node->ports[0].module.limits));
}

/* A port of two lanes has two of its module dark, on both sides. */
static void module_half_used(struct node *node)
{
	module_is_well(node);
	for (unsigned i = 2; i < 4; i++) {
		node->ports[0].module.lanes[i][RNA_MODULE_RECEIVE_POWER] = rna_value_ok(100);
		node->ports[0].module.lanes[i][RNA_MODULE_BIAS] = rna_value_ok(0);
	}
}

static void module_half_used_with_light(struct node *node)
{
	module_half_used(node);
	node->ports[0].module.lanes[2][RNA_MODULE_RECEIVE_POWER] = rna_value_ok(90000);
}

static void module_without_limits(struct node *node)
{
	module_is_well(node);
	memset(node->ports[0].module.limits, 0, sizeof(node->ports[0].module.limits));
	node->ports[0].module.temperature = rna_value_ok(99000);
}

static void vfs_without_guid(struct node *node)
{
	struct node_port *port = &node->ports[0];

	port->vf_count = 2;
	port->vfs[0] = (struct rna_virtual_function){.number = 0,
						     .pci_address = "0000:18:00.1",
						     .driver = "mlx5_core",
						     .assigned = rna_value_ok(1)};
	port->vfs[1] = (struct rna_virtual_function){.number = 1,
						     .pci_address = "0000:18:00.2",
						     .driver = "vfio-pci",
						     .assigned = rna_value_ok(0)};
}

static void vfs_of_nobody(struct node *node)
{
	vfs_without_guid(node);
	node->ports[0].vfs[1].driver = NULL;
	node->ports[0].vfs[1].link = rna_value_ok(RNA_VF_LINK_DOWN);
}

static void vfs_not_told(struct node *node)
{
	vfs_without_guid(node);
	node->ports[0].vfs[1].assigned = rna_value_unreadable();
}

static void vfs_kept_down(struct node *node)
{
	vfs_without_guid(node);
	node->ports[0].vfs[1].assigned = rna_value_ok(1);
	node->ports[0].vfs[1].link = rna_value_ok(RNA_VF_LINK_DOWN);
}

static const struct {
	void (*change)(struct node *node);
	enum rna_link_layer layer;
	const char *expected; /* "rule severity" of each finding, in order, apart by blanks */
} cases[] = {
	{nothing, IB, ""},
	{nothing, ROCE, ""},
	{down, IB, "port-down info"},
	{down_expected_up, IB, "port-down critical"},
	{down_expected_up, ROCE, "port-down critical"},
	{down_expected_down, IB, ""},
	{disabled, IB, "port-disabled info"},
	{disabled, ROCE, "port-down info"}, /* reported even if it was not disabled */
	{disabled_expected_up, IB, "port-down critical"},
	{training, IB, "port-down warning"},
	{only_physically_up, IB, "port-down warning"},
	{only_physically_up, ROCE, "port-down info"},
	{state_unreadable, IB, "reads-failing warning"},
	{state_absent, IB, ""},
	{state_of_tomorrow, IB, "reads-failing warning"},
	{init, IB, "port-init warning"},
	{init, ROCE, ""},
	{init_expected_up, IB, "port-init critical"},
	{armed, IB, "port-armed warning"},
	{virtual_function_down, ROCE, ""},
	{scalable_function_down, ROCE, ""},
	{representor_down, ROCE, ""},
	{representor_without_address, ROCE, ""},
	{switch_management_down, IB, ""},
	{lost, IB, "device-missing critical"},
	{unbound, IB, "device-missing critical"},
	{moved, IB, "device-moved info"},
	{relocated, IB, "device-moved info"},
	{swapped_names, ROCE, "device-renamed warning"},
	{name_that_is_anothers, IB, "device-renamed warning"},
	{new_name, IB, "device-renamed info"},
	{swapped_interfaces, ROCE, "device-renamed warning"},
	{new_interface_name, ROCE, "device-renamed info"},
	{other_card, IB, "device-replaced info"},
	{below_best, IB, "link-degraded warning"},
	{above_best, IB, ""},
	{has_planes, IB, ""},
	{plane_down, IB, "plane-down warning"},
	{planes_and_port_down, IB, "port-down critical"},
	{plane_unknown, IB, ""},
	{below_siblings, IB, "link-degraded warning"},
	{siblings_differ, IB, ""},
	{two_below_siblings, IB, ""},
	{fewer_lanes_than_supported, IB, "link-degraded warning"},
	{slower_than_supported, IB, "link-degraded info"},
	{as_supported, IB, ""},
	{connected_well, IB, ""},
	{connected_and_down, IB, "port-down critical"},
	{peer_supports_less, IB, "link-limited info"},
	{peer_is_set_to_less, IB, "link-limited info"},
	{port_is_set_to_less, IB, "link-limited info"},
	{both_ends_may_do_more, IB, "link-degraded warning"},
	{both_ends_have_more_lanes, IB, "link-degraded warning"},
	{peer_is_stale, IB, "link-degraded info"},
	{cable_moved, IB, "cable-moved warning"},
	{cable_moved_long_ago, IB, ""},
	{manager_is_well, IB, ""},
	{manager_is_standby, IB, "subnet-manager-unhealthy warning"},
	{manager_is_silent, IB, "subnet-manager-unhealthy warning"},
	{manager_changed, IB, "subnet-manager-changed info"},
	{manager_changed_long_ago, IB, ""},
	{only_a_tenants_pkey, IB, "pkey-default-missing warning"},
	{default_pkey_limited, IB, "network-missing info"},
	{no_pkey_while_down, IB, ""},
	{rails_share_partitions, IB, ""},
	{rail_lacks_partition, IB, "rails-pkeys warning"},
	{rail_has_other_order, IB, "rails-pkeys warning"},
	{rail_is_limited_member, IB, "rails-pkeys warning"},
	{partitions_of_two_rails, IB, ""},
	{partitions_of_a_rail_unknown, IB, ""},
	{rail_lacks_partition, ROCE, ""},
	{below_without_speed_name, IB, ""},
	{below_while_down, IB, ""},
	{no_gids, IB, "gid-missing warning"},
	{no_gids, ROCE, "gid-missing warning"},
	{gids_not_read, ROCE, ""},
	{only_v1, ROCE, "gid-roce-v1-only warning"},
	{only_v1, IB, ""},
	{types_not_read, ROCE, ""},
	{link_local, ROCE, "gid-link-local-only warning"},
	{link_local, IB, ""},
	{link_local_without_address, ROCE, "netdev-no-address warning"},
	{link_local_without_address, IB, ""},
	{virtual_functions_have_the_addresses, ROCE, "netdev-no-address info"},
	{without_address_but_gids, ROCE, ""},
	{addresses_not_read, ROCE, "gid-link-local-only warning"},
	{in_a_bridge, ROCE, "gid-link-local-only info"},
	{other_index, ROCE, "gid-rails-disagree info"},
	{netdev_set_down, ROCE, "netdev-down warning"},
	{netdev_set_down, IB, ""},
	{netdev_without_carrier, ROCE, "netdev-down warning"},
	{netdev_without_carrier, IB, "netdev-down warning"},
	{netdev_does_not_say, ROCE, ""},
	{small_mtu, ROCE, "mtu-low info"},
	{small_mtu, IB, "mtu-low info"},
	{small_mtu_of_iwarp, ROCE, ""},
	{mtu_not_read, ROCE, ""},
	{bond_is_well, ROCE, ""},
	{bond_member_lost, ROCE, "bond-member-lost warning"},
	{bond_monitors, ROCE, ""},
	{bond_unmonitored, ROCE, "bond-unmonitored warning"},
	{bond_of_one_unmonitored, ROCE, ""},
	{lacp_is_well, ROCE, ""},
	{lacp_partner_missing, ROCE, "lacp-partner-missing warning"},
	{lacp_without_any_link, ROCE, "bond-member-lost warning"},
	{lacp_aggregators_differ, ROCE, "lacp-aggregators-differ warning"},
	{lacp_aggregators_differ_of_unknown, ROCE, "lacp-aggregators-differ warning"},
	{lacp_member_lost, ROCE, "bond-member-lost warning"},
	{lacp_member_suspended, ROCE, "lacp-member-inactive warning"},
	{lacp_member_waits, ROCE, "lacp-member-inactive warning"},
	{lacp_member_not_told, ROCE, ""},
	{lacp_member_of_another_device, ROCE, ""},
	{namespaces_crowded, ROCE, "namespaces-crowded warning"},
	{device_contested, ROCE, "device-contested warning"},
	{gateway_reachable, ROCE, ""},
	{gateway_stale, ROCE, ""},
	{gateway_permanent, ROCE, ""},
	{gateway_never_asked, ROCE, ""},
	{gateway_unreadable, ROCE, ""},
	{gateway_failed, ROCE, "gateway-unreachable warning"},
	{gateway_failed_long_ago, ROCE, ""},
	{gateway_of_another_port_failed, ROCE, ""},
	{gateway_on_a_vlan_failed, ROCE, "gateway-unreachable warning"},
	{gateway_of_the_bond_failed, ROCE, "gateway-unreachable warning"},
	{gateway_of_a_port_that_is_down, ROCE, ""},
	{one_of_two_gateways_failed, ROCE, "gateway-unreachable warning"},
	{gateway_asked_just_now, ROCE, ""},
	{gateway_asked_again_and_again, ROCE, "gateway-unreachable warning"},
	{rails_in_one_subnet, ROCE, ""},
	{rails_answer_for_all, ROCE, "rails-share-subnet warning"},
	{rails_of_a_guest_answer_for_all, ROCE, "rails-share-subnet info"},
	{one_rail_answers_for_all, ROCE, "rails-share-subnet warning"},
	{rails_answer_for_none, ROCE, "rails-share-subnet warning"},
	{rails_with_arp_filter, ROCE, ""},
	{rails_with_sockets_astray, ROCE, "rails-share-subnet info"},
	{rails_with_arp_filter_without_routing, ROCE, "rails-share-subnet warning"},
	{rails_filter_strictly, ROCE, ""},
	{rails_filter_strictly_without_routing, ROCE, "rails-share-subnet warning"},
	{rails_in_subnets_of_their_own, ROCE, ""},
	{rails_in_subnets_of_other_lengths, ROCE, ""},
	{one_rail_with_two_addresses, ROCE, ""},
	{rails_with_unknown_settings, ROCE, ""},
	{neighbours_fit, ROCE, ""},
	{neighbours_of_a_routing_daemon, ROCE, ""},
	{neighbours_did_not_fit_once, ROCE, ""},
	{neighbours_do_not_fit, ROCE, "neighbour-table-full warning"},
	{neighbours_do_not_fit_at_the_start, ROCE, "neighbour-table-full warning"},
	{port_without_ipoib, IB, "rails-ipoib info"},
	{ports_without_ipoib, IB, ""},
	{watched_saturated, IB, "counter-saturated warning"},
	{other_saturated, IB, "counter-saturated info"},
	{small_traffic_saturated, IB, "counter-saturated info"},
	{wait_saturated, IB, ""},
	{watched_of_the_fabric_saturated, IB, "counter-saturated warning"},
	{other_of_the_fabric_saturated, IB, "counter-saturated info"},
	{repaired_saturated, IB, ""},
	{waiting_saturated, IB, ""},
	{counter_unreadable, IB, ""},
	{good_path, IB, ""},
	{off_the_bus, IB, "device-off-bus critical"},
	{off_the_bus_with_its_switch, ROCE, "device-off-bus critical"},
	{port_above_hides, IB, ""},
	{half_of_the_lanes, IB, "pcie-degraded warning"},
	{half_of_the_lanes_above_a_switch, ROCE, "pcie-degraded warning"},
	{slow_and_the_port_wants_more, IB, "pcie-degraded warning"},
	{slow_and_fast_enough, IB, "pcie-degraded info"},
	{slow_and_down, IB, "pcie-degraded warning port-disabled info"},
	{slow_as_one_end_is, IB, ""},
	{too_slow_as_one_end_is, IB, "pcie-limits-port info"},
	{too_slow_for_half_a_cage, IB, ""},
	{too_slow_and_down, IB, "port-disabled info"},
	{slow_and_the_other_end_unknown, IB, ""},
	{speed_unknown, IB, ""},
	{bridges_unknown, IB, ""},
	{switch_management_narrow, IB, ""},
	{old_pcie_errors, IB, ""},
	{acs_redirects, IB, "gpudirect-redirected warning"},
	{acs_allows, IB, ""},
	{acs_redirects_in_a_virtual_machine, IB, ""},
	{acs_redirects_perhaps_in_a_virtual_machine, IB, ""},
	{acs_redirects_above_both, IB, ""},
	{acs_redirects_and_gpus_are_elsewhere, IB, ""},
	{acs_redirects_a_display, IB, ""},
	{acs_redirects_beside_data_direct, IB, ""},
	{acs_redirects_a_virtual_function, IB, ""},
	{reads_much, IB, ""},
	{reads_little, IB, "pcie-read-request info"},
	{reads_little_and_slowly, IB, ""},
	{reads_little_by_another_driver, IB, ""},
	{reads_less, IB, "pcie-read-request warning"},
	{gpus_alone, IB, "gpudirect-not-ready warning"},
	{gpus_of_a_desk, IB, "gpudirect-not-ready info"},
	{gpus_for_newer_libraries, IB, "gpudirect-not-ready info"},
	{gpus_behind_a_hidden_list, IB, "gpudirect-not-ready info"},
	{gpus_of_a_board_that_cannot, IB, ""},
	{gpus_perhaps_alone, IB, ""},
	{gpus_with_dma_buf, ROCE, ""},
	{driver_without_gpus, IB, ""},
	{software_and_gpus, ROCE, ""},
	{async_off, IB, "gpudirect-async-off info"},
	{all_modules, IB, ""},
	{no_uverbs, IB, "module-missing warning"},
	{no_ucm, IB, "module-missing info"},
	{no_mlx5_ib, IB, "rdma-driver-missing info"},
	{no_mlx5_ib_and_its_devices, IB, ""},
	{abi_of_linux, IB, ""},
	{abi_of_broadcom, IB, "verbs-abi info"},
	{abi_of_a_driver_that_takes_any, IB, ""},
	{gpus_beside_iwarp, ROCE, "iwarp warning"},
	{gpus_beside_iwarp_and_roce, ROCE, ""},
	{iwarp_without_gpus, ROCE, ""},
	{file_missing, IB, "device-node warning"},
	{file_unknown, IB, ""},
	{file_closed, IB, "device-node info"},
	{file_open, IB, ""},
	{mads_of_all, IB, ""},
	{mads_of_others, IB, "device-node info"},
	{mads_of_others, ROCE, ""},
	{mads_without_a_file, IB, "device-node info"},
	{gdrdrv_works, IB, ""},
	{gdrdrv_missing, IB, "device-node info"},
	{gdrdrv_closed, IB, "device-node info"},
	{governor_slow, IB, "cpu-governor warning"},
	{governor_slow_and_no_rdma, ROCE, ""},
	{governor_of_intel, IB, ""},
	{governor_of_amd, IB, ""},
	{governor_follows_load, IB, "cpu-governor info"},
	{governor_of_a_person, IB, ""},
	{iommu_translates, IB, "iommu-translating info"},
	{iommu_translates_strictly, IB, "iommu-translating info"},
	{iommu_passes, IB, ""},
	{iommu_of_arm, IB, ""},
	{iommu_of_a_virtual_machine, IB, ""},
	{netns_shared, IB, ""},
	{netns_exclusive, IB, "netns-exclusive info"},
	{memlock_infinite, IB, ""},
	{memlock_little, IB, "memlock-low info"},
	{memlock_default, IB, "memlock-low info"},
	{memlock_unreadable, IB, ""},
	{memlock_specified, IB, ""},
	{memlock_specified_low, IB, "memlock-low info"},
	{memlock_hidden_specification, IB, ""},
	{memlock_not_restarted, IB, "memlock-low info"},
	{memlock_not_started_yet, IB, ""},
	{memlock_raised, IB, ""},
	{memlock_old_containers, IB, ""},
	{memlock_all_low, IB, "memlock-low info"},
	{memlock_some_low, IB, "memlock-low info"},
	{other_firmware, IB, "rails-firmware info"},
	{other_firmware_of_two, IB, ""},
	{other_firmware_beside_gpus, IB, "rails-firmware info"}, /* which it does not serve */
	{other_layer, IB, "rails-link-layer info"},
	{layers_differ_by_half, IB, ""},
	{other_mtu, ROCE, "rails-mtu info"},
	{other_mtu, IB, ""},
	{jumbo_off, ROCE, "jumbo-frames info"},
	{jumbo_off, IB, ""},
	{jumbo_off_of_iwarp, ROCE, ""},
	{fewer_virtual_functions, IB, "rails-virtual-functions info"},
	{rails_alike, ROCE, ""},
	{rail_without_pfc, ROCE, "qos-rails warning qos-pfc-priorities info"},
	{rail_without_pfc, IB, ""},
	{rail_without_pfc_down, ROCE, "port-down info"},
	{rail_of_which_nothing_is_known, ROCE, ""},
	{rail_with_other_trust, ROCE, "qos-rails warning"},
	{members_alike, ROCE, ""},
	{member_with_other_pfc, ROCE, "qos-rails warning"},
	{member_with_other_table, ROCE, "qos-rails warning"},
	{member_of_which_nothing_is_known, ROCE, ""},
	{rail_with_other_table, ROCE, "qos-rails warning"},
	{rail_with_other_shares, ROCE, "qos-rails warning"},
	{rail_without_reaction, ROCE, "qos-rails warning"},
	{rail_with_a_traffic_class, ROCE, "qos-rails warning"},
	{rails_with_a_lossy_class, ROCE, "qos-lossy-class warning qos-rails warning"},
	{member_with_a_lossy_class, ROCE, "qos-lossy-class warning qos-rails warning"},
	{rails_with_a_class_of_no_entry, ROCE, ""},
	{several_lossless_priorities, ROCE, "qos-pfc-priorities info"},
	{no_lossless_priority, ROCE, "qos-pfc-priorities info"},
	{no_lossless_priority_of_iwarp, ROCE, ""},
	{small_vlan, ROCE, "qos-vlan-mtu info"},
	{small_vlan_without_gids, ROCE, ""},
	{vlan_large_enough, ROCE, ""},
	{module_is_well, ROCE, ""},
	{module_warm, ROCE, "module-temperature warning"},
	{module_hot, ROCE, "module-temperature critical"},
	{module_supply_low, ROCE, "module-voltage info"},
	{module_supply_failing, ROCE, "module-voltage warning"},
	{module_supply_high, ROCE, "module-voltage warning"},
	{module_supply_unknown, ROCE, ""},
	{module_dark, ROCE, "module-light warning module-lane info"},
	{module_dark_and_down, ROCE, "port-down info"},
	{module_dim, ROCE, "module-light info"},
	{module_lane_weak, ROCE, "module-lane info"},
	{module_half_used, ROCE, ""},
	{module_half_used_with_light, ROCE, "module-light warning module-lane info"},
	{module_without_limits, ROCE, ""},
	{vfs_without_guid, IB, "virtual-function-guid warning"},
	{vfs_without_guid, ROCE, ""},
	{vfs_of_nobody, IB, ""},
	{vfs_not_told, IB, ""},
	{vfs_kept_down, IB, "virtual-function-link info"},
	{vfs_kept_down, ROCE, "virtual-function-link info"},
	{tested_slow, IB, ""},
	{tested_slow_twice, ROCE, "selftest-slow warning"},
	{tested_slow_twice_and_well, IB, ""},
	{tested_well_in_between, IB, ""},
	{tested_slow_with_two_memories, IB, ""},
	{tested_far_too_slow_twice, IB, "selftest-failed critical"},
	{tested_slow_and_then_far_too_slow, IB, "selftest-slow warning"},
	{tested_slow_across_sockets, IB, "selftest-failed info"},
	{tested_slow_across_sockets_and_to_the_gpu, IB, "selftest-failed critical"},
	{tests_end_with_an_error, IB, "selftest-failed critical"},
	{data_is_corrupt, IB, "selftest-failed critical"},
	{data_was_corrupt, IB, "selftest-failed critical"},
	{data_was_corrupt_once, IB, ""},
	{special_tests_are_slow, IB, ""},
	{a_test_is_stuck, IB, "selftest-stuck warning"},
	{mute, IB, "port-down critical"},
	{mute_and_not_wanted, IB, ""},
	{almost_mute, IB, ""},
	{counters_of_another_driver_unreadable, IB, ""},
	{stalled, IB, "device-stalled warning"},
	{stalled_for_long, IB, "device-stalled critical"},
	{failing, IB, "reads-failing warning"},
	{old, IB, "data-too-old warning"},
};

static void test_each_rule(void **state)
{
	struct rna_settings settings = {0};

	(void)state;
	assert_int_equal(rna_settings_init(&settings), 0);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_STRBUF struct rna_strbuf found = RNA_STRBUF_INIT;
		struct rna_health health;
		struct rna_view *view;
		struct node node;

		assert_int_equal(rna_health_init(&health, &settings), 0);
		health.once = true;
		node_init(&node, cases[i].layer, 3);
		cases[i].change(&node);
		view = node_view(&node);
		rna_health_judge(&health, joined(view));
		rna_strbuf_puts(&found, "");
		for (size_t f = 0; f < view->finding_count; f++)
			rna_strbuf_printf(&found, "%s%s %s", f > 0 ? " " : "",
					  view->findings[f].rule,
					  rna_severity_name(view->findings[f].severity));
		if (strcmp(found.data ? found.data : "", cases[i].expected) != 0)
			fail_msg("case %zu: found \"%s\", expected \"%s\"", i, found.data,
				 cases[i].expected);
		for (size_t f = 0; f < view->finding_count; f++) {
			if (!view->findings[f].device)
				continue; /* of the node */
			assert_string_equal(view->findings[f].device, "mlx5_0");
			assert_int_equal(strncmp(view->findings[f].text, "mlx5_0", 6), 0);
		}
		(void)rna_view_unref(view);
		rna_health_deinit(&health);
	}
	rna_settings_deinit(&settings);
}

/* The text of the first of so many findings. */
static void assert_first_text(void (*change)(struct node *node), size_t count, const char *text)
{
	struct rna_settings settings = {0};
	struct rna_health health;
	struct rna_view *view;
	struct node node;

	assert_int_equal(rna_settings_init(&settings), 0);
	assert_int_equal(rna_health_init(&health, &settings), 0);
	health.once = true;
	node_init(&node, IB, 3);
	change(&node);
	view = node_view(&node);
	rna_health_judge(&health, joined(view));
	assert_int_equal(view->finding_count, count);
	assert_string_equal(view->findings[0].text, text);
	(void)rna_view_unref(view);
	rna_health_deinit(&health);
	rna_settings_deinit(&settings);
}

static void assert_text(void (*change)(struct node *node), const char *text)
{
	assert_first_text(change, 1, text);
}

/* What the first finding of the rule says and, with its severity, how grave it is; NULL: none. */
static void assert_pcie(void (*change)(struct node *node), const struct rna_rule *rule,
			enum rna_severity severity, const char *text)
{
	struct rna_settings settings = {0};
	struct rna_health health;
	struct rna_view *view;
	struct node node;
	const struct rna_finding *found = NULL;

	assert_int_equal(rna_settings_init(&settings), 0);
	assert_int_equal(rna_health_init(&health, &settings), 0);
	health.once = true;
	node_init(&node, ROCE, 3);
	change(&node);
	view = node_view(&node);
	rna_health_judge(&health, joined(view));
	for (size_t i = 0; i < view->finding_count && !found; i++)
		if (strcmp(view->findings[i].rule, rule->name) == 0)
			found = &view->findings[i];
	if (text) {
		assert_non_null(found);
		assert_string_equal(found->text, text);
		assert_int_equal(found->severity, severity);
	} else {
		assert_null(found);
	}
	(void)rna_view_unref(view);
	rna_health_deinit(&health);
	rna_settings_deinit(&settings);
}

static void test_ports_of_a_link_need_their_sum(void **state)
{
	const struct rna_rule *limits = &rna_rule_pcie_limits_port,
			      *degraded = &rna_rule_pcie_degraded;
	enum rna_severity info = RNA_SEVERITY_INFO;

	(void)state;
	assert_pcie(share_enough, limits, info, NULL);
	assert_pcie(share_the_path, limits, info,
		    "mlx5_0/1: the PCIe link from 0000:18:00.0 up to 0000:17:00.0 runs at Gen5 "
		    "x16, its maximum: 460.9 Gb/s, the 2 ports behind it need 800 together "
		    "(mlx5_0/1 400, mlx5_1/1 400)");
	assert_pcie(share_too_little_and_down, limits, info, NULL);
	assert_pcie(share_with_one_expected_down, limits, info, NULL);
	assert_pcie(share_with_one_expected_up, limits, info,
		    "mlx5_1/1: the PCIe link from 0000:18:00.1 up to 0000:17:00.0 runs at Gen5 "
		    "x16, its maximum: 460.9 Gb/s, the 2 ports behind it need 800 together "
		    "(mlx5_0/1 400, mlx5_1/1 400)");
	assert_pcie(share_in_a_bond, limits, info, NULL);
	assert_pcie(share_below_a_virtual_function, limits, info, NULL);
	assert_pcie(share_in_a_spreading_bond, limits, info,
		    "mlx5_0/1: the PCIe link from 0000:18:00.0 up to 0000:17:00.0 runs at Gen5 "
		    "x16, its maximum: 460.9 Gb/s, the 2 ports behind it need 800 together "
		    "(mlx5_0/1 400, mlx5_1/1 400)");
	assert_pcie(bond_in_one_device, limits, info,
		    "mlx5_0/1: the PCIe link from 0000:18:00.0 up to 0000:17:00.0 runs at Gen5 "
		    "x16, its maximum: 460.9 Gb/s, the members of the port's bond need 800");
	/* without the PCI tree there may be GPUs below the switch */
	assert_pcie(share_an_uplink, limits, info, NULL);
	assert_pcie(share_a_slow_link, degraded, RNA_SEVERITY_WARNING,
		    "mlx5_0: the PCIe link from 0000:18:00.0 up to 0000:17:00.0 runs at Gen4 x16 "
		    "although both ends support Gen5 x16: 230.5 of 460.9 Gb/s available, the 2 "
		    "ports behind it need 400 together (mlx5_0/1 200, mlx5_1/1 200); likewise "
		    "mlx5_1");
}

static void test_what_is_said_of_the_way_to_gpus(void **state)
{
	(void)state;
	assert_text(acs_redirects,
		    "mlx5_0: ACS of 0000:17:00.0 redirects traffic with GPU 0000:99:00.0 and 1 "
		    "more, below the same PCIe switch, to the root port: GPUDirect RDMA is slow, "
		    "or hangs");
	assert_text(reads_less, "mlx5_0: reads at most 512 bytes of memory at a time (MaxReadReq); "
				"most cards of this model read 4096");
	assert_text(reads_little, "3 fast ports can read no more than 512 bytes of memory at a "
				  "time (MaxReadReq), where 4096 are possible: mlx5_0 and others");
	assert_text(reads_more, "2 fast ports can read no more than 1024 bytes of memory at a time "
				"(MaxReadReq), where 4096 are possible: mlx5_1 and others");
	assert_text(
		iommu_translates_strictly,
		"the IOMMU translates addresses of 1 RDMA device and of GPUs (DMA, strict: each "
		"unmapping waits for the IOMMU)");
	assert_text(mads_of_others,
		    "mlx5_0: port 1 has no umad device: no tool can send MADs through it");
	assert_text(gdrdrv_closed, "module gdrdrv is loaded, but /dev/gdrdrv is not open to all "
				   "users: GDRCopy does not work");
	assert_text(governor_slow, "the governor powersave of acpi-cpufreq keeps CPUs at their "
				   "lowest frequency (62 frequency policies)");
	assert_text(other_firmware,
		    "mlx5_0/1: firmware 28.38.1002; most cards of this model have 28.39.1002");
}

static void test_what_is_said_of_the_fabric(void **state)
{
	(void)state;
	assert_text(below_best, "mlx5_0/1: runs at 400 Gb/s (4X NDR); it ran at 800 Gb/s before");
	assert_text(connected_and_down,
		    "mlx5_0/1: down although it was up before; physical state Polling: no signal "
		    "(no cable, or the peer port is disabled or powered off); last connected to "
		    "leaf-07 port 12");
	assert_text(
		peer_supports_less,
		"mlx5_0/1: leaf-08 port 12 does not support a higher speed, but this port does");
	assert_text(
		peer_is_set_to_less,
		"mlx5_0/1: leaf-08 port 12 is configured for a lower speed than both ends support");
	assert_text(port_is_set_to_less, "mlx5_0/1: this port is configured for a lower speed than "
					 "it and leaf-08 port 12 support");
	assert_text(both_ends_have_more_lanes, "mlx5_0/1: runs at 400 Gb/s (4X NDR) although this "
					       "port and leaf-08 port 12 allow more lanes");
	assert_text(cable_moved,
		    "mlx5_0/1: the cable was moved from leaf-07 port 12 to leaf-08 port 12");
	assert_text(swapped_names, "mlx5_0: was mlx5_1 before, and PCI 0000:5e:00.0 was mlx5_0");
	assert_text(name_that_is_anothers,
		    "mlx5_0: was mlx5_1 before, and PCI 0000:5e:00.0 is mlx5_1 now");
	assert_text(new_name, "mlx5_0: was mlx5_9 before");
	assert_text(new_interface_name, "mlx5_0/1: network interface eth0 was ens1 before");
	assert_text(other_card, "mlx5_0: PCI 0000:3b:00.0 has another card than before, whose node "
				"GUID was 0002:c903:0000:0001; the present one was at PCI "
				"0000:5e:00.0");
	assert_text(relocated, "mlx5_0: its card was moved from PCI 0000:3b:00.0 to 0000:af:00.0, "
			       "where it is mlx5_7");
	assert_text(
		manager_is_silent,
		"mlx5_0/1: the subnet manager (GUID 1070:fd03:00aa:0001, LID 1) no longer answers");
	assert_text(manager_is_standby, "mlx5_0/1: the subnet manager (GUID 1070:fd03:00aa:0001, "
					"LID 1) reports state standby, not master");
	assert_text(only_a_tenants_pkey,
		    "mlx5_0/1: not a member of the default partition (P_Key 0x7fff)");
	assert_text(off_the_bus,
		    "mlx5_0: PCI function 0000:18:00.0 does not respond: it fell off the bus");
	assert_text(off_the_bus_with_its_switch,
		    "mlx5_0: PCI function 0000:18:00.0 does not respond, and neither does "
		    "0000:16:00.0 above it: they fell off the bus");
	assert_text(rail_lacks_partition,
		    "mlx5_0/1: P_Keys 0x7fff at index 0; 2 of 3 such ports on cards of this model "
		    "have 0x8012 at index 0, 0x7fff at index 1");
}

static void tested_slower_than_siblings(struct node *node)
{
	add_test(node, RNA_ENDPOINT_LOCAL, 362, RNA_GRADE_WARNING);
	add_test(node, RNA_ENDPOINT_LOCAL, 362, RNA_GRADE_WARNING);
}

/* The newer of the two has the evidence. */
static void tested_slow_without_relaxed_ordering(struct node *node)
{
	tested_slow_twice(node);
	node->ports[0].runs[1].result.relaxed_ordering = rna_value_ok(0);
	node->ports[0].runs[1].result.pci_relaxed_ordering = rna_value_ok(1);
}

static void tested_slow_where_ordering_is_strict(struct node *node)
{
	tested_slow_twice(node);
	node->ports[0].runs[1].result.relaxed_ordering = rna_value_ok(1);
	node->ports[0].runs[1].result.pci_relaxed_ordering = rna_value_ok(0);
}

/* The card is named where what happened is about it as a whole. */
static void test_what_is_said_of_cards(void **state)
{
#define POLLING                                                                                    \
	"mlx5_0/1: down although it was up before; physical state Polling: no signal (no cable, "  \
	"or the peer port is disabled or powered off)"
	(void)state;
	assert_first_text(one_function_down, 1, POLLING);
	assert_first_text(both_functions_down, 2,
			  POLLING "; both ports of the card 0000:3b:00 are down");
	assert_first_text(one_function_expected_down, 1, POLLING);
	assert_first_text(one_function_unknown, 1, POLLING);
	assert_first_text(function_lost, 1,
			  "mlx5_0: absent, and so is its PCI function, PCI 0000:3b:00.0; the card "
			  "0000:3b:00 still has mlx5_1");
#undef POLLING
}

static void test_what_is_said_of_self_tests(void **state)
{
	(void)state;
	assert_text(
		tested_slow_twice,
		"mlx5_0/1: loopback through memory of NUMA node 0 (local) reached 341 of 400 Gb/s "
		"expected (85.2 %) in two consecutive self-tests");
	assert_text(
		tested_slower_than_siblings,
		"mlx5_0/1: loopback through memory of NUMA node 0 (local) reached 362 of 400 Gb/s "
		"expected (90.5 %) in two consecutive self-tests; siblings are faster");
	assert_text(
		tested_slow_without_relaxed_ordering,
		"mlx5_0/1: loopback through memory of NUMA node 0 (local) reached 341 of 400 Gb/s "
		"expected (85.2 %) in two consecutive self-tests; memory was registered without "
		"relaxed ordering");
	assert_text(
		tested_slow_where_ordering_is_strict,
		"mlx5_0/1: loopback through memory of NUMA node 0 (local) reached 341 of 400 Gb/s "
		"expected (85.2 %) in two consecutive self-tests; the PCI function may not use "
		"relaxed ordering");
	assert_text(down_without_a_cable, "mlx5_0/1: down although it was up before; no cable");
	assert_text(down_by_its_signal,
		    "mlx5_0/1: down although it was up before; bad signal integrity "
		    "(large-number-of-physical-errors)");
	assert_text(a_test_is_stuck, "mlx5_0/1: self-test process 4711 hangs in the kernel; the "
				     "device is not tested until it ends");
}

static bool has_finding(const struct rna_view *view, const char *rule)
{
	for (size_t i = 0; i < view->finding_count; i++)
		if (strcmp(view->findings[i].rule, rule) == 0)
			return true;
	return false;
}

/* Three ports with PFC, of which the first may have none, and be no rail of a GPU. */
static bool is_pfc_told(bool first_has, bool first_is_rail)
{
	static const char *names[] = {"mlx5_0", "mlx5_1", "mlx5_2"};
	struct rna_nic nics[3];
	struct rna_settings settings = {0};
	struct rna_topology *topology;
	struct rna_health health;
	struct rna_view *view;
	struct rna_dcb *first;
	struct node node;
	bool told;

	assert_int_equal(rna_settings_init(&settings), 0);
	assert_int_equal(rna_health_init(&health, &settings), 0);
	health.once = true;
	node_init(&node, ROCE, 3);
	first = rails_with_qos(&node);
	if (!first_has)
		first->pfc = rna_value_ok(0);
	for (int i = 0; i < 3; i++)
		nics[i] = (struct rna_nic){
			.devices = &names[i],
			.device_count = 1,
			.lag = -1,
			.rail = i == 0 && !first_is_rail ? -1 : i,
		};
	view = node_view(&node);
	topology = rna_part_new(RNA_COLLECTOR_TOPOLOGY, sizeof(*topology), 0);
	assert_non_null(topology);
	topology->nic_count = 3;
	topology->nics = nics;
	(void)rna_part_unref(view->snapshot->parts[RNA_COLLECTOR_TOPOLOGY]);
	own_snapshot(view)->parts[RNA_COLLECTOR_TOPOLOGY] = &topology->part;
	rna_health_judge(&health, joined(view));
	told = has_finding(view, "qos-pfc-priorities");
	(void)rna_view_unref(view);
	rna_health_deinit(&health);
	rna_settings_deinit(&settings);
	return told;
}

static void test_storage_may_have_no_pfc(void **state)
{
	(void)state;
	assert_true(is_pfc_told(false, true));
	assert_false(is_pfc_told(false, false));
	assert_false(is_pfc_told(true, true));
}

static void test_virtual_functions_by_setting(void **state)
{
	struct rna_settings settings = {0};
	struct rna_health health;
	struct rna_view *view;
	struct node node;

	(void)state;
	assert_int_equal(rna_settings_init(&settings), 0);
	settings.health_virtual_functions = true;
	assert_int_equal(rna_health_init(&health, &settings), 0);
	node_init(&node, ROCE, 1);
	virtual_function_down(&node);
	view = node_view(&node);
	rna_health_judge(&health, joined_for(view, true));
	assert_int_equal(view->finding_count, 1);
	(void)rna_view_unref(view);
	rna_health_deinit(&health);
	rna_settings_deinit(&settings);
}

/* -- Remedies ---------------------------------------------------------------------------------- */

static void assert_remedy_of(void (*change)(struct node *node), const char *remedy)
{
	struct rna_settings settings = {0};
	struct rna_health health;
	struct rna_view *view;
	struct node node;

	assert_int_equal(rna_settings_init(&settings), 0);
	assert_int_equal(rna_health_init(&health, &settings), 0);
	health.once = true;
	node_init(&node, ROCE, 1);
	change(&node);
	view = node_view(&node);
	rna_health_judge(&health, joined(view));
	assert_true(view->finding_count > 0);
	assert_string_equal(view->findings[0].remedy, remedy);
	(void)rna_view_unref(view);
	rna_health_deinit(&health);
	rna_settings_deinit(&settings);
}

static void test_remedies_name_their_objects(void **state)
{
	(void)state;
	assert_remedy_of(netdev_set_down, "Run: ip link set dev eth0 up.");
	assert_remedy_of(lost, "Look for the PCI function with lspci -s 0000:3b:00.0 and for the "
			       "reason in the kernel log. If mlx5_0 was removed on purpose, run: "
			       "rdma-node-agent expect accept mlx5_0.");
}

/* The name, help and remedy are shown, the id is for ever, and the hold-down can be parsed. */
static void test_the_table_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_RULE_COUNT; i++) {
		const struct rna_rule *rule = rna_rules[i];
		rna_usec hold;

		assert_non_null(rule->check);
		assert_int_equal(rule->help[strlen(rule->help) - 1], '.');
		assert_non_null(strchr(".}", rule->remedy[strlen(rule->remedy) - 1]));
		if (rule->hold)
			assert_int_equal(rna_duration_parse(rule->hold, &hold), 0);
		assert_int_equal(strlen(rule->message_id), 32);
		assert_int_equal(strspn(rule->message_id, "0123456789abcdef"), 32);
		for (size_t other = 0; other < i; other++) {
			assert_string_not_equal(rule->name, rna_rules[other]->name);
			assert_string_not_equal(rule->message_id, rna_rules[other]->message_id);
		}
	}
}

static void test_settings_name_rules(void **state)
{
	(void)state;
	assert_true(rna_rule_glob_is_valid("port-down"));
	assert_true(rna_rule_glob_is_valid("gid-*"));
	assert_false(rna_rule_glob_is_valid("port-dwon"));
	assert_false(rna_rule_glob_is_valid(""));
	assert_true(rna_rule_hold_is_valid("port-down=10s"));
	assert_true(rna_rule_hold_is_valid("*=0s"));
	assert_false(rna_rule_hold_is_valid("port-down"));
	assert_false(rna_rule_hold_is_valid("port-down="));
	assert_false(rna_rule_hold_is_valid("=10s"));
	assert_false(rna_rule_hold_is_valid("port-dwon=10s"));
}

enum { RESOURCES_MAX = 5 };

/* What device plugins advertise, of a node with three devices, or as many as it says. */
static void test_resources(void **state)
{
	static char named[] = "nvidia.com/hostdev", glob[] = "example.com/*";
	static char *names[] = {glob, named, NULL};
	static const struct {
		bool used, known;
		bool names; /* the settings name nvidia.com/hostdev */
		struct rna_kubernetes_resource resources[RESOURCES_MAX];
		const char *found; /* NULL: nothing */
		size_t devices;
	} resources[] = {
		{false, false, false, {{0}}, NULL},
		{true, false, false, {{0}}, NULL},
		{true, true, false, {{0}}, NULL}, /* no plugin, and none is configured */
		{true, true, true, {{0}}, "nvidia.com/hostdev is missing"},
		{true, true, true, {{"nvidia.com/hostdev", 3, 3}}, NULL},
		{true, true, false, {{"rdma/hca", 63, 63}}, NULL},
		{true, true, false, {{"rdma/hca", 63, 0}}, "rdma/hca: none allocatable"},
		{true, true, false, {{"rdma/hca", 0, 0}}, "rdma/hca: none allocatable"},
		{true, true, false, {{"rdma/hca", 4, 3}}, "rdma/hca: 3 of 4 allocatable"},
		{true,
		 true,
		 false,
		 {{"rdma/a", 1, 1}, {"rdma/b", 1, 1}},
		 "2 in total for 3 devices"},
		{true,
		 true,
		 false,
		 {{"rdma/a", 1, 0}, {"rdma/b", 2, 1}},
		 "rdma/a: none allocatable; rdma/b: 1 of 2 allocatable"},
		/* Shared ones: one for each device of four, of which one is lost; two groups. */
		{true,
		 true,
		 false,
		 {{"rdma/a", 63, 63}, {"rdma/b", 63, 63}, {"rdma/c", 63, 63}},
		 "3 shared resources for 4 devices",
		 4},
		{true,
		 true,
		 false,
		 {{"rdma/a", 63, 63}, {"rdma/b", 63, 63}, {"rdma/c", 63, 63}, {"rdma/d", 63, 63}},
		 NULL,
		 4},
		{true, true, false, {{"rdma/a", 63, 63}, {"rdma/b", 63, 63}}, NULL, 4},
		{true, true, false, {{"rdma/a", 63, 63}, {"rdma/b", 1, 1}}, NULL, 4},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(resources); i++) {
		struct rna_node_status status = {
			.backends[RNA_NODE_BACKEND_API].used = resources[i].used,
			.resources_known = resources[i].known,
			.resources = resources[i].resources,
		};
		struct rna_settings settings;
		struct rna_health health;
		struct rna_view *view;
		struct node node;

		while (status.resource_count < RESOURCES_MAX &&
		       resources[i].resources[status.resource_count].name)
			status.resource_count++;
		assert_int_equal(rna_settings_init(&settings), 0);
		assert_int_equal(rna_health_init(&health, &settings), 0);
		settings.kubernetes_resources = resources[i].names ? names : NULL;
		health.once = true;
		node_init(&node, IB, resources[i].devices ? resources[i].devices : 3);
		view = node_view(&node);
		view->node = &status;
		rna_health_judge(&health, joined(view));
		assert_int_equal(view->finding_count, resources[i].found ? 1 : 0);
		if (resources[i].found) {
			assert_string_equal(view->findings[0].rule, "resources-missing");
			assert_non_null(strstr(view->findings[0].text, resources[i].found));
		}
		(void)rna_view_unref(view);
		rna_health_deinit(&health);
		settings.kubernetes_resources = NULL;
		rna_settings_deinit(&settings);
	}
}

/* Why the Node does not have its taint. */
static void test_a_taint_that_is_withheld(void **state)
{
	static const char *const texts[RNA_WITHHELD_COUNT] = {
		[RNA_WITHHELD_DRY_RUN] = "the Node does not get the taint a/b: "
					 "kubernetes.taint_dry_run is true",
		[RNA_WITHHELD_LIMIT] = "the Node does not get the taint a/b: other nodes hold all "
				       "Leases of kubernetes.taint_leases",
		[RNA_WITHHELD_NO_LEASES] =
			"the Node does not get the taint a/b: there are no Leases "
			"of kubernetes.taint_leases",
		[RNA_WITHHELD_DENIED] =
			"the Node does not get the taint a/b: the API server refuses "
			"the Leases of kubernetes.taint_leases",
	};
	static char key[] = "a/b";

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++) {
		struct rna_node_status status = {
			.taint_limited = true,
			.taint_withheld = (enum rna_withheld)i,
		};
		struct rna_settings settings = {.kubernetes_taint = key};
		struct rna_health health;
		struct rna_view *view;
		struct node node;

		assert_int_equal(rna_health_init(&health, &settings), 0);
		health.once = true;
		node_init(&node, IB, 1);
		view = node_view(&node);
		view->node = &status;
		rna_health_judge(&health, joined(view));
		assert_int_equal(view->finding_count, texts[i] ? 1 : 0);
		if (texts[i])
			assert_string_equal(view->findings[0].text, texts[i]);
		(void)rna_view_unref(view);
		rna_health_deinit(&health);
	}
}

/* -- A plan ------------------------------------------------------------------------------------ */

static void rail_with_a_plan(struct node *node)
{
	struct rna_dcb *first = rails_with_qos(node);

	node->count = 1; /* no other to be like */
	first->pfc = rna_value_ok(0x18);
	node->ports[0].qos.ecn[RNA_ECN_REACTION] = rna_value_ok(0x08);
	node->ports[0].netdev.mtu = rna_value_ok(9000);
}

struct plan {
	const char *entry;
	const char *text; /* NULL: it is as planned, or not known */
};

static const struct plan plans[] = {
	{"pfc=3,4", NULL},
	{"pfc=3", "PFC priorities 3-4 (expected: priority 3)"},
	{"pfc=none", "PFC priorities 3-4 (expected: off)"},
	{"pfc=3 bnxt_*", NULL},
	{"pfc=3 mlx5_?", "PFC priorities 3-4 (expected: priority 3)"},
	{"ecn=3", NULL},
	{"ecn=4", "ECN priority 3 (expected: priority 4)"},
	{"trust=dscp", NULL},
	{"trust=pcp", "trust dscp (expected: pcp)"},
	{"dscp26=3", NULL},
	{"dscp26=4", "DSCP 26: priority 3 (expected: 4)"},
	{"dscp27=4", NULL}, /* it has no entry */
	{"mtu=9000", NULL},
	{"mtu=4200", "MTU 9000 (expected: 4200)"},
	{"traffic_class=none", NULL},
	{"traffic_class=106", "traffic class none (expected: 106)"},
	{"cm_tos=106", NULL}, /* the configfs directory does not exist */
};

/* The second member of the bond has PFC for another priority; the port itself is as planned. */
static void bond_with_a_plan(struct node *node)
{
	bond_with_qos(node)->pfc = rna_value_ok(1 << 4);
	node->count = 1;
	node->ports[0].qos.ecn[RNA_ECN_REACTION] = rna_value_ok(0x08);
	node->ports[0].other_qos.ecn[RNA_ECN_REACTION] = rna_value_unreadable();
	node->ports[0].netdev.mtu = rna_value_ok(9000);
}

static const struct plan plans_of_a_bond[] = {
	{"pfc=3", "eth1: PFC priority 4 (expected: priority 3)"},
	{"pfc=4", "eth0: PFC priority 3 (expected: priority 4)"},
	{"pfc=5 mlx5_0", "eth0: PFC priority 3 (expected: priority 5); eth1: PFC "
			 "priority 4 (expected: priority 5)"},
	{"ecn=3", NULL}, /* of the second one it is not known */
	{"ecn=4", "eth0: ECN priority 3 (expected: priority 4)"},
	{"dscp26=3", NULL},
	{"mtu=4200", "MTU 9000 (expected: 4200)"},
	{"traffic_class=106", "traffic class none (expected: 106)"},
};

static void judge_plan(void (*make)(struct node *), const struct plan *plan,
		       struct rna_settings *settings)
{
	static const char before[] = "mlx5_0/1: differs from qos.expect: ";
	const struct rna_finding *found = NULL;
	struct rna_health health;
	struct rna_view *view;
	struct node node;

	assert_int_equal(rna_health_init(&health, settings), 0);
	health.once = true;
	node_init(&node, ROCE, 3);
	make(&node);
	view = node_view(&node);
	rna_health_judge(&health, joined(view));
	for (size_t f = 0; f < view->finding_count; f++)
		if (strcmp(view->findings[f].rule, "qos-drift") == 0)
			found = &view->findings[f];
	if (!found != !plan->text ||
	    (found && strcmp(found->text + sizeof(before) - 1, plan->text) != 0))
		fail_msg("%s: found \"%s\"", plan->entry, found ? found->text : "nothing");
	(void)rna_view_unref(view);
	rna_health_deinit(&health);
}

static void judge_by(void (*make)(struct node *), const struct plan *plan)
{
	const struct rna_schema_row *setting = rna_setting_find("qos.expect");
	struct rna_settings settings = {0};

	assert_int_equal(rna_settings_init(&settings), 0);
	assert_int_equal(rna_setting_put(setting, plan->entry, &settings, NULL), 0);
	judge_plan(make, plan, &settings);
	rna_settings_deinit(&settings);
}

static void test_ports_are_as_planned(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(plans); i++)
		judge_by(rail_with_a_plan, &plans[i]);
}

static void test_members_of_a_bond_are_as_planned(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(plans_of_a_bond); i++)
		judge_by(bond_with_a_plan, &plans_of_a_bond[i]);
}

static void test_plans_that_are_none(void **state)
{
	static const char *const entries[] = {
		"",
		"pfc",
		"pfc=",
		"pfc=8",
		"pfc=3,",
		"pfc=3;4",
		"pfc=33",
		"trust=maybe",
		"dscp=3",
		"dscp64=3",
		"dscp26=8",
		"mtu=0",
		"mtu=9000 ",
		"mtu=9000 a/b",
		"traffic_class=256",
		"color=3",
		"cm_tos=-1",
		"cm_tos=0x10 x*",
		"cm_tos=none x",
		"ecn=3 mlx5_0 mlx5_1",
		"pfc=3,4,5,6,7,0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7",
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(entries); i++)
		if (rna_qos_expectation_is_valid(entries[i]))
			fail_msg("\"%s\" is a plan", entries[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resources),
		cmocka_unit_test(test_a_taint_that_is_withheld),
		cmocka_unit_test(test_each_rule),
		cmocka_unit_test(test_ports_of_a_link_need_their_sum),
		cmocka_unit_test(test_what_is_said_of_the_way_to_gpus),
		cmocka_unit_test(test_what_is_said_of_the_fabric),
		cmocka_unit_test(test_what_is_said_of_cards),
		cmocka_unit_test(test_what_is_said_of_self_tests),
		cmocka_unit_test(test_ports_are_as_planned),
		cmocka_unit_test(test_members_of_a_bond_are_as_planned),
		cmocka_unit_test(test_plans_that_are_none),
		cmocka_unit_test(test_storage_may_have_no_pfc),
		cmocka_unit_test(test_virtual_functions_by_setting),
		cmocka_unit_test(test_the_table_is_whole),
		cmocka_unit_test(test_remedies_name_their_objects),
		cmocka_unit_test(test_settings_name_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
