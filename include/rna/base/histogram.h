/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of durations. All histograms have the same bounds: 1 ms to 10 s, two per power of
 * ten. Thread: the owner's.
 */
#pragma once

#include "rna/base/clock.h"

enum { RNA_HISTOGRAM_BOUNDS = 9 };

/* Upper bounds, ascending. Longer durations are counted after the last one. */
extern const rna_usec rna_histogram_bounds[RNA_HISTOGRAM_BOUNDS];

struct rna_histogram {
	/* by the first bound that is not exceeded; not cumulative */
	uint64_t counts[RNA_HISTOGRAM_BOUNDS + 1];
	rna_usec sum;
};

void rna_histogram_add(struct rna_histogram *histogram, rna_usec duration);

/* Adds what other has counted. */
void rna_histogram_merge(struct rna_histogram *histogram, const struct rna_histogram *other);
