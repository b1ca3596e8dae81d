// SPDX-License-Identifier: Apache-2.0
/*
 * Metrics of the self-test. A port has a sample for each kind of memory that was tested, from the
 * newest test of it; counts are of what has happened, so that a port that is never tested, such as
 * one of a VF, costs one series: why.
 */
#include "rna/model/selftest.h"

#include "family_rows.h"

#define MILLION 1e6

/* The newest test of each kind of memory, where that has one. */
static const void *next_run(const struct rna_subject *port, size_t *from)
{
	while (port->selftest && *from < RNA_ENDPOINT_COUNT) {
		enum rna_endpoint memory = (enum rna_endpoint)(*from)++;
		const struct rna_selftest_run *run =
			rna_selftest_newest(port->selftest, memory, NULL);

		if (run)
			return run;
	}
	return NULL;
}

static const char *memory(const void *item)
{
	const struct rna_selftest_run *run = item;

	return rna_endpoint_name(run->request.endpoint);
}

static bool is_done(const struct rna_selftest_run *run)
{
	return run->result.end == RNA_LOOPBACK_DONE;
}

static struct rna_value positive(uint64_t number)
{
	return number > 0 ? rna_value_ok(number) : rna_no_value;
}

static struct rna_value is_ok(const void *item)
{
	const struct rna_selftest_run *run = item;

	return run->grade == RNA_GRADE_NONE ? rna_no_value
					    : rna_value_ok(run->grade == RNA_GRADE_OK);
}

static struct rna_value bandwidth(const void *item)
{
	const struct rna_selftest_run *run = item;

	return is_done(run) ? rna_value_ok(run->result.bandwidth) : rna_no_value;
}

static struct rna_value ratio(const void *item)
{
	const struct rna_selftest_run *run = item;

	double fraction;

	if (!is_done(run) || run->expected == 0)
		return rna_no_value;
	fraction = (double)run->result.bandwidth / (double)run->expected;
	return rna_value_ok((uint64_t)(fraction * MILLION));
}

static struct rna_value median(const void *item)
{
	const struct rna_selftest_run *run = item;

	return is_done(run) ? positive(run->result.latency_median) : rna_no_value;
}

static struct rna_value p99(const void *item)
{
	const struct rna_selftest_run *run = item;

	return is_done(run) ? positive(run->result.latency_p99) : rna_no_value;
}

/* -- Of all tests ------------------------------------------------------------------------------ */

static void selftest_runs(const struct rna_subject *port, struct rna_writer *writer)
{
	for (enum rna_grade grade = 0; port->selftest && grade < RNA_GRADE_COUNT; grade++)
		if (port->selftest->results[grade] > 0)
			rna_writer_sample_with(writer, port->labels, "result",
					       grade == RNA_GRADE_NONE ? "measured"
								       : rna_grade_name(grade),
					       port->selftest->results[grade]);
}

static void selftest_skips(const struct rna_subject *port, struct rna_writer *writer)
{
	for (enum rna_skip skip = 0; port->selftest && skip < RNA_SKIP_COUNT; skip++)
		if (port->selftest->skips[skip] > 0)
			rna_writer_sample_with(writer, port->labels, "reason", rna_skip_name(skip),
					       port->selftest->skips[skip]);
}

/* -- The tables -------------------------------------------------------------------------------- */

/* clang-format off */
static const struct rna_family run_rows[] = {
	{TELLS("memory", .text = memory)},
	METRIC(PORT, "rdma_selftest_ok", GAUGE, YES_NO, OF(is_ok),
	       "1 if the last self-test of the port with this memory (local, remote, gpu) passed, "
	       "0 if it was too slow, failed or corrupted data. Absent if there was no expected "
	       "bandwidth."),
	METRIC(PORT, "rdma_selftest_bandwidth_bytes_per_second", GAUGE, BYTES_PER_SEC,
	       OF(bandwidth),
	       "Loopback bandwidth of the port in its last self-test, in bytes per second. Absent "
	       "if the test failed."),
	METRIC(PORT, "rdma_selftest_expected_bytes_per_second", GAUGE, BYTES_PER_SEC,
	       IN(struct rna_selftest_run, expected, .zero_is_none = true),
	       "Bandwidth expected in the last self-test from the port's link and PCIe path, in "
	       "bytes per second. Absent for software devices."),
	METRIC(PORT, "rdma_selftest_ratio", GAUGE, RATIO, OF(ratio),
	       "Measured bandwidth of the last self-test as a fraction of the expected bandwidth."),
	METRIC(PORT, "rdma_selftest_latency_median_seconds", GAUGE, NANOSECONDS, OF(median),
	       "Median latency of a small write in the last self-test, in seconds."),
	METRIC(PORT, "rdma_selftest_latency_p99_seconds", GAUGE, NANOSECONDS, OF(p99),
	       "99th-percentile latency of a small write in the last self-test, in seconds."),
	METRIC(PORT, "rdma_selftest_duration_seconds", GAUGE, SECONDS,
	       IN(struct rna_selftest_run, result.duration, .zero_is_none = true),
	       "Duration of the last self-test in seconds, including opening and closing the "
	       "device."),
};

static const struct rna_family rows[] = {
	METRIC(PORT, "rdma_selftest_last_run_timestamp_seconds", GAUGE, SECONDS,
	       AT(selftest, last_run, .zero_is_none = true),
	       "Unix time of the port's last self-test, also by a previous agent process."),
	METRIC(PORT, "rdma_selftest_last_success_timestamp_seconds", GAUGE, SECONDS,
	       AT(selftest, last_success, .zero_is_none = true),
	       "Unix time of the port's last self-test that passed."),
	METRIC(PORT, "rdma_selftest_bytes_total", COUNTER, BYTES,
	       AT(selftest, bytes, .zero_is_none = true),
	       "Bytes written by self-tests of the port. They are also included in the port's data"
	       " counters."),
	METRIC(PORT, "rdma_selftest_runs_total", COUNTER, PLAIN, EACH(selftest_runs, "result"),
	       "Self-tests by result: ok, warning, failed, or measured if there was no expected "
	       "bandwidth. Results that did not occur are absent."),
	METRIC(PORT, "rdma_selftest_skips_total", COUNTER, PLAIN, EACH(selftest_skips, "reason"),
	       "Skipped self-tests of the port by reason. Reasons that did not occur are absent."),
};
/* clang-format on */

const struct rna_family_table rna_selftest_run_table = {ROWS(run_rows), .next = next_run};
const struct rna_family_table rna_selftest_table = {ROWS(rows)};
