// SPDX-License-Identifier: Apache-2.0
/*
 * The text that Prometheus reads, in both its dialects:
 *   classic      https://prometheus.io/docs/instrumenting/exposition_formats/ (version 0.0.4)
 *   OpenMetrics  https://prometheus.io/docs/specs/om/open_metrics_spec/ (version 1.0.0)
 *
 * They differ where it hurts: OpenMetrics names a family without _total or _info, has a type info
 * and a line for the unit, wants quotes in help texts escaped and an end mark; to the classic
 * format a family is what stands in front of the samples. Samples themselves are the same.
 */
#include "exposition.h"

#include <errno.h>

#include "view/text.h"

enum {
	NUMBER_MAX = 20,              /* digits of UINT64_MAX */
	DECIMAL_MAX = NUMBER_MAX + 2, /* and "0." */
};

static const char *const unit_names[] = {
	[RNA_METRIC_BYTES] = "bytes",     [RNA_METRIC_BYTES_PER_SECOND] = "bytes_per_second",
	[RNA_METRIC_SECONDS] = "seconds", [RNA_METRIC_NANOSECONDS] = "seconds",
	[RNA_METRIC_CELSIUS] = "celsius", [RNA_METRIC_VOLTS] = "volts",
	[RNA_METRIC_AMPERES] = "amperes", [RNA_METRIC_WATTS] = "watts",
	[RNA_METRIC_RATIO] = "ratio",
};

const char *rna_metric_type_name(enum rna_metric_type type)
{
	static const char *const names[] = {
		[RNA_METRIC_COUNTER] = "counter",
		[RNA_METRIC_GAUGE] = "gauge",
		[RNA_METRIC_INFO] = "info",
		[RNA_METRIC_HISTOGRAM] = "histogram",
	};

	return names[type];
}

static const char *unit_name(enum rna_metric_unit unit)
{
	return unit < RNA_ARRAY_SIZE(unit_names) ? unit_names[unit] : NULL;
}

unsigned rna_metric_decimals(enum rna_metric_unit unit)
{
	switch (unit) {
	case RNA_METRIC_CELSIUS:
		return 3;
	case RNA_METRIC_SECONDS:
	case RNA_METRIC_VOLTS:
	case RNA_METRIC_AMPERES:
	case RNA_METRIC_RATIO:
		return 6;
	case RNA_METRIC_NANOSECONDS:
	case RNA_METRIC_WATTS:
		return 9;
	default:
		return 0;
	}
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t end_len = strlen(end);

	return len >= end_len && memcmp(text + len - end_len, end, end_len) == 0;
}

/* The end that the name of a sample has, and the name of its family in OpenMetrics has not. */
static const char *type_suffix(enum rna_metric_type type)
{
	static const char *const suffixes[] = {
		[RNA_METRIC_COUNTER] = "_total",
		[RNA_METRIC_GAUGE] = "",
		[RNA_METRIC_INFO] = "_info",
		[RNA_METRIC_HISTOGRAM] = "",
	};

	return suffixes[type];
}

/* Length of the name without the end that belongs to its type. */
static size_t family_len(const struct rna_metric *metric)
{
	size_t len = strlen(metric->name);
	const char *suffix = type_suffix(metric->type);

	return ends_with(metric->name, len, suffix) ? len - strlen(suffix) : len;
}

static bool has_unit(const struct rna_metric *metric)
{
	const char *unit = unit_name(metric->unit);
	size_t len = family_len(metric);

	if (!unit || !ends_with(metric->name, len, unit))
		return false;
	return len > strlen(unit) && metric->name[len - strlen(unit) - 1] == '_';
}

static bool is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";

	return *name && strchr(letters, *name) &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789") == strlen(name);
}

const char *rna_metric_check(const struct rna_metric *metric)
{
	/*
	 * What readers take for parts of other types (OpenMetrics 1.0, "Suffixes"). A gauge may end
	 * in _info: an info metric rdma_finding_info would be a second family rdma_finding.
	 */
	static const char *const reserved[] = {"_total",  "_created", "_count", "_sum",
					       "_bucket", "_gcount",  "_gsum"};
	size_t family = family_len(metric);

	if (!is_name(metric->name))
		return "the name has other characters than a-z, 0-9 and _";
	if (!ends_with(metric->name, strlen(metric->name), type_suffix(metric->type)))
		return "the name lacks the end of its type";
	for (size_t i = 0; i < RNA_ARRAY_SIZE(reserved); i++)
		if (ends_with(metric->name, family, reserved[i]))
			return "the name ends like one of another type";
	if (unit_name(metric->unit) && !has_unit(metric))
		return "the name does not end in its unit";
	if (!metric->help || !ends_with(metric->help, strlen(metric->help), "."))
		return "the help is no sentence";
	return NULL;
}

static const char *escape_label(char c)
{
	switch (c) {
	case '\\':
		return "\\\\";
	case '"':
		return "\\\"";
	case '\n':
		return "\\n";
	case '\t':
		return "\t";
	default:
		return NULL;
	}
}

static const char *escape_classic_help(char c)
{
	return c == '"' ? NULL : escape_label(c);
}

void rna_label_add(struct rna_strbuf *labels, const char *name, const char *value)
{
	if (!value)
		return;
	if (labels->len > 0)
		rna_strbuf_add_char(labels, ',');
	rna_strbuf_puts(labels, name);
	rna_strbuf_puts(labels, "=\"");
	rna_text_add(labels, value, escape_label);
	rna_strbuf_add_char(labels, '"');
}

void rna_labels_begin(struct rna_strbuf *labels, struct rna_span first)
{
	labels->len = 0;
	rna_strbuf_add(labels, first.text, first.len);
}

static void write_line(struct rna_strbuf *out, const char *keyword, const struct rna_metric *metric,
		       size_t name_len)
{
	rna_strbuf_puts(out, keyword);
	rna_strbuf_add(out, metric->name, name_len);
	rna_strbuf_add_char(out, ' ');
}

static void write_help_and_type(struct rna_strbuf *out, const struct rna_metric *metric,
				size_t name_len, rna_escape *escape, enum rna_metric_type type)
{
	write_line(out, "# HELP ", metric, name_len);
	rna_text_add(out, metric->help, escape);
	rna_strbuf_add_char(out, '\n');

	write_line(out, "# TYPE ", metric, name_len);
	rna_strbuf_puts(out, rna_metric_type_name(type));
	rna_strbuf_add_char(out, '\n');
}

static void write_classic_head(struct rna_strbuf *out, const struct rna_metric *metric)
{
	write_help_and_type(out, metric, strlen(metric->name), escape_classic_help,
			    metric->type == RNA_METRIC_INFO ? RNA_METRIC_GAUGE : metric->type);
}

static void write_openmetrics_head(struct rna_strbuf *out, const struct rna_metric *metric)
{
	size_t name_len = family_len(metric);

	write_help_and_type(out, metric, name_len, escape_label, metric->type);
	if (!has_unit(metric))
		return;
	write_line(out, "# UNIT ", metric, name_len);
	rna_strbuf_puts(out, unit_name(metric->unit));
	rna_strbuf_add_char(out, '\n');
}

void rna_writer_metric(struct rna_writer *writer, struct rna_metric *metric)
{
	writer->metric = metric;
	writer->name_len = strlen(metric->name);
	writer->begun = false;
}

/* Of hundreds of metrics a node has a hundred. What there is no memory for is written anew. */
static void write_head(struct rna_writer *writer, struct rna_span *ret)
{
	static void (*const heads[])(struct rna_strbuf *, const struct rna_metric *) = {
		[RNA_EXPOSITION_CLASSIC] = write_classic_head,
		[RNA_EXPOSITION_OPENMETRICS] = write_openmetrics_head,
	};
	RNA_STRBUF struct rna_strbuf head = RNA_STRBUF_INIT;

	heads[writer->format](&head, writer->metric);
	if (!rna_strbuf_ok(&head))
		writer->out->failed = true;
	else
		rna_strbuf_add(writer->out, head.data, head.len);
	if (writer->arena)
		(void)rna_span_keep(writer->arena, &head, ret);
}

static void begin(struct rna_writer *writer)
{
	struct rna_span *head = &writer->metric->heads[writer->format];

	writer->begun = true;
	if (head->text)
		rna_strbuf_add(writer->out, head->text, head->len);
	else
		write_head(writer, head);
}

static char *put(char *at, const void *data, size_t len)
{
	memcpy(at, data, len);
	return at + len;
}

/* By hand: five times as fast as printf, and this is most of a render. */
static char *put_u64(char *at, uint64_t number)
{
	char digits[NUMBER_MAX];
	char *first = digits + sizeof(digits);

	do {
		*--first = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return put(at, first, (size_t)(digits + sizeof(digits) - first));
}

void rna_label_add_number(struct rna_strbuf *labels, const char *name, uint64_t number)
{
	char text[NUMBER_MAX + 1];

	*put_u64(text, number) = '\0';
	rna_label_add(labels, name, text);
}

/* Exact, without a double in between: of six decimals, 1500000 is 1.5, 250 is 0.00025. */
static char *put_decimal(char *at, uint64_t number, unsigned decimals)
{
	uint64_t whole = 1, fraction;

	for (unsigned i = 0; i < decimals; i++)
		whole *= 10;
	fraction = number % whole;
	at = put_u64(at, number / whole);
	if (fraction == 0)
		return at;
	for (; fraction % 10 == 0; decimals--)
		fraction /= 10;
	*at++ = '.';
	for (unsigned i = decimals; i-- > 0; fraction /= 10)
		at[i] = (char)('0' + fraction % 10);
	return at + decimals;
}

/* suffix: behind the name. number: in unit. */
static void write_sample(struct rna_writer *writer, struct rna_span suffix, struct rna_span labels,
			 uint64_t number, enum rna_metric_unit unit)
{
	size_t most = writer->name_len + suffix.len + labels.len + sizeof("{} \n") + DECIMAL_MAX;
	unsigned decimals = rna_metric_decimals(unit);
	char *at, *start;

	if (!writer->begun)
		begin(writer);
	start = at = rna_strbuf_reserve(writer->out, most);
	if (!at)
		return; /* remembered by the buffer */

	at = put(at, writer->metric->name, writer->name_len);
	at = put(at, suffix.text, suffix.len);
	if (labels.len > 0) {
		*at++ = '{';
		at = put(at, labels.text, labels.len);
		*at++ = '}';
	}
	*at++ = ' ';
	at = decimals > 0 ? put_decimal(at, number, decimals) : put_u64(at, number);
	*at++ = '\n';
	*at = '\0';
	writer->out->len += (size_t)(at - start);
}

void rna_writer_sample(struct rna_writer *writer, struct rna_span labels, uint64_t number)
{
	write_sample(writer, (struct rna_span){"", 0}, labels, number, writer->metric->unit);
}

void rna_writer_sample_labels(struct rna_writer *writer, const struct rna_strbuf *labels,
			      uint64_t number)
{
	if (rna_strbuf_ok(labels))
		rna_writer_sample(writer, (struct rna_span){labels->data, labels->len}, number);
	else
		writer->out->failed = true;
}

void rna_writer_sample_with(struct rna_writer *writer, struct rna_span labels, const char *name,
			    const char *value, uint64_t number)
{
	RNA_STRBUF struct rna_strbuf all = RNA_STRBUF_INIT;

	rna_labels_begin(&all, labels);
	rna_label_add(&all, name, value);
	rna_writer_sample_labels(writer, &all, number);
}

/* As OpenMetrics wants it, with a point always; the classic format takes that as well. */
static void add_bound(struct rna_strbuf *labels, uint64_t bound, enum rna_metric_unit unit)
{
	char text[DECIMAL_MAX + sizeof(".0")], *end;

	end = put_decimal(text, bound, rna_metric_decimals(unit));
	*end = '\0';
	if (!strchr(text, '.'))
		end = put(end, ".0", 2);
	*end = '\0';
	rna_label_add(labels, "le", text);
}

void rna_writer_buckets(struct rna_writer *writer, struct rna_span labels,
			const struct rna_buckets *buckets)
{
	static const struct rna_span bucket = {"_bucket", 7}, count = {"_count", 6},
				     sum = {"_sum", 4};
	RNA_STRBUF struct rna_strbuf all = RNA_STRBUF_INIT;
	uint64_t up_to = 0;

	for (unsigned i = 0; i <= buckets->count; i++) {
		up_to += buckets->counts[i];
		rna_labels_begin(&all, labels);
		if (i < buckets->count)
			add_bound(&all, buckets->bounds[i], buckets->unit);
		else
			rna_label_add(&all, "le", "+Inf");
		if (rna_strbuf_ok(&all))
			write_sample(writer, bucket, (struct rna_span){all.data, all.len}, up_to,
				     RNA_METRIC_PLAIN);
	}
	write_sample(writer, count, labels, up_to, RNA_METRIC_PLAIN);
	write_sample(writer, sum, labels, buckets->sum, buckets->unit);
	writer->out->failed |= all.failed;
}

void rna_writer_histogram(struct rna_writer *writer, struct rna_span labels,
			  const struct rna_histogram *histogram)
{
	const struct rna_buckets buckets = {
		.count = RNA_HISTOGRAM_BOUNDS,
		.bounds = rna_histogram_bounds,
		.counts = histogram->counts,
		.sum = histogram->sum,
		.unit = RNA_METRIC_SECONDS,
	};

	rna_writer_buckets(writer, labels, &buckets);
}

void rna_writer_end(struct rna_writer *writer)
{
	if (writer->format == RNA_EXPOSITION_OPENMETRICS)
		rna_strbuf_puts(writer->out, "# EOF\n");
}
