/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members by DNS: the addresses of a name (A, or AAAA where it has no A), or the hosts and ports of
 * a service (SRV, RFC 2782). glibc's resolver asks, with the servers and search domains of
 * resolv.conf, and over TCP where an answer is too large for UDP; getaddrinfo(3) has neither SRV
 * nor the time for which an answer is valid. One DNS message holds some 4,000 addresses.
 */
#pragma once

#include <stdint.h>

#include "rna/base/clock.h"

#include "members.h"

enum {
	RNA_DNS_NAME_SIZE = 256,
	RNA_DNS_MESSAGE_MAX = 65535,
};

/* What a place means: "name", "name:port", or "_service._tcp.name". */
struct rna_dns_place {
	char name[RNA_DNS_NAME_SIZE];
	unsigned port; /* for addresses */
	bool service;  /* ask for SRV */
	bool https;    /* the service is called _https */
};

/* False: it has another form. */
bool rna_dns_place_parse(const char *text, struct rna_dns_place *ret);

/* Is text such a place, or ""? */
bool rna_dns_place_or_none_is_valid(const char *text);

/*
 * Adds the records of that type (A, AAAA or SRV of arpa/nameser.h) in the answer section of a
 * message to members, and lowers *ttl (seconds) to the shortest of the section. Records that are no
 * address of an agent are left out. 0, or -EBADMSG, -E2BIG or -ENOMEM with error.
 */
int rna_dns_read(const uint8_t *message, size_t len, const struct rna_dns_place *place, int type,
		 struct rna_arena *arena, struct rna_members *members, uint32_t *ttl,
		 struct rna_error *error);

/*
 * Asks, and waits for the answer: some seconds, or as long as resolv.conf says. *ret is sorted,
 * lies in arena and has at least one member. *ttl: for how long it is valid. 0, or negative errno
 * with error, which begins with the name.
 */
int rna_dns_look(const struct rna_dns_place *place, struct rna_arena *arena,
		 struct rna_members *ret, rna_usec *ttl, struct rna_error *error);
