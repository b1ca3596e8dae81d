// SPDX-License-Identifier: Apache-2.0
#include "bucket.h"

bool rna_bucket_take(struct rna_bucket *bucket, const struct rna_rate_limit *limit, rna_usec now,
		     rna_usec *ret_wait)
{
	rna_usec full = (bucket->full > now ? bucket->full : now) + limit->interval;

	*ret_wait = rna_usec_since(now + limit->burst * limit->interval, full);
	if (*ret_wait > 0)
		return false;
	bucket->full = full;
	return true;
}

void rna_bucket_give(struct rna_bucket *bucket, const struct rna_rate_limit *limit)
{
	bucket->full = rna_usec_since(limit->interval, bucket->full);
}
