// SPDX-License-Identifier: Apache-2.0
#include "test_process.h"

#include <errno.h>
#include <systemd/sd-event.h>
#include <unistd.h>

/* Between two looks, a share of what was waited, within these. */
#define PAUSE_SHORTEST (50 * RNA_USEC_PER_MSEC)
#define PAUSE_LONGEST  (10 * RNA_USEC_PER_SEC)
enum { PAUSE_SHARE = 16 };

/* -- The end of a child ------------------------------------------------------------------------ */

rna_usec rna_child_watch_pause(rna_usec waited)
{
	rna_usec pause = waited / PAUSE_SHARE;

	if (pause < PAUSE_SHORTEST)
		return PAUSE_SHORTEST;
	return pause < PAUSE_LONGEST ? pause : PAUSE_LONGEST;
}

static int on_pidfd(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_child_watch *watch = userdata;

	(void)fd, (void)events;
	(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	watch->ended(watch->userdata);
	return 0;
}

static int on_check(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct rna_child_watch *watch = userdata;

	(void)usec;
	if (rna_child_has_ended(watch->pid)) {
		watch->ended(watch->userdata);
		return 0;
	}
	(void)sd_event_source_set_time_relative(
		source, rna_child_watch_pause(rna_usec_since(watch->begin, rna_clock_monotonic())));
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int watch_child(struct rna_child_watch *watch, sd_event *event,
		       const struct rna_child *child, void (*ended)(void *userdata), void *userdata)
{
	*watch = (struct rna_child_watch){
		.pid = child->pid,
		.ended = ended,
		.userdata = userdata,
		.begin = rna_clock_monotonic(),
	};
	if (child->pidfd >= 0)
		return sd_event_add_io(event, &watch->source, child->pidfd, EPOLLIN, on_pidfd,
				       watch);
	return sd_event_add_time_relative(event, &watch->source, CLOCK_MONOTONIC, 0, 0, on_check,
					  watch);
}

static void stop_watch(struct rna_child_watch *watch)
{
	watch->source = sd_event_source_disable_unref(watch->source);
}

/* -- Stuck children ---------------------------------------------------------------------------- */

static void on_stuck_ended(void *userdata)
{
	struct rna_stuck_child *stuck = userdata;

	stop_watch(&stuck->watch);
	(void)rna_child_stop(&stuck->child, 0); /* it is only to be reaped */
	stuck->ended(stuck->userdata);
}

void rna_stuck_child_keep(struct rna_stuck_child *stuck, sd_event *event, struct rna_child *child,
			  void (*ended)(void *userdata), void *userdata)
{
	*stuck = (struct rna_stuck_child){.child = *child, .ended = ended, .userdata = userdata};
	*child = RNA_CHILD_INIT;
	(void)watch_child(&stuck->watch, event, &stuck->child, on_stuck_ended, stuck);
}

void rna_stuck_child_deinit(struct rna_stuck_child *stuck)
{
	stop_watch(&stuck->watch);
	if (stuck->child.pid > 0 && !rna_child_stop(&stuck->child, 0) && stuck->child.pidfd >= 0)
		(void)close(stuck->child.pidfd);
	stuck->child.pid = 0;
}

/* -- The process of a test --------------------------------------------------------------------- */

static void on_ended(void *userdata)
{
	const struct rna_test_process *process = userdata;

	process->over(process->userdata);
}

/* First for the test, then for the child that was killed. */
static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct rna_test_process *process = userdata;

	(void)source, (void)usec;
	if (!process->killed && rna_test_process_kill(process))
		process->late = true;
	else
		process->over(process->userdata);
	return 0;
}

int rna_test_process_wait(struct rna_test_process *process, rna_usec patience)
{
	int ret = watch_child(&process->watch, process->event, &process->child.process, on_ended,
			      process);

	return ret < 0 ? ret
		       : sd_event_add_time_relative(process->event, &process->deadline,
						    CLOCK_MONOTONIC, patience, 0, on_deadline,
						    process);
}

bool rna_test_process_kill(struct rna_test_process *process)
{
	sd_event_source *deadline = process->deadline;

	if (!deadline || process->late ||
	    sd_event_source_set_time_relative(deadline, RNA_LOOPBACK_LAST_PATIENCE) < 0 ||
	    sd_event_source_set_enabled(deadline, SD_EVENT_ONESHOT) < 0)
		return false;
	process->killed = true;
	rna_child_kill(&process->child.process);
	return true;
}

bool rna_test_process_end(struct rna_test_process *process, struct rna_stuck_child *stuck,
			  void (*ended)(void *userdata), void *userdata)
{
	stop_watch(&process->watch);
	process->deadline = sd_event_source_disable_unref(process->deadline);
	process->killed = process->late = false;
	if (rna_loopback_child_stop(&process->child, 0))
		return true;
	rna_stuck_child_keep(stuck, process->event, &process->child.process, ended, userdata);
	return false;
}

void rna_test_process_deinit(struct rna_test_process *process)
{
	stop_watch(&process->watch);
	(void)sd_event_source_disable_unref(process->deadline);
	(void)rna_loopback_child_stop(&process->child, RNA_LOOPBACK_LAST_PATIENCE);
}
