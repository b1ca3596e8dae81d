/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guests of the loop, all in one struct, and what the files that look after them call of each
 * other: agent.c starts and stops them, views.c makes views and shows them, reload.c reads the
 * settings again. For these three files only; agent.h is the door for the others.
 * Thread: the loop's.
 */
#pragma once

#include "bandwidth/measuring.h"
#include "baseline/baseline.h"
#include "health/health.h"
#include "memory/state_directory.h"
#include "node/node.h"
#include "probe/probing.h"

#include "agent.h"
#include "answers.h"
#include "liveness.h"
#include "notify.h"
#include "quiesce.h"
#include "schedule.h"
#include "server.h"
#include "watch.h"

struct rna_agent {
	struct rna_settings settings;
	const char *config;                   /* the caller's */
	const struct rna_override *overrides; /* likewise; NULL: none */
	struct rna_root *root;
	struct rna_backends *backends;
	sd_event *event;
	struct rna_schedule schedule;
	struct rna_watch *watch; /* NULL: not running as a daemon */
	struct rna_health health;
	struct rna_baseline baseline;
	struct rna_server server;
	struct rna_liveness liveness;
	const struct rna_view *view; /* newest; NULL until the first is complete */
	sd_event_source *publishing; /* enabled: another one is wanted */
	sd_event_source *ageing;     /* when there is one without news */
	struct rna_memory memory;
	struct rna_probe_memory probes;
	struct rna_state_directory *state; /* NULL: the memory ends with the process */
	struct rna_node *node;             /* NULL: Kubernetes is not updated */
	struct rna_selftest *selftest;     /* NULL: not a daemon, or not of this node */
	struct rna_probing *probing;       /* likewise */
	struct rna_measuring *measuring;   /* likewise */
	struct rna_quiesce *quiesce;       /* NULL: not a daemon */
	struct rna_notify notify;
	struct rna_control *control; /* NULL: no control socket */
	struct rna_answers answers;
	uint64_t device_set;    /* for which the schedule has the functions to look for */
	uint64_t rails_version; /* likewise the rails of before */
	bool rails_declared;    /* and whether they are those of the profile */
	struct rna_agent_status status;
	char config_error[RNA_ERROR_MAX + 64]; /* what status says of it */
	bool once;
};

/* -- agent.c ----------------------------------------------------------------------------------- */

/* Adds to the history what became of the agent or of its settings. */
void rna_agent_note(struct rna_agent *agent, enum rna_change_what what, const char *text);

/* -- views.c ----------------------------------------------------------------------------------- */

/* Before any other guest is started. 0 or negative errno. */
int rna_views_init(struct rna_agent *agent);

/* Something is new: a view is made when the loop takes its next turn. userdata: the agent. */
void rna_views_want(void *userdata);

/* Makes the view that is wanted, if one is, because there will be no further turn. */
void rna_views_finish(struct rna_agent *agent);

/* No test begins during a quiesce, or if the Node lacks the label that allows tests. */
void rna_views_hold_tests(struct rna_agent *agent);

/* What the HTTP server asks for. */
struct rna_http_source rna_views_source(struct rna_agent *agent);

/* -- reload.c ---------------------------------------------------------------------------------- */

/* Reads the profiles. If they are of no use, a finding says so, and the log. */
void rna_agent_load_baseline(struct rna_agent *agent);

/* Reads the configuration again. If it is of no use, the old settings stay in force. */
void rna_agent_reload(struct rna_agent *agent);
