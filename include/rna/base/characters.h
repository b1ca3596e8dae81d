/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Characters that must not reach a terminal, a journal or a page if others chose them: node
 * descriptions, labels, replies of other agents. Everything that writes text asks here which these
 * are.
 *
 * They are the control characters (C0, DEL, and C1: a terminal in UTF-8 mode obeys U+009B as it
 * does ESC [), the characters that change the order in which a line is read (UAX #9: U+202A to
 * U+202E and U+2066 to U+2069), and bytes that are not UTF-8.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/strbuf.h"

#define RNA_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, the replacement character */

enum rna_character {
	RNA_CHARACTER_PLAIN,
	RNA_CHARACTER_CONTROL,   /* it would be obeyed instead of shown */
	RNA_CHARACTER_MALFORMED, /* a byte that is part of no character of UTF-8 */
};

/* The kind of the character that begins a text of len bytes, at least one; how many are its own. */
enum rna_character rna_character_at(const char *text, size_t len, size_t *ret_len);

/* Are all characters plain? */
bool rna_characters_are_plain(const char *text, size_t len);

/* Bytes of the start of a text, at most max, that do not divide a character. */
size_t rna_characters_cut(const char *text, size_t max);

/* What stands for a character of one byte; NULL: itself, or U+FFFD if it is a control character. */
typedef const char *rna_escape(char c);

/* Adds a text whose characters are plain; escape: of its format, or NULL. */
void rna_strbuf_add_plain(struct rna_strbuf *out, const char *text, size_t len, rna_escape *escape);

/* Adds a text in which U+FFFD stands for malformed bytes only: JSON has escapes for the rest. */
void rna_strbuf_add_utf8(struct rna_strbuf *out, const char *text, size_t len);
