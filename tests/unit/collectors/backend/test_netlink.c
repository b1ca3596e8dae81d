// SPDX-License-Identifier: Apache-2.0
/*
 * backend/netlink, rtnetlink and rdma_netlink: lists that change while the kernel writes them. It
 * marks such a list, and its messages so far are repeated. And answers that are cut off, or
 * changed, or that a later kernel wrote. libnl's socket is a script here.
 */
#include <errno.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <linux/if_link.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>

#include "backend/backends.h"

#include "tree.h"

static struct script {
	unsigned interrupted; /* so many lists are broken off, after what they had */
	unsigned lists, questions;
	bool is_list;          /* is one asked for? */
	struct nl_msg *answer; /* to each of them */
	int failure;           /* of each list, which the kernel tells at its end; 0: none */
	nl_recvmsg_msg_cb_t parse, finish;
	void *userdata;
} script;

int __wrap_nl_connect(struct nl_sock *socket, int protocol);
int __wrap_nl_socket_modify_cb(struct nl_sock *socket, enum nl_cb_type type, enum nl_cb_kind kind,
			       nl_recvmsg_msg_cb_t parse, void *userdata);
int __wrap_nl_send_auto(struct nl_sock *socket, struct nl_msg *message);
int __wrap_nl_recvmsgs_default(struct nl_sock *socket);

int __wrap_nl_connect(struct nl_sock *socket, int protocol)
{
	(void)socket, (void)protocol;
	return 0;
}

int __wrap_nl_socket_modify_cb(struct nl_sock *socket, enum nl_cb_type type, enum nl_cb_kind kind,
			       nl_recvmsg_msg_cb_t parse, void *userdata)
{
	(void)socket, (void)kind;
	assert_true(type == NL_CB_VALID || type == NL_CB_FINISH);
	*(type == NL_CB_VALID ? &script.parse : &script.finish) = parse;
	script.userdata = userdata;
	return 0;
}

int __wrap_nl_send_auto(struct nl_sock *socket, struct nl_msg *message)
{
	(void)socket;
	script.is_list = nlmsg_hdr(message)->nlmsg_flags & NLM_F_DUMP;
	script.questions++;
	script.lists += script.is_list;
	return 0;
}

static void end_list(void)
{
	struct nl_msg *end = nlmsg_alloc_simple(NLMSG_DONE, NLM_F_MULTI);

	assert_int_equal(nlmsg_append(end, &script.failure, sizeof(script.failure), 4), 0);
	(void)script.finish(end, script.userdata);
	nlmsg_free(end);
}

int __wrap_nl_recvmsgs_default(struct nl_sock *socket)
{
	(void)socket;
	if (script.parse(script.answer, script.userdata) == NL_OK && script.is_list)
		end_list();
	if (!script.is_list || script.lists > script.interrupted)
		return 0;
	return -NLE_DUMP_INTR;
}

static int set_up(void **state)
{
	(void)state;
	script = (struct script){0};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nlmsg_free(script.answer);
	return 0;
}

/* -- Addresses ------------------------------------------------------------------------------------
 */

static int count_addresses(struct rna_netdev *netdev)
{
	struct ifaddrmsg address = {.ifa_family = AF_INET, .ifa_index = netdev->ifindex};

	script.answer = nlmsg_alloc_simple(RTM_NEWADDR, 0);
	assert_int_equal(nlmsg_append(script.answer, &address, sizeof(address), NLMSG_ALIGNTO), 0);
	return rna_rtnetlink.count_addresses(NULL, netdev, 1);
}

static void addresses_that_change_are_counted_anew(void **state)
{
	struct rna_netdev netdev = {.ifindex = 7};

	(void)state;
	script.interrupted = 2;
	assert_int_equal(count_addresses(&netdev), 0);
	assert_int_equal(script.lists, 3);
	assert_int_equal(netdev.ipv4_addresses.number, 1);
	assert_int_equal(netdev.ipv4_addresses.state, RNA_VALUE_OK);
}

static void addresses_that_go_on_changing_are_not_known(void **state)
{
	struct rna_netdev netdev = {.ifindex = 7};

	(void)state;
	script.interrupted = 100;
	assert_int_equal(count_addresses(&netdev), -EAGAIN);
	assert_int_equal(script.lists, 3);
	assert_int_equal(netdev.ipv4_addresses.state, RNA_VALUE_ABSENT);
}

/* What was taken until then is not all of it. */
static void addresses_of_a_list_that_fails_are_not_known(void **state)
{
	struct rna_netdev netdev = {.ifindex = 7};

	(void)state;
	script.failure = -ENOBUFS;
	assert_int_equal(count_addresses(&netdev), -ENOBUFS);
	assert_int_equal(script.lists, 1);
	assert_int_equal(netdev.ipv4_addresses.state, RNA_VALUE_ABSENT);
}

/* -- RDMA devices ---------------------------------------------------------------------------------
 */

/*
 * While the list of devices is interrupted so often. The same message tells of a device, and of a
 * port of it.
 */
static int find_netdev(unsigned interrupted, struct rna_rdma_numbers *numbers,
		       char name[IF_NAMESIZE])
{
	int type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), ret;
	struct tree tree;

	tree_init(&tree);
	tree_mkdir(&tree, "sys/class/infiniband");
	*numbers = (struct rna_rdma_numbers){.root = tree.root};
	script.interrupted = interrupted;
	script.answer = nlmsg_alloc_simple(type, 0);
	assert_int_equal(nla_put_string(script.answer, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0"), 0);
	assert_int_equal(nla_put_u32(script.answer, RDMA_NLDEV_ATTR_DEV_INDEX, 3), 0);
	assert_int_equal(nla_put_string(script.answer, RDMA_NLDEV_ATTR_NDEV_NAME, "eth3"), 0);
	ret = rna_rdma_netlink.find_netdev(numbers, "mlx5_0", 1, name);
	tree_deinit(&tree);
	return ret;
}

static void devices_that_change_are_listed_anew(void **state)
{
	struct rna_rdma_numbers numbers;
	char name[IF_NAMESIZE];

	(void)state;
	assert_int_equal(find_netdev(2, &numbers, name), 0);
	assert_string_equal(name, "eth3");
	assert_int_equal(script.lists, 3);
	assert_int_equal(script.questions, 4);
	assert_int_equal(numbers.count, 1); /* those of lists that broke off are forgotten */
	rna_rdma_numbers_free(&numbers);
}

static void devices_that_go_on_changing_are_not_known(void **state)
{
	struct rna_rdma_numbers numbers;
	char name[IF_NAMESIZE];

	(void)state;
	assert_int_equal(find_netdev(100, &numbers, name), -EAGAIN);
	assert_int_equal(script.lists, 3);
	assert_false(numbers.listed);
	rna_rdma_numbers_free(&numbers);
}

/* -- Answers ----------------------------------------------------------------------------------- */

enum { NEWER = 900 }; /* an unknown attribute */

/* What a later kernel adds, on whatever level. */
static void put_newer(struct nl_msg *message, bool newer)
{
	struct nlattr *nest;

	if (!newer)
		return;
	assert_int_equal(nla_put_u32(message, NEWER, 5), 0);
	assert_int_equal(nla_put(message, NEWER + 1, 3, "odd"), 0);
	nest = nla_nest_start(message, NEWER + 2);
	assert_int_equal(nla_put_u64(message, 1, 6), 0);
	nla_nest_end(message, nest);
}

/* Begins an entry of a list, with the name of what it is about. */
static struct nlattr *start_entry(struct nl_msg *message, int type, int name_type, const char *name)
{
	struct nlattr *entry = nla_nest_start(message, type);

	assert_non_null(entry);
	assert_int_equal(nla_put_string(message, name_type, name), 0);
	return entry;
}

static void put_resource(struct nl_msg *message, const char *name, uint64_t count, bool newer)
{
	struct nlattr *entry = start_entry(message, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY,
					   RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name);

	put_newer(message, newer);
	assert_int_equal(nla_put_u64(message, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count), 0);
	nla_nest_end(message, entry);
}

static uint32_t processes[] = {76, 77}; /* that have the device open */

/* One message answers both questions: how many there are, and whose contexts they are. */
static void make_resources(struct nl_msg *message, bool newer)
{
	struct nlattr *list = nla_nest_start(message, RDMA_NLDEV_ATTR_RES_SUMMARY);

	put_resource(message, "ctx", 2, newer);
	put_resource(message, "qp", 40, newer);
	if (newer)
		put_resource(message, "entanglements", 9, newer);
	nla_nest_end(message, list);
	list = nla_nest_start(message, RDMA_NLDEV_ATTR_RES_CTX);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(processes); i++) {
		struct nlattr *entry = nla_nest_start(message, RDMA_NLDEV_ATTR_RES_CTX_ENTRY);

		put_newer(message, newer);
		assert_int_equal(nla_put_u32(message, RDMA_NLDEV_ATTR_RES_PID, processes[i]), 0);
		nla_nest_end(message, entry);
	}
	nla_nest_end(message, list);
}

static void make_counters(struct nl_msg *message, bool newer)
{
	static const char *const names[] = {"rx_write_requests", "out_of_buffer"};
	struct nlattr *list = nla_nest_start(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);

	for (unsigned i = 0; i < RNA_ARRAY_SIZE(names); i++) {
		struct nlattr *entry =
			start_entry(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY,
				    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, names[i]);

		put_newer(message, newer);
		assert_int_equal(nla_put_u64(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE,
					     7 + i),
				 0);
		nla_nest_end(message, entry);
	}
	nla_nest_end(message, list);
}

/* The second one is always counted. */
static void make_optional(struct nl_msg *message, bool newer)
{
	enum { DYNAMIC = 95 }; /* Linux 5.16 */
	static const char *const names[] = {"cc_rx_ce_pkts", "out_of_buffer", "cc_tx_cnp_pkts"};
	struct nlattr *list = nla_nest_start(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);

	for (unsigned i = 0; i < RNA_ARRAY_SIZE(names); i++) {
		struct nlattr *entry =
			start_entry(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY,
				    RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, names[i]);

		if (i != 1)
			assert_int_equal(nla_put_u8(message, DYNAMIC, i == 2), 0);
		put_newer(message, newer);
		nla_nest_end(message, entry);
	}
	nla_nest_end(message, list);
}

/* It tells of a device, and of a port of it. */
static void make_port(struct nl_msg *message, bool newer)
{
	assert_int_equal(nla_put_string(message, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0"), 0);
	put_newer(message, newer);
	assert_int_equal(nla_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, 3), 0);
	assert_int_equal(nla_put_string(message, RDMA_NLDEV_ATTR_NDEV_NAME, "eth3"), 0);
}

/* Linux 6.11: DEV_TYPE and PARENT_NAME. */
enum { DEV_TYPE = 99, PARENT_NAME = 100, TYPE_SMI = 1 };

static void make_sub_device(struct nl_msg *message, bool newer)
{
	make_port(message, newer);
	assert_int_equal(nla_put_u8(message, DEV_TYPE, TYPE_SMI), 0);
	assert_int_equal(nla_put_string(message, PARENT_NAME, "mlx5_7"), 0);
}

static void make_other_type(struct nl_msg *message, bool newer)
{
	make_port(message, newer);
	assert_int_equal(nla_put_u8(message, DEV_TYPE, TYPE_SMI + 1), 0);
	assert_int_equal(nla_put_string(message, PARENT_NAME, "mlx5_7"), 0);
}

static void make_link(struct nl_msg *message, bool newer)
{
	const struct ifinfomsg link = {.ifi_index = 7, .ifi_flags = IFF_UP};

	assert_int_equal(nlmsg_append(message, (void *)(uintptr_t)&link, sizeof(link), 4), 0);
	assert_int_equal(nla_put_string(message, IFLA_IFNAME, "eth3"), 0);
	assert_int_equal(nla_put_u32(message, IFLA_MTU, 9000), 0);
	put_newer(message, newer);
	assert_int_equal(nla_put_u32(message, IFLA_CARRIER_UP_COUNT, 4), 0);
	assert_int_equal(nla_put_u32(message, IFLA_CARRIER_DOWN_COUNT, 5), 0);
	assert_int_equal(nla_put_u8(message, IFLA_OPERSTATE, RNA_OPER_UP), 0);
	assert_int_equal(nla_put_u8(message, IFLA_CARRIER, 1), 0);
}

static void make_vlan(struct nl_msg *message, bool newer)
{
	const struct ifla_vlan_qos_mapping mapping = {5, 4};
	const struct ifinfomsg link = {.ifi_index = 7};
	struct nlattr *info, *data, *list;

	assert_int_equal(nlmsg_append(message, (void *)(uintptr_t)&link, sizeof(link), 4), 0);
	assert_int_equal(nla_put_u32(message, IFLA_MTU, 9000), 0);
	put_newer(message, newer);
	info = start_entry(message, IFLA_LINKINFO, IFLA_INFO_KIND, "vlan");
	put_newer(message, newer);
	data = nla_nest_start(message, IFLA_INFO_DATA);
	assert_int_equal(nla_put_u16(message, IFLA_VLAN_ID, 120), 0);
	put_newer(message, newer);
	list = nla_nest_start(message, IFLA_VLAN_EGRESS_QOS);
	assert_int_equal(nla_put(message, IFLA_VLAN_QOS_MAPPING, sizeof(mapping), &mapping), 0);
	nla_nest_end(message, list);
	nla_nest_end(message, data);
	nla_nest_end(message, info);
}

static void make_route(struct nl_msg *message, bool newer)
{
	const struct rtmsg route = {.rtm_family = AF_INET, .rtm_type = RTN_UNICAST};

	assert_int_equal(nlmsg_append(message, (void *)(uintptr_t)&route, sizeof(route), 4), 0);
	put_newer(message, newer);
	assert_int_equal(nla_put_u32(message, RTA_OIF, 1), 0); /* lo is the first of all */
}

/* -- What is made of them ---------------------------------------------------------------------- */

/* What a question needs, and what came of the answer: all that is known, in words. */
struct asked {
	struct rna_rdma_numbers *numbers; /* one device has been listed */
	struct rna_root *root;
	struct rna_arena *arena;
	struct rna_strbuf said;
};

static void say(struct asked *asked, const char *name, struct rna_value value)
{
	if (rna_value_is_known(value))
		rna_strbuf_printf(&asked->said, "%s=%ju ", name, (uintmax_t)value.number);
}

static int ask_resources(struct asked *asked)
{
	struct rna_resource_counts counts;
	int error = rna_rdma_netlink.get_resources(asked->numbers, "mlx5_0", &counts, NULL);

	for (enum rna_resource i = 0; i < RNA_RESOURCE_COUNT; i++)
		say(asked, rna_resource_name(i), counts.of[i]);
	say(asked, "own", counts.own_contexts);
	return error;
}

static int ask_counters(struct asked *asked)
{
	struct rna_netlink_counters counters;
	int error =
		rna_rdma_netlink.get_counters(asked->numbers, "mlx5_0", 1, asked->arena, &counters);

	for (size_t i = 0; error == 0 && i < counters.count; i++)
		say(asked, counters.values[i].file, counters.values[i].value);
	return error;
}

static int ask_optional(struct asked *asked)
{
	struct rna_port_optional_counters port = {.number = 1};
	int error = rna_rdma_netlink.get_optional(asked->numbers, "mlx5_0", asked->arena, &port);

	for (size_t i = 0; i < port.count; i++)
		say(asked, port.items[i].name, rna_value_ok(port.items[i].enabled));
	return error;
}

static int ask_netdev(struct asked *asked)
{
	RNA_CLEANUP(rna_rdma_numbers_free) struct rna_rdma_numbers numbers = {.root = asked->root};
	char name[IF_NAMESIZE];
	int error = rna_rdma_netlink.find_netdev(&numbers, "mlx5_0", 1, name);

	if (error == 0)
		rna_strbuf_printf(&asked->said, "%s ", name);
	return error;
}

static int ask_parent(struct asked *asked)
{
	RNA_CLEANUP(rna_rdma_numbers_free) struct rna_rdma_numbers numbers = {.root = asked->root};
	char name[RNA_RDMA_NAME_MAX];
	int error = rna_rdma_netlink.find_parent(&numbers, "mlx5_0", name);

	if (error == 0 && *name)
		rna_strbuf_printf(&asked->said, "parent=%s ", name);
	return error;
}

static int ask_link(struct asked *asked)
{
	struct rna_netdev netdev = {0};
	int error = rna_rtnetlink.read(NULL, "eth3", asked->arena, &netdev);

	if (netdev.name)
		rna_strbuf_printf(&asked->said, "%s ", netdev.name);
	say(asked, "mtu", netdev.mtu);
	say(asked, "ups", netdev.carrier_up);
	say(asked, "downs", netdev.carrier_down);
	say(asked, "carrier", netdev.carrier);
	return error;
}

static int ask_vlan(struct asked *asked)
{
	struct rna_qos_vlan vlan = {0};
	int error = rna_rtnetlink.read_vlan(NULL, "eth3.120", &vlan);

	say(asked, "mtu", vlan.mtu);
	say(asked, "id", vlan.id);
	if (vlan.egress.number)
		say(asked, "egress", vlan.egress);
	return error;
}

static int ask_uplink(struct asked *asked)
{
	char name[IF_NAMESIZE];
	int error = rna_rtnetlink.find_uplink(NULL, name);

	if (error == 0)
		rna_strbuf_printf(&asked->said, "%s ", name);
	return error;
}

static const struct kind {
	int type;
	void (*make)(struct nl_msg *message, bool newer);
	int (*ask)(struct asked *asked);
	const char *said; /* of a whole answer */
} kinds[] = {
	{RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_GET), make_resources, ask_resources,
	 "qp=40 ctx=2 own=1 "},
	{RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET), make_counters, ask_counters,
	 "rx_write_requests=7 out_of_buffer=8 "},
	{RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET), make_optional, ask_optional,
	 "cc_rx_ce_pkts=0 cc_tx_cnp_pkts=1 "},
	{RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), make_port, ask_netdev, "eth3 "},
	{RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), make_sub_device, ask_parent,
	 "parent=mlx5_7 "},
	{RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), make_other_type, ask_parent, ""},
	{RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET), make_port, ask_parent, ""},
	{RTM_NEWLINK, make_link, ask_link, "eth3 mtu=9000 ups=4 downs=5 carrier=1 "},
	{RTM_NEWLINK, make_vlan, ask_vlan, "mtu=9000 id=120 egress=32 "},
	{RTM_NEWROUTE, make_route, ask_uplink, "lo "},
};

static struct nl_msg *make(const struct kind *kind, bool newer)
{
	struct nl_msg *message = nlmsg_alloc_simple(kind->type, 0);

	assert_non_null(message);
	kind->make(message, newer);
	return message;
}

/* The same question again and again. */
struct asking {
	struct tree tree;
	struct rna_rdma_number number;
	struct rna_rdma_numbers numbers;
};

static void asking_init(struct asking *asking)
{
	tree_init(&asking->tree);
	tree_mkdir(&asking->tree, "sys/class/infiniband");
	asking->number = (struct rna_rdma_number){"mlx5_0", 3};
	asking->numbers = (struct rna_rdma_numbers){
		.root = asking->tree.root,
		.process = 77,
		.listed = true,
		.count = 1,
		.items = &asking->number,
	};
}

static void asking_deinit(struct asking *asking)
{
	tree_deinit(&asking->tree);
}

/* The answer is what the first len bytes are, in memory of just that size: for sanitizers. */
static int ask_with(struct asking *asking, const struct kind *kind, const uint8_t *bytes,
		    uint32_t len, char said[256])
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct asked asked = {&asking->numbers, asking->tree.root, arena, RNA_STRBUF_INIT};
	RNA_FREE uint8_t *copy = calloc(1, NLMSG_ALIGN(len));
	int error;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	memcpy(copy, &len, sizeof(len));
	script.answer = nlmsg_convert((struct nlmsghdr *)(void *)copy);
	assert_non_null(script.answer);
	error = kind->ask(&asked);
	nlmsg_free(script.answer);
	script.answer = NULL;
	(void)snprintf(said, 256, "%s", asked.said.data ? asked.said.data : "");
	rna_strbuf_deinit(&asked.said);
	return error;
}

/* Is each word of part one of whole's? */
static bool is_part_of(const char *part, const char *whole)
{
	while (*part) {
		size_t len = strcspn(part, " ") + 1;
		char word[64];

		assert_true(len < sizeof(word));
		memcpy(word, part, len);
		word[len] = '\0';
		if (!strstr(whole, word))
			return false;
		part += len;
	}
	return true;
}

static void whole_answers_are_understood(void **state)
{
	RNA_CLEANUP(asking_deinit) struct asking asking;
	char said[256];

	(void)state;
	asking_init(&asking);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(kinds); i++)
		for (unsigned newer = 0; newer < 2; newer++) {
			struct nl_msg *message = make(&kinds[i], newer);
			const struct nlmsghdr *head = nlmsg_hdr(message);

			assert_int_equal(ask_with(&asking, &kinds[i], (const void *)head,
						  head->nlmsg_len, said),
					 0);
			assert_string_equal(said, kinds[i].said);
			nlmsg_free(message);
		}
}

/* Cut off at any byte an answer is refused, or says less; it never says something else. */
static void answers_that_are_cut_say_nothing_else(void **state)
{
	RNA_CLEANUP(asking_deinit) struct asking asking;
	char said[256];

	(void)state;
	asking_init(&asking);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(kinds); i++) {
		struct nl_msg *message = make(&kinds[i], false);
		const struct nlmsghdr *head = nlmsg_hdr(message);

		for (uint32_t len = sizeof(*head); len < head->nlmsg_len; len++) {
			int error = ask_with(&asking, &kinds[i], (const void *)head, len, said);

			assert_true(error == 0 || error == -EBADMSG || error == -ENOENT);
			if (!is_part_of(said, kinds[i].said))
				fail_msg("of %zu, cut at %u: %s", i, len, said);
		}
		nlmsg_free(message);
	}
}

/* Whatever a byte is, nothing is read past the end, and a text has one. */
static void answers_with_any_byte_changed_do_no_harm(void **state)
{
	RNA_CLEANUP(asking_deinit) struct asking asking;
	char said[256];

	(void)state;
	asking_init(&asking);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(kinds); i++) {
		struct nl_msg *message = make(&kinds[i], false);
		struct nlmsghdr *head = nlmsg_hdr(message);
		uint8_t *bytes = (uint8_t *)head;

		for (size_t at = sizeof(*head); at < head->nlmsg_len; at++)
			for (unsigned value = 0; value < 256; value += 17) {
				uint8_t before = bytes[at];

				bytes[at] = (uint8_t)value;
				assert_true(ask_with(&asking, &kinds[i], bytes, head->nlmsg_len,
						     said) <= 0);
				bytes[at] = before;
			}
		nlmsg_free(message);
	}
}

/* The users of a device are unknown then, which differs from "none". */
static void contexts_that_change_meanwhile_are_not_known(void **state)
{
	RNA_CLEANUP(asking_deinit) struct asking asking;
	struct rna_resource_counts counts;

	(void)state;
	asking_init(&asking);
	script.interrupted = 100;
	script.answer = make(&kinds[0], false);
	assert_int_equal(rna_rdma_netlink.get_resources(&asking.numbers, "mlx5_0", &counts, NULL),
			 -EAGAIN);
	assert_int_equal(counts.of[RNA_RESOURCE_CTX].number, 2);
	assert_int_equal(rna_resources_users(&counts).state, RNA_VALUE_UNREADABLE);
}

/* The prober and the self-test. */
static void contexts_of_children_are_own(void **state)
{
	RNA_CLEANUP(asking_deinit) struct asking asking;
	struct rna_resource_counts counts;

	(void)state;
	asking_init(&asking);
	processes[0] = (uint32_t)getpid();
	script.answer = make(&kinds[0], false);
	processes[0] = 76;
	asking.numbers.process = getppid();
	assert_int_equal(rna_rdma_netlink.get_resources(&asking.numbers, "mlx5_0", &counts, NULL),
			 0);
	assert_int_equal(counts.own_contexts.number, 1);
	asking.numbers.process = INT32_MAX;
	assert_int_equal(rna_rdma_netlink.get_resources(&asking.numbers, "mlx5_0", &counts, NULL),
			 0);
	assert_int_equal(counts.own_contexts.number, 0);
	nlmsg_free(script.answer);
	script.answer = NULL;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(addresses_that_change_are_counted_anew),
		TEST(addresses_that_go_on_changing_are_not_known),
		TEST(addresses_of_a_list_that_fails_are_not_known),
		TEST(devices_that_change_are_listed_anew),
		TEST(devices_that_go_on_changing_are_not_known),
		TEST(whole_answers_are_understood),
		TEST(answers_that_are_cut_say_nothing_else),
		TEST(answers_with_any_byte_changed_do_no_harm),
		TEST(contexts_that_change_meanwhile_are_not_known),
		TEST(contexts_of_children_are_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
