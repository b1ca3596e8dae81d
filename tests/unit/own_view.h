/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view is const to all who read it. A test has made its own view, and may change what is in it
 * before it shows it to anyone.
 */
#pragma once

#include <assert.h>
#include <stdint.h>

#include "rna/model/subject.h"

static inline struct rna_snapshot *own_snapshot(struct rna_view *view)
{
	return (struct rna_snapshot *)(uintptr_t)view->snapshot;
}

static inline struct rna_job_status *own_jobs(struct rna_view *view)
{
	return (struct rna_job_status *)(uintptr_t)view->jobs;
}

static inline struct rna_view_port *own_ports(struct rna_view *view)
{
	return (struct rna_view_port *)(uintptr_t)view->ports;
}

/* Yields the concrete part. */
static inline void *own_part(const struct rna_part *part)
{
	return (void *)(uintptr_t)part;
}

/* Joins the devices and ports of a view as it is now; those of before are left in its arena. */
static inline struct rna_view *joined_for(const struct rna_view *view, bool virtual_functions)
{
	struct rna_view *own = (void *)(uintptr_t)view;

	assert(rna_subjects_join(own, virtual_functions, NULL) == 0);
	return own;
}

static inline struct rna_view *joined(const struct rna_view *view)
{
	return joined_for(view, false);
}
