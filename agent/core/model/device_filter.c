// SPDX-License-Identifier: Apache-2.0
#include "rna/model/device_filter.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "rna/base/arena.h"
#include "rna/base/texts.h"

struct globs {
	size_t count;
	const char **items;
};

struct rna_device_filter {
	unsigned refs;
	struct globs include;
	struct globs exclude;
	struct rna_arena *arena; /* owns the globs */
};

static bool copy(struct globs *globs, char *const *list, struct rna_arena *arena)
{
	size_t count = rna_texts_len(list);

	globs->items = rna_arena_array(arena, count + 1, sizeof(*globs->items));
	if (!globs->items)
		return false;
	for (; globs->count < count; globs->count++) {
		globs->items[globs->count] = rna_arena_strdup(arena, list[globs->count]);
		if (!globs->items[globs->count])
			return false;
	}
	return true;
}

struct rna_device_filter *rna_device_filter_new(char *const *include, char *const *exclude)
{
	RNA_CLEANUP(rna_device_filter_unref_p)
	struct rna_device_filter *filter = calloc(1, sizeof(*filter));

	if (!filter)
		return NULL;
	filter->refs = 1;
	filter->arena = rna_arena_new(0);
	if (!filter->arena || !copy(&filter->include, include, filter->arena) ||
	    !copy(&filter->exclude, exclude, filter->arena))
		return NULL;
	return RNA_TAKE(filter);
}

struct rna_device_filter *rna_device_filter_ref(struct rna_device_filter *filter)
{
	if (filter)
		filter->refs++;
	return filter;
}

struct rna_device_filter *rna_device_filter_unref(struct rna_device_filter *filter)
{
	if (!filter || --filter->refs > 0)
		return NULL;
	(void)rna_arena_free(filter->arena);
	free(filter);
	return NULL;
}

bool rna_device_filter_is_empty(const struct rna_device_filter *filter)
{
	return !filter || (filter->include.count == 0 && filter->exclude.count == 0);
}

static bool any_matches(const struct globs *globs, const char *const *names, size_t count)
{
	for (size_t g = 0; g < globs->count; g++)
		for (size_t i = 0; i < count; i++)
			if (fnmatch(globs->items[g], names[i], 0) == 0)
				return true;
	return false;
}

bool rna_device_filter_takes(const struct rna_device_filter *filter, const char *const *names,
			     size_t count)
{
	if (rna_device_filter_is_empty(filter))
		return true;
	if (any_matches(&filter->exclude, names, count))
		return false;
	return filter->include.count == 0 || any_matches(&filter->include, names, count);
}

bool rna_device_filter_excludes(const struct rna_device_filter *filter, const char *const *names,
				size_t count)
{
	return filter && any_matches(&filter->exclude, names, count);
}

/* The "]" that closes the set that begins at text, or NULL. */
static const char *skip_set(const char *text)
{
	text += strspn(text, "!^");
	/* a "]" in first place is a member of the set */
	return *text ? strchr(text + 1, ']') : NULL;
}

bool rna_device_glob_is_valid(const char *text)
{
	if (*text == '\0')
		return false;
	for (; *text; text++) {
		if (!isgraph((unsigned char)*text) || *text == '/')
			return false;
		if (*text == '\\' && *++text == '\0')
			return false; /* fnmatch() would match nothing */
		if (*text == '[') {
			text = skip_set(text + 1);
			if (!text)
				return false;
		}
	}
	return true;
}
