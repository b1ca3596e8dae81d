/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: the command, its options and its operands. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/error.h"
#include "rna/base/strbuf.h"

#include "settings/settings.h"

struct rna_command;

/* The options, in the order of the table in options.c. */
enum rna_option_id {
	RNA_OPTION_ROOT,
	RNA_OPTION_CONFIG,
	RNA_OPTION_WEB_LISTEN_ADDRESS,
	RNA_OPTION_WEB_CONFIG_FILE,
	RNA_OPTION_LOG_LEVEL,
	RNA_OPTION_FORMAT,
	RNA_OPTION_JSON,
	RNA_OPTION_OUTPUT,
	RNA_OPTION_COLOR,
	RNA_OPTION_GIDS,
	RNA_OPTION_WIDE,
	RNA_OPTION_SHORT,
	RNA_OPTION_PODS,
	RNA_OPTION_HWLOC_XML,
	RNA_OPTION_ONCE,
	RNA_OPTION_URL,
	RNA_OPTION_PROMETHEUS,
	RNA_OPTION_JOB,
	RNA_OPTION_GROUP,
	RNA_OPTION_CA_FILE,
	RNA_OPTION_CERT_FILE,
	RNA_OPTION_KEY_FILE,
	RNA_OPTION_TOKEN_FILE,
	RNA_OPTION_USER,
	RNA_OPTION_PASSWORD_FILE,
	RNA_OPTION_DEADLINE,
	RNA_OPTION_DRY_RUN,
	RNA_OPTION_NODES,
	RNA_OPTION_KEEP_IDENTITY,
	RNA_OPTION_FOR,
	RNA_OPTION_DEVICE,
	RNA_OPTION_GPU,
	RNA_OPTION_PID,
	RNA_OPTION_POD,
	RNA_OPTION_CHECK,
	RNA_OPTION_HOST_NETWORK,
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
	/* Its values take the place of this setting's, and it may be repeated if that is a list. */
	const char *setting;
	bool (*is_valid)(const char *value); /* NULL: any text; if not: "is not FORM" */
	const char *form;
	/* RNA_OPTION_BIT()s of options that have to be given with it, if the command has them */
	uint64_t needs;
	uint64_t needs_one; /* likewise, but one of them is enough */
	uint64_t excludes;
};

extern const struct rna_option rna_options[RNA_OPTION_COUNT];

#define RNA_OPTION_BIT(id) (UINT64_C(1) << RNA_OPTION_##id)
/* What --url goes with: of commands that can ask the agent of another node. */
#define RNA_OPTIONS_URL (RNA_OPTION_BIT(URL) | RNA_OPTIONS_LOGIN)
/* TLS and logins of a server that a URL names. */
#define RNA_OPTIONS_LOGIN                                                                          \
	(RNA_OPTION_BIT(CA_FILE) | RNA_OPTION_BIT(CERT_FILE) | RNA_OPTION_BIT(KEY_FILE) |          \
	 RNA_OPTION_BIT(TOKEN_FILE) | RNA_OPTION_BIT(USER) | RNA_OPTION_BIT(PASSWORD_FILE))
/* Options that every command accepts. */
#define RNA_OPTIONS_COMMON                                                                         \
	(RNA_OPTION_BIT(ROOT) | RNA_OPTION_BIT(CONFIG) | RNA_OPTION_BIT(HELP) |                    \
	 RNA_OPTION_BIT(VERSION))

static inline bool rna_option_is_in(uint64_t options, enum rna_option_id id)
{
	return options >> id & 1;
}

enum { RNA_WORDS_MAX = 64, RNA_OVERRIDES_MAX = 64 };

struct rna_arguments {
	const struct rna_command *command; /* NULL: none was named */
	const char *operand;               /* the word after the command, or NULL */
	size_t word_count;
	const char *words[RNA_WORDS_MAX]; /* after the operand, for commands that accept more */
	/* The value of each option, "" for one without; NULL: not given and no default. */
	const char *options[RNA_OPTION_COUNT];
	/* The values of options that stand for settings, in their order; ended by one without. */
	struct rna_override overrides[RNA_OVERRIDES_MAX + 1];
};

/*
 * Returns "help WORD" and "--version" as "WORD --help" and "version". *ret points into argv and
 * static text. 0, or -EINVAL with error: the command line is invalid; *ret then has the command
 * and its format only, if they were named.
 */
int rna_arguments_parse(int argc, char *argv[], struct rna_arguments *ret, struct rna_error *error);

/* The options of command for help texts, one a line; NULL: the options of every command. */
void rna_options_describe(const struct rna_command *command, struct rna_strbuf *out);

/* The allowed values of an option of command; NULL: any text, or it has no value. */
const char *const *rna_option_choices(enum rna_option_id id, const struct rna_command *command);
