// SPDX-License-Identifier: Apache-2.0
#include "rna/base/characters.h"

/*
 * Bytes of the well-formed character that begins the text, or 0 (Unicode 15, table 3-7). The second
 * byte is what rules out overlong forms, surrogates and everything behind U+10FFFF.
 */
static size_t utf8_length(const unsigned char *text, size_t len)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t length;

	if (text[0] < 0x80)
		return 1;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	length = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	if (length > len)
		return 0;

	if (text[0] == 0xe0)
		low = 0xa0;
	else if (text[0] == 0xed)
		high = 0x9f;
	else if (text[0] == 0xf0)
		low = 0x90;
	else if (text[0] == 0xf4)
		high = 0x8f;
	if (text[1] < low || text[1] > high)
		return 0;

	for (size_t i = 2; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* U+0080 to U+009F, U+202A to U+202E, U+2066 to U+2069. */
static bool is_control(const unsigned char *text, size_t length)
{
	if (length == 1)
		return text[0] < 0x20 || text[0] == 0x7f;
	if (length == 2)
		return text[0] == 0xc2 && text[1] < 0xa0;
	return text[0] == 0xe2 && ((text[1] == 0x80 && text[2] >= 0xaa && text[2] <= 0xae) ||
				   (text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9));
}

enum rna_character rna_character_at(const char *text, size_t len, size_t *ret_len)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t length;

	if (bytes[0] >= ' ' && bytes[0] < 0x7f) { /* nearly all are ASCII */
		*ret_len = 1;
		return RNA_CHARACTER_PLAIN;
	}
	length = utf8_length(bytes, len);
	*ret_len = length > 0 ? length : 1;
	if (length == 0)
		return RNA_CHARACTER_MALFORMED;
	return is_control(bytes, length) ? RNA_CHARACTER_CONTROL : RNA_CHARACTER_PLAIN;
}

bool rna_characters_are_plain(const char *text, size_t len)
{
	for (size_t at = 0, length; at < len; at += length)
		if (rna_character_at(text + at, len - at, &length) != RNA_CHARACTER_PLAIN)
			return false;
	return true;
}

size_t rna_characters_cut(const char *text, size_t max)
{
	size_t len = strnlen(text, max);

	while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

static void add(struct rna_strbuf *out, const char *text, size_t len, rna_escape *escape,
		bool keep_controls)
{
	size_t start = 0; /* of what is copied as it is */

	for (size_t at = 0, length; at < len; at += length) {
		enum rna_character kind = rna_character_at(text + at, len - at, &length);
		const char *instead = NULL;

		if (escape && length == 1 && kind != RNA_CHARACTER_MALFORMED)
			instead = escape(text[at]);
		if (!instead && (kind == RNA_CHARACTER_MALFORMED ||
				 (kind == RNA_CHARACTER_CONTROL && !keep_controls)))
			instead = RNA_REPLACEMENT;
		if (!instead)
			continue;
		rna_strbuf_add(out, text + start, at - start);
		rna_strbuf_puts(out, instead);
		start = at + length;
	}
	rna_strbuf_add(out, text + start, len - start);
}

void rna_strbuf_add_plain(struct rna_strbuf *out, const char *text, size_t len, rna_escape *escape)
{
	add(out, text, len, escape, false);
}

void rna_strbuf_add_utf8(struct rna_strbuf *out, const char *text, size_t len)
{
	add(out, text, len, NULL, true);
}
