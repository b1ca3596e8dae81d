/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: memory that is allocated in pieces and freed as a whole. Each part has one. Memory is
 * zeroed and aligned for any type. Thread: one at a time; sealed content may be read by any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/cleanup.h"

struct rna_arena;

/* first: expected total in bytes; the arena grows by itself beyond it. NULL: no memory. */
struct rna_arena *rna_arena_new(size_t first);
struct rna_arena *rna_arena_free(struct rna_arena *arena); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_arena, rna_arena_free)

/* Bytes that it has of malloc(). */
size_t rna_arena_size(const struct rna_arena *arena);

/* All return NULL when there is no memory; the caller reports -ENOMEM. */
void *rna_arena_alloc(struct rna_arena *arena, size_t size);
void *rna_arena_array(struct rna_arena *arena, size_t count, size_t size); /* overflow: NULL */
char *rna_arena_strdup(struct rna_arena *arena, const char *text);
char *rna_arena_printf(struct rna_arena *arena, const char *format, ...) RNA_PRINTF(2, 3);

/*
 * Copies text like strdup, for a caller that checks *failed once after many calls. NULL gives NULL.
 */
const char *rna_arena_keep(struct rna_arena *arena, const char *text, bool *failed);

/*
 * The place of one more entry behind the count entries of array, which may move. Its room follows
 * from count: call it for each entry that is added, from the first on. arena: NULL: the array is of
 * malloc(). NULL: no memory; array stays as it is.
 */
#define RNA_GROW(array, count, arena)                                                              \
	((__typeof__(array))rna_grow(&(array), (count), sizeof(*(array)), (arena)))
void *rna_grow(void *array, size_t count, size_t size, struct rna_arena *arena);
