// SPDX-License-Identifier: Apache-2.0
/* agent/selftest_plan: which ports are tested, with which request, and what is expected of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "selftest/plan.h"

#include "health_view.h"

#define GBIT 125000000ULL /* bytes per second */

#define IB   RNA_LINK_LAYER_INFINIBAND
#define ROCE RNA_LINK_LAYER_ETHERNET

/* A node of two ports, of which the first one is looked at. */
struct scene {
	struct rna_settings settings;
	struct node node;
	enum rna_node_type node_type;
	struct rna_view *view;
	const struct rna_subject *subject;
};

static void set_up(struct scene *scene)
{
	*scene = (struct scene){.node_type = RNA_NODE_TYPE_CA};
	assert_int_equal(rna_settings_init(&scene->settings), 0);
	node_init(&scene->node, ROCE, 2);
}

/* After set_up() and what the test has changed. */
static void look(struct scene *scene)
{
	struct rna_identity *identity;

	scene->view = node_view(&scene->node);
	identity = (struct rna_identity *)(uintptr_t)rna_device_identity(
		&scene->view->snapshot->devices[0]);
	identity->node_type = scene->node_type;
	scene->subject = &rna_view_ports(joined(scene->view))->items[0];
}

static void tear_down(struct scene *scene)
{
	(void)rna_view_unref(scene->view);
	rna_settings_deinit(&scene->settings);
}

/* -- Whether ----------------------------------------------------------------------------------- */

static void vf(struct scene *scene)
{
	scene->node.ports[0].function = RNA_FUNCTION_VF;
}

static void sf(struct scene *scene)
{
	scene->node.ports[0].function = RNA_FUNCTION_SF;
}

static void switch_management(struct scene *scene)
{
	scene->node.ports[0].function = RNA_FUNCTION_SWITCH_MANAGEMENT;
}

static void software(struct scene *scene)
{
	scene->node.ports[0].function = RNA_FUNCTION_VIRTUAL;
}

static void iwarp(struct scene *scene)
{
	scene->node_type = RNA_NODE_TYPE_RNIC;
}

static void efa(struct scene *scene)
{
	scene->node_type = RNA_NODE_TYPE_UNSPECIFIED;
}

/* An old kernel, or an incomplete recording, has no node_type. */
static void infiniband_without_type(struct scene *scene)
{
	scene->node_type = RNA_NODE_TYPE_UNKNOWN;
	scene->node.ports[0].layer = IB;
}

static void roce_without_type(struct scene *scene)
{
	scene->node_type = RNA_NODE_TYPE_UNKNOWN;
	scene->node.ports[0].driver = "mlx5_core";
}

static void roce_or_iwarp(struct scene *scene)
{
	scene->node_type = RNA_NODE_TYPE_UNKNOWN;
	scene->node.ports[0].driver = "ice";
}

static void no_driver_and_no_type(struct scene *scene)
{
	scene->node_type = RNA_NODE_TYPE_UNKNOWN;
	scene->node.ports[0].driver = NULL;
}

static void iwarp_of_a_driver_of_roce(struct scene *scene)
{
	roce_without_type(scene);
	iwarp(scene);
}

static void down(struct scene *scene)
{
	scene->node.ports[0].state = rna_value_ok(RNA_PORT_DOWN);
}

static void init(struct scene *scene)
{
	scene->node.ports[0].state = rna_value_ok(RNA_PORT_INIT);
}

static void active_defer(struct scene *scene)
{
	scene->node.ports[0].state = rna_value_ok(RNA_PORT_ACTIVE_DEFER);
}

static void state_not_known(struct scene *scene)
{
	scene->node.ports[0].state = (struct rna_value){0};
}

static void stalled(struct scene *scene)
{
	scene->node.ports[0].stalled = RNA_USEC_PER_SEC;
}

static void other_stalled(struct scene *scene)
{
	scene->node.ports[1].stalled = RNA_USEC_PER_SEC;
}

static void changed_just_now(struct scene *scene)
{
	scene->node.ports[0].history.last.monotonic = scene->node.now.monotonic - RNA_USEC_PER_SEC;
}

static void changed_long_ago(struct scene *scene)
{
	scene->node.ports[0].history.last.monotonic =
		scene->node.now.monotonic - scene->settings.selftest_quiet;
}

static void other_changed(struct scene *scene)
{
	scene->node.ports[1].history.last.monotonic = scene->node.now.monotonic;
}

static void turned_off(struct scene *scene)
{
	scene->settings.selftest_enabled = false;
}

/* The node's now is a Friday, 09:20 UTC. */
static void in_window(struct scene *scene)
{
	static char window[] = "daily 09:00-10:00", *windows[] = {window, NULL};

	scene->settings.selftest_window = windows;
}

static void outside_of_window(struct scene *scene)
{
	static char window[] = "daily 02:00-04:00", *windows[] = {window, NULL};

	scene->settings.selftest_window = windows;
}

static void window_of_others(struct scene *scene)
{
	static char window[] = "daily 09:00-10:00 mlx5_1", *windows[] = {window, NULL};

	scene->settings.selftest_window = windows;
}

static void vf_that_is_down(struct scene *scene)
{
	vf(scene);
	down(scene);
}

static void well(struct scene *scene)
{
	(void)scene;
}

static void test_whether(void **state)
{
	static const struct {
		void (*change)(struct scene *scene);
		enum rna_skip by_turn, on_demand;
	} cases[] = {
		{well, RNA_SKIP_NONE, RNA_SKIP_NONE},
		{software, RNA_SKIP_NONE, RNA_SKIP_NONE}, /* measured, and not judged */
		{vf, RNA_SKIP_VIRTUAL, RNA_SKIP_VIRTUAL},
		{sf, RNA_SKIP_VIRTUAL, RNA_SKIP_VIRTUAL},
		{vf_that_is_down, RNA_SKIP_VIRTUAL, RNA_SKIP_VIRTUAL},
		{switch_management, RNA_SKIP_MANAGEMENT, RNA_SKIP_MANAGEMENT},
		{iwarp, RNA_SKIP_TRANSPORT, RNA_SKIP_TRANSPORT},
		{efa, RNA_SKIP_TRANSPORT, RNA_SKIP_TRANSPORT},
		{infiniband_without_type, RNA_SKIP_NONE, RNA_SKIP_NONE},
		{roce_without_type, RNA_SKIP_NONE, RNA_SKIP_NONE},
		{roce_or_iwarp, RNA_SKIP_TRANSPORT, RNA_SKIP_TRANSPORT},
		{no_driver_and_no_type, RNA_SKIP_TRANSPORT, RNA_SKIP_TRANSPORT},
		{iwarp_of_a_driver_of_roce, RNA_SKIP_TRANSPORT, RNA_SKIP_TRANSPORT},
		{down, RNA_SKIP_NOT_ACTIVE, RNA_SKIP_NOT_ACTIVE},
		{init, RNA_SKIP_NOT_ACTIVE, RNA_SKIP_NOT_ACTIVE},
		{active_defer, RNA_SKIP_NONE, RNA_SKIP_NONE},
		{state_not_known, RNA_SKIP_NOT_ACTIVE, RNA_SKIP_NOT_ACTIVE},
		{stalled, RNA_SKIP_STALLED, RNA_SKIP_STALLED},
		{other_stalled, RNA_SKIP_NONE, RNA_SKIP_NONE},
		{changed_just_now, RNA_SKIP_RECENT_CHANGE, RNA_SKIP_NONE},
		{changed_long_ago, RNA_SKIP_NONE, RNA_SKIP_NONE},
		{other_changed, RNA_SKIP_NONE, RNA_SKIP_NONE},
		{turned_off, RNA_SKIP_DISABLED, RNA_SKIP_NONE},
		{in_window, RNA_SKIP_NONE, RNA_SKIP_NONE},
		{outside_of_window, RNA_SKIP_WINDOW, RNA_SKIP_NONE},
		{window_of_others, RNA_SKIP_WINDOW, RNA_SKIP_NONE},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_time now;
		struct scene scene;

		set_up(&scene);
		cases[i].change(&scene);
		look(&scene);
		now = scene.node.now;
		if (rna_selftest_look(scene.subject, &scene.settings, &now, false) !=
			    cases[i].by_turn ||
		    rna_selftest_look(scene.subject, &scene.settings, &now, true) !=
			    cases[i].on_demand)
			fail_msg("case %zu: %s, %s", i,
				 rna_skip_name(rna_selftest_look(scene.subject, &scene.settings,
								 &now, false)),
				 rna_skip_name(rna_selftest_look(scene.subject, &scene.settings,
								 &now, true)));
		scene.settings.selftest_window = NULL;
		tear_down(&scene);
	}
}

static void test_each_reason_has_a_meaning(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RNA_SKIP_COUNT; i++) {
		const char *meaning = rna_skip_meaning(i);

		assert_non_null(meaning);
		assert_int_equal(meaning[strlen(meaning) - 1], '.');
	}
	assert_string_equal(rna_skip_meaning(RNA_SKIP_COUNT), "?");
}

/* -- What -------------------------------------------------------------------------------------- */

static struct rna_loopback_request request_of(struct scene *scene, enum rna_endpoint endpoint)
{
	struct rna_loopback_request request;

	look(scene);
	assert_true(rna_selftest_request(scene->subject, &scene->settings, endpoint, &request));
	return request;
}

static void test_request(void **state)
{
	struct rna_loopback_request request;
	struct scene scene;

	(void)state;
	set_up(&scene);
	request = request_of(&scene, RNA_ENDPOINT_LOCAL);
	assert_string_equal(request.device, "mlx5_0");
	assert_int_equal(request.port, 1);
	assert_int_equal(request.gid_index, 3); /* RoCE v2, IPv4 */
	assert_int_equal(request.endpoint, RNA_ENDPOINT_LOCAL);
	assert_int_equal(request.memory_node, 0);
	assert_int_equal(request.size, 65536);
	assert_int_equal(request.qps, 4); /* of 400 Gb/s */
	assert_int_equal(request.depth, 128);
	assert_int_equal(request.bytes, 64 << 20);
	assert_int_equal(request.time_limit, 200000);
	assert_true(request.latency_rounds > 0);
	assert_true(request.gate);
	assert_int_equal(request.busy_rate, 10000000);
	tear_down(&scene);
}

static void test_request_by_link(void **state)
{
	struct rna_loopback_request request;
	struct scene scene;

	(void)state;
	set_up(&scene);
	node_init(&scene.node, IB, 2);
	scene.node.ports[0].gigabits = 200;
	request = request_of(&scene, RNA_ENDPOINT_LOCAL);
	assert_int_equal(request.gid_index, -1); /* by LID */
	assert_int_equal(request.qps, 1);
	tear_down(&scene);

	set_up(&scene);
	scene.settings.selftest_queue_pairs = 2;
	request = request_of(&scene, RNA_ENDPOINT_LOCAL);
	assert_int_equal(request.qps, 2);
	assert_int_equal(request.relaxed_ordering, 1);
	tear_down(&scene);

	set_up(&scene);
	scene.settings.selftest_relaxed_ordering = false;
	request = request_of(&scene, RNA_ENDPOINT_LOCAL);
	assert_int_equal(request.relaxed_ordering, 0);
	tear_down(&scene);
}

/* What is under way stays the same, within reason. */
static void test_depth_follows_size(void **state)
{
	static const struct {
		unsigned size, depth;
	} cases[] = {{64, 128}, {65536, 128}, {262144, 128}, {1 << 20, 32}, {8 << 20, 4}};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_loopback_request request = {0};

		rna_selftest_set_size(&request, cases[i].size);
		assert_int_equal(request.size, cases[i].size);
		assert_int_equal(request.depth, cases[i].depth);
	}
}

/* Two sockets with a NIC and a GPU each. */
static void set_topology(struct scene *scene)
{
	static const char *devices[] = {"mlx5_0"};
	static struct rna_pci_object objects[] = {
		{.address = "0000:1a:00.0", .numa_node = 0},
		{.address = "0000:1b:00.0", .numa_node = 0},
		{.address = "0000:9b:00.0", .numa_node = 1},
	};
	static const struct rna_gpu gpus[] = {{.object = 1}, {.object = 2}};
	static const struct rna_nic nics[] = {
		{.object = 0, .device_count = 1, .devices = devices, .lag = -1}};
	static const struct rna_gpu_affinity affinities[] = {{.nic = 0}, {.nic = -1}};
	struct rna_topology *topology =
		node_part(&scene->node, RNA_COLLECTOR_TOPOLOGY, sizeof(*topology));

	topology->object_count = RNA_ARRAY_SIZE(objects);
	topology->objects = objects;
	topology->gpu_count = RNA_ARRAY_SIZE(gpus);
	topology->gpus = gpus;
	topology->nic_count = RNA_ARRAY_SIZE(nics);
	topology->nics = nics;
	topology->affinities = affinities;
	own_snapshot(scene->view)->parts[RNA_COLLECTOR_TOPOLOGY] = &topology->part;
}

static void test_memory_of_others(void **state)
{
	struct rna_loopback_request request;
	struct rna_device *device;
	struct scene scene;

	(void)state;
	set_up(&scene);
	look(&scene);
	/* one socket, as far as is known */
	assert_false(rna_selftest_request(scene.subject, &scene.settings, RNA_ENDPOINT_REMOTE,
					  &request));
	assert_false(
		rna_selftest_request(scene.subject, &scene.settings, RNA_ENDPOINT_GPU, &request));
	set_topology(&scene);
	assert_true(rna_selftest_request(scene.subject, &scene.settings, RNA_ENDPOINT_REMOTE,
					 &request));
	assert_int_equal(request.memory_node, 1);
	assert_true(
		rna_selftest_request(scene.subject, &scene.settings, RNA_ENDPOINT_GPU, &request));
	assert_string_equal(request.gpu, "0000:1b:00.0");
	assert_int_equal(request.latency_rounds, 0); /* the CPU does not see it arrive */
	/* where the NIC is at is not known: nothing is remote */
	device = (struct rna_device *)(uintptr_t)scene.subject->device->device;
	device->numa_node = -1;
	assert_false(rna_selftest_request(scene.subject, &scene.settings, RNA_ENDPOINT_REMOTE,
					  &request));
	assert_true(
		rna_selftest_request(scene.subject, &scene.settings, RNA_ENDPOINT_LOCAL, &request));
	assert_int_equal(request.memory_node, -1);
	tear_down(&scene);
}

/* -- How good ---------------------------------------------------------------------------------- */

static const struct rna_pcie_hop narrow[] = {
	{"0000:18:00.0", RNA_PCI_NIC,
	 .link = {{16000, RNA_VALUE_OK},
		  {8, RNA_VALUE_OK},
		  {16000, RNA_VALUE_OK},
		  {8, RNA_VALUE_OK}}},
	{"0000:15:01.0", RNA_PCI_ROOT_PORT,
	 .link = {{16000, RNA_VALUE_OK},
		  {8, RNA_VALUE_OK},
		  {16000, RNA_VALUE_OK},
		  {8, RNA_VALUE_OK}}},
};

static void test_expected(void **state)
{
	struct scene scene;
	uint64_t path;

	(void)state;
	set_up(&scene);
	look(&scene);
	assert_int_equal(rna_selftest_expected(scene.subject), 400 * GBIT); /* path not known */
	tear_down(&scene);

	set_up(&scene);
	memcpy(scene.node.ports[0].hops, narrow, sizeof(narrow));
	scene.node.ports[0].hop_count = RNA_ARRAY_SIZE(narrow);
	look(&scene);
	path = rna_pcie_path_rate(rna_device_pcie(scene.subject->device)).number;
	assert_true(path > 0 && path < 400 * GBIT);
	assert_int_equal(rna_selftest_expected(scene.subject), path);
	tear_down(&scene);

	set_up(&scene);
	memcpy(scene.node.ports[0].hops, narrow, sizeof(narrow));
	scene.node.ports[0].hop_count = RNA_ARRAY_SIZE(narrow);
	scene.node.ports[0].gigabits = 25; /* the link is the lesser one */
	look(&scene);
	assert_int_equal(rna_selftest_expected(scene.subject), 25 * GBIT);
	tear_down(&scene);

	set_up(&scene);
	software(&scene); /* what rxe calls its rate is made up */
	look(&scene);
	assert_int_equal(rna_selftest_expected(scene.subject), 0);
	tear_down(&scene);
}

static void test_limits_by_rate(void **state)
{
	static char slow[] = "25=70/50", fast[] = "400=97/95", *list[] = {fast, slow, NULL};
	static const struct {
		uint64_t gigabits;
		unsigned ok, warning;
	} cases[] = {
		{10, 900, 800}, {25, 700, 500}, {399, 700, 500}, {400, 970, 950}, {800, 970, 950}};
	struct scene scene;

	(void)state;
	set_up(&scene);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_selftest_limits limits;

		scene.settings.selftest_limits = list;
		limits = rna_selftest_limits_for(&scene.settings, cases[i].gigabits * GBIT);
		assert_int_equal(limits.ok, cases[i].ok);
		assert_int_equal(limits.warning, cases[i].warning);
		assert_int_equal(limits.siblings, 930);
	}
	scene.settings.selftest_limits = NULL;
	tear_down(&scene);
}

/* A result that a vendor lets pass is ok; its sources are in agent/selftest/plan.c. */
static void test_marks_of_vendors(void **state)
{
	static const struct {
		double reached; /* Gb/s */
		uint64_t expected;
		enum rna_grade grade;
	} cases[] = {
		{175, 200, RNA_GRADE_OK},      {174.9, 200, RNA_GRADE_WARNING},
		{155, 200, RNA_GRADE_WARNING}, {154.9, 200, RNA_GRADE_FAILED},
		{360, 400, RNA_GRADE_OK},      {359, 400, RNA_GRADE_WARNING},
		{319, 400, RNA_GRADE_FAILED},  {78, 100, RNA_GRADE_OK},
		{77, 100, RNA_GRADE_WARNING},  {67, 100, RNA_GRADE_FAILED},
		{720, 800, RNA_GRADE_OK},      {22.5, 25, RNA_GRADE_OK},
		{22.4, 25, RNA_GRADE_WARNING}, {19.9, 25, RNA_GRADE_FAILED},
		{221, 252, RNA_GRADE_OK}, /* 400 Gb/s behind a PCIe path of 252 */
	};
	struct rna_settings settings = {0};

	(void)state;
	assert_int_equal(rna_settings_init(&settings), 0);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		uint64_t expected = cases[i].expected * GBIT;
		struct rna_selftest_limits limits = rna_selftest_limits_for(&settings, expected);
		enum rna_grade grade = rna_selftest_judge((uint64_t)(cases[i].reached * GBIT),
							  expected, 0, &limits);

		if (grade != cases[i].grade)
			fail_msg("%g of %u Gb/s is %s", cases[i].reached,
				 (unsigned)cases[i].expected, rna_grade_name(grade));
	}
	rna_settings_deinit(&settings);
}

static void test_marks_of_the_settings(void **state)
{
	static const struct {
		unsigned set_ok, set_warning;
		unsigned ok, warning; /* of 100 Gb/s */
	} cases[] = {
		{0, 0, 780, 680},  {95, 0, 950, 850}, {95, 60, 950, 600},
		{0, 60, 780, 600}, {0, 85, 780, 780}, /* not above the mark */
		{5, 0, 50, 0},
	};
	struct rna_settings settings = {0};

	(void)state;
	assert_int_equal(rna_settings_init(&settings), 0);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_selftest_limits limits;

		settings.selftest_ok = cases[i].set_ok;
		settings.selftest_warning = cases[i].set_warning;
		limits = rna_selftest_limits_for(&settings, 100 * GBIT);
		assert_int_equal(limits.ok, cases[i].ok);
		assert_int_equal(limits.warning, cases[i].warning);
	}
	rna_settings_deinit(&settings);
}

static void test_limits_that_make_no_sense(void **state)
{
	static const char *const bad[] = {"",           "400",        "400=95",
					  "400=80/95",  "0=95/85",    "400=101/85",
					  "400=95/85x", "-400=95/85", " 400=95/85"};

	(void)state;
	assert_true(rna_selftest_limit_is_valid("400=95/85"));
	assert_true(rna_selftest_limit_is_valid("25=100/0"));
	for (size_t i = 0; i < RNA_ARRAY_SIZE(bad); i++)
		if (rna_selftest_limit_is_valid(bad[i]))
			fail_msg("\"%s\" is taken", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whether),
		cmocka_unit_test(test_each_reason_has_a_meaning),
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_request_by_link),
		cmocka_unit_test(test_depth_follows_size),
		cmocka_unit_test(test_memory_of_others),
		cmocka_unit_test(test_expected),
		cmocka_unit_test(test_limits_by_rate),
		cmocka_unit_test(test_marks_of_vendors),
		cmocka_unit_test(test_marks_of_the_settings),
		cmocka_unit_test(test_limits_that_make_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
