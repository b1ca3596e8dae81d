/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Targets: what jobs are run on, an RDMA device or the node itself.
 *
 * Each pair of a collector and a target is a slot: it owns the reader, the newest good part, and
 * the account of its runs. A target has at most one chain of jobs under way; what becomes due
 * meanwhile waits for it.
 * Thread: the loop's, but for the readers, which the lanes use while a job runs.
 */
#pragma once

#include <stdbool.h>

#include "collector_sets.h"
#include "lanes.h"

struct rna_slot {
	struct rna_job job;
	/* References for as long as the job runs, because job.input points to these. */
	struct {
		const struct rna_part *presence;
		const struct rna_part *netdevs;
		struct rna_device_filter *filter;
		struct rna_texts *functions;
		struct rna_known_rails *rails;
		struct rna_nic_facts *nic_facts;
		struct rna_texts *statistics;
	} held;
	struct rna_reader *reader; /* NULL for node-wide collectors that keep no descriptors */
	struct rna_part *part;     /* newest good one */
	/*
	 * The newest good one of the registration of the device before this one, until there is
	 * one of this: what is counted from run to run goes on.
	 */
	const struct rna_part *inherited;
	bool ran;
	bool success;
	rna_usec overdue; /* monotonic start of the run that is past its deadline; 0: none */
	rna_usec duration;
	rna_usec due;             /* monotonic: when it runs, if it settles first; 0: not wanted */
	struct rna_origin cause;  /* of the next run; a poll unless an event asks for it */
	struct rna_origin origin; /* of the run under way */
	uint64_t *errors;         /* by reason, see struct rna_job_status; NULL: none */
};

struct rna_target {
	struct rna_target *next;
	/* The presence that device points into; of the node: NULL. */
	const struct rna_part *presence;
	const struct rna_device *device;
	const struct rna_root *root; /* of its readers */
	unsigned descriptors;        /* that its readers may keep open, all together */
	unsigned collectors;         /* bit set: of this target */
	unsigned wanted;             /* bit set: due while a chain was under way */
	unsigned triggered;          /* bit set: an event marked these, see trigger.h */
	unsigned later;              /* bit set: it asked for these, but not at once */
	struct rna_origin later_for; /* the newest event that did */
	unsigned settling;           /* bit set: these slots have a due time */
	rna_usec shown;   /* when the newest event was received that a part was read for */
	unsigned running; /* jobs of the chain under way that have not come back */
	bool loud;        /* that chain may open the RDMA stack */
	bool covered;     /* events of others tell of each change of its ports, see rhythm.h */
	bool held;        /* its own do: verbs_watch.h has it open */
	bool slow;        /* a job of that chain is past the handover time */
	bool gone;        /* the device vanished; freed when the chain is back */
	rna_usec pause;   /* grows with each run past its deadline */
	rna_usec resume;  /* no jobs before */
	struct rna_slot *slots[RNA_COLLECTOR_COUNT]; /* NULL: a collector that it never had */
};

/* A target of the node. root must outlive it. NULL: no memory. */
struct rna_target *rna_target_new(const struct rna_root *root, unsigned collectors);

/* How many of so many descriptors each of so many devices gets: not a few, of which none profits.
 */
unsigned rna_target_share(unsigned descriptors, size_t devices);

/*
 * A target of a device that lies in presence, which it holds a reference to. It has the collectors
 * that need no link layer. root must outlive it. NULL: no memory.
 */
struct rna_target *rna_target_new_device(const struct rna_root *root,
					 const struct rna_part *presence,
					 const struct rna_device *device, unsigned descriptors);

/*
 * Takes over what is counted from run to run from the target of the same device's registration
 * before, if that is in list. A device that was gone in between starts from zero.
 */
void rna_target_inherit(struct rna_target *target, const struct rna_target *list);

/*
 * Gives it the collectors that have something to ask of the device, by what is known of it now, and
 * takes those away that have not. *ret_new: bit set of those that it had not before. -ENOMEM: it
 * lacks some; the next call tries again.
 */
int rna_target_choose_collectors(struct rna_target *target, unsigned *ret_new);

/* Its newest part of the ports' link layers; NULL: there is none. */
const struct rna_identity *rna_target_identity(const struct rna_target *target);

/* Without memory for the first ones of a slot, these are not counted. */
void rna_slot_count_errors(struct rna_slot *slot, enum rna_reason reason, uint64_t count);

/* Drops what the job of the slot needed; it does not run. */
void rna_slot_release(struct rna_slot *slot);

/* No job may be under way. Accepts and returns NULL. */
struct rna_target *rna_target_free(struct rna_target *target);
RNA_DEFINE_CLEANUP(struct rna_target, rna_target_free)

/* The next runs of these collectors are for an event, unless one before it was the cause. */
void rna_target_set_cause(struct rna_target *target, unsigned collectors,
			  const struct rna_origin *origin);

/* Takes the target of this very registration of a device out of a list; NULL: there is none. */
struct rna_target *rna_target_take(struct rna_target **list, const struct rna_device *device);

/* Points the target to the same device in a newer presence. */
void rna_target_move(struct rna_target *target, const struct rna_part *presence,
		     const struct rna_device *device);

const char *rna_target_name(const struct rna_target *target); /* of the device, or "node" */
