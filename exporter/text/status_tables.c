// SPDX-License-Identifier: Apache-2.0
/*
 * Tables for people at a terminal: what ibstat and ibdev2netdev show, a line per port, and below it
 * a line per card; and what show_gids shows, a line per GID, with the one that NCCL uses marked.
 * Ports that are unwired share a line: a ConnectX-8 with four planes has eight of them.
 */
#include <errno.h>

#include "rna/exporter.h"

#include "metrics/columns.h"
#include "view/card_text.h"
#include "view/facts.h"
#include "view/text.h"

#define ABSENT "-"

/* A row of the tables of facts, in the order of the output. */
struct heading {
	const char *column; /* of the row */
	const char *name;   /* NULL: the same */
	rna_tone_of *tone;
	rna_card_say *say; /* of the table of cards: there is no row, this function writes it */
};

static const struct heading port_headings[] = {
	{"DEVICE"},
	{"PORT"},
	{"LINK"},
	{"STATE", .tone = rna_tone_state},
	{"PHYSICAL", .tone = rna_tone_physical_state},
	{"EXPECTED"},
	{"RATE"},
	{"WIDTH"},
	{"SPEED"},
	{"MTU"},
	{"LID"},
	{"NETDEV"},
	{"OPER", .tone = rna_tone_operstate},
	{"PEER"},
	{"PEERPORT"},
	{"PCI"},
	{"NUMA"},
	{"HCA"},
	{"FIRMWARE"},
};

/* Headings as show_gids has them: people know them, and scripts cut by them. */
static const struct heading gid_headings[] = {
	{"DEVICE", "DEV"}, {"PORT"}, {"INDEX"}, {"GID"}, {"IPv4"}, {"VER"}, {"NETDEV"}, {"NCCL"},
};

static const struct heading card_headings[] = {
	{"CARD"},
	{"DEVICES", .say = rna_card_say_devices},
	{"PORTS", .say = rna_card_say_ports},
	{"MODEL"},
	{"BOARD"},
	{"FIRMWARE", .say = rna_card_say_firmware},
	{"NUMA"},
	{"CABLES", .say = rna_card_say_cables},
};

enum { COLUMNS_MAX = 20 };

_Static_assert(RNA_ARRAY_SIZE(port_headings) <= COLUMNS_MAX, "raise COLUMNS_MAX");
_Static_assert(RNA_ARRAY_SIZE(gid_headings) <= COLUMNS_MAX, "raise COLUMNS_MAX");

struct column {
	const char *header;
	struct rna_column row;
	rna_tone_of *tone;
	rna_card_say *say; /* instead of row */
	int width;
};

struct table {
	const struct rna_subjects *subjects;
	size_t column_count;
	struct column columns[COLUMNS_MAX];
	size_t row_count;
	const struct rna_subject **rows;
	bool colour;
};

static void set_columns(struct table *table, bool gids)
{
	const struct heading *headings = gids ? gid_headings : port_headings;

	table->column_count = gids ? RNA_ARRAY_SIZE(gid_headings) : RNA_ARRAY_SIZE(port_headings);
	for (size_t c = 0; c < table->column_count; c++)
		table->columns[c] = (struct column){
			.header = headings[c].name ? headings[c].name : headings[c].column,
			.row = rna_column_find(headings[c].column, gids),
			.tone = headings[c].tone,
		};
}

static void set_card_columns(struct table *table)
{
	table->column_count = RNA_ARRAY_SIZE(card_headings);
	for (size_t c = 0; c < table->column_count; c++) {
		const struct heading *heading = &card_headings[c];

		table->columns[c] = (struct column){
			.header = heading->column,
			.say = heading->say,
		};
		if (!heading->say)
			table->columns[c].row = rna_column_of(&rna_card_table, heading->column);
	}
}

static void free_rows(struct table *table)
{
	free(table->rows);
}

/* In out, anew. Firmware versions are the hardware's own words and may hold anything. */
static const char *cell(const struct table *table, const struct column *column,
			const struct rna_subject *row, struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf said = RNA_STRBUF_INIT;
	char scratch[RNA_FIELD_TEXT_MAX];
	const char *text;

	if (column->say) {
		column->say(table->subjects, row->card, &said);
		text = said.data;
	} else {
		text = rna_column_text(&column->row, row, scratch);
	}
	out->len = 0;
	rna_text_add(out, text && *text ? text : ABSENT, rna_escape_control);
	return rna_strbuf_ok(out) ? out->data : ABSENT;
}

/* Characters, where strlen() counts bytes. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

/* What has a line: the ports but the unwired ones, and devices that have none. */
static int find_ports(const struct rna_subjects *subjects, struct table *table)
{
	const struct rna_subject_list *devices = &subjects->scopes[RNA_SCOPE_DEVICE];
	size_t most = devices->count + subjects->scopes[RNA_SCOPE_PORT].count, from = 0;

	table->rows = calloc(most, sizeof(*table->rows));
	if (!table->rows)
		return -ENOMEM;
	for (size_t d = 0; d < devices->count; d++) {
		struct rna_subject_list ports =
			rna_subjects_ports_of(subjects, &devices->items[d], &from);

		if (ports.count == 0)
			table->rows[table->row_count++] = &devices->items[d];
		for (size_t i = 0; i < ports.count; i++)
			if (!rna_port_is_unwired(&ports.items[i]))
				table->rows[table->row_count++] = &ports.items[i];
	}
	return 0;
}

static int find_cards(const struct rna_subjects *subjects, struct table *table)
{
	const struct rna_subject_list *cards = &subjects->scopes[RNA_SCOPE_CARD];

	table->rows = calloc(cards->count, sizeof(*table->rows));
	if (!table->rows)
		return -ENOMEM;
	for (size_t i = 0; i < cards->count; i++)
		table->rows[table->row_count++] = &cards->items[i];
	return 0;
}

static int find_gids(const struct rna_subjects *subjects, struct table *table)
{
	const struct rna_subject_list *gids = &subjects->scopes[RNA_SCOPE_GID];

	table->rows = calloc(gids->count + 1, sizeof(*table->rows));
	if (!table->rows)
		return -ENOMEM;
	for (size_t i = 0; i < gids->count; i++)
		table->rows[table->row_count++] = &gids->items[i];
	return 0;
}

static void measure(struct table *table)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	for (size_t c = 0; c < table->column_count; c++) {
		struct column *column = &table->columns[c];

		column->width = (int)strlen(column->header);
		for (size_t i = 0; i < table->row_count; i++) {
			int width = width_of(cell(table, column, table->rows[i], &text));

			if (width > column->width)
				column->width = width;
		}
	}
}

static void write_cell(const struct table *table, size_t c, const char *text, const char *colour,
		       struct rna_strbuf *out)
{
	const struct rna_field *field = table->columns[c].row.field;
	bool last = c == table->column_count - 1, right = field && field->right;
	int pad = table->columns[c].width - width_of(text);

	rna_strbuf_printf(out, "%*s%s%s%s", right ? pad : 0, "", colour, text,
			  *colour ? "\033[0m" : "");
	if (last)
		rna_strbuf_add_char(out, '\n');
	else
		rna_strbuf_printf(out, "%*s", (right ? 0 : pad) + 2, "");
}

static void write_row(const struct table *table, const struct rna_subject *row,
		      struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	for (size_t c = 0; c < table->column_count; c++) {
		const struct column *column = &table->columns[c];
		rna_tone_of *tone = table->colour ? column->tone : NULL;

		write_cell(table, c, cell(table, column, row, &text),
			   rna_tone_colour(tone ? tone(row) : RNA_TONE_PLAIN), out);
	}
	out->failed |= text.failed;
}

static void write_table(struct table *table, struct rna_strbuf *out)
{
	measure(table);
	for (size_t c = 0; c < table->column_count; c++)
		write_cell(table, c, table->columns[c].header, table->colour ? "\033[1m" : "", out);
	for (size_t i = 0; i < table->row_count; i++)
		write_row(table, table->rows[i], out);
}

static void write_unwired(const struct rna_subjects *subjects, struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_say_unwired(subjects, &text);
	out->failed |= text.failed;
	if (text.len == 0)
		return;
	rna_text_add(out, text.data, rna_escape_control);
	rna_strbuf_add_char(out, '\n');
}

/* Behind a blank line; virtual devices have no card. */
static void write_cards(const struct rna_subjects *subjects, bool colour, struct rna_strbuf *out)
{
	RNA_CLEANUP(free_rows)
	struct table table = {.subjects = subjects, .colour = colour};

	if (subjects->scopes[RNA_SCOPE_CARD].count == 0)
		return;
	rna_strbuf_add_char(out, '\n');
	set_card_columns(&table);
	if (find_cards(subjects, &table) < 0)
		out->failed = true;
	else
		write_table(&table, out);
}

/* What is missing, in a sentence. NULL: nothing. */
static const char *why_empty(const struct rna_subjects *subjects, bool gids)
{
	const struct rna_subject_list *ports = &subjects->scopes[RNA_SCOPE_PORT];
	const char *why = rna_why_no_port(subjects);

	if (why || !gids || subjects->scopes[RNA_SCOPE_GID].count > 0)
		return why;
	for (size_t i = 0; i < ports->count; i++)
		if (ports->items[i].gids)
			return "No GID: the tables of all ports are empty.";
	return "No GID: there is no port whose table could be read.";
}

/* Behind a blank line. */
static void write_profile(const struct rna_profile_status *profile, struct rna_strbuf *out)
{
	if (!profile->name)
		return;
	rna_strbuf_printf(out, "\nprofile   %s, ", profile->name);
	rna_text_add(out, profile->source, rna_escape_control);
	rna_strbuf_puts(out, profile->alarms ? "\n" : " (information)\n");
}

/* A line for each finding, behind a blank one. */
static void write_findings(const struct rna_view *view, struct rna_strbuf *out)
{
	for (size_t i = 0; i < view->finding_count; i++) {
		const struct rna_finding *finding = &view->findings[i];

		rna_strbuf_printf(out, "%s%-8s  ", i == 0 ? "\n" : "",
				  rna_severity_name(finding->severity));
		rna_text_add(out, finding->text, rna_escape_control);
		rna_strbuf_puts(out, finding->silenced ? " (silenced)\n" : "\n");
	}
}

void rna_write_table(const struct rna_view *view, const struct rna_table_options *options,
		     struct rna_strbuf *out)
{
	RNA_SUBJECTS struct rna_subjects subjects = RNA_SUBJECTS_INIT;
	RNA_CLEANUP(free_rows)
	struct table table = {.subjects = &subjects, .colour = options->colour};
	const char *why;

	if (rna_subjects_set(&subjects, view) < 0) {
		out->failed = true;
		return;
	}
	why = why_empty(&subjects, options->gids);
	if (why) {
		rna_strbuf_printf(out, "%s\n", why);
		if (!options->gids)
			write_findings(view, out);
		return;
	}
	set_columns(&table, options->gids);
	if ((options->gids ? find_gids : find_ports)(&subjects, &table) < 0)
		out->failed = true;
	else
		write_table(&table, out);
	if (options->gids)
		return;
	write_unwired(&subjects, out);
	write_cards(&subjects, options->colour, out);
	write_profile(&view->profile, out);
	write_findings(view, out);
}
