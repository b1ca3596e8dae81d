// SPDX-License-Identifier: Apache-2.0
/*
 * agent/baseline and agent/rules/rules_profile.c: a node and a profile; what is found when one
 * thing of the node changes, and what is not because it cannot be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "baseline/baseline.h"
#include "health/health.h"

#include "health_view.h"

#define IB   RNA_LINK_LAYER_INFINIBAND
#define ROCE RNA_LINK_LAYER_ETHERNET
#define HEAD "version: 1\nprofiles:\n  - name: a\n"

/* -- A node and its profile -------------------------------------------------------------------- */

struct scene {
	struct rna_baseline baseline;
	struct rna_settings settings;
	struct rna_health health;
	struct rna_view *view;
};

static void open_scene(struct scene *scene, const struct node *node, const char *text)
{
	struct rna_baseline_choice *choice;
	struct rna_error error = {0};

	*scene = (struct scene){.baseline.alarms = true};
	if (rna_profiles_parse("file", text, strlen(text), &scene->baseline.profiles, NULL,
			       &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(rna_settings_init(&scene->settings), 0);
	assert_int_equal(rna_health_init(&scene->health, &scene->settings), 0);
	scene->health.once = true;
	scene->view = node_view(node);
	choice = rna_arena_alloc(scene->view->arena, sizeof(*choice));
	assert_int_equal(rna_baseline_choose(&scene->baseline, scene->view->snapshot, NULL, NULL,
					     scene->view->arena, choice),
			 0);
	scene->health.baseline = choice;
}

static void close_scene(struct scene *scene)
{
	(void)rna_view_unref(scene->view);
	rna_health_deinit(&scene->health);
	rna_settings_deinit(&scene->settings);
	rna_baseline_deinit(&scene->baseline);
}

/* The only finding about profiles; NULL: none. */
static const struct rna_finding *find(const struct rna_view *view)
{
	const struct rna_finding *found = NULL;

	for (size_t i = 0; i < view->finding_count; i++) {
		if (strncmp(view->findings[i].rule, "profile-", 8) != 0)
			continue;
		if (found)
			fail_msg("two findings: %s; %s", found->text, view->findings[i].text);
		found = &view->findings[i];
	}
	return found;
}

/* -- What differs ------------------------------------------------------------------------------ */

static void nothing(struct node *node)
{
	(void)node;
}

static void one_gone(struct node *node)
{
	node->ports[1].gone = true;
}

static void one_moved(struct node *node)
{
	one_gone(node);
	node->missing_count = 1;
	node->missing = (struct rna_missing_device){.key = "mlx5_1",
						    .name = "mlx5_1",
						    .whereabouts = RNA_WHEREABOUTS_MOVED};
}

static void one_lost(struct node *node)
{
	one_gone(node);
	node->missing_count = 1;
	node->missing = (struct rna_missing_device){.key = "mlx5_1",
						    .name = "mlx5_1",
						    .pci_address = "0000:3b:00.0",
						    .whereabouts = RNA_WHEREABOUTS_LOST};
}

static void one_down(struct node *node)
{
	node->ports[1].state = rna_value_ok(RNA_PORT_DOWN);
	node->ports[1].physical = rna_value_ok(RNA_PHYSICAL_POLLING);
	node->ports[1].gigabits = 10; /* of a port that is down it means nothing */
}

static void one_unreadable(struct node *node)
{
	node->ports[1].state = rna_value_unreadable();
}

static void one_slow(struct node *node)
{
	node->ports[1].gigabits = 200;
}

static void no_link(struct node *node)
{
	node->ports[1].link_lapsed = true;
}

static void small_mtu(struct node *node)
{
	node->ports[0].active_mtu = rna_value_ok(2048);
}

static void small_netdev_mtu(struct node *node)
{
	node->ports[0].netdev.mtu = rna_value_ok(1500);
}

static void virtual_functions(struct node *node)
{
	node->ports[2].virtual_functions = rna_value_ok(4);
}

static const struct rna_pkey pkeys[] = {{0, 0x7fff, true}, {1, 1, false}};

static void with_pkeys(struct node *node)
{
	for (size_t i = 0; i < node->count; i++) {
		node->ports[i].has_fabric = true;
		node->ports[i].fabric.pkeys_known = true;
		node->ports[i].fabric.pkey_count = 2;
		node->ports[i].fabric.pkeys = pkeys;
	}
}

static const struct rna_module modules[] = {{"ib_core", true}, {"ib_umad", false}};

static void with_modules(struct node *node)
{
	node->readiness.module_count = 2;
	node->readiness.modules = modules;
}

static void with_a_lazy_cpu(struct node *node)
{
	static const struct rna_cpu_governor governors[] = {{"performance", 63}, {"powersave", 1}};

	node->readiness.cpu_frequency = (struct rna_cpu_frequency){"intel_pstate", 2, governors};
	node->readiness.gpu_iommu = rna_value_ok(RNA_IOMMU_IDENTITY);
	node->ports[1].iommu = rna_value_ok(RNA_IOMMU_LAZY);
}

static void set_drivers(struct node *node, const char *version)
{
	node->readiness.kernel = "6.8.0-45-generic";
	for (size_t i = 0; i < node->count; i++) {
		node->ports[i].driver = "mlx5_core";
		node->ports[i].driver_version = version;
	}
}

static void with_a_package(struct node *node)
{
	set_drivers(node, "24.10-0.7.0");
	node->ports[2].driver_version = "23.10-1.1.9";
}

static void with_drivers_of_the_kernel(struct node *node)
{
	set_drivers(node, NULL);
}

static void with_transceivers(struct node *node)
{
	static const char *const vendors[] = {"Mellanox", "FS", NULL};

	for (size_t i = 0; i < node->count; i++) {
		node->ports[i].module_count = 1;
		node->ports[i].module =
			(struct rna_port_module){.netdev = node->ports[i].netdev.name,
						 .port = 1,
						 .vendor = vendors[i],
						 .part_number = i == 0 ? "MMA4Z00-NS" : "X"};
	}
}

#define ENTRY "    devices:\n      - {model: MT4129, "

static const struct {
	const char *text; /* of the profile, behind its match */
	void (*change)(struct node *node);
	const char *rule; /* NULL: no finding */
	enum rna_severity severity;
	const char *found;
} cases[] = {
	{ENTRY "count: 3, ports_up: 3, rate: 400G, lanes: 4, mtu: 4096, link_layer: InfiniBand}\n",
	 nothing, NULL, 0, NULL},
	{ENTRY "count: 3, ports_up: 3}\n", one_gone, "profile-count", RNA_SEVERITY_CRITICAL,
	 "profile a: 2 RDMA devices MT4129, expected 3 (present: mlx5_0, mlx5_2); 2 ports up of "
	 "MT4129, expected 3"},
	{ENTRY "count: 3}\n", one_lost, "profile-count", RNA_SEVERITY_CRITICAL,
	 "profile a: 2 RDMA devices MT4129, expected 3 (present: mlx5_0, mlx5_2) (absent: mlx5_1 "
	 "at "
	 "0000:3b:00.0)"},
	{ENTRY "count: 3, ports_up: 3}\n", one_moved, NULL, 0, NULL},
	{ENTRY "count: 2}\n", nothing, "profile-count", RNA_SEVERITY_WARNING,
	 "profile a: 3 RDMA devices MT4129, expected 2 (present: mlx5_0, mlx5_1, mlx5_2)"},
	{ENTRY "name: \"mlx5_[01]\", count: 2}\n", nothing, NULL, 0, NULL},
	{"    devices: [{name: eth1, rate: 400G}]\n", one_slow, "profile-port",
	 RNA_SEVERITY_WARNING, "mlx5_1/1: profile a: rate is 200 Gb/s, expected 400 Gb/s"},
	{"    devices: [{name: eth0, rate: 400G}]\n", one_slow, NULL, 0, NULL},
	{"    devices: [{model: MT4125}]\n", nothing, "profile-count", RNA_SEVERITY_WARNING,
	 "profile a: 0 RDMA devices MT4125, expected at least 1"},
	{"    devices: [{model: MT4125, count: 0}]\n", nothing, NULL, 0, NULL},
	{ENTRY "ports_up: 3}\n", one_down, "profile-count", RNA_SEVERITY_CRITICAL,
	 "profile a: 2 ports up of MT4129, expected 3 (down: mlx5_1/1)"},
	{ENTRY "ports_up: 2}\n", nothing, NULL, 0, NULL},
	{ENTRY "ports_up: 3}\n", one_unreadable, NULL, 0, NULL},
	{ENTRY "rate: 400G}\n", one_down, NULL, 0, NULL},
	{ENTRY "rate: 400G, lanes: 4}\n", no_link, NULL, 0, NULL},
	{ENTRY "mtu: 4096}\n", small_mtu, "profile-port", RNA_SEVERITY_WARNING,
	 "mlx5_0/1: profile a: active MTU is 2048, expected 4096"},
	{ENTRY "netdev_mtu: 9000}\n", small_netdev_mtu, "profile-port", RNA_SEVERITY_WARNING,
	 "mlx5_0/1: profile a: MTU of the interface is 1500, expected 9000"},
	{"    devices: [{name: mlx5_0, link_layer: Ethernet}]\n", nothing, "profile-port",
	 RNA_SEVERITY_WARNING, "mlx5_0/1: profile a: link layer is InfiniBand, expected Ethernet"},
	{"    devices: [{name: mlx5_2, virtual_functions: 0}]\n", virtual_functions,
	 "profile-device", RNA_SEVERITY_WARNING,
	 "mlx5_2: profile a: number of virtual functions is 4, expected 0"},
	{ENTRY "firmware: \"28.39.1002\", pcie_generation: 5, max_read_request: 4096}\n", nothing,
	 NULL, 0, NULL},                                                   /* none of it is known */
	{ENTRY "driver_version: \">= 24.10\"}\n", nothing, NULL, 0, NULL}, /* no driver known */
	{ENTRY "driver_version: \">= 23.10\"}\n", with_a_package, NULL, 0, NULL},
	{ENTRY "driver_version: \">= 24.10-0.7\"}\n", with_a_package, "profile-device",
	 RNA_SEVERITY_WARNING,
	 "mlx5_2: profile a: driver mlx5_core is version 23.10-1.1.9, expected >= 24.10-0.7"},
	{"    devices: [{name: mlx5_1, driver_version: \">= 24.10\"}]\n",
	 with_drivers_of_the_kernel, "profile-device", RNA_SEVERITY_WARNING,
	 "mlx5_1: profile a: driver mlx5_core has no version, as it is that of the kernel "
	 "6.8.0-45-generic, expected >= 24.10"},
	{ENTRY "module_vendors: [Mellanox]}\n", nothing, NULL, 0, NULL}, /* no module */
	{ENTRY "module_vendors: [Mellanox, \"F*\"]}\n", with_transceivers, NULL, 0, NULL},
	{ENTRY "module_vendors: [Mellanox, NVIDIA]}\n", with_transceivers, "profile-port",
	 RNA_SEVERITY_WARNING,
	 "mlx5_1/1: profile a: module vendor is FS, expected Mellanox or NVIDIA"},
	{"    devices: [{name: \"mlx5_[02]\", module_part_numbers: [\"MMA*\"]}]\n",
	 with_transceivers, "profile-port", RNA_SEVERITY_WARNING,
	 "mlx5_2/1: profile a: module part number is X, expected MMA*"},
	{ENTRY "pkeys: [0x8001]}\n", nothing, NULL, 0, NULL}, /* not known */
	{"    devices: [{name: mlx5_0, pkeys: [0xffff, 0x0001]}]\n", with_pkeys, NULL, 0, NULL},
	{"    devices: [{name: mlx5_0, pkeys: [0x8001, 0x8002]}]\n", with_pkeys, "profile-port",
	 RNA_SEVERITY_WARNING,
	 "mlx5_0/1: profile a: P_Key 0x8001 is missing; P_Key 0x8002 is missing"},
	{"    node: {gpus: 8}\n", nothing, NULL, 0, NULL},
	{"    node: {gpus: 4, modules: [ib_umad]}\n", nothing, "profile-node", RNA_SEVERITY_WARNING,
	 "profile a: 8 GPUs, expected 4"},
	{"    node: {modules: [ib_core, ib_umad|rdma_ucm]}\n", with_modules, "profile-node",
	 RNA_SEVERITY_WARNING, "profile a: module ib_umad|rdma_ucm is not loaded"},
	{"    node: {modules: [ib_umad|ib_core]}\n", with_modules, NULL, 0, NULL},
	{"    node: {acs: off, gpus_per_nic: 1}\n", nothing, NULL, 0, NULL}, /* not known */
	{"    node: {iommu: off, cpu_governor: performance}\n", nothing, NULL, 0, NULL},
	{"    node: {iommu: on, cpu_governor: \"p*\"}\n", with_a_lazy_cpu, NULL, 0, NULL},
	{"    node: {iommu: off, cpu_governor: performance}\n", with_a_lazy_cpu, "profile-node",
	 RNA_SEVERITY_WARNING,
	 "profile a: the IOMMU translates addresses of NICs or GPUs, expected off; CPUs have the "
	 "governor powersave, expected performance"},
};

static void judge(size_t i)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_finding *found;
	struct scene scene;
	struct node node;

	node_init(&node, IB, 3);
	node.gpu_count = 8;
	cases[i].change(&node);
	rna_strbuf_printf(&text, HEAD "    match: {gpus: 8}\n%s", cases[i].text);
	open_scene(&scene, &node, text.data);
	rna_health_judge(&scene.health, joined(scene.view));
	found = find(scene.view);
	if (!found != !cases[i].rule || (found && (strcmp(found->rule, cases[i].rule) != 0 ||
						   found->severity != cases[i].severity ||
						   strcmp(found->text, cases[i].found) != 0)))
		fail_msg("case %zu: %s %d \"%s\"", i, found ? found->rule : "nothing",
			 found ? (int)found->severity : -1, found ? found->text : "");
	close_scene(&scene);
}

static void test_what_differs_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++)
		judge(i);
}

/* -- Shipped profiles for information ---------------------------------------------------------- */

static void test_all_differences_are_one_information(void **state)
{
	static const char text[] =
		HEAD "    match: {gpus: 8}\n    node: {gpus: 4}\n" ENTRY "count: 4, rate: 200G}\n";
	const struct rna_finding *found;
	struct scene scene;
	struct node node;

	(void)state;
	node_init(&node, IB, 3);
	node.gpu_count = 8;
	open_scene(&scene, &node, text);
	((struct rna_baseline_choice *)(uintptr_t)scene.health.baseline)->alarms = false;
	rna_health_judge(&scene.health, joined(scene.view));
	found = find(scene.view);
	assert_non_null(found);
	assert_string_equal(found->rule, "profile-node");
	assert_int_equal(found->severity, RNA_SEVERITY_INFO);
	assert_string_equal(found->text,
			    "differs in 5 places from the shipped profile a: 8 GPUs, expected 4; "
			    "3 RDMA devices MT4129, expected 4 (present: mlx5_0, mlx5_1, mlx5_2); "
			    "mlx5_0/1: rate is 400 Gb/s, expected 200 Gb/s; and more");
	close_scene(&scene);
}

/* -- Which profile ----------------------------------------------------------------------------- */

static const struct rna_dmi dmi = {.vendor = "NVIDIA", .product = "DGXH100", .board = "DGXH100"};

static void with_dmi(struct node *node)
{
	node->readiness.dmi = dmi;
}

static void with_unreadable_dmi(struct node *node)
{
	node->readiness.dmi.unreadable = true;
}

static void without_bus(struct node *node)
{
	node->gpu_count = 0;
}

#define SECOND "  - name: b\n    match: "

static const struct {
	const char *match; /* of the first profile, and the second one */
	void (*change)(struct node *node);
	const char *profile; /* that is chosen; NULL: none */
	const char *problem; /* NULL: it cannot be decided */
} choices[] = {
	{"{gpus: 8}\n" SECOND "{gpus: 4}\n", nothing, "a", NULL},
	{"{gpus: 4}\n" SECOND "{gpus: 8}\n", nothing, "b", NULL},
	{"{product: \"DGXH1*\"}\n", with_dmi, "a", NULL},
	{"{vendor: NVIDIA, board: \"DGX?100\", gpus: 8}\n", with_dmi, "a", NULL},
	{"{product: \"DGXH200\"}\n", with_dmi, NULL,
	 "file: no profile fits this node: vendor \"NVIDIA\", product \"DGXH100\", board "
	 "\"DGXH100\", 8 GPUs 0000:0000; what does not fit: a (product)"},
	{"{product: \"DGXH1*\"}\n" SECOND "{gpus: 8}\n", with_dmi, NULL,
	 "file: the profiles a (line 3) and b (line 5) both fit this node: "},
	{"{product: \"DGXH1*\"}\n", nothing, NULL, "what does not fit: a (product)"},
	{"{product: \"DGXH1*\"}\n", with_unreadable_dmi, NULL, NULL},
	{"{product: \"DGXH1*\"}\n" SECOND "{gpus: 8}\n", with_unreadable_dmi, "b", NULL},
	{"{gpus: 8}\n", without_bus, NULL, NULL},
	{"{gpus: 8, nics: {MT4129: 0}}\n", nothing, "a", NULL},
	{"{nics: {MT4129: 8}}\n", nothing, NULL, "what does not fit: a (nics)"},
	{"{label: \"a.b/c=d\"}\n", nothing, NULL, "what does not fit: a (label)"},
};

static void choose(size_t i)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_baseline_choice *choice;
	const struct rna_finding *found;
	struct scene scene;
	struct node node;

	node_init(&node, IB, 3);
	node.gpu_count = 8;
	choices[i].change(&node);
	rna_strbuf_printf(&text, HEAD "    match: %s", choices[i].match);
	open_scene(&scene, &node, text.data);
	choice = scene.health.baseline;
	if (!choices[i].profile != !choice->profile ||
	    (choice->profile && strcmp(choice->profile->name, choices[i].profile) != 0))
		fail_msg("choice %zu: %s", i, choice->problem ? choice->problem : "");
	assert_int_equal(choice->unknown, !choices[i].profile && !choices[i].problem);
	rna_health_judge(&scene.health, joined(scene.view));
	found = find(scene.view);
	assert_int_equal(found && strcmp(found->rule, "profile-unusable") == 0,
			 choices[i].problem != NULL);
	if (found && choices[i].problem && !strstr(found->text, choices[i].problem))
		fail_msg("choice %zu: %s", i, found->text);
	close_scene(&scene);
}

static void test_the_profile_that_fits_is_chosen(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(choices); i++)
		choose(i);
}

static int has_label(const char *label, void *userdata)
{
	const int *answer = userdata;

	assert_string_equal(label, "a.b/c=d");
	return *answer;
}

static void test_labels_of_the_node(void **state)
{
	static const struct rna_profile_match match = {.label = "a.b/c=d"};
	static const struct {
		int answer;
		enum rna_profile_fit fit;
	} answers[] = {
		{1, RNA_PROFILE_FITS},
		{0, RNA_PROFILE_FITS_NOT},
		{-1, RNA_PROFILE_FIT_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(answers); i++) {
		int answer = answers[i].answer;
		struct rna_baseline_facts facts = {.has_label = has_label, .userdata = &answer};
		const char *key;

		assert_int_equal(rna_profile_match(&match, &facts, &key), answers[i].fit);
	}
}

static void test_a_file_of_no_use_is_a_finding(void **state)
{
	struct rna_baseline baseline = {0};
	struct rna_baseline_choice choice;
	const struct rna_finding *found;
	struct rna_settings settings;
	struct rna_health health;
	struct rna_view *view;
	struct node node;

	(void)state;
	node_init(&node, IB, 3);
	view = node_view(&node);
	assert_true(rna_baseline_load(&baseline, "/nowhere/profile.yaml", NULL, NULL) < 0);
	assert_int_equal(rna_baseline_choose(&baseline, view->snapshot, NULL, NULL, view->arena,
					     &choice),
			 0);
	assert_int_equal(rna_settings_init(&settings), 0);
	assert_int_equal(rna_health_init(&health, &settings), 0);
	health.once = true;
	health.baseline = &choice;
	rna_health_judge(&health, joined(view));
	found = find(view);
	assert_non_null(found);
	assert_string_equal(found->rule, "profile-unusable");
	assert_int_equal(found->severity, RNA_SEVERITY_WARNING);
	assert_string_equal(
		found->text,
		"no profile is used: /nowhere/profile.yaml: cannot open: No such file or "
		"directory");
	(void)rna_view_unref(view);
	rna_health_deinit(&health);
	rna_settings_deinit(&settings);
	rna_baseline_deinit(&baseline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_differs_is_found),
		cmocka_unit_test(test_all_differences_are_one_information),
		cmocka_unit_test(test_the_profile_that_fits_is_chosen),
		cmocka_unit_test(test_labels_of_the_node),
		cmocka_unit_test(test_a_file_of_no_use_is_a_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
