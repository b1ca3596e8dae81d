// SPDX-License-Identifier: Apache-2.0
/*
 * The command selftest: tests ports at once, by itself. Two tests never run at a time, whoever
 * runs them: the children hold a lock, see collectors/loopback_gate.c.
 */
#include "commands.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "duration.h"
#include "once.h"
#include "rna/exporter.h"
#include "rna/parse.h"
#include "selftest_run.h"

enum { SELFTEST_OK, SELFTEST_WARNING, SELFTEST_FAILED, SELFTEST_UNKNOWN };

/* ---- what is wanted -------------------------------------------------------------------------- */

static int take_number(const struct rna_call *call, enum rna_option_id id, unsigned least,
		       unsigned most, unsigned *ret, struct rna_error *error)
{
	const char *text = call->arguments.options[id];
	uint64_t number;

	if (!text)
		return 0;
	if (rna_parse_u64(text, &number) < 0 || number < least || number > most)
		return rna_error_say(error, -EINVAL, "--%s: \"%s\" is no number from %u to %u",
				     rna_options[id].name, text, least, most);
	*ret = (unsigned)number;
	return 0;
}

static int take_duration(const struct rna_call *call, rna_usec *ret, struct rna_error *error)
{
	const char *text = call->arguments.options[RNA_OPTION_DURATION];

	if (!text)
		return 0;
	if (rna_duration_parse(text, ret) < 0 || *ret == 0 || *ret > 60 * RNA_USEC_PER_SEC)
		return rna_error_say(error, -EINVAL,
				     "--duration: \"%s\" is no duration up to 1m, such as 500ms",
				     text);
	return 0;
}

static int take_wish(const struct rna_call *call, struct rna_selftest_wish *ret,
		     struct rna_error *error)
{
	const char *const *options = call->arguments.options;
	unsigned node = UINT_MAX;
	int status;

	*ret = (struct rna_selftest_wish){
		.device = options[RNA_OPTION_DEVICE],
		.gpu = options[RNA_OPTION_GPU],
		.force = options[RNA_OPTION_FORCE],
	};
	status = take_number(call, RNA_OPTION_NUMA, 0, 1023, &node, error);
	if (status == 0)
		status = take_number(call, RNA_OPTION_SIZE, 64, 8 << 20, &ret->size, error);
	if (status == 0)
		status = take_number(call, RNA_OPTION_QPS, 1, RNA_LOOPBACK_QPS_MAX, &ret->qps,
				     error);
	if (status == 0)
		status = take_duration(call, &ret->duration, error);
	ret->numa_node = node == UINT_MAX ? -1 : (int)node;
	return status;
}

/* ---- progress -------------------------------------------------------------------------------- */

#define ERASE_LINE "\r\033[K"

struct progress {
	const struct rna_selftest_runs *runs;
	bool shown; /* stderr is a terminal */
};

static void show_progress(const struct rna_selftest_run *run, void *userdata)
{
	const struct progress *progress = userdata;

	if (progress->shown)
		(void)fprintf(stderr, ERASE_LINE "%zu of %zu: %s/%u, %s memory ...",
			      (size_t)(run - progress->runs->items) + 1, progress->runs->count,
			      run->request.device, run->request.port,
			      rna_endpoint_name(run->request.endpoint));
}

static void end_progress(const struct progress *progress)
{
	if (progress->shown)
		(void)fputs(ERASE_LINE, stderr);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int sum_up(const struct rna_selftest_runs *runs)
{
	bool seen[RNA_VERDICT_COUNT] = {false}, done = false;

	for (size_t i = 0; i < runs->count; i++) {
		seen[runs->items[i].verdict] = true;
		done |= runs->items[i].result.end == RNA_LOOPBACK_DONE;
	}
	if (seen[RNA_VERDICT_FAILED])
		return SELFTEST_FAILED;
	if (seen[RNA_VERDICT_WARNING])
		return SELFTEST_WARNING;
	return done ? SELFTEST_OK : SELFTEST_UNKNOWN;
}

static int write_runs(const struct rna_call *call, const struct rna_selftest_runs *runs,
		      struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	if (call->arguments.options[RNA_OPTION_JSON])
		rna_write_selftest_json(runs->items, runs->count, &out);
	else
		rna_write_selftest_table(runs->items, runs->count, &out);
	return rna_output_strbuf(&out, error);
}

int rna_command_selftest(struct rna_call *call, struct rna_error *error)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	RNA_CLEANUP(rna_selftest_runs_deinit) struct rna_selftest_runs runs = {0};
	struct progress progress = {.runs = &runs, .shown = isatty(STDERR_FILENO)};
	RNA_ONCE struct rna_once once = {0};
	struct rna_selftest_wish wish;
	int status;

	if (call->arguments.options[RNA_OPTION_ROOT])
		return rna_error_say(error, -EINVAL,
				     "--root: only devices of this node can be tested");
	status = take_wish(call, &wish, error);
	if (status == 0) /* rna_once_poll() takes over those of the call */
		status = rna_config_load(call->config, &settings, error);
	if (status == 0)
		status = rna_once_poll(call, &once, error);
	if (status == 0)
		status = rna_selftest_plan(once.view, &settings, &wish, &runs, error);
	if (status == 0)
		status = rna_selftest_run_all(&runs, &settings, show_progress, &progress, error);
	end_progress(&progress);
	if (status == 0)
		status = write_runs(call, &runs, error);
	return status < 0 ? status : sum_up(&runs);
}
