/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings: what is wrong on this node, in words. Rules (agent/rules.c) find, health
 * (agent/health.c) remembers: since when, and whether it has lasted long enough to be said.
 */
#pragma once

#include "rna/clock.h"

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
	const char *device; /* name; NULL: the node as a whole */
	unsigned port;      /* 0: the device as a whole */
	struct rna_time since;
	const char
		*text; /* a sentence, the object in front: "mlx5_3/1: down since ..., though ..." */
	const char *remedy; /* what to do, a sentence */
};
