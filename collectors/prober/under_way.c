// SPDX-License-Identifier: Apache-2.0
#include "under_way.h"

#include <string.h>

enum {
	ECN_CONGESTION = 3, /* CE: RFC 3168, section 5 */
	UNKNOWN = 255,
};

static struct rna_under_way_probe *find(struct rna_under_way *under_way, bool large,
					uint32_t number)
{
	for (size_t i = 0; i < RNA_UNDER_WAY_MAX; i++) {
		struct rna_under_way_probe *probe = &under_way->probes[i];

		if (probe->fate != RNA_UNDER_WAY_FREE && probe->large == large &&
		    probe->number == number)
			return probe;
	}
	return NULL;
}

/* A free place, or that of the one sent first. */
static struct rna_under_way_probe *make_room(struct rna_under_way *under_way)
{
	struct rna_under_way_probe *oldest = &under_way->probes[0];

	for (size_t i = 0; i < RNA_UNDER_WAY_MAX; i++) {
		struct rna_under_way_probe *probe = &under_way->probes[i];

		if (probe->fate == RNA_UNDER_WAY_FREE)
			return probe;
		if (probe->sent < oldest->sent)
			oldest = probe;
	}
	return oldest;
}

static uint32_t class_bit(uint8_t source_class)
{
	return 1u << source_class % RNA_PROBE_CLASSES;
}

static void judge(struct rna_under_way *under_way, struct rna_under_way_probe *probe)
{
	struct rna_prober_target_report *report = &under_way->report;

	under_way->news = true;
	if (probe->excused) {
		probe->fate = RNA_UNDER_WAY_VOID;
		report->counts.voided++;
		return;
	}
	probe->fate = RNA_UNDER_WAY_LOST;
	report->counts.lost++;
	report->counts.large_lost += probe->large;
	report->unanswered++;
	report->classes_lost |= class_bit(probe->source_class);
}

void rna_under_way_init(struct rna_under_way *under_way)
{
	*under_way = (struct rna_under_way){0};
	under_way->report.there = (struct rna_probe_way){UNKNOWN, UNKNOWN, UNKNOWN};
	under_way->report.back = under_way->report.there;
}

uint32_t rna_under_way_send(struct rna_under_way *under_way, bool large, uint8_t source_class,
			    rna_usec now)
{
	struct rna_under_way_probe *probe = make_room(under_way);

	if (probe->fate == RNA_UNDER_WAY_WAITING)
		judge(under_way, probe); /* more are under way than are remembered */
	*probe = (struct rna_under_way_probe){
		.fate = RNA_UNDER_WAY_WAITING,
		.large = large,
		.source_class = source_class,
		.number = under_way->next[large]++,
		.sent = now,
		.begun = now,
	};
	under_way->report.counts.sent++;
	under_way->report.counts.large_sent += large;
	under_way->news = true;
	return probe->number;
}

void rna_under_way_miss(struct rna_under_way *under_way, uint64_t missed)
{
	under_way->report.counts.missed += missed;
	under_way->news = true;
}

void rna_under_way_refuse(struct rna_under_way *under_way, bool large, uint32_t number, int error)
{
	struct rna_under_way_probe *probe = find(under_way, large, number);

	under_way->report.refused++;
	under_way->report.refusal = error;
	under_way->news = true;
	if (!probe || probe->fate != RNA_UNDER_WAY_WAITING)
		return;
	probe->fate = RNA_UNDER_WAY_FREE;
	under_way->report.counts.sent--;
	under_way->report.counts.large_sent -= large;
	if (under_way->next[large] == number + 1)
		under_way->next[large] = number; /* the peer need not see a gap */
}

void rna_under_way_left(struct rna_under_way *under_way, bool large, uint32_t number, uint64_t at)
{
	struct rna_under_way_probe *probe = find(under_way, large, number);

	if (probe)
		probe->sent_at = at;
}

/* The time that the peer held the packet before this answer is not the fabric's. */
static void settle_trip(struct rna_under_way *under_way, const struct rna_packet *answer)
{
	struct rna_under_way_trip *trip = &under_way->trips[answer->large];
	struct rna_prober_target_report *report = &under_way->report;
	uint64_t rest;

	if (!trip->known || answer->held == 0 || answer->held_number != trip->number ||
	    answer->held >= trip->nanoseconds)
		return;
	rest = trip->nanoseconds - answer->held;
	if (report->sample_count < RNA_PROBER_SAMPLES_MAX)
		report->samples[report->sample_count++] =
			rest > UINT32_MAX ? UINT32_MAX : (uint32_t)rest;
}

static void begin_trip(struct rna_under_way *under_way, const struct rna_under_way_probe *probe,
		       uint64_t at)
{
	under_way->trips[probe->large] = (struct rna_under_way_trip){
		.known = probe->sent_at > 0 && at > probe->sent_at,
		.number = probe->number,
		.nanoseconds = at - probe->sent_at,
	};
}

static void count_answer(struct rna_under_way *under_way, const struct rna_under_way_probe *probe)
{
	struct rna_prober_target_report *report = &under_way->report;

	if (probe->fate == RNA_UNDER_WAY_VOID)
		return;
	if (probe->fate == RNA_UNDER_WAY_LOST) {
		report->late++;
		report->late_large += probe->large;
		return;
	}
	report->counts.answered++;
	report->counts.large_answered += probe->large;
	report->classes_seen |= class_bit(probe->source_class);
	if (report->there.ecn == ECN_CONGESTION || report->back.ecn == ECN_CONGESTION)
		report->counts.ecn_marked++;
}

/* What was sent since then and stays without an answer says nothing. */
static void excuse(struct rna_under_way *under_way, rna_usec since)
{
	for (size_t i = 0; i < RNA_UNDER_WAY_MAX; i++) {
		struct rna_under_way_probe *probe = &under_way->probes[i];

		if (probe->sent < since)
			continue;
		probe->excused = true;
		if (probe->fate != RNA_UNDER_WAY_LOST)
			continue;
		probe->fate = RNA_UNDER_WAY_VOID;
		under_way->report.excused++;
		under_way->report.excused_large += probe->large;
		under_way->news = true;
	}
}

/* A peer that stood still says so in its answers for some seconds afterwards. */
static void excuse_peer(struct rna_under_way *under_way, uint8_t seconds, rna_usec now)
{
	rna_usec stood = seconds * RNA_USEC_PER_SEC;
	rna_usec span = stood + RNA_PROBER_LATE_TOLD + RNA_PROBER_PATIENCE;

	if (stood > RNA_UNDER_WAY_OVERFLOW)
		excuse(under_way, now > span ? now - span : 0);
}

bool rna_under_way_is_copy(const struct rna_under_way *under_way, const struct rna_packet *answer,
			   rna_usec now)
{
	const struct rna_under_way_answered *newest = &under_way->answered[answer->large];

	return newest->at > 0 && newest->number == answer->number &&
	       rna_usec_since(newest->at, now) < RNA_USEC_PER_SEC;
}

bool rna_under_way_answer(struct rna_under_way *under_way, const struct rna_packet *answer,
			  struct rna_probe_way back, rna_usec now, uint64_t at)
{
	struct rna_under_way_probe *probe = find(under_way, answer->large, answer->number);

	if (!probe)
		return false;
	excuse_peer(under_way, answer->late, now);
	if (rna_usec_since(probe->sent, now) > RNA_UNDER_WAY_MEMORY)
		return false;
	under_way->news = true;
	under_way->report.there = answer->there;
	under_way->report.back = back;
	under_way->report.last_answer = now;
	under_way->report.unanswered = 0;
	settle_trip(under_way, answer);
	begin_trip(under_way, probe, at);
	count_answer(under_way, probe);
	probe->fate = RNA_UNDER_WAY_FREE;
	under_way->answered[answer->large] = (struct rna_under_way_answered){answer->number, now};
	return true;
}

void rna_under_way_delay(struct rna_under_way *under_way, rna_usec late, bool clock)
{
	for (size_t i = 0; i < RNA_UNDER_WAY_MAX; i++) {
		struct rna_under_way_probe *probe = &under_way->probes[i];

		if (probe->fate != RNA_UNDER_WAY_WAITING)
			continue;
		probe->begun += late;
		probe->sent_at = clock ? probe->sent_at : 0;
		probe->excused |= late > RNA_UNDER_WAY_OVERFLOW;
	}
}

void rna_under_way_expire(struct rna_under_way *under_way, rna_usec now)
{
	for (size_t i = 0; i < RNA_UNDER_WAY_MAX; i++) {
		struct rna_under_way_probe *probe = &under_way->probes[i];

		if (probe->fate == RNA_UNDER_WAY_WAITING) {
			if (rna_usec_since(probe->begun, now) > RNA_PROBER_PATIENCE)
				judge(under_way, probe);
		} else if (rna_usec_since(probe->sent, now) > RNA_UNDER_WAY_MEMORY) {
			probe->fate = RNA_UNDER_WAY_FREE;
		}
	}
}

bool rna_under_way_report(struct rna_under_way *under_way, struct rna_prober_target_report *ret)
{
	struct rna_prober_target_report *report = &under_way->report;

	if (!under_way->news)
		return false;
	*ret = *report;
	*report = (struct rna_prober_target_report){
		.unanswered = ret->unanswered,
		.there = ret->there,
		.back = ret->back,
		.last_answer = ret->last_answer,
	};
	under_way->news = false;
	return true;
}
