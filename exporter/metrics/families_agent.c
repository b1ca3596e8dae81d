// SPDX-License-Identifier: Apache-2.0
/* Metrics of the agent itself: its collectors, settings, events, and what it costs. */
#include "families_agent.h"

#include "families_parts.h"

/* -- Collectors -------------------------------------------------------------------------------- */

struct rna_value rna_family_success(const struct rna_subject *job)
{
	return job->job->ran ? rna_family_yes_or_no(job->job->success) : rna_no_value;
}

struct rna_value rna_family_duration(const struct rna_subject *job)
{
	return job->job->ran ? rna_value_ok(job->job->duration) : rna_no_value;
}

/* Against the time of the snapshot: the same view gives the same bytes at any time. */
static rna_usec since(const struct rna_subject *job, rna_usec then)
{
	return rna_usec_since(then, job->view->snapshot->time.monotonic);
}

struct rna_value rna_family_age(const struct rna_subject *job)
{
	return job->job->taken ? rna_value_ok(since(job, job->job->taken)) : rna_no_value;
}

struct rna_value rna_family_stalled(const struct rna_subject *job)
{
	return rna_value_ok(job->job->stalled ? since(job, job->job->stalled) : 0);
}

void rna_family_errors(const struct rna_subject *job, struct rna_writer *writer)
{
	for (enum rna_reason reason = 0; reason < RNA_REASON_COUNT; reason++)
		if (job->job->errors[reason] > 0)
			rna_writer_sample_with(writer, job->labels, "reason",
					       rna_reason_name(reason), job->job->errors[reason]);
}

/* -- Work -------------------------------------------------------------------------------------- */

struct rna_value rna_family_start_time(const struct rna_subject *node)
{
	return rna_value_ok(node->view->agent.started.realtime);
}

struct rna_value rna_family_snapshots(const struct rna_subject *node)
{
	return rna_value_ok(node->view->agent.snapshots);
}

struct rna_value rna_family_lanes(const struct rna_subject *node)
{
	return rna_value_ok(node->view->agent.lanes);
}

struct rna_value rna_family_lanes_stalled(const struct rna_subject *node)
{
	return rna_value_ok(node->view->agent.lanes_stalled);
}

void rna_family_seccomp(const struct rna_subject *node, struct rna_writer *writer)
{
	const char *filter = node->view->agent.seccomp;

	if (filter)
		rna_writer_sample_with(writer, node->labels, "filter", filter, 1);
}

struct rna_value rna_family_quiesced(const struct rna_subject *node)
{
	return rna_family_yes_or_no(node->view->agent.quiesced);
}

struct rna_value rna_family_config_ok(const struct rna_subject *node)
{
	return rna_family_yes_or_no(!node->view->agent.config_error);
}

struct rna_value rna_family_config_loaded(const struct rna_subject *node)
{
	return rna_value_ok(node->view->agent.config_loaded);
}

struct rna_value rna_family_web_ok(const struct rna_subject *node)
{
	const struct rna_web_status *web = &node->view->agent.web;

	return web->used ? rna_family_yes_or_no(web->ok) : rna_no_value;
}

struct rna_value rna_family_web_loaded(const struct rna_subject *node)
{
	const struct rna_web_status *web = &node->view->agent.web;

	return web->used ? rna_value_ok(web->loaded) : rna_no_value;
}

struct rna_value rna_family_certificate_end(const struct rna_subject *node)
{
	const struct rna_web_status *web = &node->view->agent.web;

	return web->used && web->certificate_end > 0 ? rna_value_ok(web->certificate_end)
						     : rna_no_value;
}

void rna_family_logins(const struct rna_subject *node, struct rna_writer *writer)
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

void rna_family_events(const struct rna_subject *node, struct rna_writer *writer)
{
	write_counts(node, RNA_SOURCE_RTNETLINK, offsetof(struct rna_source_account, events),
		     writer);
}

void rna_family_event_overruns(const struct rna_subject *node, struct rna_writer *writer)
{
	write_counts(node, RNA_SOURCE_RTNETLINK, offsetof(struct rna_source_account, overruns),
		     writer);
}

void rna_family_changes(const struct rna_subject *node, struct rna_writer *writer)
{
	write_counts(node, RNA_SOURCE_POLL, offsetof(struct rna_source_account, changes), writer);
}

void rna_family_event_latency(const struct rna_subject *node, struct rna_writer *writer)
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

struct rna_value rna_family_process_cpu(const struct rna_subject *node)
{
	return node->process ? rna_value_ok(node->process->cpu) : rna_no_value;
}

RNA_FAMILY_MEMBER(process_resident_memory, process, resident_memory)
RNA_FAMILY_MEMBER(process_virtual_memory, process, virtual_memory)
RNA_FAMILY_MEMBER(process_open_fds, process, open_fds)
RNA_FAMILY_MEMBER(process_max_fds, process, max_fds)
RNA_FAMILY_MEMBER(process_threads, process, threads)
