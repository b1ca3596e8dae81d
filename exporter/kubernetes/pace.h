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
 *	glance     while a taint of ours keeps pods away the Node is read each minute, from the API
 *	           server's memory: it may have an annotation that turns us off
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

#define RNA_WAIT_FIRST   RNA_USEC_PER_SEC
#define RNA_WAIT_LONGEST (5 * 60 * RNA_USEC_PER_SEC)
#define RNA_WAIT_REFUSED (10 * 60 * RNA_USEC_PER_SEC) /* the longest where asking seems vain */

struct rna_pace {
	const struct rna_kubernetes_options *options; /* the times and numbers in it */
	uint64_t random;    /* a state: each agent begins with another one */
	bool has_written;   /* something: what is first is spread otherwise than later changes */
	bool has_looked;    /* else the first change does */
	rna_usec change;    /* when it is to be written; RNA_USEC_NEVER: there is none */
	rna_usec look;      /* RNA_USEC_NEVER: not started, or never */
	rna_usec glance;    /* RNA_USEC_NEVER: no taint */
	rna_usec resync;    /* as look */
	rna_usec heartbeat; /* same */
	bool urgent;        /* the change */
	bool first;         /* the change is spread over first_delay */
	rna_usec budget;    /* when all tokens are back */
	rna_usec reserve;   /* same */
};

void rna_pace_init(struct rna_pace *pace, const struct rna_kubernetes_options *options,
		   uint64_t seed);

/* The Node is looked at within first_delay, whether or not there is something to write by then. */
void rna_pace_start(struct rna_pace *pace, rna_usec now);

/*
 * There is something to write. urgent: it may take from the reserve; first: labels or conditions
 * that were never written.
 */
void rna_pace_want(struct rna_pace *pace, bool urgent, bool first, rna_usec now);
/* There is not, any more: what changed has changed back. */
void rna_pace_forget(struct rna_pace *pace);
/* Does a change wait for a token only? */
bool rna_pace_is_spent(const struct rna_pace *pace, rna_usec now);
/* tainted: a taint of ours is there. */
void rna_pace_glance(struct rna_pace *pace, bool tainted, rna_usec now);
/* When something is due; RNA_USEC_NEVER: there is nothing to do. */
rna_usec rna_pace_next(const struct rna_pace *pace);

enum rna_pace_due {
	RNA_PACE_CHANGE = 1 << 0,
	RNA_PACE_LOOK = 1 << 1,
	RNA_PACE_RESYNC = 1 << 2,
	RNA_PACE_HEARTBEAT = 1 << 3,
	RNA_PACE_GLANCE = 1 << 4,
};

/* What is due, as bits. It is begun then: the next times are fixed from now on. */
unsigned rna_pace_take(struct rna_pace *pace, rna_usec now);

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
