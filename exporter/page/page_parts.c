// SPDX-License-Identifier: Apache-2.0
#include "page_parts.h"

#include <string.h>

#include "rna/base/project.h"

#include "view/text.h"

void rna_page_text(struct rna_strbuf *out, const char *text)
{
	rna_text_add(out, text ? text : "–", rna_escape_html);
}

void rna_page_open_footer(struct rna_strbuf *out)
{
	static const char url[] = RNA_PROJECT_URL;

	rna_strbuf_puts(out, "</main>\n<footer>");
	if (url[0]) {
		rna_strbuf_puts(out, "<a href=\"");
		rna_page_text(out, url);
		rna_strbuf_puts(out, "\">");
	}
	rna_strbuf_puts(out, "rdma-node-agent " RNA_VERSION);
	rna_strbuf_puts(out, url[0] ? "</a>" : "");
}

void rna_page_badge_titled(struct rna_strbuf *out, const char *text, enum rna_tone tone,
			   const char *title)
{
	static const char *const classes[] = {
		[RNA_TONE_PLAIN] = "<b",
		[RNA_TONE_GOOD] = "<b class=good",
		[RNA_TONE_WARNING] = "<b class=warn",
		[RNA_TONE_BAD] = "<b class=bad",
	};

	rna_strbuf_puts(out, classes[tone]);
	if (title) {
		rna_strbuf_puts(out, " title=\"");
		rna_page_text(out, title);
		rna_strbuf_add_char(out, '"');
	}
	rna_strbuf_add_char(out, '>');
	rna_page_text(out, text);
	rna_strbuf_puts(out, "</b>");
}

void rna_page_badge(struct rna_strbuf *out, const char *text, enum rna_tone tone)
{
	rna_page_badge_titled(out, text, tone, NULL);
}

const struct rna_subject *rna_page_port_of(const struct rna_view *view,
					   const struct rna_finding *finding)
{
	const struct rna_subject_list *ports = rna_view_ports(view);

	return RNA_FIND(i, ports->items, finding->device ? ports->count : 0,
			(finding->port == 0 || ports->items[i].port == finding->port) &&
				strcmp(ports->items[i].rdma_device->name, finding->device) == 0);
}

void rna_page_add(const struct rna_page *page, const char *html)
{
	rna_strbuf_puts(page->out, html);
}

void rna_page_say(const struct rna_page *page, const char *html, const char *text)
{
	rna_page_add(page, html);
	rna_page_text(page->out, text);
}

void rna_page_add_below(const struct rna_page *page, const char *before, const char *text)
{
	if (!text)
		return;
	rna_page_add(page, "<br><small>");
	rna_page_say(page, before, text);
	rna_page_add(page, "</small>");
}

void rna_page_open_table(const struct rna_page *page)
{
	rna_page_add(page, "<div class=wide><table>\n<thead><tr>");
}

void rna_page_open_cell(const struct rna_page *page, const char *tag, const char *header)
{
	rna_strbuf_printf(page->out, "%s data-of=\"%s\">", tag, header);
}

void rna_page_close_table(const struct rna_page *page)
{
	rna_page_add(page, "</tbody></table></div>\n");
}

void rna_page_open_fold(const struct rna_page *page, const char *title)
{
	rna_strbuf_printf(page->out, "<details>\n<summary><h2>%s</h2> <small>", title);
}
