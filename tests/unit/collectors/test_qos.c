// SPDX-License-Identifier: Apache-2.0
/*
 * core/qos: masks and MTUs; collectors/dcb: answers, whole, cut off and from the future; and
 * collectors/qos on small trees and of the kernel.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#include "backend/backends.h"
#include "backend/dcb.h"

#include "collectors.h"
#include "emulated.h"
#include "tree.h"

/* -- Words and numbers ------------------------------------------------------------------------- */

static void test_masks_are_said_in_ranges(void **state)
{
	static const struct {
		uint64_t mask;
		const char *text;
	} cases[] = {
		{0, "none"},          {1, "0"},      {8, "3"},
		{0x18, "3-4"},        {0x9, "0, 3"}, {UINT64_C(0xff) << 24 | 1, "0, 24-31"},
		{UINT64_MAX, "0-63"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

		rna_qos_write_mask(cases[i].mask, &text);
		assert_string_equal(text.data, cases[i].text);
	}
	assert_int_equal(rna_priority_only(8), 3);
	assert_int_equal(rna_priority_only(0), -1);
	assert_int_equal(rna_priority_only(0x18), -1);
}

/* The numbers of rdma/ib_addr.h: iboe_get_mtu(), and of drivers that do without it. */
static void test_mtu_keeps_room_for_headers(void **state)
{
	(void)state;
	assert_int_equal(rna_qos_netdev_mtu("mlx5_core", 4096), 4192);
	assert_int_equal(rna_qos_netdev_mtu("bnxt_en", 2048), 2144);
	assert_int_equal(rna_qos_netdev_mtu("ice", 4096), 4096);
	assert_int_equal(rna_qos_rdma_mtu("mlx5_core", 4192), 4096);
	assert_int_equal(rna_qos_rdma_mtu("mlx5_core", 4191), 2048);
	assert_int_equal(rna_qos_rdma_mtu(NULL, 1500), 1024);
	assert_int_equal(rna_qos_rdma_mtu("ice", 4096), 4096);
	assert_int_equal(rna_qos_rdma_mtu(NULL, 351), 0);
	assert_int_equal(rna_qos_rdma_mtu(NULL, 65535), 4096);
}

/* -- Answers ----------------------------------------------------------------------------------- */

struct message {
	size_t len;
	uint8_t bytes[2048];
};

static void put(struct message *message, const void *data, size_t len)
{
	assert_true(message->len + len <= sizeof(message->bytes));
	memcpy(message->bytes + message->len, data, len);
	message->len += len;
}

/* Begins an attribute; end_attribute() sets its length. */
static size_t begin(struct message *message, uint16_t type)
{
	size_t start = message->len;

	put(message, &(struct nlattr){.nla_type = type}, sizeof(struct nlattr));
	return start;
}

static void end(struct message *message, size_t start)
{
	uint16_t len = (uint16_t)(message->len - start);
	static const uint8_t padding[3];

	memcpy(message->bytes + start, &len, sizeof(len));
	put(message, padding, (size_t)(-len & 3));
}

static void put_attribute(struct message *message, uint16_t type, const void *data, size_t len)
{
	size_t start = begin(message, type);

	put(message, data, len);
	end(message, start);
}

static void put_application(struct message *message, uint8_t selector, uint8_t priority,
			    uint16_t protocol)
{
	const struct dcb_app application = {selector, priority, protocol};

	put_attribute(message, 1, &application, sizeof(application));
}

static void put_applications(struct message *message)
{
	size_t start = begin(message, DCB_ATTR_IEEE_APP_TABLE);

	put_application(message, IEEE_8021QAZ_APP_SEL_DSCP, 3, 26);
	put_application(message, IEEE_8021QAZ_APP_SEL_DSCP, 6, 48);
	put_application(message, IEEE_8021QAZ_APP_SEL_DSCP, 1, 10);
	put_application(message, IEEE_8021QAZ_APP_SEL_DSCP, 2, 10); /* both: which one? */
	put_application(message, IEEE_8021QAZ_APP_SEL_DSCP, 1, 64); /* there is no such DSCP */
	put_application(message, IEEE_8021QAZ_APP_SEL_DGRAM, 3, 4791);
	put_application(message, IEEE_8021QAZ_APP_SEL_ETHERTYPE, 2, 0);
	put_application(message, IEEE_8021QAZ_APP_SEL_ETHERTYPE, 5, 0x8915);
	end(message, start);
}

static void start_message(struct message *message, uint8_t command)
{
	const struct nlmsghdr head = {.nlmsg_type = RTM_GETDCB};
	const struct dcbmsg dcb = {.cmd = command};

	message->len = 0;
	put(message, &head, sizeof(head));
	put(message, &dcb, sizeof(dcb));
}

static void end_message(struct message *message)
{
	uint32_t len = (uint32_t)message->len;

	memcpy(message->bytes, &len, sizeof(len));
}

/* All that we know, with attributes of every level that we do not. */
static void make_answer(struct message *message)
{
	const struct ieee_pfc pfc = {.pfc_cap = 8,
				     .pfc_en = 0x08,
				     .requests = {[3] = 17},
				     .indications = {[3] = UINT64_C(1) << 40}};
	const struct ieee_ets ets = {.ets_cap = 8,
				     .tc_tx_bw = {10, 0, 0, 90},
				     .tc_tsa = {2, 0, 0, 2, 0, 0, 0, 255},
				     .prio_tc = {0, 1, 2, 3, 4, 5, 6, 7}};
	const struct dcbnl_buffer buffer = {.prio2buffer = {[3] = 1},
					    .buffer_size = {20016, 156096},
					    .total_size = 262016};
	const uint8_t dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
	const uint8_t dscp_first = IEEE_8021QAZ_APP_SEL_DSCP, pcp = 255;
	size_t ieee, trust;

	start_message(message, DCB_CMD_IEEE_GET);
	put_attribute(message, DCB_ATTR_IFNAME, "eth0", 5);
	ieee = begin(message, DCB_ATTR_IEEE | NLA_F_NESTED);
	put_attribute(message, DCB_ATTR_IEEE_ETS, &ets, sizeof(ets));
	put_attribute(message, DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
	put_applications(message);
	put_attribute(message, 200, "later", 5);
	put_attribute(message, DCB_ATTR_DCB_BUFFER, &buffer, sizeof(buffer));
	trust = begin(message, 11);
	put_attribute(message, 1, &dscp_first, 1);
	put_attribute(message, 2, &pcp, 1);
	end(message, trust);
	end(message, ieee);
	put_attribute(message, DCB_ATTR_DCBX, &dcbx, sizeof(dcbx));
	put_attribute(message, 99, "", 0);
	end_message(message);
}

static void check_answer(const struct rna_dcb *dcb)
{
	assert_int_equal(dcb->pfc.number, 0x08);
	assert_int_equal(dcb->pfc_limit.number, 8);
	assert_int_equal(dcb->pfc_sent[3].number, 17);
	assert_int_equal(dcb->pfc_received[3].number, UINT64_C(1) << 40);
	assert_true(dcb->has_ets);
	assert_int_equal(dcb->bandwidth[3], 90);
	assert_string_equal(rna_ets_algorithm_name(dcb->algorithm[7]), "vendor");
	assert_int_equal(dcb->traffic_class[7], 7);
	assert_int_equal(dcb->dscp_count, 4);
	assert_int_equal(dcb->dscp_priority[26], 3);
	assert_int_equal(dcb->dscp_priority[10], RNA_PRIORITY_SEVERAL);
	assert_int_equal(dcb->dscp_priority[0], RNA_PRIORITY_NONE);
	assert_int_equal(dcb->default_priority.number, 2);
	assert_int_equal(dcb->trust, RNA_TRUST_DSCP);
	assert_true(dcb->has_buffers);
	assert_int_equal(dcb->buffer_bytes[1], 156096);
	assert_int_equal(rna_dcbx_is_host(dcb).number, 1);
	assert_int_equal(rna_qos_dscps_of(dcb, 3), UINT64_C(1) << 26);
	assert_int_equal(rna_qos_priorities_of_buffer(dcb, 1), 0x08);
}

static void test_an_answer_is_taken_apart(void **state)
{
	struct message message;
	struct rna_dcb dcb;

	(void)state;
	make_answer(&message);
	assert_int_equal(rna_dcb_parse((struct rna_bytes){message.bytes, message.len}, &dcb), 0);
	check_answer(&dcb);
}

/* In memory of just that size, so that a sanitizer sees what reads past the end. */
static int parse_copy(const uint8_t *bytes, size_t len, struct rna_dcb *dcb)
{
	RNA_FREE uint8_t *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	return rna_dcb_parse((struct rna_bytes){copy, len}, dcb);
}

/*
 * Cut off anywhere it is refused: once with the length that the kernel wrote, and once with the
 * right one, where only the end of a whole attribute can be an end.
 */
static void test_an_answer_that_is_cut_off(void **state)
{
	struct message message;
	struct rna_dcb dcb;
	size_t accepted = 0;

	(void)state;
	make_answer(&message);
	for (size_t len = 0; len < message.len; len++)
		assert_int_equal(parse_copy(message.bytes, len, &dcb), -EBADMSG);
	for (uint32_t len = sizeof(struct nlmsghdr); len < message.len; len++) {
		memcpy(message.bytes, &len, sizeof(len));
		accepted += parse_copy(message.bytes, len, &dcb) == 0;
	}
	/* behind the head; the name with 0 to 3 of its padding; IEEE; DCBX likewise */
	assert_in_range(accepted, 4, 12);
}

/* Whatever a byte is, nothing is read past the end. */
static void test_an_answer_with_any_byte_changed(void **state)
{
	struct message message;
	struct rna_dcb dcb;

	(void)state;
	make_answer(&message);
	for (size_t i = 0; i < message.len; i++)
		for (unsigned value = 0; value < 256; value += 17) {
			uint8_t before = message.bytes[i];

			message.bytes[i] = (uint8_t)value;
			(void)parse_copy(message.bytes, message.len, &dcb);
			message.bytes[i] = before;
		}
}

static void test_what_is_not_mentioned_is_absent(void **state)
{
	struct message message;
	struct rna_dcb dcb;

	(void)state;
	start_message(&message, DCB_CMD_IEEE_GET);
	end_message(&message);
	assert_int_equal(rna_dcb_parse((struct rna_bytes){message.bytes, message.len}, &dcb), 0);
	assert_false(rna_value_is_known(dcb.pfc));
	assert_false(dcb.has_ets);
	assert_int_equal(dcb.trust, RNA_TRUST_UNKNOWN);
	assert_false(rna_value_is_known(rna_dcbx_is_host(&dcb)));
	start_message(&message, DCB_CMD_GSTATE);
	end_message(&message);
	assert_int_equal(rna_dcb_parse((struct rna_bytes){message.bytes, message.len}, &dcb),
			 -EBADMSG);
}

static void test_pfc_of_the_older_standard(void **state)
{
	static const uint8_t on = 1, off = 0;
	struct message message;
	struct rna_dcb dcb;
	size_t cee, pfc;

	(void)state;
	start_message(&message, DCB_CMD_CEE_GET);
	cee = begin(&message, DCB_ATTR_CEE);
	pfc = begin(&message, DCB_ATTR_CEE_PFC);
	for (unsigned i = 0; i < RNA_PRIORITY_COUNT; i++)
		put_attribute(&message, (uint16_t)(DCB_PFC_UP_ATTR_0 + i), i == 4 ? &on : &off, 1);
	end(&message, pfc);
	end(&message, cee);
	end_message(&message);
	assert_int_equal(rna_dcb_parse((struct rna_bytes){message.bytes, message.len}, &dcb), 0);
	assert_int_equal(dcb.pfc.number, 0x10);
}

/* -- The collector ----------------------------------------------------------------------------- */

static void write_hex(const struct tree *tree, const char *path, const struct message *message)
{
	char text[3 * sizeof(message->bytes)];
	size_t len = 0;

	for (size_t i = 0; i < message->len; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%02x%s", message->bytes[i],
					i % 32 == 31 ? "\n" : "");
	tree_write(tree, path, text);
}

/* A bond of two members; only of the first is known what its driver says. */
static void make_bond(const struct tree *tree)
{
	struct message message;

	make_answer(&message);
	tree_write(tree, "sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "bond0\n");
	tree_write(tree, "sys/class/net/bond0/type", "1\n");
	tree_write(tree, "sys/class/net/bond0/bonding/slaves", "eth0 eth1\n");
	tree_write(tree, "sys/class/net/eth0/type", "1\n");
	tree_write(tree, "sys/class/net/eth1/type", "1\n");
	tree_link(tree, "sys/class/net/eth0/master", "../bond0");
	tree_link(tree, "sys/class/net/eth1/master", "../bond0");
	write_hex(tree, "recorded/dcb/eth0/ieee", &message);
}

static struct rna_part *collect(const struct tree *tree)
{
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *presence = NULL, *netdevs = NULL;
	struct rna_collect_input in = {.root = tree->root};
	struct rna_part *part;

	backends = rna_backends_new(tree->root);
	in.backends = backends;
	assert_int_equal(rna_collect_presence(&in, &presence, NULL), 0);
	in.presence = (const struct rna_presence *)presence;
	assert_int_equal(rna_collect_netdev(&in, &netdevs, NULL), 0);
	in.netdevs = (const struct rna_netdevs *)netdevs;
	in.device = &in.presence->devices[0];
	assert_int_equal(rna_collect_qos(&in, &part, NULL), 0);
	return part;
}

static const struct rna_qos_port *port_of(const struct rna_part *part)
{
	return &((const struct rna_qos *)part)->ports[0];
}

static void test_a_bond(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_qos_port *port;

	(void)state;
	tree_init(&tree);
	make_bond(&tree);
	tree_write(&tree, "sys/class/net/bond0/upper_bond0.7/mtu", "1500\n");
	tree_write(&tree, "sys/class/net/bond0/upper_br0/mtu", "1500\n");
	tree_write(&tree, "sys/class/net/bond0.7/mtu", "9000\n");
	tree_write(&tree, "recorded/vlan/bond0.7/id", "7\n");
	tree_write(&tree, "recorded/vlan/bond0.7/egress/3", "5\n");
	tree_write(&tree, "recorded/vlan/bond0.7/egress/9", "5\n");
	part = collect(&tree);
	port = port_of(part);
	assert_string_equal(port->netdev, "eth0");
	assert_non_null(port->dcb);
	check_answer(port->dcb);
	assert_int_equal(rna_qos_priority_of(port, 26), 3);
	assert_int_equal(rna_qos_priority_of(port, 10), -1);
	assert_int_equal(port->vlan_count, 1);
	assert_string_equal(port->vlans[0].netdev, "bond0.7");
	assert_int_equal(port->vlans[0].id.number, 7);
	assert_int_equal(port->vlans[0].mtu.number, 9000);
	assert_int_equal(port->vlans[0].egress.number, 0x08);
	assert_int_equal(port->vlans[0].egress_priority[3], 5);
	assert_int_equal(rna_part_error_count(part), 0);
}

/* Each by itself; what is the port's is there for each of them. */
static void test_each_member_of_a_bond_is_asked(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_qos_port *first, *second;
	struct message message;
	size_t from = 0;

	(void)state;
	tree_init(&tree);
	make_bond(&tree);
	make_answer(&message);
	write_hex(&tree, "recorded/dcb/eth1/ieee", &message);
	tree_write(&tree, "sys/class/net/eth1/qos/trust", "pcp\n");
	tree_write(&tree, "sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos", "106\n");
	part = collect(&tree);
	first = rna_qos_next((const struct rna_qos *)part, 1, &from);
	second = rna_qos_next((const struct rna_qos *)part, 1, &from);
	assert_string_equal(first->netdev, "eth0");
	assert_int_equal(first->trust, RNA_TRUST_DSCP);
	assert_string_equal(second->netdev, "eth1");
	assert_int_equal(second->trust, RNA_TRUST_PCP);
	check_answer(second->dcb);
	assert_int_equal(second->default_tos.number, 106);
	assert_null(rna_qos_next((const struct rna_qos *)part, 1, &from));
}

/* What it would say is the physical port's, and each question may cost a firmware command. */
static void test_a_representor_is_not_asked(void **state)
{
	static const struct {
		const char *name;
		bool asked;
	} cases[] = {{"p0\n", true}, {"pf0vf3\n", false}, {"c1pf0\n", false}};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(tree_deinit) struct tree tree;
		RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

		tree_init(&tree);
		make_bond(&tree);
		tree_write(&tree, "sys/class/net/eth0/phys_port_name", cases[i].name);
		part = collect(&tree);
		assert_int_equal(port_of(part)->dcb != NULL, cases[i].asked);
		assert_int_equal(port_of(part)->number, 1);
	}
}

/* A pod has a virtual function, whose interface has no DCB; packets leave by that of the host. */
static void test_a_device_of_a_pod_has_what_the_uplink_has(void **state)
{
	static const unsigned ports[] = {1};
	static const struct rna_device device = {.name = "mlx5_3",
						 .process = 500,
						 .pci_address = "0000:3b:00.4",
						 .physical_function = "0000:3b:00.0",
						 .port_count = 1,
						 .ports = ports};
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	struct rna_collect_input in = {.device = &device};
	struct message message;

	(void)state;
	tree_init(&tree);
	make_answer(&message);
	tree_mkdir(&tree, "sys/bus/pci/devices/0000:3b:00.0/net/pf0vf2_rep");
	tree_mkdir(&tree, "sys/bus/pci/devices/0000:3b:00.0/net/rail0");
	tree_write(&tree, "sys/class/net/pf0vf2_rep/phys_port_name", "pf0vf2\n");
	tree_write(&tree, "sys/class/net/rail0/phys_port_name", "p0\n");
	write_hex(&tree, "recorded/dcb/rail0/ieee", &message);
	backends = rna_backends_new(tree.root);
	in.root = tree.root;
	in.backends = backends;
	assert_int_equal(rna_collect_qos(&in, &part, NULL), 0);
	assert_string_equal(port_of(part)->netdev, "rail0");
	check_answer(port_of(part)->dcb);
}

static void test_files_of_drivers(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_qos_port *port;
	char path[64];

	(void)state;
	tree_init(&tree);
	make_bond(&tree);
	tree_write(&tree, "sys/class/net/eth0/qos/trust", "pcp\n"); /* it knows better */
	for (unsigned i = 0; i < RNA_PRIORITY_COUNT; i++) {
		(void)snprintf(path, sizeof(path), "sys/class/net/eth0/ecn/roce_rp/enable/%u", i);
		tree_write(&tree, path, i == 3 ? "1\n" : "0\n");
	}
	tree_write(&tree, "sys/class/net/eth0/ecn/roce_np/cnp_dscp", "48\n");
	tree_write(&tree, "sys/kernel/debug/mlx5/0000:18:00.0/cc_params/np_cnp_dscp", "48\n");
	tree_write(&tree, "sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos", "106\n");
	tree_write(&tree, "sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode",
		   "RoCE v2\n");
	part = collect(&tree);
	port = port_of(part);
	assert_int_equal(port->trust, RNA_TRUST_PCP);
	assert_int_equal(rna_qos_priority_of(port, 26), -1);
	assert_int_equal(port->ecn[RNA_ECN_REACTION].number, 0x08);
	assert_int_equal(port->ecn[RNA_ECN_NOTIFICATION].state, RNA_VALUE_ABSENT);
	assert_int_equal(port->default_tos.number, 106);
	assert_string_equal(port->default_mode, "RoCE v2");
	assert_int_equal(port->parameter_count, 1);
	assert_string_equal(port->parameters[0].name, "np_cnp_dscp");
	assert_int_equal(port->parameters[0].value.number, 48);
	assert_int_equal(rna_part_error_count(part), 0);
}

/* What is broken costs itself, and is counted; what is no Ethernet is not asked. */
static void test_broken_and_other_interfaces(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL, *ipoib = NULL;

	(void)state;
	tree_init(&tree);
	make_bond(&tree);
	tree_write(&tree, "recorded/dcb/eth0/ieee", "2000000");
	tree_write(&tree, "sys/class/net/eth0/ecn/roce_rp/enable/0", "yes\n");
	part = collect(&tree);
	assert_string_equal(port_of(part)->netdev, "eth0");
	assert_null(port_of(part)->dcb);
	assert_int_equal(port_of(part)->ecn[RNA_ECN_REACTION].state, RNA_VALUE_UNREADABLE);
	assert_int_equal(rna_part_error_count(part), 2);
	tree_write(&tree, "sys/class/net/bond0/type", "32\n");
	ipoib = collect(&tree);
	assert_null(port_of(ipoib)->netdev);
	assert_int_equal(rna_part_error_count(ipoib), 0);
}

/* Every machine has a loopback interface, which is no VLAN and whose driver has no DCB. */
static void test_the_kernel_answers(void **state)
{
	struct rna_root *root = NULL;
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct rna_qos_vlan vlan;
	struct rna_bytes answer;

	(void)state;
	need_kernel("does not translate messages of DCB");
	assert_int_equal(rna_root_open(NULL, &root, NULL), 0);
	assert_int_equal(rna_dcb.ask(root, "lo", RNA_DCB_IEEE, arena, &answer), -EOPNOTSUPP);
	assert_int_equal(rna_dcb.ask(root, "none", RNA_DCB_CEE, arena, &answer), -ENODEV);
	assert_int_equal(rna_dcb.ask(root, "a-name-of-16-chr", RNA_DCB_IEEE, arena, &answer),
			 -ENODEV);
	assert_int_equal(rna_rtnetlink.read_vlan(root, "lo", &vlan), -ENOENT);
	assert_int_equal(rna_rtnetlink.read_vlan(root, "none", &vlan), -ENODEV);
	(void)rna_root_close(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_masks_are_said_in_ranges),
		cmocka_unit_test(test_mtu_keeps_room_for_headers),
		cmocka_unit_test(test_an_answer_is_taken_apart),
		cmocka_unit_test(test_an_answer_that_is_cut_off),
		cmocka_unit_test(test_an_answer_with_any_byte_changed),
		cmocka_unit_test(test_what_is_not_mentioned_is_absent),
		cmocka_unit_test(test_pfc_of_the_older_standard),
		cmocka_unit_test(test_a_bond),
		cmocka_unit_test(test_each_member_of_a_bond_is_asked),
		cmocka_unit_test(test_a_representor_is_not_asked),
		cmocka_unit_test(test_a_device_of_a_pod_has_what_the_uplink_has),
		cmocka_unit_test(test_files_of_drivers),
		cmocka_unit_test(test_broken_and_other_interfaces),
		cmocka_unit_test(test_the_kernel_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
