// SPDX-License-Identifier: Apache-2.0
/* What changed as a table, one line each; for `rdma-node-agent events` and for curl. */
#include "rna/exporter.h"

#include "view/change_text.h"

#include "text_table.h"

static void add_cell(const struct rna_text_table *table, size_t row, size_t column,
		     struct rna_strbuf *out)
{
	rna_change_add_cell(&((const struct rna_change *)table->userdata)[row],
			    (enum rna_change_column)column, out);
}

void rna_write_events_table(const struct rna_view *view, struct rna_strbuf *out)
{
	struct rna_text_table table = {
		.column_count = RNA_CHANGE_COLUMN_COUNT,
		.columns = {{"TIME"}, {"OBJECT"}, {"WHAT"}, {"BY"}, {"TEXT"}},
		.row_count = view->change_count,
		.userdata = view->changes,
		.cell = add_cell,
	};

	if (view->change_count == 0)
		rna_strbuf_puts(out, "Nothing changed.\n");
	else
		rna_text_table_write(&table, out);
}
