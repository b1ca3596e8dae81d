// SPDX-License-Identifier: Apache-2.0
#include "rna/base/words.h"

#include <string.h>

#include "rna/base/characters.h"

enum {
	SHOWN_MAX = 60, /* bytes; longer text is not a word */
	WORD_MAX = 48,  /* bytes; longer words get no hint */
	BEGINNING_MIN = 3,
};

int rna_shown_len(const char *text)
{
	size_t len = 0, rest = strlen(text), own;

	for (; rest > 0; rest -= own) {
		if (rna_character_at(text + len, rest, &own) != RNA_CHARACTER_PLAIN ||
		    len + own > SHOWN_MAX)
			break;
		len += own;
	}
	return (int)len;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Edit distance: insertions, deletions, substitutions, and swaps of adjacent letters. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t d[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= a_len; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= b_len; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= a_len; i++)
		for (size_t j = 1; j <= b_len; j++) {
			d[i][j] = smaller(d[i - 1][j], d[i][j - 1]) + 1;
			d[i][j] = smaller(d[i][j], d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[a_len][b_len];
}

static bool is_beginning(const struct rna_hint *hint, const char *known, size_t len)
{
	return hint->word_len >= BEGINNING_MIN && hint->word_len < len &&
	       memcmp(hint->word, known, hint->word_len) == 0;
}

void rna_hint_offer(struct rna_hint *hint, const char *known, size_t len)
{
	size_t changes;

	if (hint->word_len > WORD_MAX || len > WORD_MAX)
		return;
	changes = distance(hint->word, hint->word_len, known, len);
	if ((changes > hint->word_len / 3 && !is_beginning(hint, known, len)) ||
	    (hint->best && changes >= hint->best_distance))
		return;
	hint->best = known;
	hint->best_len = len;
	hint->best_distance = changes;
}

void rna_hint_write(const struct rna_hint *hint, const char *kind, const char *topic,
		    struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "unknown %s %.*s; ", kind, (int)hint->word_len, hint->word);
	if (hint->best)
		rna_strbuf_printf(out, "did you mean %.*s?", (int)hint->best_len, hint->best);
	else
		rna_strbuf_printf(out, "`rdma-node-agent describe %s` lists them", topic);
}

bool rna_words_have(const char *const *words, const char *word)
{
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

void rna_words_write(const char *const *words, struct rna_strbuf *out)
{
	for (size_t i = 0; words[i]; i++)
		rna_strbuf_printf(out, "%s%s", i > 0 ? ", " : "", words[i]);
}
