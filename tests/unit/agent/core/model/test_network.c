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
#include "rna/model/snapshot.h"
#include "rna/model/subject.h"

enum { CARDS = 2, PORTS = 4, KEYS = 2 };

/* Cards of two functions with a port each; address: the last four bytes of a mapped GID. */
struct scene {
	struct rna_view view;
	struct rna_card cards[CARDS];
	struct rna_snapshot_device devices[PORTS];
	struct rna_device rdma[PORTS];
	struct rna_identity identity;
	struct rna_port_state_value active;
	struct rna_state state;
	struct rna_gid_entry entries[PORTS];
	struct rna_port_gids gids[PORTS];
	struct rna_pkey pkeys[PORTS][KEYS];
	struct rna_port_fabric fabrics[PORTS];
	struct rna_peer peers[PORTS];
	struct rna_subject ports[PORTS];
};

static void set_up(struct scene *scene, enum rna_link_layer layer, struct rna_arena *arena)
{
	*scene = (struct scene){
		.view.arena = arena,
		.identity.node_type = RNA_NODE_TYPE_CA,
		.active = {.number = 1, .state = rna_value_ok(RNA_PORT_ACTIVE)},
		.state = {.port_count = 1, .ports = &scene->active},
	};
	for (size_t i = 0; i < PORTS; i++) {
		scene->devices[i].device = &scene->rdma[i];
		scene->devices[i].parts[RNA_COLLECTOR_STATE] = &scene->state.part;
		scene->devices[i].parts[RNA_COLLECTOR_IDENTITY] = &scene->identity.part;
		scene->gids[i] = (struct rna_port_gids){.count = 1, .entries = &scene->entries[i]};
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

static void set_address(struct scene *scene, size_t port, uint32_t address)
{
	struct rna_gid_entry *entry = &scene->entries[port];

	*entry = (struct rna_gid_entry){.type = RNA_GID_TYPE_ROCE_V2};
	memset(&entry->gid.bytes[10], 0xff, 2);
	for (size_t i = 0; i < 4; i++)
		entry->gid.bytes[12 + i] = (uint8_t)(address >> (24 - 8 * i));
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
	assert_true(rna_network_uses(&scene.ports[0], &scene.entries[2].gid));
	assert_false(rna_network_uses(&scene.ports[0], &scene.entries[1].gid));
	assert_true(rna_network_uses(&scene.ports[3], &scene.entries[1].gid));
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
		scene.entries[i].gid.bytes[0] = 0xfe;
		scene.entries[i].gid.bytes[7] = i == 3;
	}
	assert_int_equal(rna_networks_find(&scene.view, scene.ports, PORTS, NULL), 0);
	assert_ptr_equal(scene.ports[0].network, scene.ports[2].network);
	assert_ptr_not_equal(scene.ports[0].network, scene.ports[3].network);
	assert_int_equal(scene.view.networks->count, 2);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
