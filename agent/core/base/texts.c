// SPDX-License-Identifier: Apache-2.0
#include "rna/base/texts.h"

struct rna_texts *rna_texts_new(size_t room)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(256);
	struct rna_texts *texts;

	texts = arena ? rna_arena_alloc(arena, sizeof(*texts)) : NULL;
	if (!texts)
		return NULL;
	texts->refs = 1;
	texts->items = rna_arena_array(arena, room, sizeof(*texts->items));
	if (!texts->items)
		return NULL;
	texts->arena = RNA_TAKE(arena);
	return texts;
}

size_t rna_texts_len(char *const *list)
{
	size_t len = 0;

	while (list && list[len])
		len++;
	return len;
}

struct rna_texts *rna_texts_copy(char *const *list)
{
	RNA_CLEANUP(rna_texts_unref_p) struct rna_texts *texts = NULL;
	size_t count = rna_texts_len(list);

	texts = rna_texts_new(count);
	for (; texts && texts->count < count; texts->count++) {
		texts->items[texts->count] = rna_arena_strdup(texts->arena, list[texts->count]);
		if (!texts->items[texts->count])
			return NULL;
	}
	return RNA_TAKE(texts);
}

struct rna_texts *rna_texts_ref(struct rna_texts *texts)
{
	if (texts)
		texts->refs++;
	return texts;
}

struct rna_texts *rna_texts_unref(struct rna_texts *texts)
{
	if (texts && --texts->refs == 0)
		(void)rna_arena_free(texts->arena); /* holds the struct itself */
	return NULL;
}
