// SPDX-License-Identifier: Apache-2.0
/*
 * The command describe: the tables of the code, as Markdown for the documents and their check, and
 * in the forms that are installed.
 */
#include <string.h>

#include "rna/collector.h"
#include "rna/exporter.h"
#include "rna/kubernetes.h"

#include "config/settings_table.h"
#include "node/node_conditions.h"
#include "rules/rules.h"
#include "rules/thresholds.h"

#include "commands.h"
#include "completion.h"
#include "manual.h"

enum { KEY_MAX = 64 }; /* "poll." and the longest name of a collector */

static void write_functions(const struct rna_collector *collector, struct rna_strbuf *out)
{
	const char *between = " (";

	for (enum rna_function i = 0; i <= RNA_FUNCTION_SWITCH_MANAGEMENT; i++) {
		if (!(collector->functions & 1U << i))
			continue;
		rna_strbuf_printf(out, "%s%s", between, rna_function_name(i));
		between = ", ";
	}
	if (collector->functions)
		rna_strbuf_add_char(out, ')');
}

static void write_targets(const struct rna_collector *collector, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, collector->per_device ? "each device" : "the node");
	write_functions(collector, out);
	if (collector->link_layer != RNA_LINK_LAYER_UNKNOWN)
		rna_strbuf_printf(out, " with %s", rna_link_layer_name(collector->link_layer));
	if (collector->own_path)
		rna_strbuf_puts(out, " with a PCIe path of its own");
}

static void describe_collectors(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "| Collector | Runs for | Default period | What it reads |\n"
			     "|---|---|---|---|\n");
	for (size_t i = 0; i < RNA_COLLECTOR_COUNT; i++) {
		const struct rna_collector *collector = &rna_collectors[i];
		const struct rna_setting *period;
		char key[KEY_MAX];

		(void)snprintf(key, sizeof(key), "poll.%s", collector->name);
		period = rna_setting_find(key);
		rna_strbuf_printf(out, "| `%s` | ", collector->name);
		write_targets(collector, out);
		rna_strbuf_printf(out, " | %s | %s |\n", period ? period->standard : "?",
				  collector->help);
	}
}

static const struct {
	const char *topic;
	void (*describe)(struct rna_strbuf *out);
} topics[] = {
	{"settings", rna_settings_describe},
	{"metrics", rna_write_families},
	{"collectors", describe_collectors},
	{"commands", rna_commands_describe},
	{"rules", rna_rules_describe},
	{"thresholds", rna_thresholds_describe},
	{"labels", rna_node_labels_describe},
	{"conditions", rna_conditions_describe},
	{"catalog", rna_rules_write_catalog},
	{"man", rna_manual_write_program},
	{"man-config", rna_manual_write_configuration},
	{"bash-completion", rna_completion_write_bash},
};

const char *const rna_describe_topics[] = {
	"settings",   "metrics",         "collectors", "commands", "rules",
	"thresholds", "labels",          "conditions", "catalog",  "man",
	"man-config", "bash-completion", NULL,
};

int rna_command_describe(struct rna_call *call, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(topics); i++)
		if (strcmp(topics[i].topic, call->arguments.operand) == 0)
			topics[i].describe(&text);
	return rna_output_strbuf(&text, error);
}
