// SPDX-License-Identifier: Apache-2.0
/* The newest transitions as a table, one line each; for `rdma-node-agent events` and for curl. */
#include "rna/exporter.h"

#include "view/text.h"

enum { PORT_WIDTH = 16 };

static void write_event(const struct rna_transition *transition, struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf port = RNA_STRBUF_INIT;

	rna_text_add(&port, transition->device, NULL);
	rna_strbuf_printf(&port, "/%u", transition->port);
	rna_text_add_time(out, transition->time.realtime);
	rna_strbuf_printf(out, "  %-*s  %-4s  %5ju  %-9s  ", PORT_WIDTH,
			  rna_strbuf_ok(&port) ? port.data : "?", transition->up ? "up" : "down",
			  (uintmax_t)transition->count, rna_source_name(transition->source));
	rna_text_add(out, transition->reason, NULL);
	rna_strbuf_add_char(out, '\n');
}

void rna_write_events_table(const struct rna_view *view, struct rna_strbuf *out)
{
	if (view->transition_count == 0) {
		rna_strbuf_puts(out, "No port went up or down.\n");
		return;
	}
	rna_strbuf_printf(out, "%-20s  %-*s  %-4s  %5s  %-9s  %s\n", "TIME", PORT_WIDTH, "PORT",
			  "WENT", "COUNT", "SOURCE", "REASON");
	for (size_t i = 0; i < view->transition_count; i++)
		write_event(&view->transitions[i], out);
}
