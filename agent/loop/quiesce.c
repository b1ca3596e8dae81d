// SPDX-License-Identifier: Apache-2.0
#include "quiesce.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "rna/base/clock.h"
#include "rna/base/duration.h"
#include "rna/base/log.h"
#include "rna/base/parse.h"
#include "rna/base/words.h"

#include "memory/memory.h"

/* How often to check whether everything is closed, and how long a command waits for that. */
#define CHECK_PERIOD   (20 * RNA_USEC_PER_MSEC)
#define WAITER_TIMEOUT (20 * RNA_USEC_PER_SEC)

struct waiter {
	struct waiter *next;
	rna_usec end;
	void (*done)(int status, const struct rna_error *error, void *userdata);
	void *userdata;
};

struct rna_quiesce {
	sd_event *event;
	struct rna_quiesce_handlers handlers;
	sd_event_source *timeout; /* for the end that comes first */
	rna_usec until;           /* monotonic; 0: not requested */
	char *node;               /* "KEY=VALUE", the label of the Node; NULL: it has none */
	rna_usec node_until;      /* monotonic; 0: the Node has the label now, so there is no end */
	char boot[RNA_BOOT_SIZE];
	char reason[RNA_ERROR_MAX];
	struct waiter *waiters;
	sd_event_source *look; /* while there are waiters */
};

bool rna_quiesce_is_on(const struct rna_quiesce *quiesce)
{
	return quiesce && (quiesce->until > 0 || quiesce->node);
}

const char *rna_quiesce_reason(const struct rna_quiesce *quiesce)
{
	return rna_quiesce_is_on(quiesce) ? quiesce->reason : NULL;
}

static void write_end(rna_usec until, char *ret, size_t size)
{
	rna_usec left = rna_usec_since(rna_clock_monotonic(), until);
	time_t end = (time_t)((rna_clock_now().realtime + left) / RNA_USEC_PER_SEC);
	struct tm tm;

	(void)strftime(ret, size, "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&end, &tm));
}

static void write_reason(struct rna_quiesce *quiesce)
{
	const char *node = quiesce->node ? quiesce->node : "";
	char *reason = quiesce->reason;
	size_t size = sizeof(quiesce->reason);
	char end[32];

	if (quiesce->until > 0) {
		write_end(quiesce->until, end, sizeof(end));
		(void)snprintf(reason, size, "requested until %s", end);
	} else if (quiesce->node_until > 0) {
		write_end(quiesce->node_until, end, sizeof(end));
		(void)snprintf(reason, size,
			       "the Node had the label %s when it was last read; until %s, or "
			       "until it can be read again",
			       node, end);
	} else {
		(void)snprintf(reason, size, "the Node has the label %s", node);
	}
}

/* was: whether it was on before the change that is reported. */
static void report_change(struct rna_quiesce *quiesce, bool was)
{
	bool on = rna_quiesce_is_on(quiesce);

	write_reason(quiesce);
	if (on)
		rna_log_notice("quiesced: the agent opens nothing of the RDMA stack (%s)",
			       quiesce->reason);
	else if (was)
		rna_log_notice("quiesce has ended");
	if (on != was)
		quiesce->handlers.changed(quiesce->handlers.userdata);
}

/* -- Reasons ----------------------------------------------------------------------------------- */

/* Sets the label of the Node; NULL: none. Takes over node. */
static void set_node(struct rna_quiesce *quiesce, char *node, rna_usec until)
{
	free(quiesce->node);
	quiesce->node = node;
	quiesce->node_until = node ? until : 0;
}

/* For whichever ends first. */
static void arm_timeout(struct rna_quiesce *quiesce)
{
	rna_usec end = quiesce->until;

	if (end == 0 || (quiesce->node_until > 0 && quiesce->node_until < end))
		end = quiesce->node_until;
	(void)sd_event_source_set_time(quiesce->timeout, end);
	(void)sd_event_source_set_enabled(quiesce->timeout,
					  end > 0 ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

/* Ends what has its end at now or before. */
static void end_expired(struct rna_quiesce *quiesce, rna_usec now)
{
	bool was = rna_quiesce_is_on(quiesce);

	if (quiesce->until <= now)
		quiesce->until = 0;
	if (quiesce->node_until > 0 && quiesce->node_until <= now)
		set_node(quiesce, NULL, 0);
	arm_timeout(quiesce);
	report_change(quiesce, was);
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source, (void)usec;
	end_expired(userdata, rna_clock_monotonic());
	return 0;
}

enum { TIMEOUT_MIN_SECONDS = 1, TIMEOUT_MAX_DAYS = 7 };

int rna_quiesce_read_timeout(const char *text, rna_usec *ret, struct rna_error *error)
{
	if (rna_duration_parse(text, ret) < 0 || *ret < TIMEOUT_MIN_SECONDS * RNA_USEC_PER_SEC ||
	    *ret > TIMEOUT_MAX_DAYS * 86400 * RNA_USEC_PER_SEC)
		return rna_error_say(
			error, -EINVAL,
			"--timeout: %.*s is not a duration from %ds to %dd, such as 30m",
			RNA_SHOWN(text), TIMEOUT_MIN_SECONDS, TIMEOUT_MAX_DAYS);
	return 0;
}

void rna_quiesce_ask(struct rna_quiesce *quiesce, rna_usec timeout)
{
	rna_usec until = rna_clock_monotonic() + timeout;
	bool was = rna_quiesce_is_on(quiesce);

	if (until > quiesce->until) {
		quiesce->until = until;
		arm_timeout(quiesce);
	}
	report_change(quiesce, was);
}

void rna_quiesce_resume(struct rna_quiesce *quiesce)
{
	end_expired(quiesce, RNA_USEC_NEVER);
}

static bool is_listed(char *const *list, const char *text)
{
	for (; list && *list; list++)
		if (strcmp(*list, text) == 0)
			return true;
	return false;
}

/* The label that shows that a driver is being changed. NULL: the Node does not have it. */
static const struct rna_node_label *find_upgrade(const struct rna_settings *settings,
						 const struct rna_kubernetes_status *node)
{
	for (size_t i = 0; node && i < node->label_count; i++) {
		const struct rna_node_label *label = &node->labels[i];

		if (strcmp(label->key, settings->quiesce_node_label) == 0 && label->value[0] &&
		    !is_listed(settings->quiesce_node_label_idle, label->value))
			return label;
	}
	return NULL;
}

/*
 * A driver that was being changed may still be. But the API server may be away for long, or refuse
 * requests, so this ends after the same time as a quiesce that was requested.
 */
static void wait_for_node(struct rna_quiesce *quiesce, rna_usec timeout)
{
	if (!quiesce->node || quiesce->node_until > 0)
		return;
	quiesce->node_until = rna_clock_monotonic() + timeout;
	arm_timeout(quiesce);
	report_change(quiesce, true);
}

void rna_quiesce_follow_node(struct rna_quiesce *quiesce, const struct rna_settings *settings,
			     const struct rna_kubernetes_status *node)
{
	const struct rna_node_label *label = find_upgrade(settings, node);
	bool was = rna_quiesce_is_on(quiesce);
	RNA_FREE char *text = NULL;

	if (!quiesce)
		return;
	if (node && node->looked.monotonic == 0) {
		wait_for_node(quiesce, settings->quiesce_timeout);
		return;
	}
	if (label && asprintf(&text, "%s=%s", label->key, label->value) < 0) {
		text = NULL;
		return; /* no memory: as before, until the next view */
	}
	if (rna_same_text(quiesce->node, text) && quiesce->node_until == 0)
		return;
	set_node(quiesce, RNA_TAKE(text), 0);
	arm_timeout(quiesce);
	report_change(quiesce, was);
}

/* -- Over the end of a process ----------------------------------------------------------------- */

void rna_quiesce_keep(const struct rna_quiesce *quiesce, struct rna_memory *memory)
{
	struct rna_quiesced *kept = &memory->quiesced;
	bool on = rna_quiesce_is_on(quiesce) && quiesce->boot[0];

	if (!quiesce)
		return;
	memory->changed |= rna_memory_set_text(&kept->boot, on ? quiesce->boot : NULL);
	memory->changed |= rna_memory_set_text(&kept->node, on ? quiesce->node : NULL);
	memory->changed |= kept->until != quiesce->until;
	kept->until = quiesce->until;
	memory->changed |= kept->node_until != quiesce->node_until;
	kept->node_until = quiesce->node_until;
}

void rna_quiesce_recall(struct rna_quiesce *quiesce, const struct rna_memory *memory,
			rna_usec timeout)
{
	const struct rna_quiesced *kept = &memory->quiesced;
	rna_usec now = rna_clock_monotonic();

	if (!quiesce || !kept->boot || strcmp(kept->boot, quiesce->boot) != 0)
		return;
	if (kept->node && (kept->node_until == 0 || kept->node_until > now))
		set_node(quiesce, strdup(kept->node), /* no memory: until the Node is read */
			 kept->node_until > 0 ? kept->node_until : now + timeout);
	if (kept->until > now)
		quiesce->until = kept->until;
	arm_timeout(quiesce);
	if (rna_quiesce_is_on(quiesce))
		report_change(quiesce, false);
}

/* -- Waiters ----------------------------------------------------------------------------------- */

static void answer(struct waiter *waiter, const char *holder)
{
	struct rna_error error = {0};
	int status = 0;

	if (holder)
		status = rna_error_say(
			&error, -ETIMEDOUT,
			"quiesced, but still open: %s, which answers late or not at all", holder);
	waiter->done(status, &error, waiter->userdata);
	free(waiter);
}

static void check_waiters(struct rna_quiesce *quiesce)
{
	const char *holder = quiesce->handlers.holder(quiesce->handlers.userdata);
	rna_usec now = rna_clock_monotonic();

	for (struct waiter **link = &quiesce->waiters; *link;) {
		struct waiter *waiter = *link;

		if (holder && now < waiter->end) {
			link = &waiter->next;
			continue;
		}
		*link = waiter->next;
		answer(waiter, holder);
	}
}

static int on_check(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct rna_quiesce *quiesce = userdata;

	(void)usec;
	check_waiters(quiesce);
	if (!quiesce->waiters)
		return 0;
	(void)sd_event_source_set_time_relative(source, CHECK_PERIOD);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int rna_quiesce_wait(struct rna_quiesce *quiesce,
		     void (*done)(int status, const struct rna_error *error, void *userdata),
		     void *userdata)
{
	struct waiter *waiter = calloc(1, sizeof(*waiter));
	int ret;

	if (!waiter)
		return -ENOMEM;
	ret = sd_event_source_set_time_relative(quiesce->look, 0);
	if (ret >= 0)
		ret = sd_event_source_set_enabled(quiesce->look, SD_EVENT_ONESHOT);
	if (ret < 0) {
		free(waiter);
		return ret;
	}
	*waiter = (struct waiter){quiesce->waiters, rna_clock_monotonic() + WAITER_TIMEOUT, done,
				  userdata};
	quiesce->waiters = waiter;
	return 0;
}

void rna_quiesce_forget(struct rna_quiesce *quiesce, const void *userdata)
{
	for (struct waiter **link = &quiesce->waiters; *link;) {
		struct waiter *waiter = *link;

		if (waiter->userdata != userdata) {
			link = &waiter->next;
			continue;
		}
		*link = waiter->next;
		free(waiter);
	}
}

/* -- Life -------------------------------------------------------------------------------------- */

static int add_timer(struct rna_quiesce *quiesce, sd_event_source **ret,
		     sd_event_time_handler_t handler)
{
	int status =
		sd_event_add_time(quiesce->event, ret, CLOCK_MONOTONIC, 0, 0, handler, quiesce);

	return status < 0 ? status : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

int rna_quiesce_new(sd_event *event, const struct rna_quiesce_handlers *handlers,
		    struct rna_quiesce **ret)
{
	RNA_CLEANUP(rna_quiesce_free_p) struct rna_quiesce *quiesce = calloc(1, sizeof(*quiesce));
	int status;

	if (!quiesce)
		return -ENOMEM;
	quiesce->event = event;
	quiesce->handlers = *handlers;
	rna_clock_boot(quiesce->boot); /* unknown: the quiesce is not persisted */
	status = add_timer(quiesce, &quiesce->timeout, on_timeout);
	if (status >= 0)
		status = add_timer(quiesce, &quiesce->look, on_check);
	if (status < 0)
		return status;
	*ret = RNA_TAKE(quiesce);
	return 0;
}

struct rna_quiesce *rna_quiesce_free(struct rna_quiesce *quiesce)
{
	if (!quiesce)
		return NULL;
	while (quiesce->waiters) {
		struct waiter *waiter = quiesce->waiters;

		quiesce->waiters = waiter->next;
		free(waiter);
	}
	(void)sd_event_source_disable_unref(quiesce->timeout);
	(void)sd_event_source_disable_unref(quiesce->look);
	free(quiesce->node);
	free(quiesce);
	return NULL;
}
