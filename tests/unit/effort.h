/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of inputs that grow. What is read in linear time takes a fraction of a second at its limit,
 * also with sanitizers; what is quadratic takes minutes. The bound lies between the two, far from
 * both, and processor time does not depend on what else the machine does.
 */
#pragma once

#include <time.h>

#define EFFORT_MOST 20.0 /* seconds */

/* Processor time of this thread so far, in seconds. */
static inline double effort(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#define assert_little_effort(since) assert_true(effort() - (since) < EFFORT_MOST)
