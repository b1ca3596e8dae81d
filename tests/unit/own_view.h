/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view is const to all who read it. A test has made its own view, and may change what is in it
 * before it shows it to anyone.
 */
#pragma once

#include <stdint.h>

#include "rna/model/view.h"

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
