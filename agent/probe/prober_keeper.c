// SPDX-License-Identifier: Apache-2.0
#include "prober_keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "rna/base/log.h"

#include "selftest/test_process.h"

/* A prober that says nothing for this time hangs: it reports each second... */
#define PATIENCE (10 * RNA_USEC_PER_SEC)
/* ...unless it gets no processor: another one would get none either. */
#define PATIENCE_LONG (60 * RNA_USEC_PER_SEC)
#define LOOK          RNA_USEC_PER_SEC /* between two looks */
#define PAUSE_FIRST   (2 * RNA_USEC_PER_SEC)
#define PAUSE_LONGEST (60 * RNA_USEC_PER_SEC)
#define STABLE        (300 * RNA_USEC_PER_SEC) /* after that, pauses begin from the shortest */

enum { REPORTS_AT_ONCE = 256, STUCK_MAX = 4 };

struct rna_prober_keeper {
	sd_event *event;
	struct rna_prober_handlers handlers;
	bool wanted;
	struct rna_prober_order setup; /* its first order, with the key */
	struct rna_child child;
	sd_event_source *source; /* of its socket */
	bool runs;
	rna_usec started, heard;
	rna_usec looked;
	rna_usec excused; /* since it was heard, how long this process stood still */
	rna_usec next;    /* when one may be started */
	rna_usec pause;   /* after the next end */
	uint64_t restarts;
	char why[RNA_ERROR_MAX];
	struct rna_stuck_child stuck[STUCK_MAX];
};

/* -- Ends -------------------------------------------------------------------------------------- */

static void on_stuck_ended(void *userdata)
{
	(void)userdata;
	rna_log_notice("a prober that a driver held has ended");
}

static void abandon(struct rna_prober_keeper *keeper)
{
	for (size_t i = 0; i < STUCK_MAX; i++) {
		if (keeper->stuck[i].child.pid > 0)
			continue;
		rna_stuck_child_keep(&keeper->stuck[i], keeper->event, &keeper->child,
				     on_stuck_ended, NULL);
		break;
	}
	keeper->child = RNA_CHILD_INIT;
}

static bool is_any_stuck(const struct rna_prober_keeper *keeper)
{
	for (size_t i = 0; i < STUCK_MAX; i++)
		if (keeper->stuck[i].child.pid > 0)
			return true;
	return false;
}

/* Ends the prober without waiting. */
static void end(struct rna_prober_keeper *keeper, const char *why)
{
	if (!keeper->runs)
		return;
	keeper->source = sd_event_source_disable_unref(keeper->source);
	if (!rna_child_stop(&keeper->child, 0))
		abandon(keeper);
	keeper->runs = false;
	keeper->heard = 0;
	(void)snprintf(keeper->why, sizeof(keeper->why), "%s", why);
	keeper->handlers.ended(keeper->why, keeper->handlers.userdata);
}

/* It has ended, or has to, although it is wanted. */
static void fail(struct rna_prober_keeper *keeper, const char *why)
{
	rna_usec now = rna_clock_monotonic();

	if (rna_usec_since(keeper->started, now) > STABLE)
		keeper->pause = PAUSE_FIRST;
	keeper->next = now + keeper->pause;
	keeper->pause = keeper->pause * 2 > PAUSE_LONGEST ? PAUSE_LONGEST : keeper->pause * 2;
	keeper->restarts++;
	rna_log_warning("the prober is replaced: %s", why);
	end(keeper, why);
}

/* -- Reports ----------------------------------------------------------------------------------- */

static int on_report(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_prober_keeper *keeper = userdata;
	struct rna_prober_report report;
	int status = 1;

	(void)source;
	(void)fd;
	(void)events;
	for (int i = 0; i < REPORTS_AT_ONCE && keeper->runs; i++) {
		status = rna_prober_receive(&keeper->child, &report);
		if (status <= 0)
			break;
		keeper->heard = rna_clock_monotonic();
		keeper->excused = 0;
		keeper->handlers.report(&report, keeper->handlers.userdata);
	}
	if (status < 0 && keeper->runs)
		fail(keeper, status == -EPROTO ? "it reports nonsense" : "it has ended");
	return 0;
}

/* -- Starts ------------------------------------------------------------------------------------ */

static int start(struct rna_prober_keeper *keeper, struct rna_error *error)
{
	int status = rna_prober_start(&keeper->child, error);

	if (status < 0)
		return status;
	status = rna_prober_send(&keeper->child, &keeper->setup);
	if (status == 0)
		status = sd_event_add_io(keeper->event, &keeper->source, keeper->child.fd, EPOLLIN,
					 on_report, keeper);
	if (status < 0) {
		if (!rna_child_stop(&keeper->child, 0))
			abandon(keeper);
		return rna_error_set(error, status, "cannot set up the prober");
	}
	keeper->runs = true;
	return 0;
}

static void try_start(struct rna_prober_keeper *keeper, rna_usec now)
{
	struct rna_error error = {0};

	if (is_any_stuck(keeper)) {
		(void)snprintf(keeper->why, sizeof(keeper->why),
			       "a driver holds the prober before in the kernel");
		return;
	}
	keeper->started = keeper->heard = keeper->looked = now;
	keeper->excused = 0;
	if (start(keeper, &error) < 0) {
		(void)snprintf(keeper->why, sizeof(keeper->why), "%s", error.text);
		keeper->next = now + keeper->pause;
		keeper->pause =
			keeper->pause * 2 > PAUSE_LONGEST ? PAUSE_LONGEST : keeper->pause * 2;
		return;
	}
	keeper->handlers.started(keeper->handlers.userdata);
}

static bool hangs(const struct rna_prober_keeper *keeper, rna_usec now)
{
	rna_usec silent = rna_usec_since(keeper->heard + keeper->excused, now);

	return silent > PATIENCE_LONG ||
	       (silent > PATIENCE && rna_child_state(keeper->child.pid) != 'R');
}

void rna_prober_keeper_look(struct rna_prober_keeper *keeper, rna_usec now)
{
	rna_usec passed = rna_usec_since(keeper->looked, now);

	keeper->looked = now;
	if (passed > 2 * LOOK) /* the prober stood still as well, or has had no time to report */
		keeper->excused += passed - LOOK;
	if (keeper->runs && hangs(keeper, now))
		fail(keeper, "it does not report any more");
	if (keeper->wanted && !keeper->runs && now >= keeper->next)
		try_start(keeper, now);
}

void rna_prober_keeper_want(struct rna_prober_keeper *keeper,
			    const uint8_t key[RNA_PROBER_KEY_SIZE])
{
	if (!key) {
		keeper->wanted = false;
		end(keeper, "it is not wanted");
		return;
	}
	if (keeper->wanted && memcmp(key, keeper->setup.setup.key, RNA_PROBER_KEY_SIZE) != 0)
		end(keeper, "the secret has changed");
	keeper->wanted = true;
	memcpy(keeper->setup.setup.key, key, RNA_PROBER_KEY_SIZE);
}

/* -- The rest ---------------------------------------------------------------------------------- */

struct rna_prober_keeper *rna_prober_keeper_new(sd_event *event,
						const struct rna_prober_handlers *handlers,
						const struct rna_prober_order *setup)
{
	struct rna_prober_keeper *keeper = calloc(1, sizeof(*keeper));

	if (!keeper)
		return NULL;
	keeper->event = event;
	keeper->handlers = *handlers;
	keeper->setup = *setup;
	keeper->setup.kind = RNA_PROBER_SETUP;
	keeper->child = RNA_CHILD_INIT;
	keeper->pause = PAUSE_FIRST;
	return keeper;
}

struct rna_prober_keeper *rna_prober_keeper_free(struct rna_prober_keeper *keeper)
{
	if (!keeper)
		return NULL;
	end(keeper, "the agent stops");
	for (size_t i = 0; i < STUCK_MAX; i++)
		rna_stuck_child_deinit(&keeper->stuck[i]);
	free(keeper);
	return NULL;
}

int rna_prober_keeper_order(struct rna_prober_keeper *keeper, const struct rna_prober_order *order)
{
	return !keeper->runs ? -EAGAIN : rna_prober_send(&keeper->child, order);
}

bool rna_prober_keeper_runs(const struct rna_prober_keeper *keeper)
{
	return keeper->runs;
}

rna_usec rna_prober_keeper_heard(const struct rna_prober_keeper *keeper)
{
	return keeper->heard;
}

uint64_t rna_prober_keeper_restarts(const struct rna_prober_keeper *keeper)
{
	return keeper->restarts;
}

const char *rna_prober_keeper_why(const struct rna_prober_keeper *keeper)
{
	return keeper->runs ? NULL : keeper->why;
}

bool rna_prober_keeper_holds(const struct rna_prober_keeper *keeper)
{
	return keeper->runs || is_any_stuck(keeper);
}
