/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdicts: what ledgers show of a pair, and what all pairs of a port show of the port. Pure:
 * time is an argument. Thread: any.
 *
 * A false alarm weighs as much as a missed fault. So silence counts only when the peer itself has
 * said, after it began, that it runs; losses only when that many would be next to impossible on a
 * sound path; and a slow path only when it is slower than its past and than its rail.
 */
#pragma once

#include "ledger.h"

/* What the peer's agent said of the other end, and when it was asked. */
struct rna_peer_word {
	rna_usec asked; /* monotonic: when the newest question that was answered was sent; 0: never
			 */
	rna_usec back;  /* monotonic: since then it has answered each question; 0: never */
	bool runs;      /* its prober runs, and that port is open with the session we send to */
};

/*
 * What the peer's agent said earlier, after a pair fell silent, is of the time before. It takes
 * two to three seconds to notice that its prober gets no processor.
 */
#define RNA_PAIR_NOTICED (2900 * RNA_USEC_PER_MSEC)

/* A pair as it is judged. */
struct rna_judged_pair {
	const struct rna_ledger *ledger;
	const struct rna_peer_word *peer; /* NULL: of this node, which is always there */
	bool hardware_times;              /* round trips are measured by the HCA's clock */
	uint8_t dscp;                     /* that probes leave with; 255: unknown */
	uint64_t rail_median; /* of the round trips of the others on the rail; 0: unknown */
	uint64_t node_median; /* likewise, of the pairs of the node's other ports */
	bool rail_moved;      /* the others' hop limits have changed as well */
};

/* Has its other end said, after the last answer, that it runs? For rna_ledger_set_confirmed(). */
bool rna_pair_is_confirmed(const struct rna_judged_pair *pair);

/* Signs of a pair: enum rna_probe_sign, a bit each. */
unsigned rna_pair_signs(const struct rna_judged_pair *pair, rna_usec now);

/* Is the pair slower now than in its past, and than its rail? For rna_ledger_set_slow(). */
bool rna_pair_is_slower(const struct rna_judged_pair *pair);

/* Is a loss of lost out of count probes next to impossible on a sound path? */
bool rna_loss_is_real(uint64_t lost, uint64_t count);

/* A pair, as the verdict of a port sees it. */
struct rna_port_evidence {
	const struct rna_ledger *ledger;
	unsigned signs;
	bool judged;          /* it ran recently, and its other end is there */
	bool peer_has_others; /* that end answers another port of this node */
};

struct rna_port_verdict {
	enum rna_probe_verdict verdict;
	unsigned bad, judged;           /* pairs */
	struct rna_probe_counts window; /* what was counted */
	rna_usec length;
};

struct rna_port_verdict rna_port_judge(const struct rna_port_evidence *pairs, size_t count);
