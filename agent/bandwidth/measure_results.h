/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered of the tests of each port, and the part that views show. Thread: the loop's.
 */
#pragma once

#include "rna/model/bandwidths.h"

#include "probe/pairs.h"

struct rna_measure_memory {
	size_t count;
	struct rna_bandwidth_port ports[RNA_PROBING_PORTS_MAX]; /* by device, then port */
};

/* A test is over. A port beyond the limit is not remembered. */
void rna_measure_remember(struct rna_measure_memory *memory, const struct rna_bandwidth_test *test);

/* problem: why this node does not listen; "": it does. NULL: no memory. */
struct rna_bandwidths *rna_measure_results(const struct rna_measure_memory *memory,
					   unsigned tcp_port, const char *problem,
					   uint64_t strangers);
