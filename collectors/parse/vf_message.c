// SPDX-License-Identifier: Apache-2.0
/*
 * The virtual functions in an answer of rtnetlink (rtnl_fill_vfinfo() in net/core/rtnetlink.c).
 *
 * Each function has nested structs that begin with its number. Drivers leave all ones in a member
 * that they do not support, or zero where the kernel defines no such mark: a zero MAC address or
 * GUID means that none is assigned.
 */
#include "vf_message.h"

#include <errno.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "guid.h"

enum { MAC_SIZE = 6 };

/* State while reading attributes. */
struct run {
	struct rna_arena *arena;
	bool ethernet;
	bool no_memory;
};

#define NOT_TOLD UINT32_MAX

static struct rna_value yes_or_no(uint32_t setting)
{
	return setting == NOT_TOLD ? (struct rna_value){0} : rna_value_ok(setting != 0);
}

static bool is_zero(const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i])
			return false;
	return true;
}

/* On InfiniBand this field is meaningless; GUIDs are used instead. */
static void read_mac(struct run *run, struct rna_bytes bytes, struct rna_virtual_function *ret)
{
	struct ifla_vf_mac mac;

	memcpy(&mac, bytes.data, sizeof(mac));
	if (!run->ethernet)
		return;
	ret->assigned = rna_value_ok(!is_zero(mac.mac, MAC_SIZE));
	if (!ret->assigned.number)
		return;
	ret->mac = rna_arena_printf(run->arena, "%02x:%02x:%02x:%02x:%02x:%02x", mac.mac[0],
				    mac.mac[1], mac.mac[2], mac.mac[3], mac.mac[4], mac.mac[5]);
	run->no_memory |= !ret->mac;
}

static void read_node_guid(struct run *run, struct rna_bytes bytes,
			   struct rna_virtual_function *ret)
{
	struct ifla_vf_guid guid;

	memcpy(&guid, bytes.data, sizeof(guid));
	ret->node_guid = rna_guid_keep(guid.guid, run->arena, &run->no_memory);
}

/* Without a port GUID the port of the function stays down. */
static void read_port_guid(struct run *run, struct rna_bytes bytes,
			   struct rna_virtual_function *ret)
{
	struct ifla_vf_guid guid;

	memcpy(&guid, bytes.data, sizeof(guid));
	ret->port_guid = rna_guid_keep(guid.guid, run->arena, &run->no_memory);
	ret->assigned = rna_value_ok(guid.guid != 0);
}

static void read_vlan(struct run *run, struct rna_bytes bytes, struct rna_virtual_function *ret)
{
	struct ifla_vf_vlan vlan;

	(void)run;
	memcpy(&vlan, bytes.data, sizeof(vlan));
	ret->vlan = rna_value_ok(vlan.vlan);
	ret->vlan_priority = rna_value_ok(vlan.qos);
}

static void read_spoof_check(struct run *run, struct rna_bytes bytes,
			     struct rna_virtual_function *ret)
{
	struct ifla_vf_spoofchk check;

	(void)run;
	memcpy(&check, bytes.data, sizeof(check));
	ret->spoof_check = yes_or_no(check.setting);
}

static void read_trust(struct run *run, struct rna_bytes bytes, struct rna_virtual_function *ret)
{
	struct ifla_vf_trust trust;

	(void)run;
	memcpy(&trust, bytes.data, sizeof(trust));
	ret->trust = yes_or_no(trust.setting);
}

static void read_link(struct run *run, struct rna_bytes bytes, struct rna_virtual_function *ret)
{
	struct ifla_vf_link_state link;

	(void)run;
	memcpy(&link, bytes.data, sizeof(link));
	if (link.link_state < RNA_VF_LINK_COUNT)
		ret->link = rna_value_ok(link.link_state);
}

static void read_rate(struct run *run, struct rna_bytes bytes, struct rna_virtual_function *ret)
{
	enum { MEGABIT = 1000000 };
	struct ifla_vf_rate rate;

	(void)run;
	memcpy(&rate, bytes.data, sizeof(rate));
	ret->max_rate = rna_value_ok((uint64_t)rate.max_tx_rate * MEGABIT);
}

static const struct {
	uint16_t type;
	size_t size; /* minimum size */
	void (*read)(struct run *run, struct rna_bytes bytes, struct rna_virtual_function *ret);
} attributes[] = {
	{IFLA_VF_MAC, sizeof(struct ifla_vf_mac), read_mac},
	{IFLA_VF_VLAN, sizeof(struct ifla_vf_vlan), read_vlan},
	{IFLA_VF_SPOOFCHK, sizeof(struct ifla_vf_spoofchk), read_spoof_check},
	{IFLA_VF_LINK_STATE, sizeof(struct ifla_vf_link_state), read_link},
	{IFLA_VF_RATE, sizeof(struct ifla_vf_rate), read_rate},
	{IFLA_VF_TRUST, sizeof(struct ifla_vf_trust), read_trust},
	{IFLA_VF_IB_NODE_GUID, sizeof(struct ifla_vf_guid), read_node_guid},
	{IFLA_VF_IB_PORT_GUID, sizeof(struct ifla_vf_guid), read_port_guid},
};

/* An entry without a function number is ignored. */
static int read_function(struct run *run, struct rna_bytes bytes, struct rna_virtual_function *ret)
{
	struct rna_bytes content;
	bool numbered = false;
	uint16_t type;
	int status;

	*ret = (struct rna_virtual_function){0};
	while ((status = rna_attribute_next(&bytes, &type, &content)) > 0)
		for (size_t i = 0; i < RNA_ARRAY_SIZE(attributes); i++) {
			uint32_t number;

			if (attributes[i].type != type)
				continue;
			if (content.len < attributes[i].size)
				return -EBADMSG;
			memcpy(&number, content.data, sizeof(number));
			ret->number = number;
			numbered = true;
			attributes[i].read(run, content, ret);
		}
	return status == 0 && !numbered ? -EBADMSG : status;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct rna_virtual_function *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int read_list(struct run *run, struct rna_bytes bytes, struct rna_vf_list *ret)
{
	struct rna_bytes content, rest = bytes;
	size_t most = 0;
	uint16_t type;
	int status;

	while ((status = rna_attribute_next(&rest, &type, &content)) > 0)
		most += type == IFLA_VF_INFO;
	if (status < 0)
		return status;
	most = most < RNA_VIRTUAL_FUNCTIONS_MAX ? most : RNA_VIRTUAL_FUNCTIONS_MAX;
	ret->functions = rna_arena_array(run->arena, most, sizeof(*ret->functions));
	if (!ret->functions)
		return -ENOMEM;
	while (ret->count < most && rna_attribute_next(&bytes, &type, &content) > 0) {
		if (type != IFLA_VF_INFO)
			continue;
		status = read_function(run, content, &ret->functions[ret->count++]);
		if (status < 0)
			return status;
	}
	if (ret->count > 0)
		qsort(ret->functions, ret->count, sizeof(*ret->functions), compare_numbers);
	return 0;
}

/* The length of the first count functions of list; -EMSGSIZE: it has fewer. */
static ssize_t measure(struct rna_bytes list, size_t count)
{
	struct rna_bytes rest = list, content;
	uint16_t type;

	for (; count > 0; count--)
		if (rna_attribute_next(&rest, &type, &content) <= 0 || type != IFLA_VF_INFO)
			return -EMSGSIZE;
	return rest.data - list.data;
}

/*
 * The length of an attribute has 16 bits, and a list of some 250 functions is longer: the kernel
 * lets the length wrap, so the list seems to end too early. The number of functions, which precedes
 * the list, shows that. Then the list is extended beyond its apparent end and nothing after it is
 * read. 1: the list was extended and *list is complete; 0: not wrapped; or -EMSGSIZE.
 */
static int unwrap(struct rna_bytes *list, struct rna_bytes message, size_t count)
{
	ssize_t len;

	if (measure(*list, count) >= 0)
		return 0;
	list->len = (size_t)(message.data + message.len - list->data);
	len = measure(*list, count);
	if (len < 0)
		return -EMSGSIZE;
	list->len = (size_t)len;
	return 1;
}

int rna_vf_message_read(struct rna_bytes message, struct rna_arena *arena, struct rna_vf_list *ret)
{
	const size_t heads = sizeof(struct nlmsghdr) + sizeof(struct ifinfomsg);
	struct rna_vf_list list = {0};
	struct rna_bytes rest, content;
	struct run run = {.arena = arena};
	struct ifinfomsg link;
	struct nlmsghdr head;
	uint32_t count = 0;
	uint16_t type;
	int status;

	if (message.len < heads)
		return -EBADMSG;
	memcpy(&head, message.data, sizeof(head));
	memcpy(&link, message.data + sizeof(head), sizeof(link));
	if (head.nlmsg_len != message.len || head.nlmsg_type != RTM_NEWLINK)
		return -EBADMSG;
	run.ethernet = link.ifi_type == ARPHRD_ETHER;
	rest = (struct rna_bytes){message.data + heads, message.len - heads};
	while ((status = rna_attribute_next(&rest, &type, &content)) > 0) {
		if (type == IFLA_NUM_VF && content.len == sizeof(count))
			memcpy(&count, content.data, sizeof(count));
		if (type != IFLA_VFINFO_LIST)
			continue;
		status = unwrap(&content, message, count);
		if (status > 0)
			rest.len = 0;
		if (status >= 0)
			status = read_list(&run, content, &list);
		if (status < 0)
			return status;
	}
	if (status < 0 || run.no_memory)
		return status < 0 ? status : -ENOMEM;
	*ret = list;
	return 0;
}
