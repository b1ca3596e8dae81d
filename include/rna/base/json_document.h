/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents in JSON, by jansson, which this header alone includes. A member of NULL is an
 * allocation that failed: jansson refuses it, the writer remembers it, and one check at the end
 * shows whether memory was sufficient.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cleanup.h"
#include "error.h"
#include "strbuf.h"

static inline json_t *rna_json_free(json_t *json)
{
	json_decref(json);
	return NULL;
}
RNA_DEFINE_CLEANUP(json_t, rna_json_free)

/* The text of a member; NULL: it has none. */
static inline const char *rna_json_text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* Jansson has no limit of memory, and two bytes of text, "{}", take 230 of it. */
struct rna_json_limits {
	size_t bytes;  /* 0: the caller has limited them */
	size_t memory; /* bytes of the document that jansson makes */
	size_t levels; /* of lists and objects */
	size_t flags;  /* of jansson's decoders: JSON_REJECT_DUPLICATES and others */
};

/*
 * Is a text within the limits? Linear, without allocations. Does not check whether the text is
 * JSON: for those who pass it on. 0, or -EBADMSG with the line in the error.
 */
int rna_json_check(const char *text, size_t len, const struct rna_json_limits *limits,
		   struct rna_error *error);

/*
 * The document of a text. One beyond the limits is refused before jansson reads it. 0, -EBADMSG: it
 * is not JSON or beyond the limits, or -ENOMEM; the error says where and why.
 */
int rna_json_parse(const char *text, size_t len, const struct rna_json_limits *limits, json_t **ret,
		   struct rna_error *error);

struct rna_json_writer {
	bool failed;
};

/* Both take over what they add. */
void rna_json_set(struct rna_json_writer *writer, json_t *object, const char *name, json_t *member);
void rna_json_append(struct rna_json_writer *writer, json_t *array, json_t *element);

/*
 * Writes object, which it takes over, and a line end; sets out->failed if the writer has failed.
 * Control characters (rna/base/characters.h) are escaped, so that no terminal obeys them.
 */
void rna_json_write(struct rna_json_writer *writer, json_t *object, size_t indent,
		    struct rna_strbuf *out);
