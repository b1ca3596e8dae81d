/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transitions: a port went up or down. Up means ACTIVE or ACTIVE_DEFER, as in rdma_port_up. The
 * agent combines polls, events and the counts of kernel and hardware (carrier changes,
 * link_downed), so that a flap between two reads is counted exactly once.
 */
#pragma once

#include <stdbool.h>

#include "rna/model/origin.h"

enum { RNA_TRANSITIONS_KEPT = 64 }; /* that are shown; on the disk there are more */

struct rna_transition {
	uint64_t sequence; /* 1 for the first that the state directory has */
	struct rna_time time;
	const char *device; /* its name then */
	unsigned port;
	const char *netdev; /* NULL: none */
	bool up;
	enum rna_source source; /* source that showed it first */
	uint64_t count;     /* number of equal transitions; above 1 only for RNA_SOURCE_COUNTER */
	const char *reason; /* "physical state Disabled", "interface eth0 has no carrier", ... */
};

/* Transitions of one port since the agent started; kept over driver reloads. */
struct rna_port_history {
	uint64_t ups;
	uint64_t downs;
	struct rna_time last; /* time of the newest transition; 0: none */
};
