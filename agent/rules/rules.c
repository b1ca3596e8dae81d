// SPDX-License-Identifier: Apache-2.0
/*
 * The rules as one table: by name, for describe, as the catalog of the journal, and their runbooks.
 * Settings and documents follow from the rows, which stand in rules_*.c.
 */
#include "rules.h"

#include <fnmatch.h>
#include <string.h>

#include "rna/base/duration.h"
#include "rna/base/words.h"

#include "remedy.h"

const char rna_rule_resolved_id[] = "98d3cd14b89c4eefab6f9f6dddd4285d";

#define ROW(name) &rna_rule_##name,

const struct rna_rule *const rna_rules[RNA_RULE_COUNT] = {RNA_RULES(ROW)};

/* -- Rules by name, as settings give them ------------------------------------------------------ */

size_t rna_rule_find(const char *name)
{
	size_t id = 0;

	while (id < RNA_RULE_COUNT && (!name || strcmp(rna_rules[id]->name, name) != 0))
		id++;
	return id;
}

bool rna_rule_glob_is_valid(const char *text)
{
	return RNA_ANY(i, RNA_RULE_COUNT, fnmatch(text, rna_rules[i]->name, 0) == 0);
}

void rna_rule_explain(const char *text, struct rna_strbuf *out)
{
	struct rna_hint hint = RNA_HINT_LEN(text, strcspn(text, "="));
	RNA_FREE char *glob = strndup(text, hint.word_len);

	if (!glob || *glob == '\0' || rna_rule_glob_is_valid(glob))
		return;
	for (size_t i = 0; i < RNA_RULE_COUNT; i++)
		rna_hint_offer(&hint, rna_rules[i]->name, strlen(rna_rules[i]->name));
	rna_hint_write(&hint, "rule", "rules", out);
}

bool rna_rule_split_hold(const char *text, char glob[RNA_RULE_GLOB_MAX], rna_usec *ret)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;

	if (len == 0 || len >= RNA_RULE_GLOB_MAX)
		return false;
	memcpy(glob, text, len);
	glob[len] = '\0';
	return rna_rule_glob_is_valid(glob) && rna_duration_parse(equals + 1, ret) == 0;
}

bool rna_rule_hold_is_valid(const char *text)
{
	char glob[RNA_RULE_GLOB_MAX];
	rna_usec ignored;

	return rna_rule_split_hold(text, glob, &ignored);
}

/* -- For readers ------------------------------------------------------------------------------- */

void rna_rules_describe(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "Rule\tSeverity\tImpact\tCause\tHold-down\tWhen\t"
			     "What to do\n");
	for (size_t i = 0; i < RNA_RULE_COUNT; i++) {
		const struct rna_rule *rule = rna_rules[i];

		rna_strbuf_printf(out, "`%s`\t%s\t%s\t%s\t%s\t%s\t", rule->name,
				  rna_severity_name(rule->severity), rna_impact_name(rule->impact),
				  rna_cause_name(rule->cause), rule->hold ? rule->hold : "0s",
				  rule->help);
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
		const struct rna_rule *rule = rna_rules[i];

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

const char *rna_rule_find_runbook(const char *rule, enum rna_link_layer link_layer,
				  enum rna_severity severity)
{
	const char *found = NULL;

	RNA_EACH (row, rna_rule_runbooks, rna_rule_runbook_count) {
		if (strcmp(row->rule, rule) != 0 || (row->info && severity != RNA_SEVERITY_INFO))
			continue;
		if (row->info ||
		    (row->link_layer != RNA_LINK_LAYER_UNKNOWN && row->link_layer == link_layer))
			return row->runbook;
		if (row->link_layer == RNA_LINK_LAYER_UNKNOWN)
			found = row->runbook;
	}
	return found;
}
