// SPDX-License-Identifier: Apache-2.0
/* agent/core/base/kept.c: records that are written, read, damaged and freed. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/kept.h"
#include "rna/base/parse.h"

struct inner {
	char *text;
	uint32_t number;
};

struct record {
	char *text;
	const char *other;
	char chars[4];
	uint64_t u64;
	uint32_t u32;
	int64_t i64;
	int32_t i32;
	bool flag;
	unsigned word;
	struct inner inner;
	size_t count;
	struct inner *array;
};

static const char *const words[] = {"zero", "one"};
#define WORD(number) words[number]

enum { MAX = 3 };

static bool strict;

static void keep_inner(struct rna_kept *kept, void *data)
{
	struct inner *inner = data;

	RNA_KEEP(kept, "text", inner->text);
	RNA_KEEP(kept, "number", inner->number);
	rna_kept_want(kept, inner->text);
}

static void keep_record(struct rna_kept *kept, void *data)
{
	struct record *record = data;

	RNA_KEEP(kept, "text", record->text);
	RNA_KEEP(kept, "other", record->other);
	rna_keep_chars(kept, "chars", record->chars, sizeof(record->chars));
	RNA_KEEP(kept, "u64", record->u64);
	RNA_KEEP(kept, "u32", record->u32);
	RNA_KEEP(kept, "i64", record->i64);
	RNA_KEEP(kept, "i32", record->i32);
	RNA_KEEP(kept, "flag", record->flag);
	RNA_KEEP_WORD(kept, "word", record->word, WORD, RNA_ARRAY_SIZE(words));
	RNA_KEEP_RECORD(kept, "inner", keep_inner, record->inner);
	RNA_KEEP_ARRAY(kept, "array", keep_inner, record->array, record->count, MAX, strict);
}

static void record_deinit(struct record *record)
{
	rna_kept_free(keep_record, record, sizeof(*record));
}

static int read_text(const char *text, struct record *record, struct rna_error *error)
{
	static const struct rna_json_limits limits = {.memory = 1 << 20, .levels = 8};
	RNA_CLEANUP(rna_json_free_p) json_t *file = NULL;

	assert_int_equal(rna_kept_read_file(text, strlen(text), &limits, 1, &file, error), 0);
	return rna_kept_read(file, keep_record, record, error);
}

static void test_what_is_written_comes_back(void **state)
{
	struct inner array[] = {{(char *)(uintptr_t) "a", 1},
				{NULL, 2},
				{(char *)(uintptr_t) "c", 3}};
	const struct record record = {
		.text = (char *)(uintptr_t) "text\xff",
		.other = "other",
		.chars = "abc",
		.u64 = 1ull << 40,
		.u32 = UINT32_MAX,
		.i64 = INT64_MIN,
		.i32 = -1,
		.flag = true,
		.word = 1,
		.inner = {(char *)(uintptr_t) "inner", 7},
		.count = RNA_ARRAY_SIZE(array),
		.array = array,
	};
	RNA_CLEANUP(record_deinit) struct record back = {0};
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	(void)state;
	rna_kept_write_file(keep_record, &record, 1, &text);
	assert_true(rna_strbuf_ok(&text));
	assert_int_equal(read_text(text.data, &back, NULL), 0);
	assert_string_equal(back.text, "text\xef\xbf\xbd");
	assert_string_equal(back.other, "other");
	assert_string_equal(back.chars, "abc");
	assert_true(back.u64 == 1ull << 40 && back.u32 == UINT32_MAX && back.i64 == INT64_MIN);
	assert_true(back.i32 == -1 && back.flag && back.word == 1);
	assert_string_equal(back.inner.text, "inner");
	assert_int_equal(back.count, 2); /* one lacks what is wanted */
	assert_string_equal(back.array[1].text, "c");
	assert_int_equal(back.array[1].number, 3);
}

/* Nothing is there, or all of another type. */
static void test_what_is_missing(void **state)
{
	static const char *const texts[] = {
		"{\"version\": 1}",
		"{\"version\": 1, \"text\": 1, \"other\": [], \"chars\": {}, \"u64\": \"1\", "
		"\"u32\": -1, \"i64\": 1.5, \"i32\": null, \"flag\": 1, \"word\": \"two\", "
		"\"inner\": 1, \"array\": {}}",
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++) {
		RNA_CLEANUP(record_deinit)
		struct record record = {.text = strdup("old"),
					.u64 = 5,
					.u32 = 6,
					.i64 = 7,
					.i32 = 8,
					.flag = true};

		assert_int_equal(read_text(texts[i], &record, NULL), 0);
		assert_null(record.text);
		assert_null(record.other);
		assert_string_equal(record.chars, "");
		assert_true(record.u64 == 5 && record.u32 == 6 && record.i64 == 7);
		assert_true(record.i32 == 8 && !record.flag);
		assert_int_equal(record.word, RNA_ARRAY_SIZE(words));
		assert_null(record.inner.text);
		assert_int_equal(record.count, 0);
	}
}

static void test_numbers_beyond_their_type(void **state)
{
	static const char *const texts[] = {
		"{\"version\": 1, \"u32\": 4294967296}",
		"{\"version\": 1, \"i32\": 2147483648}",
		"{\"version\": 1, \"i32\": -2147483649}",
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++) {
		RNA_CLEANUP(record_deinit) struct record record = {0};

		assert_int_equal(read_text(texts[i], &record, NULL), -EBADMSG);
	}
}

/* A damaged record costs only itself, unless the list is strict. */
static void test_damage(void **state)
{
	static const char text[] = "{\"version\": 1, \"inner\": {\"number\": 1}, \"array\": "
				   "[{\"text\": \"a\"}, {}, 7, {\"text\": \"b\"}]}";
	static const char three[] = "{\"version\": 1, \"array\": [{\"text\": \"a\"}, {}, 7]}";
	RNA_CLEANUP(record_deinit) struct record loose = {0};
	RNA_CLEANUP(record_deinit) struct record damaged = {0};
	RNA_CLEANUP(record_deinit) struct record many = {0};
	struct rna_error error = {0};

	(void)state;
	strict = false;
	assert_int_equal(read_text(text, &loose, &error), 0);
	assert_int_equal(loose.inner.number, 0);
	assert_int_equal(loose.count, 2);
	assert_string_equal(loose.array[1].text, "b");
	strict = true;
	assert_int_equal(read_text(three, &damaged, &error), -EBADMSG);
	assert_string_equal(error.text, "entry 2 of array is damaged");
	assert_int_equal(read_text(text, &many, &error), -E2BIG);
	assert_string_equal(error.text, "array has 4 entries; at most 3 are read");
	strict = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_written_comes_back),
		cmocka_unit_test(test_what_is_missing),
		cmocka_unit_test(test_numbers_beyond_their_type),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
