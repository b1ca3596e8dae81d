// SPDX-License-Identifier: Apache-2.0
#include "ledger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	UNKNOWN = 255,
	SAMPLES_MIN = 8,   /* of a median */
	HOPS_SETTLED = 10, /* equal ones in a row that are usual */
	LARGE_MAX = 64,    /* that a report has, or it is not honest */
};

/*
 * After a silence, probes of its last second are still counted as lost: RNA_PROBER_PATIENCE, a
 * report period, and two turns of the judging loop.
 */
#define AFTERMATH     (4 * RNA_USEC_PER_SEC)
#define USUAL_PERIOD  (60 * RNA_USEC_PER_SEC)
#define HOPS_ACCEPTED (3600 * RNA_USEC_PER_SEC) /* after that, another path is the usual one */
#define PURE          0.005 /* of small ones lost: no path loses all that it carries */

void rna_ledger_init(struct rna_ledger *ledger)
{
	*ledger = (struct rna_ledger){.hops_usual = UNKNOWN};
	ledger->there = ledger->back = (struct rna_probe_way){UNKNOWN, UNKNOWN, UNKNOWN};
	ledger->dscp_other = ledger->hops.value = UNKNOWN;
}

/* -- Counts ------------------------------------------------------------------------------------ */

static struct rna_probe_counts *newest(struct rna_ledger *ledger)
{
	return &ledger->buckets[ledger->bucket % RNA_LEDGER_BUCKETS];
}

static void count(struct rna_ledger *ledger, const struct rna_probe_counts *counts)
{
	rna_probe_counts_merge(&ledger->total, counts);
	rna_probe_counts_merge(newest(ledger), counts);
}

static void turn_buckets(struct rna_ledger *ledger, rna_usec now)
{
	uint64_t bucket = now / RNA_LEDGER_BUCKET;

	if (bucket <= ledger->bucket)
		return;
	if (bucket - ledger->bucket > RNA_LEDGER_BUCKETS)
		ledger->bucket = bucket - RNA_LEDGER_BUCKETS;
	while (ledger->bucket < bucket) {
		ledger->bucket++;
		*newest(ledger) = (struct rna_probe_counts){0};
		ledger->of_hole[ledger->bucket % RNA_LEDGER_BUCKETS] = 0;
		if (ledger->bucket % (RNA_LEDGER_BUCKETS / 2) == 0) {
			ledger->classes_before = ledger->classes_lost;
			ledger->classes_lost = ledger->classes_seen = 0;
		}
	}
}

/*
 * Where small ones are lost as well, as many large ones are lost by chance, or with their path:
 * then a class that loses all its large ones is no evidence of a hole.
 */
static void follow_large(struct rna_ledger *ledger, bool lost, uint64_t number, uint32_t classes,
			 rna_usec now)
{
	double noise =
		(ledger->small_lost + 1.0) / (ledger->small_lost + ledger->small_answered + 2.0);

	for (uint64_t i = 0; i < number && i < LARGE_MAX; i++)
		rna_paths_add(&ledger->hole, lost, noise < PURE ? classes : 0,
			      fmax(noise, RNA_PATHS_NOISE), now);
}

/* What large ones are open, once it is known whether there is a hole. */
static void close_large(struct rna_ledger *ledger)
{
	uint32_t open = ledger->large_open;

	if (ledger->hole.found) {
		ledger->of_hole[ledger->bucket % RNA_LEDGER_BUCKETS] += (uint16_t)open;
	} else if (ledger->hole.all.shown > 0) {
		return;
	} else {
		newest(ledger)->lost += open;
		newest(ledger)->large_lost += open;
		ledger->small_answered = ledger->small_lost = 0;
	}
	ledger->large_open = 0;
}

static void settle(struct rna_ledger *ledger, struct rna_ledger_losses *losses)
{
	uint32_t small = losses->lost - losses->large;

	ledger->total.lost += losses->lost;
	ledger->total.large_lost += losses->large;
	newest(ledger)->lost += small;
	ledger->small_lost += small;
	ledger->large_open += losses->large;
	follow_large(ledger, true, losses->large, losses->classes, losses->at);
	close_large(ledger);
	*losses = (struct rna_ledger_losses){0};
}

/* A free place, or that of the oldest losses, which count from now on. */
static struct rna_ledger_losses *make_room(struct rna_ledger *ledger)
{
	struct rna_ledger_losses *oldest = &ledger->waiting[0];

	for (size_t i = 0; i < RNA_LEDGER_WAITING; i++) {
		if (ledger->waiting[i].at == 0)
			return &ledger->waiting[i];
		if (ledger->waiting[i].at < oldest->at)
			oldest = &ledger->waiting[i];
	}
	settle(ledger, oldest);
	return oldest;
}

/* Of a silence: lost, but no loss of a path that answers. */
static void count_outage(struct rna_ledger *ledger, uint64_t lost, uint64_t large)
{
	ledger->total.lost += lost;
	ledger->total.large_lost += large;
}

static void keep_losses(struct rna_ledger *ledger, const struct rna_prober_target_report *report,
			rna_usec now)
{
	const struct rna_probe_counts *counts = &report->counts;

	if (ledger->silent || now < ledger->silent_until)
		count_outage(ledger, counts->lost, counts->large_lost);
	else if (counts->lost > 0)
		*make_room(ledger) = (struct rna_ledger_losses){
			.at = now,
			.lost = (uint32_t)counts->lost,
			.large = (uint32_t)counts->large_lost,
			.classes = report->classes_lost,
		};
}

static void make_void(struct rna_ledger *ledger)
{
	struct rna_probe_counts counts = {0};

	for (size_t i = 0; i < RNA_LEDGER_WAITING; i++) {
		counts.voided += ledger->waiting[i].lost;
		ledger->waiting[i] = (struct rna_ledger_losses){0};
	}
	count(ledger, &counts);
}

void rna_ledger_delay(struct rna_ledger *ledger, rna_usec standstill)
{
	for (size_t i = 0; i < RNA_LEDGER_WAITING; i++) {
		struct rna_ledger_losses *losses = &ledger->waiting[i];

		losses->at += losses->at > 0 ? standstill : 0;
		losses->followed += losses->followed > 0 ? standstill : 0;
	}
}

/* An answer was reported after these losses. */
static void follow_losses(struct rna_ledger *ledger, rna_usec now)
{
	for (size_t i = 0; i < RNA_LEDGER_WAITING; i++)
		if (ledger->waiting[i].at > 0 && ledger->waiting[i].followed == 0)
			ledger->waiting[i].followed = now;
}

static struct rna_ledger_losses *find_oldest(struct rna_ledger *ledger)
{
	struct rna_ledger_losses *oldest = NULL;

	for (size_t i = 0; i < RNA_LEDGER_WAITING; i++) {
		struct rna_ledger_losses *losses = &ledger->waiting[i];

		if (losses->at > 0 && (!oldest || losses->at < oldest->at))
			oldest = losses;
	}
	return oldest;
}

/* Those are of the oldest losses. Returns how many: those that count already stay counted. */
static struct rna_ledger_losses take_back(struct rna_ledger *ledger, uint32_t lost, uint32_t large)
{
	struct rna_ledger_losses taken = {0}, *oldest;

	for (; taken.lost < lost && (oldest = find_oldest(ledger)); taken.lost++) {
		oldest->lost--;
		if (taken.large < large && oldest->large > 0) {
			oldest->large--;
			taken.large++;
		}
		if (oldest->lost == 0)
			*oldest = (struct rna_ledger_losses){0};
	}
	return taken;
}

static void take_back_losses(struct rna_ledger *ledger,
			     const struct rna_prober_target_report *report)
{
	struct rna_ledger_losses late = take_back(ledger, report->late, report->late_large);

	count(ledger,
	      &(const struct rna_probe_counts){
		      .answered = late.lost,
		      .large_answered = late.large,
		      .voided = take_back(ledger, report->excused, report->excused_large).lost,
	      });
}

void rna_ledger_forgive(struct rna_ledger *ledger)
{
	make_void(ledger);
	ledger->silent = false;
	ledger->hole = (struct rna_paths){0};
	ledger->large_open = 0;
	ledger->unanswered = 0;
	ledger->last_answer = ledger->first_sent = 0;
	ledger->refusal = 0;
	ledger->refused_first = 0;
}

void rna_ledger_set_confirmed(struct rna_ledger *ledger, bool confirmed, rna_usec now)
{
	if (!confirmed)
		ledger->confirmed = 0;
	else if (ledger->confirmed == 0)
		ledger->confirmed = now;
}

void rna_ledger_set_silent(struct rna_ledger *ledger, bool silent, rna_usec now)
{
	if (ledger->silent && !silent)
		ledger->silent_until = now + AFTERMATH;
	for (size_t i = 0; !ledger->silent && silent && i < RNA_LEDGER_WAITING; i++) {
		count_outage(ledger, ledger->waiting[i].lost, ledger->waiting[i].large);
		ledger->waiting[i] = (struct rna_ledger_losses){0};
	}
	ledger->silent = silent;
}

/* -- Runs -------------------------------------------------------------------------------------- */

static void lengthen(struct rna_ledger_run *run, uint8_t value, bool odd, rna_usec now)
{
	if (!odd)
		*run = (struct rna_ledger_run){.value = UNKNOWN};
	else if (run->value == value)
		run->length++;
	else
		*run = (struct rna_ledger_run){value, 1, now};
}

/* A path that is kept for an hour is the usual one, whatever it was before. */
static void follow_hops(struct rna_ledger *ledger, rna_usec now)
{
	uint8_t arrived = ledger->there.hop_limit;

	if (arrived == UNKNOWN)
		return;
	lengthen(&ledger->hops, arrived, arrived != ledger->hops_usual, now);
	if ((ledger->hops_usual == UNKNOWN && ledger->hops.length >= HOPS_SETTLED) ||
	    (ledger->hops.length > 0 && rna_usec_since(ledger->hops.since, now) > HOPS_ACCEPTED))
		ledger->hops_usual = arrived;
}

/* -- Reports ----------------------------------------------------------------------------------- */

static void follow_dscp(struct rna_ledger *ledger, const struct rna_prober_target_report *report,
			uint8_t dscp, rna_usec now)
{
	uint8_t arrived = report->there.dscp;

	if (dscp == UNKNOWN || arrived == UNKNOWN)
		return;
	if (arrived != dscp)
		ledger->dscp_other = arrived;
	rna_paths_add(&ledger->dscp, arrived != dscp, report->classes_seen, RNA_PATHS_NOISE, now);
}

static void follow_refusals(struct rna_ledger *ledger,
			    const struct rna_prober_target_report *report, rna_usec now)
{
	if (report->counts.answered > 0) {
		ledger->refusal = 0;
		ledger->refused_first = 0;
	}
	if (report->refused == 0)
		return;
	ledger->refused += report->refused;
	ledger->refusal = report->refusal;
	ledger->refused_last = now;
	if (ledger->refused_first == 0)
		ledger->refused_first = now;
}

static void keep_samples(struct rna_ledger *ledger, const struct rna_prober_target_report *report)
{
	for (uint32_t i = 0; i < report->sample_count; i++) {
		ledger->samples[ledger->sample_next] = report->samples[i];
		ledger->sample_next = (ledger->sample_next + 1) % RNA_LEDGER_SAMPLES;
		if (ledger->sample_count < RNA_LEDGER_SAMPLES)
			ledger->sample_count++;
	}
}

void rna_ledger_add(struct rna_ledger *ledger, const struct rna_prober_target_report *report,
		    uint8_t dscp, rna_usec now)
{
	struct rna_probe_counts counts = report->counts;
	uint64_t large = counts.large_answered + report->late_large; /* that came back */

	turn_buckets(ledger, now);
	if (report->counts.answered > 0 || report->late > 0)
		follow_losses(ledger, now);
	keep_losses(ledger, report, now);
	counts.lost = counts.large_lost = 0; /* not yet */
	count(ledger, &counts);
	take_back_losses(ledger, report);
	if (ledger->last_answer == 0 && report->last_answer > 0)
		make_void(ledger); /* until then the peer was still looking for the way back */
	ledger->unanswered = report->unanswered;
	if (report->last_answer > ledger->last_answer)
		ledger->last_answer = report->last_answer;
	ledger->answered |= report->last_answer > 0;
	if (ledger->first_sent == 0 && counts.sent > 0)
		ledger->first_sent = now;
	ledger->classes_lost |= report->classes_lost;
	ledger->classes_seen |= report->classes_seen;
	ledger->small_answered += (uint32_t)(counts.answered + report->late - large);
	follow_large(ledger, false, large, report->classes_seen, now);
	close_large(ledger);
	follow_refusals(ledger, report, now);
	keep_samples(ledger, report);
	if (report->counts.answered == 0)
		return;
	ledger->visits = ledger->visits_missing = 0;
	ledger->there = report->there;
	ledger->back = report->back;
	follow_dscp(ledger, report, dscp, now);
	follow_hops(ledger, now);
}

void rna_ledger_visited(struct rna_ledger *ledger, uint64_t heard, uint64_t missing)
{
	ledger->visits += heard;
	ledger->visits_missing += missing;
}

/* -- Time -------------------------------------------------------------------------------------- */

static int compare_samples(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

uint64_t rna_ledger_rtt(const struct rna_ledger *ledger, unsigned percent)
{
	uint32_t sorted[RNA_LEDGER_SAMPLES];
	size_t count = ledger->sample_count;

	if (count < SAMPLES_MIN)
		return 0;
	memcpy(sorted, ledger->samples, count * sizeof(sorted[0]));
	qsort(sorted, count, sizeof(sorted[0]), compare_samples);
	return sorted[(count - 1) * percent / 100];
}

/*
 * The mean of the medians of all minutes, until there is an hour of them: the first ones are of a
 * host that starts, often a busy one. What is slow now does not become usual while it lasts.
 */
static void learn_usual(struct rna_ledger *ledger, rna_usec now)
{
	uint64_t median, minutes;

	if (rna_usec_since(ledger->usual_at, now) < USUAL_PERIOD)
		return;
	median = rna_ledger_rtt(ledger, 50);
	if (median == 0)
		return;
	ledger->usual_at = now;
	if (ledger->slow_since > 0)
		return;
	if (ledger->usual_of < RNA_LEDGER_HOUR)
		ledger->usual_of++;
	minutes = ledger->usual_of;
	ledger->usual = (ledger->usual * (minutes - 1) + median + minutes / 2) / minutes;
}

static bool is_settled(const struct rna_ledger_losses *losses, rna_usec now)
{
	if (losses->followed > 0)
		return rna_usec_since(losses->followed, now) >= RNA_LEDGER_GRACE;
	return losses->at > 0 && rna_usec_since(losses->at, now) >= RNA_LEDGER_UNDECIDED;
}

void rna_ledger_advance(struct rna_ledger *ledger, rna_usec now)
{
	turn_buckets(ledger, now);
	for (size_t i = 0; i < RNA_LEDGER_WAITING; i++)
		if (is_settled(&ledger->waiting[i], now))
			settle(ledger, &ledger->waiting[i]);
	learn_usual(ledger, now);
}

void rna_ledger_set_slow(struct rna_ledger *ledger, bool slow, rna_usec now)
{
	if (!slow)
		ledger->slow_since = 0;
	else if (ledger->slow_since == 0)
		ledger->slow_since = now;
}

struct rna_probe_counts rna_ledger_window(const struct rna_ledger *ledger, rna_usec length)
{
	struct rna_probe_counts sum = {0};
	uint64_t buckets = (length + RNA_LEDGER_BUCKET - 1) / RNA_LEDGER_BUCKET;

	for (uint64_t i = 0; i < buckets && i < RNA_LEDGER_BUCKETS && i <= ledger->bucket; i++)
		rna_probe_counts_merge(&sum,
				       &ledger->buckets[(ledger->bucket - i) % RNA_LEDGER_BUCKETS]);
	return sum;
}

struct rna_probe_counts rna_ledger_recent(const struct rna_ledger *ledger)
{
	struct rna_probe_counts recent = rna_ledger_window(ledger, RNA_PROBE_RECENT);
	uint32_t large = ledger->large_open;

	for (size_t i = 0; i < RNA_LEDGER_BUCKETS; i++)
		large += ledger->of_hole[i];
	recent.lost += large;
	recent.large_lost += large;
	return recent;
}

/* Buckets at which each of the pasts begins, and the last one ends: those of the verdicts. */
static const unsigned pasts_begin[RNA_LEDGER_PASTS + 1] = {0, 3, 12, RNA_LEDGER_BUCKETS};

void rna_ledger_pasts(const struct rna_ledger *ledger,
		      struct rna_probe_counts ret[RNA_LEDGER_PASTS])
{
	for (size_t i = 0; i < RNA_LEDGER_PASTS; i++) {
		ret[i] = (struct rna_probe_counts){0};
		for (unsigned k = pasts_begin[i]; k < pasts_begin[i + 1] && k <= ledger->bucket;
		     k++)
			rna_probe_counts_merge(
				&ret[i],
				&ledger->buckets[(ledger->bucket - k) % RNA_LEDGER_BUCKETS]);
	}
}

void rna_ledger_recall(struct rna_ledger *ledger,
		       const struct rna_probe_counts pasts[RNA_LEDGER_PASTS], rna_usec ago,
		       rna_usec now)
{
	turn_buckets(ledger, now);
	for (size_t i = 0; i < RNA_LEDGER_PASTS; i++) {
		uint64_t age = pasts_begin[i] + ago / RNA_LEDGER_BUCKET;

		if (age < RNA_LEDGER_BUCKETS && age <= ledger->bucket)
			rna_probe_counts_merge(
				&ledger->buckets[(ledger->bucket - age) % RNA_LEDGER_BUCKETS],
				&pasts[i]);
	}
}
