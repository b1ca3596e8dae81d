/* SPDX-License-Identifier: Apache-2.0 */
/* The commands: one table (commands.c), and the functions that it lists, in command_*.c. */
#pragma once

#include <stddef.h>

#include "rna/base/error.h"
#include "rna/base/strbuf.h"

#include "settings/settings.h"

#include "options.h"

enum { RNA_HELP_COLUMN = 20 }; /* where explanations begin in help texts */

enum rna_exit {
	RNA_EXIT_SUCCESS = 0,
	RNA_EXIT_FAILURE = 1, /* it could not do its work */
	RNA_EXIT_USAGE = 2,   /* wrong usage or configuration: it did not even try */
	RNA_EXIT_COUNT,
};

extern const char *const rna_exit_meanings[RNA_EXIT_COUNT];

/* What a command works with. */
struct rna_call {
	struct rna_arguments arguments;
	const char *config;           /* the file that settings are from; NULL: defaults */
	struct rna_settings settings; /* zeroed where the command's row does not ask for them */
	struct rna_mistakes mistakes; /* of the configuration, beside the error */
};

struct rna_command {
	const char *name;
	/* What help calls the word behind it, "[...]" where it may be left out; NULL: none. */
	const char *operand;
	const char *const *operands; /* NULL-ended: one of these; NULL: any */
	const char *words;           /* what help calls those behind the operand; NULL: none */
	bool config_operand;         /* the operand is the configuration, as --config */
	const char *summary;         /* for lists */
	const char *help;            /* what else to know; a paragraph of its help text, or NULL */
	unsigned options;            /* RNA_OPTION_BIT()s beyond RNA_OPTIONS_COMMON */
	const char *const *formats;  /* what --format may be, NULL-ended; the default comes first */
	bool settings;               /* reads the configuration */
	/* Exit code of all that goes wrong, wrong usage too, as monitoring wants it; 0: usual ones
	 */
	int failure;
	/*
	 * The exit code, or negative errno with error. NULL: help, which never gets so far.
	 */
	int (*execute)(struct rna_call *call, struct rna_error *error);
};

extern const struct rna_command rna_commands[];
extern const size_t rna_command_count;

const struct rna_command *rna_command_find(const char *name); /* NULL: unknown */

/* All that main() does; returns enum rna_exit. */
int rna_commands_main(int argc, char *argv[]);

/* Help of a command, of all when NULL. 0, or negative errno with error. */
int rna_command_show_help(const struct rna_command *command, struct rna_error *error);

/* "expect ACTION [DEVICE[/PORT]]..." */
void rna_command_write_usage(const struct rna_command *command, struct rna_strbuf *out);

/* All of text to stdout. 0, or negative errno with error. */
int rna_output(const char *data, size_t len, struct rna_error *error);
int rna_output_strbuf(const struct rna_strbuf *text, struct rna_error *error);

/* Is it to be in colours? when: auto, always or never; auto asks whether stdout is a terminal. */
bool rna_wants_colour(const char *when);

extern const char *const rna_describe_topics[]; /* NULL-ended */
extern const char *const rna_expect_actions[];  /* NULL-ended */
extern const char *const rna_kube_actions[];    /* NULL-ended */
extern const char *const rna_nccl_forms[];      /* NULL-ended */

int rna_command_run(struct rna_call *call, struct rna_error *error);
int rna_command_collect(struct rna_call *call, struct rna_error *error);
int rna_command_check(struct rna_call *call, struct rna_error *error);
int rna_command_check_config(struct rna_call *call, struct rna_error *error);
int rna_command_quiesce(struct rna_call *call, struct rna_error *error);
int rna_command_record(struct rna_call *call, struct rna_error *error);
int rna_command_resume(struct rna_call *call, struct rna_error *error);
int rna_command_status(struct rna_call *call, struct rna_error *error);
int rna_command_nccl(struct rna_call *call, struct rna_error *error);
int rna_command_topology(struct rna_call *call, struct rna_error *error);
int rna_command_events(struct rna_call *call, struct rna_error *error);
int rna_command_expect(struct rna_call *call, struct rna_error *error);
int rna_command_selftest(struct rna_call *call, struct rna_error *error);
int rna_command_kube(struct rna_call *call, struct rna_error *error);
int rna_command_describe(struct rna_call *call, struct rna_error *error);
int rna_command_version(struct rna_call *call, struct rna_error *error);
