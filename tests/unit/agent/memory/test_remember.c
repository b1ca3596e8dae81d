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
	assert_int_equal(rna_remember(memory, &input, view), 0);
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
	assert_int_equal(view->transition_count, 0);
	(void)rna_view_unref(view);
	node.now.monotonic += RNA_USEC_PER_SEC;
	node.ports[0].netdev.name = NULL;
	view = remember(&memory, &node, node.now.monotonic);
	assert_int_equal(view->transition_count, 2);
	assert_string_equal(view->transitions[0].reason,
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
			assert_string_equal(view->transitions[0].reason,
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_interface_that_leaves_after_a_loss),
		cmocka_unit_test(test_a_link_that_only_the_driver_saw_go),
		cmocka_unit_test(test_when_a_port_was_tested),
		cmocka_unit_test(test_software_is_not_missed),
		cmocka_unit_test(test_the_best_rate_until_less_is_accepted),
	};

	return cmocka_run_group_tests_name("remember", tests, NULL, NULL);
}
