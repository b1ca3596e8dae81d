/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transitions: a port went up or down. Up means what rdma_port_up means: ACTIVE (or
 * ACTIVE_DEFER). They are merged from what polls and events show and from the counts that the
 * kernel and the hardware keep (carrier changes, link_downed), so that a flap between two looks
 * is counted once and never missed.
 */
#pragma once

#include <stdbool.h>

#include "rna/model/origin.h"

enum { RNA_TRANSITIONS_KEPT = 64 }; /* per node */

struct rna_transition {
	uint64_t sequence; /* 1 for the first since the agent started */
	struct rna_time time;
	const char *device; /* name at that moment */
	unsigned port;
	const char *netdev; /* NULL: none */
	bool up;
	enum rna_source source; /* who said it first */
	uint64_t count;         /* how many alike: more than one only for RNA_SOURCE_COUNTER */
	const char *reason; /* "physical state Disabled", "interface eth0 has no carrier", ... */
};

/* What is remembered of one port since the agent started; it outlives reloads of the driver. */
struct rna_port_history {
	uint64_t ups;
	uint64_t downs;
	struct rna_time last; /* of the newest transition; 0: none */
};
