// SPDX-License-Identifier: Apache-2.0
/* agent/core/model, probe: histograms and counts of probes, and their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/probe.h"

static void test_bounds_include_themselves_and_ascend(void **state)
{
	struct rna_probe_rtt rtt = {0};

	(void)state;
	for (size_t i = 1; i < RNA_PROBE_RTT_BOUNDS; i++)
		assert_true(rna_probe_rtt_bounds[i - 1] < rna_probe_rtt_bounds[i]);
	assert_int_equal(rna_probe_rtt_bounds[0], 1000);
	assert_int_equal(rna_probe_rtt_bounds[RNA_PROBE_RTT_BOUNDS - 1], 1000000000);
	rna_probe_rtt_add(&rtt, 1000);
	rna_probe_rtt_add(&rtt, 1001);
	rna_probe_rtt_add(&rtt, 1000000001);
	assert_int_equal(rtt.counts[0], 1);
	assert_int_equal(rtt.counts[1], 1);
	assert_int_equal(rtt.counts[RNA_PROBE_RTT_BOUNDS], 1);
	assert_int_equal(rtt.sum, 1000002002);
	rna_probe_rtt_merge(&rtt, &rtt);
	assert_int_equal(rtt.counts[RNA_PROBE_RTT_BOUNDS], 2);
	assert_int_equal(rtt.sum, 2000004004);
}

static void test_counts_add_up(void **state)
{
	struct rna_probe_counts sum = {1, 2, 3, 4, 5, 6, 7, 8};
	const struct rna_probe_counts other = {10, 20, 30, 40, 50, 60, 70, 80};
	const struct rna_probe_counts expected = {11, 22, 33, 44, 55, 66, 77, 88};

	(void)state;
	rna_probe_counts_merge(&sum, &other);
	assert_memory_equal(&sum, &expected, sizeof(sum));
}

static void test_ports_are_found_by_device_and_number(void **state)
{
	const struct rna_probe_port ports[] = {{.device = "mlx5_0", .port = 1},
					       {.device = "mlx5_0", .port = 2}};
	const struct rna_probes probes = {.port_count = 2, .ports = ports};

	(void)state;
	assert_ptr_equal(rna_probes_find_port(&probes, "mlx5_0", 2), &ports[1]);
	assert_null(rna_probes_find_port(&probes, "mlx5_1", 1));
	assert_null(rna_probes_find_port(NULL, "mlx5_0", 1));
}

static void test_ports_whose_leaf_is_unknown(void **state)
{
	const struct rna_probe_port ports[] = {
		{.leaf = "", .use = RNA_PROBE_OPEN},
		{.leaf = "leaf-a", .use = RNA_PROBE_OPEN},
		{.leaf = "", .use = RNA_PROBE_OPENING},
		{.leaf = "", .use = RNA_PROBE_OFF},
	};
	const struct rna_probes probes = {.port_count = RNA_ARRAY_SIZE(ports), .ports = ports};

	(void)state;
	assert_int_equal(rna_probes_without_leaf(&probes), 2);
	assert_int_equal(rna_probes_without_leaf(NULL), 0);
}

static void test_open_ports_hold_objects(void **state)
{
	const struct rna_probe_port ports[] = {
		{.device = "mlx5_0", .use = RNA_PROBE_OPEN, .address.qpn_count = 8},
		{.device = "mlx5_0", .use = RNA_PROBE_OPEN, .address.qpn_count = 1},
		{.device = "mlx5_1", .use = RNA_PROBE_OPEN, .address.qpn_count = 2},
		{.device = "mlx5_2", .use = RNA_PROBE_FAILED, .address.qpn_count = 4},
	};
	const struct rna_probes probes = {.port_count = RNA_ARRAY_SIZE(ports), .ports = ports};

	(void)state;
	assert_int_equal(rna_probes_objects(&probes, "mlx5_0").contexts, 2);
	assert_int_equal(rna_probes_objects(&probes, "mlx5_0").qps, 9);
	assert_int_equal(rna_probes_objects(&probes, "mlx5_1").qps, 2);
	assert_int_equal(rna_probes_objects(&probes, "mlx5_2").contexts, 0);
	assert_int_equal(rna_probes_objects(NULL, "mlx5_0").contexts, 0);
}

/* -- The whole --------------------------------------------------------------------------------- */

#define NOW (100 * RNA_USEC_PER_SEC)

static struct rna_probes running(const struct rna_probe_port *ports, size_t count)
{
	return (struct rna_probes){.runs = true,
				   .heard = NOW - 1,
				   .port_count = count,
				   .ports = ports};
}

static void test_probes_run_while_the_prober_reports(void **state)
{
	struct rna_probes probes = running(NULL, 0);

	(void)state;
	assert_null(rna_probes_why_stopped(&probes, NOW));
	assert_string_equal(rna_probes_why_stopped(&probes, NOW + 10 * RNA_USEC_PER_SEC),
			    "its prober does not report");
	probes.stopped = "the agent is quiesced";
	assert_string_equal(rna_probes_why_stopped(&probes, NOW), "the agent is quiesced");
	assert_string_equal(rna_probes_why_stopped(NULL, NOW), "probe.enabled is false");
}

static void test_the_worst_port_is_the_result(void **state)
{
	struct rna_probe_port ports[] = {{.use = RNA_PROBE_OPEN, .verdict = RNA_PROBE_WELL},
					 {.use = RNA_PROBE_OPEN, .verdict = RNA_PROBE_UNKNOWN}};
	const struct rna_probe_pair pair = {.signs = RNA_PROBE_DETOUR};
	struct rna_probes probes = running(ports, RNA_ARRAY_SIZE(ports));

	(void)state;
	assert_int_equal(rna_probes_result(&probes, NOW), RNA_PROBES_UNKNOWN);
	ports[1].verdict = RNA_PROBE_WELL;
	assert_int_equal(rna_probes_result(&probes, NOW), RNA_PROBES_OK);
	ports[1].use = RNA_PROBE_OPENING;
	assert_int_equal(rna_probes_result(&probes, NOW), RNA_PROBES_UNKNOWN);
	ports[1].use = RNA_PROBE_OPEN;
	ports[1].verdict = RNA_PROBE_LOSSY;
	assert_int_equal(rna_probes_result(&probes, NOW), RNA_PROBES_WARNING);
	ports[1].use = RNA_PROBE_OFF; /* what was seen before says nothing any more */
	assert_int_equal(rna_probes_result(&probes, NOW), RNA_PROBES_OK);
	ports[1].use = RNA_PROBE_FAILED;
	assert_int_equal(rna_probes_result(&probes, NOW), RNA_PROBES_WARNING);
	ports[1].use = RNA_PROBE_OFF;
	probes.pairs = &pair;
	probes.pair_count = 1;
	assert_int_equal(rna_probes_result(&probes, NOW), RNA_PROBES_WARNING);
	ports[0].verdict = RNA_PROBE_UNREACHABLE;
	assert_int_equal(rna_probes_result(&probes, NOW), RNA_PROBES_CRITICAL);
	probes.stopped = "the agent is quiesced";
	assert_int_equal(rna_probes_result(&probes, NOW), RNA_PROBES_UNKNOWN);
}

static void test_no_port_is_judged_yet(void **state)
{
	const struct rna_probe_port port = {.use = RNA_PROBE_OPEN, .verdict = RNA_PROBE_UNKNOWN};
	const struct rna_probes probes = running(&port, 1);

	(void)state;
	assert_int_equal(rna_probes_result(&probes, NOW), RNA_PROBES_UNKNOWN);
	assert_int_equal(rna_probes_result(NULL, NOW), RNA_PROBES_UNKNOWN);
}

static void test_every_value_has_a_name(void **state)
{
	(void)state;
	for (unsigned i = 0; i < RNA_PROBE_SCOPE_COUNT; i++)
		assert_string_not_equal(rna_probe_scope_name(i), "unknown");
	for (unsigned i = 0; i < RNA_PROBE_STATE_COUNT; i++)
		assert_string_not_equal(rna_probe_state_name(i), "unknown");
	for (unsigned i = 0; i < RNA_PROBE_USE_COUNT; i++)
		assert_string_not_equal(rna_probe_use_name(i), "unknown");
	for (unsigned i = 0; i < RNA_STRANGER_COUNT; i++)
		assert_string_not_equal(rna_probe_stranger_name(i), "unknown");
	assert_string_equal(rna_probes_result_name(RNA_PROBES_CRITICAL), "critical");
	assert_string_equal(rna_probe_verdict_name(RNA_PROBE_LOSSY), "lossy");
	assert_string_equal(rna_probe_state_name(RNA_PROBE_STATE_COUNT), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds_include_themselves_and_ascend),
		cmocka_unit_test(test_counts_add_up),
		cmocka_unit_test(test_ports_are_found_by_device_and_number),
		cmocka_unit_test(test_ports_whose_leaf_is_unknown),
		cmocka_unit_test(test_open_ports_hold_objects),
		cmocka_unit_test(test_probes_run_while_the_prober_reports),
		cmocka_unit_test(test_the_worst_port_is_the_result),
		cmocka_unit_test(test_no_port_is_judged_yet),
		cmocka_unit_test(test_every_value_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
