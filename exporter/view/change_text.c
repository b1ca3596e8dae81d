// SPDX-License-Identifier: Apache-2.0
#include "change_text.h"

#include "rna/base/duration.h"

#include "text.h"

static void add_time(const struct rna_change *change, struct rna_strbuf *out)
{
	rna_text_add_time(out, change->time.realtime);
}

static void add_object(const struct rna_change *change, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, change->device ? change->device : "");
	if (change->port > 0)
		rna_strbuf_printf(out, "/%u", change->port);
}

static void add_what(const struct rna_change *change, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, rna_change_name(change->what));
	if (change->count > 1)
		rna_strbuf_printf(out, " %ju times", (uintmax_t)change->count);
	if (change->what == RNA_CHANGE_ALTERED)
		rna_strbuf_puts(out, " to");
	if (change->what == RNA_CHANGE_ALTERED || change->what == RNA_CHANGE_RAISED)
		rna_strbuf_printf(out, " %s", rna_severity_name(change->severity));
}

static void add_by(const struct rna_change *change, struct rna_strbuf *out)
{
	enum rna_change_kind kind = rna_change_kind_of(change->what);

	if (kind == RNA_CHANGE_OF_FINDING)
		rna_strbuf_puts(out, change->rule);
	else
		rna_strbuf_puts(out, kind == RNA_CHANGE_OF_PORT ? rna_source_name(change->source)
								: "agent");
}

static void add_text(const struct rna_change *change, struct rna_strbuf *out)
{
	rna_usec lasted = rna_usec_since(change->since, change->time.realtime);

	if (change->what == RNA_CHANGE_RESOLVED && lasted >= RNA_USEC_PER_SEC) {
		rna_strbuf_puts(out, "after ");
		rna_duration_write(lasted / RNA_USEC_PER_SEC * RNA_USEC_PER_SEC, out);
		rna_strbuf_puts(out, ": ");
	}
	rna_strbuf_puts(out, change->text);
}

void rna_change_add_cell(const struct rna_change *change, enum rna_change_column column,
			 struct rna_strbuf *out)
{
	static void (*const adds[RNA_CHANGE_COLUMN_COUNT])(const struct rna_change *change,
							   struct rna_strbuf *out) = {
		add_time, add_object, add_what, add_by, add_text,
	};

	adds[column](change, out);
}
