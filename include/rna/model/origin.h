/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Origins: what made the agent read something. Events are triggers only; what they are about is
 * read afresh, and the part that comes of it says which event that was.
 */
#pragma once

#include "rna/base/clock.h"

enum rna_source {
	RNA_SOURCE_POLL,      /* it was due, or follows from something else that changed */
	RNA_SOURCE_RTNETLINK, /* a network interface or an address changed */
	RNA_SOURCE_UEVENT,    /* the kernel added, removed or renamed a device */
	RNA_SOURCE_VERBS,     /* an asynchronous event of libibverbs (watch.verbs_events) */
	RNA_SOURCE_COUNTER,   /* nobody saw it; a counter of transitions tells afterwards */
	RNA_SOURCE_COUNT,
};

const char *rna_source_name(enum rna_source source); /* "poll", "rtnetlink", ...: a metric label */

struct rna_origin {
	enum rna_source source;
	rna_usec seen; /* monotonic time at which the event was received; 0 for polls */
};
