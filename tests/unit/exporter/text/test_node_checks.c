// SPDX-License-Identifier: Apache-2.0
/* exporter/text/node_checks.c: what "rdma-node-agent check --nodes" writes, and its exit codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/json_document.h"
#include "rna/check.h"

static const struct rna_inventory eight = {.known = true, .devices = 8, .ports = 8, .up = 8};

static const struct rna_finding slow = {
	.rule = "link-slow",
	.severity = RNA_SEVERITY_WARNING,
	.impact = RNA_IMPACT_RAIL_SLOW,
	.text = "mlx5_4/1: slow",
	.remedy = "Reseat.",
};
static const struct rna_finding unset = {
	.rule = "relaxed-ordering",
	.severity = RNA_SEVERITY_WARNING,
	.impact = RNA_IMPACT_HOST,
	.text = "the node: not set",
	.remedy = "Set it.",
};
static const struct rna_finding down = {
	.rule = "port-down",
	.severity = RNA_SEVERITY_CRITICAL,
	.impact = RNA_IMPACT_RAIL_LOST,
	.text = "mlx5_3/1: down\nok  n9  \x1b[2J",
	.remedy = "Look.",
};

enum { NODES = 6 };

struct scene {
	struct rna_arena *arena;
	struct rna_node_check nodes[NODES];
};

static void deinit_scene(struct scene *scene)
{
	(void)rna_arena_free(scene->arena);
}

static void fill(struct scene *scene, size_t i, const char *name, const struct rna_check *check)
{
	scene->nodes[i].node = name;
	scene->nodes[i].address = "10.0.0.1:10879";
	assert_int_equal(rna_node_check_fill(check, scene->arena, &scene->nodes[i]), 0);
}

static void init_scene(struct scene *scene)
{
	const struct rna_check good = {.inventory = eight};
	const struct rna_check bad = {.findings = &down, .count = 1, .inventory = eight};
	const struct rna_check slower = {.findings = &slow, .count = 1, .inventory = eight};
	const struct rna_check not_set = {.findings = &unset, .count = 1, .inventory = eight};
	const struct rna_check silent = {.failure = "http://n5: timed out"};
	const struct rna_check blind = {.inventory = {.known = true, .ports = 0}};

	*scene = (struct scene){.arena = rna_arena_new(4096)};
	assert_non_null(scene->arena);
	fill(scene, 0, "n6", &good);
	fill(scene, 1, "a-host", &not_set);
	fill(scene, 2, "n5", &silent);
	fill(scene, 3, "n3", &slower);
	fill(scene, 4, "n\x1b[31m1", &bad);
	fill(scene, 5, "n2", &blind);
}

static void test_lines(void **state)
{
	RNA_CLEANUP(deinit_scene) struct scene scene;
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	init_scene(&scene);
	rna_node_checks_sort(scene.nodes, NODES);
	rna_write_node_checks(scene.nodes, NODES, false, &out);
	assert_true(rna_strbuf_ok(&out));
	assert_string_equal(
		out.data,
		"STATE     NODE     CRITICAL  WARNING  HEADLINE\n"
		"critical  n\xef\xbf\xbd[31m1         1        0  "
		"mlx5_3/1: down\xef\xbf\xbdok  n9  \xef\xbf\xbd[2J\n"
		"unknown   n2              0        0  no RDMA port is there to be watched\n"
		"unknown   n5              -        -  http://n5: timed out\n"
		"warning   n3              0        1  mlx5_4/1: slow\n"
		"warning   a-host          0        1  the node: not set\n"
		"ok        n6              0        0  8 of 8 ports up\n"
		"6 nodes: 1 critical, 2 unknown, 2 warning, 1 ok\n");
}

static void test_exit_codes(void **state)
{
	RNA_CLEANUP(deinit_scene) struct scene scene;
	static const int expected[] = {2, 3, 3, 1, 1, 0};

	(void)state;
	init_scene(&scene);
	rna_node_checks_sort(scene.nodes, NODES);
	for (size_t i = 0; i < NODES; i++)
		assert_int_equal(rna_node_checks_exit_code(scene.nodes + i, NODES - i),
				 expected[i]);
	assert_int_equal(rna_node_checks_exit_code(scene.nodes, 0), 3);
}

static const char *text_of(const json_t *list, size_t i, const char *name)
{
	return json_string_value(json_object_get(json_array_get(list, i), name));
}

static void test_json(void **state)
{
	static const struct rna_json_limits limits = {.memory = 1 << 20, .levels = 8};
	RNA_CLEANUP(deinit_scene) struct scene scene;
	RNA_CLEANUP(rna_json_free_p) json_t *list = NULL;
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	const json_t *counts;

	(void)state;
	init_scene(&scene);
	rna_node_checks_sort(scene.nodes, NODES);
	rna_write_node_checks(scene.nodes, NODES, true, &out);
	assert_true(rna_strbuf_ok(&out));
	assert_null(strchr(out.data, '\x1b'));
	assert_int_equal(rna_json_parse(out.data, out.len, &limits, &list, NULL), 0);
	assert_int_equal(json_array_size(list), NODES);
	assert_string_equal(text_of(list, 0, "node"), scene.nodes[0].node);
	assert_string_equal(text_of(list, 0, "state"), "critical");
	assert_string_equal(text_of(list, 0, "rule"), "port-down");
	counts = json_object_get(json_array_get(list, 0), "counts");
	assert_int_equal(json_integer_value(json_object_get(counts, "critical")), 1);
	assert_string_equal(text_of(list, 2, "node"), "n5");
	assert_string_equal(text_of(list, 2, "address"), "10.0.0.1:10879");
	assert_string_equal(text_of(list, 2, "error"), "http://n5: timed out");
	assert_null(json_object_get(json_array_get(list, 2), "counts"));
	assert_string_equal(text_of(list, 5, "headline"), "8 of 8 ports up");
	assert_null(text_of(list, 5, "rule"));
}

/* A node may claim anything, of any length. */
static void test_a_long_headline_is_cut(void **state)
{
	RNA_CLEANUP(deinit_scene) struct scene scene = {.arena = rna_arena_new(4096)};
	char text[100000];
	struct rna_finding claim = down;
	const struct rna_check check = {.findings = &claim, .count = 1, .inventory = eight};

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	claim.text = text;
	fill(&scene, 0, "n1", &check);
	assert_int_equal(strlen(scene.nodes[0].headline), 512);
	assert_string_equal(scene.nodes[0].headline + 509, "...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_exit_codes),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_a_long_headline_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
