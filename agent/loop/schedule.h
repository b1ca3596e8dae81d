/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schedule: which collector runs when and on which target.
 * Thread: the loop's.
 */
#pragma once

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "rna/model/view.h"

#include "settings/settings.h"

#include "account.h"
#include "lanes.h"
#include "targets.h"

struct rna_schedule {
	const struct rna_settings *settings;
	const struct rna_root *root;
	const struct rna_backends *backends;
	struct rna_device_filter *filter;
	struct rna_texts *functions;     /* for presence to look for; NULL: none */
	struct rna_known_rails *rails;   /* of before, for topology; NULL: none */
	struct rna_nic_facts *nic_facts; /* likewise */
	struct rna_texts *statistics;    /* for ethernet to read in addition */
	struct rna_lanes *lanes;
	sd_event_source *timer;
	rna_usec due[RNA_COLLECTOR_COUNT]; /* monotonic */
	/* One for each node-wide collector: one that hangs must not delay the others. */
	struct rna_target *nodes;
	struct rna_target *devices; /* in the order of the newest presence */
	size_t device_count;
	struct rna_target *leaving; /* gone, and a chain still under way */
	uint64_t device_set;        /* see rna/model/snapshot.h; 0: no presence yet */
	uint64_t coverage;          /* grows when other devices are covered, see rhythm.h */
	unsigned read;              /* bit set: node-wide collectors that others need, and have */
	struct rna_account account;
	uint32_t inside; /* for presence: only the devices that this process sees; 0: all */
	bool started;
	bool news;     /* there is something to show */
	bool look;     /* which devices are covered (rhythm.h) may have changed */
	bool quiet;    /* jobs that begin now open nothing of the RDMA stack */
	bool patient;  /* wait for slow devices until their deadline: commands that run once */
	bool complete; /* every slot to wait for has run once, or is too slow */
	/* The first view is published, or waits for all: then slow collectors run as well. */
	bool later_may_run;
	void (*on_settled)(void *userdata);
	/*
	 * Returns what an earlier process knew of a device, as a part of that collector, or NULL.
	 * identity: as read now, or NULL. The callback itself may be NULL.
	 */
	struct rna_part *(*recall)(enum rna_collector_id id, const struct rna_device *device,
				   const struct rna_identity *identity, void *userdata);
	/*
	 * Returns the first moment, not before that one, in which a scrape is expected;
	 * RNA_USEC_NEVER: none is. Both monotonic. The callback itself may be NULL.
	 */
	rna_usec (*next_scrape)(rna_usec earliest, void *userdata);
	void *userdata;
};

/* What is read for a scrape is read so long before it. */
#define RNA_SCRAPE_LEAD RNA_USEC_PER_SEC

/* All targets, those of the node first: begin with NULL; NULL: that was the last one. */
struct rna_target *rna_schedule_next(const struct rna_schedule *schedule,
				     const struct rna_target *target);

/* The newest part of the node-wide collector that lists that; NULL: there is none. */
struct rna_part *rna_schedule_listing(const struct rna_schedule *schedule, enum rna_listing what);

/*
 * Is there nothing to wait for, because the devices could not be listed? A daemon tries
 * again and again; a command that runs once does not.
 */
bool rna_schedule_is_in_vain(const struct rna_schedule *schedule);

/*
 * Nothing runs before rna_schedule_start(). settings, root and backends must outlive the schedule.
 * settled is called when there is something new to publish.
 */
int rna_schedule_init(struct rna_schedule *schedule, sd_event *event,
		      const struct rna_settings *settings, const struct rna_root *root,
		      const struct rna_backends *backends, struct rna_error *error);

/*
 * Runs presence at once and everything else as soon as it is back. once: no timers afterwards, and
 * complete waits for slow devices until their deadline.
 */
int rna_schedule_start(struct rna_schedule *schedule, bool once, struct rna_error *error);

/*
 * The settings behind the pointer have changed: periods, limits, and the filter and the names
 * of statistics that were made of them, which the schedule takes over.
 */
void rna_schedule_reload(struct rna_schedule *schedule, struct rna_device_filter *filter,
			 struct rna_texts *statistics);

/* From the next run of presence on, it looks for these; the schedule takes over the reference. */
void rna_schedule_look_for(struct rna_schedule *schedule, struct rna_texts *functions);
/* Likewise, for topology to number rails as before. */
void rna_schedule_set_rails(struct rna_schedule *schedule, struct rna_known_rails *rails);
/* Likewise, but at once. With once the schedule is not complete until that was done. */
void rna_schedule_renumber_rails(struct rna_schedule *schedule, struct rna_known_rails *rails);
/* The same for what is known of NICs; NULL: nothing is. */
void rna_schedule_set_nic_facts(struct rna_schedule *schedule, struct rna_nic_facts *facts);

/* A target whose chain began before it was quiet and may have the RDMA stack open; NULL: none. */
const char *rna_schedule_loud(const struct rna_schedule *schedule);

/* Runs the collectors that events have marked (trigger.h). */
void rna_schedule_read_triggered(struct rna_schedule *schedule);

/* Runs those that they have marked as less urgent, some time later. */
void rna_schedule_read_later(struct rna_schedule *schedule);

/* That device is kept open for its events now, or is not any more. */
void rna_schedule_set_held(struct rna_schedule *schedule, const struct rna_device *device,
			   bool held);

/* A source of events is watched now, or is not any more: what they tell of is polled less, or more.
 */
void rna_schedule_look_at_events(struct rna_schedule *schedule);

/*
 * A view has been published: from the first one on, collectors run that are too slow for it. Does
 * nothing after later ones.
 */
void rna_schedule_start_later(struct rna_schedule *schedule);

/* False when a lane is stuck: then nothing was freed, and the process has to _exit(). */
bool rna_schedule_stop(struct rna_schedule *schedule, rna_usec patience);
