/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots: who may have a connection. A slot is one of http.max_connections.
 *
 * One address has at most a quarter of them; a /64 of IPv6 counts as one address, and so does the
 * node itself, with all of its addresses. Three sixteenths of the slots are kept free, so that a
 * crowd of strangers cannot lock out those who matter: one for private unix sockets, one for the
 * node itself, where probes come from, one for the addresses of scrapers.
 *
 * A scraper is an address that got metrics at least twice, the last time not long ago. Eight are
 * known at a time; a new one has to wait until one of them is forgotten, so that strangers cannot
 * take their places.
 *
 * No descriptors and no clock here: pure. Thread: the loop's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tries.h"

enum rna_client_class {
	RNA_CLASS_STRANGER,
	RNA_CLASS_SCRAPER,
	RNA_CLASS_NODE,    /* comes from this node */
	RNA_CLASS_PRIVATE, /* of a private unix socket: no limit for its address */
	RNA_CLASS_COUNT,
};

enum { RNA_SCRAPERS = 8 };

struct rna_slot_holder; /* an address and its connections */

struct rna_known_scraper {
	struct rna_address address;
	rna_usec last; /* when it got metrics; 0: a free place */
	unsigned times;
};

struct rna_slots {
	unsigned limit, per_address, reserve;
	unsigned taken[RNA_CLASS_COUNT]; /* of reserves; of strangers: of what is for all */
	size_t holder_count;
	struct rna_slot_holder *holders;
	struct rna_known_scraper scrapers[RNA_SCRAPERS];
};

/* A slot that is taken. */
struct rna_client_slot {
	struct rna_address address;
	enum rna_client_class kind;
	enum rna_client_class
		pool; /* from which it is: of what is for all (stranger), or of a reserve */
};

int rna_slots_init(struct rna_slots *slots, unsigned limit); /* 0 or -ENOMEM */
void rna_slots_deinit(struct rna_slots *slots);              /* fine on a zeroed struct */

/*
 * Takes a slot for slot->address and slot->kind, where a stranger may turn out to be a scraper. 0;
 * -EUSERS: the address has its share; -EBUSY: all slots that it could have are taken.
 */
int rna_slots_take(struct rna_slots *slots, struct rna_client_slot *slot, rna_usec now);
void rna_slots_give(struct rna_slots *slots, const struct rna_client_slot *slot);
/* How many slots an address has. */
unsigned rna_slots_held(const struct rna_slots *slots, const struct rna_address *address);

/* The address got metrics. */
void rna_slots_scraped(struct rna_slots *slots, const struct rna_address *address, rna_usec now);
