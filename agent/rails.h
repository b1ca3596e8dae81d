/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rails: ports of one card in several slots, which are to be alike whatever they are. Comparing
 * them needs no policy; who stands alone against most of the others is told.
 */
#pragma once

#include "rules.h"

/* What ports are compared by. False: it is not known. */
typedef bool rna_rail_trait(const struct rna_rule_subject *port, uint64_t *ret);

/*
 * Does the port that is looked at stand alone against most of its kind: what more than half of at
 * least three have? *ret: what these have. Pure.
 */
bool rna_rail_is_odd(const struct rna_rule_input *in, rna_rail_trait *get, uint64_t *ret);
