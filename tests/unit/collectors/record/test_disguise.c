// SPDX-License-Identifier: Apache-2.0
/* collectors/record/disguise.c: what stands for what, and that relations stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/arena.h"

#include "record/disguise.h"

struct fixture {
	struct rna_disguise *disguise;
	struct rna_arena *arena;
};

static int set_up(void **state)
{
	static struct fixture fixture;

	fixture.disguise = rna_disguise_new();
	fixture.arena = rna_arena_new(1024);
	*state = &fixture;
	return fixture.disguise && fixture.arena ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	fixture->disguise = rna_disguise_free(fixture->disguise);
	fixture->arena = rna_arena_free(fixture->arena);
	return 0;
}

struct step {
	enum rna_disguise_kind kind;
	const char *text, *expected;
};

static void check(void **state, const struct step *steps, size_t count)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < count; i++)
		assert_string_equal(rna_disguise(fixture->disguise, steps[i].kind, steps[i].text,
						 fixture->arena),
				    steps[i].expected);
}

#define CHECK(state, ...)                                                                          \
	check(state, (const struct step[]){__VA_ARGS__},                                           \
	      RNA_ARRAY_SIZE(((const struct step[]){__VA_ARGS__})))

static void test_one_card_stays_one_in_every_form(void **state)
{
	CHECK(state, {RNA_DISGUISE_ADDRESS, "b8:ce:f6:0a:aa:bc", "b8:ce:f6:00:f0:01"},
	      {RNA_DISGUISE_GUID, "b8ce:f603:000a:aabc", "b8ce:f603:0000:f001"},
	      {RNA_DISGUISE_GUID, "bace:f6ff:fe0a:aabc", "bace:f6ff:fe00:f001"},
	      {RNA_DISGUISE_GID, "fe80:0000:0000:0000:bace:f6ff:fe0a:aabc",
	       "fe80:0000:0000:0000:bace:f6ff:fe00:f001"},
	      {RNA_DISGUISE_GID, "fe80:0000:0000:0000:b8ce:f603:000a:aabc",
	       "fe80:0000:0000:0000:b8ce:f603:0000:f001"},
	      {RNA_DISGUISE_ADDRESS, "00:00:10:49:fe:80:00:00:00:00:00:00:b8:ce:f6:03:00:0a:aa:bc",
	       "00:00:10:49:fe:80:00:00:00:00:00:00:b8:ce:f6:03:00:00:f0:01"},
	      {RNA_DISGUISE_NAME, "sys/class/infiniband/rocexb8cef603000aaabc",
	       "sys/class/infiniband/rocexb8cef6030000f001"},
	      {RNA_DISGUISE_NAME, "enxb8cef60aaabc", "enxb8cef600f001"},
	      {RNA_DISGUISE_ADDRESS, "b8:ce:f6:0a:aa:bd", "b8:ce:f6:00:f0:02"});
}

static void test_vendors_stay_only_where_they_are_vendors(void **state)
{
	CHECK(state, {RNA_DISGUISE_ADDRESS, "52:54:00:12:34:56", "02:00:00:00:f0:01"},
	      {RNA_DISGUISE_GUID, "5054:00ff:fe12:3456", "0000:00ff:fe00:f001"},
	      {RNA_DISGUISE_GUID, "a1b2:c3d4:e5f6:0718", "0200:0000:0000:f002"},
	      {RNA_DISGUISE_GUID, "a1b2:c3d4:e5f6:0718", "0200:0000:0000:f002"});
}

static void test_addresses_and_prefixes(void **state)
{
	CHECK(state,
	      {RNA_DISGUISE_GID, "0000:0000:0000:0000:0000:ffff:0a00:0101",
	       "0000:0000:0000:0000:0000:ffff:0afa:f001"},
	      {RNA_DISGUISE_GID, "2a02:1234:5678:9abc:bace:f6ff:fe0a:aabc",
	       "3fff:0000:0000:f001:bace:f6ff:fe00:f001"},
	      {RNA_DISGUISE_GID, "2a02:1234:5678:9abc:bace:f6ff:fe0a:aabd",
	       "3fff:0000:0000:f001:bace:f6ff:fe00:f002"},
	      {RNA_DISGUISE_GID, "0000:0000:0000:0000:0000:ffff:0a00:0101",
	       "0000:0000:0000:0000:0000:ffff:0afa:f001"});
}

/* As many bits as stand-ins share, but no others: 172.16/13 and 172.24/13 are two planes. */
static void test_networks_stay(void **state)
{
#define IPV4 "0000:0000:0000:0000:0000:ffff:"
	CHECK(state, {RNA_DISGUISE_GID, IPV4 "ac11:4d02", IPV4 "ac1a:f001"},
	      {RNA_DISGUISE_GID, IPV4 "ac19:4d02", IPV4 "ac12:f001"},
	      {RNA_DISGUISE_GID, IPV4 "ac11:4e02", IPV4 "ac1a:f201"},
	      {RNA_DISGUISE_GID, IPV4 "ac19:4e02", IPV4 "ac12:f201"},
	      {RNA_DISGUISE_GID, IPV4 "ac11:4d03", IPV4 "ac1a:f000"},
	      {RNA_DISGUISE_GID, IPV4 "c0a8:4d03", IPV4 "c0a8:f001"},
	      {RNA_DISGUISE_GID, IPV4 "0a63:4d03", IPV4 "0afa:f001"},
	      {RNA_DISGUISE_GID, IPV4 "6463:4d03", IPV4 "647a:f001"},
	      /* not private */
	      {RNA_DISGUISE_GID, IPV4 "19ab:cdef", IPV4 "f0fa:f001"},
	      {RNA_DISGUISE_GID, IPV4 "1aab:cdef", IPV4 "f1fa:f001"},
	      {RNA_DISGUISE_GID, IPV4 "19ab:cded", IPV4 "f0fa:f003"},
	      {RNA_DISGUISE_GID, IPV4 "ac31:0001", IPV4 "f2fa:f001"},
	      {RNA_DISGUISE_GID, "fd12:3456:789a:0001:0000:0000:0000:0000",
	       "3fff:0000:0000:f001:0000:0000:0000:0000"},
	      {RNA_DISGUISE_GID, "fd12:3456:789a:0002:0000:0000:0000:0000",
	       "3fff:0000:0000:f003:0000:0000:0000:0000"},
	      {RNA_DISGUISE_GID, "fd12:3457:789a:0002:0000:0000:0000:0000",
	       "3fff:0001:0000:f001:0000:0000:0000:0000"});
#undef IPV4
}

/* The last of the groups of the stand-in for 10.1.HIGH.LOW. */
static unsigned long low_half(const struct fixture *fixture, unsigned high, unsigned low)
{
	char text[] = "0000:0000:0000:0000:0000:ffff:0a01:0000";

	(void)snprintf(strrchr(text, ':') + 1, 5, "%02x%02x", high, low);
	return strtoul(strrchr(rna_disguise(fixture->disguise, RNA_DISGUISE_GID, text,
					    fixture->arena),
			       ':') +
			       1,
		       NULL, 16);
}

/* More than there is room for at first. */
static void test_many_addresses_keep_their_relations(void **state)
{
	const struct fixture *fixture = *state;
	unsigned long first[2];

	for (unsigned i = 0; i < 2; i++)
		first[i] = low_half(fixture, i, 0) >> 8;
	assert_int_not_equal(first[0], first[1]);
	for (unsigned i = 1; i < 200; i++)
		assert_int_equal(low_half(fixture, i % 2, i) >> 8, first[i % 2]);
}

static void test_texts_have_one_stand_in_each(void **state)
{
	CHECK(state, {RNA_DISGUISE_TEXT, "node17 mlx5_0", "text 1"},
	      {RNA_DISGUISE_TEXT, "node17 mlx5_1", "text 2"},
	      {RNA_DISGUISE_TEXT, "node17 mlx5_0", "text 1"});
}

static void test_what_says_nothing_stays(void **state)
{
	CHECK(state, {RNA_DISGUISE_NOTHING, "b8ce:f603:000a:aabc", "b8ce:f603:000a:aabc"},
	      {RNA_DISGUISE_TEXT, "", ""},
	      {RNA_DISGUISE_GUID, "0000:0000:0000:0000", "0000:0000:0000:0000"},
	      {RNA_DISGUISE_ADDRESS, "00:00:00:00:00:00", "00:00:00:00:00:00"},
	      {RNA_DISGUISE_NAME, "sys/devices/pci0000:3a/0000:3b:00.0/mlx5_core.sf.4",
	       "sys/devices/pci0000:3a/0000:3b:00.0/mlx5_core.sf.4"},
	      {RNA_DISGUISE_NAME, "abcdefabcdefa", "abcdefabcdefa"});
}

static void test_addresses_are_found_in_any_text(void **state)
{
	CHECK(state,
	      {RNA_DISGUISE_ADDRESSES, "peer b8:ce:f6:0a:aa:bc, b8ce:f603:000a:aabc",
	       "peer b8:ce:f6:00:f0:01, b8ce:f603:0000:f001"},
	      {RNA_DISGUISE_ADDRESSES, "b8:ce:f6:0a:aa:bc: up", "b8:ce:f6:00:f0:01: up"},
	      {RNA_DISGUISE_ADDRESSES, "0000:3b:00.0 123456789012\n12:34:56",
	       "0000:3b:00.0 123456789012\n12:34:56"},
	      {RNA_DISGUISE_NAME, "upper_b8:ce:f6:0a:aa:bc/b8cef60aaabc",
	       "upper_b8:ce:f6:00:f0:01/b8cef600f001"});
}

static void test_what_is_no_address_keeps_its_shape_only(void **state)
{
	CHECK(state, {RNA_DISGUISE_GUID, "b8ce:f603:0", "xxxx:xxxx:x"},
	      {RNA_DISGUISE_GUID, "b8cef603000aaabc", "xxxxxxxxxxxxxxxx"},
	      {RNA_DISGUISE_GUID, "b8ce:f603:000a:aabc:", "xxxx:xxxx:xxxx:xxxx:"},
	      {RNA_DISGUISE_ADDRESS, "b8-ce-f6-0a-aa-bc", "xx-xx-xx-xx-xx-xx"});
}

static void test_without_a_disguise_everything_stays(void **state)
{
	struct fixture *fixture = *state;

	assert_string_equal(rna_disguise(NULL, RNA_DISGUISE_TEXT, "node17", fixture->arena),
			    "node17");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(test_one_card_stays_one_in_every_form),
		TEST(test_vendors_stay_only_where_they_are_vendors),
		TEST(test_addresses_and_prefixes),
		TEST(test_networks_stay),
		TEST(test_many_addresses_keep_their_relations),
		TEST(test_texts_have_one_stand_in_each),
		TEST(test_what_says_nothing_stays),
		TEST(test_addresses_are_found_in_any_text),
		TEST(test_what_is_no_address_keeps_its_shape_only),
		TEST(test_without_a_disguise_everything_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
