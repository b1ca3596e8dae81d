// SPDX-License-Identifier: Apache-2.0
#include "node_conditions.h"

#include <string.h>

enum {
	MESSAGE_MAX = 512, /* bytes after which no further object is named */
	FALSE_RANK = 1,    /* no problem is the better news */
	TRUE_RANK = 0,
};

#define ROW(problem, fine_reason, fine_message, needs)                                             \
	{                                                                                          \
		"Rdma" problem, {fine_reason, problem, "Unknown"}, fine_message,                   \
			RNA_CONDITION_NEEDS_##needs                                                \
	}

const struct rna_condition_row rna_condition_rows[RNA_CONDITION_COUNT] = {
	[RNA_CONDITION_PORT_DOWN] = ROW("PortDown", "PortsUp",
					"No RDMA port that is expected to be up is down.", PORTS),
	[RNA_CONDITION_DEVICE_MISSING] =
		ROW("DeviceMissing", "DevicesPresent", "No RDMA device is missing.", NOTHING),
	[RNA_CONDITION_LINK_DEGRADED] =
		ROW("LinkDegraded", "LinksHealthy",
		    "RDMA links run at their expected speed, without significant errors.", PORTS),
	[RNA_CONDITION_PORT_UNREACHABLE] =
		ROW("PortUnreachable", "PortsReachable",
		    "RDMA ports that are up have the required addresses.", PORTS),
	[RNA_CONDITION_NOT_OBSERVED] = ROW("NotObserved", "Observed",
					   "All RDMA devices answer, and are observed.", NOTHING),
	[RNA_CONDITION_NOT_READY] =
		ROW("NotReady", "Ready",
		    "Modules, device nodes and settings required for RDMA are in place.", NOTHING),
	[RNA_CONDITION_RESOURCES_MISSING] =
		ROW("ResourcesMissing", "ResourcesAdvertised",
		    "Device plugins advertise all RDMA resources of the node.", RESOURCES),
	[RNA_CONDITION_FABRIC_UNHEALTHY] =
		ROW("FabricUnhealthy", "FabricHealthy",
		    "This node sees no fault of the fabric or of other nodes.", PORTS),
	[RNA_CONDITION_CHANGED] =
		ROW("Changed", "Unchanged", "Names, cables and cards are as they were.", NOTHING),
	[RNA_CONDITION_TAINT_WITHHELD] = ROW("TaintWithheld", "TaintNotWithheld",
					     "The Node has the taint if it should have it.", LIMIT),
};

static bool counts(const struct rna_finding *finding)
{
	return !finding->silenced && finding->severity >= RNA_SEVERITY_WARNING;
}

static bool is_finding_of(const struct rna_finding *finding, const struct rna_rule *rule)
{
	return counts(finding) && strcmp(finding->rule, rule->name) == 0;
}

const struct rna_rule *rna_condition_rule_of(const struct rna_finding *finding)
{
	size_t id = counts(finding) ? rna_rule_find(finding->rule) : RNA_RULE_COUNT;

	return id < RNA_RULE_COUNT ? rna_rules[id] : NULL;
}

static void name_object(const struct rna_finding *finding, const char *before,
			struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%s %s", before, finding->device);
	if (finding->port > 0)
		rna_strbuf_printf(out, "/%u", finding->port);
}

/*
 * "port-down: mlx5_0/1, mlx5_3/1" behind what is there already; only the rule where its findings
 * are about the node. How many findings there are.
 */
static size_t name_findings(const struct rna_rule *rule, const struct rna_view *view,
			    struct rna_strbuf *out)
{
	size_t count = 0, named = 0, left_out = 0;

	RNA_EACH (finding, view->findings, view->finding_count) {
		if (!is_finding_of(finding, rule))
			continue;
		if (count++ == 0)
			rna_strbuf_printf(out, "%s%s", out->len > 0 ? "; " : "", rule->name);
		if (finding->device && out->len < MESSAGE_MAX)
			name_object(finding, named++ == 0 ? ":" : ",", out);
		else if (finding->device)
			left_out++;
	}
	if (left_out > 0)
		rna_strbuf_printf(out, " and %zu more", left_out);
	return count;
}

static bool is_known(const struct rna_condition_input *in, enum rna_condition_needs needs)
{
	switch (needs) {
	case RNA_CONDITION_NEEDS_PORTS:
		return in->observed;
	case RNA_CONDITION_NEEDS_RESOURCES:
		return in->view->node && in->view->node->resources_known;
	case RNA_CONDITION_NEEDS_LIMIT:
		return in->view->node && in->view->node->taint_limited;
	default:
		return true;
	}
}

static bool sets(const struct rna_rule *rule, enum rna_node_condition_id id)
{
	return rule->condition == id || rule->second_condition == id;
}

void rna_condition_see(enum rna_node_condition_id id, const struct rna_condition_input *in,
		       struct rna_node_verdict *ret, struct rna_strbuf *message)
{
	const struct rna_condition_row *row = &rna_condition_rows[id];
	size_t problems = 0;

	*ret = (struct rna_node_verdict){.kind = RNA_VERDICT_UNKNOWN};
	for (size_t i = 0; i < RNA_RULE_COUNT; i++)
		if (sets(rna_rules[i], id))
			problems += name_findings(rna_rules[i], in->view, message);
	if (problems > 0) {
		*ret = (struct rna_node_verdict){RNA_VERDICT_VALUE, true, TRUE_RANK, "True"};
	} else if (in->settled && is_known(in, row->needs)) {
		*ret = (struct rna_node_verdict){RNA_VERDICT_VALUE, false, FALSE_RANK, "False"};
		rna_strbuf_puts(message, row->fine);
	}
}

void rna_condition_list_types(const char *ret[RNA_CONDITION_COUNT])
{
	for (enum rna_node_condition_id id = 1; id < RNA_CONDITION_COUNT; id++)
		ret[id - 1] = rna_condition_rows[id].type;
	ret[RNA_CONDITION_COUNT - 1] = NULL;
}

enum rna_condition_status rna_condition_status_of(const struct rna_node_verdict *published)
{
	if (published->kind != RNA_VERDICT_VALUE)
		return RNA_CONDITION_STATUS_UNKNOWN;
	return published->value[0] == 'T' ? RNA_CONDITION_STATUS_TRUE : RNA_CONDITION_STATUS_FALSE;
}

void rna_conditions_describe(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "Condition\tTrue while one of these rules has a finding of severity "
			     "warning or critical\n");
	for (enum rna_node_condition_id id = 1; id < RNA_CONDITION_COUNT; id++) {
		const char *between = "";

		rna_strbuf_printf(out, "`%s`\t", rna_condition_rows[id].type);
		for (size_t i = 0; i < RNA_RULE_COUNT; i++) {
			if (!sets(rna_rules[i], id))
				continue;
			rna_strbuf_printf(out, "%s`%s`", between, rna_rules[i]->name);
			between = ", ";
		}
		rna_strbuf_puts(out, "\n");
	}
}
