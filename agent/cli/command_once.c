// SPDX-License-Identifier: Apache-2.0
/* The commands collect and status: poll once and write the result. */
#include <errno.h>
#include <string.h>

#include "rna/exporter.h"

#include "once.h"

static int output_json(const struct rna_view *view, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_write_json(view, &text);
	return rna_output_strbuf(&text, error);
}

static int output_metrics(const struct rna_once *once, enum rna_exposition format,
			  struct rna_error *error)
{
	RNA_CLEANUP(rna_renderer_free_p)
	struct rna_renderer *renderer = rna_renderer_new();
	struct rna_body *body;
	int ret = -ENOMEM;

	if (renderer)
		ret = rna_renderer_metrics(renderer, once->view, format, false, &body);
	if (ret < 0)
		return rna_error_set(error, ret, "cannot write the output");
	ret = rna_output(body->data, body->len, error);
	(void)rna_body_unref(body);
	return ret;
}

int rna_command_collect(struct rna_call *call, struct rna_error *error)
{
	const char *format = call->arguments.options[RNA_OPTION_FORMAT];
	RNA_ONCE struct rna_once once = {0};
	int ret;

	ret = rna_once_poll(call, &once, error);
	if (ret < 0)
		return ret;
	if (strcmp(format, "json") == 0)
		return output_json(once.view, error);
	if (strcmp(format, "openmetrics") == 0)
		return output_metrics(&once, RNA_EXPOSITION_OPENMETRICS, error);
	return output_metrics(&once, RNA_EXPOSITION_CLASSIC, error);
}

int rna_command_status(struct rna_call *call, struct rna_error *error)
{
	const char *const *options = call->arguments.options;
	const struct rna_table_options table = {
		.colour = rna_wants_colour(options[RNA_OPTION_COLOR]),
		.gids = options[RNA_OPTION_GIDS],
	};
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_ONCE struct rna_once once = {0};
	int ret;

	ret = rna_once_poll(call, &once, error);
	if (ret < 0)
		return ret;
	if (options[RNA_OPTION_JSON])
		return output_json(once.view, error);
	rna_write_table(once.view, &table, &text);
	return rna_output_strbuf(&text, error);
}
