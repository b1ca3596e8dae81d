// SPDX-License-Identifier: Apache-2.0
#include "child_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <systemd/sd-event.h>

#include "rna/base/clock.h"
#include "rna/model/loopback.h"

/* Between two looks, a share of what was waited, within these. */
#define PAUSE_SHORTEST (50 * RNA_USEC_PER_MSEC)
#define PAUSE_LONGEST  (10 * RNA_USEC_PER_SEC)
enum { PAUSE_SHARE = 16 };

struct rna_child_watch {
	pid_t pid;
	void (*ended)(void *userdata);
	void *userdata;
	rna_usec begin; /* monotonic */
	sd_event_source *source;
};

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

int rna_child_watch_new(sd_event *event, pid_t pid, int pidfd, void (*ended)(void *userdata),
			void *userdata, struct rna_child_watch **ret)
{
	RNA_CLEANUP(rna_child_watch_free_p)
	struct rna_child_watch *watch = calloc(1, sizeof(*watch));
	int status;

	if (!watch)
		return -ENOMEM;
	*watch = (struct rna_child_watch){
		.pid = pid,
		.ended = ended,
		.userdata = userdata,
		.begin = rna_clock_monotonic(),
	};
	if (pidfd >= 0)
		status = sd_event_add_io(event, &watch->source, pidfd, EPOLLIN, on_pidfd, watch);
	else
		status = sd_event_add_time_relative(event, &watch->source, CLOCK_MONOTONIC, 0, 0,
						    on_check, watch);
	if (status < 0)
		return status;
	*ret = RNA_TAKE(watch);
	return 0;
}

struct rna_child_watch *rna_child_watch_free(struct rna_child_watch *watch)
{
	if (!watch)
		return NULL;
	(void)sd_event_source_disable_unref(watch->source);
	free(watch);
	return NULL;
}
