// SPDX-License-Identifier: Apache-2.0
/*
 * The walk over the known counters.
 *
 * There are some 300 known counters, and a port has a fifth of them: most questions are about a
 * counter that no group has. Lists remember their foremost row, which answers those at once; the
 * others look at one packed cursor per group.
 */
#include "walk.h"

#include <errno.h>

static const struct rna_counter *table_end(void)
{
	return rna_counters + rna_counter_count;
}

/* Unknown files stand behind all known ones. */
static const struct rna_counter *row_at(const struct rna_cursor *cursor)
{
	return cursor->at < cursor->end && cursor->at->counter ? cursor->at->counter : table_end();
}

static void start_at(struct rna_cursor *cursor, const struct rna_subject *subject,
		     const struct rna_counter_group *group)
{
	*cursor = (struct rna_cursor){
		.at = group->values,
		.end = group->values + group->count,
		.subject = subject,
	};
	cursor->next = row_at(cursor);
}

/* The cursors of one place, put behind those of other places. Returns where the next ones go. */
static struct rna_cursor *start_list(struct rna_cursor_list *list, enum rna_counter_place place,
				     const struct rna_subject_list *subjects,
				     struct rna_cursor *cursors)
{
	*list = (struct rna_cursor_list){.items = cursors, .first = rna_counters};
	for (size_t i = 0; i < subjects->count; i++) {
		const struct rna_counter_group *group = subjects->items[i].groups[place];

		if (group)
			start_at(&list->items[list->count++], &subjects->items[i], group);
	}
	return list->items + list->count;
}

int rna_walk_start(struct rna_walk *walk, const struct rna_subjects *subjects)
{
	const struct rna_subject_list *ports = &subjects->scopes[RNA_SCOPE_PORT];
	const struct rna_subject_list *devices = &subjects->scopes[RNA_SCOPE_DEVICE];
	size_t most = RNA_PLACE_COUNT * (ports->count + devices->count) + 1; /* never none */
	struct rna_cursor *cursors = walk->cursors;

	if (most > walk->size) {
		cursors = reallocarray(walk->cursors, most, sizeof(*cursors));
		if (!cursors)
			return -ENOMEM;
		walk->cursors = cursors;
		walk->size = most;
	}
	for (enum rna_counter_place place = 0; place < RNA_PLACE_COUNT; place++)
		cursors = start_list(&walk->places[place], place,
				     place == RNA_PLACE_DEVICE_HW_COUNTERS ? devices : ports,
				     cursors);
	return 0;
}

void rna_walk_deinit(struct rna_walk *walk)
{
	free(walk->cursors);
	*walk = RNA_WALK_INIT;
}

const struct rna_counter_value *rna_walk_next(struct rna_walk *walk,
					      const struct rna_counter *counter, size_t *from,
					      const struct rna_subject **ret_subject)
{
	struct rna_cursor_list *list = &walk->places[counter->place];

	if (*from == 0) {
		if (counter < list->first)
			return NULL;
		list->first = table_end();
	}
	while (*from < list->count) {
		struct rna_cursor *cursor = &list->items[(*from)++];
		const struct rna_counter_value *found = NULL;

		for (; cursor->next <= counter; cursor->next = row_at(cursor)) {
			if (cursor->next == counter)
				found = cursor->at;
			cursor->at++;
		}
		if (cursor->next < list->first)
			list->first = cursor->next;
		if (found) {
			*ret_subject = cursor->subject;
			return found;
		}
	}
	return NULL;
}
