// SPDX-License-Identifier: Apache-2.0
/*
 * The self-test. Ports take turns by one timer; what is done for one of them, or on request,
 * is a session: runs that are planned at once and made one after the other, each by a child
 * that is waited for by its socket and by a deadline.
 *
 * When within its period a port is tested is left to chance once and kept from then on, so that a
 * fleet that was started together, and a node's own ports, do not test at the same time.
 */
#include "selftest_schedule.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <systemd/sd-event.h>

#include "rna/base/log.h"

#include "memory/memory.h"
#include "memory/state_directory.h"

#include "ports.h"

/* Beyond what a test takes by itself: its child starts, opens the device, waits for retries. */
#define CHILD_PATIENCE (15 * RNA_USEC_PER_SEC)
#define TIMER_ACCURACY RNA_USEC_PER_SEC

enum {
	RETRIES_A_PERIOD = 12, /* of a port that was busy, not ready, or bad once */
};

struct rna_selftest {
	const struct rna_settings *settings;
	uid_t agent; /* user of other agents of this node, which take turns in testing with this one
		      */
	void (*news)(void *userdata);
	void *userdata;
	const struct rna_view *view;
	struct rna_tested *ports; /* by device and port */
	enum rna_skip hold;
	sd_event_source *timer;
	struct rna_lock_holder lock_holder;
	/* The session; no runs: none. */
	struct rna_selftest_runs session;
	size_t at;                     /* the run under way */
	struct rna_tested *under_test; /* its port, whatever it is called by now */
	struct rna_selftest_listener listener;
	struct rna_test_process process;
	struct rna_selftests *results; /* NULL: to be made again */
};

static void arm(struct rna_selftest *selftest);

/* -- Ports ------------------------------------------------------------------------------------- */

/* Up to limit; a fleet only needs to be spread, so the bias of the modulus does not matter. */
static rna_usec random_time(rna_usec limit)
{
	uint64_t random = 0;

	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK); /* without entropy: at once */
	return limit > 0 ? random % limit : 0;
}

static struct rna_tested *add(struct rna_selftest *selftest, const char *key, const char *device,
			      unsigned number)
{
	struct rna_tested *port = rna_tested_new(key, device, number);

	if (!port)
		return NULL;
	port->owner = selftest;
	port->due = rna_clock_monotonic() + random_time(selftest->settings->selftest_period);
	rna_tested_insert(&selftest->ports, port);
	return port;
}

/* -- Results ----------------------------------------------------------------------------------- */

static void forget_results(struct rna_selftest *selftest)
{
	if (selftest->results)
		(void)rna_part_unref(&selftest->results->part);
	selftest->results = NULL;
}

struct rna_selftests *rna_selftest_results(struct rna_selftest *selftest)
{
	if (!selftest)
		return NULL;
	if (!selftest->results)
		selftest->results =
			rna_tested_results(selftest->ports, selftest->settings->selftest_enabled);
	if (selftest->results)
		(void)rna_part_ref(&selftest->results->part);
	return selftest->results;
}

static void log_run(const struct rna_selftest_run *run)
{
	const struct rna_log_field fields[] = {
		{"DEVICE", run->request.device},
		{NULL, NULL},
	};

	if (run->result.end == RNA_LOOPBACK_FAILED || run->result.end == RNA_LOOPBACK_CORRUPT)
		rna_log(LOG_WARNING, fields, "self-test: %s", run->result.text);
	else if (run->result.end == RNA_LOOPBACK_DONE)
		rna_log(LOG_DEBUG, fields, "self-test of %s/%u, %s memory: %.2f Gb/s, %s",
			run->request.device, run->request.port,
			rna_endpoint_name(run->request.endpoint),
			rna_gigabits(run->result.bandwidth), rna_grade_name(run->grade));
}

/* -- Grades ------------------------------------------------------------------------------------ */

/* The runs of the session, and behind them the newest of the other ports, to compare with. */
static struct rna_selftest_run *gather(const struct rna_selftest *selftest, size_t *ret_count)
{
	const struct rna_selftest_runs *session = &selftest->session;
	struct rna_selftest_run *all;
	size_t count = session->count, most = count;

	for (const struct rna_tested *port = selftest->ports; port; port = port->next)
		most += RNA_ENDPOINT_COUNT;
	all = calloc(most, sizeof(*all));
	if (!all)
		return NULL;
	memcpy(all, session->items, count * sizeof(*all));
	for (const struct rna_tested *port = selftest->ports; port; port = port->next)
		for (enum rna_endpoint e = 0; e < RNA_ENDPOINT_COUNT; e++) {
			struct rna_selftest_port known = port->known;
			const struct rna_selftest_run *newest;

			known.runs = port->runs;
			newest = port->present ? rna_selftest_newest(&known, e, NULL) : NULL;
			if (newest && !rna_selftest_runs_have(session, newest))
				all[count++] = *newest;
		}
	*ret_count = count;
	return all;
}

static void judge(struct rna_selftest *selftest)
{
	size_t count = 0;
	RNA_FREE struct rna_selftest_run *all = gather(selftest, &count);

	if (!all)
		return; /* no memory: no grade */
	rna_selftest_judge_all(all, count, selftest->settings);
	memcpy(selftest->session.items, all, selftest->session.count * sizeof(*all));
}

/* -- Sessions ---------------------------------------------------------------------------------- */

/* Reasons that pass by themselves. */
static bool is_passing(enum rna_skip skip)
{
	return skip == RNA_SKIP_BUSY || skip == RNA_SKIP_DISTURBED || skip == RNA_SKIP_LOCKED ||
	       skip == RNA_SKIP_RECENT_CHANGE || skip == RNA_SKIP_NOT_ACTIVE ||
	       skip == RNA_SKIP_WINDOW || skip == RNA_SKIP_QUIESCED || skip == RNA_SKIP_NODE_GATE ||
	       skip == RNA_SKIP_STALLED || skip == RNA_SKIP_NO_RESOURCES;
}

static void set_next_turn(struct rna_selftest *selftest, struct rna_tested *port)
{
	rna_usec period = selftest->settings->selftest_period;
	rna_usec retry = period / RETRIES_A_PERIOD;

	port->traffic_check = (struct rna_traffic_check){0};
	if (is_passing(port->known.skip) || rna_tested_wants_confirmation(port))
		port->due = rna_clock_monotonic() + retry / 2 + random_time(retry);
	else
		port->due = rna_clock_monotonic() + period;
}

/* Runs of a port, one for each kind of memory, stand side by side. */
static bool is_first_of_port(const struct rna_selftest_runs *session, size_t i)
{
	const struct rna_selftest_run *run = &session->items[i];

	return i == 0 || run[-1].request.port != run->request.port ||
	       strcmp(run[-1].request.device, run->request.device) != 0;
}

static void end_session(struct rna_selftest *selftest)
{
	struct rna_selftest_listener listener = selftest->listener;
	struct rna_selftest_runs session = selftest->session;

	judge(selftest);
	for (size_t i = 0; i < session.count; i++) {
		struct rna_tested *port =
			rna_tested_find_name(selftest->ports, session.items[i].request.device,
					     session.items[i].request.port);

		if (selftest->news)
			log_run(&session.items[i]);
		if (!port)
			continue;
		rna_tested_account(port, &session.items[i], is_first_of_port(&session, i));
		if (!session.items[i].special)
			set_next_turn(selftest, port);
	}
	selftest->session = (struct rna_selftest_runs){0};
	selftest->listener = (struct rna_selftest_listener){0};
	forget_results(selftest);
	if (selftest->news)
		selftest->news(selftest->userdata);
	if (listener.done)
		listener.done(session.items, session.count, listener.userdata);
	rna_selftest_runs_deinit(&session);
	arm(selftest);
}

static void on_stuck_process_ended(void *userdata)
{
	struct rna_tested *port = userdata;

	port->known.stuck = 0;
	forget_results(port->owner);
	rna_log_notice("%s/%u: the stuck self-test has ended", port->device, port->number);
}

static void run_next(struct rna_selftest *selftest);

/* What the child has sent; NULL, or why there is nothing. */
static const struct rna_error *take_result(struct rna_selftest *selftest, struct rna_error *why)
{
	struct rna_selftest_run *run = &selftest->session.items[selftest->at];

	if (rna_loopback_child_receive(&selftest->process.child, 0, &run->result, why) == 0)
		return NULL;
	if (selftest->process.late)
		(void)rna_error_say(why, -ETIMEDOUT, "the loopback test did not end in time");
	return why;
}

/*
 * The run under way is over; a failure of the child itself is its result. If the child is stuck,
 * the device gets no other test until the kernel lets go of it.
 */
static void end_run(struct rna_selftest *selftest, const struct rna_error *why)
{
	struct rna_selftest_run *run = &selftest->session.items[selftest->at];
	struct rna_tested *port = selftest->under_test;
	bool ended = rna_test_process_end(&selftest->process, &port->stuck, on_stuck_process_ended,
					  port);

	if (why)
		rna_selftest_run_fail(run, why, ended);
	if (!ended)
		port->known.stuck = port->stuck.child.pid;
	selftest->at++;
	run_next(selftest);
}

static void on_over(void *userdata)
{
	struct rna_error why = {0};

	end_run(userdata, take_result(userdata, &why));
}

/* A test takes seconds. A process that holds the lock much longer is logged once. */
static void note_lock_holder(struct rna_selftest *selftest, bool started)
{
	rna_usec now = rna_clock_monotonic();
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (!rna_lock_holder_note(&selftest->lock_holder, &selftest->process.child.holder, now))
		return;
	rna_lock_holder_describe(&selftest->lock_holder, now, &text);
	if (rna_strbuf_ok(&text))
		rna_log_notice("%s; %s", text.data,
			       started ? "not an agent, so ports are tested anyway"
				       : "no port is tested until it releases the lock");
}

static int start_run(struct rna_selftest *selftest, struct rna_selftest_run *run,
		     struct rna_error *error)
{
	rna_usec patience = CHILD_PATIENCE + run->request.time_limit + run->request.sample_time;
	struct rna_probe_objects own;
	int status;

	run->time = rna_clock_now();
	run->request.idle_qps = selftest->under_test->idle_qps;
	own = rna_probes_objects(selftest->view->probes, run->request.device);
	run->request.own_contexts += own.contexts;
	run->request.own_qps = own.qps;
	status = rna_loopback_child_start(&run->request, selftest->agent, &selftest->process.child,
					  error);
	note_lock_holder(selftest, status == 0);
	if (status < 0)
		return status;
	status = rna_test_process_wait(&selftest->process, patience);
	return status < 0 ? rna_error_set(error, status, "cannot wait for a self-test") : 0;
}

/* A port that is gone, or whose device has a stuck child, has its result already. */
static bool can_begin(const struct rna_selftest *selftest, struct rna_selftest_run *run)
{
	const struct rna_loopback_request *request = &run->request;
	const struct rna_tested *port = selftest->under_test;
	const struct rna_tested *stuck =
		port ? rna_tested_find_stuck(selftest->ports, port->key) : NULL;

	if (!port)
		return rna_loopback_skip(&run->result, RNA_SKIP_NO_DEVICE,
					 "%s/%u: the device is gone, or has another name by now",
					 request->device, request->port);
	return !stuck ||
	       rna_loopback_skip(&run->result, RNA_SKIP_STALLED,
				 "%s/%u: an earlier test, process %d, is stuck in the kernel",
				 request->device, request->port, stuck->known.stuck);
}

/* The next run of the session that has no result; without one the session is over. */
static void run_next(struct rna_selftest *selftest)
{
	struct rna_error error = {0};

	for (; selftest->at < selftest->session.count; selftest->at++) {
		struct rna_selftest_run *run = &selftest->session.items[selftest->at];

		selftest->under_test = rna_tested_find_name(selftest->ports, run->request.device,
							    run->request.port);
		if (run->result.end == RNA_LOOPBACK_SKIPPED || !can_begin(selftest, run))
			continue;
		if (selftest->listener.progress)
			selftest->listener.progress(run, selftest->listener.userdata);
		if (start_run(selftest, run, &error) < 0)
			end_run(selftest, &error);
		return;
	}
	end_session(selftest);
}

/* -- Turns ------------------------------------------------------------------------------------- */

static void skip_turn(struct rna_selftest *selftest, struct rna_tested *port, enum rna_skip skip)
{
	port->known.skip = skip;
	port->known.skips[skip]++;
	set_next_turn(selftest, port);
	forget_results(selftest);
}

/* NULL: the newest view has no such port. */
static const struct rna_subject *find_subject(const struct rna_selftest *selftest,
					      const struct rna_tested *port)
{
	const struct rna_subject_list *ports = rna_view_ports(selftest->view);

	return RNA_FIND(i, ports->items, ports->count,
			ports->items[i].port == port->number &&
				strcmp(ports->items[i].rdma_device->key, port->key) == 0);
}

static void test_port(struct rna_selftest *selftest, struct rna_tested *port)
{
	char name[2 * RNA_LOOPBACK_NAME_MAX];
	struct rna_selftest_options options = {.device = name, .numa_node = -1};

	(void)snprintf(name, sizeof(name), "%s/%u", port->device, port->number);
	if (rna_selftest_plan(selftest->view, selftest->settings, &options, &selftest->session,
			      NULL) < 0) {
		rna_selftest_runs_deinit(&selftest->session); /* some may be planned, and wait */
		skip_turn(selftest, port, RNA_SKIP_NO_DEVICE);
		return;
	}
	for (size_t i = 0; i < selftest->session.count; i++)
		selftest->session.items[i].on_demand = false;
	selftest->at = 0;
	run_next(selftest);
}

static void begin_turn(struct rna_selftest *selftest, struct rna_tested *port)
{
	const struct rna_subject *subject = find_subject(selftest, port);
	struct rna_time now = rna_clock_now();
	enum rna_skip skip = selftest->hold;
	rna_usec wait = 0;
	bool busy = false;

	if (skip == RNA_SKIP_NONE)
		skip = subject ? rna_selftest_look(subject, selftest->settings, &now, false)
			       : RNA_SKIP_NO_DEVICE;
	if (skip == RNA_SKIP_NONE)
		wait = rna_traffic_check_run(&port->traffic_check, subject, selftest->settings,
					     &busy);
	if (busy)
		skip = RNA_SKIP_BUSY;
	if (wait > 0) {
		port->due = now.monotonic + wait;
		forget_results(selftest);
	} else if (skip != RNA_SKIP_NONE) {
		skip_turn(selftest, port, skip);
	} else {
		test_port(selftest, port);
	}
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct rna_selftest *selftest = userdata;
	struct rna_tested *port = rna_tested_first_due(selftest->ports);

	(void)source, (void)usec;
	if (port && port->due <= rna_clock_monotonic())
		begin_turn(selftest, port);
	arm(selftest);
	return 0;
}

/* Only with something to wait for: a timer without work does not fire. */
static void arm(struct rna_selftest *selftest)
{
	const struct rna_tested *first = rna_tested_first_due(selftest->ports);

	selftest->timer = sd_event_source_disable_unref(selftest->timer);
	if (!first || selftest->session.count > 0 || !selftest->settings->selftest_enabled)
		return;
	(void)sd_event_add_time(selftest->process.event, &selftest->timer, CLOCK_MONOTONIC,
				first->due, TIMER_ACCURACY, on_timer,
				selftest); /* no memory: no tests */
}

/* -- The contract ------------------------------------------------------------------------------ */

struct rna_selftest *rna_selftest_new(sd_event *event, const struct rna_settings *settings,
				      void (*news)(void *userdata), void *userdata)
{
	struct rna_selftest *selftest = calloc(1, sizeof(*selftest));

	if (!selftest)
		return NULL;
	selftest->settings = settings;
	selftest->agent = rna_state_owner(settings);
	selftest->news = news;
	selftest->userdata = userdata;
	selftest->process = (struct rna_test_process){
		.event = event,
		.over = on_over,
		.userdata = selftest,
		.child = RNA_LOOPBACK_CHILD_INIT,
	};
	return selftest;
}

struct rna_selftest *rna_selftest_free(struct rna_selftest *selftest)
{
	if (!selftest)
		return NULL;
	(void)sd_event_source_disable_unref(selftest->timer);
	rna_test_process_deinit(&selftest->process);
	rna_selftest_runs_deinit(&selftest->session);
	while (selftest->ports) {
		struct rna_tested *port = selftest->ports;

		selftest->ports = port->next;
		rna_tested_free(port);
	}
	forget_results(selftest);
	(void)rna_view_unref(selftest->view);
	free(selftest);
	return NULL;
}

/* One whose turn would have come while no agent ran waits for chance, as a new one does. */
void rna_selftest_recall(struct rna_selftest *selftest, const char *key,
			 const struct rna_port_memory *memory)
{
	struct rna_tested *port = rna_tested_find_key(selftest->ports, key, memory->number);
	rna_usec period = selftest->settings->selftest_period;
	struct rna_time now = rna_clock_now();
	rna_usec ago = rna_usec_since(memory->last_test, now.realtime);

	if (!port)
		port = add(selftest, key, key, memory->number);
	if (!port)
		return;
	port->known.last_run = memory->last_test;
	port->known.last_success = memory->last_good_test;
	for (size_t i = 0; i < memory->test_count; i++)
		rna_tested_keep(port, &memory->tests[i]);
	rna_tested_name_runs(port);
	if (rna_tested_wants_confirmation(port))
		set_next_turn(selftest, port);
	else if (memory->last_test > 0 && memory->last_test <= now.realtime && ago < period)
		port->due = now.monotonic + period - ago;
}

static void follow_port(struct rna_selftest *selftest, const struct rna_subject *subject)
{
	const struct rna_device *device = subject->device->device;
	struct rna_tested *port = rna_tested_find_key(selftest->ports, device->key, subject->port);
	char *name;

	if (!port)
		port = add(selftest, device->key, device->name, subject->port);
	if (!port)
		return; /* no memory: with a later view */
	port->present = true;
	if (strcmp(port->device, device->name) == 0)
		return;
	name = strdup(device->name);
	if (!name)
		return;
	rna_tested_remove(&selftest->ports, port);
	free(port->device);
	port->device = name;
	rna_tested_name_runs(port);
	rna_tested_insert(&selftest->ports, port);
}

static bool has_other_ports(const struct rna_view *a, const struct rna_view *b)
{
	return !a || a->snapshot->device_set != b->snapshot->device_set;
}

void rna_selftest_follow(struct rna_selftest *selftest, const struct rna_view *view)
{
	const struct rna_subject_list *ports;
	bool other;

	if (!selftest)
		return;
	other = has_other_ports(selftest->view, view);
	(void)rna_view_unref(selftest->view);
	selftest->view = rna_view_ref(view);
	if (!other)
		return;
	for (struct rna_tested *port = selftest->ports; port; port = port->next)
		port->present = false;
	ports = rna_view_ports(view);
	for (size_t i = 0; i < ports->count; i++)
		follow_port(selftest, &ports->items[i]);
	forget_results(selftest);
	arm(selftest);
}

/* A shorter period may have passed already. */
void rna_selftest_update(struct rna_selftest *selftest)
{
	rna_usec now = rna_clock_monotonic();
	rna_usec period;

	if (!selftest)
		return;
	period = selftest->settings->selftest_period;
	for (struct rna_tested *port = selftest->ports; port; port = port->next)
		if (port->due > now + period)
			port->due = now + random_time(period);
	forget_results(selftest);
	arm(selftest);
}

void rna_selftest_hold(struct rna_selftest *selftest, enum rna_skip why)
{
	if (!selftest || selftest->hold == why)
		return;
	selftest->hold = why;
	for (size_t i = selftest->at + 1; why == RNA_SKIP_QUIESCED && i < selftest->session.count;
	     i++)
		(void)rna_loopback_skip(&selftest->session.items[i].result, why, "%s",
					rna_skip_meaning(why));
}

const char *rna_selftest_holds(const struct rna_selftest *selftest)
{
	const struct rna_tested *port = selftest ? selftest->ports : NULL;

	if (selftest && selftest->session.count > 0)
		return "a self-test";
	while (port && port->known.stuck == 0)
		port = port->next;
	return port ? "a self-test that is stuck in the kernel" : NULL;
}

uint64_t rna_selftest_idle_qps(const struct rna_selftest *selftest, const char *device,
			       unsigned port)
{
	const struct rna_tested *tested =
		selftest ? rna_tested_find_name(selftest->ports, device, port) : NULL;

	return tested ? tested->idle_qps : RNA_QPS_UNKNOWN;
}

int rna_selftest_demand(struct rna_selftest *selftest, const struct rna_selftest_options *options,
			const struct rna_selftest_listener *listener, struct rna_error *error)
{
	int status;

	if (selftest->session.count > 0)
		return rna_error_say(error, -EBUSY, "a self-test is running; try again soon");
	if (selftest->hold == RNA_SKIP_QUIESCED)
		return rna_error_say(error, -EBUSY, "%s", rna_skip_meaning(selftest->hold));
	if (!selftest->view)
		return rna_error_say(error, -EAGAIN, "the agent has just started; try again soon");
	status = rna_selftest_plan(selftest->view, selftest->settings, options, &selftest->session,
				   error);
	if (status < 0) {
		rna_selftest_runs_deinit(&selftest->session);
		return status;
	}
	selftest->listener = *listener;
	selftest->at = 0;
	selftest->timer = sd_event_source_disable_unref(selftest->timer);
	run_next(selftest);
	return 0;
}

void rna_selftest_forget(struct rna_selftest *selftest, const void *userdata)
{
	if (selftest->listener.userdata == userdata)
		selftest->listener = (struct rna_selftest_listener){0};
}
