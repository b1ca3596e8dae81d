/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peers that probe a port of ours: which of their packets are new, how many of them are
 * missing, and how many may be answered. Pure: time is an argument. Thread: any.
 *
 * A packet is answered once as long as the session of the port lives, however long its sender was
 * silent: of visitors that gave way to others, the newest numbers are kept. All of them are
 * members, because a valid packet takes the secret. A port that can keep no more begins another
 * session, for which no old packet is valid. To forget the oldest instead would answer its packets
 * again, and to refuse new ones would look like a dead port to them.
 */
#pragma once

#include "rna/prober.h"

#include "aims.h"
#include "packet.h"

enum {
	RNA_VISITORS_MAX = 64, /* of a port: peers choose three neighbours each */
	RNA_VISITOR_RATE = 20, /* answers per second for one of them */
	/* That are kept in a session: a week's, of six peers that start again each hour. */
	RNA_FORMER_VISITORS_MAX = 1024,
};

/* A visitor that was silent for this time gives way to a new one. */
#define RNA_VISITOR_IDLE (10 * RNA_USEC_PER_SEC)

/* The newest numbers of one size that were heard. */
struct rna_visitor_window {
	bool begun;
	uint32_t newest;
	uint64_t heard; /* bit n: newest - n */
};

/* How long the answer to the newest probe of one size took; the next answer carries it. */
struct rna_visitor_held {
	uint32_t number;
	uint64_t arrived;     /* nanoseconds of the port's clock; 0: not known */
	uint32_t nanoseconds; /* 0: the answer has not left yet, or that is not known */
};

struct rna_visitor {
	uint64_t session; /* of the peer's port; 0: this place is free */
	uint32_t target;
	uint8_t gid[16];
	uint16_t lid;
	uint32_t qpn;
	rna_usec last;   /* it was heard */
	rna_usec credit; /* microseconds of answers that it may have */
	struct rna_visitor_window windows[2];
	struct rna_visitor_held held[2];
	uint64_t heard, missing, large_missing; /* since the last report */
	struct rna_aims aims;                   /* where answers go */
	uint32_t answers;                       /* so far */
	bool aiming;                            /* an aim is being made; */
	bool waits; /* it is the first one, and then the answer to this probe leaves: */
	struct rna_packet waiting;
	struct rna_probe_way waiting_way;
	uint64_t waiting_at; /* nanoseconds of the port's clock */
};

/* One that gave way. */
struct rna_former_visitor {
	uint64_t session;
	uint32_t target;
	bool begun[2];
	uint32_t newest[2]; /* numbers, of each size */
};

struct rna_visitors {
	struct rna_visitor visitors[RNA_VISITORS_MAX];
	struct rna_former_visitor former[RNA_FORMER_VISITORS_MAX];
	size_t former_count;
	bool full; /* no more can be kept: the port needs another session */
};

/*
 * Who sent that valid probe, a new visitor if need be, in *ret: RNA_STRANGER_COUNT. _REPLAY: it is
 * an old one of a visitor that gave way; _RATE: there are too many. A new one has no aims; *ret_old
 * are those of the one that gave way to it, if there was one.
 */
enum rna_probe_stranger rna_visitors_find(struct rna_visitors *visitors,
					  const struct rna_packet *probe, rna_usec now,
					  struct rna_visitor **ret, struct rna_aims *ret_old);

/*
 * RNA_STRANGER_COUNT: the probe is new and may be answered; else RNA_STRANGER_REPLAY, _RATE, or
 * _DUPLICATE: it is the newest one again, within a second.
 */
enum rna_probe_stranger rna_visitor_accept(struct rna_visitor *visitor,
					   const struct rna_packet *probe, rna_usec now);

/* False: nothing new of it. Otherwise *ret is the report, and a new one begins. */
bool rna_visitor_report(struct rna_visitor *visitor, struct rna_prober_visitor_report *ret);
