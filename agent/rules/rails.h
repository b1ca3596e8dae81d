/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rails: ports of the same adapter model, which should be configured alike. Comparing them needs no
 * policy: a port that differs from most others is an outlier.
 */
#pragma once

#include <limits.h>

#include "rules.h"

#define RNA_RAIL_ANY UINT_MAX /* in place of a place: all ports that serve GPUs */

/* What ports are compared by. False: it is not known. */
typedef bool rna_rail_trait(const struct rna_subject *port, uint64_t *ret);

/* What most ports of a model have: the same for all of its ports, so it is found out once. */
struct rna_rail_usual {
	rna_rail_trait *get;
	const struct rna_subject *like; /* a port of the model; NULL: not in use */
	unsigned place;   /* only ports of this place; 0: of the model; RNA_RAIL_ANY */
	size_t known;     /* ports whose value is known */
	size_t count;     /* of these: ports that have value */
	bool is_majority; /* more than half of these have value */
	uint64_t value;
};

/* For one rule and one view. A rule compares up to ten traits, and a node has few models. */
enum { RNA_RAIL_MEMO_MAX = 32 };

struct rna_rail_memo {
	size_t next; /* to be filled, modulo the number of items */
	struct rna_rail_usual items[RNA_RAIL_MEMO_MAX];
};

/* The rates of the active ports of a model: the first two that differ, and how many ports run at
 * each. */
struct rna_rail_rates {
	uint64_t rates[2];
	size_t counts[2];
	bool more; /* a third rate */
};

/* For one rule and one view, by the number of the model (struct rna_subject, model). */
struct rna_rail_rate_memo {
	bool counted;
	struct rna_rail_rates models[RNA_SUBJECT_MODELS_MAX + 1];
};

/* One model of card, and both identities are known. The link layer may differ. */
bool rna_rail_is_same_model(const struct rna_subject *a, const struct rna_subject *b);

/*
 * Is the port one of those that jobs use: a rail of the node's GPUs? Where nothing is known of
 * such, any of a physical function may be.
 */
bool rna_rail_is_one(const struct rna_rule_input *in, const struct rna_subject *port);

/*
 * Does the port that is looked at stand alone against most of its kind: what more than half of at
 * least three have? *ret: what these have. Pure.
 */
bool rna_rail_is_odd(const struct rna_rule_input *in, rna_rail_trait *get, uint64_t *ret);

/*
 * The same among the ports in its place (struct rna_subject), which are used alike: storage
 * NICs are not compared with those of GPUs, nor second ports with first ones.
 */
bool rna_rail_is_odd_in_place(const struct rna_rule_input *in, rna_rail_trait *get,
			      struct rna_rail_usual *ret);

/*
 * The same, and a port in whose place there are too few is compared with all that serve GPUs: a
 * card that was replaced by one of another board. For what does not depend on the model.
 */
bool rna_rail_is_odd_alike(const struct rna_rule_input *in, rna_rail_trait *get,
			   struct rna_rail_usual *ret);

/* Is it expected to be up because its siblings are? */
bool rna_rail_is_expected_by_siblings(const struct rna_subject *port);

/* Is it configured for another link layer than those ports, whatever its state? */
bool rna_rail_has_odd_layer(const struct rna_rule_input *in, struct rna_rail_usual *ret);

/* "7 of 8 such ports on cards of its model (MT4129)", "7 of 8 ports that serve GPUs" */
const char *rna_rail_say_alike(const struct rna_rule_input *in, const struct rna_rail_usual *usual,
			       struct rna_arena *arena);
