// SPDX-License-Identifier: Apache-2.0
/* Metrics of the agent itself: its collectors, settings, events, and what it costs. */
#include "family_rows.h"

/* -- Collectors -------------------------------------------------------------------------------- */

static struct rna_value success(const struct rna_subject *job)
{
	return job->job->ran ? rna_family_yes_or_no(job->job->success) : rna_no_value;
}

static struct rna_value duration(const struct rna_subject *job)
{
	return job->job->ran ? rna_value_ok(job->job->duration) : rna_no_value;
}

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

static struct rna_value quiesced(const struct rna_subject *node)
{
	return rna_family_yes_or_no(node->view->agent.quiesced);
}

static struct rna_value config_ok(const struct rna_subject *node)
{
	return rna_family_yes_or_no(!node->view->agent.config_error);
}

static struct rna_value web_ok(const struct rna_subject *node)
{
	const struct rna_web_status *web = &node->view->agent.web;

	return web->used ? rna_family_yes_or_no(web->ok) : rna_no_value;
}

static struct rna_value web_loaded(const struct rna_subject *node)
{
	const struct rna_web_status *web = &node->view->agent.web;

	return web->used ? rna_value_ok(web->loaded) : rna_no_value;
}

static struct rna_value certificate_end(const struct rna_subject *node)
{
	const struct rna_web_status *web = &node->view->agent.web;

	return web->used && web->certificate_end > 0 ? rna_value_ok(web->certificate_end)
						     : rna_no_value;
}

static void logins(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_web_status *web = &node->view->agent.web;

	for (enum rna_login login = 0; web->used && login < RNA_LOGIN_COUNT; login++)
		rna_writer_sample_with(writer, node->labels, "result", rna_login_name(login),
				       web->logins[login]);
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
	METRIC(JOB, "rdma_collector_success", GAUGE, YES_NO, GET(success),
	       "Whether the last run of the collector succeeded, as it does where there is nothing for it to "
	       "read, or (module) no right to; what is of the whole node has the device node."),
	METRIC(JOB, "rdma_collector_duration_seconds", GAUGE, SECONDS, GET(duration),
	       "How long the last run of the collector took."),
	METRIC(JOB, "rdma_collector_age_seconds", GAUGE, SECONDS, GET(age),
	       "Age of the newest data of the collector when the snapshot was taken."),
	METRIC(JOB, "rdma_collector_stalled_seconds", GAUGE, SECONDS, GET(stalled),
	       "How long a run of the collector has gone without an answer, once it is past its deadline; "
	       "else 0."),
	METRIC(JOB, "rdma_collector_errors_total", COUNTER, PLAIN, EACH(errors, "reason"),
	       "Values and runs of the collector that failed."),
};

static const struct rna_family agent_rows[] = {
	METRIC(NODE, "rdma_agent_build_info", INFO, PLAIN, GET(rna_family_one),
	       "Version of the agent."),
	METRIC(NODE, "rdma_agent_start_time_seconds", GAUGE, SECONDS,
	       AT(view, agent.started.realtime),
	       "When the agent started, since the epoch."),
	METRIC(NODE, "rdma_agent_snapshots_total", COUNTER, PLAIN, AT(view, agent.snapshots),
	       "Snapshots that the agent published."),
	METRIC(NODE, "rdma_agent_events_total", COUNTER, PLAIN, EACH(events, "source"),
	       "Events received from the kernel, whatever they were about."),
	METRIC(NODE, "rdma_agent_event_overruns_total", COUNTER, PLAIN,
	       EACH(event_overruns, "source"),
	       "Times when the kernel dropped events and everything was read again."),
	METRIC(NODE, "rdma_agent_event_latency_seconds", HISTOGRAM, SECONDS,
	       EACH(event_latency, "source"),
	       "Time from an event to the snapshot with what was read for it."),
	METRIC(NODE, "rdma_agent_changes_total", COUNTER, PLAIN, EACH(changes, "source"),
	       "Changes of port states, by what showed them first."),
	METRIC(NODE, "rdma_agent_lanes", GAUGE, PLAIN, AT(view, agent.lanes),
	       "Worker threads that read hardware."),
	METRIC(NODE, "rdma_agent_lanes_stalled", GAUGE, PLAIN, AT(view, agent.lanes_stalled),
	       "Worker threads that are held by a run past its deadline."),
	METRIC(NODE, "rdma_agent_quiesced", GAUGE, YES_NO, GET(quiesced),
	       "Whether the agent keeps its hands off the RDMA stack, because drivers are being changed."),
	METRIC(NODE, "rdma_agent_seccomp_info", INFO, PLAIN, EACH(seccomp, "filter"),
	       "Which filter of system calls the agent has: own, inherited (of systemd or a container) or none."),
	METRIC(NODE, "rdma_agent_config_last_reload_successful", GAUGE, YES_NO, GET(config_ok),
	       "Whether the configuration was good when it was read last."),
	METRIC(NODE, "rdma_agent_config_last_reload_success_timestamp_seconds", GAUGE, SECONDS,
	       AT(view, agent.config_loaded),
	       "When the configuration in use was read, since the epoch."),
	METRIC(NODE, "rdma_agent_web_config_last_reload_successful", GAUGE, YES_NO, GET(web_ok),
	       "Whether the newest content of the web configuration and its files is the one in use."),
	METRIC(NODE, "rdma_agent_web_config_last_reload_success_timestamp_seconds", GAUGE, SECONDS,
	       GET(web_loaded),
	       "When the web configuration in use was read, since the epoch."),
	METRIC(NODE, "rdma_agent_tls_certificate_not_after_timestamp_seconds", GAUGE, SECONDS,
	       GET(certificate_end),
	       "When the certificate of the agent's own HTTPS ends, since the epoch."),
	METRIC(NODE, "rdma_agent_http_logins_total", COUNTER, PLAIN, EACH(logins, "result"),
	       "Requests with a name and a password, by what came of them."),
};

static const struct rna_family process_rows[] = {
	METRIC(NODE, "process_cpu_seconds_total", COUNTER, SECONDS, AT(process, cpu),
	       "User and system time of the agent."),
	METRIC(NODE, "process_resident_memory_bytes", GAUGE, BYTES, AT(process, resident_memory),
	       "Resident memory of the agent."),
	METRIC(NODE, "process_virtual_memory_bytes", GAUGE, BYTES, AT(process, virtual_memory),
	       "Virtual memory of the agent."),
	METRIC(NODE, "process_open_fds", GAUGE, PLAIN, AT(process, open_fds),
	       "Open file descriptors of the agent."),
	METRIC(NODE, "process_max_fds", GAUGE, PLAIN, AT(process, max_fds),
	       "Most file descriptors that the agent may open."),
	METRIC(NODE, "process_threads", GAUGE, PLAIN, AT(process, threads),
	       "Threads of the agent."),
	METRIC(NODE, "process_start_time_seconds", GAUGE, SECONDS, AT(view, agent.started.realtime),
	       "When the agent started, since the epoch."),
};
/* clang-format on */

const struct rna_family_table rna_job_table = {ROWS(job_rows)};
const struct rna_family_table rna_agent_table = {ROWS(agent_rows)};
const struct rna_family_table rna_process_table = {ROWS(process_rows)};
