/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML files as trees whose nodes know their line, so that errors can say it. What a text means is
 * the reader's business: nothing is taken for a number here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/arena.h"
#include "rna/base/error.h"

enum rna_yaml_kind {
	RNA_YAML_TEXT,
	RNA_YAML_LIST,
	RNA_YAML_MAPPING,
};

struct rna_yaml;

struct rna_yaml_pair {
	const struct rna_yaml *key; /* NULL in a list */
	const struct rna_yaml *value;
};

/* Where a file has aliases, nodes may be met more than once, and within themselves. */
struct rna_yaml {
	enum rna_yaml_kind kind;
	size_t line;      /* from 1 */
	const char *text; /* NULL: not a text, or one that C would read only half of */
	bool plain;       /* a text without quotes */
	size_t count;
	const struct rna_yaml_pair *pairs; /* in the order of the file */
};

/*
 * The one document in the file path, in arena; *ret is NULL when it is empty. 0, or negative errno
 * with error: "path:line: ...".
 */
int rna_yaml_read(const char *path, struct rna_arena *arena, const struct rna_yaml **ret,
		  struct rna_error *error);

/* What node is, for errors: "a list", "a section", "a single value". */
const char *rna_yaml_kind_name(const struct rna_yaml *node);

/* "key:" with nothing behind it, as in a file where all settings are comments. */
bool rna_yaml_is_empty(const struct rna_yaml *node);

/* What a mapping has under key; NULL: nothing, or node is none (or NULL). */
const struct rna_yaml *rna_yaml_get(const struct rna_yaml *node, const char *key);
