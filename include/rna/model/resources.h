/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The number of RDMA objects on a device, which shows whether it is in use. The kernel counts them
 * (restrack); the driver is not involved.
 *
 * The kernel has objects of its own: queue pairs for management, IPoIB, storage. The agent counts
 * them whenever no application has the device open and keeps these counts while one has. Sources:
 * drivers/infiniband/core/nldev.c, restrack.c; rdma-resource(8), rdma-statistic(8).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/model/part.h"
#include "rna/model/users.h"
#include "rna/model/value.h"

enum rna_resource {
	RNA_RESOURCE_PD,
	RNA_RESOURCE_CQ,
	RNA_RESOURCE_QP,
	RNA_RESOURCE_CM_ID,
	RNA_RESOURCE_MR,
	RNA_RESOURCE_CTX, /* open contexts: of user space only */
	RNA_RESOURCE_SRQ,
	RNA_RESOURCE_COMP_CNTR, /* completion counters; seen in Linux 7.3, not in 6.12 */
	RNA_RESOURCE_COUNT,
};

const char *rna_resource_name(enum rna_resource resource); /* "pd", as the kernel names it */

/* Absent: the kernel does not count them. */
struct rna_resource_counts {
	struct rna_value of[RNA_RESOURCE_COUNT];
	/* Contexts of the agent and of its children; absent before Linux 5.13. */
	struct rna_value own_contexts;
};

/* A counter that is off until the administrator enables it: rdma statistic set. */
struct rna_optional_counter {
	const char *name;
	bool enabled;
};

struct rna_port_optional_counters {
	unsigned number;
	size_t count;
	const struct rna_optional_counter *items; /* in the driver's order */
};

struct rna_resources {
	struct rna_part part;
	struct rna_resource_counts now;
	const struct rna_users *users; /* NULL: not known, because the kernel does not name them */
	/* Counts at the last time when no application had the device open; absent: not yet. */
	struct rna_value idle[RNA_RESOURCE_COUNT];
	size_t port_count;                              /* 0: optional counters are not read */
	const struct rna_port_optional_counters *ports; /* ascending by number */
	/*
	 * For the collector only: monotonic time before which it does not repeat a query that the
	 * kernel does not support.
	 */
	rna_usec retry;
};

/* Contexts that other processes than the agent have open; absent if contexts are not counted. */
struct rna_value rna_resources_users(const struct rna_resource_counts *counts);
