// SPDX-License-Identifier: Apache-2.0
#include "tries.h"

#include <netinet/in.h>
#include <string.h>

/* By kind. */
static const struct rna_rate_limit limits[] = {
	[RNA_TRY_LOOK] = {RNA_USEC_PER_SEC, 100},
	[RNA_TRY_HASH] = {10 * RNA_USEC_PER_SEC, 10},
};

/*
 * Of hashes, for all names from an address: else new names would keep a CPU busy. What is
 * remembered stays possible.
 */
static const struct rna_rate_limit all_names = {RNA_USEC_PER_SEC, 100};

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

struct rna_address rna_address_of(const struct sockaddr *address)
{
	enum { NETWORK = 8 }; /* bytes of a /64 */
	struct rna_address ret = {0};

	if (address && address->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;

		ret.bytes[10] = ret.bytes[11] = 0xff; /* as a socket of both families has it */
		memcpy(ret.bytes + 12, &v4->sin_addr, sizeof(v4->sin_addr));
		if (ret.bytes[12] == IN_LOOPBACKNET) /* a client may choose any of them */
			memcpy(ret.bytes + 13, (const unsigned char[]){0, 0, 1}, 3);
	} else if (address && address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;

		memcpy(ret.bytes, &v6->sin6_addr,
		       IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) ? sizeof(ret.bytes) : NETWORK);
	}
	return ret;
}

bool rna_address_is_same(const struct rna_address *a, const struct rna_address *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static struct rna_bucket *find(struct rna_tries *tries, const struct rna_client *client,
			       enum rna_try kind)
{
	for (size_t i = 0; i < RNA_TRIES_KEPT; i++)
		if (tries->entries[i].kind == kind &&
		    memcmp(&tries->entries[i].client, client, sizeof(*client)) == 0)
			return &tries->entries[i].bucket;
	return NULL;
}

/* In the place of the one that has the most left. */
static struct rna_bucket *add(struct rna_tries *tries, const struct rna_client *client,
			      enum rna_try kind)
{
	size_t best = 0;

	for (size_t i = 1; i < RNA_TRIES_KEPT; i++)
		if (tries->entries[i].bucket.full < tries->entries[best].bucket.full)
			best = i;
	tries->entries[best].client = *client;
	tries->entries[best].kind = kind;
	tries->entries[best].bucket = (struct rna_bucket){0};
	return &tries->entries[best].bucket;
}

static bool take(struct rna_tries *tries, const struct rna_client *client, enum rna_try kind,
		 const struct rna_rate_limit *limit, rna_usec now, rna_usec *ret_wait)
{
	struct rna_bucket *bucket = find(tries, client, kind);

	return rna_bucket_take(bucket ? bucket : add(tries, client, kind), limit, now, ret_wait);
}

static void give(struct rna_tries *tries, const struct rna_client *client, enum rna_try kind,
		 const struct rna_rate_limit *limit)
{
	struct rna_bucket *bucket = find(tries, client, kind);

	if (bucket)
		rna_bucket_give(bucket, limit);
}

bool rna_tries_take(struct rna_tries *tries, const struct rna_client *client, enum rna_try kind,
		    rna_usec now, rna_usec *ret_wait)
{
	const struct rna_client all = {.address = client->address};

	if (!take(tries, client, kind, &limits[kind], now, ret_wait))
		return false;
	if (kind != RNA_TRY_HASH || take(tries, &all, kind, &all_names, now, ret_wait))
		return true;
	give(tries, client, kind, &limits[kind]);
	return false;
}

void rna_tries_give(struct rna_tries *tries, const struct rna_client *client, enum rna_try kind)
{
	const struct rna_client all = {.address = client->address};

	give(tries, client, kind, &limits[kind]);
	if (kind == RNA_TRY_HASH)
		give(tries, &all, kind, &all_names);
}
