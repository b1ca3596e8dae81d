// SPDX-License-Identifier: Apache-2.0
#include "rna/model/part.h"

void *rna_part_new(enum rna_collector_id collector, size_t size, size_t arena_hint)
{
	struct rna_arena *arena = rna_arena_new(size + arena_hint);
	struct rna_part *part = arena ? rna_arena_alloc(arena, size) : NULL;

	if (!part) {
		(void)rna_arena_free(arena);
		return NULL;
	}
	part->refs = 1;
	part->collector = collector;
	part->arena = arena;
	return part;
}

static unsigned *refs_of(const struct rna_part *part)
{
	return &((struct rna_part *)(uintptr_t)part)->refs;
}

const struct rna_part *rna_part_ref(const struct rna_part *part)
{
	if (part)
		++*refs_of(part);
	return part;
}

struct rna_part *rna_part_unref(const struct rna_part *part)
{
	if (part && --*refs_of(part) == 0)
		(void)rna_arena_free(part->arena);
	return NULL;
}

void rna_part_count_error(struct rna_part *part, int error)
{
	part->errors[rna_reason_from_errno(error)]++;
}

uint64_t rna_part_error_count(const struct rna_part *part)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < RNA_REASON_COUNT; i++)
		sum += part->errors[i];
	return sum;
}
