// SPDX-License-Identifier: Apache-2.0
/* The table of rules for readers: for describe, as the catalog of the journal, and their runbooks.
 */
#include <string.h>

#include "remedy.h"
#include "rules.h"

void rna_rules_describe(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "Rule\tSeverity\tHold-down\tWhen\tWhat to do\n");
	for (size_t i = 0; i < RNA_RULE_COUNT; i++) {
		const struct rna_rule *rule = &rna_rules[i];

		rna_strbuf_printf(out, "`%s`\t%s\t%s\t%s\t", rule->name,
				  rna_severity_name(rule->severity), rule->hold, rule->help);
		rna_remedy_write(rule->remedy, NULL, out);
		rna_strbuf_puts(out, "\n");
	}
}

static void write_entry(const char *id, const char *subject, const char *text,
			struct rna_strbuf *out)
{
	rna_strbuf_printf(out,
			  "-- %s\n"
			  "Subject: %s\n"
			  "Defined-By: rdma-node-agent\n"
			  "Documentation: man:rdma-node-agent(8)\n\n%s\n",
			  id, subject, text);
}

/* journalctl does not wrap catalog text; pagers wrap a line that has a whole paragraph. */
void rna_rules_write_catalog(struct rna_strbuf *out)
{
	for (size_t i = 0; i < RNA_RULE_COUNT; i++) {
		const struct rna_rule *rule = &rna_rules[i];

		write_entry(rule->message_id, "RDMA finding @RULE@ (@SEVERITY@)", rule->help, out);
		rna_remedy_write(rule->remedy, NULL, out);
		rna_strbuf_puts(out, "\n\n");
	}
	write_entry(
		rna_rule_resolved_id, "RDMA finding @RULE@ resolved",
		"The problem that an earlier entry with the same RULE, DEVICE and PORT reported "
		"no longer exists.\n",
		out);
}

enum rna_rule_id rna_rule_find(const char *name)
{
	enum rna_rule_id id = 0;

	while (id < RNA_RULE_COUNT && (!name || strcmp(rna_rules[id].name, name) != 0))
		id++;
	return id;
}

const char *rna_rule_find_runbook(const char *rule, enum rna_link_layer link_layer)
{
	const char *found = NULL;

	for (size_t i = 0; i < rna_rule_runbook_count; i++) {
		const struct rna_rule_runbook *row = &rna_rule_runbooks[i];

		if (strcmp(row->rule, rule) != 0)
			continue;
		if (row->link_layer == link_layer)
			return row->runbook;
		if (row->link_layer == RNA_LINK_LAYER_UNKNOWN)
			found = row->runbook;
	}
	return found;
}
