/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text that Prometheus reads, in both its dialects.
 *
 * A writer gets a metric and then its samples; it adds the headings and suffixes of the format. A
 * metric without samples produces no output.
 */
#pragma once

#include "rna/base/histogram.h"
#include "rna/exporter.h"

#include "view/text.h"

enum rna_metric_type {
	RNA_METRIC_COUNTER, /* name ends in _total */
	RNA_METRIC_GAUGE,
	RNA_METRIC_INFO,      /* name ends in _info; the value is 1, the labels matter */
	RNA_METRIC_HISTOGRAM, /* of durations: in seconds */
};

enum rna_metric_unit {
	RNA_METRIC_PLAIN,
	RNA_METRIC_BOOLEAN, /* 1: yes, 0: no */
	RNA_METRIC_BYTES,
	RNA_METRIC_BYTES_PER_SECOND,
	RNA_METRIC_SECONDS,     /* samples are given in microseconds and written as seconds */
	RNA_METRIC_NANOSECONDS, /* the same for what takes less */
	RNA_METRIC_CELSIUS,     /* in thousandths */
	RNA_METRIC_VOLTS,       /* in millionths, as amperes */
	RNA_METRIC_AMPERES,
	RNA_METRIC_WATTS, /* in thousand millionths */
	RNA_METRIC_RATIO, /* samples are given in millionths: 925000 is 0.925 */
};

struct rna_metric {
	const char *name; /* in full, as it stands in front of the samples */
	enum rna_metric_type type;
	enum rna_metric_unit unit;
	const char *help; /* one sentence */
	/* The lines in front of its samples, kept from when they were first written. */
	struct rna_span heads[RNA_EXPOSITION_COUNT];
};

const char *rna_metric_type_name(enum rna_metric_type type); /* "counter", "gauge", ... */

/* How many decimals samples of that unit are given with, as whole numbers. */
unsigned rna_metric_decimals(enum rna_metric_unit unit);

/* What is wrong with a metric by the rules of both dialects; NULL: nothing. For tests. */
const char *rna_metric_check(const struct rna_metric *metric);

/*
 * Labels are spans as they stand between the braces: device="mlx5_0",port="1". Empty: no braces.
 * This appends name="value", escaped, behind a comma where one is due. A value of NULL: nothing.
 */
void rna_label_add(struct rna_strbuf *labels, const char *name, const char *value);
void rna_label_add_number(struct rna_strbuf *labels, const char *name, uint64_t number);

/* Drops what labels held before and begins with first: those that a subject's samples share. */
void rna_labels_begin(struct rna_strbuf *labels, struct rna_span first);

struct rna_writer {
	struct rna_strbuf *out;
	enum rna_exposition format;
	struct rna_arena *arena;   /* of what metrics keep, as long-lived as they; NULL: nothing */
	struct rna_metric *metric; /* the one whose samples are written */
	size_t name_len;
	bool begun; /* did the metric have a sample? */
};

#define RNA_WRITER(buf, exposition, keep)                                                          \
	((struct rna_writer){.out = (buf), .format = (exposition), .arena = (keep)})

/* All samples from here on are of metric, which lives on. Each comes once. */
void rna_writer_metric(struct rna_writer *writer, struct rna_metric *metric);

/* One sample. number: in the metric's unit, see enum rna_metric_unit. */
void rna_writer_sample(struct rna_writer *writer, struct rna_span labels, uint64_t number);

/* The same with labels that were just written; where those have failed, the output has. */
void rna_writer_sample_labels(struct rna_writer *writer, const struct rna_strbuf *labels,
			      uint64_t number);

/* One sample with one more label behind the others. */
void rna_writer_sample_with(struct rna_writer *writer, struct rna_span labels, const char *name,
			    const char *value, uint64_t number);

/* The content of a histogram, in unit. */
struct rna_buckets {
	unsigned count;         /* of bounds, ascending */
	const uint64_t *bounds; /* each included in its bucket */
	const uint64_t *counts; /* of each bucket alone, and one more behind the last bound */
	uint64_t sum;
	enum rna_metric_unit unit;
};

/* All samples of a histogram: a count up to each bound, of all, and the sum. */
void rna_writer_buckets(struct rna_writer *writer, struct rna_span labels,
			const struct rna_buckets *buckets);
/* The same for durations of the agent itself. */
void rna_writer_histogram(struct rna_writer *writer, struct rna_span labels,
			  const struct rna_histogram *histogram);

void rna_writer_end(struct rna_writer *writer);
