// SPDX-License-Identifier: Apache-2.0
#include "rna/base/json_document.h"

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
