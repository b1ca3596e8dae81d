// SPDX-License-Identifier: Apache-2.0
/* Metrics of the agent itself: its collectors, settings, events, and what it costs. */
#include "family_rows.h"

/* -- Collectors -------------------------------------------------------------------------------- */

/* Against the time of the snapshot: the same view gives the same bytes at any time. */
static rna_usec since(const struct rna_subject *job, rna_usec then)
{
	return rna_usec_since(then, job->view->snapshot->time.monotonic);
}

static struct rna_value age(const struct rna_subject *job)
{
	return job->job->taken ? rna_value_ok(since(job, job->job->taken)) : rna_no_value;
}

static struct rna_value stalled(const struct rna_subject *job)
{
	return rna_value_ok(job->job->stalled ? since(job, job->job->stalled) : 0);
}

static void errors(const struct rna_subject *job, struct rna_writer *writer)
{
	for (enum rna_reason reason = 0; reason < RNA_REASON_COUNT; reason++) {
		uint64_t count = rna_job_errors(job->job, reason);

		if (count > 0)
			rna_writer_sample_with(writer, job->labels, "reason",
					       rna_reason_name(reason), count);
	}
}

/* -- Their summary ----------------------------------------------------------------------------- */

static void write_of_collector(struct rna_writer *writer, const char *collector, const char *label,
			       const char *text, uint64_t number)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	rna_label_add(&labels, "collector", collector);
	rna_label_add(&labels, label, text);
	rna_writer_sample_labels(writer, &labels, number);
}

/* The number of the family for a job of the view. */
static struct rna_value value_of(const struct rna_family *family, const struct rna_view *view,
				 const struct rna_job_status *job)
{
	struct rna_subject subject = rna_subject_of_job(view, (size_t)(job - view->jobs));

	return rna_family_value(family, &subject);
}

/* Of each collector, the largest number of all devices. */
static void largest(const struct rna_family *family, const struct rna_view *view,
		    struct rna_writer *writer)
{
	struct rna_value found[RNA_COLLECTOR_COUNT] = {0};
	const char *names[RNA_COLLECTOR_COUNT] = {0};

	for (size_t i = 0; i < view->job_count; i++) {
		struct rna_value value = value_of(family, view, &view->jobs[i]);
		enum rna_collector_id id = view->jobs[i].collector;

		if (!rna_value_is_known(value) || (names[id] && value.number <= found[id].number))
			continue;
		found[id] = value;
		names[id] = view->jobs[i].name;
	}
	for (size_t id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (names[id])
			write_of_collector(writer, names[id], NULL, NULL, found[id].number);
}

/* 0 for each collector that fails on a device; findings and JSON name the device. */
static void failed(const struct rna_family *family, const struct rna_view *view,
		   struct rna_writer *writer)
{
	const char *names[RNA_COLLECTOR_COUNT] = {0};

	RNA_EACH (job, view->jobs, view->job_count) {
		struct rna_value value = value_of(family, view, job);

		if (rna_value_is_known(value) && value.number == 0)
			names[job->collector] = job->name;
	}
	for (size_t id = 0; id < RNA_COLLECTOR_COUNT; id++)
		if (names[id])
			write_of_collector(writer, names[id], NULL, NULL, 0);
}

/* Those that are stalled: one for each device at most, which gets no other job meanwhile. */
static void above_zero(const struct rna_family *family, const struct rna_view *view,
		       struct rna_writer *writer)
{
	RNA_EACH (job, view->jobs, view->job_count) {
		struct rna_value value = value_of(family, view, job);

		if (rna_value_is_known(value) && value.number > 0)
			write_of_collector(writer, job->name, "device", job->device, value.number);
	}
}

static void error_sums(const struct rna_family *family, const struct rna_view *view,
		       struct rna_writer *writer)
{
	uint64_t sums[RNA_COLLECTOR_COUNT][RNA_REASON_COUNT] = {0};
	const char *names[RNA_COLLECTOR_COUNT] = {0};

	(void)family;
	RNA_EACH (job, view->jobs, view->job_count) {
		names[job->collector] = job->name;
		for (enum rna_reason reason = 0; reason < RNA_REASON_COUNT; reason++)
			sums[job->collector][reason] += rna_job_errors(job, reason);
	}
	for (size_t id = 0; id < RNA_COLLECTOR_COUNT; id++)
		for (enum rna_reason reason = 0; reason < RNA_REASON_COUNT; reason++)
			if (sums[id][reason] > 0)
				write_of_collector(writer, names[id], "reason",
						   rna_reason_name(reason), sums[id][reason]);
}

static void jobs(const struct rna_subject *node, struct rna_writer *writer)
{
	uint64_t counts[RNA_JOB_STATE_COUNT] = {0};

	for (size_t i = 0; i < node->view->job_count; i++)
		counts[rna_job_state(&node->view->jobs[i])]++;
	for (enum rna_job_state state = 0; state < RNA_JOB_STATE_COUNT; state++)
		rna_writer_sample_with(writer, node->labels, "state", rna_job_state_name(state),
				       counts[state]);
}

static struct rna_value longest_run(const struct rna_subject *node)
{
	struct rna_value longest = rna_no_value;

	RNA_EACH (job, node->view->jobs, node->view->job_count)
		if (job->ran && job->duration >= longest.number)
			longest = rna_value_ok(job->duration);
	return longest;
}

/* -- Work -------------------------------------------------------------------------------------- */

static void seccomp(const struct rna_subject *node, struct rna_writer *writer)
{
	const char *filter = node->view->agent.seccomp;

	if (filter)
		rna_writer_sample_with(writer, node->labels, "filter", filter, 1);
}

static void profile(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_profile_status *status = &node->view->profile;
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	if (!status->name)
		return;
	rna_label_add(&labels, "name", status->name);
	rna_label_add(&labels, "source", status->source);
	rna_label_add(&labels, "use", status->alarms ? "findings" : "information");
	rna_writer_sample_labels(writer, &labels, 1);
}

static struct rna_value quiesced(const struct rna_subject *node)
{
	return rna_family_yes_or_no(node->view->agent.quiesced);
}

static struct rna_value config_ok(const struct rna_subject *node)
{
	return rna_family_yes_or_no(!node->view->agent.config_error);
}

static void logins(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_web_status *web = node->web;

	for (enum rna_login login = 0; web && login < RNA_LOGIN_COUNT; login++)
		rna_writer_sample_with(writer, node->labels, "result", rna_login_name(login),
				       web->logins[login]);
}

static void drops(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_http_status *http = &node->view->agent.http;

	for (enum rna_drop drop = 0; http->used && drop < RNA_DROP_COUNT; drop++)
		if (http->drops[drop] > 0 || node->view->metrics.details)
			rna_writer_sample_with(writer, node->labels, "reason", rna_drop_name(drop),
					       http->drops[drop]);
}

/*
 * field: offset of a count in struct rna_source_account. Sources without a part in it: none; zeros
 * only if zero, of sources that are watched.
 */
static void write_counts(const struct rna_subject *node, enum rna_source first, size_t field,
			 bool zero, struct rna_writer *writer)
{
	for (enum rna_source source = first; source < RNA_SOURCE_COUNT; source++) {
		const struct rna_source_account *account = &node->view->agent.sources[source];
		uint64_t count;

		memcpy(&count, (const char *)account + field, sizeof(count));
		if ((account->watched && zero) || count > 0)
			rna_writer_sample_with(writer, node->labels, "source",
					       rna_source_name(source), count);
	}
}

static void events(const struct rna_subject *node, struct rna_writer *writer)
{
	write_counts(node, RNA_SOURCE_RTNETLINK, offsetof(struct rna_source_account, events), true,
		     writer);
}

static void event_overruns(const struct rna_subject *node, struct rna_writer *writer)
{
	write_counts(node, RNA_SOURCE_RTNETLINK, offsetof(struct rna_source_account, overruns),
		     node->view->metrics.details, writer);
}

static void changes(const struct rna_subject *node, struct rna_writer *writer)
{
	write_counts(node, RNA_SOURCE_POLL, offsetof(struct rna_source_account, changes), true,
		     writer);
}

static void write_latency(struct rna_writer *writer, const char *source,
			  const struct rna_histogram *latency)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	rna_label_add(&labels, "source", source);
	if (!rna_strbuf_ok(&labels))
		writer->out->failed = true;
	else
		rna_writer_histogram(writer, (struct rna_span){labels.data, labels.len}, latency);
}

/* Of all sources together, or of each, for a histogram has many series. */
static void event_latency(const struct rna_subject *node, struct rna_writer *writer)
{
	struct rna_histogram sum = {0};
	bool watched = false;

	for (enum rna_source source = RNA_SOURCE_RTNETLINK; source < RNA_SOURCE_COUNT; source++) {
		const struct rna_source_account *account = &node->view->agent.sources[source];

		if (!account->watched && account->events == 0)
			continue;
		watched = true;
		rna_histogram_merge(&sum, &account->latency);
		if (node->view->metrics.details)
			write_latency(writer, rna_source_name(source), &account->latency);
	}
	if (watched && !node->view->metrics.details)
		write_latency(writer, NULL, &sum);
}

/* -- The tables -------------------------------------------------------------------------------- */

/* clang-format off */
static const struct rna_family job_rows[] = {
	METRIC(JOB, "rdma_collector_success", GAUGE, YES_NO,
	       SUMMARY(failed, AT(finished, success)),
	       "0 for each collector whose last run failed on a device. With metrics.collectors: "
	       "full, for each collector and device, 1 if the last run succeeded, also if there was "
	       "nothing to read; node-wide collectors have device=\"node\"."),
	METRIC(JOB, "rdma_collector_duration_seconds", GAUGE, SECONDS,
	       SUMMARY(NULL, AT(finished, duration)),
	       "Duration of the collector's last run in seconds. Requires metrics.collectors: "
	       "full."),
	METRIC(JOB, "rdma_collector_age_seconds", GAUGE, SECONDS, SUMMARY(largest, GET(age)),
	       "Age in seconds of the collector's newest data when the snapshot was taken: of the "
	       "device with the oldest data. With metrics.collectors: full, of each device."),
	METRIC(JOB, "rdma_collector_stalled_seconds", GAUGE, SECONDS,
	       SUMMARY(above_zero, GET(stalled)),
	       "Time in seconds that a run of the collector has lasted on a device, if it is past its "
	       "deadline. Otherwise absent; 0 with metrics.collectors: full."),
	METRIC(JOB, "rdma_collector_errors_total", COUNTER, PLAIN,
	       SUMMARY(error_sums, EACH(errors, "reason")),
	       "Failed reads and failed runs of the collector, by reason: on all devices. With "
	       "metrics.collectors: full, on each device."),
};

static const struct rna_family agent_rows[] = {
	METRIC(NODE, "rdma_agent_build_info", INFO, PLAIN, GET(rna_family_one),
	       "Version of the agent."),
	METRIC(NODE, "rdma_agent_start_time_seconds", GAUGE, SECONDS,
	       AT(view, agent.started.realtime),
	       "Unix time of the agent's start."),
	METRIC(NODE, "rdma_agent_snapshots_total", COUNTER, PLAIN, AT(view, agent.snapshots),
	       "Snapshots published by the agent."),
	METRIC(NODE, "rdma_agent_jobs", GAUGE, PLAIN, EACH(jobs, "state"),
	       "Pairs of a collector and a device, or the node, by what became of the last run: "
	       "succeeded, failed, stalled (past its deadline), pending (none has ended yet)."),
	METRIC(NODE, "rdma_agent_longest_run_seconds", GAUGE, SECONDS, GET(longest_run),
	       "Duration in seconds of the longest of the last runs of all collectors."),
	METRIC(NODE, "rdma_agent_events_total", COUNTER, PLAIN, EACH(events, "source"),
	       "Kernel events received, by source."),
	METRIC(NODE, "rdma_agent_event_overruns_total", COUNTER, PLAIN,
	       EACH(event_overruns, "source"),
	       "Times the kernel dropped events and the agent read everything again, by source. "
	       "Absent for a source that dropped none."),
	METRIC(NODE, "rdma_agent_missed_changes_total", COUNTER, PLAIN,
	       AT(view, agent.missed_changes),
	       "Changes that a poll found although the agent listens to events that should have "
	       "told of them."),
	METRIC(NODE, "rdma_agent_event_latency_seconds", HISTOGRAM, SECONDS,
	       EACH(event_latency, "source"),
	       "Time in seconds from a kernel event to the snapshot with the data read because of "
	       "it. By source only with metrics.details."),
	METRIC(NODE, "rdma_agent_changes_total", COUNTER, PLAIN, EACH(changes, "source"),
	       "Changes of port states, by the source that showed them first."),
	METRIC(NODE, "rdma_agent_lanes", GAUGE, PLAIN, AT(view, agent.lanes),
	       "Worker threads that read hardware."),
	METRIC(NODE, "rdma_agent_lanes_stalled", GAUGE, PLAIN, AT(view, agent.lanes_stalled),
	       "Worker threads occupied by a run past its deadline."),
	METRIC(NODE, "rdma_agent_quiesced", GAUGE, YES_NO, GET(quiesced),
	       "1 if the agent is quiesced and does not touch the RDMA stack, 0 otherwise."),
	METRIC(NODE, "rdma_agent_seccomp_info", INFO, PLAIN, EACH(seccomp, "filter"),
	       "System call filter of the agent: own, inherited (from systemd or the container "
	       "runtime) or none."),
	METRIC(NODE, "rdma_agent_profile_info", INFO, PLAIN, EACH(profile, "name, source, use"),
	       "Profile that fits this node: its name, the file that it comes from (shipped: the "
	       "program), and whether differences are findings or information. Absent if none "
	       "fits."),
	METRIC(NODE, "rdma_agent_config_last_reload_successful", GAUGE, YES_NO, GET(config_ok),
	       "1 if the last reload of the configuration succeeded, 0 otherwise."),
	METRIC(NODE, "rdma_agent_config_last_reload_success_timestamp_seconds", GAUGE, SECONDS,
	       AT(view, agent.config_loaded),
	       "Unix time of the last successful load of the configuration."),
	METRIC(NODE, "rdma_agent_web_config_last_reload_successful", GAUGE, YES_NO, AT(web, ok),
	       "1 if the newest web configuration and its files are in use, 0 otherwise."),
	METRIC(NODE, "rdma_agent_web_config_last_reload_success_timestamp_seconds", GAUGE, SECONDS,
	       AT(web, loaded),
	       "Unix time of the last successful load of the web configuration."),
	METRIC(NODE, "rdma_agent_tls_certificate_not_after_timestamp_seconds", GAUGE, SECONDS,
	       AT(web, certificate_end, .zero_is_none = true),
	       "Unix time of the expiry of the agent's HTTPS certificate."),
	METRIC(NODE, "rdma_agent_http_logins_total", COUNTER, PLAIN, EACH(logins, "result"),
	       "HTTP requests with user name and password, by result."),
	METRIC(NODE, "rdma_agent_http_connections_dropped_total", COUNTER, PLAIN,
	       EACH(drops, "reason"),
	       "HTTP connections that the agent closed because of a limit, or did not accept, by "
	       "reason. Absent for a reason that did not occur."),
};

static const struct rna_family process_rows[] = {
	METRIC(NODE, "process_cpu_seconds_total", COUNTER, SECONDS, AT(process, cpu),
	       "User and system CPU time of the agent in seconds."),
	METRIC(NODE, "process_resident_memory_bytes", GAUGE, BYTES, AT(process, resident_memory),
	       "Resident memory of the agent in bytes."),
	DETAIL(NODE, "process_virtual_memory_bytes", GAUGE, BYTES, AT(process, virtual_memory),
	       "Virtual memory of the agent in bytes."),
	METRIC(NODE, "process_open_fds", GAUGE, PLAIN, AT(process, open_fds),
	       "Open file descriptors of the agent."),
	DETAIL(NODE, "process_max_fds", GAUGE, PLAIN, AT(process, max_fds),
	       "Largest number of file descriptors that the agent may open."),
	DETAIL(NODE, "process_threads", GAUGE, PLAIN, AT(process, threads),
	       "Threads of the agent."),
	DETAIL(NODE, "process_start_time_seconds", GAUGE, SECONDS, AT(view, agent.started.realtime),
	       "Unix time of the agent's start."),
};
/* clang-format on */

const struct rna_family_table rna_job_table = {ROWS(job_rows)};
const struct rna_family_table rna_agent_table = {ROWS(agent_rows)};
const struct rna_family_table rna_process_table = {ROWS(process_rows)};
