// SPDX-License-Identifier: Apache-2.0
/* agent/memory/expect.c: what a port is meant to be, and why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/card.h"

#include "memory/expect.h"

#include "effort.h"

enum { PORTS_MAX = 8 };

/* Ports of cards of one model, with a function and what is remembered each. */
struct node {
	size_t count;
	struct rna_device devices[PORTS_MAX];
	struct rna_snapshot_device places[PORTS_MAX];
	struct rna_port_memory memories[PORTS_MAX];
	struct rna_judged_port ports[PORTS_MAX];
};

static struct rna_port_memory *add_port(struct node *node, const char *pci_address)
{
	size_t i = node->count++;

	assert_true(i < PORTS_MAX);
	node->devices[i] = (struct rna_device){
		.name = "mlx5_1",
		.pci_address = pci_address,
		.function = pci_address ? RNA_FUNCTION_PF : RNA_FUNCTION_VIRTUAL,
		.vendor_id = 0x15b3,
		.device_id = 0x1021,
	};
	node->places[i].device = &node->devices[i];
	node->ports[i] = (struct rna_judged_port){
		.device = &node->places[i],
		.number = 1,
		.netdev = "eth1",
		.memory = &node->memories[i],
	};
	return &node->memories[i];
}

static void assert_expected(const struct node *node, size_t i, enum rna_expected expected,
			    enum rna_expectation_reason reason)
{
	assert_int_equal(node->ports[i].expectation.expected, expected);
	assert_int_equal(node->ports[i].expectation.reason, reason);
}

/* One port, whose memory and settings are given in times. */
static void test_reasons_in_their_order(void **state)
{
	static char all_text[] = "mlx5_*", other_text[] = "mlx5_9";
	static char *star[] = {all_text, NULL}, *other[] = {other_text, NULL};
	static const struct {
		rna_usec first, last, accepted_at;
		enum rna_expected accepted;
		char **up, **down;
		enum rna_expected expected;
		enum rna_expectation_reason reason;
	} cases[] = {
		{0, 0, 0, 0, NULL, NULL, RNA_EXPECTED_UNKNOWN, RNA_EXPECTATION_NONE},
		{5, 9, 0, 0, NULL, NULL, RNA_EXPECTED_UP, RNA_EXPECTATION_REMEMBERED},
		{5, 9, 10, RNA_EXPECTED_DOWN, NULL, NULL, RNA_EXPECTED_DOWN,
		 RNA_EXPECTATION_ACCEPTED},
		{5, 11, 10, RNA_EXPECTED_DOWN, NULL, NULL, RNA_EXPECTED_UP,
		 RNA_EXPECTATION_REMEMBERED},
		{0, 0, 10, RNA_EXPECTED_DOWN, NULL, NULL, RNA_EXPECTED_DOWN,
		 RNA_EXPECTATION_ACCEPTED},
		{5, 9, 10, RNA_EXPECTED_UP, NULL, NULL, RNA_EXPECTED_UP, RNA_EXPECTATION_ACCEPTED},
		{5, 9, 10, RNA_EXPECTED_DOWN, star, NULL, RNA_EXPECTED_UP,
		 RNA_EXPECTATION_CONFIGURED},
		{5, 9, 0, 0, NULL, star, RNA_EXPECTED_DOWN, RNA_EXPECTATION_CONFIGURED},
		{5, 9, 0, 0, star, star, RNA_EXPECTED_DOWN, RNA_EXPECTATION_CONFIGURED},
		{5, 9, 0, 0, NULL, other, RNA_EXPECTED_UP, RNA_EXPECTATION_REMEMBERED},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		const struct rna_settings settings = {
			.expect_up = cases[i].up,
			.expect_down = cases[i].down,
		};
		struct node node = {0};
		struct rna_port_memory *memory = add_port(&node, "0000:3b:00.0");

		memory->first_active = cases[i].first;
		memory->last_active = cases[i].last;
		memory->accepted = (struct rna_accepted){cases[i].accepted, cases[i].accepted_at};
		rna_expect(&settings, node.ports, node.count);
		assert_expected(&node, 0, cases[i].expected, cases[i].reason);
	}
}

static void test_what_an_entry_fits(void **state)
{
	static const struct {
		const char *text;
		bool fits;
	} cases[] = {
		{"mlx5_1", true},
		{"mlx5_1/1", true},
		{"mlx5_1/2", false},
		{"mlx5_2", false},
		{"0000:3b:00.0/1", true},
		{"0000:3b:*", true},
		{"eth1", true},
		{"eth[2-9]", false},
		{"1070:fd03:0000:0000", true},
		{"1070:fd03:*:0001", true},
		{"1070:fd03:*:0002", false},
	};
	struct node node = {0};
	struct rna_port_identity port = {.number = 1, .port_guid = "1070:fd03:0000:0001"};
	struct rna_identity identity = {.node_guid = "1070:fd03:0000:0000",
					.port_count = 1,
					.ports = &port};

	(void)state;
	(void)add_port(&node, "0000:3b:00.0");
	node.places[0].parts[RNA_COLLECTOR_IDENTITY] = &identity.part;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		assert_true(rna_expect_glob_is_valid(cases[i].text));
		if (rna_expect_fits(cases[i].text, node.ports[0].device, 1, node.ports[0].netdev) !=
		    cases[i].fits)
			fail_msg("%s", cases[i].text);
	}
}

static void test_entries_that_are_none(void **state)
{
	static const char *const texts[] = {"",         "/1",    "a b",     "mlx5_0/",  "mlx5_0/x",
					    "mlx5_0/0", "a/b/1", "mlx5_[0", "mlx5_0/-1"};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++)
		if (rna_expect_glob_is_valid(texts[i]))
			fail_msg("%s", texts[i]);
}

static const char *const functions[] = {"0000:18:00.0", "0000:3b:00.0", "0000:5e:00.0",
					"0000:18:00.1", "0000:3b:00.1", "0000:5e:00.1"};

/* Three cards with two functions; up: bit set of those that were up once. */
static void judge_cards(struct node *node, unsigned up)
{
	static const struct rna_settings settings;

	*node = (struct node){0};
	for (size_t i = 0; i < RNA_ARRAY_SIZE(functions); i++)
		add_port(node, functions[i])->first_active = up >> i & 1;
	rna_expect(&settings, node->ports, node->count);
}

static void test_siblings(void **state)
{
	struct node node;

	(void)state;
	judge_cards(&node, 0b111110); /* all but one */
	assert_expected(&node, 0, RNA_EXPECTED_UP, RNA_EXPECTATION_SIBLINGS);
	assert_expected(&node, 1, RNA_EXPECTED_UP, RNA_EXPECTATION_REMEMBERED);
	judge_cards(&node, 0b000111); /* the second port of each card was never cabled */
	for (size_t i = 3; i < 6; i++)
		assert_expected(&node, i, RNA_EXPECTED_UNKNOWN, RNA_EXPECTATION_NONE);
	judge_cards(&node, 0b000100); /* one that is up does not count for the others */
	assert_expected(&node, 0, RNA_EXPECTED_UNKNOWN, RNA_EXPECTATION_NONE);
	judge_cards(&node, 0b000110);
	node.devices[0].device_id++; /* another model */
	rna_expect(&(struct rna_settings){0}, node.ports, node.count);
	assert_expected(&node, 0, RNA_EXPECTED_UNKNOWN, RNA_EXPECTATION_NONE);
}

/* What siblings are believed of is no ground to believe it of more. */
static void test_siblings_are_no_chain(void **state)
{
	struct node node = {0};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		(void)add_port(&node, functions[i]);
	(void)add_port(&node, "0000:86:00.0");
	for (size_t i = 0; i < 2; i++)
		node.memories[i].first_active = 1;
	rna_expect(&(struct rna_settings){0}, node.ports, node.count);
	assert_expected(&node, 2, RNA_EXPECTED_UNKNOWN, RNA_EXPECTATION_NONE);
	assert_expected(&node, 3, RNA_EXPECTED_UNKNOWN, RNA_EXPECTATION_NONE);
}

/* -- Ports that no card of the model wires ----------------------------------------------------- */

enum { CARDS = 2, PORTS = 3 };

/* Two cards of three Ethernet ports each, of which only the third has an interface. */
struct cards {
	struct node node;
	struct rna_device devices[CARDS];
	struct rna_snapshot_device places[CARDS];
	struct rna_port_identity identities[PORTS];
	struct rna_port_state_value states[PORTS];
	struct rna_identity identity;
	struct rna_state state;
};

static void make_cards(struct cards *cards)
{
	*cards = (struct cards){
		.identity = {.port_count = PORTS, .ports = cards->identities},
		.state = {.port_count = PORTS, .ports = cards->states},
	};
	for (unsigned p = 0; p < PORTS; p++) {
		cards->identities[p] = (struct rna_port_identity){p + 1, RNA_LINK_LAYER_ETHERNET};
		cards->states[p].number = p + 1;
		cards->states[p].state = rna_value_ok(RNA_PORT_DOWN);
	}
	for (size_t i = 0; i < CARDS; i++) {
		cards->places[i].device = &cards->devices[i];
		cards->places[i].parts[RNA_COLLECTOR_IDENTITY] = &cards->identity.part;
		cards->places[i].parts[RNA_COLLECTOR_STATE] = &cards->state.part;
	}
	for (unsigned i = 0; i < CARDS * PORTS; i++) {
		(void)add_port(&cards->node, functions[0]);
		cards->devices[i / PORTS] = cards->node.devices[i];
		cards->devices[i / PORTS].port_count = PORTS;
		cards->node.ports[i].device = &cards->places[i / PORTS];
		cards->node.ports[i].number = i % PORTS + 1;
		cards->node.ports[i].netdev = i % PORTS == 2 ? "eth1" : NULL;
	}
}

static void assert_unwired(struct cards *cards, const char *wanted)
{
	rna_expect(&(struct rna_settings){0}, cards->node.ports, cards->node.count);
	for (size_t i = 0; wanted[i]; i++)
		assert_expected(&cards->node, i,
				wanted[i] == 'x' ? RNA_EXPECTED_DOWN : RNA_EXPECTED_UNKNOWN,
				wanted[i] == 'x' ? RNA_EXPECTATION_UNWIRED : RNA_EXPECTATION_NONE);
}

static void test_unwired(void **state)
{
	struct cards cards;

	(void)state;
	make_cards(&cards);
	assert_unwired(&cards, "xx-xx-");
	make_cards(&cards); /* the first port of the second card has an interface */
	cards.node.ports[3].netdev = "eth9";
	assert_unwired(&cards, "-x--x-");
	make_cards(&cards); /* another model */
	cards.node.ports[3].netdev = "eth9";
	cards.devices[1].device_id++;
	assert_unwired(&cards, "xx--x-");
	make_cards(&cards); /* no interfaces: those of another network namespace */
	cards.node.ports[2].netdev = cards.node.ports[5].netdev = NULL;
	assert_unwired(&cards, "------");
	make_cards(&cards);
	for (unsigned p = 0; p < PORTS; p++)
		cards.identities[p].link_layer = RNA_LINK_LAYER_INFINIBAND;
	assert_unwired(&cards, "------");
	make_cards(&cards);
	cards.states[0].state = rna_value_unreadable();
	assert_unwired(&cards, "-x--x-");
}

static void test_port_that_was_up_is_wired(void **state)
{
	struct cards cards;

	(void)state;
	make_cards(&cards);
	cards.node.memories[3].first_active = 1;
	rna_expect(&(struct rna_settings){0}, cards.node.ports, cards.node.count);
	assert_expected(&cards.node, 3, RNA_EXPECTED_UP, RNA_EXPECTATION_REMEMBERED);
	assert_expected(&cards.node, 0, RNA_EXPECTED_UNKNOWN, RNA_EXPECTATION_NONE);
	assert_expected(&cards.node, 1, RNA_EXPECTED_DOWN, RNA_EXPECTATION_UNWIRED);
}

/* -- Many ports -------------------------------------------------------------------------------- */

/* What the rules say of each pair of ports, as a definition. */
static bool is_same_model(const struct rna_judged_port *a, const struct rna_judged_port *b)
{
	return a->number == b->number && rna_card_is_same_model(a->device, b->device);
}

static bool has_siblings_up(const struct node *node, size_t port, const enum rna_expected *alone)
{
	const struct rna_judged_port *a = &node->ports[port];
	const char *function = strrchr(a->device->device->pci_address, '.');
	size_t siblings = 0;

	for (size_t i = 0; i < node->count; i++) {
		const struct rna_judged_port *b = &node->ports[i];

		if (a == b || !is_same_model(a, b) ||
		    strcmp(function, strrchr(b->device->device->pci_address, '.')) != 0)
			continue;
		if (alone[i] != RNA_EXPECTED_UP)
			return false;
		siblings++;
	}
	return siblings >= 2;
}

static bool has_no_use(const struct rna_judged_port *port)
{
	return !port->netdev && port->memory->first_active == 0;
}

static bool is_unwired(const struct node *node, size_t port)
{
	bool wired = false;

	for (size_t i = 0; i < node->count; i++) {
		const struct rna_judged_port *other = &node->ports[i];

		wired |= other->device == node->ports[port].device && other->netdev;
		if (!has_no_use(other) && is_same_model(&node->ports[port], other))
			return false;
	}
	return wired && has_no_use(&node->ports[port]);
}

static uint32_t next_random(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 16) % below;
}

/* Four cards of two ports each. Boards may differ, and not all of them are known. */
struct mixture {
	struct node node;
	struct rna_identity identities[PORTS_MAX / 2];
	struct rna_port_identity ports[PORTS_MAX / 2][2];
	struct rna_state states[PORTS_MAX / 2];
	struct rna_port_state_value values[2];
};

static void mix(struct mixture *mixture, uint32_t *seed)
{
	static const char *const boards[] = {"A", "B", NULL};
	static const char *const addresses[] = {"0000:18:00.0", "0000:3b:00.0", "0000:5e:00.0",
						"0000:5e:00.1"};

	*mixture = (struct mixture){0};
	for (unsigned p = 0; p < 2; p++)
		mixture->values[p] =
			(struct rna_port_state_value){.number = p + 1,
						      .state = rna_value_ok(RNA_PORT_DOWN)};
	for (unsigned i = 0; i < PORTS_MAX; i++) {
		unsigned card = i / 2;
		struct rna_snapshot_device *place = &mixture->node.places[card * 2];

		add_port(&mixture->node, addresses[card])->first_active = next_random(seed, 4) > 0;
		if (next_random(seed, 3) > 0)
			mixture->node.ports[i].netdev = NULL;
		mixture->node.ports[i].device = place;
		mixture->node.ports[i].number = i % 2 + 1;
		mixture->ports[card][i % 2] =
			(struct rna_port_identity){i % 2 + 1, RNA_LINK_LAYER_ETHERNET};
		if (i % 2)
			continue;
		mixture->node.devices[i].port_count = 2;
		mixture->node.devices[i].device_id = 0x1021 + (next_random(seed, 5) == 0);
		mixture->identities[card] = (struct rna_identity){
			.board_id = boards[next_random(seed, 3)],
			.port_count = 2,
			.ports = mixture->ports[card],
		};
		mixture->states[card] =
			(struct rna_state){.port_count = 2, .ports = mixture->values};
		place->parts[RNA_COLLECTOR_IDENTITY] = &mixture->identities[card].part;
		place->parts[RNA_COLLECTOR_STATE] = &mixture->states[card].part;
	}
}

/* What is sorted and counted agrees with what is compared in pairs. */
static void test_any_mixture(void **state)
{
	enum { MIXTURES = 20000 };
	uint32_t seed = 1;
	size_t found[RNA_EXPECTATION_COUNT] = {0};

	(void)state;
	for (size_t n = 0; n < MIXTURES; n++) {
		enum rna_expected alone[PORTS_MAX];
		struct mixture mixture;
		struct node *node = &mixture.node;

		mix(&mixture, &seed);
		for (size_t i = 0; i < node->count; i++)
			alone[i] = node->memories[i].first_active > 0 ? RNA_EXPECTED_UP
								      : RNA_EXPECTED_UNKNOWN;
		assert_int_equal(rna_expect(&(struct rna_settings){0}, node->ports, node->count),
				 0);
		for (size_t i = 0; i < node->count; i++) {
			enum rna_expectation_reason reason = RNA_EXPECTATION_NONE;

			if (alone[i] == RNA_EXPECTED_UP)
				reason = RNA_EXPECTATION_REMEMBERED;
			else if (has_siblings_up(node, i, alone))
				reason = RNA_EXPECTATION_SIBLINGS;
			else if (is_unwired(node, i))
				reason = RNA_EXPECTATION_UNWIRED;
			assert_int_equal(node->ports[i].expectation.reason, reason);
			found[reason]++;
		}
	}
	assert_true(found[RNA_EXPECTATION_SIBLINGS] > 100);
	assert_true(found[RNA_EXPECTATION_UNWIRED] > 100);
	assert_true(found[RNA_EXPECTATION_NONE] > 100);
}

/* As many devices as the agent watches, with two ports each; the second ones were never up. */
static void test_as_many_ports_as_there_may_be(void **state)
{
	enum { DEVICES = 4096 };
	struct rna_judged_port *ports = calloc(2 * DEVICES, sizeof(*ports));
	struct rna_snapshot_device *places = calloc(DEVICES, sizeof(*places));
	struct rna_port_memory up = {.first_active = 1}, never = {0};
	double start = effort();
	struct node node = {0};

	(void)state;
	(void)add_port(&node, "0000:18:00.0");
	node.devices[0].port_count = 2;
	for (unsigned i = 0; i < 2 * DEVICES; i++) {
		places[i / 2].device = &node.devices[0];
		ports[i] = (struct rna_judged_port){
			.device = &places[i / 2],
			.number = i % 2 + 1,
			.memory = i % 2 ? &never : &up,
		};
	}
	for (size_t n = 0; n < 100; n++)
		assert_int_equal(rna_expect(&(struct rna_settings){0}, ports, 2 * DEVICES), 0);
	assert_little_effort(start);
	assert_int_equal(ports[1].expectation.reason, RNA_EXPECTATION_NONE);
	free(places);
	free(ports);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reasons_in_their_order),
		cmocka_unit_test(test_what_an_entry_fits),
		cmocka_unit_test(test_entries_that_are_none),
		cmocka_unit_test(test_siblings),
		cmocka_unit_test(test_siblings_are_no_chain),
		cmocka_unit_test(test_unwired),
		cmocka_unit_test(test_port_that_was_up_is_wired),
		cmocka_unit_test(test_any_mixture),
		cmocka_unit_test(test_as_many_ports_as_there_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
