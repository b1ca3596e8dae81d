// SPDX-License-Identifier: Apache-2.0
#include "applied.h"

#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"

#include "tasks.h"

#define MADE_ANEW_PAUSE (60 * RNA_USEC_PER_SEC)

enum { ARENA = 1024 }; /* a uid */

struct rna_kube_words rna_kube_words_of(const struct rna_kube_round *round)
{
	return (struct rna_kube_words){round->api.node, round->wish, &round->node};
}

/* An agent that does not know yet what to say leaves what is there. */
bool rna_kube_has_labels(const struct rna_kube_round *round)
{
	return round->wish && round->wish->labels_decided;
}

/*
 * Are conditions turned off, had the Node none of ours, and have we written none since? Then
 * nothing is written: who never had them need not have the right to. At the end of all no look is
 * good enough.
 */
bool rna_kube_is_without_conditions(const struct rna_kube_round *round)
{
	const char *const *types = round->api.options->condition_types;

	if (round->wish->condition_count > 0 || round->cleanup || !round->node.uid ||
	    round->conditions.len > 0)
		return false;
	while (*types && !rna_kube_condition_of(&round->node, *types))
		types++;
	return !*types;
}

bool rna_kube_has_conditions(const struct rna_kube_round *round)
{
	return round->wish && round->wish->conditions_decided &&
	       round->api.options->condition_types && !rna_kube_is_without_conditions(round);
}

/* At the end of all, taints of devices go that former settings asked for, too. */
bool rna_kube_has_devices(const struct rna_kube_round *round)
{
	return round->wish && (round->api.options->device_taint_effect || round->cleanup);
}

/* Nothing of what we wrote is there any more, or we do not know. */
void rna_kube_forget_written(struct rna_kube_round *round)
{
	round->labels.len = 0;
	round->conditions.len = 0;
	round->devices.len = 0;
	round->jobs[RNA_KUBE_TASK_LABELS].open = rna_kube_has_labels(round);
	round->jobs[RNA_KUBE_TASK_CONDITIONS].open = rna_kube_has_conditions(round);
	round->jobs[RNA_KUBE_TASK_DEVICES].open = rna_kube_has_devices(round);
}

void rna_kube_remember_body(struct rna_strbuf *place, const struct rna_strbuf *body)
{
	place->len = 0;
	rna_strbuf_add(place, body->data, body->len);
}

static bool is_body(const struct rna_strbuf *a, const struct rna_strbuf *b)
{
	return rna_strbuf_ok(a) && a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

const struct rna_node_wish rna_kube_nothing = {
	.labels_decided = true,
	.conditions_decided = true,
	.taint_decided = true,
	.device_taints_complete = true,
};

static void choose_wish(struct rna_kube_round *round)
{
	round->wish = round->ignored ? &rna_kube_nothing : round->given;
}

void rna_kube_take_wish(struct rna_kube_round *round, const struct rna_node_wish *wish)
{
	round->given = wish;
	choose_wish(round);
}

/* What goes, goes once: what others write from then on is theirs. */
void rna_kube_note_ignored(struct rna_kube_round *round, bool ignored)
{
	ignored &= !round->cleanup;
	if (ignored == round->ignored)
		return;
	round->ignored = ignored;
	rna_kube_drop_events(round);
	choose_wish(round);
	rna_kube_forget_written(round);
}

/* An answer to a write, or what is read before one, is not the time for it: the next look is. */
bool rna_kube_is_ignored_otherwise(struct rna_kube_round *round, const struct rna_kube_node *node)
{
	if (round->cleanup || node->ignored == round->ignored)
		return false;
	round->look_fresh = true;
	round->jobs[RNA_KUBE_TASK_LOOK].open = true;
	return true;
}

/*
 * A Node that was deleted and created again has none of our data. Its new uid is stored, so that
 * everything is written once; if that happens repeatedly, at a limited rate.
 */
void rna_kube_note_uid(struct rna_kube_round *round, const char *uid)
{
	static const unsigned tasks_of_it[] = {RNA_KUBE_TASK_LOOK, RNA_KUBE_TASK_LABELS,
					       RNA_KUBE_TASK_CONDITIONS};
	rna_usec from = round->made_anew > 0 ? round->made_anew + MADE_ANEW_PAUSE : 0;
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = NULL;
	const char *its;

	if (!round->node.uid || strcmp(round->node.uid, uid) == 0)
		return;
	arena = rna_arena_new(ARENA);
	its = arena ? rna_arena_strdup(arena, uid) : NULL;
	if (!its)
		return; /* noticed again with the next answer */
	(void)rna_arena_free(round->node_arena);
	round->node_arena = RNA_TAKE(arena);
	round->node = (struct rna_kube_node){.uid = its};
	round->made_anew = round->now.monotonic;
	round->look_fresh = true;
	rna_kube_forget_written(round);
	round->jobs[RNA_KUBE_TASK_LOOK].open = true;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(tasks_of_it); i++) {
		struct rna_wait *wait = &round->jobs[tasks_of_it[i]].wait;

		wait->until = wait->until > from ? wait->until : from;
	}
}

/*
 * What is answered to each write has the Node's labels, those of others as well: a driver upgrade
 * is known as often as conditions are renewed, and costs no request. Takes over the arena.
 */
void rna_kube_note_labels(struct rna_kube_round *round, const struct rna_kube_node *node,
			  struct rna_arena **arena)
{
	if (!round->node.uid)
		return; /* the first look has all of it */
	(void)rna_arena_free(round->label_arena);
	round->label_arena = RNA_TAKE(*arena);
	round->node.labels = node->labels;
	round->node.label_count = node->label_count;
}

/* -- What is behind ---------------------------------------------------------------------------- */

bool rna_kube_labels_behind(const struct rna_kube_round *round)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	const struct rna_kube_words words = rna_kube_words_of(round);

	if (!rna_kube_has_labels(round))
		return false;
	rna_kube_write_labels(&words, &body);
	return !is_body(&round->labels, &body);
}

bool rna_kube_conditions_behind(const struct rna_kube_round *round)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	const struct rna_kube_words words = rna_kube_words_of(round);

	if (!rna_kube_has_conditions(round))
		return false;
	rna_kube_write_conditions(&words, 0, &body);
	return !is_body(&round->conditions, &body);
}

/* A list that may lack devices, while a new one is still letting its links come up, is no news. */
bool rna_kube_devices_behind(const struct rna_kube_round *round)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;

	if (!rna_kube_has_devices(round))
		return false;
	rna_kube_write_devices(round->wish, &body);
	return !is_body(&round->devices, &body) ||
	       (round->wish->device_taints_complete && !round->devices_only);
}

/* A taint with another effect is from an agent with other settings. */
bool rna_kube_has_taint_as_wished(const struct rna_kube_round *round,
				  const struct rna_kube_node *node)
{
	return !node->tainted_formerly && (round->wish->taint ? node->tainted_so : !node->tainted);
}

bool rna_kube_has_taint(const struct rna_kube_round *round)
{
	const struct rna_kubernetes_options *options = round->api.options;

	return round->wish && round->wish->taint_decided &&
	       (options->taint_key || options->former_taints);
}

bool rna_kube_taint_behind(const struct rna_kube_round *round)
{
	return rna_kube_has_taint(round) && !rna_kube_has_taint_as_wished(round, &round->node);
}

static bool has_label(const struct rna_kube_node *node, const struct rna_node_label *label)
{
	const char *value = rna_kube_label_of(node, label->key);

	return !label->value || rna_same_text(value, label->value);
}

static bool is_urgent_label_behind(const struct rna_kube_round *round)
{
	const struct rna_node_wish *wish = round->wish;

	for (size_t i = 0; wish->labels_decided && i < wish->label_count; i++)
		if (wish->labels[i].urgent && !has_label(&round->node, &wish->labels[i]))
			return true;
	return false;
}

/* What the API refuses is never written, and must not make all later changes first ones. */
static bool is_to_begin(const struct rna_strbuf *written, const struct rna_kube_job *job)
{
	return written->len == 0 && job->wait.failures == 0;
}

bool rna_kube_is_first(const struct rna_kube_round *round)
{
	const struct rna_kube_job *jobs = round->jobs;

	return (rna_kube_has_labels(round) &&
		is_to_begin(&round->labels, &jobs[RNA_KUBE_TASK_LABELS])) ||
	       (rna_kube_has_conditions(round) &&
		is_to_begin(&round->conditions, &jobs[RNA_KUBE_TASK_CONDITIONS]));
}

bool rna_kube_is_urgent(const struct rna_kube_round *round)
{
	return rna_kube_taint_behind(round) || rna_kube_devices_behind(round) ||
	       (round->node.uid && is_urgent_label_behind(round));
}

/* Labels that were written since we began took the others away. */
bool rna_kube_former_is_gone(const struct rna_kube_round *round)
{
	return round->wish && round->labels.len > 0 && round->node.uid &&
	       round->wish->taint_decided && !round->node.tainted_formerly;
}

/* -- What others did --------------------------------------------------------------------------- */

/* What another client changed: how much, and in words the first of it. */
struct drift {
	size_t count;
	const char *kind, *name;
	struct rna_strbuf *text;
};

/* now, wished: NULL: nothing. */
static void note_drift(struct drift *drift, const char *kind, const char *name, const char *now,
		       const char *wished)
{
	if (drift->count++ > 0)
		return;
	drift->kind = kind;
	drift->name = name;
	rna_strbuf_printf(drift->text, "%s %s: \"%.100s\" instead of \"%.100s\"", kind, name,
			  now ? now : "", wished ? wished : "");
}

/* Labels with our prefix that another client wrote. */
static void find_strange_labels(const struct rna_kube_round *round,
				const struct rna_kube_node *node, struct drift *drift)
{
	for (size_t i = 0; i < node->label_count; i++)
		if (rna_kube_is_strange_label(round->api.options, round->wish, node->labels[i].key))
			note_drift(drift, "label", node->labels[i].key, node->labels[i].value,
				   NULL);
}

static void find_drift_of_labels(const struct rna_kube_round *round,
				 const struct rna_kube_node *node, struct drift *drift)
{
	find_strange_labels(round, node, drift);
	for (size_t i = 0; i < round->wish->label_count; i++) {
		const struct rna_node_label *label = &round->wish->labels[i];

		if (!has_label(node, label))
			note_drift(drift, "label", label->key, rna_kube_label_of(node, label->key),
				   label->value);
	}
}

/* its: NULL: the Node has none of that type. */
static bool is_as_wished(const struct rna_node_condition *its,
			 const struct rna_node_condition *condition)
{
	return !condition->message || (its && its->status == condition->status &&
				       rna_same_text(its->reason, condition->reason));
}

static void find_drift_of_conditions(const struct rna_kube_round *round,
				     const struct rna_kube_node *node, struct drift *drift)
{
	for (size_t i = 0; i < round->wish->condition_count; i++) {
		const struct rna_node_condition *condition = &round->wish->conditions[i];
		const struct rna_node_condition *its = rna_kube_condition_of(node, condition->type);

		if (!is_as_wished(its, condition))
			note_drift(drift, "condition", condition->type, its ? its->reason : NULL,
				   condition->reason);
	}
}

static bool has_lost_taint(const struct rna_kube_round *round, const struct rna_kube_node *node)
{
	return rna_kube_has_taint(round) && round->node.uid &&
	       rna_kube_has_taint_as_wished(round, &round->node) &&
	       !rna_kube_has_taint_as_wished(round, node);
}

/*
 * Undecided values may be anything, and values that wait to be written are not expected. What
 * others write on an ignored Node is theirs.
 */
static void find_drift(const struct rna_kube_round *round, const struct rna_kube_node *node,
		       struct drift *drift)
{
	if (round->ignored || node->ignored)
		return;
	if (rna_kube_has_labels(round) && !rna_kube_labels_behind(round))
		find_drift_of_labels(round, node, drift);
	if (rna_kube_has_conditions(round) && !rna_kube_conditions_behind(round))
		find_drift_of_conditions(round, node, drift);
	if (has_lost_taint(round, node))
		note_drift(drift, "taint", round->api.options->taint_key,
			   node->tainted ? "there" : NULL, round->wish->taint ? "there" : NULL);
}

bool rna_kube_has_drifted(const struct rna_kube_round *round, const struct rna_kube_node *node)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct drift drift = {.text = &text};

	find_drift(round, node, &drift);
	return drift.count > 0;
}

void rna_kube_take_back(struct rna_kube_round *round, const struct rna_kube_node *node,
			const struct rna_strbuf *reply)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct drift drift = {.text = &text};

	find_drift(round, node, &drift);
	if (drift.count == 0)
		return;
	rna_kube_forget_written(round);
	round->reverts++;
	rna_kube_write_manager(reply, drift.kind, drift.name, &text);
	if (drift.count > 1)
		rna_strbuf_printf(&text, ", and %zu more", drift.count - 1);
	if (!rna_strbuf_ok(&text))
		return; /* it is reported when it happens again */
	free(round->reverted);
	round->reverted = strdup(text.data);
}
