// SPDX-License-Identifier: Apache-2.0
/* Bandwidth tests between nodes as a table for people: a line for each. */
#include "rna/exporter.h"

#include "json/json_parts.h"
#include "view/text.h"

#include "text_table.h"

enum { PORT_WIDTH = 12, PEER_WIDTH = 28 };

static void write_test(const struct rna_bandwidth_test *test, struct rna_strbuf *out)
{
	RNA_STRBUF struct rna_strbuf port = RNA_STRBUF_INIT;
	RNA_STRBUF struct rna_strbuf peer = RNA_STRBUF_INIT;
	uint64_t slower = test->out < test->in ? test->out : test->in;
	bool done = test->end == RNA_LOOPBACK_DONE, expected = test->expected > 0;
	char cells[4][RNA_TEXT_NUMBER_MAX];

	rna_text_add(&port, test->device, NULL);
	rna_strbuf_printf(&port, "/%u", test->port);
	rna_text_add(&peer, test->peer, NULL);
	rna_strbuf_add_char(&peer, ' ');
	rna_text_add(&peer, test->peer_device, NULL);
	rna_strbuf_printf(&peer, "/%u", test->peer_port);
	rna_strbuf_printf(out, "%-*s  %-*s  %8s  %8s  %8s  %6s  %s\n", PORT_WIDTH,
			  rna_strbuf_ok(&port) ? port.data : "?", PEER_WIDTH,
			  rna_strbuf_ok(&peer) ? peer.data : "?",
			  rna_text_number(cells[0], done, 2, rna_gigabits(test->out)),
			  rna_text_number(cells[1], done, 2, rna_gigabits(test->in)),
			  rna_text_number(cells[2], done && expected, 2,
					  rna_gigabits(test->expected)),
			  rna_text_number(cells[3], done && expected, 3,
					  expected ? (double)slower / (double)test->expected : 0),
			  rna_text_outcome(test->end, test->grade, test->skip));
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
