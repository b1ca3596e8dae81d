/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Token buckets: so many things at once, then one each interval. A bucket is one number, the time
 * at which it will be full again.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/clock.h"

struct rna_bucket {
	rna_usec full; /* 0: it is */
};

struct rna_rate_limit {
	rna_usec interval;
	unsigned burst; /* 1 or more */
};

/* Takes one out. false: there is none, and *ret_wait says in how long there will be. */
bool rna_bucket_take(struct rna_bucket *bucket, const struct rna_rate_limit *limit, rna_usec now,
		     rna_usec *ret_wait);
/* Puts one back. */
void rna_bucket_give(struct rna_bucket *bucket, const struct rna_rate_limit *limit);
