// SPDX-License-Identifier: Apache-2.0
/*
 * The backend of network interfaces: rtnetlink.
 *
 * Interfaces are requested by name, one by one. A node has few that serve RDMA and may have a
 * thousand for its containers; a dump would contain them all. Their addresses are read in one dump,
 * for those of containers seldom have addresses on the host.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "parse/link_message.h"
#include "parse/route_message.h"

#include "backends.h"
#include "netlink.h"

/* -- Interfaces -------------------------------------------------------------------------------- */

static int ask_link(const char *name, uint32_t filter, rna_netlink_take *take, void *userdata)
{
	const struct ifinfomsg link = {.ifi_family = AF_UNSPEC};
	const struct rna_netlink_attribute attributes[] = {
		{IFLA_IFNAME, (int)strlen(name) + 1, name},
		{IFLA_EXT_MASK, sizeof(filter), &filter},
	};

	return rna_netlink_ask(&(struct rna_netlink_question){.type = RTM_GETLINK,
							      .body = &link,
							      .body_size = sizeof(link),
							      .attributes = attributes,
							      .count = RNA_ARRAY_SIZE(attributes)},
			       take, userdata);
}

struct link_answer {
	struct rna_arena *arena;
	struct rna_netdev *netdev;
};

static int take_link(struct rna_bytes message, void *userdata)
{
	const struct link_answer *answer = userdata;
	char name[IF_NAMESIZE];
	uint32_t master;
	int status = rna_link_message_read(message, answer->arena, answer->netdev, &master);

	if (status == 0 && master && if_indextoname(master, name))
		answer->netdev->master = rna_arena_strdup(answer->arena, name);
	return status;
}

static int read_link(const struct rna_root *root, const char *name, struct rna_arena *arena,
		     struct rna_netdev *ret)
{
	struct link_answer answer = {arena, ret};

	(void)root; /* always the interfaces of the kernel */
	return ask_link(name, RTEXT_FILTER_SKIP_STATS, take_link, &answer);
}

static int take_vlan(struct rna_bytes message, void *userdata)
{
	return rna_vlan_message_read(message, userdata);
}

static int read_vlan(const struct rna_root *root, const char *name, struct rna_qos_vlan *ret)
{
	(void)root; /* always the interfaces of the kernel */
	return ask_link(name, RTEXT_FILTER_SKIP_STATS, take_vlan, ret);
}

struct vf_answer {
	struct rna_arena *arena;
	struct rna_vf_list *list;
};

static int take_vfs(struct rna_bytes message, void *userdata)
{
	const struct vf_answer *answer = userdata;

	return rna_vf_message_read(message, answer->arena, answer->list);
}

/* Skips statistics of the functions, which drivers read from the device. */
static int list_virtual_functions(const struct rna_root *root, const char *name,
				  struct rna_arena *arena, struct rna_vf_list *ret)
{
	struct vf_answer answer = {arena, ret};

	(void)root; /* always the interfaces of the kernel */
	return ask_link(name, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS, take_vfs, &answer);
}

/* -- Addresses --------------------------------------------------------------------------------- */

struct address_answer {
	struct rna_netdev *netdevs;
	size_t count;
};

static int take_address(struct rna_bytes message, void *userdata)
{
	const struct address_answer *answer = userdata;
	struct rna_address_message address;

	if (rna_address_message_read(message, &address) < 0 || address.local)
		return 0;
	for (size_t i = 0; i < answer->count; i++) {
		struct rna_netdev *netdev = &answer->netdevs[i];

		if (netdev->ifindex == address.ifindex)
			(address.ipv6 ? &netdev->ipv6_addresses : &netdev->ipv4_addresses)
				->number++;
	}
	return 0;
}

static void begin_addresses(void *userdata)
{
	const struct address_answer *answer = userdata;

	for (size_t i = 0; i < answer->count; i++)
		answer->netdevs[i].ipv4_addresses = answer->netdevs[i].ipv6_addresses =
			(struct rna_value){0};
}

/* Addresses change with containers; a list that changed during the dump is discarded. */
static int count_addresses(const struct rna_root *root, struct rna_netdev *netdevs, size_t count)
{
	const struct ifaddrmsg body = {.ifa_family = AF_UNSPEC};
	struct address_answer answer = {netdevs, count};
	int error;

	(void)root; /* always the interfaces of the kernel */
	error = rna_netlink_ask(&(struct rna_netlink_question){.type = RTM_GETADDR,
							       .flags = NLM_F_DUMP,
							       .body = &body,
							       .body_size = sizeof(body),
							       .begin = begin_addresses},
				take_address, &answer);
	for (size_t i = 0; i < count && error == 0; i++)
		netdevs[i].ipv4_addresses.state = netdevs[i].ipv6_addresses.state = RNA_VALUE_OK;
	return error;
}

/* -- The default route ------------------------------------------------------------------------- */

static int take_route(struct rna_bytes message, void *userdata)
{
	return rna_route_answer_read(message, userdata);
}

/* Queries the route to an address; no packet is sent. */
static int find_route(int family, const void *address, int len, char ret[IF_NAMESIZE])
{
	const struct rtmsg route = {.rtm_family = (unsigned char)family,
				    .rtm_dst_len = (unsigned char)(len * 8)};
	const struct rna_netlink_attribute to = {RTA_DST, len, address};
	uint32_t ifindex = 0;
	int error = rna_netlink_ask(&(struct rna_netlink_question){.type = RTM_GETROUTE,
								   .body = &route,
								   .body_size = sizeof(route),
								   .attributes = &to,
								   .count = 1},
				    take_route, &ifindex);

	if (error == -ENETUNREACH || error == -EHOSTUNREACH || error == -EACCES || error == -EINVAL)
		return -ENOENT; /* no route, or an unreachable, prohibit or blackhole route */
	if (error < 0)
		return error;
	return ifindex > 0 && if_indextoname(ifindex, ret) ? 0 : -ENOENT;
}

/*
 * The route to a documentation address (RFC 5737, RFC 3849) is the default route, including policy
 * rules. A dump of the tables would not show the effect of these rules, and may have a million
 * routes.
 */
static int find_uplink(const struct rna_root *root, char ret[IF_NAMESIZE])
{
	static const uint8_t nowhere[] = {203, 0, 113, 1};
	static const uint8_t nowhere6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
	int error;

	(void)root; /* always the kernel's routes */
	error = find_route(AF_INET, nowhere, sizeof(nowhere), ret);
	return error == -ENOENT ? find_route(AF_INET6, nowhere6, sizeof(nowhere6), ret) : error;
}

const struct rna_netdev_backend rna_rtnetlink = {
	.read = read_link,
	.read_vlan = read_vlan,
	.count_addresses = count_addresses,
	.list_virtual_functions = list_virtual_functions,
	.find_uplink = find_uplink,
};
