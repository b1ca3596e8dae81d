/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who probes whom. All members form a ring, in the order of a hash of their names; a node's
 * neighbours are at fixed distances from it. So each node computes them without asking, each is
 * probed by as many as it probes. A new member changes the near neighbours of three nodes, and
 * moves the far ones of many by a place. Pure. Thread: any.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "members.h"

enum { RNA_NEIGHBOURS_MAX = 3 }; /* on the leaf, and as many elsewhere */

struct rna_neighbours {
	size_t count; /* those on the same leaf first */
	size_t on_leaf;
	size_t members[2 * RNA_NEIGHBOURS_MAX]; /* indexes */
};

/* The place of a name in the ring. */
uint64_t rna_ring_place(const char *name);

/*
 * All members but name in the order of the ring, from the place of name on: indexes, which the
 * caller frees. Their number, or -ENOMEM; *ret is to be freed in both cases.
 */
int rna_ring_order(const struct rna_members *members, const char *name, size_t **ret);

/* By the list, or by what its agent has told. leaf "": no. */
bool rna_member_is_on_leaf(const struct rna_member *member, const char *leaf);

/*
 * The member to be asked for its leaf: the next one in that order whose leaf nothing says, before
 * so many are on the leaf as are wanted. NULL: none, so that the choice is that of a list that has
 * all leaves.
 */
struct rna_member *rna_neighbours_unknown(const struct rna_members *members, const size_t *ring,
					  size_t count, const char *leaf, unsigned wanted,
					  rna_usec now);

/*
 * The neighbours of the node name, wanted of each kind at most. leaf: its leaf; "": unknown, then
 * all members count as elsewhere. The node may be missing among the members, and is not its own
 * neighbour. 0 or -ENOMEM.
 */
int rna_neighbours_choose(const struct rna_members *members, const char *name, const char *leaf,
			  unsigned wanted, struct rna_neighbours *ret);
