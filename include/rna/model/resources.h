/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who uses a device: how many RDMA objects there are on it. The kernel counts them (restrack), and
 * the driver is not asked.
 *
 * The kernel has objects of its own: queue pairs for management, IPoIB, storage. What they come to
 * is seen whenever no application has the device open, and is remembered for the time when one has.
 * Sources: drivers/infiniband/core/nldev.c, restrack.c; rdma-resource(8), rdma-statistic(8).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/model/part.h"
#include "rna/model/value.h"

enum rna_resource {
	RNA_RESOURCE_PD,
	RNA_RESOURCE_CQ,
	RNA_RESOURCE_QP,
	RNA_RESOURCE_CM_ID,
	RNA_RESOURCE_MR,
	RNA_RESOURCE_CTX, /* open contexts: of user space only */
	RNA_RESOURCE_SRQ,
	RNA_RESOURCE_COUNT,
};

const char *rna_resource_name(enum rna_resource resource); /* "pd", as the kernel names it */

/* Absent: the kernel does not count them. */
struct rna_resource_counts {
	struct rna_value of[RNA_RESOURCE_COUNT];
	/* Of the contexts, those of this process, the agent's; absent before Linux 5.13. */
	struct rna_value own_contexts;
};

/* A counter that is counted only when somebody has turned it on: rdma statistic set. */
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
	/* When no application had the device open last; absent: that was not seen yet. */
	struct rna_value idle[RNA_RESOURCE_COUNT];
	size_t port_count; /* 0: nobody wants to know of optional counters */
	const struct rna_port_optional_counters *ports; /* ascending by number */
	/* The collector's own: monotonic; the kernel does not know the question, and is left alone.
	 */
	rna_usec retry;
};

/* Contexts that others than the agent have open; absent where contexts are not counted. */
struct rna_value rna_resources_users(const struct rna_resource_counts *counts);
