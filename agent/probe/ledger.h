/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of one pair of ports: what became of its probes, in all and recently, and what their
 * headers and round trips usually look like. Pure: time is an argument. Thread: the loop's.
 *
 * A probe that was reported as lost may still be answered, because the peer has not had the CPU for
 * it. A peer answers in the order in which it receives, so once later probes come back in time, the
 * answer comes at once or never: losses count RNA_LEDGER_GRACE after the first answer that follows
 * them. As long as nothing comes back after them, they wait for RNA_LEDGER_UNDECIDED: they may be
 * of a silence that cannot be judged yet, because the peer's agent has not said whether it runs.
 */
#pragma once

#include "rna/prober.h"

#include "paths.h"

enum {
	RNA_LEDGER_BUCKETS = 60,
	RNA_LEDGER_SAMPLES = 64, /* round trips that medians are made of */
	RNA_LEDGER_RUN = 3,      /* probes in a row without an answer that may be a silence */
	RNA_LEDGER_PASTS = 3,    /* into which the windows of verdicts divide the past */
	RNA_LEDGER_WAITING = 36, /* groups of losses that wait: a report each second brings one */
	RNA_LEDGER_HOUR = 60,    /* medians, one each minute, that the usual round trip follows */
};

#define RNA_LEDGER_BUCKET (RNA_PROBE_RECENT / RNA_LEDGER_BUCKETS)
/* Paths differ by less, and a report that was being written is taken. */
#define RNA_LEDGER_GRACE     (2 * RNA_USEC_PER_SEC)
#define RNA_LEDGER_UNDECIDED (30 * RNA_USEC_PER_SEC)

/* Losses of one report. */
struct rna_ledger_losses {
	rna_usec at;       /* monotonic; 0: this place is free */
	rna_usec followed; /* by an answer; 0: not yet */
	uint32_t lost, large;
	uint32_t classes; /* of source ports */
};

/* How often in a row a header had the same unexpected value. */
struct rna_ledger_run {
	uint8_t value; /* 255: none yet */
	unsigned length;
	rna_usec since;
};

struct rna_ledger {
	struct rna_probe_counts total;
	struct rna_probe_counts buckets[RNA_LEDGER_BUCKETS];
	uint64_t bucket; /* number of the newest one: time / RNA_LEDGER_BUCKET */
	struct rna_ledger_losses waiting[RNA_LEDGER_WAITING];
	uint32_t classes_lost, classes_seen, classes_before; /* before: lost in the time before */

	bool silent;           /* as judged: see rna_ledger_set_silent() */
	rna_usec silent_until; /* losses reported until then are of the silence before */

	/*
	 * Large ones that were lost, after their grace. If those are an MTU hole's, no window that
	 * is judged has them, or the path would seem to lose probes; open: it is not known yet.
	 */
	struct rna_paths hole;
	uint32_t large_open;
	uint16_t of_hole[RNA_LEDGER_BUCKETS];
	uint32_t small_answered, small_lost; /* since the first large one that is open */

	/* Of the peer's own probes since the last answer: those that came, and gaps between them.
	 */
	uint64_t visits, visits_missing;
	unsigned unanswered;  /* in a row until now */
	rna_usec last_answer; /* monotonic; 0: never */
	bool answered;        /* ever, also before a restart */
	/* Since when it is known that the peer ran after the last answer; 0: it is not. */
	rna_usec confirmed;
	rna_usec first_sent; /* monotonic; 0: nothing was sent */
	uint64_t refused;
	int refusal; /* errno of the newest; 0: none since the last answer */
	rna_usec refused_first, refused_last;

	uint32_t samples[RNA_LEDGER_SAMPLES]; /* nanoseconds, a ring */
	size_t sample_count, sample_next;
	uint64_t usual;    /* median of its past, nanoseconds; 0: not known yet */
	unsigned usual_of; /* so many medians, RNA_LEDGER_HOUR at most */
	rna_usec usual_at;
	rna_usec slow_since; /* 0: it is not slower than usual */

	struct rna_probe_way there, back; /* newest; 255: unknown */
	struct rna_paths dscp;            /* arrived there with another DSCP than it left with */
	uint8_t dscp_other;               /* the newest such; 255: none yet */
	struct rna_ledger_run hops;       /* arrived there with another hop limit than usual */
	uint8_t hops_usual;               /* 255: unknown */
};

void rna_ledger_init(struct rna_ledger *ledger);

/* What the prober reported of this pair. dscp: that probes leave with; 255: unknown. */
void rna_ledger_add(struct rna_ledger *ledger, const struct rna_prober_target_report *report,
		    uint8_t dscp, rna_usec now);

/* Of the probes that the peer sends to this port, so many have come since, and so many have not. */
void rna_ledger_visited(struct rna_ledger *ledger, uint64_t heard, uint64_t missing);

/* The agent stood still for that time, and may have to take reports of it: losses wait longer. */
void rna_ledger_delay(struct rna_ledger *ledger, rna_usec standstill);

/* Time passes: losses begin to count, old buckets are forgotten, the usual is learned. */
void rna_ledger_advance(struct rna_ledger *ledger, rna_usec now);

/* Whether it is slower than usual: for how long is judged, and what is slow is not learned. */
void rna_ledger_set_slow(struct rna_ledger *ledger, bool slow, rna_usec now);

/* Whether the peer has said after the last answer that it runs. */
void rna_ledger_set_confirmed(struct rna_ledger *ledger, bool confirmed, rna_usec now);

/*
 * Whether it is judged to be silent. What is lost meanwhile is of that outage: the total counts it,
 * but no window does, or the path would seem to lose probes for minutes after it was mended.
 */
void rna_ledger_set_silent(struct rna_ledger *ledger, bool silent, rna_usec now);

/* The peer has gone: what waits for an answer is void, and nothing is in a row any more. */
void rna_ledger_forgive(struct rna_ledger *ledger);

/* The sums of about the last length, RNA_PROBE_RECENT at most, as losses are judged by. */
struct rna_probe_counts rna_ledger_window(const struct rna_ledger *ledger, rna_usec length);

/* Those of RNA_PROBE_RECENT, with the large ones that are open, or of an MTU hole. */
struct rna_probe_counts rna_ledger_recent(const struct rna_ledger *ledger);

/* The counts of the last half minute, of the time before in two minutes, and in ten. */
void rna_ledger_pasts(const struct rna_ledger *ledger,
		      struct rna_probe_counts ret[RNA_LEDGER_PASTS]);

/* They were like that so long ago, before a restart: windows count them, the total does not. */
void rna_ledger_recall(struct rna_ledger *ledger,
		       const struct rna_probe_counts pasts[RNA_LEDGER_PASTS], rna_usec ago,
		       rna_usec now);

/* Nanoseconds that part (in percent) of the recent round trips do not exceed; 0: too few. */
uint64_t rna_ledger_rtt(const struct rna_ledger *ledger, unsigned percent);
