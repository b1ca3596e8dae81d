// SPDX-License-Identifier: Apache-2.0
#include "tries.h"

#include <netinet/in.h>
#include <string.h>

static const struct rna_pace pace = {10 * RNA_USEC_PER_SEC, 10};

struct rna_address rna_address_of(const struct sockaddr *address)
{
	enum { NETWORK = 8 }; /* bytes of a /64 */
	struct rna_address ret = {0};

	if (address && address->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;

		ret.bytes[10] = ret.bytes[11] = 0xff; /* as a socket of both families has it */
		memcpy(ret.bytes + 12, &v4->sin_addr, sizeof(v4->sin_addr));
	} else if (address && address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;

		memcpy(ret.bytes, &v6->sin6_addr,
		       IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) ? sizeof(ret.bytes) : NETWORK);
	}
	return ret;
}

static struct rna_bucket *find(struct rna_tries *tries, const struct rna_address *address)
{
	for (size_t i = 0; i < RNA_TRIES_ADDRESSES; i++)
		if (memcmp(&tries->entries[i].address, address, sizeof(*address)) == 0)
			return &tries->entries[i].bucket;
	return NULL;
}

/* In the place of the one that has the most left. */
static struct rna_bucket *add(struct rna_tries *tries, const struct rna_address *address)
{
	size_t best = 0;

	for (size_t i = 1; i < RNA_TRIES_ADDRESSES; i++)
		if (tries->entries[i].bucket.full < tries->entries[best].bucket.full)
			best = i;
	tries->entries[best].address = *address;
	tries->entries[best].bucket = (struct rna_bucket){0};
	return &tries->entries[best].bucket;
}

bool rna_tries_take(struct rna_tries *tries, const struct rna_address *address, rna_usec now,
		    rna_usec *ret_wait)
{
	struct rna_bucket *bucket = find(tries, address);

	return rna_bucket_take(bucket ? bucket : add(tries, address), &pace, now, ret_wait);
}

void rna_tries_give(struct rna_tries *tries, const struct rna_address *address)
{
	struct rna_bucket *bucket = find(tries, address);

	if (bucket)
		rna_bucket_give(bucket, &pace);
}
