// SPDX-License-Identifier: Apache-2.0
/*
 * The command describe: the tables of the code, as Markdown for people and the documents, and all
 * together as JSON for programs. The man pages and the completion are made of the JSON when the
 * program is built, by documents/fill.py.
 *
 * A table comes as lines with tabs between their cells; the first line has the titles. Cells are
 * Markdown, so names are in backquotes, which JSON leaves out.
 */
#include <ctype.h>
#include <string.h>

#include "rna/base/json_document.h"
#include "rna/base/project.h"
#include "rna/collector.h"
#include "rna/exporter.h"
#include "rna/kubernetes.h"
#include "rna/model/log_match.h"

#include "baseline/profile_rows.h"
#include "config/settings_table.h"
#include "doctor/needs.h"
#include "node/node_conditions.h"
#include "rules/remedy.h"
#include "rules/rules.h"
#include "rules/thresholds.h"

#include "commands.h"

enum {
	KEY_MAX = 64, /* "poll." and the longest name of a collector */
	COLUMNS_MAX = 9,
};

/* -- Tables ------------------------------------------------------------------------------------ */

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
	rna_strbuf_puts(out, "Collector\tRuns for\tDefault period\tWhat it reads\n");
	RNA_EACH (collector, rna_collectors, RNA_COLLECTOR_COUNT) {
		const struct rna_schema_row *period;
		char key[KEY_MAX];

		(void)snprintf(key, sizeof(key), "poll.%s", collector->name);
		period = rna_setting_find(key);
		rna_strbuf_printf(out, "`%s`\t", collector->name);
		write_targets(collector, out);
		rna_strbuf_printf(out, "\t%s\t%s\n", period ? period->standard : "?",
				  collector->help);
	}
}

static void describe_commands(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "Command\tPurpose\n");
	for (size_t i = 0; i < rna_command_count; i++) {
		rna_strbuf_puts(out, "`");
		rna_command_write_usage(&rna_commands[i], out);
		rna_strbuf_printf(out, "`\t%s\n", rna_commands[i].summary);
	}
}

static void describe_patterns(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "Pattern\tDriver\tKind\tSeverity\tMeaning\tOver when\tSource\n");
	RNA_EACH (pattern, rna_log_patterns, rna_log_pattern_count) {
		bool recovery = pattern->kind == RNA_LOG_RECOVERY;

		rna_strbuf_printf(out, "`%s`\t%s\t%s\t%s\t%s\t%s", pattern->name, pattern->driver,
				  rna_log_kind_name(pattern->kind),
				  recovery ? "none" : rna_severity_name(pattern->severity),
				  pattern->meaning,
				  recovery ? "it ends others" : rna_log_end_text(pattern->end));
		if (pattern->recovered_by)
			rna_strbuf_printf(out, "; `%s`", pattern->recovered_by);
		rna_strbuf_printf(out, "\t%s\n", pattern->source);
	}
}

/*
 * What newer kernels give. Kernels of enterprise distributions have some of it under an older
 * number, so the agent asks for each of these and never looks at the version.
 */
static const struct {
	const char *since, *what, *use, *without, *source;
} kernels[] = {
	{"4.20", "dumps of routes filtered by interface", "gateways of RoCE interfaces",
	 "all routes are read, up to a limit", "`net/ipv4/fib_frontend.c`"},
	{"5.6", "`openat2()`", "paths below the root of a recording or of a process",
	 "each part of a path is opened by itself", "openat2(2)"},
	{"5.11", "domain types of IOMMU groups; DMA-FQ since 5.15", "`rdma_node_gpu_iommu_info`",
	 "absent", "`Documentation/ABI/testing/sysfs-kernel-iommu_groups`"},
	{"5.13", "the process of each context, by RDMA netlink", "users of devices",
	 "users are not known", "`drivers/infiniband/core/nldev.c`"},
	{"6.4", "losses of the link, by ethtool", "`rdma_port_ethernet_link_downs_total`", "absent",
	 "`net/ethtool/linkstate.c`"},
	{"6.12", "news of devices and their interfaces, by RDMA netlink (RDMA_NL_GROUP_NOTIFY)",
	 "nothing: an open socket of RDMA netlink holds ib_core, so no driver could be reloaded",
	 "uevents and rtnetlink have the same news, on each kernel",
	 "`drivers/infiniband/core/nldev.c`"},
	{"6.18", "FEC blocks by number of errors, by ethtool",
	 "`rdma_port_ethernet_fec_blocks_total`, where the driver counts them", "absent",
	 "`net/ethtool/fec.c`"},
	{"7.3 or earlier", "completion counters among the objects of a device, by RDMA netlink",
	 "`rdma_device_resources`", "absent", "`drivers/infiniband/core/restrack.c`"},
	{"7.3 or earlier", "performance counters of Soft-RoCE",
	 "the families of other devices, such as `rdma_port_data_received_bytes_total`", "absent",
	 "`drivers/infiniband/sw/rxe`"},
	{"7.3 or earlier", "Soft-RoCE in each network namespace",
	 "nothing more: its devices are followed as others are",
	 "Soft-RoCE works in the first network namespace only",
	 "`drivers/infiniband/sw/rxe/rxe_ns.c`"},
};

static void describe_platform(struct rna_strbuf *out)
{
	rna_strbuf_puts(out,
			"Linux\tWhat it gives\tWhat the agent uses it for\tWithout it\tSource\n");
	for (size_t i = 0; i < RNA_ARRAY_SIZE(kernels); i++)
		rna_strbuf_printf(out, "%s\t%s\t%s\t%s\t%s\n", kernels[i].since, kernels[i].what,
				  kernels[i].use, kernels[i].without, kernels[i].source);
}

struct topic {
	const char *name;
	void (*describe)(struct rna_strbuf *out);
};

static const struct topic tables[] = {
	{"settings", rna_settings_describe},
	{"metrics", rna_write_families},
	{"collectors", describe_collectors},
	{"commands", describe_commands},
	{"rules", rna_rules_describe},
	{"remedies", rna_remedies_describe},
	{"thresholds", rna_thresholds_describe},
	{"meanings", rna_meanings_describe},
	{"consequences", rna_consequences_describe},
	{"labels", rna_node_labels_describe},
	{"conditions", rna_conditions_describe},
	{"profiles", rna_profiles_describe},
	{"shipped", rna_profiles_describe_shipped},
	{"patterns", describe_patterns},
	{"platform", describe_platform},
	{"needs", rna_needs_describe},
	{"env", rna_env_describe},
};

/* Cuts the next line off *rest and into its cells. Returns their number, 0 at the end. */
static size_t next_row(char **rest, char *cells[COLUMNS_MAX])
{
	char *line = strsep(rest, "\n");
	size_t count = 0;

	while (line && (*line || count > 0) && count < COLUMNS_MAX)
		cells[count++] = strsep(&line, "\t");
	return count;
}

/* -- Markdown ---------------------------------------------------------------------------------- */

static void write_row(char *const *cells, size_t count, struct rna_strbuf *out)
{
	for (size_t i = 0; i < count; i++)
		rna_strbuf_printf(out, "| %s ", cells[i]);
	rna_strbuf_puts(out, "|\n");
}

/* table is taken apart. */
static void write_markdown(char *table, struct rna_strbuf *out)
{
	char *cells[COLUMNS_MAX];
	size_t count = next_row(&table, cells);

	write_row(cells, count, out);
	for (size_t i = 0; i < count; i++)
		rna_strbuf_puts(out, "|---");
	rna_strbuf_puts(out, "|\n");
	while ((count = next_row(&table, cells)) > 0)
		write_row(cells, count, out);
}

/* -- JSON -------------------------------------------------------------------------------------- */

/* In place: "Hold-down" becomes "hold_down". */
static void make_key(char *title)
{
	for (; *title; title++)
		*title =
			isalnum((unsigned char)*title) ? (char)tolower((unsigned char)*title) : '_';
}

/* In place: without the marks of Markdown. */
static const char *drop_marks(char *cell)
{
	char *to = cell;

	for (const char *from = cell; *from; from++)
		if (*from != '`')
			*to++ = *from;
	*to = '\0';
	return cell;
}

static json_t *make_table(struct rna_json_writer *writer, const struct topic *topic)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	char *titles[COLUMNS_MAX], *cells[COLUMNS_MAX], *rest;
	json_t *table = json_array();
	size_t count;

	topic->describe(&text);
	writer->failed |= !rna_strbuf_ok(&text);
	rest = text.data;
	count = rest ? next_row(&rest, titles) : 0;
	for (size_t i = 0; i < count; i++)
		make_key(titles[i]);
	while (count > 0 && next_row(&rest, cells) == count) {
		json_t *row = json_object();

		for (size_t i = 0; i < count; i++)
			rna_json_set(writer, row, titles[i], json_string(drop_marks(cells[i])));
		rna_json_append(writer, table, row);
	}
	return table;
}

/* words: ended by NULL, or NULL. */
static json_t *make_words(struct rna_json_writer *writer, const char *const *words)
{
	json_t *ret = words ? json_array() : json_null();

	for (; words && *words; words++)
		rna_json_append(writer, ret, json_string(*words));
	return ret;
}

static json_t *make_options(struct rna_json_writer *writer)
{
	json_t *options = json_array();

	for (enum rna_option_id i = 0; i < RNA_OPTION_COUNT; i++) {
		const struct rna_option *option = &rna_options[i];

		rna_json_append(writer, options,
				json_pack("{s:s, s:s?, s:o, s:s?, s:s, s:b}", "name", option->name,
					  "value", option->value, "choices",
					  make_words(writer, option->choices), "default",
					  option->standard, "help", option->help, "common",
					  rna_option_is_in(RNA_OPTIONS_COMMON, i)));
	}
	return options;
}

/* exits: NULL: none that are its own. */
static json_t *make_exit_codes(struct rna_json_writer *writer, const struct rna_exit_meaning *exits)
{
	json_t *meanings = json_array();

	for (; exits && exits->meaning; exits++)
		rna_json_append(writer, meanings,
				json_pack("{s:i, s:s}", "code", exits->code, "meaning",
					  exits->meaning));
	return meanings;
}

static json_t *make_command(struct rna_json_writer *writer, const struct rna_command *command)
{
	json_t *options = json_array();

	for (enum rna_option_id i = 0; i < RNA_OPTION_COUNT; i++)
		if (rna_option_is_in(command->options, i))
			rna_json_append(writer, options, json_string(rna_options[i].name));
	return json_pack("{s:s, s:s?, s:o, s:s?, s:s, s:s?, s:o, s:o, s:o}", "name", command->name,
			 "operand", command->operand, "operands",
			 make_words(writer, command->operands), "words", command->words, "summary",
			 command->summary, "help", command->help, "options", options, "formats",
			 make_words(writer, command->formats), "exit_codes",
			 make_exit_codes(writer, command->exits));
}

static json_t *make_commands(struct rna_json_writer *writer)
{
	json_t *commands = json_array();

	for (size_t i = 0; i < rna_command_count; i++)
		rna_json_append(writer, commands, make_command(writer, &rna_commands[i]));
	return commands;
}

static void describe_json(struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *all = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "version", RNA_VERSION,
				"project_url", RNA_PROJECT_URL, "project_contact",
				RNA_PROJECT_CONTACT, "configuration", RNA_CONFIG_DEFAULT,
				"state_directory", RNA_STATE_DIRECTORY_DEFAULT, "exit_codes",
				make_exit_codes(&writer, rna_exit_meanings), "options",
				make_options(&writer));

	for (size_t i = 0; i < RNA_ARRAY_SIZE(tables); i++)
		rna_json_set(&writer, all, tables[i].name, make_table(&writer, &tables[i]));
	/* with all that their rows have */
	rna_json_set(&writer, all, "commands", make_commands(&writer));
	rna_json_write(&writer, all, 1, out);
}

/* -- The command ------------------------------------------------------------------------------- */

static const struct topic texts[] = {
	{"catalog", rna_rules_write_catalog},
	{"json", describe_json},
};

const char *const rna_describe_topics[] = {
	"settings",   "metrics",    "collectors", "commands",     "rules",
	"remedies",   "thresholds", "meanings",   "consequences", "labels",
	"conditions", "profiles",   "shipped",    "patterns",     "platform",
	"needs",      "env",        "catalog",    "json",         NULL,
};

int rna_command_describe(struct rna_call *call, struct rna_error *error)
{
	const char *name = call->arguments.operand;
	RNA_STRBUF struct rna_strbuf table = RNA_STRBUF_INIT;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++)
		if (strcmp(texts[i].name, name) == 0)
			texts[i].describe(&text);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(tables); i++)
		if (strcmp(tables[i].name, name) == 0)
			tables[i].describe(&table);
	if (table.failed)
		text.failed = true;
	else if (table.data)
		write_markdown(table.data, &text);
	return rna_output_strbuf(&text, error);
}
