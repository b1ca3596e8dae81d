/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes of one target that are under way, and what becomes of them: answered, lost, or void.
 * Pure: times are arguments. Thread: any.
 */
#pragma once

#include "rna/prober.h"

#include "packet.h"

enum {
	RNA_UNDER_WAY_MAX = 64,  /* probes of a target that are remembered */
	RNA_UNDER_WAY_SIZES = 2, /* small and large ones, numbered separately */
};

/*
 * How long a lost or void probe is remembered, so that its late answer is known as one: longer than
 * a loss waits until it counts (RNA_LEDGER_UNDECIDED) while nothing comes back.
 */
#define RNA_UNDER_WAY_MEMORY (40 * RNA_USEC_PER_SEC)
/*
 * A host that stands still for longer may lose what is sent to it meanwhile: a port posts as many
 * receives as arrive in five seconds. What came in a shorter time is still there afterwards.
 */
#define RNA_UNDER_WAY_OVERFLOW (3 * RNA_USEC_PER_SEC)

enum rna_under_way_fate {
	RNA_UNDER_WAY_FREE,
	RNA_UNDER_WAY_WAITING,
	RNA_UNDER_WAY_LOST, /* counted as lost; its answer may still come */
	RNA_UNDER_WAY_VOID, /* counted as void; the same */
};

struct rna_under_way_probe {
	enum rna_under_way_fate fate;
	bool large;
	bool excused; /* an end stood still for long: without an answer it is void */
	uint8_t source_class;
	uint32_t number;
	rna_usec sent;    /* monotonic */
	rna_usec begun;   /* the same, later by the time for which this host could not look */
	uint64_t sent_at; /* nanoseconds of the port's clock; 0: not known */
};

/* The round trip of the newest answer, until the next one says how long the peer held it. */
struct rna_under_way_trip {
	bool known;
	uint32_t number;
	uint64_t nanoseconds;
};

/* The newest answer of one size. */
struct rna_under_way_answered {
	uint32_t number;
	rna_usec at; /* monotonic; 0: none */
};

struct rna_under_way {
	struct rna_under_way_answered answered[RNA_UNDER_WAY_SIZES];
	uint32_t next[RNA_UNDER_WAY_SIZES]; /* numbers */
	struct rna_under_way_probe probes[RNA_UNDER_WAY_MAX];
	struct rna_under_way_trip trips[RNA_UNDER_WAY_SIZES];
	struct rna_prober_target_report report; /* since the last one was taken */
	bool news;                              /* the report has something to say */
};

void rna_under_way_init(struct rna_under_way *under_way);

/* A probe is about to be sent. Returns its number. */
uint32_t rna_under_way_send(struct rna_under_way *under_way, bool large, uint8_t source_class,
			    rna_usec now);

/* So many were due and not sent, because this process did not run. */
void rna_under_way_miss(struct rna_under_way *under_way, uint64_t missed);

/* It was refused: it did not leave, and is counted as that only. error: positive errno. */
void rna_under_way_refuse(struct rna_under_way *under_way, bool large, uint32_t number, int error);

/* It has left at that time (nanoseconds) of the port's clock. */
void rna_under_way_left(struct rna_under_way *under_way, bool large, uint32_t number, uint64_t at);

/* Is an answer that nothing waits for the newest one again, within a second? */
bool rna_under_way_is_copy(const struct rna_under_way *under_way, const struct rna_packet *answer,
			   rna_usec now);

/*
 * An answer has arrived, at that time of the port's clock. False: no such probe waits, so that the
 * packet is a replay or comes much too late.
 */
bool rna_under_way_answer(struct rna_under_way *under_way, const struct rna_packet *answer,
			  struct rna_probe_way back, rna_usec now, uint64_t at);

/*
 * This process ran again so much later than it wanted. Answers may have come meanwhile, which it
 * takes now: patience goes on from there, so that a busy host sees each loss, only later. clock:
 * the HCA's own measures round trips; otherwise those of what waits now are not known.
 */
void rna_under_way_delay(struct rna_under_way *under_way, rna_usec late, bool clock);

/* Judges those that have waited for longer than RNA_PROBER_PATIENCE. */
void rna_under_way_expire(struct rna_under_way *under_way, rna_usec now);

/* False: there is nothing new. Otherwise *ret is the report, and a new one begins. */
bool rna_under_way_report(struct rna_under_way *under_way, struct rna_prober_target_report *ret);
