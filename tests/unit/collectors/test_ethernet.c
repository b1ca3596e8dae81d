// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/ethernet, with a scripted backend: which interfaces are asked, which source of a
 * statistic counts, and lists of statistics that change under its hands. Sums of
 * rna/model/ethernet.h.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "backend/backends.h"
#include "backend/ethtool.h"
#include "parse/representor.h"

#include "collectors.h"
#include "ethernet_sources.h"
#include "tree.h"

/* -- The driver -----------------------------------------------------------------------------------
 */

static struct script {
	const char *names[8];
	size_t count;
	size_t grows_to; /* when statistics are read next; 0: it does not grow */
	int error;       /* of everything */
	bool knows_link; /* how often it was lost: 12 times */
	int link_error;
	const uint32_t (*bins)[3]; /* low, high and blocks of three; NULL: it has none */
	unsigned lists, reads, asks;
	char asked[256]; /* interfaces, in their order */
} script;

static struct rna_bytes link_answer(void)
{
	static struct {
		struct nlmsghdr head;
		struct genlmsghdr generic;
		struct nlattr downs_head;
		uint32_t downs;
	} message;

	message.head = (struct nlmsghdr){.nlmsg_len = sizeof(message), .nlmsg_type = 21};
	message.generic = (struct genlmsghdr){.cmd = rna_ethtool_link_question.reply};
	message.downs_head = (struct nlattr){.nla_len = 8, .nla_type = 7}; /* EXT_DOWN_CNT */
	message.downs = 12;
	return (struct rna_bytes){(const uint8_t *)&message, sizeof(message)};
}

static struct rna_bytes fec_answer(void)
{
	enum { STATS = 5, HIST = 5 }; /* ETHTOOL_A_FEC_STATS, ETHTOOL_A_FEC_STAT_HIST */
	static struct {
		struct nlmsghdr head;
		struct genlmsghdr generic;
		struct nlattr stats;
		struct {
			struct nlattr head;
			struct {
				struct nlattr head;
				uint32_t number;
			} parts[3]; /* low, high and number */
		} bins[3];
	} message;

	message.head = (struct nlmsghdr){.nlmsg_len = sizeof(message), .nlmsg_type = 21};
	message.generic = (struct genlmsghdr){.cmd = rna_ethtool_fec_question.reply};
	message.stats = (struct nlattr){sizeof(message.stats) + sizeof(message.bins), STATS};
	for (size_t i = 0; i < 3; i++) {
		message.bins[i].head = (struct nlattr){sizeof(message.bins[i]), HIST};
		for (uint16_t part = 0; part < 3; part++) {
			message.bins[i].parts[part].head = (struct nlattr){8, (uint16_t)(2 + part)};
			message.bins[i].parts[part].number = script.bins[i][part];
		}
	}
	return (struct rna_bytes){(const uint8_t *)&message, sizeof(message)};
}

/* Drivers know nothing, unless the script says so. */
static int answer(struct rna_ethtool_talk *talk, const struct rna_ethtool_question *question,
		  const char *netdev, struct rna_arena *arena, struct rna_bytes *ret)
{
	(void)talk, (void)arena;
	script.asks++;
	if (question == &rna_ethtool_fec_question && script.bins && !script.error) {
		*ret = fec_answer();
		return 0;
	}
	if (question != &rna_ethtool_link_question)
		return script.error ? script.error : -EOPNOTSUPP;
	(void)strcat(script.asked, netdev);
	(void)strcat(script.asked, " ");
	*ret = link_answer();
	if (script.error || script.link_error)
		return script.error ? script.error : script.link_error;
	return script.knows_link ? 0 : -EOPNOTSUPP;
}

static int list_names(const struct rna_root *root, const char *netdev, struct rna_arena *arena,
		      struct rna_ethtool_names *ret)
{
	(void)root, (void)netdev;
	script.lists++;
	if (script.error)
		return script.error;
	ret->names = rna_arena_array(arena, script.count, sizeof(*ret->names));
	ret->count = script.count;
	for (size_t i = 0; i < script.count; i++)
		(void)strcpy(ret->names[i].text, script.names[i]);
	return 0;
}

/* Its numbers are 100, 101 and so on. */
static int read_numbers(const struct rna_root *root, const char *netdev, size_t count,
			uint64_t *numbers)
{
	(void)root, (void)netdev;
	script.reads++;
	if (script.error)
		return script.error;
	if (script.grows_to) {
		script.count = script.grows_to;
		script.grows_to = 0;
	}
	if (count != script.count)
		return -ESTALE;
	for (size_t i = 0; i < count; i++)
		numbers[i] = 100 + i;
	return 0;
}

static const struct rna_ethtool_backend scripted = {
	.ask = answer,
	.list_statistics = list_names,
	.read_statistics = read_numbers,
};

/* -- The node -------------------------------------------------------------------------------------
 */

static const unsigned one_port[] = {1};

enum { BOND, ETH0, ETH1, ETH2, NETDEVS }; /* by name, as in each part */

struct node {
	struct tree tree;
	struct rna_backends backends;
	struct rna_device device;
	struct rna_netdev netdevs[NETDEVS];
	struct rna_port_netdev ports[1];
	struct rna_netdevs part;
	struct rna_collect_input in;
};

static int set_up(void **state)
{
	struct node *node = calloc(1, sizeof(*node));

	assert_non_null(node);
	tree_init(&node->tree);
	script = (struct script){.names = {"rx0_packets", "rx_prio3_pause", "rx_discards_phy"},
				 .count = 3};
	node->backends = (struct rna_backends){.root = node->tree.root, .ethtool = &scripted};
	node->device = (struct rna_device){.name = "mlx5_0", .port_count = 1, .ports = one_port};
	node->netdevs[ETH0] = (struct rna_netdev){.name = "eth0", .ifindex = 2, .type = 1};
	node->netdevs[ETH1] =
		(struct rna_netdev){.name = "eth1", .ifindex = 3, .type = 1, .master = "bond0"};
	node->netdevs[ETH2] =
		(struct rna_netdev){.name = "eth2", .ifindex = 4, .type = 1, .master = "bond0"};
	node->netdevs[BOND] =
		(struct rna_netdev){.name = "bond0", .ifindex = 5, .type = 1, .bond = true};
	node->ports[0] = (struct rna_port_netdev){"mlx5_0", 1, "eth0", RNA_NETDEV_BY_GID};
	node->part = (struct rna_netdevs){.count = NETDEVS,
					  .netdevs = node->netdevs,
					  .port_count = 1,
					  .ports = node->ports};
	node->in = (struct rna_collect_input){.root = node->tree.root,
					      .backends = &node->backends,
					      .device = &node->device,
					      .netdevs = &node->part};
	*state = node;
	return 0;
}

static int tear_down(void **state)
{
	struct node *node = *state;

	tree_deinit(&node->tree);
	free(node);
	return 0;
}

static struct rna_part *collect(const struct node *node)
{
	struct rna_part *part = NULL;

	assert_int_equal(rna_collect_ethernet(&node->in, &part, NULL), 0);
	return part;
}

static const struct rna_ethernet *of(const struct rna_part *part)
{
	return (const void *)part;
}

/* -- Which interfaces -----------------------------------------------------------------------------
 */

static void the_interface_of_a_port_is_asked(void **state)
{
	struct node *node = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = collect(node);

	assert_int_equal(of(part)->count, 1);
	assert_string_equal(of(part)->netdevs[0].name, "eth0");
	assert_int_equal(of(part)->netdevs[0].port, 1);
	assert_string_equal(script.asked, "eth0 ");
	assert_int_equal(rna_part_error_count(part), 0);
}

static void members_of_a_bond_are_asked(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	struct node *node = *state;

	node->ports[0].netdev = "bond0";
	part = collect(node);
	assert_int_equal(of(part)->count, 2);
	assert_string_equal(script.asked, "eth1 eth2 ");
	assert_int_equal(rna_ethernet_sum(of(part), 1, RNA_ETHERNET_RECEIVE_DISCARDS).value.number,
			 204);
}

/* Each its own, and both that of neither; all of them where it stands on the bond, as rxe does. */
static void a_bond_of_two_devices_is_shared_out(void **state)
{
	static const struct {
		const char *pci_address, *devices[2], *asked;
	} cases[] = {{"0000:18:00.0", {"mlx5_0", "mlx5_1"}, "eth1 "},
		     {"0000:18:00.0", {"mlx5_1", "mlx5_0"}, "eth2 "},
		     {"0000:18:00.0", {"mlx5_0", NULL}, "eth1 eth2 "},
		     {NULL, {"mlx5_1", "mlx5_2"}, "eth1 eth2 "}};
	struct node *node = *state;

	node->ports[0].netdev = "bond0";
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		script.asked[0] = '\0';
		node->device.pci_address = cases[i].pci_address;
		node->netdevs[ETH1].device = cases[i].devices[0];
		node->netdevs[ETH2].device = cases[i].devices[1];
		(void)rna_part_unref(collect(node));
		assert_string_equal(script.asked, cases[i].asked);
	}
}

/* As the collector netdev has it, of which the interfaces are. */
static void name_port(struct node *node, const char *name)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(256);

	tree_write(&node->tree, "sys/class/net/eth0/phys_port_name", name);
	node->netdevs[ETH0].representor = rna_is_representor(node->tree.root, "eth0", scratch);
}

static void nothing_without_a_wire_is_asked(void **state)
{
	struct node *node = *state;

	node->netdevs[ETH0].type = 772; /* loopback */
	(void)rna_part_unref(collect(node));
	node->netdevs[ETH0].type = 1;
	name_port(node, "pf0vf3\n");
	(void)rna_part_unref(collect(node));
	name_port(node, "c1pf0sf8\n");
	(void)rna_part_unref(collect(node));
	name_port(node, "c1pf0\n"); /* of a DPU */
	(void)rna_part_unref(collect(node));
	assert_string_equal(script.asked, "");
	name_port(node, "p0\n");
	(void)rna_part_unref(collect(node));
	assert_string_equal(script.asked, "eth0 ");
}

/* No question about Ethernet; statistics of the port, and not those of frames. */
static void an_ipoib_interface_has_what_concerns_the_port(void **state)
{
	static const char *names[] = {"rx_vport_rdma_unicast_bytes", "tx_nowhere"};
	const struct rna_texts texts = {.count = 2, .items = names};
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_ethernet_netdev *netdev;
	struct node *node = *state;

	script = (struct script){.names = {"rx_discards_phy", "rx_pcs_symbol_err_phy",
					   "outbound_pci_stalled_wr_events", "rx_prio3_pause",
					   "module_high_temp", "rx_vport_rdma_unicast_bytes"},
				 .count = 6};
	node->netdevs[ETH0].type = 32;
	node->in.statistics = &texts;
	part = collect(node);
	assert_int_equal(script.asks, 0);
	assert_int_equal(of(part)->count, 1);
	netdev = &of(part)->netdevs[0];
	assert_int_equal(netdev->count, 3);
	assert_int_equal(netdev->counts[0].id, RNA_ETHERNET_PCS_SYMBOL_ERRORS);
	assert_int_equal(netdev->counts[0].value.number, 101);
	assert_int_equal(netdev->counts[1].id, RNA_ETHERNET_PCIE_WRITE_STALLED_TIME);
	assert_int_equal(netdev->counts[1].value.number, 102000000);
	assert_int_equal(netdev->counts[2].id, RNA_ETHERNET_MODULE_HIGH_TEMPERATURE);
	assert_int_equal(netdev->extra_count, 1);
	assert_int_equal(netdev->extras[0].value.number, 105);
	assert_int_equal(netdev->link.up.state, RNA_VALUE_ABSENT);
}

/* As ib_ipoib is without mlx5, and the interface of a further P_Key. */
static void an_ipoib_interface_without_such_is_left_out(void **state)
{
	static const int errors[] = {0, -EOPNOTSUPP};
	struct node *node = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(errors); i++) {
		RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

		script = (struct script){.names = {"rx_packets", "tx_errors"},
					 .count = 2,
					 .error = errors[i]};
		node->netdevs[ETH0].type = 32;
		part = collect(node);
		assert_int_equal(of(part)->count, 0);
		assert_int_equal(rna_part_error_count(part), 0);
	}
}

/* 7 or more: not known without bins, nor if a bin has some of fewer errors as well. */
static void blocks_with_many_errors_are_added_up(void **state)
{
	static const uint32_t fine[3][3] = {{0, 6, 1000}, {7, 7, 20}, {8, 15, 4}},
			      coarse[3][3] = {{0, 0, 1000}, {1, 7, 20}, {8, 15, 4}};
	static const struct {
		const uint32_t (*bins)[3];
		struct rna_value want;
	} cases[] = {{NULL, {0}}, {fine, {24, RNA_VALUE_OK}}, {coarse, {0}}};
	struct node *node = *state;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
		struct rna_ethernet_sum sum;

		script.bins = cases[i].bins;
		part = collect(node);
		sum = rna_ethernet_sum(of(part), 1, RNA_ETHERNET_FEC_HEAVILY_CORRECTED_BLOCKS);
		assert_int_equal(sum.value.state, cases[i].want.state);
		assert_int_equal(sum.value.number, cases[i].want.number);
		assert_int_equal(of(part)->netdevs[0].bin_count, cases[i].bins ? 3 : 0);
	}
}

static void without_interfaces_there_is_no_part(void **state)
{
	struct rna_part *part = NULL;
	struct rna_error error = {0};
	struct node *node = *state;

	node->in.netdevs = NULL;
	assert_int_equal(rna_collect_ethernet(&node->in, &part, &error), -EAGAIN);
	assert_string_equal(error.text, "mlx5_0: its network interfaces are unknown");
}

/* -- Statistics -----------------------------------------------------------------------------------
 */

static void names_are_listed_once(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *first = NULL, *second = NULL;
	struct node *node = *state;

	first = collect(node);
	node->in.previous = first;
	second = collect(node);
	assert_int_equal(script.lists, 1);
	assert_int_equal(script.reads, 2);
	assert_int_equal(of(second)->netdevs[0].count, 2);
	assert_int_equal(of(second)->netdevs[0].counts[0].id, RNA_ETHERNET_RECEIVE_DISCARDS);
	assert_int_equal(of(second)->netdevs[0].counts[0].value.number, 102);
	assert_int_equal(of(second)->netdevs[0].counts[1].number, 3);
	assert_int_equal(of(second)->netdevs[0].counts[1].value.number, 101);
}

/* Another interface of that name has other statistics. */
static void another_interface_is_listed_anew(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *first = NULL, *second = NULL;
	struct node *node = *state;

	first = collect(node);
	node->in.previous = first;
	node->netdevs[ETH0].ifindex = 9;
	second = collect(node);
	assert_int_equal(script.lists, 2);
}

/* A queue more: what was at the third place is at the fourth. */
static void a_list_that_changed_is_read_anew(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *first = NULL, *second = NULL;
	struct node *node = *state;

	first = collect(node);
	node->in.previous = first;
	script.names[2] = "rx1_packets";
	script.names[3] = "rx_discards_phy";
	script.count = 4;
	second = collect(node);
	assert_int_equal(script.lists, 2);
	assert_int_equal(of(second)->netdevs[0].counts[0].id, RNA_ETHERNET_RECEIVE_DISCARDS);
	assert_int_equal(of(second)->netdevs[0].counts[0].value.number, 103);
}

/* As while a driver resets its device. */
static void an_empty_list_is_read_anew(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *first = NULL, *second = NULL;
	struct node *node = *state;

	script.count = 0;
	script.knows_link = true; /* the part keeps the interface */
	first = collect(node);
	assert_int_equal(of(first)->netdevs[0].count, 1);
	node->in.previous = first;
	script.count = 3;
	second = collect(node);
	assert_int_equal(of(second)->netdevs[0].count, 3);
}

static void a_list_that_grows_while_it_is_read(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	struct node *node = *state;

	script.names[3] = "rx2_packets";
	script.grows_to = 4;
	part = collect(node);
	assert_int_equal(script.lists, 2);
	assert_int_equal(of(part)->netdevs[0].count, 2);
	assert_int_equal(rna_part_error_count(part), 0);
}

static void failures_are_counted(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	struct node *node = *state;

	script.error = -EIO;
	part = collect(node);
	assert_int_equal(of(part)->count, 0);
	assert_int_equal(part->errors[RNA_REASON_IO], 6); /* five questions, and the list */
	assert_int_equal(rna_ethernet_sum(of(part), 1, RNA_ETHERNET_FCS_ERRORS).value.state,
			 RNA_VALUE_ABSENT);
}

/* It is there still: a sum over the other members of a bond would fall, and rise again. */
static void what_fails_once_is_unreadable(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *first = NULL, *second = NULL;
	struct node *node = *state;

	first = collect(node);
	node->in.previous = first;
	script.error = -EIO;
	second = collect(node);
	assert_int_equal(of(second)->netdevs[0].count, of(first)->netdevs[0].count);
	assert_int_equal(rna_ethernet_sum(of(second), 1, RNA_ETHERNET_RECEIVE_DISCARDS).value.state,
			 RNA_VALUE_UNREADABLE);
}

/* One question of many. Once it is answered again, what is not said is not there. */
static void what_one_question_would_tell_is_unreadable(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *first = NULL, *second = NULL, *third = NULL;
	struct node *node = *state;

	script.knows_link = true;
	first = collect(node);
	assert_int_equal(rna_ethernet_sum(of(first), 1, RNA_ETHERNET_LINK_DOWNS).value.number, 12);
	node->in.previous = first;
	script.link_error = -EAGAIN;
	second = collect(node);
	assert_int_equal(rna_ethernet_sum(of(second), 1, RNA_ETHERNET_LINK_DOWNS).value.state,
			 RNA_VALUE_UNREADABLE);
	assert_int_equal(rna_ethernet_sum(of(second), 1, RNA_ETHERNET_LINK_DOWNS).summands,
			 rna_ethernet_sum(of(first), 1, RNA_ETHERNET_LINK_DOWNS).summands);
	assert_int_equal(
		rna_ethernet_sum(of(second), 1, RNA_ETHERNET_RECEIVE_DISCARDS).value.number, 102);
	assert_int_equal(rna_part_error_count(second), 1);
	node->in.previous = second;
	script.link_error = 0;
	script.knows_link = false;
	third = collect(node);
	assert_int_equal(rna_ethernet_sum(of(third), 1, RNA_ETHERNET_LINK_DOWNS).value.state,
			 RNA_VALUE_ABSENT);
	assert_int_equal(rna_ethernet_sum(of(third), 1, RNA_ETHERNET_LINK_DOWNS).summands, 0);
}

static void the_first_source_counts(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	struct node *node = *state;

	script.names[0] = "rx_crc_errors_phy";
	script.names[1] = "rx_crc_errors";
	part = collect(node);
	assert_int_equal(rna_ethernet_sum(of(part), 1, RNA_ETHERNET_FCS_ERRORS).value.number, 100);
}

/* -- Those that a setting names -------------------------------------------------------------------
 */

static void assert_extra(const struct rna_part *part, size_t i, const char *name, uint64_t number)
{
	const struct rna_ethernet_extra *extra = &of(part)->netdevs[0].extras[i];

	assert_string_equal(extra->name, name);
	assert_int_equal(extra->value.state, RNA_VALUE_OK);
	assert_int_equal(extra->value.number, number);
}

static void named_statistics_are_read_besides(void **state)
{
	static const char *names[] = {"rx_nowhere", "tx_packets", "rx0_packets"};
	const struct rna_texts texts = {.count = 3, .items = names};
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *first = NULL, *second = NULL;
	struct node *node = *state;

	script.names[3] = "tx_packets";
	script.names[4] = "tx_packets"; /* some drivers do that */
	script.count = 5;
	node->in.statistics = &texts;
	first = collect(node);
	assert_int_equal(of(first)->netdevs[0].count, 2);
	assert_int_equal(of(first)->netdevs[0].extra_count, 2);
	assert_extra(first, 0, "rx0_packets", 100);
	assert_extra(first, 1, "tx_packets", 103);
	node->in.previous = first;
	second = collect(node);
	assert_int_equal(script.lists, 1);
	assert_int_equal(of(second)->netdevs[0].extra_count, 2);
	assert_extra(second, 1, "tx_packets", 103);
}

/* A reload: the list of names is as long as before, and others stand in it. */
static void other_names_are_looked_for_at_once(void **state)
{
	static const char *rx[] = {"rx0_packets"}, *tx[] = {"tx_packets"};
	const struct rna_texts before = {.count = 1, .items = rx},
			       after = {.count = 1, .items = tx};
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *first = NULL, *second = NULL, *third = NULL;
	struct node *node = *state;

	script.names[3] = "tx_packets";
	script.count = 4;
	node->in.statistics = &before;
	first = collect(node);
	assert_extra(first, 0, "rx0_packets", 100);
	node->in.statistics = &after;
	node->in.previous = first;
	second = collect(node);
	assert_int_equal(script.lists, 2);
	assert_int_equal(of(second)->netdevs[0].extra_count, 1);
	assert_extra(second, 0, "tx_packets", 103);
	node->in.statistics = NULL;
	node->in.previous = second;
	third = collect(node);
	assert_int_equal(of(third)->netdevs[0].extra_count, 0);
}

static void a_named_one_that_fails_once_is_unreadable(void **state)
{
	static const char *names[] = {"rx0_packets"};
	const struct rna_texts texts = {.count = 1, .items = names};
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *first = NULL, *second = NULL;
	struct node *node = *state;

	node->in.statistics = &texts;
	first = collect(node);
	node->in.previous = first;
	script.error = -EIO;
	second = collect(node);
	assert_int_equal(of(second)->netdevs[0].extra_count, 1);
	assert_int_equal(of(second)->netdevs[0].extras[0].value.state, RNA_VALUE_UNREADABLE);
}

/* -- Names ----------------------------------------------------------------------------------------
 */

static void check_source(const char *name, enum rna_ethernet_statistic_id id, int number)
{
	const struct rna_ethernet_source *source;
	int found;

	source = rna_ethernet_find_source(name, &found);
	assert_non_null(source);
	assert_int_equal(source->id, id);
	assert_int_equal(found, number);
}

static void names_of_drivers_are_known(void **state)
{
	int number;

	(void)state;
	check_source("rx_prio0_pause", RNA_ETHERNET_PRIORITY_PAUSE_RECEIVED, 0);
	check_source("tx_prio7_pause_duration", RNA_ETHERNET_PRIORITY_PAUSE_TRANSMITTED_TIME, 7);
	check_source("rx_err_lane_11_phy", RNA_ETHERNET_LANE_ERRORS, 11);
	check_source("outbound_pci_stalled_wr", RNA_ETHERNET_PCIE_WRITE_STALLED, -1);
	check_source("pfc_pri3_tx_duration_us", RNA_ETHERNET_PRIORITY_PAUSE_TRANSMITTED_TIME, 3);
	check_source("rx_priority_3_xoff.nic", RNA_ETHERNET_PRIORITY_PAUSE_RECEIVED, 3);
	check_source("rx_pripause_2_1us_count", RNA_ETHERNET_PRIORITY_PAUSE_RECEIVED_TIME, 2);
	assert_null(rna_ethernet_find_source("rx_prio_pause", &number));
	assert_null(rna_ethernet_find_source("rx_prio123_pause", &number));
	assert_null(rna_ethernet_find_source("rx_prio3_pause_transition", &number));
	assert_null(rna_ethernet_find_source("rx_discards_phy2", &number));
	assert_null(rna_ethernet_find_source("", &number));
}

static void every_statistic_has_a_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ETHERNET_STATISTIC_COUNT; i++) {
		assert_non_null(rna_ethernet_statistics[i].name);
		assert_non_null(rna_ethernet_statistics[i].help);
	}
}

/* A sum without one of its values would fall, and rise again with it. */
static void sums_need_all_of_their_values(void **state)
{
	struct rna_ethernet_count counts[] = {
		{RNA_ETHERNET_PRIORITY_DISCARDS, 0, rna_value_ok(2)},
		{RNA_ETHERNET_PRIORITY_DISCARDS, 3, rna_value_ok(5)},
	};
	const struct rna_ethernet_netdev netdev = {.name = "eth0",
						   .port = 1,
						   .count = 2,
						   .counts = counts};
	const struct rna_ethernet part = {.count = 1, .netdevs = &netdev};

	(void)state;
	assert_int_equal(rna_ethernet_sum(&part, 1, RNA_ETHERNET_PRIORITY_DISCARDS).value.number,
			 7);
	assert_int_equal(rna_ethernet_sum(&part, 2, RNA_ETHERNET_PRIORITY_DISCARDS).value.state,
			 RNA_VALUE_ABSENT);
	counts[1].value = rna_value_unreadable();
	assert_int_equal(rna_ethernet_sum(&part, 1, RNA_ETHERNET_PRIORITY_DISCARDS).value.state,
			 RNA_VALUE_UNREADABLE);
	assert_int_equal(rna_ethernet_sum(NULL, 1, RNA_ETHERNET_PRIORITY_DISCARDS).value.state,
			 RNA_VALUE_ABSENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_interface_of_a_port_is_asked),
		TEST(members_of_a_bond_are_asked),
		TEST(a_bond_of_two_devices_is_shared_out),
		TEST(nothing_without_a_wire_is_asked),
		TEST(an_ipoib_interface_has_what_concerns_the_port),
		TEST(an_ipoib_interface_without_such_is_left_out),
		TEST(blocks_with_many_errors_are_added_up),
		TEST(without_interfaces_there_is_no_part),
		TEST(names_are_listed_once),
		TEST(another_interface_is_listed_anew),
		TEST(a_list_that_changed_is_read_anew),
		TEST(an_empty_list_is_read_anew),
		TEST(a_list_that_grows_while_it_is_read),
		TEST(failures_are_counted),
		TEST(what_fails_once_is_unreadable),
		TEST(what_one_question_would_tell_is_unreadable),
		TEST(the_first_source_counts),
		TEST(named_statistics_are_read_besides),
		TEST(other_names_are_looked_for_at_once),
		TEST(a_named_one_that_fails_once_is_unreadable),
		cmocka_unit_test(names_of_drivers_are_known),
		cmocka_unit_test(every_statistic_has_a_row),
		cmocka_unit_test(sums_need_all_of_their_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
