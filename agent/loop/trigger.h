/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triggers: an event marks the slots to read again; rna_schedule_read_triggered() reads them. It
 * is cheap to trigger: a storm does so thousands of times before anything is read.
 * Thread: the loop's.
 */
#pragma once

#include "schedule.h"

struct rna_trigger {
	struct rna_origin origin;
	unsigned collectors; /* bit set: what it is about */
	unsigned later;      /* bit set: what changes later in the kernel, or is less urgent */
	const char *device;  /* name; NULL: any */
	unsigned ifindex;    /* of an interface that serves the device; 0: any */
};

/* Does it concern a target that has one of these collectors? If so, those are marked. */
bool rna_trigger(struct rna_schedule *schedule, const struct rna_trigger *trigger);
