// SPDX-License-Identifier: Apache-2.0
#include "rna/addresses.h"

struct rna_addresses *rna_addresses_new(size_t room)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(256);
	struct rna_addresses *addresses;

	addresses = arena ? rna_arena_alloc(arena, sizeof(*addresses)) : NULL;
	if (!addresses)
		return NULL;
	addresses->refs = 1;
	addresses->items = rna_arena_array(arena, room, sizeof(*addresses->items));
	if (!addresses->items)
		return NULL;
	addresses->arena = RNA_TAKE(arena);
	return addresses;
}

struct rna_addresses *rna_addresses_ref(struct rna_addresses *addresses)
{
	if (addresses)
		addresses->refs++;
	return addresses;
}

struct rna_addresses *rna_addresses_unref(struct rna_addresses *addresses)
{
	if (addresses && --addresses->refs == 0)
		(void)rna_arena_free(addresses->arena); /* holds the struct itself */
	return NULL;
}
