/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A round: the data written to the API, the data to write (applied.h), and writing it. Six tasks
 * (tasks.h), each with its own delays, so that a missing right for one does not block the others; a
 * problem of the API as a whole ends the round.
 * Thread: the lane's, or the only one of a command.
 */
#pragma once

#include "call.h"
#include "objects.h"
#include "pace.h"

enum rna_kube_task {
	RNA_KUBE_TASK_LOOK, /* first: it finds what else is to be done */
	RNA_KUBE_TASK_LABELS,
	RNA_KUBE_TASK_CONDITIONS,
	RNA_KUBE_TASK_TAINT,
	RNA_KUBE_TASK_DEVICES,
	RNA_KUBE_TASK_EVENTS,
	RNA_KUBE_TASK_COUNT,
};

enum {
	RNA_KUBE_EVENTS_MAX = 32, /* different ones that are waiting or remembered */
};

struct rna_kube_job {
	bool open; /* to be done */
	struct rna_wait wait;
};

struct rna_kube_round {
	struct rna_kube_api api;
	const struct rna_node_wish *given; /* the newest; the caller's; NULL: none yet */
	const struct rna_node_wish *wish;  /* that, or nothing at all while the Node is ignored */
	struct rna_kube_job jobs[RNA_KUBE_TASK_COUNT];
	struct rna_wait wait; /* for the API as a whole */
	/* of the credentials with which it or a job failed; 0: none did, or it asked us to wait */
	uint64_t failing_access;
	uint64_t random; /* for waits and names */
	bool cleanup;    /* nothing shall be left of us */
	bool ignored;    /* the Node has RNA_KUBERNETES_IGNORE */

	/* what the API has taken: bodies, without heartbeats; empty: nothing is known */
	struct rna_strbuf labels;
	struct rna_strbuf conditions;
	struct rna_strbuf devices; /* that have taints, as rna_kube_write_devices() has them */
	bool devices_only;         /* and no others had rules of ours then */
	size_t device_rules;       /* of ours that there are */
	struct rna_time written;
	struct rna_time looked;
	struct rna_arena *node_arena;
	struct rna_arena
		*label_arena;      /* of the node's labels, if a write's answer had newer ones */
	struct rna_kube_node node; /* when it was looked at; uid NULL: never */
	bool look_fresh;           /* the next look must not see an older one */
	rna_usec made_anew;        /* monotonic; when another Node of that name was met; 0: never */
	struct rna_time now;       /* of the round that runs, which may be a test's */
	rna_usec began;            /* the same moment by the clock */

	struct rna_kube_event events[RNA_KUBE_EVENTS_MAX];
	size_t event_count;
	uint64_t events_sent, events_dropped;

	uint64_t reverts;
	char *reverted; /* what another client changed of ours, and we change back; NULL: nothing */

	char *problem;         /* NULL: none */
	unsigned problem_of;   /* a task, or RNA_KUBE_TASK_COUNT: the API as a whole */
	unsigned problem_kind; /* problems of the same kind count as one */
	struct rna_time problem_since;
};

void rna_kube_round_deinit(struct rna_kube_round *round);

/* The wish that a Node has nothing of ours. */
extern const struct rna_node_wish rna_kube_nothing;

/* The caller's newest wish, which must live until the next one. */
void rna_kube_take_wish(struct rna_kube_round *round, const struct rna_node_wish *wish);

/* An Event to send, unless the Node is ignored. Takes over its texts. */
void rna_kube_add_event(struct rna_kube_round *round, struct rna_kube_event *event);

/* Does the API lack anything of the wish, as far as we know? */
bool rna_kube_is_behind(const struct rna_kube_round *round);

/* Is there a taint to be set or taken away? Are there taints of devices? */
bool rna_kube_has_taint(const struct rna_kube_round *round);
bool rna_kube_has_devices(const struct rna_kube_round *round);

/* Has the Node been seen without what has to go? */
bool rna_kube_former_is_gone(const struct rna_kube_round *round);

/*
 * While the API fails or forbids a job: have the credentials changed? Then it is tried at once. To
 * be called every RNA_KUBE_ACCESS_PERIOD while failing_access is not 0.
 */
#define RNA_KUBE_ACCESS_PERIOD (15 * RNA_USEC_PER_SEC)
void rna_kube_notice_access(struct rna_kube_round *round);

/* Opens the jobs for what is due. */
void rna_kube_open(struct rna_kube_round *round, const struct rna_pace_due *due);

/* When an open job may be tried; RNA_USEC_NEVER: there is none. */
rna_usec rna_kube_next(const struct rna_kube_round *round);

/* Does the open jobs that may be tried. Waits for the network. */
void rna_kube_run(struct rna_kube_round *round, struct rna_time now);

/*
 * What a lane does, with a pace: it has got another wish, or none; it is awake; and when it is to
 * be the next time. Of step, whether anything was asked.
 */
void rna_kube_want(const struct rna_kube_round *round, struct rna_pace *pace, rna_usec now);
bool rna_kube_step(struct rna_kube_round *round, struct rna_pace *pace, struct rna_time now);
rna_usec rna_kube_wake_time(const struct rna_kube_round *round, const struct rna_pace *pace);
