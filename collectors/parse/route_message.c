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

enum { IPV4_SIZE = 4, IPV6_SIZE = 16 };

/* Checks the heads and finds the attributes. 0 or -EBADMSG. */
static int open_message(struct rna_bytes message, uint16_t type, void *body, size_t size,
			struct rna_bytes *ret)
{
	const size_t heads = sizeof(struct nlmsghdr) + size;
	struct nlmsghdr head;

	if (message.len < heads)
		return -EBADMSG;
	memcpy(&head, message.data, sizeof(head));
	if (head.nlmsg_len != message.len || head.nlmsg_type != type)
		return -EBADMSG;
	memcpy(body, message.data + sizeof(head), size);
	*ret = (struct rna_bytes){message.data + heads, message.len - heads};
	return 0;
}

/* False: neither IPv4 nor IPv6; *ret is unchanged. */
static bool read_address(struct rna_bytes content, struct rna_gid *ret)
{
	if (content.len == IPV4_SIZE) {
		*ret = (struct rna_gid){{[10] = 0xff, 0xff}};
		memcpy(ret->bytes + sizeof(ret->bytes) - IPV4_SIZE, content.data, IPV4_SIZE);
	} else if (content.len == IPV6_SIZE) {
		memcpy(ret->bytes, content.data, IPV6_SIZE);
	}
	return content.len == IPV4_SIZE || content.len == IPV6_SIZE;
}

static void read_u32(struct rna_bytes content, uint32_t *ret)
{
	if (content.len == sizeof(*ret))
		memcpy(ret, content.data, sizeof(*ret));
}

/* RTA_VIA: a family, then an address of it. */
static void read_via(struct rna_bytes content, struct rna_gid *ret)
{
	if (content.len > sizeof(sa_family_t))
		(void)read_address((struct rna_bytes){content.data + sizeof(sa_family_t),
						      content.len - sizeof(sa_family_t)},
				   ret);
}

static void read_gateway(uint16_t type, struct rna_bytes content, struct rna_gid *ret)
{
	if (type == RTA_GATEWAY)
		(void)read_address(content, ret);
	else if (type == RTA_VIA)
		read_via(content, ret);
}

static bool is_unspecified(const struct rna_gid *address)
{
	static const struct rna_gid ipv4 = {{[10] = 0xff, 0xff}};

	return rna_gid_is_zero(address) || rna_gid_is_same(address, &ipv4);
}

/* A hop without a gateway is a neighbour itself; one that is down forwards nothing. */
static void add_hop(struct rna_route_message *route, const struct rna_route_hop *hop,
		    unsigned flags)
{
	if (hop->ifindex && !is_unspecified(&hop->gateway) &&
	    !(flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN)) && route->count < RNA_ROUTE_HOPS_MAX)
		route->hops[route->count++] = *hop;
}

/* 0 or -EBADMSG */
static int read_hops(struct rna_bytes list, struct rna_route_message *route)
{
	struct rtnexthop head;

	for (size_t whole; list.len > 0; list.data += whole, list.len -= whole) {
		struct rna_route_hop hop = {0};
		struct rna_bytes rest, content;
		uint16_t type;
		int status;

		if (list.len < sizeof(head))
			return -EBADMSG;
		memcpy(&head, list.data, sizeof(head));
		if (head.rtnh_len < sizeof(head) || head.rtnh_len > list.len)
			return -EBADMSG;
		rest = (struct rna_bytes){list.data + sizeof(head), head.rtnh_len - sizeof(head)};
		hop.ifindex = (uint32_t)head.rtnh_ifindex;
		while ((status = rna_attribute_next(&rest, &type, &content)) > 0)
			read_gateway(type, content, &hop.gateway);
		if (status < 0)
			return status;
		add_hop(route, &hop, head.rtnh_flags);
		whole = ((size_t)head.rtnh_len + RTNH_ALIGNTO - 1) / RTNH_ALIGNTO * RTNH_ALIGNTO;
		whole = whole < list.len ? whole : list.len;
	}
	return 0;
}

int rna_route_message_read(struct rna_bytes message, struct rna_route_message *ret)
{
	struct rna_bytes rest, content;
	struct rna_route_hop hop = {0};
	struct rtmsg route;
	uint16_t type;
	int status = open_message(message, RTM_NEWROUTE, &route, sizeof(route), &rest);

	if (status < 0)
		return status;
	*ret = (struct rna_route_message){.ipv6 = route.rtm_family == AF_INET6,
					  .prefix = route.rtm_dst_len};
	if (route.rtm_type != RTN_UNICAST || route.rtm_flags & RTM_F_CLONED ||
	    (route.rtm_family != AF_INET && route.rtm_family != AF_INET6))
		return 0;
	while ((status = rna_attribute_next(&rest, &type, &content)) > 0) {
		if (type == RTA_OIF)
			read_u32(content, &hop.ifindex);
		else if (type == RTA_NH_ID)
			read_u32(content, &ret->nexthop);
		else if (type == RTA_MULTIPATH && (status = read_hops(content, ret)) < 0)
			return status;
		else
			read_gateway(type, content, &hop.gateway);
	}
	if (status < 0)
		return status;
	add_hop(ret, &hop, route.rtm_flags);
	if (hop.ifindex || ret->count > 0)
		ret->nexthop = 0; /* the kernel has told its hops */
	return 0;
}

int rna_route_answer_read(struct rna_bytes message, uint32_t *ret_ifindex)
{
	struct rna_bytes rest, content;
	struct rtmsg route;
	uint16_t type;
	int status = open_message(message, RTM_NEWROUTE, &route, sizeof(route), &rest);

	*ret_ifindex = 0;
	while (status >= 0 && (status = rna_attribute_next(&rest, &type, &content)) > 0)
		if (type == RTA_OIF && route.rtm_type == RTN_UNICAST)
			read_u32(content, ret_ifindex);
	return status;
}

/* IFA_ADDRESS is the peer of a point-to-point link, otherwise the same as IFA_LOCAL. */
int rna_address_message_read(struct rna_bytes message, struct rna_address_message *ret)
{
	struct rna_bytes rest, content;
	struct ifaddrmsg address;
	uint16_t type;
	int status = open_message(message, RTM_NEWADDR, &address, sizeof(address), &rest);

	if (status < 0)
		return status;
	*ret = (struct rna_address_message){
		.ifindex = address.ifa_index,
		.prefix = address.ifa_prefixlen,
		.local = address.ifa_scope >= RT_SCOPE_LINK,
	};
	while ((status = rna_attribute_next(&rest, &type, &content)) > 0) {
		if (type == IFA_ADDRESS)
			(void)read_address(content, &ret->network);
		else if (type == IFA_LOCAL)
			(void)read_address(content, &ret->address);
	}
	if (rna_gid_is_zero(&ret->address))
		ret->address = ret->network;
	return status;
}

static void read_group(struct rna_bytes list, struct rna_nexthop_message *ret)
{
	struct nexthop_grp member;

	for (; list.len >= sizeof(member) && ret->count < RNA_ROUTE_HOPS_MAX;
	     list.data += sizeof(member), list.len -= sizeof(member)) {
		memcpy(&member, list.data, sizeof(member));
		ret->members[ret->count++] = member.id;
	}
}

int rna_nexthop_message_read(struct rna_bytes message, struct rna_nexthop_message *ret)
{
	struct rna_bytes rest, content;
	struct nhmsg nexthop;
	uint16_t type;
	int status = open_message(message, RTM_NEWNEXTHOP, &nexthop, sizeof(nexthop), &rest);

	if (status < 0)
		return status;
	*ret = (struct rna_nexthop_message){0};
	while ((status = rna_attribute_next(&rest, &type, &content)) > 0) {
		if (type == NHA_OIF)
			read_u32(content, &ret->hop.ifindex);
		else if (type == NHA_GATEWAY)
			(void)read_address(content, &ret->hop.gateway);
		else if (type == NHA_GROUP)
			read_group(content, ret);
	}
	if (is_unspecified(&ret->hop.gateway) || nexthop.nh_flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN))
		ret->hop = (struct rna_route_hop){0};
	return status;
}

int rna_neighbour_message_read(struct rna_bytes message, struct rna_neighbour_message *ret)
{
	struct rna_bytes rest, content;
	struct nda_cacheinfo times;
	struct ndmsg neighbour;
	uint16_t type;
	int status = open_message(message, RTM_NEWNEIGH, &neighbour, sizeof(neighbour), &rest);

	if (status < 0)
		return status;
	*ret = (struct rna_neighbour_message){.ifindex = (uint32_t)neighbour.ndm_ifindex,
					      .state = neighbour.ndm_state};
	while ((status = rna_attribute_next(&rest, &type, &content)) > 0) {
		if (type == NDA_DST)
			(void)read_address(content, &ret->address);
		if (type != NDA_CACHEINFO || content.len < sizeof(times))
			continue;
		memcpy(&times, content.data, sizeof(times));
		ret->timed = true;
		ret->confirmed = times.ndm_confirmed;
		ret->changed = times.ndm_updated;
	}
	return status;
}
