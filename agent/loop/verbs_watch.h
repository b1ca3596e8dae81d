/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch of verbs: keeps a context of each device that may be held open, and reports its
 * events. Opening and closing may wait for firmware, so both are jobs, in lanes of their own:
 * in those of the schedule they would delay the polls of a device.
 * Thread: the loop's.
 */
#pragma once

#include "rna/model/snapshot.h"
#include "rna/verbs_events.h"

#include "schedule.h"

struct rna_verbs_watch;

int rna_verbs_watch_new(sd_event *event, struct rna_schedule *schedule,
			void (*handle)(const char *device, enum rna_verbs_event event,
				       void *userdata),
			void *userdata, struct rna_verbs_watch **ret, struct rna_error *error);

/*
 * Contexts follow the devices of snapshot. The account of the source says whether any is open, and
 * the targets of the schedule which.
 */
void rna_verbs_watch_follow(struct rna_verbs_watch *watch, const struct rna_snapshot *snapshot,
			    enum rna_verbs_events_setting which);

/* A device whose context is open, or about to be; NULL: none. */
const char *rna_verbs_watch_holds(const struct rna_verbs_watch *watch);

/* Closes the context with that device node: the device is being removed and may wait for it. */
void rna_verbs_watch_let_go(struct rna_verbs_watch *watch, const char *node);

/* Devices that could not be opened, or were let go of, are tried again with the next snapshot. */
void rna_verbs_watch_retry(struct rna_verbs_watch *watch);

/* False when a lane is stuck: then nothing was freed, and the process has to _exit(). */
bool rna_verbs_watch_stop(struct rna_verbs_watch *watch, rna_usec patience);
