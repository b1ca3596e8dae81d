// SPDX-License-Identifier: Apache-2.0
/* agent/core/model/network.c: which ports are in one network, on hand-made ports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/card.h"
#include "rna/model/fabric.h"
#include "rna/model/gateways.h"
#include "rna/model/probe.h"
#include "rna/model/qos.h"
#include "rna/model/snapshot.h"
#include "rna/model/subject.h"

enum { CARDS = 2, PORTS = 4, KEYS = 2, ADDRESSES = 3, PAIRS = 8 };

/* Cards of two functions with a port each; address: the last four bytes of a mapped GID. */
struct scene {
	struct rna_view view;
	struct rna_card cards[CARDS];
	struct rna_snapshot_device devices[PORTS];
	struct rna_device rdma[PORTS];
	struct rna_identity identity;
	struct rna_port_state_value active;
	struct rna_state state;
	struct rna_gid_entry entries[PORTS][ADDRESSES];
	struct rna_port_gids gids[PORTS];
	struct rna_pkey pkeys[PORTS][KEYS];
	struct rna_port_fabric fabrics[PORTS];
	struct rna_peer peers[PORTS];
	struct rna_subject ports[PORTS];
	struct rna_gateways gateways;
	struct rna_rail_address addresses[PORTS];
	struct rna_qos_vlan vlans[PORTS];
	struct rna_qos_port qos[PORTS];
	struct rna_probe_pair pairs[PAIRS];
	struct rna_snapshot snapshot; /* last: it ends in a list */
};

static const char *const names[PORTS] = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"};

static void set_up(struct scene *scene, enum rna_link_layer layer, struct rna_arena *arena)
{
	*scene = (struct scene){
		.view.arena = arena,
		.identity.node_type = RNA_NODE_TYPE_CA,
		.active = {.number = 1, .state = rna_value_ok(RNA_PORT_ACTIVE)},
		.state = {.port_count = 1, .ports = &scene->active},
		.gateways.host.addresses = scene->addresses,
		.snapshot.parts[RNA_COLLECTOR_GATEWAYS] = &scene->gateways.part,
		.view.probed.items = scene->pairs,
	};
	scene->view.snapshot = &scene->snapshot;
	for (size_t i = 0; i < PORTS; i++) {
		scene->rdma[i].name = names[i];
		scene->devices[i].device = &scene->rdma[i];
		scene->devices[i].parts[RNA_COLLECTOR_STATE] = &scene->state.part;
		scene->devices[i].parts[RNA_COLLECTOR_IDENTITY] = &scene->identity.part;
		scene->gids[i] = (struct rna_port_gids){.count = 1, .entries = scene->entries[i]};
		scene->fabrics[i].pkeys = scene->pkeys[i];
		scene->ports[i] = (struct rna_subject){
			.view = &scene->view,
			.card = &scene->cards[i / 2],
			.device = &scene->devices[i],
			.rdma_device = &scene->rdma[i],
			.identity = &scene->identity,
			.port = 1,
			.gids = &scene->gids[i],
			.fabric = &scene->fabrics[i],
			.link_layer = layer,
			.rail = true,
			.model = 1,
			.place = 1 + (unsigned)i % 2,
		};
	}
}

static struct rna_gid gid_of(uint32_t address)
{
	struct rna_gid gid = {.bytes = {[10] = 0xff, [11] = 0xff}};

	for (size_t i = 0; i < 4; i++)
		gid.bytes[12 + i] = (uint8_t)(address >> (24 - 8 * i));
	return gid;
}

static void set_address(struct scene *scene, size_t port, uint32_t address)
{
	scene->entries[port][0] =
		(struct rna_gid_entry){.type = RNA_GID_TYPE_ROCE_V2, .gid = gid_of(address)};
}

static void add_address(struct scene *scene, size_t port, uint32_t address)
{
	scene->entries[port][scene->gids[port].count++] =
		(struct rna_gid_entry){.type = RNA_GID_TYPE_ROCE_V2, .gid = gid_of(address)};
}

/* The address is that of a VLAN, in a subnet of 24 bits. */
static void set_vlan(struct scene *scene, size_t port, uint32_t address, unsigned id)
{
	set_address(scene, port, address);
	scene->entries[port][0].netdev = names[port];
	scene->addresses[port] = (struct rna_rail_address){
		.netdev = names[port],
		.address = gid_of(address),
		.subnet = gid_of(address & 0xffffff00),
		.prefix_length = rna_value_ok(24),
	};
	scene->gateways.host.address_count = PORTS;
	scene->vlans[port] = (struct rna_qos_vlan){.netdev = names[port], .id = rna_value_ok(id)};
	scene->qos[port] = (struct rna_qos_port){.vlan_count = 1, .vlans = &scene->vlans[port]};
	scene->ports[port].qos = &scene->qos[port];
}

/* Of a port to another one of this node, or of another one. */
static struct rna_probe_pair *add_pair(struct scene *scene, size_t from, const char *to,
				       enum rna_probe_scope scope)
{
	struct rna_probe_pair *pair = &scene->pairs[scene->view.probed.count++];

	*pair = (struct rna_probe_pair){
		.device = names[from],
		.port = 1,
		.peer_device = to,
		.peer_port = 1,
		.scope = scope,
		.state = RNA_PROBE_RUNNING,
	};
	return pair;
}

static void add_answers(struct scene *scene)
{
	for (size_t i = 0; i < PORTS; i++)
		add_pair(scene, i, names[i], RNA_PROBE_LEAF)->recent.answered = 100;
}

static void add_key(struct scene *scene, size_t port, uint16_t key, bool full)
{
	struct rna_port_fabric *fabric = &scene->fabrics[port];

	fabric->pkeys_known = true;
	scene->pkeys[port][fabric->pkey_count] =
		(struct rna_pkey){.index = (unsigned)fabric->pkey_count, .key = key, .full = full};
	fabric->pkey_count++;
}

/* The names of the ports' networks, with blanks between them; "-": none. */
static void assert_networks(struct scene *scene, char *const *entries, const char *expected)
{
	char text[256] = "";

	for (size_t i = 0; i < PORTS; i++)
		scene->ports[i].network = NULL;
	assert_int_equal(rna_networks_find(&scene->view, scene->ports, PORTS, entries), 0);
	for (size_t i = 0; i < PORTS; i++) {
		const struct rna_network *network = scene->ports[i].network;

		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			       i > 0 ? "; " : "", network ? network->name : "-");
	}
	assert_string_equal(text, expected);
}

static void test_ranges(void **state)
{
	static const struct {
		const char *entry;
		bool is_valid;
	} rows[] = {
		{"a=10.0.0.0/8", true},
		{"a=10.0.0.0/0", false},
		{"a=10.0.0.0/33", false},
		{"a=10.0.0/8", false},
		{"a=fd00::/48", true},
		{"a=fd00::/129", false},
		{"a=0x8a01", true},
		{"a=0x0", false},
		{"a=0x10000", false},
		{"a=0x0a01 ", false},
		{"=0x0a01", false},
		{"a b=0x0a01", false},
		{"a", false},
		{"a=", false},
		{"a=2561", false},
		{"plane-1=0x7fff", true},
		{"a=10.0.0.0/8/8", false},
		{"a_b=0x1", false},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++)
		if (rna_network_range_is_valid(rows[i].entry) != rows[i].is_valid)
			fail_msg("%s", rows[i].entry);
}

static void test_planes_by_their_addresses(void **state)
{
	static const struct {
		uint32_t addresses[PORTS];
		const char *networks;
	} rows[] = {
		{{0xac100002, 0xac180002, 0xac100102, 0xac180102},
		 "172.16.0.0/23; 172.24.0.0/23; 172.16.0.0/23; 172.24.0.0/23"},
		/* one prefix for all, and one for each port */
		{{0x0a000001, 0x0a000002, 0x0a000003, 0x0a000004}, "-; -; -; -"},
		{{0x0a000001, 0x0a010001, 0x0a020001, 0x0a030001}, "-; -; -; -"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		struct scene scene;

		set_up(&scene, RNA_LINK_LAYER_ETHERNET, arena);
		for (size_t j = 0; j < PORTS; j++)
			set_address(&scene, j, rows[i].addresses[j]);
		assert_networks(&scene, NULL, rows[i].networks);
	}
}

/* Both ports of a card lead to it. */
static void test_one_switch_is_no_plane(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct scene scene;

	(void)state;
	set_up(&scene, RNA_LINK_LAYER_ETHERNET, arena);
	for (size_t i = 0; i < PORTS; i++) {
		set_address(&scene, i, 0xac100002 + ((uint32_t)i % 2 << 19) + ((uint32_t)i << 8));
		scene.peers[i].guid = "b8:3f:d2:00:00:01";
		scene.ports[i].peer = &scene.peers[i];
	}
	assert_networks(&scene, NULL, "-; -; -; -");
}

static void test_configured_networks(void **state)
{
	static char a[] = "a=172.16.0.0/13", b[] = "b=172.24.0.0/13", more[] = "a=10.0.0.0/8";
	char *const entries[] = {a, b, more, NULL};
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct scene scene;

	(void)state;
	set_up(&scene, RNA_LINK_LAYER_ETHERNET, arena);
	set_address(&scene, 0, 0xac100002);
	set_address(&scene, 1, 0xac180002);
	set_address(&scene, 2, 0x0a000001);
	set_address(&scene, 3, 0xc0a80001);
	assert_networks(&scene, entries, "a; b; a; -");
	assert_true(rna_network_uses(&scene.ports[0], &scene.entries[2][0].gid));
	assert_false(rna_network_uses(&scene.ports[0], &scene.entries[1][0].gid));
	assert_true(rna_network_uses(&scene.ports[3], &scene.entries[1][0].gid));
}

static void test_partitions(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct scene scene;

	(void)state;
	set_up(&scene, RNA_LINK_LAYER_INFINIBAND, arena);
	for (size_t i = 0; i < PORTS; i++)
		add_key(&scene, i, RNA_DEFAULT_PKEY, i == 2);
	add_key(&scene, 0, 0x0a01, true);
	add_key(&scene, 1, 0x0a01, true);
	add_key(&scene, 3, 0x0a01, false);
	assert_networks(&scene, NULL, "partition 0x0a01; partition 0x0a01; partition 0x7fff; -");
	assert_int_equal(rna_network_pkey(&scene.ports[0])->index, 1);
	assert_int_equal(rna_network_pkey(&scene.ports[2])->index, 0);
	assert_null(rna_network_pkey(&scene.ports[3]));
}

/* Of one partition in two subnets. */
static void test_subnets(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct scene scene;

	(void)state;
	set_up(&scene, RNA_LINK_LAYER_INFINIBAND, arena);
	for (size_t i = 0; i < PORTS; i++) {
		add_key(&scene, i, RNA_DEFAULT_PKEY, true);
		scene.entries[i][0].gid.bytes[0] = 0xfe;
		scene.entries[i][0].gid.bytes[7] = i == 3;
	}
	assert_int_equal(rna_networks_find(&scene.view, scene.ports, PORTS, NULL), 0);
	assert_ptr_equal(scene.ports[0].network, scene.ports[2].network);
	assert_ptr_not_equal(scene.ports[0].network, scene.ports[3].network);
	assert_int_equal(scene.view.networks->count, 2);
}

static const char *evidence_of(const struct scene *scene, size_t a, size_t b)
{
	return rna_network_apart(&scene->ports[a], &scene->ports[b])->text;
}

/* The default prefix tells nothing; managers do, and a switch at the other end of both ports. */
static void test_managers(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct scene scene;

	(void)state;
	set_up(&scene, RNA_LINK_LAYER_INFINIBAND, arena);
	for (size_t i = 0; i < PORTS; i++) {
		add_key(&scene, i, RNA_DEFAULT_PKEY, true);
		memcpy(scene.entries[i][0].gid.bytes, (uint8_t[]){0xfe, 0x80}, 2);
		scene.fabrics[i].manager.lid = rna_value_ok(i == 3 ? 7 : 1);
	}
	assert_int_equal(rna_networks_find(&scene.view, scene.ports, PORTS, NULL), 0);
	assert_ptr_equal(scene.ports[0].network, scene.ports[2].network);
	assert_ptr_not_equal(scene.ports[0].network, scene.ports[3].network);
	assert_non_null(rna_network_apart(&scene.ports[0], &scene.ports[3])->remedy);
	for (size_t i = 0; i < PORTS; i++) {
		scene.peers[i] = (struct rna_peer){.type = RNA_NODE_TYPE_SWITCH, .guid = "1"};
		scene.ports[i].peer = &scene.peers[i];
	}
	assert_networks(&scene, NULL,
			"partition 0x7fff; partition 0x7fff; partition 0x7fff; partition 0x7fff");
	assert_int_equal(scene.view.networks->count, 1);
}

static void test_vlans(void **state)
{
	static const struct {
		uint32_t addresses[PORTS];
		unsigned ids[PORTS];
		const char *networks;
	} rows[] = {
		/* one subnet on two links */
		{{0x0a000001, 0x0a000002, 0x0a000003, 0x0a000004},
		 {100, 200, 100, 200},
		 "VLAN 100; VLAN 200; VLAN 100; VLAN 200"},
		/* a subnet each: a router may connect them */
		{{0x0a000001, 0x0a000101, 0x0a000201, 0x0a000301},
		 {100, 200, 300, 400},
		 "-; -; -; -"},
		{{0x0a000001, 0x0a000002, 0x0a000003, 0x0a000004},
		 {100, 100, 100, 100},
		 "-; -; -; -"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		struct scene scene;

		set_up(&scene, RNA_LINK_LAYER_ETHERNET, arena);
		for (size_t j = 0; j < PORTS; j++)
			set_vlan(&scene, j, rows[i].addresses[j], rows[i].ids[j]);
		assert_networks(&scene, NULL, rows[i].networks);
	}
}

/* An address without a VLAN beside that of the VLAN: the port is in two networks. */
static void test_address_beside_a_vlan(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct scene scene;

	(void)state;
	set_up(&scene, RNA_LINK_LAYER_ETHERNET, arena);
	for (size_t i = 0; i < PORTS; i++)
		set_vlan(&scene, i, 0x0a000001 + (uint32_t)i, 100 + (unsigned)i % 2);
	add_address(&scene, 0, 0xc0a80001);
	assert_networks(&scene, NULL, "-; VLAN 101; VLAN 100; VLAN 101");
}

static void test_probes(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct scene scene;
	struct rna_probe_pair *across;

	(void)state;
	set_up(&scene, RNA_LINK_LAYER_ETHERNET, arena);
	for (size_t i = 0; i < PORTS; i++)
		set_address(&scene, i, 0x0a000001 + (uint32_t)i);
	across = add_pair(&scene, 1, "mlx5_0", RNA_PROBE_HOST);
	add_pair(&scene, 0, "mlx5_2", RNA_PROBE_HOST)->recent.answered = 1;
	across->recent.lost = 100;
	assert_networks(&scene, NULL, "-; -; -; -"); /* nothing answers: the port may be broken */
	add_answers(&scene);
	assert_networks(&scene, NULL, "that of mlx5_0/1; that of mlx5_1/1; that of mlx5_0/1; -");
	assert_string_equal(evidence_of(&scene, 0, 1),
			    "other nodes answer their probes, and they never answer each other");
}

static void test_probes_that_prove_nothing(void **state)
{
	static const struct {
		enum rna_probe_state state;
		unsigned signs;
		uint64_t answered, lost;
	} rows[] = {
		{RNA_PROBE_LOCAL, 0, 0, 100},
		{RNA_PROBE_NO_NEIGHBOUR, 0, 0, 100},
		{RNA_PROBE_RUNNING, 0, 0, 3},
		{RNA_PROBE_RUNNING, 0, 1, 100},
		{RNA_PROBE_RUNNING, RNA_PROBE_SILENT, 0, 100}, /* answered, an agent ago */
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		struct rna_probe_pair *pair;
		struct scene scene;

		set_up(&scene, RNA_LINK_LAYER_ETHERNET, arena);
		add_answers(&scene);
		pair = add_pair(&scene, 0, "mlx5_1", RNA_PROBE_HOST);
		pair->state = rows[i].state;
		pair->signs = rows[i].signs;
		pair->total.answered = rows[i].answered;
		pair->recent.lost = rows[i].lost;
		assert_networks(&scene, NULL, "-; -; -; -");
	}
}

/* Of what addresses look like they are a proof, or a refutation. */
static void test_probes_about_planes(void **state)
{
	for (unsigned answered = 0; answered <= 1; answered++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		struct rna_probe_pair *pair;
		struct scene scene;

		(void)state;
		set_up(&scene, RNA_LINK_LAYER_ETHERNET, arena);
		add_answers(&scene);
		for (size_t i = 0; i < PORTS; i++)
			set_address(&scene, i,
				    0xac100002 + ((uint32_t)i % 2 << 19) + ((uint32_t)i << 8));
		pair = add_pair(&scene, 0, "mlx5_1", RNA_PROBE_HOST);
		pair->recent = (struct rna_probe_counts){.answered = answered, .lost = 100};
		if (answered) {
			assert_networks(&scene, NULL, "-; -; -; -");
			continue;
		}
		assert_networks(&scene, NULL,
				"172.16.0.0/22; 172.24.0.0/22; 172.16.0.0/22; 172.24.0.0/22");
		assert_null(rna_network_apart(&scene.ports[0], &scene.ports[1])->remedy);
	}
}

/* Of each port: which of its addresses are in use, as bits. */
static void test_several_addresses(void **state)
{
	static const struct {
		uint32_t addresses[PORTS][ADDRESSES];
		unsigned used[PORTS];
	} rows[] = {
		/* one has an address of storage as well */
		{{{0xc0a80a05, 0x0a400002}, {0x0a400102}, {0x0a400202}, {0x0a400302}},
		 {2, 1, 1, 1}},
		/* all have both: either may be that of the fabric */
		{{{0xc0a80a05, 0x0a400002},
		  {0xc0a80a06, 0x0a400102},
		  {0xc0a80a07, 0x0a400202},
		  {0xc0a80a08, 0x0a400302}},
		 {3, 3, 3, 3}},
		/* nothing in common */
		{{{0x0a000005, 0x0a080304}, {0x0a100105}, {0x0a200105}, {0x0a300105}},
		 {3, 1, 1, 1}},
		{{{0xc0a80a05, 0x0a400002, 0x0a400003}, {0x0a400102}, {0x0a400202}, {0x0a400302}},
		 {7, 1, 1, 1}},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		struct scene scene;

		set_up(&scene, RNA_LINK_LAYER_ETHERNET, arena);
		for (size_t j = 0; j < PORTS; j++) {
			scene.ports[j].place = 1;
			scene.gids[j].count = 0;
			for (size_t k = 0; k < ADDRESSES && rows[i].addresses[j][k]; k++)
				add_address(&scene, j, rows[i].addresses[j][k]);
		}
		assert_networks(&scene, NULL, "-; -; -; -");
		for (size_t j = 0; j < PORTS; j++)
			for (size_t k = 0; k < scene.gids[j].count; k++)
				assert_int_equal(rna_network_uses(&scene.ports[j],
								  &scene.entries[j][k].gid),
						 rows[i].used[j] >> k & 1);
	}
}

/* Storage addresses do not hide planes, and each plane has a prefix of its own. */
static void test_several_addresses_in_planes(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct scene scene;

	(void)state;
	set_up(&scene, RNA_LINK_LAYER_ETHERNET, arena);
	for (size_t i = 0; i < PORTS; i++)
		set_address(&scene, i, 0xac100002 + ((uint32_t)i % 2 << 19) + ((uint32_t)i << 8));
	scene.entries[0][1] = scene.entries[0][0];
	set_address(&scene, 0, 0xc0a80a05);
	scene.gids[0].count = 2;
	assert_networks(&scene, NULL, "172.16.0.0/22; 172.24.0.0/22; 172.16.0.0/22; 172.24.0.0/22");
	assert_false(rna_network_uses(&scene.ports[0], &scene.entries[0][0].gid));
	assert_true(rna_network_uses(&scene.ports[0], &scene.entries[0][1].gid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_planes_by_their_addresses),
		cmocka_unit_test(test_one_switch_is_no_plane),
		cmocka_unit_test(test_configured_networks),
		cmocka_unit_test(test_partitions),
		cmocka_unit_test(test_subnets),
		cmocka_unit_test(test_managers),
		cmocka_unit_test(test_vlans),
		cmocka_unit_test(test_address_beside_a_vlan),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_probes_that_prove_nothing),
		cmocka_unit_test(test_probes_about_planes),
		cmocka_unit_test(test_several_addresses),
		cmocka_unit_test(test_several_addresses_in_planes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
