/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often an address may try to log in: ten times, then once in ten seconds. Addresses of IPv6
 * count by their /64, which one machine can have all of.
 */
#pragma once

#include <sys/socket.h>

#include "bucket.h"

enum { RNA_TRIES_ADDRESSES = 256 }; /* that are remembered; those that tried longest ago give way */

struct rna_address {
	unsigned char bytes[16];
};

struct rna_tries {
	struct {
		struct rna_address address;
		struct rna_bucket bucket;
	} entries[RNA_TRIES_ADDRESSES];
};

/* Of a client; NULL, and what is no IP address, is one address for all. */
struct rna_address rna_address_of(const struct sockaddr *address);

/* One try. false: too many, and *ret_wait says for how long. */
bool rna_tries_take(struct rna_tries *tries, const struct rna_address *address, rna_usec now,
		    rna_usec *ret_wait);
/* It was none: the password was right. */
void rna_tries_give(struct rna_tries *tries, const struct rna_address *address);
