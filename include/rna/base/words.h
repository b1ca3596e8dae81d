/* SPDX-License-Identifier: Apache-2.0 */
/* Words that a person wrote: how to show them in a message, and which known word was meant. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "rna/base/strbuf.h"

/* For "%.*s": as much of text as belongs in one line of a message, cut between characters. */
#define RNA_SHOWN(text) rna_shown_len(text), (text)
int rna_shown_len(const char *text);

/*
 * A near-match hint: start with RNA_HINT(word), offer every known word, then look whether best is
 * set. A word is near when at most a third of it has to change, or when it is how one begins.
 */
struct rna_hint {
	const char *word;
	size_t word_len;
	const char *best; /* the nearest offer, best_len bytes of it; NULL: none is near */
	size_t best_len;
	size_t best_distance;
};

#define RNA_HINT(text)          RNA_HINT_LEN(text, strlen(text))
#define RNA_HINT_LEN(text, len) ((struct rna_hint){.word = (text), .word_len = (len)})

void rna_hint_offer(struct rna_hint *hint, const char *known, size_t len);

/* "WORD is no KIND; did you mean BEST?", or with the topic of describe that lists them all. */
void rna_hint_write(const struct rna_hint *hint, const char *kind, const char *topic,
		    struct rna_strbuf *out);

/* NULL-ended lists of words: is word one of them; and all of them, as "a, b, c". */
bool rna_words_have(const char *const *words, const char *word);
void rna_words_write(const char *const *words, struct rna_strbuf *out);
