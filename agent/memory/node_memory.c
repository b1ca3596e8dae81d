// SPDX-License-Identifier: Apache-2.0
#include "node_memory.h"

#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"

struct rna_published *rna_published_find(struct rna_node_memory *memory, const char *name)
{
	struct rna_published *items;
	char *copy;

	for (size_t i = 0; i < memory->count; i++)
		if (strcmp(memory->items[i].name, name) == 0)
			return &memory->items[i];
	copy = strdup(name);
	items = copy ? reallocarray(memory->items, memory->count + 1, sizeof(*items)) : NULL;
	if (!items) {
		free(copy);
		return NULL;
	}
	memory->items = items;
	items[memory->count] = (struct rna_published){.name = copy};
	return &items[memory->count++];
}

bool rna_node_name_note(struct rna_node_memory *memory, bool taint, const char *key)
{
	struct rna_node_name *names;
	char *copy;

	for (size_t i = 0; i < memory->name_count; i++)
		if (memory->names[i].taint == taint && strcmp(memory->names[i].key, key) == 0)
			return true;
	copy = strdup(key);
	names = copy ? reallocarray(memory->names, memory->name_count + 1, sizeof(*names)) : NULL;
	if (!names) {
		free(copy);
		return false;
	}
	memory->names = names;
	names[memory->name_count++] = (struct rna_node_name){taint, copy};
	return true;
}

static bool is_same(const struct rna_node_verdict *a, const struct rna_node_verdict *b)
{
	return a->kind == b->kind && strcmp(a->value, b->value) == 0;
}

/*
 * Where nothing was published yet, an earlier agent may have: what it published is better than a
 * problem, and than nothing.
 */
static bool is_worse(const struct rna_published *published, const struct rna_node_verdict *seen)
{
	if (!published->decided)
		return seen->kind == RNA_VERDICT_NONE || seen->bad;
	return published->verdict.kind == RNA_VERDICT_UNKNOWN
		       ? seen->bad
		       : seen->rank < published->verdict.rank;
}

/* A message that changes leaves the time alone since when it has been so. */
static bool publish(struct rna_published *published, const struct rna_node_verdict *verdict,
		    const char *message, struct rna_time now)
{
	bool other = !published->decided || !is_same(&published->verdict, verdict);

	if (!rna_text_set(&published->message, message))
		return false;
	if (other)
		published->since = now.realtime;
	published->verdict = *verdict;
	published->decided = true;
	published->confirmed = true;
	published->waits = false;
	return true;
}

/* A change that has to be stable is dropped if it cannot be observed whether it is. */
static bool follow_unknown(struct rna_published *published, const struct rna_node_delays *delays,
			   struct rna_time now)
{
	const struct rna_node_verdict unknown = {.kind = RNA_VERDICT_UNKNOWN};

	published->waits &= published->worse;
	if (published->blind == 0)
		published->blind = now.monotonic;
	if (rna_usec_since(published->blind, now.monotonic) < delays->unknown ||
	    (published->decided && published->verdict.kind == RNA_VERDICT_UNKNOWN))
		return false;
	return publish(published, &unknown, NULL, now);
}

/*
 * A bad state may get better or worse without restarting its delay, as long as it is bad. Where
 * nothing was published yet, "nothing" is none.
 */
static bool is_still_bad(const struct rna_published *published, const struct rna_node_verdict *seen,
			 const char *message, bool worse)
{
	if (!published->waits || published->worse != worse ||
	    (!published->decided && published->next.kind != seen->kind))
		return false;
	return worse ||
	       (is_same(&published->next, seen) && rna_same_text(published->next_message, message));
}

bool rna_published_follow(struct rna_published *published, const struct rna_node_verdict *seen,
			  const char *message, const struct rna_node_delays *delays,
			  struct rna_time now)
{
	bool worse = is_worse(published, seen);

	if (seen->kind == RNA_VERDICT_UNKNOWN)
		return follow_unknown(published, delays, now);
	published->blind = 0;
	published->confirmed |= published->decided && is_same(&published->verdict, seen);
	if ((worse && delays->settling) ||
	    (published->decided && is_same(&published->verdict, seen) &&
	     rna_same_text(published->message, message))) {
		published->waits = false;
		return false;
	}
	if (!is_still_bad(published, seen, message, worse))
		published->from = now.monotonic;
	if (!rna_text_set(&published->next_message, message))
		return false;
	published->waits = true;
	published->worse = worse;
	published->next = *seen;
	if (rna_usec_since(published->from, now.monotonic) < (worse ? delays->down : delays->up))
		return false;
	return publish(published, seen, message, now);
}

void rna_published_suspend(struct rna_published *published)
{
	published->waits = false;
	published->blind = 0;
}

bool rna_published_forget(struct rna_node_memory *memory, const char *name)
{
	struct rna_published *published = NULL;
	bool decided;

	for (size_t i = 0; i < memory->count && !published; i++)
		if (strcmp(memory->items[i].name, name) == 0)
			published = &memory->items[i];
	if (!published)
		return false;
	decided = published->decided;
	free(published->message);
	free(published->next_message);
	*published = (struct rna_published){.name = published->name};
	return decided;
}

static rna_usec time_after(rna_usec time, rna_usec delay)
{
	return delay < RNA_USEC_NEVER - time ? time + delay : RNA_USEC_NEVER;
}

/* A bad state that cannot be confirmed now does not become due by time. */
rna_usec rna_published_due(const struct rna_published *published,
			   const struct rna_node_delays *delays)
{
	if (published->blind > 0)
		return published->decided && published->verdict.kind == RNA_VERDICT_UNKNOWN
			       ? RNA_USEC_NEVER
			       : time_after(published->blind, delays->unknown);
	if (published->waits)
		return time_after(published->from, published->worse ? delays->down : delays->up);
	return RNA_USEC_NEVER;
}
