// SPDX-License-Identifier: Apache-2.0
#include "tasks.h"

#include "applied.h"
#include "requests.h"

enum {
	ARENA = 16 * 1024,
	UNSUPPORTED_TYPE = 415,
	CONFLICT = 409,
	CONFLICTS_MAX = 3, /* in a row, before others are let through */
};

/* The Node is answered to what was just written to it. */
static enum rna_kubernetes_result take_answer(struct rna_kube_round *round,
					      struct rna_kube_answer *answer)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = NULL;
	struct rna_kube_node node;

	if (answer->result != RNA_KUBERNETES_OK)
		return answer->result;
	arena = rna_arena_new(ARENA);
	if (!arena)
		return rna_kube_fail_memory(answer);
	if (rna_kube_answered_node(&round->api, answer, arena, &node) != RNA_KUBERNETES_OK)
		return answer->result;
	rna_kube_note_uid(round, node.uid);
	(void)rna_kube_is_ignored_otherwise(round, &node);
	rna_kube_note_labels(round, &node, &arena);
	return RNA_KUBERNETES_OK;
}

static enum rna_kubernetes_result merge(struct rna_kube_round *round, const struct rna_strbuf *body,
					struct rna_kube_answer *answer)
{
	(void)rna_kube_send(&round->api, RNA_KUBE_MERGE_NODE, NULL, body, answer);
	return take_answer(round, answer);
}

/* -- The look ---------------------------------------------------------------------------------- */

/*
 * resourceVersion=0: from the API server's memory, which may lag; etcd has no work with it. Behind
 * a Node that was made anew it could still be the old one.
 */
static enum rna_kubernetes_result read_node(struct rna_kube_round *round,
					    struct rna_kube_answer *answer, struct rna_arena *arena,
					    struct rna_kube_node *ret)
{
	if (rna_kube_get_node(&round->api, round->look_fresh ? "" : "?resourceVersion=0", false,
			      answer) == RNA_KUBERNETES_OK)
		return rna_kube_answered_node(&round->api, answer, arena, ret);
	if (answer->reply.status == RNA_KUBE_NOT_FOUND)
		rna_kube_forget_written(round);
	return answer->result;
}

/* Before others are said to have changed something, the Node is read as it is now. */
enum rna_kubernetes_result rna_kube_look(struct rna_kube_round *round,
					 struct rna_kube_answer *answer, struct rna_time now)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	struct rna_kube_node node;

	if (!arena)
		return rna_kube_fail_memory(answer);
	if (read_node(round, answer, arena, &node) != RNA_KUBERNETES_OK)
		return answer->result;
	if (!round->look_fresh && rna_kube_has_drifted(round, &node)) {
		round->look_fresh = true;
		if (read_node(round, answer, arena, &node) != RNA_KUBERNETES_OK)
			return answer->result;
	}
	rna_kube_note_uid(round, node.uid);
	rna_kube_note_ignored(round, node.ignored);
	rna_kube_take_back(round, &node, &answer->reply.body);
	(void)rna_arena_free(round->node_arena);
	round->node_arena = RNA_TAKE(arena);
	round->node = node;
	round->looked = now;
	round->look_fresh = false;
	round->jobs[RNA_KUBE_TASK_TAINT].open = rna_kube_taint_behind(round);
	return RNA_KUBERNETES_OK;
}

/* For what stays as it stands there. The look may have been refused when its turn was. */
static enum rna_kubernetes_result know_node(struct rna_kube_round *round,
					    struct rna_kube_answer *answer, struct rna_time now)
{
	return round->node.uid ? RNA_KUBERNETES_OK : rna_kube_look(round, answer, now);
}

/* -- Labels ------------------------------------------------------------------------------------ */

/*
 * Without server-side apply there is no record of our fields, so the Node is read first: the patch
 * removes the labels with our prefix that are not wanted.
 */
static enum rna_kubernetes_result merge_labels(struct rna_kube_round *round,
					       struct rna_kube_answer *answer)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	struct rna_kube_node node;
	const struct rna_kube_words words = {round->api.node, round->wish, &node};

	if (rna_kube_fetch_node(&round->api, true, answer, arena, &node) != RNA_KUBERNETES_OK)
		return answer->result;
	(void)rna_kube_write_label_patch(round->api.options, &words, false, &body);
	return merge(round, &body, answer);
}

/*
 * A label that another client wrote too, for example a user with kubectl, has two owners and stays
 * when we omit it. Such labels are in the reply and are removed by name.
 */
static enum rna_kubernetes_result apply_labels(struct rna_kube_round *round,
					       const struct rna_strbuf *body,
					       struct rna_kube_answer *answer)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	RNA_STRBUF struct rna_strbuf patch = RNA_STRBUF_INIT;
	struct rna_kube_node node;
	const struct rna_kube_words words = {round->api.node, round->wish, &node};

	if (!arena)
		return rna_kube_fail_memory(answer);
	(void)rna_kube_send(&round->api, RNA_KUBE_APPLY_LABELS, NULL, body, answer);
	if (take_answer(round, answer) != RNA_KUBERNETES_OK ||
	    rna_kube_answered_node(&round->api, answer, arena, &node) != RNA_KUBERNETES_OK ||
	    round->ignored ||
	    rna_kube_write_label_patch(round->api.options, &words, true, &patch) == 0)
		return answer->result;
	return merge(round, &patch, answer);
}

static bool all_labels_decided(const struct rna_node_wish *wish)
{
	for (size_t i = 0; i < wish->label_count; i++)
		if (!wish->labels[i].value)
			return false;
	return true;
}

enum rna_kubernetes_result rna_kube_send_labels(struct rna_kube_round *round,
						struct rna_kube_answer *answer, struct rna_time now)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	struct rna_kube_words words;

	if (!all_labels_decided(round->wish) && know_node(round, answer, now) != RNA_KUBERNETES_OK)
		return answer->result;
	words = rna_kube_words_of(round);
	rna_kube_write_labels(&words, &body);
	if (!round->api.merge && apply_labels(round, &body, answer) != RNA_KUBERNETES_OK)
		round->api.merge = answer->reply.status == UNSUPPORTED_TYPE;
	if (round->api.merge)
		(void)merge_labels(round, answer);
	if (answer->result != RNA_KUBERNETES_OK)
		return answer->result;
	rna_kube_remember_body(&round->labels, &body);
	round->written = now;
	return RNA_KUBERNETES_OK;
}

/* -- Conditions -------------------------------------------------------------------------------- */

static enum rna_kubernetes_result patch_conditions(struct rna_kube_round *round,
						   struct rna_kube_answer *answer,
						   struct rna_time now)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	const struct rna_kube_words words = rna_kube_words_of(round);

	rna_kube_write_condition_patch(&words, round->api.options->condition_types, now.realtime,
				       &body);
	(void)rna_kube_send(&round->api, RNA_KUBE_MERGE_CONDITIONS, NULL, &body, answer);
	return take_answer(round, answer);
}

static enum rna_kubernetes_result apply_conditions(struct rna_kube_round *round,
						   struct rna_kube_answer *answer,
						   struct rna_time now)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	const struct rna_kube_words words = rna_kube_words_of(round);

	rna_kube_write_conditions(&words, now.realtime, &body);
	(void)rna_kube_send(&round->api, RNA_KUBE_APPLY_CONDITIONS, NULL, &body, answer);
	return take_answer(round, answer);
}

static bool all_conditions_decided(const struct rna_node_wish *wish)
{
	for (size_t i = 0; i < wish->condition_count; i++)
		if (!wish->conditions[i].message)
			return false;
	return true;
}

/* For the clean-up, regardless of the owner: a strategic merge patch ignores owners. */
enum rna_kubernetes_result rna_kube_send_conditions(struct rna_kube_round *round,
						    struct rna_kube_answer *answer,
						    struct rna_time now)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	struct rna_kube_words words;

	if (!all_conditions_decided(round->wish) &&
	    know_node(round, answer, now) != RNA_KUBERNETES_OK)
		return answer->result;
	if (rna_kube_is_without_conditions(round)) /* the look has shown it, after this was begun */
		return answer->result = RNA_KUBERNETES_OK;
	if (!round->api.merge && apply_conditions(round, answer, now) != RNA_KUBERNETES_OK)
		round->api.merge = answer->reply.status == UNSUPPORTED_TYPE;
	if (round->api.merge || (round->cleanup && answer->result == RNA_KUBERNETES_OK))
		(void)patch_conditions(round, answer, now);
	if (answer->result != RNA_KUBERNETES_OK)
		return answer->result;
	words = rna_kube_words_of(round);
	rna_kube_write_conditions(&words, 0, &body);
	rna_kube_remember_body(&round->conditions, &body);
	round->written = now;
	return RNA_KUBERNETES_OK;
}

/* -- Taint ------------------------------------------------------------------------------------- */

static enum rna_kubernetes_result try_taint(struct rna_kube_round *round,
					    struct rna_kube_answer *answer)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	struct rna_kube_node node;

	if (rna_kube_fetch_node(&round->api, false, answer, arena, &node) != RNA_KUBERNETES_OK ||
	    rna_kube_is_ignored_otherwise(round, &node) ||
	    rna_kube_has_taint_as_wished(round, &node))
		return answer->result;
	if (rna_kube_write_taints(round->api.options, round->wish->taint, &answer->reply.body,
				  &body) < 0)
		return rna_kube_fail_memory(answer);
	return merge(round, &body, answer);
}

/*
 * spec.taints is an atomic list: a client that applies it owns all of it and removes others'
 * taints. So it is read, changed and written with the version that was read; the API answers 409 if
 * another client was faster.
 */
enum rna_kubernetes_result rna_kube_send_taint(struct rna_kube_round *round,
					       struct rna_kube_answer *answer, struct rna_time now)
{
	for (int i = 0; i < CONFLICTS_MAX; i++)
		if (try_taint(round, answer) == RNA_KUBERNETES_OK ||
		    answer->reply.status != CONFLICT)
			break;
	if (answer->result != RNA_KUBERNETES_OK)
		return answer->result;
	round->node.tainted = round->node.tainted_so = round->wish->taint;
	round->node.tainted_formerly = false;
	round->written = now;
	return RNA_KUBERNETES_OK;
}
