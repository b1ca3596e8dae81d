// SPDX-License-Identifier: Apache-2.0
/* exporter/exposition: the rules of both text formats, line by line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "metrics/exposition.h"
#include "metrics/families.h"

static struct rna_metric bytes_counter = {
	.name = "rdma_port_data_received_bytes_total",
	.type = RNA_METRIC_COUNTER,
	.unit = RNA_METRIC_BYTES,
	.help = "All \"bytes\"\\octets\nreceived.",
};
static struct rna_metric info = {
	.name = "rdma_device_info",
	.type = RNA_METRIC_INFO,
	.help = "What it is.",
};
static struct rna_metric seconds_gauge = {
	.name = "rdma_agent_age_seconds",
	.type = RNA_METRIC_GAUGE,
	.unit = RNA_METRIC_SECONDS,
	.help = "Age.",
};

static const struct rna_span port_labels = {"device=\"mlx5_0\",port=\"1\"", 24};
static const struct rna_span no_labels = {"", 0};

/* One metric with one sample, as the whole output. */
static void assert_output(struct rna_metric *metric, struct rna_span labels, uint64_t number,
			  enum rna_exposition format, const char *expected)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_writer writer = RNA_WRITER(&out, format, NULL);

	rna_writer_metric(&writer, metric);
	rna_writer_sample(&writer, labels, number);
	rna_writer_end(&writer);
	assert_true(rna_strbuf_ok(&out));
	assert_int_equal(out.len, strlen(out.data));
	assert_string_equal(out.data, expected);
}

static void test_classic_counter(void **state)
{
	(void)state;
	assert_output(&bytes_counter, port_labels, 42, RNA_EXPOSITION_CLASSIC,
		      "# HELP rdma_port_data_received_bytes_total "
		      "All \"bytes\"\\\\octets\\nreceived.\n"
		      "# TYPE rdma_port_data_received_bytes_total counter\n"
		      "rdma_port_data_received_bytes_total{device=\"mlx5_0\",port=\"1\"} 42\n");
}

static void test_openmetrics_counter(void **state)
{
	(void)state;
	assert_output(&bytes_counter, port_labels, 42, RNA_EXPOSITION_OPENMETRICS,
		      "# HELP rdma_port_data_received_bytes "
		      "All \\\"bytes\\\"\\\\octets\\nreceived.\n"
		      "# TYPE rdma_port_data_received_bytes counter\n"
		      "# UNIT rdma_port_data_received_bytes bytes\n"
		      "rdma_port_data_received_bytes_total{device=\"mlx5_0\",port=\"1\"} 42\n"
		      "# EOF\n");
}

static void test_info(void **state)
{
	(void)state;
	assert_output(&info, no_labels, 1, RNA_EXPOSITION_CLASSIC,
		      "# HELP rdma_device_info What it is.\n# TYPE rdma_device_info gauge\n"
		      "rdma_device_info 1\n");
	assert_output(&info, no_labels, 1, RNA_EXPOSITION_OPENMETRICS,
		      "# HELP rdma_device What it is.\n# TYPE rdma_device info\n"
		      "rdma_device_info 1\n# EOF\n");
}

static void assert_seconds(rna_usec usec, const char *expected)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_strbuf_printf(&text,
			  "# HELP rdma_agent_age_seconds Age.\n"
			  "# TYPE rdma_agent_age_seconds gauge\n"
			  "rdma_agent_age_seconds %s\n",
			  expected);
	assert_output(&seconds_gauge, no_labels, usec, RNA_EXPOSITION_CLASSIC, text.data);
}

static void test_microseconds_become_seconds(void **state)
{
	(void)state;
	assert_seconds(0, "0");
	assert_seconds(1, "0.000001");
	assert_seconds(250, "0.00025");
	assert_seconds(1500000, "1.5");
	assert_seconds(2000000, "2");
	assert_seconds(1763716740500000, "1763716740.5");
	assert_seconds(UINT64_MAX, "18446744073709.551615");
}

static void test_other_units_have_decimals_of_their_own(void **state)
{
	static struct rna_metric latency = {
		.name = "rdma_write_seconds",
		.type = RNA_METRIC_GAUGE,
		.unit = RNA_METRIC_NANOSECONDS,
		.help = "Time.",
	};
	static struct rna_metric ratio = {
		.name = "rdma_share_ratio",
		.type = RNA_METRIC_GAUGE,
		.unit = RNA_METRIC_RATIO,
		.help = "Share.",
	};

	(void)state;
	assert_output(&latency, no_labels, 1850, RNA_EXPOSITION_OPENMETRICS,
		      "# HELP rdma_write_seconds Time.\n"
		      "# TYPE rdma_write_seconds gauge\n"
		      "# UNIT rdma_write_seconds seconds\n"
		      "rdma_write_seconds 0.00000185\n"
		      "# EOF\n");
	assert_output(&ratio, no_labels, 925000, RNA_EXPOSITION_OPENMETRICS,
		      "# HELP rdma_share_ratio Share.\n"
		      "# TYPE rdma_share_ratio gauge\n"
		      "# UNIT rdma_share_ratio ratio\n"
		      "rdma_share_ratio 0.925\n"
		      "# EOF\n");
	assert_output(&ratio, no_labels, 1000000, RNA_EXPOSITION_CLASSIC,
		      "# HELP rdma_share_ratio Share.\n"
		      "# TYPE rdma_share_ratio gauge\n"
		      "rdma_share_ratio 1\n");
}

static struct rna_metric histogram_metric = {
	.name = "rdma_agent_wait_seconds",
	.type = RNA_METRIC_HISTOGRAM,
	.unit = RNA_METRIC_SECONDS,
	.help = "Waiting.",
};

/* Buckets are cumulative, the last is all; the bounds are the same text in both dialects. */
static void test_histogram(void **state)
{
	static const struct rna_span labels = {"source=\"x\"", 10};
	struct rna_histogram histogram = {0};

	(void)state;
	assert_null(rna_metric_check(&histogram_metric));
	rna_histogram_add(&histogram, 3000);
	rna_histogram_add(&histogram, 20 * RNA_USEC_PER_SEC);
	for (enum rna_exposition format = 0; format < RNA_EXPOSITION_COUNT; format++) {
		RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
		struct rna_writer writer = RNA_WRITER(&out, format, NULL);

		rna_writer_metric(&writer, &histogram_metric);
		rna_writer_histogram(&writer, labels, &histogram);
		assert_true(rna_strbuf_ok(&out));
		assert_non_null(strstr(out.data, "# TYPE rdma_agent_wait_seconds histogram\n"));
		assert_non_null(
			strstr(out.data,
			       "\nrdma_agent_wait_seconds_bucket{source=\"x\",le=\"0.001\"} 0\n"
			       "rdma_agent_wait_seconds_bucket{source=\"x\",le=\"0.005\"} 1\n"
			       "rdma_agent_wait_seconds_bucket{source=\"x\",le=\"0.01\"} 1\n"));
		assert_non_null(
			strstr(out.data,
			       "\nrdma_agent_wait_seconds_bucket{source=\"x\",le=\"10.0\"} 1\n"
			       "rdma_agent_wait_seconds_bucket{source=\"x\",le=\"+Inf\"} 2\n"
			       "rdma_agent_wait_seconds_count{source=\"x\"} 2\n"
			       "rdma_agent_wait_seconds_sum{source=\"x\"} 20.003\n"));
	}
}

static void test_heads_are_kept_in_each_dialect(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct rna_metric metric = bytes_counter;

	(void)state;
	for (enum rna_exposition format = 0; format < RNA_EXPOSITION_COUNT; format++) {
		RNA_STRBUF struct rna_strbuf first = RNA_STRBUF_INIT, second = RNA_STRBUF_INIT;
		struct rna_writer writer = RNA_WRITER(&first, format, arena);
		struct rna_writer again = RNA_WRITER(&second, format, arena);
		size_t len;

		rna_writer_metric(&writer, &metric);
		rna_writer_sample(&writer, port_labels, 42);
		len = metric.heads[format].len;
		assert_memory_equal(metric.heads[format].text, first.data, len);
		assert_int_equal(first.data[len - 1], '\n');
		rna_writer_metric(&again, &metric);
		rna_writer_sample(&again, port_labels, 42);
		assert_string_equal(second.data, first.data);
	}
}

static void test_largest_number(void **state)
{
	(void)state;
	assert_output(&info, no_labels, UINT64_MAX, RNA_EXPOSITION_CLASSIC,
		      "# HELP rdma_device_info What it is.\n# TYPE rdma_device_info gauge\n"
		      "rdma_device_info 18446744073709551615\n");
}

static void test_metric_without_samples_leaves_nothing(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_writer writer = RNA_WRITER(&out, RNA_EXPOSITION_CLASSIC, NULL);

	(void)state;
	rna_writer_metric(&writer, &info);
	rna_writer_metric(&writer, &bytes_counter);
	rna_writer_end(&writer);
	assert_int_equal(out.len, 0);
}

static void assert_label(const char *value, const char *expected)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	rna_label_add(&out, "a", "b");
	rna_label_add(&out, "left_out", NULL);
	rna_label_add(&out, "x", value);
	assert_string_equal(out.data, expected);
}

static void test_label_values_are_escaped(void **state)
{
	(void)state;
	assert_label("plain", "a=\"b\",x=\"plain\"");
	assert_label("", "a=\"b\",x=\"\"");
	assert_label("q\"b\\n\n", "a=\"b\",x=\"q\\\"b\\\\n\\n\"");
	assert_label("\xc3\xa9 \xf0\x9f\x90\xa7", "a=\"b\",x=\"\xc3\xa9 \xf0\x9f\x90\xa7\"");
}

/* Prometheus refuses the whole scrape for one byte that is not UTF-8. */
static void test_broken_utf8_is_replaced(void **state)
{
	(void)state;
	assert_label("\xff", "a=\"b\",x=\"\xef\xbf\xbd\"");
	assert_label("a\xc3", "a=\"b\",x=\"a\xef\xbf\xbd\"");
	assert_label("\xc0\x80z", "a=\"b\",x=\"\xef\xbf\xbd\xef\xbf\xbdz\"");
	assert_label("\xed\xa0\x80", "a=\"b\",x=\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void test_sample_with_one_more_label(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_writer writer = RNA_WRITER(&out, RNA_EXPOSITION_CLASSIC, NULL);

	(void)state;
	rna_writer_metric(&writer, &info);
	rna_writer_sample_with(&writer, port_labels, "reason", "io", 3);
	rna_writer_sample_with(&writer, no_labels, "reason", "a\"b", 4);
	assert_non_null(strstr(out.data, "{device=\"mlx5_0\",port=\"1\",reason=\"io\"} 3\n"));
	assert_non_null(strstr(out.data, "rdma_device_info{reason=\"a\\\"b\"} 4\n"));
}

static void test_check_finds_bad_metrics(void **state)
{
	static const struct rna_metric bad[] = {
		{"rdma_x", RNA_METRIC_COUNTER, RNA_METRIC_PLAIN, "No total."},
		{"rdma_x_total", RNA_METRIC_GAUGE, RNA_METRIC_PLAIN, "Total of a gauge."},
		{"rdma_x", RNA_METRIC_INFO, RNA_METRIC_PLAIN, "No info."},
		{"rdma_x_count", RNA_METRIC_GAUGE, RNA_METRIC_PLAIN, "Part of a histogram."},
		{"rdma_x", RNA_METRIC_GAUGE, RNA_METRIC_BYTES, "No unit."},
		{"rdma_xbytes", RNA_METRIC_GAUGE, RNA_METRIC_BYTES, "Unit not apart."},
		{"rdma-x", RNA_METRIC_GAUGE, RNA_METRIC_PLAIN, "Not a name."},
		{"9x", RNA_METRIC_GAUGE, RNA_METRIC_PLAIN, "Not a name."},
		{"rdma_x", RNA_METRIC_GAUGE, RNA_METRIC_PLAIN, "no full stop"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(bad); i++)
		assert_non_null(rna_metric_check(&bad[i]));
	assert_null(rna_metric_check(&bytes_counter));
}

static void write_openmetrics(struct rna_families *families)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_writer writer = RNA_WRITER(&out, RNA_EXPOSITION_OPENMETRICS, families->arena);

	for (size_t i = 0; i < families->count; i++) {
		rna_writer_metric(&writer, &families->items[i].metric);
		rna_writer_sample(&writer, no_labels, 1);
	}
	assert_true(rna_strbuf_ok(&out));
}

/* OpenMetrics drops _total, so that rdma_x and rdma_x_total would be the same family there. */
static bool same_family(const struct rna_metric *a, const struct rna_metric *b)
{
	const char *head_a = a->heads[RNA_EXPOSITION_OPENMETRICS].text + strlen("# HELP ");
	const char *head_b = b->heads[RNA_EXPOSITION_OPENMETRICS].text + strlen("# HELP ");

	return strncmp(head_a, head_b, strcspn(head_a, " ") + 1) == 0;
}

static void test_every_family_keeps_the_rules(void **state)
{
	RNA_CLEANUP(rna_families_free_p) struct rna_families *families = rna_families_new();

	(void)state;
	assert_non_null(families);
	assert_true(families->own_count > rna_counter_count);
	/* each row of others' names has found its counter */
	assert_int_equal(families->count, families->own_count + rna_compat_table.count);
	write_openmetrics(families);
	for (size_t i = 0; i < families->count; i++) {
		const struct rna_family *family = &families->items[i];
		const char *wrong = rna_metric_check(&family->metric);

		if (wrong)
			fail_msg("%s: %s", family->metric.name, wrong);
		assert_int_equal(rna_family_is_number(family) + !!family->table + !!family->each +
					 !!family->counter + !!family->alias + !!family->statistic,
				 1);
		for (size_t j = 0; j < i; j++)
			if (same_family(&family->metric, &families->items[j].metric))
				fail_msg("%s is there twice", family->metric.name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classic_counter),
		cmocka_unit_test(test_openmetrics_counter),
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_microseconds_become_seconds),
		cmocka_unit_test(test_other_units_have_decimals_of_their_own),
		cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_heads_are_kept_in_each_dialect),
		cmocka_unit_test(test_largest_number),
		cmocka_unit_test(test_metric_without_samples_leaves_nothing),
		cmocka_unit_test(test_label_values_are_escaped),
		cmocka_unit_test(test_broken_utf8_is_replaced),
		cmocka_unit_test(test_sample_with_one_more_label),
		cmocka_unit_test(test_check_finds_bad_metrics),
		cmocka_unit_test(test_every_family_keeps_the_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
