// SPDX-License-Identifier: Apache-2.0
/* The findings of the status page, with their remedies. */
#include "view/text.h"

#include "page_parts.h"

static enum rna_tone tone_of(const struct rna_finding *finding)
{
	static const enum rna_tone tones[RNA_SEVERITY_COUNT] = {
		[RNA_SEVERITY_INFO] = RNA_TONE_PLAIN,
		[RNA_SEVERITY_WARNING] = RNA_TONE_WARNING,
		[RNA_SEVERITY_CRITICAL] = RNA_TONE_BAD,
	};

	return finding->silenced ? RNA_TONE_PLAIN : tones[finding->severity];
}

static void add_finding(const struct rna_page *page, const struct rna_finding *finding)
{
	struct rna_time now = page->view->snapshot->time;

	rna_page_add(page, "<tr><th>");
	rna_page_badge(page->out, rna_severity_name(finding->severity), tone_of(finding));
	rna_page_add(page, "<td class=wrap>");
	rna_page_text(page->out, finding->text);
	rna_page_add_below(page, "", finding->remedy);
	rna_page_open_cell(page, "<td", "Rule");
	rna_page_text(page->out, finding->rule);
	rna_page_add(page, finding->silenced ? "<br><small>silenced</small>" : "");
	rna_page_open_cell(page, "<td class=n", "For");
	rna_text_add_span(page->out, rna_time_since(finding->since, now));
	rna_page_add(page, "\n");
}

/* What is in order needs no section to say so: the number in the summary does. */
void rna_page_findings(const struct rna_page *page)
{
	if (page->view->finding_count == 0)
		return;
	rna_page_add(page, "<h2>Findings</h2>\n");
	rna_page_open_table(page);
	rna_page_add(page, "<th>Severity<th>Finding and remedy<th>Rule<th class=n>For<tbody>\n");
	for (size_t i = 0; i < page->view->finding_count; i++)
		add_finding(page, &page->view->findings[i]);
	rna_page_close_table(page);
}
