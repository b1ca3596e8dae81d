// SPDX-License-Identifier: Apache-2.0
/*
 * parse/route_message: routes, nexthop objects and neighbours in messages of rtnetlink, whole, cut
 * and hostile. What a kernel really sends is in backend/test_routing_tables.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>

#include "parse/route_message.h"

struct message {
	_Alignas(8) uint8_t bytes[4096];
	size_t len;
};

static void begin(struct message *message, const void *body, size_t size)
{
	*message = (struct message){.len = sizeof(struct nlmsghdr) + size};
	memcpy(message->bytes + sizeof(struct nlmsghdr), body, size);
}

static void put(struct message *message, uint16_t type, const void *data, size_t len)
{
	struct nlattr head = {.nla_len = (uint16_t)(sizeof(head) + len), .nla_type = type};

	memcpy(message->bytes + message->len, &head, sizeof(head));
	if (len > 0)
		memcpy(message->bytes + message->len + sizeof(head), data, len);
	message->len += (sizeof(head) + len + NLA_ALIGNTO - 1) / NLA_ALIGNTO * NLA_ALIGNTO;
}

static void put_u32(struct message *message, uint16_t type, uint32_t number)
{
	put(message, type, &number, sizeof(number));
}

static struct rna_bytes finish(struct message *message, uint16_t type)
{
	const struct nlmsghdr head = {.nlmsg_len = (uint32_t)message->len, .nlmsg_type = type};

	memcpy(message->bytes, &head, sizeof(head));
	return (struct rna_bytes){message->bytes, message->len};
}

static void begin_route(struct message *message, uint8_t family, uint8_t prefix, uint8_t type)
{
	const struct rtmsg route = {.rtm_family = family, .rtm_dst_len = prefix, .rtm_type = type};

	begin(message, &route, sizeof(route));
}

static const uint8_t gateway[] = {10, 1, 0, 1};

static void assert_gateway(const struct rna_gid *address)
{
	char text[RNA_IPV4_TEXT_MAX];

	assert_true(rna_gid_ipv4(address, text));
	assert_string_equal(text, "10.1.0.1");
}

static void test_one_hop(void **state)
{
	struct rna_route_message route;
	struct message message;

	(void)state;
	begin_route(&message, AF_INET, 8, RTN_UNICAST);
	put_u32(&message, RTA_TABLE, 101);
	put(&message, RTA_DST, "\x0a\0\0\0", 4);
	put(&message, RTA_GATEWAY, gateway, sizeof(gateway));
	put_u32(&message, RTA_NH_ID, 7); /* beside its hop */
	put_u32(&message, RTA_OIF, 5);
	assert_int_equal(rna_route_message_read(finish(&message, RTM_NEWROUTE), &route), 0);
	assert_false(route.ipv6);
	assert_int_equal(route.prefix, 8);
	assert_int_equal(route.nexthop, 0);
	assert_int_equal(route.count, 1);
	assert_int_equal(route.hops[0].ifindex, 5);
	assert_gateway(&route.hops[0].gateway);
}

/* No route: local addresses, blackholes, the cache; no gateway: a network that is near. */
static void test_routes_without_a_gateway(void **state)
{
	static const uint8_t types[] = {RTN_LOCAL, RTN_BLACKHOLE, RTN_MULTICAST, RTN_UNICAST};
	struct rna_route_message route;
	struct message message;
	struct rtmsg cached = {.rtm_family = AF_INET6,
			       .rtm_type = RTN_UNICAST,
			       .rtm_flags = RTM_F_CLONED};

	(void)state;
	for (size_t i = 0; i < sizeof(types); i++) {
		begin_route(&message, AF_INET, 0, types[i]);
		if (types[i] != RTN_UNICAST)
			put(&message, RTA_GATEWAY, gateway, sizeof(gateway));
		put_u32(&message, RTA_OIF, 5);
		assert_int_equal(rna_route_message_read(finish(&message, RTM_NEWROUTE), &route), 0);
		assert_int_equal(route.count, 0);
	}
	begin(&message, &cached, sizeof(cached));
	put(&message, RTA_GATEWAY, gateway, sizeof(gateway));
	put_u32(&message, RTA_OIF, 5);
	assert_int_equal(rna_route_message_read(finish(&message, RTM_NEWROUTE), &route), 0);
	assert_int_equal(route.count, 0);
	begin_route(&message, AF_INET, 0, RTN_UNICAST);
	put(&message, RTA_GATEWAY, "\0\0\0\0", 4);
	put_u32(&message, RTA_OIF, 5);
	assert_int_equal(rna_route_message_read(finish(&message, RTM_NEWROUTE), &route), 0);
	assert_int_equal(route.count, 0);
}

static void test_a_gateway_of_the_other_version(void **state)
{
	static const uint8_t via[] = {AF_INET6, 0, 0xfe, 0x80, [17] = 1};
	struct rna_route_message route;
	struct message message;

	(void)state;
	begin_route(&message, AF_INET, 0, RTN_UNICAST);
	put(&message, RTA_VIA, via, sizeof(via));
	put_u32(&message, RTA_OIF, 5);
	assert_int_equal(rna_route_message_read(finish(&message, RTM_NEWROUTE), &route), 0);
	assert_int_equal(route.count, 1);
	assert_true(rna_gid_is_link_local(&route.hops[0].gateway));
	begin_route(&message, AF_INET, 0, RTN_UNICAST);
	put(&message, RTA_VIA, via, 1); /* not even a family */
	put_u32(&message, RTA_OIF, 5);
	assert_int_equal(rna_route_message_read(finish(&message, RTM_NEWROUTE), &route), 0);
	assert_int_equal(route.count, 0);
}

/* A hop of RTA_MULTIPATH with one attribute, into bytes. Its length. */
static size_t write_hop(uint8_t *bytes, int ifindex, uint8_t flags, uint16_t len)
{
	const struct rtnexthop hop = {.rtnh_len = len,
				      .rtnh_flags = flags,
				      .rtnh_ifindex = ifindex};
	const struct nlattr head = {sizeof(head) + sizeof(gateway), RTA_GATEWAY};

	memcpy(bytes, &hop, sizeof(hop));
	memcpy(bytes + sizeof(hop), &head, sizeof(head));
	memcpy(bytes + sizeof(hop) + sizeof(head), gateway, sizeof(gateway));
	return sizeof(hop) + sizeof(head) + sizeof(gateway);
}

enum { HOP = sizeof(struct rtnexthop) + sizeof(struct nlattr) + sizeof(gateway) };

static void test_several_hops(void **state)
{
	uint8_t hops[(RNA_ROUTE_HOPS_MAX + 9) * HOP];
	struct rna_route_message route;
	struct message message;
	size_t len = 0;

	(void)state;
	for (int i = 0; i < 3; i++)
		len += write_hop(hops + len, 5 + i, i == 1 ? RTNH_F_LINKDOWN : 0, HOP);
	begin_route(&message, AF_INET, 0, RTN_UNICAST);
	put(&message, RTA_MULTIPATH, hops, len);
	assert_int_equal(rna_route_message_read(finish(&message, RTM_NEWROUTE), &route), 0);
	assert_int_equal(route.count, 2);
	assert_int_equal(route.hops[0].ifindex, 5);
	assert_int_equal(route.hops[1].ifindex, 7);
	assert_gateway(&route.hops[1].gateway);
	for (len = 0; len < sizeof(hops);)
		len += write_hop(hops + len, 5, 0, HOP);
	begin_route(&message, AF_INET, 0, RTN_UNICAST);
	put(&message, RTA_MULTIPATH, hops, len);
	assert_int_equal(rna_route_message_read(finish(&message, RTM_NEWROUTE), &route), 0);
	assert_int_equal(route.count, RNA_ROUTE_HOPS_MAX);
}

static void test_hops_with_wrong_lengths(void **state)
{
	static const uint16_t lengths[] = {0, 1, sizeof(struct rtnexthop) - 1, HOP + 1, 0xffff};
	struct rna_route_message route;
	struct message message;
	uint8_t hop[HOP];

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(lengths); i++) {
		(void)write_hop(hop, 5, 0, lengths[i]);
		begin_route(&message, AF_INET, 0, RTN_UNICAST);
		put(&message, RTA_MULTIPATH, hop, sizeof(hop));
		assert_int_equal(rna_route_message_read(finish(&message, RTM_NEWROUTE), &route),
				 -EBADMSG);
	}
}

static void test_nexthop_objects(void **state)
{
	const struct nexthop_grp members[] = {{.id = 3}, {.id = 9}};
	const struct nhmsg head = {.nh_family = AF_INET};
	const struct nhmsg dead = {.nh_family = AF_INET, .nh_flags = RTNH_F_DEAD};
	struct rna_nexthop_message nexthop;
	struct rna_route_message route;
	struct message message;

	(void)state;
	begin_route(&message, AF_INET, 0, RTN_UNICAST);
	put_u32(&message, RTA_NH_ID, 7);
	assert_int_equal(rna_route_message_read(finish(&message, RTM_NEWROUTE), &route), 0);
	assert_int_equal(route.nexthop, 7);
	for (int i = 0; i < 2; i++) {
		begin(&message, i ? &dead : &head, sizeof(head));
		put_u32(&message, NHA_ID, 7);
		put(&message, NHA_GATEWAY, gateway, sizeof(gateway));
		put_u32(&message, NHA_OIF, 5);
		assert_int_equal(rna_nexthop_message_read(finish(&message, RTM_NEWNEXTHOP),
							  &nexthop),
				 0);
		assert_int_equal(nexthop.hop.ifindex, i ? 0 : 5);
	}
	begin(&message, &head, sizeof(head));
	put(&message, NHA_GROUP, members, sizeof(members));
	assert_int_equal(rna_nexthop_message_read(finish(&message, RTM_NEWNEXTHOP), &nexthop), 0);
	assert_int_equal(nexthop.count, 2);
	assert_int_equal(nexthop.members[1], 9);
	assert_int_equal(nexthop.hop.ifindex, 0);
	assert_int_equal(rna_nexthop_message_read(finish(&message, RTM_NEWROUTE), &nexthop),
			 -EBADMSG);
}

static void write_neighbour(struct message *message)
{
	const struct ndmsg head = {.ndm_family = AF_INET, .ndm_ifindex = 5, .ndm_state = NUD_STALE};
	const struct nda_cacheinfo times = {.ndm_confirmed = 300, .ndm_updated = 200};

	begin(message, &head, sizeof(head));
	put(message, NDA_DST, gateway, sizeof(gateway));
	put(message, NDA_LLADDR, "\x02\0\0\0\0\x01", 6);
	put(message, NDA_CACHEINFO, &times, sizeof(times));
}

static void test_a_neighbour(void **state)
{
	struct rna_neighbour_message neighbour;
	struct message message;

	(void)state;
	write_neighbour(&message);
	assert_int_equal(rna_neighbour_message_read(finish(&message, RTM_NEWNEIGH), &neighbour), 0);
	assert_int_equal(neighbour.ifindex, 5);
	assert_int_equal(neighbour.state, NUD_STALE);
	assert_gateway(&neighbour.address);
	assert_true(neighbour.timed);
	assert_int_equal(neighbour.confirmed, 300);
	assert_int_equal(neighbour.changed, 200);
}

/* Cut anywhere, with its length mended: never beyond its end, never half a value. */
static void test_messages_that_are_cut(void **state)
{
	struct rna_neighbour_message neighbour;
	struct rna_nexthop_message nexthop;
	struct rna_route_message route;
	struct message message;
	uint8_t hop[HOP];

	(void)state;
	begin_route(&message, AF_INET, 0, RTN_UNICAST);
	(void)write_hop(hop, 5, 0, HOP);
	put(&message, RTA_MULTIPATH, hop, sizeof(hop));
	for (size_t len = 0; len < message.len; len++) {
		struct message cut = {.len = len};
		struct rna_bytes bytes = {cut.bytes, len};
		int status;

		memcpy(cut.bytes, message.bytes, len);
		if (len >= sizeof(struct nlmsghdr))
			bytes = finish(&cut, RTM_NEWROUTE);
		status = rna_route_message_read(bytes, &route);
		assert_true(status == -EBADMSG || (status == 0 && route.count == 0));
	}
	write_neighbour(&message);
	for (size_t len = 0; len < message.len; len++) {
		struct message cut = {.len = len};

		memcpy(cut.bytes, message.bytes, len);
		if (len < sizeof(struct nlmsghdr) + sizeof(struct ndmsg))
			assert_int_equal(rna_neighbour_message_read(
						 len < sizeof(struct nlmsghdr)
							 ? (struct rna_bytes){cut.bytes, len}
							 : finish(&cut, RTM_NEWNEIGH),
						 &neighbour),
					 -EBADMSG);
		else if (rna_neighbour_message_read(finish(&cut, RTM_NEWNEIGH), &neighbour) == 0)
			assert_false(neighbour.timed);
	}
	assert_int_equal(rna_nexthop_message_read((struct rna_bytes){message.bytes, 3}, &nexthop),
			 -EBADMSG);
}

static void test_the_answer_for_one_route(void **state)
{
	struct message message;
	uint32_t ifindex;

	(void)state;
	begin_route(&message, AF_INET, 32, RTN_UNICAST);
	put_u32(&message, RTA_OIF, 7);
	(void)finish(&message, RTM_NEWROUTE);
	assert_int_equal(rna_route_answer_read(finish(&message, RTM_NEWROUTE), &ifindex), 0);
	assert_int_equal(ifindex, 7);
	assert_int_equal(rna_route_answer_read(finish(&message, RTM_NEWADDR), &ifindex), -EBADMSG);
	assert_int_equal(ifindex, 0);
	begin_route(&message, AF_INET, 32, RTN_LOCAL);
	put_u32(&message, RTA_OIF, 1);
	assert_int_equal(rna_route_answer_read(finish(&message, RTM_NEWROUTE), &ifindex), 0);
	assert_int_equal(ifindex, 0);
}

static void test_addresses(void **state)
{
	static const uint8_t peer[] = {10, 1, 0, 9};
	const struct ifaddrmsg body = {.ifa_family = AF_INET, .ifa_prefixlen = 24, .ifa_index = 7};
	const struct ifaddrmsg local = {.ifa_family = AF_INET, .ifa_scope = RT_SCOPE_LINK};
	struct rna_address_message address;
	struct message message;
	struct rna_bytes bytes;

	(void)state;
	begin(&message, &body, sizeof(body));
	put(&message, IFA_ADDRESS, peer, sizeof(peer));
	put(&message, IFA_LOCAL, gateway, sizeof(gateway));
	bytes = finish(&message, RTM_NEWADDR);
	assert_int_equal(rna_address_message_read(bytes, &address), 0);
	assert_int_equal(address.ifindex, 7);
	assert_int_equal(address.prefix, 24);
	assert_false(address.local);
	assert_gateway(&address.address);
	assert_int_equal(address.network.bytes[15], 9);
	for (size_t cut = 1; cut < bytes.len; cut++) {
		message.len = cut;
		(void)rna_address_message_read(finish(&message, RTM_NEWADDR), &address);
	}
	begin(&message, &local, sizeof(local));
	put(&message, IFA_ADDRESS, gateway, sizeof(gateway));
	assert_int_equal(rna_address_message_read(finish(&message, RTM_NEWADDR), &address), 0);
	assert_true(address.local);
	assert_gateway(&address.address);
	assert_gateway(&address.network);
	assert_int_equal(rna_address_message_read(finish(&message, RTM_NEWROUTE), &address),
			 -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_hop),
		cmocka_unit_test(test_the_answer_for_one_route),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_routes_without_a_gateway),
		cmocka_unit_test(test_a_gateway_of_the_other_version),
		cmocka_unit_test(test_several_hops),
		cmocka_unit_test(test_hops_with_wrong_lengths),
		cmocka_unit_test(test_nexthop_objects),
		cmocka_unit_test(test_a_neighbour),
		cmocka_unit_test(test_messages_that_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
