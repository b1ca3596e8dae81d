/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields: where in a struct a fact lies, how it is read, and what it is called in JSON, in the
 * labels of an info metric and in tables for people. A table has a row for each fact; all outputs
 * read it from there.
 *
 * A member's type decides how it is read. The macros find it by _Generic, so that a row cannot say
 * anything else, and a member of a type that nothing can read does not compile:
 *   struct rna_value      a number with its state
 *   uint64_t, unsigned    a number that is always known; an enum has words
 *   int                   the same, and not known where it is negative
 *   bool                  0 or 1
 *   const char *          a text; NULL: not known
 * What is computed has a function instead.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/model/value.h"

enum { RNA_FIELD_TEXT_MAX = 48 }; /* what a text that is written anew may need */

enum rna_field_kind {
	RNA_FIELD_NONE, /* the row has no member: a function says it */
	RNA_FIELD_VALUE,
	RNA_FIELD_UINT64,
	RNA_FIELD_UNSIGNED,
	RNA_FIELD_INT,
	RNA_FIELD_BOOL,
	RNA_FIELD_TEXT,
};

struct rna_field {
	const char *json;   /* name of the member of a JSON object; NULL: none */
	const char *label;  /* name in the labels of the info metric of its table; NULL: none */
	const char *column; /* heading in tables of the terminal; NULL: in none */
	const char *title;  /* heading in tables of the status page; NULL: in none */
	bool right;         /* the column is aligned to the right, as numbers are */
	enum rna_field_kind kind;
	bool behind;    /* the struct is behind the pointer at pointer; NULL: nothing is known */
	size_t pointer; /* offsets */
	size_t offset;
	bool tells; /* its label is one of each metric of its table: it tells items apart */
	bool zero_is_none;
	bool yes_no; /* in JSON true or false, in labels yes or no */
	bool time;   /* Unix time in microseconds: in JSON a date */
	/* The word for a number. */
	const char *(*word)(uint64_t number);
	/* What is computed: object is what the rows of the table are about. */
	struct rna_value (*number)(const void *object);
	const char *(*text)(const void *object);
	const char *(*print)(const void *object, char scratch[RNA_FIELD_TEXT_MAX]);
};

/* clang-format off */
/* By address, for an array is no text: the type of its address is another one. */
#define RNA_FIELD_KIND(member)                                                                     \
	_Generic(&(member),                                                                        \
		const struct rna_value *: RNA_FIELD_VALUE,                                         \
		const uint64_t *: RNA_FIELD_UINT64,                                                \
		const unsigned *: RNA_FIELD_UNSIGNED,                                              \
		const int *: RNA_FIELD_INT,                                                        \
		const bool *: RNA_FIELD_BOOL,                                                      \
		const char *const *: RNA_FIELD_TEXT)
/* clang-format on */

/* A member of the struct that the table is about. */
#define RNA_FIELD_IN(type, member)                                                                 \
	.kind = RNA_FIELD_KIND(((const type *)NULL)->member), .offset = offsetof(type, member)

/* An enum, whose values are compatible with unsigned, and the function that has its words. */
#define RNA_FIELD_ENUM(type, member, words)                                                        \
	.kind = _Generic(((const type *)NULL)->member, unsigned                                    \
			 : RNA_FIELD_UNSIGNED),                                                    \
	.offset = offsetof(type, member), .word = (words)

/* A member of the struct behind a pointer in it. */
#define RNA_FIELD_BEHIND(type, to, member)                                                         \
	.kind = RNA_FIELD_KIND(((const type *)NULL)->to->member), .behind = true,                  \
	.pointer = offsetof(type, to),                                                             \
	.offset = offsetof(__typeof__(*((const type *)NULL)->to), member)

/* Is it said in words? Else it is a number. */
bool rna_field_is_text(const struct rna_field *field);

/* The number of a field, absent where it is not known or the field is a text. */
struct rna_value rna_field_value(const struct rna_field *field, const void *object);

/* The text or word of a field that has one, which may be in scratch; NULL: not known. */
const char *rna_field_text(const struct rna_field *field, const void *object,
			   char scratch[RNA_FIELD_TEXT_MAX]);

/* The same for people, also of a number; of yes and no, "yes" alone. */
const char *rna_field_show(const struct rna_field *field, const void *object,
			   char scratch[RNA_FIELD_TEXT_MAX]);
