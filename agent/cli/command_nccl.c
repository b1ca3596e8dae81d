// SPDX-License-Identifier: Apache-2.0
/* The command nccl: poll once and write the environment that NCCL needs on this node. */
#include <errno.h>
#include <string.h>

#include "rna/base/log.h"
#include "rna/exporter.h"

#include "once.h"

const char *const rna_nccl_forms[] = {
	[RNA_NCCL_SHELL] = "shell", [RNA_NCCL_ENV] = "env",       [RNA_NCCL_YAML] = "yaml",
	[RNA_NCCL_JSON] = "json",   [RNA_NCCL_FORM_COUNT] = NULL,
};

/* Names the reason that left out most ports, and the first of them, so that it stays short. */
static int fail_without_port(const struct rna_nccl_advice *advice, struct rna_error *error)
{
	const struct rna_nccl_left_out *most = advice->left_out;

	if (advice->left_out_count == 0)
		return rna_error_say(error, -ENODEV,
				     "no port for NCCL: this node has no RDMA port");
	for (size_t i = 1; i < advice->left_out_count; i++)
		if (advice->left_out[i].count > most->count)
			most = &advice->left_out[i];
	return rna_error_say(error, -ENODEV, "no port for NCCL: %s%s (%s); status shows all ports",
			     most->ports[0], most->count > 1 ? " and others" : "", most->reason);
}

/* Do values of this collector decide about the variables? */
static bool is_needed(enum rna_collector_id id)
{
	switch (id) {
	case RNA_COLLECTOR_STATE:
	case RNA_COLLECTOR_IDENTITY:
	case RNA_COLLECTOR_LINK:
	case RNA_COLLECTOR_GIDS:
	case RNA_COLLECTOR_QOS:
	case RNA_COLLECTOR_NETDEV:
	case RNA_COLLECTOR_TOPOLOGY:
		return true;
	default:
		return false;
	}
}

static void warn_of_values(const struct rna_job_status *job)
{
	for (unsigned reason = 0; reason < RNA_REASON_COUNT; reason++)
		if (job->errors[reason] > 0)
			rna_log_warning("%s: collector %s could not read %ju value%s (%s): the "
					"variables may leave out ports",
					job->device, job->name, (uintmax_t)job->errors[reason],
					job->errors[reason] == 1 ? "" : "s",
					rna_reason_name(reason));
}

/*
 * A comment of the output says which port was left out and why, but a shell that evaluates it shows
 * no comments. A collector that failed has had a line in the log.
 */
static void warn_of_reads(const struct rna_view *view)
{
	for (size_t i = 0; i < view->job_count; i++)
		if (view->jobs[i].success && is_needed(view->jobs[i].collector))
			warn_of_values(&view->jobs[i]);
}

int rna_command_nccl(struct rna_call *call, struct rna_error *error)
{
	const char *format = call->arguments.options[RNA_OPTION_FORMAT];
	const struct rna_nccl_environment given = {
		.gid_index = getenv("NCCL_IB_GID_INDEX"),
		.addr_family = getenv("NCCL_IB_ADDR_FAMILY"),
		.addr_range = getenv("NCCL_IB_ADDR_RANGE"),
		.roce_version = getenv("NCCL_IB_ROCE_VERSION_NUM"),
		.flid_index = getenv("NCCL_IB_ROUTABLE_FLID_GID_INDEX"),
		.topo_file = getenv("NCCL_TOPO_FILE"),
	};
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_ONCE struct rna_once once = {0};
	struct rna_nccl_advice advice;
	enum rna_nccl_form form = 0;
	int ret;

	ret = rna_once_poll(call, &once, error);
	if (ret < 0)
		return ret;
	warn_of_reads(once.view);
	ret = arena ? rna_nccl_advise(once.view, &given, arena, &advice) : -ENOMEM;
	if (ret < 0)
		return rna_error_set(error, ret, "cannot write the output");
	if (advice.port_count == 0)
		return fail_without_port(&advice, error);
	while (strcmp(rna_nccl_forms[form], format) != 0)
		form++;
	rna_write_nccl(&advice, form, &text);
	return rna_output_strbuf(&text, error);
}
