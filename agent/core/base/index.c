// SPDX-License-Identifier: Apache-2.0
#include "rna/base/index.h"

#include <errno.h>
#include <string.h>

#include "rna/base/arena.h"

static int compare(const struct rna_index_entry *entry, const char *text, uint64_t number)
{
	if (entry->number != number)
		return entry->number < number ? -1 : 1;
	return strcmp(entry->text, text);
}

/* The first entry that is not before the key. Keys often come in order: the end is tried first. */
static size_t find_place(const struct rna_index *index, const char *text, uint64_t number)
{
	size_t low = 0, high = index->count;

	if (high > 0 && compare(&index->entries[high - 1], text, number) < 0)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&index->entries[middle], text, number) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* To move the later entries costs less than the comparisons, at thousands of items. */
int rna_index_add(struct rna_index *index, const char *text, uint64_t number, size_t item)
{
	size_t place = find_place(index, text, number);
	struct rna_index_entry *entry;

	if (!RNA_GROW(index->entries, index->count, NULL))
		return -ENOMEM;
	entry = &index->entries[place];
	memmove(entry + 1, entry, (index->count - place) * sizeof(*entry));
	*entry = (struct rna_index_entry){text, number, item};
	index->count++;
	return 0;
}

int rna_index_find(const struct rna_index *index, const char *text, uint64_t number, size_t *ret)
{
	size_t place = find_place(index, text, number);

	if (place == index->count || compare(&index->entries[place], text, number) != 0)
		return -ENOENT;
	*ret = index->entries[place].item;
	return 0;
}

void rna_index_deinit(struct rna_index *index)
{
	free(index->entries);
	*index = RNA_INDEX_INIT;
}
