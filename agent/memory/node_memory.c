// SPDX-License-Identifier: Apache-2.0
#include "node_memory.h"

#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"

static void told_deinit(struct rna_told *told)
{
	free(told->name);
	free(told->message);
	free(told->next_message);
}

void rna_node_memory_deinit(struct rna_node_memory *memory)
{
	for (size_t i = 0; i < memory->count; i++)
		told_deinit(&memory->items[i]);
	free(memory->items);
	for (size_t i = 0; i < memory->name_count; i++)
		free(memory->names[i].key);
	free(memory->names);
	*memory = (struct rna_node_memory){0};
}

struct rna_told *rna_told_find(struct rna_node_memory *memory, const char *name)
{
	struct rna_told *items;
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
	items[memory->count] = (struct rna_told){.name = copy};
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
static bool is_worse(const struct rna_told *told, const struct rna_node_verdict *seen)
{
	if (!told->decided)
		return seen->kind == RNA_VERDICT_NONE || seen->bad;
	return told->verdict.kind == RNA_VERDICT_UNKNOWN ? seen->bad
							 : seen->rank < told->verdict.rank;
}

static bool take_text(char **place, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return false;
	free(*place);
	*place = copy;
	return true;
}

/* A message that changes leaves the time alone since when it has been so. */
static bool set_told(struct rna_told *told, const struct rna_node_verdict *verdict,
		     const char *message, struct rna_time now)
{
	bool other = !told->decided || !is_same(&told->verdict, verdict);

	if (!take_text(&told->message, message))
		return false;
	if (other)
		told->since = now.realtime;
	told->verdict = *verdict;
	told->decided = true;
	told->confirmed = true;
	told->waits = false;
	return true;
}

/* A change that has to be stable is dropped if it cannot be observed whether it is. */
static bool follow_unknown(struct rna_told *told, const struct rna_node_delays *delays,
			   struct rna_time now)
{
	const struct rna_node_verdict unknown = {.kind = RNA_VERDICT_UNKNOWN};

	told->waits &= told->worse;
	if (told->blind == 0)
		told->blind = now.monotonic;
	if (rna_usec_since(told->blind, now.monotonic) < delays->unknown ||
	    (told->decided && told->verdict.kind == RNA_VERDICT_UNKNOWN))
		return false;
	return set_told(told, &unknown, NULL, now);
}

/*
 * A bad state may get better or worse without restarting its delay, as long as it is bad. Where
 * nothing was published yet, "nothing" is none.
 */
static bool is_still_bad(const struct rna_told *told, const struct rna_node_verdict *seen,
			 const char *message, bool worse)
{
	if (!told->waits || told->worse != worse ||
	    (!told->decided && told->next.kind != seen->kind))
		return false;
	return worse || (is_same(&told->next, seen) && rna_same_text(told->next_message, message));
}

bool rna_told_follow(struct rna_told *told, const struct rna_node_verdict *seen,
		     const char *message, const struct rna_node_delays *delays, struct rna_time now)
{
	bool worse = is_worse(told, seen);

	if (seen->kind == RNA_VERDICT_UNKNOWN)
		return follow_unknown(told, delays, now);
	told->blind = 0;
	told->confirmed |= told->decided && is_same(&told->verdict, seen);
	if ((worse && delays->settling) || (told->decided && is_same(&told->verdict, seen) &&
					    rna_same_text(told->message, message))) {
		told->waits = false;
		return false;
	}
	if (!is_still_bad(told, seen, message, worse))
		told->from = now.monotonic;
	if (!take_text(&told->next_message, message))
		return false;
	told->waits = true;
	told->worse = worse;
	told->next = *seen;
	if (rna_usec_since(told->from, now.monotonic) < (worse ? delays->down : delays->up))
		return false;
	return set_told(told, seen, message, now);
}

void rna_told_suspend(struct rna_told *told)
{
	told->waits = false;
	told->blind = 0;
}

bool rna_told_forget(struct rna_node_memory *memory, const char *name)
{
	struct rna_told *told = NULL;
	bool decided;

	for (size_t i = 0; i < memory->count && !told; i++)
		if (strcmp(memory->items[i].name, name) == 0)
			told = &memory->items[i];
	if (!told)
		return false;
	decided = told->decided;
	free(told->message);
	free(told->next_message);
	*told = (struct rna_told){.name = told->name};
	return decided;
}

static rna_usec time_after(rna_usec time, rna_usec delay)
{
	return delay < RNA_USEC_NEVER - time ? time + delay : RNA_USEC_NEVER;
}

/* A bad state that cannot be confirmed now does not become due by time. */
rna_usec rna_told_due(const struct rna_told *told, const struct rna_node_delays *delays)
{
	if (told->blind > 0)
		return told->decided && told->verdict.kind == RNA_VERDICT_UNKNOWN
			       ? RNA_USEC_NEVER
			       : time_after(told->blind, delays->unknown);
	if (told->waits)
		return time_after(told->from, told->worse ? delays->down : delays->up);
	return RNA_USEC_NEVER;
}
