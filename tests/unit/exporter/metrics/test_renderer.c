// SPDX-License-Identifier: Apache-2.0
/* exporter/renderer and families: what a view becomes, and how often it is made. */
#include <inttypes.h>
#include <libdeflate.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "metrics/body.h"

#include "exporter_view.h"

static struct rna_body *render(struct rna_view *view, enum rna_exposition format)
{
	RNA_CLEANUP(rna_renderer_free_p)
	struct rna_renderer *renderer = rna_renderer_new();
	struct rna_body *body = NULL;

	assert_non_null(renderer);
	assert_int_equal(rna_renderer_metrics(renderer, joined(view), format, &body), 0);
	assert_int_equal(body->refs, 1);
	return body;
}

/* Does the body have this whole line? */
static bool has_line(const struct rna_body *body, const char *line)
{
	size_t len = strlen(line);

	for (const char *at = body->data, *end = body->data + body->len; at < end;) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));

		assert_non_null(eol); /* each line has an end, the last one too */
		if ((size_t)(eol - at) == len && memcmp(at, line, len) == 0)
			return true;
		at = eol + 1;
	}
	return false;
}

static void assert_line(const struct rna_body *body, const char *line)
{
	if (!has_line(body, line))
		fail_msg("there is no line: %s", line);
}

/* No sample of family for device. */
static void assert_no_sample(const struct rna_body *body, const char *family, const char *device)
{
	RNA_STRBUF struct rna_strbuf start = RNA_STRBUF_INIT;

	rna_strbuf_printf(&start, "\n%s{device=\"%s\"", family, device);
	if (memmem(body->data, body->len, start.data, start.len))
		fail_msg("there is a sample %s of %s", family, device);
}

static void test_ports(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = render(view, RNA_EXPOSITION_CLASSIC);

	(void)state;
	assert_line(body, "rdma_devices 3");
	assert_line(body, "rdma_port_up{device=\"mlx5_0\",port=\"1\"} 1");
	assert_line(body, "rdma_port_up{device=\"mlx5_1\",port=\"1\"} 0");
	assert_no_sample(body, "rdma_port_up", "rxe2"); /* state not known */
	assert_line(body, "rdma_port_state_id{device=\"mlx5_1\",port=\"1\"} 1");
	assert_line(body, "rdma_port_rate_bytes_per_second{device=\"mlx5_0\",port=\"1\"} "
			  "50000000000");
	assert_no_sample(body, "rdma_port_rate_bytes_per_second", "mlx5_1"); /* DOWN: made up */
	assert_line(body, "rdma_port_lid{device=\"mlx5_0\",port=\"1\"} 17");
	assert_no_sample(body, "rdma_port_lid", "mlx5_1");
}

static void test_info_labels(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = render(view, RNA_EXPOSITION_CLASSIC);

	(void)state;
	assert_line(body, "rdma_port_info{device=\"mlx5_0\",port=\"1\",link_layer=\"InfiniBand\","
			  "netdev=\"ib0\",netdev_source=\"ipoib\","
			  "port_guid=\"1070:fd03:0000:0001\",pci_address=\"0000:00:00.0\"} 1");
	/* what is not known is left out */
	assert_line(body, "rdma_port_info{device=\"rxe2\",port=\"1\"} 1");
	assert_line(body, "rdma_device_info{device=\"rxe2\",function=\"virtual\"} 1");
	assert_line(body, "rdma_device_info{device=\"mlx5_1\",pci_address=\"0000:01:00.0\","
			  "driver=\"mlx5_core\",function=\"pf\",vendor_id=\"0x15b3\","
			  "device_id=\"0x1021\",numa_node=\"0\",node_type=\"ca\","
			  "hca_type=\"MT4129\",board_id=\"MT_0000000838\","
			  "firmware_version=\"28.39.1002\",node_guid=\"1070:fd03:0000:0000\","
			  "node_description=\"a \\\"b\\\" <c>\\\\\xef\xbf\xbd\"} 1");
}

static void test_network_interfaces(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = render(view, RNA_EXPOSITION_CLASSIC);

	(void)state;
	assert_line(body, "rdma_port_netdev_up{device=\"mlx5_0\",port=\"1\"} 1");
	assert_line(body, "rdma_port_netdev_speed_bytes_per_second{device=\"mlx5_0\",port=\"1\"} "
			  "50000000000");
	assert_line(body, "rdma_port_netdev_carrier_down_total{device=\"mlx5_0\",port=\"1\"} 2");
	assert_no_sample(body, "rdma_port_netdev_up", "mlx5_1");
}

static void test_gids(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = render(view, RNA_EXPOSITION_CLASSIC);

	(void)state;
	assert_line(body, "rdma_port_gids{device=\"mlx5_1\",port=\"1\",type=\"RoCE v1\","
			  "family=\"ipv6\"} 1");
	assert_line(body, "rdma_port_gids{device=\"mlx5_1\",port=\"1\",type=\"RoCE v2\","
			  "family=\"ipv4\"} 1");
	assert_line(body, "rdma_port_gids{device=\"mlx5_1\",port=\"1\",type=\"RoCE v2\","
			  "family=\"ipv6\"} 0");
	assert_line(body, "rdma_port_gid_info{device=\"mlx5_1\",port=\"1\",index=\"3\","
			  "gid=\"0000:0000:0000:0000:0000:ffff:0a00:0101\",type=\"RoCE v2\","
			  "family=\"ipv4\",netdev=\"eth1.100\"} 1");
	assert_line(body, "rdma_port_gid_changes_total{device=\"mlx5_1\",port=\"1\"} 7");
	assert_no_sample(body, "rdma_port_gids", "mlx5_0"); /* not known, and so not zero */
	assert_no_sample(body, "rdma_port_gid_changes_total", "mlx5_0");
}

/* Where there is RoCE, no RoCE v2 is a zero that can be asked for. */
static void test_gids_without_the_second_version(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = NULL;
	const struct rna_gids *gids = rna_device_gids(&view->snapshot->devices[1]);

	(void)state;
	((struct rna_port_gids *)(uintptr_t)gids->ports)->count = 1;
	body = render(view, RNA_EXPOSITION_CLASSIC);
	assert_line(body, "rdma_port_gids{device=\"mlx5_1\",port=\"1\",type=\"RoCE v1\","
			  "family=\"ipv6\"} 1");
	assert_line(body, "rdma_port_gids{device=\"mlx5_1\",port=\"1\",type=\"RoCE v2\","
			  "family=\"ipv4\"} 0");
}

static void test_gid_info_can_be_turned_off(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = NULL;

	(void)state;
	view->metrics.gid_info = false;
	body = render(view, RNA_EXPOSITION_CLASSIC);
	assert_no_sample(body, "rdma_port_gid_info", "mlx5_1");
	assert_line(body, "rdma_port_gid_changes_total{device=\"mlx5_1\",port=\"1\"} 7");
}

static void test_counters(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = NULL;

	(void)state;
	*counter_of(view, 0, "port_rcv_data") = rna_value_ok(1000);
	*counter_of(view, 1, "port_rcv_data") = rna_value_ok(UINT64_MAX);
	*counter_of(view, 0, "symbol_error") = rna_value_unreadable();
	*counter_of(view, 0, "link_downed") =
		(struct rna_value){.number = 255, .state = RNA_VALUE_SATURATED};
	*counter_of(view, 0, "fec_uncorrectable_blocks") =
		(struct rna_value){.number = UINT32_MAX, .state = RNA_VALUE_SATURATED};
	*counter_of(view, 0, "fec_correctable_blocks") = /* no news: it fills up */
		(struct rna_value){.number = UINT32_MAX, .state = RNA_VALUE_SATURATED};
	body = render(view, RNA_EXPOSITION_CLASSIC);

	/* words become bytes, and do not run over */
	assert_line(body, "rdma_port_data_received_bytes_total{device=\"mlx5_0\",port=\"1\"} 4000");
	assert_line(body, "rdma_port_data_received_bytes_total{device=\"mlx5_1\",port=\"1\"} "
			  "18446744073709551615");
	/* one that cannot be read costs itself, and not the next device's */
	assert_no_sample(body, "rdma_port_symbol_errors_total", "mlx5_0");
	assert_line(body, "rdma_port_saturated_counters{device=\"mlx5_0\",port=\"1\"} 2");
	assert_line(body, "rdma_port_saturated_counters{device=\"mlx5_1\",port=\"1\"} 0");
	assert_no_sample(body, "rdma_port_saturated_counters", "rxe2");
	assert_line(body, "rdma_port_counters_resets_total{device=\"mlx5_0\",port=\"1\"} 3");
	assert_line(body, "rdma_port_hw_counters_resets_total{device=\"mlx5_0\",port=\"1\"} 5");
	assert_line(body, "rdma_device_hw_counters_resets_total{device=\"mlx5_0\"} 6");
	assert_no_sample(body, "rdma_port_hw_counters_resets_total", "rxe2");
	assert_line(body, "rdma_port_unknown_total{device=\"mlx5_0\",port=\"1\","
			  "counter=\"brand_new\"} 7");
	assert_line(body,
		    "rdma_device_hw_unknown_total{device=\"mlx5_1\",counter=\"brand_new\"} 7");
}

/* Every known counter comes out once for each port where it has a meaning. */
static void test_resources(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = NULL;

	(void)state;
	own_snapshot(view)->devices[0].parts[RNA_COLLECTOR_RESOURCES] = new_resources();
	own_snapshot(view)->devices[1].parts[RNA_COLLECTOR_RESOURCES] =
		new_part(RNA_COLLECTOR_RESOURCES, sizeof(struct rna_resources));
	body = render(view, RNA_EXPOSITION_CLASSIC);
	assert_line(body, "rdma_device_in_use{device=\"mlx5_0\"} 1");
	assert_line(body, "rdma_device_resources{device=\"mlx5_0\",resource=\"qp\"} 3");
	assert_line(body, "rdma_device_idle_resources{device=\"mlx5_0\",resource=\"qp\"} 1");
	assert_line(body, "rdma_port_optional_counter_enabled{device=\"mlx5_0\",port=\"1\","
			  "counter=\"cc_\\\"rx\\\"\"} 1");
	assert_line(body, "rdma_port_optional_counter_enabled{device=\"mlx5_0\",port=\"1\","
			  "counter=\"cc_tx_cnp_pkts\"} 0");
	for (const char *const *device = (const char *[]){"mlx5_1", "rxe2", NULL}; *device;
	     device++) {
		assert_no_sample(body, "rdma_device_in_use", *device); /* not known is not idle */
		assert_no_sample(body, "rdma_device_resources", *device);
		assert_no_sample(body, "rdma_device_idle_resources", *device);
	}
}

static void test_fabric(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = render(view, RNA_EXPOSITION_CLASSIC);

	(void)state;
	assert_line(body,
		    "rdma_port_peer_info{device=\"mlx5_0\",port=\"1\",peer=\"leaf \\\"7\\\"\","
		    "peer_port=\"12\",peer_type=\"switch\",peer_guid=\"fc6a:1c03:0042:7700\","
		    "peer_lid=\"7\",source=\"mad\"} 1");
	assert_line(body, "rdma_port_peer_stale{device=\"mlx5_0\",port=\"1\"} 1");
	assert_line(body, "rdma_port_peer_changes_total{device=\"mlx5_0\",port=\"1\"} 1");
	/* of a peer that is gone */
	assert_no_sample(body, "rdma_port_peer_width_supported_lanes", "mlx5_0");
	assert_line(body, "rdma_port_sm_info{device=\"mlx5_0\",port=\"1\","
			  "sm_guid=\"1070:fd03:00aa:0001\",sm_lid=\"1\"} 1");
	assert_line(body, "rdma_port_sm_state_id{device=\"mlx5_0\",port=\"1\"} 2");
	assert_line(body, "rdma_port_sm_changes_total{device=\"mlx5_0\",port=\"1\"} 2");
	assert_line(body, "rdma_port_pkeys{device=\"mlx5_0\",port=\"1\",membership=\"full\"} 0");
	assert_line(body, "rdma_port_pkeys{device=\"mlx5_0\",port=\"1\",membership=\"limited\"} 1");
	assert_line(body, "rdma_port_default_pkey{device=\"mlx5_0\",port=\"1\"} 1");
	assert_no_sample(body, "rdma_port_congestion_control", "mlx5_0"); /* not known */
	assert_line(body, "rdma_port_fabric_counters_resets_total{device=\"mlx5_0\",port=\"1\"} 4");
}

static void test_link_layer_decides(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = render(view, RNA_EXPOSITION_CLASSIC);

	(void)state;
	for (size_t i = 0; i < rna_counter_count; i++) {
		const struct rna_counter *counter = &rna_counters[i];
		bool device = counter->place == RNA_PLACE_DEVICE_HW_COUNTERS;
		uint64_t number = (i + 1000000) * (counter->unit == RNA_UNIT_WORDS ? 4 : 1);

		for (size_t d = 0; d < 2; d++) {
			RNA_STRBUF struct rna_strbuf line = RNA_STRBUF_INIT;
			unsigned layer = d == 0 ? RNA_ON_INFINIBAND : RNA_ON_ETHERNET;

			rna_strbuf_printf(&line, "rdma_%s_%s%s{device=\"mlx5_%zu\"%s",
					  device ? "device" : "port", counter->metric,
					  counter->kind == RNA_COUNTER ? "_total" : "", d,
					  device ? "" : ",port=\"1\"");
			if (counter->label)
				rna_strbuf_printf(&line, ",%s=\"%s\"", counter->label,
						  counter->instance);
			rna_strbuf_printf(&line, "} %ju", (uintmax_t)number);
			if (has_line(body, line.data) != (device || counter->link_layers & layer))
				fail_msg("%s", line.data);
		}
	}
}

static void test_collectors(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = render(view, RNA_EXPOSITION_CLASSIC);

	(void)state;
	assert_line(body, "rdma_collector_age_seconds{collector=\"presence\",device=\"node\"} 2");
	assert_line(body, "rdma_collector_success{collector=\"state\",device=\"mlx5_1\"} 0");
	assert_line(body, "rdma_collector_duration_seconds{collector=\"state\",device=\"mlx5_0\"} "
			  "1.5");
	assert_line(body,
		    "rdma_collector_stalled_seconds{collector=\"state\",device=\"mlx5_0\"} 0");
	/* a first run that hangs has no result, but it is stalled */
	assert_line(body, "rdma_collector_stalled_seconds{collector=\"state\",device=\"rxe2\"} 10");
	assert_false(
		has_line(body, "rdma_collector_success{collector=\"state\",device=\"rxe2\"} 0"));
	assert_line(body, "rdma_collector_errors_total{collector=\"state\",device=\"mlx5_1\","
			  "reason=\"invalid\"} 5");
}

static void test_summary_of_collectors(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(8);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = NULL;

	(void)state;
	view->metrics.all_jobs = false;
	body = render(view, RNA_EXPOSITION_CLASSIC);
	assert_line(body, "rdma_collector_age_seconds{collector=\"presence\"} 2");
	assert_line(body, "rdma_collector_age_seconds{collector=\"state\"} 0.5");
	assert_line(body, "rdma_collector_success{collector=\"state\"} 0");
	assert_line(body, "rdma_collector_errors_total{collector=\"state\",reason=\"invalid\"} "
			  "15");
	assert_line(body, "rdma_collector_stalled_seconds{collector=\"state\",device=\"rxe2\"} 10");
	assert_line(body, "rdma_agent_jobs{state=\"succeeded\"} 4");
	assert_line(body, "rdma_agent_jobs{state=\"failed\"} 3");
	assert_line(body, "rdma_agent_jobs{state=\"stalled\"} 2");
	assert_line(body, "rdma_agent_jobs{state=\"pending\"} 0");
	assert_line(body, "rdma_agent_longest_run_seconds 1.5");
	assert_no_sample(body, "rdma_collector_duration_seconds", "mlx5_0");
	assert_no_sample(body, "rdma_collector_stalled_seconds", "mlx5_0");
	assert_false(has_line(body, "rdma_collector_success{collector=\"presence\"} 1"));
}

static void test_details_can_be_turned_on(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = NULL;

	(void)state;
	view->metrics.details = false;
	body = render(view, RNA_EXPOSITION_CLASSIC);
	assert_no_sample(body, "rdma_port_max_mtu_bytes", "mlx5_0");
	assert_no_sample(body, "rdma_port_unicast_packets_received_total", "mlx5_0");
	assert_no_sample(body, "rdma_port_gids", "mlx5_0"); /* InfiniBand */
	assert_line(body, "rdma_port_gids{device=\"mlx5_1\",port=\"1\",type=\"RoCE v2\","
			  "family=\"ipv4\"} 1");
	body = rna_body_unref(body);
	view->metrics.details = true;
	body = render(view, RNA_EXPOSITION_CLASSIC);
	assert_line(body, "rdma_port_max_mtu_bytes{device=\"mlx5_0\",port=\"1\"} 4096");
}

static void test_agent(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(0);
	RNA_CLEANUP(rna_body_unref_p)
	struct rna_body *body = render(view, RNA_EXPOSITION_OPENMETRICS);

	(void)state;
	assert_line(body, "rdma_devices 0");
	assert_line(body, "# TYPE rdma_agent_build info");
	assert_line(body, "rdma_agent_start_time_seconds 1763716740.5");
	assert_line(body, "process_cpu_seconds_total 1.25");
	assert_false(has_line(body, "process_max_fds 0")); /* absent is not zero */
	assert_memory_equal(body->data + body->len - 6, "# EOF\n", 6);
}

/* A row of the table, its unit applied; the test's view gives each counter its place in the table.
 */
static void assert_alias(const struct rna_body *body, const char *metric, const char *file,
			 enum rna_counter_place place)
{
	const struct rna_counter *counter = rna_counter_find(place, file);
	uint64_t number = (uint64_t)(counter - rna_counters) + 1000000;
	RNA_STRBUF struct rna_strbuf line = RNA_STRBUF_INIT;

	rna_strbuf_printf(&line, "node_infiniband_%s{device=\"mlx5_1\",port=\"1\"} %" PRIu64,
			  metric, counter->unit == RNA_UNIT_WORDS ? number * 4 : number);
	assert_line(body, line.data);
}

static void test_names_of_node_exporter(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *own = render(view, RNA_EXPOSITION_CLASSIC);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = NULL;

	(void)state;
	view->metrics.node_exporter_names = true;
	body = render(view, RNA_EXPOSITION_CLASSIC);
	assert_memory_equal(body->data, own->data, own->len); /* they come behind ours */
	assert_null(memmem(own->data, own->len, "node_infiniband_", 16));

	assert_line(body, "# TYPE node_infiniband_info gauge");
	assert_line(body, "node_infiniband_info{device=\"mlx5_0\",board_id=\"MT_0000000838\","
			  "firmware_version=\"28.39.1002\",hca_type=\"MT4129\"} 1");
	/* mlx5_1 is DOWN: rdma_port_rate_bytes_per_second has no sample */
	assert_line(body, "node_infiniband_rate_bytes_per_second{device=\"mlx5_1\",port=\"1\"} "
			  "50000000000");
	assert_line(body, "node_infiniband_state_id{device=\"mlx5_1\",port=\"1\"} 1");
	assert_alias(body, "port_data_received_bytes_total", "port_rcv_data",
		     RNA_PLACE_PORT_COUNTERS);
	assert_alias(body, "vl15_dropped_total", "VL15_dropped", RNA_PLACE_PORT_COUNTERS);
	assert_alias(body, "roce_slow_restart_used_total", "roce_slow_restart",
		     RNA_PLACE_PORT_HW_COUNTERS);
	assert_alias(body, "roce_slow_restart_total", "roce_slow_restart_trans",
		     RNA_PLACE_PORT_HW_COUNTERS);
	assert_no_sample(body, "node_infiniband_state_id", "rxe2"); /* absent is not zero */
}

static void test_gzip_is_the_same_text(void **state)
{
	RNA_CLEANUP(rna_renderer_free_p)
	struct rna_renderer *renderer = rna_renderer_new();
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(3);
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *plain = NULL;
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *packed = NULL;
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	RNA_FREE char *text = NULL;

	(void)state;
	assert_int_equal(rna_renderer_metrics(renderer, joined(view), RNA_EXPOSITION_CLASSIC,
					      &plain),
			 0);
	assert_int_equal(rna_renderer_pack(renderer, plain, &packed), 0);
	text = malloc(plain->len);
	assert_int_equal(libdeflate_gzip_decompress(decompressor, packed->data, packed->len, text,
						    plain->len, NULL),
			 LIBDEFLATE_SUCCESS);
	assert_memory_equal(text, plain->data, plain->len);
	libdeflate_free_decompressor(decompressor);
}

/* Prepared labels must not outlive the devices and jobs that they are of. */
static void test_labels_follow_the_device_set(void **state)
{
	RNA_CLEANUP(rna_renderer_free_p)
	struct rna_renderer *renderer = rna_renderer_new();
	static const size_t sizes[] = {3, 0, 12, 1, 6};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(sizes); i++) {
		RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = new_view(sizes[i]);
		RNA_CLEANUP(rna_body_unref_p) struct rna_body *kept = NULL;
		RNA_CLEANUP(rna_body_unref_p) struct rna_body *fresh = NULL;

		own_snapshot(view)->device_set = i;
		if (view->job_count > 1)
			own_jobs(view)[1].device = "gone";
		fresh = render(view, RNA_EXPOSITION_CLASSIC);
		rna_renderer_metrics(renderer, joined(view), RNA_EXPOSITION_CLASSIC, &kept);
		assert_int_equal(kept->len, fresh->len);
		assert_memory_equal(kept->data, fresh->data, fresh->len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_info_labels),
		cmocka_unit_test(test_network_interfaces),
		cmocka_unit_test(test_gids),
		cmocka_unit_test(test_gids_without_the_second_version),
		cmocka_unit_test(test_gid_info_can_be_turned_off),
		cmocka_unit_test(test_summary_of_collectors),
		cmocka_unit_test(test_details_can_be_turned_on),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_resources),
		cmocka_unit_test(test_fabric),
		cmocka_unit_test(test_link_layer_decides),
		cmocka_unit_test(test_collectors),
		cmocka_unit_test(test_agent),
		cmocka_unit_test(test_names_of_node_exporter),
		cmocka_unit_test(test_gzip_is_the_same_text),
		cmocka_unit_test(test_labels_follow_the_device_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
