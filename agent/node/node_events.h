/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the Node: findings that became active or resolved within a few seconds are combined, so
 * that eight ports that lose their switch make one Event and not eight.
 * Thread: the loop's.
 */
#pragma once

#include "rna/kubernetes.h"

#include "rules/rules.h"

struct rna_gathered_event {
	const struct rna_rule *rule;
	bool over;
	struct rna_time time; /* of the first */
	size_t count;
	char *text, *remedy; /* of the first */
	char *objects;       /* of the others: "mlx5_1/1, mlx5_2/1" */
};

struct rna_node_events {
	size_t count;
	struct rna_gathered_event *items; /* in the order in which they began */
};

void rna_node_events_clear(struct rna_node_events *events); /* idempotent */

/* Without memory the Event is left out; the finding is still in the view and in the journal. */
void rna_node_events_take(struct rna_node_events *events, const struct rna_rule *rule,
			  const struct rna_finding *finding, bool over, struct rna_time now);

/* Is it time to send the Events gathered so far? due: when, monotonic. */
bool rna_node_events_are_due(const struct rna_node_events *events, rna_usec now);
rna_usec rna_node_events_due(const struct rna_node_events *events);

/* Puts them into a desired state. False: no memory. */
bool rna_node_events_add(const struct rna_node_events *events, struct rna_desired_node *desired);
