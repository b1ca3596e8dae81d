// SPDX-License-Identifier: Apache-2.0
/* The devices of the status page: those that are there, and those that are missing. */
#include "metrics/families.h"
#include "view/text.h"

#include "page_parts.h"

/* A column for each row with a title. */
void rna_page_devices(const struct rna_page *page)
{
	const struct rna_subject_list *devices = &page->subjects->scopes[RNA_SCOPE_DEVICE];
	const struct rna_family_table *table = &rna_device_table;
	char scratch[RNA_FIELD_TEXT_MAX];

	if (devices->count == 0)
		return;
	rna_page_open_fold(page, "Devices");
	rna_strbuf_printf(page->out, "%zu</small></summary>\n", devices->count);
	rna_page_open_table(page);
	for (size_t f = 0; f < table->count; f++)
		if (table->rows[f].field.title)
			rna_strbuf_printf(page->out, "<th>%s", table->rows[f].field.title);
	rna_page_add(page, "<tbody>\n");
	for (size_t i = 0; i < devices->count; i++) {
		for (size_t f = 0; f < table->count; f++) {
			const struct rna_field *field = &table->rows[f].field;

			if (!field->title)
				continue;
			rna_page_open_cell(page, f == 0 ? "<tr><th" : "<td", field->title);
			rna_page_text(page->out,
				      rna_field_show(field, &devices->items[i], scratch));
		}
		rna_page_add(page, "\n");
	}
	rna_page_close_table(page);
	rna_page_add(page, "</details>\n");
}

void rna_page_missing(const struct rna_page *page)
{
	const struct rna_view *view = page->view;

	if (view->missing_count == 0)
		return;
	rna_page_add(page, "<h2>Missing devices</h2>\n");
	rna_page_open_table(page);
	rna_page_add(page, "<th>Device<th>PCI address<th>Where it is<th>Last seen<tbody>\n");
	RNA_EACH (missing, view->missing, view->missing_count) {
		rna_page_say(page, "<tr><th>", missing->name);
		rna_page_say(page, "<td>", missing->pci_address);
		rna_page_add(page, "<td>");
		rna_page_badge(page->out, rna_whereabouts_name(missing->whereabouts), RNA_TONE_BAD);
		rna_page_open_cell(page, "<td", "Last seen");
		rna_text_add_time(page->out, missing->last_seen);
		rna_page_add(page, "\n");
	}
	rna_page_close_table(page);
}
