/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: the command, its options and its operands. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/error.h"
#include "rna/base/strbuf.h"

struct rna_command;

/* The options, in the order of the table in options.c. */
enum rna_option_id {
	RNA_OPTION_ROOT,
	RNA_OPTION_CONFIG,
	RNA_OPTION_FORMAT,
	RNA_OPTION_JSON,
	RNA_OPTION_COLOR,
	RNA_OPTION_GIDS,
	RNA_OPTION_HWLOC_XML,
	RNA_OPTION_ONCE,
	RNA_OPTION_DEADLINE,
	RNA_OPTION_DRY_RUN,
	RNA_OPTION_KEEP_IDENTITY,
	RNA_OPTION_FOR,
	RNA_OPTION_DEVICE,
	RNA_OPTION_GPU,
	RNA_OPTION_NUMA,
	RNA_OPTION_SIZE,
	RNA_OPTION_QPS,
	RNA_OPTION_DURATION,
	RNA_OPTION_FORCE,
	RNA_OPTION_TIMEOUT,
	RNA_OPTION_LAST,
	RNA_OPTION_SINCE,
	RNA_OPTION_HELP,
	RNA_OPTION_VERSION,
	RNA_OPTION_COUNT,
};

struct rna_option {
	const char *name;
	const char *value; /* placeholder of its value in help texts; NULL: it has none */
	/* NULL-ended; NULL: any text but an empty one, or those of the command (--format) */
	const char *const *choices;
	const char *standard; /* the default; NULL: none */
	const char *help;
};

extern const struct rna_option rna_options[RNA_OPTION_COUNT];

#define RNA_OPTION_BIT(id) (1u << RNA_OPTION_##id)
/* Options that every command accepts. */
#define RNA_OPTIONS_COMMON                                                                         \
	(RNA_OPTION_BIT(ROOT) | RNA_OPTION_BIT(CONFIG) | RNA_OPTION_BIT(HELP) |                    \
	 RNA_OPTION_BIT(VERSION))

enum { RNA_WORDS_MAX = 64 };

struct rna_arguments {
	const struct rna_command *command; /* NULL: none was named */
	const char *operand;               /* the word after the command, or NULL */
	size_t word_count;
	const char *words[RNA_WORDS_MAX]; /* after the operand, for commands that accept more */
	/* The value of each option, "" for one without; NULL: not given and no default. */
	const char *options[RNA_OPTION_COUNT];
};

/*
 * Returns "help WORD" and "--version" as "WORD --help" and "version". *ret points into argv and
 * static text. 0, or -EINVAL with error: the command line is invalid; *ret then has the command
 * only, if there was one.
 */
int rna_arguments_parse(int argc, char *argv[], struct rna_arguments *ret, struct rna_error *error);

/* The options of command for help texts, one a line; NULL: the options of every command. */
void rna_options_describe(const struct rna_command *command, struct rna_strbuf *out);

/* The allowed values of an option of command; NULL: any text, or it has no value. */
const char *const *rna_option_choices(enum rna_option_id id, const struct rna_command *command);
