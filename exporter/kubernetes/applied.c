// SPDX-License-Identifier: Apache-2.0
#include "applied.h"

#include <string.h>

#include "rna/base/parse.h"

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

/* Nothing of what we wrote is there any more, or we do not know. */
void rna_kube_forget_written(struct rna_kube_round *round)
{
	round->labels.len = 0;
	round->conditions.len = 0;
	round->jobs[RNA_KUBE_LABELS].open = rna_kube_has_labels(round);
	round->jobs[RNA_KUBE_CONDITIONS].open = rna_kube_has_conditions(round);
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

/*
 * A Node that was deleted and created again has none of our data. Its new uid is stored, so that
 * everything is written once; if that happens repeatedly, at a limited rate.
 */
void rna_kube_note_uid(struct rna_kube_round *round, const char *uid)
{
	static const unsigned tasks_of_it[] = {RNA_KUBE_LOOK, RNA_KUBE_LABELS, RNA_KUBE_CONDITIONS};
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
	round->jobs[RNA_KUBE_LOOK].open = true;
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

bool rna_kube_is_urgent(const struct rna_kube_round *round)
{
	return rna_kube_taint_behind(round) || (round->node.uid && is_urgent_label_behind(round));
}

/* Labels that were written since we began took the others away. */
bool rna_kube_former_is_gone(const struct rna_kube_round *round)
{
	return round->wish && round->labels.len > 0 && round->node.uid &&
	       round->wish->taint_decided && !round->node.tainted_formerly;
}

/* -- What others did --------------------------------------------------------------------------- */

/* Labels with our prefix that another client wrote. */
static bool has_strange_labels(const struct rna_kube_round *round, const struct rna_kube_node *node)
{
	const struct rna_kube_words words = {round->api.node, round->wish, node};
	RNA_STRBUF struct rna_strbuf patch = RNA_STRBUF_INIT;

	return rna_kube_write_label_patch(round->api.options, &words, true, &patch) > 0;
}

static bool has_condition(const struct rna_kube_node *node,
			  const struct rna_node_condition *condition)
{
	const struct rna_node_condition *its = rna_kube_condition_of(node, condition->type);

	return !condition->message || (its && its->status == condition->status &&
				       rna_same_text(its->reason, condition->reason));
}

/*
 * Has another client changed what we wrote? Undecided values may be anything, and values that wait
 * to be written are not expected.
 */
void rna_kube_compare(struct rna_kube_round *round, const struct rna_kube_node *node)
{
	bool same = true;

	if (rna_kube_has_labels(round) && !rna_kube_labels_behind(round)) {
		same = !has_strange_labels(round, node);
		for (size_t i = 0; i < round->wish->label_count; i++)
			same &= has_label(node, &round->wish->labels[i]);
	}
	if (rna_kube_has_conditions(round) && !rna_kube_conditions_behind(round))
		for (size_t i = 0; i < round->wish->condition_count; i++)
			same &= has_condition(node, &round->wish->conditions[i]);
	if (!same)
		rna_kube_forget_written(round);
}
