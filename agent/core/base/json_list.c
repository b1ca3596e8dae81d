// SPDX-License-Identifier: Apache-2.0
#include "rna/base/json_list.h"

#include <errno.h>
#include <string.h>

void rna_json_list_deinit(struct rna_json_list *list)
{
	rna_strbuf_deinit(&list->frame);
	rna_strbuf_deinit(&list->item);
}

static int refuse_length(const struct rna_json_list *list, const char *what,
			 struct rna_error *error)
{
	return rna_error_say(error, -EBADMSG, "%s has more than %zu KiB", what,
			     list->item_max / 1024);
}

static int fail_memory(struct rna_error *error)
{
	return rna_error_set(error, -ENOMEM, "cannot read JSON");
}

/* Within quotes. */
static void step_text(struct rna_json_list *list, char c)
{
	list->quoted = c != '"' || list->escaped;
	list->escaped = c == '\\' && !list->escaped;
}

/* -- The frame --------------------------------------------------------------------------------- */

/* Is the last text the next key of the path, in the object that this key is wanted of? */
static bool is_key(const struct rna_json_list *list)
{
	const char *wanted = list->path[list->found];

	return list->depth == list->found + 1 && strlen(wanted) == list->key_len &&
	       memcmp(list->frame.data + list->key, wanted, list->key_len) == 0;
}

static void open_bracket(struct rna_json_list *list, char c)
{
	bool last = !list->path[list->found + 1];

	list->depth++;
	if (list->keyed && c == '{' && !last)
		list->found++;
	if (list->keyed && c == '[' && last)
		list->listed = list->seen = true;
}

static void close_bracket(struct rna_json_list *list)
{
	if (list->depth > 0)
		list->depth--;
	if (list->found > 0 && list->depth == list->found)
		list->found--;
}

static void step_frame(struct rna_json_list *list, char c)
{
	if (list->quoted) {
		step_text(list, c);
		list->key_len = list->frame.len - 1 - list->key;
		return;
	}
	if (c == '{' || c == '[')
		open_bracket(list, c);
	if (c == '}' || c == ']')
		close_bracket(list);
	if (c == '"')
		list->key = list->frame.len;
	list->quoted = c == '"';
	if (!strchr(" \t\r\n", c))
		list->keyed = c == ':' && is_key(list);
}

static ssize_t read_frame(struct rna_json_list *list, const char *text, size_t len,
			  struct rna_error *error)
{
	size_t at = 0;

	while (at < len && !list->listed) {
		if (list->frame.len == list->item_max)
			return refuse_length(list, "what is beside the list", error);
		rna_strbuf_add_char(&list->frame, text[at]);
		if (!rna_strbuf_ok(&list->frame))
			return fail_memory(error);
		step_frame(list, text[at++]);
	}
	return (ssize_t)at;
}

/* -- Items ------------------------------------------------------------------------------------- */

/* Is this the comma or bracket behind an item? */
static bool step_item(struct rna_json_list *list, char c)
{
	if (list->quoted) {
		step_text(list, c);
		return false;
	}
	if (list->inner == 0 && (c == ',' || c == ']'))
		return true;
	list->quoted = c == '"';
	list->inner += c == '{' || c == '[';
	list->inner -= list->inner > 0 && (c == '}' || c == ']');
	return false;
}

/* c: what ended it. An empty list has no item. */
static int take_item(struct rna_json_list *list, char c, struct rna_error *error)
{
	bool empty = strspn(list->item.data, " \t\r\n") == list->item.len;
	int status = 0;

	if (!empty || list->comma || c == ',')
		status = list->take(list->item.data, list->item.len, list->userdata, error);
	list->item.len = 0;
	list->comma = c == ',';
	list->listed = c == ',';
	return status;
}

static ssize_t read_item(struct rna_json_list *list, const char *text, size_t len,
			 struct rna_error *error)
{
	size_t at = 0;
	int status;

	while (at < len && !step_item(list, text[at]))
		at++;
	if (at > list->item_max - list->item.len)
		return refuse_length(list, "an element of the list", error);
	rna_strbuf_add(&list->item, text, at);
	if (!rna_strbuf_ok(&list->item))
		return fail_memory(error);
	if (at == len)
		return (ssize_t)at;
	status = take_item(list, text[at], error);
	/* the bracket belongs to the frame */
	return status < 0 ? status : (ssize_t)(list->listed ? at + 1 : at);
}

int rna_json_list_read(struct rna_json_list *list, const char *text, size_t len,
		       struct rna_error *error)
{
	while (len > 0) {
		ssize_t taken = list->listed ? read_item(list, text, len, error)
					     : read_frame(list, text, len, error);

		if (taken < 0)
			return (int)taken;
		text += taken;
		len -= (size_t)taken;
	}
	return 0;
}

int rna_json_list_end(struct rna_json_list *list, const struct rna_json_limits *limits,
		      json_t **ret, struct rna_error *error)
{
	if (list->listed)
		return rna_error_say(error, -EBADMSG, "the list has no end");
	return rna_json_parse(list->frame.data ? list->frame.data : "", list->frame.len, limits,
			      ret, error);
}
