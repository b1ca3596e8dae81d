/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding as it is tracked, reported or not, from the first view that has the problem to the
 * first that does not. For health.c, and for health_file.c, which keeps findings over restarts.
 */
#pragma once

#include "rules/rules.h"

struct rna_tracked_finding {
	size_t rule;  /* index of rna_rules */
	char *device; /* name; NULL: the node */
	char *key;    /* of the device; NULL: the node, or a device that is missing */
	char *text, *remedy;
	char *told_text;            /* of the finding; NULL: not told */
	struct rna_finding finding; /* with the texts above */
	bool was_there;             /* when the agent first saw all of the node */
	bool told;
	enum rna_severity told_severity; /* the worst that was reported */
	enum rna_severity last_severity; /* that was reported, news or not */
	/*
	 * From an earlier process. Until this one has found the problem as well, it is neither
	 * shown nor over: what found it may not have been read yet.
	 */
	bool recalled;
	bool found;            /* by this process */
	bool kept;             /* it could not be read whether it is over: it is shown, too */
	struct rna_time heard; /* its start, as the rule said when this process found it */
};

void rna_tracked_finding_deinit(struct rna_tracked_finding *tracked); /* idempotent */

/* By rule, device and port. */
int rna_tracked_finding_compare(const void *a, const void *b);
