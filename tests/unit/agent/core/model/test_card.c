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
	assert_string_equal(node->cards.items[0].address, "0000:3b:00.0");
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
	assert_string_equal(node->cards.items[0].address, "0000:3b:00.0");
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
	assert_string_equal(node->cards.items[0].address, "0001:01:00.0");
	assert_string_equal(node->cards.items[1].address, "0003:01:00.0");
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
	assert_string_equal(node->cards.items[0].address, "0000:03:00.0");
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
