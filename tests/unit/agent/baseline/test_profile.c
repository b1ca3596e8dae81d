// SPDX-License-Identifier: Apache-2.0
/* agent/baseline: profiles from and to text, their mistakes, and the ones that are shipped. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "baseline/profile_rows.h"

#define HEAD      "version: 1\nprofiles:\n  - name: a\n"
#define MATCH     "    match: {gpus: 8}\n"
#define BEGINNING HEAD MATCH
#define DEVICES   BEGINNING "    devices:\n      - model: MT4129\n"

static struct rna_profiles *read_text(const char *text)
{
	struct rna_profiles *profiles = NULL;
	struct rna_error error = {0};
	int status = rna_profiles_parse("file", text, strlen(text), &profiles, NULL, &error);

	if (status < 0)
		fail_msg("%s", error.text);
	return profiles;
}

static void assert_mistake(const char *text, const char *wanted)
{
	struct rna_profiles *profiles = NULL;
	struct rna_mistakes rest;
	struct rna_error error = {0};

	if (rna_profiles_parse("file", text, strlen(text), &profiles, &rest, &error) == 0)
		fail_msg("no mistake in: %s", text);
	if (!strstr(error.text, wanted))
		fail_msg("\"%s\" does not have \"%s\"", error.text, wanted);
	assert_int_equal(rest.count, 0);
	assert_null(profiles);
}

/* -- All keys ---------------------------------------------------------------------------------- */

/* As rna_profile_write() writes it. */
static const char whole[] = "version: 1\n"
			    "profiles:\n"
			    "  - name: hgx-h100-ib\n"
			    "    source: \"https://example.com/a?b=\\\"c\\\"\"\n"
			    "    match:\n"
			    "      vendor: \"NVIDIA\"\n"
			    "      product: \"DGXH100*\"\n"
			    "      board: \"DGXH100\"\n"
			    "      asset_tag: \"OracleCloud.com\"\n"
			    "      gpus: 8\n"
			    "      gpu_model: [\"10de:2330\", \"10de:2335\"]\n"
			    "      nics: {\"MT4129\": 8, \"8086:1592\": \">= 1\"}\n"
			    "      label: \"node.kubernetes.io/instance-type=ND96\"\n"
			    "    node:\n"
			    "      gpus: 8\n"
			    "      gpus_per_nic: 1\n"
			    "      modules: [\"mana\", \"nvidia_peermem|nv_peer_mem\"]\n"
			    "      rails: [\"0000:18:00.0\", \"10000:40:00.1\"]\n"
			    "      acs: off\n"
			    "      iommu: off\n"
			    "      cpu_governor: \"performance\"\n"
			    "    devices:\n"
			    "      - model: \"MT4129\"\n"
			    "        name: \"mlx5_*\"\n"
			    "        called: \"mlx5_*\"\n"
			    "        count: 8\n"
			    "        ports_up: 8\n"
			    "        link_layer: InfiniBand\n"
			    "        rate: 400G\n"
			    "        lanes: 4\n"
			    "        pcie_generation: 5\n"
			    "        pcie_lanes: 16\n"
			    "        mtu: 4096\n"
			    "        netdev_mtu: 9000\n"
			    "        firmware: \">= 28.39.1002\"\n"
			    "        driver_version: \">= 24.10-0.7.0\"\n"
			    "        pkeys: [0x8001, 0x7fff]\n"
			    "        lid: true\n"
			    "        virtual_functions: 0\n"
			    "        max_read_request: 4096\n"
			    "        module_vendors: [\"Mellanox\", \"NVIDIA*\"]\n"
			    "        module_part_numbers: [\"MMA4Z00-NS\"]\n"
			    "      - name: \"ib[0-3]\"\n"
			    "        rate: 2.5G\n";

static void test_every_key_is_read_and_written(void **state)
{
	RNA_CLEANUP(rna_profiles_free_p) struct rna_profiles *profiles = read_text(whole);
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_profile *profile = &profiles->items[0];
	const struct rna_profile_model *gpus = profile->match.gpu_models.items;
	const struct rna_profile_nics *nics = profile->match.nics.items;
	const struct rna_profile_device *device = &profile->devices[0];

	(void)state;
	assert_int_equal(profiles->count, 1);
	assert_int_equal(profile->line, 3);
	assert_string_equal(profile->source, "https://example.com/a?b=\"c\"");
	assert_int_equal(gpus[1].vendor_id, 0x10de);
	assert_int_equal(gpus[1].device_id, 0x2335);
	assert_int_equal(nics[0].model.vendor_id, 0x15b3);
	assert_int_equal(nics[0].model.device_id, 0x1021); /* 4129 */
	assert_int_equal(nics[0].count, 8);
	assert_false(nics[0].at_least);
	assert_int_equal(nics[1].count, 1);
	assert_true(nics[1].at_least);
	assert_int_equal(device->rate.number, 50000000000);
	assert_int_equal(profile->devices[1].rate.number, 312500000);
	assert_int_equal(device->link_layer.number, RNA_LINK_LAYER_INFINIBAND);
	assert_int_equal(((const uint16_t *)device->pkeys.items)[1], 0x7fff);
	assert_true(rna_value_is_known(device->virtual_functions));
	assert_false(rna_value_is_known(profile->devices[1].count));
	rna_profile_write(profile, &text);
	assert_string_equal(text.data, whole);
}

/* What a site may not demand stands in a draft, but is not in force. */
static void test_proposals_of_a_draft_are_comments(void **state)
{
	RNA_CLEANUP(rna_profiles_free_p) struct rna_profiles *profiles = read_text(whole);
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_profile draft = profiles->items[0];
	struct rna_profiles *again;

	(void)state;
	draft.draft = true;
	rna_profile_write(&draft, &text);
	assert_non_null(strstr(text.data,
			       "\n        # module_vendors: [\"Mellanox\", \"NVIDIA*\"]\n"
			       "        # module_part_numbers: [\"MMA4Z00-NS\"]\n"));
	assert_non_null(strstr(text.data, "\n        driver_version: "));
	again = read_text(text.data);
	assert_int_equal(again->items[0].devices[0].module_vendors.count, 0);
	assert_string_equal(again->items[0].devices[0].driver_version, ">= 24.10-0.7.0");
	(void)rna_profiles_free(again);
}

/* A key that the text above lacks would be untested. */
static void test_no_key_is_forgotten(void **state)
{
	static const struct rna_schema *const tables[] = {&rna_profile_file_rows,
							  &rna_profile_match_rows,
							  &rna_profile_node_rows,
							  &rna_profile_device_rows};

	(void)state;
	for (size_t t = 0; t < RNA_ARRAY_SIZE(tables); t++)
		for (size_t i = 0; i < tables[t]->count; i++) {
			char key[64];

			(void)snprintf(key, sizeof(key), " %s: ", tables[t]->rows[i].key);
			if (!tables[t]->rows[i].keys && !strstr(whole, key))
				fail_msg("no test has%s", key);
		}
}

/* -- Mistakes ---------------------------------------------------------------------------------- */

static void test_mistakes_name_place_and_what_is_allowed(void **state)
{
	static const struct {
		const char *text, *wanted;
	} mistakes[] = {
		{"", "file:1: expected \"version: 1\" and \"profiles:\""},
		{"[]", "file:1: expected"},
		{"profiles: []", "file:1: version: missing; the file begins with \"version: 1\""},
		{"version: one", "file:1: version: allowed: 1"},
		{"version: 2\nprofile: x", "file:1: version: this agent reads version 1 and not 2; "
					   "upgrade it"},
		{"version: 1", "file:1: profiles: missing"},
		{"version: 1\nprofiles: []", "file:2: profiles: 0 entries; 1 to 256 are allowed"},
		{"version: 1\nprofiles: {a: b}",
		 "file:2: profiles: expected a list, found a section"},
		{HEAD, "file:3: match: missing or empty"},
		{HEAD "    match: {}\n", "file:4: match: missing or empty"},
		{HEAD "    match: {gpus: many}\n",
		 "file:4: gpus: \"many\" is not allowed; allowed: 0 to 1024"},
		{HEAD "    match: {product: \"*\"}\n", "that does not fit everything"},
		{HEAD "    match: {gpu_model: nvidia}\n",
		 "the PCI vendor and device such as \"15b3:1021\""},
		{HEAD "    match: {nics: {MT4129: few}}\n",
		 "file:4: nics: \"few\" is not allowed; allowed: a model such as MT4129"},
		{HEAD "    match: {label: \"a b\"}\n", "KEY or KEY=VALUE"},
		{"version: 1\nprofiles:\n  - match: {gpus: 8}\n",
		 "file:3: the profile has no name"},
		{"version: 1\nprofiles:\n  - name: A\n    match: {gpus: 8}\n",
		 "file:3: name: \"A\" is not allowed; allowed: at most 63 characters"},
		{BEGINNING "  - name: a\n" MATCH,
		 "file:5: name: a is used twice, first by the profile on line 3"},
		{BEGINNING "    nodes: {gpus: 8}\n", "file:5: unknown key nodes; did you mean "
						     "node? Allowed: name, source, match, node"},
		{BEGINNING "    node: {acs: no}\n",
		 "file:5: acs: \"no\" is not allowed; allowed: off, on"},
		{BEGINNING "    node: {modules: [nvidia]}\n",
		 "file:5: modules: \"nvidia\" is not allowed; allowed: ib_core, ib_uverbs"},
		{BEGINNING "    node: {rails: [mlx5_0]}\n",
		 "file:5: rails: \"mlx5_0\" is not allowed; allowed: PCI addresses such as"},
		{BEGINNING "    node: {rails: [\"0000:3B:00.0\"]}\n", "in lower case"},
		{BEGINNING "    node: {modules: []}\n",
		 "the list has 0 entries; 1 to 32 are allowed"},
		{BEGINNING "    devices: {model: a}\n", "file:5: devices: expected a list"},
		{BEGINNING "    devices: [{count: 8}]\n", "has neither model nor name"},
		{DEVICES "        rate: 400\n", "file:7: rate: \"400\" is not allowed; allowed: "
						"gigabits per second with the unit G, "
						"for example 400G"},
		{DEVICES "        rate: 400Gbps\n", "allowed: gigabits per second"},
		{DEVICES "        rate: 0G\n", "allowed: gigabits per second"},
		{DEVICES "        mtu: 9000\n", "allowed: 256, 512, 1024, 2048 or 4096"},
		{DEVICES "        pkeys: [32769]\n", "such as 0x8001"},
		{DEVICES "        firmware: \">=28\"\n", "allowed: a version such as"},
		{DEVICES "        driver_version: \"> 24\"\n",
		 "driver_version: \"> 24\" is not allowed; allowed: a version such as "
		 "\"24.10-0.7.0\", or \">= 24.10\""},
		{DEVICES "        module_vendors: [\"*\"]\n",
		 "file:7: module_vendors: \"*\" is not allowed; allowed: a glob"},
		{DEVICES "        link_layer: infiniband\n", "allowed: InfiniBand, Ethernet"},
		{DEVICES "        count: 8\n        count: 9\n",
		 "file:8: count is specified twice, first on line 7"},
		{DEVICES "        speed: 400G\n",
		 "file:7: unknown key speed; allowed: model, name"},
		{DEVICES "        rate: [400G]\n", "rate: expected a single value, found a list"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(mistakes); i++)
		assert_mistake(mistakes[i].text, mistakes[i].wanted);
}

static void test_reading_continues_after_a_mistake(void **state)
{
	struct rna_profiles *profiles = NULL;
	struct rna_mistakes rest;
	struct rna_error error = {0};
	static const char text[] = DEVICES "        rate: 400\n        mtu: 9000\n        lid: 1\n";

	(void)state;
	assert_int_equal(rna_profiles_parse("file", text, strlen(text), &profiles, &rest, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "file:7: rate"));
	assert_int_equal(rest.count, 2);
	assert_non_null(strstr(rest.errors[1].text, "file:9: lid"));
	assert_false(rest.more);
}

/* -- Bounds ------------------------------------------------------------------------------------ */

static void test_sizes_are_limited(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	(void)state;
	rna_strbuf_puts(&text, DEVICES);
	for (size_t i = 1; i <= RNA_PROFILE_DEVICES_MAX; i++)
		rna_strbuf_puts(&text, "      - model: MT4129\n");
	assert_mistake(text.data, "devices: 65 entries; at most 64 are allowed");
	text.len = 0;
	rna_strbuf_puts(&text, BEGINNING);
	for (unsigned i = 1; i <= RNA_PROFILES_MAX; i++)
		rna_strbuf_printf(&text, "  - name: a%u\n" MATCH, i);
	assert_mistake(text.data, "profiles: 257 entries; 1 to 256 are allowed");
	text.len = 0;
	while (text.len <= RNA_PROFILE_BYTES_MAX)
		rna_strbuf_puts(&text, "# nothing but a comment\n");
	assert_mistake(text.data, "file: larger than 256 KiB");
}

static void test_a_missing_file_is_an_error(void **state)
{
	struct rna_profiles *profiles = NULL;
	struct rna_mistakes rest = {.count = 7};
	struct rna_error error = {0};

	(void)state;
	assert_int_equal(rna_profiles_read("/nowhere/profile.yaml", &profiles, &rest, &error),
			 -ENOENT);
	assert_non_null(strstr(error.text, "/nowhere/profile.yaml"));
	assert_int_equal(rest.count, 0);
}

/* -- Questions --------------------------------------------------------------------------------- */

static void test_models(void **state)
{
	struct rna_profile_model model;

	(void)state;
	assert_true(rna_profile_model_parse("MT4129", &model));
	assert_true(rna_profile_model_fits(&model, 0x15b3, 0x1021, NULL));
	assert_false(rna_profile_model_fits(&model, 0x15b3, 0x101b, "MT4129"));
	assert_true(rna_profile_model_parse("1d0f:efa2", &model));
	assert_true(rna_profile_model_fits(&model, 0x1d0f, 0xefa2, NULL));
	assert_true(rna_profile_model_parse("BCM57*", &model));
	assert_true(rna_profile_model_fits(&model, 0x14e4, 0x1750, "BCM57508"));
	assert_false(rna_profile_model_fits(&model, 0x14e4, 0x1750, NULL));
	assert_false(rna_profile_model_parse("*", &model));
	assert_false(rna_profile_model_parse("15b3:10211", &model));
	assert_false(rna_profile_model_parse("15b3:", &model));
	assert_false(rna_profile_model_parse(":1021", &model));
	assert_false(rna_profile_model_parse("0000:1021", &model));
}

static void test_versions(void **state)
{
	(void)state;
	assert_true(rna_profile_version_fits("28.39.1002", "28.39.1002"));
	assert_false(rna_profile_version_fits("28.39.1002", "28.39.1003"));
	assert_true(rna_profile_version_fits(">= 28.39.1002", "28.39.1002"));
	assert_true(rna_profile_version_fits(">= 28.9.2000", "28.39.1002"));
	assert_true(rna_profile_version_fits(">= 28.39", "28.39.1002"));
	assert_false(rna_profile_version_fits(">= 28.39.1002", "28.38.9999"));
	assert_false(rna_profile_version_fits(">= 28.39.1002", "28.39"));
	assert_false(rna_profile_version_fits(">= 28.39.1002", "unknown"));
	assert_true(rna_profile_version_fits("24.10-0.7.0", "24.10-0.7.0"));
	assert_true(rna_profile_version_fits(">= 24.10", "24.10-0.7.0"));
	assert_true(rna_profile_version_fits(">= 24.10-0.7.0", "24.10-1.1.4"));
	assert_false(rna_profile_version_fits(">= 24.10-1.1.4", "24.10-0.7.0"));
	assert_true(rna_profile_version_fits(">= 5.8-3.0.7", "24.10-0.7.0"));
	assert_false(rna_profile_version_fits(">= 24.10", "5.0-0"));
}

/* -- The shipped ones -------------------------------------------------------------------------- */

static void test_shipped_profiles_are_valid(void **state)
{
	RNA_CLEANUP(rna_profiles_free_p) struct rna_profiles *shipped = NULL;
	struct rna_error error = {0};

	(void)state;
	if (rna_profiles_shipped(&shipped, &error) < 0)
		fail_msg("%s", error.text);
	for (size_t i = 0; i < shipped->count; i++) {
		if (!shipped->items[i].source)
			fail_msg("%s names no document", shipped->items[i].name);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(shipped->items[i].name, shipped->items[j].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_key_is_read_and_written),
		cmocka_unit_test(test_proposals_of_a_draft_are_comments),
		cmocka_unit_test(test_no_key_is_forgotten),
		cmocka_unit_test(test_mistakes_name_place_and_what_is_allowed),
		cmocka_unit_test(test_reading_continues_after_a_mistake),
		cmocka_unit_test(test_sizes_are_limited),
		cmocka_unit_test(test_a_missing_file_is_an_error),
		cmocka_unit_test(test_models),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_shipped_profiles_are_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
