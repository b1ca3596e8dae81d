/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traffic of a port by its counters, which shows whether an application uses it. Thread: any; pure.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/clock.h"
#include "rna/model/counter.h"

struct rna_snapshot_device;

/* A counter that rises with traffic. */
struct rna_activity {
	enum rna_counter_place place;
	const char *file;
	unsigned bytes; /* bytes per unit of the counter */
};

enum { RNA_ACTIVITY_COUNT = 18 };

/* Byte counters of the port where its driver has them, otherwise packet counters. */
extern const struct rna_activity rna_activities[RNA_ACTIVITY_COUNT];

/*
 * Bytes received and sent by a port since an arbitrary moment. *ret_taken: monotonic time of the
 * read, the oldest if several parts contribute. False: no counter of traffic was read.
 */
bool rna_activity_sum(const struct rna_snapshot_device *device, unsigned port, uint64_t *ret_bytes,
		      rna_usec *ret_taken);
