// SPDX-License-Identifier: Apache-2.0
/* agent/core: arena, string buffer, parsing, errors, libraries. */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rna/base/arena.h"
#include "rna/base/error.h"
#include "rna/base/library.h"
#include "rna/base/parse.h"
#include "rna/base/strbuf.h"
#include "rna/model/device_filter.h"

static void test_arena_memory_is_zeroed_aligned_and_apart(void **state)
{
	struct rna_arena *arena = rna_arena_new(64);

	(void)state;
	assert_non_null(arena);
	for (size_t size = 1; size < 5000; size = size * 2 + 1) {
		unsigned char *memory = rna_arena_alloc(arena, size);

		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(memory[i], 0);
		memset(memory, 0xff, size); /* must not shine through in the next one */
	}
	assert_null(rna_arena_free(arena));
}

static void test_arena_refuses_what_cannot_be(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);

	(void)state;
	assert_null(rna_arena_alloc(arena, SIZE_MAX));
	assert_null(rna_arena_array(arena, SIZE_MAX / 2, 4));
	assert_null(rna_arena_free(NULL));
}

/* In an arena, and of malloc(); also behind entries that were taken away. */
static void test_arrays_grow(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	RNA_FREE unsigned *items = NULL;
	unsigned *kept = NULL;
	size_t count = 0;

	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		for (; count < 1000; count++) {
			*RNA_GROW(items, count, NULL) = (unsigned)count;
			*RNA_GROW(kept, count, arena) = (unsigned)count;
		}
		for (unsigned i = 0; i < 1000; i++) {
			assert_int_equal(items[i], i);
			assert_int_equal(kept[i], i);
		}
		count = round == 0 ? 7 : 512;
	}
	assert_null(rna_grow(&kept, 1024, SIZE_MAX / 1024, arena));
	assert_int_equal(kept[999], 999);
}

static void test_arena_text(void **state)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(16);
	char longer[4000];

	(void)state;
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_string_equal(rna_arena_strdup(arena, "mlx5_0"), "mlx5_0");
	assert_string_equal(rna_arena_printf(arena, "%s/%d", "mlx5_0", 1), "mlx5_0/1");
	assert_string_equal(rna_arena_printf(arena, "%s", longer), longer);
}

static void test_strbuf_numbers(void **state)
{
	RNA_STRBUF struct rna_strbuf buf = RNA_STRBUF_INIT;

	(void)state;
	rna_strbuf_add_u64(&buf, 0);
	rna_strbuf_add_char(&buf, ' ');
	rna_strbuf_add_u64(&buf, UINT64_MAX);
	rna_strbuf_printf(&buf, " %s", "end");
	assert_true(rna_strbuf_ok(&buf));
	assert_string_equal(buf.data, "0 18446744073709551615 end");
}

static void test_strbuf_remembers_failure(void **state)
{
	RNA_STRBUF struct rna_strbuf buf = RNA_STRBUF_INIT;

	(void)state;
	rna_strbuf_puts(&buf, "text");
	assert_null(rna_strbuf_reserve(&buf, SIZE_MAX - 2));
	rna_strbuf_puts(&buf, "more");
	assert_false(rna_strbuf_ok(&buf));
	assert_int_equal(buf.len, 4);
	assert_null(rna_strbuf_take(&buf));
}

static void test_strbuf_take_gives_away(void **state)
{
	struct rna_strbuf buf = RNA_STRBUF_INIT;
	RNA_FREE char *text = NULL;

	(void)state;
	rna_strbuf_puts(&buf, "text");
	text = rna_strbuf_take(&buf);
	assert_string_equal(text, "text");
	assert_null(buf.data);
}

static void test_parse_numbers(void **state)
{
	static const struct {
		const char *text;
		int status;
		uint64_t number;
	} cases[] = {
		{"0", 0, 0},
		{"42", 0, 42},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -EBADMSG, 0},
		{"", -EBADMSG, 0},
		{"-1", -EBADMSG, 0},
		{" 1", -EBADMSG, 0},
		{"1 ", -EBADMSG, 0},
		{"1x", -EBADMSG, 0},
		{"N/A (no PMA)", -EBADMSG, 0},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		uint64_t number = 0;

		assert_int_equal(rna_parse_u64(cases[i].text, &number), cases[i].status);
		assert_int_equal(number, cases[i].number);
	}
}

static void test_parse_hex_bytes(void **state)
{
	uint8_t bytes[2];

	(void)state;
	assert_int_equal(rna_parse_hex_bytes(" 0a\nF f\n", bytes, sizeof(bytes)), 2);
	assert_int_equal(bytes[0], 0x0a);
	assert_int_equal(bytes[1], 0xff);
	assert_int_equal(rna_parse_hex_bytes("", bytes, sizeof(bytes)), 0);
	assert_int_equal(rna_parse_hex_bytes("0a0", bytes, sizeof(bytes)), -EBADMSG);
	assert_int_equal(rna_parse_hex_bytes("0x", bytes, sizeof(bytes)), -EBADMSG);
	assert_int_equal(rna_parse_hex_bytes("0a0b0c", bytes, sizeof(bytes)), -EMSGSIZE);
}

static void test_parse_other_forms(void **state)
{
	uint64_t number = 0;
	int64_t signed_number = 0;

	(void)state;
	assert_int_equal(rna_parse_leading_u64("4: ACTIVE", &number), 0);
	assert_int_equal(number, 4);
	assert_int_equal(rna_parse_leading_u64("ACTIVE", &number), -EBADMSG);
	assert_int_equal(rna_parse_leading_u64("4x", &number), -EBADMSG);
	assert_int_equal(rna_parse_hex_u64("0xa751e848", &number), 0);
	assert_int_equal(number, 0xa751e848);
	assert_int_equal(rna_parse_hex_u64("15b3", &number), 0);
	assert_int_equal(number, 0x15b3);
	assert_int_equal(rna_parse_hex_u64("0x", &number), -EBADMSG);
	assert_int_equal(rna_parse_hex_u64("0x10000000000000000", &number), -ERANGE);
	assert_int_equal(rna_parse_i64("-1", &signed_number), 0);
	assert_int_equal(signed_number, -1);
	assert_int_equal(rna_parse_i64("-", &signed_number), -EBADMSG);
}

static void test_names_are_compared_as_people_count(void **state)
{
	(void)state;
	assert_true(rna_compare_names("mlx5_2", "mlx5_10") < 0);
	assert_true(rna_compare_names("mlx5_10", "mlx5_2") > 0);
	assert_true(rna_compare_names("mlx5_1", "mlx5_1") == 0);
	assert_true(rna_compare_names("mlx5_01", "mlx5_1") != 0);
	assert_true(rna_compare_names("mlx5", "mlx5_0") < 0);
	assert_true(rna_compare_names("ibp12s0", "mlx5_0") < 0);
}

static void test_error_texts(void **state)
{
	struct rna_error error = {0};
	char longer[2 * RNA_ERROR_MAX];

	(void)state;
	assert_int_equal(rna_error_set(&error, -ENOENT, "%s: cannot read %s", "mlx5_0/1", "state"),
			 -ENOENT);
	assert_string_equal(error.text, "mlx5_0/1: cannot read state: No such file or directory");
	(void)rna_error_prefix(&error, "collector %s", "state");
	assert_string_equal(error.text, "collector state: mlx5_0/1: cannot read state: "
					"No such file or directory");
	(void)rna_error_say(&error, -EBADMSG, "agent.yaml:3: unknown key");
	assert_string_equal(error.text, "agent.yaml:3: unknown key");
	assert_int_equal(rna_error_set(NULL, -EIO, "no listener"), -EIO);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	(void)rna_error_set(&error, -EIO, "%s", longer);
	assert_int_equal(strlen(error.text), RNA_ERROR_MAX - 1);
}

static void device_globs_are_checked(void **state)
{
	static const char *const good[] = {
		"*",     "mlx5_0", "mlx5_bond_*", "0000:3b:00.?", "ib[0-3]",
		"[!a]*", "[]]",    "a\\*",        "a]",
	};
	static const char *const bad[] = {"",   " ",   "a b", "a/b",     "ib[0",
					  "[]", "[!]", "a\\", "\xc3\xa4"};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(good); i++)
		if (!rna_device_glob_is_valid(good[i]))
			fail_msg("%s should be a glob", good[i]);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(bad); i++)
		if (rna_device_glob_is_valid(bad[i]))
			fail_msg("\"%s\" should be no glob", bad[i]);
}

static void libraries_are_loaded_by_their_symbols(void **state)
{
	typeof(&strtoul) number = NULL;
	typeof(&strlen) absent = NULL;
	const struct rna_symbol symbols[] = {{"strtoul", &number}, {"rna_no_such", &absent}};
	const char *missing;
	void *library;

	(void)state;
	library = rna_library_open("libc.so.6", RTLD_NOW | RTLD_LOCAL, symbols, 1, &missing);
	assert_non_null(library);
	assert_null(missing);
	assert_int_equal(number("42", NULL, 10), 42);
	dlclose(library);

	library = rna_library_open("libc.so.6", RTLD_NOW | RTLD_LOCAL, symbols, 2, &missing);
	assert_non_null(library);
	assert_string_equal(missing, "rna_no_such");
	dlclose(library);

	assert_null(rna_library_open("librna-no-such.so.1", RTLD_NOW, symbols, 1, &missing));
	assert_null(missing);
	assert_non_null(strstr(dlerror(), "librna-no-such.so.1"));
}

/* A list of no items may have no memory. */
static void test_lists_are_walked_and_searched(void **state)
{
	static const struct item {
		int number;
	} items[] = {{1}, {2}, {2}}, *none = NULL;
	const struct {
		const struct item *items;
	} *list = NULL;
	size_t nothing = 0;
	int sum = 0;

	(void)state;
	RNA_EACH (item, items, RNA_ARRAY_SIZE(items))
		sum = sum * 10 + item->number;
	RNA_EACH (item, list->items, nothing)
		sum = item->number;
	assert_int_equal(sum, 122);
	assert_true(RNA_ANY(i, 3, items[i].number == 2));
	assert_false(RNA_ANY(i, 3, items[i].number == 3));
	assert_false(RNA_ANY(i, nothing, none[i].number == 1));
	assert_true(RNA_ALL(i, 3, items[i].number > 0));
	assert_false(RNA_ALL(i, 3, items[i].number > 1));
	assert_true(RNA_ALL(i, nothing, none[i].number > 1));
	assert_int_equal(RNA_COUNT(i, 3, items[i].number == 2), 2);
	assert_int_equal(RNA_COUNT(i, 3, items[i].number & 2), 2);
	assert_ptr_equal(RNA_FIND(i, items, 3, items[i].number == 2), &items[1]);
	assert_null(RNA_FIND(i, items, 3, items[i].number == 3));
	assert_null(RNA_FIND(i, none, nothing, none[i].number == 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena_memory_is_zeroed_aligned_and_apart),
		cmocka_unit_test(test_arena_refuses_what_cannot_be),
		cmocka_unit_test(test_arrays_grow),
		cmocka_unit_test(test_arena_text),
		cmocka_unit_test(test_strbuf_numbers),
		cmocka_unit_test(test_strbuf_remembers_failure),
		cmocka_unit_test(test_strbuf_take_gives_away),
		cmocka_unit_test(test_parse_numbers),
		cmocka_unit_test(test_parse_hex_bytes),
		cmocka_unit_test(test_parse_other_forms),
		cmocka_unit_test(test_names_are_compared_as_people_count),
		cmocka_unit_test(test_lists_are_walked_and_searched),
		cmocka_unit_test(test_error_texts),
		cmocka_unit_test(device_globs_are_checked),
		cmocka_unit_test(libraries_are_loaded_by_their_symbols),
	};

	return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
