// SPDX-License-Identifier: Apache-2.0
#include "rna/base/histogram.h"

#define MSEC RNA_USEC_PER_MSEC
#define SEC  RNA_USEC_PER_SEC

const rna_usec rna_histogram_bounds[RNA_HISTOGRAM_BOUNDS] = {
	1 * MSEC,   5 * MSEC, 10 * MSEC, 50 * MSEC, 100 * MSEC,
	500 * MSEC, 1 * SEC,  5 * SEC,   10 * SEC,
};

void rna_histogram_add(struct rna_histogram *histogram, rna_usec duration)
{
	unsigned i = 0;

	while (i < RNA_HISTOGRAM_BOUNDS && duration > rna_histogram_bounds[i])
		i++;
	histogram->counts[i]++;
	histogram->sum += duration;
}

void rna_histogram_merge(struct rna_histogram *histogram, const struct rna_histogram *other)
{
	for (unsigned i = 0; i <= RNA_HISTOGRAM_BOUNDS; i++)
		histogram->counts[i] += other->counts[i];
	histogram->sum += other->sum;
}
