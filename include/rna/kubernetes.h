/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this node's Node object in Kubernetes shall say of its RDMA hardware, and how it gets there.
 *
 * Labels are decided by a pure function of the view (exporter/node_labels.c, one table); whether a
 * change has lasted long enough is agent/node_memory.c's business. What comes out is a *wish*: an
 * immutable description of all that we own on the Node. A backend makes it true: the API
 * (exporter/kubernetes.c, on a lane of its own, where it may wait as long as it likes) or a file
 * for node-feature-discovery (exporter/nfd.c).
 * Sources: Kubernetes API conventions (labels, conditions, events), server-side apply,
 * node-feature-discovery's feature files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/arena.h"
#include "rna/clock.h"
#include "rna/error.h"
#include "rna/finding.h"

enum {
	RNA_LABEL_NAME_MAX = 63, /* of a name and of a value; a prefix may have 253 */
	RNA_LABEL_PREFIX_MAX = 253,
};

struct rna_node_label {
	const char *key; /* "network.nvidia.com/roce" */
	const char *value;
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
	const char *message; /* a sentence for people */
	struct rna_time since;
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
bool rna_node_wish_is_same(const struct rna_node_wish *a, const struct rna_node_wish *b);
