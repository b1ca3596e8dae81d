// SPDX-License-Identifier: Apache-2.0
/* What the loop passes to the collector topology, so that rails keep their numbers. */
#include "rna/base/arena.h"
#include "rna/model/topology.h"

struct rna_known_rails *rna_known_rails_new(size_t room)
{
	struct rna_arena *arena = rna_arena_new(sizeof(struct rna_known_rails) +
						room * (sizeof(struct rna_known_nic) + 16));
	struct rna_known_rails *rails = arena ? rna_arena_alloc(arena, sizeof(*rails)) : NULL;

	if (!rails)
		return NULL;
	rails->refs = 1;
	rails->arena = arena;
	rails->nics = rna_arena_array(arena, room, sizeof(*rails->nics));
	if (!rails->nics) {
		(void)rna_arena_free(arena);
		return NULL;
	}
	return rails;
}

struct rna_known_rails *rna_known_rails_ref(struct rna_known_rails *rails)
{
	if (rails)
		rails->refs++;
	return rails;
}

struct rna_known_rails *rna_known_rails_unref(struct rna_known_rails *rails)
{
	if (rails && --rails->refs == 0)
		(void)rna_arena_free(rails->arena);
	return NULL;
}
