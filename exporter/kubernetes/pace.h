/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the API is spoken to: functions of the time alone, so that tests can run ten thousand agents
 * through a day (tests/unit/exporter/kubernetes/test_kubernetes_pace.c). The bounds for a cluster
 * follow from here.
 *
 *	change     written at a random moment of the spread behind it: what strikes all nodes
 *	           at once (a spine switch restarts) does not strike the API at once
 *	budget     a change costs a token; there are some, and one comes back every refill: a
 *	           port that flaps for ever costs no more than that
 *	reserve    an urgent change, of taint or health, has tokens of its own behind these:
 *	           what else changed a lot does not hide that the node is down
 *	look       the Node is read, slowly, to see whether it is still the one we wrote
 *	resync     all is applied again, very slowly
 *	trouble    waits grow exponentially, with full jitter
 *
 * Time is monotonic: a wall clock that jumps changes nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rna/base/clock.h"
#include "rna/kubernetes.h"

/* Without limits of their own. */
enum { RNA_PACE_BURST = 5, RNA_PACE_RESERVE = 3 };
#define RNA_PACE_REFILL  (12 * 60 * RNA_USEC_PER_SEC)
#define RNA_WAIT_FIRST   RNA_USEC_PER_SEC
#define RNA_WAIT_LONGEST (5 * 60 * RNA_USEC_PER_SEC)
#define RNA_WAIT_REFUSED (10 * 60 * RNA_USEC_PER_SEC) /* the longest where asking seems vain */

struct rna_pace_limits {
	rna_usec first_delay, spread, resync, look, heartbeat; /* of rna_kubernetes_options */
	unsigned burst;                                        /* likewise; 0: RNA_PACE_BURST */
	unsigned reserve;                                      /* likewise; 0: RNA_PACE_RESERVE */
	rna_usec refill;                                       /* likewise; 0: RNA_PACE_REFILL */
};

/* Tokens, and when the next one comes; of no meaning while there are all. */
struct rna_pace_bucket {
	unsigned most, tokens;
	rna_usec refill;
};

struct rna_pace {
	struct rna_pace_limits limits;
	uint64_t random;    /* a state, never 0 */
	bool has_written;   /* something: what is first is spread otherwise than later changes */
	bool has_looked;    /* else the first change does */
	rna_usec change;    /* when it is to be written; RNA_USEC_NEVER: there is none */
	rna_usec look;      /* RNA_USEC_NEVER: not started, or never */
	rna_usec resync;    /* same */
	rna_usec heartbeat; /* same */
	bool urgent;        /* the change */
	bool first;         /* the change is spread over first_delay */
	struct rna_pace_bucket common, reserve;
};

/* What a round has to do. */
struct rna_pace_due {
	bool change, look, resync, heartbeat;
};

/* seed: different for each agent. */
void rna_pace_init(struct rna_pace *pace, const struct rna_pace_limits *limits, uint64_t seed);

/* The Node is looked at within first_delay, whether or not there is something to write by then. */
void rna_pace_start(struct rna_pace *pace, rna_usec now);

/* What there is to write. */
struct rna_pace_news {
	bool urgent; /* it may take from the reserve */
	bool first;  /* labels or conditions that were never written */
};

void rna_pace_want(struct rna_pace *pace, struct rna_pace_news news, rna_usec now);
/* There is not, any more: what changed has changed back. */
void rna_pace_forget(struct rna_pace *pace);
/* Does a change wait for a token only? */
bool rna_pace_is_spent(const struct rna_pace *pace, rna_usec now);
/* When the next round is due; RNA_USEC_NEVER: there is nothing to do. */
rna_usec rna_pace_next(const struct rna_pace *pace);
struct rna_pace_due rna_pace_due(const struct rna_pace *pace, rna_usec now);
/* What was due is begun: the next times are fixed from now on. */
void rna_pace_begin(struct rna_pace *pace, const struct rna_pace_due *due, rna_usec now);

/* Waits behind failures in a row, of one thing. {0}: there was none. */
struct rna_wait {
	unsigned failures;
	rna_usec until;
};

/* longest: RNA_WAIT_*. at_least: what the server asked for (Retry-After), or 0. */
void rna_wait_longer(struct rna_wait *wait, rna_usec longest, rna_usec at_least, uint64_t *random,
		     rna_usec now);

/* Uniform in [0, below). */
uint64_t rna_pace_random(uint64_t *random, uint64_t below);
