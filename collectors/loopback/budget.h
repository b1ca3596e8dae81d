/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The budget of a loopback test: how many bytes it may write, and when the last of them has to be
 * complete, counted from the first write.
 *
 * The test must also end in time on slow ports, and every posted write must be awaited. So it
 * begins with one write, and then posts only writes that will complete in time at the rate measured
 * so far. Pure arithmetic: time is an argument.
 */
#pragma once

#include "rna/model/loopback.h"

enum {
	RNA_LOOPBACK_SMALL = 8,           /* bytes of an inline write */
	RNA_LOOPBACK_LATENCY_WARM_UP = 16 /* rounds that are not counted */
};

struct rna_loopback_budget {
	uint64_t writes;   /* for bandwidth, including the warm-up; at least two */
	uint64_t warm_up;  /* of these, maximum for the warm-up */
	uint64_t rounds;   /* small writes for latency; 0: the budget has no bytes left for them */
	rna_usec batch;    /* maximum time of one batch */
	rna_usec warm;     /* deadline of the warm-up */
	rna_usec measured; /* deadline of all bandwidth writes */
	rna_usec end;      /* deadline of the latency rounds */
};

bool rna_loopback_request_is_valid(const struct rna_loopback_request *request);

/* The budget of a valid request whose first write is posted now. */
struct rna_loopback_budget rna_loopback_budget(const struct rna_loopback_request *request,
					       rna_usec now);

/*
 * The number of further writes that will complete in the time left, given the writes completed in
 * the time spent and those under way.
 */
uint64_t rna_loopback_room(uint64_t complete, uint64_t under_way, rna_usec spent, rna_usec left);
