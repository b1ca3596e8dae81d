// SPDX-License-Identifier: Apache-2.0
#include "measure_plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/base/strbuf.h"

#include "mesh/neighbours.h"
#include "settings/silence.h"

#define MINUTE      (60 * RNA_USEC_PER_SEC)
#define SPREAD_MOST (20 * MINUTE) /* over which a fleet begins */
#define RETRY       (3 * MINUTE)  /* at least, and at most twice that */

enum { SERVICE_LEVELS = 16 };

void rna_measure_runs_deinit(struct rna_measure_runs *runs)
{
	free(runs->items);
	*runs = (struct rna_measure_runs){0};
}

void rna_measure_skip(struct rna_bandwidth_test *test, enum rna_skip skip, const char *format, ...)
{
	va_list arguments;

	test->end = RNA_LOOPBACK_SKIPPED;
	test->skip = skip;
	va_start(arguments, format);
	(void)vsnprintf(test->text, sizeof(test->text), format, arguments);
	va_end(arguments);
}

/* -- This node's port -------------------------------------------------------------------------- */

static const struct rna_probing_port *find_port(const struct rna_pairs *pairs, const char *device,
						unsigned number)
{
	return RNA_FIND(i, pairs->ports, pairs ? RNA_PROBING_PORTS_MAX : 0,
			pairs->ports[i].plan.port == number &&
				strcmp(pairs->ports[i].plan.device, device) == 0);
}

static const struct rna_subject *find_subject(const struct rna_view *view, const char *device,
					      unsigned number)
{
	const struct rna_subject_list *ports = rna_view_ports(view);

	return RNA_FIND(i, ports->items, ports->count,
			ports->items[i].port == number &&
				strcmp(ports->items[i].rdma_device->name, device) == 0);
}

/* A port that probes use is one that peers can reach. Why it is none, a phrase; NULL: it is one. */
static const char *why_closed(const struct rna_measure_terms *terms,
			      const struct rna_bandwidth_test *test)
{
	const struct rna_probing_port *port = find_port(terms->pairs, test->device, test->port);

	if (port && port->open && port->listed)
		return NULL;
	if (port && port->plan.why)
		return port->plan.why;
	return port && port->text[0] != '\0' ? port->text : "it opens it soon";
}

/* Can that port be tested now? If not, the test says why. */
static bool look(const struct rna_measure_terms *terms, const struct rna_subject *subject,
		 struct rna_bandwidth_test *test)
{
	struct rna_time now = terms->view->snapshot->time;
	enum rna_skip skip = rna_selftest_look(subject, terms->settings, &now, true);
	const char *why = why_closed(terms, test);

	if (skip != RNA_SKIP_NONE)
		rna_measure_skip(test, skip, "%s/%u: %s", test->device, test->port,
				 rna_skip_meaning(skip));
	else if (why)
		rna_measure_skip(test, RNA_SKIP_NO_RESOURCES,
				 "%s/%u: the prober does not have this port open: %s", test->device,
				 test->port, why);
	return test->end != RNA_LOOPBACK_SKIPPED;
}

/* Data moves in the queues that jobs use, as probes do. */
static void fill_request(const struct rna_measure_terms *terms, const struct rna_subject *subject,
			 struct rna_measure_run *run)
{
	const struct rna_probing_port *port =
		find_port(terms->pairs, run->test.device, run->test.port);
	struct rna_probe_objects own =
		rna_probes_objects(terms->view->probes, subject->device->device->name);

	(void)rna_selftest_request(subject, terms->settings, RNA_ENDPOINT_LOCAL, &run->request);
	run->request.latency_rounds = 0;
	run->request.service_level = port->plan.class.service_level % SERVICE_LEVELS;
	run->request.traffic_class = port->plan.class.traffic_class;
	run->request.own_contexts += own.contexts;
	run->request.own_qps = own.qps;
	run->expected = rna_selftest_expected(subject);
}

/* The part of a test that is the same on both sides: test.device and test.port. */
static bool prepare(const struct rna_measure_terms *terms, struct rna_measure_run *run)
{
	struct rna_bandwidth_test *test = &run->test;
	const struct rna_subject *subject;

	if (terms->hold != RNA_SKIP_NONE) {
		rna_measure_skip(test, terms->hold, "%s", rna_skip_meaning(terms->hold));
		return false;
	}
	if (terms->busy) {
		rna_measure_skip(test, RNA_SKIP_LOCKED, "this node is busy: %s", terms->busy);
		return false;
	}
	subject = terms->view ? find_subject(terms->view, test->device, test->port) : NULL;
	if (!subject) {
		rna_measure_skip(test, RNA_SKIP_NO_DEVICE, "%s/%u: this node has no such port",
				 test->device, test->port);
		return false;
	}
	if (!look(terms, subject, test))
		return false;
	fill_request(terms, subject, run);
	return true;
}

/* -- Answering --------------------------------------------------------------------------------- */

bool rna_measure_answer(const struct rna_measure_terms *terms,
			const struct rna_bandwidth_call *call, struct rna_measure_run *ret)
{
	*ret = (struct rna_measure_run){.call = *call};
	ret->test = (struct rna_bandwidth_test){
		.time = rna_clock_now(),
		.cause = RNA_BANDWIDTH_PEER,
		.port = call->port,
		.peer_port = call->own_port,
	};
	memcpy(ret->test.device, call->device, sizeof(ret->test.device));
	memcpy(ret->test.peer, call->node, sizeof(ret->test.peer));
	memcpy(ret->test.peer_device, call->own_device, sizeof(ret->test.peer_device));
	if (strcmp(call->group, terms->settings->probe_group) != 0) {
		rna_measure_skip(&ret->test, RNA_SKIP_DISABLED,
				 "this node is of another group (probe.group)");
		return false;
	}
	return prepare(terms, ret);
}

/* -- Asking ------------------------------------------------------------------------------------ */

static void fill_call(const struct rna_measure_terms *terms, struct rna_measure_run *run)
{
	struct rna_bandwidth_call *call = &run->call;

	(void)snprintf(call->node, sizeof(call->node), "%s", terms->view->agent.name);
	(void)snprintf(call->group, sizeof(call->group), "%s", terms->settings->probe_group);
	memcpy(call->own_device, run->test.device, sizeof(call->own_device));
	call->own_port = run->test.port;
	memcpy(call->device, run->test.peer_device, sizeof(call->device));
	call->port = run->test.peer_port;
	call->expected = run->expected;
}

static void plan_pair(const struct rna_measure_terms *terms, const struct rna_probing_pair *pair,
		      enum rna_bandwidth_cause cause, struct rna_measure_run *ret)
{
	const struct rna_probing_peer *peer = pair->peer;

	*ret = (struct rna_measure_run){.tcp_port = peer->facts.bandwidth_port};
	ret->test = (struct rna_bandwidth_test){
		.time = rna_clock_now(),
		.cause = cause,
		.port = pair->port->plan.port,
		.peer_port = pair->number,
	};
	memcpy(ret->test.device, pair->port->plan.device, sizeof(ret->test.device));
	memcpy(ret->test.peer, peer->name, sizeof(ret->test.peer));
	memcpy(ret->test.peer_device, pair->device, sizeof(ret->test.peer_device));
	memcpy(ret->host, peer->host, sizeof(ret->host));
	if (!prepare(terms, ret))
		return;
	fill_call(terms, ret);
	if (pair->state != RNA_PROBE_RUNNING)
		rna_measure_skip(&ret->test, RNA_SKIP_NO_RESOURCES, "%s %s/%u: %s", ret->test.peer,
				 ret->test.peer_device, ret->test.peer_port,
				 pair->text[0] != '\0' ? pair->text
						       : rna_probe_state_name(pair->state));
}

static bool is_with(const struct rna_probing_pair *pair, const struct rna_probing_peer *peer)
{
	return pair->port && pair->listed && pair->peer == peer;
}

/* "DEVICE", "DEVICE/PORT" or "DEVICE:PORT"; "": any. */
static bool is_meant(const struct rna_probing_pair *pair, const char *device)
{
	return device[0] == '\0' ||
	       (pair->device[0] != '\0' && rna_test_names_port(device, pair->device, pair->number));
}

/* A name of a node can have colons itself: the whole text goes first. *ret_device: behind it. */
static const struct rna_probing_peer *find_peer(const struct rna_pairs *pairs, const char *target,
						const char **ret_device)
{
	RNA_EACH (peer, pairs->peers, RNA_PROBING_PEERS_MAX) {
		size_t len = strlen(peer->name);

		if (len == 0 || strncmp(target, peer->name, len) != 0 ||
		    (target[len] != '\0' && target[len] != ':'))
			continue;
		*ret_device = target + len + (target[len] == ':');
		return peer;
	}
	return NULL;
}

static int fail_unknown(const struct rna_pairs *pairs, const char *target, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf names = RNA_STRBUF_INIT;

	for (size_t i = 0; i < RNA_PROBING_PEERS_MAX; i++)
		if (pairs->peers[i].name[0] != '\0')
			rna_strbuf_printf(&names, "%s%.64s", names.len > 0 ? ", " : "",
					  pairs->peers[i].name);
	return rna_error_say(error, -ENOENT,
			     "%.64s: this node does not probe that node; it probes %s", target,
			     rna_strbuf_ok(&names) && names.len > 0
				     ? names.data
				     : "none (see probe.members_file)");
}

/* Why there is nothing to ask of that peer. 0: it lets bandwidth be measured. */
static int check_peer(const struct rna_probing_peer *peer, struct rna_error *error)
{
	if (!peer->answered)
		return rna_error_say(error, -EHOSTUNREACH, "%.64s: its agent does not answer: %s",
				     peer->name,
				     peer->text[0] != '\0' ? peer->text : "it was not asked yet");
	if (peer->facts.bandwidth_port == 0)
		return rna_error_say(error, -EACCES,
				     "%.64s does not let bandwidth be measured: set "
				     "probe.bandwidth: true in the configuration of that node",
				     peer->name);
	return 0;
}

static int check_own(const struct rna_measure_terms *terms, struct rna_error *error)
{
	const struct rna_settings *settings = terms->settings;

	if (!settings->probe_enabled || !settings->probe_bandwidth)
		return rna_error_say(error, -EACCES,
				     "this node does not measure bandwidth: set %s: true in its "
				     "configuration",
				     settings->probe_enabled ? "probe.bandwidth"
							     : "probe.enabled and probe.bandwidth");
	if (!terms->view || !terms->pairs)
		return rna_error_say(error, -EAGAIN, "the agent has just started; try again soon");
	return 0;
}

int rna_measure_with_peer(const struct rna_measure_terms *terms, const char *target,
			  struct rna_measure_runs *ret, struct rna_error *error)
{
	const struct rna_probing_peer *peer;
	const char *device = "";
	int status = check_own(terms, error);

	if (status < 0)
		return status;
	peer = find_peer(terms->pairs, target, &device);
	if (!peer)
		return fail_unknown(terms->pairs, target, error);
	status = check_peer(peer, error);
	if (status < 0)
		return status;
	ret->items = calloc(RNA_PROBING_PORTS_MAX, sizeof(*ret->items));
	if (!ret->items)
		return rna_error_set(error, -ENOMEM, "cannot plan bandwidth tests");
	for (size_t i = 0; i < RNA_PROBING_PAIRS_MAX && ret->count < RNA_PROBING_PORTS_MAX; i++)
		if (is_with(&terms->pairs->pairs[i], peer) &&
		    is_meant(&terms->pairs->pairs[i], device))
			plan_pair(terms, &terms->pairs->pairs[i], RNA_BANDWIDTH_DEMAND,
				  &ret->items[ret->count++]);
	if (ret->count > 0)
		return 0;
	if (device[0] != '\0')
		return rna_error_say(error, -ENODEV,
				     "%.64s has no port \"%.64s\" on a rail of this node",
				     peer->name, device);
	return rna_error_say(error, -ENODEV, "no port of this node is on a rail of %.64s",
			     peer->name);
}

/* -- The next node ----------------------------------------------------------------------------- */

static bool is_candidate(const struct rna_probing_pair *pair, const struct rna_probing_port *port)
{
	return pair->port == port && pair->peer && pair->listed &&
	       pair->state == RNA_PROBE_RUNNING && pair->peer->facts.bandwidth_port > 0;
}

static bool is_nearer(const struct rna_probing_pair *pair, const struct rna_probing_pair *other,
		      const char *member)
{
	uint64_t own = rna_ring_place(member);

	if (!other || pair->scope != other->scope)
		return !other || pair->scope < other->scope;
	return rna_ring_place(pair->peer->name) - own < rna_ring_place(other->peer->name) - own;
}

bool rna_measure_next(const struct rna_measure_terms *terms, const struct rna_probing_port *port,
		      const char *member, struct rna_measure_run *ret)
{
	const struct rna_probing_pair *best = NULL;

	for (size_t i = 0; terms->view && i < RNA_PROBING_PAIRS_MAX; i++) {
		const struct rna_probing_pair *pair = &terms->pairs->pairs[i];

		if (is_candidate(pair, port) && is_nearer(pair, best, member))
			best = pair;
	}
	if (!best)
		return false;
	plan_pair(terms, best, RNA_BANDWIDTH_WINDOW, ret);
	return true;
}

/* -- Results ----------------------------------------------------------------------------------- */

/* Of what ports carry: one that is not known makes the other one no measure. */
static uint64_t slower(uint64_t own, uint64_t peer)
{
	return own < peer ? own : peer;
}

void rna_measure_take(struct rna_measure_run *run, const struct rna_bandwidth_result *result,
		      const struct rna_settings *settings)
{
	struct rna_bandwidth_test *test = &run->test;

	test->end = result->end;
	test->skip = result->skip;
	test->out = result->out;
	test->in = result->in;
	test->expected = slower(run->expected, result->expected);
	(void)snprintf(test->text, sizeof(test->text), "%s", result->text);
	test->grade =
		rna_test_grade(test->end, slower(test->out, test->in), test->expected, 0, settings);
}

enum rna_selftest_exit rna_measure_sum_up(const struct rna_measure_runs *runs)
{
	enum rna_selftest_exit ret = RNA_SELFTEST_UNKNOWN;

	for (size_t i = 0; i < runs->count; i++)
		ret = rna_test_sum_up(ret, runs->items[i].test.end, runs->items[i].test.grade);
	return ret;
}

/* -- The window -------------------------------------------------------------------------------- */

/* Half of what is left of the window: nodes that begin last have time for a second attempt. */
static rna_usec spread(char *const *windows, const char *device, rna_usec realtime)
{
	rna_usec left = MINUTE;

	while (left < 2 * SPREAD_MOST && rna_silence_holds(windows, device, realtime + left))
		left += MINUTE;
	return left / 2;
}

bool rna_measure_turn_is_due(struct rna_measure_turn *turn, char *const *windows,
			     const char *device, uint64_t place, rna_usec realtime)
{
	if (!windows || !rna_silence_holds(windows, device, realtime)) {
		*turn = (struct rna_measure_turn){0};
		return false;
	}
	if (!turn->inside)
		*turn = (struct rna_measure_turn){
			.inside = true,
			.due = realtime + place % spread(windows, device, realtime),
		};
	return !turn->done && realtime >= turn->due;
}

/* Two nodes that were in each other's way are not again: each attempt has another pause. */
void rna_measure_turn_end(struct rna_measure_turn *turn, enum rna_measure_attempt how,
			  uint64_t place, rna_usec realtime)
{
	turn->done = how == RNA_MEASURE_WELL || (how == RNA_MEASURE_BAD && turn->bad);
	turn->bad |= how == RNA_MEASURE_BAD;
	turn->attempts++;
	turn->due = realtime + RETRY + (place >> (turn->attempts % 32)) % RETRY;
}

/* -- What is known of ports -------------------------------------------------------------------- */

/* Of two places, that which a new port may have: a free one, else that with the older test. */
static struct rna_measured_port *choose_place(struct rna_measured_port *a,
					      struct rna_measured_port *b)
{
	if (b->turn.inside)
		return a;
	return !a || b->tests.last.time.realtime < a->tests.last.time.realtime ? b : a;
}

struct rna_measured_port *rna_measured_port(struct rna_measured_ports *ports, const char *device,
					    unsigned number)
{
	struct rna_measured_port *place = NULL;

	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++) {
		struct rna_measured_port *port = &ports->items[i];

		if (port->port == number && strcmp(port->device, device) == 0)
			return port;
		place = choose_place(place, port);
	}
	if (!place)
		return NULL;
	*place = (struct rna_measured_port){.port = number};
	(void)snprintf(place->device, sizeof(place->device), "%s", device);
	return place;
}

void rna_measured_keep(struct rna_measured_ports *ports, const struct rna_bandwidth_test *test)
{
	struct rna_measured_port *port = rna_measured_port(ports, test->device, test->port);

	if (!port)
		return;
	port->tests.last = *test;
	if (test->end == RNA_LOOPBACK_DONE)
		port->tests.done = *test;
}

static int compare(const void *a, const void *b)
{
	const struct rna_bandwidth_test *first = &((const struct rna_bandwidth_port *)a)->last;
	const struct rna_bandwidth_test *second = &((const struct rna_bandwidth_port *)b)->last;
	int order = strcmp(first->device, second->device);

	return order != 0 ? order : (first->port > second->port) - (first->port < second->port);
}

struct rna_bandwidths *rna_measured_results(const struct rna_measured_ports *ports,
					    unsigned tcp_port, const char *problem,
					    uint64_t strangers)
{
	struct rna_bandwidths *ret = rna_part_new(RNA_COLLECTOR_COUNT, sizeof(*ret), 4096);
	struct rna_bandwidth_port *tested = NULL;
	bool failed = false;

	if (!ret)
		return NULL;
	ret->part.started = ret->part.taken = rna_clock_now();
	tested = rna_arena_array(ret->part.arena, RNA_PROBING_PORTS_MAX, sizeof(*tested));
	ret->problem =
		problem[0] != '\0' ? rna_arena_keep(ret->part.arena, problem, &failed) : NULL;
	if (!tested || failed) {
		(void)rna_part_unref(&ret->part);
		return NULL;
	}
	for (size_t i = 0; i < RNA_PROBING_PORTS_MAX; i++)
		if (ports->items[i].tests.last.time.realtime > 0)
			tested[ret->count++] = ports->items[i].tests;
	qsort(tested, ret->count, sizeof(*tested), compare);
	ret->ports = tested;
	ret->tcp_port = tcp_port;
	ret->strangers = strangers;
	return ret;
}
