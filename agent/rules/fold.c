// SPDX-License-Identifier: Apache-2.0
#include "fold.h"

#include <string.h>

#include "rna/base/parse.h"

enum { NAMED_MAX = 4 }; /* objects in the text; the list of the finding has all */

static bool is_like(const struct rna_find *a, const struct rna_find *b)
{
	return a->fold && b->fold && a->rule == b->rule &&
	       a->finding.severity == b->finding.severity && strcmp(a->fold, b->fold) == 0;
}

static bool comes_first(const struct rna_find *a, const struct rna_find *b)
{
	return rna_finding_compare(&a->finding, &b->finding) < 0;
}

/* Is it the one that stays? */
static bool is_first(const struct rna_finds *finds, size_t index)
{
	const struct rna_find *find = &finds->items[index];

	return !RNA_ANY(i, finds->count,
			i != index && is_like(&finds->items[i], find) &&
				comes_first(&finds->items[i], find));
}

/* The devices of those that fold into find, of each one name. Returns their number. */
static size_t list_others(const struct rna_finds *finds, const struct rna_find *find,
			  const char **ret)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < finds->count; i++)
		if (&finds->items[i] != find && is_like(&finds->items[i], find) &&
		    finds->items[i].finding.device)
			ret[count++] = finds->items[i].finding.device;
	if (count > 0)
		qsort(ret, count, sizeof(*ret), rna_compare_name_items);
	for (size_t i = 0; i < count; i++)
		if (!rna_same_text(ret[i], find->finding.device) &&
		    (kept == 0 || strcmp(ret[kept - 1], ret[i]) != 0))
			ret[kept++] = ret[i];
	return kept;
}

static void name_others(struct rna_find *find, struct rna_finds *finds)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char **others = rna_arena_array(finds->arena, finds->count, sizeof(*others));
	size_t count = others ? list_others(finds, find, others) : 0;
	const char *joined = NULL;

	if (count == 0)
		return;
	rna_strbuf_printf(&text, "%s; likewise ", find->finding.text);
	for (size_t i = 0; i < count && i < NAMED_MAX; i++)
		rna_strbuf_printf(&text, "%s%s", i > 0 ? ", " : "", others[i]);
	if (count > NAMED_MAX)
		rna_strbuf_printf(&text, " and %zu more", count - NAMED_MAX);
	if (rna_strbuf_ok(&text))
		joined = rna_arena_strdup(finds->arena, text.data);
	if (!joined)
		return;
	find->finding.text = joined;
	find->finding.others = others;
	find->finding.other_count = count;
}

void rna_finds_fold(struct rna_finds *finds)
{
	size_t kept = 0;
	bool *stays = rna_arena_array(finds->arena, finds->count, sizeof(*stays));

	if (!stays)
		return;
	for (size_t i = 0; i < finds->count; i++)
		stays[i] = !finds->items[i].fold || is_first(finds, i);
	for (size_t i = 0; i < finds->count; i++)
		if (stays[i] && finds->items[i].fold)
			name_others(&finds->items[i], finds);
	for (size_t i = 0; i < finds->count; i++)
		if (stays[i])
			finds->items[kept++] = finds->items[i];
	finds->count = kept;
}
