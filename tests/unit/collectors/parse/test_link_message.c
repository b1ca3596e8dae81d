// SPDX-License-Identifier: Apache-2.0
/*
 * parse/link_message: LACP in answers of rtnetlink, whole, cut and hostile. VLANs are in
 * backend/test_netlink.c, virtual functions in test_virtual_functions.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "parse/link_message.h"

/* A message under construction. */
struct message {
	_Alignas(8) uint8_t bytes[512];
	size_t len;
};

static void put(struct message *message, uint16_t type, const void *data, size_t len)
{
	struct nlattr head = {.nla_len = (uint16_t)(sizeof(head) + len), .nla_type = type};

	memcpy(message->bytes + message->len, &head, sizeof(head));
	if (len > 0)
		memcpy(message->bytes + message->len + sizeof(head), data, len);
	message->len += (sizeof(head) + len + NLA_ALIGNTO - 1) / NLA_ALIGNTO * NLA_ALIGNTO;
}

static void begin(struct message *message)
{
	*message = (struct message){.len = sizeof(struct nlmsghdr) + sizeof(struct ifinfomsg)};
	put(message, IFLA_IFNAME, "bond0", sizeof("bond0"));
}

/* Its place, for close_nest(). */
static size_t open_nest(struct message *message, uint16_t type)
{
	size_t at = message->len;

	put(message, type, NULL, 0);
	return at;
}

static void close_nest(struct message *message, size_t at)
{
	const uint16_t len = (uint16_t)(message->len - at);

	memcpy(message->bytes + at, &len, sizeof(len));
}

static struct rna_bytes finish(struct message *message, uint16_t type)
{
	const struct nlmsghdr head = {.nlmsg_len = (uint32_t)message->len, .nlmsg_type = type};

	memcpy(message->bytes, &head, sizeof(head));
	return (struct rna_bytes){message->bytes, message->len};
}

static void put_u16(struct message *message, uint16_t type, uint16_t number)
{
	put(message, type, &number, sizeof(number));
}

/* A bond as the kernel tells it, with what is not read around it. */
static struct rna_bytes bond(struct message *message, const char *kind)
{
	static const uint8_t mac[] = {0x02, 0, 0x5e, 0, 0, 0x1f};
	size_t info, data, active;

	begin(message);
	info = open_nest(message, IFLA_LINKINFO);
	put(message, IFLA_INFO_KIND, kind, strlen(kind) + 1);
	data = open_nest(message, IFLA_INFO_DATA);
	put(message, IFLA_BOND_MODE, (const uint8_t[]){4}, 1);
	active = open_nest(message, IFLA_BOND_AD_INFO);
	put_u16(message, IFLA_BOND_AD_INFO_AGGREGATOR, 3);
	put_u16(message, IFLA_BOND_AD_INFO_NUM_PORTS, 2);
	put(message, IFLA_BOND_AD_INFO_PARTNER_MAC, mac, sizeof(mac));
	close_nest(message, active);
	close_nest(message, data);
	close_nest(message, info);
	return finish(message, RTM_NEWLINK);
}

static struct rna_bytes member(struct message *message)
{
	size_t info, data;

	begin(message);
	info = open_nest(message, IFLA_LINKINFO);
	data = open_nest(message,
			 IFLA_INFO_SLAVE_DATA); /* in front of its kind, which is allowed */
	put_u16(message, IFLA_BOND_SLAVE_AD_AGGREGATOR_ID, 2);
	put(message, IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE, (const uint8_t[]){69}, 1);
	put_u16(message, IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE, 1);
	close_nest(message, data);
	put(message, IFLA_INFO_SLAVE_KIND, "bond", sizeof("bond"));
	close_nest(message, info);
	return finish(message, RTM_NEWLINK);
}

static int read_message(struct rna_bytes bytes, struct rna_arena *arena, struct rna_lacp *ret)
{
	struct rna_netdev netdev = {0};
	uint32_t master;
	int status = rna_link_message_read(bytes, arena, &netdev, &master);

	*ret = netdev.lacp;
	return status;
}

static void test_a_bond_and_a_member(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct message message;
	struct rna_lacp lacp;

	(void)state;
	assert_int_equal(read_message(bond(&message, "bond"), arena, &lacp), 0);
	assert_int_equal(lacp.aggregator.number, 3);
	assert_string_equal(lacp.partner, "02:00:5e:00:00:1f");
	assert_false(rna_lacp_has_no_partner(&lacp));
	assert_int_equal(lacp.actor_state.state, RNA_VALUE_ABSENT);
	assert_int_equal(read_message(member(&message), arena, &lacp), 0);
	assert_int_equal(lacp.aggregator.number, 2);
	assert_int_equal(lacp.actor_state.number, 69);
	assert_int_equal(lacp.partner_state.number, 1);
	assert_null(lacp.partner);
	assert_int_equal(rna_lacp_carries_traffic(&lacp).number, 0);
}

/* Attributes have other meanings in other kinds. */
static void test_other_kinds_have_none(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct message message;
	struct rna_lacp lacp;

	(void)state;
	assert_int_equal(read_message(bond(&message, "vlan"), arena, &lacp), 0);
	assert_int_equal(lacp.aggregator.state, RNA_VALUE_ABSENT);
	assert_int_equal(read_message(bond(&message, "bonded"), arena, &lacp), 0);
	assert_int_equal(lacp.aggregator.state, RNA_VALUE_ABSENT);
	begin(&message);
	assert_int_equal(read_message(finish(&message, RTM_NEWLINK), arena, &lacp), 0);
	assert_int_equal(lacp.aggregator.state, RNA_VALUE_ABSENT);
	assert_int_equal(rna_lacp_carries_traffic(&lacp).state, RNA_VALUE_ABSENT);
}

static void test_what_is_no_such_message(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct message message;
	struct rna_lacp lacp;

	(void)state;
	(void)bond(&message, "bond");
	assert_int_equal(read_message(finish(&message, RTM_NEWADDR), arena, &lacp), -EBADMSG);
	(void)finish(&message, RTM_NEWLINK);
	/* Cut anywhere, with its length mended: never beyond its end, never half a value. */
	for (size_t len = 0; len < message.len; len++) {
		struct message cut = {.len = len};
		int status;

		memcpy(cut.bytes, message.bytes, len);
		status = len < sizeof(struct nlmsghdr)
				 ? read_message((struct rna_bytes){cut.bytes, len}, arena, &lacp)
				 : read_message(finish(&cut, RTM_NEWLINK), arena, &lacp);
		assert_true(status == -EBADMSG || (status == 0 && !lacp.partner));
	}
}

/* Of numbers and addresses with another size nothing is known. */
static void test_odd_sizes(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct message message;
	struct rna_lacp lacp;
	size_t info, data, active;

	(void)state;
	begin(&message);
	info = open_nest(&message, IFLA_LINKINFO);
	put(&message, IFLA_INFO_KIND, "bond", sizeof("bond"));
	data = open_nest(&message, IFLA_INFO_DATA);
	active = open_nest(&message, IFLA_BOND_AD_INFO);
	put(&message, IFLA_BOND_AD_INFO_AGGREGATOR, "abcd", 4);
	put(&message, IFLA_BOND_AD_INFO_PARTNER_MAC, "abcde", 5);
	close_nest(&message, active);
	close_nest(&message, data);
	close_nest(&message, info);
	assert_int_equal(read_message(finish(&message, RTM_NEWLINK), arena, &lacp), 0);
	assert_int_equal(lacp.aggregator.state, RNA_VALUE_ABSENT);
	assert_null(lacp.partner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_bond_and_a_member),
		cmocka_unit_test(test_other_kinds_have_none),
		cmocka_unit_test(test_what_is_no_such_message),
		cmocka_unit_test(test_odd_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
