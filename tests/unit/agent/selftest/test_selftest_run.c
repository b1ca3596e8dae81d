// SPDX-License-Identifier: Apache-2.0
/* agent/selftest/run: options of a request, what comes of them, and how good it is. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "selftest/run.h"

#include "health_view.h"

#define GBIT 125000000ULL /* bytes per second */

/* -- Options ----------------------------------------------------------------------------------- */

static int parse(enum rna_selftest_option key, const char *value,
		 struct rna_selftest_options *options, struct rna_error *error)
{
	const char *values[RNA_SELFTEST_OPTION_COUNT] = {NULL};

	values[key] = value;
	return rna_selftest_options_parse(values, options, error);
}

static void test_options(void **state)
{
	struct rna_selftest_options options;

	(void)state;
	assert_int_equal(parse(RNA_SELFTEST_OPTION_DEVICE, "mlx5_0:1", &options, NULL), 0);
	assert_string_equal(options.device, "mlx5_0:1");
	assert_int_equal(options.numa_node, -1);
	assert_int_equal(options.size, 0);
	assert_false(options.force);
	assert_int_equal(parse(RNA_SELFTEST_OPTION_NUMA, "0", &options, NULL), 0);
	assert_int_equal(options.numa_node, 0);
	assert_int_equal(parse(RNA_SELFTEST_OPTION_SIZE, "8388608", &options, NULL), 0);
	assert_int_equal(options.size, 8 << 20);
	assert_int_equal(parse(RNA_SELFTEST_OPTION_QPS, "16", &options, NULL), 0);
	assert_int_equal(options.qps, 16);
	assert_int_equal(parse(RNA_SELFTEST_OPTION_DURATION, "500ms", &options, NULL), 0);
	assert_int_equal(options.duration, 500 * RNA_USEC_PER_MSEC);
	assert_int_equal(parse(RNA_SELFTEST_OPTION_FORCE, "", &options, NULL), 0);
	assert_true(options.force);
}

static void test_options_without_sense(void **state)
{
	static const struct {
		enum rna_selftest_option key;
		const char *value, *says;
	} cases[] = {
		{RNA_SELFTEST_OPTION_NUMA, "-1", "--numa: \"-1\" is not a number from 0 to 1023"},
		{RNA_SELFTEST_OPTION_NUMA, "1024",
		 "--numa: \"1024\" is not a number from 0 to 1023"},
		{RNA_SELFTEST_OPTION_SIZE, "63",
		 "--size: \"63\" is not a number from 64 to 8388608"},
		{RNA_SELFTEST_OPTION_SIZE, "64k",
		 "--size: \"64k\" is not a number from 64 to 8388608"},
		{RNA_SELFTEST_OPTION_QPS, "0", "--qps: \"0\" is not a number from 1 to 16"},
		{RNA_SELFTEST_OPTION_QPS, "17", "--qps: \"17\" is not a number from 1 to 16"},
		{RNA_SELFTEST_OPTION_DURATION, "0s",
		 "--duration: \"0s\" is not a duration up to 1m, such as 500ms"},
		{RNA_SELFTEST_OPTION_DURATION, "2m",
		 "--duration: \"2m\" is not a duration up to 1m, such as 500ms"},
		{RNA_SELFTEST_OPTION_DURATION, "long",
		 "--duration: \"long\" is not a duration up to 1m, such as 500ms"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_selftest_options options;
		struct rna_error error = {0};

		assert_int_equal(parse(cases[i].key, cases[i].value, &options, &error), -EINVAL);
		assert_string_equal(error.text, cases[i].says);
	}
}

/* -- Plans ------------------------------------------------------------------------------------- */

static int plan(struct node *node, const struct rna_selftest_options *options,
		struct rna_selftest_runs *runs, struct rna_error *error)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = node_view(node);

	assert_int_equal(rna_settings_init(&settings), 0);
	return rna_selftest_plan(joined(view), &settings, options, runs, error);
}

static void test_plans_by_name(void **state)
{
	static const struct {
		const char *device;
		size_t count; /* 0: no port fits */
	} cases[] = {
		{NULL, 3},      {"mlx5_1", 1},    {"mlx5_1/1", 1}, {"mlx5_1:1", 1}, {"mlx5_1/2", 0},
		{"mlx5_1/", 0}, {"mlx5_1/1x", 0}, {"mlx5", 0},     {"mlx5_10", 0},  {"", 0},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		const struct rna_selftest_options options = {.device = cases[i].device,
							     .numa_node = -1};
		RNA_CLEANUP(rna_selftest_runs_deinit) struct rna_selftest_runs runs = {0};
		struct rna_error error = {0};
		struct node node;

		node_init(&node, RNA_LINK_LAYER_ETHERNET, 3);
		assert_int_equal(plan(&node, &options, &runs, &error),
				 cases[i].count ? 0 : -ENODEV);
		assert_int_equal(runs.count, cases[i].count);
	}
}

static void test_plans_without_a_port(void **state)
{
	const struct rna_selftest_options options = {.numa_node = -1};
	RNA_CLEANUP(rna_selftest_runs_deinit) struct rna_selftest_runs runs = {0};
	struct rna_error error = {0};
	struct node node;

	(void)state;
	node_init(&node, RNA_LINK_LAYER_ETHERNET, 0);
	assert_int_equal(plan(&node, &options, &runs, &error), -ENODEV);
	assert_string_equal(error.text, "this node has no RDMA port to test");
}

static void test_plans_as_asked(void **state)
{
	const struct rna_selftest_options options = {.device = "mlx5_0",
						     .numa_node = 1,
						     .size = 4096,
						     .qps = 2,
						     .duration = RNA_USEC_PER_SEC,
						     .force = true};
	RNA_CLEANUP(rna_selftest_runs_deinit) struct rna_selftest_runs runs = {0};
	struct node node;

	(void)state;
	node_init(&node, RNA_LINK_LAYER_ETHERNET, 1);
	assert_int_equal(plan(&node, &options, &runs, NULL), 0);
	assert_int_equal(runs.count, 1);
	assert_true(runs.items[0].on_demand && runs.items[0].special);
	assert_int_equal(runs.items[0].request.memory_node, 1);
	assert_int_equal(runs.items[0].request.size, 4096);
	assert_int_equal(runs.items[0].request.qps, 2);
	assert_int_equal(runs.items[0].request.time_limit, RNA_USEC_PER_SEC);
	assert_true(runs.items[0].request.bytes == UINT64_MAX);
	assert_false(runs.items[0].request.gate);
	assert_int_equal(runs.items[0].expected, 400 * GBIT);
}

/* What is asked for is bound by the setting, unless its duration says how much it is. */
static void test_plans_with_large_writes(void **state)
{
	struct rna_selftest_options options = {.device = "mlx5_0",
					       .numa_node = -1,
					       .size = 8 << 20};
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	RNA_CLEANUP(rna_selftest_runs_deinit) struct rna_selftest_runs runs = {0};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = NULL;
	struct rna_error error = {0};
	struct node node;

	(void)state;
	node_init(&node, RNA_LINK_LAYER_ETHERNET, 1);
	view = node_view(&node);
	assert_int_equal(rna_settings_init(&settings), 0);
	settings.selftest_bytes = 15;
	assert_int_equal(rna_selftest_plan(joined(view), &settings, &options, &runs, &error),
			 -EINVAL);
	assert_string_equal(error.text,
			    "--size 8388608: a test writes at least twice, and selftest.bytes is "
			    "15 MiB; use a smaller size, or --duration instead of the byte limit");
	settings.selftest_bytes = 16;
	assert_int_equal(rna_selftest_plan(joined(view), &settings, &options, &runs, &error), 0);
	settings.selftest_bytes = 15;
	options.duration = RNA_USEC_PER_SEC;
	assert_int_equal(rna_selftest_plan(joined(view), &settings, &options, &runs, &error), 0);
}

/* Longer than usual is still as usual; each other options is not. */
static void test_what_is_special(void **state)
{
	static const struct {
		struct rna_selftest_options options;
		bool special;
	} cases[] = {
		{{.numa_node = -1}, false},
		{{.numa_node = -1, .device = "mlx5_0"}, false},
		{{.numa_node = -1, .duration = RNA_USEC_PER_SEC}, false},
		{{.numa_node = 0}, true},
		{{.numa_node = -1, .gpu = "0000:1b:00.0"}, true},
		{{.numa_node = -1, .size = 65536}, true},
		{{.numa_node = -1, .qps = 4}, true},
		{{.numa_node = -1, .force = true}, true},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(rna_selftest_runs_deinit) struct rna_selftest_runs runs = {0};
		struct node node;

		node_init(&node, RNA_LINK_LAYER_ETHERNET, 1);
		assert_int_equal(plan(&node, &cases[i].options, &runs, NULL), 0);
		assert_int_equal(runs.items[0].special, cases[i].special);
	}
}

/* What cannot be tested is in the plan, with its reason. */
static void test_plans_of_what_cannot_be(void **state)
{
	const struct rna_selftest_options options = {.numa_node = -1};
	RNA_CLEANUP(rna_selftest_runs_deinit) struct rna_selftest_runs runs = {0};
	struct node node;

	(void)state;
	node_init(&node, RNA_LINK_LAYER_ETHERNET, 1);
	node.ports[0].state = rna_value_ok(RNA_PORT_DOWN);
	assert_int_equal(plan(&node, &options, &runs, NULL), 0);
	assert_int_equal(runs.items[0].result.end, RNA_LOOPBACK_SKIPPED);
	assert_int_equal(runs.items[0].result.skip, RNA_SKIP_NOT_ACTIVE);
	assert_string_equal(runs.items[0].result.text, "mlx5_0/1: The port is not ACTIVE.");
}

/* -- Grades ------------------------------------------------------------------------------------ */

static struct rna_selftest_run done(unsigned gigabits, unsigned expected)
{
	return (struct rna_selftest_run){
		.request = {.size = 65536, .qps = 4},
		.result = {.end = RNA_LOOPBACK_DONE, .bandwidth = gigabits * GBIT},
		.expected = expected * GBIT,
	};
}

static void judge(struct rna_selftest_run *runs, size_t count)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};

	assert_int_equal(rna_settings_init(&settings), 0);
	rna_selftest_judge_all(runs, count, &settings);
}

static void test_grades(void **state)
{
	struct rna_selftest_run runs[] = {done(390, 400), done(350, 400), done(300, 400),
					  done(30, 0),    done(0, 400),   done(0, 400)};

	(void)state;
	runs[4].result.end = RNA_LOOPBACK_SKIPPED;
	runs[5].result.end = RNA_LOOPBACK_CORRUPT;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(runs); i++)
		runs[i].request.size = 64U << i; /* no siblings */
	judge(runs, RNA_ARRAY_SIZE(runs));
	assert_int_equal(runs[0].grade, RNA_GRADE_OK);
	assert_int_equal(runs[1].grade, RNA_GRADE_WARNING);
	assert_int_equal(runs[2].grade, RNA_GRADE_FAILED);
	assert_int_equal(runs[3].grade, RNA_GRADE_NONE);
	assert_int_equal(runs[4].grade, RNA_GRADE_NONE);
	assert_int_equal(runs[5].grade, RNA_GRADE_FAILED);
}

static void test_siblings(void **state)
{
	struct rna_selftest_run three[] = {done(395, 400), done(394, 400), done(362, 400)};
	struct rna_selftest_run two[] = {done(395, 400), done(362, 400)};
	struct rna_selftest_run others[] = {done(395, 400), done(394, 400), done(362, 400)};
	struct rna_selftest_run unknown[] = {done(40, 0), done(41, 0), done(10, 0)};

	(void)state;
	judge(three, 3);
	assert_int_equal(three[1].grade, RNA_GRADE_OK);
	assert_int_equal(three[2].grade, RNA_GRADE_WARNING);
	judge(two, 2); /* two have no median */
	assert_int_equal(two[1].grade, RNA_GRADE_OK);
	others[2].request.endpoint = RNA_ENDPOINT_REMOTE;
	judge(others, 3);
	assert_int_equal(others[2].grade, RNA_GRADE_OK);
	judge(unknown, 3); /* software devices are slow as they like */
	assert_int_equal(unknown[2].grade, RNA_GRADE_NONE);
}

static void test_exit_codes(void **state)
{
	struct rna_selftest_run runs[] = {done(390, 400), done(350, 400), done(300, 400),
					  done(0, 400)};

	(void)state;
	runs[0].grade = RNA_GRADE_OK;
	runs[1].grade = RNA_GRADE_WARNING;
	runs[2].grade = RNA_GRADE_FAILED;
	runs[3].result.end = RNA_LOOPBACK_SKIPPED;
	assert_int_equal(rna_selftest_sum_up(runs, 1), RNA_SELFTEST_OK);
	assert_int_equal(rna_selftest_sum_up(runs, 2), RNA_SELFTEST_WARNING);
	assert_int_equal(rna_selftest_sum_up(runs, 4), RNA_SELFTEST_FAILED);
	assert_int_equal(rna_selftest_sum_up(&runs[3], 1), RNA_SELFTEST_UNKNOWN);
	assert_int_equal(rna_selftest_sum_up(NULL, 0), RNA_SELFTEST_UNKNOWN);
	runs[3] = done(30, 0); /* measured */
	assert_int_equal(rna_selftest_sum_up(&runs[3], 1), RNA_SELFTEST_OK);
}

/* -- No result --------------------------------------------------------------------------------- */

static void test_a_child_without_a_result(void **state)
{
	struct rna_selftest_run run = {.request = {.device = "mlx5_0", .port = 1}};
	struct rna_error error = {0};

	(void)state;
	(void)rna_error_say(&error, -ETIMEDOUT, "the loopback test did not end in time");
	rna_selftest_run_fail(&run, &error, false);
	assert_int_equal(run.result.end, RNA_LOOPBACK_FAILED);
	assert_string_equal(run.result.text,
			    "mlx5_0/1: the loopback test did not end in time; it is "
			    "stuck in the kernel");
	/* another running test is not a failure */
	(void)rna_error_say(&error, -EBUSY, "another self-test runs on this node");
	rna_selftest_run_fail(&run, &error, true);
	assert_int_equal(run.result.end, RNA_LOOPBACK_SKIPPED);
	assert_int_equal(run.result.skip, RNA_SKIP_LOCKED);
	assert_string_equal(run.result.text, "mlx5_0/1: another self-test runs on this node");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_options_without_sense),
		cmocka_unit_test(test_plans_by_name),
		cmocka_unit_test(test_plans_without_a_port),
		cmocka_unit_test(test_plans_as_asked),
		cmocka_unit_test(test_plans_with_large_writes),
		cmocka_unit_test(test_what_is_special),
		cmocka_unit_test(test_plans_of_what_cannot_be),
		cmocka_unit_test(test_grades),
		cmocka_unit_test(test_siblings),
		cmocka_unit_test(test_exit_codes),
		cmocka_unit_test(test_a_child_without_a_result),
	};

	(void)unshare(
		CLONE_NEWNET); /* other tests that run now must not hold the lock; root only */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
