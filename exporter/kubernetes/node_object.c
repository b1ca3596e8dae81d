// SPDX-License-Identifier: Apache-2.0
/*
 * The Node object: it is read, and its labels, conditions and taint are compared with the desired
 * state and written. What others changed of ours is written again.
 */
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"

#include "round.h"

#define MADE_ANEW_PAUSE (60 * RNA_USEC_PER_SEC)

enum { CONFLICTS_MAX = 3 /* in a row, before others are let through */ };

/* -- The desired state ------------------------------------------------------------------------- */

const struct rna_desired_node rna_kube_nothing = {
	.labels_decided = true,
	.conditions_decided = true,
	.taint_decided = true,
	.device_taints_complete = true,
};

static void choose_desired(struct rna_kube_round *round)
{
	round->desired = round->status.ignored ? &rna_kube_nothing : round->given;
	rna_kube_review_permit(round);
}

void rna_kube_take_desired(struct rna_kube_round *round, const struct rna_desired_node *desired)
{
	round->given = desired;
	choose_desired(round);
}

bool rna_kube_has_labels(const struct rna_kube_round *round)
{
	return round->desired && round->desired->labels_decided;
}

/*
 * Are conditions turned off, had the Node none of ours, and have we written none since? Then
 * nothing is written: who never had them need not have the right to. At the end of all no look is
 * good enough.
 */
static bool is_without_conditions(const struct rna_kube_round *round)
{
	const char *const *types = round->api.options->condition_types;

	if (round->desired->condition_count > 0 || round->cleanup || !round->node.uid ||
	    round->written[RNA_KUBE_TASK_CONDITIONS].len > 0)
		return false;
	while (*types && !rna_kube_condition_of(&round->node, *types))
		types++;
	return !*types;
}

bool rna_kube_has_conditions(const struct rna_kube_round *round)
{
	return round->desired && round->desired->conditions_decided &&
	       round->api.options->condition_types && !is_without_conditions(round);
}

bool rna_kube_has_taint(const struct rna_kube_round *round)
{
	const struct rna_kubernetes_options *options = round->api.options;

	return round->desired && round->desired->taint_decided &&
	       (options->taint_key || options->former_taints);
}

/* A taint with another effect is from an agent with other settings. */
static bool has_taint_as_desired(const struct rna_kube_round *round,
				 const struct rna_kube_node *node)
{
	return !node->tainted_formerly &&
	       (rna_kube_wants_taint(round, node) ? node->tainted_so : !node->tainted);
}

bool rna_kube_lacks_taint(const struct rna_kube_round *round)
{
	return !has_taint_as_desired(round, &round->node);
}

static bool has_label(const struct rna_kube_node *node, const struct rna_node_label *label)
{
	const char *value = rna_kube_label_of(node, label->key);

	return !label->value || rna_same_text(node->left_label, label->key) ||
	       rna_same_text(value, label->value);
}

bool rna_kube_lacks_urgent_label(const struct rna_kube_round *round)
{
	const struct rna_desired_node *desired = round->desired;

	if (!round->node.uid || !desired->labels_decided)
		return false;
	return RNA_ANY(i, desired->label_count,
		       desired->labels[i].urgent && !has_label(&round->node, &desired->labels[i]));
}

/* Labels that were written since we began took the others away. */
bool rna_kube_former_is_gone(const struct rna_kube_round *round)
{
	return round->desired && round->written[RNA_KUBE_TASK_LABELS].len > 0 && round->node.uid &&
	       round->desired->taint_decided && !round->node.tainted_formerly;
}

/* -- Answers ----------------------------------------------------------------------------------- */

/* What goes, goes once: what others write from then on is theirs. */
static void note_ignored(struct rna_kube_round *round, bool ignored)
{
	ignored &= !round->cleanup;
	if (ignored == round->status.ignored)
		return;
	round->status.ignored = ignored;
	rna_kube_drop_events(round);
	choose_desired(round);
	rna_kube_forget_written(round);
}

/* An answer to a write, or what is read before one, is not the time for it: the next look is. */
static bool is_ignored_otherwise(struct rna_kube_round *round, const struct rna_kube_node *node)
{
	if (round->cleanup || node->ignored == round->status.ignored)
		return false;
	round->look_fresh = true;
	round->open[RNA_KUBE_TASK_LOOK] = true;
	return true;
}

/*
 * Is it another Node than before? One that was deleted and created again has none of our data, so
 * everything is written once; if that happens repeatedly, at a limited rate.
 */
static bool is_made_anew(struct rna_kube_round *round, const char *uid)
{
	static const unsigned tasks_of_it[] = {RNA_KUBE_TASK_LOOK, RNA_KUBE_TASK_LABELS,
					       RNA_KUBE_TASK_CONDITIONS};
	rna_usec from = round->made_anew > 0 ? round->made_anew + MADE_ANEW_PAUSE : 0;

	if (!round->node.uid || strcmp(round->node.uid, uid) == 0)
		return false;
	rna_kube_node_deinit(&round->node);
	round->made_anew = round->now.monotonic;
	round->look_fresh = true;
	rna_kube_forget_written(round);
	round->open[RNA_KUBE_TASK_LOOK] = true;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(tasks_of_it); i++) {
		struct rna_wait *wait = &round->waits[tasks_of_it[i]];

		wait->until = wait->until > from ? wait->until : from;
	}
	return true;
}

/* Takes over what node has. */
static void replace_node(struct rna_kube_node *place, struct rna_kube_node *node)
{
	rna_kube_node_deinit(place);
	*place = *node;
	*node = (struct rna_kube_node){0};
}

/*
 * Writes to the Node, which is answered. Its labels, those of others as well, are noted: a driver
 * upgrade is known as often as conditions are renewed, and costs no request. Before the first look
 * nothing is, for the look has all of it.
 */
static enum rna_kubernetes_result write_node(struct rna_kube_round *round, enum rna_kube_write what,
					     const struct rna_strbuf *body,
					     struct rna_kube_answer *answer)
{
	RNA_KUBE_NODE struct rna_kube_node node = {0};
	bool known;

	if (rna_kube_send(&round->api, what, NULL, body, answer) != RNA_KUBERNETES_OK ||
	    rna_kube_answered_node(&round->api, answer, &node) != RNA_KUBERNETES_OK)
		return answer->result;
	known = is_made_anew(round, node.uid) || round->node.uid;
	(void)is_ignored_otherwise(round, &node);
	replace_node(&round->answered, &node);
	if (!known)
		return RNA_KUBERNETES_OK;
	round->node.uid = round->answered.uid;
	round->node.labels = round->answered.labels;
	round->node.label_count = round->answered.label_count;
	round->node.left_label = round->answered.left_label;
	round->node.left_to = round->answered.left_to;
	return RNA_KUBERNETES_OK;
}

/* -- What others did --------------------------------------------------------------------------- */

/* What another client changed: how much, and the first of it. */
struct drift {
	size_t count;
	const char *kind, *name;
	const char *now, *desired; /* NULL: nothing */
};

static void note_drift(struct drift *drift, const char *kind, const char *name, const char *now,
		       const char *desired)
{
	if (drift->count++ == 0)
		*drift = (struct drift){1, kind, name, now, desired};
}

/* Labels with our prefix that another client wrote, and ours with another value. */
static void find_drift_of_labels(const struct rna_kube_round *round,
				 const struct rna_kube_node *node, struct drift *drift)
{
	for (size_t i = 0; i < node->label_count; i++)
		if (rna_kube_is_strange_label(round->api.options, round->desired, node,
					      node->labels[i].key))
			note_drift(drift, "label", node->labels[i].key, node->labels[i].value,
				   NULL);
	RNA_EACH (label, round->desired->labels, round->desired->label_count)
		if (!has_label(node, label))
			note_drift(drift, "label", label->key, rna_kube_label_of(node, label->key),
				   label->value);
}

/* its: NULL: the Node has none of that type. */
static bool is_as_desired(const struct rna_node_condition *its,
			  const struct rna_node_condition *condition)
{
	return !condition->message || (its && its->status == condition->status &&
				       rna_same_text(its->reason, condition->reason));
}

static void find_drift_of_conditions(const struct rna_kube_round *round,
				     const struct rna_kube_node *node, struct drift *drift)
{
	RNA_EACH (condition, round->desired->conditions, round->desired->condition_count) {
		const struct rna_node_condition *its = rna_kube_condition_of(node, condition->type);

		if (!is_as_desired(its, condition))
			note_drift(drift, "condition", condition->type, its ? its->reason : NULL,
				   condition->reason);
	}
}

static bool is_written(const struct rna_kube_round *round, enum rna_kube_task task)
{
	return !rna_kube_is_task_behind(round, task);
}

/*
 * Undecided values may be anything, and values that wait to be written are not expected. What
 * others write on an ignored Node is theirs.
 */
static struct drift find_drift(const struct rna_kube_round *round, const struct rna_kube_node *node)
{
	struct drift drift = {0};

	if (round->status.ignored || node->ignored)
		return drift;
	if (rna_kube_has_labels(round) && is_written(round, RNA_KUBE_TASK_LABELS))
		find_drift_of_labels(round, node, &drift);
	if (rna_kube_has_conditions(round) && is_written(round, RNA_KUBE_TASK_CONDITIONS))
		find_drift_of_conditions(round, node, &drift);
	if (rna_kube_has_taint(round) && round->node.uid &&
	    is_written(round, RNA_KUBE_TASK_TAINT) && !has_taint_as_desired(round, node))
		note_drift(&drift, "taint", round->api.options->taint_key,
			   node->tainted ? "there" : NULL,
			   rna_kube_wants_taint(round, node) ? "there" : NULL);
	return drift;
}

/* It is written again, and told. reply: that node is from. */
static void take_back(struct rna_kube_round *round, const struct rna_kube_node *node,
		      const struct rna_strbuf *reply)
{
	const struct drift drift = find_drift(round, node);
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (drift.count == 0)
		return;
	rna_kube_forget_written(round);
	round->status.reverts++;
	rna_strbuf_printf(&text, "%s %s: \"%.100s\" instead of \"%.100s\"", drift.kind, drift.name,
			  drift.now ? drift.now : "", drift.desired ? drift.desired : "");
	rna_kube_write_manager(reply, drift.kind, drift.name, &text);
	if (drift.count > 1)
		rna_strbuf_printf(&text, ", and %zu more", drift.count - 1);
	if (!rna_strbuf_ok(&text))
		return; /* it is reported when it happens again */
	free(round->reverted);
	round->reverted = rna_strbuf_take(&text);
}

/* -- The look ---------------------------------------------------------------------------------- */

/*
 * resourceVersion=0: from the API server's memory, which may lag; etcd has no work with it. Behind
 * a Node that was made anew it could still be the old one.
 */
static enum rna_kubernetes_result read_node(struct rna_kube_round *round,
					    struct rna_kube_answer *answer,
					    struct rna_kube_node *ret)
{
	const char *query = round->look_fresh ? "" : "?resourceVersion=0";

	if (rna_kube_fetch_node(&round->api, query, false, answer, ret) != RNA_KUBERNETES_OK &&
	    answer->reply.status == RNA_KUBE_NOT_FOUND)
		rna_kube_forget_written(round);
	return answer->result;
}

/* Before others are said to have changed something, the Node is read as it is now. */
enum rna_kubernetes_result rna_kube_look(struct rna_kube_round *round,
					 struct rna_kube_answer *answer)
{
	RNA_KUBE_NODE struct rna_kube_node node = {0};

	if (read_node(round, answer, &node) != RNA_KUBERNETES_OK)
		return answer->result;
	if (!round->look_fresh && find_drift(round, &node).count > 0) {
		round->look_fresh = true;
		if (read_node(round, answer, &node) != RNA_KUBERNETES_OK)
			return answer->result;
	}
	(void)is_made_anew(round, node.uid);
	note_ignored(round, node.ignored);
	take_back(round, &node, &answer->reply.body);
	replace_node(&round->node, &node);
	round->looked = round->now;
	round->look_fresh = false;
	round->open[RNA_KUBE_TASK_TAINT] = rna_kube_is_task_behind(round, RNA_KUBE_TASK_TAINT);
	round->open[RNA_KUBE_TASK_PERMIT_BACK] |=
		rna_kube_is_task_behind(round, RNA_KUBE_TASK_PERMIT_BACK);
	return RNA_KUBERNETES_OK;
}

/* The look may have been refused when its turn was. */
enum rna_kubernetes_result rna_kube_know_node(struct rna_kube_round *round,
					      struct rna_kube_answer *answer)
{
	return round->node.uid ? RNA_KUBERNETES_OK : rna_kube_look(round, answer);
}

/* -- Labels ------------------------------------------------------------------------------------ */

static bool all_labels_decided(const struct rna_desired_node *desired)
{
	return RNA_ALL(i, desired->label_count, desired->labels[i].value);
}

/*
 * A label that another client wrote too, for example a user with kubectl, has two owners and stays
 * when we omit it. Such labels are in the reply and are removed by name.
 */
enum rna_kubernetes_result rna_kube_send_labels(struct rna_kube_round *round,
						struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT, patch = RNA_STRBUF_INIT;
	struct rna_kube_words words;

	/* what is not decided stays as it stands there, and what is another client's */
	if ((!all_labels_decided(round->desired) || round->api.options->shared_label) &&
	    rna_kube_know_node(round, answer) != RNA_KUBERNETES_OK)
		return answer->result;
	words = rna_kube_words_of(round);
	rna_kube_write_labels(&words, &body);
	if (write_node(round, RNA_KUBE_APPLY_LABELS, &body, answer) != RNA_KUBERNETES_OK)
		return answer->result;
	words.node = &round->answered;
	if (round->status.ignored ||
	    rna_kube_write_label_removal(round->api.options, &words, &patch) == 0)
		return answer->result;
	return write_node(round, RNA_KUBE_MERGE_NODE, &patch, answer);
}

/* -- Conditions -------------------------------------------------------------------------------- */

static bool all_conditions_decided(const struct rna_desired_node *desired)
{
	return RNA_ALL(i, desired->condition_count, desired->conditions[i].message);
}

/* For the clean-up, regardless of the owner: a strategic merge patch ignores owners. */
enum rna_kubernetes_result rna_kube_send_conditions(struct rna_kube_round *round,
						    struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT, removal = RNA_STRBUF_INIT;
	struct rna_kube_words words;

	if (!all_conditions_decided(round->desired) &&
	    rna_kube_know_node(round, answer) != RNA_KUBERNETES_OK)
		return answer->result;
	if (is_without_conditions(round)) /* the look has shown it, after this was begun */
		return answer->result = RNA_KUBERNETES_OK;
	words = rna_kube_words_of(round);
	words.now = round->now.realtime;
	rna_kube_write_conditions(&words, &body);
	if (write_node(round, RNA_KUBE_APPLY_CONDITIONS, &body, answer) == RNA_KUBERNETES_OK &&
	    round->cleanup) {
		rna_kube_write_condition_removal(round->api.options->condition_types, &removal);
		(void)write_node(round, RNA_KUBE_REMOVE_CONDITIONS, &removal, answer);
	}
	return answer->result;
}

/* -- Taint ------------------------------------------------------------------------------------- */

static enum rna_kubernetes_result try_taint(struct rna_kube_round *round,
					    struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	RNA_KUBE_NODE struct rna_kube_node node = {0};

	if (rna_kube_fetch_node(&round->api, "", false, answer, &node) != RNA_KUBERNETES_OK ||
	    is_ignored_otherwise(round, &node) || has_taint_as_desired(round, &node))
		return answer->result;
	if (rna_kube_write_taints(round->api.options, rna_kube_wants_taint(round, &node),
				  &answer->reply.body, &body) < 0)
		return rna_kube_fail_memory(answer);
	return write_node(round, RNA_KUBE_MERGE_NODE, &body, answer);
}

/*
 * spec.taints is an atomic list: a client that applies it owns all of it and removes others'
 * taints. So it is read, changed and written with the version that was read; the API answers 409 if
 * another client was faster.
 */
enum rna_kubernetes_result rna_kube_send_taint(struct rna_kube_round *round,
					       struct rna_kube_answer *answer)
{
	for (int i = 0; i < CONFLICTS_MAX; i++)
		if (try_taint(round, answer) == RNA_KUBERNETES_OK ||
		    answer->reply.status != RNA_KUBE_CONFLICT)
			break;
	if (answer->result != RNA_KUBERNETES_OK)
		return answer->result;
	round->node.tainted = round->node.tainted_so = rna_kube_wants_taint(round, &round->node);
	round->node.tainted_formerly = false;
	return RNA_KUBERNETES_OK;
}
