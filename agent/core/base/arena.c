// SPDX-License-Identifier: Apache-2.0
/*
 * A list of chunks, each filled from its start. Each new chunk doubles the arena, so small arenas
 * stay small and large ones have few chunks. Large arenas grow in fixed steps instead, because
 * doubling a megabyte for a few more bytes would waste memory. The arena struct is at the start of
 * its first chunk, so a part that fits its hint costs one allocation and one free.
 */
#include "rna/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

enum {
	ALIGNMENT = _Alignof(max_align_t),
	LARGEST_STEP = 64 * 1024,
	ITEMS_FIRST = 8, /* of a growing array */
};

struct chunk {
	struct chunk *next;
	size_t size; /* of data */
	size_t used;
	_Alignas(ALIGNMENT) char data[];
};

struct rna_arena {
	struct chunk *newest;
	size_t total;
};

static struct chunk *chunk_new(size_t size)
{
	struct chunk *chunk;

	if (size > SIZE_MAX - sizeof(*chunk))
		return NULL;
	chunk = calloc(1, sizeof(*chunk) + size);
	if (!chunk)
		return NULL;
	chunk->size = size;
	return chunk;
}

static size_t align_up(size_t size)
{
	return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static void *chunk_alloc(struct chunk *chunk, size_t size)
{
	void *memory = chunk->data + chunk->used;

	if (size > chunk->size - chunk->used)
		return NULL;
	chunk->used += size;
	return memory;
}

struct rna_arena *rna_arena_new(size_t first)
{
	size_t own = align_up(sizeof(struct rna_arena));
	struct chunk *chunk = chunk_new(align_up(own + first));
	struct rna_arena *arena;

	if (!chunk)
		return NULL;
	arena = chunk_alloc(chunk, own);
	arena->newest = chunk;
	arena->total = sizeof(*chunk) + chunk->size;
	return arena;
}

struct rna_arena *rna_arena_free(struct rna_arena *arena)
{
	struct chunk *chunk = arena ? arena->newest : NULL;

	while (chunk) { /* the first chunk, which contains the arena, is last in the list */
		struct chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	return NULL;
}

size_t rna_arena_size(const struct rna_arena *arena)
{
	return arena->total;
}

void *rna_arena_alloc(struct rna_arena *arena, size_t size)
{
	size_t step = arena->total < LARGEST_STEP ? arena->total : LARGEST_STEP;
	struct chunk *chunk;
	void *memory;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = align_up(size ? size : 1);
	memory = chunk_alloc(arena->newest, size);
	if (memory)
		return memory;
	chunk = chunk_new(size > step ? size : step);
	if (!chunk)
		return NULL;
	chunk->next = arena->newest;
	arena->newest = chunk;
	arena->total += sizeof(*chunk) + chunk->size;
	return chunk_alloc(chunk, size);
}

void *rna_arena_array(struct rna_arena *arena, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		return NULL;
	return rna_arena_alloc(arena, total);
}

char *rna_arena_strdup(struct rna_arena *arena, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = rna_arena_alloc(arena, size);

	return copy ? memcpy(copy, text, size) : NULL;
}

const char *rna_arena_keep(struct rna_arena *arena, const char *text, bool *failed)
{
	const char *copy = text ? rna_arena_strdup(arena, text) : NULL;

	*failed |= text && !copy;
	return copy;
}

char *rna_arena_printf(struct rna_arena *arena, const char *format, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0)
		return NULL;
	text = rna_arena_alloc(arena, (size_t)len + 1);
	if (!text)
		return NULL;
	va_start(args, format);
	(void)vsnprintf(text, (size_t)len + 1, format, args);
	va_end(args);
	return text;
}

/* count entries are moved to room for more. NULL: no memory. */
static void *move_items(void *items, size_t count, size_t room, size_t size,
			struct rna_arena *arena)
{
	void *more = arena ? rna_arena_array(arena, room, size) : reallocarray(items, room, size);

	if (more && arena && count > 0)
		memcpy(more, items, count * size);
	return more;
}

/* There is room for the next power of two, so that the array moves rarely. */
void *rna_grow(void *array, size_t count, size_t size, struct rna_arena *arena)
{
	bool is_full = count == 0 || (count >= ITEMS_FIRST && (count & (count - 1)) == 0);
	char **items = array, *more = *items;

	if (is_full)
		more = move_items(more, count, count > 0 ? 2 * count : ITEMS_FIRST, size, arena);
	if (!more)
		return NULL;
	*items = more;
	return more + count * size;
}
