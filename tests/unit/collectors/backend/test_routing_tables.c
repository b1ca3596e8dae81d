// SPDX-License-Identifier: Apache-2.0
/*
 * backend/routing_tables: the real kernel, in a network namespace of this test. The interface is a
 * tap, so the test is the other end of the cable: it sees what is sent, and answers or does not.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/if_ether.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "backend/backends.h"

#include "emulated.h"

enum { PATIENCE = 10 * 1000, STEP = 10 /* milliseconds */ };

static int tap = -1; /* the other end of rail0; -1: there is no network to test with */

/* -- An older kernel --------------------------------------------------------------------------- */

static bool filters_nothing;    /* before Linux 4.20 */
static bool answers_dumps_only; /* before Linux 5.0 */

int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __real_nl_send_auto(struct nl_sock *socket, struct nl_msg *message);
int __wrap_nl_send_auto(struct nl_sock *socket, struct nl_msg *message);

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	if (filters_nothing && level == SOL_NETLINK && name == NETLINK_GET_STRICT_CHK) {
		errno = ENOPROTOOPT;
		return -1;
	}
	return __real_setsockopt(fd, level, name, value, len);
}

/* A type that rtnetlink does not have is refused with EOPNOTSUPP, as a lone question once was. */
int __wrap_nl_send_auto(struct nl_sock *socket, struct nl_msg *message)
{
	struct nlmsghdr *head = nlmsg_hdr(message);

	if (answers_dumps_only && head->nlmsg_type == RTM_GETNEIGH &&
	    !(head->nlmsg_flags & NLM_F_DUMP))
		head->nlmsg_type = RTM_BASE + 1022;
	return __real_nl_send_auto(socket, message);
}

/* -- The network ------------------------------------------------------------------------------- */

static void run(const char *command)
{
	char quiet[256];

	(void)snprintf(quiet, sizeof(quiet), "ip %s", command);
	if (system(quiet) != 0)
		fail_msg("%s", quiet);
}

static void set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, value, strlen(value)), strlen(value));
	(void)close(fd);
}

static int open_tap(const char *name)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	memcpy(request.ifr_name, name, strlen(name) + 1);
	if (fd >= 0 && ioctl(fd, TUNSETIFF, &request) < 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

static int setup_all(void **state)
{
	(void)state;
	if (system("ip -V >/dev/null 2>&1") != 0 ||
	    unshare((geteuid() ? CLONE_NEWUSER : 0) | CLONE_NEWNET) < 0)
		return 0;
	tap = open_tap("rail0");
	return 0;
}

static int setup(void **state)
{
	(void)state;
	filters_nothing = answers_dumps_only = false;
	if (tap < 0)
		return 0;
	set("/proc/sys/net/ipv6/conf/rail0/accept_dad", "0");
	run("link set rail0 up");
	run("address flush dev rail0 scope global");
	run("address add 10.1.0.2/24 dev rail0");
	run("address add 2001:db8:1::2/64 dev rail0 nodad");
	set("/proc/sys/net/ipv4/neigh/rail0/retrans_time_ms", "10");
	set("/proc/sys/net/ipv6/neigh/rail0/retrans_time_ms", "10");
	return 0;
}

/* Takes the interface down: addresses of IPv6, routes and neighbours go with that. */
static int teardown(void **state)
{
	(void)state;
	if (tap >= 0)
		run("link set rail0 down");
	return 0;
}

#define NEED_NETWORK()                                                                             \
	do {                                                                                       \
		need_kernel("passes on only part of rtnetlink");                                   \
		if (tap < 0) {                                                                     \
			print_message("no namespace, tap or ip here\n");                           \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

/* -- Questions --------------------------------------------------------------------------------- */

struct answer {
	struct rna_arena *arena;
	struct rna_gateway_list list;
};

static void free_answer(struct answer *answer)
{
	(void)rna_arena_free(answer->arena);
}

static void list(struct answer *answer)
{
	static const char *const names[] = {"rail0", "gone0"};

	(void)rna_arena_free(answer->arena);
	*answer = (struct answer){.arena = rna_arena_new(0)};
	assert_int_equal(rna_routing_tables.list(NULL, names, RNA_ARRAY_SIZE(names), answer->arena,
						 &answer->list),
			 0);
}

static const struct rna_gateway *find(const struct answer *answer, const char *text)
{
	for (size_t i = 0; i < answer->list.count; i++)
		if (strcmp(answer->list.items[i].text, text) == 0)
			return &answer->list.items[i];
	fail_msg("%s is not listed", text);
	return NULL;
}

/* Waits until the neighbour is in one of these states. */
static void await(struct answer *answer, const char *text, unsigned states)
{
	for (int waited = 0; waited < PATIENCE; waited += STEP) {
		list(answer);
		if (find(answer, text)->state.number & states)
			return;
		(void)poll(NULL, 0, STEP);
	}
	fail_msg("%s is in state 0x%jx", text, (uintmax_t)find(answer, text)->state.number);
}

/* The next frame of that type that the kernel sent; its length. */
static size_t await_frame(uint16_t type, uint8_t *frame, size_t size)
{
	struct pollfd ready = {.fd = tap, .events = POLLIN};
	uint16_t found;

	while (poll(&ready, 1, PATIENCE) == 1) {
		ssize_t len = read(tap, frame, size);

		if (len < ETH_HLEN)
			continue;
		memcpy(&found, frame + offsetof(struct ethhdr, h_proto), sizeof(found));
		if (ntohs(found) == type)
			return (size_t)len;
	}
	fail_msg("no frame of type 0x%x", type);
	return 0;
}

/* -- Tests ------------------------------------------------------------------------------------- */

static void test_a_network_without_gateways(void **state)
{
	RNA_CLEANUP(free_answer) struct answer answer = {0};

	(void)state;
	NEED_NETWORK();
	list(&answer);
	assert_int_equal(answer.list.count, 0);
}

/* In a table of its own, as policy routing has it; in main there is a narrower route. */
static void test_the_widest_route_counts(void **state)
{
	RNA_CLEANUP(free_answer) struct answer answer = {0};

	(void)state;
	NEED_NETWORK();
	run("route add 10.2.0.0/16 via 10.1.0.9 dev rail0");
	list(&answer);
	assert_int_equal(answer.list.count, 1);
	assert_string_equal(answer.list.items[0].text, "10.1.0.9");
	run("route add default via 10.1.0.1 dev rail0 table 101");
	run("route add default via 10.1.0.3 dev rail0 table 102");
	run("-6 route add default via fe80::1 dev rail0 table 101");
	run("-6 route add 2001:db8:2::/48 via 2001:db8:1::9 dev rail0");
	for (int old = 0; old < 2; old++) {
		filters_nothing = answers_dumps_only = old;
		list(&answer);
		assert_int_equal(answer.list.count, 3);
		assert_int_equal(find(&answer, "10.1.0.1")->state.number, RNA_NEIGHBOUR_NONE);
		assert_int_equal(find(&answer, "10.1.0.1")->state.state, RNA_VALUE_OK);
		assert_string_equal(find(&answer, "10.1.0.3")->netdev, "rail0");
		assert_int_equal(rna_gid_family(&find(&answer, "fe80::1")->address), RNA_GID_IPV6);
	}
}

/* Nexthop objects, told with their hops and without; and an IPv6 gateway of an IPv4 route. */
static void test_nexthop_objects(void **state)
{
	static const char path[] = "/proc/sys/net/ipv4/nexthop_compat_mode";
	RNA_CLEANUP(free_answer) struct answer answer = {0};

	(void)state;
	NEED_NETWORK();
	run("nexthop add id 7 via 10.1.0.1 dev rail0");
	run("nexthop add id 8 via 10.1.0.3 dev rail0");
	run("nexthop add id 9 group 7/8");
	run("nexthop add id 10 via fe80::1 dev rail0");
	run("route add default nhid 9 table 101");
	run("-6 route add default nhid 10 table 101");
	run("route add default via inet6 fe80::2 dev rail0 table 102");
	for (int compatible = 1; compatible >= 0; compatible--) {
		set(path, compatible ? "1" : "0");
		list(&answer);
		assert_int_equal(answer.list.count, 4);
		(void)find(&answer, "10.1.0.1");
		(void)find(&answer, "10.1.0.3");
		(void)find(&answer, "fe80::1");
		(void)find(&answer, "fe80::2");
	}
	set(path, "1");
	run("nexthop flush");
}

static void test_several_hops_of_one_route(void **state)
{
	RNA_CLEANUP(free_answer) struct answer answer = {0};

	(void)state;
	NEED_NETWORK();
	run("route add default table 101 nexthop via 10.1.0.1 dev rail0 nexthop via 10.1.0.3 dev "
	    "rail0");
	run("-6 route add default table 101 nexthop via fe80::1 dev rail0 nexthop via fe80::2 dev "
	    "rail0");
	list(&answer);
	assert_int_equal(answer.list.count, 4);
}

/* Each node of a mesh is the gateway of its own pods; none of them is the rail's. */
static void test_a_mesh_has_no_gateways(void **state)
{
	RNA_CLEANUP(free_answer) struct answer answer = {0};
	char command[128];

	(void)state;
	NEED_NETWORK();
	for (unsigned i = 0; i < RNA_GATEWAYS_MAX + 1; i++) {
		(void)snprintf(command, sizeof(command),
			       "route add 10.42.%u.0/24 via 10.1.0.%u dev rail0", i, 10 + i);
		run(command);
	}
	list(&answer);
	assert_int_equal(answer.list.count, 0);
	run("route add default via 10.1.0.1 dev rail0");
	list(&answer);
	assert_int_equal(answer.list.count, 1);
}

static void test_a_large_table(void **state)
{
	enum { ROUTES = 5000 };
	RNA_CLEANUP(free_answer) struct answer answer = {0};
	FILE *batch;
	rna_usec begun;

	(void)state;
	NEED_NETWORK();
	batch = popen("ip -batch -", "we");
	assert_non_null(batch);
	for (unsigned i = 0; i < ROUTES; i++)
		(void)fprintf(batch, "route add 172.%u.%u.%u/32 via 10.1.0.9 dev rail0\n",
			      16 + i / 65536, i / 256 % 256, i % 256);
	assert_int_equal(pclose(batch), 0);
	run("route add default via 10.1.0.1 dev rail0 table 101");
	for (int old = 0; old < 2; old++) {
		filters_nothing = old;
		begun = rna_clock_monotonic();
		list(&answer);
		print_message("%u routes%s: %ju us\n", ROUTES, old ? ", without a filter" : "",
			      (uintmax_t)(rna_clock_monotonic() - begun));
		assert_int_equal(answer.list.count, 1);
		assert_string_equal(answer.list.items[0].text, "10.1.0.1");
	}
}

/* The states that an administrator or a routing daemon sets. */
static void test_states_that_are_set(void **state)
{
	RNA_CLEANUP(free_answer) struct answer answer = {0};

	(void)state;
	NEED_NETWORK();
	run("route add default via 10.1.0.1 dev rail0");
	run("neighbour replace 10.1.0.1 lladdr 02:00:00:00:00:01 dev rail0 nud permanent");
	list(&answer);
	assert_int_equal(answer.list.items[0].state.number, RNA_NEIGHBOUR_PERMANENT);
	assert_int_equal(answer.list.items[0].confirmed.state, RNA_VALUE_ABSENT);
	run("neighbour replace 10.1.0.1 lladdr 02:00:00:00:00:01 dev rail0 nud stale");
	for (int old = 0; old < 2; old++) {
		answers_dumps_only = old;
		list(&answer);
		assert_int_equal(answer.list.items[0].state.number, RNA_NEIGHBOUR_STALE);
		assert_int_equal(answer.list.items[0].confirmed.state, RNA_VALUE_OK);
	}
	run("neighbour del 10.1.0.1 dev rail0");
}

/* Answers a request for an address as its owner. */
static void answer_arp(const uint8_t *request)
{
	uint8_t frame[ETH_HLEN + sizeof(struct ether_arp)];
	static const uint8_t mac[ETH_ALEN] = {0x02, 0, 0, 0, 0, 0x01};
	struct ether_arp arp;
	struct ethhdr head;

	memcpy(&head, request, sizeof(head));
	memcpy(&arp, request + ETH_HLEN, sizeof(arp));
	memcpy(head.h_dest, head.h_source, ETH_ALEN);
	memcpy(head.h_source, mac, ETH_ALEN);
	arp.ea_hdr.ar_op = htons(ARPOP_REPLY);
	memcpy(arp.arp_tha, arp.arp_sha, ETH_ALEN);
	for (size_t i = 0; i < sizeof(arp.arp_tpa); i++) {
		uint8_t ours = arp.arp_spa[i];

		arp.arp_spa[i] = arp.arp_tpa[i];
		arp.arp_tpa[i] = ours;
	}
	memcpy(arp.arp_sha, mac, ETH_ALEN);
	memcpy(frame, &head, sizeof(head));
	memcpy(frame + ETH_HLEN, &arp, sizeof(arp));
	assert_int_equal(write(tap, frame, sizeof(frame)), sizeof(frame));
}

/* Nothing is sent until a probe is wanted; then a request, and behind its answer the datagram. */
static void test_a_probe_that_is_answered(void **state)
{
	RNA_CLEANUP(free_answer) struct answer answer = {0};
	uint8_t frame[2048];
	struct udphdr udp;
	struct iphdr ip;

	(void)state;
	NEED_NETWORK();
	run("route add default via 10.1.0.1 dev rail0 table 101");
	list(&answer);
	assert_int_equal(rna_routing_tables.probe(NULL, find(&answer, "10.1.0.1")), 0);
	(void)await_frame(ETH_P_ARP, frame, sizeof(frame));
	answer_arp(frame);
	await(&answer, "10.1.0.1", RNA_NEIGHBOUR_REACHABLE);
	assert_int_equal(answer.list.items[0].confirmed.state, RNA_VALUE_OK);
	assert_true(answer.list.items[0].confirmed.number < PATIENCE * RNA_USEC_PER_MSEC);
	assert_int_equal(await_frame(ETH_P_IP, frame, sizeof(frame)),
			 ETH_HLEN + sizeof(ip) + sizeof(udp));
	memcpy(&ip, frame + ETH_HLEN, sizeof(ip));
	memcpy(&udp, frame + ETH_HLEN + sizeof(ip), sizeof(udp));
	assert_int_equal(ip.ttl, 1);
	assert_int_equal(ntohl(ip.daddr), 0x0a010001);
	assert_int_equal(ntohs(udp.dest), 9);
}

static void test_a_probe_without_an_answer(void **state)
{
	RNA_CLEANUP(free_answer) struct answer answer = {0};

	(void)state;
	NEED_NETWORK();
	run("route add default via 10.1.0.1 dev rail0 table 101");
	run("-6 route add default via fe80::1 dev rail0 table 101");
	list(&answer);
	assert_int_equal(rna_routing_tables.probe(NULL, find(&answer, "10.1.0.1")), 0);
	await(&answer, "10.1.0.1", RNA_NEIGHBOUR_FAILED);
	assert_int_equal(find(&answer, "10.1.0.1")->changed.state, RNA_VALUE_OK);
	assert_int_equal(find(&answer, "10.1.0.1")->confirmed.state, RNA_VALUE_ABSENT);
	assert_int_equal(rna_routing_tables.probe(NULL, find(&answer, "fe80::1")), 0);
	await(&answer, "fe80::1", RNA_NEIGHBOUR_FAILED);
}

static void test_an_interface_that_is_gone(void **state)
{
	struct rna_gateway gateway = {.netdev = "gone0", .address = {{[10] = 0xff, 0xff, 10}}};

	(void)state;
	assert_int_equal(rna_routing_tables.probe(NULL, &gateway), -ENODEV);
}

/* -- Addresses of rails ------------------------------------------------------------------------ */

static struct rna_rail_address *address_of(struct rna_rail_address_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].text, text) == 0)
			return &list->items[i];
	fail_msg("%s is not listed", text);
	return NULL;
}

static struct rna_rail_address_list list_rails(struct rna_arena *arena)
{
	static const char *const names[] = {"rail0", "rail1", "gone0"};
	struct rna_rail_address_list list;

	assert_int_equal(rna_routing_tables.list_addresses(NULL, names, RNA_ARRAY_SIZE(names),
							   arena, &list),
			 0);
	return list;
}

/* Two rails in one subnet: the first one takes all packets, until each has a table of its own. */
static void test_addresses_of_rails(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = NULL;
	struct rna_rail_address_list list;
	char subnet[RNA_ADDRESS_TEXT_MAX];
	int other;

	(void)state;
	NEED_NETWORK();
	arena = rna_arena_new(0);
	other = open_tap("rail1");
	assert_true(other >= 0);
	run("link set rail1 up");
	run("address add 10.1.0.1/24 dev rail1"); /* the first host that is asked for */
	run("address add 10.9.0.1/31 dev rail1");
	run("address add 10.8.0.1/24 scope link dev rail1");
	list = list_rails(arena);
	assert_int_equal(list.count, 2);
	assert_string_equal(address_of(&list, "10.1.0.1")->netdev, "rail1");
	assert_string_equal(address_of(&list, "10.1.0.1")->leaves_by, "rail0");
	assert_string_equal(address_of(&list, "10.1.0.2")->leaves_by, "rail0");
	assert_int_equal(address_of(&list, "10.1.0.2")->prefix_length.number, 24);
	rna_address_format(&address_of(&list, "10.1.0.2")->subnet, subnet);
	assert_string_equal(subnet, "10.1.0.0");
	run("rule add from 10.1.0.1 table 101");
	run("route add 10.1.0.0/24 dev rail1 table 101");
	list = list_rails(arena);
	assert_string_equal(address_of(&list, "10.1.0.1")->leaves_by, "rail1");
	assert_string_equal(address_of(&list, "10.1.0.2")->leaves_by, "rail0");
	run("rule del from 10.1.0.1 table 101");
	run("address flush dev rail1");
	run("address add 10.2.0.1/24 dev rail1");
	list = list_rails(arena);
	assert_null(address_of(&list, "10.2.0.1")->leaves_by);
	(void)close(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_network_without_gateways),
		TEST(test_the_widest_route_counts),
		TEST(test_nexthop_objects),
		TEST(test_several_hops_of_one_route),
		TEST(test_a_mesh_has_no_gateways),
		TEST(test_a_large_table),
		TEST(test_states_that_are_set),
		TEST(test_a_probe_that_is_answered),
		TEST(test_a_probe_without_an_answer),
		TEST(test_an_interface_that_is_gone),
		TEST(test_addresses_of_rails),
	};

	return cmocka_run_group_tests(tests, setup_all, NULL);
}
