// SPDX-License-Identifier: Apache-2.0
/* Runs of the self-test as a table for people, in the manner of perftest: a line for each run. */
#include <inttypes.h>

#include "rna/exporter.h"

#include "json/json_parts.h"
#include "view/text.h"

#define ABSENT "-"

enum { PORT_WIDTH = 16, CELL_MAX = 32 };

static double gigabits(uint64_t bytes_per_second)
{
	return (double)bytes_per_second * 8 / 1e9;
}

/* Of what means nothing there is a dash. */
static const char *cell(char text[CELL_MAX], bool known, int decimals, double number)
{
	(void)snprintf(text, CELL_MAX, "%.*f", decimals, number); /* one number always fits */
	return known ? text : ABSENT;
}

/* A test that did not take place says why; one that did not end well says so. */
static const char *outcome(const struct rna_selftest_run *run)
{
	switch (run->result.end) {
	case RNA_LOOPBACK_DONE:
		return run->grade == RNA_GRADE_NONE ? "measured" : rna_grade_name(run->grade);
	case RNA_LOOPBACK_SKIPPED:
		return rna_skip_name(run->result.skip);
	case RNA_LOOPBACK_CORRUPT:
		return "corrupt data";
	default:
		return "failed";
	}
}

/* What is unusual about a result, for people who compare it with that of perftest. */
static const char *remark(const struct rna_loopback_result *result)
{
	struct rna_value permitted = result->pci_relaxed_ordering;

	if (rna_value_is_known(permitted) && !permitted.number)
		return "    PCIe relaxed ordering is disabled in the PCI function\n";
	if (rna_value_is_known(result->relaxed_ordering) && !result->relaxed_ordering.number)
		return "    without PCIe relaxed ordering\n";
	return "";
}

static void write_run(const struct rna_selftest_run *run, struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf port = RNA_STRBUF_INIT;
	const struct rna_loopback_result *result = &run->result;
	bool done = result->end == RNA_LOOPBACK_DONE, timed = done && result->latency_median > 0;
	bool expected = run->expected > 0;
	char cells[5][CELL_MAX];

	rna_text_add(&port, run->request.device, NULL);
	rna_strbuf_printf(&port, "/%" PRIu32, run->request.port);
	rna_strbuf_printf(out,
			  "%-*s  %-6s  %8" PRIu32 "  %3" PRIu32 "  %8s  %8s  %6s  %8s  %8s  %s\n",
			  PORT_WIDTH, rna_strbuf_ok(&port) ? port.data : "?",
			  rna_endpoint_name(run->request.endpoint), run->request.size,
			  run->request.qps, cell(cells[0], done, 2, gigabits(result->bandwidth)),
			  cell(cells[1], expected, 2, gigabits(run->expected)),
			  cell(cells[2], done && expected, 3,
			       expected ? (double)result->bandwidth / (double)run->expected : 0),
			  cell(cells[3], timed, 2, (double)result->latency_median / 1e3),
			  cell(cells[4], timed, 2, (double)result->latency_p99 / 1e3),
			  outcome(run));
	if (done)
		rna_strbuf_puts(out, remark(result));
	if (!done) {
		rna_strbuf_puts(out, "    ");
		rna_text_add(out, result->text, NULL);
		rna_strbuf_add_char(out, '\n');
	}
}

void rna_write_selftest(const struct rna_selftest_run *runs, size_t count, bool json,
			struct rna_strbuf *out)
{
	if (json) {
		rna_selftest_write_json(runs, count, out);
		return;
	}
	rna_strbuf_printf(out, "%-*s  %-6s  %8s  %3s  %8s  %8s  %6s  %8s  %8s  %s\n", PORT_WIDTH,
			  "PORT", "MEMORY", "BYTES", "QPS", "Gb/s", "EXPECTED", "RATIO",
			  "MEDIAN us", "P99 us", "RESULT");
	for (size_t i = 0; i < count; i++)
		write_run(&runs[i], out);
}
