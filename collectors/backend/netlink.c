// SPDX-License-Identifier: Apache-2.0
/*
 * The netlink backends: rtnetlink for network interfaces, RDMA netlink for the interface and the
 * hw_counters of a port, and for the objects on a device. Each request has its own socket, closed
 * after the answer, because an open NETLINK_RDMA socket would pin ib_core. A run keeps only the
 * numbers of devices, because the kernel does not accept names.
 *
 * Interfaces are requested by name, one by one. A node has few that serve RDMA and may have a
 * thousand for its containers; a dump would contain them all. Their addresses are read in one dump:
 * the kernel cannot filter by interface (that needs strict checking, Linux 4.20), and interfaces of
 * containers seldom have addresses on the host.
 *
 * Messages of the kernel are not trusted either: policies define the type of each attribute, and
 * libnl rejects attributes that are too short and unterminated texts.
 */
#include "netlink.h"

#include <errno.h>
#include <inttypes.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "rna/base/proc_stat.h"

#include "parse/bond_message.h"
#include "parse/vf_message.h"

#include "backends.h"

enum { DUMP_TRIES = 3 };

void rna_netlink_close(struct nl_sock **socket)
{
	if (*socket)
		nl_socket_free(*socket);
}

void rna_netlink_free_message(struct nl_msg **message)
{
	if (*message)
		nlmsg_free(*message);
}

/* libnl's codes are less precise than the kernel's errno, which on_error() stores. */
static int nl_errno(int code)
{
	switch (-code) {
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_PERM: /* a filter of system calls refuses sockets */
		return -EPERM;
	case NLE_DUMP_INTR: /* the list changed during the dump: try again */
		return -EAGAIN;
	case NLE_PROTO_MISMATCH:
	case NLE_AF_NOSUPPORT:
		return -EPROTONOSUPPORT;
	default:
		return -EIO;
	}
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *message, void *userdata)
{
	int *error = userdata;

	(void)from;
	*error = message->error;
	return NL_STOP;
}

int rna_netlink_open(int protocol, struct nl_sock **ret)
{
	RNA_CLEANUP(rna_netlink_close) struct nl_sock *socket = nl_socket_alloc();
	int code;

	if (!socket)
		return -ENOMEM;
	nl_socket_disable_auto_ack(socket);
	code = nl_connect(socket, protocol);
	if (code < 0)
		return nl_errno(code);
	*ret = RNA_TAKE(socket);
	return 0;
}

int rna_netlink_ask(struct nl_sock *socket, struct nl_msg *message, nl_recvmsg_msg_cb_t parse,
		    void *userdata)
{
	int error = 0, code;

	nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, parse, userdata);
	nl_socket_modify_err_cb(socket, NL_CB_CUSTOM, on_error, &error);
	code = nl_send_auto(socket, message);
	if (code >= 0)
		code = nl_recvmsgs_default(socket);
	if (error < 0)
		return error;
	return code < 0 ? nl_errno(code) : 0;
}

/* Sends one request on its own socket. */
static int ask(int protocol, struct nl_msg *message, nl_recvmsg_msg_cb_t parse, void *userdata)
{
	RNA_CLEANUP(rna_netlink_close) struct nl_sock *socket = NULL;
	int error = rna_netlink_open(protocol, &socket);

	return error < 0 ? error : rna_netlink_ask(socket, message, parse, userdata);
}

/* -- rtnetlink ------------------------------------------------------------------------------------
 */

static const struct nla_policy link_policy[IFLA_MAX + 1] = {
	[IFLA_IFNAME] = {.type = NLA_STRING},
	[IFLA_MASTER] = {.type = NLA_U32},
	[IFLA_MTU] = {.type = NLA_U32},
	[IFLA_CARRIER_UP_COUNT] = {.type = NLA_U32},
	[IFLA_CARRIER_DOWN_COUNT] = {.type = NLA_U32},
	[IFLA_OPERSTATE] = {.type = NLA_U8},
	[IFLA_CARRIER] = {.type = NLA_U8},
};

struct link_answer {
	struct rna_arena *arena;
	struct rna_netdev *netdev;
	int error;
};

static struct rna_value u32_value(const struct nlattr *attribute)
{
	return attribute ? rna_value_ok(nla_get_u32(attribute)) : (struct rna_value){0};
}

/* The name of the interface that this one is enslaved to, or NULL. */
static const char *master_name(const struct nlattr *attribute, struct rna_arena *arena)
{
	char name[IF_NAMESIZE];

	if (!attribute || !if_indextoname(nla_get_u32(attribute), name))
		return NULL;
	return rna_arena_strdup(arena, name);
}

/*
 * The kernel answers 0 for the carrier of an interface that is administratively down, whatever
 * the cable does. IFLA_CARRIER_UP_COUNT and DOWN_COUNT: Linux 4.16.
 */
static int parse_link(struct nl_msg *message, void *userdata)
{
	struct link_answer *answer = userdata;
	struct nlmsghdr *header = nlmsg_hdr(message);
	struct nlattr *attributes[IFLA_MAX + 1];
	const struct ifinfomsg *link;
	struct rna_netdev *netdev = answer->netdev;

	if (nlmsg_parse(header, sizeof(*link), attributes, IFLA_MAX, link_policy) < 0 ||
	    !attributes[IFLA_IFNAME]) {
		answer->error = -EBADMSG;
		return NL_STOP;
	}
	link = nlmsg_data(header);
	*netdev = (struct rna_netdev){
		.name = rna_arena_strdup(answer->arena, nla_get_string(attributes[IFLA_IFNAME])),
		.master = master_name(attributes[IFLA_MASTER], answer->arena),
		.ifindex = (unsigned)link->ifi_index,
		.type = link->ifi_type,
		.admin_up = link->ifi_flags & IFF_UP,
		.mtu = u32_value(attributes[IFLA_MTU]),
		.carrier_up = u32_value(attributes[IFLA_CARRIER_UP_COUNT]),
		.carrier_down = u32_value(attributes[IFLA_CARRIER_DOWN_COUNT]),
	};
	if (attributes[IFLA_OPERSTATE])
		netdev->operstate = nla_get_u8(attributes[IFLA_OPERSTATE]);
	if (attributes[IFLA_CARRIER] && netdev->admin_up)
		netdev->carrier = rna_value_ok(nla_get_u8(attributes[IFLA_CARRIER]));
	answer->error = netdev->name ? 0 : -ENOMEM;
	if (rna_bond_message_read((struct rna_bytes){(const uint8_t *)header, header->nlmsg_len},
				  answer->arena, &netdev->lacp) == -ENOMEM)
		answer->error = -ENOMEM; /* without LACP, the interface is still one */
	return NL_OK;
}

/* The request for one interface; NULL: no memory. */
static struct nl_msg *new_link_message(const char *name)
{
	RNA_CLEANUP(rna_netlink_free_message)
	struct nl_msg *message = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_REQUEST);
	struct ifinfomsg link = {.ifi_family = AF_UNSPEC};

	if (!message || nlmsg_append(message, &link, sizeof(link), NLMSG_ALIGNTO) < 0 ||
	    nla_put_string(message, IFLA_IFNAME, name) < 0 ||
	    nla_put_u32(message, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS) < 0)
		return NULL;
	return RNA_TAKE(message);
}

static int read_link(const struct rna_root *root, const char *name, struct rna_arena *arena,
		     struct rna_netdev *ret)
{
	struct link_answer answer = {.arena = arena, .netdev = ret, .error = -ENODEV};
	RNA_CLEANUP(rna_netlink_free_message) struct nl_msg *message = new_link_message(name);
	int error;

	(void)root; /* always the interfaces of the kernel */
	error = message ? ask(NETLINK_ROUTE, message, parse_link, &answer) : -ENOMEM;
	return error < 0 ? error : answer.error;
}

struct vlan_answer {
	struct rna_qos_vlan *vlan;
	int error;
};

/* The kernel lists only mapped priorities. */
static void parse_egress(const struct nlattr *list, struct rna_qos_vlan *vlan)
{
	struct nlattr *entry;
	struct ifla_vlan_qos_mapping mapping;
	int left;

	vlan->egress = rna_value_ok(0);
	nla_for_each_nested(entry, list, left)
	{
		if (nla_len(entry) < (int)sizeof(mapping))
			continue;
		memcpy(&mapping, nla_data(entry), sizeof(mapping));
		if (mapping.from >= RNA_PRIORITY_COUNT || mapping.to >= RNA_PRIORITY_COUNT)
			continue;
		vlan->egress.number |= UINT64_C(1) << mapping.from;
		vlan->egress_priority[mapping.from] = (uint8_t)mapping.to;
	}
}

static const struct nla_policy info_policy[IFLA_INFO_MAX + 1] = {
	[IFLA_INFO_KIND] = {.type = NLA_STRING},
};

static const struct nla_policy vlan_policy[IFLA_VLAN_MAX + 1] = {
	[IFLA_VLAN_ID] = {.type = NLA_U16},
};

/* 0; -ENOENT: not a VLAN. */
static int find_vlan_data(struct nlattr *link_info, struct nlattr **ret)
{
	struct nlattr *info[IFLA_INFO_MAX + 1];

	if (!link_info)
		return -ENOENT;
	if (nla_parse_nested(info, IFLA_INFO_MAX, link_info, info_policy) < 0)
		return -EBADMSG;
	if (!info[IFLA_INFO_KIND] || strcmp(nla_get_string(info[IFLA_INFO_KIND]), "vlan") != 0 ||
	    !info[IFLA_INFO_DATA])
		return -ENOENT;
	*ret = info[IFLA_INFO_DATA];
	return 0;
}

static int parse_vlan(struct nl_msg *message, void *userdata)
{
	struct vlan_answer *answer = userdata;
	struct nlattr *link[IFLA_MAX + 1], *nest, *data[IFLA_VLAN_MAX + 1];
	static const struct rna_value none;

	answer->error = -EBADMSG;
	if (nlmsg_parse(nlmsg_hdr(message), sizeof(struct ifinfomsg), link, IFLA_MAX, link_policy) <
	    0)
		return NL_STOP;
	answer->error = find_vlan_data(link[IFLA_LINKINFO], &nest);
	if (answer->error < 0)
		return NL_STOP;
	answer->error = nla_parse_nested(data, IFLA_VLAN_MAX, nest, vlan_policy) < 0 ? -EBADMSG : 0;
	if (answer->error < 0)
		return NL_STOP;
	answer->vlan->mtu = u32_value(link[IFLA_MTU]);
	answer->vlan->id =
		data[IFLA_VLAN_ID] ? rna_value_ok(nla_get_u16(data[IFLA_VLAN_ID])) : none;
	answer->vlan->egress = rna_value_ok(0);
	if (data[IFLA_VLAN_EGRESS_QOS])
		parse_egress(data[IFLA_VLAN_EGRESS_QOS], answer->vlan);
	return NL_OK;
}

static int read_vlan(const struct rna_root *root, const char *name, struct rna_qos_vlan *ret)
{
	struct vlan_answer answer = {.vlan = ret, .error = -ENODEV};
	RNA_CLEANUP(rna_netlink_free_message) struct nl_msg *message = new_link_message(name);
	int error;

	(void)root; /* always the interfaces of the kernel */
	error = message ? ask(NETLINK_ROUTE, message, parse_vlan, &answer) : -ENOMEM;
	return error < 0 ? error : answer.error;
}

struct address_answer {
	struct rna_netdev *netdevs;
	size_t count;
};

static int parse_address(struct nl_msg *message, void *userdata)
{
	const struct address_answer *answer = userdata;
	const struct ifaddrmsg *address = nlmsg_data(nlmsg_hdr(message));

	if (nlmsg_datalen(nlmsg_hdr(message)) < (int)sizeof(*address) ||
	    address->ifa_scope >= RT_SCOPE_LINK)
		return NL_SKIP;
	for (size_t i = 0; i < answer->count; i++) {
		struct rna_netdev *netdev = &answer->netdevs[i];

		if (netdev->ifindex == address->ifa_index)
			(address->ifa_family == AF_INET ? &netdev->ipv4_addresses
							: &netdev->ipv6_addresses)
				->number++;
	}
	return NL_OK;
}

static int count_once(struct rna_netdev *netdevs, size_t count)
{
	struct address_answer answer = {netdevs, count};
	struct ifaddrmsg address = {.ifa_family = AF_UNSPEC};
	RNA_CLEANUP(rna_netlink_free_message) struct nl_msg *message = NULL;

	for (size_t i = 0; i < count; i++)
		netdevs[i].ipv4_addresses = netdevs[i].ipv6_addresses = (struct rna_value){0};
	message = nlmsg_alloc_simple(RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP);
	if (!message || nlmsg_append(message, &address, sizeof(address), NLMSG_ALIGNTO) < 0)
		return -ENOMEM;
	return ask(NETLINK_ROUTE, message, parse_address, &answer);
}

/* Addresses change with containers; a list that changed during the dump is discarded. */
static int count_addresses(const struct rna_root *root, struct rna_netdev *netdevs, size_t count)
{
	int error = -EAGAIN;

	(void)root; /* always the interfaces of the kernel */
	for (unsigned i = 0; i < DUMP_TRIES && error == -EAGAIN; i++)
		error = count_once(netdevs, count);
	for (size_t i = 0; i < count && error == 0; i++)
		netdevs[i].ipv4_addresses.state = netdevs[i].ipv6_addresses.state = RNA_VALUE_OK;
	return error;
}

static const struct nla_policy route_policy[RTA_MAX + 1] = {
	[RTA_OIF] = {.type = NLA_U32},
};

static int parse_route(struct nl_msg *message, void *userdata)
{
	const struct rtmsg *route = nlmsg_data(nlmsg_hdr(message));
	struct nlattr *attributes[RTA_MAX + 1];
	uint32_t *ifindex = userdata;

	if (nlmsg_parse(nlmsg_hdr(message), sizeof(*route), attributes, RTA_MAX, route_policy) ==
		    0 &&
	    route->rtm_type == RTN_UNICAST && attributes[RTA_OIF])
		*ifindex = nla_get_u32(attributes[RTA_OIF]);
	return NL_OK;
}

/* Queries the route to an address; no packet is sent. */
static int find_route(int family, const void *address, int len, char ret[IF_NAMESIZE])
{
	struct rtmsg route = {.rtm_family = (unsigned char)family,
			      .rtm_dst_len = (unsigned char)(len * 8)};
	RNA_CLEANUP(rna_netlink_free_message) struct nl_msg *message = NULL;
	uint32_t ifindex = 0;
	int error;

	message = nlmsg_alloc_simple(RTM_GETROUTE, NLM_F_REQUEST);
	if (!message || nlmsg_append(message, &route, sizeof(route), NLMSG_ALIGNTO) < 0 ||
	    nla_put(message, RTA_DST, len, address) < 0)
		return -ENOMEM;
	error = ask(NETLINK_ROUTE, message, parse_route, &ifindex);
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

struct vf_answer {
	struct rna_arena *arena;
	struct rna_vf_list *list;
	int error;
};

static int parse_vfs(struct nl_msg *message, void *userdata)
{
	const struct nlmsghdr *head = nlmsg_hdr(message);
	struct vf_answer *answer = userdata;

	answer->error =
		rna_vf_message_read((struct rna_bytes){(const uint8_t *)head, head->nlmsg_len},
				    answer->arena, answer->list);
	return NL_OK;
}

/* Skips statistics of the functions, which drivers read from the device. */
static int list_virtual_functions(const struct rna_root *root, const char *name,
				  struct rna_arena *arena, struct rna_vf_list *ret)
{
	struct vf_answer answer = {.arena = arena, .list = ret, .error = -ENODEV};
	struct ifinfomsg link = {.ifi_family = AF_UNSPEC};
	RNA_CLEANUP(rna_netlink_free_message) struct nl_msg *message = NULL;
	int error;

	(void)root; /* always the interfaces of the kernel */
	message = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_REQUEST);
	if (!message || nlmsg_append(message, &link, sizeof(link), NLMSG_ALIGNTO) < 0 ||
	    nla_put_string(message, IFLA_IFNAME, name) < 0 ||
	    nla_put_u32(message, IFLA_EXT_MASK, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS) < 0)
		return -ENOMEM;
	error = ask(NETLINK_ROUTE, message, parse_vfs, &answer);
	return error < 0 ? error : answer.error;
}

const struct rna_netdev_backend rna_rtnetlink = {
	.read = read_link,
	.read_vlan = read_vlan,
	.count_addresses = count_addresses,
	.list_virtual_functions = list_virtual_functions,
	.find_uplink = find_uplink,
};

/* -- RDMA netlink ---------------------------------------------------------------------------------
 */

/* Linux 5.16 and 6.11; the headers of Ubuntu 22.04 and Debian 12 are older. */
enum {
	NLDEV_CMD_STAT_GET_STATUS = 24,
	NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC = 95,
	NLDEV_ATTR_DEV_TYPE = 99,
	NLDEV_ATTR_PARENT_NAME = 100,
	ATTRIBUTES = NLDEV_ATTR_PARENT_NAME + 1, /* later attributes are not used */
	DEVICE_TYPE_SMI = 1,
};

static const struct nla_policy nldev_policy[ATTRIBUTES] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_DEV_NAME] = {.type = NLA_STRING},
	[RDMA_NLDEV_ATTR_NDEV_NAME] = {.type = NLA_STRING},
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME] = {.type = NLA_STRING},
	[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR] = {.type = NLA_U64},
	[RDMA_NLDEV_ATTR_RES_PID] = {.type = NLA_U32},
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME] = {.type = NLA_STRING},
	[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE] = {.type = NLA_U64},
	[NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC] = {.type = NLA_U8},
	[NLDEV_ATTR_DEV_TYPE] = {.type = NLA_U8},
	[NLDEV_ATTR_PARENT_NAME] = {.type = NLA_STRING},
};

/* All attributes belong to one enum at every nesting level. 0 or -EBADMSG. */
static int take_apart(struct nl_msg *message, struct nlattr *ret[ATTRIBUTES])
{
	return nlmsg_parse(nlmsg_hdr(message), 0, ret, ATTRIBUTES - 1, nldev_policy) < 0 ? -EBADMSG
											 : 0;
}

/* Finds a mandatory list of a message. */
static int find_list(struct nl_msg *message, int type, struct nlattr **ret)
{
	struct nlattr *attributes[ATTRIBUTES];
	int error = take_apart(message, attributes);

	if (error < 0)
		return error;
	*ret = attributes[type];
	return *ret ? 0 : -EBADMSG;
}

/* Calls parse for each entry of a list. 0 or negative errno; -EBADMSG for a truncated list. */
static int each_entry(struct nlattr *list,
		      int (*parse)(struct nlattr *attributes[ATTRIBUTES], void *userdata),
		      void *userdata)
{
	struct nlattr *entry, *attributes[ATTRIBUTES];
	int left, error;

	nla_for_each_nested(entry, list, left)
	{
		error = nla_parse_nested(attributes, ATTRIBUTES - 1, entry, nldev_policy) < 0
				? -EBADMSG
				: parse(attributes, userdata);
		if (error < 0)
			return error;
	}
	return left > 0 ? -EBADMSG : 0;
}

static size_t count_entries(struct nlattr *list)
{
	struct nlattr *entry;
	size_t count = 0;
	int left;

	nla_for_each_nested(entry, list, left) count++;
	return count;
}

static struct nl_msg *new_nldev_message(int command, int flags)
{
	return nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), NLM_F_REQUEST | flags);
}

struct device_answer {
	struct rna_rdma_numbers *numbers;
	int error;
};

static int add_number(struct rna_rdma_numbers *numbers, const char *name, uint32_t index)
{
	struct rna_rdma_number *more =
		reallocarray(numbers->items, numbers->count + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	numbers->items = more;
	more[numbers->count].index = index;
	(void)snprintf(more[numbers->count].name, sizeof(more->name), "%s", name);
	numbers->count++;
	return 0;
}

static int parse_device(struct nl_msg *message, void *userdata)
{
	struct device_answer *answer = userdata;
	struct nlattr *attributes[ATTRIBUTES];

	answer->error = take_apart(message, attributes);
	if (answer->error < 0)
		return NL_STOP;
	if (!attributes[RDMA_NLDEV_ATTR_DEV_NAME] || !attributes[RDMA_NLDEV_ATTR_DEV_INDEX])
		return NL_SKIP;
	answer->error =
		add_number(answer->numbers, nla_get_string(attributes[RDMA_NLDEV_ATTR_DEV_NAME]),
			   nla_get_u32(attributes[RDMA_NLDEV_ATTR_DEV_INDEX]));
	return answer->error < 0 ? NL_STOP : NL_OK;
}

static int list_once(struct rna_rdma_numbers *numbers)
{
	RNA_CLEANUP(rna_netlink_free_message) struct nl_msg *message = NULL;
	struct device_answer answer = {.numbers = numbers};
	int error;

	message = new_nldev_message(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	if (!message)
		return -ENOMEM;
	numbers->count = 0; /* discards an interrupted list */
	error = ask(NETLINK_RDMA, message, parse_device, &answer);
	return error < 0 ? error : answer.error;
}

/* The kernel interrupts the dump if a device is added or removed. */
static int list_numbers(struct rna_rdma_numbers *numbers)
{
	int error = -EAGAIN;

	for (unsigned i = 0; i < DUMP_TRIES && error == -EAGAIN; i++)
		error = list_once(numbers);
	numbers->listed = error == 0;
	return error;
}

static int find_index(struct rna_rdma_numbers *numbers, const char *device, uint32_t *ret)
{
	int error;

	if (!rna_backends_stack_exists(numbers->root))
		return -ENOENT;
	error = numbers->listed ? 0 : list_numbers(numbers);
	if (error < 0)
		return error;
	for (size_t i = 0; i < numbers->count; i++)
		if (strcmp(numbers->items[i].name, device) == 0) {
			*ret = numbers->items[i].index;
			return 0;
		}
	return -ENOENT;
}

void rna_rdma_numbers_free(struct rna_rdma_numbers *numbers)
{
	free(numbers->items);
	*numbers = (struct rna_rdma_numbers){.root = numbers->root};
}

struct port_answer {
	char *name; /* IF_NAMESIZE */
	int error;
};

/* The kernel omits the name if the interface is in another network namespace. */
static int parse_port(struct nl_msg *message, void *userdata)
{
	struct port_answer *answer = userdata;
	struct nlattr *attributes[ATTRIBUTES], *name;

	answer->error = take_apart(message, attributes);
	if (answer->error < 0)
		return NL_STOP;
	name = attributes[RDMA_NLDEV_ATTR_NDEV_NAME];
	if (name)
		(void)nla_strlcpy(answer->name, name, IF_NAMESIZE);
	answer->error = name ? 0 : -ENOENT;
	return NL_OK;
}

/* A request about a device; NULL: *ret_error says why. */
static struct nl_msg *new_device_message(struct rna_rdma_numbers *numbers, int command, int flags,
					 const char *device, int *ret_error)
{
	RNA_CLEANUP(rna_netlink_free_message) struct nl_msg *message = NULL;
	uint32_t index;

	*ret_error = find_index(numbers, device, &index);
	if (*ret_error < 0)
		return NULL;
	message = new_nldev_message(command, flags);
	if (message && nla_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, index) == 0)
		return RNA_TAKE(message);
	*ret_error = -ENOMEM;
	return NULL;
}

/* A request about a port of a device; NULL: *ret_error says why. */
static struct nl_msg *new_port_message(struct rna_rdma_numbers *numbers, int command,
				       const char *device, unsigned port, int *ret_error)
{
	RNA_CLEANUP(rna_netlink_free_message)
	struct nl_msg *message = new_device_message(numbers, command, 0, device, ret_error);

	if (message && nla_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, port) == 0)
		return RNA_TAKE(message);
	if (message)
		*ret_error = -ENOMEM;
	return NULL;
}

struct parent_answer {
	char *name; /* RNA_RDMA_NAME_MAX */
	int error;
};

/* Devices by themselves have no type: fill_dev_info() in drivers/infiniband/core/nldev.c. */
static int parse_parent(struct nl_msg *message, void *userdata)
{
	struct parent_answer *answer = userdata;
	struct nlattr *attributes[ATTRIBUTES], *type, *name;

	answer->error = take_apart(message, attributes);
	if (answer->error < 0)
		return NL_STOP;
	type = attributes[NLDEV_ATTR_DEV_TYPE];
	name = attributes[NLDEV_ATTR_PARENT_NAME];
	if (type && name && nla_get_u8(type) == DEVICE_TYPE_SMI)
		(void)nla_strlcpy(answer->name, name, RNA_RDMA_NAME_MAX);
	return NL_OK;
}

static int find_parent(struct rna_rdma_numbers *numbers, const char *device,
		       char ret[RNA_RDMA_NAME_MAX])
{
	RNA_CLEANUP(rna_netlink_free_message) struct nl_msg *message = NULL;
	struct parent_answer answer = {.name = ret, .error = -EBADMSG};
	int error;

	ret[0] = '\0';
	message = new_device_message(numbers, RDMA_NLDEV_CMD_GET, 0, device, &error);
	if (!message)
		return error;
	error = ask(NETLINK_RDMA, message, parse_parent, &answer);
	return error < 0 ? error : answer.error;
}

static int find_netdev(struct rna_rdma_numbers *numbers, const char *device, unsigned port,
		       char ret[IF_NAMESIZE])
{
	RNA_CLEANUP(rna_netlink_free_message) struct nl_msg *message = NULL;
	struct port_answer answer = {.name = ret, .error = -EBADMSG};
	int error;

	message = new_port_message(numbers, RDMA_NLDEV_CMD_PORT_GET, device, port, &error);
	if (!message)
		return error;
	error = ask(NETLINK_RDMA, message, parse_port, &answer);
	return error < 0 ? error : answer.error;
}

struct counters_answer {
	struct rna_arena *arena;
	struct rna_netlink_counters *counters;
	int error;
};

static int parse_counter(struct nlattr *attributes[ATTRIBUTES], void *userdata)
{
	const struct nlattr *name = attributes[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME];
	const struct nlattr *number = attributes[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE];
	struct counters_answer *answer = userdata;
	struct rna_counter_value *value = &answer->counters->values[answer->counters->count];

	if (!name || !number)
		return -EBADMSG;
	value->file = rna_arena_strdup(answer->arena, nla_get_string(name));
	value->value = rna_value_ok(nla_get_u64(number));
	answer->counters->count++;
	return value->file ? 0 : -ENOMEM;
}

static int parse_counters(struct nl_msg *message, void *userdata)
{
	struct counters_answer *answer = userdata;
	struct nlattr *list;

	answer->error = find_list(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, &list);
	if (answer->error < 0)
		return NL_STOP;
	answer->counters->values = rna_arena_array(answer->arena, count_entries(list),
						   sizeof(*answer->counters->values));
	answer->error =
		answer->counters->values ? each_entry(list, parse_counter, answer) : -ENOMEM;
	return NL_STOP;
}

/* The answer must fit in a page, which the 92 counters of bnxt_re nearly fill. */
static int get_counters(struct rna_rdma_numbers *numbers, const char *device, unsigned port,
			struct rna_arena *arena, struct rna_netlink_counters *ret)
{
	struct counters_answer answer = {.arena = arena, .counters = ret, .error = -EBADMSG};
	RNA_CLEANUP(rna_netlink_free_message) struct nl_msg *message = NULL;
	int error;

	message = new_port_message(numbers, RDMA_NLDEV_CMD_STAT_GET, device, port, &error);
	if (!message)
		return error;
	*ret = (struct rna_netlink_counters){0};
	error = ask(NETLINK_RDMA, message, parse_counters, &answer);
	return error < 0 ? error : answer.error;
}

struct resources_answer {
	struct rna_resource_counts *counts;
	int error;
};

/* Ignores unknown (newer) names. */
static int parse_resource(struct nlattr *attributes[ATTRIBUTES], void *userdata)
{
	const struct nlattr *name = attributes[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME];
	const struct nlattr *number = attributes[RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR];
	struct rna_resource_counts *counts = userdata;

	if (!name || !number)
		return -EBADMSG;
	for (enum rna_resource i = 0; i < RNA_RESOURCE_COUNT; i++)
		if (strcmp(nla_get_string(name), rna_resource_name(i)) == 0)
			counts->of[i] = rna_value_ok(nla_get_u64(number));
	return 0;
}

static int parse_resources(struct nl_msg *message, void *userdata)
{
	struct resources_answer *answer = userdata;
	struct nlattr *list;

	answer->error = find_list(message, RDMA_NLDEV_ATTR_RES_SUMMARY, &list);
	if (answer->error == 0)
		answer->error = each_entry(list, parse_resource, answer->counts);
	return NL_STOP;
}

struct contexts_answer {
	uint32_t process; /* the agent's PID, as RDMA netlink has it */
	uint64_t own;
	struct rna_context_list *list; /* NULL: they are only counted */
	int error;
};

/* The agent's children are those that test and probe. False as well for one that has ended. */
static bool is_child_of(uint32_t process, uint32_t parent)
{
	char text[RNA_PROC_STAT_MAX], *fields;
	unsigned found = 0;

	return rna_proc_stat_read((pid_t)process, text, &fields) == 0 &&
	       sscanf(fields, "%*c %u", &found) == 1 && found == parent;
}

/* *list has room for twice as many whenever its number is a power of two. */
static int add_context(struct rna_context_list *list, struct rna_context context)
{
	if (list->count == RNA_CONTEXTS_MAX) {
		list->others++;
		return 0;
	}
	if ((list->count & (list->count - 1)) == 0) {
		struct rna_context *items =
			rna_arena_array(list->arena, list->count > 0 ? 2 * list->count : 1,
					sizeof(*items));

		if (!items)
			return -ENOMEM;
		if (list->count > 0)
			memcpy(items, list->items, list->count * sizeof(*items));
		list->items = items;
	}
	list->items[list->count++] = context;
	return 0;
}

/* The kernel reports the pid in this process's PID namespace, or none if the owner is not in it. */
static int take_context(struct nlattr *attributes[ATTRIBUTES], void *userdata)
{
	const struct nlattr *pid = attributes[RDMA_NLDEV_ATTR_RES_PID];
	const struct nlattr *number = attributes[RDMA_NLDEV_ATTR_RES_CTXN];
	struct contexts_answer *answer = userdata;
	struct rna_context context = {
		.number = number ? nla_get_u32(number) : 0,
		.pid = pid ? nla_get_u32(pid) : 0,
	};

	context.own = pid &&
		      (context.pid == answer->process || is_child_of(context.pid, answer->process));
	answer->own += context.own;
	return answer->list ? add_context(answer->list, context) : 0;
}

static int parse_contexts(struct nl_msg *message, void *userdata)
{
	struct contexts_answer *answer = userdata;
	struct nlattr *list;

	answer->error = find_list(message, RDMA_NLDEV_ATTR_RES_CTX, &list);
	if (answer->error == 0)
		answer->error = each_entry(list, take_context, answer);
	return answer->error < 0 ? NL_STOP : NL_OK;
}

/* Kernels before 5.13 do not support this and return EINVAL. */
static int ask_contexts(struct rna_rdma_numbers *numbers, const char *device,
			struct rna_context_list *list, struct rna_value *ret_own)
{
	RNA_CLEANUP(rna_netlink_free_message) struct nl_msg *message = NULL;
	struct contexts_answer answer = {
		.process = (uint32_t)(numbers->process ? numbers->process : getpid()),
		.list = list,
	};
	int error;

	message =
		new_device_message(numbers, RDMA_NLDEV_CMD_RES_CTX_GET, NLM_F_DUMP, device, &error);
	if (!message)
		return error;
	error = ask(NETLINK_RDMA, message, parse_contexts, &answer);
	error = error < 0 ? error : answer.error;
	if (error == -EINVAL || error == -EOPNOTSUPP)
		return 0;
	*ret_own = error == 0 ? rna_value_ok(answer.own) : rna_value_unreadable();
	return error;
}

static int get_resources(struct rna_rdma_numbers *numbers, const char *device,
			 struct rna_resource_counts *ret, struct rna_context_list *ret_contexts)
{
	RNA_CLEANUP(rna_netlink_free_message) struct nl_msg *message = NULL;
	struct resources_answer answer = {.counts = ret, .error = -EBADMSG};
	int error;

	*ret = (struct rna_resource_counts){0};
	message = new_device_message(numbers, RDMA_NLDEV_CMD_RES_GET, 0, device, &error);
	if (!message)
		return error;
	error = ask(NETLINK_RDMA, message, parse_resources, &answer);
	error = error < 0 ? error : answer.error;
	if (error < 0)
		*ret = (struct rna_resource_counts){0};
	else if (ret->of[RNA_RESOURCE_CTX].number > 0)
		error = ask_contexts(numbers, device, ret_contexts, &ret->own_contexts);
	return error;
}

struct optional_answer {
	struct rna_arena *arena;
	struct rna_port_optional_counters *port;
	struct rna_optional_counter *items; /* of port */
	int error;
};

/* Counters that are always enabled lack this attribute. */
static int parse_optional_counter(struct nlattr *attributes[ATTRIBUTES], void *userdata)
{
	const struct nlattr *name = attributes[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME];
	const struct nlattr *dynamic = attributes[NLDEV_ATTR_STAT_HWCOUNTER_DYNAMIC];
	struct optional_answer *answer = userdata;
	struct rna_optional_counter *item = &answer->items[answer->port->count];

	if (!name || !dynamic)
		return 0;
	item->name = rna_arena_strdup(answer->arena, nla_get_string(name));
	item->enabled = nla_get_u8(dynamic);
	answer->port->count++;
	return item->name ? 0 : -ENOMEM;
}

static int parse_optional(struct nl_msg *message, void *userdata)
{
	struct optional_answer *answer = userdata;
	struct nlattr *list;

	answer->error = find_list(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, &list);
	if (answer->error < 0)
		return NL_STOP;
	answer->items = rna_arena_array(answer->arena, count_entries(list), sizeof(*answer->items));
	answer->port->items = answer->items;
	answer->error = answer->items ? each_entry(list, parse_optional_counter, answer) : -ENOMEM;
	return NL_STOP;
}

static int get_optional(struct rna_rdma_numbers *numbers, const char *device,
			struct rna_arena *arena, struct rna_port_optional_counters *ret)
{
	struct optional_answer answer = {.arena = arena, .port = ret, .error = -EBADMSG};
	RNA_CLEANUP(rna_netlink_free_message) struct nl_msg *message = NULL;
	int error;

	message = new_port_message(numbers, NLDEV_CMD_STAT_GET_STATUS, device, ret->number, &error);
	if (!message)
		return error;
	error = ask(NETLINK_RDMA, message, parse_optional, &answer);
	error = error < 0 ? error : answer.error;
	if (error < 0)
		ret->count = 0;
	return error;
}

const struct rna_rdma_netlink_backend rna_rdma_netlink = {
	.find_parent = find_parent,
	.find_netdev = find_netdev,
	.get_counters = get_counters,
	.get_resources = get_resources,
	.get_optional = get_optional,
};
