// SPDX-License-Identifier: Apache-2.0
/*
 * The gateway backend: the routing tables and the neighbour table of the kernel, by rtnetlink.
 *
 * A node may have thousands of routes, for pods or by BGP. The kernel leaves out those of other
 * interfaces and types if the socket has NETLINK_GET_STRICT_CHK (ip_valid_fib_dump_req() in
 * net/ipv4/fib_frontend.c, Linux 4.20). Before that, and if it ignores the filter, one dump has
 * everything, and reading ends at a limit. A neighbour is one question (neigh_get() in
 * net/core/neighbour.c, Linux 5.0); before that, a dump. No privilege is needed to read.
 *
 * To probe, the kernel itself has to ask: setting NUD_PROBE over rtnetlink needs CAP_NET_ADMIN
 * (rtnetlink_rcv_msg()), arping CAP_NET_RAW, and an ICMP echo without privileges a group that
 * net.ipv4.ping_group_range allows, by default none (Documentation/networking/ip-sysctl.rst). Any
 * datagram makes the kernel resolve the address (neigh_resolve_output()), and needs nothing.
 */
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>

#include "rna/base/clock.h"
#include "rna/base/file.h"

#include "parse/route_message.h"

#include "backends.h"
#include "netlink.h"

enum {
	NEXTHOPS_MAX = 32, /* nexthop objects per interface and IP version */
	DISCARD_PORT = 9,  /* RFC 863 */
};

/* -- Routes ------------------------------------------------------------------------------------ */

/* The widest routes of one IP version out of an interface. */
struct widest {
	uint8_t prefix;
	bool mesh;    /* more gateways than a rail has */
	size_t count; /* of gateways, 0: no route with one */
	struct rna_gid gateways[RNA_GATEWAYS_MAX];
	size_t nexthop_count; /* objects whose hops the kernel has not told */
	uint32_t nexthops[NEXTHOPS_MAX];
};

enum { IP_VERSIONS = 2 };

struct out {
	const char *name;
	uint32_t ifindex;
	struct widest widest[IP_VERSIONS]; /* of IPv4, IPv6 */
};

struct search {
	size_t count;
	struct out *outs;
};

/* Prepares for routes of that prefix. False: wider ones are known. */
static bool accepts(struct widest *widest, uint8_t prefix)
{
	bool empty = widest->count == 0 && widest->nexthop_count == 0;

	if (!empty && prefix > widest->prefix)
		return false;
	if (empty || prefix < widest->prefix)
		*widest = (struct widest){.prefix = prefix};
	return true;
}

static void add_gateway(struct widest *widest, const struct rna_gid *gateway)
{
	for (size_t i = 0; i < widest->count; i++)
		if (rna_gid_is_same(&widest->gateways[i], gateway))
			return;
	if (widest->count < RNA_GATEWAYS_MAX)
		widest->gateways[widest->count++] = *gateway;
	else
		widest->mesh = true;
}

static void add_nexthop(struct widest *widest, uint32_t nexthop)
{
	for (size_t i = 0; i < widest->nexthop_count; i++)
		if (widest->nexthops[i] == nexthop)
			return;
	if (widest->nexthop_count < NEXTHOPS_MAX)
		widest->nexthops[widest->nexthop_count++] = nexthop;
	else
		widest->mesh = true;
}

/* The interface that the hop leads out of, if it is one of ours. */
static struct out *find_out(const struct search *search, uint32_t ifindex)
{
	return RNA_FIND(i, search->outs, search->count, search->outs[i].ifindex == ifindex);
}

/* A dump of routes; filtered: they all lead out of one. */
struct dump {
	const struct search *search;
	struct out *filtered;
};

static int take_route(struct rna_bytes message, void *userdata)
{
	const struct dump *dump = userdata;
	struct rna_route_message route;

	if (rna_route_message_read(message, &route) < 0)
		return 0; /* a message of another type, or one that is broken, costs itself */
	for (size_t i = 0; i < route.count; i++) {
		struct out *out = find_out(dump->search, route.hops[i].ifindex);

		if (out && accepts(&out->widest[route.ipv6], route.prefix))
			add_gateway(&out->widest[route.ipv6], &route.hops[i].gateway);
	}
	if (route.nexthop && dump->filtered &&
	    accepts(&dump->filtered->widest[route.ipv6], route.prefix))
		add_nexthop(&dump->filtered->widest[route.ipv6], route.nexthop);
	return 0;
}

/* out: NULL: of all interfaces. */
static int dump_routes(const struct search *search, bool ipv6, struct out *out)
{
	const struct rtmsg route = {.rtm_family = ipv6 ? AF_INET6 : AF_INET,
				    .rtm_type = RTN_UNICAST};
	const struct rna_netlink_attribute filter = {RTA_OIF, sizeof(out->ifindex),
						     out ? &out->ifindex : NULL};
	struct dump dump = {search, out};
	int status = rna_netlink_ask(&(struct rna_netlink_question){.type = RTM_GETROUTE,
								    .flags = NLM_F_DUMP,
								    .body = &route,
								    .body_size = sizeof(route),
								    .attributes = &filter,
								    .count = out ? 1 : 0},
				     take_route, &dump);

	/* What a dump of a changing table has is true, but for what it lacks. */
	return status == -EAGAIN || status == -ENODEV ? 0 : status;
}

/* Without a filter, all interfaces at once. IPv6 may be off: -EOPNOTSUPP or -EAFNOSUPPORT. */
static int find_routes(struct search *search)
{
	const bool filters = rna_netlink_filters();
	int status = 0;

	for (int ipv6 = 0; ipv6 < IP_VERSIONS && status == 0; ipv6++) {
		if (!filters)
			status = dump_routes(search, ipv6, NULL);
		for (size_t i = 0; filters && i < search->count && status == 0; i++)
			status = dump_routes(search, ipv6, &search->outs[i]);
		if (ipv6 && (status == -EOPNOTSUPP || status == -EAFNOSUPPORT))
			status = 0;
	}
	return status;
}

/* -- Nexthop objects --------------------------------------------------------------------------- */

static int take_nexthop(struct rna_bytes message, void *userdata)
{
	return rna_nexthop_message_read(message, userdata);
}

static int ask_nexthop(uint32_t number, struct rna_nexthop_message *ret)
{
	static const struct nhmsg nexthop = {.nh_family = AF_UNSPEC};
	const struct rna_netlink_attribute id = {NHA_ID, sizeof(number), &number};

	*ret = (struct rna_nexthop_message){0};
	return rna_netlink_ask(&(struct rna_netlink_question){.type = RTM_GETNEXTHOP,
							      .body = &nexthop,
							      .body_size = sizeof(nexthop),
							      .attributes = &id,
							      .count = 1},
			       take_nexthop, ret);
}

/* Groups have no groups as members. An object that is gone by now has no hop. */
static void resolve_nexthop(const struct out *out, struct widest *widest, uint32_t number)
{
	struct rna_nexthop_message nexthop, member;

	if (ask_nexthop(number, &nexthop) < 0)
		return;
	if (nexthop.hop.ifindex == out->ifindex)
		add_gateway(widest, &nexthop.hop.gateway);
	for (size_t i = 0; i < nexthop.count && !widest->mesh; i++)
		if (ask_nexthop(nexthop.members[i], &member) == 0 &&
		    member.hop.ifindex == out->ifindex)
			add_gateway(widest, &member.hop.gateway);
}

static void resolve_nexthops(struct search *search)
{
	for (size_t i = 0; i < search->count; i++)
		for (size_t v = 0; v < IP_VERSIONS; v++) {
			struct out *out = &search->outs[i];
			struct widest *widest = &out->widest[v];

			for (size_t n = 0; n < widest->nexthop_count && !widest->mesh; n++)
				resolve_nexthop(out, widest, widest->nexthops[n]);
		}
}

/* -- Neighbours -------------------------------------------------------------------------------- */

struct neighbour_search {
	uint32_t ifindex;
	struct rna_gateway *gateway;
};

static struct rna_value ago(uint32_t ticks)
{
	long per_second = sysconf(_SC_CLK_TCK);

	return per_second > 0 ? rna_value_ok(ticks * (RNA_USEC_PER_SEC / (uint64_t)per_second))
			      : (struct rna_value){0};
}

/* An entry without an address was never confirmed; its time is made up (neigh_alloc()). */
static bool has_address(uint16_t state)
{
	return state & (RNA_NEIGHBOUR_REACHABLE | RNA_NEIGHBOUR_STALE | RNA_NEIGHBOUR_DELAY |
			RNA_NEIGHBOUR_PROBE);
}

static int take_neighbour(struct rna_bytes message, void *userdata)
{
	const struct neighbour_search *search = userdata;
	struct rna_gateway *gateway = search->gateway;
	struct rna_neighbour_message neighbour;

	if (rna_neighbour_message_read(message, &neighbour) < 0 ||
	    neighbour.ifindex != search->ifindex ||
	    !rna_gid_is_same(&neighbour.address, &gateway->address))
		return 0;
	gateway->state = rna_value_ok(neighbour.state);
	if (neighbour.timed)
		gateway->changed = ago(neighbour.changed);
	if (neighbour.timed && has_address(neighbour.state))
		gateway->confirmed = ago(neighbour.confirmed);
	return 0;
}

static bool is_ipv4(const struct rna_gid *address)
{
	return rna_gid_family(address) == RNA_GID_IPV4;
}

/* The address as its IP version has it, and its length. */
static const uint8_t *address_bytes(const struct rna_gid *address, size_t *ret_len)
{
	*ret_len = is_ipv4(address) ? sizeof(struct in_addr) : sizeof(struct in6_addr);
	return address->bytes + sizeof(address->bytes) - *ret_len;
}

static int ask_neighbour(struct neighbour_search *search, bool dump)
{
	const struct rna_gid *address = &search->gateway->address;
	const struct ndmsg neighbour = {.ndm_family = is_ipv4(address) ? AF_INET : AF_INET6,
					.ndm_ifindex = dump ? 0 : (int)search->ifindex};
	size_t len;
	const uint8_t *bytes = address_bytes(address, &len);
	const struct rna_netlink_attribute one = {NDA_DST, (int)len, bytes};
	const struct rna_netlink_attribute all = {NDA_IFINDEX, sizeof(search->ifindex),
						  &search->ifindex};

	return rna_netlink_ask(&(struct rna_netlink_question){.type = RTM_GETNEIGH,
							      .flags = dump ? NLM_F_DUMP : 0,
							      .body = &neighbour,
							      .body_size = sizeof(neighbour),
							      .attributes = dump ? &all : &one,
							      .count = 1},
			       take_neighbour, search);
}

/* Fills in what the table has of a gateway; an entry that is not there is a state, too. */
static void find_neighbour(uint32_t ifindex, struct rna_gateway *gateway)
{
	struct neighbour_search search = {ifindex, gateway};
	int status = ask_neighbour(&search, false);

	if (status == -EOPNOTSUPP)
		status = ask_neighbour(&search, true);
	if ((status == 0 || status == -EAGAIN || status == -ENOENT) &&
	    gateway->state.state != RNA_VALUE_OK)
		gateway->state = rna_value_ok(RNA_NEIGHBOUR_NONE);
	else if (status < 0 && status != -EAGAIN)
		gateway->state = rna_value_unreadable();
}

/* -- All of them ------------------------------------------------------------------------------- */

/* An IPv6 gateway may be one of IPv4 routes as well. */
static bool is_listed(const struct rna_gateway_list *list, size_t first,
		      const struct rna_gid *address)
{
	for (size_t i = first; i < list->count; i++)
		if (rna_gid_is_same(&list->items[i].address, address))
			return true;
	return false;
}

static int add_gateways(const struct out *out, struct rna_arena *arena,
			struct rna_gateway_list *ret)
{
	const size_t first = ret->count;

	RNA_EACH (widest, out->widest, IP_VERSIONS) {
		for (size_t i = 0; i < widest->count && !widest->mesh; i++) {
			struct rna_gateway *gateway = &ret->items[ret->count];
			char text[RNA_ADDRESS_TEXT_MAX];

			if (is_listed(ret, first, &widest->gateways[i]))
				continue;
			rna_address_format(&widest->gateways[i], text);
			*gateway = (struct rna_gateway){
				.netdev = rna_arena_strdup(arena, out->name),
				.address = widest->gateways[i],
				.text = rna_arena_strdup(arena, text),
			};
			if (!gateway->netdev || !gateway->text)
				return -ENOMEM;
			find_neighbour(out->ifindex, gateway);
			ret->count++;
		}
	}
	return 0;
}

static int run_search(struct search *search, struct rna_arena *arena, struct rna_gateway_list *ret)
{
	int status = find_routes(search);
	size_t most = 0;

	if (status < 0)
		return status;
	resolve_nexthops(search);
	for (size_t i = 0; i < search->count; i++)
		most += search->outs[i].widest[0].count + search->outs[i].widest[1].count;
	*ret = (struct rna_gateway_list){.items =
						 rna_arena_array(arena, most, sizeof(*ret->items))};
	if (!ret->items)
		return -ENOMEM;
	for (size_t i = 0; i < search->count && status == 0; i++)
		status = add_gateways(&search->outs[i], arena, ret);
	return status;
}

/* Finds the interfaces. 0 or -ENOMEM. */
static int begin_search(struct search *search, const char *const *netdevs, size_t count,
			struct rna_arena *scratch)
{
	*search = (struct search){0};
	search->outs = scratch ? rna_arena_array(scratch, count, sizeof(*search->outs)) : NULL;
	if (!search->outs)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		unsigned ifindex = if_nametoindex(netdevs[i]);

		if (ifindex > 0) /* otherwise it is gone */
			search->outs[search->count++] = (struct out){netdevs[i], ifindex};
	}
	return 0;
}

static int list(const struct rna_root *root, const char *const *netdevs, size_t count,
		struct rna_arena *arena, struct rna_gateway_list *ret)
{
	RNA_CLEANUP(rna_arena_free_p)
	struct rna_arena *scratch = rna_arena_new(count * sizeof(struct out));
	struct search search;
	int status = begin_search(&search, netdevs, count, scratch);

	(void)root; /* always the routes of the kernel */
	return status < 0 ? status : run_search(&search, arena, ret);
}

/* -- Addresses of rails ------------------------------------------------------------------------ */

enum {
	LINK_PREFIX_MAX = 30, /* a longer one leaves no room for a third host (RFC 3021) */
	ASKED_MAX = 4,        /* hosts, until one is not this host itself */
};

struct address_search {
	struct search search;
	struct rna_arena *arena;
	struct rna_rail_address_list *list;
};

static uint32_t ipv4_of(const struct rna_gid *address)
{
	size_t len;
	uint32_t number;

	memcpy(&number, address_bytes(address, &len), sizeof(number));
	return ntohl(number);
}

static struct rna_gid ipv4_gid(uint32_t number)
{
	struct rna_gid ret = {{[10] = 0xff, 0xff}};

	number = htonl(number);
	memcpy(ret.bytes + sizeof(ret.bytes) - sizeof(number), &number, sizeof(number));
	return ret;
}

/* prefix: 1 to 30 */
static uint32_t host_bits(unsigned prefix)
{
	return UINT32_MAX >> prefix;
}

static int take_address(struct rna_bytes message, void *userdata)
{
	const struct address_search *search = userdata;
	struct rna_rail_address_list *list = search->list;
	struct rna_address_message address;
	const struct out *out;
	char text[RNA_ADDRESS_TEXT_MAX];

	if (rna_address_message_read(message, &address) < 0 || address.local ||
	    !is_ipv4(&address.address) || !is_ipv4(&address.network) || address.prefix == 0 ||
	    address.prefix > LINK_PREFIX_MAX || list->count == RNA_RAIL_ADDRESSES_MAX)
		return 0;
	out = find_out(&search->search, address.ifindex);
	if (!out)
		return 0;
	rna_address_format(&address.address, text);
	list->items[list->count] = (struct rna_rail_address){
		.netdev = rna_arena_strdup(search->arena, out->name),
		.address = address.address,
		.text = rna_arena_strdup(search->arena, text),
		.subnet = ipv4_gid(ipv4_of(&address.network) & ~host_bits(address.prefix)),
		.prefix_length = rna_value_ok(address.prefix),
	};
	if (!list->items[list->count].netdev || !list->items[list->count].text)
		return -ENOMEM;
	list->count++;
	return 0;
}

static void begin_addresses(void *userdata)
{
	const struct address_search *search = userdata;

	search->list->count = 0;
}

/* A list that changed during the dump is true, but for what it lacks. */
static int find_addresses(struct address_search *search)
{
	static const struct ifaddrmsg address = {.ifa_family = AF_INET};
	static const struct rna_netlink_question question = {
		.type = RTM_GETADDR,
		.flags = NLM_F_DUMP,
		.body = &address,
		.body_size = sizeof(address),
		.begin = begin_addresses,
	};
	int status = rna_netlink_ask(&question, take_address, search);

	return status == -EAGAIN ? 0 : status;
}

static bool in_one_subnet(const struct rna_rail_address *a, const struct rna_rail_address *b)
{
	return a->prefix_length.number == b->prefix_length.number &&
	       rna_gid_is_same(&a->subnet, &b->subnet);
}

static bool is_shared(const struct rna_rail_address_list *list, const struct rna_rail_address *one)
{
	return RNA_ANY(i, list->count,
		       in_one_subnet(&list->items[i], one) &&
			       strcmp(list->items[i].netdev, one->netdev) != 0);
}

static bool is_own(const struct rna_rail_address_list *list, const struct rna_gid *address)
{
	return RNA_ANY(i, list->count, rna_gid_is_same(&list->items[i].address, address));
}

static int take_way(struct rna_bytes message, void *userdata)
{
	return rna_route_answer_read(message, userdata);
}

/* The interface by which a packet would leave, as `ip route get TO from FROM` has it; 0: none. */
static uint32_t ask_way(const struct rna_gid *from, const struct rna_gid *to)
{
	size_t len;
	const uint8_t *source = address_bytes(from, &len), *target = address_bytes(to, &len);
	const struct rtmsg route = {.rtm_family = AF_INET,
				    .rtm_src_len = (uint8_t)(len * 8),
				    .rtm_dst_len = (uint8_t)(len * 8)};
	const struct rna_netlink_attribute attributes[] = {
		{RTA_SRC, (int)len, source},
		{RTA_DST, (int)len, target},
	};
	uint32_t ifindex = 0;

	(void)rna_netlink_ask(&(struct rna_netlink_question){.type = RTM_GETROUTE,
							     .body = &route,
							     .body_size = sizeof(route),
							     .attributes = attributes,
							     .count = RNA_ARRAY_SIZE(attributes)},
			      take_way, &ifindex); /* without an answer there is none */
	return ifindex;
}

/* Asks for the way to the first hosts of the subnet that are others. */
static int find_way(struct address_search *search, struct rna_rail_address *address)
{
	const uint32_t last = host_bits((unsigned)address->prefix_length.number) - 1;
	char name[IF_NAMESIZE];
	uint32_t ifindex = 0;
	unsigned asked = 0;

	for (uint32_t host = 1; host <= last && asked < ASKED_MAX && ifindex == 0; host++) {
		const struct rna_gid to = ipv4_gid(ipv4_of(&address->subnet) | host);

		if (is_own(search->list, &to))
			continue;
		asked++;
		ifindex = ask_way(&address->address, &to);
	}
	if (ifindex == 0 || !if_indextoname(ifindex, name))
		return 0;
	address->leaves_by = rna_arena_strdup(search->arena, name);
	return address->leaves_by ? 0 : -ENOMEM;
}

static int run_address_search(struct address_search *search)
{
	struct rna_rail_address_list *list = search->list;
	int status;

	*list = (struct rna_rail_address_list){.items = rna_arena_array(search->arena,
									RNA_RAIL_ADDRESSES_MAX,
									sizeof(*list->items))};
	if (!list->items)
		return -ENOMEM;
	status = find_addresses(search);
	for (size_t i = 0; i < list->count && status == 0; i++)
		if (is_shared(list, &list->items[i]))
			status = find_way(search, &list->items[i]);
	return status;
}

static int list_addresses(const struct rna_root *root, const char *const *netdevs, size_t count,
			  struct rna_arena *arena, struct rna_rail_address_list *ret)
{
	RNA_CLEANUP(rna_arena_free_p)
	struct rna_arena *scratch = rna_arena_new(count * sizeof(struct out));
	struct address_search search = {.arena = arena, .list = ret};
	int status = begin_search(&search.search, netdevs, count, scratch);

	(void)root; /* always the addresses of the kernel */
	return status < 0 ? status : run_address_search(&search);
}

/* -- Probing ----------------------------------------------------------------------------------- */

/* A datagram: the address, and as a control message the interface to use. */
struct datagram {
	struct sockaddr_storage to;
	socklen_t to_len;
	int level, type; /* of the control message */
	size_t interface_len;
	union {
		struct in_pktinfo ipv4;
		struct in6_pktinfo ipv6;
	} interface;
};

static void address_ipv4(const struct rna_gid *address, unsigned ifindex, struct datagram *ret)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(DISCARD_PORT)};
	size_t len;
	const uint8_t *bytes = address_bytes(address, &len);

	memcpy(&to.sin_addr, bytes, len);
	*ret = (struct datagram){
		.to_len = sizeof(to),
		.level = IPPROTO_IP,
		.type = IP_PKTINFO,
		.interface_len = sizeof(ret->interface.ipv4),
		.interface.ipv4.ipi_ifindex = (int)ifindex,
	};
	memcpy(&ret->to, &to, sizeof(to));
}

static void address_ipv6(const struct rna_gid *address, unsigned ifindex, struct datagram *ret)
{
	struct sockaddr_in6 to = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(DISCARD_PORT),
		.sin6_scope_id = rna_gid_is_link_local(address) ? ifindex : 0,
	};

	memcpy(&to.sin6_addr, address->bytes, sizeof(to.sin6_addr));
	*ret = (struct datagram){
		.to_len = sizeof(to),
		.level = IPPROTO_IPV6,
		.type = IPV6_PKTINFO,
		.interface_len = sizeof(ret->interface.ipv6),
		.interface.ipv6.ipi6_ifindex = ifindex,
	};
	memcpy(&ret->to, &to, sizeof(to));
}

/*
 * Naming the interface in a control message needs no privilege (ip(7), ipv6(7)), unlike
 * SO_BINDTODEVICE before Linux 5.7. MSG_DONTROUTE and a hop limit of 1 keep the datagram on the
 * link, whatever the routing tables say.
 */
static int send_datagram(int fd, struct datagram *datagram)
{
	static const int hops = 1;
	const int option = datagram->level == IPPROTO_IP ? IP_TTL : IPV6_UNICAST_HOPS;
	union {
		struct cmsghdr head;
		uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	} control = {.head = {
			     .cmsg_len = CMSG_LEN(datagram->interface_len),
			     .cmsg_level = datagram->level,
			     .cmsg_type = datagram->type,
		     }};
	const struct msghdr message = {
		.msg_name = &datagram->to,
		.msg_namelen = datagram->to_len,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(datagram->interface_len),
	};

	memcpy(CMSG_DATA(&control.head), &datagram->interface, datagram->interface_len);
	if (setsockopt(fd, datagram->level, option, &hops, sizeof(hops)) < 0)
		return -errno;
	return sendmsg(fd, &message, MSG_DONTROUTE | MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int probe(const struct rna_root *root, const struct rna_gateway *gateway)
{
	const bool ipv4 = is_ipv4(&gateway->address);
	const unsigned ifindex = if_nametoindex(gateway->netdev);
	RNA_CLOSE int fd = socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct datagram datagram;

	(void)root; /* always the network of the kernel */
	if (fd < 0)
		return -errno;
	if (ifindex == 0)
		return -ENODEV;
	(ipv4 ? address_ipv4 : address_ipv6)(&gateway->address, ifindex, &datagram);
	return send_datagram(fd, &datagram);
}

const struct rna_gateway_backend rna_routing_tables = {
	.list = list,
	.list_addresses = list_addresses,
	.probe = probe,
};
