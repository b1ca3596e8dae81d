// SPDX-License-Identifier: Apache-2.0
/*
 * Completion for bash: a function that knows what is being typed, with the words of the tables
 * written into it. It needs no bash-completion at run time and never runs the agent.
 *
 * Commands, options and choices are words of letters and hyphens, so none of them is quoted. Other
 * shells are left out until somebody asks; zsh takes this one through bashcompinit.
 */
#include "completion.h"

#include "commands.h"

/* -- The parts that no table knows ------------------------------------------------------------- */

static const char head[] =
	"# bash completion for rdma-node-agent; written by: rdma-node-agent describe "
	"bash-completion\n"
	"\n"
	"# Candidates of a kind: files, directories, or the words behind it.\n"
	"_rdma_node_agent_offer()\n"
	"{\n"
	"	local kind=$1\n"
	"\n"
	"	shift\n"
	"	case $kind in\n"
	"	file) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
	"	directory) mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
	"	words) mapfile -t COMPREPLY < <(compgen -W \"$*\" -- \"$word\") ;;\n"
	"	esac\n"
	"	[ \"$kind\" = words ] || compopt -o filenames 2>/dev/null\n"
	"	return 0\n"
	"}\n"
	"\n"
	"_rdma_node_agent()\n"
	"{\n"
	"	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"	local command='' i\n"
	"\n"
	"	COMPREPLY=()\n"
	"	# readline makes three words of --name=value\n"
	"	if [ \"$word\" = '=' ]; then\n"
	"		word=''\n"
	"	elif [ \"$previous\" = '=' ]; then\n"
	"		previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"	fi\n";

/* In front of all: finds the command, skipping options and their values. */
static const char find_command_head[] = "	for ((i = 1; i < COMP_CWORD; i++)); do\n"
					"		case ${COMP_WORDS[i]} in\n"
					"		";
static const char find_command_tail[] =
	")\n"
	"			i=$((i + 1))\n"
	"			[ \"${COMP_WORDS[i]}\" != '=' ] || i=$((i + 1))\n"
	"			;;\n"
	"		-*) ;;\n"
	"		*)\n"
	"			command=${COMP_WORDS[i]}\n"
	"			break\n"
	"			;;\n"
	"		esac\n"
	"	done\n";

static const char tail[] = "}\n"
			   "complete -F _rdma_node_agent rdma-node-agent\n";

/* -- Words of the tables ----------------------------------------------------------------------- */

static void write_words(const char *const *words, struct rna_strbuf *out)
{
	for (size_t i = 0; words[i]; i++)
		rna_strbuf_printf(out, " %s", words[i]);
}

static void write_command_names(struct rna_strbuf *out)
{
	for (size_t i = 0; i < rna_command_count; i++)
		rna_strbuf_printf(out, " %s", rna_commands[i].name);
}

static void write_option_names(unsigned mask, struct rna_strbuf *out)
{
	for (size_t i = 0; i < RNA_OPTION_COUNT; i++)
		if (mask & 1u << i)
			rna_strbuf_printf(out, " --%s", rna_options[i].name);
}

/* What may stand for a placeholder of help texts, "FILE" or "[COMMAND]"; nothing for others. */
static void write_placeholder(const char *placeholder, struct rna_strbuf *out)
{
	if (strstr(placeholder, "FILE"))
		rna_strbuf_puts(out, "file");
	else if (strstr(placeholder, "DIR"))
		rna_strbuf_puts(out, "directory");
	else
		rna_strbuf_puts(out, "words");
	if (strstr(placeholder, "COMMAND"))
		write_command_names(out);
}

/* -- The function ------------------------------------------------------------------------------ */

static void write_values(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "	case $previous in\n");
	for (size_t i = 0; i < RNA_OPTION_COUNT; i++) {
		const struct rna_option *option = &rna_options[i];

		if (!option->value || i == RNA_OPTION_FORMAT)
			continue;
		rna_strbuf_printf(out, "	--%s) _rdma_node_agent_offer ", option->name);
		write_placeholder(option->value, out);
		if (option->choices)
			write_words(option->choices, out);
		rna_strbuf_puts(out, "; return ;;\n");
	}
	rna_strbuf_puts(out, "	esac\n");
}

static void write_find_command(struct rna_strbuf *out)
{
	const char *separator = "";

	rna_strbuf_puts(out, find_command_head);
	for (size_t i = 0; i < RNA_OPTION_COUNT; i++)
		if (rna_options[i].value) {
			rna_strbuf_printf(out, "%s--%s", separator, rna_options[i].name);
			separator = " | ";
		}
	rna_strbuf_puts(out, find_command_tail);
}

/* What --format may be, for the command that has been typed. */
static void write_formats(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "	case $command:$previous in\n");
	for (size_t i = 0; i < rna_command_count; i++) {
		if (!rna_commands[i].formats)
			continue;
		rna_strbuf_printf(out, "	%s:--%s) _rdma_node_agent_offer words",
				  rna_commands[i].name, rna_options[RNA_OPTION_FORMAT].name);
		write_words(rna_commands[i].formats, out);
		rna_strbuf_puts(out, "; return ;;\n");
	}
	rna_strbuf_puts(out, "	esac\n");
}

static void write_command(const struct rna_command *command, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "	%s:-*) _rdma_node_agent_offer words", command->name);
	write_option_names(RNA_OPTIONS_COMMON | command->options, out);
	rna_strbuf_puts(out, " ;;\n");
	if (!command->operand)
		return;
	rna_strbuf_printf(out, "	%s:*) _rdma_node_agent_offer ", command->name);
	write_placeholder(command->operand, out);
	if (command->operands)
		write_words(command->operands, out);
	rna_strbuf_puts(out, " ;;\n");
}

void rna_completion_write_bash(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, head);
	write_find_command(out);
	write_values(out);
	write_formats(out);
	rna_strbuf_puts(out, "	case $command:$word in\n"
			     "	:-*) _rdma_node_agent_offer words");
	write_option_names(RNA_OPTIONS_COMMON, out);
	rna_strbuf_puts(out, " ;;\n	:*) _rdma_node_agent_offer words");
	write_command_names(out);
	rna_strbuf_puts(out, " ;;\n");
	for (size_t i = 0; i < rna_command_count; i++)
		write_command(&rna_commands[i], out);
	rna_strbuf_puts(out, "	esac\n");
	rna_strbuf_puts(out, tail);
}
