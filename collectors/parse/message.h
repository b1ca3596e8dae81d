/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses messages of netlink from their bytes, which come from the kernel or from a recording, by
 * libnl's functions for attributes. Pure.
 *
 * The length of a message must be that of its bytes, and those of its attributes must add up:
 * libnl ignores what is left over, but half of an answer would look like a driver with fewer
 * values. Bytes start at an address that malloc() or an arena may return.
 */
#pragma once

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "rna/base/parse.h"

/* What a message must be. */
struct rna_message_kind {
	int type;    /* 0: any */
	size_t body; /* of the struct between struct nlmsghdr and the attributes */
	int max;     /* number of the last attribute that is of interest */
	const struct nla_policy *policy; /* max + 1 of them; NULL: none */
};

/* The struct of that size behind struct nlmsghdr. NULL: not a message of that type; 0: any. */
const void *rna_message_body(struct rna_bytes message, int type, size_t size);

/* The body, and the attributes behind it: max + 1 of them. NULL: not such a message. */
const void *rna_message_parse(struct rna_bytes message, const struct rna_message_kind *kind,
			      struct nlattr *ret[]);

/* The attributes of len bytes. 0 or -EBADMSG. */
int rna_attributes_parse(const void *first, size_t len, const struct nla_policy *policy, int max,
			 struct nlattr *ret[]);

/* The attributes in another one. 0 or -EBADMSG. */
int rna_nest_parse(const struct nlattr *nest, const struct nla_policy *policy, int max,
		   struct nlattr *ret[]);
