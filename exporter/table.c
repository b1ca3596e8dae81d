// SPDX-License-Identifier: Apache-2.0
/* The status table for people at a terminal: what ibstat and ibdev2netdev show, a line per port. */
#include "rna/exporter.h"

#include <errno.h>

#include "facts.h"

#define ABSENT "-"

struct column {
	const char *header;
	rna_fact *fact;
	bool right; /* numbers */
	rna_tone_of *tone;
};

static const struct column columns[] = {
	{"DEVICE", rna_fact_device},
	{"PORT", rna_fact_port, .right = true},
	{"LINK", rna_fact_link_layer},
	{"STATE", rna_fact_state, .tone = rna_tone_state},
	{"PHYSICAL", rna_fact_physical_state, .tone = rna_tone_physical_state},
	{"RATE", rna_fact_rate, .right = true},
	{"WIDTH", rna_fact_width, .right = true},
	{"SPEED", rna_fact_speed},
	{"MTU", rna_fact_mtu, .right = true},
	{"LID", rna_fact_lid, .right = true},
	{"NETDEV", rna_fact_netdev},
	{"OPER", rna_fact_operstate, .tone = rna_tone_operstate},
	{"PCI", rna_fact_pci_address},
	{"NUMA", rna_fact_numa_node, .right = true},
	{"HCA", rna_fact_hca_type},
	{"FIRMWARE", rna_fact_firmware_version},
};

enum { COLUMNS = RNA_ARRAY_SIZE(columns) };

static const char *cell(const struct rna_subject *port, size_t column, char scratch[RNA_FACT_MAX])
{
	const char *text = columns[column].fact(port, scratch);

	return text && *text ? text : ABSENT;
}

/* What has a line: the ports, and devices that have none. */
struct rows {
	size_t count;
	const struct rna_subject **items;
};

static void free_rows(struct rows *rows)
{
	free(rows->items);
}

static int find_rows(const struct rna_subjects *subjects, struct rows *ret)
{
	const struct rna_subject_list *devices = &subjects->scopes[RNA_SCOPE_DEVICE];
	size_t most = devices->count + subjects->scopes[RNA_SCOPE_PORT].count, from = 0;

	ret->items = calloc(most, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	for (size_t d = 0; d < devices->count; d++) {
		struct rna_subject_list ports =
			rna_subjects_ports_of(subjects, &devices->items[d], &from);

		if (ports.count == 0)
			ret->items[ret->count++] = &devices->items[d];
		for (size_t i = 0; i < ports.count; i++)
			ret->items[ret->count++] = &ports.items[i];
	}
	return 0;
}

static void measure(const struct rows *rows, int widths[COLUMNS])
{
	char scratch[RNA_FACT_MAX];

	for (size_t c = 0; c < COLUMNS; c++) {
		widths[c] = (int)strlen(columns[c].header);
		for (size_t i = 0; i < rows->count; i++) {
			int len = (int)strlen(cell(rows->items[i], c, scratch));

			if (len > widths[c])
				widths[c] = len;
		}
	}
}

static const char *colour_of(enum rna_tone tone)
{
	static const char *const colours[] = {
		[RNA_TONE_PLAIN] = "",
		[RNA_TONE_GOOD] = "\033[32m",
		[RNA_TONE_WARNING] = "\033[33m",
		[RNA_TONE_BAD] = "\033[31m",
	};

	return colours[tone];
}

static void write_cell(struct rna_strbuf *out, size_t column, int width, const char *text,
		       const char *colour)
{
	bool last = column == COLUMNS - 1;
	int pad = width - (int)strlen(text);

	rna_strbuf_printf(out, "%*s%s%s%s", columns[column].right ? pad : 0, "", colour, text,
			  *colour ? "\033[0m" : "");
	if (last)
		rna_strbuf_add_char(out, '\n');
	else
		rna_strbuf_printf(out, "%*s", (columns[column].right ? 0 : pad) + 2, "");
}

static void write_header(struct rna_strbuf *out, const int widths[COLUMNS], bool colour)
{
	for (size_t c = 0; c < COLUMNS; c++)
		write_cell(out, c, widths[c], columns[c].header, colour ? "\033[1m" : "");
}

static void write_row(struct rna_strbuf *out, const struct rna_subject *row,
		      const int widths[COLUMNS], bool colour)
{
	char scratch[RNA_FACT_MAX];

	for (size_t c = 0; c < COLUMNS; c++) {
		rna_tone_of *tone = colour ? columns[c].tone : NULL;

		write_cell(out, c, widths[c], cell(row, c, scratch),
			   colour_of(tone ? tone(row) : RNA_TONE_PLAIN));
	}
}

void rna_write_table(const struct rna_view *view, const struct rna_table_options *options,
		     struct rna_strbuf *out)
{
	RNA_SUBJECTS struct rna_subjects subjects = RNA_SUBJECTS_INIT;
	RNA_CLEANUP(free_rows) struct rows rows = {0};
	int widths[COLUMNS];
	const char *why;

	if (rna_subjects_set(&subjects, view) < 0) {
		out->failed = true;
		return;
	}
	why = rna_why_no_port(&subjects);
	if (why) {
		rna_strbuf_printf(out, "%s\n", why);
		return;
	}
	if (find_rows(&subjects, &rows) < 0) {
		out->failed = true;
		return;
	}
	measure(&rows, widths);
	write_header(out, widths, options->colour);
	for (size_t i = 0; i < rows.count; i++)
		write_row(out, rows.items[i], widths, options->colour);
}
