/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What moves over a port, as its counters tell: whether somebody works there.
 * Thread: any; pure.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/clock.h"
#include "rna/model/counter.h"

struct rna_snapshot_device;

/* A counter that grows with what moves. */
struct rna_activity {
	enum rna_counter_place place;
	const char *file;
	unsigned bytes; /* that one more of it stands for */
};

enum { RNA_ACTIVITY_COUNT = 10 };

/* Bytes of the port where its driver counts them, packets elsewhere. */
extern const struct rna_activity rna_activities[RNA_ACTIVITY_COUNT];

/*
 * Bytes in and out of a port since some time in the past. taken: when they were read, monotonic; of
 * several parts the oldest. False: nothing that was read counts them.
 */
bool rna_activity_sum(const struct rna_snapshot_device *device, unsigned port, uint64_t *ret_bytes,
		      rna_usec *ret_taken);
