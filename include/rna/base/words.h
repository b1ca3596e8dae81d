/* SPDX-License-Identifier: Apache-2.0 */
/* User input in messages: how to quote it, and which known word was probably meant. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "rna/base/strbuf.h"

/* For "%.*s": the start of text that fits in a line of a message, cut between characters. */
#define RNA_SHOWN(text) rna_shown_len(text), (text)
int rna_shown_len(const char *text);

/*
 * A near-match hint: start with RNA_HINT(word), offer every known word, then check whether best is
 * set. A known word is near if at most a third of the word differs, or if the word is its prefix.
 */
struct rna_hint {
	const char *word;
	size_t word_len;
	const char *best; /* the nearest known word, best_len bytes; NULL: none is near */
	size_t best_len;
	size_t best_distance;
};

#define RNA_HINT(text)          RNA_HINT_LEN(text, strlen(text))
#define RNA_HINT_LEN(text, len) ((struct rna_hint){.word = (text), .word_len = (len)})

void rna_hint_offer(struct rna_hint *hint, const char *known, size_t len);

/* "unknown KIND WORD; did you mean BEST?", or names the topic of describe that lists all. */
void rna_hint_write(const struct rna_hint *hint, const char *kind, const char *topic,
		    struct rna_strbuf *out);

/*
 * Sets number, of an enum, to the first below words whose word_of(number) is text; words: none is,
 * or text is NULL.
 */
#define RNA_FIND_WORD(text, number, word_of, words)                                                \
	do {                                                                                       \
		const char *text_ = (text);                                                        \
		unsigned number_ = 0;                                                              \
                                                                                                   \
		while (number_ < (words) && (!text_ || strcmp(word_of(number_), text_) != 0))      \
			number_++;                                                                 \
		(number) = number_;                                                                \
	} while (0)

/* NULL-terminated lists of words: is word one of them; write them as "a, b, c". */
bool rna_words_have(const char *const *words, const char *word);
void rna_words_write(const char *const *words, struct rna_strbuf *out);
