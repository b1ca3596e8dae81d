// SPDX-License-Identifier: Apache-2.0
/* The Events of a round: those of one kind are one with a count, and few are kept. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "round.h"

#define EVENT_AGE_MAX (3600 * RNA_USEC_PER_SEC) /* what the API keeps them for, by default */

static void drop_event(struct rna_kube_round *round, size_t index)
{
	struct rna_kube_event *event = &round->events[index];

	round->status.events_dropped += event->waiting;
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

void rna_kube_drop_events(struct rna_kube_round *round)
{
	while (round->event_count > 0)
		drop_event(round, round->event_count - 1);
}

/* NULL: there is none of this kind yet. */
static struct rna_kube_event *find_event(struct rna_kube_round *round,
					 const struct rna_node_event *event)
{
	for (size_t i = 0; i < round->event_count; i++) {
		struct rna_kube_event *known = &round->events[i];

		if (known->warning == event->warning && strcmp(known->reason, event->reason) == 0 &&
		    strcmp(known->message, event->message) == 0)
			return known;
	}
	return NULL;
}

void rna_kube_add_event(struct rna_kube_round *round, const struct rna_node_event *event)
{
	struct rna_kube_event *its = find_event(round, event);

	if (round->status.ignored)
		return;
	if (!its) {
		make_room(round);
		its = &round->events[round->event_count++];
		*its = (struct rna_kube_event){
			.warning = event->warning,
			.reason = strdup(event->reason),
			.message = strdup(event->message),
			.first = event->time.realtime,
		};
	}
	its->count++;
	its->last = event->time.realtime;
	its->waiting = true;
	if (!its->reason || !its->message)
		drop_event(round, round->event_count - 1);
}

bool rna_kube_has_events(const struct rna_kube_round *round)
{
	for (size_t i = 0; i < round->event_count; i++)
		if (round->events[i].waiting)
			return true;
	return false;
}

static void forget_old_events(struct rna_kube_round *round, rna_usec now)
{
	for (size_t i = round->event_count; i-- > 0;)
		if (rna_usec_since(round->events[i].last, now) > EVENT_AGE_MAX)
			drop_event(round, i);
}

/* As kubelet names them: the object, and a number that no two have. */
static bool name_event(struct rna_kube_round *round, struct rna_kube_event *event)
{
	RNA_STRBUF struct rna_strbuf name = RNA_STRBUF_INIT;

	rna_strbuf_printf(&name, "%s.%" PRIx64, round->api.node,
			  rna_pace_random(&round->pace.random, UINT64_MAX));
	event->name = rna_strbuf_take(&name);
	return event->name;
}

static enum rna_kubernetes_result post_event(struct rna_kube_round *round,
					     struct rna_kube_event *event,
					     struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;

	free(RNA_TAKE(event->name));
	if (!name_event(round, event))
		return rna_kube_fail_memory(answer);
	rna_kube_write_event(round->api.node, round->node.uid, event, &body);
	if (rna_kube_send(&round->api, RNA_KUBE_POST_EVENT, NULL, &body, answer) !=
	    RNA_KUBERNETES_OK)
		free(RNA_TAKE(event->name));
	return answer->result;
}

static enum rna_kubernetes_result patch_event(struct rna_kube_round *round,
					      const struct rna_kube_event *event,
					      struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf body = RNA_STRBUF_INIT;

	rna_kube_write_event_patch(event, &body);
	return rna_kube_send(&round->api, RNA_KUBE_MERGE_EVENT, event->name, &body, answer);
}

/* The API forgets Events after an hour; one that it has forgotten is created again. */
static enum rna_kubernetes_result send_event(struct rna_kube_round *round,
					     struct rna_kube_event *event,
					     struct rna_kube_answer *answer)
{
	if (event->name && (patch_event(round, event, answer) == RNA_KUBERNETES_OK ||
			    answer->reply.status != RNA_KUBE_NOT_FOUND))
		return answer->result;
	return post_event(round, event, answer);
}

/* One that the API refuses, for a webhook of the cluster does not like it, holds up no other. */
enum rna_kubernetes_result rna_kube_send_events(struct rna_kube_round *round,
						struct rna_kube_answer *answer)
{
	forget_old_events(round, round->now.realtime);
	answer->result = RNA_KUBERNETES_OK;
	for (size_t i = 0; i < round->event_count; i++) {
		struct rna_kube_event *event = &round->events[i];

		if (!event->waiting)
			continue;
		(void)send_event(round, event, answer);
		if (answer->result == RNA_KUBERNETES_OK)
			round->status.events_sent++;
		else if (answer->result == RNA_KUBERNETES_REFUSED)
			round->status.events_dropped++;
		else
			break;
		event->waiting = false;
	}
	return answer->result;
}
