/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The budget of a loopback test: how many bytes it may write, and when the last of them has to be
 * complete, counted from the first write.
 *
 * Slow ports are what a test is made to find, and what is posted has to be waited for. So it begins
 * with one write, and from then on nothing is posted that would not be complete in time at the rate
 * at which it has gone so far. Arithmetic alone: time is an argument.
 */
#pragma once

#include "rna/model/loopback.h"

enum {
	RNA_LOOPBACK_SMALL = 8,           /* bytes of a write that goes inline */
	RNA_LOOPBACK_LATENCY_WARM_UP = 16 /* rounds before those that count */
};

struct rna_loopback_budget {
	uint64_t writes;   /* for bandwidth, those of the warm-up among them; two at least */
	uint64_t warm_up;  /* how many of them at most */
	uint64_t rounds;   /* then small writes for latency; 0: there are no bytes for them */
	rna_usec batch;    /* how long one batch may take */
	rna_usec warm;     /* when the writes of the warm-up have to be complete */
	rna_usec measured; /* and all those for bandwidth */
	rna_usec end;      /* and the small ones */
};

/* Of a request that makes sense, whose first write is posted now. */
struct rna_loopback_budget rna_loopback_budget(const struct rna_loopback_request *request,
					       rna_usec now);

/*
 * How many more writes may be posted, when so many were complete in the time spent so far and so
 * many are under way, to be complete in the time that is left.
 */
uint64_t rna_loopback_room(uint64_t complete, uint64_t under_way, rna_usec spent, rna_usec left);
