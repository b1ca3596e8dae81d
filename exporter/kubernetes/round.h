/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeping the Node in step. The desired state is compared with what the API has taken or with the
 * Node as it was read, and what differs is written: one table (round.c) with a row for each kind of
 * data. All have one schedule and one budget (pace.h). What the API refuses waits by itself, so
 * that a missing right for one kind does not block the others; a problem of the API as a whole ends
 * the round.
 * Thread: the client's, or the only one of a command.
 */
#pragma once

#include "api.h"
#include "pace.h"

enum rna_kube_task {
	RNA_KUBE_TASK_LOOK, /* first: it finds what else is to be done */
	RNA_KUBE_TASK_LABELS,
	RNA_KUBE_TASK_CONDITIONS,
	RNA_KUBE_TASK_PERMIT,
	RNA_KUBE_TASK_TAINT,
	RNA_KUBE_TASK_PERMIT_BACK,
	RNA_KUBE_TASK_DEVICES,
	RNA_KUBE_TASK_EVENTS,
	RNA_KUBE_TASK_COUNT,
};

/* A permit to taint the Node (permits.c). */
enum rna_kube_permit {
	RNA_KUBE_PERMIT_UNKNOWN, /* not asked for: a taint that is there stays */
	RNA_KUBE_PERMIT_HELD,
	RNA_KUBE_PERMIT_REFUSED,
};

enum {
	RNA_KUBE_EVENTS_MAX = 32,  /* different ones that are waiting or remembered */
	RNA_KUBE_EVENT_NAMES = 64, /* of a Node, as the chart's admission policy has them */
};

struct rna_kube_round {
	struct rna_kube_api api;
	struct rna_pace pace;
	const struct rna_desired_node *given; /* the newest; the caller's; NULL: none yet */
	const struct rna_desired_node
		*desired;               /* that, or nothing at all while the Node is ignored */
	bool open[RNA_KUBE_TASK_COUNT]; /* to be done */
	struct rna_wait waits[RNA_KUBE_TASK_COUNT + 1]; /* the last: for the API as a whole */
	/* of the credentials with which any of them failed; 0: none did, or it asked us to wait */
	uint64_t failing_access;
	bool cleanup; /* nothing shall be left of us */

	/* what the API has taken, as text; empty: nothing is known */
	struct rna_strbuf written[RNA_KUBE_TASK_COUNT];
	enum rna_kube_permit permit;
	bool devices_only; /* and no other devices had rules of ours then */
	struct rna_time looked;
	struct rna_kube_node node;     /* when it was looked at; uid NULL: never */
	struct rna_kube_node answered; /* to the last write: its metadata; node has its labels */
	bool look_fresh;               /* the next look must not see an older one */
	rna_usec made_anew;  /* monotonic; when another Node of that name was met; 0: never */
	struct rna_time now; /* of the round that runs, which may be a test's */
	rna_usec began;      /* the same moment by the clock */

	struct rna_kube_event events[RNA_KUBE_EVENTS_MAX];
	size_t event_count;

	struct rna_node_status status; /* what is counted in it, and the time of the last write */
	char *reverted; /* what another client changed of ours, and we change back; NULL: nothing */

	char *problem;         /* NULL: none */
	unsigned problem_of;   /* a task, or RNA_KUBE_TASK_COUNT: the API as a whole */
	unsigned problem_kind; /* problems of the same kind count as one */
};

/* options, with the name of the Node, must outlive it; seed: different for each agent. */
void rna_kube_round_init(struct rna_kube_round *round, const struct rna_kubernetes_options *options,
			 uint64_t seed);
void rna_kube_round_deinit(struct rna_kube_round *round);

/* What the client does awake: what is due, and may be tried. False: nothing was asked. */
bool rna_kube_step(struct rna_kube_round *round, struct rna_time now);
/* When it is to be awake again, unless there is a new desired state; RNA_USEC_NEVER: there is no
 * reason. */
rna_usec rna_kube_wake_time(const struct rna_kube_round *round);

/* Does all once, for a command. False: some of it was not possible. */
bool rna_kube_do_all(struct rna_kube_round *round, struct rna_time now);

/*
 * While the API fails or forbids a task: have the credentials changed? Then it is tried at once. To
 * be called every RNA_KUBE_ACCESS_PERIOD while failing_access is not 0.
 */
#define RNA_KUBE_ACCESS_PERIOD (15 * RNA_USEC_PER_SEC)
void rna_kube_notice_access(struct rna_kube_round *round);

/* Does the API lack anything of the desired state, as far as we know? */
bool rna_kube_is_behind(const struct rna_kube_round *round);
bool rna_kube_is_task_behind(const struct rna_kube_round *round, enum rna_kube_task task);
/* Nothing of what we wrote is there any more, or we do not know: it is written again. */
void rna_kube_forget_written(struct rna_kube_round *round);
struct rna_kube_words rna_kube_words_of(const struct rna_kube_round *round);

/* -- The kinds of data ------------------------------------------------------------------------- */

/*
 * Each task does what it was opened for, and waits for the network; what came of it is in answer,
 * and its result is returned.
 */
typedef enum rna_kubernetes_result rna_kube_task_function(struct rna_kube_round *round,
							  struct rna_kube_answer *answer);

/* node_object.c: the Node is read; its labels, conditions and taint are compared and written. */
rna_kube_task_function rna_kube_look;
/* Looks, if that was not done before. */
rna_kube_task_function rna_kube_know_node;
rna_kube_task_function rna_kube_send_labels;
rna_kube_task_function rna_kube_send_conditions;
rna_kube_task_function rna_kube_send_taint;

/* Is there anything to say? An agent that does not know yet what to say leaves what is there. */
bool rna_kube_has_labels(const struct rna_kube_round *round);
bool rna_kube_has_conditions(const struct rna_kube_round *round);
bool rna_kube_has_taint(const struct rna_kube_round *round);
/* Is the taint, a label that is urgent, another on the Node? */
bool rna_kube_lacks_taint(const struct rna_kube_round *round);
bool rna_kube_lacks_urgent_label(const struct rna_kube_round *round);

/* The desired state that a Node has nothing of ours. */
extern const struct rna_desired_node rna_kube_nothing;

/* The caller's newest desired state, which must live until the next one. */
void rna_kube_take_desired(struct rna_kube_round *round, const struct rna_desired_node *desired);

/* Has the Node been seen without what has to go? */
bool rna_kube_former_is_gone(const struct rna_kube_round *round);

/* permits.c: Leases, of which the agent has to hold one while its Node has the taint. */
rna_kube_task_function rna_kube_take_permit;
rna_kube_task_function rna_kube_return_permit;
bool rna_kube_has_permit(const struct rna_kube_round *round); /* to take, or to give back */
bool rna_kube_lacks_permit(const struct rna_kube_round *round);
bool rna_kube_keeps_permit(const struct rna_kube_round *round); /* without need */
/* Shall the Node have the taint? node: the Node, which keeps it until there is an answer. */
bool rna_kube_wants_taint(const struct rna_kube_round *round, const struct rna_kube_node *node);
/* There is another wish. */
void rna_kube_review_permit(struct rna_kube_round *round);

/* device_rules.c: taints of devices. */
rna_kube_task_function rna_kube_send_devices;
bool rna_kube_has_devices(const struct rna_kube_round *round);
bool rna_kube_lacks_devices(const struct rna_kube_round *round);
/* Which devices shall have taints, as text. */
void rna_kube_write_devices(const struct rna_kube_words *words, struct rna_strbuf *out);

/*
 * Deletes the rules of agents for devices: those of nodes, whose names have a null byte behind
 * each, or NULL: of all. dry_run: only counts them. *ret: how many there are.
 */
enum rna_kubernetes_result rna_kube_delete_device_rules(struct rna_kube_api *api,
							const struct rna_strbuf *nodes,
							bool dry_run, size_t *ret,
							struct rna_kube_answer *answer);

/* event_objects.c: those of one kind are one with a count, and few are kept. */
rna_kube_task_function rna_kube_send_events;
bool rna_kube_has_events(const struct rna_kube_round *round); /* that wait to be sent */
/* One to send, unless the Node is ignored. */
void rna_kube_add_event(struct rna_kube_round *round, const struct rna_node_event *event);
void rna_kube_drop_events(struct rna_kube_round *round);
