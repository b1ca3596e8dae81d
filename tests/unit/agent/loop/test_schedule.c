// SPDX-License-Identifier: Apache-2.0
/*
 * agent/loop: schedule, lanes and publish with scripted collectors in place of collectors/table.c:
 * the linker takes the table below. "Hardware" that hangs waits for a gate that the test opens.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/log.h"
#include "rna/model/ethernet.h"
#include "rna/model/gid.h"

#include "loop/publish.h"
#include "loop/rhythm.h"
#include "loop/schedule.h"
#include "loop/trigger.h"

#include "compare.h"

enum { DEVICES_MAX = 4, PRESENCE_HANGS = 99 };

static struct script {
	atomic_uint device_count;
	atomic_uint generation;
	atomic_bool hangs;   /* it does now */
	atomic_int hanging;  /* device that hangs in state, or PRESENCE_HANGS; -1: none */
	atomic_bool failing; /* counters fail */
	atomic_uint state_runs[DEVICES_MAX];
	atomic_uint link_runs;
	atomic_uint fabric_runs;
	atomic_uint gids_runs;
	atomic_uint gids_without_previous;
	atomic_uint netdev_count;
	atomic_uint netdev_without_presence;
	atomic_uint pcie_without_netdevs;
	atomic_uint loud_runs; /* of what has all backends */
	atomic_uint netdev_runs;
	atomic_uint port_state; /* of all ports */
	atomic_uint link_layer; /* of all ports; UNKNOWN: it is not said */
	pthread_mutex_t lock;
	pthread_cond_t gate;
} script = {.hanging = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .gate = PTHREAD_COND_INITIALIZER};

static void hang_while(int device)
{
	(void)pthread_mutex_lock(&script.lock);
	while (atomic_load(&script.hanging) == device) {
		atomic_store(&script.hangs, true);
		(void)pthread_cond_wait(&script.gate, &script.lock);
	}
	(void)pthread_mutex_unlock(&script.lock);
}

static void release(void)
{
	(void)pthread_mutex_lock(&script.lock);
	atomic_store(&script.hanging, -1);
	(void)pthread_cond_broadcast(&script.gate);
	(void)pthread_mutex_unlock(&script.lock);
}

static struct rna_part *new_part(enum rna_collector_id id, size_t size)
{
	struct rna_part *part = rna_part_new(id, size, 1024);

	assert_non_null(part);
	part->started = part->taken = rna_clock_now();
	return part;
}

static int collect_presence(const struct rna_collect_input *in, struct rna_part **ret,
			    struct rna_error *error)
{
	static const unsigned one_port[] = {1};
	struct rna_presence *presence;
	struct rna_device *devices;

	(void)in, (void)error;
	hang_while(PRESENCE_HANGS);
	presence = (void *)new_part(RNA_COLLECTOR_PRESENCE, sizeof(*presence));
	presence->device_count = atomic_load(&script.device_count);
	devices = rna_arena_array(presence->part.arena, presence->device_count, sizeof(*devices));
	for (unsigned i = 0; i < presence->device_count; i++)
		devices[i] = (struct rna_device){
			.name = rna_arena_printf(presence->part.arena, "dev%u", i),
			.key = rna_arena_printf(presence->part.arena, "0000:0%u:00.0", i),
			.sysfs_path = "",
			.generation = atomic_load(&script.generation),
			.port_count = 1,
			.ports = one_port,
		};
	presence->devices = devices;
	*ret = &presence->part;
	return 0;
}

static struct rna_part *make_state(unsigned number)
{
	struct rna_state *state = (void *)new_part(RNA_COLLECTOR_STATE, sizeof(*state));
	struct rna_port_state_value *port = rna_arena_alloc(state->part.arena, sizeof(*port));

	*port = (struct rna_port_state_value){.number = 1, .state = rna_value_ok(number)};
	state->port_count = 1;
	state->ports = port;
	return &state->part;
}

static int collect_state(const struct rna_collect_input *in, struct rna_part **ret,
			 struct rna_error *error)
{
	int number = in->device->name[3] - '0';

	(void)error;
	hang_while(number);
	atomic_fetch_add(&script.state_runs[number], 1);
	*ret = make_state(atomic_load(&script.port_state));
	return 0;
}

static int collect_identity(const struct rna_collect_input *in, struct rna_part **ret,
			    struct rna_error *error)
{
	struct rna_identity *identity = (void *)new_part(RNA_COLLECTOR_IDENTITY, sizeof(*identity));
	struct rna_port_identity *port = rna_arena_alloc(identity->part.arena, sizeof(*port));

	(void)in, (void)error;
	*port = (struct rna_port_identity){.number = 1,
					   .link_layer = atomic_load(&script.link_layer)};
	identity->port_count = 1;
	identity->ports = port;
	*ret = &identity->part;
	return 0;
}

static int collect_link(const struct rna_collect_input *in, struct rna_part **ret,
			struct rna_error *error)
{
	(void)in, (void)error;
	atomic_fetch_add(&script.link_runs, 1);
	*ret = new_part(RNA_COLLECTOR_LINK, sizeof(struct rna_link));
	return 0;
}

static int collect_fabric(const struct rna_collect_input *in, struct rna_part **ret,
			  struct rna_error *error)
{
	(void)in, (void)error;
	atomic_fetch_add(&script.fabric_runs, 1);
	*ret = new_part(RNA_COLLECTOR_FABRIC, sizeof(struct rna_fabric));
	return 0;
}

static int collect_gids(const struct rna_collect_input *in, struct rna_part **ret,
			struct rna_error *error)
{
	(void)error;
	if (!in->previous)
		atomic_fetch_add(&script.gids_without_previous, 1);
	else
		assert_int_equal(in->previous->collector, RNA_COLLECTOR_GIDS);
	atomic_fetch_add(&script.gids_runs, 1);
	*ret = new_part(RNA_COLLECTOR_GIDS, sizeof(struct rna_gids));
	return 0;
}

enum { IFINDEX = 10, IFINDEX_BOND = 20 };

/* eth0 serves dev0 and is in bond0; the others serve no port, only their number counts. */
static void set_netdevs(struct rna_netdevs *netdevs, struct rna_arena *arena)
{
	size_t count = atomic_load(&script.netdev_count);
	struct rna_netdev *list = rna_arena_array(arena, count + 1, sizeof(*list));
	struct rna_port_netdev *port = rna_arena_alloc(arena, sizeof(*port));

	list[0] = (struct rna_netdev){.name = "bond0", .ifindex = IFINDEX_BOND};
	for (unsigned i = 0; i < count; i++)
		list[i + 1] = (struct rna_netdev){
			.name = rna_arena_printf(arena, "eth%u", i),
			.ifindex = IFINDEX + i,
			.master = i == 0 ? "bond0" : NULL,
		};
	*port = (struct rna_port_netdev){.device = "dev0", .port = 1, .netdev = list[1].name};
	netdevs->count = count + 1;
	netdevs->netdevs = list;
	netdevs->port_count = 1;
	netdevs->ports = port;
}

static int collect_netdev(const struct rna_collect_input *in, struct rna_part **ret,
			  struct rna_error *error)
{
	struct rna_netdevs *netdevs =
		(void *)new_part(RNA_COLLECTOR_NETDEV, sizeof(struct rna_netdevs));

	(void)error;
	if (!in->presence)
		atomic_fetch_add(&script.netdev_without_presence, 1);
	atomic_fetch_add(&script.netdev_runs, 1);
	set_netdevs(netdevs, netdevs->part.arena);
	*ret = &netdevs->part;
	return 0;
}

/* Of the interfaces: the only one here that is. */
static int collect_pcie(const struct rna_collect_input *in, struct rna_part **ret,
			struct rna_error *error)
{
	(void)error;
	if (!in->netdevs)
		atomic_fetch_add(&script.pcie_without_netdevs, 1);
	atomic_fetch_add(&script.loud_runs, in->backends != rna_backends_quiet(in->backends));
	*ret = new_part(RNA_COLLECTOR_PCIE, sizeof(struct rna_pcie));
	return 0;
}

static int collect_counters(const struct rna_collect_input *in, struct rna_part **ret,
			    struct rna_error *error)
{
	if (atomic_load(&script.failing))
		return rna_error_set(error, -EIO, "%s: scripted", in->device->name);
	*ret = new_part(RNA_COLLECTOR_COUNTERS, sizeof(struct rna_counters_part));
	return 0;
}

#define COLLECT_NOTHING(name, id, type)                                                            \
	static int name(const struct rna_collect_input *in, struct rna_part **ret,                 \
			struct rna_error *error)                                                   \
	{                                                                                          \
		(void)in, (void)error;                                                             \
		*ret = new_part(id, sizeof(type));                                                 \
		return 0;                                                                          \
	}

COLLECT_NOTHING(collect_hw, RNA_COLLECTOR_HW_COUNTERS, struct rna_counters_part)
COLLECT_NOTHING(collect_ethernet, RNA_COLLECTOR_ETHERNET, struct rna_ethernet)
COLLECT_NOTHING(collect_resources, RNA_COLLECTOR_RESOURCES, struct rna_resources)
COLLECT_NOTHING(collect_qos, RNA_COLLECTOR_QOS, struct rna_qos)
COLLECT_NOTHING(collect_vfs, RNA_COLLECTOR_VIRTUAL_FUNCTIONS, struct rna_virtual_functions)
COLLECT_NOTHING(collect_module, RNA_COLLECTOR_MODULE, struct rna_modules)
COLLECT_NOTHING(collect_gateways, RNA_COLLECTOR_GATEWAYS, struct rna_gateways)
COLLECT_NOTHING(collect_lldp, RNA_COLLECTOR_LLDP, struct rna_lldp)
COLLECT_NOTHING(collect_topology, RNA_COLLECTOR_TOPOLOGY, struct rna_topology)
COLLECT_NOTHING(collect_readiness, RNA_COLLECTOR_READINESS, struct rna_readiness)
COLLECT_NOTHING(collect_kernel_log, RNA_COLLECTOR_KERNEL_LOG, struct rna_kernel_log)
COLLECT_NOTHING(collect_process, RNA_COLLECTOR_PROCESS, struct rna_process)

#define ROW(ID, NAME, COLLECT, ...)                                                                \
	[RNA_COLLECTOR_##                                                                          \
		ID] = {.id = RNA_COLLECTOR_##ID, .name = NAME, .collect = COLLECT, __VA_ARGS__}

/* Many times the period of states in these tests. */
#define TOLD (400 * RNA_USEC_PER_MSEC)

/* clang-format off */
const struct rna_collector rna_collectors[RNA_COLLECTOR_COUNT] = {
	ROW(PRESENCE, "presence", collect_presence, .lists = RNA_LISTS_DEVICES),
	ROW(STATE, "state", collect_state, .per_device = true, .told = TOLD,
	    .told_by = RNA_BY(RTNETLINK), .told_of_ports = true, .for_scrapes = true,
	    .compare = rna_compare_states, .compares_all = true),
	ROW(IDENTITY, "identity", collect_identity, .per_device = true,
	    .lists = RNA_LISTS_LINK_LAYERS, .compare = rna_compare_identities),
	ROW(LINK, "link", collect_link, .per_device = true, .follows = RNA_OF(STATE),
	    .compare = rna_compare_links),
	ROW(COUNTERS, "counters", collect_counters, .per_device = true, .for_scrapes = true),
	ROW(HW_COUNTERS, "hw_counters", collect_hw, .per_device = true),
	ROW(GIDS, "gids", collect_gids, .per_device = true, .later = true,
	    .follows = RNA_OF(STATE) | RNA_OF(NETDEV), .compare = rna_compare_gids),
	ROW(FABRIC, "fabric", collect_fabric, .per_device = true, .later = true,
	    .link_layer = RNA_LINK_LAYER_INFINIBAND, .follows = RNA_OF(STATE) | RNA_OF(LINK),
	    .settles = RNA_USEC_PER_SEC, .pause = 10 * RNA_USEC_PER_SEC),
	ROW(PCIE, "pcie", collect_pcie, .per_device = true, .needs = RNA_OF(NETDEV),
	    .follows = RNA_OF(NETDEV)),
	ROW(ETHERNET, "ethernet", collect_ethernet, .per_device = true, .later = true),
	ROW(RESOURCES, "resources", collect_resources, .per_device = true, .later = true),
	ROW(QOS, "qos", collect_qos, .per_device = true, .later = true,
	    .link_layer = RNA_LINK_LAYER_ETHERNET),
	ROW(VIRTUAL_FUNCTIONS, "virtual_functions", collect_vfs, .per_device = true, .later = true),
	ROW(MODULE, "module", collect_module, .per_device = true, .later = true,
	    .needs = RNA_OF(NETDEV), .follows = RNA_OF(NETDEV)),
	ROW(NETDEV, "netdev", collect_netdev, .needs = RNA_OF(PRESENCE),
	    .follows = RNA_OF(PRESENCE) | RNA_OF(STATE), .source = RNA_SOURCE_RTNETLINK,
	    .lists = RNA_LISTS_INTERFACES, .compare = rna_compare_netdevs),
	ROW(GATEWAYS, "gateways", collect_gateways, .later = true),
	ROW(LLDP, "lldp", collect_lldp, .later = true),
	ROW(TOPOLOGY, "topology", collect_topology, .later = true, .needs = RNA_OF(PRESENCE),
	    .follows = RNA_OF(PRESENCE) | RNA_OF(NETDEV), .compare = rna_compare_topologies),
	ROW(READINESS, "readiness", collect_readiness, .later = true),
	ROW(KERNEL_LOG, "kernel_log", collect_kernel_log, .later = true, .descriptors = 1),
	ROW(PROCESS, "process", collect_process),
};
/* clang-format on */

struct fixture {
	sd_event *event;
	struct rna_settings settings;
	struct rna_root *root;
	struct rna_backends *backends;
	struct rna_schedule schedule;
	const struct rna_view *view;
};

static void on_settled(void *userdata)
{
	static const struct rna_agent_status status = {.root = "/"};
	struct fixture *fixture = userdata;
	const struct rna_publish_input in = {
		.time = rna_clock_now(),
		.schedule = &fixture->schedule,
		.status = &status,
	};

	if (!fixture->schedule.complete)
		return;
	(void)rna_view_unref(fixture->view);
	fixture->view = rna_publish(&in);
	assert_non_null(fixture->view);
	rna_schedule_start_later(&fixture->schedule);
}

static int on_too_late(sd_event_source *source, uint64_t at, void *userdata)
{
	(void)source, (void)at, (void)userdata;
	fail_msg("nothing happened for 20 s");
	return 0;
}

/* Turns the loop until the view satisfies until. */
static void run_until(struct fixture *fixture, bool (*until)(struct fixture *fixture))
{
	sd_event_source *too_late = NULL;

	(void)sd_event_add_time_relative(fixture->event, &too_late, CLOCK_MONOTONIC,
					 20 * RNA_USEC_PER_SEC, 0, on_too_late, NULL);
	while (!fixture->view || !until(fixture))
		assert_true(sd_event_run(fixture->event, UINT64_MAX) >= 0);
	(void)sd_event_source_disable_unref(too_late);
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct rna_error error;

	assert_non_null(fixture);
	atomic_store(&script.device_count, 3);
	atomic_store(&script.hanging, -1);
	atomic_store(&script.failing, false);
	atomic_store(&script.link_runs, 0);
	atomic_store(&script.fabric_runs, 0);
	atomic_store(&script.gids_runs, 0);
	atomic_store(&script.gids_without_previous, 0);
	atomic_store(&script.netdev_count, 1);
	atomic_store(&script.netdev_runs, 0);
	atomic_store(&script.port_state, RNA_PORT_ACTIVE);
	atomic_store(&script.link_layer, RNA_LINK_LAYER_UNKNOWN);
	for (unsigned i = 0; i < DEVICES_MAX; i++)
		atomic_store(&script.state_runs[i], 0);
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		fixture->settings.poll[id] = 50 * RNA_USEC_PER_MSEC;
	fixture->settings.poll[RNA_COLLECTOR_STATE] = 20 * RNA_USEC_PER_MSEC;
	fixture->settings.poll_deadline = 400 * RNA_USEC_PER_MSEC;
	fixture->settings.poll_handover = 50 * RNA_USEC_PER_MSEC;
	fixture->settings.lanes_max = 4;
	fixture->settings.reader_descriptors = 100;
	assert_true(sd_event_new(&fixture->event) >= 0);
	assert_int_equal(rna_root_open(NULL, &fixture->root, &error), 0);
	fixture->schedule.on_settled = on_settled;
	fixture->schedule.userdata = fixture;
	fixture->backends = rna_backends_new(fixture->root);
	assert_non_null(fixture->backends);
	assert_int_equal(rna_schedule_init(&fixture->schedule, fixture->event, &fixture->settings,
					   fixture->root, fixture->backends, &error),
			 0);
	rna_log_open(LOG_EMERG);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	release();
	(void)rna_view_unref(fixture->view);
	assert_true(rna_schedule_stop(&fixture->schedule, 10 * RNA_USEC_PER_SEC));
	(void)sd_event_unref(fixture->event);
	(void)rna_backends_free(fixture->backends);
	(void)rna_root_close(fixture->root);
	free(fixture);
	return 0;
}

static void start(struct fixture *fixture)
{
	struct rna_error error;

	assert_int_equal(rna_schedule_start(&fixture->schedule, false, &error), 0);
}

static const struct rna_job_status *find_status(const struct rna_view *view, const char *device,
						enum rna_collector_id id)
{
	for (size_t i = 0; i < view->job_count; i++)
		if (view->jobs[i].collector == id && strcmp(view->jobs[i].device, device) == 0)
			return &view->jobs[i];
	return NULL;
}

static bool always(struct fixture *fixture)
{
	(void)fixture;
	return true;
}

/* How many of the table are of devices, or of the node. */
static size_t collectors(bool per_device)
{
	size_t count = 0;

	for (size_t id = 0; id < RNA_COLLECTOR_COUNT; id++)
		count += rna_collectors[id].per_device == per_device;
	return count;
}

static void test_the_first_view_is_whole(void **state)
{
	struct fixture *fixture = *state;

	start(fixture);
	run_until(fixture, always);
	assert_int_equal(fixture->view->snapshot->device_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct rna_snapshot_device *device = &fixture->view->snapshot->devices[i];

		assert_non_null(rna_device_state(device));
		assert_non_null(rna_device_identity(device));
		assert_non_null(rna_device_link(device));
		assert_non_null(rna_device_counters(device, RNA_COLLECTOR_COUNTERS));
		assert_non_null(rna_device_counters(device, RNA_COLLECTOR_HW_COUNTERS));
	}
	assert_in_range(fixture->view->agent.lanes, 1, 2); /* the second one ends now */
	assert_int_equal(fixture->view->job_count,
			 collectors(false) +
				 fixture->view->snapshot->device_count * collectors(true));
}

/* As many devices hang as there may be lanes, and others wait behind them. */
static void test_there_is_a_view_when_every_lane_is_stuck(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_lanes_limits limits = {
		.max = 1,
		.handover = fixture->settings.poll_handover,
		.deadline = fixture->settings.poll_deadline,
	};

	fixture->settings.lanes_max = limits.max;
	rna_lanes_set_limits(fixture->schedule.lanes, &limits);
	atomic_store(&script.hanging, 0);
	start(fixture);
	run_until(fixture, always);
	assert_true(find_status(fixture->view, "dev0", RNA_COLLECTOR_STATE)->stalled > 0);
	assert_false(find_status(fixture->view, "dev1", RNA_COLLECTOR_STATE)->ran);
	assert_int_equal(find_status(fixture->view, "dev1", RNA_COLLECTOR_STATE)->stalled, 0);
	assert_int_equal(fixture->view->agent.lanes_stalled, 1);
}

static bool has_run(const struct fixture *fixture, enum rna_collector_id id)
{
	const struct rna_job_status *job = find_status(fixture->view, "dev1", id);

	return job && job->ran;
}

static bool ports_are_infiniband(struct fixture *fixture)
{
	return has_run(fixture, RNA_COLLECTOR_FABRIC) &&
	       !find_status(fixture->view, "dev1", RNA_COLLECTOR_QOS);
}

static bool ports_are_ethernet(struct fixture *fixture)
{
	return has_run(fixture, RNA_COLLECTOR_QOS) &&
	       !find_status(fixture->view, "dev1", RNA_COLLECTOR_FABRIC);
}

/* And neither its parts nor prepared text are of jobs that it had before. */
static void test_a_device_has_jobs_as_it_is_now(void **state)
{
	struct fixture *fixture = *state;
	uint64_t device_set;

	atomic_store(&script.link_layer, RNA_LINK_LAYER_INFINIBAND);
	start(fixture);
	run_until(fixture, ports_are_infiniband);
	assert_null(fixture->view->snapshot->devices[1].parts[RNA_COLLECTOR_QOS]);
	device_set = fixture->view->snapshot->device_set;
	atomic_store(&script.link_layer, RNA_LINK_LAYER_ETHERNET);
	run_until(fixture, ports_are_ethernet);
	assert_null(fixture->view->snapshot->devices[1].parts[RNA_COLLECTOR_FABRIC]);
	assert_non_null(fixture->view->snapshot->devices[1].parts[RNA_COLLECTOR_QOS]);
	assert_true(fixture->view->snapshot->device_set > device_set);
}

/* Who runs once waits for what can only be asked when it is known what a device is. */
static void test_one_run_has_what_comes_of_identity(void **state)
{
	struct fixture *fixture = *state;
	struct rna_error error;

	atomic_store(&script.link_layer, RNA_LINK_LAYER_ETHERNET);
	assert_int_equal(rna_schedule_start(&fixture->schedule, true, &error), 0);
	run_until(fixture, always);
	for (size_t i = 0; i < 3; i++)
		assert_non_null(fixture->view->snapshot->devices[i].parts[RNA_COLLECTOR_QOS]);
	assert_true(ports_are_ethernet(fixture));
}

static bool others_went_on(struct fixture *fixture)
{
	return fixture->view->agent.lanes_stalled == 1 &&
	       atomic_load(&script.state_runs[0]) >= 10 && atomic_load(&script.state_runs[2]) >= 10;
}

static bool nothing_stalled(struct fixture *fixture)
{
	return fixture->view->agent.lanes_stalled == 0 && atomic_load(&script.state_runs[1]) > 0;
}

static bool one_lane(struct fixture *fixture)
{
	return fixture->view->agent.lanes == 1;
}

static void test_a_hanging_device_costs_only_itself(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_job_status *status;

	atomic_store(&script.hanging, 1);
	start(fixture);
	run_until(fixture, others_went_on);
	assert_int_equal(atomic_load(&script.state_runs[1]), 0);
	status = find_status(fixture->view, "dev1", RNA_COLLECTOR_STATE);
	assert_true(status->stalled > 0);
	assert_false(status->ran);
	assert_null(rna_device_state(&fixture->view->snapshot->devices[1]));
	assert_int_equal(find_status(fixture->view, "dev0", RNA_COLLECTOR_STATE)->stalled, 0);
	assert_true(fixture->view->agent.lanes <= 3);

	release();
	run_until(fixture, nothing_stalled);
	run_until(fixture, one_lane); /* the lane that was held ends by itself */
	assert_non_null(rna_device_state(&fixture->view->snapshot->devices[1]));
}

static void test_a_stuck_lane_does_not_hold_the_stop(void **state)
{
	struct fixture *fixture = *state;
	rna_usec begin;

	atomic_store(&script.hanging, 1);
	start(fixture);
	run_until(fixture, others_went_on);
	begin = rna_clock_monotonic();
	assert_false(rna_schedule_stop(&fixture->schedule, 2 * RNA_USEC_PER_SEC));
	assert_true(rna_clock_monotonic() - begin < 10 * RNA_USEC_PER_SEC);
	/* teardown opens the gate and stops what is left */
}

static bool counters_expired(struct fixture *fixture)
{
	return !rna_device_counters(&fixture->view->snapshot->devices[0], RNA_COLLECTOR_COUNTERS);
}

static bool counters_are_back(struct fixture *fixture)
{
	return find_status(fixture->view, "dev0", RNA_COLLECTOR_COUNTERS)->success;
}

static void test_failing_content_lives_three_periods(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_job_status *status;

	fixture->settings.poll_deadline = 60 * RNA_USEC_PER_MSEC; /* the grace of publish */
	start(fixture);
	run_until(fixture, always);
	atomic_store(&script.failing, true);
	run_until(fixture, counters_expired);
	status = find_status(fixture->view, "dev0", RNA_COLLECTOR_COUNTERS);
	assert_false(status->success);
	assert_true(rna_job_errors(status, RNA_REASON_IO) >
		    0); /* a busy machine has fewer than three */
	assert_true(fixture->view->snapshot->time.monotonic - status->taken >=
		    150 * RNA_USEC_PER_MSEC);
	assert_non_null(rna_device_state(&fixture->view->snapshot->devices[0]));
	atomic_store(&script.failing, false);
	run_until(fixture, counters_are_back);
	assert_false(counters_expired(fixture));
}

static bool links_read_again(struct fixture *fixture)
{
	(void)fixture;
	return atomic_load(&script.link_runs) == 6;
}

/* Link is read every minute; a port that changes its state does not wait for it. */
static void test_a_change_of_state_reads_the_link(void **state)
{
	struct fixture *fixture = *state;

	fixture->settings.poll[RNA_COLLECTOR_LINK] = 3600 * RNA_USEC_PER_SEC;
	start(fixture);
	run_until(fixture, always);
	assert_int_equal(atomic_load(&script.link_runs), 3);
	atomic_store(&script.port_state, RNA_PORT_DOWN);
	run_until(fixture, links_read_again);
}

static bool gids_read(struct fixture *fixture)
{
	(void)fixture;
	return atomic_load(&script.gids_runs) == 3;
}

static bool gids_read_again(struct fixture *fixture)
{
	(void)fixture;
	return atomic_load(&script.gids_runs) >= 6;
}

static bool gids_are_known(struct fixture *fixture)
{
	return rna_device_gids(&fixture->view->snapshot->devices[2]);
}

static void poll_gids_rarely(struct fixture *fixture)
{
	fixture->settings.poll[RNA_COLLECTOR_GIDS] = 3600 * RNA_USEC_PER_SEC;
}

static void test_gids_do_not_delay_the_first_view(void **state)
{
	struct fixture *fixture = *state;

	start(fixture);
	run_until(fixture, always);
	for (size_t i = 0; i < 3; i++)
		assert_null(rna_device_gids(&fixture->view->snapshot->devices[i]));
	run_until(fixture, gids_are_known);
}

/* An hour is too long for them to be read by the clock; two further events have to do. */
static void test_gids_follow_ports_and_interfaces(void **state)
{
	struct fixture *fixture = *state;

	poll_gids_rarely(fixture);
	start(fixture);
	run_until(fixture, gids_read);
	atomic_store(&script.port_state, RNA_PORT_DOWN);
	run_until(fixture, gids_read_again);
	atomic_store(&script.gids_runs, 3);
	atomic_store(&script.netdev_count, 2);
	run_until(fixture, gids_read_again);
	assert_int_equal(atomic_load(&script.gids_without_previous), 3);
}

static void test_who_runs_once_gets_gids_too(void **state)
{
	struct fixture *fixture = *state;
	struct rna_error error;

	assert_int_equal(rna_schedule_start(&fixture->schedule, true, &error), 0);
	run_until(fixture, always);
	for (size_t i = 0; i < 3; i++)
		assert_non_null(rna_device_gids(&fixture->view->snapshot->devices[i]));
}

/* A reload must not put off what is due: with one every 5 ms a period of 20 ms still comes. */
static void test_reloads_do_not_put_off_polls(void **state)
{
	struct fixture *fixture = *state;
	rna_usec begin;

	start(fixture);
	run_until(fixture, always);
	begin = rna_clock_monotonic();
	while (atomic_load(&script.state_runs[0]) < 5) {
		assert_true(rna_clock_monotonic() - begin < 20 * RNA_USEC_PER_SEC);
		rna_schedule_reload(&fixture->schedule, NULL, NULL);
		assert_true(sd_event_run(fixture->event, 5 * RNA_USEC_PER_MSEC) >= 0);
	}
}

/* Presence is slow, and netdev due: it has nothing to speak about yet. */
static void test_interfaces_wait_for_devices(void **state)
{
	struct fixture *fixture = *state;
	rna_usec begin = rna_clock_monotonic();

	atomic_store(&script.netdev_without_presence, 0);
	atomic_store(&script.pcie_without_netdevs, 0);
	atomic_store(&script.hanging, PRESENCE_HANGS);
	start(fixture);
	while (rna_clock_monotonic() - begin < 4 * fixture->settings.poll[RNA_COLLECTOR_NETDEV])
		assert_true(sd_event_run(fixture->event, 5 * RNA_USEC_PER_MSEC) >= 0);
	assert_null(fixture->view);
	release();
	run_until(fixture, always);
	assert_int_equal(atomic_load(&script.netdev_without_presence), 0);
	assert_int_equal(atomic_load(&script.pcie_without_netdevs), 0);
	assert_true(fixture->schedule.devices->slots[RNA_COLLECTOR_PCIE]->ran);
	assert_non_null(rna_snapshot_netdevs(fixture->view->snapshot));
}

/* What runs when it is quiet opens nothing of the RDMA stack; what ran before has let go. */
static void test_quiet(void **state)
{
	struct fixture *fixture = *state;
	rna_usec begin;
	unsigned runs;

	start(fixture);
	run_until(fixture, always);
	fixture->schedule.quiet = true;
	while (rna_schedule_loud(&fixture->schedule))
		assert_true(sd_event_run(fixture->event, 5 * RNA_USEC_PER_MSEC) >= 0);
	runs = atomic_load(&script.loud_runs);
	assert_true(runs > 0);
	begin = rna_clock_monotonic();
	while (rna_clock_monotonic() - begin < 4 * fixture->settings.poll[RNA_COLLECTOR_PCIE]) {
		assert_true(sd_event_run(fixture->event, 5 * RNA_USEC_PER_MSEC) >= 0);
		assert_null(rna_schedule_loud(&fixture->schedule));
	}
	assert_int_equal(atomic_load(&script.loud_runs), runs);
}

static bool one_device(struct fixture *fixture)
{
	return fixture->view->snapshot->device_count == 1;
}

static bool four_devices(struct fixture *fixture)
{
	return fixture->view->snapshot->device_count == 4 &&
	       rna_device_state(&fixture->view->snapshot->devices[3]);
}

static void test_devices_come_and_go(void **state)
{
	struct fixture *fixture = *state;
	uint64_t device_set;

	start(fixture);
	run_until(fixture, always);
	device_set = fixture->view->snapshot->device_set;
	atomic_store(&script.device_count, 1);
	run_until(fixture, one_device);
	assert_true(fixture->view->snapshot->device_set > device_set);
	assert_string_equal(fixture->view->snapshot->devices[0].device->name, "dev0");
	atomic_store(&script.device_count, 4);
	run_until(fixture, four_devices);
}

static bool no_devices(struct fixture *fixture)
{
	return fixture->view->snapshot->device_count == 0;
}

static void test_a_hanging_device_may_vanish(void **state)
{
	struct fixture *fixture = *state;

	start(fixture);
	run_until(fixture, always);
	atomic_store(&script.hanging, 1);
	run_until(fixture, others_went_on);
	atomic_store(&script.device_count, 0);
	run_until(fixture, no_devices);
	release();
	run_until(fixture, one_lane);
	assert_int_equal(fixture->view->agent.lanes_stalled, 0);
}

static void test_a_new_registration_is_a_new_device(void **state)
{
	struct fixture *fixture = *state;
	uint64_t device_set;

	poll_gids_rarely(fixture);
	start(fixture);
	run_until(fixture, gids_read);
	device_set = fixture->view->snapshot->device_set;
	atomic_fetch_add(&script.generation, 1);
	while (fixture->view->snapshot->device_set == device_set)
		assert_true(sd_event_run(fixture->event, UINT64_MAX) >= 0);
	assert_int_equal(fixture->view->snapshot->device_count, 3);
	run_until(fixture, gids_read_again);
	/* what is counted from run to run goes on */
	assert_int_equal(atomic_load(&script.gids_without_previous), 3);
}

static void test_a_device_that_was_gone_begins_anew(void **state)
{
	struct fixture *fixture = *state;

	poll_gids_rarely(fixture);
	start(fixture);
	run_until(fixture, gids_read);
	atomic_store(&script.device_count, 0);
	run_until(fixture, no_devices);
	atomic_store(&script.device_count, 3);
	run_until(fixture, gids_read_again);
	assert_int_equal(atomic_load(&script.gids_without_previous), 6);
}

static void test_an_old_view_outlives_its_devices(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_view_unref_p) const struct rna_view *old = NULL;

	start(fixture);
	run_until(fixture, always);
	old = rna_view_ref(fixture->view);
	atomic_store(&script.device_count, 0);
	run_until(fixture, no_devices);
	assert_string_equal(old->snapshot->devices[2].device->name, "dev2");
	assert_string_equal(find_status(old, "dev2", RNA_COLLECTOR_LINK)->device, "dev2");
}

/* -- Publishing -------------------------------------------------------------------------------- */

/* Each member of a view, and the stage that fills it in; "": rna_publish() itself. */
#define MEMBER(member, stage)                                                                      \
	{                                                                                          \
		offsetof(struct rna_view, member), sizeof(((struct rna_view *)NULL)->member),      \
			stage                                                                      \
	}

static const struct member {
	size_t offset, size;
	const char *stage;
} members[] = {
	MEMBER(refs, ""),
	MEMBER(arena, ""),
	MEMBER(snapshot, "snapshot"),
	MEMBER(cards, "cards"),
	MEMBER(job_count, "jobs"),
	MEMBER(jobs, "jobs"),
	MEMBER(agent, "status"),
	MEMBER(metrics, "status"),
	MEMBER(selftests, "selftests"),
	MEMBER(probes, "probes"),
	MEMBER(bandwidths, "probes"),
	MEMBER(ports, "memory"),
	MEMBER(missing_count, "memory"),
	MEMBER(missing, "memory"),
	MEMBER(node, "kubernetes"),
	MEMBER(profile, "profile"),
	MEMBER(subjects, "subjects"),
	MEMBER(finding_count, "findings"),
	MEMBER(findings, "findings"),
	MEMBER(findings_short, "findings"),
	MEMBER(change_count, "changes"),
	MEMBER(changes, "changes"),
};

static bool same_member(const struct member *member, const struct rna_view *a,
			const struct rna_view *b)
{
	return memcmp((const char *)a + member->offset, (const char *)b + member->offset,
		      member->size) == 0;
}

/* Asserts that no stage writes a member that belongs to another one. */
static void run_stages(const struct rna_publish_input *in, struct rna_view *view)
{
	for (size_t i = 0; i < RNA_PUBLISH_STAGES; i++) {
		const struct rna_publish_stage *stage = &rna_publish_stages[i];
		struct rna_view before = *view;

		assert_int_equal(stage->fill_in(in, view), 0);
		for (size_t m = 0; m < RNA_ARRAY_SIZE(members); m++)
			if (strcmp(members[m].stage, stage->name) != 0)
				assert_true(same_member(&members[m], &before, view));
	}
}

static void test_each_stage_fills_in_its_own(void **state)
{
	static const struct rna_agent_status status = {.root = "/"};
	static const char *const order[RNA_PUBLISH_STAGES] = {
		"snapshot", "cards",      "jobs",    "status",   "selftests", "probes",
		"memory",   "kubernetes", "profile", "subjects", "findings",  "changes",
	};
	RNA_CLEANUP(rna_view_unref_p) struct rna_view *view = NULL;
	struct rna_memory memory = RNA_MEMORY_INIT;
	struct fixture *fixture = *state;
	struct rna_arena *arena = rna_arena_new(4096);
	RNA_CLEANUP(rna_baseline_deinit) struct rna_baseline baseline = {0};
	struct rna_health health;
	struct rna_publish_input in = {
		.schedule = &fixture->schedule,
		.status = &status,
		.memory = &memory,
		.health = &health,
		.baseline = &baseline,
	};

	for (size_t i = 0; i < RNA_PUBLISH_STAGES; i++)
		assert_string_equal(rna_publish_stages[i].name, order[i]);
	atomic_store(&script.port_state, RNA_PORT_DOWN);
	start(fixture);
	run_until(fixture, always);
	in.time = rna_clock_now();
	assert_int_equal(rna_baseline_load(&baseline, "", NULL, NULL), 0);
	assert_int_equal(rna_health_init(&health, &fixture->settings), 0);
	health.once = true;
	view = rna_arena_alloc(arena, sizeof(*view));
	*view = (struct rna_view){.refs = 1, .arena = arena};
	run_stages(&in, view);
	assert_int_equal(view->snapshot->device_count, 3);
	assert_true(view->job_count > 0);
	assert_string_equal(view->agent.root, "/");
	assert_non_null(view->ports);
	assert_string_equal(view->profile.source, "shipped");
	assert_false(view->profile.alarms);
	assert_non_null(view->findings);
	rna_health_deinit(&health);
	rna_memory_deinit(&memory);
}

static bool ports_are_down(struct fixture *fixture)
{
	return rna_port_state(&fixture->view->snapshot->devices[0], 1)->state.number ==
	       RNA_PORT_DOWN;
}

/* Whatever is read afterwards. */
static void test_a_published_view_stays_as_it_is(void **state)
{
	RNA_CLEANUP(rna_view_unref_p) const struct rna_view *view = NULL;
	struct fixture *fixture = *state;
	struct rna_snapshot_device devices[3];
	struct rna_view copy;

	start(fixture);
	run_until(fixture, always);
	view = rna_view_ref(fixture->view);
	copy = *view;
	memcpy(devices, view->snapshot->devices, sizeof(devices));
	atomic_store(&script.port_state, RNA_PORT_DOWN);
	run_until(fixture, ports_are_down);
	copy.refs = view->refs; /* the count is not content */
	assert_memory_equal(view, &copy, sizeof(copy));
	assert_memory_equal(view->snapshot->devices, devices, sizeof(devices));
	assert_int_equal(rna_port_state(&view->snapshot->devices[0], 1)->state.number,
			 RNA_PORT_ACTIVE);
}

/* -- Events ------------------------------------------------------------------------------------ */

/* When nothing has happened for this time, nothing is in progress. */
#define IDLE (300 * RNA_USEC_PER_MSEC)

/* Waits until the clock has nothing to do for an hour, and all that began has ended. */
static void settle(struct fixture *fixture)
{
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		fixture->settings.poll[id] = 3600 * RNA_USEC_PER_SEC;
	start(fixture);
	run_until(fixture, gids_read);
	while (sd_event_run(fixture->event, IDLE) > 0)
		;
}

static bool trigger(struct fixture *fixture, struct rna_trigger trigger)
{
	trigger.origin = (struct rna_origin){RNA_SOURCE_RTNETLINK, rna_clock_monotonic()};
	return rna_trigger(&fixture->schedule, &trigger);
}

static const struct rna_part *state_part(const struct fixture *fixture, size_t device)
{
	return fixture->view->snapshot->devices[device].parts[RNA_COLLECTOR_STATE];
}

static bool dev0_is_down(struct fixture *fixture)
{
	return rna_port_state(&fixture->view->snapshot->devices[0], 1)->state.number ==
	       RNA_PORT_DOWN;
}

static bool link_of_dev0_is_read(struct fixture *fixture)
{
	const struct rna_snapshot_device *device = &fixture->view->snapshot->devices[0];

	return device->parts[RNA_COLLECTOR_LINK]->origin.source == RNA_SOURCE_RTNETLINK;
}

static const unsigned state_and_netdev = 1u << RNA_COLLECTOR_STATE | 1u << RNA_COLLECTOR_NETDEV;

static void test_an_event_reads_its_device_only(void **state)
{
	struct fixture *fixture = *state;
	rna_usec before;

	settle(fixture);
	atomic_store(&script.port_state, RNA_PORT_DOWN);
	before = rna_clock_monotonic();
	assert_true(trigger(fixture, (struct rna_trigger){.collectors = state_and_netdev,
							  .ifindex = IFINDEX}));
	rna_schedule_read_triggered(&fixture->schedule);
	run_until(fixture, dev0_is_down);
	assert_int_equal(state_part(fixture, 0)->origin.source, RNA_SOURCE_RTNETLINK);
	assert_true(state_part(fixture, 0)->origin.seen >= before);
	assert_int_equal(state_part(fixture, 1)->origin.source, RNA_SOURCE_POLL);
	run_until(fixture, link_of_dev0_is_read); /* a consequence, of the same origin */
	assert_int_equal(atomic_load(&script.state_runs[0]), 2);
	assert_int_equal(atomic_load(&script.state_runs[1]), 1);
	assert_int_equal(fixture->schedule.account.sources[RNA_SOURCE_RTNETLINK].changes, 1);
	assert_int_equal(fixture->schedule.account.sources[RNA_SOURCE_POLL].changes, 0);
}

/* The only lane is in a job that takes long, and is handed over much later. */
static void test_an_event_does_not_wait_for_a_slow_job(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_lanes_limits limits = {4, 10 * RNA_USEC_PER_SEC, 20 * RNA_USEC_PER_SEC};
	rna_usec before;

	settle(fixture);
	rna_lanes_set_limits(fixture->schedule.lanes, &limits);
	atomic_store(&script.hangs, false);
	atomic_store(&script.hanging, 2);
	assert_true(trigger(fixture, (struct rna_trigger){.collectors = 1u << RNA_COLLECTOR_STATE,
							  .device = "dev2"}));
	rna_schedule_read_triggered(&fixture->schedule);
	while (!atomic_load(&script.hangs))
		(void)sched_yield();
	atomic_store(&script.port_state, RNA_PORT_DOWN);
	before = rna_clock_monotonic();
	assert_true(trigger(fixture, (struct rna_trigger){.collectors = state_and_netdev,
							  .ifindex = IFINDEX}));
	rna_schedule_read_triggered(&fixture->schedule);
	run_until(fixture, dev0_is_down);
	assert_true(rna_usec_since(before, rna_clock_monotonic()) < 5 * RNA_USEC_PER_SEC);
}

/* It may be a new one of a device: interfaces are read for it, but nothing at once. */
static void test_an_unknown_interface_is_looked_for_later(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_target *nodes = fixture->schedule.nodes;
	unsigned later = 0;

	settle(fixture);
	assert_true(trigger(fixture, (struct rna_trigger){.collectors = state_and_netdev,
							  .ifindex = IFINDEX + 1000}));
	assert_int_equal(fixture->schedule.devices->triggered, 0);
	assert_int_equal(fixture->schedule.devices->later, 0);
	for (const struct rna_target *t = nodes; t; t = t->next) {
		assert_int_equal(t->triggered, 0);
		later |= t->later;
	}
	assert_int_equal(later, 1u << RNA_COLLECTOR_NETDEV);
	assert_false(trigger(fixture, (struct rna_trigger){.collectors = 1u << RNA_COLLECTOR_STATE,
							   .ifindex = IFINDEX + 1000}));
}

static bool all_are_down(struct fixture *fixture)
{
	for (size_t i = 0; i < 3; i++)
		if (rna_port_state(&fixture->view->snapshot->devices[i], 1)->state.number !=
		    RNA_PORT_DOWN)
			return false;
	return true;
}

/* -- Where events tell ------------------------------------------------------------------------- */

/* Only states are polled; dev0 has an interface, the others have none. */
static void start_with_events(struct fixture *fixture)
{
	for (unsigned id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (id != RNA_COLLECTOR_STATE)
			fixture->settings.poll[id] = 3600 * RNA_USEC_PER_SEC;
	fixture->schedule.account.sources[RNA_SOURCE_RTNETLINK].watched = true;
	start(fixture);
	run_until(fixture, gids_read);
	assert_true(fixture->schedule.devices->covered);
	assert_false(fixture->schedule.devices->next->covered);
}

/* Turns the loop until dev1 was read so often from now on. */
static void run_for(struct fixture *fixture, unsigned runs)
{
	unsigned end = atomic_load(&script.state_runs[1]) + runs;

	while (atomic_load(&script.state_runs[1]) < end)
		assert_true(sd_event_run(fixture->event, RNA_USEC_PER_SEC) >= 0);
}

static void test_what_events_tell_is_polled_rarely(void **state)
{
	struct fixture *fixture = *state;
	unsigned before;

	start_with_events(fixture);
	before = atomic_load(&script.state_runs[0]);
	run_for(fixture, 40);
	/* in 800 ms or more: 2 on an idle machine */
	assert_in_range(atomic_load(&script.state_runs[0]) - before, 1, 20);
	fixture->schedule.account.sources[RNA_SOURCE_RTNETLINK].watched = false;
	rna_schedule_look_at_events(&fixture->schedule);
	before = atomic_load(&script.state_runs[0]);
	run_for(fixture, 10);
	assert_in_range(atomic_load(&script.state_runs[0]) - before, 8, 12);
}

static void test_coverage_grows_with_each_change(void **state)
{
	struct fixture *fixture = *state;
	uint64_t before;

	start_with_events(fixture);
	before = fixture->schedule.coverage;
	rna_schedule_look_at_events(&fixture->schedule);
	assert_int_equal(fixture->schedule.coverage, before);
	fixture->schedule.devices->covered = false; /* as if it had no interface before */
	rna_schedule_look_at_events(&fixture->schedule);
	assert_int_equal(fixture->schedule.coverage, before + 1);
}

static void test_a_change_that_no_event_told_is_counted(void **state)
{
	struct fixture *fixture = *state;

	start_with_events(fixture);
	assert_int_equal(fixture->schedule.account.missed, 0);
	atomic_store(&script.port_state, RNA_PORT_DOWN);
	run_until(fixture, all_are_down);
	assert_int_equal(fixture->schedule.account.missed, 1); /* of dev0 */
}

/* A part without news makes no view. */
static void test_states_without_news_are_not_shown(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_view *view;

	start_with_events(fixture);
	run_for(fixture, 2); /* what was under way */
	view = rna_view_ref(fixture->view);
	run_for(fixture, 10);
	assert_ptr_equal(fixture->view, view);
	(void)rna_view_unref(view);
	atomic_store(&script.port_state, RNA_PORT_DOWN);
	run_until(fixture, all_are_down);
}

static rna_usec scrapes_each_15_s(rna_usec earliest, void *userdata)
{
	(void)userdata;
	return (earliest + 14999999) / 15000000 * 15000000;
}

static rna_usec scrapes_each_minute(rna_usec earliest, void *userdata)
{
	(void)userdata;
	return (earliest + 59999999) / 60000000 * 60000000;
}

static void test_counters_are_read_before_a_scrape(void **state)
{
	enum { SECOND = 1000000 };
	struct fixture *fixture = *state;
	struct rna_schedule *schedule = &fixture->schedule;
	const enum rna_collector_id id = RNA_COLLECTOR_COUNTERS;

	start_with_events(fixture);
	fixture->settings.poll[id] = 10 * SECOND;
	assert_int_equal(rna_rhythm_next(schedule, id, 3 * SECOND, 3 * SECOND), 13 * SECOND);
	schedule->next_scrape = scrapes_each_15_s;
	assert_int_equal(rna_rhythm_next(schedule, id, 3 * SECOND, 3 * SECOND), 14 * SECOND);
	for (rna_usec at = 14; at < 100; at += 15)
		assert_int_equal(rna_rhythm_next(schedule, id, at * SECOND, at * SECOND),
				 (at + 15) * SECOND);
	schedule->next_scrape = scrapes_each_minute; /* in between it is polled as ever */
	assert_int_equal(rna_rhythm_next(schedule, id, 59 * SECOND, 59 * SECOND), 69 * SECOND);
	assert_int_equal(rna_rhythm_next(schedule, id, 109 * SECOND, 109 * SECOND), 119 * SECOND);
}

static rna_usec only_scrape;

static rna_usec one_scrape(rna_usec earliest, void *userdata)
{
	(void)userdata;
	return earliest <= only_scrape ? only_scrape : RNA_USEC_NEVER;
}

/* It may wait for the scrape, never run before it is due: then it would prove too little. */
static void test_states_are_proven_before_a_scrape(void **state)
{
	struct fixture *fixture = *state;
	struct rna_schedule *schedule = &fixture->schedule;
	const enum rna_collector_id id = RNA_COLLECTOR_STATE;
	const rna_usec period = rna_collectors[id].told;
	rna_usec now, due;

	start_with_events(fixture);
	for (struct rna_target *t = schedule->devices; t; t = t->next)
		t->covered = true;
	now = rna_clock_monotonic();
	due = rna_rhythm_next(schedule, id, now, now);
	assert_in_range(due, now, now + period);
	schedule->next_scrape = one_scrape;
	only_scrape = due + RNA_SCRAPE_LEAD + period / 2;
	assert_int_equal(rna_rhythm_next(schedule, id, now, now), due + period / 2);
	only_scrape = due + RNA_SCRAPE_LEAD + period; /* too far away */
	assert_int_equal(rna_rhythm_next(schedule, id, now, now), due);
	only_scrape = due + RNA_SCRAPE_LEAD - period / 5;
	assert_int_equal(rna_rhythm_next(schedule, id, now, now), due);
}

static void test_a_bond_stands_for_its_members(void **state)
{
	struct fixture *fixture = *state;
	const unsigned gids = 1u << RNA_COLLECTOR_GIDS;

	settle(fixture);
	assert_true(trigger(fixture, (struct rna_trigger){.collectors = gids,
							  .later = gids,
							  .ifindex = IFINDEX_BOND}));
	assert_int_equal(fixture->schedule.devices->triggered, gids);
	assert_int_equal(fixture->schedule.devices->later, gids);
	assert_int_equal(fixture->schedule.devices->next->triggered, 0);
}

static void test_a_device_is_triggered_by_name(void **state)
{
	struct fixture *fixture = *state;
	const unsigned own = 1u << RNA_COLLECTOR_STATE;

	settle(fixture);
	assert_true(trigger(fixture, (struct rna_trigger){.collectors = own, .device = "dev1"}));
	assert_false(trigger(fixture, (struct rna_trigger){.collectors = own, .device = "dev9"}));
	assert_int_equal(fixture->schedule.devices->triggered, 0);
	assert_int_equal(fixture->schedule.devices->next->triggered, own);
}

static void test_a_rescan_reads_everything(void **state)
{
	struct fixture *fixture = *state;

	settle(fixture);
	atomic_store(&script.port_state, RNA_PORT_DOWN);
	assert_true(trigger(fixture, (struct rna_trigger){.collectors = state_and_netdev}));
	rna_schedule_read_triggered(&fixture->schedule);
	run_until(fixture, all_are_down);
	assert_int_equal(fixture->schedule.account.sources[RNA_SOURCE_RTNETLINK].changes, 3);
}

static bool dev0_is_up(struct fixture *fixture)
{
	return !dev0_is_down(fixture);
}

static bool fabric_of_dev0_is_asked(struct fixture *fixture)
{
	(void)fixture;
	return atomic_load(&script.fabric_runs) == 4;
}

static void flap(struct fixture *fixture, unsigned port_state, bool (*seen)(struct fixture *))
{
	atomic_store(&script.port_state, port_state);
	assert_true(trigger(fixture, (struct rna_trigger){.collectors = state_and_netdev,
							  .ifindex = IFINDEX}));
	rna_schedule_read_triggered(&fixture->schedule);
	run_until(fixture, seen);
}

/* When the fabric of a device is to be asked for an event; 0: it is not. */
static rna_usec due_of(const struct rna_target *target)
{
	bool settling = target->settling & rna_collector_bit(RNA_COLLECTOR_FABRIC);

	return settling ? target->slots[RNA_COLLECTOR_FABRIC]->due : 0;
}

/* A second after the link changed, and then not again for ten seconds, however often it changes. */
static void test_a_link_that_flaps_asks_the_fabric_seldom(void **state)
{
	struct fixture *fixture = *state;
	struct rna_target *dev0;
	struct rna_part *asked;
	rna_usec due;

	settle(fixture);
	dev0 = fixture->schedule.devices;
	asked = dev0->slots[RNA_COLLECTOR_FABRIC]->part;
	asked->started.monotonic = 0; /* as if it had been long ago */
	flap(fixture, RNA_PORT_DOWN, dev0_is_down);
	assert_true(due_of(dev0) > rna_clock_monotonic() - RNA_USEC_PER_SEC);
	assert_true(due_of(dev0) <= rna_clock_monotonic() + RNA_USEC_PER_SEC);
	assert_int_equal(due_of(dev0->next), 0);
	run_until(fixture, fabric_of_dev0_is_asked);
	flap(fixture, RNA_PORT_ACTIVE, dev0_is_up);
	asked = dev0->slots[RNA_COLLECTOR_FABRIC]->part;
	due = asked->started.monotonic + 10 * RNA_USEC_PER_SEC;
	assert_true(due_of(dev0) == due);
	flap(fixture, RNA_PORT_DOWN, dev0_is_down);
	flap(fixture, RNA_PORT_ACTIVE, dev0_is_up);
	assert_true(due_of(dev0) == due);
	assert_int_equal(atomic_load(&script.fabric_runs), 4);
}

/* Of verbs: a subnet manager registers its clients anew, and nothing else changes. */
static void test_a_later_event_asks_the_fabric_as_seldom(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_part *asked;

	settle(fixture);
	assert_true(trigger(fixture, (struct rna_trigger){.later = 1u << RNA_COLLECTOR_FABRIC,
							  .device = "dev1"}));
	rna_schedule_read_later(&fixture->schedule);
	assert_int_equal(due_of(fixture->schedule.devices), 0);
	asked = fixture->schedule.devices->next->slots[RNA_COLLECTOR_FABRIC]->part;
	assert_true(due_of(fixture->schedule.devices->next) ==
		    asked->started.monotonic + 10 * RNA_USEC_PER_SEC);
	assert_int_equal(atomic_load(&script.fabric_runs), 3);
}

/* What comes while a run is under way is read after it, once, however much comes. */
static void test_events_during_a_run_are_not_lost(void **state)
{
	struct fixture *fixture = *state;

	settle(fixture);
	atomic_store(&script.hanging, 0);
	for (int i = 0; i < 3; i++) {
		assert_true(trigger(fixture, (struct rna_trigger){.collectors = state_and_netdev,
								  .ifindex = IFINDEX}));
		rna_schedule_read_triggered(&fixture->schedule);
	}
	assert_int_equal(atomic_load(&script.state_runs[0]), 1);
	release();
	while (sd_event_run(fixture->event, IDLE) > 0)
		;
	assert_int_equal(atomic_load(&script.state_runs[0]), 3);
}

static void test_latency_is_of_the_first_view_that_shows_it(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_histogram *latency =
		&fixture->schedule.account.sources[RNA_SOURCE_RTNETLINK].latency;
	struct rna_histogram expected = {0};
	rna_usec seen;

	settle(fixture);
	rna_account_published(&fixture->schedule.account, rna_clock_monotonic());
	assert_memory_equal(latency, &expected, sizeof(expected));
	atomic_store(&script.port_state, RNA_PORT_DOWN);
	assert_true(trigger(fixture, (struct rna_trigger){.collectors = state_and_netdev,
							  .ifindex = IFINDEX}));
	rna_schedule_read_triggered(&fixture->schedule);
	run_until(fixture, link_of_dev0_is_read);
	seen = fixture->schedule.account.unpublished[RNA_SOURCE_RTNETLINK];
	assert_true(seen > 0);
	rna_account_published(&fixture->schedule.account, seen + 7 * RNA_USEC_PER_MSEC);
	rna_account_published(&fixture->schedule.account, seen + RNA_USEC_PER_SEC);
	rna_histogram_add(&expected, 7 * RNA_USEC_PER_MSEC);
	assert_memory_equal(latency, &expected, sizeof(expected));
}

int main(void)
{
#define SCHEDULE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		SCHEDULE_TEST(test_the_first_view_is_whole),
		SCHEDULE_TEST(test_there_is_a_view_when_every_lane_is_stuck),
		SCHEDULE_TEST(test_a_device_has_jobs_as_it_is_now),
		SCHEDULE_TEST(test_one_run_has_what_comes_of_identity),
		SCHEDULE_TEST(test_a_hanging_device_costs_only_itself),
		SCHEDULE_TEST(test_a_stuck_lane_does_not_hold_the_stop),
		SCHEDULE_TEST(test_failing_content_lives_three_periods),
		SCHEDULE_TEST(test_a_change_of_state_reads_the_link),
		SCHEDULE_TEST(test_gids_do_not_delay_the_first_view),
		SCHEDULE_TEST(test_gids_follow_ports_and_interfaces),
		SCHEDULE_TEST(test_who_runs_once_gets_gids_too),
		SCHEDULE_TEST(test_reloads_do_not_put_off_polls),
		SCHEDULE_TEST(test_interfaces_wait_for_devices),
		SCHEDULE_TEST(test_quiet),
		SCHEDULE_TEST(test_devices_come_and_go),
		SCHEDULE_TEST(test_a_hanging_device_may_vanish),
		SCHEDULE_TEST(test_a_new_registration_is_a_new_device),
		SCHEDULE_TEST(test_a_device_that_was_gone_begins_anew),
		SCHEDULE_TEST(test_an_old_view_outlives_its_devices),
		SCHEDULE_TEST(test_each_stage_fills_in_its_own),
		SCHEDULE_TEST(test_a_published_view_stays_as_it_is),
		SCHEDULE_TEST(test_an_event_reads_its_device_only),
		SCHEDULE_TEST(test_an_event_does_not_wait_for_a_slow_job),
		SCHEDULE_TEST(test_an_unknown_interface_is_looked_for_later),
		SCHEDULE_TEST(test_what_events_tell_is_polled_rarely),
		SCHEDULE_TEST(test_coverage_grows_with_each_change),
		SCHEDULE_TEST(test_a_change_that_no_event_told_is_counted),
		SCHEDULE_TEST(test_states_without_news_are_not_shown),
		SCHEDULE_TEST(test_counters_are_read_before_a_scrape),
		SCHEDULE_TEST(test_states_are_proven_before_a_scrape),
		SCHEDULE_TEST(test_a_bond_stands_for_its_members),
		SCHEDULE_TEST(test_a_device_is_triggered_by_name),
		SCHEDULE_TEST(test_a_rescan_reads_everything),
		SCHEDULE_TEST(test_a_link_that_flaps_asks_the_fabric_seldom),
		SCHEDULE_TEST(test_a_later_event_asks_the_fabric_as_seldom),
		SCHEDULE_TEST(test_events_during_a_run_are_not_lost),
		SCHEDULE_TEST(test_latency_is_of_the_first_view_that_shows_it),
	};

	return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
