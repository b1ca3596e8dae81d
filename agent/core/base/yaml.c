// SPDX-License-Identifier: Apache-2.0
/*
 * libyaml's document API returns nodes with line and column. They are copied one to one, by their
 * numbers, so that aliases are not expanded and the tree does not grow.
 */
#include "rna/base/yaml.h"

#include <errno.h>
#include <string.h>
#include <yaml.h>

#include "rna/base/file.h"

/*
 * Limits of a file. In libyaml 0.2.5 each token costs time for each bracket that is open, each
 * anchor and alias for each anchor, and each %TAG line for each earlier one: 400,000 brackets take
 * minutes. A file of the agent, or a kubeconfig, needs a tenth of this at most.
 */
enum {
	FILE_MAX = 1024 * 1024, /* bytes */
	DEPTH_MAX = 32,
	VALUES_MAX = 50000,
	ALIASES_MAX = 1000, /* and anchors */
	TAGS_MAX = 100,
};

struct load {
	const char *path;
	const char *text; /* NULL: empty */
	size_t len;
	struct rna_arena *arena;
	struct rna_error *error;
};

static size_t line_at(const struct load *load, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset && i < load->len; i++)
		line += load->text[i] == '\n';
	return line;
}

/* The error of libyaml. For bytes that are not UTF-8 it reports only an offset. */
static int fail_syntax(const struct load *load, const yaml_parser_t *parser)
{
	/* libyaml does not always set YAML_MEMORY_ERROR */
	if (parser->error == YAML_MEMORY_ERROR || !parser->problem)
		return rna_error_set(load->error, -ENOMEM, "%s", load->path);
	if (parser->error == YAML_READER_ERROR)
		return rna_error_say(load->error, -EINVAL, "%s:%zu: not UTF-8: %s", load->path,
				     line_at(load, parser->problem_offset), parser->problem);
	return rna_error_say(load->error, -EINVAL, "%s:%zu: invalid YAML: %s%s%s", load->path,
			     parser->problem_mark.line + 1, parser->context ? parser->context : "",
			     parser->context ? ", " : "", parser->problem);
}

/* -- Limits ------------------------------------------------------------------------------------ */

/* What has been found in the file so far. */
struct census {
	int depth, values, aliases, documents;
};

static bool count_event(const yaml_event_t *event, struct census *census)
{
	const yaml_char_t *anchor = NULL;

	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		census->documents++;
		return true;
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = event->data.sequence_start.anchor;
		census->depth++;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = event->data.mapping_start.anchor;
		census->depth++;
		break;
	case YAML_ALIAS_EVENT:
		anchor = event->data.alias.anchor;
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		census->depth--;
		return true;
	default:
		return event->type != YAML_STREAM_END_EVENT;
	}
	census->values++;
	census->aliases += anchor != NULL;
	return true;
}

static int fail_limit(const struct load *load, size_t line, int max, const char *what)
{
	return rna_error_say(load->error, -EINVAL,
			     "%s:%zu: more than %d %s; check that this is the right file",
			     load->path, line, max, what);
}

static int check_census(const struct load *load, const struct census *census, size_t line)
{
	if (census->depth > DEPTH_MAX)
		return fail_limit(load, line, DEPTH_MAX, "levels of lists and sections");
	if (census->values > VALUES_MAX)
		return fail_limit(load, line, VALUES_MAX, "values");
	if (census->aliases > ALIASES_MAX)
		return fail_limit(load, line, ALIASES_MAX, "anchors and aliases");
	return 0;
}

/* libyaml reads all of them before it returns the first event. */
static int check_tags(const struct load *load)
{
	static const char directive[] = "%TAG";
	const char *end = load->text + load->len;
	size_t line = 1;
	int tags = 0;

	for (const char *at = load->text; at && at < end; line++) {
		tags += strncmp(at, directive, sizeof(directive) - 1) == 0;
		if (tags > TAGS_MAX)
			return fail_limit(load, line, TAGS_MAX, "%TAG lines");
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	return 0;
}

/* 1: there is more. */
static int check_event(const struct load *load, yaml_parser_t *parser, struct census *census)
{
	RNA_CLEANUP(yaml_event_delete) yaml_event_t event = {0};
	bool more;
	int status;

	if (!yaml_parser_parse(parser, &event))
		return fail_syntax(load, parser);
	more = count_event(&event, census) && census->documents < 3; /* two are one too many */
	status = check_census(load, census, event.start_mark.line + 1);
	return status < 0 ? status : more;
}

/* Reads the file without making a tree of it. */
static int check_limits(const struct load *load, yaml_parser_t *parser)
{
	struct census census = {0};
	int status = check_tags(load);

	if (status < 0)
		return status;
	do
		status = check_event(load, parser, &census);
	while (status > 0);
	return status;
}

/* -- The tree ---------------------------------------------------------------------------------- */

static int copy_text(const struct load *load, const yaml_node_t *node, struct rna_yaml *copy)
{
	const char *text = (const char *)node->data.scalar.value;

	copy->kind = RNA_YAML_TEXT;
	copy->plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if (strlen(text) != node->data.scalar.length)
		return 0;
	copy->text = rna_arena_strdup(load->arena, text);
	return copy->text ? 0 : -ENOMEM;
}

/* nodes: the copies, indexed by libyaml's numbers, which start at 1. */
static int copy_list(const struct load *load, const yaml_node_t *node, const struct rna_yaml *nodes,
		     struct rna_yaml *copy)
{
	const yaml_node_item_t *item = node->data.sequence.items.start;
	size_t count = (size_t)(node->data.sequence.items.top - item);
	struct rna_yaml_pair *pairs = rna_arena_array(load->arena, count, sizeof(*pairs));

	if (!pairs)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		pairs[i].value = &nodes[item[i] - 1];
	copy->kind = RNA_YAML_LIST;
	copy->count = count;
	copy->pairs = pairs;
	return 0;
}

static int copy_mapping(const struct load *load, const yaml_node_t *node,
			const struct rna_yaml *nodes, struct rna_yaml *copy)
{
	const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	size_t count = (size_t)(node->data.mapping.pairs.top - pair);
	struct rna_yaml_pair *pairs = rna_arena_array(load->arena, count, sizeof(*pairs));

	if (!pairs)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		pairs[i] = (struct rna_yaml_pair){
			.key = &nodes[pair[i].key - 1],
			.value = &nodes[pair[i].value - 1],
		};
	copy->kind = RNA_YAML_MAPPING;
	copy->count = count;
	copy->pairs = pairs;
	return 0;
}

static int copy_node(const struct load *load, const yaml_node_t *node, const struct rna_yaml *nodes,
		     struct rna_yaml *copy)
{
	copy->line = node->start_mark.line + 1;
	switch (node->type) {
	case YAML_SEQUENCE_NODE:
		return copy_list(load, node, nodes, copy);
	case YAML_MAPPING_NODE:
		return copy_mapping(load, node, nodes, copy);
	default:
		return copy_text(load, node, copy);
	}
}

static int copy_document(const struct load *load, const yaml_document_t *document,
			 const struct rna_yaml **ret)
{
	size_t count = (size_t)(document->nodes.top - document->nodes.start);
	struct rna_yaml *nodes = rna_arena_array(load->arena, count, sizeof(*nodes));

	if (!nodes)
		return rna_error_set(load->error, -ENOMEM, "%s", load->path);
	for (size_t i = 0; i < count; i++)
		if (copy_node(load, &document->nodes.start[i], nodes, &nodes[i]) < 0)
			return rna_error_set(load->error, -ENOMEM, "%s", load->path);
	*ret = count > 0 ? nodes : NULL; /* the first node is the root */
	return 0;
}

static int read_documents(const struct load *load, yaml_parser_t *parser,
			  const struct rna_yaml **ret)
{
	RNA_CLEANUP(yaml_document_delete) yaml_document_t document = {0};
	RNA_CLEANUP(yaml_document_delete) yaml_document_t second = {0};

	if (!yaml_parser_load(parser, &document) || !yaml_parser_load(parser, &second))
		return fail_syntax(load, parser);
	if (yaml_document_get_root_node(&second))
		return rna_error_say(load->error, -EINVAL,
				     "%s:%zu: second document in the file; only one is allowed",
				     load->path, second.start_mark.line + 1);
	return copy_document(load, &document, ret);
}

/* Reads the file from its beginning. */
static int start(const struct load *load, yaml_parser_t *parser)
{
	if (!yaml_parser_initialize(parser))
		return rna_error_set(load->error, -ENOMEM, "%s", load->path);
	yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(parser, (const unsigned char *)load->text, load->len);
	return 0;
}

static int parse(const struct load *load, const struct rna_yaml **ret)
{
	RNA_CLEANUP(yaml_parser_delete) yaml_parser_t counting = {0};
	RNA_CLEANUP(yaml_parser_delete) yaml_parser_t reading = {0};
	int status = start(load, &counting);

	if (status == 0)
		status = check_limits(load, &counting);
	if (status == 0)
		status = start(load, &reading);
	return status < 0 ? status : read_documents(load, &reading, ret);
}

/* -- The file ---------------------------------------------------------------------------------- */

int rna_yaml_parse(const char *name, const char *text, size_t len, struct rna_arena *arena,
		   const struct rna_yaml **ret, struct rna_error *error)
{
	const struct load load = {name, text, len, arena, error};

	return parse(&load, ret);
}

int rna_yaml_read(const char *path, struct rna_arena *arena, const struct rna_yaml **ret,
		  struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int status = rna_file_read(path, FILE_MAX, &text, error);

	return status < 0 ? status : rna_yaml_parse(path, text.data, text.len, arena, ret, error);
}

const char *rna_yaml_kind_name(const struct rna_yaml *node)
{
	switch (node->kind) {
	case RNA_YAML_LIST:
		return "a list";
	case RNA_YAML_MAPPING:
		return "a section";
	default:
		return node->text ? "a single value" : "text with a NUL character";
	}
}

bool rna_yaml_is_empty(const struct rna_yaml *node)
{
	if (!node->text || !node->plain)
		return false;
	return strcmp(node->text, "") == 0 || strcmp(node->text, "~") == 0 ||
	       strcmp(node->text, "null") == 0;
}

const struct rna_yaml *rna_yaml_get(const struct rna_yaml *node, const char *key)
{
	if (!node || node->kind != RNA_YAML_MAPPING)
		return NULL;
	for (size_t i = 0; i < node->count; i++)
		if (node->pairs[i].key->text && strcmp(node->pairs[i].key->text, key) == 0)
			return node->pairs[i].value;
	return NULL;
}
