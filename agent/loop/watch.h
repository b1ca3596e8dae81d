/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch: a guest of the loop that listens to the kernel and makes the schedule read at once
 * what an event is about. Polls go on as if there were no events.
 * Thread: the loop's.
 */
#pragma once

#include "rna/model/snapshot.h"

#include "schedule.h"

struct rna_watch;

/* schedule and what it was made of must outlive the watch. NULL: no memory. */
struct rna_watch *rna_watch_new(sd_event *event, struct rna_schedule *schedule);

/* removed is called when the kernel begins to remove an RDMA device, and waits for its contexts. */
void rna_watch_set_removal(struct rna_watch *watch, void (*removed)(void *userdata),
			   void *userdata);

/*
 * Listens to what the settings want, on a live root only; called again when they, or the quiet of
 * the schedule, have changed.
 * What cannot be listened to is logged, and polling has to do.
 */
void rna_watch_update(struct rna_watch *watch);

/* A device that is held open, by choice; NULL: none. */
const char *rna_watch_holds(const struct rna_watch *watch);

/* A snapshot is out: holds contexts for the devices in it. NULL is fine. */
void rna_watch_follow(struct rna_watch *watch, const struct rna_snapshot *snapshot);

/* False when a lane is stuck: then the process has to _exit(). NULL is fine. */
bool rna_watch_stop(struct rna_watch *watch, rna_usec patience);
