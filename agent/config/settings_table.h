/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the settings table, for those who walk it: the configuration file and documents.
 * Bounds and defaults are texts, written and read in the way a file has them.
 */
#pragma once

#include <stdbool.h>

#include "settings/settings.h"

enum rna_setting_type {
	RNA_SETTING_DURATION, /* rna_usec */
	RNA_SETTING_INTEGER,  /* unsigned */
	RNA_SETTING_BOOLEAN,  /* bool */
	RNA_SETTING_CHOICE,   /* int */
	RNA_SETTING_TEXT,     /* char * */
	RNA_SETTING_LIST,     /* char **, NULL-ended; NULL while nothing is in it */
	RNA_SETTING_TYPE_COUNT,
};

struct rna_setting_choice {
	const char *name; /* NULL ends a list */
	int value;
};

#define RNA_SETTING_ENTRIES_MAX "1000" /* of a list, unless its row has another number */

struct rna_setting {
	const char *key; /* section, dot, name: "poll.state" */
	enum rna_setting_type type;
	size_t offset;   /* of the field in struct rna_settings */
	const char *min; /* durations and integers only */
	const char *max; /* likewise; of a list: how many entries a file may have */
	/* The default; of a list its only entry, or NULL for one that may be empty, and is. */
	const char *standard;
	const char *help; /* one sentence */
	const struct rna_setting_choice *choices;
	const char *form; /* booleans, texts and lists: the form of a value or an entry */
	bool (*is_valid)(
		const char *entry); /* texts and lists: has the value or entry that form? */
	/* lists: writes what is wrong with an entry, if there is more to say than its form; or NULL
	 */
	void (*explain)(const char *entry, struct rna_strbuf *out);
	/* lists that must not name a thing twice: the delimiters that end the name; otherwise NULL
	 */
	const char *once;
	/*
	 * lists of mappings: the keys of a mapping, NULL-ended. An entry is the values of these
	 * keys, one a line.
	 */
	const char *const *members;
	/* names for Kubernetes: 0, or -EINVAL with error if Kubernetes rejects it; otherwise NULL
	 */
	int (*check)(const char *key, const char *text, struct rna_error *error);
	bool read_at_start; /* only: a reload that changes it warns */
};

enum { RNA_SETTINGS_MAX = 160 }; /* rows; for arrays beside the table */

extern const struct rna_setting rna_setting_table[];
extern const size_t rna_setting_count;

const struct rna_setting *rna_setting_find(const char *key); /* NULL: unknown */

/*
 * Reads text into the field of settings; to a list it is appended. 0; -ENOMEM; -EINVAL with error
 * "poll.state: ..." when text is not allowed.
 */
int rna_setting_put(const struct rna_setting *setting, const char *text,
		    struct rna_settings *settings, struct rna_error *error);

/* Would check take its value? 0, or -EINVAL with error. */
int rna_setting_check(const struct rna_setting *setting, const struct rna_settings *settings,
		      struct rna_error *error);

/* Has it the same value in both? */
bool rna_setting_is_same(const struct rna_setting *setting, const struct rna_settings *a,
			 const struct rna_settings *b);

/* The name of its type; what is allowed; its default, as a file would have it; what it means. */
const char *rna_setting_type_name(const struct rna_setting *setting);
void rna_setting_write_allowed(const struct rna_setting *setting, struct rna_strbuf *out);
void rna_setting_write_default(const struct rna_setting *setting, struct rna_strbuf *out);
void rna_setting_write_help(const struct rna_setting *setting, struct rna_strbuf *out);

/* Takes all entries out of a list, or the text out of its field. */
void rna_setting_clear(const struct rna_setting *setting, struct rna_settings *settings);
