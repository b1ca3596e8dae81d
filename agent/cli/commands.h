/* SPDX-License-Identifier: Apache-2.0 */
/* The commands: one table (commands.c), and the functions that it lists, in command_*.c. */
#pragma once

#include <stddef.h>

#include "rna/base/error.h"
#include "rna/base/strbuf.h"

#include "settings/settings.h"

#include "options.h"

enum { RNA_HELP_COLUMN = 20 }; /* column at which explanations begin in help texts */

enum rna_exit {
	RNA_EXIT_SUCCESS = 0,
	RNA_EXIT_FAILURE = 1, /* the command failed */
	RNA_EXIT_USAGE = 2,   /* invalid command line or configuration: the command did not start */
};

struct rna_exit_meaning {
	int code;
	const char *meaning; /* NULL ends a list */
};

/* Of commands whose row has no others. */
extern const struct rna_exit_meaning rna_exit_meanings[];

/* The input of a command. */
struct rna_call {
	struct rna_arguments arguments;
	const char *config;           /* the file with the settings; NULL: defaults */
	struct rna_settings settings; /* zeroed if the command's row does not ask for them */
	struct rna_mistakes mistakes; /* of the configuration, in addition to the error */
};

/* Returns the exit code, or negative errno with error. */
typedef int rna_execute(struct rna_call *call, struct rna_error *error);

struct rna_command {
	const char *name;
	/* Placeholder of the word after it, "[...]" if it is optional; NULL: none. */
	const char *operand;
	const char *const *operands; /* NULL-ended: one of these; NULL: any */
	const char *words;           /* placeholder of the words after the operand; NULL: none */
	bool config_operand;         /* the operand is the configuration file, as with --config */
	bool aside;                  /* for packages and documents: apart in the list of commands */
	const char *summary;         /* for lists */
	const char *help;            /* further details, a paragraph of its help text; or NULL */
	uint64_t options;            /* RNA_OPTION_BIT()s beyond RNA_OPTIONS_COMMON */
	uint64_t required;           /* RNA_OPTION_BIT()s without which it cannot do anything */
	const char *no_root;         /* why it does not take --root; NULL: it does */
	/* Values of --format, NULL-ended; the first is the default. --json is one of them. */
	const char *const *formats;
	bool settings; /* reads the configuration */
	/* Exit code of every failure, invalid usage too, as monitoring expects it; 0: the usual */
	int failure;
	const struct rna_exit_meaning *exits; /* all that there are; NULL: rna_exit_meanings */
	/* Writes a failure to stdout and returns the exit code instead. NULL: it is only logged. */
	int (*fail)(const struct rna_arguments *arguments, const struct rna_error *error);
	rna_execute *execute; /* NULL: help, which needs none */
};

extern const struct rna_command rna_commands[];
extern const size_t rna_command_count;

const struct rna_command *rna_command_find(const char *name); /* NULL: unknown */

/* All that main() does; returns enum rna_exit. */
int rna_commands_main(int argc, char *argv[]);

/* Writes the help of a command; NULL: of the program. 0, or negative errno with error. */
int rna_command_show_help(const struct rna_command *command, struct rna_error *error);

/* "expect ACTION [DEVICE[/PORT]]..." */
void rna_command_write_usage(const struct rna_command *command, struct rna_strbuf *out);

/*
 * Writes the whole text to stdout. Of its control characters only tabs and line ends remain. 0, or
 * negative errno with error.
 */
int rna_output(const char *data, size_t len, struct rna_error *error);
int rna_output_strbuf(const struct rna_strbuf *text, struct rna_error *error);

/* With colours as well, if the user wants them. */
int rna_output_coloured(const struct rna_strbuf *text, bool colour, struct rna_error *error);

/* If stderr is a terminal: writes a line there in the place of the one before, until the next. */
void rna_output_progress(const char *text, size_t len);

/*
 * Replaces the file at path atomically by one of mode 0644. 0, or negative errno with error; then
 * the old file stays.
 */
int rna_output_file(const char *path, const char *data, size_t len, struct rna_error *error);

/*
 * The state directory of the agent, in the settings of the call or static. 0, or negative errno
 * with error: -ENOENT if there is none.
 */
int rna_call_find_state(const struct rna_call *call, const char **ret, struct rna_error *error);

/* Of the terminal, in columns; 0: stdout is none, or it does not say. */
size_t rna_output_width(void);

/* Should output be in colour? when: auto, always or never; auto: if stdout is a terminal. */
bool rna_wants_colour(const char *when);

extern const char *const rna_describe_topics[]; /* NULL-ended */
extern const char *const rna_expect_actions[];  /* NULL-ended */
extern const char *const rna_kube_actions[];    /* NULL-ended */
extern const char *const rna_probe_actions[];   /* NULL-ended */
extern const char *const rna_env_forms[];       /* NULL-ended */

/* In command_*.c. */
rna_execute rna_command_run, rna_command_collect, rna_command_check, rna_command_check_config,
	rna_command_doctor, rna_command_quiesce, rna_command_chown_state, rna_command_record,
	rna_command_resume, rna_command_status, rna_command_env, rna_command_nccl,
	rna_command_topology, rna_command_events, rna_command_expect, rna_command_probe,
	rna_command_mesh, rna_command_selftest, rna_command_kube, rna_command_describe,
	rna_command_runbook, rna_command_version;
int rna_command_check_fail(const struct rna_arguments *arguments, const struct rna_error *error);
