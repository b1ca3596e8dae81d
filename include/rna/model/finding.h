/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings: what is wrong on this node, in words. Rules (agent/rules/rules.c) find, health
 * (agent/rules/health.c) remembers: since when, and whether it has lasted long enough to be said.
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

struct rna_finding {
	const char *rule; /* "port-down": of the table, static */
	enum rna_severity severity;
	/*
	 * In a silence window (health.silence): shown to who looks, marked as such, but neither in
	 * metrics nor in the journal, and of no consequence for the exit code of check.
	 */
	bool silenced;
	const char *device; /* name; NULL: the node as a whole */
	unsigned port;      /* 0: the device as a whole */
	struct rna_time since;
	const char *text;   /* a sentence, the object in front: "mlx5_3/1: down, though ..." */
	const char *remedy; /* what to do, a sentence */
};

/* Findings in the order in which they are told: worst first, then by device, port and rule. */
int rna_finding_compare(const struct rna_finding *a, const struct rna_finding *b);

/* How many count: of that severity and not silenced. */
size_t rna_finding_count(const struct rna_finding *findings, size_t count,
			 enum rna_severity severity);
