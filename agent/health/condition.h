/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A condition: a problem that a rule found, reported or not, from the first view that has it to the
 * first that does not. For health.c, and for health_file.c, which keeps conditions over restarts.
 */
#pragma once

#include "rules/rules.h"

struct rna_condition {
	size_t rule;  /* index of rna_rules */
	char *device; /* name; NULL: the node */
	char *key;    /* of the device; NULL: the node, or a device that is missing */
	char *text, *remedy;
	struct rna_finding finding; /* with the texts above */
	bool was_there;             /* when the agent first saw all of the node */
	bool told;
	enum rna_severity told_severity;
	/*
	 * From an earlier process. Until this one has found the problem as well, it is neither
	 * shown nor over: what found it may not have been read yet.
	 */
	bool recalled;
	bool found;            /* by this process */
	bool kept;             /* it could not be read whether it is over: it is shown, too */
	struct rna_time heard; /* its start, as the rule said when this process found it */
};

void rna_condition_deinit(struct rna_condition *condition); /* idempotent */

/* By rule, device and port. */
int rna_condition_compare(const void *a, const void *b);
