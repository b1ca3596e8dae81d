// SPDX-License-Identifier: Apache-2.0
/* agent/core/model/card.c: which devices are on one card. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/card.h"
#include "rna/model/snapshot.h"

enum { DEVICES_MAX = 8, MELLANOX = 0x15b3 };

struct node {
	struct rna_device devices[DEVICES_MAX];
	struct rna_identity identities[DEVICES_MAX];
	struct rna_snapshot *snapshot;
	struct rna_arena *arena;
	struct rna_cards cards;
};

static int set_up(void **state)
{
	struct node *node = calloc(1, sizeof(*node));

	assert_non_null(node);
	node->snapshot = rna_snapshot_new(DEVICES_MAX, (struct rna_time){0});
	node->snapshot->device_count = 0;
	node->arena = rna_arena_new(4096);
	*state = node;
	return 0;
}

/* The parts are members of node, so the snapshot may not drop references to them. */
static int tear_down(void **state)
{
	struct node *node = *state;

	node->snapshot->device_count = 0;
	(void)rna_snapshot_free(node->snapshot);
	(void)rna_arena_free(node->arena);
	free(node);
	return 0;
}

static struct rna_device *add(struct node *node, const char *pci_address, const char *guid)
{
	size_t i = node->snapshot->device_count++;

	assert_true(i < DEVICES_MAX);
	node->devices[i] = (struct rna_device){
		.name = "mlx5_0",
		.pci_address = pci_address,
		.function = pci_address ? RNA_FUNCTION_PF : RNA_FUNCTION_VIRTUAL,
		.vendor_id = MELLANOX,
		.device_id = 0x1021,
	};
	node->identities[i].system_image_guid = guid;
	node->snapshot->devices[i].device = &node->devices[i];
	if (guid)
		node->snapshot->devices[i].parts[RNA_COLLECTOR_IDENTITY] =
			&node->identities[i].part;
	return &node->devices[i];
}

/* The card of each device as a digit, "-" for none. */
static void assert_cards(struct node *node, const char *wanted)
{
	char text[DEVICES_MAX + 1] = "";

	assert_int_equal(rna_cards_make(node->snapshot, node->arena, &node->cards), 0);
	for (size_t i = 0; i < node->snapshot->device_count; i++) {
		const struct rna_card *card = rna_card_of(&node->cards, i);

		text[i] = card ? (char)('0' + (card - node->cards.items)) : '-';
	}
	assert_string_equal(text, wanted);
}

static void test_no_devices(void **state)
{
	struct node *node = *state;

	assert_cards(node, "");
	assert_int_equal(node->cards.count, 0);
	assert_null(rna_card_of(NULL, 0));
}

static void test_functions_of_one_device(void **state)
{
	struct node *node = *state;

	add(node, "0000:86:00.0", NULL);
	add(node, "0000:3b:00.1", NULL);
	add(node, "0000:3b:00.0", NULL);
	add(node, "0000:3b:01.0", NULL);
	add(node, "10000:3b:00.0", NULL);
	add(node, NULL, "0001:0002:0003:0004");
	assert_cards(node, "20013-");
	assert_int_equal(node->cards.count, 4);
	assert_string_equal(node->cards.items[0].address, "0000:3b:00");
	assert_int_equal(node->cards.items[0].device_count, 2);
	assert_int_equal(node->cards.items[0].devices[0], 1);
	assert_int_equal(node->cards.items[0].devices[1], 2);
	assert_int_equal(node->cards.items[2].devices[0], 0);
}

/* By ARI a virtual function may have the address of another PCI device, even on another bus. */
static void test_virtual_and_scalable_functions(void **state)
{
	struct node *node = *state;
	struct rna_device *virtual = add(node, "0000:3a:01.2", NULL), *scalable;

	virtual->function = RNA_FUNCTION_VF;
	virtual->physical_function = "0000:3b:00.0";
	add(node, "0000:3b:00.0", NULL);
	scalable = add(node, "0000:3b:00.1", NULL);
	scalable->function = RNA_FUNCTION_SF;
	scalable->physical_function = "0000:3b:00.1";
	assert_cards(node, "000");
	assert_string_equal(node->cards.items[0].address, "0000:3b:00");
}

/* A card in two slots, as in IBM's AC922: two PCI domains, one system image GUID. */
static void test_one_system_image_guid(void **state)
{
	struct node *node = *state;

	add(node, "0003:01:00.0", "1070:fd03:0000:0001");
	add(node, "0003:01:00.1", "1070:fd03:0000:0001");
	add(node, "0033:01:00.0", "1070:fd03:0000:0001");
	add(node, "0035:01:00.0", "1070:fd03:0000:0009");
	add(node, "0001:01:00.0", "1070:fd03:0000:0009");
	assert_cards(node, "11100");
	assert_string_equal(node->cards.items[0].address, "0001:01:00");
	assert_string_equal(node->cards.items[1].address, "0003:01:00");
	assert_int_equal(node->cards.items[1].device_count, 3);
}

/* Links in a chain: each of two cards has a function with the GUID of the other. */
static void test_chain(void **state)
{
	struct node *node = *state;

	add(node, "0000:05:00.0", "0000:0000:0000:0001");
	add(node, "0000:03:00.0", "0000:0000:0000:0002");
	add(node, "0000:05:00.1", "0000:0000:0000:0002");
	add(node, "0000:04:00.0", "0000:0000:0000:0001");
	assert_cards(node, "0000");
	assert_string_equal(node->cards.items[0].address, "0000:03:00");
}

static void test_guids_that_say_nothing(void **state)
{
	struct node *node = *state;

	add(node, "0000:10:1b.0", "0000:0000:0000:0000");
	add(node, "0000:20:1b.0", "0000:0000:0000:0000");
	add(node, "0000:30:00.0", "1070:fd03:0000:0001");
	add(node, "0000:40:00.0", "1070:fd03:0000:0001")->vendor_id = 0x14e4;
	add(node, NULL, "1070:fd03:0000:0001");
	assert_cards(node, "0123-");
}

static void test_models(void **state)
{
	struct node *node = *state;
	const struct rna_snapshot_device *places = node->snapshot->devices;

	add(node, "0000:10:00.0", "1070:fd03:0000:0001");
	add(node, "0000:20:00.0", "1070:fd03:0000:0002");
	add(node, "0000:30:00.0", NULL);
	add(node, "0000:40:00.0", NULL)->device_id = 0x1023;
	node->identities[0].board_id = node->identities[1].board_id = "MT_0000000838";
	assert_true(rna_card_is_same_model(&places[0], &places[1]));
	assert_true(rna_card_is_same_model(&places[0], &places[2])); /* its board is not known */
	assert_false(rna_card_is_same_model(&places[2], &places[3]));
	node->identities[1].board_id = "DEL0000000027";
	assert_false(rna_card_is_same_model(&places[0], &places[1]));
}

/* -- Functions --------------------------------------------------------------------------------- */

struct tree {
	struct rna_topology topology;
	struct rna_pci_object objects[4];
	struct rna_nic nics[4];
};

static struct rna_nic *add_nic(struct tree *tree, const char *address)
{
	size_t i = tree->topology.nic_count++;

	tree->objects[i] = (struct rna_pci_object){.address = address};
	tree->nics[i] = (struct rna_nic){.object = (unsigned)i, .lag = -1, .rail = -1};
	return &tree->nics[i];
}

static void show_tree(struct node *node, struct tree *tree)
{
	tree->topology.objects = tree->objects;
	tree->topology.nics = tree->nics;
	node->snapshot->parts[RNA_COLLECTOR_TOPOLOGY] = &tree->topology.part;
	assert_int_equal(rna_cards_make(node->snapshot, node->arena, &node->cards), 0);
	node->snapshot->parts[RNA_COLLECTOR_TOPOLOGY] = NULL;
}

/* A port without RDMA device, one of a LAG, and a card that has no RDMA device at all. */
static void test_functions_without_device(void **state)
{
	struct node *node = *state;
	struct tree tree = {0};
	const struct rna_card *card;

	add(node, "0000:3b:00.1", NULL);
	add_nic(&tree, "0000:3b:00.0");
	add_nic(&tree, "0000:3b:00.1")->device_count = 1;
	add_nic(&tree, "0000:3b:00.2")->lag = 1;
	add_nic(&tree, "0000:10:00.0");
	show_tree(node, &tree);
	assert_int_equal(node->cards.count, 1);
	card = rna_card_at(&node->cards, "0000:3b:00.7");
	assert_ptr_equal(card, &node->cards.items[0]);
	assert_null(rna_card_at(&node->cards, "0000:10:00.0"));
	assert_null(rna_card_at(&node->cards, NULL));
	assert_null(rna_card_at(NULL, "0000:3b:00.0"));
	assert_string_equal(card->address, "0000:3b:00");
	assert_int_equal(card->function_count, 3);
	assert_int_equal(card->functions[0].device, RNA_NO_DEVICE);
	assert_true(rna_card_function_is_bare(&card->functions[0]));
	assert_int_equal(card->functions[1].device, 0);
	assert_ptr_equal(card->functions[1].nic, &tree.nics[1]);
	assert_false(rna_card_function_is_bare(&card->functions[1]));
	assert_false(rna_card_function_is_bare(&card->functions[2]));
}

/* Virtual and scalable functions are devices of a card, and not functions of it. */
static void test_functions_are_physical(void **state)
{
	struct node *node = *state;
	const struct rna_card *card;
	struct rna_device *other;

	add(node, "0000:3b:00.0", NULL);
	other = add(node, "0000:3b:00.2", NULL);
	other->function = RNA_FUNCTION_VF;
	other->physical_function = "0000:3b:00.0";
	other = add(node, "0000:3b:00.0", NULL);
	other->function = RNA_FUNCTION_SF;
	other->physical_function = "0000:3b:00.0";
	assert_cards(node, "000");
	card = &node->cards.items[0];
	assert_int_equal(card->device_count, 3);
	assert_int_equal(card->function_count, 1);
	assert_string_equal(card->functions[0].address, "0000:3b:00.0");
}

static void test_what_a_card_is(void **state)
{
	struct node *node = *state;
	const struct rna_card *card;

	add(node, "0003:01:00.0", "1070:fd03:0000:0001")->numa_node = 0;
	add(node, "0003:01:00.1", "1070:fd03:0000:0001")->numa_node = 0;
	add(node, "0033:01:00.0", "1070:fd03:0000:0001")->numa_node = 8;
	add(node, "0035:01:00.0", NULL)->device_id = 0xffff;
	node->identities[1].hca_type = "MT4129";
	node->identities[1].board_id = "MT_0000000838";
	node->identities[1].firmware_version = "28.39.1002";
	node->identities[2].firmware_version = "28.39.1002";
	assert_cards(node, "0001");
	card = &node->cards.items[0];
	assert_string_equal(card->model, "ConnectX-7");
	assert_string_equal(card->hca_type, "MT4129");
	assert_string_equal(card->board_id, "MT_0000000838");
	assert_string_equal(card->firmware_version, "28.39.1002");
	assert_false(card->firmware_differs);
	assert_int_equal(card->numa_node, -1); /* in slots of two sockets */
	assert_int_equal(node->cards.slot_count, 3);
	assert_ptr_equal(rna_card_at(&node->cards, "0033:01:00.1"), card);
	assert_null(node->cards.items[1].model);
	assert_null(node->cards.items[1].firmware_version);
	assert_int_equal(node->cards.items[1].numa_node, 0);
	node->identities[2].firmware_version = "28.41.1000";
	assert_cards(node, "0001");
	assert_true(node->cards.items[0].firmware_differs);
}

static void test_first_ports(void **state)
{
	struct node *node = *state;

	add(node, "0000:10:00.0", NULL)->port_count = 2;
	add(node, NULL, NULL)->port_count = 0;
	add(node, "0000:20:00.0", NULL)->port_count = 1;
	assert_cards(node, "0-1");
	assert_int_equal(node->cards.first_ports[0], 0);
	assert_int_equal(node->cards.first_ports[1], 2);
	assert_int_equal(node->cards.first_ports[2], 2);
}

static void test_pci_devices(void **state)
{
	(void)state;
	assert_true(rna_pci_is_one_device("0000:3b:00.0", "0000:3b:00.1"));
	assert_false(rna_pci_is_one_device("0000:3b:00.0", "0000:3b:01.0"));
	assert_false(rna_pci_is_one_device("0000:3b:00.0", "10000:3b:00.0"));
	assert_false(rna_pci_is_one_device("pci0000:3a", "pci0000:3a"));
	assert_true(rna_pci_compare_devices("0000:3b:00.7", "0000:3b:01.0") < 0);
	assert_true(rna_pci_compare_devices("10000:01:00.0", "f000:3b:01.0") > 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_no_devices),
		TEST(test_functions_of_one_device),
		TEST(test_virtual_and_scalable_functions),
		TEST(test_one_system_image_guid),
		TEST(test_chain),
		TEST(test_guids_that_say_nothing),
		TEST(test_models),
		TEST(test_functions_without_device),
		TEST(test_functions_are_physical),
		TEST(test_what_a_card_is),
		TEST(test_first_ports),
		TEST(test_pci_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
