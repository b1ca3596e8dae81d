// SPDX-License-Identifier: Apache-2.0
/* Runs of the self-test as a table for people, in the manner of perftest: a line for each run. */
#include <inttypes.h>

#include "rna/exporter.h"

#include "json/json_parts.h"
#include "view/text.h"

#include "text_table.h"

enum { PORT_WIDTH = 16 };

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
	char cells[5][RNA_TEXT_NUMBER_MAX];

	rna_text_add(&port, run->request.device, NULL);
	rna_strbuf_printf(&port, "/%" PRIu32, run->request.port);
	rna_strbuf_printf(
		out, "%-*s  %-6s  %8" PRIu32 "  %3" PRIu32 "  %8s  %8s  %6s  %8s  %8s  %s\n",
		PORT_WIDTH, rna_strbuf_ok(&port) ? port.data : "?",
		rna_endpoint_name(run->request.endpoint), run->request.size, run->request.qps,
		rna_text_number(cells[0], done, 2, rna_gigabits(result->bandwidth)),
		rna_text_number(cells[1], expected, 2, rna_gigabits(run->expected)),
		rna_text_number(cells[2], done && expected, 3,
				expected ? (double)result->bandwidth / (double)run->expected : 0),
		rna_text_number(cells[3], timed, 2, (double)result->latency_median / 1e3),
		rna_text_number(cells[4], timed, 2, (double)result->latency_p99 / 1e3),
		rna_text_outcome(run->result.end, run->grade, run->result.skip));
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
