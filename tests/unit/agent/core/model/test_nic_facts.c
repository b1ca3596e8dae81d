// SPDX-License-Identifier: Apache-2.0
/* agent/core/model/nic_facts.c: which functions of cards are cables, and which are one rail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/card.h"
#include "rna/model/snapshot.h"
#include "rna/model/subject.h"
#include "rna/model/topology.h"
#include "rna/model/view.h"

enum { CARDS = 3, FUNCTIONS = 2, DEVICES = CARDS * FUNCTIONS };

/* Three cards with two functions, one RDMA device and port each. */
struct node {
	char addresses[DEVICES][16];
	struct rna_gid_entry entries[DEVICES];
	struct rna_port_gids gids[DEVICES];
	struct rna_port_state_value states[DEVICES];
	struct rna_view_port accounts[DEVICES];
	struct rna_device devices[DEVICES];
	struct rna_subject ports[DEVICES], subjects_of_devices[DEVICES];
	struct rna_card_function functions[DEVICES];
	struct rna_card items[CARDS];
	struct rna_cards cards;
	struct rna_subjects subjects;
	struct rna_snapshot *snapshot;
	struct rna_view view;
};

static void init(struct node *node)
{
	static const unsigned numbers[] = {1};

	*node = (struct node){.snapshot = rna_snapshot_new(DEVICES, (struct rna_time){0})};
	assert_non_null(node->snapshot);
	for (size_t i = 0; i < DEVICES; i++) {
		(void)snprintf(node->addresses[i], sizeof(node->addresses[i]), "0000:%02zx:00.%zu",
			       0x10 + i / FUNCTIONS, i % FUNCTIONS);
		node->states[i] =
			(struct rna_port_state_value){.number = 1,
						      .state = rna_value_ok(RNA_PORT_DOWN)};
		node->accounts[i].expectation.expected = RNA_EXPECTED_UP;
		node->devices[i] = (struct rna_device){.name = node->addresses[i],
						       .pci_address = node->addresses[i],
						       .function = RNA_FUNCTION_PF,
						       .vendor_id = 0x15b3,
						       .device_id = 0x1023,
						       .port_count = 1,
						       .ports = numbers};
		node->snapshot->devices[i].device = &node->devices[i];
		node->gids[i] = (struct rna_port_gids){.entries = &node->entries[i]};
		node->ports[i] = (struct rna_subject){.view = &node->view,
						      .device = &node->snapshot->devices[i],
						      .rdma_device = &node->devices[i],
						      .ports = &node->ports[i],
						      .port = 1,
						      .state = &node->states[i],
						      .account = &node->accounts[i],
						      .gids = &node->gids[i]};
		node->subjects_of_devices[i] = node->ports[i];
		node->functions[i] = (struct rna_card_function){node->addresses[i], (int)i, NULL};
	}
	for (size_t i = 0; i < CARDS; i++)
		node->items[i] = (struct rna_card){.function_count = FUNCTIONS,
						   .functions = &node->functions[i * FUNCTIONS]};
	node->cards = (struct rna_cards){.count = CARDS, .items = node->items};
	node->subjects.scopes[RNA_SCOPE_DEVICE] =
		(struct rna_subject_list){DEVICES, node->subjects_of_devices};
	node->view.snapshot = node->snapshot;
	node->view.cards = &node->cards;
	node->view.subjects = &node->subjects;
}

static void set_ipv4(struct node *node, size_t device, uint8_t second, uint8_t third)
{
	node->entries[device] =
		(struct rna_gid_entry){.type = RNA_GID_TYPE_ROCE_V2,
				       .gid = {{[10] = 0xff, 0xff, 172, second, third, 2}}};
	node->gids[device].count = 1;
}

static struct rna_nic_facts *make(const struct node *node, const struct rna_nic_facts *previous)
{
	struct rna_nic_facts *facts = rna_nic_facts_make(&node->view, previous);

	assert_non_null(facts);
	return facts;
}

static void deinit(struct node *node)
{
	(void)rna_snapshot_free(node->snapshot);
}

/* All functions are used, and nothing tells them apart. */
static void test_nothing_to_tell(void **state)
{
	RNA_CLEANUP(rna_nic_facts_unref_p) struct rna_nic_facts *facts = NULL;
	struct node node;

	(void)state;
	init(&node);
	facts = make(&node, NULL);
	assert_int_equal(facts->count, 0);
	assert_true(rna_nic_facts_are_same(facts, NULL));
	deinit(&node);
}

static void test_second_functions_are_unused(void **state)
{
	RNA_CLEANUP(rna_nic_facts_unref_p) struct rna_nic_facts *facts = NULL;
	RNA_CLEANUP(rna_nic_facts_unref_p) struct rna_nic_facts *unread = NULL;
	RNA_CLEANUP(rna_nic_facts_unref_p) struct rna_nic_facts *plugged = NULL;
	struct node node;

	(void)state;
	init(&node);
	for (size_t i = 1; i < DEVICES; i += FUNCTIONS)
		node.accounts[i].expectation.expected = RNA_EXPECTED_UNKNOWN;
	facts = make(&node, NULL);
	assert_int_equal(facts->count, CARDS);
	for (size_t i = 0; i < DEVICES; i++) {
		const struct rna_nic_fact *fact = rna_nic_facts_find(facts, node.addresses[i]);

		assert_int_equal(fact && fact->unused, i % FUNCTIONS);
	}
	/* what is not known at the moment changes nothing */
	node.states[1].state = rna_value_unreadable();
	unread = make(&node, facts);
	assert_true(rna_nic_facts_are_same(facts, unread));
	/* one cable, and the port counts on all cards: the others lack theirs */
	node.states[1].state = rna_value_ok(RNA_PORT_DOWN);
	node.accounts[1].expectation.expected = RNA_EXPECTED_UP;
	plugged = make(&node, facts);
	assert_int_equal(plugged->count, 0);
	deinit(&node);
}

/* At a first look at a node whose ports are all down nothing is known to be unused. */
static void test_all_down(void **state)
{
	RNA_CLEANUP(rna_nic_facts_unref_p) struct rna_nic_facts *facts = NULL;
	struct node node;

	(void)state;
	init(&node);
	for (size_t i = 0; i < DEVICES; i++)
		node.accounts[i].expectation.expected = RNA_EXPECTED_UNKNOWN;
	facts = make(&node, NULL);
	assert_int_equal(facts->count, 0);
	deinit(&node);
}

static void test_planes_are_networks_of_functions(void **state)
{
	RNA_CLEANUP(rna_nic_facts_unref_p) struct rna_nic_facts *planes = NULL;
	RNA_CLEANUP(rna_nic_facts_unref_p) struct rna_nic_facts *later = NULL;
	RNA_CLEANUP(rna_nic_facts_unref_p) struct rna_nic_facts *rails = NULL;
	struct node node;

	(void)state;
	init(&node);
	for (size_t i = 0; i < DEVICES; i++) /* 172.16.0.0/13 and 172.24.0.0/13 */
		set_ipv4(&node, i, i % FUNCTIONS ? 24 : 16, (uint8_t)(i / FUNCTIONS));
	planes = make(&node, NULL);
	assert_int_equal(planes->count, CARDS);
	assert_string_equal(rna_nic_facts_find(planes, "0000:11:00.1")->rail_of, "0000:11:00.0");
	/* nor is a plane that is down, and was never up, a rail of its own */
	node.accounts[1].expectation.expected = RNA_EXPECTED_UNKNOWN;
	later = make(&node, NULL);
	assert_true(rna_nic_facts_are_same(planes, later));
	later = rna_nic_facts_unref(later);
	/* addresses go with the link, or into pods */
	for (size_t i = 0; i < DEVICES; i++)
		node.gids[i].count = 0;
	later = make(&node, planes);
	assert_true(rna_nic_facts_are_same(planes, later));
	/* a network for each port: as many rails */
	for (size_t i = 0; i < DEVICES; i++)
		set_ipv4(&node, i, 16, (uint8_t)i);
	rails = make(&node, planes);
	assert_int_equal(rails->count, 0);
	deinit(&node);
}

/* A card in two slots has one cable for functions of one number. */
static void test_halves(void **state)
{
	RNA_CLEANUP(rna_nic_facts_unref_p) struct rna_nic_facts *facts = NULL;
	struct node node;

	(void)state;
	init(&node);
	for (size_t i = 1; i < DEVICES; i += FUNCTIONS)
		(void)snprintf(node.addresses[i], sizeof(node.addresses[i]), "0000:%02zx:00.0",
			       0x90 + i / FUNCTIONS);
	facts = make(&node, NULL);
	assert_int_equal(facts->count, CARDS);
	assert_string_equal(rna_nic_facts_find(facts, "0000:91:00.0")->rail_of, "0000:11:00.0");
	deinit(&node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_to_tell),
		cmocka_unit_test(test_second_functions_are_unused),
		cmocka_unit_test(test_all_down),
		cmocka_unit_test(test_planes_are_networks_of_functions),
		cmocka_unit_test(test_halves),
	};

	return cmocka_run_group_tests_name("nic_facts", tests, NULL, NULL);
}
