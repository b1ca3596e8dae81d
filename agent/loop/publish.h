/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publish: what the agent knows becomes a view, stage by stage. A stage fills in its own members of
 * the view, and may read those of the stages before it. After the last one the view
 * is const.
 * Thread: the loop's.
 */
#pragma once

#include "rna/model/view.h"

#include "bandwidth/measuring.h"
#include "baseline/baseline.h"
#include "health/health.h"
#include "memory/memory.h"
#include "node/node.h"
#include "probe/probing.h"
#include "selftest/selftest_schedule.h"

#include "schedule.h"

/* What a view is made of. NULL: the members that come from it stay empty. */
struct rna_publish_input {
	struct rna_time time;
	const struct rna_schedule *schedule;
	const struct rna_agent_status
		*status;               /* copied, but for the counts that are the schedule's */
	struct rna_selftest *selftest; /* NULL: nothing is tested */
	struct rna_probing *probing;   /* NULL: nothing is probed */
	const struct rna_probe_memory *probes; /* what was probed before; may be NULL */
	struct rna_measuring *measuring;       /* NULL: no bandwidth is measured */
	struct rna_memory *memory;             /* it learns from the view; may be NULL */
	struct rna_node *node;                 /* NULL: Kubernetes is not used */
	struct rna_health *health;             /* it learns from the view; may be NULL */
	const struct rna_baseline *baseline;   /* NULL: nothing is expected by a profile */
};

struct rna_publish_stage {
	const char *name;
	/* 0, or -ENOMEM: there is no view, then. What a view can do without is left out instead. */
	int (*fill_in)(const struct rna_publish_input *in, struct rna_view *view);
};

enum { RNA_PUBLISH_STAGES = 12 };
extern const struct rna_publish_stage rna_publish_stages[RNA_PUBLISH_STAGES]; /* in their order */

/* Runs all stages. The caller unrefs the view. NULL: no memory. */
const struct rna_view *rna_publish(const struct rna_publish_input *in);
