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

int rna_ring_order(const struct rna_members *members, const char *name, size_t **ret)
{
	RNA_FREE struct place *ring = calloc(members->count + 1, sizeof(*ring));
	const struct place own = {rna_ring_place(name), 0, name};
	size_t count = 0, behind = 0;

	*ret = calloc(members->count + 1, sizeof(**ret));
	if (!ring || !*ret)
		return -ENOMEM;
	for (size_t i = 0; i < members->count; i++) {
		const char *other = members->members[i].name;

		if (strcmp(other, name) != 0)
			ring[count++] = (struct place){rna_ring_place(other), i, other};
	}
	if (count > 0)
		qsort(ring, count, sizeof(*ring), compare_places);
	while (behind < count && compare_places(&ring[behind], &own) < 0)
		behind++;
	for (size_t i = 0; i < count; i++)
		(*ret)[i] = ring[(behind + i) % count].member;
	return (int)count;
}

bool rna_member_is_on_leaf(const struct rna_member *member, const char *leaf)
{
	return leaf[0] != '\0' && (member->claims || strcmp(member->leaf, leaf) == 0);
}

/* One that the list has a leaf of is known. */
struct rna_member *rna_neighbours_unknown(const struct rna_members *members, const size_t *ring,
					  size_t count, const char *leaf, unsigned wanted,
					  rna_usec now)
{
	unsigned found = 0;

	for (size_t i = 0; i < count && found < wanted; i++) {
		struct rna_member *member = &members->members[ring[i]];

		if (member->leaf[0] == '\0' && now >= member->ask_at)
			return member;
		found += rna_member_is_on_leaf(member, leaf);
	}
	return NULL;
}

/* On the leaf the next ones; elsewhere distances that spread over the whole ring. */
int rna_neighbours_choose(const struct rna_members *members, const char *name, const char *leaf,
			  unsigned wanted, struct rna_neighbours *ret)
{
	RNA_FREE size_t *ring = NULL;
	int count = rna_ring_order(members, name, &ring);
	size_t others = 0;

	*ret = (struct rna_neighbours){0};
	if (count < 0)
		return count;
	wanted = wanted > RNA_NEIGHBOURS_MAX ? RNA_NEIGHBOURS_MAX : wanted;
	for (int i = 0; i < count; i++)
		if (!rna_member_is_on_leaf(&members->members[ring[i]], leaf))
			ring[others++] = ring[i];
		else if (ret->count < wanted)
			ret->members[ret->count++] = ring[i];
	ret->on_leaf = ret->count;
	wanted = wanted > others ? (unsigned)others : wanted;
	for (unsigned i = 0; i < wanted; i++)
		ret->members[ret->count++] = ring[i * others / wanted];
	return 0;
}
