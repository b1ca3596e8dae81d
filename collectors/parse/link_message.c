// SPDX-License-Identifier: Apache-2.0
/*
 * Interfaces, LACP, VLANs and virtual functions in answers of rtnetlink: rtnl_fill_ifinfo() and
 * rtnl_fill_vfinfo() in net/core/rtnetlink.c, bond_fill_info() and bond_fill_slave_info() in
 * drivers/net/bonding/bond_netlink.c, vlan_fill_info() in net/8021q/vlan_netlink.c (Linux 6.1 to
 * 6.18). No privilege is needed, unlike for ad_partner_mac in sysfs and for the details in
 * /proc/net/bonding, which only CAP_NET_ADMIN may read (bonding_show_ad_partner_mac() in
 * bond_sysfs.c, bond_procfs.c).
 */
#include "link_message.h"

#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "guid.h"
#include "message.h"

enum { MAC_SIZE = 6 };

/* NULL: no memory. */
static const char *write_mac(const uint8_t mac[MAC_SIZE], struct rna_arena *arena)
{
	return rna_arena_printf(arena, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
				mac[3], mac[4], mac[5]);
}

static struct rna_value u8_value(const struct nlattr *attribute)
{
	return attribute ? rna_value_ok(nla_get_u8(attribute)) : (struct rna_value){0};
}

static struct rna_value u16_value(const struct nlattr *attribute)
{
	return attribute ? rna_value_ok(nla_get_u16(attribute)) : (struct rna_value){0};
}

static struct rna_value u32_value(const struct nlattr *attribute)
{
	return attribute ? rna_value_ok(nla_get_u32(attribute)) : (struct rna_value){0};
}

/* -- Drivers of interfaces without hardware ---------------------------------------------------- */

static const struct nla_policy info_policy[IFLA_INFO_MAX + 1] = {
	[IFLA_INFO_KIND] = {.type = NLA_STRING},
	[IFLA_INFO_SLAVE_KIND] = {.type = NLA_STRING},
};

/*
 * What the driver of that name says of an interface (IFLA_INFO_KIND) or of a member of one
 * (IFLA_INFO_SLAVE_KIND). 0, -ENOENT: the driver is another one, or -EBADMSG.
 */
static int find_details(const struct nlattr *link_info, int kind, const char *driver,
			struct nlattr **ret)
{
	const int data = kind == IFLA_INFO_KIND ? IFLA_INFO_DATA : IFLA_INFO_SLAVE_DATA;
	struct nlattr *info[IFLA_INFO_MAX + 1];

	if (!link_info)
		return -ENOENT;
	if (rna_nest_parse(link_info, info_policy, IFLA_INFO_MAX, info) < 0)
		return -EBADMSG;
	*ret = info[data];
	return *ret && info[kind] && strcmp(nla_get_string(info[kind]), driver) == 0 ? 0 : -ENOENT;
}

/* -- Bonds ------------------------------------------------------------------------------------- */

static const struct nla_policy active_policy[IFLA_BOND_AD_INFO_MAX + 1] = {
	[IFLA_BOND_AD_INFO_AGGREGATOR] = {.type = NLA_U16, .maxlen = sizeof(uint16_t)},
	[IFLA_BOND_AD_INFO_PARTNER_MAC] = {.minlen = MAC_SIZE, .maxlen = MAC_SIZE},
};

static const struct nla_policy member_policy[IFLA_BOND_SLAVE_MAX + 1] = {
	[IFLA_BOND_SLAVE_AD_AGGREGATOR_ID] = {.type = NLA_U16, .maxlen = sizeof(uint16_t)},
	[IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE] = {.type = NLA_U8},
	[IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE] = {.type = NLA_U16},
};

/* 0 or -ENOMEM */
static int read_bond(const struct nlattr *data, struct rna_arena *arena, struct rna_lacp *ret)
{
	struct nlattr *bond[IFLA_BOND_MAX + 1], *active[IFLA_BOND_AD_INFO_MAX + 1];
	const struct nlattr *mac;

	if (rna_nest_parse(data, NULL, IFLA_BOND_MAX, bond) < 0 || !bond[IFLA_BOND_AD_INFO] ||
	    rna_nest_parse(bond[IFLA_BOND_AD_INFO], active_policy, IFLA_BOND_AD_INFO_MAX, active) <
		    0)
		return 0;
	ret->aggregator = u16_value(active[IFLA_BOND_AD_INFO_AGGREGATOR]);
	mac = active[IFLA_BOND_AD_INFO_PARTNER_MAC];
	if (mac)
		ret->partner = write_mac(nla_data(mac), arena);
	return mac && !ret->partner ? -ENOMEM : 0;
}

static void read_member(const struct nlattr *data, struct rna_lacp *ret)
{
	struct nlattr *member[IFLA_BOND_SLAVE_MAX + 1];

	if (rna_nest_parse(data, member_policy, IFLA_BOND_SLAVE_MAX, member) < 0)
		return;
	ret->aggregator = u16_value(member[IFLA_BOND_SLAVE_AD_AGGREGATOR_ID]);
	ret->actor_state = u8_value(member[IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE]);
	ret->partner_state = u16_value(member[IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE]);
}

/*
 * Modes other than 802.3ad have none of these attributes, and a member has none before the bond
 * has chosen an aggregator for it. Without LACP, the interface is still one: what is broken costs
 * only its values. 0 or -ENOMEM.
 */
static int read_lacp(const struct nlattr *link_info, struct rna_arena *arena, struct rna_lacp *ret)
{
	struct nlattr *details;
	int status = 0;

	if (find_details(link_info, IFLA_INFO_KIND, "bond", &details) == 0)
		status = read_bond(details, arena, ret);
	if (find_details(link_info, IFLA_INFO_SLAVE_KIND, "bond", &details) == 0)
		read_member(details, ret);
	return status;
}

/* -- Interfaces -------------------------------------------------------------------------------- */

static const struct nla_policy link_policy[IFLA_MAX + 1] = {
	[IFLA_IFNAME] = {.type = NLA_STRING},
	[IFLA_MASTER] = {.type = NLA_U32},
	[IFLA_MTU] = {.type = NLA_U32},
	[IFLA_CARRIER_UP_COUNT] = {.type = NLA_U32},
	[IFLA_CARRIER_DOWN_COUNT] = {.type = NLA_U32},
	[IFLA_OPERSTATE] = {.type = NLA_U8},
	[IFLA_CARRIER] = {.type = NLA_U8},
};

static const struct rna_message_kind link_kind = {RTM_NEWLINK, sizeof(struct ifinfomsg), IFLA_MAX,
						  link_policy};

/*
 * The kernel answers 0 for the carrier of an interface that is administratively down, whatever
 * the cable does. IFLA_CARRIER_UP_COUNT and DOWN_COUNT: Linux 4.16.
 */
int rna_link_message_read(struct rna_bytes message, struct rna_arena *arena, struct rna_netdev *ret,
			  uint32_t *ret_master)
{
	struct nlattr *attributes[IFLA_MAX + 1];
	const struct ifinfomsg *link = rna_message_parse(message, &link_kind, attributes);

	if (!link || !attributes[IFLA_IFNAME])
		return -EBADMSG;
	*ret = (struct rna_netdev){
		.name = rna_arena_strdup(arena, nla_get_string(attributes[IFLA_IFNAME])),
		.ifindex = (unsigned)link->ifi_index,
		.type = link->ifi_type,
		.admin_up = link->ifi_flags & IFF_UP,
		.mtu = u32_value(attributes[IFLA_MTU]),
		.carrier_up = u32_value(attributes[IFLA_CARRIER_UP_COUNT]),
		.carrier_down = u32_value(attributes[IFLA_CARRIER_DOWN_COUNT]),
	};
	if (attributes[IFLA_OPERSTATE])
		ret->operstate = nla_get_u8(attributes[IFLA_OPERSTATE]);
	if (ret->admin_up)
		ret->carrier = u8_value(attributes[IFLA_CARRIER]);
	*ret_master = (uint32_t)u32_value(attributes[IFLA_MASTER]).number;
	return ret->name ? read_lacp(attributes[IFLA_LINKINFO], arena, &ret->lacp) : -ENOMEM;
}

/* -- VLANs ------------------------------------------------------------------------------------- */

static const struct nla_policy vlan_policy[IFLA_VLAN_MAX + 1] = {
	[IFLA_VLAN_ID] = {.type = NLA_U16},
};

/* The kernel lists only mapped priorities. */
static void read_egress(const struct nlattr *list, struct rna_qos_vlan *vlan)
{
	const struct ifla_vlan_qos_mapping *mapping;
	struct nlattr *entry;
	int left;

	nla_for_each_nested (entry, list, left) {
		mapping = nla_data(entry);
		if (nla_len(entry) < (int)sizeof(*mapping) || mapping->from >= RNA_PRIORITY_COUNT ||
		    mapping->to >= RNA_PRIORITY_COUNT)
			continue;
		vlan->egress.number |= UINT64_C(1) << mapping->from;
		vlan->egress_priority[mapping->from] = (uint8_t)mapping->to;
	}
}

int rna_vlan_message_read(struct rna_bytes message, struct rna_qos_vlan *ret)
{
	struct nlattr *link[IFLA_MAX + 1], *vlan[IFLA_VLAN_MAX + 1], *details;
	int status = rna_message_parse(message, &link_kind, link) ? 0 : -EBADMSG;

	if (status == 0)
		status = find_details(link[IFLA_LINKINFO], IFLA_INFO_KIND, "vlan", &details);
	if (status == 0)
		status = rna_nest_parse(details, vlan_policy, IFLA_VLAN_MAX, vlan);
	if (status < 0)
		return status;
	ret->mtu = u32_value(link[IFLA_MTU]);
	ret->id = u16_value(vlan[IFLA_VLAN_ID]);
	ret->egress = rna_value_ok(0);
	if (vlan[IFLA_VLAN_EGRESS_QOS])
		read_egress(vlan[IFLA_VLAN_EGRESS_QOS], ret);
	return 0;
}

/* -- Virtual functions ------------------------------------------------------------------------- */

/*
 * Each function has nested structs that begin with its number. Drivers leave all ones in a member
 * that they do not support, or zero where the kernel defines no such mark: a zero MAC address or
 * GUID means that none is assigned.
 */

static const struct nla_policy vf_policy[IFLA_VF_MAX + 1] = {
	[IFLA_VF_MAC] = {.minlen = sizeof(struct ifla_vf_mac)},
	[IFLA_VF_VLAN] = {.minlen = sizeof(struct ifla_vf_vlan)},
	[IFLA_VF_SPOOFCHK] = {.minlen = sizeof(struct ifla_vf_spoofchk)},
	[IFLA_VF_LINK_STATE] = {.minlen = sizeof(struct ifla_vf_link_state)},
	[IFLA_VF_RATE] = {.minlen = sizeof(struct ifla_vf_rate)},
	[IFLA_VF_TRUST] = {.minlen = sizeof(struct ifla_vf_trust)},
	[IFLA_VF_IB_NODE_GUID] = {.minlen = sizeof(struct ifla_vf_guid)},
	[IFLA_VF_IB_PORT_GUID] = {.minlen = sizeof(struct ifla_vf_guid)},
};

/* State while reading functions. */
struct run {
	struct rna_arena *arena;
	bool ethernet;
	bool no_memory;
};

/* A switch behind the number of the function: ifla_vf_spoofchk and ifla_vf_trust. */
static struct rna_value yes_or_no(const struct nlattr *attribute)
{
	const struct ifla_vf_trust *trust = attribute ? nla_data(attribute) : NULL;

	return !trust || trust->setting == UINT32_MAX ? (struct rna_value){0}
						      : rna_value_ok(trust->setting != 0);
}

/* On InfiniBand this field is meaningless; GUIDs are used instead. */
static void read_mac(struct run *run, const struct nlattr *attribute,
		     struct rna_virtual_function *ret)
{
	static const uint8_t none[MAC_SIZE];
	const struct ifla_vf_mac *mac = nla_data(attribute);

	if (!run->ethernet)
		return;
	ret->assigned = rna_value_ok(memcmp(mac->mac, none, MAC_SIZE) != 0);
	if (!ret->assigned.number)
		return;
	ret->mac = write_mac(mac->mac, run->arena);
	run->no_memory |= !ret->mac;
}

static uint64_t read_guid(struct run *run, const struct nlattr *attribute, const char **ret)
{
	struct ifla_vf_guid guid;

	memcpy(&guid, nla_data(attribute), sizeof(guid)); /* it is not aligned to 8 bytes */
	*ret = rna_guid_keep(guid.guid, run->arena, &run->no_memory);
	return guid.guid;
}

static void read_vlan_and_link(struct nlattr *vf[], struct rna_virtual_function *ret)
{
	enum { MEGABIT = 1000000 };
	const struct ifla_vf_vlan *vlan = vf[IFLA_VF_VLAN] ? nla_data(vf[IFLA_VF_VLAN]) : NULL;
	const struct ifla_vf_link_state *link =
		vf[IFLA_VF_LINK_STATE] ? nla_data(vf[IFLA_VF_LINK_STATE]) : NULL;
	const struct ifla_vf_rate *rate = vf[IFLA_VF_RATE] ? nla_data(vf[IFLA_VF_RATE]) : NULL;

	if (vlan) {
		ret->vlan = rna_value_ok(vlan->vlan);
		ret->vlan_priority = rna_value_ok(vlan->qos);
	}
	if (link && link->link_state < RNA_VF_LINK_COUNT)
		ret->link = rna_value_ok(link->link_state);
	if (rate)
		ret->max_rate = rna_value_ok((uint64_t)rate->max_tx_rate * MEGABIT);
}

/* An entry without a function number is no function. Without a port GUID its port stays down. */
static int read_function(struct run *run, const struct nlattr *nest,
			 struct rna_virtual_function *ret)
{
	struct nlattr *vf[IFLA_VF_MAX + 1];
	bool numbered = false;

	*ret = (struct rna_virtual_function){0};
	if (rna_nest_parse(nest, vf_policy, IFLA_VF_MAX, vf) < 0)
		return -EBADMSG;
	for (int i = 0; i <= IFLA_VF_MAX; i++)
		if (vf[i] && vf_policy[i].minlen > 0) {
			ret->number = nla_get_u32(vf[i]);
			numbered = true;
		}
	read_vlan_and_link(vf, ret);
	ret->spoof_check = yes_or_no(vf[IFLA_VF_SPOOFCHK]);
	ret->trust = yes_or_no(vf[IFLA_VF_TRUST]);
	if (vf[IFLA_VF_MAC])
		read_mac(run, vf[IFLA_VF_MAC], ret);
	if (vf[IFLA_VF_IB_NODE_GUID])
		(void)read_guid(run, vf[IFLA_VF_IB_NODE_GUID], &ret->node_guid);
	if (vf[IFLA_VF_IB_PORT_GUID])
		ret->assigned = rna_value_ok(
			read_guid(run, vf[IFLA_VF_IB_PORT_GUID], &ret->port_guid) != 0);
	return numbered ? 0 : -EBADMSG;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct rna_virtual_function *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Attributes that follow each other. */
struct list {
	struct nlattr *first;
	int len;
};

static int read_list(struct run *run, const struct list *list, struct rna_vf_list *ret)
{
	struct nlattr *entry;
	size_t most = 0;
	int left, status;

	nla_for_each_attr (entry, list->first, list->len, left)
		most += nla_type(entry) == IFLA_VF_INFO;
	if (left > 0)
		return -EBADMSG;
	most = most < RNA_VIRTUAL_FUNCTIONS_MAX ? most : RNA_VIRTUAL_FUNCTIONS_MAX;
	*ret = (struct rna_vf_list){
		.functions = rna_arena_array(run->arena, most, sizeof(*ret->functions))};
	if (!ret->functions)
		return -ENOMEM;
	nla_for_each_attr (entry, list->first, list->len, left) {
		if (nla_type(entry) != IFLA_VF_INFO || ret->count == most)
			continue;
		status = read_function(run, entry, &ret->functions[ret->count++]);
		if (status < 0)
			return status;
	}
	if (ret->count > 0)
		qsort(ret->functions, ret->count, sizeof(*ret->functions), compare_numbers);
	return 0;
}

/* The length of the first count functions; -EMSGSIZE: there are fewer. */
static int measure(const struct list *list, size_t count)
{
	const struct nlattr *entry = list->first;
	int left = list->len;

	for (; count > 0; count--, entry = nla_next(entry, &left))
		if (!nla_ok(entry, left) || nla_type(entry) != IFLA_VF_INFO)
			return -EMSGSIZE;
	return left > 0 ? list->len - left : list->len;
}

/*
 * The length of an attribute has 16 bits, and a list of some 250 functions is longer: the kernel
 * lets the length wrap, so the list seems to end too early. The number of functions, which precedes
 * the list, shows that. Then the list is extended beyond its apparent end, up to that of the
 * message, and nothing after it is read. 1: the list was extended and *list is complete; 0: not
 * wrapped; or -EMSGSIZE.
 */
static int unwrap(struct list *list, const uint8_t *end, size_t count)
{
	int len;

	if (measure(list, count) >= 0)
		return 0;
	list->len = (int)(end - (const uint8_t *)list->first);
	len = measure(list, count);
	if (len < 0)
		return len;
	list->len = len;
	return 1;
}

/* Its attributes cannot be parsed at once: behind a list that has wrapped there are none. */
int rna_vf_message_read(struct rna_bytes message, struct rna_arena *arena, struct rna_vf_list *ret)
{
	const struct ifinfomsg *link = rna_message_body(message, RTM_NEWLINK, sizeof(*link));
	struct run run = {.arena = arena, .ethernet = link && link->ifi_type == ARPHRD_ETHER};
	struct rna_vf_list functions = {0};
	struct nlattr *attribute;
	uint32_t count = 0;
	int left, status;

	if (!link)
		return -EBADMSG;
	nlmsg_for_each_attr (attribute, (const void *)message.data, sizeof(*link), left) {
		struct list list = {nla_data(attribute), nla_len(attribute)};

		if (nla_type(attribute) == IFLA_NUM_VF && list.len == sizeof(count))
			count = nla_get_u32(attribute);
		if (nla_type(attribute) != IFLA_VFINFO_LIST)
			continue;
		status = unwrap(&list, message.data + message.len, count);
		if (status > 0)
			left = 0;
		if (status >= 0)
			status = read_list(&run, &list, &functions);
		if (status < 0)
			return status;
	}
	if (left > 0 || run.no_memory)
		return left > 0 ? -EBADMSG : -ENOMEM;
	*ret = functions;
	return 0;
}
