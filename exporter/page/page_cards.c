// SPDX-License-Identifier: Apache-2.0
/*
 * The section of the status page that shows cards: which devices one person pulls out together, and
 * where their cables lead.
 */
#include "metrics/columns.h"
#include "view/card_text.h"
#include "view/text.h"

#include "page_parts.h"

static const struct {
	const char *header;
	const char *column; /* of the table of cards; NULL: say writes it */
	rna_card_say *say;
	const char *open; /* tag, without its end */
} cells[] = {
	{"Card", "CARD", NULL, "<tr><th"},
	{"Devices", NULL, rna_card_say_devices, "<td class=wrap"},
	{"Ports", NULL, rna_card_say_ports, "<td"},
	{"Model", "MODEL", NULL, "<td"},
	{"Board", "BOARD", NULL, "<td"},
	{"Firmware", NULL, rna_card_say_firmware, "<td"},
	{"NUMA node", "NUMA", NULL, "<td"},
	{"Cables", NULL, rna_card_say_cables, "<td class=wrap"},
};

static void add_said(struct rna_strbuf *out, rna_card_say *say, const struct rna_subjects *subjects,
		     const struct rna_card *card)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	say(subjects, card, &text);
	out->failed |= text.failed;
	rna_page_text(out, text.len > 0 ? text.data : NULL);
}

static void add_row(struct rna_strbuf *out, const struct rna_subjects *subjects,
		    const struct rna_subject *card)
{
	char scratch[RNA_FIELD_TEXT_MAX];

	for (size_t i = 0; i < RNA_ARRAY_SIZE(cells); i++) {
		struct rna_column column;

		rna_strbuf_printf(out, "%s data-of=\"%s\">", cells[i].open, cells[i].header);
		if (cells[i].say) {
			add_said(out, cells[i].say, subjects, card->card);
			continue;
		}
		column = rna_column_of(&rna_card_table, cells[i].column);
		rna_page_text(out, rna_column_text(&column, card, scratch));
	}
	rna_strbuf_puts(out, "\n");
}

void rna_page_cards(const struct rna_page *page)
{
	const struct rna_subject_list *cards = &page->subjects->scopes[RNA_SCOPE_CARD];

	if (cards->count == 0)
		return;
	rna_page_open_fold(page, "Cards");
	rna_strbuf_printf(page->out, "%zu: boards, firmware, cables</small></summary>\n",
			  cards->count);
	rna_page_open_table(page);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cells); i++)
		rna_strbuf_printf(page->out, "<th>%s", cells[i].header);
	rna_page_add(page, "<tbody>\n");
	for (size_t i = 0; i < cards->count; i++)
		add_row(page->out, page->subjects, &cards->items[i]);
	rna_page_close_table(page);
	rna_page_add(page, "</details>\n");
}
