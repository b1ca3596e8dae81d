// SPDX-License-Identifier: Apache-2.0
/* Bandwidth tests between nodes as JSON: what a command ran, and what is remembered of ports. */
#include "rna/exporter.h"

#include "json_parts.h"

static void describe_result(struct rna_json_writer *writer, json_t *object,
			    const struct rna_bandwidth_test *test)
{
	uint64_t slower = test->out < test->in ? test->out : test->in;

	rna_json_set_number(writer, object, "out_bytes_per_second", test->out);
	rna_json_set_number(writer, object, "in_bytes_per_second", test->in);
	if (test->expected == 0)
		return;
	rna_json_set_number(writer, object, "expected_bytes_per_second", test->expected);
	rna_json_set(writer, object, "ratio", json_real((double)slower / (double)test->expected));
}

static json_t *describe_test(struct rna_json_writer *writer, const struct rna_bandwidth_test *test)
{
	json_t *object = json_object();

	rna_json_set_time(writer, object, "time", test->time.realtime);
	rna_json_set_text(writer, object, "cause", rna_bandwidth_cause_name(test->cause));
	rna_json_set_text(writer, object, "device", test->device);
	rna_json_set_number(writer, object, "port", test->port);
	rna_json_set_text(writer, object, "peer", test->peer);
	rna_json_set_text(writer, object, "peer_device", test->peer_device);
	rna_json_set_number(writer, object, "peer_port", test->peer_port);
	rna_json_set_text(writer, object, "end", rna_loopback_end_name(test->end));
	rna_json_set_text(writer, object, "grade", rna_grade_name(test->grade));
	if (test->end == RNA_LOOPBACK_DONE)
		describe_result(writer, object, test);
	if (test->end == RNA_LOOPBACK_SKIPPED)
		rna_json_set_text(writer, object, "skip", rna_skip_name(test->skip));
	if (test->end != RNA_LOOPBACK_DONE)
		rna_json_set_text(writer, object, "text", test->text);
	return object;
}

void rna_bandwidth_write_json(const struct rna_bandwidth_test *tests, size_t count,
			      struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *document = json_object(), *array = json_array();

	for (size_t i = 0; i < count; i++)
		rna_json_append(&writer, array, describe_test(&writer, &tests[i]));
	rna_json_set(&writer, document, "tests", array);
	rna_json_write(&writer, document, RNA_JSON_INDENT, out);
}

/* The newest test of each port, and before it the newest one that was completed. */
json_t *rna_bandwidth_summary(struct rna_json_writer *writer,
			      const struct rna_bandwidths *bandwidths)
{
	json_t *object = json_object(), *tests = json_array();

	if (bandwidths->tcp_port > 0)
		rna_json_set_number(writer, object, "tcp_port", bandwidths->tcp_port);
	if (bandwidths->problem)
		rna_json_set_text(writer, object, "problem", bandwidths->problem);
	rna_json_set_number(writer, object, "strangers", bandwidths->strangers);
	RNA_EACH (port, bandwidths->ports, bandwidths->count) {
		if (port->done.time.realtime > 0 && port->last.end != RNA_LOOPBACK_DONE)
			rna_json_append(writer, tests, describe_test(writer, &port->done));
		rna_json_append(writer, tests, describe_test(writer, &port->last));
	}
	rna_json_set(writer, object, "tests", tests);
	return object;
}
