// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about data that the agent cannot read. They exclude each other, so that one cause makes one
 * finding: reads-failing skips stalled devices, and data-too-old skips failed and stalled reads.
 */
#include <inttypes.h>
#include <string.h>

#include "settings/settings.h"

#include "rails.h"
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

	return RNA_FIND(i, jobs, count, jobs[i].stalled);
}

static void check_device_stalled(const struct rna_rule_input *in, struct rna_finds *out)
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
	if (!in->subject)
		found->remedy = "Search the kernel log for what a driver waits for. If it does not "
				"recover, drain the node and reboot it.";
	found->since.monotonic = job->stalled;
	found->since.realtime = in->view->snapshot->time.realtime - ago;
}

const struct rna_rule rna_rule_device_stalled = {
	RNA_RULE_ROW("device-stalled", DEVICE, WARNING, RAIL_LOST, CARD, NOT_OBSERVED),
	.help = "A device does not answer: a read has exceeded its deadline; critical "
		"after two minutes.",
	.check = check_device_stalled,
	.remedy = "Search the kernel log for firmware command timeouts. If {device} does "
		  "not recover, drain the node. {recover} If that does not help, {cycle}.",
	.message_id = "8f21be3837d448218e88dab50f91eeff",
};

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

/*
 * A state that says neither up nor down ("7: FOO", NOP) is no better than one that cannot be read,
 * where other ports of the model show what a state is. A driver that knows no states says so of
 * all.
 */
static const struct rna_subject *find_odd_state(const struct rna_rule_input *in)
{
	const struct rna_subject *device = in->subject;

	for (size_t p = 0; device && p < device->rdma_device->port_count; p++) {
		const struct rna_subject *port = &device->ports[p];

		if (!port->judged || rna_subject_state_is_known(port) ||
		    !rna_subject_state_name(port))
			continue;
		for (size_t i = 0; i < in->ports->count; i++)
			if (rna_rail_is_same_model(port, &in->ports->items[i]) &&
			    rna_subject_is_active(&in->ports->items[i]))
				return port;
	}
	return NULL;
}

static void check_reads_failing(const struct rna_rule_input *in, struct rna_finds *out)
{
	size_t count;
	const struct rna_job_status *jobs = jobs_of(in, &count);
	const struct rna_subject *odd = find_odd_state(in);
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
	else if (odd)
		(void)rna_finds_add(out,
				    "the state of port %u is %s (%" PRIu64 "), which says neither "
				    "up nor down, while other ports of its model are up",
				    odd->port, rna_subject_state_name(odd),
				    odd->state->state.number);
}

const struct rna_rule rna_rule_reads_failing = {
	RNA_RULE_ROW("reads-failing", DEVICE, WARNING, AGENT, HOST, NOT_OBSERVED),
	.hold = "30s",
	.help = "A collector fails for a device, or the state of a port cannot be read or says "
		"neither up nor down while others of its model are up, so its health is unknown.",
	.check = check_reads_failing,
	.remedy = "See rdma_collector_errors_total and the kernel log for the reason; a "
		  "container may lack the right to read.",
	.message_id = "2eac4e1b40fc489b86d81e91c56a71be",
};

static bool is_too_old(const struct rna_rule_input *in, const struct rna_job_status *job)
{
	rna_usec limit = OLD_PERIODS * job->period + in->settings->poll_deadline;

	return job->ran && job->success && job->taken &&
	       rna_usec_since(job->taken, now_of(in)) > limit;
}

static void check_data_too_old(const struct rna_rule_input *in, struct rna_finds *out)
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

const struct rna_rule rna_rule_data_too_old = {
	RNA_RULE_ROW("data-too-old", DEVICE, WARNING, AGENT, HOST, NOT_OBSERVED),
	.hold = "15s", /* a device that answers again is read anew in its turn */
	.help = "The data of a device is older than three polling periods although no "
		"read failed.",
	.check = check_data_too_old,
	.remedy = "Check for stalled devices (see lanes.max) and for a shortage of CPU "
		  "time.",
	.message_id = "5544d516e6684b0686734dbc14cd12d9",
};
