// SPDX-License-Identifier: Apache-2.0
#include "neighbours.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/base/hash.h"

struct place {
	uint64_t hash;
	size_t member;
	const char *name;
};

/*
 * The last steps of SplitMix64 are behind the hash: names that differ in one digit would otherwise
 * stay neighbours in the ring. All agents of a mesh must come to the same place.
 */
uint64_t rna_ring_place(const char *name)
{
	uint64_t hash = rna_hash_text(RNA_HASH_INIT, name);

	hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
	hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
	return hash ^ (hash >> 31);
}

static int compare_places(const void *a, const void *b)
{
	const struct place *first = a, *second = b;

	if (first->hash != second->hash)
		return first->hash < second->hash ? -1 : 1;
	return strcmp(first->name, second->name);
}

/* The ring of those that are on the leaf, or of those that are not. Their number. */
static size_t make_ring(const struct rna_members *members, const char *name, const char *leaf,
			bool on_leaf, struct place *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < members->count; i++) {
		const struct rna_member *member = &members->members[i];
		bool same = leaf[0] != '\0' && strcmp(member->leaf, leaf) == 0;

		if (same == on_leaf && strcmp(member->name, name) != 0)
			ret[count++] =
				(struct place){rna_ring_place(member->name), i, member->name};
	}
	if (count > 0)
		qsort(ret, count, sizeof(*ret), compare_places);
	return count;
}

/* The first place behind that of name. */
static size_t find_behind(const struct place *ring, size_t count, const char *name)
{
	const struct place own = {rna_ring_place(name), 0, name};
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_places(&ring[middle], &own) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return count > 0 ? low % count : 0;
}

static bool has(const struct rna_neighbours *neighbours, size_t member)
{
	for (size_t i = 0; i < neighbours->count; i++)
		if (neighbours->members[i] == member)
			return true;
	return false;
}

/* On the leaf the next ones; elsewhere distances that spread over the whole ring. */
static void choose(const struct place *ring, size_t count, const char *name, unsigned wanted,
		   bool on_leaf, struct rna_neighbours *neighbours)
{
	size_t behind = find_behind(ring, count, name);

	wanted = wanted > count ? (unsigned)count : wanted;
	for (unsigned i = 0; i < wanted; i++) {
		size_t distance = on_leaf ? i : i * count / wanted;
		size_t member = ring[(behind + distance) % count].member;

		if (!has(neighbours, member))
			neighbours->members[neighbours->count++] = member;
	}
}

int rna_neighbours_choose(const struct rna_members *members, const char *name, const char *leaf,
			  unsigned wanted, struct rna_neighbours *ret)
{
	RNA_FREE struct place *ring = calloc(members->count + 1, sizeof(*ring));
	size_t count;

	*ret = (struct rna_neighbours){0};
	if (!ring)
		return -ENOMEM;
	wanted = wanted > RNA_NEIGHBOURS_MAX ? RNA_NEIGHBOURS_MAX : wanted;
	count = make_ring(members, name, leaf, true, ring);
	choose(ring, count, name, wanted, true, ret);
	ret->on_leaf = ret->count;
	count = make_ring(members, name, leaf, false, ring);
	choose(ring, count, name, wanted, false, ret);
	return 0;
}
