// SPDX-License-Identifier: Apache-2.0
/*
 * exporter/env: what only one library has, and the caller's environment, on hand-made ports. Texts
 * of whole nodes are in tests/machines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/strbuf.h"
#include "rna/model/card.h"

#include "env/dialect.h"

enum { PORTS_MAX = 6, ROOM = 16 };

/* A node with a port on each of some devices, and an advising for one library. */
struct node {
	struct rna_view view;
	struct rna_env_request request;
	struct rna_device devices[PORTS_MAX];
	struct rna_snapshot_device of_snapshot[PORTS_MAX];
	struct rna_subject subjects[PORTS_MAX];
	const struct rna_subject *items[PORTS_MAX];
	struct rna_env_variable variables[ROOM];
	const char *warnings[ROOM];
	struct rna_env_advising advising;
	struct rna_snapshot snapshot; /* without devices, which would follow it */
};

static void make(struct node *node, enum rna_env_library library, struct rna_arena *arena)
{
	*node = (struct node){
		.view.snapshot = &node->snapshot,
		.request = {.library = library, .gpu = RNA_ENV_NODE},
		.advising = {.view = &node->view,
			     .request = &node->request,
			     .dialect = &rna_env_dialects[library],
			     .ports.items = node->items,
			     .arena = arena,
			     .variables = node->variables,
			     .warnings = node->warnings},
	};
}

static struct rna_subject *add(struct node *node, const char *name, const char *driver)
{
	size_t i = node->advising.ports.count++;

	node->devices[i] = (struct rna_device){.name = name, .driver = driver};
	node->of_snapshot[i].device = &node->devices[i];
	node->subjects[i] = (struct rna_subject){.view = &node->view,
						 .device = &node->of_snapshot[i],
						 .port = 1,
						 .link_layer = RNA_LINK_LAYER_ETHERNET};
	node->items[i] = &node->subjects[i];
	return &node->subjects[i];
}

/* "NAME=VALUE NAME=VALUE"; "" without any. */
static void assert_variables(const struct node *node, const char *expected)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	assert_false(node->advising.failed);
	for (size_t i = 0; i < node->advising.variable_count; i++)
		rna_strbuf_printf(&text, "%s%s=%s", i > 0 ? " " : "", node->variables[i].name,
				  node->variables[i].value);
	assert_string_equal(text.data ? text.data : "", expected);
}

/* expected: part of one of them; NULL: there is none. */
static void assert_warning(const struct node *node, const char *expected)
{
	bool found = !expected;

	for (size_t i = 0; expected && i < node->advising.warning_count; i++)
		found |= strstr(node->warnings[i], expected) != NULL;
	if (!found || (!expected && node->advising.warning_count > 0))
		fail_msg("%zu warnings, first: %s", node->advising.warning_count,
			 node->advising.warning_count > 0 ? node->warnings[0] : "-");
}

/* -- NVSHMEM ----------------------------------------------------------------------------------- */

static void test_names_of_devices_for_nvshmem(void **state)
{
	static const struct {
		const char *names[2], *driver, *variables, *warning;
	} cases[] = {
		{{"mlx5_0", "mlx5_bond_1"}, "mlx5_core", "", NULL},
		{{"ibp24s0", "ibp64s0f1"}, "mlx5_core", "NVSHMEM_HCA_PREFIX=ibp", NULL},
		{{"rocep1s0", "rocep1s1"}, "mlx5_core", "NVSHMEM_HCA_PREFIX=rocep", NULL},
		{{"rail0", "rail1"}, "mlx5_core", "NVSHMEM_HCA_PREFIX=rail", NULL},
		{{"7up", "7down"}, "mlx5_core", "NVSHMEM_HCA_PREFIX=7", NULL},
		{{"mlx5_0", "rocep1s0"},
		 "mlx5_core",
		 "",
		 "1 of 2 ports are of devices without mlx5 in their name"},
		/* transports that are for mlx5 do not use it under any name */
		{{"bnxt_re0", "bnxt_re1"}, "bnxt_en", "", NULL},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		struct node node;

		make(&node, RNA_ENV_NVSHMEM, arena);
		for (size_t j = 0; j < RNA_ARRAY_SIZE(cases[i].names); j++)
			add(&node, cases[i].names[j], cases[i].driver);
		rna_env_choose_nvshmem(&node.advising);
		assert_variables(&node, cases[i].variables);
		assert_warning(&node, cases[i].warning);
	}
}

static void test_mapping_of_nvshmem(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct node node;

	(void)state;
	make(&node, RNA_ENV_NVSHMEM, arena);
	node.request.gpu = 0;
	add(&node, "mlx5_0", "mlx5_core");
	rna_env_choose_nvshmem(&node.advising);
	assert_variables(&node, "NVSHMEM_ENABLE_NIC_PE_MAPPING=1");
	make(&node, RNA_ENV_NVSHMEM, arena);
	node.request.gpu = 0;
	add(&node, "mlx5_0", "mlx5_core");
	add(&node, "mlx5_1", "mlx5_core");
	rna_env_choose_nvshmem(&node.advising);
	assert_variables(&node, ""); /* it would divide them by the number of the process */
}

/* -- UCX, NIXL and Open MPI -------------------------------------------------------------------- */

static void test_rails_of_a_gpu(void **state)
{
	static const struct {
		enum rna_env_library library;
		size_t ports;
		bool are_nearest;
		const char *variables;
	} cases[] = {
		{RNA_ENV_UCX, 2, true, ""},
		{RNA_ENV_UCX, 3, true, "UCX_MAX_RNDV_RAILS=3"},
		{RNA_ENV_UCX, 6, true, "UCX_MAX_RNDV_RAILS=4"},
		{RNA_ENV_UCX, 6, false, ""}, /* of the whole node: UCX takes the best two */
		{RNA_ENV_NIXL, 2, true, ""},
		{RNA_ENV_NIXL, 4, true, "UCX_MAX_RMA_RAILS=4"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		struct node node;

		make(&node, cases[i].library, arena);
		for (size_t j = 0; j < cases[i].ports; j++)
			add(&node, "mlx5_0", "mlx5_core");
		node.advising.ports.are_nearest = cases[i].are_nearest;
		node.advising.dialect->choose(&node.advising);
		assert_variables(&node, cases[i].variables);
	}
}

static void test_drivers_for_open_mpi(void **state)
{
	static const struct {
		const char *driver;
		enum rna_function function;
		const char *reason;
	} cases[] = {
		{"mlx5_core", 0, "goes on over TCP if UCX fails"},
		{"mlx4_core", 0, "goes on over TCP if UCX fails"},
		{NULL, 0, "goes on over TCP if UCX fails"},
		{NULL, RNA_FUNCTION_VIRTUAL, "as n1/1 is (software)"},
		{"bnxt_en", 0,
		 "prefers TCP on devices of other drivers than mlx4 and mlx5, as n1/1 is "
		 "(bnxt_en)"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		struct node node;

		make(&node, RNA_ENV_OPENMPI, arena);
		add(&node, "n0", "mlx5_core");
		add(&node, "n1", cases[i].driver);
		node.devices[1].function = cases[i].function;
		rna_env_choose_openmpi(&node.advising);
		assert_string_equal(node.variables[0].name, "OMPI_MCA_pml");
		assert_string_equal(node.variables[1].value, "^openib,uct");
		assert_non_null(strstr(node.variables[0].reason, cases[i].reason));
	}
}

/* -- UCX --------------------------------------------------------------------------------------- */

static void test_datagrams_of_ucx(void **state)
{
	static const struct {
		const char *driver;
		enum rna_function function;
		enum rna_link_layer layer;
		const char *variables;
	} cases[] = {
		{"mlx5_core", 0, RNA_LINK_LAYER_ETHERNET, ""},
		{"bnxt_en", 0, RNA_LINK_LAYER_ETHERNET, ""},
		{"hns3", 0, RNA_LINK_LAYER_ETHERNET, ""},
		{NULL, 0, RNA_LINK_LAYER_ETHERNET, ""},
		{NULL, RNA_FUNCTION_VIRTUAL, RNA_LINK_LAYER_INFINIBAND, ""},
		{NULL, RNA_FUNCTION_VIRTUAL, RNA_LINK_LAYER_ETHERNET,
		 "UCX_UD_VERBS_ETH_DGID_CHECK=n"},
		{"ice", 0, RNA_LINK_LAYER_ETHERNET, "UCX_UD_VERBS_ETH_DGID_CHECK=n"},
		{"ionic", 0, RNA_LINK_LAYER_ETHERNET, "UCX_UD_VERBS_ETH_DGID_CHECK=n"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		struct node node;

		make(&node, RNA_ENV_UCX, arena);
		add(&node, "n0", "mlx5_core");
		add(&node, "n1", cases[i].driver)->link_layer = cases[i].layer;
		node.devices[1].function = cases[i].function;
		rna_env_choose_ucx(&node.advising);
		assert_variables(&node, cases[i].variables);
	}
}

/* -- RCCL -------------------------------------------------------------------------------------- */

static void test_dma_buf_for_rccl(void **state)
{
	static const struct {
		const char *driver;
		struct rna_value peer, buffer;
		const char *variables;
	} cases[] = {
		{"amdgpu",
		 {.state = RNA_VALUE_OK},
		 {.number = 1, .state = RNA_VALUE_OK},
		 "NCCL_DMABUF_ENABLE=1"},
		{"amdgpu",
		 {.number = 1, .state = RNA_VALUE_OK},
		 {.number = 1, .state = RNA_VALUE_OK},
		 ""},
		{"amdgpu", {.state = RNA_VALUE_OK}, {.state = RNA_VALUE_OK}, ""},
		{"amdgpu", {0}, {.number = 1, .state = RNA_VALUE_OK}, ""},
		{"nvidia", {.state = RNA_VALUE_OK}, {.number = 1, .state = RNA_VALUE_OK}, ""},
		{NULL, {.state = RNA_VALUE_OK}, {.number = 1, .state = RNA_VALUE_OK}, ""},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		const struct rna_readiness readiness = {
			.gpu_driver.name = cases[i].driver,
			.gpudirect = {[RNA_GPUDIRECT_PEER_MEMORY] = cases[i].peer,
				      [RNA_GPUDIRECT_DMA_BUF] = cases[i].buffer},
		};
		struct node node;

		make(&node, RNA_ENV_RCCL, arena);
		node.snapshot.parts[RNA_COLLECTOR_READINESS] = &readiness.part;
		add(&node, "mlx5_0", "mlx5_core");
		rna_env_choose_rccl(&node.advising);
		assert_variables(&node, cases[i].variables);
	}
}

/* -- The caller's environment ------------------------------------------------------------------ */

/* Link-local addresses at 0 and 1, an IPv4 address at 3. */
static const struct rna_gid_entry entries[] = {
	{.index = 0, .gid = {{0xfe, 0x80, [15] = 1}}, .type = RNA_GID_TYPE_ROCE_V1},
	{.index = 1, .gid = {{0xfe, 0x80, [15] = 1}}, .type = RNA_GID_TYPE_ROCE_V2},
	{.index = 3, .gid = {{[10] = 0xff, 0xff, 10, 0, 0, 1}}, .type = RNA_GID_TYPE_ROCE_V2},
};
static const struct rna_port_gids gids = {.count = RNA_ARRAY_SIZE(entries), .entries = entries};
/* Without an entry at 0, as of an interface in another network namespace. */
static const struct rna_port_gids late = {.count = 1, .entries = &entries[2]};

static const char *given_name, *given_value;

static const char *get(const char *name, void *userdata)
{
	(void)userdata;
	return given_name && strcmp(name, given_name) == 0 ? given_value : NULL;
}

static void test_gids(void **state)
{
	static const struct {
		enum rna_env_library library;
		const struct rna_port_gids *gids;
		const char *name, *value; /* in the caller's environment */
		const char *variables, *warning;
	} cases[] = {
		{RNA_ENV_UCX, &gids, NULL, NULL, "", NULL},
		{RNA_ENV_UCX, &gids, "UCX_IB_GID_INDEX", "auto", "", NULL},
		{RNA_ENV_UCX, &gids, "UCX_IB_GID_INDEX", "3", "", NULL},
		{RNA_ENV_UCX, &gids, "UCX_IB_GID_INDEX", "1", "",
		 "mlx5_0/1: with the environment as it is here UCX uses GID index 1, "
		 "link-local"},
		{RNA_ENV_UCX, &gids, "NCCL_IB_GID_INDEX", "1", "", NULL},
		{RNA_ENV_UCX, &late, NULL, NULL, "UCX_IB_GID_INDEX=3", NULL},
		/* ours replaces it */
		{RNA_ENV_UCX, &late, "UCX_IB_GID_INDEX", "1", "UCX_IB_GID_INDEX=3", NULL},
		{RNA_ENV_NVSHMEM, &gids, NULL, NULL, "", NULL},
		{RNA_ENV_NVSHMEM, &late, NULL, NULL, "", NULL},
		{RNA_ENV_NVSHMEM, &gids, "NVSHMEM_IB_ADDR_FAMILY", "AF_INET6", "",
		 "NVSHMEM uses GID index 0, link-local"},
		{RNA_ENV_NVSHMEM, &gids, "NVSHMEM_IB_GID_INDEX", "", "", NULL},
		{RNA_ENV_RCCL, &gids, "NCCL_IB_GID_INDEX", "2", "",
		 "RCCL uses GID index 2, an empty entry"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		struct node node;

		make(&node, cases[i].library, arena);
		given_name = cases[i].name;
		given_value = cases[i].value;
		node.request.get = get;
		add(&node, "mlx5_0", "mlx5_core")->gids = cases[i].gids;
		rna_env_choose_gids(&node.advising);
		assert_variables(&node, cases[i].variables);
		assert_warning(&node, cases[i].warning);
	}
}

/* -- Limits ------------------------------------------------------------------------------------ */

/* UCX before 1.18 has no variable for a prefix: the warning names the index for it, if it is one.
 */
static void test_the_prefix_of_ucx(void **state)
{
	static const struct rna_gid_entry strange_first[] = {
		{.index = 0, .gid = {{0xfe, 0x80, [15] = 1}}, .type = RNA_GID_TYPE_ROCE_V2},
		{.index = 1,
		 .gid = {{[10] = 0xff, 0xff, 192, 0, 2, 1}},
		 .type = RNA_GID_TYPE_ROCE_V2},
		{.index = 4,
		 .gid = {{[10] = 0xff, 0xff, 10, 0, 0, 1}},
		 .type = RNA_GID_TYPE_ROCE_V2},
	};
	static const struct rna_port_gids fourth = {.count = 3, .entries = strange_first};
	static const struct rna_network_range range = {
		.name = "rails",
		.len = 5,
		.address = {{[10] = 0xff, 0xff, 10}},
		.bits = RNA_IPV4_BIT + 8,
	};
	static const struct rna_network network = {.name = "rails"};
	const struct rna_networks networks = {.range_count = 1, .ranges = &range};
	const struct {
		const struct rna_port_gids *other;
		const char *warning;
	} cases[] = {
		{&fourth, "before UCX 1.18 there is no UCX_IB_ROCE_SUBNETS: there set "
			  "UCX_IB_GID_INDEX=4"},
		{&gids, "there give each process ports of one GID index only"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
		struct node node;

		make(&node, RNA_ENV_UCX, arena);
		node.view.networks = &networks;
		add(&node, "mlx5_0", "mlx5_core")->gids = &fourth;
		add(&node, "mlx5_1", "mlx5_core")->gids = cases[i].other;
		node.subjects[0].network = node.subjects[1].network = &network;
		rna_env_choose_gids(&node.advising);
		assert_variables(&node, "UCX_IB_ROCE_SUBNETS=10.0.0.0/8");
		assert_warning(&node, cases[i].warning);
	}
}

static void test_each_card_keeps_ports(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct rna_card cards[2] = {0};
	struct node node;

	(void)state;
	make(&node, RNA_ENV_NCCL, arena);
	for (size_t i = 0; i < PORTS_MAX; i++)
		add(&node, "mlx5_0", "mlx5_core")->card = &cards[i == PORTS_MAX - 1];
	assert_int_equal(rna_env_ports_cut(&node.advising.ports, 8), 0);
	assert_int_equal(rna_env_ports_cut(&node.advising.ports, 3), 3);
	assert_int_equal(node.advising.ports.count, 3);
	assert_ptr_equal(node.items[0]->card, &cards[0]);
	assert_ptr_equal(node.items[1]->card, &cards[0]);
	assert_ptr_equal(node.items[2]->card, &cards[1]);
}

/* -- Mooncake ---------------------------------------------------------------------------------- */

static void test_the_gid_of_mooncake(void **state)
{
	const struct rna_gid_entry rows[] = {
		{.index = 1, .type = RNA_GID_TYPE_ROCE_V2, .gid.bytes = {0xfe, 0x80}},
		{.index = 3,
		 .type = RNA_GID_TYPE_ROCE_V2,
		 .gid.bytes = {[10] = 0xff, 0xff, 10, 0, 0, 1}},
		{.index = 5, .type = RNA_GID_TYPE_ROCE_V1, .gid.bytes = {0x20, 0x01}},
		{.index = 7, .type = RNA_GID_TYPE_ROCE_V2, .gid.bytes = {0x20, 0x01}},
	};
	struct rna_nccl_settings settings = RNA_NCCL_STANDARD;
	struct rna_port_gids table = {.entries = rows};
	unsigned index;

	(void)state;
	table.count = 1;
	(void)rna_env_mooncake_select(&table, &settings, &index);
	assert_int_equal(index, 1);
	table.count = 3; /* a private address is better than none */
	(void)rna_env_mooncake_select(&table, &settings, &index);
	assert_int_equal(index, 3);
	table.count = 4;
	(void)rna_env_mooncake_select(&table, &settings, &index);
	assert_int_equal(index, 7);
	settings.gid_index = 5;
	assert_ptr_equal(rna_env_mooncake_select(&table, &settings, &index), &rows[2]);
	table.count = 0;
	assert_null(rna_env_mooncake_select(&table, &RNA_NCCL_STANDARD, &index));
}

static void test_the_plugin_of_google(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct rna_readiness readiness = {.dmi.vendor = "Google"};
	struct node node;

	(void)state;
	make(&node, RNA_ENV_NCCL, arena);
	node.snapshot.parts[RNA_COLLECTOR_READINESS] = &readiness.part;
	add(&node, "mlx5_0", "mlx5_core");
	rna_env_choose_nccl(&node.advising);
	assert_warning(&node, "NCCL/gIB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_prefix_of_ucx),
		cmocka_unit_test(test_each_card_keeps_ports),
		cmocka_unit_test(test_the_gid_of_mooncake),
		cmocka_unit_test(test_the_plugin_of_google),
		cmocka_unit_test(test_names_of_devices_for_nvshmem),
		cmocka_unit_test(test_mapping_of_nvshmem),
		cmocka_unit_test(test_rails_of_a_gpu),
		cmocka_unit_test(test_drivers_for_open_mpi),
		cmocka_unit_test(test_datagrams_of_ucx),
		cmocka_unit_test(test_dma_buf_for_rccl),
		cmocka_unit_test(test_gids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
