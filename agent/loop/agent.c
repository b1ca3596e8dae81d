// SPDX-License-Identifier: Apache-2.0
/*
 * The agent: one sd-event loop and its guests.
 *
 *	signals    SIGTERM and SIGINT end it, SIGHUP reloads, SIGUSR1 quiesces, SIGUSR2 resumes
 *	schedule   one timer for what is due, lanes for what is slow
 *	watch      sockets on which the kernel tells what has changed
 *	HTTP       libmicrohttpd's descriptor; a timer while its addresses cannot be had
 *	state      the memory's files, read and written by threads of their own
 *	node       updates of Kubernetes; backends that wait have threads of their own
 *	selftest   one timer for the port whose turn it is, and a child that tests it
 *	probing    one timer, a child that probes and answers, and a thread that asks peers
 *	measuring  a TCP port, one timer for its window, and a child that measures bandwidth
 *	quiesce    one timer for its end, one to check whether everything is closed
 *	control    a unix socket for commands that want something done
 *	liveness   one timer: the watchdog is fed while the loop turns and HTTP is served
 *
 * Nothing here waits: results come from lanes, views.c makes a view of them and shows it to HTTP
 * and the other followers. The guests and their order of start are the table starts below.
 */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "rna/base/log.h"
#include "rna/base/project.h"
#include "rna/base/thread.h"
#include "rna/model/log_site.h"

#include "health/health_file.h"
#include "memory/memory.h"
#include "memory/remember.h"

#include "guests.h"
#include "seccomp_filter.h"

/* For each kind of thread; many times what one takes that works. */
#define STOP_PATIENCE (1500 * RNA_USEC_PER_MSEC)

/* At the end, for what the memory has to keep. */
#define STATE_PATIENCE RNA_USEC_PER_SEC

/* The loop may fail so often in a row, with pauses shorter than that. */
#define LOOP_RESPITE RNA_USEC_PER_SEC
enum { LOOP_FAILURES = 100 };

/* -- The process ------------------------------------------------------------------------------- */

/*
 * One heap for all threads: parts are made in lanes and freed in the loop, thousands of small ones.
 * With a heap for each thread, memory that was needed once stays with the thread that had it.
 */
static void share_heap(void)
{
	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_MMAP_THRESHOLD, 256 * 1024);
	(void)mallopt(M_TRIM_THRESHOLD, 512 * 1024);
}

/*
 * Makes the process's table of descriptors large enough while there is one thread. If it has to
 * grow later, the kernel waits for an RCU grace period (fs/file.c, expand_fdtable), some 10 ms.
 */
static void reserve_descriptors(const struct rna_agent *agent)
{
	rlim_t wanted = agent->settings.reader_descriptors + agent->settings.http_max_connections;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == 0)
		return;
	if (wanted >= limit.rlim_cur)
		wanted = limit.rlim_cur - 1;
	RNA_CLOSE int copy = fcntl(sd_event_get_fd(agent->event), F_DUPFD_CLOEXEC, (int)wanted);

	(void)copy; /* to have had such a number is enough */
}

void rna_agent_note(struct rna_agent *agent, enum rna_change_what what, const char *text)
{
	const struct rna_change change = {.time = rna_clock_now(), .what = what, .text = text};

	(void)rna_histories_add(agent->memory.histories, &change); /* the log has it as well */
}

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
		rna_agent_note(agent, RNA_CHANGE_STOPPED, strsignal((int)info->ssi_signo));
		(void)sd_event_exit(sd_event_source_get_event(source), 0);
	}
	return 0;
}

/* What ends the agent, and what asks something of it. */
static const int end_signals[] = {SIGTERM, SIGINT};
static const int other_signals[] = {SIGHUP, SIGUSR1, SIGUSR2};

/* There is nothing to save yet. */
static void leave(int signal)
{
	(void)signal;
	_exit(EXIT_SUCCESS);
}

/*
 * Until the loop runs, a handler obeys these signals: a state directory on a file system that does
 * not respond must not make the agent deaf. The default action is not enough, because the kernel
 * does not apply it to process 1 of a container.
 */
static int leave_on_signals(struct rna_agent *agent, struct rna_error *error)
{
	const struct sigaction action = {.sa_handler = leave};
	sigset_t set;

	(void)agent;
	(void)sigemptyset(&set);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(end_signals); i++) {
		(void)sigaddset(&set, end_signals[i]);
		(void)sigaction(end_signals[i], &action, NULL);
	}
	if (sigprocmask(SIG_UNBLOCK, &set, NULL) < 0)
		return rna_error_set(error, -errno, "cannot watch for signals");
	return 0;
}

static int watch(struct rna_agent *agent, const int *signals, size_t count, struct rna_error *error)
{
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < count; i++)
		(void)sigaddset(&set, signals[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return rna_error_set(error, -errno, "cannot watch for signals");
	for (size_t i = 0; i < count; i++) {
		int ret = sd_event_add_signal(agent->event, NULL, signals[i], on_signal, agent);

		if (ret < 0)
			return rna_error_set(error, ret, "cannot watch for signals");
	}
	return 0;
}

static int watch_signals(struct rna_agent *agent, struct rna_error *error)
{
	return watch(agent, other_signals, RNA_ARRAY_SIZE(other_signals), error);
}

static int watch_end_signals(struct rna_agent *agent, struct rna_error *error)
{
	int ret = watch(agent, end_signals, RNA_ARRAY_SIZE(end_signals), error);

	for (size_t i = 0; ret == 0 && i < RNA_ARRAY_SIZE(end_signals); i++)
		(void)signal(end_signals[i], SIG_DFL); /* for the children, which unblock them */
	return ret;
}

static int start_liveness(struct rna_agent *agent, struct rna_error *error)
{
	return rna_liveness_start(&agent->liveness, agent->event, &agent->server, error);
}

/*
 * Which system calls the CUDA libraries make may change with each version. So if self-tests load
 * them, the filter is on only if the setting says so.
 */
static int filter_calls(struct rna_agent *agent, struct rna_error *error)
{
	enum rna_seccomp_mode mode = (enum rna_seccomp_mode)agent->settings.security_seccomp;
	struct rna_error refusal;
	int ret = 0;

	if (mode == RNA_SECCOMP_AUTO && agent->settings.selftest_gpu_memory)
		mode = RNA_SECCOMP_OFF;
	if (rna_seccomp_is_wanted(mode))
		ret = rna_seccomp_install(&refusal);
	if (ret < 0 && mode == RNA_SECCOMP_ON) {
		*error = refusal;
		return ret;
	}
	if (ret < 0)
		rna_log_warning("%s; running without a system call filter", refusal.text);
	agent->status.seccomp = rna_seccomp_state();
	return 0;
}

/* -- Guests ------------------------------------------------------------------------------------ */

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
	if (!holder)
		holder = rna_selftest_holds(agent->selftest);
	if (!holder)
		holder = rna_measuring_holds(agent->measuring);
	return holder ? holder : rna_probing_holds(agent->probing);
}

static int start_quiesce(struct rna_agent *agent, struct rna_error *error)
{
	const struct rna_quiesce_handlers handlers = {follow_quiesce, find_holder, agent};
	int ret = rna_quiesce_new(agent->event, &handlers, &agent->quiesce);

	return ret < 0 ? rna_error_set(error, ret, "cannot prepare for a quiesce") : 0;
}

static int read_health(void *owner, const char *text, size_t len, struct rna_error *error)
{
	return rna_health_read(owner, text, len, error);
}

static void write_health(void *owner, struct rna_strbuf *out)
{
	rna_health_write(owner, out);
}

static int read_probes(void *owner, const char *text, size_t len, struct rna_error *error)
{
	return rna_probe_memory_read(owner, text, len, error);
}

static void write_probes(void *owner, struct rna_strbuf *out)
{
	rna_probe_memory_write(owner, out);
}

static int read_history(void *owner, const char *text, size_t len, struct rna_error *error)
{
	return rna_history_read(owner, text, len, error);
}

static void write_history(void *owner, struct rna_strbuf *out)
{
	rna_history_write(owner, out);
}

static void account_history(void *owner, bool there)
{
	rna_history_written(owner, there);
}

static void add_history(struct rna_agent *agent, struct rna_history *history,
			const struct rna_history_place *place)
{
	const struct rna_state_document events = {
		.name = place->file,
		.owner = history,
		.read = read_history,
		.write = write_history,
		.changed = &history->changed,
		.header = rna_history_header,
		.old = place->old,
		.turns = &history->turns,
		.written = account_history,
	};

	if (agent->state)
		history->room = place->waiting;
	rna_state_add(agent->state, &events);
}

/* Beside memory.json. */
static void add_files(struct rna_agent *agent)
{
	const struct rna_state_document health = {
		.name = RNA_HEALTH_FILE,
		.owner = &agent->health,
		.read = read_health,
		.write = write_health,
		.changed = &agent->health.changed,
	};
	const struct rna_state_document probes = {
		.name = RNA_PROBE_MEMORY_FILE,
		.owner = &agent->probes,
		.read = read_probes,
		.write = write_probes,
		.changed = &agent->probes.changed,
		.on_change = true, /* where probes are off, there is no file */
	};

	rna_state_add(agent->state, &health);
	rna_state_add(agent->state, &probes);
	for (size_t i = 0; i < RNA_CHANGE_KIND_COUNT; i++)
		add_history(agent, &agent->memory.histories[i], &rna_history_places[i]);
}

/* keep: the memory outlives this process. */
static void recall(struct rna_agent *agent, bool keep)
{
	const char *directory = rna_state_directory(&agent->settings, agent->status.live);

	rna_clock_boot(agent->health.boot);
	if (directory)
		agent->state = rna_state_open(directory, keep, &agent->memory);
	else if (keep && !agent->status.live && *agent->settings.state_directory)
		rna_log_notice("with --root what the agent remembers of ports, counters and "
			       "findings ends with it; state.directory names a directory for that, "
			       "other than " RNA_STATE_DIRECTORY_DEFAULT);
	add_files(agent);
	rna_quiesce_recall(agent->quiesce, &agent->memory, agent->settings.quiesce_timeout);
	rna_schedule_look_for(&agent->schedule, rna_memory_functions(&agent->memory));
	rna_schedule_set_rails(&agent->schedule, rna_rails_known(&agent->memory));
}

static void follow_accepted(void *userdata)
{
	rna_agent_note(userdata, RNA_CHANGE_ACCEPTED, "expect accept");
	rna_views_want(userdata);
}

static int start_memory(struct rna_agent *agent, struct rna_error *error)
{
	int ret;

	recall(agent, true);
	rna_agent_note(agent, RNA_CHANGE_STARTED, "version " RNA_VERSION);
	ret = rna_state_watch(agent->state, agent->event, follow_accepted, agent);
	return ret < 0 ? rna_error_set(error, ret, "cannot watch the state directory") : 0;
}

static int start_server(struct rna_agent *agent, struct rna_error *error)
{
	agent->server.event = agent->event;
	agent->server.settings = &agent->settings;
	agent->server.source = rna_views_source(agent);
	return rna_server_start(&agent->server, error);
}

static void note_finding(struct rna_agent *agent, const struct rna_finding *finding,
			 enum rna_change_what what)
{
	const struct rna_change change = {
		.time = agent->health.judged,
		.what = what,
		.device = finding->device,
		.port = finding->port,
		.text = finding->text,
		.rule = finding->rule,
		.severity = finding->severity,
		.impact = finding->impact,
		.cause = finding->cause,
		.since = finding->since.realtime,
	};

	(void)rna_histories_add(agent->memory.histories, &change); /* the journal has it as well */
}

/* Reports a finding to the history, the journal and Kubernetes. */
static void report_finding(const struct rna_rule *rule, const struct rna_finding *finding,
			   enum rna_change_what what, bool news, void *userdata)
{
	struct rna_agent *agent = userdata;
	bool over = what == RNA_CHANGE_RESOLVED;

	note_finding(agent, finding, what);
	if (!news)
		return;
	rna_notify_finding(rule, finding, over,
			   rna_time_since(finding->since, agent->health.judged));
	rna_node_hear(agent->node, rule, finding, over);
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

	agent->health.tell = report_finding;
	agent->health.userdata = agent;
	return ret < 0 ? rna_error_set(error, ret, "cannot start the Kubernetes backends") : 0;
}

static int start_watch(struct rna_agent *agent, struct rna_error *error)
{
	agent->watch = rna_watch_new(agent->event, &agent->schedule);
	if (!agent->watch)
		return rna_error_set(error, -ENOMEM, "cannot watch for events");
	rna_watch_update(agent->watch);
	return 0;
}

/* A port that was tested before a restart is not tested again because of it. */
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

/* What the prober holds open must not keep a driver waiting. */
static void let_go_of_device(void *userdata)
{
	const struct rna_agent *agent = userdata;

	rna_probing_let_go(agent->probing);
	rna_measuring_let_go(agent->measuring);
}

/*
 * Self-tests, probes, and bandwidth tests, which use the ports and members of the probes. Only the
 * agent of a live node: the devices of a recording cannot be tested or quiesced.
 */
static int start_tests(struct rna_agent *agent, struct rna_error *error)
{
	struct rna_measuring_host host = {
		.event = agent->event,
		.settings = &agent->settings,
		.news = rna_views_want,
		.userdata = agent,
	};
	const struct rna_probing_host probing = {
		.event = agent->event,
		.settings = &agent->settings,
		.memory = &agent->probes,
		.news = rna_views_want,
		.userdata = agent,
	};

	if (!agent->status.live)
		return 0;
	agent->selftest = rna_selftest_new(agent->event, &agent->settings, rna_views_want, agent);
	if (!agent->selftest)
		return rna_error_set(error, -ENOMEM, "cannot test devices");
	recall_tests(agent);
	agent->probing = rna_probing_new(&probing);
	if (!agent->probing)
		return rna_error_set(error, -ENOMEM, "cannot probe peers");
	rna_watch_set_removal(agent->watch, let_go_of_device, agent);
	host.selftest = agent->selftest;
	host.probing = agent->probing;
	agent->measuring = rna_measuring_new(&host);
	return agent->measuring ? 0 : rna_error_set(error, -ENOMEM, "cannot measure bandwidth");
}

static void stop_tests(struct rna_agent *agent)
{
	agent->measuring = rna_measuring_free(agent->measuring);
	agent->probing = rna_probing_free(agent->probing);
	agent->selftest = rna_selftest_free(agent->selftest);
}

/* Directories in /run do not survive a boot. systemd makes this one; without systemd it is made
 * here. Without the socket the agent runs all the same. */
static int start_control(struct rna_agent *agent, struct rna_error *error)
{
	const char *path = agent->settings.control_socket;
	struct rna_error refusal;

	(void)error;
	if (!path[0] || !agent->status.live)
		return 0;
	agent->answers = (struct rna_answers){&agent->settings, agent->selftest, agent->measuring,
					      agent->quiesce, rna_views_source(agent)};
	rna_control_make_directory(path);
	if (rna_control_start(agent->event, path, rna_answers, &agent->answers, &agent->control,
			      &refusal) < 0)
		rna_log_warning("control socket unavailable; quiesce, resume and selftest will not "
				"work: %s",
				refusal.text);
	return 0;
}

static int start_schedule(struct rna_agent *agent, struct rna_error *error)
{
	return rna_schedule_start(&agent->schedule, false, error);
}

/* What the daemon starts, in this order. */
static int (*const starts[])(struct rna_agent *agent, struct rna_error *error) = {
	leave_on_signals,  /* before anything that may take long */
	start_quiesce,     /* before the signals that ask for it */
	watch_signals,     /* before any thread, which inherits the mask */
	start_liveness,    /* before anything that may take long */
	start_memory,      /* before those that recall something from it */
	start_server,      /* so that /readyz can say why not */
	start_node,        /* before the first view, which describes it */
	start_watch,       /* before the first read, so that no change falls between the two */
	start_tests,       /* after the watch, which tells them of removals */
	start_control,     /* after those that its commands ask */
	filter_calls,      /* after all that is done once, before a lane runs */
	watch_end_signals, /* before a lane runs, whose jobs are waited for at the end */
	start_schedule,    /* from here on the loop has work */
};

/* -- Life -------------------------------------------------------------------------------------- */

/* The watch is first, because its triggers need the schedule. */
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
	rna_liveness_stop(&agent->liveness);
	rna_server_deinit(&agent->server);
	agent->control = rna_control_stop(agent->control);
	agent->quiesce = rna_quiesce_free(agent->quiesce);
	stop_tests(agent);
	agent->view = rna_view_unref(agent->view);
	if (!stop_threads(agent))
		return NULL; /* a stuck thread still uses all of it; the process is about to end */
	agent->state = rna_state_free(agent->state);
	rna_memory_deinit(&agent->memory);
	agent->publishing = sd_event_source_disable_unref(agent->publishing);
	agent->ageing = sd_event_source_disable_unref(agent->ageing);
	agent->event = sd_event_unref(agent->event);
	rna_health_deinit(&agent->health);
	rna_probe_memory_deinit(&agent->probes);
	rna_baseline_deinit(&agent->baseline);
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

static rna_usec next_scrape(rna_usec earliest, void *userdata)
{
	const struct rna_agent *agent = userdata;

	return rna_http_next_scrape(agent->server.http, earliest);
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
	share_heap();
	agent->settings = *settings;
	*settings = (struct rna_settings){0};
	agent->config = config;
	status = rna_root_open(root, &agent->root, error);
	if (status < 0)
		return status;
	if (root && !rna_root_exists(agent->root, "sys")) /* it looks like a node without RDMA */
		rna_log_warning("--root: %s has no directory sys: is it a recorded node?", root);
	agent->backends = rna_backends_new(agent->root);
	if (!agent->backends || rna_health_init(&agent->health, &agent->settings) < 0)
		return rna_error_set(error, -ENOMEM, "cannot start");
	rna_agent_load_baseline(agent);
	status = sd_event_new(&agent->event);
	if (status < 0)
		return rna_error_set(error, status, "cannot make an event loop");
	status = rna_views_init(agent);
	if (status < 0)
		return rna_error_set(error, status, "cannot make an event loop");
	reserve_descriptors(agent);
	agent->status = (struct rna_agent_status){
		.started = rna_clock_now(),
		.root = rna_root_path(agent->root),
		.live = rna_root_is_live(agent->root),
	};
	agent->status.config_loaded = agent->status.started.realtime;
	agent->schedule.on_settled = rna_views_want;
	agent->schedule.recall = recall_part;
	agent->schedule.next_scrape = next_scrape;
	agent->schedule.userdata = agent;
	status = rna_log_site_set(agent->settings.kernel_log_patterns);
	if (status < 0)
		return rna_error_set(error, status, "cannot make kernel_log.patterns");
	status = rna_schedule_init(&agent->schedule, agent->event, &agent->settings, agent->root,
				   agent->backends, error);
	if (status < 0)
		return status;
	*ret = RNA_TAKE(agent);
	return 0;
}

void rna_agent_set_overrides(struct rna_agent *agent, const struct rna_override *overrides)
{
	agent->overrides = overrides;
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

const struct rna_root *rna_agent_root(const struct rna_agent *agent)
{
	return agent->root;
}

void rna_agent_set_inside(struct rna_agent *agent, uint32_t process)
{
	agent->schedule.inside = process;
}

/*
 * _exit() if a thread is stuck in the kernel, because an exit handler would wait for it, and while
 * one still waits for a server, because exit handlers would free what it uses.
 */
static void stop(struct rna_agent *agent)
{
	rna_views_finish(agent);
	rna_notify_stopping();
	rna_server_stop(&agent->server);
	agent->control = rna_control_stop(agent->control);
	stop_tests(agent);
	rna_state_flush(agent->state, STATE_PATIENCE);
	if (!stop_threads(agent))
		rna_log_warning("worker thread stuck in the kernel; exiting without joining it");
	else if (rna_threads_aside_join(STOP_PATIENCE))
		return;
	_exit(EXIT_SUCCESS);
}

/*
 * A call inside libsystemd may fail because there is no memory. What it watches is still due then,
 * so the loop goes on. If it fails again and again, the process ends and systemd restarts it.
 */
static int run_loop(sd_event *event)
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
			rna_log_warning("event loop failed (%s); retrying", strerror(-ret));
		last = now;
	}
	return ret;
}

int rna_agent_run(struct rna_agent *agent, struct rna_error *error)
{
	int ret;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(starts); i++) {
		ret = starts[i](agent, error);
		if (ret < 0)
			return ret;
	}
	ret = run_loop(agent->event);
	if (ret < 0)
		return rna_error_set(error, ret, "event loop failed");
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
		return rna_error_set(error, status, "event loop failed");
	if (!agent->view && rna_schedule_is_in_vain(&agent->schedule))
		return rna_error_say(error, -ENODATA, "cannot list the RDMA devices");
	if (!agent->view)
		return rna_error_set(error, -ENOMEM, "cannot collect");
	*ret = rna_view_ref(agent->view);
	return 0;
}

const struct rna_settings *rna_agent_settings(const struct rna_agent *agent)
{
	return &agent->settings;
}
