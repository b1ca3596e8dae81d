/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publish: the newest parts of all slots become an immutable view.
 * Thread: the loop's.
 */
#pragma once

#include "rna/model/view.h"

#include "schedule.h"

/*
 * A view of what the schedule holds at time. status is copied; its counts of lanes and sources
 * are filled in here. Parts older than three of their periods are left out. NULL: no memory.
 */
struct rna_view *rna_publish(const struct rna_schedule *schedule,
			     const struct rna_agent_status *status, struct rna_time time);
