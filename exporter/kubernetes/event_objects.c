// SPDX-License-Identifier: Apache-2.0
/* The Events of a round: those of one kind are one with a count, and few are kept. */
#include <stdlib.h>
#include <string.h>

#include "rna/base/hash.h"

#include "round.h"

#define EVENT_AGE_MAX (3600 * RNA_USEC_PER_SEC) /* what the API keeps them for, by default */

static void drop_event(struct rna_kube_round *round, size_t index)
{
	struct rna_kube_event *event = &round->events[index];

	round->status.events_dropped += event->waiting;
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

static bool has_number(const struct rna_kube_round *round, unsigned number)
{
	for (size_t i = 0; i + 1 < round->event_count; i++)
		if (round->events[i].number == number)
			return true;
	return false;
}

/*
 * For the newest: what its name ends with. Of few, so that a policy can bound how many Events a
 * node has; by what it says, so that an agent that was started again writes the same one.
 */
static unsigned choose_number(const struct rna_kube_round *round,
			      const struct rna_node_event *event)
{
	uint64_t hash = rna_hash_text(rna_hash_text(RNA_HASH_INIT, event->reason), event->message);
	unsigned number = hash % RNA_KUBE_EVENT_NAMES;

	while (has_number(round, number))
		number = (number + 1) % RNA_KUBE_EVENT_NAMES;
	return number;
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
			.number = choose_number(round, event),
		};
	}
	its->count++;
	its->last = event->time.realtime;
	its->waiting = true;
	if (!its->reason || !its->message)
		drop_event(round, round->event_count - 1);
}

/* The admission policy of the chart allows the same Event once in five minutes. */
static bool is_due(const struct rna_kube_round *round, const struct rna_kube_event *event)
{
	return event->waiting &&
	       (event->sent == 0 || rna_usec_since(event->sent, round->now.monotonic) >=
					    round->api.options->event_pause);
}

bool rna_kube_has_events(const struct rna_kube_round *round)
{
	return RNA_ANY(i, round->event_count, is_due(round, &round->events[i]));
}

static void forget_old_events(struct rna_kube_round *round, rna_usec now)
{
	for (size_t i = round->event_count; i-- > 0;)
		if (rna_usec_since(round->events[i].last, now) > EVENT_AGE_MAX)
			drop_event(round, i);
}

static enum rna_kubernetes_result put_event(struct rna_kube_round *round, enum rna_kube_write how,
					    const struct rna_kube_event *event,
					    struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf name = RNA_STRBUF_INIT, body = RNA_STRBUF_INIT;

	rna_strbuf_printf(&name, "%s.rdma-%02u", round->api.node, event->number);
	if (!rna_strbuf_ok(&name))
		return rna_kube_fail_memory(answer);
	rna_kube_write_event(round->api.node, round->node.uid, name.data, event, &body);
	return rna_kube_send(&round->api, how, name.data, &body, answer);
}

/*
 * The API forgets Events after an hour, and an agent that ended may have written one of this name:
 * if one is missing, or there already, the other request is made.
 */
static enum rna_kubernetes_result send_event(struct rna_kube_round *round,
					     const struct rna_kube_event *event,
					     struct rna_kube_answer *answer)
{
	bool known = event->sent > 0;

	(void)put_event(round, known ? RNA_KUBE_MERGE_EVENT : RNA_KUBE_POST_EVENT, event, answer);
	if (answer->reply.status == (known ? RNA_KUBE_NOT_FOUND : RNA_KUBE_CONFLICT))
		(void)put_event(round, known ? RNA_KUBE_POST_EVENT : RNA_KUBE_MERGE_EVENT, event,
				answer);
	return answer->result;
}

/* One that the API refuses, for a webhook of the cluster does not like it, holds up no other. */
enum rna_kubernetes_result rna_kube_send_events(struct rna_kube_round *round,
						struct rna_kube_answer *answer)
{
	forget_old_events(round, round->now.realtime);
	answer->result = RNA_KUBERNETES_OK;
	for (size_t i = 0; i < round->event_count; i++) {
		struct rna_kube_event *event = &round->events[i];

		if (!is_due(round, event))
			continue;
		(void)send_event(round, event, answer);
		if (answer->result == RNA_KUBERNETES_OK)
			round->status.events_sent++;
		else if (answer->result == RNA_KUBERNETES_REFUSED)
			round->status.events_dropped++;
		else
			break;
		event->waiting = false;
		event->sent = round->now.monotonic;
	}
	return answer->result;
}
