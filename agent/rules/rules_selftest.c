// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about the self-test. One bad test may be an accident, so a finding needs two consecutive
 * ones with the same kind of memory; the second follows soon after the first
 * (agent/selftest/selftest_schedule.c). Corrupted data is a finding at once, until two consecutive
 * tests are without: nothing harmless corrupts data.
 */
#include <inttypes.h>

#include "selftest/plan.h"

#include "rules.h"

/* The result of the tests of a port with one kind of memory. */
struct outcome {
	const struct rna_selftest_run *run; /* the newest; NULL: no finding */
	enum rna_endpoint endpoint;
	enum rna_severity severity;
};

/* The path to memory of another socket is longer, and on many machines slower by design. */
static enum rna_severity how_severe(const struct rna_selftest_run *run, enum rna_severity usual)
{
	return run->request.endpoint == RNA_ENDPOINT_REMOTE && run->result.end == RNA_LOOPBACK_DONE
		       ? RNA_SEVERITY_INFO
		       : usual;
}

static bool is_corrupt(const struct rna_selftest_run *run)
{
	return run && run->result.end == RNA_LOOPBACK_CORRUPT;
}

/* Of two bad tests the better one determines the grade. */
static struct outcome outcome_of(const struct rna_selftest_port *port, enum rna_endpoint endpoint,
				 enum rna_grade wanted, enum rna_severity usual)
{
	const struct rna_selftest_run *run = rna_selftest_newest(port, endpoint, NULL);
	const struct rna_selftest_run *before =
		run ? rna_selftest_newest(port, endpoint, run) : NULL;
	struct outcome ret = {.endpoint = endpoint, .severity = usual};
	enum rna_grade grade;

	if (is_corrupt(run) || is_corrupt(before)) {
		if (wanted == RNA_GRADE_FAILED)
			ret.run = is_corrupt(run) ? run : before;
		return ret;
	}
	if (!rna_selftest_is_bad(run) || !rna_selftest_is_bad(before))
		return ret;
	grade = run->grade < before->grade ? run->grade : before->grade;
	ret.run = grade == wanted ? run : NULL;
	ret.severity = how_severe(run, usual);
	return ret;
}

/* The worst of all kinds of memory; the first of several equal ones. */
static struct outcome worst_of(const struct rna_rule_input *in, enum rna_grade wanted,
			       enum rna_severity usual)
{
	const struct rna_selftest_port *port = in->subject->selftest;
	struct outcome worst = {0};

	for (enum rna_endpoint e = 0; port && e < RNA_ENDPOINT_COUNT; e++) {
		struct outcome outcome = outcome_of(port, e, wanted, usual);

		if (outcome.run && (!worst.run || outcome.severity > worst.severity))
			worst = outcome;
	}
	return worst;
}

/* "GPU 0000:1b:00.0", or "NUMA node 1"; in arena. */
static const char *name_memory(struct rna_arena *arena, const struct rna_loopback_request *request)
{
	const char *text = NULL;

	if (request->endpoint == RNA_ENDPOINT_GPU)
		text = rna_arena_printf(arena, "GPU %s", request->gpu);
	else if (request->memory_node >= 0)
		text = rna_arena_printf(arena, "NUMA node %" PRId32, request->memory_node);
	return text ? text : "the node";
}

/* Evidence: without relaxed ordering some platforms let much less data pass. */
static const char *name_ordering(const struct rna_loopback_result *result)
{
	struct rna_value permitted = result->pci_relaxed_ordering;

	if (rna_value_is_known(permitted) && !permitted.number)
		return "; the PCI function may not use relaxed ordering";
	if (rna_value_is_known(result->relaxed_ordering) && !result->relaxed_ordering.number)
		return "; memory was registered without relaxed ordering";
	return "";
}

/* siblings: the bandwidth is good enough by itself, but lower than that of the siblings. */
static void tell_bandwidth(const struct rna_selftest_run *run, const char *memory,
			   const struct rna_settings *settings, struct rna_finds *out,
			   enum rna_severity severity)
{
	double percent = 100 * (double)run->result.bandwidth / (double)run->expected;
	bool siblings = percent >= rna_selftest_limits_for(settings, run->expected).ok / 10.0;

	rna_finds_add(out,
		      "loopback through memory of %s (%s) reached %.4g of %.4g Gb/s expected "
		      "(%.3g %%) in two consecutive self-tests%s%s",
		      memory, rna_endpoint_name(run->request.endpoint),
		      rna_gigabits(run->result.bandwidth), rna_gigabits(run->expected), percent,
		      siblings ? "; siblings are faster" : "", name_ordering(&run->result))
		->severity = severity;
}

static void report_outcome(const struct rna_rule_input *in, const struct outcome *outcome,
			   struct rna_finds *out)
{
	const struct rna_selftest_run *run = outcome->run;
	const char *memory;

	if (!run)
		return;
	memory = name_memory(out->arena, &run->request);
	if (run->result.end == RNA_LOOPBACK_CORRUPT)
		rna_finds_add(out,
			      "self-test through memory of %s (%s) returned corrupted data: %s",
			      memory, rna_endpoint_name(run->request.endpoint), run->result.text)
			->remedy = "Take the node out of service, because data of applications may "
				   "be corrupted too. Then test the memory{another-slot}.";
	else if (run->result.end == RNA_LOOPBACK_DONE)
		tell_bandwidth(run, memory, in->settings, out, outcome->severity);
	else
		(void)rna_finds_add(
			out, "self-test through memory of %s (%s) failed after a bad one: %s",
			memory, rna_endpoint_name(run->request.endpoint), run->result.text);
}

static void check_selftest_failed(const struct rna_rule_input *in, struct rna_finds *out)
{
	struct outcome outcome = worst_of(in, RNA_GRADE_FAILED, RNA_SEVERITY_CRITICAL);

	report_outcome(in, &outcome, out);
}

const struct rna_rule rna_rule_selftest_failed = {
	RNA_RULE_ROW("selftest-failed", PORT, CRITICAL, RAIL_LOST, CARD, LINK_DEGRADED),
	.hold = "0s", /* two tests are half an hour apart, or more */
	.help = "Two consecutive self-tests with the same kind of memory failed or were "
		"far too slow, or one returned corrupted data. Slow memory of another "
		"NUMA node has severity info.",
	.check = check_selftest_failed,
	.remedy = "Check {device} for a PCIe link that lost lanes or speed (status, lspci "
		  "-vv -s {pci}), for ACS and the IOMMU, and for throttling. To test "
		  "again, run: rdma-node-agent selftest --device {device}.",
	.message_id = "9cd09d1d63f14de389a5a08608639f2b",
};

static void check_selftest_slow(const struct rna_rule_input *in, struct rna_finds *out)
{
	struct outcome outcome = worst_of(in, RNA_GRADE_WARNING, RNA_SEVERITY_WARNING);

	report_outcome(in, &outcome, out);
}

const struct rna_rule rna_rule_selftest_slow = {
	RNA_RULE_ROW("selftest-slow", PORT, WARNING, RAIL_SLOW, CARD, LINK_DEGRADED),
	.help = "Two consecutive self-tests with the same kind of memory moved less data "
		"than the port and its PCIe path allow, or less than its siblings. Memory "
		"of another NUMA node has severity info.",
	.check = check_selftest_slow,
	.remedy = "Compare with a healthy node: PCIe settings (maximum read request and "
		  "payload, relaxed ordering), NUMA placement, CPU power management. To "
		  "test again, run: rdma-node-agent selftest --device {device}.",
	.message_id = "ee27e87824b941748073477729982d96",
};

static void check_selftest_stuck(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_selftest_port *port = in->subject->selftest;

	if (port && port->stuck > 0)
		(void)rna_finds_add(
			out,
			"self-test process %d hangs in the kernel; the device is not tested "
			"until it ends",
			port->stuck);
}

const struct rna_rule rna_rule_selftest_stuck = {
	RNA_RULE_ROW("selftest-stuck", PORT, WARNING, RAIL_LOST, CARD, NOT_OBSERVED),
	.hold = "0s", /* it had all the time that it could need */
	.help = "A self-test hangs in the kernel and cannot be stopped; its device is not "
		"tested until it ends.",
	.check = check_selftest_stuck,
	.remedy = "Search the kernel log for driver timeouts. If {device} needs a reset, "
		  "drain the node first. {recover}",
	.message_id = "6f6c13aeb72146e79de440ac62a7d7c5",
};
