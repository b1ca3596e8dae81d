// SPDX-License-Identifier: Apache-2.0
#include "page_parts.h"

#include "view/text.h"

void rna_page_text(struct rna_strbuf *out, const char *text)
{
	rna_text_add(out, text ? text : "–", rna_escape_html);
}

void rna_page_badge(struct rna_strbuf *out, const char *text, enum rna_tone tone)
{
	static const char *const classes[] = {
		[RNA_TONE_PLAIN] = "<b>",
		[RNA_TONE_GOOD] = "<b class=good>",
		[RNA_TONE_WARNING] = "<b class=warn>",
		[RNA_TONE_BAD] = "<b class=bad>",
	};

	rna_strbuf_puts(out, classes[tone]);
	rna_page_text(out, text);
	rna_strbuf_puts(out, "</b>");
}
