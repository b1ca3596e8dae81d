// SPDX-License-Identifier: Apache-2.0
/* exporter/families_selftest, selftest_json, page_selftest: what self-tests came to, in each form.
 */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rna/exporter.h"

#include "metrics/body.h"

#include "exporter_view.h"

#define GBIT (1000000000ULL / 8)
#define NOON (1763726400 * RNA_USEC_PER_SEC) /* 2025-11-21T12:00:00Z */

static struct rna_selftest_run run_of(enum rna_endpoint endpoint, unsigned gigabits,
				      enum rna_grade grade)
{
	struct rna_selftest_run run = {
		.time = {.realtime = NOON},
		.request = {.device = "mlx5_0",
			    .port = 1,
			    .endpoint = endpoint,
			    .gid_index = -1,
			    .memory_node = 0,
			    .size = 65536,
			    .qps = 4},
		.result = {.end = RNA_LOOPBACK_DONE,
			   .bandwidth = gigabits * GBIT,
			   .bytes = 64 << 20,
			   .duration = 1250000,
			   .latency_median = 1850,
			   .latency_p99 = 12000000000},
		.expected = 400 * GBIT,
		.grade = grade,
	};

	return run;
}

/*
 * mlx5_0: local memory was tested three times, the last time in a way of its own; remote is slow;
 * that of the GPU failed. mlx5_1 waits for its port to come up. rxe2 is not known.
 */
static void test_ports_of(struct rna_view *view)
{
	struct rna_selftests *selftests = new_part(RNA_COLLECTOR_COUNT, sizeof(*selftests));
	struct rna_selftest_port *ports = rna_arena_array(selftests->part.arena, 2, sizeof(*ports));
	struct rna_selftest_run *runs = rna_arena_array(selftests->part.arena, 5, sizeof(*runs));

	runs[0] = run_of(RNA_ENDPOINT_LOCAL, 300, RNA_GRADE_FAILED);
	runs[1] = run_of(RNA_ENDPOINT_LOCAL, 390, RNA_GRADE_OK);
	runs[2] = run_of(RNA_ENDPOINT_REMOTE, 350, RNA_GRADE_WARNING);
	runs[2].result.latency_median = 0;
	runs[2].result.latency_p99 = 0;
	runs[3] = run_of(RNA_ENDPOINT_GPU, 0, RNA_GRADE_FAILED);
	runs[3].result.end = RNA_LOOPBACK_CORRUPT;
	(void)snprintf(runs[3].result.text, sizeof(runs[3].result.text), "%s",
		       "mlx5_0/1: <byte> 17 is 3");
	runs[4] = run_of(RNA_ENDPOINT_LOCAL, 5, RNA_GRADE_FAILED);
	runs[4].special = true;
	ports[0] = (struct rna_selftest_port){
		.device = "mlx5_0",
		.port = 1,
		.count = 5,
		.runs = runs,
		.last_run = NOON + 500000,
		.last_success = NOON - RNA_USEC_PER_SEC,
		.next = NOON + 3600 * RNA_USEC_PER_SEC,
		.bytes = 5 << 26,
		.results = {[RNA_GRADE_OK] = 7, [RNA_GRADE_FAILED] = 2},
		.skips = {[RNA_SKIP_BUSY] = 3},
		.stuck = 4711,
	};
	ports[1] = (struct rna_selftest_port){
		.device = "mlx5_1",
		.port = 1,
		.skips = {[RNA_SKIP_NOT_ACTIVE] = 1},
		.skip = RNA_SKIP_NOT_ACTIVE,
	};
	selftests->count = 2;
	selftests->ports = ports;
	view->selftests = selftests;
}

static struct rna_body *metrics_of(struct rna_view *view, enum rna_exposition format)
{
	RNA_CLEANUP(rna_renderer_free_p) struct rna_renderer *renderer = rna_renderer_new();
	struct rna_body *body = NULL;

	assert_int_equal(rna_renderer_metrics(renderer, joined(view), format, &body), 0);
	return body;
}

static void assert_has(const struct rna_body *body, const char *text)
{
	if (!memmem(body->data, body->len, text, strlen(text)))
		fail_msg("there is no %s", text);
}

static void assert_has_not(const struct rna_body *body, const char *text)
{
	if (memmem(body->data, body->len, text, strlen(text)))
		fail_msg("there is %s", text);
}

#define OF(name, port, labels) "\nrdma_selftest_" name "{device=\"" port "\",port=\"1\"" labels "} "

static void test_metrics_of_the_newest(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = NULL;

	(void)state;
	test_ports_of(view);
	body = metrics_of(view, RNA_EXPOSITION_OPENMETRICS);
	assert_has(body, OF("ok", "mlx5_0", ",memory=\"local\"") "1\n");
	assert_has(body, OF("ok", "mlx5_0", ",memory=\"remote\"") "0\n");
	assert_has(body, OF("ok", "mlx5_0", ",memory=\"gpu\"") "0\n");
	assert_has(body, OF("bandwidth_bytes_per_second", "mlx5_0", ",memory=\"local\"") "48750000"
											 "000\n");
	assert_has(body, OF("expected_bytes_per_second", "mlx5_0", ",memory=\"gpu\"") "50000000000"
										      "\n");
	assert_has(body, OF("ratio", "mlx5_0", ",memory=\"local\"") "0.975\n");
	assert_has(body, OF("ratio", "mlx5_0", ",memory=\"remote\"") "0.875\n");
	assert_has(body,
		   OF("latency_median_seconds", "mlx5_0", ",memory=\"local\"") "0.00000185\n");
	assert_has(body, OF("latency_p99_seconds", "mlx5_0", ",memory=\"local\"") "12\n");
	assert_has(body, OF("duration_seconds", "mlx5_0", ",memory=\"gpu\"") "1.25\n");
	assert_has(body, "# UNIT rdma_selftest_ratio ratio\n");
	assert_has(body, "# UNIT rdma_selftest_latency_p99_seconds seconds\n");
	/* what failed moved nothing that counts, and what was not measured is not 0 */
	assert_has_not(body, OF("bandwidth_bytes_per_second", "mlx5_0", ",memory=\"gpu\""));
	assert_has_not(body, OF("ratio", "mlx5_0", ",memory=\"gpu\""));
	assert_has_not(body, OF("latency_median_seconds", "mlx5_0", ",memory=\"remote\""));
	assert_has_not(body, "rdma_selftest_ok{device=\"mlx5_1\"");
}

static void test_metrics_of_all(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = NULL;

	(void)state;
	test_ports_of(view);
	body = metrics_of(view, RNA_EXPOSITION_CLASSIC);
	assert_has(body, OF("last_run_timestamp_seconds", "mlx5_0", "") "1763726400.5\n");
	assert_has(body, OF("last_success_timestamp_seconds", "mlx5_0", "") "1763726399\n");
	assert_has(body, OF("bytes_total", "mlx5_0", "") "335544320\n");
	assert_has(body, OF("runs_total", "mlx5_0", ",result=\"ok\"") "7\n");
	assert_has(body, OF("runs_total", "mlx5_0", ",result=\"failed\"") "2\n");
	assert_has_not(body, "result=\"warning\"");
	assert_has(body, OF("skips_total", "mlx5_0", ",reason=\"busy\"") "3\n");
	assert_has(body, OF("skips_total", "mlx5_1", ",reason=\"not_active\"") "1\n");
	assert_has_not(body, "rdma_selftest_last_run_timestamp_seconds{device=\"mlx5_1\"");
	assert_has_not(body, "rdma_selftest_bytes_total{device=\"mlx5_1\"");
}

static void test_without_an_expectation_nothing_is_good_or_bad(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(1);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = NULL;
	struct rna_selftest_port *port;
	struct rna_selftest_run *run;

	(void)state;
	test_ports_of(view);
	port = (struct rna_selftest_port *)(uintptr_t)view->selftests->ports;
	run = (struct rna_selftest_run *)(uintptr_t)&port->runs[1];
	run->expected = 0;
	run->grade = RNA_GRADE_NONE;
	port->count = 2;
	port->results[RNA_GRADE_NONE] = 1;
	body = metrics_of(view, RNA_EXPOSITION_CLASSIC);
	assert_has(body, OF("bandwidth_bytes_per_second", "mlx5_0", ",memory=\"local\""));
	assert_has(body, OF("runs_total", "mlx5_0", ",result=\"measured\"") "1\n");
	assert_has_not(body, "rdma_selftest_ok{");
	assert_has_not(body, "rdma_selftest_ratio{");
	assert_has_not(body, "rdma_selftest_expected_bytes_per_second{");
}

static void test_no_self_test_no_sample(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p)
	struct rna_body *body = metrics_of(view, RNA_EXPOSITION_CLASSIC);
	RNA_STRBUF struct rna_strbuf page = RNA_STRBUF_INIT;

	(void)state;
	assert_has_not(body, "rdma_selftest_");
	rna_write_page(joined(view), &page);
	assert_null(strstr(page.data, "<h2>Self-tests"));
}

static json_t *json_of(const struct rna_view *view,
		       void (*write)(const struct rna_view *view, struct rna_strbuf *out))
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	json_t *root;

	write(view, &out);
	assert_true(rna_strbuf_ok(&out));
	root = json_loads(out.data, 0, NULL);
	assert_non_null(root);
	return root;
}

static const char *text_of(json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static void test_history(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	json_t *root, *ports, *port, *runs;

	(void)state;
	test_ports_of(view);
	root = json_of(view, rna_write_selftests_json);
	ports = json_object_get(root, "ports");
	assert_int_equal(json_array_size(ports), 2);
	port = json_array_get(ports, 0);
	assert_string_equal(text_of(port, "device"), "mlx5_0");
	assert_string_equal(text_of(port, "next"), "2025-11-21T13:00:00Z");
	assert_int_equal(json_integer_value(json_object_get(port, "stuck_process")), 4711);
	assert_int_equal(json_integer_value(
				 json_object_get(json_object_get(port, "skips"), "busy")),
			 3);
	runs = json_object_get(port, "runs");
	assert_int_equal(json_array_size(runs), 5);
	assert_string_equal(text_of(json_array_get(runs, 3), "end"), "corrupt");
	assert_string_equal(text_of(json_array_get(runs, 3), "text"), "mlx5_0/1: <byte> 17 is 3");
	assert_null(json_object_get(json_array_get(runs, 3), "ratio"));
	assert_true(json_is_true(json_object_get(json_array_get(runs, 4), "special")));
	port = json_array_get(ports, 1);
	assert_string_equal(text_of(port, "skip"), "not_active");
	assert_null(json_object_get(port, "next"));
	assert_null(json_object_get(port, "last_run"));
	json_decref(root);
}

static void write_runs(const struct rna_selftest_run *runs, bool json, struct rna_strbuf *out)
{
	out->len = 0;
	rna_write_selftest(runs, 1, json, out);
	assert_true(rna_strbuf_ok(out));
}

/* perftest prints the same fact, "PCIe relax order". Who does not know says nothing. */
static void test_ordering(void **state)
{
	struct rna_selftest_run run = run_of(RNA_ENDPOINT_LOCAL, 390, RNA_GRADE_OK);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	write_runs(&run, true, &out);
	assert_null(strstr(out.data, "relaxed_ordering"));
	run.result.relaxed_ordering = rna_value_ok(1);
	write_runs(&run, true, &out);
	assert_non_null(strstr(out.data, "\"relaxed_ordering\": true"));
	assert_null(strstr(out.data, "pci_relaxed_ordering"));
	write_runs(&run, false, &out);
	assert_null(strstr(out.data, "ordering"));
	run.result.pci_relaxed_ordering = rna_value_ok(0);
	write_runs(&run, true, &out);
	assert_non_null(strstr(out.data, "\"pci_relaxed_ordering\": false"));
	write_runs(&run, false, &out);
	assert_non_null(strstr(out.data, "ok\n    PCIe relaxed ordering is disabled in the PCI "
					 "function\n"));
	run.result.relaxed_ordering = run.result.pci_relaxed_ordering;
	run.result.pci_relaxed_ordering = rna_value_ok(1);
	write_runs(&run, true, &out);
	assert_non_null(strstr(out.data, "\"relaxed_ordering\": false"));
	write_runs(&run, false, &out);
	assert_non_null(strstr(out.data, "ok\n    without PCIe relaxed ordering\n"));
}

static void test_summary_in_the_snapshot(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	json_t *root, *devices, *selftest, *local;

	(void)state;
	test_ports_of(view);
	root = json_of(joined(view), rna_write_json);
	devices = json_object_get(root, "devices");
	selftest =
		json_object_get(json_array_get(json_object_get(json_array_get(devices, 0), "ports"),
					       0),
				"selftest");
	local = json_object_get(json_object_get(selftest, "newest"), "local");
	assert_string_equal(text_of(local, "grade"), "ok");
	assert_true(json_real_value(json_object_get(local, "ratio")) == 0.975);
	assert_string_equal(text_of(selftest, "last_run"), "2025-11-21T12:00:00Z");
	assert_null(
		json_object_get(json_array_get(json_object_get(json_array_get(devices, 2), "ports"),
					       0),
				"selftest"));
	json_decref(root);
}

static void test_page(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	test_ports_of(view);
	rna_write_page(joined(view), &out);
	assert_true(rna_strbuf_ok(&out));
	assert_non_null(strstr(out.data, "<h2>Self-tests</h2>"));
	assert_non_null(strstr(out.data, "mlx5_0/1<td>local<td class=wrap><b class=good>ok</b>"
					 "<td class=n>390.0 Gb/s<td class=n>400.0 Gb/s"
					 "<td class=n>97.5&nbsp;%"));
	assert_non_null(strstr(out.data, "<b class=bad>corrupt data</b><br><small>mlx5_0/1: "
					 "&lt;byte&gt; 17 is 3"));
	assert_non_null(strstr(out.data, "<b class=bad>stuck</b>"));
	assert_non_null(strstr(out.data, "mlx5_1/1<td>–<td class=wrap><b>not yet</b>"));
	assert_non_null(strstr(out.data, "<td>not_active"));
}

/* A VF has no line of its own: there may be hundreds. */
static void test_page_leaves_out_what_is_never_tested(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)state;
	test_ports_of(view);
	((struct rna_selftest_port *)(uintptr_t)view->selftests->ports)[1].skip = RNA_SKIP_VIRTUAL;
	rna_write_page(joined(view), &out);
	assert_null(strstr(out.data, "not yet</b><td><td>"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics_of_the_newest),
		cmocka_unit_test(test_metrics_of_all),
		cmocka_unit_test(test_without_an_expectation_nothing_is_good_or_bad),
		cmocka_unit_test(test_no_self_test_no_sample),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_ordering),
		cmocka_unit_test(test_summary_in_the_snapshot),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_page_leaves_out_what_is_never_tested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
