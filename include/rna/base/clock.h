/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time. Functions that judge or schedule take the time as an argument; only agent/loop/agent.c and
 * the lanes read a clock. All times are in microseconds, as in sd-event.
 */
#pragma once

#include <stdint.h>

typedef uint64_t rna_usec;

#define RNA_USEC_PER_MSEC ((rna_usec)1000)
#define RNA_USEC_PER_SEC  ((rna_usec)1000000)
#define RNA_USEC_NEVER    UINT64_MAX

/* One moment on both clocks: ages are computed from monotonic, outputs show realtime. */
struct rna_time {
	rna_usec monotonic; /* CLOCK_MONOTONIC */
	rna_usec realtime;  /* CLOCK_REALTIME, since the epoch */
};

rna_usec rna_clock_monotonic(void);
struct rna_time rna_clock_now(void);

static inline double rna_seconds(rna_usec usec)
{
	return (double)usec / (double)RNA_USEC_PER_SEC;
}

/* later - earlier, or 0 if later is not after earlier. */
static inline rna_usec rna_usec_since(rna_usec earlier, rna_usec later)
{
	return later > earlier ? later - earlier : 0;
}
