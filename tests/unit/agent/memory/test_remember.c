// SPDX-License-Identifier: Apache-2.0
/* What the memory makes of views, one after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "memory/remember.h"

#include "health_view.h"

static void free_memory(struct rna_memory *memory)
{
	rna_memory_deinit(memory);
}

/* The node as it is now. started: when the read of states and links began, of the newest view. */
static struct rna_view *remember(struct rna_memory *memory, const struct node *node,
				 rna_usec started)
{
	RNA_CLEANUP(rna_device_filter_unref_p)
	struct rna_device_filter *filter = rna_device_filter_new(NULL, NULL);
	struct rna_settings settings = {0};
	const struct rna_remember_input input = {&settings, filter};
	struct rna_view *view = node_view(node);
	struct rna_part *state, *link;

	state = own_part(view->snapshot->devices[0].parts[RNA_COLLECTOR_STATE]);
	link = own_part(view->snapshot->devices[0].parts[RNA_COLLECTOR_LINK]);
	state->started.monotonic = link->started.monotonic = started;
	view->devices = NULL;
	assert_int_equal(rna_remember(memory, &input, view), 0);
	assert_int_equal(rna_remember_changes(memory, view), 0);
	return view;
}

/*
 * The interface loses its carrier on the way into another network namespace. Its loss is compared
 * with the states only when these were read after it, and then there is no interface any more.
 */
static void test_an_interface_that_leaves_after_a_loss(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_view *view;
	struct node node;

	(void)state;
	node_init(&node, RNA_LINK_LAYER_ETHERNET, 1);
	node.ports[0].netdev.ifindex = 3;
	node.ports[0].netdev.carrier_down = rna_value_ok(5);
	(void)rna_view_unref(remember(&memory, &node, 0));
	node.now.monotonic += RNA_USEC_PER_SEC;
	node.ports[0].netdev.carrier_down = rna_value_ok(6);
	view = remember(&memory, &node, 0);
	assert_int_equal(view->change_count, 0);
	(void)rna_view_unref(view);
	node.now.monotonic += RNA_USEC_PER_SEC;
	node.ports[0].netdev.name = NULL;
	view = remember(&memory, &node, node.now.monotonic);
	assert_int_equal(view->change_count, 2);
	assert_string_equal(view->changes[0].text,
			    "between two reads: interface eth0 lost its carrier");
	assert_int_equal(view->ports[0].history.downs, 1);
	(void)rna_view_unref(view);
}

/* The wire was lost between two looks: neither its state nor its carrier showed it. */
static void test_a_link_that_only_the_driver_saw_go(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_view *view;
	struct node node;

	(void)state;
	node_init(&node, RNA_LINK_LAYER_ETHERNET, 1);
	node.ports[0].netdev.ifindex = 3;
	for (uint64_t i = 0; i < 3; i++) {
		node.ports[0].statistic = (struct rna_ethernet_count){RNA_ETHERNET_LINK_DOWNS, -1,
								      rna_value_ok(i == 0 ? 8 : 9)};
		view = remember(&memory, &node, node.now.monotonic);
		assert_int_equal(view->ports[0].history.downs, i == 0 ? 0 : 1);
		if (i == 1)
			assert_string_equal(view->changes[0].text,
					    "between two reads: the driver counted a link loss");
		(void)rna_view_unref(view);
		node.now.monotonic += RNA_USEC_PER_SEC;
	}
}

/* The file is written when there was a test, and not with each view after it. */
static void test_when_a_port_was_tested(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct node node;

	(void)state;
	node_init(&node, RNA_LINK_LAYER_ETHERNET, 2);
	node.ports[1].last_test = 7;
	(void)rna_view_unref(remember(&memory, &node, node.now.monotonic));
	assert_int_equal(rna_memory_find(&memory, "mlx5_0")->ports[0].last_test, 0);
	assert_int_equal(rna_memory_find(&memory, "mlx5_1")->ports[0].last_test, 7);
	memory.changed = false;
	node.now.monotonic += RNA_USEC_PER_SEC;
	node.now.realtime += RNA_USEC_PER_SEC;
	(void)rna_view_unref(remember(&memory, &node, node.now.monotonic));
	assert_false(memory.changed);
	node.ports[0].last_test = node.ports[0].last_good_test = 9;
	(void)rna_view_unref(remember(&memory, &node, node.now.monotonic));
	assert_true(memory.changed);
	assert_int_equal(rna_memory_find(&memory, "mlx5_0")->ports[0].last_good_test, 9);
}

/* For rules about events: what was accepted is over. */
static void test_when_it_was_accepted(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_view *view;
	struct node node;

	(void)state;
	node_init(&node, RNA_LINK_LAYER_ETHERNET, 2);
	view = remember(&memory, &node, node.now.monotonic);
	assert_int_equal(view->accepted, 0);
	assert_int_equal(view->ports[1].accepted, 0);
	(void)rna_view_unref(view);
	rna_memory_find(&memory, "mlx5_1")->ports[0].accepted =
		(struct rna_accepted){RNA_EXPECTED_UP, 17};
	memory.rails.accepted = 18;
	view = remember(&memory, &node, node.now.monotonic);
	assert_int_equal(view->accepted, 18);
	assert_int_equal(view->ports[0].accepted, 0);
	assert_int_equal(view->ports[1].accepted, 17);
	(void)rna_view_unref(view);
}

/* Its rate at so many Gb/s, and what the memory holds of it then. */
static struct rna_port_best best_at(struct rna_memory *memory, struct node *node, uint64_t gigabits)
{
	node->now.monotonic += RNA_USEC_PER_SEC;
	node->now.realtime += RNA_USEC_PER_SEC;
	node->ports[0].gigabits = gigabits;
	(void)rna_view_unref(remember(memory, node, node->now.monotonic));
	return rna_memory_find(memory, "mlx5_0")->ports[0].best;
}

static void test_the_best_rate_until_less_is_accepted(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_accepted *accepted;
	struct node node;

	(void)state;
	node_init(&node, RNA_LINK_LAYER_ETHERNET, 1);
	assert_int_equal(best_at(&memory, &node, 200).rate, 200 * UINT64_C(125000000));
	assert_int_equal(best_at(&memory, &node, 100).rate, 200 * UINT64_C(125000000));
	accepted = &rna_memory_find(&memory, "mlx5_0")->ports[0].accepted;
	*accepted = (struct rna_accepted){RNA_EXPECTED_DOWN, node.now.realtime};
	assert_int_equal(best_at(&memory, &node, 100).rate, 200 * UINT64_C(125000000));
	*accepted = (struct rna_accepted){RNA_EXPECTED_UP, node.now.realtime};
	assert_int_equal(best_at(&memory, &node, 100).rate, 100 * UINT64_C(125000000));
	memory.changed = false;
	assert_int_equal(best_at(&memory, &node, 50).rate, 100 * UINT64_C(125000000));
	assert_false(memory.changed);         /* once */
	*accepted = (struct rna_accepted){0}; /* it is of another file, which is gone */
	assert_int_equal(best_at(&memory, &node, 50).rate, 100 * UINT64_C(125000000));
	assert_int_equal(best_at(&memory, &node, 400).rate, 400 * UINT64_C(125000000));
}

static void test_software_is_not_missed(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_device_memory *device;
	struct rna_view *view;
	struct node node;

	(void)state;
	node_init(&node, RNA_LINK_LAYER_ETHERNET, 2);
	(void)rna_view_unref(remember(&memory, &node, 0));
	node.now.monotonic += RNA_USEC_PER_SEC;
	node.now.realtime += RNA_USEC_PER_SEC;
	node.ports[0].gone = true;
	view = remember(&memory, &node, 0);
	assert_int_equal(view->missing_count, 0);
	(void)rna_view_unref(view);
	device = rna_memory_find(&memory, "mlx5_0");
	assert_true(rna_memory_set_text(&device->pci_address, "0000:3b:00.0"));
	view = remember(&memory, &node, 0);
	assert_int_equal(view->missing_count, 1);
	(void)rna_view_unref(view);
}

/* -- Names and cards that change --------------------------------------------------------------- */

enum { CARDS = 3 };

static void init_cards(struct node *node)
{
	static const char *const addresses[CARDS] = {"0000:3b:00.0", "0000:5e:00.0",
						     "0000:86:00.0"};
	static const char *const guids[CARDS] = {"0002:c903:0000:0001", "0002:c903:0000:0002",
						 "0002:c903:0000:0003"};

	node_init(node, RNA_LINK_LAYER_ETHERNET, CARDS);
	for (size_t i = 0; i < CARDS; i++) {
		node->ports[i].pci_address = addresses[i];
		node->ports[i].node_guid = guids[i];
	}
}

/* The view some time later. */
static struct rna_view *later(struct rna_memory *memory, struct node *node, rna_usec seconds)
{
	node->now.monotonic += seconds * RNA_USEC_PER_SEC;
	node->now.realtime += seconds * RNA_USEC_PER_SEC;
	return remember(memory, node, node->now.monotonic);
}

static void swap_names(struct node *node, size_t a, size_t b)
{
	const char *name = node->ports[a].name;

	node->ports[a].name = node->ports[b].name;
	node->ports[b].name = name;
}

/* As a new process reads it from the file. */
static void restart(struct rna_memory *memory)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_memory_write(memory, &text);
	rna_memory_deinit(memory);
	assert_int_equal(rna_memory_read(memory, text.data, text.len, NULL), 0);
}

static void assert_former(const struct rna_former *former, const char *text, const char *owner,
			  const char *holder)
{
	assert_string_equal(former->text, text);
	if (owner)
		assert_string_equal(former->owner, owner);
	else
		assert_null(former->owner);
	if (holder)
		assert_string_equal(former->holder, holder);
	else
		assert_null(former->holder);
}

static void test_names_that_were_swapped(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_view *view;
	struct node node;
	rna_usec changed;

	(void)state;
	init_cards(&node);
	(void)rna_view_unref(remember(&memory, &node, 0));
	restart(&memory);
	swap_names(&node, 0, 1);
	view = later(&memory, &node, 60);
	changed = node.now.realtime;
	assert_former(&view->devices[0].name, "mlx5_0", "0000:5e:00.0", "0000:5e:00.0");
	assert_former(&view->devices[1].name, "mlx5_1", "0000:3b:00.0", "0000:3b:00.0");
	assert_null(view->devices[2].name.text);
	assert_null(view->devices[0].guid.text);
	(void)rna_view_unref(view);
	assert_true(memory.changed);
	restart(&memory); /* it is reported by the next process as well */
	view = later(&memory, &node, 3600);
	assert_former(&view->devices[0].name, "mlx5_0", "0000:5e:00.0", "0000:5e:00.0");
	assert_int_equal(view->devices[0].name.changed, changed);
	(void)rna_view_unref(view);
	view = later(&memory, &node, 86400); /* after a day it is no news */
	assert_null(view->devices);
	(void)rna_view_unref(view);
}

/* The names are compared with those from before the first change, until these are accepted. */
static void test_names_that_come_back(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_view *view;
	struct node node;

	(void)state;
	init_cards(&node);
	(void)rna_view_unref(remember(&memory, &node, 0));
	node.ports[0].name = "roce_a"; /* on its way to its name, as udev does it */
	(void)rna_view_unref(later(&memory, &node, 1));
	node.ports[0].name = "roce_b";
	view = later(&memory, &node, 1);
	assert_former(&view->devices[0].name, "mlx5_0", NULL, NULL);
	(void)rna_view_unref(view);
	node.ports[0].name = "mlx5_0";
	view = later(&memory, &node, 1);
	assert_null(view->devices);
	(void)rna_view_unref(view);
	swap_names(&node, 0, 1);
	(void)rna_view_unref(later(&memory, &node, 1));
	for (size_t i = 0; i < 2; i++)
		memory.devices[i]->ports[0].accepted =
			(struct rna_accepted){RNA_EXPECTED_UP, node.now.realtime + 1};
	view = later(&memory, &node, 1);
	assert_null(view->devices);
	(void)rna_view_unref(view);
	node.ports[0].name = "mlx5_9"; /* the accepted name is the one to compare with */
	view = later(&memory, &node, 1);
	assert_former(&view->devices[0].name, "mlx5_1", NULL, NULL);
	(void)rna_view_unref(view);
}

/* Without one card the others take lower names: the last name that is free tells nothing. */
static void test_names_that_move_up(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_view *view;
	struct node node;

	(void)state;
	init_cards(&node);
	(void)rna_view_unref(remember(&memory, &node, 0));
	node.ports[0].gone = true;
	node.ports[1].name = "mlx5_0";
	node.ports[2].name = "mlx5_1";
	view = later(&memory, &node, 60);
	assert_int_equal(view->missing_count, 1);
	assert_former(&view->devices[0].name, "mlx5_1", "0000:3b:00.0", "0000:86:00.0");
	assert_former(&view->devices[1].name, "mlx5_2", "0000:5e:00.0", NULL);
	(void)rna_view_unref(view);
}

/* The names of virtual functions change with the work on the node. */
static void test_names_of_virtual_functions(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_view *view;
	struct node node;

	(void)state;
	init_cards(&node);
	for (size_t i = 0; i < CARDS; i++)
		node.ports[i].function = RNA_FUNCTION_VF;
	(void)rna_view_unref(remember(&memory, &node, 0));
	swap_names(&node, 0, 1);
	node.ports[2].node_guid = "0002:c903:0000:0009";
	view = later(&memory, &node, 60);
	assert_null(view->devices);
	assert_string_equal(rna_memory_find(&memory, "0000:3b:00.0")->name, "mlx5_1");
	(void)rna_view_unref(view);
}

static void test_interfaces_that_were_swapped(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_view *view;
	struct node node;

	(void)state;
	init_cards(&node);
	(void)rna_view_unref(remember(&memory, &node, 0));
	restart(&memory);
	node.ports[0].netdev.name = "eth1";
	node.ports[1].netdev.name = "eth0";
	node.ports[2].netdev.name = "ens1";
	view = later(&memory, &node, 60);
	assert_former(&view->ports[0].netdev, "eth0", "mlx5_1/1", "mlx5_1/1");
	assert_former(&view->ports[1].netdev, "eth1", "mlx5_0/1", "mlx5_0/1");
	assert_former(&view->ports[2].netdev, "eth2", NULL, NULL);
	(void)rna_view_unref(view);
	restart(&memory);
	view = later(&memory, &node, 60);
	assert_former(&view->ports[0].netdev, "eth0", "mlx5_1/1", "mlx5_1/1");
	(void)rna_view_unref(view);
}

/* A bond is another interface than the port's own, and so is what comes after it. */
static void test_a_bond_is_no_new_name(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_view *view;
	struct node node;

	(void)state;
	init_cards(&node);
	(void)rna_view_unref(remember(&memory, &node, 0));
	node.ports[0].netdev.name = "bond0";
	node.ports[0].netdev.bond = true;
	view = later(&memory, &node, 60);
	assert_null(view->ports[0].netdev.text);
	(void)rna_view_unref(view);
	node.ports[0].netdev.name = "eth0";
	node.ports[0].netdev.bond = false;
	view = later(&memory, &node, 60);
	assert_null(view->ports[0].netdev.text);
	(void)rna_view_unref(view);
}

/* The cards of two slots were exchanged: each slot has its name, and another card. */
static void test_cards_that_were_swapped(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_view *view;
	const char *guid;
	struct node node;

	(void)state;
	init_cards(&node);
	(void)rna_view_unref(remember(&memory, &node, 0));
	restart(&memory);
	guid = node.ports[0].node_guid;
	node.ports[0].node_guid = node.ports[1].node_guid;
	node.ports[1].node_guid = guid;
	node.ports[2].node_guid = "0000:0000:0000:0000"; /* no GUID: the last one stays */
	view = later(&memory, &node, 60);
	assert_former(&view->devices[0].guid, "0002:c903:0000:0001", "0000:5e:00.0",
		      "0000:5e:00.0");
	assert_former(&view->devices[1].guid, "0002:c903:0000:0002", "0000:3b:00.0",
		      "0000:3b:00.0");
	assert_null(view->devices[2].guid.text);
	assert_null(view->devices[0].name.text);
	assert_int_equal(view->missing_count, 0);
	(void)rna_view_unref(view);
}

/* A card in another slot is not missing, and is expected to be up as it was before. */
static void test_a_card_in_another_slot(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_view *view;
	struct node node;

	(void)state;
	init_cards(&node);
	(void)rna_view_unref(remember(&memory, &node, node.now.monotonic));
	restart(&memory);
	node.ports[0].pci_address = "0000:af:00.0";
	node.ports[0].state = rna_value_ok(RNA_PORT_DOWN);
	view = later(&memory, &node, 60);
	assert_int_equal(view->missing_count, 1);
	assert_int_equal(view->missing[0].whereabouts, RNA_WHEREABOUTS_RELOCATED);
	assert_string_equal(view->missing[0].pci_address, "0000:3b:00.0");
	assert_string_equal(view->missing[0].new_address, "0000:af:00.0");
	assert_string_equal(view->missing[0].new_name, "mlx5_0");
	assert_int_equal(view->missing[0].ports_expected, 0);
	assert_int_equal(view->ports[0].expectation.expected, RNA_EXPECTED_UP);
	assert_int_equal(view->ports[0].best.rate, 400 * UINT64_C(125000000));
	(void)rna_view_unref(view);
	restart(&memory);
	view = later(&memory, &node, 60);
	assert_int_equal(view->missing[0].whereabouts, RNA_WHEREABOUTS_RELOCATED);
	(void)rna_view_unref(view);
	node.ports[0].pci_address = "0000:3b:00.0"; /* and back */
	view = later(&memory, &node, 60);
	assert_int_equal(view->missing_count, 1);
	assert_string_equal(view->missing[0].pci_address, "0000:af:00.0");
	(void)rna_view_unref(view);
}

/* A second card with the GUID of the one that is gone was there all the time. */
static void test_two_cards_with_one_guid(void **state)
{
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_view *view;
	struct node node;

	(void)state;
	init_cards(&node);
	node.ports[1].node_guid = node.ports[0].node_guid;
	(void)rna_view_unref(remember(&memory, &node, 0));
	node.ports[1].gone = true;
	view = later(&memory, &node, 60);
	assert_int_equal(view->missing_count, 1);
	assert_int_not_equal(view->missing[0].whereabouts, RNA_WHEREABOUTS_RELOCATED);
	assert_int_equal(view->missing[0].ports_expected, 1);
	(void)rna_view_unref(view);
}

static void assert_peer(const struct rna_view *view, const char *name, bool stale)
{
	const struct rna_peer *peer = view->ports[0].peer;

	assert_non_null(peer);
	assert_string_equal(peer->name, name);
	assert_int_equal(peer->stale, stale);
}

/* Until the port is accepted as down. The collector forgets, or has not run yet. */
static void test_a_peer_outlives_the_link_and_the_process(void **state)
{
	static const struct rna_peer leaf = {.type = RNA_NODE_TYPE_SWITCH,
					     .name = "leaf-07",
					     .port = "12",
					     .guid = "fc6a:1"};
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_port_memory *port;
	struct rna_view *view;
	struct node node;

	(void)state;
	init_cards(&node);
	node.ports[0].has_fabric = true;
	node.ports[0].fabric.peer = &leaf;
	view = remember(&memory, &node, node.now.monotonic);
	assert_peer(view, "leaf-07", false);
	(void)rna_view_unref(view);
	restart(&memory);
	node.ports[0].has_fabric = false;
	node.ports[0].state = rna_value_ok(RNA_PORT_DOWN);
	view = later(&memory, &node, 60);
	assert_peer(view, "leaf-07", true);
	assert_string_equal(view->ports[0].peer->port, "12");
	assert_null(view->ports[1].peer);
	(void)rna_view_unref(view);
	port = &rna_memory_find(&memory, "0000:3b:00.0")->ports[0];
	port->accepted = (struct rna_accepted){RNA_EXPECTED_DOWN, node.now.realtime};
	view = later(&memory, &node, 60);
	assert_null(view->ports[0].peer);
	(void)rna_view_unref(view);
	port->accepted = (struct rna_accepted){0};
	node.ports[0].node_guid = "9:9"; /* another card, another cable */
	view = later(&memory, &node, 60);
	assert_null(view->ports[0].peer);
	(void)rna_view_unref(view);
}

/* If its switch is silent for a day while the link is up, another one may be there. */
static void test_a_neighbour_by_lldp(void **state)
{
	static const struct rna_lldp_neighbour leaf = {
		.netdev = "eth0",
		.peer = {.source = RNA_PEER_BY_LLDP,
			 .name = "leaf-07",
			 .port = "Ethernet12",
			 .port_description = "node1 rail 0",
			 .guid = "98:03:9b:aa:00:01",
			 .seen.realtime = 1763716800 * RNA_USEC_PER_SEC},
	};
	RNA_CLEANUP(free_memory) struct rna_memory memory = RNA_MEMORY_INIT;
	struct rna_view *view;
	struct node node;

	(void)state;
	init_cards(&node);
	node.neighbour = &leaf;
	view = remember(&memory, &node, node.now.monotonic);
	assert_peer(view, "leaf-07", false);
	(void)rna_view_unref(view);
	restart(&memory);
	node.neighbour = NULL;
	view = later(&memory, &node, 60);
	assert_peer(view, "leaf-07", true);
	assert_int_equal(view->ports[0].peer->source, RNA_PEER_BY_LLDP);
	assert_string_equal(view->ports[0].peer->port_description, "node1 rail 0");
	(void)rna_view_unref(view);
	view = later(&memory, &node, 2 * 24 * 60 * 60);
	assert_null(view->ports[0].peer);
	(void)rna_view_unref(view);
	node.ports[0].state = rna_value_ok(RNA_PORT_DOWN);
	view = later(&memory, &node, 60);
	assert_peer(view, "leaf-07", true);
	(void)rna_view_unref(view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_interface_that_leaves_after_a_loss),
		cmocka_unit_test(test_a_link_that_only_the_driver_saw_go),
		cmocka_unit_test(test_when_a_port_was_tested),
		cmocka_unit_test(test_software_is_not_missed),
		cmocka_unit_test(test_when_it_was_accepted),
		cmocka_unit_test(test_the_best_rate_until_less_is_accepted),
		cmocka_unit_test(test_names_that_were_swapped),
		cmocka_unit_test(test_names_that_come_back),
		cmocka_unit_test(test_names_that_move_up),
		cmocka_unit_test(test_names_of_virtual_functions),
		cmocka_unit_test(test_interfaces_that_were_swapped),
		cmocka_unit_test(test_a_bond_is_no_new_name),
		cmocka_unit_test(test_cards_that_were_swapped),
		cmocka_unit_test(test_a_card_in_another_slot),
		cmocka_unit_test(test_two_cards_with_one_guid),
		cmocka_unit_test(test_a_peer_outlives_the_link_and_the_process),
		cmocka_unit_test(test_a_neighbour_by_lldp),
	};

	return cmocka_run_group_tests_name("remember", tests, NULL, NULL);
}
