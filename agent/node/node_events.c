// SPDX-License-Identifier: Apache-2.0
#include "node_events.h"

#include <stdlib.h>
#include <string.h>

#define GATHER (3 * RNA_USEC_PER_SEC)

enum {
	OBJECTS_MAX = 256,  /* bytes after which no further object is named */
	MESSAGE_MAX = 1023, /* that an Event takes */
	REASON_MAX = 64,
};

static void event_deinit(struct rna_gathered_event *event)
{
	free(event->text);
	free(event->remedy);
	free(event->objects);
}

void rna_node_events_clear(struct rna_node_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		event_deinit(&events->items[i]);
	free(events->items);
	*events = (struct rna_node_events){0};
}

static struct rna_gathered_event *find(struct rna_node_events *events, const struct rna_rule *rule,
				       bool over)
{
	return RNA_FIND(i, events->items, events->count,
			events->items[i].rule == rule && events->items[i].over == over);
}

static void begin(struct rna_node_events *events, const struct rna_gathered_event *event)
{
	struct rna_gathered_event *items =
		reallocarray(events->items, events->count + 1, sizeof(*items));
	struct rna_gathered_event *added;

	if (!items)
		return;
	events->items = items;
	added = &items[events->count];
	*added = *event;
	added->text = strdup(event->text);
	added->remedy = strdup(event->remedy);
	if (added->text && added->remedy)
		events->count++;
	else
		event_deinit(added);
}

static void add_object(struct rna_gathered_event *event, const struct rna_finding *finding)
{
	size_t len = event->objects ? strlen(event->objects) : 0;
	char *longer = NULL;

	event->count++;
	if (len > OBJECTS_MAX || !finding->device)
		return;
	if (asprintf(&longer, "%s%s%s", len > 0 ? event->objects : "", len > 0 ? ", " : "",
		     finding->device) < 0)
		return;
	free(event->objects);
	event->objects = longer;
}

void rna_node_events_take(struct rna_node_events *events, const struct rna_rule *rule,
			  const struct rna_finding *finding, bool over, struct rna_time now)
{
	struct rna_gathered_event *event = find(events, rule, over);
	const struct rna_gathered_event first = {
		.rule = rule,
		.over = over,
		.time = now,
		.count = 1,
		.text = (char *)(uintptr_t)finding->text,
		.remedy = (char *)(uintptr_t)finding->remedy,
	};

	if (finding->severity < RNA_SEVERITY_WARNING)
		return;
	if (event)
		add_object(event, finding);
	else
		begin(events, &first);
}

rna_usec rna_node_events_due(const struct rna_node_events *events)
{
	return events->count > 0 ? events->items[0].time.monotonic + GATHER : RNA_USEC_NEVER;
}

bool rna_node_events_are_due(const struct rna_node_events *events, rna_usec now)
{
	return now >= rna_node_events_due(events);
}

/* "port-down" becomes RdmaPortDown, and when it is resolved RdmaPortDownResolved. */
static const char *reason_of(const struct rna_gathered_event *event, struct rna_arena *arena)
{
	char reason[REASON_MAX];
	size_t len = 0;
	bool upper = true;

	for (const char *c = event->rule->name; *c && len < sizeof(reason) - 1; c++) {
		if (*c != '-')
			reason[len++] =
				upper && *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
		upper = *c == '-';
	}
	reason[len] = '\0';
	return rna_arena_printf(arena, "Rdma%s%s", reason, event->over ? "Resolved" : "");
}

static const char *message_of(const struct rna_gathered_event *event, struct rna_arena *arena)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	if (event->over)
		rna_strbuf_puts(&text, "resolved: ");
	rna_strbuf_puts(&text, event->text);
	if (event->count > 1)
		rna_strbuf_printf(&text, "; and %zu more%s%s", event->count - 1,
				  event->objects ? ": " : "", event->objects ? event->objects : "");
	if (!event->over)
		rna_strbuf_printf(&text, ". %s", event->remedy);
	if (!rna_strbuf_ok(&text))
		return NULL;
	return rna_arena_printf(arena, "%.*s", MESSAGE_MAX, text.data);
}

bool rna_node_events_add(const struct rna_node_events *events, struct rna_desired_node *desired)
{
	struct rna_node_event *items =
		rna_arena_array(desired->arena, events->count, sizeof(*items));

	if (!items && events->count > 0)
		return false;
	for (size_t i = 0; i < events->count; i++) {
		const struct rna_gathered_event *event = &events->items[i];

		items[i] = (struct rna_node_event){
			.warning = !event->over,
			.reason = reason_of(event, desired->arena),
			.message = message_of(event, desired->arena),
			.time = event->time,
		};
		if (!items[i].reason || !items[i].message)
			return false;
	}
	desired->events = items;
	desired->event_count = events->count;
	return true;
}
