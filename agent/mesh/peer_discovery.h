/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peer discovery: a thread that takes the lists of members of their source, chooses the neighbours
 * of this node, and asks their agents by HTTP which ports they probe with. Thread: the loop's.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/clock.h"
#include "rna/base/error.h"

#include "member_source.h"
#include "neighbours.h"
#include "peer_facts.h"

/* A neighbour: its name in the list of members, and where its agent is. */
struct rna_peer_place {
	char name[RNA_PEER_TEXT_SIZE];
	char origin[RNA_PEER_ORIGIN_SIZE];
};

struct rna_peer_discovery_options {
	struct rna_member_source_options source;
	const char *node; /* this node's name */
	unsigned neighbours;
	/* They are asked until the first list is there. */
	const struct rna_peer_place *remembered;
	size_t remembered_count;
};

/* What the thread found: a peer, or the list. */
struct rna_peer_news {
	struct rna_work work;
	/*
	 * Not 0: the number of a choice among so many members. The text says what is wrong with the
	 * list, and then nothing was chosen; "": nothing.
	 */
	uint64_t choice;
	rna_usec looked; /* realtime, of the list */
	size_t members;
	char own[RNA_PEER_TEXT_SIZE]; /* this node's name in the list, and its leaf there */
	char leaf[RNA_PEER_TEXT_SIZE];
	size_t place_count; /* the neighbours that were chosen */
	struct rna_peer_place places[2 * RNA_NEIGHBOURS_MAX];
	/* Otherwise a peer of that choice: */
	char name[RNA_PEER_TEXT_SIZE];
	char host[RNA_PEER_TEXT_SIZE]; /* where its agent is: a name or an address */
	rna_usec asked;                /* monotonic, before the question */
	bool answered;                 /* facts are its answer */
	bool refused;                  /* it answers, but is of no use: see text */
	char text[RNA_ERROR_MAX];
	struct rna_peer_facts facts;
};

/* Starts a worker that returns what it finds. Copies options. 0 or negative errno with error. */
int rna_peer_discovery_start(const struct rna_peer_discovery_options *options,
			     struct rna_worker **ret, struct rna_error *error);
/* The next finding, which the caller frees with free(); NULL: none now. */
struct rna_peer_news *rna_peer_discovery_take(struct rna_worker *discovery);
/*
 * The leaf of this node's first port, which peers' ports have to have; "": unknown. Members whose
 * leaf no list has are asked for it, one in a second, along the ring until there are as many on the
 * leaf as are wanted: the choice is that of a list that has all leaves.
 */
void rna_peer_discovery_set_leaf(struct rna_worker *discovery, const char *leaf);
/* Asks that peer soon, not at its turn; once a second at most. */
void rna_peer_discovery_ask(struct rna_worker *discovery, const char *name);
