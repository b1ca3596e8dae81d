// SPDX-License-Identifier: Apache-2.0
#include "text_table.h"

#define ABSENT   "-"
#define ELLIPSIS "…"

enum { GAP = 2 }; /* between two columns */

/* Does a character begin here? UTF-8: it does not if the byte continues one. */
static bool is_start(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

int rna_text_columns(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += is_start(*text);
	return width;
}

/* The bytes of the first count characters. */
static size_t length_of(const char *text, size_t count)
{
	size_t len = 0;

	for (; text[len]; len++)
		if (is_start(text[len]) && count-- == 0)
			break;
	return len;
}

const char *rna_text_number(char text[RNA_TEXT_NUMBER_MAX], bool known, int decimals, double number)
{
	(void)snprintf(text, RNA_TEXT_NUMBER_MAX, "%.*f", decimals, number); /* one always fits */
	return known ? text : ABSENT;
}

const char *rna_text_outcome(enum rna_loopback_end end, enum rna_grade grade, enum rna_skip skip)
{
	switch (end) {
	case RNA_LOOPBACK_DONE:
		return grade == RNA_GRADE_NONE ? "measured" : rna_grade_name(grade);
	case RNA_LOOPBACK_SKIPPED:
		return rna_skip_name(skip);
	case RNA_LOOPBACK_CORRUPT:
		return "corrupt data";
	default:
		return "failed";
	}
}

size_t rna_text_width(const struct rna_table_options *options)
{
	if (options->wide)
		return 0;
	return options->width > 0 ? options->width : RNA_TEXT_WIDTH;
}

/* -- Tables ------------------------------------------------------------------------------------ */

/* In out, anew. */
static const char *cell(const struct rna_text_table *table, size_t row, size_t column,
			struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf raw = RNA_STRBUF_INIT;

	table->cell(table, row, column, &raw);
	out->failed |= raw.failed;
	out->len = 0;
	rna_text_add(out, raw.len > 0 && !raw.failed ? raw.data : ABSENT, NULL);
	return rna_strbuf_ok(out) ? out->data : ABSENT;
}

/* Returns the width of a line. */
static int measure(struct rna_text_table *table)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int sum = 0;

	for (size_t c = 0; c < table->column_count; c++) {
		struct rna_text_column *column = &table->columns[c];

		column->width = rna_text_columns(column->heading);
		for (size_t row = 0; row < table->row_count; row++) {
			int width = rna_text_columns(cell(table, row, c, &text));

			if (width > column->width)
				column->width = width;
		}
		sum += column->width + (c > 0 ? GAP : 0);
	}
	return sum;
}

/* The widest of those that are wider than their heading; NULL: there is none. */
static struct rna_text_column *find_widest(struct rna_text_table *table)
{
	struct rna_text_column *widest = NULL;

	for (size_t c = 0; c < table->column_count; c++) {
		struct rna_text_column *column = &table->columns[c];

		if (column->width > rna_text_columns(column->heading) &&
		    (!widest || column->width > widest->width))
			widest = column;
	}
	return widest;
}

/* Takes from the widest columns first: their texts lose the least. */
static void fit(struct rna_text_table *table, int width)
{
	struct rna_text_column *widest;

	for (; table->width > 0 && width > table->width; width--) {
		widest = find_widest(table);
		if (!widest)
			return;
		widest->width--;
	}
}

static void write_cell(const struct rna_text_table *table, size_t c, const char *text,
		       const char *colour, struct rna_strbuf *out)
{
	const struct rna_text_column *column = &table->columns[c];
	int width = rna_text_columns(text), pad = column->width - width;
	size_t len = pad < 0 ? length_of(text, (size_t)column->width - 1) : strlen(text);

	if (pad < 0)
		width = column->width;
	pad = column->width - width;
	rna_strbuf_printf(out, "%*s%s", column->right ? pad : 0, "", colour);
	rna_strbuf_add(out, text, len);
	rna_strbuf_printf(out, "%s%s", text[len] ? ELLIPSIS : "", *colour ? "\033[0m" : "");
	if (c == table->column_count - 1)
		rna_strbuf_add_char(out, '\n');
	else
		rna_strbuf_printf(out, "%*s", (column->right ? 0 : pad) + GAP, "");
}

static void write_row(const struct rna_text_table *table, size_t row, struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	for (size_t c = 0; c < table->column_count; c++) {
		enum rna_tone tone =
			table->colour && table->tone ? table->tone(table, row, c) : RNA_TONE_PLAIN;

		write_cell(table, c, cell(table, row, c, &text), rna_tone_colour(tone), out);
	}
	out->failed |= text.failed;
}

void rna_text_table_write(struct rna_text_table *table, struct rna_strbuf *out)
{
	fit(table, measure(table));
	for (size_t c = 0; c < table->column_count; c++)
		write_cell(table, c, table->columns[c].heading, table->colour ? "\033[1m" : "",
			   out);
	for (size_t row = 0; row < table->row_count; row++)
		write_row(table, row, out);
}

/* -- Lines ------------------------------------------------------------------------------------- */

/* The bytes that a line of that many characters takes: whole words, unless one is too long. */
static size_t line_length(const char *text, size_t room)
{
	size_t most = length_of(text, room), len = most;

	if (text[most] == '\0' || text[most] == ' ')
		return most;
	while (len > 0 && text[len - 1] != ' ')
		len--;
	return len > 0 ? len - 1 : most;
}

void rna_text_wrap(const char *text, size_t used, size_t indent, size_t width,
		   struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf fit_text = RNA_STRBUF_INIT;
	const char *rest;

	rna_text_add(&fit_text, text, NULL);
	out->failed |= fit_text.failed;
	if (fit_text.failed || fit_text.len == 0 || width <= indent || width <= used) {
		rna_strbuf_add(out, fit_text.data, fit_text.len);
		rna_strbuf_add_char(out, '\n');
		return;
	}
	for (rest = fit_text.data;;) {
		size_t len = line_length(rest, width - used);

		rna_strbuf_add(out, rest, len);
		rna_strbuf_add_char(out, '\n');
		rest += len;
		rest += strspn(rest, " ");
		if (*rest == '\0')
			return;
		rna_strbuf_printf(out, "%*s", (int)indent, "");
		used = indent;
	}
}
