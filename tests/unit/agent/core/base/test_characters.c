// SPDX-License-Identifier: Apache-2.0
/* agent/core/base, characters: which are plain, and what stands for those that are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/characters.h"

enum { CODES = 0x110000, UTF8_MAX = 4, SURROGATES = 0xd800, BEHIND_SURROGATES = 0xe000 };

static size_t encode(uint32_t code, char out[static UTF8_MAX])
{
	size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = length - 1; i > 0; i--, code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)(length == 1 ? code : (0xf00 >> length & 0xff) | code);
	return length;
}

static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

/* Each character that there is, in memory that ends with it. */
static void test_all_characters(void **state)
{
	(void)state;
	for (uint32_t code = 0; code < CODES; code++) {
		enum rna_character wanted = code >= SURROGATES && code < BEHIND_SURROGATES
						    ? RNA_CHARACTER_MALFORMED
					    : is_control(code) ? RNA_CHARACTER_CONTROL
							       : RNA_CHARACTER_PLAIN;
		char bytes[UTF8_MAX];
		size_t length = encode(code, bytes), own = 0;
		RNA_FREE char *text = malloc(length);

		memcpy(text, bytes, length);
		assert_int_equal(rna_character_at(text, length, &own), wanted);
		assert_int_equal(own, wanted == RNA_CHARACTER_MALFORMED ? 1 : length);
	}
}

/* A character that the text ends within is none. */
static void test_the_end_divides_characters(void **state)
{
	static const char *const texts[] = {"\xc2\xa0", "\xe2\x80\xae", "\xe2\x82\xac",
					    "\xf0\x9f\xa6\x80"};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++)
		for (size_t len = 1; len < strlen(texts[i]); len++) {
			RNA_FREE char *text = malloc(len);
			size_t own = 0;

			memcpy(text, texts[i], len);
			assert_int_equal(rna_character_at(text, len, &own),
					 RNA_CHARACTER_MALFORMED);
			assert_int_equal(own, 1);
		}
}

static const char *quote(char c)
{
	return c == '"' ? "\\\"" : c == '\n' ? "\n" : NULL;
}

static void want(const char *text, size_t len, rna_escape *escape, const char *wanted)
{
	RNA_FREE char *copy = malloc(len + 1);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	memcpy(copy, text, len); /* without an end, so that reading behind it is noticed */
	copy = realloc(copy, len > 0 ? len : 1);
	rna_strbuf_puts(&out, "<");
	rna_strbuf_add_plain(&out, copy, len, escape);
	rna_strbuf_puts(&out, ">");
	assert_true(rna_strbuf_ok(&out));
	assert_string_equal(out.data, wanted);
}

#define WANT(text, escape, wanted) want(text, sizeof(text) - 1, escape, "<" wanted ">")
#define FFFD                       RNA_REPLACEMENT

static void test_replacing(void **state)
{
	(void)state;
	WANT("", NULL, "");
	WANT("größe 尺寸 🦀", NULL, "größe 尺寸 🦀");
	WANT("\x1b[31m", NULL, FFFD "[31m");
	WANT("a\0b", NULL, "a" FFFD "b");
	WANT("\xc2\x9b"
	     "31m \xc2\x9d"
	     "0;x\x07",
	     NULL, FFFD "31m " FFFD "0;x" FFFD);
	WANT("\xe2\x80\xae"
	     "abc\xe2\x80\xac\xe2\x81\xa9",
	     NULL, FFFD "abc" FFFD FFFD);
	/* overlong, a surrogate, beyond U+10FFFF, alone, cut */
	WANT("\xc0\x9b", NULL, FFFD FFFD);
	WANT("\xed\xa0\x80", NULL, FFFD FFFD FFFD);
	WANT("\xf4\x90\x80\x80", NULL, FFFD FFFD FFFD FFFD);
	WANT("\x9b"
	     "31m",
	     NULL, FFFD "31m");
	WANT("x\xe2\x80", NULL, "x" FFFD FFFD);
	WANT("\xc2\x1b[", NULL, FFFD FFFD "[");
	WANT("a\"b\n\t\xff", quote, "a\\\"b\n" FFFD FFFD);
}

static void test_utf8_keeps_control_characters(void **state)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	static const char text[] = "\x1b\xc2\x9b\xe2\x80\xae\xff\xc3";

	(void)state;
	rna_strbuf_add_utf8(&out, text, strlen(text));
	assert_string_equal(out.data, "\x1b\xc2\x9b\xe2\x80\xae" FFFD FFFD);
}

static void test_plain(void **state)
{
	(void)state;
	assert_true(rna_characters_are_plain("", 0));
	assert_true(rna_characters_are_plain("größe\x1b", strlen("größe")));
	assert_false(rna_characters_are_plain("größe", strlen("grö") - 1));
	assert_false(rna_characters_are_plain("a\n", 2));
	assert_false(rna_characters_are_plain("\xe2\x81\xa6", 3));
}

static void test_cut(void **state)
{
	static const char text[] = "a\xe2\x82\xac"
				   "b";

	(void)state;
	assert_int_equal(rna_characters_cut(text, 0), 0);
	assert_int_equal(rna_characters_cut(text, 1), 1);
	assert_int_equal(rna_characters_cut(text, 2), 1);
	assert_int_equal(rna_characters_cut(text, 3), 1);
	assert_int_equal(rna_characters_cut(text, 4), 4);
	assert_int_equal(rna_characters_cut(text, SIZE_MAX), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_characters),
		cmocka_unit_test(test_the_end_divides_characters),
		cmocka_unit_test(test_replacing),
		cmocka_unit_test(test_utf8_keeps_control_characters),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
