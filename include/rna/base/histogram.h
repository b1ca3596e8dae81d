/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of durations, with the same bounds everywhere: 1 ms to 10 s, three or four of them
 * to a power of ten.
 * Thread: the owner's.
 */
#pragma once

#include "rna/base/clock.h"

enum { RNA_HISTOGRAM_BOUNDS = 13 };

/* Upper bounds, ascending; what is above the last counts as well. */
extern const rna_usec rna_histogram_bounds[RNA_HISTOGRAM_BOUNDS];

struct rna_histogram {
	uint64_t counts[RNA_HISTOGRAM_BOUNDS + 1]; /* by the first bound that holds; no sums */
	rna_usec sum;
};

void rna_histogram_add(struct rna_histogram *histogram, rna_usec duration);
