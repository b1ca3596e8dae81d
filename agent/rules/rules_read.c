// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about data that the agent cannot read. They exclude each other, so that one cause makes one
 * finding: reads-failing skips stalled devices, and data-too-old skips failed and stalled reads.
 */
#include <string.h>

#include "settings/settings.h"

#include "rules.h"

/* A firmware command times out after 60 s, and may be tried twice (rdma.md 0, fact 6). */
#define STALLED_CRITICAL (120 * RNA_USEC_PER_SEC)

enum { OLD_PERIODS = 3 };

/* The jobs of the subject: of a device, or of the node, whose jobs come first. */
static const struct rna_job_status *jobs_of(const struct rna_rule_input *in, size_t *ret_count)
{
	const struct rna_job_status *jobs = in->view->jobs;

	if (in->subject) {
		*ret_count = in->subject->job_count;
		return in->subject->jobs;
	}
	*ret_count = 0;
	while (*ret_count < in->view->job_count && strcmp(jobs[*ret_count].device, "node") == 0)
		++*ret_count;
	return jobs;
}

/* The start of the text; rna_finds_add() adds the names of devices. */
static const char *node_prefix(const struct rna_rule_input *in)
{
	return in->subject ? "" : "node: ";
}

static rna_usec now_of(const struct rna_rule_input *in)
{
	return in->view->snapshot->time.monotonic;
}

static const struct rna_job_status *find_stalled(const struct rna_rule_input *in)
{
	size_t count;
	const struct rna_job_status *jobs = jobs_of(in, &count);

	for (size_t i = 0; i < count; i++)
		if (jobs[i].stalled)
			return &jobs[i];
	return NULL;
}

void rna_check_device_stalled(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_job_status *job = find_stalled(in);
	struct rna_finding *found;
	rna_usec ago;

	if (!job)
		return;
	found = rna_finds_add(out, "%sdoes not answer: collector %s is stalled", node_prefix(in),
			      job->name);
	ago = rna_usec_since(job->stalled, now_of(in));
	if (ago >= STALLED_CRITICAL)
		found->severity = RNA_SEVERITY_CRITICAL;
	found->since.monotonic = job->stalled;
	found->since.realtime = in->view->snapshot->time.realtime - ago;
}

/* A single unreadable value is no finding, except the state of a port. */
static bool is_state_unreadable(const struct rna_snapshot_device *device, unsigned *ret_port)
{
	const struct rna_state *state = rna_device_state(device);

	for (size_t i = 0; state && i < state->port_count; i++)
		if (state->ports[i].state.state == RNA_VALUE_UNREADABLE) {
			*ret_port = state->ports[i].number;
			return true;
		}
	return false;
}

void rna_check_reads_failing(const struct rna_rule_input *in, struct rna_finds *out)
{
	size_t count;
	const struct rna_job_status *jobs = jobs_of(in, &count);
	unsigned port;

	if (find_stalled(in))
		return;
	for (size_t i = 0; i < count; i++)
		if (jobs[i].ran && !jobs[i].success) {
			(void)rna_finds_add(out, "%scollector %s fails", node_prefix(in),
					    jobs[i].name);
			return;
		}
	if (in->subject && is_state_unreadable(in->subject->device, &port))
		(void)rna_finds_add(out, "the state of port %u cannot be read", port);
}

static bool is_too_old(const struct rna_rule_input *in, const struct rna_job_status *job)
{
	rna_usec limit = OLD_PERIODS * job->period + in->settings->poll_deadline;

	return job->ran && job->success && job->taken &&
	       rna_usec_since(job->taken, now_of(in)) > limit;
}

void rna_check_data_too_old(const struct rna_rule_input *in, struct rna_finds *out)
{
	size_t count;
	const struct rna_job_status *jobs = jobs_of(in, &count);

	if (find_stalled(in))
		return;
	for (size_t i = 0; i < count; i++)
		if (is_too_old(in, &jobs[i])) {
			(void)rna_finds_add(out,
					    "%sdata of collector %s is older than three polling "
					    "periods",
					    node_prefix(in), jobs[i].name);
			return;
		}
}
