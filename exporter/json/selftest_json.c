// SPDX-License-Identifier: Apache-2.0
/* Runs of the self-test as JSON: what a command ran, and what is remembered of each port. */
#include "rna/exporter.h"

#include "json_parts.h"

static double seconds_of_nsec(uint64_t nsec)
{
	return (double)nsec / 1e9;
}

static void describe_request(struct rna_json_writer *writer, json_t *object,
			     const struct rna_loopback_request *request)
{
	rna_json_set_text(writer, object, "device", request->device);
	rna_json_set_number(writer, object, "port", request->port);
	rna_json_set_text(writer, object, "memory", rna_endpoint_name(request->endpoint));
	if (request->memory_node >= 0)
		rna_json_set_number(writer, object, "numa_node", (uint64_t)request->memory_node);
	if (request->gpu[0])
		rna_json_set_text(writer, object, "gpu", request->gpu);
	if (request->gid_index >= 0)
		rna_json_set_number(writer, object, "gid_index", (uint64_t)request->gid_index);
	rna_json_set_number(writer, object, "write_bytes", request->size);
	rna_json_set_number(writer, object, "queue_pairs", request->qps);
}

/* Times in seconds, as everywhere. */
static void describe_measures(struct rna_json_writer *writer, json_t *object,
			      const struct rna_loopback_result *result)
{
	rna_json_set_number(writer, object, "bandwidth_bytes_per_second", result->bandwidth);
	if (result->latency_median == 0)
		return;
	rna_json_set(writer, object, "latency_median_seconds",
		     json_real(seconds_of_nsec(result->latency_median)));
	rna_json_set(writer, object, "latency_p99_seconds",
		     json_real(seconds_of_nsec(result->latency_p99)));
}

static void describe_expectation(struct rna_json_writer *writer, json_t *object,
				 const struct rna_selftest_run *run)
{
	if (run->expected == 0)
		return;
	rna_json_set_number(writer, object, "expected_bytes_per_second", run->expected);
	if (run->result.end == RNA_LOOPBACK_DONE)
		rna_json_set(writer, object, "ratio",
			     json_real((double)run->result.bandwidth / (double)run->expected));
}

static void describe_failure(struct rna_json_writer *writer, json_t *object,
			     const struct rna_loopback_result *result)
{
	if (result->end == RNA_LOOPBACK_SKIPPED)
		rna_json_set_text(writer, object, "skip", rna_skip_name(result->skip));
	rna_json_set_text(writer, object, "text", result->text);
	if (result->memlock_needed > 0)
		rna_json_set_number(writer, object, "memlock_bytes", result->memlock_needed);
	if (result->completion_status > 0) {
		rna_json_set_number(writer, object, "completion_status", result->completion_status);
		rna_json_set_number(writer, object, "vendor_error", result->vendor_error);
	}
}

static json_t *describe_run(struct rna_json_writer *writer, const struct rna_selftest_run *run)
{
	const struct rna_loopback_result *result = &run->result;
	json_t *object = json_object();

	rna_json_set_time(writer, object, "time", run->time.realtime);
	describe_request(writer, object, &run->request);
	rna_json_set_text(writer, object, "end", rna_loopback_end_name(result->end));
	rna_json_set_text(writer, object, "grade", rna_grade_name(run->grade));
	if (result->end == RNA_LOOPBACK_DONE)
		describe_measures(writer, object, result);
	describe_expectation(writer, object, run);
	rna_json_set_boolean(writer, object, "relaxed_ordering", result->relaxed_ordering);
	rna_json_set_boolean(writer, object, "pci_relaxed_ordering", result->pci_relaxed_ordering);
	if (result->end != RNA_LOOPBACK_DONE)
		describe_failure(writer, object, result);
	rna_json_set_number(writer, object, "bytes", result->bytes);
	rna_json_set(writer, object, "duration_seconds", json_real(rna_seconds(result->duration)));
	rna_json_set(writer, object, "on_demand", json_boolean(run->on_demand));
	rna_json_set(writer, object, "special", json_boolean(run->special));
	return object;
}

void rna_selftest_write_json(const struct rna_selftest_run *runs, size_t count,
			     struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *document = json_object(), *array = json_array();

	for (size_t i = 0; i < count; i++)
		rna_json_append(&writer, array, describe_run(&writer, &runs[i]));
	rna_json_set(&writer, document, "runs", array);
	rna_json_write(&writer, document, RNA_JSON_INDENT, out);
}

/* -- What is remembered ------------------------------------------------------------------------ */

/* A time that never was, or that is not known, has no member. */
static void set_time(struct rna_json_writer *writer, json_t *object, const char *name,
		     rna_usec realtime)
{
	if (realtime > 0)
		rna_json_set_time(writer, object, name, realtime);
}

static void describe_turns(struct rna_json_writer *writer, json_t *object,
			   const struct rna_selftest_port *port)
{
	set_time(writer, object, "last_run", port->last_run);
	set_time(writer, object, "last_success", port->last_success);
	set_time(writer, object, "next", port->next);
	if (port->skip != RNA_SKIP_NONE)
		rna_json_set_text(writer, object, "skip", rna_skip_name(port->skip));
	if (port->stuck > 0)
		rna_json_set_number(writer, object, "stuck_process", (uint64_t)port->stuck);
}

json_t *rna_selftest_summary(struct rna_json_writer *writer, const struct rna_selftest_port *port)
{
	json_t *object = json_object(), *newest = json_object();

	describe_turns(writer, object, port);
	for (enum rna_endpoint e = 0; e < RNA_ENDPOINT_COUNT; e++) {
		const struct rna_selftest_run *run = rna_selftest_newest(port, e, NULL);
		json_t *member = run ? json_object() : NULL;

		if (!run)
			continue;
		rna_json_set_text(writer, member, "end", rna_loopback_end_name(run->result.end));
		rna_json_set_text(writer, member, "grade", rna_grade_name(run->grade));
		if (run->result.end == RNA_LOOPBACK_DONE)
			describe_measures(writer, member, &run->result);
		describe_expectation(writer, member, run);
		rna_json_set(writer, newest, rna_endpoint_name(e), member);
	}
	rna_json_set(writer, object, "newest", newest);
	return object;
}

static void describe_counts(struct rna_json_writer *writer, json_t *object,
			    const struct rna_selftest_port *port)
{
	json_t *results = json_object(), *skips = json_object();

	for (enum rna_grade grade = 0; grade < RNA_GRADE_COUNT; grade++)
		rna_json_set_number(writer, results, rna_grade_name(grade), port->results[grade]);
	for (enum rna_skip skip = 0; skip < RNA_SKIP_COUNT; skip++)
		if (port->skips[skip] > 0)
			rna_json_set_number(writer, skips, rna_skip_name(skip), port->skips[skip]);
	rna_json_set_number(writer, object, "bytes", port->bytes);
	rna_json_set(writer, object, "results", results);
	rna_json_set(writer, object, "skips", skips);
}

static json_t *describe_port(struct rna_json_writer *writer, const struct rna_selftest_port *port)
{
	json_t *object = json_object(), *runs = json_array();

	rna_json_set_text(writer, object, "device", port->device);
	rna_json_set_number(writer, object, "port", port->port);
	describe_turns(writer, object, port);
	describe_counts(writer, object, port);
	for (size_t i = 0; i < port->count; i++)
		rna_json_append(writer, runs, describe_run(writer, &port->runs[i]));
	rna_json_set(writer, object, "runs", runs);
	return object;
}

void rna_write_selftests_json(const struct rna_view *view, struct rna_strbuf *out)
{
	const struct rna_selftests *selftests = view->selftests;
	struct rna_json_writer writer = {0};
	json_t *document = json_object(), *ports = json_array();

	rna_json_set_time(&writer, document, "time", view->snapshot->time.realtime);
	for (size_t i = 0; selftests && i < selftests->count; i++)
		rna_json_append(&writer, ports, describe_port(&writer, &selftests->ports[i]));
	rna_json_set(&writer, document, "ports", ports);
	rna_json_write(&writer, document, RNA_JSON_INDENT, out);
}
