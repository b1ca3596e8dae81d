/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions of the Node, as node-problem-detector has them: True says that there is a problem. A
 * rule says in its row which condition its findings set; what else there is to a condition stands
 * in the table here.
 */
#pragma once

#include "rna/kubernetes.h"

#include "rules/rules.h"

/* What must be known, so that no finding means no problem. */
enum rna_condition_needs {
	RNA_CONDITION_NEEDS_NOTHING,
	RNA_CONDITION_NEEDS_PORTS, /* the state of each */
	/* Of the Node; where they are not known there is no such condition, as for the next. */
	RNA_CONDITION_NEEDS_RESOURCES,
	RNA_CONDITION_NEEDS_LIMIT, /* to the taint */
};

struct rna_condition_row {
	const char *type;
	const char *reasons[RNA_CONDITION_STATUS_UNKNOWN + 1]; /* by status */
	const char *fine; /* the message while there is no problem */
	enum rna_condition_needs needs;
};

/* By enum rna_node_condition_id; RNA_CONDITION_NONE has no row. */
extern const struct rna_condition_row rna_condition_rows[RNA_CONDITION_COUNT];

/* The types of all, NULL-ended. */
void rna_condition_list_types(const char *ret[RNA_CONDITION_COUNT]);

/* Does finding count towards a condition? Then its rule, otherwise NULL. */
const struct rna_rule *rna_condition_rule_of(const struct rna_finding *finding);

/* What is known about what findings cannot tell. */
struct rna_condition_input {
	const struct rna_view *view;
	bool settled;  /* it is known what is wrong with this condition */
	bool observed; /* the state of each port is known */
};

/*
 * What a view says of a condition, and the message that goes with it. Rules and objects are named,
 * numbers are not: the message is the same until something else is wrong.
 */
void rna_condition_see(enum rna_node_condition_id id, const struct rna_condition_input *in,
		       struct rna_node_verdict *ret, struct rna_strbuf *message);

/* The published verdict as status of a condition. */
enum rna_condition_status rna_condition_status_of(const struct rna_node_verdict *published);

/* The table for the command describe. */
void rna_conditions_describe(struct rna_strbuf *out);
