// SPDX-License-Identifier: Apache-2.0
#include "rna/base/clock.h"

#include <time.h>

static rna_usec read_clock(clockid_t id)
{
	struct timespec now;

	(void)clock_gettime(id, &now); /* cannot fail for these two clocks */
	return (rna_usec)now.tv_sec * RNA_USEC_PER_SEC + (rna_usec)now.tv_nsec / 1000;
}

rna_usec rna_clock_monotonic(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

struct rna_time rna_clock_now(void)
{
	return (struct rna_time){
		.monotonic = read_clock(CLOCK_MONOTONIC),
		.realtime = read_clock(CLOCK_REALTIME),
	};
}
