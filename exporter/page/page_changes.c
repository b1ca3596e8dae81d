// SPDX-License-Identifier: Apache-2.0
/* What changed lately, on the status page. */
#include "view/change_text.h"

#include "page_parts.h"

#define LATELY (3600 * RNA_USEC_PER_SEC)

static enum rna_tone tone_of(const struct rna_change *change)
{
	switch (change->what) {
	case RNA_CHANGE_UP:
	case RNA_CHANGE_RESOLVED:
		return RNA_TONE_GOOD;
	case RNA_CHANGE_DOWN:
	case RNA_CHANGE_REFUSED:
		return RNA_TONE_BAD;
	case RNA_CHANGE_RAISED:
	case RNA_CHANGE_ALTERED:
		return rna_page_severity_tone(change->severity);
	default:
		return RNA_TONE_PLAIN;
	}
}

static void add_change(const struct rna_page *page, const struct rna_change *change)
{
	static const char *const tags[RNA_CHANGE_COLUMN_COUNT] = {
		"<tr><td>", "<th>", "<td>", "<td>", "<td class=wrap>",
	};
	RNA_STRBUF struct rna_strbuf cell = RNA_STRBUF_INIT;

	for (enum rna_change_column c = 0; c < RNA_CHANGE_COLUMN_COUNT; c++) {
		cell.len = 0;
		rna_change_add_cell(change, c, &cell);
		rna_page_add(page, tags[c]);
		if (c == RNA_CHANGE_COLUMN_WHAT)
			rna_page_badge(page->out, cell.data, tone_of(change));
		else
			rna_page_text(page->out, cell.len > 0 ? cell.data : NULL);
	}
	page->out->failed |= cell.failed;
	rna_page_add(page, "\n");
}

/* From first on, up to end; the newest on top, where people look. */
static void add_changes(const struct rna_page *page, size_t first, size_t end)
{
	rna_page_open_table(page);
	rna_page_add(page, "<th>Time<th>Object<th>What<th>By<th>What was seen<tbody>\n");
	for (size_t i = end; i > first; i--)
		add_change(page, &page->view->changes[i - 1]);
	rna_page_close_table(page);
}

/* What is older is folded away. The order is that of the changes: the clock may have been set. */
void rna_page_changes(const struct rna_page *page)
{
	rna_usec now = page->view->snapshot->time.realtime;
	size_t count = page->view->change_count, old = 0;

	while (old < count && rna_usec_since(page->view->changes[old].time.realtime, now) > LATELY)
		old++;
	if (old < count) {
		rna_page_add(page, "<h2>What changed in the last hour</h2>\n");
		add_changes(page, old, count);
	}
	if (old == 0)
		return;
	rna_page_open_fold(page, "What changed before");
	rna_strbuf_printf(page->out, "%zu, the last hour excluded</small></summary>\n", old);
	add_changes(page, 0, old);
	rna_page_add(page, "</details>\n");
}
