/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Node: what the agent tells Kubernetes of this machine. A guest of the loop that makes a
 * desired state of each view, hands it to the backends when it is another one than before, and says
 * in the view how they fare. Thread: the loop's.
 */
#pragma once

#include <systemd/sd-event.h>

#include "rna/model/view.h"

#include "memory/memory.h"
#include "settings/settings.h"

#include "node_events.h"

struct rna_node;

/* What it works with; all of it must outlive it. */
struct rna_node_host {
	sd_event *event;
	const struct rna_settings *settings; /* a reload changes what they say */
	const char *config;                  /* the file that they are from; NULL: the usual one */
	struct rna_memory *memory;
	/* when the result may change merely because time has passed */
	void (*judge_again)(void *userdata);
	void *userdata;
};

/*
 * Starts the backends that settings name. One that cannot be started is logged, and the rest goes
 * on. 0, or negative errno.
 */
int rna_node_start(const struct rna_node_host *host, struct rna_node **ret);

/*
 * Applies changed settings. Backends are stopped and started again; one that waits for the network
 * or a disk gets some time for it, without blocking the loop. Accepts NULL.
 */
void rna_node_reload(struct rna_node *node);

/* Fills in node of a view that is not published yet, before rules run. Accepts NULL. */
void rna_node_describe(struct rna_node *node, struct rna_view *view);

/*
 * The last reply of the API server, until the next view; all zero before the first one. NULL if
 * there is no client, because it is not configured or could not be started. Accepts NULL.
 */
const struct rna_kubernetes_status *rna_node_status(const struct rna_node *node);

/* Had the Node that label when it was read, "KEY" or "KEY=VALUE"? Accepts NULL: no. */
bool rna_node_has_label(const struct rna_node *node, const char *label);

/* A finding began or ended. Accepts NULL. */
void rna_node_hear(struct rna_node *node, const struct rna_rule *rule,
		   const struct rna_finding *finding, bool over);

/*
 * What a view that was judged shows. booting, settled: as health has it. Accepts NULL.
 */
void rna_node_follow(struct rna_node *node, const struct rna_view *view, bool booting,
		     unsigned settled);

/* Accepts NULL. false: a backend is stuck and still uses what it was given. */
bool rna_node_stop(struct rna_node *node, rna_usec patience);
