// SPDX-License-Identifier: Apache-2.0
/*
 * Messages of rtnetlink: fib_dump_info() in net/ipv4/fib_semantics.c and rt6_fill_node() in
 * net/ipv6/route.c for routes, nh_fill_node() in net/ipv4/nexthop.c, neigh_fill_info() in
 * net/core/neighbour.c, rt_fill_info() in net/ipv4/route.c for the answer to a question for one
 * route, inet_fill_ifaddr() in net/ipv4/devinet.c (Linux 6.1 to 6.18).
 *
 * A route has one next hop in its attributes, or several in RTA_MULTIPATH, or the number of a
 * nexthop object (Linux 5.3); of these the kernel also tells the hops, unless
 * net.ipv4.nexthop_compat_mode is 0. The gateway of an IPv4 route may be an IPv6 address (RTA_VIA,
 * Linux 5.2), as in unnumbered fabrics.
 */
#include "route_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>

#include "message.h"

enum { IPV4_SIZE = 4, IPV6_SIZE = 16 };

/* -- Addresses --------------------------------------------------------------------------------- */

/* All zero if it is neither IPv4 nor IPv6; len may be negative. */
static struct rna_gid address_of(const uint8_t *bytes, int len)
{
	struct rna_gid ret = {{0}};

	if (len == IPV4_SIZE) {
		ret = (struct rna_gid){{[10] = 0xff, 0xff}};
		memcpy(ret.bytes + sizeof(ret.bytes) - IPV4_SIZE, bytes, IPV4_SIZE);
	} else if (len == IPV6_SIZE) {
		memcpy(ret.bytes, bytes, IPV6_SIZE);
	}
	return ret;
}

/* All zero if there is none. */
static struct rna_gid read_address(const struct nlattr *attribute)
{
	return attribute ? address_of(nla_data(attribute), nla_len(attribute))
			 : (struct rna_gid){{0}};
}

static uint32_t read_u32(const struct nlattr *attribute)
{
	return attribute ? nla_get_u32(attribute) : 0;
}

static bool is_unspecified(const struct rna_gid *address)
{
	static const struct rna_gid ipv4 = {{[10] = 0xff, 0xff}};

	return rna_gid_is_zero(address) || rna_gid_is_same(address, &ipv4);
}

/* -- Routes ------------------------------------------------------------------------------------ */

static const struct nla_policy route_policy[RTA_MAX + 1] = {
	[RTA_OIF] = {.type = NLA_U32},
	[RTA_NH_ID] = {.type = NLA_U32},
};

static const struct rna_message_kind route_kind = {RTM_NEWROUTE, sizeof(struct rtmsg), RTA_MAX,
						   route_policy};

/* RTA_VIA: a family, then an address of it. */
static struct rna_gid read_gateway(struct nlattr *const attributes[])
{
	const struct nlattr *via = attributes[RTA_VIA];

	if (!via)
		return read_address(attributes[RTA_GATEWAY]);
	return address_of((const uint8_t *)nla_data(via) + sizeof(sa_family_t),
			  nla_len(via) - (int)sizeof(sa_family_t));
}

/* A hop without a gateway is a neighbour itself; one that is down forwards nothing. */
static void add_hop(struct rna_route_message *route, uint32_t ifindex,
		    struct nlattr *const attributes[], unsigned flags)
{
	const struct rna_route_hop hop = {ifindex, read_gateway(attributes)};

	if (ifindex && !is_unspecified(&hop.gateway) &&
	    !(flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN)) && route->count < RNA_ROUTE_HOPS_MAX)
		route->hops[route->count++] = hop;
}

/* 0 or -EBADMSG */
static int read_hops(const struct nlattr *list, struct rna_route_message *route)
{
	const uint8_t *at = nla_data(list);

	for (int left = nla_len(list); left > 0;) {
		const struct rtnexthop *hop = (const void *)at;
		struct nlattr *attributes[RTA_MAX + 1];

		if (left < (int)sizeof(*hop) || !RTNH_OK(hop, left) ||
		    rna_attributes_parse(hop + 1, hop->rtnh_len - sizeof(*hop), route_policy,
					 RTA_MAX, attributes) < 0)
			return -EBADMSG;
		add_hop(route, (uint32_t)hop->rtnh_ifindex, attributes, hop->rtnh_flags);
		at += NLMSG_ALIGN(hop->rtnh_len);
		left -= (int)NLMSG_ALIGN(hop->rtnh_len);
	}
	return 0;
}

int rna_route_message_read(struct rna_bytes message, struct rna_route_message *ret)
{
	struct nlattr *attributes[RTA_MAX + 1];
	const struct rtmsg *route = rna_message_parse(message, &route_kind, attributes);
	uint32_t ifindex;

	if (!route)
		return -EBADMSG;
	*ret = (struct rna_route_message){.ipv6 = route->rtm_family == AF_INET6,
					  .prefix = route->rtm_dst_len};
	if (route->rtm_type != RTN_UNICAST || route->rtm_flags & RTM_F_CLONED ||
	    (route->rtm_family != AF_INET && route->rtm_family != AF_INET6))
		return 0;
	if (attributes[RTA_MULTIPATH] && read_hops(attributes[RTA_MULTIPATH], ret) < 0)
		return -EBADMSG;
	ifindex = read_u32(attributes[RTA_OIF]);
	add_hop(ret, ifindex, attributes, route->rtm_flags);
	if (!ifindex && ret->count == 0) /* otherwise the kernel has told the hops */
		ret->nexthop = read_u32(attributes[RTA_NH_ID]);
	return 0;
}

int rna_route_answer_read(struct rna_bytes message, uint32_t *ret_ifindex)
{
	struct nlattr *attributes[RTA_MAX + 1];
	const struct rtmsg *route = rna_message_parse(message, &route_kind, attributes);

	*ret_ifindex = route && route->rtm_type == RTN_UNICAST ? read_u32(attributes[RTA_OIF]) : 0;
	return route ? 0 : -EBADMSG;
}

/* -- Addresses of interfaces, nexthop objects, neighbours -------------------------------------- */

/* IFA_ADDRESS is the peer of a point-to-point link, otherwise the same as IFA_LOCAL. */
int rna_address_message_read(struct rna_bytes message, struct rna_address_message *ret)
{
	static const struct rna_message_kind kind = {RTM_NEWADDR, sizeof(struct ifaddrmsg), IFA_MAX,
						     NULL};
	struct nlattr *attributes[IFA_MAX + 1];
	const struct ifaddrmsg *address = rna_message_parse(message, &kind, attributes);

	if (!address)
		return -EBADMSG;
	*ret = (struct rna_address_message){
		.ifindex = address->ifa_index,
		.prefix = address->ifa_prefixlen,
		.ipv6 = address->ifa_family != AF_INET,
		.local = address->ifa_scope >= RT_SCOPE_LINK,
		.network = read_address(attributes[IFA_ADDRESS]),
		.address = read_address(attributes[IFA_LOCAL]),
	};
	if (rna_gid_is_zero(&ret->address))
		ret->address = ret->network;
	return 0;
}

static void read_group(const struct nlattr *list, struct rna_nexthop_message *ret)
{
	const struct nexthop_grp *members = nla_data(list);
	const size_t count = (size_t)nla_len(list) / sizeof(*members);

	for (; ret->count < count && ret->count < RNA_ROUTE_HOPS_MAX; ret->count++)
		ret->members[ret->count] = members[ret->count].id;
}

int rna_nexthop_message_read(struct rna_bytes message, struct rna_nexthop_message *ret)
{
	static const struct nla_policy policy[NHA_MAX + 1] = {[NHA_OIF] = {.type = NLA_U32}};
	static const struct rna_message_kind kind = {RTM_NEWNEXTHOP, sizeof(struct nhmsg), NHA_MAX,
						     policy};
	struct nlattr *attributes[NHA_MAX + 1];
	const struct nhmsg *nexthop = rna_message_parse(message, &kind, attributes);

	if (!nexthop)
		return -EBADMSG;
	*ret = (struct rna_nexthop_message){
		.hop = {read_u32(attributes[NHA_OIF]), read_address(attributes[NHA_GATEWAY])}};
	if (attributes[NHA_GROUP])
		read_group(attributes[NHA_GROUP], ret);
	if (is_unspecified(&ret->hop.gateway) ||
	    nexthop->nh_flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN))
		ret->hop = (struct rna_route_hop){0};
	return 0;
}

int rna_neighbour_message_read(struct rna_bytes message, struct rna_neighbour_message *ret)
{
	static const struct nla_policy policy[NDA_MAX + 1] = {
		[NDA_CACHEINFO] = {.minlen = sizeof(struct nda_cacheinfo)}};
	static const struct rna_message_kind kind = {RTM_NEWNEIGH, sizeof(struct ndmsg), NDA_MAX,
						     policy};
	struct nlattr *attributes[NDA_MAX + 1];
	const struct ndmsg *neighbour = rna_message_parse(message, &kind, attributes);
	const struct nda_cacheinfo *times;

	if (!neighbour)
		return -EBADMSG;
	*ret = (struct rna_neighbour_message){
		.ifindex = (uint32_t)neighbour->ndm_ifindex,
		.state = neighbour->ndm_state,
		.address = read_address(attributes[NDA_DST]),
		.timed = attributes[NDA_CACHEINFO],
	};
	if (!ret->timed)
		return 0;
	times = nla_data(attributes[NDA_CACHEINFO]);
	ret->confirmed = times->ndm_confirmed;
	ret->changed = times->ndm_updated;
	return 0;
}
