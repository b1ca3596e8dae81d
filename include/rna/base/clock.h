/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time. Functions that judge or schedule take the time as an argument; only agent/loop/agent.c and
 * the lanes read a clock. All times are in microseconds, as in sd-event.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t rna_usec;

#define RNA_USEC_PER_MSEC ((rna_usec)1000)
#define RNA_USEC_PER_SEC  ((rna_usec)1000000)
#define RNA_USEC_NEVER    UINT64_MAX

/*
 * One moment on both clocks: ages are computed from monotonic, outputs show realtime. A moment of
 * an earlier boot has no monotonic time: it is 0.
 */
struct rna_time {
	rna_usec monotonic; /* CLOCK_MONOTONIC */
	rna_usec realtime;  /* CLOCK_REALTIME, since the epoch */
};

rna_usec rna_clock_monotonic(void);
struct rna_time rna_clock_now(void);

enum { RNA_BOOT_SIZE = 64 };

/* The kernel's id of this boot, which began the monotonic clock. "": unknown. */
void rna_clock_boot(char ret[RNA_BOOT_SIZE]);

/* Are both the id of one known boot? */
bool rna_clock_same_boot(const char *a, const char *b);

static inline double rna_seconds(rna_usec usec)
{
	return (double)usec / (double)RNA_USEC_PER_SEC;
}

/* later - earlier, or 0 if later is not after earlier. */
static inline rna_usec rna_usec_since(rna_usec earlier, rna_usec later)
{
	return later > earlier ? later - earlier : 0;
}

/* How long ago a moment was; of an earlier boot by realtime, which is 0 if that clock was set back.
 */
static inline rna_usec rna_time_since(struct rna_time moment, struct rna_time now)
{
	return moment.monotonic ? rna_usec_since(moment.monotonic, now.monotonic)
				: rna_usec_since(moment.realtime, now.realtime);
}
