/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables and lines for a terminal: columns as wide as their widest text, and cut where a line would
 * be too long. A character counts as one column: names of hardware have no others.
 */
#pragma once

#include "rna/exporter.h"

#include "view/facts.h"

enum {
	RNA_TEXT_COLUMNS_MAX = 24,
	RNA_TEXT_WIDTH = 120, /* of a line, unless all of it is wanted */
};

struct rna_text_column {
	const char *heading;
	bool right; /* aligned to the right, as numbers are */
	int width;  /* set by rna_text_table_write() */
};

struct rna_text_table {
	size_t column_count;
	struct rna_text_column columns[RNA_TEXT_COLUMNS_MAX];
	size_t row_count;
	int width; /* that a line may have; 0: any */
	bool colour;
	const void *userdata;
	/* Adds the text of a cell to out, as the hardware has it. Nothing: it is not known. */
	void (*cell)(const struct rna_text_table *table, size_t row, size_t column,
		     struct rna_strbuf *out);
	enum rna_tone (*tone)(const struct rna_text_table *table, size_t row, size_t column);
};

/* Characters, where strlen() counts bytes. */
int rna_text_columns(const char *text);

/* A number, in text; "-" of one that means nothing. */
enum { RNA_TEXT_NUMBER_MAX = 32 };
const char *rna_text_number(char text[RNA_TEXT_NUMBER_MAX], bool known, int decimals,
			    double number);

/* What came of a test: its grade, or why there is none. */
const char *rna_text_outcome(enum rna_loopback_end end, enum rna_grade grade, enum rna_skip skip);

/* Of a line, as options want it; 0: any. */
size_t rna_text_width(const struct rna_table_options *options);

/* A line of headings and a line for each row. Texts that are cut end in "…". */
void rna_text_table_write(struct rna_text_table *table, struct rna_strbuf *out);

/*
 * Writes text, made fit for a terminal, and a line end. What does not fit into width follows on
 * further lines, indented; 0: all is one line. used: columns of the first line before text.
 */
void rna_text_wrap(const char *text, size_t used, size_t indent, size_t width,
		   struct rna_strbuf *out);
