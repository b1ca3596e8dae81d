// SPDX-License-Identifier: Apache-2.0
/* The numbers at the top of the status page. */
#include "view/facts.h"
#include "view/text.h"

#include "page_parts.h"

static void add_number(const struct rna_page *page, const char *name, uint64_t number)
{
	rna_strbuf_printf(page->out, "<div><dt>%s<dd>%ju</div>\n", name, (uintmax_t)number);
}

void rna_page_severities(const struct rna_page *page)
{
	const struct rna_view *view = page->view;
	size_t rest = view->finding_count;
	const char *separator = "";

	for (int severity = RNA_SEVERITY_COUNT - 1; severity >= 0; severity--) {
		size_t count = rna_finding_count(view->findings, view->finding_count,
						 (enum rna_severity)severity);

		if (count == 0)
			continue;
		rna_strbuf_printf(page->out, "%s%zu %s", separator, count,
				  rna_severity_name((enum rna_severity)severity));
		separator = ", ";
		rest -= count;
	}
	if (rest > 0)
		rna_strbuf_printf(page->out, "%s%zu silenced", separator, rest);
}

static uint64_t count_ports_up(const struct rna_subject_list *ports)
{
	uint64_t count = 0;

	for (size_t i = 0; i < ports->count; i++)
		if (!ports->items[i].represents)
			count += rna_port_up(&ports->items[i]).number; /* 0 when absent */
	return count;
}

static uint64_t count_jobs_stalled(const struct rna_view *view)
{
	uint64_t count = 0;

	for (size_t i = 0; i < view->job_count; i++)
		count += view->jobs[i].stalled != 0;
	return count;
}

void rna_page_summary(const struct rna_page *page)
{
	const struct rna_subject_list *ports = &page->subjects->scopes[RNA_SCOPE_PORT];
	const struct rna_time *now = &page->view->snapshot->time;

	rna_page_add(page, "<dl>\n");
	add_number(page, "Devices", page->view->snapshot->device_count);
	add_number(page, "Ports", ports->count);
	add_number(page, "Ports up", count_ports_up(ports));
	rna_strbuf_printf(page->out, "<div><dt>Findings<dd>%zu<small>", page->view->finding_count);
	rna_page_severities(page);
	rna_page_add(page, "</small></div>\n");
	add_number(page, "Stalled collectors", count_jobs_stalled(page->view));
	rna_page_add(page, "<div><dt>Running for<dd>");
	rna_text_add_span(page->out,
			  rna_usec_since(page->view->agent.started.monotonic, now->monotonic));
	rna_page_add(page, "</div>\n</dl>\n");
}
