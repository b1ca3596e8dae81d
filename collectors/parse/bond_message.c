// SPDX-License-Identifier: Apache-2.0
/*
 * LACP in an answer of rtnetlink: bond_fill_info() and bond_fill_slave_info() in
 * drivers/net/bonding/bond_netlink.c (Linux 6.1 to 6.18). No privilege is needed, unlike for
 * ad_partner_mac in sysfs and for the details in /proc/net/bonding, which only CAP_NET_ADMIN may
 * read (bonding_show_ad_partner_mac() in bond_sysfs.c, bond_procfs.c).
 *
 * Modes other than 802.3ad have none of these attributes, and a member has none before the bond
 * has chosen an aggregator for it.
 */
#include "bond_message.h"

#include <errno.h>
#include <string.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

enum { MAC_SIZE = 6 };

/* What an attribute of a nest is read into. */
struct reading {
	struct rna_arena *arena;
	struct rna_lacp lacp;
	/* Spans of the message: the kinds come before the data that they explain, but need not. */
	struct rna_bytes kind, data, member_kind, member_data;
	bool no_memory;
};

typedef void read_attribute(struct reading *reading, uint16_t type, struct rna_bytes content);

/* 0 or -EBADMSG */
static int each(struct rna_bytes list, read_attribute *read, struct reading *reading)
{
	struct rna_bytes content;
	uint16_t type;
	int status;

	while ((status = rna_attribute_next(&list, &type, &content)) > 0)
		read(reading, type, content);
	return status;
}

/* A number of one or two bytes, in the byte order of this machine; absent: neither. */
static struct rna_value number(struct rna_bytes content)
{
	uint16_t wide;

	if (content.len == sizeof(uint8_t))
		return rna_value_ok(content.data[0]);
	if (content.len != sizeof(wide))
		return (struct rna_value){0};
	memcpy(&wide, content.data, sizeof(wide));
	return rna_value_ok(wide);
}

static void read_active(struct reading *reading, uint16_t type, struct rna_bytes content)
{
	const uint8_t *mac = content.data;

	if (type == IFLA_BOND_AD_INFO_AGGREGATOR)
		reading->lacp.aggregator = number(content);
	if (type != IFLA_BOND_AD_INFO_PARTNER_MAC || content.len != MAC_SIZE)
		return;
	reading->lacp.partner = rna_arena_printf(reading->arena, "%02x:%02x:%02x:%02x:%02x:%02x",
						 mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
	reading->no_memory |= !reading->lacp.partner;
}

static void read_bond(struct reading *reading, uint16_t type, struct rna_bytes content)
{
	if (type == IFLA_BOND_AD_INFO)
		(void)each(content, read_active, reading); /* a broken nest costs its values */
}

static void read_member(struct reading *reading, uint16_t type, struct rna_bytes content)
{
	if (type == IFLA_BOND_SLAVE_AD_AGGREGATOR_ID)
		reading->lacp.aggregator = number(content);
	else if (type == IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE)
		reading->lacp.actor_state = number(content);
	else if (type == IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE)
		reading->lacp.partner_state = number(content);
}

static void read_info(struct reading *reading, uint16_t type, struct rna_bytes content)
{
	if (type == IFLA_INFO_KIND)
		reading->kind = content;
	else if (type == IFLA_INFO_DATA)
		reading->data = content;
	else if (type == IFLA_INFO_SLAVE_KIND)
		reading->member_kind = content;
	else if (type == IFLA_INFO_SLAVE_DATA)
		reading->member_data = content;
}

static bool is_bond(struct rna_bytes kind)
{
	static const char bond[] = "bond"; /* the kernel ends the text with a zero byte */

	return kind.len == sizeof(bond) && memcmp(kind.data, bond, sizeof(bond)) == 0;
}

static int read_link_info(struct reading *reading, struct rna_bytes info)
{
	int status = each(info, read_info, reading);

	if (status == 0 && is_bond(reading->kind))
		status = each(reading->data, read_bond, reading);
	if (status == 0 && is_bond(reading->member_kind))
		status = each(reading->member_data, read_member, reading);
	return status;
}

int rna_bond_message_read(struct rna_bytes message, struct rna_arena *arena, struct rna_lacp *ret)
{
	const size_t heads = sizeof(struct nlmsghdr) + sizeof(struct ifinfomsg);
	struct reading reading = {.arena = arena};
	struct rna_bytes rest, content;
	struct nlmsghdr head;
	uint16_t type;
	int status;

	if (message.len < heads)
		return -EBADMSG;
	memcpy(&head, message.data, sizeof(head));
	if (head.nlmsg_len != message.len || head.nlmsg_type != RTM_NEWLINK)
		return -EBADMSG;
	rest = (struct rna_bytes){message.data + heads, message.len - heads};
	while ((status = rna_attribute_next(&rest, &type, &content)) > 0)
		if (type == IFLA_LINKINFO && (status = read_link_info(&reading, content)) < 0)
			return status;
	if (status < 0 || reading.no_memory)
		return status < 0 ? status : -ENOMEM;
	*ret = reading.lacp;
	return 0;
}
