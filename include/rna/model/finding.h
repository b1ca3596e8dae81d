/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings: problems of this node, in words. Rules (agent/rules/rules.c) detect them; health
 * (agent/health/health.c) keeps their start times and reports them after their delay.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/clock.h"

enum rna_severity {
	RNA_SEVERITY_INFO,
	RNA_SEVERITY_WARNING,
	RNA_SEVERITY_CRITICAL,
	RNA_SEVERITY_COUNT,
};

const char *rna_severity_name(enum rna_severity severity); /* "info", "warning", "critical" */

enum { RNA_TOLD_TEXT_MAX = 512 }; /* bytes: the kernel's line and what it means */

struct rna_finding {
	const char *rule; /* "port-down"; static, from the table */
	enum rna_severity severity;
	/*
	 * In a maintenance window (health.silence): shown as silenced, but excluded from metrics,
	 * the journal and the exit code of check.
	 */
	bool silenced;
	const char *device; /* name; NULL: concerns the node */
	unsigned port;      /* 0: concerns the device */
	struct rna_time since;
	const char *text; /* a sentence, the object in front: "mlx5_3/1: down, though ..." */
	/*
	 * The text as it was when the finding was reported or got worse, for labels, which must not
	 * change with each number in it; cut to RNA_TOLD_TEXT_MAX. NULL: it was not reported yet.
	 */
	const char *told_text;
	const char *remedy; /* what to do; a sentence */
	/* The name of the runbook about it, which the agent serves at /runbooks/NAME; NULL: none */
	const char *runbook;
};

/* The order of findings in outputs: worst first, then by device, port and rule. */
int rna_finding_compare(const struct rna_finding *a, const struct rna_finding *b);

/* The number of findings of that severity that are not silenced. */
size_t rna_finding_count(const struct rna_finding *findings, size_t count,
			 enum rna_severity severity);
