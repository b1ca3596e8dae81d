// SPDX-License-Identifier: Apache-2.0
/* The ports that went up or down lately, on the status page. */
#include "view/text.h"

#include "page_parts.h"

static void add_event(const struct rna_page *page, const struct rna_transition *transition)
{
	rna_page_add(page, "<tr><td>");
	rna_text_add_time(page->out, transition->time.realtime);
	rna_page_add(page, "<th>");
	rna_page_text(page->out, transition->device);
	rna_strbuf_printf(page->out, "/%u<td>", transition->port);
	if (transition->up)
		rna_page_badge(page->out, "up", RNA_TONE_GOOD);
	else
		rna_page_badge(page->out, "down", RNA_TONE_BAD);
	if (transition->count > 1)
		rna_strbuf_printf(page->out, " %ju times", (uintmax_t)transition->count);
	rna_page_add(page, "<td>");
	rna_page_text(page->out, rna_source_name(transition->source));
	rna_page_add(page, "<td class=wrap>");
	rna_page_text(page->out, transition->reason);
	rna_page_add(page, "\n");
}

/* The newest on top, where people look. */
void rna_page_events(const struct rna_page *page)
{
	if (page->view->transition_count == 0)
		return;
	rna_page_add(page, "<h2>Ports that went up or down</h2>\n");
	rna_page_open_table(page);
	rna_page_add(page, "<th>Time<th>Port<th>Went<th>Source<th>What was seen<tbody>\n");
	for (size_t i = page->view->transition_count; i > 0; i--)
		add_event(page, &page->view->transitions[i - 1]);
	rna_page_close_table(page);
}
