// SPDX-License-Identifier: Apache-2.0
/* The commands collect and status: poll once and write the result. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rna/base/log.h"
#include "rna/collector.h"
#include "rna/exporter.h"
#include "rna/model/inside.h"
#include "rna/model/users.h"

#include "loop/agent.h"

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

	return RNA_ANY(i, RNA_ARRAY_SIZE(starts), strncmp(line, starts[i], strlen(starts[i])) == 0);
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

/* A node without a kubelet, or a file that is closed, leaves the names of resources out. */
static int write_pods(const struct rna_once *once, const struct rna_table_options *table,
		      struct rna_arena *arena, struct rna_strbuf *out, struct rna_error *error)
{
	struct rna_pod_resources resources;
	int status = arena ? rna_read_pod_resources(rna_agent_root(once->agent), arena, &resources)
			   : -ENOMEM;

	if (status == -ENOMEM)
		return rna_error_set(error, status, "cannot read the resources of pods");
	if (status < 0 && status != -ENOENT)
		rna_log_warning("the checkpoint of the kubelet cannot be read (%s): resources are "
				"left out",
				strerror(-status));
	rna_write_pods(once->view, &resources, table, out);
	return 0;
}

static int look_inside(const struct rna_once *once, struct rna_arena *arena, struct rna_inside *ret,
		       struct rna_error *error)
{
	const struct rna_presence *presence = rna_snapshot_presence(once->view->snapshot);
	int status = -ENOMEM;

	if (!presence) /* the log says why */
		return rna_error_say(error, -ENODEV, "the process shows no RDMA devices");
	if (arena)
		status = rna_look_inside(rna_agent_root(once->agent), presence, arena, ret);
	return status < 0 ? rna_error_set(error, status, "cannot look at the process") : 0;
}

int rna_command_status(struct rna_call *call, struct rna_error *error)
{
	const char *const *options = call->arguments.options;
	struct rna_table_options table = {
		.colour = rna_wants_colour(options[RNA_OPTION_COLOR]),
		.gids = options[RNA_OPTION_GIDS],
		.wide = options[RNA_OPTION_WIDE],
		.width = rna_output_width(),
		.brief = options[RNA_OPTION_SHORT],
	};
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_ONCE struct rna_once once = {0};
	struct rna_inside inside;
	int ret;

	ret = rna_once_poll(call, &once, error);
	if (ret < 0)
		return ret;
	if (options[RNA_OPTION_JSON])
		return write_output(once.view, "json", &text, error) < 0
			       ? error->code
			       : rna_output_strbuf(&text, error);
	if (options[RNA_OPTION_PODS]) {
		ret = write_pods(&once, &table, arena, &text, error);
		return ret < 0 ? ret : rna_output_coloured(&text, table.colour, error);
	}
	if (once.process) {
		ret = look_inside(&once, arena, &inside, error);
		if (ret < 0)
			return ret;
		table.inside = &inside;
	}
	rna_write_table(once.view, &table, &text);
	return rna_output_coloured(&text, table.colour, error);
}
