// SPDX-License-Identifier: Apache-2.0
#include "round.h"

#include <string.h>

/*
 * The table. has: is there anything to say? It is behind if its text is not the one that the API
 * took last, or if the API lacks it otherwise. again: it is written anew when these are due.
 */
static const struct {
	rna_kube_task_function *send;
	bool (*has)(const struct rna_kube_round *round);
	void (*write)(const struct rna_kube_words *words, struct rna_strbuf *out);
	bool (*lacks)(const struct rna_kube_round *round);
	unsigned again;
} tasks[RNA_KUBE_TASK_COUNT] = {
	[RNA_KUBE_TASK_LOOK] = {.send = rna_kube_look},
	[RNA_KUBE_TASK_LABELS] = {rna_kube_send_labels, rna_kube_has_labels,
				  .write = rna_kube_write_labels, .again = RNA_PACE_RESYNC},
	[RNA_KUBE_TASK_CONDITIONS] = {rna_kube_send_conditions, rna_kube_has_conditions,
				      .write = rna_kube_write_conditions,
				      .again = RNA_PACE_RESYNC | RNA_PACE_HEARTBEAT},
	/* It is renewed, or asked for again, with each look. */
	[RNA_KUBE_TASK_PERMIT] = {rna_kube_take_permit, rna_kube_has_permit,
				  .lacks = rna_kube_lacks_permit, .again = RNA_PACE_LOOK},
	[RNA_KUBE_TASK_TAINT] = {rna_kube_send_taint, rna_kube_has_taint,
				 .lacks = rna_kube_lacks_taint},
	[RNA_KUBE_TASK_PERMIT_BACK] = {rna_kube_return_permit, rna_kube_has_permit,
				       .lacks = rna_kube_keeps_permit},
	/* The devices of a driver that was started again may have other names. */
	[RNA_KUBE_TASK_DEVICES] = {rna_kube_send_devices, rna_kube_has_devices,
				   .write = rna_kube_write_devices, .lacks = rna_kube_lacks_devices,
				   .again = RNA_PACE_LOOK},
	[RNA_KUBE_TASK_EVENTS] = {rna_kube_send_events, rna_kube_has_events,
				  .lacks = rna_kube_has_events},
};

/* -- Comparing --------------------------------------------------------------------------------- */

struct rna_kube_words rna_kube_words_of(const struct rna_kube_round *round)
{
	return (struct rna_kube_words){round->api.node, round->desired, &round->node};
}

static bool has_data(const struct rna_kube_round *round, enum rna_kube_task task)
{
	return tasks[task].has && tasks[task].has(round);
}

static bool has_other_text(const struct rna_kube_round *round, enum rna_kube_task task)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_kube_words words = rna_kube_words_of(round);
	const struct rna_strbuf *written = &round->written[task];

	if (!tasks[task].write)
		return false;
	tasks[task].write(&words, &text);
	return !rna_strbuf_ok(written) || written->len != text.len ||
	       memcmp(written->data, text.data, text.len) != 0;
}

bool rna_kube_is_task_behind(const struct rna_kube_round *round, enum rna_kube_task task)
{
	return has_data(round, task) &&
	       ((tasks[task].lacks && tasks[task].lacks(round)) || has_other_text(round, task));
}

bool rna_kube_is_behind(const struct rna_kube_round *round)
{
	for (enum rna_kube_task i = 0; i < RNA_KUBE_TASK_COUNT; i++)
		if (rna_kube_is_task_behind(round, i))
			return true;
	return false;
}

/*
 * Is there something that a resync writes, and that was never written or refused? What the API
 * refuses is never written, and must not make all later changes first ones.
 */
static bool is_first(const struct rna_kube_round *round)
{
	for (enum rna_kube_task i = 0; i < RNA_KUBE_TASK_COUNT; i++)
		if (tasks[i].again & RNA_PACE_RESYNC && has_data(round, i) &&
		    round->written[i].len == 0 && round->waits[i].failures == 0)
			return true;
	return false;
}

static bool is_urgent(const struct rna_kube_round *round)
{
	return rna_kube_is_task_behind(round, RNA_KUBE_TASK_PERMIT) ||
	       rna_kube_is_task_behind(round, RNA_KUBE_TASK_TAINT) ||
	       rna_kube_is_task_behind(round, RNA_KUBE_TASK_DEVICES) ||
	       rna_kube_lacks_urgent_label(round);
}

static void remember(struct rna_kube_round *round, enum rna_kube_task task)
{
	const struct rna_kube_words words = rna_kube_words_of(round);

	if (!has_data(round, task))
		return;
	round->status.backends[RNA_NODE_BACKEND_API].written = round->now.realtime;
	round->written[task].len = 0;
	if (tasks[task].write)
		tasks[task].write(&words, &round->written[task]);
}

void rna_kube_forget_written(struct rna_kube_round *round)
{
	for (enum rna_kube_task i = 0; i < RNA_KUBE_TASK_COUNT; i++) {
		if (!tasks[i].write)
			continue;
		round->written[i].len = 0;
		round->open[i] = has_data(round, i);
	}
}

/* -- Waits and problems ------------------------------------------------------------------------ */

/* Of a task, or of the API as a whole. */
static void note_success(struct rna_kube_round *round, unsigned of)
{
	round->waits[of] = (struct rna_wait){0};
	if (round->problem_of == of)
		free(RNA_TAKE(round->problem));
}

/*
 * A problem is reported when it occurs a second time, with its first text: a restarting API server
 * denies everything for a moment, and times in texts differ. It stays until it is resolved or
 * replaced by another; then problems of other tasks are reported.
 */
static void note_problem(struct rna_kube_round *round, unsigned of,
			 const struct rna_kube_answer *answer)
{
	bool whole = of == RNA_KUBE_TASK_COUNT;
	/* of the API's troubles one may follow the other, only ours with tokens is another thing */
	unsigned kind =
		whole ? answer->result == RNA_KUBERNETES_UNAUTHORIZED : answer->reply.status;

	if (round->waits[of].failures < 2)
		return;
	if (round->problem && round->problem_of != of && !whole)
		return;
	if (round->problem && round->problem_of == of && round->problem_kind == kind)
		return;
	free(round->problem);
	round->problem = strdup(answer->error.text);
	round->problem_of = of;
	round->problem_kind = kind;
}

/* Waits count from the answer, which may have been long in coming. */
static void note_failure(struct rna_kube_round *round, unsigned task,
			 const struct rna_kube_answer *answer)
{
	rna_usec now = round->now.monotonic + rna_usec_since(round->began, rna_clock_monotonic());
	rna_usec retry_after = answer->reply.retry_after;
	bool refusal = rna_kube_is_refusal(answer->result);
	unsigned of = refusal ? task : RNA_KUBE_TASK_COUNT;

	if (refusal)
		note_success(round, RNA_KUBE_TASK_COUNT); /* it answers */
	rna_wait_longer(&round->waits[of], refusal ? RNA_WAIT_REFUSED : RNA_WAIT_LONGEST,
			refusal ? 0 : retry_after, &round->pace.random, now);
	note_problem(round, of, answer);
	if (!refusal && retry_after > 0)
		round->failing_access = 0;
	else if (answer->result != RNA_KUBERNETES_REFUSED)
		round->failing_access = rna_kube_access_stamp(round->api.options);
}

static bool has_failures(const struct rna_kube_round *round)
{
	return RNA_ANY(i, RNA_ARRAY_SIZE(round->waits), round->waits[i].failures > 0);
}

void rna_kube_notice_access(struct rna_kube_round *round)
{
	uint64_t stamp = round->failing_access ? rna_kube_access_stamp(round->api.options) : 0;

	if (stamp == round->failing_access)
		return;
	round->failing_access = stamp;
	memset(round->waits, 0, sizeof(round->waits));
}

/* -- Running ----------------------------------------------------------------------------------- */

/* When a task that is open may be tried; RNA_USEC_NEVER: it is not. */
static rna_usec try_time(const struct rna_kube_round *round, enum rna_kube_task task)
{
	rna_usec own = round->waits[task].until, whole = round->waits[RNA_KUBE_TASK_COUNT].until;

	if (!round->open[task])
		return RNA_USEC_NEVER;
	return own > whole ? own : whole;
}

static rna_usec first_try_time(const struct rna_kube_round *round)
{
	rna_usec first = RNA_USEC_NEVER;

	for (enum rna_kube_task i = 0; i < RNA_KUBE_TASK_COUNT; i++)
		if (try_time(round, i) < first)
			first = try_time(round, i);
	return first;
}

/* Does the open tasks that may be tried. */
static void run_open(struct rna_kube_round *round, struct rna_time now)
{
	bool goes_on = true;

	round->now = now;
	round->began = rna_clock_monotonic();
	for (enum rna_kube_task i = 0; goes_on && i < RNA_KUBE_TASK_COUNT; i++) {
		RNA_KUBE_ANSWER struct rna_kube_answer answer = RNA_KUBE_ANSWER_INIT;

		if (try_time(round, i) > now.monotonic)
			continue;
		if (tasks[i].send(round, &answer) == RNA_KUBERNETES_OK) {
			remember(round, i);
			round->open[i] = false;
			note_success(round, RNA_KUBE_TASK_COUNT);
			note_success(round, i);
		} else {
			note_failure(round, i, &answer);
			goes_on = rna_kube_is_refusal(answer.result);
		}
	}
	if (!has_failures(round))
		round->failing_access = 0;
	rna_kube_disconnect(&round->api);
}

/* What is nothing, because the Node is ignored, is written once. */
static void open_due(struct rna_kube_round *round, unsigned due)
{
	round->open[RNA_KUBE_TASK_LOOK] |= (due & (RNA_PACE_LOOK | RNA_PACE_GLANCE)) != 0;
	for (enum rna_kube_task i = 0; i < RNA_KUBE_TASK_COUNT; i++)
		round->open[i] |=
			(due & RNA_PACE_CHANGE && rna_kube_is_task_behind(round, i)) ||
			(due & tasks[i].again && !round->status.ignored && has_data(round, i));
}

static bool keeps_pods_away(const struct rna_kube_round *round)
{
	return round->node.tainted || round->status.device_taints > 0;
}

bool rna_kube_step(struct rna_kube_round *round, struct rna_time now)
{
	bool runs;

	round->now = now;
	if (rna_kube_is_behind(round))
		rna_pace_want(&round->pace, is_urgent(round), is_first(round), now.monotonic);
	else
		rna_pace_forget(&round->pace);
	open_due(round, rna_pace_take(&round->pace, now.monotonic));
	runs = first_try_time(round) <= now.monotonic;
	if (runs)
		run_open(round, now);
	rna_pace_glance(&round->pace, keeps_pods_away(round), now.monotonic);
	return runs;
}

rna_usec rna_kube_wake_time(const struct rna_kube_round *round)
{
	rna_usec paced = rna_pace_next(&round->pace), open = first_try_time(round);

	return paced < open ? paced : open;
}

bool rna_kube_do_all(struct rna_kube_round *round, struct rna_time now)
{
	for (enum rna_kube_task i = 0; i < RNA_KUBE_TASK_COUNT; i++)
		round->open[i] = i == RNA_KUBE_TASK_LOOK ? !round->cleanup : has_data(round, i);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(round->waits); i++)
		round->waits[i].failures = 1; /* a problem is reported at once */
	run_open(round, now);
	return first_try_time(round) == RNA_USEC_NEVER;
}

/* -- Beginning and end ------------------------------------------------------------------------- */

void rna_kube_round_init(struct rna_kube_round *round, const struct rna_kubernetes_options *options,
			 uint64_t seed)
{
	*round = (struct rna_kube_round){.api = {.options = options, .node = options->node}};
	rna_pace_init(&round->pace, options, seed);
}

void rna_kube_round_deinit(struct rna_kube_round *round)
{
	rna_kube_disconnect(&round->api);
	rna_kube_drop_events(round);
	for (size_t i = 0; i < RNA_KUBE_TASK_COUNT; i++)
		rna_strbuf_deinit(&round->written[i]);
	rna_kube_node_deinit(&round->answered);
	rna_kube_node_deinit(&round->node);
	free(round->reverted);
	free(round->problem);
}
