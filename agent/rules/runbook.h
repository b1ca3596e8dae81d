/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which runbook is about the findings of a rule: a table that exporter/page/runbooks.py makes of
 * the lines "Findings: ..." in helm/rdma-node-agent/runbooks.md.
 */
#pragma once

#include <stddef.h>

#include "rna/model/device.h"

struct rna_rule_runbook {
	const char *rule;
	enum rna_link_layer link_layer; /* UNKNOWN: any that has no row of its own */
	const char *runbook;
};

extern const struct rna_rule_runbook rna_rule_runbooks[];
extern const size_t rna_rule_runbook_count;

/* The name of the runbook, static; NULL: no line has the rule. */
const char *rna_rule_find_runbook(const char *rule, enum rna_link_layer link_layer);
