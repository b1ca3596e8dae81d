// SPDX-License-Identifier: Apache-2.0
/*
 * No remedy names a tool that its place cannot have, or asks for what those cannot do who read it:
 * each remedy of a rule and of the kernel log, and each phrase, at each kind of place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/parse.h"
#include "rna/model/log_match.h"

#include "rules/remedy.h"
#include "rules/rules.h"

/* -- Names and phrases ------------------------------------------------------------------------- */

static void assert_remedy(const char *remedy, const struct rna_remedy_place *place,
			  const char *expected)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_remedy_write(remedy, place, &text);
	assert_true(rna_strbuf_ok(&text));
	assert_string_equal(text.data, expected);
}

static void test_names_are_filled_in(void **state)
{
	static const char all[] = "{device} {port} {object} {pci} {netdev} {interface} {where}";
	static const struct rna_remedy_place port = {
		.device = "mlx5_0",
		.port = 1,
		.pci_address = "0000:3b:00.0",
		.netdev = "eth0",
		.interface = "bond0",
	};
	static const struct rna_remedy_place device = {.device = "mlx5_0", .netdev = "eth0"};

	(void)state;
	assert_remedy(all, &port,
		      "mlx5_0 1 mlx5_0/1 0000:3b:00.0 eth0 bond0 mlx5_0/1 (PCI 0000:3b:00.0)");
	assert_remedy(all, &device, "mlx5_0 PORT mlx5_0 PCI-ADDRESS eth0 eth0 mlx5_0");
	assert_remedy(all, NULL,
		      "DEVICE PORT DEVICE/PORT PCI-ADDRESS INTERFACE INTERFACE this finding");
	assert_remedy("{other} {device", &port, "{other} {device");
	assert_remedy("{driver}", NULL, "DRIVER");
	assert_remedy("{device} {object} {where}",
		      &(struct rna_remedy_place){.pci_address = "0000:3b:00.0"},
		      "0000:3b:00.0 0000:3b:00.0 PCI 0000:3b:00.0");
}

static struct rna_remedy_place place_of(const char *driver, unsigned traits)
{
	struct rna_remedy_place place = {.traits = traits, .pci_address = "0000:3b:00.0"};

	rna_remedy_place_set_driver(&place, rna_driver_named(driver));
	return place;
}

static void test_phrases_depend_on_the_place(void **state)
{
	struct rna_remedy_place host = place_of("mlx5_core", RNA_REMEDY_INFINIBAND);
	struct rna_remedy_place bond =
		place_of("mlx5_core", RNA_REMEDY_ETHERNET | RNA_REMEDY_BONDED);
	struct rna_remedy_place ionic = place_of("ionic", RNA_REMEDY_ETHERNET);

	(void)state;
	assert_remedy("{activate}", &host,
		      ", and activate it (devlink dev reload pci/0000:3b:00.0 action fw_activate) "
		      "or reboot");
	assert_remedy("{activate}", &bond, ", and reboot");
	assert_remedy("{activate}", &ionic, ", and reboot");
	assert_remedy("{fabric}", &host, "look at the subnet manager");
	assert_remedy("{fabric}", &bond, "look at the switches between them");
	assert_remedy("{recover}", &ionic,
		      "Remove the function and rescan: echo 1 > "
		      "/sys/bus/pci/devices/0000:3b:00.0/remove; echo 1 > /sys/bus/pci/rescan.");
}

static unsigned traits_on(struct rna_dmi dmi, uint32_t gpu, bool virtual)
{
	const struct rna_readiness readiness = {
		.platform = rna_platform_of(&dmi, 0x10de, gpu),
		.virtual_machine = rna_value_ok(virtual),
	};
	struct rna_remedy_place place = {0};

	rna_remedy_place_set_node(&place, &readiness);
	return place.traits;
}

static void test_the_node_says_where_it_is(void **state)
{
	struct rna_remedy_place unknown = {0};

	(void)state;
	rna_remedy_place_set_node(&unknown, NULL);
	assert_int_equal(unknown.traits, 0);
	assert_int_equal(traits_on((struct rna_dmi){0}, 0, true), RNA_REMEDY_RENTED);
	assert_int_equal(traits_on((struct rna_dmi){.vendor = "Oracle Corporation",
						    .asset_tag = "OracleCloud.com"},
				   0, false),
			 RNA_REMEDY_RENTED | RNA_REMEDY_CLOUD);
	assert_int_equal(traits_on((struct rna_dmi){.vendor = "https://www.mellanox.com",
						    .product = "BlueField SoC"},
				   0, false),
			 RNA_REMEDY_BOARD);
	assert_int_equal(traits_on((struct rna_dmi){.vendor = "NVIDIA"}, 0x2e12, false),
			 RNA_REMEDY_BOARD);
	assert_int_equal(traits_on((struct rna_dmi){.vendor = "NVIDIA", .product = "DGXH100"}, 0,
				   false),
			 0);
}

static void test_functions_and_drivers_say_it(void **state)
{
	struct rna_remedy_place place = {0};

	(void)state;
	rna_remedy_place_set_function(&place, RNA_FUNCTION_PF);
	assert_int_equal(place.traits, 0);
	rna_remedy_place_set_function(&place, RNA_FUNCTION_VF);
	assert_int_equal(place.traits, RNA_REMEDY_VIRTUAL);
	rna_remedy_place_set_function(&place, RNA_FUNCTION_GUEST_VF);
	assert_int_equal(place.traits, RNA_REMEDY_VIRTUAL | RNA_REMEDY_RENTED);
	place = place_of("efa", 0);
	assert_int_equal(place.traits, RNA_REMEDY_RENTED | RNA_REMEDY_CLOUD | RNA_REMEDY_DRIVEN);
	place = place_of("mlx5_core", 0);
	assert_int_equal(place.traits, RNA_REMEDY_RECOVERS | RNA_REMEDY_FLASHES |
					       RNA_REMEDY_ACTIVATES | RNA_REMEDY_NVIDIA |
					       RNA_REMEDY_DRIVEN);
}

/* -- What a place cannot have ------------------------------------------------------------------ */

/* What only the provider of a rented machine has, may stand there behind this word. */
static const char provider[] = "provider";

static const struct tool {
	const char *word;
	unsigned needs;   /* all of these */
	unsigned without; /* none of these */
	bool provided;    /* in a rented machine the provider has it */
} tools[] = {
	{"mlxconfig", RNA_REMEDY_NVIDIA, RNA_REMEDY_RENTED | RNA_REMEDY_VIRTUAL, false},
	{"mlxfwreset", RNA_REMEDY_NVIDIA, RNA_REMEDY_RENTED | RNA_REMEDY_VIRTUAL, false},
	{"mlxfwmanager", RNA_REMEDY_NVIDIA, RNA_REMEDY_RENTED | RNA_REMEDY_VIRTUAL, false},
	{"flint", RNA_REMEDY_NVIDIA, RNA_REMEDY_RENTED | RNA_REMEDY_VIRTUAL, false},
	{"mlnx_qos", RNA_REMEDY_NVIDIA, 0, false},
	{"devlink health recover", RNA_REMEDY_RECOVERS, 0, false},
	{"devlink dev flash", RNA_REMEDY_FLASHES, RNA_REMEDY_RENTED | RNA_REMEDY_VIRTUAL, false},
	{"fw_activate", RNA_REMEDY_ACTIVATES,
	 RNA_REMEDY_RENTED | RNA_REMEDY_VIRTUAL | RNA_REMEDY_BONDED, false},
	{"/sys/bus/pci/rescan", 0, RNA_REMEDY_VIRTUAL, false},
	{"dev PF vf", 0, RNA_REMEDY_RENTED, true},
	{"sminfo", 0, RNA_REMEDY_ETHERNET | RNA_REMEDY_RENTED, true},
	{"ibportstate", 0, RNA_REMEDY_ETHERNET | RNA_REMEDY_RENTED, true},
	{"perfquery", 0, RNA_REMEDY_ETHERNET, false},
	{"opensm", 0, RNA_REMEDY_ETHERNET | RNA_REMEDY_RENTED, true},
	{"partitions.conf", 0, RNA_REMEDY_ETHERNET | RNA_REMEDY_RENTED, true},
	{"subnet manager", 0, RNA_REMEDY_ETHERNET | RNA_REMEDY_RENTED, true},
	{"able of", 0, RNA_REMEDY_RENTED, true}, /* also "Cable" */
	{"cable", 0, RNA_REMEDY_RENTED, true},
	{"transceiver", 0, RNA_REMEDY_RENTED, true},
	{"connectors", 0, RNA_REMEDY_RENTED, true},
	{"eseat", 0, RNA_REMEDY_RENTED, true},
	{"eseat the card", 0, RNA_REMEDY_BOARD | RNA_REMEDY_RENTED, true},
	{"riser", 0, RNA_REMEDY_BOARD | RNA_REMEDY_RENTED, true},
	{"another slot", 0, RNA_REMEDY_BOARD | RNA_REMEDY_RENTED, true},
	{"slot with", 0, RNA_REMEDY_BOARD | RNA_REMEDY_RENTED, true},
	{"replace the card", 0, RNA_REMEDY_BOARD | RNA_REMEDY_RENTED, true},
	{"ower-cycle", 0, RNA_REMEDY_RENTED, true},
	{"switch port", 0, RNA_REMEDY_RENTED, true},
	{"leaf", 0, RNA_REMEDY_RENTED, true},
	{"the switches", 0, RNA_REMEDY_RENTED, true},
	{"on the switch:", 0, RNA_REMEDY_RENTED, true},
	{"fans", 0, RNA_REMEDY_RENTED, true},
	{"BMC", 0, RNA_REMEDY_RENTED, true},
	{"firmware setup", 0, RNA_REMEDY_BOARD | RNA_REMEDY_RENTED, true},
	{"the instance", RNA_REMEDY_CLOUD, 0, false},
};

static bool may_name(const struct tool *tool, const struct rna_remedy_place *place,
		     const char *text, const char *at)
{
	unsigned without = place->traits & tool->without;
	const char *before = strstr(text, provider);

	if ((place->traits & tool->needs) != tool->needs)
		return false;
	if (tool->provided && before && before < at)
		without &= ~(unsigned)RNA_REMEDY_RENTED;
	return without == 0;
}

/* Returns how many words are wrong there, and prints them. name: NULL, it prints nothing. */
static size_t count_wrong(const char *name, const char *remedy,
			  const struct rna_remedy_place *place)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	size_t wrong = 0;

	rna_remedy_write(remedy, place, &text);
	assert_true(rna_strbuf_ok(&text));
	for (size_t i = 0; text.len > 0 && i < RNA_ARRAY_SIZE(tools); i++) {
		const char *at = strstr(text.data, tools[i].word);

		if (!at || may_name(&tools[i], place, text.data, at))
			continue;
		wrong++;
		if (name)
			print_message("%s, driver %s, traits 0x%x: \"%s\" in: %s\n", name,
				      place->driver ? place->driver->name : "none", place->traits,
				      tools[i].word, text.data);
	}
	return wrong + (text.len > 0 && strchr(text.data, '{'));
}

/* Where it is, and what the function is: each with each. */
static const unsigned hosts[] = {
	0,
	RNA_REMEDY_BOARD,
	RNA_REMEDY_RENTED,
	RNA_REMEDY_RENTED | RNA_REMEDY_CLOUD,
};
static const unsigned functions[] = {0, RNA_REMEDY_VIRTUAL, RNA_REMEDY_BONDED,
				     RNA_REMEDY_REPRESENTOR};
static const unsigned layers[] = {0, RNA_REMEDY_INFINIBAND, RNA_REMEDY_ETHERNET};

/* only: the one link layer on which it is read; UNKNOWN: any. */
static size_t count_wrong_of_driver(const char *name, const char *remedy, enum rna_link_layer only,
				    const struct rna_driver *driver)
{
	size_t wrong = 0;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(hosts) * RNA_ARRAY_SIZE(functions); i++)
		for (size_t l = 0; l < RNA_ARRAY_SIZE(layers); l++) {
			struct rna_remedy_place place = {
				.traits = hosts[i / RNA_ARRAY_SIZE(functions)] |
					  functions[i % RNA_ARRAY_SIZE(functions)] | layers[l],
			};

			if (only == RNA_LINK_LAYER_INFINIBAND && layers[l] != RNA_REMEDY_INFINIBAND)
				continue;
			rna_remedy_place_set_driver(&place, driver);
			wrong += count_wrong(name, remedy, &place);
		}
	return wrong;
}

static size_t count_wrong_anywhere(const char *name, const char *remedy, enum rna_link_layer only)
{
	size_t wrong = count_wrong_of_driver(name, remedy, only, NULL);
	const struct rna_driver *driver;

	for (size_t at = 0; (driver = rna_driver_next(&at));)
		wrong += count_wrong_of_driver(name, remedy, only, driver);
	return wrong;
}

static void test_no_remedy_names_what_its_place_lacks(void **state)
{
	const char *phrase;
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < RNA_RULE_COUNT; i++)
		wrong += count_wrong_anywhere(rna_rules[i]->name, rna_rules[i]->remedy,
					      rna_rules[i]->link_layer);
	for (size_t i = 0; i < rna_log_pattern_count; i++)
		if (rna_log_patterns[i].remedy)
			wrong += count_wrong_anywhere(rna_log_patterns[i].name,
						      rna_log_patterns[i].remedy,
						      strcmp(rna_log_patterns[i].driver,
							     "ib_ipoib") == 0
							      ? RNA_LINK_LAYER_INFINIBAND
							      : RNA_LINK_LAYER_UNKNOWN);
	for (size_t at = 0; (phrase = rna_remedy_next_phrase(&at));)
		wrong += count_wrong_anywhere(phrase, phrase,
					      strcmp(phrase, "{guids}") == 0
						      ? RNA_LINK_LAYER_INFINIBAND
						      : RNA_LINK_LAYER_UNKNOWN);
	assert_int_equal(wrong, 0);
}

static void test_remedies_are_sentences(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_RULE_COUNT; i++) {
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

		rna_remedy_write(rna_rules[i]->remedy, NULL, &text);
		assert_int_equal(text.data[text.len - 1], '.');
	}
}

/* The test above would find them. */
static void test_wrong_remedies_are_found(void **state)
{
	(void)state;
	assert_true(count_wrong_anywhere(NULL, "Run: mlxfwreset -d {pci} reset.",
					 RNA_LINK_LAYER_UNKNOWN) > 0);
	assert_true(count_wrong_anywhere(NULL, "Replace the cable of {object}.",
					 RNA_LINK_LAYER_UNKNOWN) > 0);
	assert_true(count_wrong_anywhere(NULL, "Run: sminfo.", RNA_LINK_LAYER_UNKNOWN) > 0);
	assert_true(count_wrong_anywhere(NULL, "{unheard-of}", RNA_LINK_LAYER_UNKNOWN) > 0);
	assert_int_equal(count_wrong_anywhere(NULL, "{provider}Replace the cable of {object}.",
					      RNA_LINK_LAYER_UNKNOWN),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_filled_in),
		cmocka_unit_test(test_phrases_depend_on_the_place),
		cmocka_unit_test(test_the_node_says_where_it_is),
		cmocka_unit_test(test_functions_and_drivers_say_it),
		cmocka_unit_test(test_no_remedy_names_what_its_place_lacks),
		cmocka_unit_test(test_remedies_are_sentences),
		cmocka_unit_test(test_wrong_remedies_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
