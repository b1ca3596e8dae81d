// SPDX-License-Identifier: Apache-2.0
/*
 * agent/bandwidth: which tests a request comes to, whether a call is answered, and grades. The node
 * has two ports of 400 Gb/s, mlx5_0 and mlx5_1, on two rails, and probes n2 and n3.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bandwidth/measure_plan.h"
#include "mesh/neighbours.h"

#include "health_view.h"

#define GBIT 125000000ULL /* bytes per second */

struct scene {
	struct rna_settings settings;
	struct node node;
	struct rna_view *view;
	struct rna_pairs *pairs;
	struct rna_measure_terms terms;
	struct rna_measure_runs runs;
	struct rna_measure_run run;
	struct rna_error error;
};

static void add_peer(struct scene *scene, size_t number, const char *name, unsigned tcp_port)
{
	struct rna_probing_peer *peer = &scene->pairs->peers[number];

	peer->answered = true;
	peer->facts.bandwidth_port = tcp_port;
	(void)snprintf(peer->name, sizeof(peer->name), "%s", name);
	(void)snprintf(peer->host, sizeof(peer->host), "%s.example", name);
	for (size_t i = 0; i < 2; i++) {
		struct rna_probing_pair *pair = &scene->pairs->pairs[2 * number + i];

		*pair = (struct rna_probing_pair){.port = &scene->pairs->ports[i],
						  .peer = peer,
						  .listed = true,
						  .scope = RNA_PROBE_FABRIC,
						  .state = RNA_PROBE_RUNNING,
						  .number = 1};
		(void)snprintf(pair->device, sizeof(pair->device), "ib%zu", i);
	}
}

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	if (!scene)
		return -1;
	assert_int_equal(rna_settings_init(&scene->settings), 0);
	scene->settings.probe_enabled = scene->settings.probe_bandwidth = true;
	node_init(&scene->node, RNA_LINK_LAYER_ETHERNET, 2);
	scene->view = node_view(&scene->node);
	scene->view->agent.name = "n1";
	scene->pairs = calloc(1, sizeof(*scene->pairs));
	assert_non_null(scene->pairs);
	for (unsigned i = 0; i < 2; i++) {
		struct rna_probing_port *port = &scene->pairs->ports[i];

		port->open = port->listed = true;
		port->plan = (struct rna_probe_plan){.port = 1, .rail = i};
		(void)snprintf(port->plan.device, sizeof(port->plan.device), "mlx5_%u", i);
	}
	add_peer(scene, 0, "n2", 10880);
	add_peer(scene, 1, "n3", 0);
	scene->terms = (struct rna_measure_terms){.view = scene->view,
						  .pairs = scene->pairs,
						  .settings = &scene->settings};
	*state = scene;
	return 0;
}

static int clean_up(void **state)
{
	struct scene *scene = *state;

	rna_measure_runs_deinit(&scene->runs);
	(void)rna_view_unref(scene->view);
	rna_settings_deinit(&scene->settings);
	free(scene->pairs);
	free(scene);
	return 0;
}

static int request(struct scene *scene, const char *target)
{
	rna_measure_runs_deinit(&scene->runs);
	scene->error = (struct rna_error){0};
	return rna_measure_with_peer(&scene->terms, target, &scene->runs, &scene->error);
}

/* -- Asking ------------------------------------------------------------------------------------ */

static void test_all_rails_of_a_peer(void **state)
{
	struct scene *scene = *state;
	const struct rna_measure_run *run;

	scene->pairs->ports[1].plan.class =
		(struct rna_probe_class){.traffic_class = 104, .service_level = 3};
	assert_int_equal(request(scene, "n2"), 0);
	assert_int_equal(scene->runs.count, 2);
	run = &scene->runs.items[1];
	assert_int_equal(run->test.end, RNA_LOOPBACK_DONE); /* none yet */
	assert_string_equal(run->test.device, "mlx5_1");
	assert_string_equal(run->test.peer_device, "ib1");
	assert_string_equal(run->host, "n2.example");
	assert_int_equal(run->tcp_port, 10880);
	assert_string_equal(run->call.node, "n1");
	assert_string_equal(run->call.own_device, "mlx5_1");
	assert_string_equal(run->call.device, "ib1");
	assert_int_equal(run->call.port, 1);
	assert_true(run->call.expected == 400 * GBIT);
	assert_string_equal(run->request.device, "mlx5_1");
	assert_int_equal(run->request.latency_rounds, 0);
	assert_int_equal(run->request.gate, 1);
	assert_int_equal(run->request.traffic_class, 104);
	assert_int_equal(run->request.service_level, 3);
}

static void test_one_port_of_a_peer(void **state)
{
	static const char *const targets[] = {"n2:ib1", "n2:ib1/1", "n2:ib1:1"};
	struct scene *scene = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(targets); i++) {
		assert_int_equal(request(scene, targets[i]), 0);
		assert_int_equal(scene->runs.count, 1);
		assert_string_equal(scene->runs.items[0].test.device, "mlx5_1");
	}
	assert_int_equal(request(scene, "n2:ib1/2"), -ENODEV);
	assert_string_equal(scene->error.text, "n2 has no port \"ib1/2\" on a rail of this node");
}

static void test_a_name_with_colons(void **state)
{
	struct scene *scene = *state;

	add_peer(scene, 1, "[fd00::7]", 10880);
	assert_int_equal(request(scene, "[fd00::7]:ib0"), 0);
	assert_int_equal(scene->runs.count, 1);
}

static void test_mistakes_say_what_to_do(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(request(scene, "n4"), -ENOENT);
	assert_string_equal(scene->error.text,
			    "n4: this node does not probe that node; it probes n2, n3");
	assert_int_equal(request(scene, "n3"), -EACCES);
	assert_string_equal(scene->error.text,
			    "n3 does not let bandwidth be measured: set probe.bandwidth: true in "
			    "the configuration of that node");
	scene->pairs->peers[0].answered = false;
	(void)snprintf(scene->pairs->peers[0].text, sizeof(scene->pairs->peers[0].text),
		       "connection refused");
	assert_int_equal(request(scene, "n2"), -EHOSTUNREACH);
	assert_string_equal(scene->error.text, "n2: its agent does not answer: connection refused");
	scene->settings.probe_bandwidth = false;
	assert_int_equal(request(scene, "n2"), -EACCES);
	assert_string_equal(scene->error.text, "this node does not measure bandwidth: set "
					       "probe.bandwidth: true in its configuration");
}

static void test_a_pair_that_does_not_run_is_skipped(void **state)
{
	struct scene *scene = *state;

	scene->pairs->pairs[0].state = RNA_PROBE_PEER_REFUSED;
	(void)snprintf(scene->pairs->pairs[0].text, sizeof(scene->pairs->pairs[0].text),
		       "it has another secret");
	assert_int_equal(request(scene, "n2"), 0);
	assert_int_equal(scene->runs.items[0].test.end, RNA_LOOPBACK_SKIPPED);
	assert_string_equal(scene->runs.items[0].test.text, "n2 ib0/1: it has another secret");
	assert_int_equal(scene->runs.items[1].test.end, RNA_LOOPBACK_DONE);
}

/* -- Answering --------------------------------------------------------------------------------- */

static struct rna_bandwidth_call make_call(const char *device)
{
	struct rna_bandwidth_call call = {.port = 1, .own_port = 1, .node = "n2"};

	(void)snprintf(call.device, sizeof(call.device), "%s", device);
	(void)snprintf(call.own_device, sizeof(call.own_device), "ib0");
	return call;
}

static void assert_refused(struct scene *scene, const struct rna_bandwidth_call *call,
			   enum rna_skip skip, const char *text)
{
	assert_false(rna_measure_answer(&scene->terms, call, &scene->run));
	assert_int_equal(scene->run.test.end, RNA_LOOPBACK_SKIPPED);
	assert_int_equal(scene->run.test.skip, skip);
	assert_string_equal(scene->run.test.text, text);
}

static void test_an_idle_port_answers(void **state)
{
	struct rna_bandwidth_call call = make_call("mlx5_0");
	struct scene *scene = *state;

	assert_true(rna_measure_answer(&scene->terms, &call, &scene->run));
	assert_int_equal(scene->run.test.cause, RNA_BANDWIDTH_PEER);
	assert_string_equal(scene->run.test.peer, "n2");
	assert_string_equal(scene->run.test.peer_device, "ib0");
	assert_string_equal(scene->run.request.device, "mlx5_0");
	assert_int_equal(scene->run.request.gate, 1);
	assert_true(scene->run.expected == 400 * GBIT);
}

static void test_who_and_what_is_refused(void **state)
{
	struct rna_bandwidth_call call = make_call("mlx5_0"), none = make_call("mlx5_7");
	struct scene *scene = *state;

	assert_refused(scene, &none, RNA_SKIP_NO_DEVICE, "mlx5_7/1: this node has no such port");
	scene->pairs->ports[0].open = false;
	assert_refused(scene, &call, RNA_SKIP_NO_RESOURCES,
		       "mlx5_0/1: the prober does not have this port open: it opens it soon");
	scene->pairs->ports[0].plan.why = "it has no GID of RoCE v2";
	assert_refused(
		scene, &call, RNA_SKIP_NO_RESOURCES,
		"mlx5_0/1: the prober does not have this port open: it has no GID of RoCE v2");
	scene->pairs->ports[0].plan.why = NULL;
	scene->pairs->ports[0].open = true;
	scene->terms.busy = "a self-test";
	assert_refused(scene, &call, RNA_SKIP_LOCKED, "this node is busy: a self-test");
	scene->terms.busy = NULL;
	scene->terms.hold = RNA_SKIP_QUIESCED;
	assert_refused(scene, &call, RNA_SKIP_QUIESCED, "The agent is quiesced.");
	scene->terms.hold = RNA_SKIP_NONE;
	(void)snprintf(call.group, sizeof(call.group), "other");
	assert_refused(scene, &call, RNA_SKIP_DISABLED,
		       "this node is of another group (probe.group)");
	call.group[0] = '\0';
	scene->terms.view = NULL;
	assert_refused(scene, &call, RNA_SKIP_NO_DEVICE, "mlx5_0/1: this node has no such port");
}

static void test_a_port_that_is_down_does_not_answer(void **state)
{
	struct rna_bandwidth_call call = make_call("mlx5_0");
	struct scene *scene = *state;

	(void)rna_view_unref(scene->view);
	scene->node.ports[0].state = rna_value_ok(RNA_PORT_DOWN);
	scene->terms.view = scene->view = node_view(&scene->node);
	assert_refused(scene, &call, RNA_SKIP_NOT_ACTIVE, "mlx5_0/1: The port is not ACTIVE.");
}

/* -- The next node ----------------------------------------------------------------------------- */

static void test_the_next_node_consents_and_is_near(void **state)
{
	struct scene *scene = *state;
	const struct rna_probing_port *port = &scene->pairs->ports[1];
	uint64_t own = rna_ring_place("n1");
	bool first = rna_ring_place("n2") - own < rna_ring_place("n3") - own;

	assert_true(rna_measure_next(&scene->terms, port, "n1", &scene->run));
	assert_string_equal(scene->run.test.peer, "n2"); /* n3 does not consent */
	assert_string_equal(scene->run.test.device, "mlx5_1");
	assert_int_equal(scene->run.test.cause, RNA_BANDWIDTH_WINDOW);
	scene->pairs->peers[1].facts.bandwidth_port = 10880;
	assert_true(rna_measure_next(&scene->terms, port, "n1", &scene->run));
	assert_string_equal(scene->run.test.peer, first ? "n2" : "n3");
	scene->pairs->pairs[first ? 3 : 1].scope = RNA_PROBE_LEAF;
	assert_true(rna_measure_next(&scene->terms, port, "n1", &scene->run));
	assert_string_equal(scene->run.test.peer, first ? "n3" : "n2");
	scene->pairs->pairs[1].state = scene->pairs->pairs[3].state = RNA_PROBE_PEER_DOWN;
	assert_false(rna_measure_next(&scene->terms, port, "n1", &scene->run));
}

/* -- Results ----------------------------------------------------------------------------------- */

static enum rna_grade grade(struct scene *scene, uint64_t out, uint64_t in, uint64_t peer)
{
	const struct rna_bandwidth_result result = {.end = RNA_LOOPBACK_DONE,
						    .out = out,
						    .in = in,
						    .expected = peer};

	scene->run = (struct rna_measure_run){.expected = 400 * GBIT};
	rna_measure_take(&scene->run, &result, &scene->settings);
	return scene->run.test.grade;
}

static void test_the_slower_link_and_direction_count(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(grade(scene, 390 * GBIT, 385 * GBIT, 400 * GBIT), RNA_GRADE_OK);
	assert_int_equal(grade(scene, 390 * GBIT, 330 * GBIT, 400 * GBIT), RNA_GRADE_WARNING);
	assert_int_equal(grade(scene, 100 * GBIT, 390 * GBIT, 400 * GBIT), RNA_GRADE_FAILED);
	assert_int_equal(grade(scene, 190 * GBIT, 185 * GBIT, 200 * GBIT), RNA_GRADE_OK);
	assert_true(scene->run.test.expected == 200 * GBIT);
	assert_int_equal(grade(scene, 1 * GBIT, 1 * GBIT, 0), RNA_GRADE_NONE);
}

static void test_the_exit_code(void **state)
{
	struct rna_measure_run runs[2] = {0};
	struct rna_measure_runs all = {2, runs};

	(void)state;
	rna_measure_skip(&runs[0].test, RNA_SKIP_BUSY, "busy");
	rna_measure_skip(&runs[1].test, RNA_SKIP_BUSY, "busy");
	assert_int_equal(rna_measure_sum_up(&all), 3);
	runs[1].test = (struct rna_bandwidth_test){.end = RNA_LOOPBACK_DONE};
	assert_int_equal(rna_measure_sum_up(&all), 0);
	runs[1].test.grade = RNA_GRADE_WARNING;
	assert_int_equal(rna_measure_sum_up(&all), 1);
	runs[1].test.grade = RNA_GRADE_FAILED;
	assert_int_equal(rna_measure_sum_up(&all), 2);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, clean_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_all_rails_of_a_peer),
		TEST(test_one_port_of_a_peer),
		TEST(test_a_name_with_colons),
		TEST(test_mistakes_say_what_to_do),
		TEST(test_a_pair_that_does_not_run_is_skipped),
		TEST(test_an_idle_port_answers),
		TEST(test_who_and_what_is_refused),
		TEST(test_a_port_that_is_down_does_not_answer),
		TEST(test_the_next_node_consents_and_is_near),
		TEST(test_the_slower_link_and_direction_count),
		TEST(test_the_exit_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
