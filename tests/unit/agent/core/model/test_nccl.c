// SPDX-License-Identifier: Apache-2.0
/*
 * agent/core/nccl: the GID that NCCL uses.
 *
 * The cases are tables of GIDs as texts, a letter for each index from 0 on:
 *
 *	         link-local  IPv4       other IPv4  its VLAN's  IPv6  ULA  bare fe80::  fe80:0:0:1::
 *	RoCE v1  l           f          g           v           s     u    b            -
 *	RoCE v2  L           F          G           V           S     U    B            N
 *
 *	A is IPv4 of a type that could not be read, m IPv4 multicast, M multicast of IPv6; i and R
 *are GIDs of InfiniBand, R with a FLID. "." is an empty entry, "@N" goes on at index N.
 *
 * The environment is given without NCCL_IB_ in front of the names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/nccl.h"

#define V1 RNA_GID_TYPE_ROCE_V1
#define V2 RNA_GID_TYPE_ROCE_V2
#define MAPPED(a)                                                                                  \
	{                                                                                          \
		[10] = 0xff, 0xff, 10, a, 1, 1                                                     \
	}

static const struct {
	char letter;
	struct rna_gid_entry entry;
} kinds[] = {
	{'l', {.gid = {{0xfe, 0x80, [8] = 2, [15] = 1}}, .type = V1}},
	{'L', {.gid = {{0xfe, 0x80, [8] = 2, [15] = 1}}, .type = V2}},
	{'f', {.gid = {MAPPED(0)}, .type = V1}},
	{'F', {.gid = {MAPPED(0)}, .type = V2}},
	{'g', {.gid = {MAPPED(7)}, .type = V1}},
	{'G', {.gid = {MAPPED(7)}, .type = V2}},
	{'v', {.gid = {MAPPED(100)}, .type = V1, .netdev = "eth0.100"}},
	{'V', {.gid = {MAPPED(100)}, .type = V2, .netdev = "eth0.100"}},
	{'s', {.gid = {{0x20, 0x01, 0x0d, 0xb8, [15] = 1}}, .type = V1}},
	{'S', {.gid = {{0x20, 0x01, 0x0d, 0xb8, [15] = 1}}, .type = V2}},
	{'u', {.gid = {{0xfd, 0x12, 0x34, [15] = 1}}, .type = V1}},
	{'U', {.gid = {{0xfd, 0x12, 0x34, [15] = 1}}, .type = V2}},
	{'b', {.gid = {{0xfe, 0x80}}, .type = V1}},
	{'B', {.gid = {{0xfe, 0x80}}, .type = V2}},
	{'N', {.gid = {{0xfe, 0x80, [7] = 1, [15] = 1}}, .type = V2}},
	{'A', {.gid = {MAPPED(0)}, .type = RNA_GID_TYPE_UNKNOWN}},
	{'m', {.gid = {{0xff, 0x0e, [10] = 0xff, 0xff, 239, 1, 1, 1}}, .type = V2}},
	{'M', {.gid = {{0xff, 0x02, [15] = 1}}, .type = V2}},
	{'i', {.gid = {{0xfe, 0x80, [15] = 9}}, .type = RNA_GID_TYPE_IB}},
	{'R', {.gid = {{0xfe, 0xc0, [5] = 7, [15] = 9}}, .type = RNA_GID_TYPE_IB}},
};

/* clang-format off */
static const struct {
	const char *table;
	const char *environment;
	unsigned index;
	const char *why;
} cases[] = {
	/* -- Its own choice -------------------------------------------------------------------- */
	{"lLfF",         "", 3, "as the kernel makes it at boot"},
	{"",             "", 0, "an empty table: 0, whatever is not there"},
	{"l",            "", 0, "link-local only, one version"},
	{"lL",           "", 0, "no address: v1 link-local, silently"},
	{"L",            "", 0, "v2 link-local at 0 is no better, only no worse"},
	{"..lL",         "", 0, "an empty entry 0 stays: nothing behind it is IPv4"},
	{"lLfFgG",       "", 3, "two addresses: the first; a later one of the same version replaces nothing"},
	{"lLgGfF",       "", 3, "first means first in the table, not lowest"},
	{"lL..fF",       "", 5, "the address came back behind a hole"},
	{"lL...F",       "", 5, "a hole in the middle of a pair"},
	{"..lLfF",       "", 5, "link-local came back behind a hole"},
	{"....fF",       "", 5, "link-local is gone"},
	{"lLf",          "", 2, "IPv4 counts more than the version: RoCE v1 of an address"},
	{"lf",           "", 1, "a driver with v1 alone"},
	{"LF",           "", 1, "a driver with v2 alone"},
	{"lLFf",         "", 2, "v2 in front of v1"},
	{"lLfgGF",       "", 4, "v2 of another address, before v2 of the first"},
	{"F",            "", 0, "IPv4 at 0 needs no choice"},
	{"fF",           "", 1, "from v1 to v2 of the same address"},
	{"f.",           "", 0, "v1 alone, with room behind it"},
	{"FG",           "", 0, "what is settled stays"},
	{"lLsSfF",       "", 5, "IPv6 in front of IPv4 is passed over"},
	{"lLfFsS",       "", 3, "IPv6 behind IPv4 too"},
	{"lLsS",         "", 0, "IPv6 only: 0, though index 3 would do"},
	{"lLuU",         "", 0, "ULA only: likewise"},
	{"lLfFlLvV",     "", 3, "a VLAN's entries come behind its parent's"},
	{"lLlLvV",       "", 5, "the address is on the VLAN only: its entry, in the VLAN"},
	{"lLlLvVfF",     "", 5, "the VLAN's address came first: the parent's is not used"},
	{"lLfF.lLvVsS",  "", 3, "a bond and a VLAN on it"},
	{"lLfFgGvV",     "", 3, "several addresses and VLANs: the first"},
	{"lm",           "", 1, "multicast made of IPv4 passes for IPv4"},
	{"lLmfF",        "", 2, "and stands in the way of an address"},
	{"lLM",          "", 0, "multicast of IPv6 does not"},
	{"lLA",          "", 2, "a type that cannot be read, as in a container: taken for its family"},
	{"lLAF",         "", 3, "until one comes that can"},
	{"lL@254fF",     "", 255, "the end of a table of 256"},
	{"lL@1022fF",    "", 1023, "the end of rxe's table of 1024"},
	{"l@1023F",      "", 1023, "1021 empty entries in between"},
	{"lL@70000fF",   "", 70001, "no table is too long"},
	{"l@4294967294fF", "", 4294967295, "not even the longest that can be written"},

	/* -- NCCL_IB_GID_INDEX ----------------------------------------------------------------- */
	{"lLfF",   "GID_INDEX=3",    3, "verbatim"},
	{"lLfF",   "GID_INDEX=0",    0, "0 is a choice, too"},
	{"lLfF",   "GID_INDEX=7",    7, "whatever is there: an empty entry"},
	{"lLfF",   "GID_INDEX=4000", 4000, "or nothing at all: beyond the table"},
	{"lLfF",   "GID_INDEX=-1",   3, "below 0: chosen"},
	{"lLfF",   "GID_INDEX=-7",   3, "any number below 0"},
	{"lLfF",   "GID_INDEX=",     3, "empty is as if unset"},
	{"lLfF",   "GID_INDEX=auto", 0, "an invalid number is 0"},
	{"lLfF",   "GID_INDEX=3,3",  3, "what follows a number is ignored"},
	{"lLfF",   "GID_INDEX=0x2",  2, "C's notation"},
	{"lLfF",   "GID_INDEX=010",  8, "also if that is not intended"},
	{"lLfF",   "GID_INDEX=99999999999999999999", 3, "out of range: the default"},
	{"lLfFsS", "GID_INDEX=5 ADDR_FAMILY=AF_INET", 5, "it overrides all others"},

	/* -- NCCL_IB_ADDR_FAMILY --------------------------------------------------------------- */
	{"lLfFsS", "ADDR_FAMILY=AF_INET6", 5, "IPv6 of v2"},
	{"lLsSuU", "ADDR_FAMILY=AF_INET6", 3, "the first"},
	{"lLuU",   "ADDR_FAMILY=AF_INET6", 3, "ULA is an address like any other"},
	{"lLfF",   "ADDR_FAMILY=AF_INET6", 0, "there is none: v1 link-local"},
	{"lLs",    "ADDR_FAMILY=AF_INET6", 0, "v1 of an address is not: link-local is of the family already"},
	{"LLS",    "ADDR_FAMILY=AF_INET6", 2, "v2 link-local at 0 is not settled for"},
	{"lbBS",   "ADDR_FAMILY=AF_INET6", 3, "fe80:: itself is no address"},
	{"lLN",    "ADDR_FAMILY=AF_INET6", 2, "of fe80::/10 only the first /64 is link-local"},
	{"FS",     "ADDR_FAMILY=AF_INET6", 1, "away from IPv4 at 0"},
	{"F.S",    "ADDR_FAMILY=AF_INET6", 2, "by way of an empty one, which passes for IPv6"},
	{"FG",     "ADDR_FAMILY=AF_INET6", 2, "and with no IPv6 behind it that is where it stays"},
	{"lLfFsS", "ADDR_FAMILY=AF_INET",  3, "the default, in words"},
	{"lLfFsS", "ADDR_FAMILY=ipv6",     3, "another word is as if unset"},
	{"lLfFsS", "ADDR_FAMILY=af_inet6", 3, "small letters too"},

	/* -- NCCL_IB_ADDR_RANGE: F is 10.0.1.1, G 10.7.1.1, V 10.100.1.1, S 2001:db8::1, U fd12:3400::1  */
	{"lLfFgG",   "ADDR_RANGE=10.7.0.0/16",   5, "the address in the range"},
	{"lLfFgGvV", "ADDR_RANGE=10.100.0.0/16", 7, "the VLAN's"},
	{"lLgGfF",   "ADDR_RANGE=10.0.0.0/8",    3, "several are in it: the first"},
	{"lLgGfF",   "ADDR_RANGE=10.0.0.0/13",   3, "10.0.0.0 to 10.7.255.255"},
	{"lLgGfF",   "ADDR_RANGE=10.0.0.0/14",   5, "10.0.0.0 to 10.3.255.255"},
	{"lLgGfF",   "ADDR_RANGE=10.0.1.1/32",   5, "one address"},
	{"lLgGfF",   "ADDR_RANGE=10.0.1.2/32",   0, "none is in it: v1 link-local"},
	{"lLgGfF",   "ADDR_RANGE=10.0.0.0/0",    3, "any"},
	{"lLgGfF",   "ADDR_RANGE=10.0.0.0",      3, "without bits it is ignored"},
	{"lLgGfF",   "ADDR_RANGE=10.0.0.0/33",   3, "with too many as well"},
	{"lLgGfF",   "ADDR_RANGE=10.0.0.0/x",    3, "no number is 0: any"},
	{"lLgGfF",   "ADDR_RANGE=10.0.0.0/-8",   0, "below 0 nothing is in it"},
	{"lLgGfF",   "ADDR_RANGE=10.0.0/16",     3, "no address: ignored"},
	{"lLgGfF",   "ADDR_RANGE=rail0/16",      3, "a name is none"},
	{"lLgGfF",   "ADDR_RANGE=/16",           3, "nor is nothing"},
	{"lLsSfF",   "ADDR_RANGE=2001:db8::/32", 5, "of the other family: ignored"},
	{"FgG",      "ADDR_RANGE=10.7.0.0/16",   0, "what is settled at 0 need not be in it, of the right version"},
	{"lLsSuU",   "ADDR_FAMILY=AF_INET6 ADDR_RANGE=fd12:3400::/24", 5, "IPv6 likewise"},
	{"lLsSuU",   "ADDR_FAMILY=AF_INET6 ADDR_RANGE=fd00::/8",       5, "within a byte"},
	{"lLuUsS",   "ADDR_FAMILY=AF_INET6 ADDR_RANGE=2001:db8::1/128", 5, "one address"},
	{"lLuUsS",   "ADDR_FAMILY=AF_INET6 ADDR_RANGE=2001:db8::/129", 3, "too many bits: ignored"},
	{"lLsSfF",   "ADDR_FAMILY=AF_INET6 ADDR_RANGE=10.0.0.0/8",     3, "of the other family: ignored"},
	{"lLfFm",    "ADDR_RANGE=239.0.0.0/8",   4, "of multicast the IPv4 part is compared"},

	/* -- NCCL_IB_ROCE_VERSION_NUM ---------------------------------------------------------- */
	{"lLfF",  "ROCE_VERSION_NUM=1", 2, "v1, if configured"},
	{"lLFf",  "ROCE_VERSION_NUM=1", 3, "wherever it stands"},
	{"lLFG",  "ROCE_VERSION_NUM=1", 2, "there is none: the first of the family"},
	{"lLfF",  "ROCE_VERSION_NUM=3", 2, "no version: the first of the family"},
	{"lLfF",  "ROCE_VERSION_NUM=v2", 2, "no number: 0, which no version is"},
	{"lLfF",  "ROCE_VERSION_NUM=2", 3, "the default"},
	{"lLfFsS", "ROCE_VERSION_NUM=1 ADDR_FAMILY=AF_INET6", 4, "both"},

	/* -- InfiniBand ------------------------------------------------------------------------ */
	{"i",    "IB", 0, "one GID"},
	{"ii",   "IB", 0, "an alias: no FLID"},
	{"iR",   "IB", 1, "a FLID: routers stand between the subnets"},
	{"i.R",  "IB", 0, "index 2 is not searched"},
	{"i.R",  "IB ROUTABLE_FLID_GID_INDEX=2", 2, "unless told"},
	{"iR",   "IB ROUTABLE_FLID_GID_INDEX=9", 0, "beyond the table"},
	{"iR",   "IB ROUTABLE_FLID_GID_INDEX=-1", 0, "nowhere"},
	{"Ri",   "IB", 0, "a FLID at 0 is used anyway"},
	{"iR",   "IB GID_INDEX=3", 1, "NCCL_IB_GID_INDEX is for RoCE"},
	{"",     "IB", 0, "an empty table"},
};
/* clang-format on */

enum { ENTRIES_MAX = 32 };

struct table {
	struct rna_gid_entry entries[ENTRIES_MAX];
	struct rna_port_gids gids;
};

static void add_entry(struct table *table, char letter, unsigned index)
{
	for (size_t k = 0; k < RNA_ARRAY_SIZE(kinds); k++)
		if (kinds[k].letter == letter) {
			assert_true(table->gids.count < ENTRIES_MAX);
			table->entries[table->gids.count] = kinds[k].entry;
			table->entries[table->gids.count++].index = index;
			return;
		}
	assert_int_equal(letter, '.');
}

static void set_table(struct table *table, const char *text)
{
	unsigned index = 0;

	*table = (struct table){.gids = {.number = 1, .entries = table->entries}};
	for (; *text; text++)
		if (*text == '@') {
			char *end;

			index = (unsigned)strtoul(text + 1, &end, 10);
			text = end - 1;
		} else {
			add_entry(table, *text, index++);
		}
}

/* Takes text apart; its words live in it. *ret_infiniband: is "IB" one of them? */
static struct rna_nccl_settings settings_of(char *text, bool *ret_infiniband)
{
	static const struct {
		const char *name;
		size_t offset;
	} names[] = {
		{"GID_INDEX", offsetof(struct rna_nccl_environment, gid_index)},
		{"ADDR_FAMILY", offsetof(struct rna_nccl_environment, addr_family)},
		{"ADDR_RANGE", offsetof(struct rna_nccl_environment, addr_range)},
		{"ROCE_VERSION_NUM", offsetof(struct rna_nccl_environment, roce_version)},
		{"ROUTABLE_FLID_GID_INDEX", offsetof(struct rna_nccl_environment, flid_index)},
	};
	struct rna_nccl_environment environment = {0};
	size_t known = 0, words = 0;
	char *word, *value;

	*ret_infiniband = false;
	while ((word = strsep(&text, " "))) {
		value = word;
		word = strsep(&value, "=");
		words += *word != '\0';
		if (strcmp(word, "IB") == 0)
			*ret_infiniband = ++known;
		for (size_t i = 0; i < RNA_ARRAY_SIZE(names); i++)
			if (strcmp(word, names[i].name) == 0) {
				const char **member =
					(void *)((char *)&environment + names[i].offset);

				*member = value;
				known++;
			}
	}
	assert_int_equal(known, words);
	return rna_nccl_settings_parse(&environment);
}

static void nccl_uses(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		RNA_FREE char *text = strdup(cases[i].environment);
		struct rna_nccl_settings settings;
		struct table table;
		bool infiniband;
		unsigned index;

		assert_non_null(text);
		settings = settings_of(text, &infiniband);
		set_table(&table, cases[i].table);
		index = rna_nccl_gid_index(&table.gids, infiniband, &settings);
		if (index != cases[i].index)
			fail_msg("\"%s\" %s: %u instead of %u (%s)", cases[i].table,
				 cases[i].environment, index, cases[i].index, cases[i].why);
	}
}

/* Entries vanish one by one, as they do when an interface loses its addresses. */
static void a_table_melts_away(void **state)
{
	static const struct {
		const char *table;
		unsigned index;
	} steps[] = {{"lLfFgGsS", 3}, {"lLf.gGsS", 5}, {"lL..gGsS", 5}, {"lL..g.sS", 4},
		     {"lL....sS", 0}, {"lL", 0},       {"", 0}};
	struct table table;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(steps); i++) {
		set_table(&table, steps[i].table);
		assert_int_equal(rna_nccl_gid_index(&table.gids, false, &RNA_NCCL_STANDARD),
				 steps[i].index);
	}
}

static void nothing_said_is_the_standard(void **state)
{
	const struct rna_nccl_settings standard = RNA_NCCL_STANDARD;
	struct rna_nccl_settings settings =
		rna_nccl_settings_parse(&(struct rna_nccl_environment){0});

	(void)state;
	assert_memory_equal(&settings, &standard, sizeof(settings));
}

/* The number of the port is behind the name; 0: the device or interface as a whole. */
static void lists_select(void **state)
{
	static const struct {
		const char *list, *name;
		unsigned port;
		bool selected;
	} rows[] = {
		{"mlx5_1", "mlx5_1", 1, true},
		{"mlx5_1", "mlx5_10", 1, true},
		{"=mlx5_1", "mlx5_10", 1, false},
		{"=mlx5_1,mlx5_10", "mlx5_10", 1, true},
		{"mlx5_1:1", "mlx5_1", 2, false},
		{"mlx5_1:2", "mlx5_1", 2, true},
		{"mlx5_1:2", "mlx5_1", 0, true},
		{"^mlx5_1", "mlx5_1", 1, false},
		{"^mlx5_1", "mlx5_2", 1, true},
		{"^=mlx5_1", "mlx5_10", 1, true},
		{"", "mlx5_0", 1, true},
		{"^", "mlx5_0", 1, true},
		{",,mlx5_0,,", "mlx5_0", 1, true},
		{",:1", "mlx5_0", 1, true},
		{"ens", "ens1f0", 0, true},
		{"=ens", "ens1f0", 0, false},
		{"^docker,lo", "ens1f0", 0, true},
		{"^docker,lo", "docker0", 0, false},
		{"mlx5_0,mlx5_1", "bnxt_0", 1, false},
		/* with a rail and a plane: an empty port is any */
		{"=mlx5_0::0", "mlx5_0", 1, true},
		{"=mlx5_0::0:1,mlx5_3::1", "mlx5_3", 2, true},
		{"=mlx5_0:,mlx5_3", "mlx5_0", 1, true},
		{"=mlx5_4:1:2:0", "mlx5_4", 1, true},
		{"=mlx5_4:1:2:0", "mlx5_4", 2, false},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++)
		if (rna_nccl_list_selects(rows[i].list, rows[i].name, rows[i].port) !=
		    rows[i].selected)
			fail_msg("%s: %s/%u", rows[i].list, rows[i].name, rows[i].port);
	assert_true(rna_nccl_is_set("1"));
	assert_true(rna_nccl_is_set("0x10"));
	assert_false(rna_nccl_is_set("0"));
	assert_false(rna_nccl_is_set("yes"));
	assert_false(rna_nccl_is_set(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nccl_uses),
		cmocka_unit_test(a_table_melts_away),
		cmocka_unit_test(nothing_said_is_the_standard),
		cmocka_unit_test(lists_select),
	};

	return cmocka_run_group_tests_name("nccl", tests, NULL, NULL);
}
