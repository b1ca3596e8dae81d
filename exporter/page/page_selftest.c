// SPDX-License-Identifier: Apache-2.0
/*
 * The section of the status page that shows what self-tests came to: a line for each port and kind
 * of memory. Ports that can never be tested (VFs, iWARP) have none.
 */
#include "view/text.h"

#include "page_parts.h"

static const char explanation[] =
	"<p><small>Data written by the port to itself: through memory, PCIe and the HCA, and not "
	"through cable and fabric. Expected is the lesser of the port's rate and its PCIe path."
	"</small></p>\n";

static bool is_never_tested(const struct rna_selftest_port *port)
{
	return port->count == 0 && port->last_run == 0 &&
	       (port->skip == RNA_SKIP_VIRTUAL || port->skip == RNA_SKIP_MANAGEMENT ||
		port->skip == RNA_SKIP_TRANSPORT);
}

static void add_result(struct rna_strbuf *out, const struct rna_selftest_run *run)
{
	static const enum rna_tone tones[RNA_GRADE_COUNT] = {
		[RNA_GRADE_NONE] = RNA_TONE_PLAIN,
		[RNA_GRADE_OK] = RNA_TONE_GOOD,
		[RNA_GRADE_WARNING] = RNA_TONE_WARNING,
		[RNA_GRADE_FAILED] = RNA_TONE_BAD,
	};
	bool corrupt = run->result.end == RNA_LOOPBACK_CORRUPT;
	const char *name = run->grade == RNA_GRADE_NONE ? "measured" : rna_grade_name(run->grade);

	rna_page_badge(out, corrupt ? "corrupt data" : name, tones[run->grade]);
	if (run->result.end == RNA_LOOPBACK_DONE)
		return;
	rna_strbuf_puts(out, "<br><small>");
	rna_page_text(out, run->result.text);
	rna_strbuf_puts(out, "</small>");
}

static void add_measures(struct rna_strbuf *out, const struct rna_selftest_run *run)
{
	bool done = run->result.end == RNA_LOOPBACK_DONE;

	rna_strbuf_puts(out, "<td class=n>");
	if (done)
		rna_strbuf_printf(out, "%.1f Gb/s", rna_gigabits(run->result.bandwidth));
	rna_strbuf_puts(out, "<td class=n>");
	if (run->expected > 0)
		rna_strbuf_printf(out, "%.1f Gb/s", rna_gigabits(run->expected));
	rna_strbuf_puts(out, "<td class=n>");
	if (done && run->expected > 0)
		rna_strbuf_printf(out, "%.1f&nbsp;%%",
				  100 * (double)run->result.bandwidth / (double)run->expected);
	rna_strbuf_puts(out, "<td class=n>");
	if (done && run->result.latency_median > 0)
		rna_strbuf_printf(out, "%.2f µs <small>99&nbsp;%%: %.2f</small>",
				  (double)run->result.latency_median / 1e3,
				  (double)run->result.latency_p99 / 1e3);
}

/* Of a port that was not tested last time, or was not yet: why, and when it will be. */
static void add_turn(struct rna_strbuf *out, const struct rna_selftest_port *port)
{
	if (port->stuck > 0)
		rna_page_badge(out, "stuck", RNA_TONE_BAD);
	else if (port->skip != RNA_SKIP_NONE)
		rna_page_text(out, rna_skip_name(port->skip));
	if (port->next == 0)
		return;
	rna_strbuf_puts(out, "<br><small>next ");
	rna_text_add_time(out, port->next);
	rna_strbuf_puts(out, "</small>");
}

static void open_row(struct rna_strbuf *out, const struct rna_selftest_port *port,
		     const char *memory)
{
	rna_strbuf_puts(out, "<tr><th>");
	rna_page_text(out, port->device);
	rna_strbuf_printf(out, "/%u<td>", port->port);
	rna_page_text(out, memory);
	rna_strbuf_puts(out, "<td class=wrap>");
}

static void close_row(struct rna_strbuf *out, const struct rna_selftest_port *port, rna_usec when)
{
	rna_strbuf_puts(out, "<td>");
	if (when > 0)
		rna_text_add_time(out, when);
	rna_strbuf_puts(out, "<td>");
	add_turn(out, port);
	rna_strbuf_puts(out, "\n");
}

static void add_port(struct rna_strbuf *out, const struct rna_selftest_port *port)
{
	size_t rows = 0;

	for (enum rna_endpoint e = 0; e < RNA_ENDPOINT_COUNT; e++) {
		const struct rna_selftest_run *run = rna_selftest_newest(port, e, NULL);

		if (!run)
			continue;
		open_row(out, port, rna_endpoint_name(e));
		add_result(out, run);
		add_measures(out, run);
		close_row(out, port, run->time.realtime);
		rows++;
	}
	if (rows > 0)
		return;
	open_row(out, port, NULL);
	rna_page_badge(out, "not yet", RNA_TONE_PLAIN);
	rna_strbuf_puts(out, "<td><td><td><td>");
	close_row(out, port, port->last_run);
}

static bool is_problem(const struct rna_selftest_port *port)
{
	for (enum rna_endpoint e = 0; e < RNA_ENDPOINT_COUNT; e++) {
		const struct rna_selftest_run *run = rna_selftest_newest(port, e, NULL);

		if (run && (run->grade == RNA_GRADE_WARNING || run->grade == RNA_GRADE_FAILED ||
			    run->result.end != RNA_LOOPBACK_DONE))
			return true;
	}
	return port->stuck > 0;
}

static void add_table(const struct rna_page *page)
{
	const struct rna_selftests *selftests = page->view->selftests;

	rna_page_open_table(page);
	rna_page_add(page, "<th>Port<th>Memory<th>Result<th class=n>Bandwidth<th class=n>Expected"
			   "<th class=n>Ratio<th class=n>Latency<th>When<th>Last turn<tbody>\n");
	for (size_t i = 0; i < selftests->count; i++)
		if (!is_never_tested(&selftests->ports[i]))
			add_port(page->out, &selftests->ports[i]);
	rna_page_close_table(page);
	rna_page_add(page, explanation);
}

/* Folded away while no port has a problem. */
void rna_page_selftest(const struct rna_page *page)
{
	const struct rna_selftests *selftests = page->view->selftests;
	size_t shown = 0, problems = 0;

	for (size_t i = 0; selftests && i < selftests->count; i++) {
		shown += !is_never_tested(&selftests->ports[i]);
		problems += is_problem(&selftests->ports[i]);
	}
	if (shown == 0)
		return;
	if (problems > 0) {
		rna_page_add(page, "<h2>Self-tests</h2>\n");
		add_table(page);
		return;
	}
	rna_page_open_fold(page, "Self-tests");
	rna_strbuf_printf(page->out, "%zu port%s, all without problems</small></summary>\n", shown,
			  shown == 1 ? "" : "s");
	add_table(page);
	rna_page_add(page, "</details>\n");
}
