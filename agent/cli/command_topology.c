// SPDX-License-Identifier: Apache-2.0
/* The command topology: which GPUs and NICs are close to each other, in one of its formats. */
#include <errno.h>
#include <string.h>

#include "rna/exporter.h"

#include "once.h"

static void write_as(const char *format, const struct rna_view *view,
		     const struct rna_table_options *options, struct rna_strbuf *out)
{
	if (strcmp(format, "json") == 0)
		rna_write_topology_json(view, out);
	else if (strcmp(format, "dot") == 0)
		rna_write_topology_dot(view, out);
	else if (strcmp(format, "svg") == 0)
		rna_write_topology_svg(view, out);
	else
		rna_write_topology(view, options, out);
}

/* Was --hwloc-xml given and of no use? The output then contains the reason. */
static bool is_xml_unusable(const struct rna_call *call, const struct rna_view *view)
{
	const struct rna_topology *topology = rna_snapshot_topology(view->snapshot);

	return call->arguments.options[RNA_OPTION_HWLOC_XML] && topology && topology->problem;
}

int rna_command_topology(struct rna_call *call, struct rna_error *error)
{
	const char *const *options = call->arguments.options;
	const struct rna_table_options table = {
		.colour = rna_wants_colour(options[RNA_OPTION_COLOR]),
		.width = rna_output_width(),
	};
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_ONCE struct rna_once once = {0};
	int ret;

	ret = rna_once_poll(call, &once, error);
	if (ret < 0)
		return ret;
	write_as(options[RNA_OPTION_FORMAT], once.view, &table, &text);
	ret = rna_output_coloured(&text, table.colour, error);
	return ret == 0 && is_xml_unusable(call, once.view) ? RNA_EXIT_FAILURE : ret;
}
