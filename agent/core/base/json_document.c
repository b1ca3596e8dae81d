// SPDX-License-Identifier: Apache-2.0
#include "rna/base/json_document.h"

#include <errno.h>

/* -- Limits ------------------------------------------------------------------------------------ */

/* Where rna_json_check() is in a text. */
struct scan {
	size_t line, values, depth;
	bool quoted;
};

/* What the character at text means; how many characters belong to it. */
static size_t scan_character(struct scan *scan, const char *text)
{
	scan->line += *text == '\n';
	if (*text == '"')
		scan->quoted = !scan->quoted;
	if (scan->quoted)
		return *text == '\\' ? 2 : 1;
	scan->values += *text == '[' || *text == '{' || *text == ',';
	if (*text == '[' || *text == '{')
		scan->depth++;
	if ((*text == ']' || *text == '}') && scan->depth > 0)
		scan->depth--;
	return 1;
}

int rna_json_check(const char *text, size_t len, const struct rna_json_limits *limits,
		   struct rna_error *error)
{
	struct scan scan = {.line = 1};

	for (size_t at = 0; at < len;) {
		at += scan_character(&scan, text + at);
		if (scan.depth > limits->levels)
			return rna_error_say(error, -EBADMSG,
					     "line %zu: more than %zu levels of lists and objects",
					     scan.line, limits->levels);
		if (scan.values > limits->values)
			return rna_error_say(error, -EBADMSG, "line %zu: more than %zu values",
					     scan.line, limits->values);
	}
	return 0;
}

/* -- Writing ----------------------------------------------------------------------------------- */

void rna_json_set(struct rna_json_writer *writer, json_t *object, const char *name, json_t *member)
{
	if (json_object_set_new(object, name, member) < 0)
		writer->failed = true;
}

void rna_json_append(struct rna_json_writer *writer, json_t *array, json_t *element)
{
	if (json_array_append_new(array, element) < 0)
		writer->failed = true;
}

static int write_bytes(const char *data, size_t len, void *out)
{
	rna_strbuf_add(out, data, len);
	return rna_strbuf_ok(out) ? 0 : -1;
}

void rna_json_write(struct rna_json_writer *writer, json_t *object, size_t indent,
		    struct rna_strbuf *out)
{
	/* 15 digits: every microsecond of our times, and no tails like 0.10000000000000001 */
	const size_t flags = JSON_INDENT(indent) | JSON_REAL_PRECISION(15);

	if (writer->failed || json_dump_callback(object, write_bytes, out, flags) < 0)
		out->failed = true;
	json_decref(object);
	rna_strbuf_add_char(out, '\n');
}
