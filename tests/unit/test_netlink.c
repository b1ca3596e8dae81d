// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/netlink: lists that change while the kernel writes them. It marks such a list, and
 * what it had told until then is told anew. libnl's socket is a script here.
 */
#include "backends.h"
#include "tree.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static struct script {
	unsigned interrupted; /* so many lists are broken off, after what they had */
	unsigned lists, questions;
	struct nl_msg *answer; /* to each of them */
	nl_recvmsg_msg_cb_t parse;
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
	(void)socket, (void)type, (void)kind;
	script.parse = parse;
	script.userdata = userdata;
	return 0;
}

int __wrap_nl_send_auto(struct nl_sock *socket, struct nl_msg *message)
{
	bool is_list = nlmsg_hdr(message)->nlmsg_flags & NLM_F_DUMP;

	(void)socket;
	script.questions++;
	script.lists += is_list;
	return 0;
}

int __wrap_nl_recvmsgs_default(struct nl_sock *socket)
{
	(void)socket;
	(void)script.parse(script.answer, script.userdata);
	if (script.lists > script.interrupted)
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

/* -- Addresses ---------------------------------------------------------------------------------
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

/* -- RDMA devices ------------------------------------------------------------------------------
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(addresses_that_change_are_counted_anew),
		TEST(addresses_that_go_on_changing_are_not_known),
		TEST(devices_that_change_are_listed_anew),
		TEST(devices_that_go_on_changing_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
