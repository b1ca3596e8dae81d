/* SPDX-License-Identifier: Apache-2.0 */
/* Announcements: what changes about findings, told to the journal. */
#pragma once

#include "rules/health.h"

/*
 * One entry, with the fields RULE, SEVERITY, DEVICE, PORT and the rule's MESSAGE_ID, which the
 * catalog explains; of what is over, with the id that all rules share.
 */
void rna_announce(const struct rna_rule *rule, const struct rna_finding *finding, bool over,
		  rna_usec lasted);
