// SPDX-License-Identifier: Apache-2.0
/*
 * The command mesh: asks a Prometheus for what the agents of all nodes export about probes, and
 * shows which part of the fabric is to blame (mesh/blame.h). The questions are those of
 * mesh/fleets.c, one request each.
 */
#include <errno.h>

#include "mesh/fleets.h"

#include "client.h"
#include "commands.h"
#include "mesh_report.h"

/* Prometheus ends queries after two minutes by default; the largest here take seconds. */
#define PROMETHEUS_DEADLINE (60 * RNA_USEC_PER_SEC)

static int take(const char *data, size_t len, void *userdata, struct rna_error *error)
{
	return rna_fleets_read(userdata, data, len, error);
}

static int ask(const struct rna_client_far *prometheus, size_t number, const char *job,
	       struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf query = RNA_STRBUF_INIT;
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;
	RNA_STRBUF struct rna_strbuf rest = RNA_STRBUF_INIT;
	int status;

	rna_fleets_query(number, job, &query);
	rna_strbuf_puts(&path, "/api/v1/query?query=");
	if (rna_strbuf_ok(&query))
		rna_strbuf_add_encoded(&path, query.data);
	if (!rna_strbuf_ok(&query) || !rna_strbuf_ok(&path))
		return rna_error_set(error, -ENOMEM, "mesh");
	rna_fleets_begin(prometheus->userdata, number);
	status = rna_client_ask_far(prometheus, path.data, &rest, error);
	if (status < 0)
		return status;
	status = rna_fleets_end(prometheus->userdata, error);
	return status < 0 ? rna_error_prefix(error, "%s", prometheus->options[prometheus->url]) : 0;
}

static int ask_all(const struct rna_call *call, struct rna_fleets *ret, struct rna_error *error)
{
	const char *const *options = call->arguments.options;
	RNA_CLEANUP(rna_fleets_reader_free_p)
	struct rna_fleets_reader *reader = rna_fleets_reader_new();
	const struct rna_client_far prometheus = {
		.options = options,
		.url = RNA_OPTION_PROMETHEUS,
		.service = "a Prometheus",
		.deadline = PROMETHEUS_DEADLINE,
		.reply_max = RNA_FLEETS_ANSWER_MAX,
		.compressed = true,
		.json_errors = true,
		.take = take,
		.userdata = reader,
	};
	int status = reader ? 0 : rna_error_set(error, -ENOMEM, "mesh");

	for (size_t i = 0; status == 0 && i < rna_fleets_query_count; i++)
		status = ask(&prometheus, i, options[RNA_OPTION_JOB], error);
	if (status < 0)
		return status;
	status = rna_fleets_make(reader, options[RNA_OPTION_GROUP], ret);
	if (status == -E2BIG)
		return rna_error_say(error, status,
				     "too many jobs and groups; choose by --job and --group");
	return status < 0 ? rna_error_set(error, status, "mesh") : 0;
}

int rna_command_mesh(struct rna_call *call, struct rna_error *error)
{
	const char *const *options = call->arguments.options;
	RNA_CLEANUP(rna_fleets_deinit) struct rna_fleets fleets = {0};
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int status, state;

	status = ask_all(call, &fleets, error);
	if (status < 0)
		return status;
	state = rna_mesh_report(&fleets, options[RNA_OPTION_JSON], &text);
	if (state < 0)
		return rna_error_set(error, state, "mesh");
	status = rna_output_strbuf(&text, error);
	return status < 0 ? status : state;
}
