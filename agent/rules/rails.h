/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rails: ports of the same adapter model, which should be configured alike. Comparing them needs no
 * policy: a port that differs from most others is an outlier.
 */
#pragma once

#include "rules.h"

/* What ports are compared by. False: it is not known. */
typedef bool rna_rail_trait(const struct rna_rule_subject *port, uint64_t *ret);

/* One model of card, and both identities are known. The link layer may differ. */
bool rna_rail_is_same_model(const struct rna_rule_subject *a, const struct rna_rule_subject *b);

/*
 * Is the port one of those that jobs use: a rail of the node's GPUs? Where nothing is known of
 * such, any of a physical function may be.
 */
bool rna_rail_is_one(const struct rna_rule_input *in, const struct rna_rule_subject *port);

/*
 * Does the port that is looked at stand alone against most of its kind: what more than half of at
 * least three have? *ret: what these have. Pure.
 */
bool rna_rail_is_odd(const struct rna_rule_input *in, rna_rail_trait *get, uint64_t *ret);
