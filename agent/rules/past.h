/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The past of ports, as far as rules ask for it: how counters rose lately, and which GID index NCCL
 * used before. It outlives the driver: what comes back under the same key within ten minutes goes
 * on where it was.
 * Thread: the loop's.
 */
#pragma once

#include "discards.h"
#include "rules.h"
#include "thresholds.h"

struct rna_past {
	const char *key; /* of the device; its own copy */
	unsigned port;   /* 0: of the device as a whole */
	uint64_t generation;
	rna_usec seen;       /* monotonic, when it was there last */
	rna_usec registered; /* when it came, or came back; 0: it was there before the agent */
	rna_usec sampled;    /* when counters were taken last, and what was new then: */
	rna_usec counters_taken, hw_counters_taken, pcie_taken, ethernet_taken, fabric_taken;
	uint64_t downs;
	/* NCCL's index, as long as nothing moved it; what has been new for a day is the old. */
	bool nccl_known;
	unsigned nccl_index;
	rna_usec nccl_moved; /* since when it differs; 0: it does not */
	/* One for each threshold; NULL: no rule asks for those of this one, so far. */
	struct rna_window *windows;
	struct rna_discards discards;
};

struct rna_pasts {
	bool begun; /* was there an update? What is new from then on has just been registered */
	bool rose;  /* a counter with a threshold did, since it was last reset */
	size_t count;
	size_t size;
	struct rna_past **items; /* by key and port */
};

void rna_pasts_deinit(struct rna_pasts *pasts); /* idempotent */

/*
 * The past of an earlier process, to be filled in: made when there is none yet, with windows. NULL:
 * no memory.
 */
struct rna_past *rna_pasts_recall(struct rna_pasts *pasts, const struct rna_thresholds *thresholds,
				  const char *key, unsigned port);

/*
 * Those that were recalled go on from now. written: when an earlier boot wrote them, by its clocks:
 * their times become those of this boot, and counters begin anew. A clock that was set back counts
 * as no time in between. NULL: this boot wrote them.
 */
void rna_pasts_carry_over(struct rna_pasts *pasts, const struct rna_thresholds *thresholds,
			  const struct rna_time *written, struct rna_time now);

/*
 * Takes what the devices and ports of the view show now. ret (one for each device, and behind them
 * for each port): the past of each. 0 or -ENOMEM: then some have none, which costs them the
 * findings that need it.
 */
int rna_pasts_update(struct rna_pasts *pasts, const struct rna_thresholds *thresholds,
		     const struct rna_view *view, struct rna_past **ret);
