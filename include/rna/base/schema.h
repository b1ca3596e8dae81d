/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading YAML by tables: a table has a row for each key, and reading puts the values into a
 * struct. The reader finds unknown keys, keys that come twice and values of another kind. It goes
 * on behind a mistake, so that one look at a file shows them all. Errors begin with "path:line: ",
 * the line of the key, because behind an alias the value stands elsewhere.
 *
 * A key with a dot stands in a section: "poll.state" is "state:" below "poll:". A row with a table
 * of its own is a mapping with these keys, or a list of such mappings.
 *
 * libcyaml, which reads by tables, too, is not used: it has positions only in the text of its log,
 * its 1.3.1 (Debian 12) knows no numeric ranges, and it needs libyaml anyway.
 */
#pragma once

#include "rna/base/yaml.h"

struct rna_strbuf;
struct rna_schema;
struct rna_schema_load;
struct rna_schema_row;

/* What is wrong with a file beside the first mistake, in its order. */
enum { RNA_MISTAKES_MAX = 19 };

struct rna_mistakes {
	size_t count;
	bool more; /* than were kept: nothing behind them was read */
	struct rna_error errors[RNA_MISTAKES_MAX];
};

void rna_mistakes_log(const struct rna_mistakes *rest);

/* A kind of value. Functions that no reader or writer of its tables needs are NULL. */
struct rna_schema_type {
	const char *name;
	const char *allowed;      /* in words, unless the row has others; NULL: the row's range */
	const char *const *words; /* the same, NULL-ended */
	const struct rna_schema_choice *choices; /* unless the row has others */
	size_t size;                             /* of a value */
	/*
	 * Reads text, as a file has it. 0, -ENOMEM, or another errno: with load->error
	 * ("KEY: ..."), or without: text is not allowed.
	 */
	int (*take)(struct rna_schema_load *load, const struct rna_schema_row *row,
		    const char *text, void *value);
	/*
	 * A mapping with any keys, which becomes a list: one pair of it into an entry. Likewise,
	 * but an error is "path:line: ...".
	 */
	int (*take_pair)(struct rna_schema_load *load, const struct rna_schema_row *row,
			 const struct rna_yaml_pair *pair, void *entry);
	/* Reads a value of any kind, in place of these. 0, or negative errno. */
	int (*read)(struct rna_schema_load *load, const struct rna_schema_row *row,
		    const struct rna_yaml *node, void *field);
	bool (*is_valid)(const char *text);            /* for take */
	bool (*is_same)(const void *a, const void *b); /* fields; NULL: if their bytes are */
	bool (*is_set)(const void *value);
	void (*write)(const struct rna_schema_row *row, const void *value, struct rna_strbuf *out);
};

struct rna_schema_choice {
	const char *name; /* NULL ends a list */
	int value;
};

/* One of choices, as int. */
extern const struct rna_schema_type rna_schema_choice;

enum { RNA_SCHEMA_ENTRIES_MAX = 1000 }; /* of a list; documents do not mention this number */

struct rna_schema_row {
	const char *key; /* with its section, if it stands in one: "poll.state" */
	const struct rna_schema_type *type; /* NULL: mappings, of keys */
	/* Of the field. A list, unless type->read makes another: a size_t, then the entries'
	 * pointer. */
	size_t offset;
	const char *min, *max; /* of a number or a duration, as a file has them; no min: 0 */
	/* The default; of a list its only entry, or NULL for one that may be empty, and is. */
	const char *standard;
	const char *help; /* one sentence */
	const struct rna_schema *keys;
	size_t least, most;  /* entries of a list; most is 0: not a list */
	const char *missing; /* keys: what is wrong if there are none; NULL: there need be none */
	const struct rna_schema_choice *choices;
	const char *form;                   /* what is allowed, in words */
	bool (*is_valid)(const char *text); /* has the value or entry that form? */
	/* writes what is wrong with an entry, if there is more to say than its form; or NULL */
	void (*explain)(const char *entry, struct rna_strbuf *out);
	/* lists that must not name a thing twice: the delimiters that end the name; or NULL */
	const char *once;
	/*
	 * lists of mappings as texts: the keys of a mapping, NULL-ended. An entry is the values of
	 * these keys, one a line.
	 */
	const char *const *members;
	/* names for Kubernetes: 0, or -EINVAL with error if Kubernetes rejects it; or NULL */
	int (*check)(const char *key, const char *text, struct rna_error *error);
	bool read_at_start; /* only: a reload that changes it warns */
	bool proposal;      /* a comment in a draft */
};

struct rna_schema {
	size_t count;
	const struct rna_schema_row *rows;
	size_t size; /* of the struct that a mapping in a list becomes */
	/*
	 * Called behind the values of a mapping, before the mappings and lists below it; clean:
	 * they had no mistake. NULL: there is nothing to check. 0, or negative errno with
	 * load->error.
	 */
	int (*check)(struct rna_schema_load *load, const struct rna_yaml *mapping, void *object,
		     bool clean);
};

/* Where a row is given in a file. */
struct rna_schema_given {
	size_t line; /* 0: nowhere */
	bool wrong;
};

/* One reading of a file. */
struct rna_schema_load {
	const char *path;
	struct rna_arena *arena; /* of the values */
	void *object;            /* of the file: the struct of the outermost table */
	/* What to do about an unknown key that resembles none; NULL: its error lists all keys. */
	const char *advice;
	bool any_section; /* an unknown key may resemble one of another section */
	bool brief;       /* the web configuration: short errors, and empty values are ignored */
	bool checks;      /* what row->check rejects is a mistake */
	struct rna_schema_given *given; /* as many as rows; NULL: not wanted */
	struct rna_mistakes *rest;      /* NULL: reading ends with the first mistake */

	size_t line; /* of the value that is read */
	size_t mistakes;
	struct rna_error error; /* of what has just failed */
	struct rna_error first;
};

/*
 * Reads the mapping root into load->object. name: what errors call it, "" for nothing. Returns 0,
 * or negative errno if nothing more can be read; mistakes are in load.
 */
int rna_schema_read(struct rna_schema_load *load, const struct rna_schema *schema, const char *name,
		    const struct rna_yaml *root);

/*
 * Ends reading, which has returned status. Returns 0, or negative errno with the first mistake in
 * error (may be NULL).
 */
int rna_schema_end(const struct rna_schema_load *load, int status, struct rna_error *error);

/* For those who read a part of a file themselves. */

/* -EINVAL with load->error: "path:line: ..." */
int rna_schema_fail(struct rna_schema_load *load, size_t line, const char *format, ...)
	RNA_PRINTF(3, 4);

/*
 * Counts the mistake in load->error, if status is -EINVAL. Returns 0 if reading goes on; it does
 * not if memory is short, or behind one mistake too many: that was meant to be another file.
 */
int rna_schema_note(struct rna_schema_load *load, int status);

/* Text into a value. 0, or negative errno with load->error: "KEY: ...". */
int rna_schema_take(struct rna_schema_load *load, const struct rna_schema_row *row,
		    const char *text, void *value);
/* The same of a node, which has to be a single value: "path:line: KEY: ..." */
int rna_schema_take_node(struct rna_schema_load *load, const struct rna_schema_row *row,
			 const struct rna_yaml *node, size_t line, void *value);

/* Has a list of the row, on load->line, as many entries as are allowed? */
int rna_schema_check_length(struct rna_schema_load *load, const struct rna_schema_row *row,
			    size_t count);

/* The line of an earlier pair with the same key in the mapping; 0: none. */
size_t rna_schema_find_earlier(const struct rna_yaml *mapping, const struct rna_yaml_pair *pair);

/* NULL: there is no such key. */
const struct rna_schema_row *rna_schema_find(const struct rna_schema *schema, const char *key);

/* What the row allows, in words. */
void rna_schema_write_allowed(const struct rna_schema_row *row, struct rna_strbuf *out);
