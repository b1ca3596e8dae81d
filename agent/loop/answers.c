// SPDX-License-Identifier: Apache-2.0
#include "answers.h"

#include <errno.h>
#include <stdlib.h>

/* -- Selftest ---------------------------------------------------------------------------------- */

static void tell_progress(const struct rna_selftest_run *run, void *userdata)
{
	RNA_STRBUF struct rna_strbuf line = RNA_STRBUF_INIT;

	rna_selftest_describe(run, &line);
	if (rna_strbuf_ok(&line))
		rna_control_send(userdata, RNA_CONTROL_PROGRESS, line.data, line.len);
}

static void tell_results(const struct rna_selftest_run *runs, size_t count, void *userdata)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_control_call *call = userdata;

	rna_write_selftest(runs, count, rna_control_value(call, "json"), &text);
	if (rna_strbuf_ok(&text))
		rna_control_send(call, RNA_CONTROL_OUTPUT, text.data, text.len);
	rna_control_exit(call, (int)rna_selftest_sum_up(runs, count));
}

static void answer_selftest(struct rna_control_call *call, void *userdata)
{
	const struct rna_answers *answers = userdata;
	const struct rna_selftest_listener listener = {tell_progress, tell_results, call};
	const char *values[RNA_SELFTEST_OPTION_COUNT];
	struct rna_selftest_options options;
	struct rna_error error = {0};
	int status;

	for (size_t i = 0; i < RNA_SELFTEST_OPTION_COUNT; i++)
		values[i] = rna_control_value(call, rna_selftest_option_keys[i]);
	status = rna_selftest_options_parse(values, &options, &error);
	if (status == 0)
		status = rna_selftest_demand(answers->selftest, &options, &listener, &error);
	if (status < 0)
		rna_control_fail(call, &error);
}

static void forget_selftest(struct rna_control_call *call, void *userdata)
{
	const struct rna_answers *answers = userdata;

	rna_selftest_forget(answers->selftest, call);
}

/* -- Bandwidth --------------------------------------------------------------------------------- */

static void tell_measurement(const struct rna_bandwidth_test *test, void *userdata)
{
	RNA_STRBUF struct rna_strbuf line = RNA_STRBUF_INIT;

	rna_strbuf_printf(&line, "%s/%u with %s %s/%u ...", test->device, test->port, test->peer,
			  test->peer_device, test->peer_port);
	if (rna_strbuf_ok(&line))
		rna_control_send(userdata, RNA_CONTROL_PROGRESS, line.data, line.len);
}

static void tell_measurements(const struct rna_measure_runs *runs, void *userdata)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_FREE struct rna_bandwidth_test *tests = calloc(runs->count, sizeof(*tests));
	struct rna_control_call *call = userdata;

	for (size_t i = 0; tests && i < runs->count; i++)
		tests[i] = runs->items[i].test;
	rna_write_bandwidth(tests, tests ? runs->count : 0, rna_control_value(call, "json"), &text);
	if (rna_strbuf_ok(&text))
		rna_control_send(call, RNA_CONTROL_OUTPUT, text.data, text.len);
	rna_control_exit(call, (int)rna_measure_sum_up(runs));
}

static void answer_bandwidth(struct rna_control_call *call, void *userdata)
{
	const struct rna_answers *answers = userdata;
	const struct rna_measuring_listener listener = {tell_measurement, tell_measurements, call};
	const char *target = rna_control_value(call, "target");
	struct rna_error error = {0};
	int status = -EINVAL;

	if (target)
		status = rna_measuring_demand(answers->measuring, target, &listener, &error);
	else
		(void)rna_error_say(&error, status, "the request names no node");
	if (status < 0)
		rna_control_fail(call, &error);
}

static void forget_bandwidth(struct rna_control_call *call, void *userdata)
{
	const struct rna_answers *answers = userdata;

	rna_measuring_forget(answers->measuring, call);
}

/* -- Quiesce and resume ------------------------------------------------------------------------ */

static void say(struct rna_control_call *call, const char *what, const char *reason)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_strbuf_printf(&text, "%s%s%s\n", what, reason ? ": " : "", reason ? reason : "");
	if (rna_strbuf_ok(&text))
		rna_control_send(call, RNA_CONTROL_OUTPUT, text.data, text.len);
	rna_control_exit(call, 0);
}

static void tell_quiesced(int status, const struct rna_error *error, void *userdata)
{
	struct rna_control_call *call = userdata;

	if (status < 0)
		rna_control_fail(call, error);
	else
		say(call, "quiesced, nothing of the RDMA stack is open", NULL);
}

static void answer_quiesce(struct rna_control_call *call, void *userdata)
{
	const struct rna_answers *answers = userdata;
	struct rna_error error = {0};
	const char *wanted = rna_control_value(call, "timeout");
	rna_usec timeout = answers->settings->quiesce_timeout;
	int status = wanted ? rna_quiesce_read_timeout(wanted, &timeout, &error) : 0;

	if (status == 0) {
		rna_quiesce_ask(answers->quiesce, timeout);
		status = rna_quiesce_wait(answers->quiesce, tell_quiesced, call);
		if (status < 0)
			(void)rna_error_set(&error, status,
					    "quiesced, but cannot wait until nothing is open");
	}
	if (status < 0)
		rna_control_fail(call, &error);
}

static void forget_quiesce(struct rna_control_call *call, void *userdata)
{
	const struct rna_answers *answers = userdata;

	rna_quiesce_forget(answers->quiesce, call);
}

static void answer_resume(struct rna_control_call *call, void *userdata)
{
	const struct rna_answers *answers = userdata;
	const char *reason;

	rna_quiesce_resume(answers->quiesce);
	reason = rna_quiesce_reason(answers->quiesce);
	say(call, reason ? "still quiesced" : "resumed", reason);
}

/* -- Check ------------------------------------------------------------------------------------- */

static void answer_check(struct rna_control_call *call, void *userdata)
{
	const struct rna_http_source *source = &((const struct rna_answers *)userdata)->source;
	const struct rna_view *view = source->view(source->userdata);
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_error error = {0};

	if (view)
		rna_write_findings(view, &text);
	if (text.data && rna_strbuf_ok(&text)) {
		rna_control_send(call, RNA_CONTROL_OUTPUT, text.data, text.len);
		rna_control_exit(call, 0);
		return;
	}
	(void)rna_error_say(&error, -EAGAIN,
			    view ? "not enough memory" : "the first snapshot is not complete yet");
	rna_control_fail(call, &error);
}

const struct rna_control_command rna_answers[] = {
	{"bandwidth", answer_bandwidth, forget_bandwidth}, {"check", answer_check, NULL},
	{"quiesce", answer_quiesce, forget_quiesce},       {"resume", answer_resume, NULL},
	{"selftest", answer_selftest, forget_selftest},    {NULL, NULL, NULL},
};
