/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building blocks of JSON documents. This header includes jansson. All documents have the same
 * format, and one check at the end shows whether memory was sufficient.
 */
#pragma once

#include <jansson.h>

#include "metrics/families.h"
#include "view/subjects.h"
#include "view/text.h"

/* A member of NULL is an allocation that failed: jansson refuses it, and we remember. */
struct rna_json_writer {
	struct rna_subjects subjects;
	struct rna_families *families;
	bool failed;
};

void rna_json_set(struct rna_json_writer *writer, json_t *object, const char *name, json_t *member);
void rna_json_append(struct rna_json_writer *writer, json_t *array, json_t *element);

/* jansson escapes; a text only has to be UTF-8, which rna_text_add() sees to. */
rna_escape rna_json_escape;

/* A text from hardware. */
json_t *rna_json_text(struct rna_json_writer *writer, const char *text);

/* The same as a member; one that is not known has no member. */
void rna_json_set_text(struct rna_json_writer *writer, json_t *object, const char *name,
		       const char *text);
void rna_json_set_time(struct rna_json_writer *writer, json_t *object, const char *name,
		       rna_usec realtime);

/* The value where it is known; else there is no member. */
void rna_json_set_value(struct rna_json_writer *writer, json_t *object, const char *name,
			struct rna_value value);

json_t *rna_json_number(uint64_t number);

/* A member for each field that has a name in JSON and is known. */
void rna_json_set_fields(struct rna_json_writer *writer, json_t *object,
			 const struct rna_field *fields, size_t count, const void *item);
/* The same of the rows of a table, in an object of its own. */
json_t *rna_json_item(struct rna_json_writer *writer, const struct rna_family_table *table,
		      const void *item);

/* Takes over object. */
void rna_json_write(struct rna_json_writer *writer, json_t *object, struct rna_strbuf *out);
