// SPDX-License-Identifier: Apache-2.0
#include "account.h"

#include <stdio.h>

#include "rna/base/log.h"

/* A device that answered late gets no jobs for a pause, which doubles each time. */
#define FIRST_PAUSE   RNA_USEC_PER_SEC
#define LONGEST_PAUSE (300 * RNA_USEC_PER_SEC)

static void log_slot(int level, const struct rna_target *target, const struct rna_slot *slot,
		     const char *text)
{
	const struct rna_log_field fields[] = {
		{"DEVICE", rna_target_name(target)},
		{"COLLECTOR", slot->job.collector->name},
		{NULL, NULL},
	};

	rna_log(level, fields, "%s", text);
}

static void log_success(const struct rna_target *target, const struct rna_slot *slot)
{
	char text[RNA_ERROR_MAX];

	(void)snprintf(text, sizeof(text), "%s: collector %s has recovered",
		       rna_target_name(target), slot->job.collector->name);
	log_slot(LOG_NOTICE, target, slot, text);
}

/*
 * The first part that is read of a device for an event shows what the event was about, because
 * collectors run in the order of their importance. A part of the node that needs the list of
 * devices is a consequence.
 */
static void note_event(struct rna_account *account, struct rna_target *target,
		       const struct rna_part *part)
{
	unsigned presence = rna_collector_bit(rna_collector_listing(RNA_LISTS_DEVICES));
	rna_usec *unpublished = &account->unpublished[part->origin.source];

	if (part->origin.seen <= target->shown ||
	    (rna_collectors[part->collector].needs & presence))
		return;
	target->shown = part->origin.seen;
	if (*unpublished == 0 || part->origin.seen < *unpublished)
		*unpublished = part->origin.seen;
}

/* How the newest part differs from the one before, which it is about to replace. */
static struct rna_news compare(struct rna_account *account, const struct rna_target *target,
			       const struct rna_slot *slot, const struct rna_part *new)
{
	struct rna_news news = {0};

	if (slot->job.collector->compare)
		slot->job.collector->compare(slot->part, new, &news);
	account->sources[new->origin.source].changes += news.states;
	if (news.problem)
		log_slot(LOG_WARNING, target, slot, news.problem);
	return news;
}

static struct rna_news take_part(struct rna_account *account, struct rna_target *target,
				 struct rna_slot *slot)
{
	struct rna_part *part = RNA_TAKE(slot->job.part);
	struct rna_news news;

	if (slot->ran && !slot->success)
		log_success(target, slot);
	for (enum rna_reason reason = 0; reason < RNA_REASON_COUNT; reason++)
		rna_slot_count_errors(slot, reason, part->errors[reason]);
	part->origin = slot->origin;
	note_event(account, target, part);
	news = compare(account, target, slot, part);
	(void)rna_part_unref(slot->part);
	slot->part = part;
	slot->inherited = rna_part_unref(slot->inherited);
	slot->success = true;
	return news;
}

static void take_failure(struct rna_target *target, struct rna_slot *slot)
{
	RNA_FREE char *text = RNA_TAKE(slot->job.error);

	rna_slot_count_errors(slot, rna_reason_from_errno(slot->job.status), 1);
	if ((!slot->ran || slot->success) && !target->gone)
		log_slot(LOG_WARNING, target, slot, text ? text : "collector failed");
	slot->success = false;
}

static void take_lateness(struct rna_account *account, struct rna_target *target,
			  struct rna_slot *slot)
{
	char text[RNA_ERROR_MAX];

	target->slow = false;
	if (!slot->overdue) {
		target->pause = 0;
		return;
	}
	slot->overdue = 0;
	account->overdue--;
	target->pause = target->pause ? target->pause * 2 : FIRST_PAUSE;
	if (target->pause > LONGEST_PAUSE)
		target->pause = LONGEST_PAUSE;
	target->resume = slot->job.finished + target->pause;
	(void)snprintf(text, sizeof(text), "%s: %s answered after %.1f s, next read in %.0f s",
		       rna_target_name(target), slot->job.collector->name,
		       rna_seconds(slot->duration), rna_seconds(target->pause));
	log_slot(LOG_NOTICE, target, slot, text);
}

struct rna_news rna_account_run(struct rna_account *account, struct rna_target *target,
				struct rna_slot *slot)
{
	struct rna_news news = {0};

	slot->duration = rna_usec_since(slot->job.started, slot->job.finished);
	take_lateness(account, target, slot);
	if (slot->job.status >= 0)
		news = take_part(account, target, slot);
	else
		take_failure(target, slot);
	slot->ran = true;
	return news;
}

void rna_account_missed(struct rna_account *account, const struct rna_target *target,
			const struct rna_slot *slot)
{
	char text[RNA_ERROR_MAX];

	account->missed++;
	(void)snprintf(text, sizeof(text), "%s: a poll of %s shows a change without an event",
		       rna_target_name(target), slot->job.collector->name);
	log_slot(LOG_INFO, target, slot, text);
}

void rna_account_overdue(struct rna_account *account, const struct rna_target *target,
			 struct rna_slot *slot, rna_usec deadline)
{
	char text[RNA_ERROR_MAX];

	slot->overdue = rna_clock_monotonic() - deadline;
	account->overdue++;
	(void)snprintf(
		text, sizeof(text),
		"%s: %s is stalled: no answer for %.1f s; no further reads of the device until "
		"it returns",
		rna_target_name(target), slot->job.collector->name, rna_seconds(deadline));
	log_slot(LOG_WARNING, target, slot, text);
}

void rna_account_published(struct rna_account *account, rna_usec now)
{
	for (unsigned source = 0; source < RNA_SOURCE_COUNT; source++) {
		if (account->unpublished[source] == 0)
			continue;
		rna_histogram_add(&account->sources[source].latency,
				  rna_usec_since(account->unpublished[source], now));
		account->unpublished[source] = 0;
	}
}
