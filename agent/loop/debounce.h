/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debounce: news comes in bursts, and what it is about should be read once, soon after the burst,
 * and not too late if it does not end.
 */
#pragma once

#include "rna/base/clock.h"

struct rna_debounce {
	rna_usec first; /* monotonic time of the first news that waits; 0: none does */
};

/* There is news. When to act: quiet after the last, but not later than longest after the first. */
static inline rna_usec rna_debounce_add(struct rna_debounce *debounce, rna_usec quiet,
					rna_usec longest, rna_usec now)
{
	if (debounce->first == 0)
		debounce->first = now;
	return now + quiet < debounce->first + longest ? now + quiet : debounce->first + longest;
}

/* It is acted upon. */
static inline void rna_debounce_reset(struct rna_debounce *debounce)
{
	debounce->first = 0;
}
