// SPDX-License-Identifier: Apache-2.0
/* core/base/json_document: documents are complete, or their writer says that they are not. */
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/json_document.h"

static void test_document(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_json_writer writer = {0};
	json_t *object = json_object(), *array = json_array();

	(void)state;
	rna_json_append(&writer, array, json_real(0.1));
	rna_json_set(&writer, object, "list", array);
	rna_json_write(&writer, object, 1, &out);
	assert_true(rna_strbuf_ok(&out));
	assert_string_equal(out.data, "{\n \"list\": [\n  0.1\n ]\n}\n");
}

/* They come back as they were, and no terminal obeys them on the way. */
static void test_control_characters_are_escaped(void **state)
{
	static const char text[] =
		"\x1b\x7f\xc2\x80\xc2\x9f\xe2\x80\xae\xe2\x81\xa6 \xc2\xa0\xe2\x82\xac";
	RNA_CLEANUP(rna_json_free_p) json_t *back = NULL;
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_json_writer writer = {0};
	json_t *object = json_object();

	(void)state;
	rna_json_set(&writer, object, "\xe2\x80\xaa", json_string(text));
	rna_json_write(&writer, object, 0, &out);
	assert_true(rna_strbuf_ok(&out));
	assert_string_equal(out.data, "{\"\\u202A\": \"\\u001B\\u007F\\u0080\\u009F\\u202E\\u2066 "
				      "\xc2\xa0\xe2\x82\xac\"}\n");
	back = json_loads(out.data, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(back, "\xe2\x80\xaa")), text);
}

static void test_missing_memory_is_remembered(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
		struct rna_json_writer writer = {0};
		json_t *object = json_object(), *array = json_array();

		if (i == 0)
			rna_json_append(&writer, array, NULL);
		rna_json_set(&writer, object, "list", array);
		if (i == 1)
			rna_json_set(&writer, object, "text", NULL);
		rna_json_write(&writer, object, 1, &out);
		assert_false(rna_strbuf_ok(&out));
	}
}

static void want_limits(const char *text, const char *why)
{
	static const struct rna_json_limits limits = {.memory = 1024, .levels = 2};
	struct rna_error error = {0};
	int status = rna_json_check(text, strlen(text), &limits, &error);

	assert_int_equal(status, why ? -EBADMSG : 0);
	assert_string_equal(error.text, why ? why : "");
}

/* Brackets and commas in a text do not count, also behind an escaped quote. */
static void test_limits(void **state)
{
	(void)state;
	want_limits("", NULL);
	want_limits("[[1, 2], 3]", NULL);
	want_limits("[[1, 2],\n3,\n{}, {}, {}]", "line 3: takes more than 1 KiB of memory");
	want_limits("[{\"a\": [1]}]", "line 1: more than 2 levels of lists and objects");
	want_limits("[\"\\\"[[[,,,,,,\"]", NULL);
	want_limits("]]]]\\", NULL);
}

static void want_document(const char *text, const char *why)
{
	static const struct rna_json_limits limits = {
		.bytes = 20,
		.memory = 1024,
		.levels = 2,
		.flags = JSON_REJECT_DUPLICATES,
	};
	RNA_CLEANUP(rna_json_free_p) json_t *document = NULL;
	struct rna_error error = {0};
	int status = rna_json_parse(text, strlen(text), &limits, &document, &error);

	assert_int_equal(status, why ? -EBADMSG : 0);
	assert_int_equal(document == NULL, why != NULL);
	assert_string_equal(error.text, why ? why : "");
}

/* What is beyond the limits is not read, even if it is not JSON either. */
static void test_parse(void **state)
{
	(void)state;
	want_document("{\"a\": [1, 2]}", NULL);
	want_document("[[[", "line 1: more than 2 levels of lists and objects");
	want_document("[{},{},{},{}", "line 1: takes more than 1 KiB of memory");
	want_document("[                   ]", "more than 20 bytes");
	want_document("[                  ]", NULL);
	want_document("[\n}", "line 2: unexpected token near '}'");
	want_document("{\"a\": 1, \"a\": 2}", "line 1: duplicate object key near '\"a\"'");
	want_document("", "line 1: '[' or '{' expected near end of file");
}

/* -- Memory ------------------------------------------------------------------------------------ */

static struct {
	size_t now, most;
} allocated;

static void *allocate(size_t size)
{
	void *memory = malloc(size);

	if (memory)
		allocated.now += malloc_usable_size(memory) + sizeof(size_t);
	if (allocated.now > allocated.most)
		allocated.most = allocated.now;
	return memory;
}

static void release(void *memory)
{
	if (memory)
		allocated.now -= malloc_usable_size(memory) + sizeof(size_t);
	free(memory);
}

/* The least limit within which a text is. */
static size_t count_memory(const struct rna_strbuf *text)
{
	size_t low = 0, high = SIZE_MAX / 2;

	while (low < high) {
		const struct rna_json_limits limits = {.memory = low + (high - low) / 2,
						       .levels = 8};

		if (rna_json_check(text->data, text->len, &limits, NULL) == 0)
			high = limits.memory;
		else
			low = limits.memory + 1;
	}
	return low;
}

static void write_document(const char *begin, const char *element, unsigned count, const char *end,
			   struct rna_strbuf *out)
{
	rna_strbuf_puts(out, begin);
	for (unsigned i = 0; i < count; i++) {
		rna_strbuf_puts(out, i > 0 ? "," : "");
		for (const char *c = element; *c; c++)
			if (*c == '#')
				rna_strbuf_printf(out, "%06u", i);
			else
				rna_strbuf_add_char(out, *c);
	}
	rna_strbuf_puts(out, end);
}

/* Jansson takes what is counted at most, and not much less. */
static void test_memory_is_counted(void **state)
{
	static const struct {
		const char *begin, *element, *end;
		unsigned most; /* how many times what it takes may be counted */
	} documents[] = {
		{"[", "{}", "]", 2},
		{"[", "[]", "]", 2},
		{"[", "[[[[1]]]]", "]", 2},
		{"[", "[1,1,1,1,1,1,1,1,1]", "]", 2},
		{"[", "1", "]", 2},
		{"[", "-1.5e3", "]", 2},
		{"[", "true", "]", 6},
		{"[", "\"\"", "]", 3},
		{"[", "\"123456789012345678901234567890123\"", "]", 3},
		{"[", "\"\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\"", "]", 3},
		{"{", "\"#\":1", "}", 3},
		{"{", "\"#\":{}", "}", 2},
		{"{", "\"#-----\":null", "}", 4},
		{"[", "{\"#\":\"#\"}", "]", 2},
		{"[", "{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1,\"8\":1,\"9\":1}",
		 "]", 3},
	};

	(void)state;
	json_set_alloc_funcs(allocate, release);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(documents); i++)
		for (unsigned count = 1; count < 5000; count = 2 * count + 1) {
			RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
			size_t counted;

			write_document(documents[i].begin, documents[i].element, count,
				       documents[i].end, &text);
			counted = count_memory(&text);
			allocated.now = allocated.most = 0;
			json_decref(json_loadb(text.data, text.len, 0, NULL));
			assert_in_range(allocated.most, 1, counted);
			if (count > 100)
				assert_in_range(counted, 1, allocated.most * documents[i].most);
		}
	json_set_alloc_funcs(malloc, free);
}

/* A text is copied several times while it is read. */
static void test_memory_of_long_texts(void **state)
{
	enum { LONG = 100000 };
	static const char *const around[][2] = {{"[\"", "\"]"},
						{"{\"", "\":1}"},
						{"[1", ".5]"},
						{"[\"\\\\", "\\\"\"]"}};

	(void)state;
	json_set_alloc_funcs(allocate, release);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(around); i++) {
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

		rna_strbuf_puts(&text, around[i][0]);
		for (size_t k = 0; k < LONG; k++)
			rna_strbuf_add_char(&text, '0');
		rna_strbuf_puts(&text, around[i][1]);
		allocated.now = allocated.most = 0;
		json_decref(json_loadb(text.data, text.len, 0, NULL));
		assert_in_range(allocated.most, LONG, count_memory(&text));
		assert_in_range(count_memory(&text), LONG, 5 * LONG);
	}
	json_set_alloc_funcs(malloc, free);
}

static void *no_memory(size_t size)
{
	(void)size;
	errno = ENOMEM;
	return NULL;
}

/* It is not said to be damaged. */
static void test_parse_without_memory(void **state)
{
	static const struct rna_json_limits limits = {.memory = 1024, .levels = 2};
	struct rna_error error = {0};
	json_t *document = NULL;
	int status;

	(void)state;
	json_set_alloc_funcs(no_memory, free);
	status = rna_json_parse("[1]", 3, &limits, &document, &error);
	json_set_alloc_funcs(malloc, free);
	assert_int_equal(status, -ENOMEM);
	assert_null(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_memory_is_counted),
		cmocka_unit_test(test_memory_of_long_texts),
		cmocka_unit_test(test_parse_without_memory),
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_control_characters_are_escaped),
		cmocka_unit_test(test_missing_memory_is_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
