/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Origins: why the agent read something. Events are only triggers: the agent then reads the object
 * itself, and the resulting part names the event.
 */
#pragma once

#include "rna/base/clock.h"

enum rna_source {
	RNA_SOURCE_POLL,      /* it was due, or depends on something that changed */
	RNA_SOURCE_RTNETLINK, /* a network interface or an address changed */
	RNA_SOURCE_UEVENT,    /* the kernel added, removed or renamed a device */
	RNA_SOURCE_KMSG,      /* the kernel wrote a message to its log */
	RNA_SOURCE_VERBS,     /* an asynchronous event of libibverbs (watch.verbs_events) */
	RNA_SOURCE_COUNTER,   /* no poll or event saw it; a counter of transitions rose */
	RNA_SOURCE_COUNT,
};

const char *rna_source_name(enum rna_source source); /* "poll", "rtnetlink", ...: a metric label */

struct rna_origin {
	enum rna_source source;
	rna_usec seen; /* monotonic time at which the event was received; 0 for polls */
};
