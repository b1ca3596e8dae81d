/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of rtnetlink about routes, nexthop objects, neighbours and addresses. Pure functions. A
 * message begins with struct nlmsghdr, whose length is that of the message.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/parse.h"
#include "rna/model/gid.h"

enum { RNA_ROUTE_HOPS_MAX = 64 }; /* further next hops of a route are left out */

struct rna_route_hop {
	uint32_t ifindex;
	struct rna_gid gateway; /* IPv4: mapped */
};

struct rna_route_message {
	bool ipv6;
	uint8_t prefix;   /* length; 0: default route */
	uint32_t nexthop; /* number of the nexthop object if the message has no hops; 0: none */
	size_t count;     /* of hops that are gateways and in use */
	struct rna_route_hop hops[RNA_ROUTE_HOPS_MAX];
};

/*
 * RTM_NEWROUTE. A route of another type than unicast, and an entry of the cache, has no hops.
 * 0 or -EBADMSG: not such a message, or truncated.
 */
int rna_route_message_read(struct rna_bytes message, struct rna_route_message *ret);

/*
 * The answer to a question for one route: the interface that it leads out of, 0 if it is another
 * type than unicast. Returns like rna_route_message_read().
 */
int rna_route_answer_read(struct rna_bytes message, uint32_t *ret_ifindex);

struct rna_address_message {
	uint32_t ifindex;
	uint8_t prefix; /* length */
	bool ipv6;
	bool local; /* valid on its link or host only: scope link or narrower */
	struct rna_gid address, network; /* IPv4: mapped; network: with the bits of the host */
};

/* RTM_NEWADDR. Returns like rna_route_message_read(). */
int rna_address_message_read(struct rna_bytes message, struct rna_address_message *ret);

struct rna_nexthop_message {
	struct rna_route_hop hop; /* ifindex 0: none, or without a gateway */
	size_t count;             /* of members, if it is a group */
	uint32_t members[RNA_ROUTE_HOPS_MAX];
};

/* RTM_NEWNEXTHOP. Returns like rna_route_message_read(). */
int rna_nexthop_message_read(struct rna_bytes message, struct rna_nexthop_message *ret);

struct rna_neighbour_message {
	uint32_t ifindex;
	struct rna_gid address;
	uint16_t state;     /* enum rna_neighbour_state */
	bool timed;         /* has it the following? */
	uint32_t confirmed; /* ticks of user space (USER_HZ) since then */
	uint32_t changed;
};

/* RTM_NEWNEIGH of IPv4 or IPv6. Returns like rna_route_message_read(). */
int rna_neighbour_message_read(struct rna_bytes message, struct rna_neighbour_message *ret);
