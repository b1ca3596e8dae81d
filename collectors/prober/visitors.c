// SPDX-License-Identifier: Apache-2.0
#include "visitors.h"

#include <string.h>

#include "rna/base/cleanup.h"

enum {
	WINDOW = 64,
	SETTLED = 2, /* with so many newer ones a number is missing, until it comes after all */
	/* Answers at once. Probes can have waited while this host stood still: those of
	 * RNA_UNDER_WAY_OVERFLOW and a second at the highest rate are answered, and not lost. */
	BURST = 4 * RNA_VISITOR_RATE,
};

/* Copies that a network makes take other ways, and are not long after the first. */
#define COPY RNA_USEC_PER_SEC

#define ANSWER_COST (RNA_USEC_PER_SEC / RNA_VISITOR_RATE)

/* -- Numbers ----------------------------------------------------------------------------------- */

/* How many numbers are missing from now on. */
static int move_window(struct rna_visitor_window *window, uint32_t ahead)
{
	int missing = 0;

	if (ahead > 2 * WINDOW) { /* it was away, or begins anew: nothing is known of the rest */
		window->heard = UINT64_MAX;
		return 0;
	}
	for (uint32_t i = 0; i < ahead; i++) {
		missing += !(window->heard >> (SETTLED - 1) & 1);
		window->heard <<= 1;
	}
	return missing;
}

/* Is it that number, or one before it? */
static bool is_behind(uint32_t newest, uint32_t number)
{
	return newest - number < UINT32_MAX / 2;
}

/* False: it was heard before, or is older than the window. *ret_missing: more than before. */
static bool note_number(struct rna_visitor_window *window, uint32_t number, int *ret_missing)
{
	uint32_t behind = window->newest - number, ahead = number - window->newest;

	*ret_missing = 0;
	if (!window->begun) {
		*window = (struct rna_visitor_window){true, number, UINT64_MAX};
		return true;
	}
	if (is_behind(window->newest, number)) {
		uint64_t bit = behind < WINDOW ? 1ull << behind : 0;

		if (bit == 0 || (window->heard & bit))
			return false;
		window->heard |= bit;
		*ret_missing = behind >= SETTLED ? -1 : 0;
		return true;
	}
	*ret_missing = move_window(window, ahead);
	window->heard |= 1;
	window->newest = number;
	return true;
}

/* -- Visitors ---------------------------------------------------------------------------------- */

static struct rna_visitor *find_place(struct rna_visitors *visitors, rna_usec now)
{
	struct rna_visitor *oldest = &visitors->visitors[0];

	for (size_t i = 0; i < RNA_VISITORS_MAX; i++) {
		struct rna_visitor *visitor = &visitors->visitors[i];

		if (visitor->session == 0)
			return visitor;
		if (visitor->last < oldest->last)
			oldest = visitor;
	}
	return rna_usec_since(oldest->last, now) > RNA_VISITOR_IDLE && !oldest->aiming ? oldest
										       : NULL;
}

static struct rna_visitor *find(struct rna_visitors *visitors, const struct rna_packet *probe)
{
	for (size_t i = 0; i < RNA_VISITORS_MAX; i++)
		if (visitors->visitors[i].session == probe->from &&
		    visitors->visitors[i].target == probe->target)
			return &visitors->visitors[i];
	return NULL;
}

/* -- Former ones ------------------------------------------------------------------------------- */

static struct rna_former_visitor *find_former(struct rna_visitors *visitors,
					      const struct rna_packet *probe)
{
	for (size_t i = 0; i < visitors->former_count; i++)
		if (visitors->former[i].session == probe->from &&
		    visitors->former[i].target == probe->target)
			return &visitors->former[i];
	return NULL;
}

static bool has_heard(const struct rna_former_visitor *former, const struct rna_packet *probe)
{
	return former->begun[probe->large] &&
	       is_behind(former->newest[probe->large], probe->number);
}

/* False: no more can be kept. */
static bool keep(struct rna_visitors *visitors, const struct rna_visitor *visitor)
{
	const struct rna_visitor_window *windows = visitor->windows;

	if (visitor->session == 0)
		return true; /* a free place */
	visitors->full = visitors->former_count == RNA_FORMER_VISITORS_MAX;
	if (visitors->full)
		return false;
	visitors->former[visitors->former_count++] = (struct rna_former_visitor){
		.session = visitor->session,
		.target = visitor->target,
		.begun = {windows[0].begun, windows[1].begun},
		.newest = {windows[0].newest, windows[1].newest},
	};
	return true;
}

enum rna_probe_stranger rna_visitors_find(struct rna_visitors *visitors,
					  const struct rna_packet *probe, rna_usec now,
					  struct rna_visitor **ret, struct rna_aims *ret_old)
{
	struct rna_former_visitor *former, before = {0};
	struct rna_visitor *place;

	*ret_old = (struct rna_aims){0};
	*ret = probe->from != 0 ? find(visitors, probe) : NULL;
	if (*ret)
		return RNA_STRANGER_COUNT;
	former = find_former(visitors, probe);
	if (former && has_heard(former, probe))
		return RNA_STRANGER_REPLAY;
	place = probe->from != 0 ? find_place(visitors, now) : NULL;
	if (place && former) {
		before = *former;
		*former = visitors->former[--visitors->former_count];
	}
	if (!place || !keep(visitors, place))
		return RNA_STRANGER_RATE;
	*ret_old = place->aims;
	*place = (struct rna_visitor){
		.session = probe->from,
		.target = probe->target,
		.last = now,
		.credit = BURST * ANSWER_COST,
	};
	for (size_t i = 0; i < RNA_ARRAY_SIZE(before.begun); i++)
		place->windows[i] =
			(struct rna_visitor_window){before.begun[i], before.newest[i], UINT64_MAX};
	*ret = place;
	return RNA_STRANGER_COUNT;
}

/* -- Probes ------------------------------------------------------------------------------------ */

static bool pay(struct rna_visitor *visitor, rna_usec now)
{
	rna_usec credit = visitor->credit + rna_usec_since(visitor->last, now);

	credit = credit > BURST * ANSWER_COST ? BURST * ANSWER_COST : credit;
	visitor->last = now;
	visitor->credit = credit < ANSWER_COST ? credit : credit - ANSWER_COST;
	return credit >= ANSWER_COST;
}

/* One that was reported as missing and comes after all is not taken back: then there is none. */
static void count_missing(uint64_t *count, int more)
{
	if (more >= 0)
		*count += (uint64_t)more;
	else if (*count > 0)
		(*count)--;
}

enum rna_probe_stranger rna_visitor_accept(struct rna_visitor *visitor,
					   const struct rna_packet *probe, rna_usec now)
{
	struct rna_visitor_window *window = &visitor->windows[probe->large];
	bool copy = probe->number == window->newest && rna_usec_since(visitor->last, now) < COPY;
	int missing;

	if (!note_number(window, probe->number, &missing))
		return copy ? RNA_STRANGER_DUPLICATE : RNA_STRANGER_REPLAY;
	visitor->heard++;
	count_missing(&visitor->missing, missing);
	if (probe->large)
		count_missing(&visitor->large_missing, missing);
	return pay(visitor, now) ? RNA_STRANGER_COUNT : RNA_STRANGER_RATE;
}

bool rna_visitor_report(struct rna_visitor *visitor, struct rna_prober_visitor_report *ret)
{
	if (visitor->session == 0 || visitor->heard == 0)
		return false;
	*ret = (struct rna_prober_visitor_report){
		.session = visitor->session,
		.heard = visitor->heard,
		.missing = visitor->missing,
		.large_missing = visitor->large_missing,
	};
	memcpy(ret->gid, visitor->gid, sizeof(ret->gid));
	visitor->heard = visitor->missing = visitor->large_missing = 0;
	return true;
}
