// SPDX-License-Identifier: Apache-2.0
/* agent/core/gid: GIDs as text, what they say, and tables that change. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/gid.h"

#define LINK_LOCAL "fe80:0000:0000:0000:ba3f:d2ff:fe03:1f2a"
#define MAPPED     "0000:0000:0000:0000:0000:ffff:0a00:01ff"
#define GLOBAL     "2001:0db8:0000:0000:0000:0000:0000:0001"
#define ZERO       "0000:0000:0000:0000:0000:0000:0000:0000"

static struct rna_gid gid_of(const char *text)
{
	struct rna_gid gid;

	assert_int_equal(rna_gid_parse(text, &gid), 0);
	return gid;
}

static void text_is_read_and_written(void **state)
{
	static const char *const texts[] = {LINK_LOCAL, MAPPED, GLOBAL, ZERO};
	char written[RNA_GID_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++) {
		struct rna_gid gid = gid_of(texts[i]);

		rna_gid_format(&gid, written);
		assert_string_equal(written, texts[i]);
	}
	assert_int_equal(gid_of("FE80:0000:0000:0000:BA3F:D2FF:FE03:1F2A").bytes[8], 0xba);
}

static void odd_text_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"fe80",
		"fe80::1",
		LINK_LOCAL ":",
		LINK_LOCAL " ",
		LINK_LOCAL "0",
		"fe80:0000:0000:0000:ba3f:d2ff:fe03:1f2",
		"fe80:0000:0000:0000:ba3f:d2ff:fe03:1f2g",
		"fe80.0000:0000:0000:ba3f:d2ff:fe03:1f2a",
		"fe800:000:0000:0000:ba3f:d2ff:fe03:1f2a",
		"0x80:0000:0000:0000:ba3f:d2ff:fe03:1f2a",
	};
	struct rna_gid gid = {{0x55}};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++)
		assert_int_equal(rna_gid_parse(texts[i], &gid), -EBADMSG);
	assert_int_equal(gid.bytes[0], 0x55);
}

static void check_meaning(const char *text, bool link_local, const char *ipv4)
{
	struct rna_gid gid = gid_of(text);
	char written[RNA_IPV4_TEXT_MAX] = "untouched";

	assert_int_equal(rna_gid_is_link_local(&gid), link_local);
	assert_int_equal(rna_gid_family(&gid), ipv4 ? RNA_GID_IPV4 : RNA_GID_IPV6);
	assert_int_equal(rna_gid_ipv4(&gid, written), ipv4 != NULL);
	assert_string_equal(written, ipv4 ? ipv4 : "untouched");
}

static void the_meaning_is_in_the_prefix(void **state)
{
	(void)state;
	check_meaning(LINK_LOCAL, true, NULL);
	check_meaning("febf:ffff:0000:0000:0000:0000:0000:0001", true, NULL);
	check_meaning("fec0:0000:0000:0000:0000:0000:0000:0001", false, NULL);
	check_meaning(GLOBAL, false, NULL);
	check_meaning(MAPPED, false, "10.0.1.255");
	check_meaning("0000:0000:0000:0000:0000:ffff:ffff:ffff", false, "255.255.255.255");
	check_meaning("0000:0000:0000:0000:0000:0000:0a00:0101", false, NULL); /* compatible */
	check_meaning("0000:0000:0000:0001:0000:ffff:0a00:0101", false, NULL);
	assert_true(rna_gid_is_zero(&(struct rna_gid){{0}}));
	assert_false(rna_gid_is_zero(&(struct rna_gid){{[15] = 1}}));
}

static void names_are_stable(void **state)
{
	(void)state;
	assert_string_equal(rna_gid_type_name(RNA_GID_TYPE_IB), "IB");
	assert_string_equal(rna_gid_type_name(RNA_GID_TYPE_ROCE_V1), "RoCE v1");
	assert_string_equal(rna_gid_type_name(RNA_GID_TYPE_ROCE_V2), "RoCE v2");
	assert_string_equal(rna_gid_type_name(RNA_GID_TYPE_UNKNOWN), "unknown");
	assert_string_equal(rna_gid_family_name(RNA_GID_IPV4), "ipv4");
	assert_string_equal(rna_gid_family_name(RNA_GID_IPV6), "ipv6");
}

/* -- Tables: a letter is an address, its place in the text the index, '.' an empty one. -----------
 */

enum { TABLE_MAX = 8 };

struct table {
	struct rna_gid_entry entries[TABLE_MAX];
	struct rna_port_gids port;
};

static void set_table(struct table *table, const char *text)
{
	*table = (struct table){.port = {.number = 1, .entries = table->entries}};
	for (unsigned i = 0; text[i]; i++)
		if (text[i] != '.')
			table->entries[table->port.count++] = (struct rna_gid_entry){
				.index = i,
				.gid = {{[15] = (uint8_t)text[i]}},
				.type = RNA_GID_TYPE_ROCE_V2,
				.netdev = "eth0",
			};
}

/* The changes after a row of tables, "ab|a." and so on. */
static uint64_t changes_of(const char *history)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	struct table old = {.port = {.number = 1}}, now;
	bool first = true;

	while (*history) {
		size_t len = strcspn(history, "|");
		char text[TABLE_MAX + 1] = "";

		memcpy(text, history, len);
		history += len + (history[len] == '|');
		set_table(&now, text);
		if (!first)
			assert_int_equal(rna_port_gids_follow(&now.port, &old.port, arena), 0);
		first = false;
		old = now;
		old.port.entries = old.entries;
	}
	return old.port.changes;
}

static void indexes_are_followed(void **state)
{
	(void)state;
	assert_int_equal(changes_of("ab"), 0);
	assert_int_equal(changes_of("ab|ab"), 0);
	assert_int_equal(changes_of("ab|abc"), 0);    /* a new address */
	assert_int_equal(changes_of("abc|ab"), 0);    /* one that goes */
	assert_int_equal(changes_of("ab|ac"), 1);     /* an index with another GID */
	assert_int_equal(changes_of("ab|a.b"), 1);    /* a GID with another index */
	assert_int_equal(changes_of("ab|.a"), 1);     /* both at once count once */
	assert_int_equal(changes_of("ab|ba"), 2);     /* two indexes */
	assert_int_equal(changes_of("ab|a.|ab"), 0);  /* back at its place */
	assert_int_equal(changes_of("ab|a.|a.b"), 1); /* back at another one */
	assert_int_equal(changes_of("ab|a.|ac"), 1);  /* another at its place, later */
	assert_int_equal(changes_of("ab|..|..|ba"), 2);
	assert_int_equal(changes_of("ab|a.b|ab"), 2); /* there and back */
	assert_int_equal(changes_of("ab|ac|ac|ad"), 2);
}

/* What the kernel did not say for once is not what it would have said. */
static void a_type_that_is_unknown_is_no_change(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	struct table known, unknown;

	(void)state;
	set_table(&known, "ab");
	set_table(&unknown, "ac");
	unknown.entries[0].type = unknown.entries[1].type = RNA_GID_TYPE_UNKNOWN;
	assert_int_equal(rna_port_gids_follow(&unknown.port, &known.port, arena), 0);
	assert_int_equal(unknown.port.changes, 1); /* the other GID is one */
	set_table(&known, "ac");
	assert_int_equal(rna_port_gids_follow(&known.port, &unknown.port, arena), 0);
	assert_int_equal(known.port.changes, 1);
}

/* VLANs have the MAC address of their parent, and with it its link-local GID. */
static void the_interface_belongs_to_an_address(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct table old, now;

	(void)state;
	set_table(&old, "a");
	set_table(&now, "aa");
	now.entries[1].netdev = "eth0.100";
	assert_int_equal(rna_port_gids_follow(&now.port, &old.port, arena), 0);
	assert_int_equal(now.port.changes, 0);
}

static void the_type_belongs_to_a_gid(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct table old, now;
	struct rna_gids a = {.port_count = 1, .ports = &old.port};
	struct rna_gids b = {.port_count = 1, .ports = &now.port};

	(void)state;
	set_table(&old, "ab");
	set_table(&now, "ab");
	assert_true(rna_gids_same_entries(&a, &b));
	now.entries[1].type = RNA_GID_TYPE_ROCE_V1;
	assert_false(rna_gids_same_entries(&a, &b));
	assert_int_equal(rna_port_gids_follow(&now.port, &old.port, arena), 0);
	assert_int_equal(now.port.changes, 1);
	set_table(&now, "ab");
	now.entries[1].netdev = NULL;
	assert_false(rna_gids_same_entries(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_read_and_written),
		cmocka_unit_test(odd_text_is_refused),
		cmocka_unit_test(the_meaning_is_in_the_prefix),
		cmocka_unit_test(names_are_stable),
		cmocka_unit_test(indexes_are_followed),
		cmocka_unit_test(a_type_that_is_unknown_is_no_change),
		cmocka_unit_test(the_interface_belongs_to_an_address),
		cmocka_unit_test(the_type_belongs_to_a_gid),
	};

	return cmocka_run_group_tests_name("gid", tests, NULL, NULL);
}
