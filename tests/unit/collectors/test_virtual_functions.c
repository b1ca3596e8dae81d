// SPDX-License-Identifier: Apache-2.0
/* collectors/virtual_functions and vf_message: bytes as the kernel writes them, cut at every place,
 * and the files of a physical function. */
#include <errno.h>
#include <net/if_arp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "backend/backends.h"
#include "parse/guid.h"
#include "parse/link_message.h"
#include "parse/representor.h"

#include "collectors.h"
#include "emulated.h"
#include "tree.h"

#define PF "sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"

/* -- Messages ---------------------------------------------------------------------------------- */

struct message {
	uint8_t data[128 * 1024];
	size_t len;
};

static size_t put(struct message *message, const void *data, size_t len)
{
	size_t at = message->len;

	memcpy(message->data + at, data, len);
	message->len += (len + 3) & ~(size_t)3;
	return at;
}

static void put_attribute(struct message *message, uint16_t type, const void *data, size_t len)
{
	struct nlattr head = {.nla_len = (uint16_t)(sizeof(head) + len), .nla_type = type};

	(void)put(message, &head, sizeof(head));
	(void)put(message, data, len);
}

static size_t open_nest(struct message *message, uint16_t type)
{
	struct nlattr head = {.nla_type = type | NLA_F_NESTED};

	return put(message, &head, sizeof(head));
}

static void close_nest(struct message *message, size_t at)
{
	uint16_t len = (uint16_t)(message->len - at);

	memcpy(message->data + at, &len, sizeof(len));
}

static void begin(struct message *message, unsigned short type)
{
	struct nlmsghdr head = {.nlmsg_type = RTM_NEWLINK};
	struct ifinfomsg link = {.ifi_type = type};

	*message = (struct message){0};
	(void)put(message, &head, sizeof(head));
	(void)put(message, &link, sizeof(link));
	put_attribute(message, IFLA_IFNAME, "ens1", sizeof("ens1"));
}

static void end(struct message *message)
{
	uint32_t len = (uint32_t)message->len;

	memcpy(message->data, &len, sizeof(len));
}

/* One function as rtnl_fill_vfinfo() writes it; unknown ones of 2027 among the rest. */
static void put_vf(struct message *message, uint32_t number, uint8_t mac, uint32_t answer)
{
	size_t nest = open_nest(message, IFLA_VF_INFO);
	struct ifla_vf_mac address = {.vf = number, .mac = {0, mac, 0, 0, 0, mac}};
	struct ifla_vf_vlan vlan = {.vf = number, .vlan = 100 + number, .qos = 3};
	struct ifla_vf_spoofchk check = {number, answer};
	struct ifla_vf_link_state link = {number, number % 4};
	struct ifla_vf_trust trust = {number, answer};
	struct ifla_vf_rate rate = {.vf = number, .max_tx_rate = 2500 * number};

	put_attribute(message, IFLA_VF_MAC, &address, sizeof(address));
	put_attribute(message, IFLA_VF_VLAN, &vlan, sizeof(vlan));
	put_attribute(message, 200, "brand new", sizeof("brand new"));
	put_attribute(message, IFLA_VF_SPOOFCHK, &check, sizeof(check));
	put_attribute(message, IFLA_VF_LINK_STATE, &link, sizeof(link));
	put_attribute(message, IFLA_VF_TRUST, &trust, sizeof(trust));
	put_attribute(message, IFLA_VF_RATE, &rate, sizeof(rate));
	close_nest(message, nest);
}

static void put_guids(struct message *message, uint32_t number, uint64_t guid)
{
	size_t nest = open_nest(message, IFLA_VF_INFO);
	struct ifla_vf_mac address = {.vf = number, .mac = {0x80, 1, 2, 3, 4, 5}};
	struct ifla_vf_guid value = {.vf = number, .guid = guid};

	put_attribute(message, IFLA_VF_MAC, &address, sizeof(address));
	put_attribute(message, IFLA_VF_IB_NODE_GUID, &value, sizeof(value));
	put_attribute(message, IFLA_VF_IB_PORT_GUID, &value, sizeof(value));
	close_nest(message, nest);
}

static int read_message(const struct message *message, struct rna_arena *arena,
			struct rna_vf_list *ret)
{
	*ret = (struct rna_vf_list){0};
	return rna_vf_message_read((struct rna_bytes){message->data, message->len}, arena, ret);
}

static void make_ethernet(struct message *message)
{
	size_t list;

	begin(message, ARPHRD_ETHER);
	list = open_nest(message, IFLA_VFINFO_LIST);
	put_vf(message, 3, 0, UINT32_MAX);
	put_vf(message, 1, 0x42, 1);
	close_nest(message, list);
	put_attribute(message, 900, "new", sizeof("new"));
	end(message);
}

static void test_ethernet(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct rna_vf_list list;
	struct message message;

	(void)state;
	make_ethernet(&message);
	assert_int_equal(read_message(&message, arena, &list), 0);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.functions[0].number, 1);
	assert_string_equal(list.functions[0].mac, "00:42:00:00:00:42");
	assert_int_equal(list.functions[0].assigned.number, 1);
	assert_int_equal(list.functions[0].vlan.number, 101);
	assert_int_equal(list.functions[0].vlan_priority.number, 3);
	assert_int_equal(list.functions[0].link.number, RNA_VF_LINK_UP);
	assert_int_equal(list.functions[0].trust.number, 1);
	assert_int_equal(list.functions[0].max_rate.number, 2500000000);
	assert_null(list.functions[0].port_guid);
	assert_null(list.functions[1].mac);
	assert_int_equal(list.functions[1].assigned.state, RNA_VALUE_OK);
	assert_int_equal(list.functions[1].assigned.number, 0);
	assert_int_equal(list.functions[1].link.state, RNA_VALUE_ABSENT); /* 3: no such state */
	assert_int_equal(list.functions[1].spoof_check.state, RNA_VALUE_ABSENT);
	assert_int_equal(list.functions[1].trust.state, RNA_VALUE_ABSENT);
}

static void test_infiniband(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct rna_vf_list vfs;
	struct message message;
	size_t list;

	(void)state;
	begin(&message, ARPHRD_INFINIBAND);
	list = open_nest(&message, IFLA_VFINFO_LIST);
	put_guids(&message, 0, 0xb83fd20300112233);
	put_guids(&message, 1, 0);
	close_nest(&message, list);
	end(&message);
	assert_int_equal(read_message(&message, arena, &vfs), 0);
	assert_int_equal(vfs.count, 2);
	assert_string_equal(vfs.functions[0].port_guid, "b83f:d203:0011:2233");
	assert_null(vfs.functions[0].mac);
	assert_int_equal(vfs.functions[0].assigned.number, 1);
	assert_null(vfs.functions[1].node_guid);
	assert_int_equal(vfs.functions[1].assigned.state, RNA_VALUE_OK);
	assert_int_equal(vfs.functions[1].assigned.number, 0);
}

/* The kernel writes one list. Of several, however long, the last one counts. */
static void test_several_lists(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct rna_vf_list vfs;
	struct message message;

	(void)state;
	begin(&message, ARPHRD_ETHER);
	for (uint32_t count = 3; count > 0; count--) {
		size_t list = open_nest(&message, IFLA_VFINFO_LIST);

		for (uint32_t i = 0; i < count; i++)
			put_vf(&message, 10 * count + i, 1, 1);
		close_nest(&message, list);
	}
	end(&message);
	assert_int_equal(read_message(&message, arena, &vfs), 0);
	assert_int_equal(vfs.count, 1);
	assert_int_equal(vfs.functions[0].number, 10);
}

/* An interface without any has no list, which is no error. */
static void test_none(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct rna_vf_list list;
	struct message message;

	(void)state;
	begin(&message, ARPHRD_ETHER);
	end(&message);
	assert_int_equal(read_message(&message, arena, &list), 0);
	assert_int_equal(list.count, 0);
}

/* Whatever the length says, a message that was cut is refused, and nothing behind it is read. */
static void test_cut_messages(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(65536);
	struct rna_vf_list list;
	struct message whole;

	(void)state;
	make_ethernet(&whole);
	for (size_t len = 0; len < whole.len; len++) {
		RNA_FREE uint8_t *cut = malloc(len + 1); /* so that ASan sees what is beyond */
		uint32_t told = (uint32_t)len;
		int status;

		assert_non_null(cut);
		memcpy(cut, whole.data, len);
		list = (struct rna_vf_list){0};
		assert_int_equal(rna_vf_message_read((struct rna_bytes){cut, len}, arena, &list),
				 -EBADMSG);
		if (len < sizeof(struct nlmsghdr))
			continue;
		memcpy(cut, &told, sizeof(told));
		status = rna_vf_message_read((struct rna_bytes){cut, len}, arena, &list);
		assert_true(status == -EBADMSG || (status == 0 && list.count != 1));
	}
}

/* As many that the list is longer than the length of an attribute can say. */
static void make_many(struct message *message, uint32_t told, uint32_t count)
{
	static const uint8_t statistics[160];
	size_t list;

	begin(message, ARPHRD_ETHER);
	put_attribute(message, IFLA_NUM_VF, &told, sizeof(told));
	list = open_nest(message, IFLA_VFINFO_LIST);
	for (uint32_t i = 0; i < count; i++) {
		struct ifla_vf_trust trust = {i, 1};
		size_t nest = open_nest(message, IFLA_VF_INFO);

		put_attribute(message, IFLA_VF_TRUST, &trust, sizeof(trust));
		put_attribute(message, IFLA_VF_STATS, statistics, sizeof(statistics));
		close_nest(message, nest);
	}
	close_nest(message, list); /* which wraps, as the kernel's does */
	put_attribute(message, 900, "new", sizeof("new"));
	end(message);
}

static void test_lists_beyond_64_kib(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(65536);
	RNA_FREE struct message *message = malloc(sizeof(*message));
	struct rna_vf_list list;

	(void)state;
	assert_non_null(message);
	for (uint32_t count = 340; count <= 380; count++) { /* around the length of 65536 */
		make_many(message, count, count);
		assert_int_equal(read_message(message, arena, &list), 0);
		assert_int_equal(list.count, count);
		assert_int_equal(list.functions[count - 1].number, count - 1);
	}
	assert_true(message->len > 65536);
	make_many(message, 400, 380);
	assert_int_equal(read_message(message, arena, &list), -EMSGSIZE);
	assert_int_equal(list.count, 0);
}

/* A member that is too short for its struct, and a function without a number. */
static void test_odd_functions(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct rna_vf_list vfs;
	struct message message;

	(void)state;
	for (unsigned odd = 0; odd < 2; odd++) {
		size_t list, nest;

		begin(&message, ARPHRD_ETHER);
		list = open_nest(&message, IFLA_VFINFO_LIST);
		nest = open_nest(&message, IFLA_VF_INFO);
		if (odd == 0)
			put_attribute(&message, IFLA_VF_TRUST, "abcd", 4);
		close_nest(&message, nest);
		close_nest(&message, list);
		end(&message);
		assert_int_equal(read_message(&message, arena, &vfs), -EBADMSG);
		assert_int_equal(vfs.count, 0);
	}
}

/* -- Texts ------------------------------------------------------------------------------------- */

static void test_representors(void **state)
{
	static const char *const others[] = {"p0",      "pf0",    "pf0sf88", "c1pf0vf3",  "",
					     "pf0vf3x", "pfxvf1", "vf3",     "pf0vf70000"};
	unsigned pf, vf;

	(void)state;
	assert_int_equal(rna_vf_parse_representor("pf1vf27", &pf, &vf), 0);
	assert_true(pf == 1 && vf == 27);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(others); i++)
		assert_int_equal(rna_vf_parse_representor(others[i], &pf, &vf), -ENOENT);
}

static void test_guids(void **state)
{
	static const char *const odd[] = {"",
					  "b8",
					  "b8:3f:d2:03:00:11:22",
					  "b8:3f:d2:03:00:11:22:33:",
					  "b83f:d203:0011:2233",
					  "b8:3f:d2:03:00:11:22:3g"};
	uint64_t guid;

	(void)state;
	assert_int_equal(rna_vf_parse_guid("b8:3f:d2:03:00:11:22:33", &guid), 0);
	assert_true(guid == 0xb83fd20300112233);
	assert_int_equal(rna_vf_parse_guid("00:00:00:00:00:00:00:00", &guid), 0);
	assert_true(guid == 0);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(odd); i++)
		assert_int_equal(rna_vf_parse_guid(odd[i], &guid), -EBADMSG);
}

/* -- The collector ----------------------------------------------------------------------------- */

static struct rna_part *collect(const struct tree *tree)
{
	RNA_CLEANUP(rna_backends_free_p)
	struct rna_backends *backends = rna_backends_new(tree->root);
	const struct rna_device device = {
		.name = "mlx5_0",
		.sysfs_path = PF "/infiniband/mlx5_0",
	};
	const struct rna_collect_input in = {.root = tree->root,
					     .backends = backends,
					     .device = &device};
	struct rna_part *part = NULL;

	assert_int_equal(rna_collect_virtual_functions(&in, &part, NULL), 0);
	return part;
}

static void make_functions(const struct tree *tree)
{
	tree_mkdir(tree, PF "/infiniband/mlx5_0");
	tree_link(tree, PF "/infiniband/mlx5_0/device", "../../../0000:3b:00.0");
	tree_link(tree, PF "/virtfn0", "../0000:3b:00.2");
	tree_link(tree, PF "/virtfn1", "../0000:3b:00.3");
	tree_mkdir(tree, PF "/../0000:3b:00.2/infiniband/mlx5_4");
	tree_mkdir(tree, PF "/../0000:3b:00.2/net/ens1v0");
	tree_link(tree, PF "/../0000:3b:00.2/driver", "../../../../bus/pci/drivers/mlx5_core");
	tree_link(tree, PF "/../0000:3b:00.3/driver", "../../../../bus/pci/drivers/vfio-pci");
}

static void test_functions_of_a_device(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	RNA_CLEANUP(tree_deinit) struct tree tree;
	const struct rna_virtual_functions *functions;

	(void)state;
	tree_init(&tree);
	make_functions(&tree);
	tree_write(&tree, PF "/net/ens1/phys_port_name", "p0\n");
	tree_write(&tree, PF "/net/ens1pf0vf1/phys_port_name", "pf0vf1\n");
	tree_write(&tree, PF "/net/other/phys_port_name", "pf1vf0\n");  /* of its sister */
	tree_write(&tree, PF "/net/host/phys_port_name", "c1pf0vf0\n"); /* of a DPU's host */
	tree_write(&tree, "recorded/netdev/ens1/virtual_functions/1/trust", "1\n");
	tree_write(&tree, "recorded/netdev/ens1/virtual_functions/1/assigned", "0\n");
	part = collect(&tree);
	functions = (const void *)part;
	assert_int_equal(functions->count, 2);
	assert_string_equal(functions->functions[0].pci_address, "0000:3b:00.2");
	assert_string_equal(functions->functions[0].driver, "mlx5_core");
	assert_string_equal(functions->functions[0].device, "mlx5_4");
	assert_string_equal(functions->functions[0].netdev, "ens1v0");
	assert_null(functions->functions[0].representor);
	assert_string_equal(functions->functions[1].representor, "ens1pf0vf1");
	assert_int_equal(functions->functions[1].trust.number, 1);
	assert_int_equal(functions->functions[0].trust.state, RNA_VALUE_ABSENT);
	assert_int_equal(rna_vf_count(functions, RNA_VF_BOUND).number, 1);
	assert_int_equal(rna_vf_count(functions, RNA_VF_PASSED).number, 1);
	assert_int_equal(rna_vf_count(functions, RNA_VF_RDMA).number, 1);
	assert_int_equal(rna_vf_count(functions, RNA_VF_UNASSIGNED).number, 1);
	assert_int_equal(rna_vf_count(functions, RNA_VF_LINK_IS_DOWN).state, RNA_VALUE_ABSENT);
	assert_int_equal(rna_part_error_count(part), 0);
}

/* A partial count would be wrong: "0 unchecked" would say that all is well. */
static void test_count_without_unreadable_functions(void **state)
{
	const struct rna_virtual_function all[] = {
		{.spoof_check = rna_value_ok(0), .trust = rna_value_ok(1)},
		{.spoof_check = rna_value_unreadable(), .trust = {0}},
		{.spoof_check = rna_value_ok(0), .trust = rna_value_ok(1)},
	};
	const struct rna_virtual_functions functions = {.count = 3, .functions = all};

	(void)state;
	assert_int_equal(rna_vf_count(&functions, RNA_VF_SPOOF_UNCHECKED).state,
			 RNA_VALUE_UNREADABLE);
	assert_int_equal(rna_vf_count(&functions, RNA_VF_TRUSTED).number, 2);
	assert_int_equal(rna_vf_count(&functions, RNA_VF_UNASSIGNED).state, RNA_VALUE_ABSENT);
}

static void test_infiniband_files(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	RNA_CLEANUP(tree_deinit) struct tree tree;
	const struct rna_virtual_functions *functions;

	(void)state;
	tree_init(&tree);
	make_functions(&tree);
	tree_write(&tree, PF "/sriov/0/node", "b8:3f:d2:03:00:11:22:10\n");
	tree_write(&tree, PF "/sriov/0/port", "b8:3f:d2:03:00:11:22:11\n");
	tree_write(&tree, PF "/sriov/0/policy", "Down\n");
	tree_write(&tree, PF "/sriov/1/node", "nonsense\n");
	tree_write(&tree, PF "/sriov/1/port", "00:00:00:00:00:00:00:00\n");
	part = collect(&tree);
	functions = (const void *)part;
	assert_string_equal(functions->functions[0].node_guid, "b83f:d203:0011:2210");
	assert_string_equal(functions->functions[0].port_guid, "b83f:d203:0011:2211");
	assert_int_equal(functions->functions[0].link.number, RNA_VF_LINK_DOWN);
	assert_int_equal(functions->functions[1].assigned.state, RNA_VALUE_OK);
	assert_int_equal(functions->functions[1].assigned.number, 0);
	assert_int_equal(functions->functions[1].link.state, RNA_VALUE_ABSENT);
	assert_int_equal(part->errors[RNA_REASON_FORMAT], 1);
}

/* -- Functions that come and go meanwhile ------------------------------------------------------ */

static struct {
	int status;
	size_t count;
	struct rna_virtual_function functions[4];
} told;

static int list_told(const struct rna_root *root, const char *name, struct rna_arena *arena,
		     struct rna_vf_list *ret)
{
	(void)root, (void)name, (void)arena;
	if (told.status == 0)
		*ret = (struct rna_vf_list){told.count, told.functions};
	return told.status;
}

/* Of two functions in sysfs, and an interface that tells as told has it. */
static struct rna_part *collect_told(void)
{
	static const struct rna_netdev_backend netdev = {.list_virtual_functions = list_told};
	static const struct rna_backends backends = {.netdev = &netdev};
	const struct rna_device device = {.name = "mlx5_0", .sysfs_path = PF "/infiniband/mlx5_0"};
	RNA_CLEANUP(tree_deinit) struct tree tree;
	struct rna_collect_input in = {.backends = &backends, .device = &device};
	struct rna_part *part = NULL;

	tree_init(&tree);
	make_functions(&tree);
	tree_write(&tree, PF "/net/ens1/phys_port_name", "p0\n");
	in.root = tree.root;
	assert_int_equal(rna_collect_virtual_functions(&in, &part, NULL), 0);
	return part;
}

/* The kernel tells of those that there are by then, in whatever order. */
static void test_functions_that_come_and_go(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *more = NULL, *fewer = NULL;
	const struct rna_virtual_functions *functions;

	(void)state;
	told = (typeof(told)){.count = 3,
			      .functions = {{.number = 2, .trust = rna_value_ok(1)},
					    {.number = 0, .trust = rna_value_ok(0)},
					    {.number = 1, .trust = rna_value_ok(1)}}};
	more = collect_told();
	functions = (const void *)more;
	assert_int_equal(functions->count, 3);
	assert_int_equal(functions->functions[0].trust.number, 0);
	assert_string_equal(functions->functions[0].device, "mlx5_4");
	assert_int_equal(functions->functions[2].trust.number, 1);
	assert_null(functions->functions[2].pci_address);
	told.functions[0].number = 1;
	told.count = 1;
	fewer = collect_told();
	functions = (const void *)fewer;
	assert_int_equal(functions->count, 2);
	assert_int_equal(functions->functions[0].trust.state, RNA_VALUE_ABSENT);
	assert_int_equal(functions->functions[1].trust.number, 1);
	assert_int_equal(rna_part_error_count(more) + rna_part_error_count(fewer), 0);
}

/* An interface that is gone by then is nothing to tell of; an answer that is cut costs its own. */
static void test_functions_that_are_not_told(void **state)
{
	static const struct {
		int status;
		uint64_t errors;
	} rows[] = {{-ENODEV, 0}, {-EBADMSG, 1}, {-EMSGSIZE, 1}};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
		const struct rna_virtual_functions *functions;

		told = (typeof(told)){.status = rows[i].status};
		part = collect_told();
		functions = (const void *)part;
		assert_int_equal(functions->count, 2);
		assert_string_equal(functions->functions[0].driver, "mlx5_core");
		assert_int_equal(functions->functions[0].trust.state, RNA_VALUE_ABSENT);
		assert_int_equal(rna_part_error_count(part), rows[i].errors);
	}
}

/* The loopback interface of this machine has none; what the kernel answers is a whole message. */
static void test_the_kernel_answers(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct rna_vf_list list = {0};

	(void)state;
	if (__BYTE_ORDER == __BIG_ENDIAN)
		need_kernel("does not translate all of rtnetlink between byte orders");
	assert_int_equal(rna_rtnetlink.list_virtual_functions(NULL, "lo", arena, &list), 0);
	assert_int_equal(list.count, 0);
	assert_int_equal(rna_rtnetlink.list_virtual_functions(NULL, "no-such-one", arena, &list),
			 -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ethernet),
		cmocka_unit_test(test_infiniband),
		cmocka_unit_test(test_several_lists),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_cut_messages),
		cmocka_unit_test(test_lists_beyond_64_kib),
		cmocka_unit_test(test_odd_functions),
		cmocka_unit_test(test_representors),
		cmocka_unit_test(test_guids),
		cmocka_unit_test(test_functions_of_a_device),
		cmocka_unit_test(test_count_without_unreadable_functions),
		cmocka_unit_test(test_infiniband_files),
		cmocka_unit_test(test_functions_that_come_and_go),
		cmocka_unit_test(test_functions_that_are_not_told),
		cmocka_unit_test(test_the_kernel_answers),
	};

	return cmocka_run_group_tests_name("virtual_functions", tests, NULL, NULL);
}
