/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes: the worker threads that run collectors, so that the loop never waits for hardware.
 *
 * Jobs of one device form a chain that one lane runs in order; chains stand in one queue. One lane
 * serves it while all is well. When a lane has been in the same job for the handover time and the
 * queue is not empty, it is replaced: another lane goes on with the queue, and the slow one ends
 * by itself after the chain that holds it. For an urgent chain, some milliseconds are enough, in an
 * urgent job or in a whole chain of others. A job past its deadline is reported once. So a device
 * that hangs costs one thread and its own freshness, and nothing else; there are never more slow
 * lanes than slow devices, and never more lanes than the maximum. At the start there is much to
 * read at once, and two lanes serve the queue.
 *
 * A lock guards the two queues and what each lane is doing; it is never held while a job runs.
 * Thread: all functions belong to the loop, only collect() runs elsewhere.
 */
#pragma once

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "rna/collector.h"

#include "settings/settings.h"

/* One run of one collector. The caller owns it; between submit and finished() the lanes do. */
struct rna_job {
	/* filled by the caller */
	const struct rna_collector *collector;
	struct rna_collect_input input;
	void *owner;
	struct rna_job *then; /* the next job of the same chain, or NULL */
	/*
	 * Of a chain's first: it goes in front of the queue. Of any: the result is handed over at
	 * once, and not when the queue is empty.
	 */
	bool urgent;

	/* filled by the lane */
	int status;            /* of collect() */
	struct rna_part *part; /* when status >= 0: the reader of the result takes it over */
	char *error;      /* when status < 0: text to free(), or NULL when there was no memory */
	rna_usec started; /* monotonic; 0: not yet */
	rna_usec finished;

	/* of the lanes */
	struct rna_job *next;
};

struct rna_lanes_limits {
	unsigned max;
	rna_usec handover; /* from here on a job is slow */
	rna_usec deadline; /* and from here on overdue */
};

struct rna_lanes_limits rna_lanes_limits_of(const struct rna_settings *settings);

enum rna_lateness {
	RNA_IN_TIME,
	RNA_SLOW,
	RNA_OVERDUE,
};

struct rna_lanes_callbacks {
	void (*finished)(struct rna_job *job, void *userdata);
	/*
	 * job has just become slow, or overdue, and still runs: look at what was filled before it
	 * was submitted only, and call nothing of lanes.
	 */
	void (*late)(const struct rna_job *job, enum rna_lateness lateness, void *userdata);
	/* One or more of the above were called; called once after them. */
	void (*settled)(void *userdata);
	void *userdata;
};

struct rna_lanes;

int rna_lanes_new(sd_event *event, const struct rna_lanes_limits *limits,
		  const struct rna_lanes_callbacks *callbacks, struct rna_lanes **ret,
		  struct rna_error *error);

void rna_lanes_set_limits(struct rna_lanes *lanes, const struct rna_lanes_limits *limits);

/* Two lanes serve the queue, or one, as in the beginning. */
void rna_lanes_hasten(struct rna_lanes *lanes, bool hasty);

/* Queues a chain. It begins with the next rna_lanes_flush(). */
void rna_lanes_submit(struct rna_lanes *lanes, struct rna_job *chain);
/* Starts the queued chains. 0, or negative errno when there is no lane and none can be made. */
int rna_lanes_flush(struct rna_lanes *lanes);

unsigned rna_lanes_count(const struct rna_lanes *lanes);

/*
 * Ends the lanes, waiting no longer than patience. True when all have ended and everything is
 * freed; false when one is stuck: then the process must leave with _exit(), for that thread still
 * uses its job. Jobs that were not begun are forgotten. NULL is fine.
 */
bool rna_lanes_stop(struct rna_lanes *lanes, rna_usec patience);
