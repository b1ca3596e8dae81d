// SPDX-License-Identifier: Apache-2.0
/* exporter/metrics/families_probe.c: what probes become, and how many series that is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "metrics/body.h"

#include "fabric_view.h"

enum { SERIES_MAX = 100 };

static struct rna_body *render(struct fabric *f)
{
	RNA_CLEANUP(rna_renderer_free_p) struct rna_renderer *renderer = rna_renderer_new();
	struct rna_body *body = NULL;

	assert_non_null(renderer);
	assert_int_equal(rna_renderer_metrics(renderer, joined(f->view), RNA_EXPOSITION_CLASSIC,
					      &body),
			 0);
	return body;
}

static bool begins_with(const char *line, size_t len, const char *start)
{
	return len >= strlen(start) && memcmp(line, start, strlen(start)) == 0;
}

/* Samples whose lines begin with that, but not histograms. */
static size_t count(const struct rna_body *body, const char *start)
{
	size_t found = 0;

	for (const char *at = body->data, *end = body->data + body->len; at < end;) {
		const char *eol = memchr(at, '\n', (size_t)(end - at));

		assert_non_null(eol);
		found += begins_with(at, (size_t)(eol - at), start) &&
			 !begins_with(at, (size_t)(eol - at), "rdma_probe_rtt_seconds");
		at = eol + 1;
	}
	return found;
}

static void assert_line(const struct rna_body *body, const char *line)
{
	if (count(body, line) != 1)
		fail_msg("there is no line: %s", line);
}

static void test_ports_count_their_pairs(void **state)
{
	struct fabric *f = *state;

	f->pairs[0].signs = RNA_PROBE_SILENT;
	f->pairs[1].signs = RNA_PROBE_MTU_HOLE | RNA_PROBE_SLOW;
	f->pairs[2].signs = RNA_PROBE_SLOW; /* it answers all the same */
	f->pairs[3].state = RNA_PROBE_PEER_DOWN;
	f->pairs[4].recent.answered = 0; /* not yet */
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = render(f);

	assert_line(body,
		    "rdma_probe_port_pairs{device=\"mlx5_0\",port=\"1\",result=\"losing\"} 2");
	assert_line(body,
		    "rdma_probe_port_pairs{device=\"mlx5_0\",port=\"1\",result=\"answering\"} 2");
	assert_line(body,
		    "rdma_probe_port_pairs{device=\"mlx5_1\",port=\"1\",result=\"answering\"} 6");
	assert_int_equal(count(body,
			       "rdma_probe_port_pairs{device=\"mlx5_1\",port=\"1\",result=\"l"),
			 0);
}

static void test_peers_find_the_node_by_its_name_in_the_list(void **state)
{
	struct fabric *f = *state;
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = render(f);

	assert_line(body, "rdma_probe_port_info{device=\"mlx5_0\",port=\"1\",rail=\"0\","
			  "leaf=\"leaf-a\",group=\"\",member=\"10.9.0.1\"} 1");
	f->probes.member = "";
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *later = render(f);

	assert_line(later, "rdma_probe_port_info{device=\"mlx5_0\",port=\"1\",rail=\"0\","
			   "leaf=\"leaf-a\",group=\"\",member=\"n1\"} 1");
}

/* The first sign is the one that counts. */
static void test_pairs_with_signs_have_series(void **state)
{
	struct fabric *f = *state;

	f->pairs[4].signs = RNA_PROBE_LOSS | RNA_PROBE_SLOW;
	f->pairs[4].recent = (struct rna_probe_counts){.sent = 1000, .answered = 990, .lost = 10};
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = render(f);

	assert_line(body, "rdma_probe_pair_lost_ratio{device=\"mlx5_0\",port=\"1\",peer=\"n6\","
			  "peer_port=\"mlx5_0/1\",peer_leaf=\"leaf-b\",scope=\"fabric\","
			  "sign=\"loss\"} 0.01");
	assert_int_equal(count(body, "rdma_probe_pair_lost_ratio{"), 1);
}

/* A node with eight ports, one of which is dead, beside the histograms. */
static void test_a_node_has_at_most_a_hundred_series(void **state)
{
	struct fabric *f = *state;

	for (size_t i = 0; i < PEERS; i++) {
		f->pairs[i].signs = RNA_PROBE_SILENT;
		f->pairs[i].recent = (struct rna_probe_counts){.sent = 9, .lost = 9};
		f->pairs[i + PEERS].signs = RNA_PROBE_LOSS;
	}
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = render(f);

	assert_int_equal(count(body, "rdma_probe_pair_lost_ratio{"), 2 * PEERS);
	assert_true(count(body, "rdma_probe_") > PORTS * 8);
	assert_true(count(body, "rdma_probe_") <= SERIES_MAX);
}

static struct rna_bandwidth_test make_test(struct fabric *f, size_t port, enum rna_loopback_end end)
{
	struct rna_bandwidth_test test = {
		.time.realtime = 1700000000 * RNA_USEC_PER_SEC,
		.port = 1,
		.peer = "n2",
		.end = end,
		.out = 48000000000,
		.in = 47000000000,
		.expected = 50000000000,
		.grade = RNA_GRADE_OK,
	};

	(void)snprintf(test.device, sizeof(test.device), "%s", f->ports[port].device);
	return test;
}

static void test_bandwidth_is_that_of_the_newest_completed_test(void **state)
{
	struct fabric *f = *state;
	struct rna_bandwidth_port ports[2] = {
		{make_test(f, 0, RNA_LOOPBACK_DONE), make_test(f, 0, RNA_LOOPBACK_SKIPPED)},
		{.last = make_test(f, 1, RNA_LOOPBACK_SKIPPED)},
	};
	const struct rna_bandwidths bandwidths = {.tcp_port = 10880,
						  .strangers = 3,
						  .count = 2,
						  .ports = ports};

	ports[0].last.skip = ports[1].last.skip = RNA_SKIP_BUSY;
	f->view->bandwidths = &bandwidths;
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = render(f);

	f->view->bandwidths = NULL;
	assert_line(body, "rdma_probe_bandwidth_bytes_per_second{device=\"mlx5_0\",port=\"1\","
			  "peer=\"n2\",direction=\"in\"} 47000000000");
	assert_line(body, "rdma_probe_bandwidth_bytes_per_second{device=\"mlx5_0\",port=\"1\","
			  "peer=\"n2\",direction=\"out\"} 48000000000");
	assert_line(body, "rdma_probe_bandwidth_expected_bytes_per_second{device=\"mlx5_0\","
			  "port=\"1\"} 50000000000");
	assert_line(body, "rdma_probe_bandwidth_ok{device=\"mlx5_0\",port=\"1\"} 1");
	assert_line(body, "rdma_probe_bandwidth_timestamp_seconds{device=\"mlx5_0\",port=\"1\"} "
			  "1700000000");
	assert_line(body, "rdma_probe_bandwidth_skipped{device=\"mlx5_1\",port=\"1\","
			  "reason=\"busy\"} 1");
	assert_line(body, "rdma_probe_bandwidth_up 1");
	assert_line(body, "rdma_probe_bandwidth_strangers_total 3");
	assert_int_equal(count(body, "rdma_probe_bandwidth_"), 6 + 1 + 2);
}

static void test_without_consent_there_is_no_series_of_bandwidth(void **state)
{
	struct fabric *f = *state;
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = render(f);

	assert_int_equal(count(body, "rdma_probe_bandwidth_"), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fabric_set_up, fabric_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ports_count_their_pairs),
		TEST(test_peers_find_the_node_by_its_name_in_the_list),
		TEST(test_pairs_with_signs_have_series),
		TEST(test_a_node_has_at_most_a_hundred_series),
		TEST(test_bandwidth_is_that_of_the_newest_completed_test),
		TEST(test_without_consent_there_is_no_series_of_bandwidth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
