/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wish: all that this program owns on its Node in Kubernetes, as it should be: labels,
 * conditions, a taint, and Events to send. agent/node makes it, a backend makes it true
 * (rna/kubernetes.h).
 * Thread: made and counted by the loop; never changed, so a backend's thread may read it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/arena.h"
#include "rna/base/clock.h"

struct rna_node_label {
	const char *key;
	const char *value; /* NULL: not decided yet; what stands on the Node stays */
};

enum rna_condition_status {
	RNA_CONDITION_FALSE,
	RNA_CONDITION_TRUE,
	RNA_CONDITION_UNKNOWN,
};

/* A problem condition: True is bad, as node-problem-detector has it. */
struct rna_node_condition {
	const char *type; /* "RdmaPortDown" */
	enum rna_condition_status status;
	const char *reason;  /* CamelCase, for machines */
	const char *message; /* a sentence for people; NULL: not decided yet, and stays as it is */
	struct rna_time since;
	rna_usec heartbeat; /* realtime when it was last sent, of a Node that was read; else 0 */
};

/* A finding that began or ended, to be told as an Event. */
struct rna_node_event {
	bool warning;        /* type Warning, else Normal */
	const char *reason;  /* "RdmaPortDown"; CamelCase of the rule */
	const char *message; /* the finding's text, and its remedy */
	struct rna_time time;
};

/* All that we own on the Node. Made by the loop, read by a backend's lane; never changed. */
struct rna_node_wish {
	unsigned refs; /* counted by the loop */
	/*
	 * An agent that has just started does not know yet what it will say. Is any label decided,
	 * any condition? All stays on the Node as it stands there until it is.
	 */
	bool labels_decided;
	bool conditions_decided;
	bool taint_decided;
	size_t label_count;
	const struct rna_node_label
		*labels; /* by key; what is not among them is not ours any more */
	size_t condition_count;
	const struct rna_node_condition *conditions; /* by type */
	bool taint;                                  /* the node shall carry our taint */
	size_t event_count;
	const struct rna_node_event
		*events;         /* since the wish before; not part of what is compared */
	struct rna_arena *arena; /* owns this struct and all it points to */
};

struct rna_node_wish *rna_node_wish_ref(struct rna_node_wish *wish);   /* accepts NULL */
struct rna_node_wish *rna_node_wish_unref(struct rna_node_wish *wish); /* accepts NULL */
RNA_DEFINE_CLEANUP(struct rna_node_wish, rna_node_wish_unref)

/* Do both want the same of the Node? Events do not count, nor do messages' times. */
bool rna_node_wish_has_same_labels(const struct rna_node_wish *a, const struct rna_node_wish *b);
bool rna_node_wish_is_same(const struct rna_node_wish *a, const struct rna_node_wish *b);
