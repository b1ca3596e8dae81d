/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML files as trees. Each node has its line number, for errors. All scalars stay text; the caller
 * converts them.
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

/* With aliases in the file, a node may appear several times in the tree, even below itself. */
struct rna_yaml {
	enum rna_yaml_kind kind;
	size_t line;      /* from 1 */
	const char *text; /* NULL: not a text, or it contains a NUL byte */
	bool plain;       /* a text without quotes */
	size_t count;
	const struct rna_yaml_pair *pairs; /* in the order of the file */
};

/*
 * Reads the only document of the file path into arena; *ret is NULL if it is empty. 0, or negative
 * errno with error: "path:line: ...", also for a file beyond the limits: 1 MiB, 32 levels, 50,000
 * values, 1,000 anchors and aliases, 100 %TAG lines.
 */
int rna_yaml_read(const char *path, struct rna_arena *arena, const struct rna_yaml **ret,
		  struct rna_error *error);

/*
 * The same for a text in memory; name stands for the path in errors. text is NUL-terminated, or
 * NULL if len is 0; the limit of its length is the caller's.
 */
int rna_yaml_parse(const char *name, const char *text, size_t len, struct rna_arena *arena,
		   const struct rna_yaml **ret, struct rna_error *error);

/* The kind of node for errors: "a list", "a section", "a single value". */
const char *rna_yaml_kind_name(const struct rna_yaml *node);

/* Is it "key:" without a value, as in a file where all settings are comments? */
bool rna_yaml_is_empty(const struct rna_yaml *node);

/* The value of key in a mapping. NULL: no such key, or node is not a mapping (or NULL). */
const struct rna_yaml *rna_yaml_get(const struct rna_yaml *node, const char *key);
