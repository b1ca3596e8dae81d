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
	for (enum rna_reason reason = 0; reason < RNA_REASON_COUNT; reason++)
		if (job->job->errors[reason] > 0)
			rna_writer_sample_with(writer, job->labels, "reason",
					       rna_reason_name(reason), job->job->errors[reason]);
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
		rna_writer_sample_with(writer, node->labels, "reason", rna_drop_name(drop),
				       http->drops[drop]);
}

/* field: offset of a count in struct rna_source_account. Sources without a part in it: none. */
static void write_counts(const struct rna_subject *node, enum rna_source first, size_t field,
			 struct rna_writer *writer)
{
	for (enum rna_source source = first; source < RNA_SOURCE_COUNT; source++) {
		const struct rna_source_account *account = &node->view->agent.sources[source];
		uint64_t count;

		memcpy(&count, (const char *)account + field, sizeof(count));
		if (account->watched || count > 0)
			rna_writer_sample_with(writer, node->labels, "source",
					       rna_source_name(source), count);
	}
}

static void events(const struct rna_subject *node, struct rna_writer *writer)
{
	write_counts(node, RNA_SOURCE_RTNETLINK, offsetof(struct rna_source_account, events),
		     writer);
}

static void event_overruns(const struct rna_subject *node, struct rna_writer *writer)
{
	write_counts(node, RNA_SOURCE_RTNETLINK, offsetof(struct rna_source_account, overruns),
		     writer);
}

static void changes(const struct rna_subject *node, struct rna_writer *writer)
{
	write_counts(node, RNA_SOURCE_POLL, offsetof(struct rna_source_account, changes), writer);
}

static void event_latency(const struct rna_subject *node, struct rna_writer *writer)
{
	for (enum rna_source source = RNA_SOURCE_RTNETLINK; source < RNA_SOURCE_COUNT; source++) {
		const struct rna_source_account *account = &node->view->agent.sources[source];
		RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

		if (!account->watched && account->events == 0)
			continue;
		rna_label_add(&labels, "source", rna_source_name(source));
		if (!rna_strbuf_ok(&labels))
			writer->out->failed = true;
		else
			rna_writer_histogram(writer, (struct rna_span){labels.data, labels.len},
					     &account->latency);
	}
}

/* -- The tables -------------------------------------------------------------------------------- */

/* clang-format off */
static const struct rna_family job_rows[] = {
	METRIC(JOB, "rdma_collector_success", GAUGE, YES_NO, AT(finished, success),
	       "1 if the collector's last run succeeded, also if there was nothing to read, 0 "
	       "otherwise. Node-wide collectors have device=\"node\"."),
	METRIC(JOB, "rdma_collector_duration_seconds", GAUGE, SECONDS, AT(finished, duration),
	       "Duration of the collector's last run in seconds."),
	METRIC(JOB, "rdma_collector_age_seconds", GAUGE, SECONDS, GET(age),
	       "Age in seconds of the collector's newest data when the snapshot was taken."),
	METRIC(JOB, "rdma_collector_stalled_seconds", GAUGE, SECONDS, GET(stalled),
	       "Time in seconds that the collector's current run has lasted if it is past its "
	       "deadline, 0 otherwise."),
	METRIC(JOB, "rdma_collector_errors_total", COUNTER, PLAIN, EACH(errors, "reason"),
	       "Failed reads and failed runs of the collector, by reason."),
};

static const struct rna_family agent_rows[] = {
	METRIC(NODE, "rdma_agent_build_info", INFO, PLAIN, GET(rna_family_one),
	       "Version of the agent."),
	METRIC(NODE, "rdma_agent_start_time_seconds", GAUGE, SECONDS,
	       AT(view, agent.started.realtime),
	       "Unix time of the agent's start."),
	METRIC(NODE, "rdma_agent_snapshots_total", COUNTER, PLAIN, AT(view, agent.snapshots),
	       "Snapshots published by the agent."),
	METRIC(NODE, "rdma_agent_events_total", COUNTER, PLAIN, EACH(events, "source"),
	       "Kernel events received, by source."),
	METRIC(NODE, "rdma_agent_event_overruns_total", COUNTER, PLAIN,
	       EACH(event_overruns, "source"),
	       "Times the kernel dropped events and the agent read everything again, by source."),
	METRIC(NODE, "rdma_agent_event_latency_seconds", HISTOGRAM, SECONDS,
	       EACH(event_latency, "source"),
	       "Time in seconds from a kernel event to the snapshot with the data read because of "
	       "it."),
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
	       "reason."),
};

static const struct rna_family process_rows[] = {
	METRIC(NODE, "process_cpu_seconds_total", COUNTER, SECONDS, AT(process, cpu),
	       "User and system CPU time of the agent in seconds."),
	METRIC(NODE, "process_resident_memory_bytes", GAUGE, BYTES, AT(process, resident_memory),
	       "Resident memory of the agent in bytes."),
	METRIC(NODE, "process_virtual_memory_bytes", GAUGE, BYTES, AT(process, virtual_memory),
	       "Virtual memory of the agent in bytes."),
	METRIC(NODE, "process_open_fds", GAUGE, PLAIN, AT(process, open_fds),
	       "Open file descriptors of the agent."),
	METRIC(NODE, "process_max_fds", GAUGE, PLAIN, AT(process, max_fds),
	       "Largest number of file descriptors that the agent may open."),
	METRIC(NODE, "process_threads", GAUGE, PLAIN, AT(process, threads),
	       "Threads of the agent."),
	METRIC(NODE, "process_start_time_seconds", GAUGE, SECONDS, AT(view, agent.started.realtime),
	       "Unix time of the agent's start."),
};
/* clang-format on */

const struct rna_family_table rna_job_table = {ROWS(job_rows)};
const struct rna_family_table rna_agent_table = {ROWS(agent_rows)};
const struct rna_family_table rna_process_table = {ROWS(process_rows)};
