/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes: what happened, as the agent recorded it at that time. A port went up or down; a finding
 * was raised, changed or resolved; the agent began or ended to look, or got other settings. The
 * command events shows them.
 */
#pragma once

#include <stdbool.h>

#include "rna/model/finding.h"
#include "rna/model/part.h"

/* Each kind has room of its own, so that no kind can displace another. */
enum rna_change_kind {
	RNA_CHANGE_OF_PORT,
	RNA_CHANGE_OF_FINDING,
	RNA_CHANGE_OF_AGENT,
	RNA_CHANGE_KIND_COUNT,
};

const char *rna_change_kind_name(enum rna_change_kind kind); /* "port", "finding", "agent" */

/*
 * Ports: a transition. Up means ACTIVE or ACTIVE_DEFER, as in rdma_port_up. The agent combines
 * polls, events and the counts of kernel and hardware (carrier changes, link_downed), so that a
 * flap between two reads is counted exactly once.
 */
enum rna_change_what {
	RNA_CHANGE_DOWN,
	RNA_CHANGE_UP,
	RNA_CHANGE_RAISED,  /* a finding */
	RNA_CHANGE_ALTERED, /* the severity of a finding */
	RNA_CHANGE_RESOLVED,
	RNA_CHANGE_STARTED, /* the agent; without STOPPED before it, it was killed or crashed */
	RNA_CHANGE_STOPPED,
	RNA_CHANGE_RELOADED, /* the configuration */
	RNA_CHANGE_REFUSED,  /* likewise: the old settings stayed */
	RNA_CHANGE_ACCEPTED, /* by "expect accept" */
	RNA_CHANGE_COUNT,
};

const char *rna_change_name(enum rna_change_what what); /* "down", "up", "raised", ... */

static inline enum rna_change_kind rna_change_kind_of(enum rna_change_what what)
{
	if (what <= RNA_CHANGE_UP)
		return RNA_CHANGE_OF_PORT;
	return what <= RNA_CHANGE_RESOLVED ? RNA_CHANGE_OF_FINDING : RNA_CHANGE_OF_AGENT;
}

enum { RNA_CHANGES_SHOWN = 64 }; /* of each kind; on the disk there are more */

struct rna_change {
	uint64_t sequence; /* 1 for the first that the state directory has; of all kinds */
	struct rna_time time;
	enum rna_change_what what;
	const char *device; /* its name then; NULL: concerns the node, or the agent */
	unsigned port;      /* 0: concerns the device */
	/*
	 * Why a port changed ("physical state Disabled"); the text of a finding at that time; the
	 * version of an agent that starts, what ended it, why its configuration was refused.
	 */
	const char *text;
	/* Of a port: */
	const char *netdev;     /* NULL: none */
	enum rna_source source; /* source that showed it first */
	uint64_t count; /* number of equal transitions; above 1 only for RNA_SOURCE_COUNTER */
	/* Of a finding: */
	const char *rule; /* the version that recorded it may have had others than this one */
	enum rna_severity severity;
	enum rna_impact impact;
	enum rna_cause cause;
	rna_usec since; /* realtime; when the problem began, its hold-down included */
};

/* Transitions of one port since the agent started; kept over driver reloads. */
struct rna_port_history {
	uint64_t ups;
	uint64_t downs;
	struct rna_time last; /* time of the newest transition; 0: none */
};
