// SPDX-License-Identifier: Apache-2.0
/* What the loop passes to the collector topology, so that rails keep their numbers. */
#include "rna/base/arena.h"
#include "rna/model/topology.h"

struct rna_known_rails *rna_known_rails_new(size_t room)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(256);
	struct rna_known_rails *rails = arena ? rna_arena_alloc(arena, sizeof(*rails)) : NULL;

	if (!rails)
		return NULL;
	rails->refs = 1;
	rails->nics = rna_arena_array(arena, room, sizeof(*rails->nics));
	if (!rails->nics)
		return NULL;
	rails->arena = RNA_TAKE(arena);
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
