// SPDX-License-Identifier: Apache-2.0
/*
 * The section of the status page that shows what probes between nodes came to: a line for each port
 * of this node and a column for each peer. A column of trouble is the peer's, a line of trouble is
 * the port's. Ports of this node that probe each other have a second table. On a phone, where
 * tables have no head, each cell names its peer.
 */
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"

#include "view/probe_text.h"
#include "view/text.h"

#include "page_parts.h"

static const char explanation[] =
	"<p><small>Point at a result for its numbers of the last ten minutes. "
	"<a href=/api/v1/probes-wide.txt>All numbers</a></small></p>\n";

/* One of two tables: of pairs with other nodes, or of pairs of two ports of this node. */
struct matrix {
	const struct rna_probes *probes;
	bool host;
	size_t count;
	const struct rna_probe_pair **columns; /* the first pair of each */
};

/* -- Columns ----------------------------------------------------------------------------------- */

static bool is_shown(const struct matrix *matrix, const struct rna_probe_pair *pair)
{
	return (pair->scope == RNA_PROBE_HOST) == matrix->host;
}

static int compare_columns(const void *a, const void *b)
{
	const struct rna_probe_pair *first = *(const struct rna_probe_pair *const *)a;
	const struct rna_probe_pair *second = *(const struct rna_probe_pair *const *)b;
	int order = (first->scope > second->scope) - (first->scope < second->scope);

	if (order == 0)
		order = rna_compare_names(first->peer, second->peer);
	if (order == 0 && first->scope == RNA_PROBE_HOST)
		order = rna_compare_names(first->peer_device, second->peer_device);
	if (order == 0 && first->scope == RNA_PROBE_HOST)
		order = (first->peer_port > second->peer_port) -
			(first->peer_port < second->peer_port);
	return order;
}

/* False: no memory. */
static bool find_columns(struct matrix *matrix)
{
	size_t all = 0;

	matrix->columns = calloc(matrix->probes->pair_count + 1, sizeof(*matrix->columns));
	if (!matrix->columns)
		return false;
	for (size_t i = 0; i < matrix->probes->pair_count; i++)
		if (is_shown(matrix, &matrix->probes->pairs[i]))
			matrix->columns[all++] = &matrix->probes->pairs[i];
	qsort(matrix->columns, all, sizeof(*matrix->columns), compare_columns);
	for (size_t i = 0; i < all; i++)
		if (matrix->count == 0 ||
		    compare_columns(&matrix->columns[matrix->count - 1], &matrix->columns[i]) != 0)
			matrix->columns[matrix->count++] = matrix->columns[i];
	return true;
}

/* The name of a column, which is that of the peer. */
static void add_peer(struct rna_strbuf *out, const struct rna_probe_pair *pair)
{
	if (pair->scope != RNA_PROBE_HOST) {
		rna_page_text(out, pair->peer);
		return;
	}
	rna_page_text(out, pair->peer_device);
	rna_strbuf_printf(out, "/%u", pair->peer_port);
}

/* -- Cells ------------------------------------------------------------------------------------- */

static const struct {
	const char *word;
	enum rna_tone tone;
} results[RNA_PROBE_RESULT_COUNT] = {
	{"silent", RNA_TONE_BAD},
	{"loss", RNA_TONE_BAD},
	{"MTU", RNA_TONE_BAD},
	{"slow", RNA_TONE_WARNING},
	{"DSCP", RNA_TONE_WARNING},
	{"detour", RNA_TONE_WARNING},
	[RNA_PROBE_RESULT_REFUSED] = {"refused", RNA_TONE_WARNING},
	[RNA_PROBE_RESULT_NO_NEIGHBOUR] = {"no neighbour", RNA_TONE_WARNING},
	[RNA_PROBE_RESULT_WAITING] = {"waiting", RNA_TONE_PLAIN},
	[RNA_PROBE_RESULT_PEER_DOWN] = {"peer down", RNA_TONE_PLAIN},
	[RNA_PROBE_RESULT_STARTING] = {"starting", RNA_TONE_PLAIN},
	[RNA_PROBE_RESULT_OK] = {"ok", RNA_TONE_GOOD},
	[RNA_PROBE_RESULT_LOCAL] = {"local", RNA_TONE_PLAIN},
};

static void add_detail(struct rna_strbuf *out, const struct rna_page *page,
		       const struct rna_probe_pair *pair)
{
	rna_strbuf_printf(out, "%s/%u", pair->device, pair->port);
	rna_strbuf_printf(out, " to %s %s/%u", pair->peer, pair->peer_device, pair->peer_port);
	if (pair->recent.sent > 0)
		rna_strbuf_printf(out, ": %ju of %ju lost", (uintmax_t)pair->recent.lost,
				  (uintmax_t)pair->recent.sent);
	if (pair->recent.large_lost > 0)
		rna_strbuf_printf(out, " (large: %ju of %ju)", (uintmax_t)pair->recent.large_lost,
				  (uintmax_t)pair->recent.large_sent);
	if (pair->rtt_median > 0) {
		rna_strbuf_puts(out, ", median ");
		rna_probe_add_rtt(pair->rtt_median, out);
	}
	if (pair->signs & RNA_PROBE_SLOW) {
		rna_strbuf_puts(out, ", usually ");
		rna_probe_add_rtt(pair->rtt_usual, out);
	}
	if (pair->signs & RNA_PROBE_DSCP)
		rna_strbuf_printf(out, ", DSCP %u arrives as %u", pair->dscp_sent,
				  pair->dscp_other);
	if (pair->some_paths != 0)
		rna_strbuf_puts(out, " on some paths");
	if (pair->signs & RNA_PROBE_DETOUR)
		rna_strbuf_printf(out, ", hop limit %u, usually %u", pair->there.hop_limit,
				  pair->hops_usual);
	if (pair->since > 0) {
		rna_strbuf_puts(out, ", for ");
		rna_text_add_span(out,
				  rna_usec_since(pair->since, page->view->snapshot->time.realtime));
	}
	if (pair->text[0] != '\0')
		rna_strbuf_printf(out, ": %s", pair->text);
}

/* "loss 1.2 %" */
static void add_word(struct rna_strbuf *out, const struct rna_probe_pair *pair,
		     enum rna_probe_result result)
{
	uint64_t count = pair->recent.lost + pair->recent.answered;

	rna_strbuf_puts(out, results[result].word);
	if (1u << result == RNA_PROBE_LOSS && count > 0)
		rna_strbuf_printf(out, " %.2g %%", 100 * (double)pair->recent.lost / (double)count);
}

static void add_pair(const struct rna_page *page, const struct rna_probe_pair *pair)
{
	RNA_STRBUF struct rna_strbuf word = RNA_STRBUF_INIT, detail = RNA_STRBUF_INIT;
	enum rna_probe_result result = rna_probe_result(pair);

	add_word(&word, pair, result);
	add_detail(&detail, page, pair);
	page->out->failed |= word.failed || detail.failed;
	rna_page_badge_titled(page->out, word.data, results[result].tone, detail.data);
}

/* Empty if the port has no such peer. */
static void add_cell(const struct rna_page *page, const struct matrix *matrix,
		     const struct rna_probe_port *port, const struct rna_probe_pair *column)
{
	size_t count = 0;

	rna_page_add(page, "<td");
	RNA_EACH (pair, matrix->probes->pairs, matrix->probes->pair_count) {
		if (pair->port != port->port || strcmp(pair->device, port->device) != 0 ||
		    compare_columns(&pair, &column) != 0)
			continue;
		if (count++ == 0) {
			rna_page_add(page, " data-of=\"");
			add_peer(page->out, column);
			rna_page_add(page, "\">");
		}
		add_pair(page, pair);
	}
	rna_page_add(page, count == 0 ? ">" : "");
}

static void add_verdict(const struct rna_page *page, const struct rna_probe_port *port)
{
	static const enum rna_tone tones[RNA_PROBE_PORT_RESULT_COUNT] = {
		[RNA_PROBE_PORT_UNREACHABLE] = RNA_TONE_BAD,
		[RNA_PROBE_PORT_LOSSY] = RNA_TONE_BAD,
		[RNA_PROBE_PORT_PAUSED] = RNA_TONE_WARNING,
		[RNA_PROBE_PORT_FAILED] = RNA_TONE_WARNING,
		[RNA_PROBE_PORT_WELL] = RNA_TONE_GOOD,
	};
	enum rna_probe_port_result result = rna_probe_port_result(port);

	rna_page_badge(page->out, rna_probe_port_result_name(result), tones[result]);
	if (port->pairs_bad > 0)
		rna_strbuf_printf(page->out, "<br><small>%u of %u pairs bad</small>",
				  port->pairs_bad, port->pairs_judged);
	if (port->text[0] != '\0')
		rna_page_add_below(page, "", port->text);
}

/* -- Tables ------------------------------------------------------------------------------------ */

static size_t count_scope(const struct matrix *matrix, enum rna_probe_scope scope)
{
	return RNA_COUNT(i, matrix->count, matrix->columns[i]->scope == scope);
}

/* Where the peers are; the columns of a node's own ports need no such line. */
static void add_scopes(const struct rna_page *page, const struct matrix *matrix)
{
	size_t on_leaf = count_scope(matrix, RNA_PROBE_LEAF);
	size_t elsewhere = count_scope(matrix, RNA_PROBE_FABRIC);

	rna_page_add(page, "<th rowspan=2>Port<th rowspan=2>Verdict");
	if (on_leaf > 0)
		rna_strbuf_printf(page->out, "<th colspan=%zu>Peers on the same leaf", on_leaf);
	if (elsewhere > 0)
		rna_strbuf_printf(page->out, "<th colspan=%zu>Peers elsewhere", elsewhere);
	rna_page_add(page, "<tr>");
}

static void add_head(const struct rna_page *page, const struct matrix *matrix)
{
	if (matrix->host)
		rna_page_add(page, "<th>Port");
	else
		add_scopes(page, matrix);
	for (size_t i = 0; i < matrix->count; i++) {
		rna_page_add(page, "<th>");
		add_peer(page->out, matrix->columns[i]);
	}
	rna_page_add(page, "<tbody>\n");
}

static void add_row(const struct rna_page *page, const struct matrix *matrix,
		    const struct rna_probe_port *port)
{
	rna_page_say(page, "<tr><th>", port->device);
	rna_strbuf_printf(page->out, "/%u", port->port);
	if (!matrix->host) {
		rna_page_say(page, " <small>", port->leaf);
		rna_page_add(page, "</small><td>");
		add_verdict(page, port);
	}
	for (size_t i = 0; i < matrix->count; i++)
		add_cell(page, matrix, port, matrix->columns[i]);
	rna_page_add(page, "\n");
}

static void add_matrix(const struct rna_page *page, bool host)
{
	struct matrix matrix = {.probes = page->view->probes, .host = host};

	if (!find_columns(&matrix)) {
		page->out->failed = true;
		return;
	}
	rna_page_add(page, "<div class=\"wide pairs\"><table>\n<thead><tr>");
	add_head(page, &matrix);
	for (size_t i = 0; i < matrix.probes->port_count; i++)
		add_row(page, &matrix, &matrix.probes->ports[i]);
	rna_page_close_table(page);
	free(matrix.columns);
}

/* A table if one of them is probed; otherwise the reason, if there are any. */
static void add_host_pairs(const struct rna_page *page)
{
	const struct rna_probes *probes = page->view->probes;
	const struct rna_probe_pair *idle = NULL;

	for (size_t i = 0; i < probes->pair_count; i++) {
		if (probes->pairs[i].scope != RNA_PROBE_HOST)
			continue;
		if (!rna_probe_pair_is_idle(&probes->pairs[i])) {
			rna_page_add(page, "<p><small>Ports of this node probe each other:"
					   "</small></p>\n");
			add_matrix(page, true);
			return;
		}
		idle = &probes->pairs[i];
	}
	if (!idle)
		return;
	rna_page_say(page, "<p><small>Ports of this node do not probe each other: ", idle->text);
	rna_page_add(page, "</small></p>\n");
}

/* -- The section ------------------------------------------------------------------------------- */

static void add_summary(const struct rna_page *page)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_probes_add_summary(page->view->probes, &text);
	page->out->failed |= text.failed;
	rna_page_text(page->out, text.data);
}

static void add_note(const struct rna_page *page, const char *before, const char *text)
{
	if (!text)
		return;
	rna_strbuf_printf(page->out, "<p class=note>%s: ", before);
	rna_page_text(page->out, text);
	rna_page_add(page, "</p>\n");
}

static void add_tables(const struct rna_page *page)
{
	add_matrix(page, false);
	add_host_pairs(page);
	rna_page_add(page, explanation);
}

/* Folded away while all is well, or nothing is known yet. */
void rna_page_probes(const struct rna_page *page)
{
	const struct rna_probes *probes = page->view->probes;
	rna_usec now = page->view->snapshot->time.monotonic;
	enum rna_probes_result result = rna_probes_result(probes, now);
	const char *stopped = rna_probes_why_stopped(probes, now);

	if (!probes)
		return;
	if (!stopped && !probes->source.error &&
	    (result == RNA_PROBES_OK || result == RNA_PROBES_UNKNOWN)) {
		rna_page_open_fold(page, "Probes");
		add_summary(page);
		rna_page_add(page, "</small></summary>\n");
		add_tables(page);
		rna_page_add(page, "</details>\n");
		return;
	}
	rna_page_add(page, "<h2>Probes</h2>\n");
	add_note(page, "Probes do not run", stopped);
	add_note(page, "The list of members cannot be read", probes->source.error);
	add_tables(page);
}
