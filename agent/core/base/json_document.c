// SPDX-License-Identifier: Apache-2.0
#include "rna/base/json_document.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "rna/base/characters.h"

/* -- Limits ------------------------------------------------------------------------------------ */

/*
 * What jansson 2.14 allocates, with the overhead of malloc() of glibc, for what these characters
 * stand for. Lists, and the buckets of objects, grow by doubling and are copied meanwhile. Keys and
 * texts are not distinguished: it is more rather than less (test_json_document compares it with
 * what jansson allocates).
 */
enum {
	READER_COST = 128, /* of the document as a whole */
	OBJECT_COST = 224, /* and eight buckets */
	LIST_COST = 160,   /* and eight places, and a number */
	TEXT_COST = 88,    /* and its bytes */
	MEMBER_COST = 56,  /* its buckets */
	COMMA_COST = 56,   /* a place in a list, and a number */
	TOKEN_COPIES = 3,  /* of the longest text or number, while it is read */
};

/* Where rna_json_check() is in a text. */
struct scan {
	size_t line, memory, depth;
	size_t token, longest; /* bytes of a text or number */
	bool quoted;
};

static size_t cost_of(char c)
{
	switch (c) {
	case '{':
		return OBJECT_COST;
	case '[':
		return LIST_COST;
	case '"':
		return TEXT_COST;
	case ':':
		return MEMBER_COST;
	case ',':
		return COMMA_COST;
	default:
		return 0;
	}
}

static void scan_token(struct scan *scan, size_t len)
{
	scan->memory += len;
	scan->token += len;
	if (scan->token > scan->longest) {
		scan->memory += TOKEN_COPIES * (scan->token - scan->longest);
		scan->longest = scan->token;
	}
}

/* How many characters belong to the one at text. */
static size_t scan_quoted(struct scan *scan, const char *text)
{
	size_t len = *text == '\\' ? 2 : 1;

	scan->quoted = *text != '"';
	scan_token(scan, len);
	return len;
}

static void scan_other(struct scan *scan, char c)
{
	size_t cost = cost_of(c);

	scan->line += c == '\n';
	scan->quoted = c == '"';
	scan->memory += cost;
	if (cost > 0 || strchr(" \t\r\n]}", c))
		scan->token = 0;
	else
		scan_token(scan, 1);
	if (c == '[' || c == '{')
		scan->depth++;
	if ((c == ']' || c == '}') && scan->depth > 0)
		scan->depth--;
}

int rna_json_check(const char *text, size_t len, const struct rna_json_limits *limits,
		   struct rna_error *error)
{
	struct scan scan = {.line = 1, .memory = READER_COST};

	if (limits->bytes > 0 && len > limits->bytes)
		return rna_error_say(error, -EBADMSG, "more than %zu bytes", limits->bytes);
	for (size_t at = 0; at < len;) {
		if (scan.quoted)
			at += scan_quoted(&scan, text + at);
		else
			scan_other(&scan, text[at++]);
		if (scan.depth > limits->levels)
			return rna_error_say(error, -EBADMSG,
					     "line %zu: more than %zu levels of lists and objects",
					     scan.line, limits->levels);
		if (scan.memory > limits->memory)
			return rna_error_say(error, -EBADMSG,
					     "line %zu: takes more than %zu KiB of memory",
					     scan.line, limits->memory / 1024);
	}
	return 0;
}

int rna_json_parse(const char *text, size_t len, const struct rna_json_limits *limits, json_t **ret,
		   struct rna_error *error)
{
	int status = rna_json_check(text, len, limits, error);
	json_error_t why;
	json_t *document;

	if (status < 0)
		return status;
	/* Where an allocation fails, jansson has another reason, or none: malloc() has it */
	errno = 0;
	document = json_loadb(text, len, limits->flags, &why);
	if (!document && errno == ENOMEM)
		return rna_error_set(error, -ENOMEM, "cannot read JSON");
	if (!document)
		return rna_error_say(error, -EBADMSG, "line %d: %s", why.line, why.text);
	*ret = document;
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

/* Of a character of one to three bytes. */
static unsigned code_of(const char *text, size_t length)
{
	static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f};
	unsigned code = (unsigned char)text[0] & first[length];

	for (size_t i = 1; i < length; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3f);
	return code;
}

/*
 * jansson escapes the control characters below U+0020; here the others follow. It hands over whole
 * characters, and writes no control character of its own but the end of a line.
 */
static int write_bytes(const char *data, size_t len, void *userdata)
{
	struct rna_strbuf *out = userdata;
	size_t start = 0;

	for (size_t at = 0, length; at < len; at += length) {
		if (rna_character_at(data + at, len - at, &length) != RNA_CHARACTER_CONTROL ||
		    data[at] == '\n')
			continue;
		rna_strbuf_add(out, data + start, at - start);
		rna_strbuf_printf(out, "\\u%04X", code_of(data + at, length));
		start = at + length;
	}
	rna_strbuf_add(out, data + start, len - start);
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
