// SPDX-License-Identifier: Apache-2.0
/*
 * The command selftest: asks the running agent to test ports now; if none runs, tests them itself.
 * A lock ensures that two tests never run at the same time, see
 * collectors/loopback/loopback_child.c.
 */
#include <errno.h>
#include <systemd/sd-event.h>

#include "rna/exporter.h"

#include "selftest/selftest_schedule.h"

#include "commands.h"
#include "control_client.h"
#include "once.h"

static const enum rna_option_id option_ids[RNA_SELFTEST_OPTION_COUNT] = {
	[RNA_SELFTEST_OPTION_DEVICE] = RNA_OPTION_DEVICE,
	[RNA_SELFTEST_OPTION_GPU] = RNA_OPTION_GPU,
	[RNA_SELFTEST_OPTION_NUMA] = RNA_OPTION_NUMA,
	[RNA_SELFTEST_OPTION_SIZE] = RNA_OPTION_SIZE,
	[RNA_SELFTEST_OPTION_QPS] = RNA_OPTION_QPS,
	[RNA_SELFTEST_OPTION_DURATION] = RNA_OPTION_DURATION,
	[RNA_SELFTEST_OPTION_FORCE] = RNA_OPTION_FORCE,
};

/* -- By the agent ------------------------------------------------------------------------------ */

static int ask(const struct rna_call *call, const char *const *values, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf request = RNA_STRBUF_INIT;

	rna_strbuf_puts(&request, "selftest\n");
	for (size_t i = 0; i < RNA_SELFTEST_OPTION_COUNT; i++)
		if (values[i])
			rna_strbuf_printf(&request, "%s=%s\n", rna_selftest_option_keys[i],
					  values[i]);
	if (call->arguments.options[RNA_OPTION_JSON])
		rna_strbuf_puts(&request, "json=\n");
	if (!rna_strbuf_ok(&request))
		return rna_error_set(error, -ENOMEM, "self-test");
	return rna_control_show(call->settings.control_socket, request.data, error);
}

/* -- Alone ------------------------------------------------------------------------------------- */

struct alone {
	bool json, done;
	int status; /* the exit code, or negative errno with error */
	struct rna_error *error;
};

static void show_progress(const struct rna_selftest_run *run, void *userdata)
{
	RNA_STRBUF struct rna_strbuf line = RNA_STRBUF_INIT;

	(void)userdata;
	rna_selftest_describe(run, &line);
	if (rna_strbuf_ok(&line))
		rna_output_progress(line.data, line.len);
}

static void show_results(const struct rna_selftest_run *runs, size_t count, void *userdata)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct alone *alone = userdata;

	rna_output_progress("", 0);
	rna_write_selftest(runs, count, alone->json, &out);
	alone->status = rna_output_strbuf(&out, alone->error);
	if (alone->status == 0)
		alone->status = (int)rna_selftest_sum_up(runs, count);
	alone->done = true;
}

/* As the agent does it, in a loop that ends with the tests. */
static int run(struct alone *alone, const struct rna_view *view,
	       const struct rna_settings *settings, const struct rna_selftest_options *options)
{
	const struct rna_selftest_listener listener = {show_progress, show_results, alone};
	struct rna_selftest *selftest = NULL;
	sd_event *event = NULL;
	int status = sd_event_new(&event);

	if (status >= 0)
		selftest = rna_selftest_new(event, settings, NULL, NULL);
	if (selftest) {
		rna_selftest_follow(selftest, view);
		status = rna_selftest_demand(selftest, options, &listener, alone->error);
	} else {
		status = rna_error_set(alone->error, -ENOMEM, "self-test");
	}
	while (status >= 0 && !alone->done)
		status = sd_event_run(event, UINT64_MAX);
	(void)rna_selftest_free(selftest);
	(void)sd_event_unref(event);
	return status < 0 ? status : alone->status;
}

static int test(struct rna_call *call, const struct rna_selftest_options *options,
		struct rna_error *error)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	RNA_ONCE struct rna_once once = {0};
	struct alone alone = {.json = call->arguments.options[RNA_OPTION_JSON] != NULL,
			      .error = error};
	int status;

	/* its own: rna_once_poll() takes over those of the call */
	status = rna_config_load(call->config, &settings, NULL, error);
	if (status == 0)
		status = rna_once_poll(call, &once, error);
	return status == 0 ? run(&alone, once.view, &settings, options) : status;
}

static bool is_agent_absent(int status)
{
	return status == -ENOENT || status == -ECONNREFUSED;
}

int rna_command_selftest(struct rna_call *call, struct rna_error *error)
{
	const char *values[RNA_SELFTEST_OPTION_COUNT];
	struct rna_selftest_options options;
	int status;

	for (size_t i = 0; i < RNA_SELFTEST_OPTION_COUNT; i++)
		values[i] = call->arguments.options[option_ids[i]];
	if (rna_selftest_options_parse(values, &options, error) < 0)
		return RNA_EXIT_USAGE;
	status = ask(call, values, error);
	if (!is_agent_absent(status))
		return status;
	*error = (struct rna_error){0}; /* without an agent, the command tests by itself */
	return test(call, &options, error);
}
