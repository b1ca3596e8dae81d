// SPDX-License-Identifier: Apache-2.0
/*
 * A session is one test that a peer asked for, or the tests that this node asks for, one after the
 * other. Each is a child that is waited for by its end and by a deadline. The lock of self-tests
 * keeps both kinds of test of one node apart.
 */
#include "measuring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "rna/base/log.h"

#include "memory/state_directory.h"
#include "mesh/neighbours.h"
#include "probe/probing.h"
#include "selftest/selftest_schedule.h"
#include "selftest/test_process.h"

#include "bandwidth_listener.h"

#define TURN          (10 * RNA_USEC_PER_SEC)
#define TURN_ACCURACY RNA_USEC_PER_SEC

struct rna_measuring {
	struct rna_measuring_host host;
	uid_t agent; /* user of other agents of this node, as of self-tests */
	const struct rna_view *view;
	enum rna_skip hold;
	sd_event_source *timer; /* NULL: disabled */
	struct rna_bandwidth_listener *tcp_listener;
	uint64_t strangers; /* of the doors before */
	char problem[RNA_ERROR_MAX];
	/* The session; no runs: none. */
	struct rna_measure_runs session;
	size_t at; /* the run under way */
	struct rna_measuring_listener listener;
	struct rna_measured_port *turn; /* whose turn it is in the window; NULL: none's */
	struct rna_test_process process;
	enum rna_skip cut; /* why it was killed before its time; RNA_SKIP_NONE */
	struct rna_stuck_child stuck;
	char stuck_text[64];
	struct rna_measured_ports ports;
	struct rna_bandwidths *results; /* NULL: to be made */
};

static void forget_results(struct rna_measuring *measuring)
{
	if (measuring->results)
		(void)rna_part_unref(&measuring->results->part);
	measuring->results = NULL;
}

static bool is_enabled(const struct rna_measuring *measuring)
{
	return measuring->host.settings->probe_enabled && measuring->host.settings->probe_bandwidth;
}

const char *rna_measuring_holds(const struct rna_measuring *measuring)
{
	if (measuring && measuring->session.count > 0)
		return "a bandwidth test";
	return measuring && measuring->stuck.child.pid > 0 ? measuring->stuck_text : NULL;
}

static struct rna_measure_terms terms_of(const struct rna_measuring *measuring)
{
	const char *busy = rna_measuring_holds(measuring);

	return (struct rna_measure_terms){
		.view = measuring->view,
		.pairs = rna_probing_pairs(measuring->host.probing),
		.settings = measuring->host.settings,
		.hold = measuring->hold,
		.busy = busy ? busy : rna_selftest_holds(measuring->host.selftest),
	};
}

/* -- The child --------------------------------------------------------------------------------- */

static void on_stuck_ended(void *userdata)
{
	(void)userdata;
	rna_log_notice("the stuck bandwidth test has ended");
}

/* The child, or its start, failed. What can have other reasons than the port is none of its. */
static void take_failure(struct rna_measuring *measuring, struct rna_bandwidth_test *test,
			 const struct rna_error *why)
{
	enum rna_skip skip = why->code == -EBUSY ? RNA_SKIP_LOCKED : RNA_SKIP_NO_RESOURCES;

	if (measuring->cut != RNA_SKIP_NONE)
		rna_measure_skip(test, measuring->cut, "%s", rna_skip_meaning(measuring->cut));
	else
		rna_measure_skip(test, skip, "%s/%u: %s", test->device, test->port,
				 measuring->process.late ? "the bandwidth test did not end in time"
							 : why->text);
}

static void run_next(struct rna_measuring *measuring);

static void log_test(const struct rna_bandwidth_test *test)
{
	if (test->end == RNA_LOOPBACK_DONE)
		rna_log_info("bandwidth of %s/%u with %s %s/%u: %.2f Gb/s out, %.2f in, %s",
			     test->device, test->port, test->peer, test->peer_device,
			     test->peer_port, rna_gigabits(test->out), rna_gigabits(test->in),
			     rna_grade_name(test->grade));
	else
		rna_log(test->end == RNA_LOOPBACK_SKIPPED ? LOG_INFO : LOG_WARNING, NULL,
			"bandwidth of %s/%u with %s %s/%u: not measured: %s", test->device,
			test->port, test->peer, test->peer_device, test->peer_port, test->text);
}

static void end_run(struct rna_measuring *measuring, const struct rna_error *why)
{
	struct rna_measure_run *run = &measuring->session.items[measuring->at];

	if (why)
		take_failure(measuring, &run->test, why);
	if (!rna_test_process_end(&measuring->process, &measuring->stuck, on_stuck_ended,
				  measuring))
		(void)snprintf(measuring->stuck_text, sizeof(measuring->stuck_text),
			       "a bandwidth test that is stuck in the kernel (process %d)",
			       (int)measuring->stuck.child.pid);
	measuring->cut = RNA_SKIP_NONE;
	measuring->at++;
	run_next(measuring);
}

static void on_over(void *userdata)
{
	struct rna_measuring *measuring = userdata;
	struct rna_measure_run *run = &measuring->session.items[measuring->at];
	struct rna_bandwidth_result result;
	struct rna_error why = {0};

	if (rna_bandwidth_child_receive(&measuring->process.child, &result, &why) < 0) {
		end_run(measuring, &why);
		return;
	}
	rna_measure_take(run, &result, measuring->host.settings);
	end_run(measuring, NULL);
}

/* Ends the test under way, and those behind it are not begun. */
static void cut(struct rna_measuring *measuring, enum rna_skip why)
{
	for (size_t i = measuring->at + 1; i < measuring->session.count; i++)
		rna_measure_skip(&measuring->session.items[i].test, why, "%s",
				 rna_skip_meaning(why));
	if (rna_test_process_kill(&measuring->process))
		measuring->cut = why;
}

/* -- Sessions ---------------------------------------------------------------------------------- */

static int make_order(const struct rna_measuring *measuring, const struct rna_measure_run *run,
		      const struct rna_bandwidth_session *answered, struct rna_bandwidth_order *ret)
{
	const uint8_t *key = rna_probing_key(measuring->host.probing);

	*ret = (struct rna_bandwidth_order){
		.call = run->call,
		.tcp_port = run->tcp_port,
		.expected = run->expected,
		.request = run->request,
	};
	memcpy(ret->host, run->host, sizeof(ret->host));
	memcpy(ret->node, run->test.peer, sizeof(ret->node));
	ret->request.idle_qps =
		rna_selftest_idle_qps(measuring->host.selftest, run->test.device, run->test.port);
	if (!answered)
		return key ? rna_bandwidth_session_begin(&ret->session, key, true) : -ENOKEY;
	ret->session = *answered;
	return 0;
}

/* answered: of a call that was read, on fd; NULL, -1: this node asks. */
static int start_run(struct rna_measuring *measuring, const struct rna_bandwidth_session *answered,
		     int fd, struct rna_error *error)
{
	const struct rna_measure_run *run = &measuring->session.items[measuring->at];
	rna_usec patience = RNA_BANDWIDTH_PATIENCE + 2 * run->request.time_limit;
	struct rna_bandwidth_order order;
	int status = make_order(measuring, run, answered, &order);

	if (status < 0)
		return rna_error_set(error, status, "cannot begin a bandwidth test");
	status = rna_bandwidth_child_start(&order, fd, measuring->agent, &measuring->process.child,
					   error);
	explicit_bzero(&order.session, sizeof(order.session));
	if (status < 0)
		return status;
	status = rna_test_process_wait(&measuring->process, patience);
	return status < 0 ? rna_error_set(error, status, "cannot wait for a bandwidth test") : 0;
}

static enum rna_measure_attempt rate_attempt(const struct rna_bandwidth_test *test)
{
	if (test->end == RNA_LOOPBACK_SKIPPED)
		return RNA_MEASURE_BUSY;
	return test->grade == RNA_GRADE_WARNING || test->grade == RNA_GRADE_FAILED
		       ? RNA_MEASURE_BAD
		       : RNA_MEASURE_WELL;
}

static void end_session(struct rna_measuring *measuring)
{
	struct rna_measuring_listener listener = measuring->listener;
	struct rna_measure_runs session = measuring->session;
	struct rna_measured_port *port = measuring->turn;

	for (size_t i = 0; i < session.count; i++) {
		log_test(&session.items[i].test);
		rna_measured_keep(&measuring->ports, &session.items[i].test);
	}
	if (port)
		rna_measure_turn_end(&port->turn, rate_attempt(&session.items[0].test),
				     rna_ring_place(measuring->view->agent.name),
				     rna_clock_now().realtime);
	measuring->session = (struct rna_measure_runs){0};
	measuring->listener = (struct rna_measuring_listener){0};
	measuring->turn = NULL;
	forget_results(measuring);
	measuring->host.news(measuring->host.userdata);
	if (listener.done)
		listener.done(&session, listener.userdata);
	rna_measure_runs_deinit(&session);
}

/* The next run that has no result. */
static void run_next(struct rna_measuring *measuring)
{
	struct rna_error error = {0};

	for (; measuring->at < measuring->session.count; measuring->at++) {
		struct rna_measure_run *run = &measuring->session.items[measuring->at];

		if (run->test.end == RNA_LOOPBACK_SKIPPED)
			continue;
		run->test.time = rna_clock_now();
		if (measuring->listener.progress)
			measuring->listener.progress(&run->test, measuring->listener.userdata);
		if (start_run(measuring, NULL, -1, &error) < 0)
			end_run(measuring, &error);
		return;
	}
	end_session(measuring);
}

/* A session of one run. False: no memory. */
static bool take_run(struct rna_measuring *measuring, const struct rna_measure_run *run)
{
	struct rna_measure_run *copy = malloc(sizeof(*copy));

	if (!copy)
		return false;
	*copy = *run;
	measuring->session = (struct rna_measure_runs){1, copy};
	measuring->at = 0;
	return true;
}

/* -- Answering --------------------------------------------------------------------------------- */

static const uint8_t *find_key(void *userdata)
{
	const struct rna_measuring *measuring = userdata;

	return rna_probing_key(measuring->host.probing);
}

static void on_call(int fd, struct rna_bandwidth_session *session,
		    const struct rna_bandwidth_call *call, void *userdata)
{
	struct rna_measuring *measuring = userdata;
	struct rna_measure_terms terms = terms_of(measuring);
	struct rna_error error = {0};
	struct rna_measure_run run;

	if (!rna_measure_answer(&terms, call, &run)) {
		rna_bandwidth_listener_refuse(fd, session, run.test.skip, run.test.text);
		return;
	}
	if (!take_run(measuring, &run))
		return; /* the other side sees the connection end */
	if (start_run(measuring, session, fd, &error) == 0)
		return;
	take_failure(measuring, &run.test, &error);
	rna_bandwidth_listener_refuse(fd, session, run.test.skip, run.test.text);
	end_run(measuring, &error);
}

static void open_door(struct rna_measuring *measuring)
{
	const struct rna_bandwidth_listener_handlers handlers = {find_key, on_call, measuring};
	struct rna_error error = {0};

	if (measuring->tcp_listener)
		return;
	(void)rna_bandwidth_listener_open(measuring->host.event,
					  measuring->host.settings->probe_bandwidth_port, &handlers,
					  &measuring->tcp_listener, &error);
	if (strcmp(measuring->problem, error.text) == 0)
		return;
	if (error.text[0] != '\0')
		rna_log_error("%s; other nodes cannot measure the bandwidth to this one",
			      error.text);
	(void)snprintf(measuring->problem, sizeof(measuring->problem), "%s", error.text);
	forget_results(measuring);
	measuring->host.news(measuring->host.userdata);
}

/* -- The window -------------------------------------------------------------------------------- */

/* The name by which the ring knows this node. */
static const char *member_name(const struct rna_measuring *measuring)
{
	const struct rna_probes *probes = measuring->view->probes;

	return probes && probes->member[0] != '\0' ? probes->member : measuring->view->agent.name;
}

/* True: a test of that port has begun. */
static bool try_port(struct rna_measuring *measuring, const struct rna_measure_terms *terms,
		     const struct rna_probing_port *port)
{
	struct rna_measured_port *own =
		rna_measured_port(&measuring->ports, port->plan.device, port->plan.port);
	rna_usec now = rna_clock_now().realtime;
	uint64_t place = rna_ring_place(measuring->view->agent.name);
	struct rna_measure_run run;

	if (!own ||
	    !rna_measure_turn_is_due(&own->turn, measuring->host.settings->probe_bandwidth_window,
				     port->plan.device, place, now))
		return false;
	if (!rna_measure_next(terms, port, member_name(measuring), &run) ||
	    !take_run(measuring, &run)) {
		rna_measure_turn_end(&own->turn, RNA_MEASURE_BUSY, place, now);
		return false;
	}
	measuring->turn = own;
	run_next(measuring);
	return true;
}

static void follow_window(struct rna_measuring *measuring)
{
	struct rna_measure_terms terms = terms_of(measuring);

	if (!terms.view || !terms.pairs || terms.busy || terms.hold != RNA_SKIP_NONE)
		return;
	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++)
		if (terms.pairs->ports[i].open && terms.pairs->ports[i].listed &&
		    try_port(measuring, &terms, &terms.pairs->ports[i]))
			return;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct rna_measuring *measuring = userdata;

	(void)usec;
	open_door(measuring);
	follow_window(measuring);
	(void)sd_event_source_set_time_relative(source, TURN);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* -- The guest --------------------------------------------------------------------------------- */

static void disable(struct rna_measuring *measuring)
{
	measuring->timer = sd_event_source_disable_unref(measuring->timer);
	measuring->strangers += rna_bandwidth_listener_strangers(measuring->tcp_listener);
	measuring->tcp_listener = rna_bandwidth_listener_close(measuring->tcp_listener);
	measuring->problem[0] = '\0';
	forget_results(measuring);
}

void rna_measuring_update(struct rna_measuring *measuring)
{
	if (!measuring)
		return;
	disable(measuring);
	if (!is_enabled(measuring)) {
		cut(measuring, RNA_SKIP_DISABLED);
		return;
	}
	open_door(measuring);
	if (sd_event_add_time_relative(measuring->host.event, &measuring->timer, CLOCK_MONOTONIC,
				       TURN, TURN_ACCURACY, on_timer, measuring) < 0)
		rna_log_error("out of memory: probe.bandwidth_window has no effect until the next "
			      "reload");
}

struct rna_measuring *rna_measuring_new(const struct rna_measuring_host *host)
{
	struct rna_measuring *measuring = calloc(1, sizeof(*measuring));

	if (!measuring)
		return NULL;
	measuring->host = *host;
	measuring->agent = rna_state_owner(host->settings);
	measuring->process = (struct rna_test_process){
		.event = host->event,
		.over = on_over,
		.userdata = measuring,
		.child = RNA_LOOPBACK_CHILD_INIT,
	};
	rna_measuring_update(measuring);
	return measuring;
}

struct rna_measuring *rna_measuring_free(struct rna_measuring *measuring)
{
	if (!measuring)
		return NULL;
	disable(measuring);
	rna_test_process_deinit(&measuring->process);
	rna_stuck_child_deinit(&measuring->stuck);
	rna_measure_runs_deinit(&measuring->session);
	(void)rna_view_unref(measuring->view);
	free(measuring);
	return NULL;
}

void rna_measuring_follow(struct rna_measuring *measuring, const struct rna_view *view)
{
	if (!measuring)
		return;
	(void)rna_view_unref(measuring->view);
	measuring->view = rna_view_ref(view);
}

void rna_measuring_hold(struct rna_measuring *measuring, enum rna_skip why)
{
	if (!measuring || measuring->hold == why)
		return;
	measuring->hold = why;
	if (why == RNA_SKIP_QUIESCED)
		cut(measuring, why);
}

void rna_measuring_let_go(struct rna_measuring *measuring)
{
	if (measuring)
		cut(measuring, RNA_SKIP_NO_DEVICE);
}

struct rna_bandwidths *rna_measuring_results(struct rna_measuring *measuring)
{
	if (!measuring || !is_enabled(measuring))
		return NULL;
	if (!measuring->results)
		measuring->results = rna_measured_results(
			&measuring->ports,
			measuring->tcp_listener ? measuring->host.settings->probe_bandwidth_port
						: 0,
			measuring->problem,
			measuring->strangers +
				rna_bandwidth_listener_strangers(measuring->tcp_listener));
	if (measuring->results)
		(void)rna_part_ref(&measuring->results->part);
	return measuring->results;
}

int rna_measuring_demand(struct rna_measuring *measuring, const char *target,
			 const struct rna_measuring_listener *listener, struct rna_error *error)
{
	struct rna_measure_terms terms = terms_of(measuring);
	int status;

	if (measuring->session.count > 0)
		return rna_error_say(error, -EBUSY, "a bandwidth test is running; try again soon");
	if (terms.hold != RNA_SKIP_QUIESCED)
		terms.hold = RNA_SKIP_NONE; /* a person asks for it, whatever the Node's label */
	status = rna_measure_with_peer(&terms, target, &measuring->session, error);
	if (status < 0) {
		rna_measure_runs_deinit(&measuring->session);
		return status;
	}
	measuring->listener = *listener;
	measuring->at = 0;
	run_next(measuring);
	return 0;
}

void rna_measuring_forget(struct rna_measuring *measuring, const void *userdata)
{
	if (measuring->listener.userdata == userdata)
		measuring->listener = (struct rna_measuring_listener){0};
}
