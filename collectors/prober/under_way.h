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

/* How long a lost or void probe is remembered, so that its late answer is known as one. */
#define RNA_UNDER_WAY_MEMORY (8 * RNA_USEC_PER_SEC)

enum rna_under_way_fate {
	RNA_UNDER_WAY_FREE,
	RNA_UNDER_WAY_WAITING,
	RNA_UNDER_WAY_LOST, /* counted as lost; its answer may still come */
	RNA_UNDER_WAY_VOID, /* counted as void; the same */
};

struct rna_under_way_probe {
	enum rna_under_way_fate fate;
	bool large;
	bool disturbed; /* this host was late while it waited */
	uint8_t source_class;
	uint32_t number;
	rna_usec sent;    /* monotonic */
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
 * This host was late: what waits now and stays without an answer is void. seconds: it stood still;
 * 0: it was only late.
 */
void rna_under_way_disturb(struct rna_under_way *under_way, uint32_t seconds);

/* Judges those that have waited for longer than RNA_PROBER_PATIENCE. */
void rna_under_way_expire(struct rna_under_way *under_way, rna_usec now);

/* False: there is nothing new. Otherwise *ret is the report, and a new one begins. */
bool rna_under_way_report(struct rna_under_way *under_way, struct rna_prober_target_report *ret);
