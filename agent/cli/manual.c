// SPDX-License-Identifier: Apache-2.0
/*
 * The man pages. What a table of the code knows is written from that table; the rest is prose,
 * below, in the man(7) language.
 *
 * Every hyphen of a table is written as a minus: what a reader copies from a terminal must be what
 * a shell understands, and nothing says which hyphen is part of a name.
 */
#include "manual.h"

#include "rna/base/words.h"

#include "config/settings_table.h"

#include "commands.h"

/* -- Prose ------------------------------------------------------------------------------------- */

static const char program_head[] =
	".TH RDMA\\-NODE\\-AGENT 8 \"\" \"rdma\\-node\\-agent " RNA_VERSION "\" \"System "
	"Administration\"\n"
	".SH NAME\n"
	"rdma\\-node\\-agent \\- Prometheus exporter and health agent for RDMA NICs\n"
	".SH SYNOPSIS\n"
	"\\fBrdma\\-node\\-agent\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n"
	".SH DESCRIPTION\n"
	"The agent runs on each node with RDMA network cards (InfiniBand, RoCE, iWARP), watches\n"
	"devices and ports, and tells Prometheus about their state, links and counters.\n"
	".PP\n"
	"Hardware is read by worker threads on a schedule of their own; a scrape gets the newest\n"
	"snapshot at once, and a device that does not answer costs only its own freshness. What\n"
	"is not there has no sample, one unreadable file costs one value, and data that grew old\n"
	"disappears.\n";

static const char program_tail[] =
	".SH ENDPOINTS\n"
	".TP\n\\fB/metrics\\fR\n"
	"OpenMetrics 1.0 for clients that ask for it, else classic Prometheus text; gzip.\n"
	".TP\n\\fB/healthz\\fR\n"
	"200 while the event loop turns.\n"
	".TP\n\\fB/readyz\\fR\n"
	"200 when there is a complete snapshot that is not too old, else 503 and the reason.\n"
	".TP\n\\fB/\\fR\n"
	"A status page for people.\n"
	".TP\n\\fB/api/v1/snapshot\\fR\n"
	"All that is known, as JSON.\n"
	".TP\n\\fB/api/v1/findings\\fR\n"
	"What is wrong, as JSON.\n"
	".TP\n\\fB/api/v1/events\\fR, \\fB/api/v1/events.txt\\fR\n"
	"The last 64 times that a port went up or down, as JSON and as a table.\n"
	".TP\n\\fB/api/v1/selftest\\fR\n"
	"The last 32 self-tests of each port, why it was not tested, and when it will be, as "
	"JSON.\n"
	".SH SIGNALS\n"
	".TP\n\\fBSIGHUP\\fR\n"
	"Reads the configuration again; when it is wrong, the old settings stay and the log says\n"
	"why.\n"
	".TP\n\\fBSIGTERM\\fR, \\fBSIGINT\\fR\n"
	"End the agent, also while a device does not answer.\n"
	".SH ENVIRONMENT\n"
	".TP\n\\fBNO_COLOR\\fR\n"
	"When it is set and not empty, \\fBstatus\\fR writes no colours unless told to.\n"
	".TP\n\\fBSTATE_DIRECTORY\\fR\n"
	"Where systemd wants the agent to keep its memory; wins over the setting "
	"\\fBstate.directory\\fR,\n"
	"unless that one says that there shall be none.\n"
	".SH FILES\n"
	".TP\n\\fI" RNA_CONFIG_DEFAULT "\\fR\n"
	"The configuration; without it the defaults serve. See "
	"\\fBrdma\\-node\\-agent.yaml\\fR(5).\n"
	".TP\n\\fI" RNA_STATE_DIRECTORY_DEFAULT "/memory.json\\fR\n"
	"What the agent knows of devices and ports. A damaged one is set aside, with\n"
	"\\fB.corrupt\\-\\fR and the time behind its name; one of a newer version is left alone.\n"
	".TP\n\\fI" RNA_STATE_DIRECTORY_DEFAULT "/accepted.json\\fR\n"
	"What \\fBexpect accept\\fR wrote down.\n"
	".SH EXAMPLES\n"
	"What the agent sees on this node:\n"
	".PP\n.RS 4\n.nf\n"
	"rdma\\-node\\-agent status\n"
	".fi\n.RE\n.PP\n"
	"The same of another node, from a recording that holds no identifying data:\n"
	".PP\n.RS 4\n.nf\n"
	"rdma\\-node\\-agent record /tmp/node\n"
	"rdma\\-node\\-agent status \\-\\-root /tmp/node\n"
	".fi\n.RE\n"
	".SH SEE ALSO\n"
	"\\fBrdma\\-node\\-agent.yaml\\fR(5), \\fBrdma\\fR(8), \\fBibstat\\fR(8)\n";

static const char configuration_head[] =
	".TH RDMA\\-NODE\\-AGENT.YAML 5 \"\" \"rdma\\-node\\-agent " RNA_VERSION "\" \"File "
	"Formats\"\n"
	".SH NAME\n"
	"rdma\\-node\\-agent.yaml \\- configuration of rdma\\-node\\-agent\n"
	".SH SYNOPSIS\n"
	"\\fI" RNA_CONFIG_DEFAULT "\\fR\n"
	".SH DESCRIPTION\n"
	"A YAML file of sections. The part of a setting's name before the dot is the section, the\n"
	"part behind it the key:\n"
	".PP\n.RS 4\n.nf\n"
	"poll:\n"
	"  state: 500ms\n"
	"http:\n"
	"  listen: [\"127.0.0.1:10879\"]\n"
	".fi\n.RE\n.PP\n"
	"A section may be empty. A key that is not known, one that is there twice and a value "
	"that\n"
	"is not allowed are errors, which say where they are and what is allowed;\n"
	"\\fBrdma\\-node\\-agent check\\-config\\fR finds them beforehand. Durations are written "
	"as in\n"
	"Prometheus: 250ms, 10s, 1m30s, 24h.\n"
	".PP\n"
	"Without the file the defaults serve. SIGHUP makes a running agent read it again.\n";

static const char configuration_tail[] = ".SH SEE ALSO\n\\fBrdma\\-node\\-agent\\fR(8)\n";

/* -- Text of the tables ------------------------------------------------------------------------ */

/* A line that begins with a dot or an apostrophe would be a request. */
static void write_text(const char *text, struct rna_strbuf *out)
{
	for (bool starts = true; *text; starts = *text++ == '\n') {
		if (starts && (*text == '.' || *text == '\''))
			rna_strbuf_puts(out, "\\&");
		if (*text == '\\')
			rna_strbuf_puts(out, "\\e");
		else if (*text == '-')
			rna_strbuf_puts(out, "\\-");
		else
			rna_strbuf_add_char(out, *text);
	}
}

/* font: 'B' or 'I'. */
static void write_in_font(char font, const char *text, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "\\f%c", font);
	write_text(text, out);
	rna_strbuf_puts(out, "\\fR");
}

static void write_line(const char *text, struct rna_strbuf *out)
{
	write_text(text, out);
	rna_strbuf_puts(out, "\n");
}

static void write_words(const char *const *words, struct rna_strbuf *out)
{
	for (size_t i = 0; words[i]; i++) {
		rna_strbuf_puts(out, i > 0 ? ", " : "");
		write_in_font('B', words[i], out);
	}
}

static void write_option_name(const struct rna_option *option, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "\\fB\\-\\-\\fR");
	write_in_font('B', option->name, out);
	if (option->value) {
		rna_strbuf_puts(out, " ");
		write_in_font('I', option->value, out);
	}
}

/* -- Entries ----------------------------------------------------------------------------------- */

static void write_command(const struct rna_command *command, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, ".TP\n");
	write_in_font('B', command->name, out);
	if (command->operand) {
		rna_strbuf_puts(out, " ");
		write_in_font('I', command->operand, out);
	}
	if (command->words) {
		rna_strbuf_puts(out, " ");
		write_in_font('I', command->words, out);
	}
	for (size_t i = 0; i < RNA_OPTION_COUNT; i++)
		if (command->options & 1u << i) {
			rna_strbuf_puts(out, " [");
			write_option_name(&rna_options[i], out);
			rna_strbuf_puts(out, "]");
		}
	rna_strbuf_puts(out, "\n");
	write_line(command->summary, out);
	if (command->help)
		write_line(command->help, out);
	if (command->operands) {
		write_in_font('I', command->operand, out);
		rna_strbuf_puts(out, " is one of ");
		write_words(command->operands, out);
		rna_strbuf_puts(out, ".\n");
	}
	if (command->formats) {
		write_in_font('I', rna_options[RNA_OPTION_FORMAT].value, out);
		rna_strbuf_puts(out, " is one of ");
		write_words(command->formats, out);
		rna_strbuf_puts(out, "; default ");
		write_in_font('B', command->formats[0], out);
		rna_strbuf_puts(out, ".\n");
	}
}

static void write_option(const struct rna_option *option, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, ".TP\n");
	write_option_name(option, out);
	rna_strbuf_puts(out, "\n");
	write_text(option->help, out);
	if (option->choices) {
		rna_strbuf_puts(out, ": ");
		write_words(option->choices, out);
		rna_strbuf_puts(out, "; default ");
		write_in_font('B', option->standard, out);
	}
	rna_strbuf_puts(out, "\n");
}

static void write_exit_codes(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, ".SH EXIT STATUS\n");
	for (int code = 0; code < RNA_EXIT_COUNT; code++) {
		rna_strbuf_printf(out, ".TP\n\\fB%d\\fR\n", code);
		write_line(rna_exit_meanings[code], out);
	}
}

static void write_setting(const struct rna_setting *setting, struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf allowed = RNA_STRBUF_INIT;
	RNA_STRBUF struct rna_strbuf standard = RNA_STRBUF_INIT;
	RNA_STRBUF struct rna_strbuf help = RNA_STRBUF_INIT;

	rna_setting_write_allowed(setting, &allowed);
	rna_setting_write_default(setting, &standard);
	rna_setting_write_help(setting, &help);
	out->failed |=
		!rna_strbuf_ok(&allowed) || !rna_strbuf_ok(&standard) || !rna_strbuf_ok(&help);
	if (out->failed)
		return;
	rna_strbuf_puts(out, ".TP\n");
	write_in_font('B', setting->key, out);
	rna_strbuf_printf(out, " (%s)\n", rna_setting_type_name(setting));
	write_line(help.data, out);
	rna_strbuf_puts(out, "Allowed: ");
	write_text(allowed.data, out);
	rna_strbuf_puts(out, ". Default: ");
	write_in_font('B', standard.data, out);
	rna_strbuf_puts(out, ".\n");
}

/* -- Pages ------------------------------------------------------------------------------------- */

void rna_manual_write_program(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, program_head);
	rna_strbuf_puts(out, ".SH COMMANDS\n");
	for (size_t i = 0; i < rna_command_count; i++)
		write_command(&rna_commands[i], out);
	rna_strbuf_puts(out, ".SH OPTIONS\n"
			     "Options stand before or behind the command. Every command has\n"
			     "\\fB\\-\\-root\\fR, \\fB\\-\\-config\\fR and \\fB\\-\\-help\\fR.\n");
	for (size_t i = 0; i < RNA_OPTION_COUNT; i++)
		write_option(&rna_options[i], out);
	write_exit_codes(out);
	rna_strbuf_puts(out, program_tail);
}

void rna_manual_write_configuration(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, configuration_head);
	rna_strbuf_puts(out, ".SH SETTINGS\n");
	for (size_t i = 0; i < rna_setting_count; i++)
		write_setting(&rna_setting_table[i], out);
	rna_strbuf_puts(out, configuration_tail);
}
