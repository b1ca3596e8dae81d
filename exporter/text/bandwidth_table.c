// SPDX-License-Identifier: Apache-2.0
/* Bandwidth tests between nodes as a table for people: a line for each. */
#include "rna/exporter.h"

#include "json/json_parts.h"
#include "view/text.h"

#define ABSENT "-"

enum { PORT_WIDTH = 12, PEER_WIDTH = 28, CELL_MAX = 32 };

static double gigabits(uint64_t bytes_per_second)
{
	return (double)bytes_per_second * 8 / 1e9;
}

static const char *cell(char text[CELL_MAX], bool known, int decimals, double number)
{
	(void)snprintf(text, CELL_MAX, "%.*f", decimals, number); /* one number always fits */
	return known ? text : ABSENT;
}

static const char *outcome(const struct rna_bandwidth_test *test)
{
	switch (test->end) {
	case RNA_LOOPBACK_DONE:
		return test->grade == RNA_GRADE_NONE ? "measured" : rna_grade_name(test->grade);
	case RNA_LOOPBACK_SKIPPED:
		return rna_skip_name(test->skip);
	case RNA_LOOPBACK_CORRUPT:
		return "corrupt data";
	default:
		return "failed";
	}
}

static void write_test(const struct rna_bandwidth_test *test, struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf port = RNA_STRBUF_INIT;
	RNA_STRBUF struct rna_strbuf peer = RNA_STRBUF_INIT;
	uint64_t slower = test->out < test->in ? test->out : test->in;
	bool done = test->end == RNA_LOOPBACK_DONE, expected = test->expected > 0;
	char cells[4][CELL_MAX];

	rna_text_add(&port, test->device, NULL);
	rna_strbuf_printf(&port, "/%u", test->port);
	rna_text_add(&peer, test->peer, NULL);
	rna_strbuf_add_char(&peer, ' ');
	rna_text_add(&peer, test->peer_device, NULL);
	rna_strbuf_printf(&peer, "/%u", test->peer_port);
	rna_strbuf_printf(out, "%-*s  %-*s  %8s  %8s  %8s  %6s  %s\n", PORT_WIDTH,
			  rna_strbuf_ok(&port) ? port.data : "?", PEER_WIDTH,
			  rna_strbuf_ok(&peer) ? peer.data : "?",
			  cell(cells[0], done, 2, gigabits(test->out)),
			  cell(cells[1], done, 2, gigabits(test->in)),
			  cell(cells[2], done && expected, 2, gigabits(test->expected)),
			  cell(cells[3], done && expected, 3,
			       expected ? (double)slower / (double)test->expected : 0),
			  outcome(test));
	if (done)
		return;
	rna_strbuf_puts(out, "    ");
	rna_text_add(out, test->text, NULL);
	rna_strbuf_add_char(out, '\n');
}

void rna_write_bandwidth(const struct rna_bandwidth_test *tests, size_t count, bool json,
			 struct rna_strbuf *out)
{
	if (json) {
		rna_bandwidth_write_json(tests, count, out);
		return;
	}
	rna_strbuf_printf(out, "%-*s  %-*s  %8s  %8s  %8s  %6s  %s\n", PORT_WIDTH, "PORT",
			  PEER_WIDTH, "PEER", "OUT Gb/s", "IN Gb/s", "EXPECTED", "RATIO", "RESULT");
	for (size_t i = 0; i < count; i++)
		write_test(&tests[i], out);
}
