/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The desired content of the Node, computed from a view, the values published before, and
 * the events since then. Pure, except for the memory that it is given.
 * Thread: the loop's.
 */
#pragma once

#include "rna/model/view.h"

#include "memory/node_memory.h"
#include "settings/settings.h"

#include "node_events.h"

struct rna_desired_input {
	const struct rna_settings *settings;
	const struct rna_view *view;
	bool booting;     /* links are still coming up */
	unsigned settled; /* conditions (RNA_CONDITION_BIT) of which it is known what is wrong */
	/* There will be no second look: what is seen counts at once. */
	bool once;
};

/* How labels are called by these settings. The texts are the settings'. */
struct rna_label_options rna_label_options_of(const struct rna_settings *settings);

/* Does the Node get a taint at all? */
bool rna_settings_have_taint(const struct rna_settings *settings);

/*
 * Updates memory from the view. Returns 1 if something new is to be published, 0 if not, or
 * -ENOMEM: the next view tries again.
 */
int rna_desired_follow(struct rna_node_memory *memory, const struct rna_desired_input *in);

/* When following the same view again could make a difference; monotonic. */
rna_usec rna_desired_due(const struct rna_node_memory *memory, const struct rna_settings *settings);

/*
 * The desired content of the Node from the values in memory, with the events, which may be NULL.
 * The caller unrefs it. NULL: no memory.
 */
struct rna_desired_node *rna_desired_new(struct rna_node_memory *memory,
					 const struct rna_desired_input *in,
					 const struct rna_node_events *events);
