// SPDX-License-Identifier: Apache-2.0
#include "ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/duration.h"
#include "rna/base/parse.h"
#include "rna/model/activity.h"

/* Even `selftest --duration` with its longest tests lets go between two of them. */
#define LONG (10 * 60 * RNA_USEC_PER_SEC)
#define LOOK_AT_MOST                                                                               \
	(60 * RNA_USEC_PER_SEC)  /* if counters are read more rarely, the child looks              \
				  */
#define READING RNA_USEC_PER_SEC /* how long that takes, generously */
#define MEGA    1000000

/* -- The list ---------------------------------------------------------------------------------- */

void rna_tested_free(struct rna_tested *port)
{
	rna_stuck_child_deinit(&port->stuck);
	free(port->runs);
	free(port->device);
	free(port->key);
	free(port);
}

struct rna_tested *rna_tested_new(const char *key, const char *device, unsigned number)
{
	struct rna_tested *port = calloc(1, sizeof(*port));

	if (!port)
		return NULL;
	port->key = strdup(key);
	port->device = strdup(device);
	if (!port->key || !port->device) {
		rna_tested_free(port);
		return NULL;
	}
	port->number = number;
	port->idle_qps = RNA_QPS_UNKNOWN;
	return port;
}

struct rna_tested *rna_tested_find_key(struct rna_tested *list, const char *key, unsigned number)
{
	for (struct rna_tested *port = list; port; port = port->next)
		if (port->number == number && strcmp(port->key, key) == 0)
			return port;
	return NULL;
}

struct rna_tested *rna_tested_find_name(struct rna_tested *list, const char *device,
					unsigned number)
{
	for (struct rna_tested *port = list; port; port = port->next)
		if (port->number == number && port->present && strcmp(port->device, device) == 0)
			return port;
	return NULL;
}

const struct rna_tested *rna_tested_find_stuck(const struct rna_tested *list, const char *key)
{
	for (const struct rna_tested *port = list; port; port = port->next)
		if (port->known.stuck > 0 && strcmp(port->key, key) == 0)
			return port;
	return NULL;
}

struct rna_tested *rna_tested_first_due(struct rna_tested *list)
{
	struct rna_tested *first = NULL;

	for (struct rna_tested *port = list; port; port = port->next)
		if (port->present && (!first || port->due < first->due))
			first = port;
	return first;
}

static bool is_before(const struct rna_tested *a, const struct rna_tested *b)
{
	int order = rna_compare_names(a->device, b->device);

	return order < 0 || (order == 0 && a->number < b->number);
}

void rna_tested_insert(struct rna_tested **list, struct rna_tested *port)
{
	while (*list && is_before(*list, port))
		list = &(*list)->next;
	port->next = *list;
	*list = port;
}

void rna_tested_remove(struct rna_tested **list, const struct rna_tested *port)
{
	while (*list != port)
		list = &(*list)->next;
	*list = port->next;
}

/* -- Runs -------------------------------------------------------------------------------------- */

void rna_tested_keep(struct rna_tested *port, const struct rna_selftest_run *run)
{
	struct rna_selftest_port *known = &port->known;

	if (!port->runs)
		port->runs = calloc(RNA_SELFTESTS_KEPT, sizeof(*port->runs));
	if (!port->runs)
		return; /* no memory: one run less in the history */
	if (known->count == RNA_SELFTESTS_KEPT)
		memmove(port->runs, port->runs + 1, --known->count * sizeof(*port->runs));
	port->runs[known->count++] = *run;
}

void rna_tested_name_runs(struct rna_tested *port)
{
	for (size_t i = 0; i < port->known.count; i++)
		(void)snprintf(port->runs[i].request.device, sizeof(port->runs[i].request.device),
			       "%s", port->device);
}

/* How many queue pairs an idle port has: the lowest number seen. */
static void learn_idle(struct rna_tested *port, const struct rna_loopback_result *result)
{
	if (result->skip != RNA_SKIP_BUSY && result->qps < port->idle_qps)
		port->idle_qps = result->qps;
}

void rna_tested_account(struct rna_tested *port, const struct rna_selftest_run *run, bool first)
{
	struct rna_selftest_port *known = &port->known;
	bool skipped = run->result.end == RNA_LOOPBACK_SKIPPED;

	known->bytes += run->result.bytes;
	learn_idle(port, &run->result);
	if (run->special) {
		if (!skipped)
			rna_tested_keep(port, run);
		return;
	}
	if (first || !skipped)
		known->skip = skipped ? run->result.skip : RNA_SKIP_NONE;
	if (skipped) {
		known->skips[run->result.skip]++;
		return;
	}
	known->results[run->grade]++;
	known->last_run = run->time.realtime;
	if (run->grade == RNA_GRADE_OK || run->grade == RNA_GRADE_NONE)
		known->last_success = run->time.realtime;
	rna_tested_keep(port, run);
}

bool rna_tested_wants_confirmation(const struct rna_tested *port)
{
	struct rna_selftest_port known = port->known;

	known.runs = port->runs;
	for (enum rna_endpoint e = 0; e < RNA_ENDPOINT_COUNT; e++) {
		const struct rna_selftest_run *run = rna_selftest_newest(&known, e, NULL);
		const struct rna_selftest_run *before =
			run ? rna_selftest_newest(&known, e, run) : NULL;

		if (rna_selftest_is_bad(run) && !rna_selftest_is_bad(before))
			return true;
	}
	return false;
}

/* -- Results ----------------------------------------------------------------------------------- */

static int copy_port(const struct rna_tested *port, bool enabled, struct rna_arena *arena,
		     struct rna_selftest_port *ret)
{
	struct rna_time now = rna_clock_now();
	struct rna_selftest_run *runs =
		rna_arena_array(arena, port->known.count + 1, sizeof(*runs));

	*ret = port->known;
	ret->device = rna_arena_strdup(arena, port->device);
	ret->port = port->number;
	ret->runs = runs;
	if (!ret->device || !runs)
		return -ENOMEM;
	if (port->known.count > 0)
		memcpy(runs, port->runs, port->known.count * sizeof(*runs));
	if (enabled)
		ret->next = now.realtime + rna_usec_since(now.monotonic, port->due);
	return 0;
}

struct rna_selftests *rna_tested_results(const struct rna_tested *list, bool enabled)
{
	struct rna_selftests *made = rna_part_new(RNA_COLLECTOR_COUNT, sizeof(*made), 4096);
	struct rna_selftest_port *ports;
	size_t count = 0;

	for (const struct rna_tested *port = list; port; port = port->next)
		count += port->present;
	ports = made ? rna_arena_array(made->part.arena, count + 1, sizeof(*ports)) : NULL;
	for (const struct rna_tested *port = list; ports && port; port = port->next)
		if (port->present &&
		    copy_port(port, enabled, made->part.arena, &ports[made->count++]) < 0)
			ports = NULL;
	if (!ports && made)
		return (struct rna_selftests *)rna_part_unref(&made->part);
	if (made)
		made->ports = ports;
	return made;
}

/* -- What else uses a port or the lock --------------------------------------------------------- */

static bool is_same(const struct rna_loopback_holder *a, const struct rna_loopback_holder *b)
{
	return a->is_there == b->is_there && a->pid == b->pid && a->uid == b->uid;
}

bool rna_lock_holder_note(struct rna_lock_holder *lock_holder,
			  const struct rna_loopback_holder *holder, rna_usec now)
{
	if (!holder->is_there || !is_same(&lock_holder->holder, holder)) {
		*lock_holder = (struct rna_lock_holder){.holder = *holder, .since = now};
		return false;
	}
	if (lock_holder->told || rna_usec_since(lock_holder->since, now) < LONG)
		return false;
	lock_holder->told = true;
	return true;
}

void rna_lock_holder_describe(const struct rna_lock_holder *lock_holder, rna_usec now,
			      struct rna_strbuf *out)
{
	const struct rna_loopback_holder *holder = &lock_holder->holder;
	rna_usec span = rna_usec_since(lock_holder->since, now);

	if (holder->uid == RNA_UID_UNKNOWN)
		rna_strbuf_puts(out, "a process of unknown owner");
	else if (holder->pid == 0)
		rna_strbuf_printf(out, "a process of user %u, in another PID namespace,",
				  (unsigned)holder->uid);
	else
		rna_strbuf_printf(out, "process %d of user %u", (int)holder->pid,
				  (unsigned)holder->uid);
	rna_strbuf_puts(out, " has held the self-test lock for at least ");
	rna_duration_write(span - span % RNA_USEC_PER_SEC, out);
}

/* Until all counters have been read again. */
static rna_usec reading_period(const struct rna_settings *settings)
{
	rna_usec pma = settings->poll[RNA_COLLECTOR_COUNTERS];
	rna_usec own = settings->poll[RNA_COLLECTOR_HW_COUNTERS];
	rna_usec longer = RNA_POLL_LONGEST(pma > own ? pma : own);

	return (longer < LOOK_AT_MOST ? longer : LOOK_AT_MOST) + READING;
}

rna_usec rna_traffic_check_run(struct rna_traffic_check *traffic_check,
			       const struct rna_subject *subject,
			       const struct rna_settings *settings, bool *ret_busy)
{
	struct rna_traffic_check before = *traffic_check, now;
	double rate;

	*ret_busy = false;
	*traffic_check = (struct rna_traffic_check){0};
	if (!rna_activity_sum(subject->device, subject->port, &now.moved, &now.taken))
		return 0;
	if (before.taken == 0) {
		*traffic_check = now;
		return reading_period(settings);
	}
	if (now.taken <= before.taken || now.moved < before.moved)
		return 0; /* not read again, or reset */
	rate = (double)(now.moved - before.moved) / rna_seconds(now.taken - before.taken);
	*ret_busy = rate >= (double)settings->selftest_busy_rate * MEGA;
	return 0;
}
