// SPDX-License-Identifier: Apache-2.0
/* Text from hardware, made fit for a format. */
#include "text.h"

#include <errno.h>
#include <string.h>
#include <time.h>

void rna_text_add(struct rna_strbuf *out, const char *text, rna_escape *escape)
{
	rna_strbuf_add_plain(out, text, strlen(text), escape);
}

const char *rna_escape_html(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void rna_text_add_span(struct rna_strbuf *out, rna_usec span)
{
	static const struct {
		rna_usec length;
		const char *name;
	} units[] = {
		{86400 * RNA_USEC_PER_SEC, "d"}, {3600 * RNA_USEC_PER_SEC, "h"},
		{60 * RNA_USEC_PER_SEC, "min"},  {RNA_USEC_PER_SEC, "s"},
		{RNA_USEC_PER_MSEC, "ms"},       {1, "µs"},
	};
	size_t unit = 0;

	if (span == 0) {
		rna_strbuf_puts(out, "0 s");
		return;
	}
	/* from two of a unit on: 90 s says more than 1 min */
	while (unit + 1 < RNA_ARRAY_SIZE(units) && span < 2 * units[unit].length)
		unit++;
	rna_strbuf_add_u64(out, span / units[unit].length);
	rna_strbuf_add_char(out, ' ');
	rna_strbuf_puts(out, units[unit].name);
}

void rna_text_add_time(struct rna_strbuf *out, rna_usec realtime)
{
	time_t seconds = (time_t)(realtime / RNA_USEC_PER_SEC);
	char text[sizeof("-2147483648-12-31T23:59:59Z")];
	struct tm utc;

	if (!gmtime_r(&seconds, &utc) ||
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		return; /* a year that no calendar has: no time is better than a wrong one */
	rna_strbuf_puts(out, text);
}

rna_usec rna_text_parse_time(const char *text)
{
	struct tm utc = {0};
	const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &utc) : NULL;
	time_t seconds;

	if (end && *end == '.')
		end += 1 + strspn(end + 1, "0123456789");
	seconds = end && strcmp(end, "Z") == 0 ? timegm(&utc) : 0;

	return seconds > 0 ? (rna_usec)seconds * RNA_USEC_PER_SEC : 0;
}

int rna_span_keep(struct rna_arena *arena, const struct rna_strbuf *text, struct rna_span *ret)
{
	char *copy;

	if (!rna_strbuf_ok(text))
		return -ENOMEM;
	copy = rna_arena_alloc(arena, text->len + 1);
	if (!copy)
		return -ENOMEM;
	if (text->len > 0)
		memcpy(copy, text->data, text->len);
	*ret = (struct rna_span){copy, text->len};
	return 0;
}
