/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often a client may try to log in. A client is an address and a user name: behind a proxy all
 * clients have one address, and one that tries a wrong name must not lock the others out. Addresses
 * of IPv6 count by their /64, which one machine can have all of, and 127.0.0.0/8 is one address.
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

#include "rna/base/clock.h"

/* A token bucket: so many things at once, then one each interval. */
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

enum {
	RNA_TRIES_KEPT = 1024, /* entries; those that are allowed most give way */
	RNA_TRIES_USER = 16,   /* bytes */
};

struct rna_address {
	unsigned char bytes[16];
};

struct rna_client {
	struct rna_address address;
	unsigned char user[RNA_TRIES_USER]; /* a digest of the name */
};

enum rna_try {
	RNA_TRY_LOOK, /* compared with what is remembered: 100 times, then once a second */
	RNA_TRY_HASH, /* hashed: 10 times, then once in ten seconds; of an address 100, as above */
};

struct rna_tries {
	struct {
		struct rna_client client; /* the address alone: without a user */
		enum rna_try kind;
		struct rna_bucket bucket;
	} entries[RNA_TRIES_KEPT];
};

/* Of a client; NULL, and what is no IP address, is one address for all. */
struct rna_address rna_address_of(const struct sockaddr *address);
bool rna_address_is_same(const struct rna_address *a, const struct rna_address *b);

/* One try. false: too many, and *ret_wait says for how long. */
bool rna_tries_take(struct rna_tries *tries, const struct rna_client *client, enum rna_try kind,
		    rna_usec now, rna_usec *ret_wait);
/* It does not count: the password was right, or was not compared. */
void rna_tries_give(struct rna_tries *tries, const struct rna_client *client, enum rna_try kind);
