// SPDX-License-Identifier: Apache-2.0
/* A family's samples, of all its subjects; and all families, as a table for documents. */
#include "view/facts.h"

#include "families.h"
#include "families_counters.h"
#include "families_ethernet.h"

void rna_family_write(struct rna_family *family, const struct rna_subjects *subjects,
		      struct rna_walk *walk, struct rna_writer *writer)
{
	const struct rna_subject_list *list = &subjects->scopes[family->scope];
	bool info = family->metric.type == RNA_METRIC_INFO;

	rna_writer_metric(writer, &family->metric);
	if (family->counter && family->counter->label)
		rna_family_write_labelled_counters(family->counter, list, writer);
	else if (family->counter)
		rna_family_write_known_counter(family->counter, walk, writer);
	if (family->statistic)
		rna_family_write_statistic(family, list, writer);
	if (family->alias)
		rna_family_write_alias(family->alias, list, writer);
	for (size_t i = 0; family->each && i < list->count; i++)
		family->each(&list->items[i], writer);
	for (size_t i = 0; family->get && i < list->count; i++) {
		const struct rna_subject *subject = &list->items[i];
		struct rna_value value = family->get(subject);

		if (rna_value_is_known(value))
			rna_writer_sample(writer, info ? subject->info : subject->labels,
					  value.number);
	}
}

static void write_labels(const struct rna_family *family, struct rna_strbuf *out)
{
	static const char *const of_scope[] = {
		[RNA_SCOPE_NODE] = "",
		[RNA_SCOPE_DEVICE] = "device",
		[RNA_SCOPE_PORT] = "device, port",
		[RNA_SCOPE_GID] = "device, port",
		[RNA_SCOPE_JOB] = "collector, device",
	};
	struct rna_fact_table facts = rna_facts_of(family->scope);

	rna_strbuf_puts(out, of_scope[family->scope]);
	if (family->statistic)
		rna_strbuf_printf(out, ", %s", rna_family_statistic_labels(family));
	if (family->label)
		rna_strbuf_printf(out, "%s%s", *of_scope[family->scope] ? ", " : "", family->label);
	if (family->metric.type != RNA_METRIC_INFO || family->each)
		return;
	if (family->scope == RNA_SCOPE_NODE) {
		rna_strbuf_puts(out, "version");
		return;
	}
	for (size_t i = 0; i < facts.count; i++)
		rna_strbuf_printf(out, ", %s", facts.rows[i].name);
}

void rna_write_families(struct rna_strbuf *out)
{
	RNA_CLEANUP(rna_families_free_p) struct rna_families *families = rna_families_new();

	if (!families) {
		out->failed = true;
		return;
	}
	rna_strbuf_puts(out, "family\ttype\tlabels\tmeaning\n");
	for (size_t i = 0; i < families->count; i++) {
		const struct rna_metric *metric = &families->items[i].metric;

		rna_strbuf_printf(out, "`%s`\t%s\t", metric->name,
				  rna_metric_type_name(metric->type));
		write_labels(&families->items[i], out);
		rna_strbuf_printf(out, "\t%s\n", metric->help);
	}
}
