// SPDX-License-Identifier: Apache-2.0
/*
 * The agent: one sd-event loop and its guests.
 *
 *	signals    SIGTERM and SIGINT end it, SIGHUP reloads, SIGUSR1 quiesces, SIGUSR2 resumes
 *	schedule   one timer for what is due, lanes for what is slow
 *	watch      sockets on which the kernel tells what has changed
 *	HTTP       libmicrohttpd's descriptor; a timer while its addresses cannot be had
 *	state      the memory's files, read and written by threads of their own
 *	node       what Kubernetes is told; backends that wait have threads of their own
 *	selftest   one timer for the port whose turn it is, and a child that tests it
 *	quiesce    one timer for its end, one for who waits until nothing is open any more
 *	control    a unix socket for commands that want something done
 *	watchdog   fed by the loop itself (sd_event_set_watchdog): alive means that the loop turns
 *
 * Nothing here waits: results come from lanes, publish makes a view of them, HTTP hands out the
 * newest view.
 */
#include "agent.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "rna/base/log.h"

#include "memory/peer_recall.h"
#include "memory/remember.h"

#include "footprint.h"
#include "guests.h"
#include "seccomp_filter.h"

/* For each kind of thread; many times what one takes that works. */
#define STOP_PATIENCE (1500 * RNA_USEC_PER_MSEC)

/* At the end, for what the memory has to keep. */
#define STATE_PATIENCE RNA_USEC_PER_SEC

/* The loop may fail so often in a row, with pauses shorter than that. */
#define LOOP_RESPITE RNA_USEC_PER_SEC
enum { LOOP_FAILURES = 100 };

/* -- Quiesce ----------------------------------------------------------------------------------- */

static void follow_quiesce(void *userdata)
{
	struct rna_agent *agent = userdata;

	agent->schedule.quiet = rna_quiesce_is_on(agent->quiesce);
	rna_views_hold_tests(agent);
	if (agent->watch) /* else it begins with what is recalled */
		rna_watch_update(agent->watch);
	rna_views_want(agent);
}

static const char *find_holder(void *userdata)
{
	const struct rna_agent *agent = userdata;
	const char *holder = rna_watch_holds(agent->watch);

	if (!holder)
		holder = rna_schedule_loud(&agent->schedule);
	return holder ? holder : rna_selftest_holds(agent->selftest);
}

/* Before the signals that ask for it are watched. */
static int start_quiesce(struct rna_agent *agent, struct rna_error *error)
{
	const struct rna_quiesce_handlers handlers = {follow_quiesce, find_holder, agent};
	int ret = rna_quiesce_new(agent->event, &handlers, &agent->quiesce);

	return ret < 0 ? rna_error_set(error, ret, "cannot wait for a quiesce") : 0;
}

/* -- Signals ----------------------------------------------------------------------------------- */

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct rna_agent *agent = userdata;

	if (info->ssi_signo == SIGHUP) {
		rna_agent_reload(agent);
	} else if (info->ssi_signo == SIGUSR1) {
		rna_quiesce_ask(agent->quiesce, agent->settings.quiesce_timeout);
	} else if (info->ssi_signo == SIGUSR2) {
		rna_quiesce_resume(agent->quiesce);
	} else {
		rna_log_info("stopping: %s", strsignal((int)info->ssi_signo));
		(void)sd_event_exit(sd_event_source_get_event(source), 0);
	}
	return 0;
}

static int watch_signals(struct rna_agent *agent)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(signals); i++)
		(void)sigaddset(&set, signals[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(signals); i++) {
		int ret = sd_event_add_signal(agent->event, NULL, signals[i], on_signal, agent);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* -- Life -------------------------------------------------------------------------------------- */

/* The watch goes first: its triggers need the schedule. */
static bool stop_threads(struct rna_agent *agent)
{
	if (!rna_watch_stop(agent->watch, STOP_PATIENCE))
		return false;
	agent->watch = NULL;
	if (!rna_node_stop(agent->node, STOP_PATIENCE))
		return false;
	agent->node = NULL;
	return rna_schedule_stop(&agent->schedule, STOP_PATIENCE);
}

struct rna_agent *rna_agent_free(struct rna_agent *agent)
{
	if (!agent)
		return NULL;
	rna_server_deinit(&agent->server);
	agent->control = rna_control_stop(agent->control);
	agent->quiesce = rna_quiesce_free(agent->quiesce);
	agent->selftest = rna_selftest_free(agent->selftest);
	agent->view = rna_view_unref(agent->view);
	if (!stop_threads(agent))
		return NULL; /* a stuck thread still uses all of it; the process is about to end */
	agent->state = rna_state_free(agent->state);
	rna_memory_deinit(&agent->memory);
	agent->publishing = sd_event_source_disable_unref(agent->publishing);
	agent->event = sd_event_unref(agent->event);
	rna_health_deinit(&agent->health);
	(void)rna_backends_free(agent->backends);
	(void)rna_root_close(agent->root);
	rna_settings_deinit(&agent->settings);
	free(agent);
	return NULL;
}

static struct rna_part *recall_part(enum rna_collector_id id, const struct rna_device *device,
				    const struct rna_identity *identity, void *userdata)
{
	struct rna_agent *agent = userdata;

	return rna_memory_recall(&agent->memory, id, device, identity);
}

int rna_agent_new(const char *root, const char *config, struct rna_settings *settings,
		  struct rna_agent **ret, struct rna_error *error)
{
	RNA_CLEANUP(rna_agent_free_p) struct rna_agent *agent = calloc(1, sizeof(*agent));
	int status;

	if (!agent) {
		rna_settings_deinit(settings);
		return rna_error_set(error, -ENOMEM, "cannot start");
	}
	rna_footprint_share_heap();
	agent->settings = *settings;
	*settings = (struct rna_settings){0};
	agent->config = config;
	status = rna_root_open(root, &agent->root, error);
	if (status < 0)
		return status;
	agent->backends = rna_backends_new(agent->root);
	if (!agent->backends || rna_health_init(&agent->health, &agent->settings) < 0)
		return rna_error_set(error, -ENOMEM, "cannot start");
	status = sd_event_new(&agent->event);
	if (status < 0)
		return rna_error_set(error, status, "cannot make an event loop");
	status = rna_views_init(agent);
	if (status < 0)
		return rna_error_set(error, status, "cannot make an event loop");
	rna_footprint_reserve_descriptors(sd_event_get_fd(agent->event),
					  agent->settings.reader_descriptors +
						  agent->settings.http_max_connections);
	agent->status = (struct rna_agent_status){
		.started = rna_clock_now(),
		.root = rna_root_path(agent->root),
		.live = rna_root_is_live(agent->root),
	};
	agent->status.config_loaded = agent->status.started.realtime;
	agent->schedule.on_settled = rna_views_want;
	agent->schedule.recall = recall_part;
	agent->schedule.userdata = agent;
	status = rna_schedule_init(&agent->schedule, agent->event, &agent->settings, agent->root,
				   agent->backends, error);
	if (status < 0)
		return status;
	*ret = RNA_TAKE(agent);
	return 0;
}

int rna_agent_set_hwloc_xml(struct rna_agent *agent, const char *file, struct rna_error *error)
{
	int status = 0;

	if (access(file, R_OK) < 0)
		status = -errno;
	if (status == 0)
		status = rna_backends_set_hwloc_xml(agent->backends, file);
	return status < 0 ? rna_error_set(error, status, "%s", file) : 0;
}

/* keep: for longer than this process. */
static void recall(struct rna_agent *agent, bool keep)
{
	const char *directory = rna_state_directory(&agent->settings, agent->status.live);

	if (directory)
		agent->state = rna_state_open(directory, keep, &agent->memory);
	rna_quiesce_recall(agent->quiesce, &agent->memory, agent->settings.quiesce_timeout);
	rna_schedule_look_for(&agent->schedule, rna_memory_functions(&agent->memory));
}

static int start_server(struct rna_agent *agent, struct rna_error *error)
{
	agent->server.event = agent->event;
	agent->server.settings = &agent->settings;
	agent->server.source = rna_views_source(agent);
	return rna_server_start(&agent->server, error);
}

/* Before the first read, so that no change falls between the two. */
static int start_watch(struct rna_agent *agent, struct rna_error *error)
{
	agent->watch = rna_watch_new(agent->event, &agent->schedule);
	if (!agent->watch)
		return rna_error_set(error, -ENOMEM, "cannot watch for events");
	rna_watch_update(agent->watch);
	return 0;
}

/* A directory in /run is gone after a boot; systemd makes it, others may need it made. */
static void start_control(struct rna_agent *agent)
{
	const char *path = agent->settings.control_socket;
	struct rna_error error;

	if (!path[0])
		return;
	agent->answers = (struct rna_answers){&agent->settings, agent->selftest, agent->quiesce};
	rna_control_make_directory(path);
	if (rna_control_start(agent->event, path, rna_answers, &agent->answers, &agent->control,
			      &error) < 0)
		rna_log_warning("commands cannot ask this agent for anything: %s", error.text);
}

/* A restart is no reason to test again. */
static void recall_tests(struct rna_agent *agent)
{
	for (size_t i = 0; i < agent->memory.count; i++) {
		const struct rna_device_memory *device = agent->memory.devices[i];

		for (size_t p = 0; p < device->port_count; p++)
			if (device->ports[p].last_test > 0)
				rna_selftest_recall(agent->selftest, device->key,
						    &device->ports[p]);
	}
}

/* Devices of a recording cannot be tested, and its agent is not whom commands look for. */
static int start_selftest(struct rna_agent *agent, struct rna_error *error)
{
	if (!agent->status.live)
		return 0;
	agent->selftest = rna_selftest_new(agent->event, &agent->settings, rna_views_want, agent);
	if (!agent->selftest)
		return rna_error_set(error, -ENOMEM, "cannot test devices");
	recall_tests(agent);
	start_control(agent);
	return 0;
}

static int start_node(struct rna_agent *agent, struct rna_error *error)
{
	const struct rna_node_host host = {
		.event = agent->event,
		.settings = &agent->settings,
		.config = agent->config,
		.memory = &agent->memory,
		.judge_again = rna_views_want,
		.userdata = agent,
	};
	int ret = rna_node_start(&host, &agent->node);

	return ret < 0 ? rna_error_set(error, ret, "cannot tell Kubernetes of this node") : 0;
}

/*
 * After all that is done once, before a lane runs. What CUDA's libraries call is theirs to change,
 * so where tests load them it takes an administrator to say that the filter is to be on.
 */
static int filter_calls(struct rna_agent *agent, struct rna_error *error)
{
	enum rna_seccomp_mode mode = (enum rna_seccomp_mode)agent->settings.security_seccomp;
	int ret = 0;

	if (mode == RNA_SECCOMP_AUTO && agent->settings.selftest_gpu_memory)
		mode = RNA_SECCOMP_OFF;
	if (rna_seccomp_is_wanted(mode))
		ret = rna_seccomp_install(error);
	if (ret < 0 && mode == RNA_SECCOMP_ON)
		return ret;
	if (ret < 0)
		rna_log_warning("%s; going on without", error->text);
	agent->status.seccomp = rna_seccomp_state();
	return 0;
}

/* Leaves at once where a thread is stuck in the kernel: an exit handler would wait for it. */
static void stop(struct rna_agent *agent)
{
	rna_views_finish(agent);
	rna_notify_stopping();
	rna_server_stop(&agent->server);
	agent->control = rna_control_stop(agent->control);
	agent->selftest = rna_selftest_free(agent->selftest);
	rna_state_flush(agent->state, STATE_PATIENCE);
	if (stop_threads(agent))
		return;
	rna_log_warning("a device does not answer and holds a thread; leaving without it");
	_exit(EXIT_SUCCESS);
}

/*
 * Inside of libsystemd, too, a call may fail for want of memory. What it watches is still due then,
 * so the loop goes on. One that fails again and again is for systemd to start anew.
 */
static int turn(sd_event *event)
{
	rna_usec last = 0;
	unsigned failures = 0;
	int ret;

	while ((ret = sd_event_loop(event)) < 0 && sd_event_get_state(event) == SD_EVENT_INITIAL) {
		rna_usec now = rna_clock_monotonic();

		failures = rna_usec_since(last, now) > LOOP_RESPITE ? 1 : failures + 1;
		if (failures > LOOP_FAILURES)
			break;
		if (failures == 1)
			rna_log_warning("the event loop was held up: %s", strerror(-ret));
		last = now;
	}
	return ret;
}

int rna_agent_run(struct rna_agent *agent, struct rna_error *error)
{
	int ret;

	ret = start_quiesce(agent, error);
	if (ret < 0)
		return ret;
	ret = watch_signals(agent);
	if (ret < 0)
		return rna_error_set(error, ret, "cannot watch for signals");
	ret = sd_event_set_watchdog(agent->event, true);
	if (ret < 0)
		return rna_error_set(error, ret, "cannot feed the watchdog");
	recall(agent, true);
	ret = rna_state_watch(agent->state, agent->event, rna_views_want, agent);
	if (ret < 0)
		return rna_error_set(error, ret, "cannot watch the state directory");
	ret = start_server(agent, error);
	if (ret < 0)
		return ret;
	ret = start_node(agent, error);
	if (ret < 0)
		return ret;
	ret = start_watch(agent, error);
	if (ret < 0)
		return ret;
	ret = start_selftest(agent, error);
	if (ret < 0)
		return ret;
	ret = filter_calls(agent, error);
	if (ret < 0)
		return ret;
	ret = rna_schedule_start(&agent->schedule, false, error);
	if (ret < 0)
		return ret;
	ret = turn(agent->event);
	if (ret < 0)
		return rna_error_set(error, ret, "the event loop failed");
	stop(agent);
	return 0;
}

int rna_agent_collect(struct rna_agent *agent, const struct rna_view **ret, struct rna_error *error)
{
	int status;

	agent->once = true;
	recall(agent, false);
	agent->health.once = true;
	status = rna_schedule_start(&agent->schedule, true, error);
	if (status < 0)
		return status;
	status = sd_event_loop(agent->event);
	if (status < 0)
		return rna_error_set(error, status, "the event loop failed");
	if (!agent->view && rna_schedule_is_in_vain(&agent->schedule))
		return rna_error_say(error, -ENODATA,
				     "nothing can be said of devices that cannot be listed");
	if (!agent->view)
		return rna_error_set(error, -ENOMEM, "cannot collect");
	*ret = rna_view_ref(agent->view);
	return 0;
}

const struct rna_settings *rna_agent_settings(const struct rna_agent *agent)
{
	return &agent->settings;
}
