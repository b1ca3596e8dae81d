/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Needs: what the agent takes of a node beyond reading files, one row each (needs.c): how to try
 * it, for which setting or collector it matters, what is lost without it, and what grants it.
 */
#pragma once

#include "rna/attempts.h"

#include "settings/settings.h"

struct rna_need_input {
	struct rna_attempt attempt;
	const struct rna_settings *settings;
};

/* Returns as rna_attempt_function does. */
typedef int rna_need_attempt(const struct rna_need_input *in, struct rna_strbuf *ret,
			     struct rna_error *error);

struct rna_rule;

enum { RNA_NEED_USES = 4 };

/* For whom a need matters. */
struct rna_need_use {
	const char *by;     /* a setting, a collector, or a command; NULL ends the list */
	const char *off[2]; /* values of the setting with which it does not matter */
	const char *lost;   /* without it */
};

struct rna_need {
	const char *name;  /* "verbs" */
	const char *tried; /* "open /dev/infiniband/uverbs*" */
	bool by_files;     /* a recording can answer */
	/* Nothing grants it by default, and no setting asks for it: it is no loss. */
	bool optional;
	rna_attempt_function *attempt; /* one of the two */
	rna_need_attempt *own_attempt;
	struct rna_need_use uses[RNA_NEED_USES + 1];
	/* What a running agent reports, and whose remedy it is; NULL: no finding is about it. */
	const struct rna_rule *finding;
	const char *remedy;  /* NULL: that of the finding, or profile and values are enough */
	const char *profile; /* of the systemd unit; NULL: none */
	const char *values;  /* of the chart; NULL: none */
};

extern const struct rna_need rna_needs[];
extern const size_t rna_need_count;

enum rna_need_state {
	RNA_NEED_OK,       /* it was tried, and it works */
	RNA_NEED_LOST,     /* it was tried, does not work, and something is to use it */
	RNA_NEED_UNUSED,   /* there is nothing to use it on, or no setting asks for it */
	RNA_NEED_OPTIONAL, /* it does not work, and the agent does without by default */
	RNA_NEED_UNKNOWN,  /* it could not be tried */
	RNA_NEED_STATE_COUNT,
};

const char *rna_need_state_name(enum rna_need_state state); /* "ok", "lost", ... */

/* status: of the attempt. -ETIMEDOUT, and a shortage of memory or descriptors, say nothing. */
enum rna_need_state rna_need_judge(const struct rna_need *need, int status,
				   const struct rna_settings *settings);

/* Is the use on? Of a collector and a command always. */
bool rna_need_use_is_on(const struct rna_need_use *use, const struct rna_settings *settings);

const char *rna_need_remedy(const struct rna_need *need); /* NULL: none */

/* "selftest.enabled is false": why nothing uses the need; no use of it is on. */
void rna_need_write_unused(const struct rna_need *need, const struct rna_settings *settings,
			   struct rna_strbuf *out);

/* Tries it in this process, which is a child of the command. */
int rna_need_try(const struct rna_need *need, const struct rna_need_input *in,
		 struct rna_strbuf *ret, struct rna_error *error);

/* The table for the command describe. */
void rna_needs_describe(struct rna_strbuf *out);

/* own_attempts.c: what the agent takes for itself, not for a collector. */
rna_need_attempt rna_try_locked_memory;
rna_need_attempt rna_try_state_directory;
rna_need_attempt rna_try_control_socket;
rna_need_attempt rna_try_probe_secret;
rna_need_attempt rna_try_probe_leaf;
rna_need_attempt rna_try_probe_priority;
rna_need_attempt rna_try_api_access;
rna_need_attempt rna_try_feature_directory;
rna_need_attempt rna_try_seccomp;
