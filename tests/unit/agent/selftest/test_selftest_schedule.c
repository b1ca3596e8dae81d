// SPDX-License-Identifier: Apache-2.0
/*
 * agent/selftest: whose turn it is, what is done then, and what is remembered of it. Tests run in
 * real children, which are this same program and answer by the name of the device:
 *   mlx5_0  moves 390 of 400 Gb/s      mlx5_2  finds its port busy, with a job's queue pairs
 *   mlx5_1  moves 190                  mlx5_3  is killed
 *   mlx5_4  moves 390, and is open in another process: ibacm, or a small job
 *   mlx5_5  crashes
 * and no GPU is to be had, nor memory of NUMA node 9.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>
#include <unistd.h>
#include <cmocka.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "memory/memory.h"
#include "selftest/selftest_schedule.h"
#include "selftest/test_process.h"

#include "emulated.h"
#include "health_view.h"

#define GBIT     125000000ULL /* bytes per second */
#define PATIENCE (20 * RNA_USEC_PER_SEC)
#define HOUR     (3600 * RNA_USEC_PER_SEC)

/* -- The child --------------------------------------------------------------------------------- */

static int answer(void)
{
	enum { SOCKET = 3 };
	struct rna_loopback_request request;
	struct rna_loopback_result result = {.bytes = 64 << 20, .duration = 1000, .qps = 2};
	bool opened, gpu;
	char which;

	if (recv(SOCKET, &request, sizeof(request), 0) != sizeof(request))
		return 1;
	gpu = request.endpoint == RNA_ENDPOINT_GPU;
	if (gpu || request.memory_node == 9) {
		result = (struct rna_loopback_result){
			.end = RNA_LOOPBACK_SKIPPED,
			.skip = gpu ? RNA_SKIP_NO_GPU : RNA_SKIP_NO_MEMORY_NODE,
			.qps = 2,
		};
		return send(SOCKET, &result, sizeof(result), 0) == sizeof(result) ? 0 : 1;
	}
	which = request.device[strlen(request.device) - 1];
	opened = which == '2' || which == '4';
	if (opened)
		result.qps = which == '2' ? 500 : 6;
	if (request.idle_qps < result.qps || /* as the gate has it */
	    (opened && request.idle_contexts == 0)) {
		result.bytes = 0;
		result.end = RNA_LOOPBACK_SKIPPED;
		result.skip = RNA_SKIP_BUSY;
		return send(SOCKET, &result, sizeof(result), 0) == sizeof(result) ? 0 : 1;
	}
	switch (which) {
	case '0':
	case '2':
	case '4':
		result.bandwidth = 390 * GBIT;
		break;
	case '1':
		result.bandwidth = 190 * GBIT;
		break;
	case '5':
		(void)raise(SIGABRT);
		break;
	default:
		(void)raise(SIGKILL);
	}
	return send(SOCKET, &result, sizeof(result), 0) == sizeof(result) ? 0 : 1;
}

/* -- The scene --------------------------------------------------------------------------------- */

struct scene {
	sd_event *event;
	struct rna_settings settings;
	struct node node;
	struct rna_view *view;
	struct rna_selftest *selftest;
	unsigned news;
	size_t runs_at_news;
	/* The calls of the listener. */
	unsigned begun, done;
	struct rna_selftest_run runs[6];
	size_t run_count;
};

/* As the agent does, in a new view. */
static void on_news(void *userdata)
{
	struct scene *scene = userdata;
	struct rna_selftests *results = rna_selftest_results(scene->selftest);

	scene->news++;
	scene->runs_at_news = 0;
	for (size_t i = 0; i < results->count; i++)
		scene->runs_at_news += results->ports[i].count;
	(void)rna_part_unref(&results->part);
	rna_selftest_follow(scene->selftest, scene->view);
}

static void set_up(struct scene *scene, size_t ports, rna_usec period)
{
	*scene = (struct scene){0};
	assert_true(sd_event_new(&scene->event) >= 0);
	assert_int_equal(rna_settings_init(&scene->settings), 0);
	scene->settings.selftest_period = period;
	node_init(&scene->node, RNA_LINK_LAYER_ETHERNET, ports);
	scene->view = node_view(&scene->node);
	scene->selftest = rna_selftest_new(scene->event, &scene->settings, on_news, scene);
	assert_non_null(scene->selftest);
}

static void follow(struct scene *scene)
{
	rna_selftest_follow(scene->selftest, scene->view);
}

static void tear_down(struct scene *scene)
{
	(void)rna_selftest_free(scene->selftest);
	(void)rna_view_unref(scene->view);
	rna_settings_deinit(&scene->settings);
	(void)sd_event_unref(scene->event);
}

/* What is known of the port; valid until the next call. */
static const struct rna_selftest_port *known(struct scene *scene, const char *device)
{
	static struct rna_selftests *results;
	size_t hint = 0;

	if (results)
		(void)rna_part_unref(&results->part);
	results = NULL;
	if (!device)
		return NULL;
	results = rna_selftest_results(scene->selftest);
	assert_non_null(results);
	return rna_selftest_find(results, device, 1, &hint);
}

static void wait_for(struct scene *scene, const char *device,
		     bool (*is_so)(const struct rna_selftest_port *port))
{
	rna_usec end = rna_clock_monotonic() + PATIENCE;

	while (!is_so(known(scene, device))) {
		assert_true(rna_clock_monotonic() < end);
		assert_true(sd_event_run(scene->event, RNA_USEC_PER_SEC) >= 0);
	}
}

static bool was_tested(const struct rna_selftest_port *port)
{
	return port->count > 0;
}

static bool was_tested_twice(const struct rna_selftest_port *port)
{
	return port->count > 1;
}

static bool was_skipped(const struct rna_selftest_port *port)
{
	return port->skip != RNA_SKIP_NONE;
}

/* -- On demand --------------------------------------------------------------------------------- */

static void on_progress(const struct rna_selftest_run *run, void *userdata)
{
	struct scene *scene = userdata;

	assert_non_null(run);
	scene->begun++;
}

static void on_done(const struct rna_selftest_run *runs, size_t count, void *userdata)
{
	struct scene *scene = userdata;

	assert_true(count <= RNA_ARRAY_SIZE(scene->runs));
	memcpy(scene->runs, runs, count * sizeof(*runs));
	scene->run_count = count;
	scene->done++;
}

static int demand(struct scene *scene, const struct rna_selftest_options *options,
		  struct rna_error *error)
{
	const struct rna_selftest_listener listener = {on_progress, on_done, scene};

	return rna_selftest_demand(scene->selftest, options, &listener, error);
}

static void wait_until_done(struct scene *scene)
{
	rna_usec end = rna_clock_monotonic() + PATIENCE;

	while (scene->done == 0) {
		assert_true(rna_clock_monotonic() < end);
		assert_true(sd_event_run(scene->event, RNA_USEC_PER_SEC) >= 0);
	}
}

static const struct rna_selftest_options everything = {.numa_node = -1};

static void test_demand(void **state)
{
	const struct rna_selftest_port *port;
	struct rna_error error = {0};
	struct scene scene;

	(void)state;
	set_up(&scene, 4, HOUR);
	assert_int_equal(demand(&scene, &everything, &error), -EAGAIN); /* no view yet */
	follow(&scene);
	assert_int_equal(demand(&scene, &everything, &error), 0);
	assert_int_equal(demand(&scene, &everything, &error), -EBUSY); /* one after the other */
	wait_until_done(&scene);
	assert_int_equal(scene.news, 1); /* before who asked hears of it: he may end the agent */
	assert_int_equal(scene.runs_at_news, 2);
	assert_int_equal(scene.begun, 4);
	assert_int_equal(scene.run_count, 4);
	assert_int_equal(scene.runs[0].grade, RNA_GRADE_OK);
	assert_int_equal(scene.runs[1].grade, RNA_GRADE_FAILED);
	assert_int_equal(scene.runs[2].grade, RNA_GRADE_NONE);
	assert_int_equal(scene.runs[3].grade, RNA_GRADE_NONE);
	port = known(&scene, "mlx5_0");
	assert_true(port->last_run > 0 && port->last_success == port->last_run);
	assert_int_equal(port->bytes, 64 << 20);
	assert_int_equal(port->results[RNA_GRADE_OK], 1);
	assert_true(port->runs[0].on_demand && !port->runs[0].special);
	port = known(&scene, "mlx5_1");
	assert_true(port->last_run > 0 && port->last_success == 0);
	port = known(&scene, "mlx5_2");
	assert_int_equal(port->count, 0);
	assert_int_equal(port->last_run, 0);
	assert_int_equal(port->skips[RNA_SKIP_BUSY], 1);
	assert_int_equal(port->skip, RNA_SKIP_BUSY);
	(void)known(&scene, NULL);
	tear_down(&scene);
}

/* The command tests by a guest of its own, without news, where it finds no agent to ask. */
static void test_a_command_beside_an_agent(void **state)
{
	struct rna_error error = {0};
	struct scene agent, command;

	(void)state;
	set_up(&agent, 1, HOUR);
	follow(&agent);
	set_up(&command, 1, HOUR);
	(void)rna_selftest_free(command.selftest);
	command.selftest = rna_selftest_new(command.event, &command.settings, NULL, NULL);
	assert_non_null(command.selftest);
	follow(&command);
	assert_int_equal(demand(&agent, &everything, &error), 0);
	assert_int_equal(demand(&command, &everything, &error), 0);
	assert_int_equal(command.done, 1); /* at once: the lock is held */
	assert_int_equal(command.runs[0].result.end, RNA_LOOPBACK_SKIPPED);
	assert_int_equal(command.runs[0].result.skip, RNA_SKIP_LOCKED);
	wait_until_done(&agent);
	command.done = 0;
	assert_int_equal(demand(&command, &everything, &error), 0);
	wait_until_done(&command);
	assert_int_equal(command.runs[0].grade, RNA_GRADE_OK);
	assert_int_equal(command.news, 0);
	(void)known(&agent, NULL);
	tear_down(&command);
	tear_down(&agent);
}

/* A NIC at node, and a GPU that is its own. */
static void set_topology(struct scene *scene, int node)
{
	static const char *devices[] = {"mlx5_0"};
	static const struct rna_pci_object objects[] = {{.address = "0000:1a:00.0"},
							{.address = "0000:1b:00.0"}};
	static const struct rna_gpu gpus[] = {{.object = 1}};
	static const struct rna_nic nics[] = {
		{.object = 0, .device_count = 1, .devices = devices, .lag = -1}};
	static const struct rna_gpu_affinity affinities[] = {{.nic = 0}};
	struct rna_device *device =
		(struct rna_device *)(uintptr_t)scene->view->snapshot->devices[0].device;
	struct rna_topology *topology =
		node_part(&scene->node, RNA_COLLECTOR_TOPOLOGY, sizeof(*topology));

	device->numa_node = node;
	topology->object_count = RNA_ARRAY_SIZE(objects);
	topology->objects = objects;
	topology->gpu_count = RNA_ARRAY_SIZE(gpus);
	topology->gpus = gpus;
	topology->nic_count = RNA_ARRAY_SIZE(nics);
	topology->nics = nics;
	topology->affinities = affinities;
	own_snapshot(scene->view)->parts[RNA_COLLECTOR_TOPOLOGY] = &topology->part;
}

/* One kind of memory that can be tested is a port that is tested. */
static void test_a_port_is_skipped_when_all_its_memory_is(void **state)
{
	const struct rna_selftest_options options = {.device = "mlx5_0", .numa_node = -1};
	const struct rna_selftest_port *port;
	struct rna_error error = {0};
	struct scene scene;

	(void)state;
	for (int node = -1; node <= 9; node += 10) {
		set_up(&scene, 1, HOUR);
		scene.settings.selftest_remote_memory = false;
		scene.settings.selftest_gpu_memory = true;
		set_topology(&scene, node);
		follow(&scene);
		assert_int_equal(demand(&scene, &options, &error), 0);
		wait_until_done(&scene);
		assert_int_equal(scene.run_count, 2);
		port = known(&scene, "mlx5_0");
		assert_int_equal(port->count, node == 9 ? 0 : 1);
		assert_int_equal(port->skip, node == 9 ? RNA_SKIP_NO_MEMORY_NODE : RNA_SKIP_NONE);
		assert_int_equal(port->skips[RNA_SKIP_NO_MEMORY_NODE], node == 9);
		assert_int_equal(port->skips[RNA_SKIP_NO_GPU], 1);
		(void)known(&scene, NULL);
		tear_down(&scene);
	}
}

/* Out of memory, or killed by a user: independent of the port, and possibly temporary. */
static void test_a_test_that_is_killed(void **state)
{
	const struct rna_selftest_options options = {.device = "mlx5_3", .numa_node = -1};
	rna_usec now = rna_clock_now().realtime;
	const struct rna_selftest_port *port;
	struct rna_error error = {0};
	struct scene scene;

	(void)state;
	set_up(&scene, 4, 12 * HOUR);
	follow(&scene);
	assert_int_equal(demand(&scene, &options, &error), 0);
	wait_until_done(&scene);
	assert_int_equal(scene.runs[0].result.end, RNA_LOOPBACK_SKIPPED);
	assert_int_equal(scene.runs[0].result.skip, RNA_SKIP_NO_RESOURCES);
	assert_string_equal(scene.runs[0].result.text, "mlx5_3/1: the loopback test was killed by "
						       "signal 9 (Killed)");
	port = known(&scene, "mlx5_3");
	assert_int_equal(port->count, 0);
	assert_int_equal(port->skips[RNA_SKIP_NO_RESOURCES], 1);
	assert_true(port->next < now + 2 * HOUR);
	(void)known(&scene, NULL);
	tear_down(&scene);
}

static void test_a_test_that_crashes(void **state)
{
	const struct rna_selftest_options options = {.device = "mlx5_5", .numa_node = -1};
	struct rna_error error = {0};
	struct scene scene;

	(void)state;
	set_up(&scene, 6, HOUR);
	follow(&scene);
	assert_int_equal(demand(&scene, &options, &error), 0);
	wait_until_done(&scene);
	assert_int_equal(scene.runs[0].grade, RNA_GRADE_FAILED);
	assert_string_equal(scene.runs[0].result.text, "mlx5_5/1: the loopback test was killed by "
						       "signal 6 (Aborted)");
	(void)known(&scene, NULL);
	tear_down(&scene);
}

/* Want of descriptors: the child cannot even be started. */
static void test_a_test_that_cannot_start(void **state)
{
	const struct rna_selftest_options options = {.device = "mlx5_0", .numa_node = -1};
	struct rna_error error = {0};
	struct rlimit limit, none;
	struct scene scene;

	(void)state;
	set_up(&scene, 1, HOUR);
	follow(&scene);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){0, limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(demand(&scene, &options, &error), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(scene.done, 1);
	assert_int_equal(scene.runs[0].result.skip, RNA_SKIP_NO_RESOURCES);
	assert_string_equal(
		scene.runs[0].result.text,
		"mlx5_0/1: cannot create the lock for a loopback test: Too many open files");
	assert_int_equal(known(&scene, "mlx5_0")->stuck, 0);
	(void)known(&scene, NULL);
	tear_down(&scene);
}

/* A port that was not looked at had no queue pairs: that is not how many there are when idle. */
static void test_what_was_not_tested_says_nothing_of_queue_pairs(void **state)
{
	struct rna_error error = {0};
	struct scene scene;

	(void)state;
	set_up(&scene, 1, HOUR);
	scene.node.ports[0].state = rna_value_ok(RNA_PORT_DOWN);
	(void)rna_view_unref(scene.view);
	scene.view = node_view(&scene.node);
	follow(&scene);
	assert_int_equal(demand(&scene, &everything, &error), 0);
	assert_int_equal(scene.done, 1);
	assert_int_equal(scene.runs[0].result.skip, RNA_SKIP_NOT_ACTIVE);
	scene.node.ports[0].state = rna_value_ok(RNA_PORT_ACTIVE);
	(void)rna_view_unref(scene.view);
	scene.view = node_view(&scene.node);
	follow(&scene);
	scene.done = 0;
	assert_int_equal(demand(&scene, &everything, &error), 0);
	wait_until_done(&scene);
	assert_int_equal(scene.runs[0].grade, RNA_GRADE_OK);
	(void)known(&scene, NULL);
	tear_down(&scene);
}

/* At first sight a service that always has the device open is a job, and a job is not idleness. */
static void test_who_has_it_open_is_not_learned(void **state)
{
	struct rna_error error = {0};
	struct scene scene;

	(void)state;
	set_up(&scene, 5, HOUR);
	follow(&scene);
	for (unsigned attempt = 0; attempt < 4; attempt++) {
		scene.settings.selftest_idle_contexts = attempt / 3;
		scene.done = 0;
		assert_int_equal(demand(&scene, &everything, &error), 0);
		wait_until_done(&scene);
		assert_int_equal(scene.runs[2].result.skip,
				 attempt < 3 ? RNA_SKIP_BUSY : RNA_SKIP_NONE);
		assert_int_equal(scene.runs[4].result.skip,
				 attempt < 3 ? RNA_SKIP_BUSY : RNA_SKIP_NONE);
	}
	(void)known(&scene, NULL);
	tear_down(&scene);
}

/* It stands in the history, and nothing else follows from it. */
static void test_what_is_special_says_nothing_of_the_port(void **state)
{
	const struct rna_selftest_options small = {.device = "mlx5_1/1",
						   .numa_node = -1,
						   .size = 64,
						   .qps = 1};
	const struct rna_selftest_port *port;
	struct rna_error error = {0};
	struct scene scene;

	(void)state;
	set_up(&scene, 2, HOUR);
	follow(&scene);
	assert_int_equal(demand(&scene, &small, &error), 0);
	wait_until_done(&scene);
	assert_int_equal(scene.run_count, 1);
	assert_true(scene.runs[0].special);
	assert_int_equal(scene.runs[0].request.size, 64);
	port = known(&scene, "mlx5_1");
	assert_int_equal(port->count, 1);
	assert_int_equal(port->last_run, 0);
	assert_int_equal(port->results[RNA_GRADE_FAILED], 0);
	assert_null(rna_selftest_newest(port, RNA_ENDPOINT_LOCAL, NULL));
	(void)known(&scene, NULL);
	tear_down(&scene);
}

static void test_who_has_left_is_not_told(void **state)
{
	struct rna_error error = {0};
	struct scene scene;

	(void)state;
	set_up(&scene, 1, HOUR);
	follow(&scene);
	assert_int_equal(demand(&scene, &everything, &error), 0);
	rna_selftest_forget(scene.selftest, &scene);
	wait_for(&scene, "mlx5_0", was_tested);
	assert_int_equal(scene.done, 0);
	assert_int_equal(scene.begun, 1);
	(void)known(&scene, NULL);
	tear_down(&scene);
}

/* The child goes with it, whatever it was at. */
static void test_the_end_in_the_midst_of_a_test(void **state)
{
	struct rna_error error = {0};
	struct scene scene;

	(void)state;
	set_up(&scene, 1, HOUR);
	follow(&scene);
	assert_int_equal(demand(&scene, &everything, &error), 0);
	tear_down(&scene);
	assert_int_equal(scene.done, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* -- Turns ------------------------------------------------------------------------------------- */

static void test_each_port_has_its_turn(void **state)
{
	const struct rna_selftest_port *port;
	struct scene scene;

	(void)state;
	set_up(&scene, 3, RNA_USEC_PER_SEC / 10);
	scene.node.ports[1].state = rna_value_ok(RNA_PORT_DOWN);
	(void)rna_view_unref(scene.view);
	scene.view = node_view(&scene.node);
	follow(&scene);
	wait_for(&scene, "mlx5_0", was_tested_twice);
	wait_for(&scene, "mlx5_1", was_skipped);
	wait_for(&scene, "mlx5_2", was_skipped);
	port = known(&scene, "mlx5_0");
	assert_false(port->runs[0].on_demand);
	assert_int_equal(port->runs[0].grade, RNA_GRADE_OK);
	port = known(&scene, "mlx5_1");
	assert_int_equal(port->skip, RNA_SKIP_NOT_ACTIVE);
	assert_int_equal(port->count, 0);
	assert_int_equal(known(&scene, "mlx5_2")->skip, RNA_SKIP_BUSY);
	(void)known(&scene, NULL);
	tear_down(&scene);
}

/* What the counters say after another second. */
static void show_traffic(struct scene *scene, uint64_t words)
{
	scene->node.ports[0].counters[0].place = RNA_PLACE_PORT_COUNTERS;
	scene->node.ports[0].counters[0].file = "port_rcv_data";
	scene->node.ports[0].counters[0].value = rna_value_ok(words);
	scene->node.ports[0].counter_count = 1;
	scene->node.now.monotonic += RNA_USEC_PER_SEC;
	(void)rna_view_unref(scene->view);
	scene->view = node_view(&scene->node);
	follow(scene);
}

/* The child would find mlx5_0 idle: that it is not asked is what this is about. */
static void test_beside_a_job_nothing_is_started(void **state)
{
	struct scene scene;
	rna_usec first;

	(void)state;
	set_up(&scene, 1, RNA_USEC_PER_SEC / 10);
	scene.settings.poll[RNA_COLLECTOR_COUNTERS] = RNA_USEC_PER_SEC / 10;
	scene.settings.poll[RNA_COLLECTOR_HW_COUNTERS] = RNA_USEC_PER_SEC / 10;
	show_traffic(&scene, 0);
	first = rna_clock_now().realtime + RNA_USEC_PER_SEC;
	while (known(&scene, "mlx5_0")->next < first)
		assert_true(sd_event_run(scene.event, RNA_USEC_PER_SEC) >= 0);
	show_traffic(&scene, 10000000);
	wait_for(&scene, "mlx5_0", was_skipped);
	assert_int_equal(known(&scene, "mlx5_0")->skip, RNA_SKIP_BUSY);
	assert_int_equal(known(&scene, "mlx5_0")->count, 0);
	(void)known(&scene, NULL);
	tear_down(&scene);
}

/* A port with one test, that was good or bad. */
static void recall(struct scene *scene, const char *key, rna_usec last_test, rna_usec last_good)
{
	struct rna_selftest_run run = {
		.time.realtime = last_test,
		.grade = last_test == last_good ? RNA_GRADE_OK : RNA_GRADE_FAILED,
	};
	const struct rna_port_memory memory = {
		.number = 1,
		.last_test = last_test,
		.last_good_test = last_good,
		.test_count = 1,
		.tests = &run,
	};

	rna_selftest_recall(scene->selftest, key, &memory);
}

/* The turn begins with the process that ends: at once would be a test at each restart. */
static void test_a_restart_is_no_reason_to_test(void **state)
{
	struct rna_time now = rna_clock_now();
	const struct rna_selftest_port *port;
	struct scene scene;

	(void)state;
	set_up(&scene, 2, 10 * HOUR);
	recall(&scene, "mlx5_0", now.realtime - 4 * HOUR, now.realtime - 4 * HOUR);
	recall(&scene, "mlx5_1", now.realtime - 30 * HOUR, now.realtime - 30 * HOUR);
	follow(&scene);
	port = known(&scene, "mlx5_0");
	assert_int_equal(port->last_run, now.realtime - 4 * HOUR);
	assert_int_equal(port->last_success, now.realtime - 4 * HOUR);
	assert_int_equal(port->count, 1);
	assert_int_equal(port->runs[0].grade, RNA_GRADE_OK);
	assert_true(port->next >= now.realtime + 6 * HOUR - RNA_USEC_PER_SEC &&
		    port->next <= now.realtime + 6 * HOUR + PATIENCE);
	/* its turn came while no agent ran: a random time within the period */
	port = known(&scene, "mlx5_1");
	assert_true(port->next >= now.realtime &&
		    port->next <= now.realtime + 10 * HOUR + PATIENCE);
	(void)known(&scene, NULL);
	tear_down(&scene);
}

/* Nor to wait for the whole period with the second look at a bad port. */
static void test_a_bad_test_outlives_a_restart(void **state)
{
	struct rna_time now = rna_clock_now();
	const struct rna_selftest_port *port;
	struct scene scene;

	(void)state;
	set_up(&scene, 1, 12 * HOUR);
	recall(&scene, "mlx5_0", now.realtime - HOUR / 2, now.realtime - 13 * HOUR);
	follow(&scene);
	port = known(&scene, "mlx5_0");
	assert_int_equal(port->last_success, now.realtime - 13 * HOUR);
	assert_int_equal(port->runs[0].grade, RNA_GRADE_FAILED);
	assert_true(port->next < now.realtime + 2 * HOUR);
	(void)known(&scene, NULL);
	tear_down(&scene);
}

/* The next one after the second bad test comes with the period, as after a good one. */
static void test_a_bad_test_is_made_again_soon(void **state)
{
	const struct rna_selftest_options options = {.device = "mlx5_1", .numa_node = -1};
	rna_usec now = rna_clock_now().realtime;
	struct rna_error error = {0};
	struct scene scene;

	(void)state;
	set_up(&scene, 2, 12 * HOUR);
	follow(&scene);
	assert_int_equal(demand(&scene, &options, &error), 0);
	wait_for(&scene, "mlx5_1", was_tested);
	assert_true(known(&scene, "mlx5_1")->next < now + 2 * HOUR);
	assert_int_equal(demand(&scene, &options, &error), 0);
	wait_for(&scene, "mlx5_1", was_tested_twice);
	assert_true(known(&scene, "mlx5_1")->next > now + 11 * HOUR);
	(void)known(&scene, NULL);
	tear_down(&scene);
}

static void test_nothing_is_tested_while_held(void **state)
{
	struct rna_error error = {0};
	struct scene scene;

	(void)state;
	set_up(&scene, 1, RNA_USEC_PER_SEC / 10);
	rna_selftest_hold(scene.selftest, RNA_SKIP_QUIESCED);
	follow(&scene);
	assert_int_equal(demand(&scene, &everything, &error), -EBUSY);
	wait_for(&scene, "mlx5_0", was_skipped);
	assert_int_equal(known(&scene, "mlx5_0")->skip, RNA_SKIP_QUIESCED);
	assert_int_equal(known(&scene, "mlx5_0")->count, 0);
	rna_selftest_hold(scene.selftest, RNA_SKIP_NONE);
	wait_for(&scene, "mlx5_0", was_tested);
	(void)known(&scene, NULL);
	tear_down(&scene);
}

/* What the Node says is for turns; a person knows what he does. */
static void test_the_node_says_no(void **state)
{
	struct rna_error error = {0};
	struct scene scene;

	(void)state;
	set_up(&scene, 1, RNA_USEC_PER_SEC / 10);
	rna_selftest_hold(scene.selftest, RNA_SKIP_NODE_GATE);
	follow(&scene);
	wait_for(&scene, "mlx5_0", was_skipped);
	assert_int_equal(known(&scene, "mlx5_0")->skip, RNA_SKIP_NODE_GATE);
	assert_int_equal(demand(&scene, &everything, &error), 0);
	wait_until_done(&scene);
	assert_int_equal(scene.runs[0].grade, RNA_GRADE_OK);
	(void)known(&scene, NULL);
	tear_down(&scene);
}

/* A name is not an identity: the turns go with the key. */
static void test_a_device_that_is_renamed(void **state)
{
	struct rna_time now = rna_clock_now();
	struct scene scene;

	(void)state;
	set_up(&scene, 1, 10 * HOUR);
	recall(&scene, "0000:1b:00.0", now.realtime - HOUR, 0);
	((struct rna_device *)(uintptr_t)scene.view->snapshot->devices[0].device)->key =
		"0000:1b:00.0";
	follow(&scene);
	assert_int_equal(known(&scene, "mlx5_0")->last_run, now.realtime - HOUR);
	assert_string_equal(known(&scene, "mlx5_0")->runs[0].request.device, "mlx5_0");
	(void)known(&scene, NULL);
	tear_down(&scene);
}

static void test_turned_off(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene, 1, RNA_USEC_PER_SEC / 100);
	scene.settings.selftest_enabled = false;
	follow(&scene);
	assert_int_equal(known(&scene, "mlx5_0")->next, 0);
	/* no timer: there is nothing to wake up for */
	assert_int_equal(sd_event_run(scene.event, 2 * RNA_USEC_PER_SEC), 0);
	assert_int_equal(known(&scene, "mlx5_0")->count, 0);
	(void)known(&scene, NULL);
	tear_down(&scene);
}

/* Old kernels, and containers with a strict filter. For good: this is the last test. */
static void take_pidfds_away(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {RNA_ARRAY_SIZE(steps), steps};

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
	assert_int_equal(syscall(SYS_pidfd_open, getpid(), 0), -1);
}

/* Nearly at once while a test runs; a child that is stuck for a day is looked for by the way. */
static void test_looks_become_rare(void **state)
{
	rna_usec waited = 0;
	unsigned looks = 0;

	(void)state;
	for (; waited < 24 * HOUR; looks++) {
		rna_usec pause = rna_child_watch_pause(waited);

		assert_true(pause <= 50 * RNA_USEC_PER_MSEC || pause <= waited / 10);
		assert_true(pause >= 50 * RNA_USEC_PER_MSEC);
		waited += pause;
	}
	assert_in_range(looks, 1, 9000); /* some 10 s apart */
}

static void test_a_kernel_without_pidfds(void **state)
{
	need_kernel("has no seccomp");
	take_pidfds_away();
	test_demand(state);
	test_the_end_in_the_midst_of_a_test(state);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demand),
		cmocka_unit_test(test_a_command_beside_an_agent),
		cmocka_unit_test(test_a_port_is_skipped_when_all_its_memory_is),
		cmocka_unit_test(test_a_test_that_is_killed),
		cmocka_unit_test(test_a_test_that_crashes),
		cmocka_unit_test(test_a_test_that_cannot_start),
		cmocka_unit_test(test_what_was_not_tested_says_nothing_of_queue_pairs),
		cmocka_unit_test(test_who_has_it_open_is_not_learned),
		cmocka_unit_test(test_what_is_special_says_nothing_of_the_port),
		cmocka_unit_test(test_who_has_left_is_not_told),
		cmocka_unit_test(test_the_end_in_the_midst_of_a_test),
		cmocka_unit_test(test_each_port_has_its_turn),
		cmocka_unit_test(test_beside_a_job_nothing_is_started),
		cmocka_unit_test(test_a_restart_is_no_reason_to_test),
		cmocka_unit_test(test_a_bad_test_outlives_a_restart),
		cmocka_unit_test(test_a_bad_test_is_made_again_soon),
		cmocka_unit_test(test_nothing_is_tested_while_held),
		cmocka_unit_test(test_the_node_says_no),
		cmocka_unit_test(test_a_device_that_is_renamed),
		cmocka_unit_test(test_turned_off),
		cmocka_unit_test(test_looks_become_rare),
		cmocka_unit_test(test_a_kernel_without_pidfds),
	};

	if (argc > 0 && strncmp(argv[0], RNA_LOOPBACK_PROGRAM, strlen(RNA_LOOPBACK_PROGRAM)) == 0)
		return answer();
	(void)unshare(
		CLONE_NEWNET); /* other tests that run now must not hold the lock; root only */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
