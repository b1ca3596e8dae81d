/* SPDX-License-Identifier: Apache-2.0 */
/* Building blocks of JSON documents beyond rna/base/json_document.h: texts, values, fields. */
#pragma once

#include "rna/base/json_document.h"

#include "metrics/families.h"
#include "view/subjects.h"
#include "view/text.h"

enum { RNA_JSON_INDENT = 2 }; /* of all documents */

/* A text from hardware; malformed bytes become U+FFFD. */
json_t *rna_json_text(struct rna_json_writer *writer, const char *text);

/* The same as a member; one that is not known has no member. */
void rna_json_set_text(struct rna_json_writer *writer, json_t *object, const char *name,
		       const char *text);
void rna_json_set_number(struct rna_json_writer *writer, json_t *object, const char *name,
			 uint64_t number);
void rna_json_set_time(struct rna_json_writer *writer, json_t *object, const char *name,
		       rna_usec realtime);

/* The value where it is known; else there is no member. */
void rna_json_set_value(struct rna_json_writer *writer, json_t *object, const char *name,
			struct rna_value value);

/* Yes or no, likewise. */
void rna_json_set_boolean(struct rna_json_writer *writer, json_t *object, const char *name,
			  struct rna_value value);

/* An array or an object that is not empty; else it is freed, and there is no member. */
void rna_json_set_some(struct rna_json_writer *writer, json_t *object, const char *name,
		       json_t *some);

json_t *rna_json_number(uint64_t number);

/* A member for each field that has a name in JSON and is known. */
void rna_json_set_fields(struct rna_json_writer *writer, json_t *object,
			 const struct rna_field *fields, size_t count, const void *item);
/* The same of the rows of a table, in an object of its own. */
json_t *rna_json_item(struct rna_json_writer *writer, const struct rna_family_table *table,
		      const void *item);
/* An array of them, of items in an array. */
json_t *rna_json_items(struct rna_json_writer *writer, const struct rna_family_table *table,
		       const void *items, size_t count, size_t size);
