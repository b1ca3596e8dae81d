// SPDX-License-Identifier: Apache-2.0
/*
 * What ports count: data, and what should be zero on a good link, or at least not grow. Each cell
 * shows how it went in the last minute and in the last hour; while the agent is younger than that,
 * since its first reading. A cell names the time that it is about.
 */
#include "view/text.h"

#include "page_parts.h"

/* NULL: there is nothing to show, and the cell says so. */
static const struct rna_port_rates *find_rates(const struct rna_page *page,
					       const struct rna_subject *port)
{
	const struct rna_port_rates *rates = port->account ? port->account->rates : NULL;

	if (rates && rates->spans[RNA_RATE_MINUTE] > 0)
		return rates;
	rna_page_add(page, rates ? "<small>after the next reading</small>" : "–");
	return NULL;
}

/* The hour says no more than the minute while both began with the first reading. */
static bool has_hour(const struct rna_port_rates *rates)
{
	return rates->spans[RNA_RATE_HOUR] > rates->spans[RNA_RATE_MINUTE];
}

/* words: of four octets, as PortCounters count them. */
static void add_bit_rate(const struct rna_page *page, uint64_t words, rna_usec span)
{
	static const char *const units[] = {"b/s", "kb/s", "Mb/s", "Gb/s"};
	double rate = (double)words * 32 / ((double)span / (double)RNA_USEC_PER_SEC);
	size_t unit = 0;

	for (; rate >= 999.5 && unit + 1 < RNA_ARRAY_SIZE(units); unit++)
		rate /= 1000;
	rna_strbuf_printf(page->out, "%.*f&nbsp;%s", unit > 0 && rate < 99.95 ? 1 : 0, rate,
			  units[unit]);
}

static void add_data(const struct rna_page *page, const char *name,
		     const struct rna_port_rates *rates, enum rna_rate_id id)
{
	const struct rna_rate *rate = &rates->of[id];

	rna_strbuf_printf(page->out, "<small>%s</small> ", name);
	if (!rate->known) {
		rna_page_text(page->out, NULL);
		return;
	}
	add_bit_rate(page, rate->risen[RNA_RATE_MINUTE], rates->spans[RNA_RATE_MINUTE]);
	if (!has_hour(rates))
		return;
	rna_page_add(page, " <small>(");
	add_bit_rate(page, rate->risen[RNA_RATE_HOUR], rates->spans[RNA_RATE_HOUR]);
	rna_page_add(page, " in ");
	rna_text_add_span(page->out, rates->spans[RNA_RATE_HOUR]);
	rna_page_add(page, ")</small>");
}

void rna_page_data(const struct rna_page *page, const struct rna_subject *port)
{
	const struct rna_port_rates *rates = find_rates(page, port);

	if (!rates)
		return;
	if (!rates->of[RNA_RATE_RECEIVED].known && !rates->of[RNA_RATE_TRANSMITTED].known) {
		rna_page_text(page->out, NULL);
		return;
	}
	add_data(page, "in", rates, RNA_RATE_RECEIVED);
	rna_page_add(page, "<br>");
	add_data(page, "out", rates, RNA_RATE_TRANSMITTED);
}

/* -- Errors ------------------------------------------------------------------------------------ */

/* A counter at its maximum has stopped: it says "at least". */
static bool is_shown(const struct rna_rate *rate)
{
	return rate->known && (rate->saturated || rate->risen[RNA_RATE_MINUTE] > 0 ||
			       rate->risen[RNA_RATE_HOUR] > 0);
}

static void add_risen(const struct rna_page *page, const struct rna_port_rates *rates,
		      const struct rna_rate *rate, enum rna_rate_span span)
{
	rna_strbuf_add_u64(page->out, rate->risen[span]);
	rna_page_add(page, " <small>in ");
	rna_text_add_span(page->out, rates->spans[span]);
	rna_page_add(page, "</small>");
}

static void add_error(const struct rna_page *page, const struct rna_port_rates *rates,
		      enum rna_rate_id id)
{
	const struct rna_rate *rate = &rates->of[id];

	rna_strbuf_printf(page->out, "%s%s ", rna_rate_rows[id].name,
			  rate->of_device ? " (device)" : "");
	if (rate->saturated) {
		rna_strbuf_printf(page->out, "≥&nbsp;%ju <small>in total</small>",
				  (uintmax_t)rate->total);
		return;
	}
	add_risen(page, rates, rate, RNA_RATE_MINUTE);
	if (!has_hour(rates))
		return;
	rna_page_add(page, ", ");
	add_risen(page, rates, rate, RNA_RATE_HOUR);
}

static void add_no_error(const struct rna_page *page, const struct rna_port_rates *rates)
{
	rna_page_add(page, "<small>none in ");
	rna_text_add_span(page->out, has_hour(rates) ? rates->spans[RNA_RATE_HOUR]
						     : rates->spans[RNA_RATE_MINUTE]);
	rna_page_add(page, "</small>");
}

void rna_page_errors(const struct rna_page *page, const struct rna_subject *port)
{
	const struct rna_port_rates *rates = find_rates(page, port);
	size_t known = 0, shown = 0;

	for (enum rna_rate_id id = RNA_RATE_ERRORS; rates && id < RNA_RATE_COUNT; id++) {
		known += rates->of[id].known;
		if (!is_shown(&rates->of[id]))
			continue;
		rna_page_add(page, shown++ > 0 ? "<br>" : "");
		add_error(page, rates, id);
	}
	if (rates && known == 0)
		rna_page_text(page->out, NULL);
	else if (rates && shown == 0)
		add_no_error(page, rates);
}
