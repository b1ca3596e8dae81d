/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent keeps for itself, as JSON. Of each kind of record one function names the members,
 * as in a table, and is used for writing, reading and freeing:
 *
 *	static void keep_name(struct rna_kept *kept, void *record)
 *	{
 *		struct name *name = record;
 *
 *		RNA_KEEP(kept, "key", name->key);
 *		RNA_KEEP(kept, "since", name->since);
 *		rna_kept_want(kept, name->key != NULL);
 *	}
 *
 * What is read may have been damaged, or written by any process. A member that is missing, or of
 * another type, leaves a number as it is and makes a text NULL; members that are not known are left
 * alone. Texts become UTF-8, because one text must not cost the file. A number of 0 and a text of
 * NULL have no member.
 */
#pragma once

#include <stddef.h>
#include <string.h>

#include "rna/base/json_document.h"
#include "rna/base/words.h"

/* What is done with a record: it is written, read, or neither: freed. */
struct rna_kept {
	json_t *object; /* of the record */
	bool writes, reads;
	int status; /* of reading: 0, -EBADMSG: it is damaged; -E2BIG: by a long list; -ENOMEM */
	struct rna_json_writer *writer;
	struct rna_error *error; /* of reading; NULL is fine */
};

typedef void rna_kept_members(struct rna_kept *kept, void *record);

/* -- Members ----------------------------------------------------------------------------------- */

/* clang-format off */
/* By its type. A text is the record's own. */
#define RNA_KEEP(kept, name, member)                                                               \
	_Generic((member),                                                                         \
		 char *: rna_keep_text,                                                            \
		 const char *: rna_keep_const_text,                                                \
		 uint64_t: rna_keep_u64,                                                           \
		 uint32_t: rna_keep_u32,                                                           \
		 int64_t: rna_keep_i64,                                                            \
		 int32_t: rna_keep_i32,                                                            \
		 bool: rna_keep_bool)(kept, name, &(member))
/* clang-format on */

void rna_keep_text(struct rna_kept *kept, const char *name, char **member);
void rna_keep_const_text(struct rna_kept *kept, const char *name, const char **member);
void rna_keep_u64(struct rna_kept *kept, const char *name, uint64_t *member);
void rna_keep_u32(struct rna_kept *kept, const char *name, uint32_t *member);
void rna_keep_i64(struct rna_kept *kept, const char *name, int64_t *member);
void rna_keep_i32(struct rna_kept *kept, const char *name, int32_t *member);
void rna_keep_bool(struct rna_kept *kept, const char *name, bool *member);
/* An array of characters: what is too long is cut. */
void rna_keep_chars(struct rna_kept *kept, const char *name, char *member, size_t size);

/* A number as a word. Read back, count where there is none of these words. */
#define RNA_KEEP_WORD(kept, name, member, word_of, words)                                          \
	do {                                                                                       \
		const char *word_ =                                                                \
			rna_keep_word(kept, name, (kept)->writes ? word_of(member) : NULL);        \
                                                                                                   \
		if ((kept)->reads)                                                                 \
			RNA_FIND_WORD(word_, member, word_of, words);                              \
	} while (0)
const char *rna_keep_word(struct rna_kept *kept, const char *name, const char *word);

/* A struct within the struct. One without what is wanted costs only itself. */
#define RNA_KEEP_RECORD(kept, name, members, record)                                               \
	rna_keep_record(kept, name, members, &(record), sizeof(record))
void rna_keep_record(struct rna_kept *kept, const char *name, rna_kept_members *members,
		     void *record, size_t size);

/*
 * An array of structs that the record owns. strict: a damaged element, or more than max, damage the
 * record; else a damaged one costs only itself, and max are read.
 */
#define RNA_KEEP_ARRAY(kept, name, members, array, count, max, strict)                             \
	rna_keep_array(kept,                                                                       \
		       &(struct rna_kept_array){name, members, sizeof(*(array)), max, strict},     \
		       &(array), &(count))
struct rna_kept_array {
	const char *name;
	rna_kept_members *members;
	size_t size;
	size_t max;
	bool strict;
};
void rna_keep_array(struct rna_kept *kept, const struct rna_kept_array *what, void *array,
		    size_t *count);

/* Unless it is true, the record is damaged: a reader would not take it, so it is not written. */
void rna_kept_want(struct rna_kept *kept, bool condition);

/* -- Records ----------------------------------------------------------------------------------- */

json_t *rna_kept_write(struct rna_json_writer *writer, rna_kept_members *members,
		       const void *record);
/* 0, or negative errno as in struct rna_kept, with error; then some of it was read. */
int rna_kept_read(const json_t *object, rna_kept_members *members, void *record,
		  struct rna_error *error);
/* Frees what a record owns, and makes it all zero. */
void rna_kept_free(rna_kept_members *members, void *record, size_t size);

/* Says that an element of a list could not be read. Returns status. */
int rna_kept_fail(const char *list, size_t index, int status, struct rna_error *error);

/* A member of an object. Negative: 0. */
const char *rna_kept_text(const json_t *object, const char *name);
uint64_t rna_kept_number(const json_t *object, const char *name);

/* -- Files with the number of their format ----------------------------------------------------- */

/* A record whose first member is the version; it is written as a whole. */
void rna_kept_write_file(rna_kept_members *members, const void *record, unsigned version,
			 struct rna_strbuf *out);

/*
 * The file of that text. 0, -EBADMSG: it is damaged or of something else, -EOPNOTSUPP: a newer
 * version than this wrote it, or -ENOMEM.
 */
int rna_kept_read_file(const char *text, size_t len, const struct rna_json_limits *limits,
		       unsigned version, json_t **ret, struct rna_error *error);
