// SPDX-License-Identifier: Apache-2.0
/* Runs of the self-test as JSON: what a command ran, and what is remembered of each port. */
#include "selftest_json.h"

#include "json_writer.h"

static void set_number(struct rna_json_writer *writer, json_t *object, const char *name,
		       uint64_t number)
{
	rna_json_set(writer, object, name, rna_json_number(number));
}

static double seconds_of_nsec(uint64_t nsec)
{
	return (double)nsec / 1e9;
}

static const char *end_name(enum rna_loopback_end end)
{
	static const char *const names[] = {
		[RNA_LOOPBACK_DONE] = "done",
		[RNA_LOOPBACK_SKIPPED] = "skipped",
		[RNA_LOOPBACK_FAILED] = "failed",
		[RNA_LOOPBACK_CORRUPT] = "corrupt",
	};

	return end < RNA_ARRAY_SIZE(names) ? names[end] : "?";
}

static void describe_request(struct rna_json_writer *writer, json_t *object,
			     const struct rna_loopback_request *request)
{
	rna_json_set_text(writer, object, "device", request->device);
	set_number(writer, object, "port", request->port);
	rna_json_set_text(writer, object, "memory", rna_endpoint_name(request->endpoint));
	if (request->memory_node >= 0)
		set_number(writer, object, "numa_node", (uint64_t)request->memory_node);
	if (request->gpu[0])
		rna_json_set_text(writer, object, "gpu", request->gpu);
	if (request->gid_index >= 0)
		set_number(writer, object, "gid_index", (uint64_t)request->gid_index);
	set_number(writer, object, "write_bytes", request->size);
	set_number(writer, object, "queue_pairs", request->qps);
}

/* Times in seconds, as everywhere. */
static void describe_measures(struct rna_json_writer *writer, json_t *object,
			      const struct rna_loopback_result *result)
{
	set_number(writer, object, "bandwidth_bytes_per_second", result->bandwidth);
	if (result->latency_median == 0)
		return;
	rna_json_set(writer, object, "latency_median_seconds",
		     json_real(seconds_of_nsec(result->latency_median)));
	rna_json_set(writer, object, "latency_p99_seconds",
		     json_real(seconds_of_nsec(result->latency_p99)));
}

static void describe_failure(struct rna_json_writer *writer, json_t *object,
			     const struct rna_loopback_result *result)
{
	if (result->end == RNA_LOOPBACK_SKIPPED)
		rna_json_set_text(writer, object, "skip", rna_skip_name(result->skip));
	rna_json_set_text(writer, object, "text", result->text);
	if (result->memlock_needed > 0)
		set_number(writer, object, "memlock_bytes", result->memlock_needed);
	if (result->completion_status > 0) {
		set_number(writer, object, "completion_status", result->completion_status);
		set_number(writer, object, "vendor_error", result->vendor_error);
	}
}

static json_t *describe_run(struct rna_json_writer *writer, const struct rna_selftest_run *run)
{
	const struct rna_loopback_result *result = &run->result;
	json_t *object = json_object();

	rna_json_set_time(writer, object, "time", run->time.realtime);
	describe_request(writer, object, &run->request);
	rna_json_set_text(writer, object, "end", end_name(result->end));
	rna_json_set_text(writer, object, "grade", rna_grade_name(run->grade));
	if (run->expected > 0)
		set_number(writer, object, "expected_bytes_per_second", run->expected);
	if (result->end == RNA_LOOPBACK_DONE)
		describe_measures(writer, object, result);
	else
		describe_failure(writer, object, result);
	set_number(writer, object, "bytes", result->bytes);
	rna_json_set(writer, object, "duration_seconds", json_real(rna_seconds(result->duration)));
	rna_json_set(writer, object, "on_demand", json_boolean(run->on_demand));
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
	rna_json_write(&writer, document, out);
}
