// SPDX-License-Identifier: Apache-2.0
/* The desired state as a Node in YAML, for the command kube. */
#include "rna/kubernetes.h"

#include "view/text.h"

static const char *escape_yaml(char c)
{
	if (c == '"')
		return "\\\"";
	return c == '\\' ? "\\\\" : NULL;
}

static void write_text(const char *before, const char *text, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%s\"", before);
	rna_text_add(out, text, escape_yaml);
	rna_strbuf_puts(out, "\"\n");
}

static void write_conditions(const struct rna_desired_node *desired, struct rna_strbuf *out)
{
	static const char *const statuses[] = {
		[RNA_CONDITION_STATUS_FALSE] = "False",
		[RNA_CONDITION_STATUS_TRUE] = "True",
		[RNA_CONDITION_STATUS_UNKNOWN] = "Unknown",
	};

	if (desired->condition_count > 0)
		rna_strbuf_puts(out, "status:\n  conditions:\n");
	RNA_EACH (condition, desired->conditions, desired->condition_count) {
		if (!condition->message)
			continue;
		rna_strbuf_printf(out, "  - type: %s\n    status: \"%s\"\n    reason: %s\n",
				  condition->type, statuses[condition->status], condition->reason);
		write_text("    message: ", condition->message, out);
	}
}

void rna_desired_node_write(const struct rna_desired_node *desired,
			    const struct rna_kubernetes_options *options, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "apiVersion: v1\nkind: Node\nmetadata:\n");
	if (options->node && *options->node)
		write_text("  name: ", options->node, out);
	rna_strbuf_puts(out, desired->label_count > 0 ? "  labels:\n" : "  labels: {}\n");
	for (size_t i = 0; i < desired->label_count; i++)
		if (desired->labels[i].value)
			rna_strbuf_printf(out, "    %s: \"%s\"\n", desired->labels[i].key,
					  desired->labels[i].value);
	if (desired->taint) {
		rna_strbuf_puts(out, "spec:\n  taints:\n");
		if (options->taint_dry_run)
			rna_strbuf_puts(out, "  # kubernetes.taint_dry_run: it is not set\n");
		else if (options->taint_leases)
			rna_strbuf_printf(out, "  # set if the node gets one of the Leases %s\n",
					  options->taint_leases);
		rna_strbuf_printf(out, "  - key: %s\n    effect: %s\n", options->taint_key,
				  options->taint_effect);
	}
	write_conditions(desired, out);
}
