// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about the self-test. One bad test may be an accident, so it takes two in a row with the
 * same kind of memory; the second follows soon after the first (agent/selftest/turns.c). Data that
 * arrived other than it was sent is told at once, and until two tests in a row were without:
 * nothing harmless does that.
 */
#include <inttypes.h>

#include "selftest/plan.h"

#include "rules.h"

/* What the tests of a port say, with one kind of memory. */
struct outcome {
	const struct rna_selftest_run *run; /* the newest; NULL: nothing to be told */
	enum rna_endpoint endpoint;
	enum rna_severity severity;
};

/* From memory of another socket the way is longer, and on many machines slower by design. */
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

/* Of two bad tests the better one says how bad it is: that much is certain. */
static struct outcome look_at(const struct rna_selftest_port *port, enum rna_endpoint endpoint,
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

/* The worst of all kinds of memory; of several, the first. */
static struct outcome worst_of(const struct rna_rule_input *in, enum rna_grade wanted,
			       enum rna_severity usual)
{
	const struct rna_selftest_port *port = in->subject->selftest;
	struct outcome worst = {0};

	for (enum rna_endpoint e = 0; port && e < RNA_ENDPOINT_COUNT; e++) {
		struct outcome outcome = look_at(port, e, wanted, usual);

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

/* Slower than its siblings only: by itself it would have been good enough. */
static void tell_bandwidth(const struct rna_selftest_run *run, const char *memory,
			   const struct rna_settings *settings, struct rna_finds *out,
			   enum rna_severity severity)
{
	double percent = 100 * (double)run->result.bandwidth / (double)run->expected;
	bool siblings = percent >= rna_selftest_limits_for(settings, run->expected).ok / 10.0;

	rna_find(out,
		 "moves %.4g Gb/s to itself through memory of %s (%s) where %.4g Gb/s are "
		 "expected, %.3g %%, in two tests in a row%s",
		 rna_gigabits(run->result.bandwidth), memory,
		 rna_endpoint_name(run->request.endpoint), rna_gigabits(run->expected), percent,
		 siblings ? "; its siblings are faster" : "")
		->severity = severity;
}

static void tell(const struct rna_rule_input *in, const struct outcome *outcome,
		 struct rna_finds *out)
{
	const struct rna_selftest_run *run = outcome->run;
	const char *memory;

	if (!run)
		return;
	memory = name_memory(out->arena, &run->request);
	if (run->result.end == RNA_LOOPBACK_CORRUPT)
		rna_find(out, "data came back changed through memory of %s (%s): %s", memory,
			 rna_endpoint_name(run->request.endpoint), run->result.text)
			->remedy = "Take the node out of service: whatever passes this way may be "
				   "wrong; then test memory, and the NIC in another slot.";
	else if (run->result.end == RNA_LOOPBACK_DONE)
		tell_bandwidth(run, memory, in->settings, out, outcome->severity);
	else
		(void)rna_find(
			out, "a test with memory of %s (%s) failed, and the one before was bad: %s",
			memory, rna_endpoint_name(run->request.endpoint), run->result.text);
}

void rna_check_selftest_failed(const struct rna_rule_input *in, struct rna_finds *out)
{
	struct outcome outcome = worst_of(in, RNA_GRADE_FAILED, RNA_SEVERITY_CRITICAL);

	tell(in, &outcome, out);
}

void rna_check_selftest_slow(const struct rna_rule_input *in, struct rna_finds *out)
{
	struct outcome outcome = worst_of(in, RNA_GRADE_WARNING, RNA_SEVERITY_WARNING);

	tell(in, &outcome, out);
}

void rna_check_selftest_stuck(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_selftest_port *port = in->subject->selftest;

	if (port && port->stuck > 0)
		(void)rna_find(out,
			       "a self-test, process %d, hangs in the kernel; until it ends the "
			       "device is not tested",
			       port->stuck);
}
