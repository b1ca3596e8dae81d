// SPDX-License-Identifier: Apache-2.0
/*
 * Metrics of the self-test. A port has a sample for each kind of memory that was tested, from the
 * newest test of it; counts are of what has happened, so that a port that is never tested, such as
 * one of a VF, costs one series: why.
 */
#include "families_selftest.h"

#include "rna/model/selftest.h"

#include "families_parts.h"

enum { MILLION = 1000000 };

/* The sample of each kind of memory, where that has one. */
static void write_newest(const struct rna_subject *port, struct rna_writer *writer,
			 struct rna_value (*get)(const struct rna_selftest_run *run))
{
	for (enum rna_endpoint e = 0; port->selftest && e < RNA_ENDPOINT_COUNT; e++) {
		const struct rna_selftest_run *run = rna_selftest_newest(port->selftest, e, NULL);
		struct rna_value value = run ? get(run) : rna_no_value;

		if (rna_value_is_known(value))
			rna_writer_sample_with(writer, port->labels, "memory", rna_endpoint_name(e),
					       value.number);
	}
}

static bool is_done(const struct rna_selftest_run *run)
{
	return run->result.end == RNA_LOOPBACK_DONE;
}

static struct rna_value positive(uint64_t number)
{
	return number > 0 ? rna_value_ok(number) : rna_no_value;
}

static struct rna_value is_ok(const struct rna_selftest_run *run)
{
	return run->grade == RNA_GRADE_NONE ? rna_no_value
					    : rna_value_ok(run->grade == RNA_GRADE_OK);
}

static struct rna_value bandwidth(const struct rna_selftest_run *run)
{
	return is_done(run) ? rna_value_ok(run->result.bandwidth) : rna_no_value;
}

static struct rna_value expected(const struct rna_selftest_run *run)
{
	return positive(run->expected);
}

static struct rna_value ratio(const struct rna_selftest_run *run)
{
	double fraction;

	if (!is_done(run) || run->expected == 0)
		return rna_no_value;
	fraction = (double)run->result.bandwidth / (double)run->expected;
	return rna_value_ok((uint64_t)(fraction * MILLION));
}

static struct rna_value median(const struct rna_selftest_run *run)
{
	return is_done(run) ? positive(run->result.latency_median) : rna_no_value;
}

static struct rna_value p99(const struct rna_selftest_run *run)
{
	return is_done(run) ? positive(run->result.latency_p99) : rna_no_value;
}

static struct rna_value duration(const struct rna_selftest_run *run)
{
	return positive(run->result.duration);
}

void rna_family_selftest_ok(const struct rna_subject *port, struct rna_writer *writer)
{
	write_newest(port, writer, is_ok);
}

void rna_family_selftest_bandwidth(const struct rna_subject *port, struct rna_writer *writer)
{
	write_newest(port, writer, bandwidth);
}

void rna_family_selftest_expected(const struct rna_subject *port, struct rna_writer *writer)
{
	write_newest(port, writer, expected);
}

void rna_family_selftest_ratio(const struct rna_subject *port, struct rna_writer *writer)
{
	write_newest(port, writer, ratio);
}

void rna_family_selftest_median(const struct rna_subject *port, struct rna_writer *writer)
{
	write_newest(port, writer, median);
}

void rna_family_selftest_p99(const struct rna_subject *port, struct rna_writer *writer)
{
	write_newest(port, writer, p99);
}

void rna_family_selftest_duration(const struct rna_subject *port, struct rna_writer *writer)
{
	write_newest(port, writer, duration);
}

/* -- Of all tests ------------------------------------------------------------------------------ */

struct rna_value rna_family_selftest_last_run(const struct rna_subject *port)
{
	return port->selftest ? positive(port->selftest->last_run) : rna_no_value;
}

struct rna_value rna_family_selftest_last_success(const struct rna_subject *port)
{
	return port->selftest ? positive(port->selftest->last_success) : rna_no_value;
}

struct rna_value rna_family_selftest_bytes(const struct rna_subject *port)
{
	return port->selftest ? positive(port->selftest->bytes) : rna_no_value;
}

void rna_family_selftest_runs(const struct rna_subject *port, struct rna_writer *writer)
{
	for (enum rna_grade grade = 0; port->selftest && grade < RNA_GRADE_COUNT; grade++)
		if (port->selftest->results[grade] > 0)
			rna_writer_sample_with(writer, port->labels, "result",
					       grade == RNA_GRADE_NONE ? "measured"
								       : rna_grade_name(grade),
					       port->selftest->results[grade]);
}

void rna_family_selftest_skips(const struct rna_subject *port, struct rna_writer *writer)
{
	for (enum rna_skip skip = 0; port->selftest && skip < RNA_SKIP_COUNT; skip++)
		if (port->selftest->skips[skip] > 0)
			rna_writer_sample_with(writer, port->labels, "reason", rna_skip_name(skip),
					       port->selftest->skips[skip]);
}
