// SPDX-License-Identifier: Apache-2.0
/* The commands that write texts of the program: help, runbook and version. */
#include <errno.h>
#include <string.h>

#include "rna/base/project.h"
#include "rna/base/words.h"
#include "rna/exporter.h"

#include "commands.h"

static void write_exits(const struct rna_exit_meaning *exits, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "\nExit codes:\n");
	for (; exits->meaning; exits++)
		rna_strbuf_printf(out, "  %d  %s\n", exits->code, exits->meaning);
}

static void list_commands(const char *title, bool aside, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "\n%s:\n", title);
	for (size_t i = 0; i < rna_command_count; i++)
		if (rna_commands[i].aside == aside)
			rna_strbuf_printf(out, "  %-*s%s\n", RNA_HELP_COLUMN - 2,
					  rna_commands[i].name, rna_commands[i].summary);
}

static void write_help_of_all(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "rdma-node-agent " RNA_VERSION
			     ": Prometheus exporter and health agent for RDMA NICs\n\n"
			     "Usage: rdma-node-agent COMMAND [OPTIONS]\n");
	list_commands("Commands", false, out);
	list_commands("Commands for packages, charts and documents", true, out);
	rna_strbuf_puts(out, "\nOptions of every command:\n");
	rna_options_describe(NULL, out);
	write_exits(rna_exit_meanings, out);
	rna_strbuf_puts(out, "See the help of these commands for their exit codes:");
	for (size_t i = 0; i < rna_command_count; i++)
		if (rna_commands[i].exits)
			rna_strbuf_printf(out, " %s", rna_commands[i].name);
	rna_strbuf_puts(out, "\n");
}

void rna_command_write_usage(const struct rna_command *command, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, command->name);
	if (command->operand)
		rna_strbuf_printf(out, " %s", command->operand);
	if (command->words)
		rna_strbuf_printf(out, " %s", command->words);
}

static void write_help_of_one(const struct rna_command *command, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "Usage: rdma-node-agent ");
	rna_command_write_usage(command, out);
	rna_strbuf_printf(out, " [OPTIONS]\n\n%s\n", command->summary);
	if (command->help)
		rna_strbuf_printf(out, "\n%s\n", command->help);
	if (command->operands) {
		rna_strbuf_printf(out, "\n%s: ", command->operand);
		rna_words_write(command->operands, out);
		rna_strbuf_puts(out, "\n");
	}
	rna_strbuf_puts(out, "\nOptions:\n");
	rna_options_describe(command, out);
	write_exits(command->exits ? command->exits : rna_exit_meanings, out);
}

int rna_command_show_help(const struct rna_command *command, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (command)
		write_help_of_one(command, &text);
	else
		write_help_of_all(&text);
	return rna_output_strbuf(&text, error);
}

/* -- Runbooks ---------------------------------------------------------------------------------- */

static int fail_unknown(const char *name, struct rna_error *error)
{
	struct rna_hint hint = RNA_HINT(name);
	const char *known;

	for (size_t i = 0; (known = rna_runbook_name(i)); i++)
		rna_hint_offer(&hint, known, strlen(known));
	return rna_error_say(error, -EINVAL, "runbook: unknown runbook %.*s; %s%s%s",
			     RNA_SHOWN(name), hint.best ? "did you mean " : "see runbook",
			     hint.best ? hint.best : "", hint.best ? "?" : "");
}

int rna_command_runbook(struct rna_call *call, struct rna_error *error)
{
	const char *name = call->arguments.operand;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	ssize_t number = name ? rna_runbook_find(NULL, name) : 0;

	if (number < 0) {
		(void)fail_unknown(name, error);
		return RNA_EXIT_USAGE;
	}
	if (name)
		rna_write_runbook_text((size_t)number, &text);
	else
		rna_write_runbook_list(&text);
	return rna_output_strbuf(&text, error);
}

int rna_command_version(struct rna_call *call, struct rna_error *error)
{
	static const char text[] = "rdma-node-agent " RNA_VERSION "\n";

	(void)call;
	return rna_output(text, sizeof(text) - 1, error);
}
