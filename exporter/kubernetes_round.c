// SPDX-License-Identifier: Apache-2.0
#include "kubernetes_round.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "rna/parse.h"

/* Owners of fields in server-side apply; with one name for both, labels are lost on 1.20. */
#define LABEL_MANAGER     "rdma-node-agent"
#define CONDITION_MANAGER "rdma-node-agent-status"

#define NODE_PATH   "/api/v1/nodes/%s"
#define EVENTS_PATH "/api/v1/namespaces/default/events"

#define APPLY_TYPE     "application/apply-patch+yaml"
#define MERGE_TYPE     "application/merge-patch+json"
#define STRATEGIC_TYPE "application/strategic-merge-patch+json"

#define MADE_ANEW_PAUSE (60 * RNA_USEC_PER_SEC)
#define EVENT_AGE_MAX   (3600 * RNA_USEC_PER_SEC) /* what the API keeps them for, by default */

enum {
	ARENA = 16 * 1024,
	UNSUPPORTED_TYPE = 415,
	CONFLICT = 409,
	NOT_FOUND = 404,
	CONFLICTS_MAX = 3, /* in a row, before others are let through */
};

typedef enum rna_kubernetes_result task_function(struct rna_kube_round *round,
						 struct rna_kube_answer *answer,
						 struct rna_time now);

static enum rna_kubernetes_result fail_memory(struct rna_kube_answer *answer)
{
	(void)rna_error_set(&answer->error, -ENOMEM, "cannot talk to Kubernetes");
	return answer->result = RNA_KUBERNETES_UNREACHABLE;
}

/* -- Paths and bodies -------------------------------------------------------------------------- */

static void write_label_path(const char *node, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, NODE_PATH "?fieldManager=" LABEL_MANAGER "&force=true", node);
}

static void write_condition_path(const char *node, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, NODE_PATH "/status?fieldManager=" CONDITION_MANAGER "&force=true",
			  node);
}

void rna_kube_write_requests(const char *node, const struct rna_node_wish *wish,
			     struct rna_strbuf *out)
{
	const struct rna_kube_node none = {0};
	const struct rna_kube_words words = {node, wish, &none};

	rna_strbuf_puts(out, "PATCH ");
	write_label_path(node, out);
	rna_strbuf_add_char(out, '\n');
	rna_kube_write_labels(&words, out);
	rna_strbuf_puts(out, "PATCH ");
	write_condition_path(node, out);
	rna_strbuf_add_char(out, '\n');
	rna_kube_write_conditions(&words, 0, out);
}

static enum rna_kubernetes_result send(struct rna_kube_round *round, const char *type,
				       const struct rna_strbuf *path, const struct rna_strbuf *body,
				       struct rna_kube_answer *answer)
{
	const struct rna_kube_request request = {
		.method = "PATCH",
		.path = path->data,
		.type = type,
		.body = body->data,
		.metadata = true,
	};

	if (!rna_strbuf_ok(path) || !rna_strbuf_ok(body))
		return fail_memory(answer);
	return rna_kube_call(&round->api, &request, answer);
}

static enum rna_kubernetes_result get_node(struct rna_kube_round *round, const char *query,
					   bool metadata, struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;
	struct rna_kube_request request = {.method = "GET", .metadata = metadata};

	rna_strbuf_printf(&path, NODE_PATH "%s", round->api.node, query);
	if (!rna_strbuf_ok(&path))
		return fail_memory(answer);
	request.path = path.data;
	return rna_kube_call(&round->api, &request, answer);
}

/* Reads the Node that was answered; what is none is as bad as no answer. */
static enum rna_kubernetes_result read_node(struct rna_kube_round *round,
					    struct rna_kube_answer *answer, struct rna_arena *arena,
					    struct rna_kube_node *ret)
{
	int status = rna_kube_read_node(&answer->reply.body, round->api.options, arena, ret);

	if (status == -ENOMEM)
		return fail_memory(answer);
	if (status < 0) {
		(void)rna_error_say(&answer->error, status,
				    "%s: the answer is no Node; is this Kubernetes?",
				    round->api.access.server ? round->api.access.server : "?");
		answer->result = RNA_KUBERNETES_UNREACHABLE;
	}
	return answer->result;
}

/* The Node as it is now, in arena. */
static enum rna_kubernetes_result fetch_node(struct rna_kube_round *round, bool metadata,
					     struct rna_kube_answer *answer,
					     struct rna_arena *arena, struct rna_kube_node *ret)
{
	if (!arena)
		return fail_memory(answer);
	if (get_node(round, "", metadata, answer) != RNA_KUBERNETES_OK)
		return answer->result;
	return read_node(round, answer, arena, ret);
}

/* -- What is known ----------------------------------------------------------------------------- */

static struct rna_kube_words words_of(const struct rna_kube_round *round)
{
	return (struct rna_kube_words){round->api.node, round->wish, &round->node};
}

/* An agent that does not know yet what to say leaves what is there. */
static bool has_labels(const struct rna_kube_round *round)
{
	return round->wish && round->wish->labels_decided;
}

/*
 * Are conditions turned off, had the Node none of ours, and have we written none since? Then
 * nothing is written: who never had them need not have the right to. At the end of all no look is
 * good enough.
 */
static bool is_without_conditions(const struct rna_kube_round *round)
{
	const char *const *types = round->api.options->condition_types;

	if (round->wish->condition_count > 0 || round->cleanup || !round->node.uid ||
	    round->conditions.len > 0)
		return false;
	while (*types && !rna_kube_condition_of(&round->node, *types))
		types++;
	return !*types;
}

static bool has_conditions(const struct rna_kube_round *round)
{
	return round->wish && round->wish->conditions_decided &&
	       round->api.options->condition_types && !is_without_conditions(round);
}

/* Nothing of what we wrote is there any more, or we do not know. */
static void forget_written(struct rna_kube_round *round)
{
	round->labels.len = 0;
	round->conditions.len = 0;
	round->jobs[RNA_KUBE_LABELS].open = has_labels(round);
	round->jobs[RNA_KUBE_CONDITIONS].open = has_conditions(round);
}

static void remember_body(struct rna_strbuf *place, const struct rna_strbuf *body)
{
	place->len = 0;
	rna_strbuf_add(place, body->data, body->len);
}

static bool is_body(const struct rna_strbuf *a, const struct rna_strbuf *b)
{
	return rna_strbuf_ok(a) && a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/*
 * A Node of our name that was made anew has nothing of ours. Its uid counts from now on, so that
 * all is told once; where somebody makes it anew for ever, it is told at a bearable pace.
 */
static void note_uid(struct rna_kube_round *round, const char *uid)
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
	forget_written(round);
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
static void note_labels(struct rna_kube_round *round, const struct rna_kube_node *node,
			struct rna_arena **arena)
{
	if (!round->node.uid)
		return; /* the first look has all of it */
	(void)rna_arena_free(round->label_arena);
	round->label_arena = RNA_TAKE(*arena);
	round->node.labels = node->labels;
	round->node.label_count = node->label_count;
}

/* The same for what is answered with the Node. */
static enum rna_kubernetes_result send_to_node(struct rna_kube_round *round, const char *type,
					       const struct rna_strbuf *path,
					       const struct rna_strbuf *body,
					       struct rna_kube_answer *answer)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	struct rna_kube_node node;

	if (!arena)
		return fail_memory(answer);
	if (send(round, type, path, body, answer) != RNA_KUBERNETES_OK ||
	    read_node(round, answer, arena, &node) != RNA_KUBERNETES_OK)
		return answer->result;
	note_uid(round, node.uid);
	note_labels(round, &node, &arena);
	return RNA_KUBERNETES_OK;
}

static enum rna_kubernetes_result send_merge_patch(struct rna_kube_round *round,
						   const struct rna_strbuf *body,
						   struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;

	rna_strbuf_printf(&path, NODE_PATH "?fieldManager=" LABEL_MANAGER, round->api.node);
	return send_to_node(round, MERGE_TYPE, &path, body, answer);
}

static bool labels_behind(const struct rna_kube_round *round)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	const struct rna_kube_words words = words_of(round);

	if (!has_labels(round))
		return false;
	rna_kube_write_labels(&words, &body);
	return !is_body(&round->labels, &body);
}

static bool conditions_behind(const struct rna_kube_round *round)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	const struct rna_kube_words words = words_of(round);

	if (!has_conditions(round))
		return false;
	rna_kube_write_conditions(&words, 0, &body);
	return !is_body(&round->conditions, &body);
}

/* A taint with another effect is from an agent with other settings. */
static bool has_taint_as_wished(const struct rna_kube_round *round,
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

static bool taint_behind(const struct rna_kube_round *round)
{
	return rna_kube_has_taint(round) && !has_taint_as_wished(round, &round->node);
}

static bool has_events(const struct rna_kube_round *round)
{
	for (size_t i = 0; i < round->event_count; i++)
		if (round->events[i].waiting)
			return true;
	return false;
}

bool rna_kube_is_behind(const struct rna_kube_round *round)
{
	return round->wish && (labels_behind(round) || conditions_behind(round) ||
			       taint_behind(round) || has_events(round));
}

/* Labels that were written since we began took the others away. */
bool rna_kube_former_is_gone(const struct rna_kube_round *round)
{
	return round->wish && round->labels.len > 0 && round->node.uid &&
	       round->wish->taint_decided && !round->node.tainted_formerly;
}

/* -- The look ---------------------------------------------------------------------------------- */

static bool has_label(const struct rna_kube_node *node, const struct rna_node_label *label)
{
	const char *value = rna_kube_label_of(node, label->key);

	return !label->value || rna_same_text(value, label->value);
}

/* Of those that only we may have: somebody else wrote what we do not say. */
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

/* Has somebody changed what we wrote? What is not decided may be anything, and what waits to be
 * written is not expected there. */
static void compare(struct rna_kube_round *round, const struct rna_kube_node *node)
{
	bool same = true;

	if (has_labels(round) && !labels_behind(round)) {
		same = !has_strange_labels(round, node);
		for (size_t i = 0; i < round->wish->label_count; i++)
			same &= has_label(node, &round->wish->labels[i]);
	}
	if (has_conditions(round) && !conditions_behind(round))
		for (size_t i = 0; i < round->wish->condition_count; i++)
			same &= has_condition(node, &round->wish->conditions[i]);
	if (!same)
		forget_written(round);
}

/*
 * resourceVersion=0: from the API server's memory, which may lag; etcd has no work with it. Behind
 * a Node that was made anew it could still be the old one.
 */
static enum rna_kubernetes_result look(struct rna_kube_round *round, struct rna_kube_answer *answer,
				       struct rna_time now)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	struct rna_kube_node node;

	if (!arena)
		return fail_memory(answer);
	if (get_node(round, round->look_fresh ? "" : "?resourceVersion=0", false, answer) !=
	    RNA_KUBERNETES_OK) {
		if (answer->reply.status == NOT_FOUND)
			forget_written(round);
		return answer->result;
	}
	if (read_node(round, answer, arena, &node) != RNA_KUBERNETES_OK)
		return answer->result;
	note_uid(round, node.uid);
	compare(round, &node);
	(void)rna_arena_free(round->node_arena);
	round->node_arena = RNA_TAKE(arena);
	round->node = node;
	round->looked = now;
	round->look_fresh = false;
	round->jobs[RNA_KUBE_TAINT].open = taint_behind(round);
	return RNA_KUBERNETES_OK;
}

/* For what stays as it stands there. The look may have been refused when its turn was. */
static enum rna_kubernetes_result know_node(struct rna_kube_round *round,
					    struct rna_kube_answer *answer, struct rna_time now)
{
	return round->node.uid ? RNA_KUBERNETES_OK : look(round, answer, now);
}

/* -- Labels ------------------------------------------------------------------------------------ */

/*
 * Without server-side apply nobody keeps the books of what is ours, so the Node is read before:
 * what only we may have and do not want is named in the patch.
 */
static enum rna_kubernetes_result merge_labels(struct rna_kube_round *round,
					       struct rna_kube_answer *answer)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	struct rna_kube_node node;
	const struct rna_kube_words words = {round->api.node, round->wish, &node};

	if (fetch_node(round, true, answer, arena, &node) != RNA_KUBERNETES_OK)
		return answer->result;
	(void)rna_kube_write_label_patch(round->api.options, &words, false, &body);
	return send_merge_patch(round, &body, answer);
}

/*
 * A label that somebody else wrote too, a person with kubectl for one, stays when we leave it out:
 * it has two owners. Such ones are in the answer and are taken away by name.
 */
static enum rna_kubernetes_result apply_labels(struct rna_kube_round *round,
					       const struct rna_strbuf *body,
					       struct rna_kube_answer *answer)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT, patch = RNA_STRBUF_INIT;
	struct rna_kube_node node;
	const struct rna_kube_words words = {round->api.node, round->wish, &node};

	if (!arena)
		return fail_memory(answer);
	write_label_path(round->api.node, &path);
	if (send_to_node(round, APPLY_TYPE, &path, body, answer) != RNA_KUBERNETES_OK ||
	    read_node(round, answer, arena, &node) != RNA_KUBERNETES_OK ||
	    rna_kube_write_label_patch(round->api.options, &words, true, &patch) == 0)
		return answer->result;
	return send_merge_patch(round, &patch, answer);
}

static bool all_labels_decided(const struct rna_node_wish *wish)
{
	for (size_t i = 0; i < wish->label_count; i++)
		if (!wish->labels[i].value)
			return false;
	return true;
}

static enum rna_kubernetes_result send_labels(struct rna_kube_round *round,
					      struct rna_kube_answer *answer, struct rna_time now)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	struct rna_kube_words words;

	if (!all_labels_decided(round->wish) && know_node(round, answer, now) != RNA_KUBERNETES_OK)
		return answer->result;
	words = words_of(round);
	rna_kube_write_labels(&words, &body);
	if (!round->api.merge && apply_labels(round, &body, answer) != RNA_KUBERNETES_OK)
		round->api.merge = answer->reply.status == UNSUPPORTED_TYPE;
	if (round->api.merge)
		(void)merge_labels(round, answer);
	if (answer->result != RNA_KUBERNETES_OK)
		return answer->result;
	remember_body(&round->labels, &body);
	round->written = now;
	return RNA_KUBERNETES_OK;
}

/* -- Conditions -------------------------------------------------------------------------------- */

static enum rna_kubernetes_result patch_conditions(struct rna_kube_round *round,
						   struct rna_kube_answer *answer,
						   struct rna_time now)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT, body = RNA_STRBUF_INIT;
	const struct rna_kube_words words = words_of(round);

	rna_strbuf_printf(&path, NODE_PATH "/status?fieldManager=" CONDITION_MANAGER,
			  round->api.node);
	rna_kube_write_condition_patch(&words, round->api.options->condition_types, now.realtime,
				       &body);
	return send_to_node(round, STRATEGIC_TYPE, &path, &body, answer);
}

static enum rna_kubernetes_result apply_conditions(struct rna_kube_round *round,
						   struct rna_kube_answer *answer,
						   struct rna_time now)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT, body = RNA_STRBUF_INIT;
	const struct rna_kube_words words = words_of(round);

	write_condition_path(round->api.node, &path);
	rna_kube_write_conditions(&words, now.realtime, &body);
	return send_to_node(round, APPLY_TYPE, &path, &body, answer);
}

static bool all_conditions_decided(const struct rna_node_wish *wish)
{
	for (size_t i = 0; i < wish->condition_count; i++)
		if (!wish->conditions[i].message)
			return false;
	return true;
}

/* At the end of all, whoever owns them: a strategic merge patch asks for no owner. */
static enum rna_kubernetes_result send_conditions(struct rna_kube_round *round,
						  struct rna_kube_answer *answer,
						  struct rna_time now)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	struct rna_kube_words words;

	if (!all_conditions_decided(round->wish) &&
	    know_node(round, answer, now) != RNA_KUBERNETES_OK)
		return answer->result;
	if (is_without_conditions(round)) /* the look has shown it, after this was begun */
		return answer->result = RNA_KUBERNETES_OK;
	if (!round->api.merge && apply_conditions(round, answer, now) != RNA_KUBERNETES_OK)
		round->api.merge = answer->reply.status == UNSUPPORTED_TYPE;
	if (round->api.merge || (round->cleanup && answer->result == RNA_KUBERNETES_OK))
		(void)patch_conditions(round, answer, now);
	if (answer->result != RNA_KUBERNETES_OK)
		return answer->result;
	words = words_of(round);
	rna_kube_write_conditions(&words, 0, &body);
	remember_body(&round->conditions, &body);
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

	if (fetch_node(round, false, answer, arena, &node) != RNA_KUBERNETES_OK ||
	    has_taint_as_wished(round, &node))
		return answer->result;
	if (rna_kube_write_taints(round->api.options, round->wish->taint, &answer->reply.body,
				  &body) < 0)
		return fail_memory(answer);
	return send_merge_patch(round, &body, answer);
}

/*
 * spec.taints is an atomic list: whoever applies it, owns it whole and takes others' taints away.
 * So it is read, changed and written with the version that was read; the API answers 409 when
 * somebody was faster.
 */
static enum rna_kubernetes_result send_taint(struct rna_kube_round *round,
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

/* -- Events ------------------------------------------------------------------------------------ */

static void drop_event(struct rna_kube_round *round, size_t index)
{
	struct rna_kube_event *event = &round->events[index];

	round->events_dropped += event->waiting;
	free(event->name);
	free(event->reason);
	free(event->message);
	round->event_count--;
	memmove(event, event + 1, (round->event_count - index) * sizeof(*event));
}

/* What is over and sent may be forgotten first; else the oldest has to go. */
static void make_room(struct rna_kube_round *round)
{
	size_t oldest = 0;

	if (round->event_count < RNA_KUBE_EVENTS_MAX)
		return;
	for (size_t i = 1; i < round->event_count; i++) {
		const struct rna_kube_event *a = &round->events[i], *b = &round->events[oldest];

		if (a->waiting < b->waiting || (a->waiting == b->waiting && a->last < b->last))
			oldest = i;
	}
	drop_event(round, oldest);
}

static bool is_same_event(const struct rna_kube_event *a, const struct rna_kube_event *b)
{
	return a->warning == b->warning && strcmp(a->reason, b->reason) == 0 &&
	       strcmp(a->message, b->message) == 0;
}

void rna_kube_add_event(struct rna_kube_round *round, struct rna_kube_event *event)
{
	for (size_t i = 0; i < round->event_count; i++) {
		struct rna_kube_event *known = &round->events[i];

		if (!is_same_event(known, event))
			continue;
		known->count += event->count;
		known->last = event->last;
		known->waiting = true;
		free(event->reason);
		free(event->message);
		return;
	}
	make_room(round);
	round->events[round->event_count++] = *event;
}

static void forget_old_events(struct rna_kube_round *round, struct rna_time now)
{
	for (size_t i = round->event_count; i-- > 0;)
		if (rna_usec_since(round->events[i].last, now.realtime) > EVENT_AGE_MAX)
			drop_event(round, i);
}

/* As kubelet names them: the object, and a number that no two have. */
static bool name_event(struct rna_kube_round *round, struct rna_kube_event *event)
{
	RNA_STRBUF struct rna_strbuf name = RNA_STRBUF_INIT;

	rna_strbuf_printf(&name, "%s.%" PRIx64, round->api.node,
			  rna_pace_random(&round->random, UINT64_MAX));
	event->name = rna_strbuf_take(&name);
	return event->name;
}

static enum rna_kubernetes_result post_event(struct rna_kube_round *round,
					     struct rna_kube_event *event,
					     struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;
	struct rna_kube_request request = {
		.method = "POST",
		.path = EVENTS_PATH "?fieldManager=" LABEL_MANAGER,
		.type = "application/json",
	};

	free(RNA_TAKE(event->name));
	if (!name_event(round, event))
		return fail_memory(answer);
	rna_kube_write_event(round->api.node, round->node.uid, event, &body);
	if (!rna_strbuf_ok(&body))
		return fail_memory(answer);
	request.body = body.data;
	if (rna_kube_call(&round->api, &request, answer) != RNA_KUBERNETES_OK)
		free(RNA_TAKE(event->name));
	return answer->result;
}

static enum rna_kubernetes_result patch_event(struct rna_kube_round *round,
					      const struct rna_kube_event *event,
					      struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT, body = RNA_STRBUF_INIT;

	rna_strbuf_printf(&path, EVENTS_PATH "/%s?fieldManager=" LABEL_MANAGER, event->name);
	rna_kube_write_event_patch(event, &body);
	return send(round, MERGE_TYPE, &path, &body, answer);
}

/* The API forgets Events after an hour; one that it has forgotten is told as a new one. */
static enum rna_kubernetes_result send_event(struct rna_kube_round *round,
					     struct rna_kube_event *event,
					     struct rna_kube_answer *answer)
{
	if (event->name && (patch_event(round, event, answer) == RNA_KUBERNETES_OK ||
			    answer->reply.status != NOT_FOUND))
		return answer->result;
	return post_event(round, event, answer);
}

/* One that the API refuses, for a webhook of the cluster does not like it, holds up no other. */
static enum rna_kubernetes_result send_events(struct rna_kube_round *round,
					      struct rna_kube_answer *answer, struct rna_time now)
{
	forget_old_events(round, now);
	answer->result = RNA_KUBERNETES_OK;
	for (size_t i = 0; i < round->event_count; i++) {
		struct rna_kube_event *event = &round->events[i];

		if (!event->waiting)
			continue;
		(void)send_event(round, event, answer);
		if (answer->result == RNA_KUBERNETES_OK)
			round->events_sent++;
		else if (answer->result == RNA_KUBERNETES_REFUSED)
			round->events_dropped++;
		else
			break;
		event->waiting = false;
	}
	return answer->result;
}

/* -- The round --------------------------------------------------------------------------------- */

static task_function *const tasks[RNA_KUBE_TASK_COUNT] = {
	[RNA_KUBE_LOOK] = look,
	[RNA_KUBE_LABELS] = send_labels,
	[RNA_KUBE_CONDITIONS] = send_conditions,
	[RNA_KUBE_TAINT] = send_taint,
	[RNA_KUBE_EVENTS] = send_events,
};

void rna_kube_open(struct rna_kube_round *round, const struct rna_pace_due *due)
{
	struct rna_kube_job *jobs = round->jobs;

	jobs[RNA_KUBE_LOOK].open |= due->look;
	jobs[RNA_KUBE_LABELS].open |=
		(due->change && labels_behind(round)) || (due->resync && has_labels(round));
	jobs[RNA_KUBE_CONDITIONS].open |=
		(due->change && conditions_behind(round)) ||
		((due->resync || due->heartbeat) && has_conditions(round));
	jobs[RNA_KUBE_TAINT].open |= due->change && taint_behind(round);
	jobs[RNA_KUBE_EVENTS].open |= due->change && has_events(round);
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
 * A problem is told when it is met a second time, and then in the words in which it was met: a
 * restarting API server forbids everything for a moment, and times in texts differ. It stays until
 * it is over or has become another; those of other tasks are told then.
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
		return true;
	}
	wait = &round->wait;
	rna_wait_longer(wait, RNA_WAIT_LONGEST, answer->reply.retry_after, &round->random,
			now.monotonic);
	note_problem(round, RNA_KUBE_TASK_COUNT, wait, answer, now);
	return false;
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
	rna_kube_disconnect(&round->api);
}

void rna_kube_want(const struct rna_kube_round *round, struct rna_pace *pace, rna_usec now)
{
	if (rna_kube_is_behind(round))
		rna_pace_want(pace, now);
	else
		rna_pace_forget(pace);
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
	while (round->event_count > 0)
		drop_event(round, round->event_count - 1);
	rna_strbuf_deinit(&round->labels);
	rna_strbuf_deinit(&round->conditions);
	(void)rna_arena_free(round->label_arena);
	(void)rna_arena_free(round->node_arena);
	free(round->problem);
}
