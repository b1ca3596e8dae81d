/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a profile: one table for each section. Reader, writer and documents follow from it.
 */
#pragma once

#include "profile.h"

struct rna_profile_row;

/* A kind of value. Reads and writes one value, as a file has it. */
struct rna_profile_type {
	const char *allowed; /* in words; NULL: the row's min to max */
	/* Texts are copied to arena. 0, -ENOMEM, or -EINVAL: text is not allowed. */
	int (*take)(const struct rna_profile_row *row, const char *text, void *value,
		    struct rna_arena *arena);
	void (*write)(const void *value, struct rna_strbuf *out);
	bool (*is_set)(const void *value);
	size_t size; /* of a value */
};

struct rna_profile_row {
	const char *key;
	const struct rna_profile_type *type;
	size_t offset; /* of the value, or of a struct rna_profile_list of values */
	uint64_t min, max;
	const char *allowed; /* overrides that of the type */
	/* Entries of a list at most; a single value is a list of one. 0: not a list. */
	size_t most;
	const char *help; /* one sentence */
	bool counts;      /* a mapping of values to numbers: struct rna_profile_nics */
	bool proposal;    /* a comment in a draft */
};

struct rna_profile_table {
	size_t count;
	const struct rna_profile_row *rows;
};

extern const struct rna_profile_table rna_profile_file_rows;   /* struct rna_profile */
extern const struct rna_profile_table rna_profile_match_rows;  /* struct rna_profile_match */
extern const struct rna_profile_table rna_profile_node_rows;   /* struct rna_profile_node */
extern const struct rna_profile_table rna_profile_device_rows; /* struct rna_profile_device */

/* What the key allows, in words. */
void rna_profile_row_write_allowed(const struct rna_profile_row *row, struct rna_strbuf *out);

/* All keys as Markdown tables, for the command describe. */
void rna_profiles_describe(struct rna_strbuf *out);
/* The shipped profiles, likewise: which nodes each is for, and its document. */
void rna_profiles_describe_shipped(struct rna_strbuf *out);
