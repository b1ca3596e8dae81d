// SPDX-License-Identifier: Apache-2.0
/*
 * The command doctor: tries what the agent takes of this node, row by row of agent/doctor/needs.c.
 *
 * Each attempt runs in a process of its own, which may hang and may change itself; one that does
 * not end costs its row only. The devices are those that the collector presence finds.
 */
#include <errno.h>

#include "rna/model/device_filter.h"

#include "commands.h"
#include "doctor_report.h"
#include "trial.h"

struct job {
	const struct rna_need *need;
	const char *root;
	struct rna_need_input in;
};

/* In the child, which has no descriptors of the command: it opens the root anew. */
static int try_need(void *userdata, struct rna_strbuf *ret, struct rna_error *error)
{
	struct job *job = userdata;
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	int status = rna_root_open(job->root, &root, error);

	if (status < 0)
		return status;
	backends = rna_backends_new(root);
	if (!backends)
		return rna_error_set(error, -ENOMEM, "%s", job->need->name);
	job->in.attempt.root = root;
	job->in.attempt.backends = backends;
	return rna_need_try(job->need, &job->in, ret, error);
}

static const char *describe_failure(int status, const struct rna_error *error,
				    const struct rna_settings *settings, struct rna_arena *arena)
{
	if (status == -ETIMEDOUT && error->code == 0)
		return rna_arena_printf(arena, "no answer within %llu ms",
					(unsigned long long)(settings->poll_deadline /
							     RNA_USEC_PER_MSEC));
	return rna_arena_strdup(arena, error->text);
}

/* That nothing uses it is said in front: what the attempt showed then is of no effect. */
static const char *describe(const struct rna_need_result *result, int status, const char *found,
			    const struct rna_settings *settings, struct rna_arena *arena)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (result->state != RNA_NEED_UNUSED || status == RNA_ATTEMPT_NOTHING)
		return found;
	rna_need_write_unused(result->need, settings, &text);
	rna_strbuf_printf(&text, " (%s)", found);
	return rna_strbuf_ok(&text) ? rna_arena_strdup(arena, text.data) : NULL;
}

static void examine(struct job *job, struct rna_arena *arena, struct rna_need_result *result)
{
	const struct rna_settings *settings = job->in.settings;
	RNA_STRBUF struct rna_strbuf found = RNA_STRBUF_INIT;
	struct rna_error error = {0};
	const char *text;
	int status;

	job->need = result->need;
	status = rna_trial_run(try_need, job, rna_clock_monotonic() + settings->poll_deadline,
			       &found, &error);
	result->state = rna_need_judge(result->need, status, settings);
	text = status < 0 ? describe_failure(status, &error, settings, arena)
			  : rna_arena_strdup(arena, found.data ? found.data : "");
	result->text = text ? describe(result, status, text, settings, arena) : NULL;
}

/* -- Devices ----------------------------------------------------------------------------------- */

/* The part of presence; NULL: it cannot be read, which the attempts say. */
static struct rna_part *find_devices(const struct rna_root *root,
				     const struct rna_settings *settings)
{
	const struct rna_collector *collector = rna_collectors;
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = rna_backends_new(root);
	RNA_CLEANUP(rna_device_filter_unref_p)
	struct rna_device_filter *filter =
		rna_device_filter_new(settings->devices_include, settings->devices_exclude);
	const struct rna_collect_input in = {.root = root, .backends = backends, .filter = filter};
	struct rna_part *part = NULL;
	struct rna_error ignored;

	while (collector->lists != RNA_LISTS_DEVICES)
		collector++;
	if (!backends || !filter || collector->collect(&in, &part, &ignored) < 0)
		return NULL;
	return part;
}

/* -- The command ------------------------------------------------------------------------------- */

static int examine_all(struct job *job, struct rna_arena *arena, struct rna_doctor *doctor,
		       struct rna_error *error)
{
	struct rna_need_result *results = rna_arena_array(arena, rna_need_count, sizeof(*results));

	if (!results)
		return rna_error_set(error, -ENOMEM, "doctor");
	doctor->results = results;
	for (size_t i = 0; i < rna_need_count; i++) {
		results[i].need = &rna_needs[i];
		results[i].state = RNA_NEED_UNKNOWN;
		results[i].text = "a recording cannot show it";
		if (!doctor->recording || rna_needs[i].by_files)
			examine(job, arena, &results[i]);
		if (!results[i].text)
			return rna_error_set(error, -ENOMEM, "doctor");
	}
	doctor->count = rna_need_count;
	return 0;
}

static int write_report(const struct rna_doctor *doctor, bool json, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int status;

	if (json)
		rna_doctor_write_json(doctor, &text);
	else
		rna_doctor_write_text(doctor, &text);
	status = rna_output_strbuf(&text, error);
	if (status < 0)
		return status;
	return rna_doctor_count(doctor, RNA_NEED_LOST) > 0 ||
			       rna_doctor_count(doctor, RNA_NEED_UNKNOWN) > 0
		       ? RNA_EXIT_FAILURE
		       : RNA_EXIT_SUCCESS;
}

int rna_command_doctor(struct rna_call *call, struct rna_error *error)
{
	const char *path = call->arguments.options[RNA_OPTION_ROOT];
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(8192);
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *presence = NULL;
	struct rna_doctor doctor = {.settings = &call->settings};
	struct job job = {
		.root = path,
		.in = {.settings = &call->settings,
		       .attempt.kernel_log =
			       (enum rna_kernel_log_setting)call->settings.kernel_log_source},
	};
	int status = rna_root_open(path, &root, error);

	if (status < 0)
		return status;
	if (!arena || rna_doctor_read_facts(root, arena, &doctor.facts) < 0)
		return rna_error_set(error, -ENOMEM, "doctor");
	doctor.recording = rna_root_is_live(root) ? NULL : rna_root_path(root);
	presence = find_devices(root, &call->settings);
	job.in.attempt.presence = (const struct rna_presence *)presence;
	status = examine_all(&job, arena, &doctor, error);
	return status < 0 ? status
			  : write_report(&doctor, call->arguments.options[RNA_OPTION_JSON], error);
}
