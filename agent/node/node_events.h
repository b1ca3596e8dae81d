/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the Node: findings that began or ended, gathered for a moment, so that eight ports that
 * lose their switch are one Event and not eight.
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
	char *text;    /* of the first */
	char *objects; /* of the others: "mlx5_1/1, mlx5_2/1" */
};

struct rna_node_events {
	size_t count;
	struct rna_gathered_event *items; /* in the order in which they began */
};

void rna_node_events_clear(struct rna_node_events *events); /* idempotent */

/* What finds no memory is left out: the finding itself stands in the view, and in the journal. */
void rna_node_events_take(struct rna_node_events *events, const struct rna_rule *rule,
			  const struct rna_finding *finding, bool over, struct rna_time now);

/* Are there any that have been gathered for long enough? due: monotonic; when they will have. */
bool rna_node_events_are_due(const struct rna_node_events *events, rna_usec now);
rna_usec rna_node_events_due(const struct rna_node_events *events);

/* Puts them into a wish. False: no memory. */
bool rna_node_events_add(const struct rna_node_events *events, struct rna_node_wish *wish);
