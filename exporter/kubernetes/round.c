// SPDX-License-Identifier: Apache-2.0
#include "round.h"

#include <string.h>

#include "applied.h"
#include "tasks.h"

static rna_kube_task_function *const tasks[RNA_KUBE_TASK_COUNT] = {
	[RNA_KUBE_TASK_LOOK] = rna_kube_look,
	[RNA_KUBE_TASK_LABELS] = rna_kube_send_labels,
	[RNA_KUBE_TASK_CONDITIONS] = rna_kube_send_conditions,
	[RNA_KUBE_TASK_TAINT] = rna_kube_send_taint,
	[RNA_KUBE_TASK_DEVICES] = rna_kube_send_devices,
	[RNA_KUBE_TASK_EVENTS] = rna_kube_send_events,
};

bool rna_kube_is_behind(const struct rna_kube_round *round)
{
	return round->wish && (rna_kube_labels_behind(round) || rna_kube_conditions_behind(round) ||
			       rna_kube_taint_behind(round) || rna_kube_devices_behind(round) ||
			       rna_kube_has_events(round));
}

void rna_kube_open(struct rna_kube_round *round, const struct rna_pace_due *due)
{
	struct rna_kube_job *jobs = round->jobs;
	bool again = !round->ignored; /* what is nothing is written once */

	jobs[RNA_KUBE_TASK_LOOK].open |= due->look;
	jobs[RNA_KUBE_TASK_LABELS].open |= (due->change && rna_kube_labels_behind(round)) ||
					   (again && due->resync && rna_kube_has_labels(round));
	jobs[RNA_KUBE_TASK_CONDITIONS].open |=
		(due->change && rna_kube_conditions_behind(round)) ||
		(again && (due->resync || due->heartbeat) && rna_kube_has_conditions(round));
	jobs[RNA_KUBE_TASK_TAINT].open |= due->change && rna_kube_taint_behind(round);
	/* The devices of a driver that was started again may have other names. */
	jobs[RNA_KUBE_TASK_DEVICES].open |= (due->change && rna_kube_devices_behind(round)) ||
					    (again && due->look && rna_kube_has_devices(round));
	jobs[RNA_KUBE_TASK_EVENTS].open |= due->change && rna_kube_has_events(round);
}

static rna_usec job_time(const struct rna_kube_round *round, const struct rna_kube_job *job)
{
	if (!job->open)
		return RNA_USEC_NEVER;
	return job->wait.until > round->wait.until ? job->wait.until : round->wait.until;
}

rna_usec rna_kube_next(const struct rna_kube_round *round)
{
	rna_usec next = RNA_USEC_NEVER;

	for (size_t i = 0; i < RNA_KUBE_TASK_COUNT; i++)
		if (job_time(round, &round->jobs[i]) < next)
			next = job_time(round, &round->jobs[i]);
	return next;
}

/* Is it only this that is refused, or is there no talking to the API? */
static bool is_refusal(enum rna_kubernetes_result result)
{
	return result == RNA_KUBERNETES_FORBIDDEN || result == RNA_KUBERNETES_REFUSED;
}

static void forget_problem(struct rna_kube_round *round, unsigned of)
{
	if (round->problem_of == of)
		free(RNA_TAKE(round->problem));
}

/*
 * A problem is reported when it occurs a second time, with its first text: a restarting API server
 * denies everything for a moment, and times in texts differ. It stays until it is resolved or
 * replaced by another; then problems of other tasks are reported.
 */
static void note_problem(struct rna_kube_round *round, unsigned of, const struct rna_wait *wait,
			 const struct rna_kube_answer *answer, struct rna_time now)
{
	bool whole = of == RNA_KUBE_TASK_COUNT;
	/* of the API's troubles one may follow the other, only ours with tokens is another thing */
	unsigned kind =
		whole ? answer->result == RNA_KUBERNETES_UNAUTHORIZED : answer->reply.status;

	if (wait->failures < 2)
		return;
	if (round->problem && round->problem_of != of && !whole)
		return;
	if (round->problem && round->problem_of == of && round->problem_kind == kind)
		return;
	free(round->problem);
	round->problem = strdup(answer->error.text);
	round->problem_of = of;
	round->problem_kind = kind;
	round->problem_since = now;
}

/* It answers, be it with a refusal. */
static void note_answer(struct rna_kube_round *round)
{
	round->wait = (struct rna_wait){0};
	forget_problem(round, RNA_KUBE_TASK_COUNT);
}

static void note_success(struct rna_kube_round *round, unsigned task)
{
	note_answer(round);
	round->jobs[task] = (struct rna_kube_job){0};
	forget_problem(round, task);
}

/* Returns whether the round may go on. */
static bool note_failure(struct rna_kube_round *round, unsigned task,
			 const struct rna_kube_answer *answer, struct rna_time now)
{
	struct rna_wait *wait = &round->jobs[task].wait;

	if (is_refusal(answer->result)) {
		note_answer(round);
		rna_wait_longer(wait, RNA_WAIT_REFUSED, 0, &round->random, now.monotonic);
		note_problem(round, task, wait, answer, now);
		if (answer->result == RNA_KUBERNETES_FORBIDDEN)
			round->failing_access = rna_kube_access_stamp(round->api.options);
		return true;
	}
	wait = &round->wait;
	rna_wait_longer(wait, RNA_WAIT_LONGEST, answer->reply.retry_after, &round->random,
			now.monotonic);
	note_problem(round, RNA_KUBE_TASK_COUNT, wait, answer, now);
	round->failing_access =
		answer->reply.retry_after > 0 ? 0 : rna_kube_access_stamp(round->api.options);
	return false;
}

void rna_kube_notice_access(struct rna_kube_round *round)
{
	uint64_t stamp = round->failing_access ? rna_kube_access_stamp(round->api.options) : 0;

	if (stamp == round->failing_access)
		return;
	round->failing_access = stamp;
	round->wait = (struct rna_wait){0};
	for (size_t i = 0; i < RNA_KUBE_TASK_COUNT; i++)
		round->jobs[i].wait = (struct rna_wait){0};
}

static bool has_failures(const struct rna_kube_round *round)
{
	for (size_t i = 0; i < RNA_KUBE_TASK_COUNT; i++)
		if (round->jobs[i].wait.failures > 0)
			return true;
	return round->wait.failures > 0;
}

/* Waits count from the answer, which may have been long in coming. */
static struct rna_time later(const struct rna_kube_round *round)
{
	rna_usec passed = rna_usec_since(round->began, rna_clock_monotonic());

	return (struct rna_time){round->now.monotonic + passed, round->now.realtime + passed};
}

void rna_kube_run(struct rna_kube_round *round, struct rna_time now)
{
	bool goes_on = true;

	round->now = now;
	round->began = rna_clock_monotonic();
	for (unsigned i = 0; goes_on && i < RNA_KUBE_TASK_COUNT; i++) {
		RNA_KUBE_ANSWER struct rna_kube_answer answer = RNA_KUBE_ANSWER_INIT;

		if (job_time(round, &round->jobs[i]) > now.monotonic)
			continue;
		if (tasks[i](round, &answer, now) == RNA_KUBERNETES_OK)
			note_success(round, i);
		else
			goes_on = note_failure(round, i, &answer, later(round));
	}
	if (!has_failures(round))
		round->failing_access = 0;
	rna_kube_disconnect(&round->api);
}

void rna_kube_want(const struct rna_kube_round *round, struct rna_pace *pace, rna_usec now)
{
	struct rna_pace_news news;

	if (!rna_kube_is_behind(round)) {
		rna_pace_forget(pace);
		return;
	}
	news.urgent = rna_kube_is_urgent(round);
	news.first = rna_kube_is_first(round);
	rna_pace_want(pace, news, now);
}

bool rna_kube_step(struct rna_kube_round *round, struct rna_pace *pace, struct rna_time now)
{
	struct rna_pace_due due = rna_pace_due(pace, now.monotonic);

	rna_pace_begin(pace, &due, now.monotonic);
	rna_kube_open(round, &due);
	if (rna_kube_next(round) > now.monotonic)
		return false;
	rna_kube_run(round, now);
	return true;
}

rna_usec rna_kube_wake_time(const struct rna_kube_round *round, const struct rna_pace *pace)
{
	rna_usec paced = rna_pace_next(pace), open = rna_kube_next(round);

	return paced < open ? paced : open;
}

void rna_kube_round_deinit(struct rna_kube_round *round)
{
	rna_kube_disconnect(&round->api);
	rna_kube_drop_events(round);
	rna_strbuf_deinit(&round->labels);
	rna_strbuf_deinit(&round->conditions);
	rna_strbuf_deinit(&round->devices);
	(void)rna_arena_free(round->label_arena);
	(void)rna_arena_free(round->node_arena);
	free(round->reverted);
	free(round->problem);
}
