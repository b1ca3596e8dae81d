// SPDX-License-Identifier: Apache-2.0
/*
 * The command check: the health of this node, for people and for systems that act on it.
 *
 * Monitoring systems ask the agent that runs here, and want to hear that it does not. Schedulers
 * want to hear of the node, soon and whatever happens: for them the command asks the agent, by its
 * control socket or else by HTTP, and if there is no answer in time looks at the devices by itself,
 * once. With --once or --root it always does. A single look cannot know which counters rise and
 * since when.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/duration.h"
#include "rna/base/log.h"
#include "rna/base/words.h"
#include "rna/check.h"
#include "rna/exporter.h"

#include "check_nodes.h"
#include "client.h"
#include "commands.h"
#include "control_client.h"
#include "once.h"
#include "trial.h"

/*
 * For schedulers, which start jobs when the answer is there: Prolog delays each job. The agent
 * answers within milliseconds, or not at all.
 */
#define SCHEDULERS_DEADLINE (900 * RNA_USEC_PER_MSEC)
#define DEADLINE_MIN        (100 * RNA_USEC_PER_MSEC)
#define DEADLINE_MAX        (3600 * RNA_USEC_PER_SEC)

enum {
	AGENT_SHARE = 3, /* a third of the time is for the agent's answer */
	LOOK_SHARE = 60, /* per cent of the rest are for devices, the rest for judging them */
	HANDOVERS = 4,   /* lanes that a deadline is enough for, if each is handed over */
};

struct check {
	struct rna_call *call;
	enum rna_check_form form;
	bool once;
	rna_usec start; /* monotonic */
	rna_usec until; /* monotonic; 0: there is no deadline */
	/* In a child it is never freed: that waits for a thread that a driver keeps in the kernel.
	 */
	struct rna_once polled;
	struct rna_strbuf json;
	struct rna_arena *arena;
	struct rna_check result; /* its texts are in arena */
};

static void deinit_check(struct check *check)
{
	rna_once_deinit(&check->polled);
	rna_strbuf_deinit(&check->json);
	(void)rna_arena_free(check->arena);
}

/* -- What is wanted ---------------------------------------------------------------------------- */

static enum rna_check_form find_form(const struct rna_arguments *arguments)
{
	const char *name = arguments->options[RNA_OPTION_FORMAT];

	for (enum rna_check_form form = 0; name && form < RNA_CHECK_FORM_COUNT; form++)
		if (strcmp(name, rna_check_forms[form]) == 0)
			return form;
	return RNA_CHECK_NAGIOS;
}

static bool is_for_schedulers(enum rna_check_form form)
{
	return form != RNA_CHECK_NAGIOS && form != RNA_CHECK_JSON;
}

/* Of another node only its agent knows something. */
static bool is_far(const struct check *check)
{
	return check->call->arguments.options[RNA_OPTION_URL];
}

static int find_deadline(struct check *check, struct rna_error *error)
{
	const char *text = check->call->arguments.options[RNA_OPTION_DEADLINE];
	rna_usec deadline = is_for_schedulers(check->form) ? SCHEDULERS_DEADLINE : 0;

	if (text && (rna_duration_parse(text, &deadline) < 0 || deadline < DEADLINE_MIN ||
		     deadline > DEADLINE_MAX))
		return rna_error_say(
			error, -EINVAL,
			"--deadline: %.*s is not a duration from 100ms to 1h, such as 900ms",
			RNA_SHOWN(text));
	check->until = deadline > 0 ? check->start + deadline : 0;
	return 0;
}

static int check_options(struct check *check, struct rna_error *error)
{
	const char *const *options = check->call->arguments.options;

	if (options[RNA_OPTION_NODES] && options[RNA_OPTION_ROOT])
		return rna_error_say(error, -EINVAL, "--nodes excludes --root");
	if (options[RNA_OPTION_NODES] && is_for_schedulers(check->form))
		return rna_error_say(error, -EINVAL,
				     "--nodes excludes --format=%s, which is about one node",
				     rna_check_forms[check->form]);
	return find_deadline(check, error);
}

/* -- The agent --------------------------------------------------------------------------------- */

/* The control socket has no login and needs no library; only root and the agent's user may ask. */
static int ask_by_socket(const struct rna_settings *settings, struct rna_strbuf *ret)
{
	const struct rna_control_reader reader = {.output = ret};
	struct rna_error ignored = {0}; /* HTTP is asked next, and its error is shown */

	return settings->control_socket[0]
		       ? rna_control_ask(settings->control_socket, "check\n", &reader, &ignored)
		       : -ENOENT;
}

static int ask(void *userdata, struct rna_strbuf *ret, struct rna_error *error)
{
	const struct check *check = userdata;

	if (is_for_schedulers(check->form) && !is_far(check) &&
	    ask_by_socket(&check->call->settings, ret) == 0)
		return 0;
	rna_strbuf_deinit(ret);
	return rna_client_get(check->call, "/api/v1/findings", ret, error);
}

/* -- A look of one's own ----------------------------------------------------------------------- */

/* A device that does not answer counts as stalled while there is still time to report it. */
static void hurry(const struct check *check, struct rna_settings *settings)
{
	rna_usec left = rna_usec_since(rna_clock_monotonic(), check->until) * LOOK_SHARE / 100;

	if (check->until == 0)
		return;
	if (settings->poll_deadline > left)
		settings->poll_deadline = left;
	if (settings->poll_handover > settings->poll_deadline / HANDOVERS)
		settings->poll_handover = settings->poll_deadline / HANDOVERS;
}

static int look(void *userdata, struct rna_strbuf *ret, struct rna_error *error)
{
	struct check *check = userdata;
	int status;

	hurry(check, &check->call->settings);
	status = rna_once_poll(check->call, &check->polled, error);
	if (status < 0)
		return status;
	if (check->polled.view->findings_short)
		return rna_error_set(error, -ENOMEM, "not enough memory to find all findings");
	rna_write_findings(check->polled.view, ret);
	return rna_strbuf_ok(ret) ? 0 : rna_error_set(error, -ENOMEM, "findings");
}

/* -- Both -------------------------------------------------------------------------------------- */

/* until: 0: without a deadline, and in this process. */
static int try_until(struct check *check, rna_trial *try, rna_usec until, struct rna_error *error)
{
	int status;

	rna_strbuf_deinit(&check->json);
	if (until == 0)
		return try(check, &check->json, error);
	status = rna_trial_run(try, check, until, &check->json, error);
	if (status != -ETIMEDOUT || error->code < 0)
		return status;
	return rna_error_say(error, status, "%s within %.1f s",
			     try == ask ? "the agent does not answer"
					: "the devices cannot be read",
			     rna_seconds(rna_usec_since(check->start, until)));
}

static int read_answer(struct check *check, struct rna_error *error)
{
	(void)rna_arena_free(check->arena);
	check->arena = rna_arena_new(check->json.len);
	return rna_check_answer_read(&check->json, check->arena, &check->result, error);
}

static int ask_agent(struct check *check, rna_usec until, struct rna_error *error)
{
	int status = try_until(check, ask, until, error);

	if (status == 0)
		status = read_answer(check, error);
	if (status == 0 && check->result.recording)
		rna_log_warning("the agent watches a recorded node: %s", check->result.recording);
	return status < 0 ? status
			  : rna_check_answer_is_new(&check->result, &check->call->settings,
						    is_far(check), error);
}

static int look_at_node(struct check *check, struct rna_error *error)
{
	int status;

	check->result.once = true;
	status = try_until(check, look, check->until, error);
	return status < 0 ? status : read_answer(check, error);
}

static int fill(struct check *check, struct rna_error *error)
{
	int status;

	if (check->once)
		return look_at_node(check, error);
	if (!is_for_schedulers(check->form) || is_far(check))
		return ask_agent(check, check->until, error);
	status =
		ask_agent(check, check->start + (check->until - check->start) / AGENT_SHARE, error);
	if (status == 0)
		return 0;
	*error = (struct rna_error){0}; /* the command looks by itself */
	return look_at_node(check, error);
}

/* -- Output ------------------------------------------------------------------------------------ */

static int put(const struct rna_check *result, enum rna_check_form form,
	       const struct rna_strbuf *json, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (form != RNA_CHECK_JSON)
		rna_write_check(result, form, rna_output_width(), &text);
	else if (result->failure)
		rna_write_check_failure(result->failure, &text);
	return rna_output_strbuf(text.data || text.failed ? &text : json, error);
}

int rna_command_check_fail(const struct rna_arguments *arguments, const struct rna_error *error)
{
	const struct rna_check result = {.failure = error->text};
	enum rna_check_form form = find_form(arguments);
	struct rna_error ignored = {0}; /* the exit code says it */

	(void)put(&result, form, NULL, &ignored);
	return rna_check_exit_code(&result, form);
}

int rna_command_check(struct rna_call *call, struct rna_error *error)
{
	const char *const *options = call->arguments.options;
	RNA_CLEANUP(deinit_check)
	struct check check = {
		.call = call,
		.form = find_form(&call->arguments),
		.once = options[RNA_OPTION_ONCE] || options[RNA_OPTION_ROOT],
		.start = rna_clock_monotonic(),
	};
	int status;

	if (check_options(&check, error) < 0)
		return RNA_EXIT_USAGE;
	if (options[RNA_OPTION_NODES])
		return rna_check_nodes(call, check.form == RNA_CHECK_JSON, check.until, error);
	status = fill(&check, error);
	check.result.url = options[RNA_OPTION_URL];
	if (status == 0)
		status = put(&check.result, check.form, &check.json, error);
	return status < 0 ? status : rna_check_exit_code(&check.result, check.form);
}
