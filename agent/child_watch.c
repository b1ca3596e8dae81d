// SPDX-License-Identifier: Apache-2.0
#include "child_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <systemd/sd-event.h>

#include "rna/clock.h"
#include "rna/loopback.h"

#define LOOK_PERIOD (50 * RNA_USEC_PER_MSEC)

struct rna_child_watch {
	pid_t pid;
	void (*ended)(void *userdata);
	void *userdata;
	sd_event_source *source;
};

static int on_pidfd(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_child_watch *watch = userdata;

	(void)fd, (void)events;
	(void)sd_event_source_set_enabled(source, SD_EVENT_OFF);
	watch->ended(watch->userdata);
	return 0;
}

static int on_look(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct rna_child_watch *watch = userdata;

	(void)usec;
	if (rna_loopback_child_has_ended(watch->pid)) {
		watch->ended(watch->userdata);
		return 0;
	}
	(void)sd_event_source_set_time_relative(source, LOOK_PERIOD);
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
	*watch = (struct rna_child_watch){.pid = pid, .ended = ended, .userdata = userdata};
	if (pidfd >= 0)
		status = sd_event_add_io(event, &watch->source, pidfd, EPOLLIN, on_pidfd, watch);
	else
		status = sd_event_add_time_relative(event, &watch->source, CLOCK_MONOTONIC, 0, 0,
						    on_look, watch);
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
