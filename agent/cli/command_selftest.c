// SPDX-License-Identifier: Apache-2.0
/*
 * The command selftest: asks the running agent to test ports now; if none runs, tests them itself.
 * A lock ensures that two tests never run at the same time, see
 * collectors/loopback/loopback_child.c.
 */
#include <errno.h>

#include "rna/exporter.h"

#include "selftest/run.h"

#include "commands.h"
#include "control_client.h"
#include "once.h"

static const enum rna_option_id wish_options[RNA_WISH_COUNT] = {
	[RNA_WISH_DEVICE] = RNA_OPTION_DEVICE, [RNA_WISH_GPU] = RNA_OPTION_GPU,
	[RNA_WISH_NUMA] = RNA_OPTION_NUMA,     [RNA_WISH_SIZE] = RNA_OPTION_SIZE,
	[RNA_WISH_QPS] = RNA_OPTION_QPS,       [RNA_WISH_DURATION] = RNA_OPTION_DURATION,
	[RNA_WISH_FORCE] = RNA_OPTION_FORCE,
};

/* -- Progress ---------------------------------------------------------------------------------- */

static void show_progress(const struct rna_selftest_run *run, void *userdata)
{
	RNA_STRBUF struct rna_strbuf line = RNA_STRBUF_INIT;

	(void)userdata;
	rna_selftest_describe(run, &line);
	if (rna_strbuf_ok(&line))
		rna_output_progress(line.data, line.len);
}

/* -- By the agent ------------------------------------------------------------------------------ */

static int ask(const struct rna_call *call, const char *const *values, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf request = RNA_STRBUF_INIT;

	rna_strbuf_puts(&request, "selftest\n");
	for (size_t i = 0; i < RNA_WISH_COUNT; i++)
		if (values[i])
			rna_strbuf_printf(&request, "%s=%s\n", rna_wish_keys[i], values[i]);
	if (call->arguments.options[RNA_OPTION_JSON])
		rna_strbuf_puts(&request, "json=\n");
	if (!rna_strbuf_ok(&request))
		return rna_error_set(error, -ENOMEM, "self-test");
	return rna_control_show(call->settings.control_socket, request.data, error);
}

/* -- Alone ------------------------------------------------------------------------------------- */

static int write_runs(const struct rna_call *call, const struct rna_selftest_runs *runs,
		      struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	rna_write_selftest(runs->items, runs->count, call->arguments.options[RNA_OPTION_JSON],
			   &out);
	return rna_output_strbuf(&out, error);
}

static int test(struct rna_call *call, const struct rna_selftest_wish *wish,
		struct rna_error *error)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	RNA_CLEANUP(rna_selftest_runs_deinit) struct rna_selftest_runs runs = {0};
	RNA_ONCE struct rna_once once = {0};
	int status;

	/* its own: rna_once_poll() takes over those of the call */
	status = rna_config_load(call->config, &settings, NULL, error);
	if (status == 0)
		status = rna_once_poll(call, &once, error);
	if (status == 0)
		status = rna_selftest_plan(once.view, &settings, wish, &runs, error);
	if (status == 0)
		rna_selftest_run_all(&runs, &settings, show_progress, NULL);
	rna_output_progress("", 0);
	if (status == 0)
		status = write_runs(call, &runs, error);
	return status < 0 ? status : (int)rna_selftest_sum_up(runs.items, runs.count);
}

static bool is_agent_absent(int status)
{
	return status == -ENOENT || status == -ECONNREFUSED;
}

int rna_command_selftest(struct rna_call *call, struct rna_error *error)
{
	const char *values[RNA_WISH_COUNT];
	struct rna_selftest_wish wish;
	int status;

	if (call->arguments.options[RNA_OPTION_ROOT])
		return rna_error_say(error, -EINVAL,
				     "--root: the self-test only works with devices of this node");
	for (size_t i = 0; i < RNA_WISH_COUNT; i++)
		values[i] = call->arguments.options[wish_options[i]];
	status = rna_selftest_wish_parse(values, &wish, error);
	if (status < 0)
		return status;
	status = ask(call, values, error);
	if (!is_agent_absent(status))
		return status;
	*error = (struct rna_error){0}; /* without an agent, the command tests by itself */
	return test(call, &wish, error);
}
