// SPDX-License-Identifier: Apache-2.0
/*
 * exporter/kubernetes/node_labels.c: what a view says of each label; and label_text.c: whatever the
 * hardware says, Kubernetes takes it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "rna/kubernetes.h"

#include "health_view.h"

#define IB   RNA_LINK_LAYER_INFINIBAND
#define ROCE RNA_LINK_LAYER_ETHERNET

static const struct rna_label_options options = {
	.roce_key = "network.nvidia.com/roce",
	.roce_value = "true",
	.prefix = "rdma-node-agent/",
};

static void set_all(struct node *node, struct rna_value state)
{
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].state = state;
}

static void nothing(struct node *node)
{
	(void)node;
}

static void one_down(struct node *node)
{
	node->ports[0].state = rna_value_ok(RNA_PORT_DOWN);
}

static void all_down(struct node *node)
{
	set_all(node, rna_value_ok(RNA_PORT_DOWN));
}

static void one_unreadable(struct node *node)
{
	node->ports[0].state = rna_value_unreadable();
}

static void all_unreadable(struct node *node)
{
	set_all(node, rna_value_unreadable());
}

static void all_without_state(struct node *node)
{
	set_all(node, (struct rna_value){0});
}

static void nobody_expects(struct node *node)
{
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].expectation.expected = RNA_EXPECTED_UNKNOWN;
}

static void meant_to_be_down(struct node *node)
{
	node->ports[0].expectation.expected = RNA_EXPECTED_DOWN;
	node->ports[0].state = rna_value_ok(RNA_PORT_DOWN);
}

static void model_unread(struct node *node)
{
	node->ports[1].model_unread = true;
}

static void no_gid_table(struct node *node)
{
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].has_gids = false;
}

static void set_gids(struct node *node, size_t from, size_t count)
{
	for (size_t i = 0; i < node->count; i++) {
		node->ports[i].gids.entries = &node_gids[from];
		node->ports[i].gids.count = count;
	}
}

static void link_local_gids(struct node *node)
{
	set_gids(node, 0, 2);
}

static void roce_v1_gids(struct node *node)
{
	set_gids(node, 2, 1);
}

static void empty_gid_table(struct node *node)
{
	set_gids(node, 0, 0);
}

static void gid_of_unknown_type(struct node *node)
{
	static const struct rna_gid_entry entry = {
		.gid = {{[10] = 0xff, 0xff, 10, 0, 0, 1}},
		.type = RNA_GID_TYPE_UNKNOWN,
	};

	for (size_t i = 0; i < node->count; i++) {
		node->ports[i].gids.entries = &entry;
		node->ports[i].gids.count = 1;
	}
}

static void lost(struct node *node, enum rna_whereabouts whereabouts)
{
	node->ports[node->count - 1].gone = true;
	node->missing_count = 1;
	node->missing = (struct rna_missing_device){
		.key = "0000:19:00.0",
		.name = "mlx5_9",
		.whereabouts = whereabouts,
		.ports_expected = 1,
	};
}

static void one_lost(struct node *node)
{
	lost(node, RNA_WHEREABOUTS_LOST);
}

static void one_moved(struct node *node)
{
	lost(node, RNA_WHEREABOUTS_MOVED);
}

static void other_layer(struct node *node)
{
	node->ports[0].layer = node->ports[0].layer == IB ? ROCE : IB;
}

static void unknown_layer(struct node *node)
{
	node->ports[0].layer = RNA_LINK_LAYER_UNKNOWN;
}

static void virtual_functions(struct node *node)
{
	for (size_t i = 1; i < node->count; i++)
		node->ports[i].function = RNA_FUNCTION_VF;
}

static void representors(struct node *node)
{
	for (size_t i = 1; i < node->count; i++)
		node->ports[i].netdev.representor = true;
}

static void switch_management(struct node *node)
{
	node->ports[0].function = RNA_FUNCTION_SWITCH_MANAGEMENT;
	node->ports[0].state = rna_value_ok(RNA_PORT_DOWN);
}

static void one_slow(struct node *node)
{
	node->ports[0].gigabits = 100;
}

static void unknown_speed(struct node *node)
{
	node->ports[0].speed_name = NULL;
}

static void no_device(struct node *node)
{
	node->count = 0;
}

/* "?": unknown; "-": no label. The node has two ports, both expected to be up. */
static const struct {
	const char *what;
	enum rna_link_layer layer;
	void (*change)(struct node *node);
	enum rna_node_label_id label;
	const char *verdict;
} cases[] = {
	{"all well", ROCE, nothing, RNA_NODE_LABEL_ROCE, "true"},
	{"one port is enough", ROCE, one_down, RNA_NODE_LABEL_ROCE, "true"},
	{"all down", ROCE, all_down, RNA_NODE_LABEL_ROCE, "-"},
	{"one unreadable, one up", ROCE, one_unreadable, RNA_NODE_LABEL_ROCE, "true"},
	{"all unreadable", ROCE, all_unreadable, RNA_NODE_LABEL_ROCE, "?"},
	{"data too old", ROCE, all_without_state, RNA_NODE_LABEL_ROCE, "?"},
	{"up, and not expected to be up", ROCE, nobody_expects, RNA_NODE_LABEL_ROCE, "-"},
	{"InfiniBand", IB, nothing, RNA_NODE_LABEL_ROCE, "-"},
	{"one of two is Ethernet", IB, other_layer, RNA_NODE_LABEL_ROCE, "true"},
	{"link layer not read", IB, unknown_layer, RNA_NODE_LABEL_ROCE, "?"},
	{"no GID table read", ROCE, no_gid_table, RNA_NODE_LABEL_ROCE, "?"},
	{"link-local GIDs only", ROCE, link_local_gids, RNA_NODE_LABEL_ROCE, "-"},
	{"RoCE v1 only", ROCE, roce_v1_gids, RNA_NODE_LABEL_ROCE, "-"},
	{"empty GID table", ROCE, empty_gid_table, RNA_NODE_LABEL_ROCE, "-"},
	{"GID of unknown type", ROCE, gid_of_unknown_type, RNA_NODE_LABEL_ROCE, "?"},
	{"one lost", ROCE, one_lost, RNA_NODE_LABEL_ROCE, "true"},
	{"no device", ROCE, no_device, RNA_NODE_LABEL_ROCE, "-"},
	{"InfiniBand", IB, nothing, RNA_NODE_LABEL_LINK_LAYERS, "infiniband"},
	{"RoCE", ROCE, nothing, RNA_NODE_LABEL_LINK_LAYERS, "ethernet"},
	{"both", ROCE, other_layer, RNA_NODE_LABEL_LINK_LAYERS, "ethernet-infiniband"},
	{"layer not read", ROCE, unknown_layer, RNA_NODE_LABEL_LINK_LAYERS, "?"},
	{"no device", ROCE, no_device, RNA_NODE_LABEL_LINK_LAYERS, "-"},
	{"all well", IB, nothing, RNA_NODE_LABEL_PORTS_UP, "2"},
	{"one down", IB, one_down, RNA_NODE_LABEL_PORTS_UP, "1"},
	{"all down", IB, all_down, RNA_NODE_LABEL_PORTS_UP, "0"},
	{"one unreadable", IB, one_unreadable, RNA_NODE_LABEL_PORTS_UP, "?"},
	{"one lost", IB, one_lost, RNA_NODE_LABEL_PORTS_UP, "1"},
	{"one in a container", IB, one_moved, RNA_NODE_LABEL_PORTS_UP, "?"},
	{"VFs do not count", IB, virtual_functions, RNA_NODE_LABEL_PORTS_UP, "1"},
	{"nor what stands for them", ROCE, representors, RNA_NODE_LABEL_PORTS_UP, "1"},
	{"nor what manages switches", IB, switch_management, RNA_NODE_LABEL_PORTS_UP, "1"},
	{"no device", IB, no_device, RNA_NODE_LABEL_PORTS_UP, "-"},
	{"all well", IB, nothing, RNA_NODE_LABEL_PORTS_EXPECTED, "2"},
	{"one lost is expected", IB, one_lost, RNA_NODE_LABEL_PORTS_EXPECTED, "2"},
	{"down on purpose", IB, meant_to_be_down, RNA_NODE_LABEL_PORTS_EXPECTED, "1"},
	{"not expected to be up", IB, nobody_expects, RNA_NODE_LABEL_PORTS_EXPECTED, "0"},
	{"all well", IB, nothing, RNA_NODE_LABEL_NIC_MODEL, "ConnectX-7"},
	{"no device", IB, no_device, RNA_NODE_LABEL_NIC_MODEL, "-"},
	{"vendor or device of one not read", IB, model_unread, RNA_NODE_LABEL_NIC_MODEL, "?"},
	{"vendor or device of one not read", IB, model_unread, RNA_NODE_LABEL_FIRMWARE, "?"},
	{"no PCI tree yet", IB, nothing, RNA_NODE_LABEL_SR_IOV, "?"},
	{"no PCI tree yet", IB, nothing, RNA_NODE_LABEL_RAILS, "?"},
	{"no PCI tree yet", IB, nothing, RNA_NODE_LABEL_RATE_SLOWEST, "?"},
	{"no PCI tree yet", IB, nothing, RNA_NODE_LABEL_RATE_TOTAL, "?"},
	{"no PCI tree yet, all down", IB, all_down, RNA_NODE_LABEL_RATE_SLOWEST, "-"},
	{"no device", IB, no_device, RNA_NODE_LABEL_RAILS, "-"},
	{"all well", IB, nothing, RNA_NODE_LABEL_HEALTH, "ok"},
	{"all unreadable", IB, all_unreadable, RNA_NODE_LABEL_HEALTH, "?"},
	{"no device", IB, no_device, RNA_NODE_LABEL_HEALTH, "-"},
};

static void decide(struct node *node, const struct rna_label_options *how,
		   struct rna_node_verdict verdicts[RNA_NODE_LABEL_COUNT])
{
	struct rna_view *view = node_view(node);

	assert_int_equal(rna_node_labels_decide(joined(view), how, verdicts), 0);
	(void)rna_view_unref(view);
}

static const char *text_of(const struct rna_node_verdict *verdict)
{
	return verdict->kind == RNA_VERDICT_UNKNOWN ? "?"
	       : verdict->kind == RNA_VERDICT_NONE  ? "-"
						    : verdict->value;
}

static void node_of_two(struct node *node, enum rna_link_layer layer)
{
	node_init(node, layer, 2);
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].expectation =
			(struct rna_expectation){RNA_EXPECTED_UP, RNA_EXPECTATION_REMEMBERED};
}

static void test_decisions(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_node_verdict verdicts[RNA_NODE_LABEL_COUNT];
		struct node node;

		node_of_two(&node, cases[i].layer);
		cases[i].change(&node);
		decide(&node, &options, verdicts);
		if (strcmp(text_of(&verdicts[cases[i].label]), cases[i].verdict) != 0)
			fail_msg("%s, %s: %s, should be %s", cases[i].what,
				 rna_node_label_name(cases[i].label),
				 text_of(&verdicts[cases[i].label]), cases[i].verdict);
	}
}

static void test_health_by_findings(void **state)
{
	static const struct {
		enum rna_severity severity;
		bool silenced;
		const char *verdict;
	} findings[] = {
		{RNA_SEVERITY_INFO, false, "ok"},
		{RNA_SEVERITY_WARNING, false, "warning"},
		{RNA_SEVERITY_WARNING, true, "ok"},
		{RNA_SEVERITY_CRITICAL, false, "critical"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(findings); i++) {
		const struct rna_finding finding = {.rule = "port-down",
						    .severity = findings[i].severity,
						    .silenced = findings[i].silenced,
						    .text = "it is so"};
		struct rna_node_verdict verdicts[RNA_NODE_LABEL_COUNT];
		struct rna_view *view;
		struct node node;

		node_of_two(&node, IB);
		view = node_view(&node);
		view->findings = &finding;
		view->finding_count = 1;
		assert_int_equal(rna_node_labels_decide(joined(view), &options, verdicts), 0);
		assert_string_equal(text_of(&verdicts[RNA_NODE_LABEL_HEALTH]), findings[i].verdict);
		(void)rna_view_unref(view);
	}
}

static void test_firmware_only_where_all_agree(void **state)
{
	static const struct {
		const char *first, *second, *verdict;
	} versions[] = {
		{"28.39.1002", "28.39.1002", "28.39.1002"},
		{"28.39.1002", "28.40.1000", "-"},
		{"28.39.1002", NULL, "-"},
		{"fw 1 (beta)", "fw 1 (beta)", "fw-1-beta"},
		{":::", ":::", "-"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(versions); i++) {
		const char *const texts[] = {versions[i].first, versions[i].second};
		struct rna_node_verdict verdicts[RNA_NODE_LABEL_COUNT];
		struct rna_view *view;
		struct node node;

		node_of_two(&node, IB);
		view = node_view(&node);
		for (size_t d = 0; d < 2; d++) {
			struct rna_identity *identity =
				own_part(view->snapshot->devices[d].parts[RNA_COLLECTOR_IDENTITY]);

			identity->firmware_version = texts[d];
		}
		assert_int_equal(rna_node_labels_decide(joined(view), &options, verdicts), 0);
		assert_string_equal(text_of(&verdicts[RNA_NODE_LABEL_FIRMWARE]),
				    versions[i].verdict);
		(void)rna_view_unref(view);
	}
}

static void test_rails_and_virtual_functions(void **state)
{
	enum { LAG = 1 }; /* a member, of the first NIC */
	static const char *device[] = {"mlx5_0"};
	static const struct rna_pci_object object = {0};
	static const struct {
		struct rna_nic nics[3];
		const char *rails, *sr_iov;
	} trees[] = {
		{{{.rail = 0, .device_count = 1}, {.rail = 1, .device_count = 1}, {.rail = -1}},
		 "2",
		 "false"},
		{{{.rail = 0, .device_count = 1},
		  {.rail = 0, .lag = LAG, .device_count = 1},
		  {.rail = 1, .device_count = 1}},
		 "2",
		 "false"}, /* members of a LAG share one */
		{{{.rail = -1, .device_count = 1, .virtual_functions = 8},
		  {.rail = -1},
		  {.rail = -1}},
		 "-",
		 "true"},
		{{{.rail = -1, .device_count = 1},
		  {.rail = -1, .virtual_functions = 8},
		  {.rail = -1}},
		 "-",
		 "false"}, /* of a NIC without RDMA */
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(trees); i++) {
		struct rna_topology *topology =
			rna_part_new(RNA_COLLECTOR_TOPOLOGY, sizeof(*topology), 256);
		struct rna_nic nics[RNA_ARRAY_SIZE(trees[i].nics)];
		struct rna_node_verdict verdicts[RNA_NODE_LABEL_COUNT];
		struct rna_view *view;
		struct node node;

		assert_non_null(topology);
		memcpy(nics, trees[i].nics, sizeof(nics));
		for (size_t n = 0; n < RNA_ARRAY_SIZE(nics); n++) {
			nics[n].devices = device;
			nics[n].lag = nics[n].lag == LAG ? 0 : -1;
		}
		topology->objects = &object;
		topology->object_count = 1;
		topology->nics = nics;
		topology->nic_count = RNA_ARRAY_SIZE(nics);
		node_of_two(&node, IB);
		view = node_view(&node);
		own_snapshot(view)->parts[RNA_COLLECTOR_TOPOLOGY] = &topology->part;
		assert_int_equal(rna_node_labels_decide(joined(view), &options, verdicts), 0);
		assert_string_equal(text_of(&verdicts[RNA_NODE_LABEL_RAILS]), trees[i].rails);
		assert_string_equal(text_of(&verdicts[RNA_NODE_LABEL_SR_IOV]), trees[i].sr_iov);
		(void)rna_view_unref(view);
	}
}

static void storage_is_slow(struct node *node)
{
	node->ports[2].gigabits = 100;
}

static void storage_is_of_no_known_speed(struct node *node)
{
	node->ports[2].speed_name = NULL;
}

static void storage_is_unreadable(struct node *node)
{
	node->ports[2].state = rna_value_unreadable();
}

static void storage_alone_is_up(struct node *node)
{
	storage_is_slow(node);
	node->ports[0].state = node->ports[1].state = rna_value_ok(RNA_PORT_DOWN);
}

/* NCCL's own transport takes no port, as with EFA. */
static void all_iwarp(struct node *node)
{
	storage_is_slow(node);
	for (size_t i = 0; i < node->count; i++)
		node->ports[i].iwarp = true;
}

/* Two rails, and a NIC that is none: by the GPU, or as it is slower and of another model. */
static struct rna_part *tree_of(size_t gpus)
{
	static const char *const names[] = {"mlx5_0", "mlx5_1", "mlx5_2"};
	static const struct rna_pci_object object = {0};
	static const unsigned nearest[] = {0, 1};
	static const struct rna_gpu gpu = {0};
	static const struct rna_gpu_affinity affinity = {.nearest_count = 2,
							 .nearest = nearest,
							 .path = RNA_PATH_PXB};
	struct rna_topology *topology =
		rna_part_new(RNA_COLLECTOR_TOPOLOGY, sizeof(*topology), 256);
	struct rna_nic *nics = rna_arena_array(topology->part.arena, 3, sizeof(*nics));

	for (int i = 0; i < 3; i++)
		nics[i] = (struct rna_nic){.device_count = 1,
					   .devices = (const char **)(uintptr_t)&names[i],
					   .lag = -1,
					   .rail = i < 2 ? i : -1};
	topology->objects = &object;
	topology->object_count = 1;
	topology->nics = nics;
	topology->nic_count = 3;
	topology->gpus = &gpu;
	topology->gpu_count = gpus;
	topology->affinities = &affinity;
	return &topology->part;
}

static void expect_label(const char *what, const struct rna_node_verdict *verdicts,
			 enum rna_node_label_id label, const char *wanted)
{
	if (strcmp(text_of(&verdicts[label]), wanted) != 0)
		fail_msg("%s, %s: %s, should be %s", what, rna_node_label_name(label),
			 text_of(&verdicts[label]), wanted);
}

static void test_rates_of_rails(void **state)
{
	static const struct {
		const char *what;
		void (*change)(struct node *node);
		size_t gpus;
		bool other_model; /* the third NIC */
		const char *slowest, *total;
	} nodes[] = {
		{"all well", nothing, 1, false, "400", "800"},
		{"a slow rail", one_slow, 1, false, "100", "500"},
		{"a rail is down", one_down, 1, false, "400", "400"},
		{"slow storage is no rail", storage_is_slow, 1, false, "400", "800"},
		{"whatever its speed", storage_is_of_no_known_speed, 1, false, "400", "800"},
		{"a rail of no known speed", unknown_speed, 1, false, "?", "?"},
		{"a port that is unreadable", storage_is_unreadable, 1, false, "?", "?"},
		{"no rail is up", storage_alone_is_up, 1, false, "-", "-"},
		{"all down", all_down, 1, false, "-", "-"},
		{"no GPU, another model", storage_is_slow, 0, true, "400", "800"},
		{"NCCL can use none", all_iwarp, 1, false, "400", "800"},
		{"no GPU, the same model", storage_is_slow, 0, false, "100", "800"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(nodes); i++) {
		struct rna_node_verdict verdicts[RNA_NODE_LABEL_COUNT];
		struct rna_device *third;
		struct rna_view *view;
		struct node node;

		node_init(&node, ROCE, 3);
		nodes[i].change(&node);
		view = node_view(&node);
		own_snapshot(view)->parts[RNA_COLLECTOR_TOPOLOGY] = tree_of(nodes[i].gpus);
		third = (struct rna_device *)(uintptr_t)view->snapshot->devices[2].device;
		if (nodes[i].other_model)
			third->device_id = 0x1751;
		assert_int_equal(rna_node_labels_decide(joined(view), &options, verdicts), 0);
		expect_label(nodes[i].what, verdicts, RNA_NODE_LABEL_RATE_SLOWEST,
			     nodes[i].slowest);
		expect_label(nodes[i].what, verdicts, RNA_NODE_LABEL_RATE_TOTAL, nodes[i].total);
		(void)rna_view_unref(view);
	}
}

/* Two NICs for storage are more than the one that jobs use. */
static void test_the_model_is_that_of_rails(void **state)
{
	struct rna_node_verdict verdicts[RNA_NODE_LABEL_COUNT];
	struct rna_part *tree = tree_of(1);
	struct rna_view *view;
	struct node node;

	(void)state;
	((struct rna_nic *)(uintptr_t)((struct rna_topology *)tree)->nics)[0].rail = -1;
	node_init(&node, ROCE, 3);
	view = node_view(&node);
	own_snapshot(view)->parts[RNA_COLLECTOR_TOPOLOGY] = tree;
	for (size_t i = 0; i < 3; i += 2)
		((struct rna_device *)(uintptr_t)view->snapshot->devices[i].device)->device_id =
			0x101d;
	assert_int_equal(rna_node_labels_decide(joined(view), &options, verdicts), 0);
	assert_string_equal(text_of(&verdicts[RNA_NODE_LABEL_NIC_MODEL]), "ConnectX-7");
	(void)rna_view_unref(view);
}

static void test_gpudirect(void **state)
{
	static const struct {
		size_t gpus;
		const char *driver;
		enum rna_gpudirect_state state;
		const char *verdict;
	} nodes[] = {
		{8, "nvidia", RNA_GPUDIRECT_READY, "true"},
		{8, "nvidia", RNA_GPUDIRECT_READY_FOR_NEWER, "true"},
		{8, "nvidia", RNA_GPUDIRECT_NOT_READY, "false"},
		{8, "nvidia", RNA_GPUDIRECT_IMPOSSIBLE, "false"},
		{8, "nvidia", RNA_GPUDIRECT_UNKNOWN, "?"},
		{8, "amdgpu", RNA_GPUDIRECT_NOT_SEEN, "?"},
		{8, NULL, RNA_GPUDIRECT_UNKNOWN, "-"},
		{0, "nvidia", RNA_GPUDIRECT_READY, "?"}, /* no PCI tree yet */
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(nodes); i++) {
		struct rna_node_verdict verdicts[RNA_NODE_LABEL_COUNT];
		struct rna_view *view;
		struct node node;

		node_of_two(&node, IB);
		node.gpu_count = nodes[i].gpus;
		node.readiness.gpu_driver.name = nodes[i].driver;
		node.readiness.gpudirect_state = nodes[i].state;
		view = node_view(&node);
		assert_int_equal(rna_node_labels_decide(joined(view), &options, verdicts), 0);
		assert_string_equal(text_of(&verdicts[RNA_NODE_LABEL_GPUDIRECT]), nodes[i].verdict);
		(void)rna_view_unref(view);
	}
}

/* What an error has left out may be what a label is about: it takes none away. */
static void test_read_errors(void **state)
{
	struct rna_node_verdict verdicts[RNA_NODE_LABEL_COUNT];
	struct rna_view *view;
	struct node node;

	(void)state;
	node_of_two(&node, ROCE);
	empty_gid_table(&node);
	view = node_view(&node);
	for (size_t d = 0; d < 2; d++) {
		const struct rna_snapshot_device *device = &view->snapshot->devices[d];
		struct rna_identity *identity = own_part(device->parts[RNA_COLLECTOR_IDENTITY]);

		identity->firmware_version = NULL;
		rna_part_count_error(&identity->part, EIO);
		rna_part_count_error(own_part(device->parts[RNA_COLLECTOR_GIDS]), EIO);
	}
	assert_int_equal(rna_node_labels_decide(joined(view), &options, verdicts), 0);
	assert_string_equal(text_of(&verdicts[RNA_NODE_LABEL_ROCE]), "?");
	assert_string_equal(text_of(&verdicts[RNA_NODE_LABEL_FIRMWARE]), "?");
	(void)rna_view_unref(view);
}

/* A NIC has ports: one without is one whose ports could not be listed. */
static void test_ports_that_are_not_seen(void **state)
{
	static const enum rna_node_label_id labels[] = {
		RNA_NODE_LABEL_ROCE,     RNA_NODE_LABEL_LINK_LAYERS,  RNA_NODE_LABEL_PORTS_UP,
		RNA_NODE_LABEL_RAILS,    RNA_NODE_LABEL_RATE_SLOWEST, RNA_NODE_LABEL_RATE_TOTAL,
		RNA_NODE_LABEL_GPUDIRECT};
	struct rna_node_verdict verdicts[RNA_NODE_LABEL_COUNT];
	struct rna_view *view;
	struct node node;

	(void)state;
	node_of_two(&node, ROCE);
	view = node_view(&node);
	for (size_t d = 0; d < 2; d++)
		((struct rna_device *)(uintptr_t)view->snapshot->devices[d].device)->port_count = 0;
	assert_int_equal(rna_node_labels_decide(joined(view), &options, verdicts), 0);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(labels); i++)
		assert_string_equal(text_of(&verdicts[labels[i]]), "?");
	(void)rna_view_unref(view);
}

/* Without presence the devices are unknown: everything is unknown. */
static void test_nothing_known(void **state)
{
	struct rna_node_verdict verdicts[RNA_NODE_LABEL_COUNT];
	struct rna_view *view;
	struct node node;

	(void)state;
	node_of_two(&node, ROCE);
	node.count = 0;
	view = node_view(&node);
	own_snapshot(view)->parts[RNA_COLLECTOR_PRESENCE] =
		rna_part_unref(view->snapshot->parts[RNA_COLLECTOR_PRESENCE]);
	assert_int_equal(rna_node_labels_decide(joined(view), &options, verdicts), 0);
	for (enum rna_node_label_id id = 0; id < RNA_NODE_LABEL_COUNT; id++)
		assert_int_equal(verdicts[id].kind, RNA_VERDICT_UNKNOWN);
	(void)rna_view_unref(view);
}

static void test_keys(void **state)
{
	struct rna_label_options how = options;
	char key[RNA_LABEL_KEY_MAX + 1];

	(void)state;
	rna_node_label_key(RNA_NODE_LABEL_ROCE, &how, key);
	assert_string_equal(key, "network.nvidia.com/roce");
	rna_node_label_key(RNA_NODE_LABEL_HEALTH, &how, key);
	assert_string_equal(key, "rdma-node-agent/health");
	how.prefix = "rdma.example.com"; /* the slash may be left out */
	rna_node_label_key(RNA_NODE_LABEL_HEALTH, &how, key);
	assert_string_equal(key, "rdma.example.com/health");
}

/* All keys of the table are legal names. */
static void test_names(void **state)
{
	(void)state;
	for (enum rna_node_label_id id = 0; id < RNA_NODE_LABEL_COUNT; id++)
		assert_true(rna_label_value_is_legal(rna_node_label_name(id)));
}

static const char *long_text(size_t len)
{
	static char text[512];

	assert_true(len < sizeof(text));
	memset(text, 'a', len);
	text[len] = '\0';
	return text;
}

static void test_values_made_legal(void **state)
{
	static const struct {
		const char *text, *value; /* NULL: nothing is left */
	} texts[] = {
		{"ConnectX-7", "ConnectX-7"},
		{"28.39.1002", "28.39.1002"},
		{"a b  c", "a-b-c"},
		{"-x-", "x"},
		{"..x..", "x"},
		{"__x", "x"},
		{"a--b", "a--b"},
		{"1070:fd03:0000:0001", "1070-fd03-0000-0001"},
		{"", NULL},
		{":/ \xff\n", NULL},
		{"\xc3\xa4x", "x"},
		{"x\xc3\xa4", "x"},
	};
	char value[RNA_LABEL_NAME_MAX + 1];

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++) {
		assert_int_equal(rna_label_value_make(texts[i].text, value),
				 texts[i].value != NULL);
		assert_string_equal(value, texts[i].value ? texts[i].value : "");
	}
	assert_true(rna_label_value_make(long_text(500), value));
	assert_int_equal(strlen(value), RNA_LABEL_NAME_MAX);
}

/* Whatever bytes come in, what comes out is legal; and what is legal comes out as it was. */
static void test_values_of_any_bytes(void **state)
{
	static const char common[] = "aZ0-_. :/";
	char value[RNA_LABEL_NAME_MAX + 1];

	(void)state;
	srandom(1);
	for (unsigned round = 0; round < 100000; round++) {
		char text[128];
		size_t len = (size_t)random() % sizeof(text);

		for (size_t i = 0; i < len; i++)
			text[i] =
				(char)(round % 2 ? random() % 255 + 1
						 : common[(size_t)random() % (sizeof(common) - 1)]);
		text[len < sizeof(text) ? len : len - 1] = '\0';
		if (rna_label_value_make(text, value))
			assert_true(*value);
		else
			assert_string_equal(value, "");
		assert_true(rna_label_value_is_legal(value));
		if (*text && rna_label_value_is_legal(text))
			assert_string_equal(value, text);
	}
}

static void test_legal_values(void **state)
{
	(void)state;
	assert_true(rna_label_value_is_legal(""));
	assert_true(rna_label_value_is_legal(long_text(63)));
	assert_false(rna_label_value_is_legal(long_text(64)));
	assert_false(rna_label_value_is_legal("-a"));
	assert_false(rna_label_value_is_legal("a."));
	assert_false(rna_label_value_is_legal("a b"));
	assert_false(rna_label_value_is_legal("a/b"));
}

static void test_names_of_labels_are_checked(void **state)
{
	static const struct {
		const char *key, *value, *prefix;
		const char *wrong; /* what the message begins with; NULL: all is well */
	} names[] = {
		{"network.nvidia.com/roce", "true", "rdma-node-agent/", NULL},
		{"network.nvidia.com/roce", "true", "rdma.example.com", NULL},
		{"roce", "true", "rdma-node-agent", "kubernetes.roce_key: \"roce\""},
		{"/roce", "true", "rdma-node-agent", "kubernetes.roce_key"},
		{"a/b/c", "true", "rdma-node-agent", "kubernetes.roce_key"},
		{"Nvidia.com/roce", "true", "rdma-node-agent", "kubernetes.roce_key"},
		{"nvidia.com/", "true", "rdma-node-agent", "kubernetes.roce_key"},
		{"node.kubernetes.io/roce", "true", "rdma-node-agent", "kubernetes.roce_key"},
		{"nvidia.com/roce", "", "rdma-node-agent", "kubernetes.roce_value"},
		{"nvidia.com/roce", "yes, it can", "rdma-node-agent", "kubernetes.roce_value"},
		{"nvidia.com/roce", "true", "", "kubernetes.label_prefix"},
		{"nvidia.com/roce", "true", "/", "kubernetes.label_prefix"},
		{"nvidia.com/roce", "true", "a//", "kubernetes.label_prefix"},
		{"nvidia.com/roce", "true", "a..b", "kubernetes.label_prefix"},
		{"nvidia.com/roce", "true", "-a", "kubernetes.label_prefix"},
		{"nvidia.com/roce", "true", "A", "kubernetes.label_prefix"},
		{"nvidia.com/roce", "true", "k8s.io", "kubernetes.label_prefix"},
		{"nvidia.com/roce", "true", "x.k8s.io/", "kubernetes.label_prefix"},
		{"nvidia.com/roce", "true", "mykubernetes.io", NULL},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(names); i++) {
		struct rna_error error = {0};
		int ret = rna_label_key_check("kubernetes.roce_key", names[i].key, &error);

		if (ret == 0)
			ret = rna_label_value_check("kubernetes.roce_value", names[i].value,
						    &error);
		if (ret == 0)
			ret = rna_label_prefix_check("kubernetes.label_prefix", names[i].prefix,
						     &error);
		assert_int_equal(ret, names[i].wrong ? -EINVAL : 0);
		if (names[i].wrong && !strstr(error.text, names[i].wrong))
			fail_msg("\"%s\", should begin with %s", error.text, names[i].wrong);
	}
	assert_int_equal(rna_label_key_check("x", long_text(400), NULL), -EINVAL);
}

static void test_labels_that_the_node_has(void **state)
{
	static const struct rna_node_label labels[] = {{"site/tests", "allowed"},
						       {"site/tests-too", "no"},
						       {"empty", ""}};
	const struct rna_kubernetes_status node = {.label_count = 3, .labels = labels};
	static const struct {
		const char *label;
		bool has;
	} asked[] = {
		{"site/tests", true},
		{"site/tests=allowed", true},
		{"site/tests=allow", false},
		{"site/tests=", false},
		{"site/test", false},
		{"site/tests-too=no", true},
		{"empty", true},
		{"empty=", true},
		{"empty=x", false},
		{"allowed", false},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(asked); i++)
		if (rna_kubernetes_has_label(&node, asked[i].label) != asked[i].has)
			fail_msg("%s", asked[i].label);
	assert_false(rna_kubernetes_has_label(NULL, "empty"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decisions),
		cmocka_unit_test(test_health_by_findings),
		cmocka_unit_test(test_firmware_only_where_all_agree),
		cmocka_unit_test(test_rates_of_rails),
		cmocka_unit_test(test_the_model_is_that_of_rails),
		cmocka_unit_test(test_gpudirect),
		cmocka_unit_test(test_read_errors),
		cmocka_unit_test(test_ports_that_are_not_seen),
		cmocka_unit_test(test_rails_and_virtual_functions),
		cmocka_unit_test(test_nothing_known),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_values_made_legal),
		cmocka_unit_test(test_values_of_any_bytes),
		cmocka_unit_test(test_legal_values),
		cmocka_unit_test(test_names_of_labels_are_checked),
		cmocka_unit_test(test_labels_that_the_node_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
