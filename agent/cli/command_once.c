// SPDX-License-Identifier: Apache-2.0
/* The commands collect and status: poll once and write the result. */
#include <errno.h>
#include <string.h>

#include "rna/exporter.h"

#include "once.h"

static int write_metrics(const struct rna_view *view, enum rna_exposition format,
			 struct rna_strbuf *out)
{
	RNA_CLEANUP(rna_renderer_free_p)
	struct rna_renderer *renderer = rna_renderer_new();
	struct rna_body *body;
	int ret = -ENOMEM;

	if (renderer)
		ret = rna_renderer_metrics(renderer, view, format, &body);
	if (ret < 0)
		return ret;
	rna_strbuf_add(out, body->data, body->len);
	(void)rna_body_unref(body);
	return 0;
}

static int write_output(const struct rna_view *view, const char *format, struct rna_strbuf *out,
			struct rna_error *error)
{
	int ret = 0;

	if (strcmp(format, "json") == 0)
		rna_write_json(view, out);
	else if (strcmp(format, "openmetrics") == 0)
		ret = write_metrics(view, RNA_EXPOSITION_OPENMETRICS, out);
	else
		ret = write_metrics(view, RNA_EXPOSITION_CLASSIC, out);
	if (ret == 0 && !rna_strbuf_ok(out))
		ret = -ENOMEM;
	return ret < 0 ? rna_error_set(error, ret, "cannot write the output") : 0;
}

/* -- A file for node_exporter ------------------------------------------------------------------ */

/* "process_open_fds 3", and "# HELP process_open_fds ..." */
static bool is_of_process(const char *line)
{
	static const char *const starts[] = {"process_", "# HELP process_", "# TYPE process_",
					     "# UNIT process_"};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(starts); i++)
		if (strncmp(line, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

/*
 * node_exporter exports these metrics of its own process, drops those of a file, and logs an error
 * for each at every scrape (1.5.0). They would be those of a command that has ended.
 */
static void drop_process(struct rna_strbuf *text)
{
	char *to = text->data;
	size_t len;

	for (const char *from = text->data; from && *from; from += len) {
		const char *end = strchr(from, '\n');

		len = end ? (size_t)(end - from) + 1 : strlen(from);
		if (is_of_process(from))
			continue;
		memmove(to, from, len);
		to += len;
	}
	text->len = to ? (size_t)(to - text->data) : 0;
}

/* -- The commands ------------------------------------------------------------------------------ */

int rna_command_collect(struct rna_call *call, struct rna_error *error)
{
	const char *const *options = call->arguments.options;
	const char *path = options[RNA_OPTION_OUTPUT];
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_ONCE struct rna_once once = {0};
	int ret;

	ret = rna_once_poll(call, &once, error);
	if (ret == 0)
		ret = write_output(once.view, options[RNA_OPTION_FORMAT], &text, error);
	if (ret < 0)
		return ret;
	if (!path)
		return rna_output_strbuf(&text, error);
	drop_process(&text);
	return rna_output_file(path, text.data, text.len, error);
}

/* The short form has no GIDs, and nothing to be wider. */
static int check_forms(const char *const *options, struct rna_error *error)
{
	static const enum rna_option_id others[] = {RNA_OPTION_GIDS, RNA_OPTION_WIDE,
						    RNA_OPTION_JSON};

	for (size_t i = 0; options[RNA_OPTION_SHORT] && i < RNA_ARRAY_SIZE(others); i++)
		if (options[others[i]])
			return rna_error_say(error, -EINVAL, "status: --short excludes --%s",
					     rna_options[others[i]].name);
	return 0;
}

int rna_command_status(struct rna_call *call, struct rna_error *error)
{
	const char *const *options = call->arguments.options;
	const struct rna_table_options table = {
		.colour = rna_wants_colour(options[RNA_OPTION_COLOR]),
		.gids = options[RNA_OPTION_GIDS],
		.wide = options[RNA_OPTION_WIDE],
		.brief = options[RNA_OPTION_SHORT],
	};
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_ONCE struct rna_once once = {0};
	int ret;

	if (check_forms(options, error) < 0)
		return RNA_EXIT_USAGE;
	ret = rna_once_poll(call, &once, error);
	if (ret < 0)
		return ret;
	if (options[RNA_OPTION_JSON])
		return write_output(once.view, "json", &text, error) < 0
			       ? error->code
			       : rna_output_strbuf(&text, error);
	rna_write_table(once.view, &table, &text);
	return rna_output_strbuf(&text, error);
}
