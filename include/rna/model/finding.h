/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings: problems of this node, in words. Rules (agent/rules/rules.c) detect them; health
 * (agent/health/health.c) keeps their start times and reports them after their delay.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/clock.h"
#include "rna/base/strbuf.h"

enum rna_severity {
	RNA_SEVERITY_INFO,
	RNA_SEVERITY_WARNING,
	RNA_SEVERITY_CRITICAL,
	RNA_SEVERITY_COUNT,
};

const char *rna_severity_name(enum rna_severity severity); /* "info", "warning", "critical" */

/* What a finding costs, worst first. */
enum rna_impact {
	RNA_IMPACT_NODE_LOST, /* the node has no RDMA at all */
	RNA_IMPACT_RAIL_LOST, /* a port or a device that applications cannot use */
	RNA_IMPACT_RAIL_SLOW,
	RNA_IMPACT_ERRORS, /* that applications do not see yet, or only as loss */
	RNA_IMPACT_HOST,   /* a setting of the host makes applications slow, or fail */
	RNA_IMPACT_FABRIC, /* what others than this node will feel, too */
	RNA_IMPACT_AGENT,  /* the agent sees, or knows, less than it should */
	RNA_IMPACT_COUNT,
};

/* "node-lost", "rail-lost", "rail-slow", "errors", "host-setting", "fabric", "agent" */
const char *rna_impact_name(enum rna_impact impact);

/* Where the cause of a finding lies, as far as this node can tell. */
enum rna_cause {
	RNA_CAUSE_CARD,     /* the adapter, its firmware and its PCIe link */
	RNA_CAUSE_HOST,     /* software and settings of this node */
	RNA_CAUSE_CABLE,    /* the cable with its modules, and the port at its other end */
	RNA_CAUSE_PLATFORM, /* board, firmware setup, hypervisor, software of the cluster */
	RNA_CAUSE_FABRIC,   /* switches, subnet manager, other nodes */
	RNA_CAUSE_JOB,      /* processes and containers that run on this node */
	RNA_CAUSE_COUNT,
};

const char *rna_cause_name(enum rna_cause cause); /* "card", "host", "cable", ... */

enum { RNA_TOLD_TEXT_MAX = 512 }; /* bytes: the kernel's line and what it means */

struct rna_finding {
	const char *rule; /* "port-down"; static, from the table */
	enum rna_severity severity;
	enum rna_impact impact;
	enum rna_cause cause;
	/*
	 * In a maintenance window (health.silence): shown as silenced, but excluded from metrics,
	 * the journal and the exit code of check.
	 */
	bool silenced;
	const char *device; /* name; NULL: concerns the node */
	unsigned port;      /* 0: concerns the device */
	/* Of a finding that several devices share: the others, by name. In the arena of the view.
	 */
	size_t other_count;
	const char *const *others;
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

/* Is it about the device, alone or with others? device: NULL: it is not. */
bool rna_finding_is_about(const struct rna_finding *finding, const char *device);

/*
 * The order of findings in outputs: what needs action before what is only information, then by
 * impact, severity, device, port and rule.
 */
int rna_finding_compare(const struct rna_finding *a, const struct rna_finding *b);

/* -- What follows from a finding --------------------------------------------------------------- */

/*
 * The state of the node, in the words of every output: exit code and word of check, sentence of the
 * page, health label. The numbers are the exit codes of monitoring plugins.
 */
enum rna_health_state {
	RNA_HEALTH_OK,
	RNA_HEALTH_WARNING,
	RNA_HEALTH_CRITICAL,
	RNA_HEALTH_UNKNOWN,
	RNA_HEALTH_STATE_COUNT,
};

const char *rna_health_state_name(enum rna_health_state state); /* "ok", "warning", ... */

/*
 * Critical with a critical finding; else unknown if nothing is seen; else warning with such a
 * finding. Silenced findings do not count.
 */
enum rna_health_state rna_health_state_of(const struct rna_finding *findings, size_t count,
					  bool blind);

/* The finding that goes before all others in that state, the first of findings in order; or NULL.
 */
const struct rna_finding *rna_finding_headline(const struct rna_finding *findings, size_t count,
					       enum rna_health_state state);

/* Which findings take a node, or a device, from its users (kubernetes.taint_when). */
enum rna_taint_when {
	RNA_TAINT_WHEN_NODE_LOST,
	RNA_TAINT_WHEN_CRITICAL,
	RNA_TAINT_WHEN_WARNING,
	RNA_TAINT_WHEN_COUNT,
};

/*
 * Does the finding take the node from its users: by a drain of a scheduler
 * (RNA_TAINT_WHEN_CRITICAL), by a taint? Only if its cause lies in this node: no subnet manager, no
 * leaf and no job does, nor what the agent does not see.
 */
bool rna_finding_takes_node(const struct rna_finding *finding, enum rna_taint_when when);

/* The level of the journal at which such a finding is reported: LOG_ERR, LOG_WARNING, LOG_INFO. */
int rna_severity_level(enum rna_severity severity);

/* The table of all this for the command describe. */
void rna_consequences_describe(struct rna_strbuf *out);

/* The number of findings of that severity that are not silenced. */
size_t rna_finding_count(const struct rna_finding *findings, size_t count,
			 enum rna_severity severity);
