/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes: measures the bandwidth of writes over connections, whatever they lead to.
 *
 * Writes are posted in batches, and only the last write of a batch is signaled, so that CPU speed
 * does not affect the result. The clock runs from the first batch after the warm-up to the last
 * completion. All posted writes are awaited, so only those are posted that will complete before
 * the deadline (budget.c). Thread: the only one of the child.
 */
#pragma once

#include "budget.h"
#include "gate.h"
#include "queue_pairs.h"

#define RNA_WRITING_PATIENCE (5 * RNA_USEC_PER_SEC) /* for a completion; over seven retries */

struct rna_writing {
	/* Of the caller: */
	const struct rna_loopback_request *request;
	struct rna_loopback_result *result;
	struct rna_loopback_gate *gate;
	struct rna_loopback_verbs *verbs;
	size_t room; /* bytes of the target that may be written to; at least one write */
	/* Of the writes: */
	struct rna_loopback_budget budget;
	size_t filled;  /* bytes of the target that have been written to */
	rna_usec begin; /* start of the current phase, without idle time */
	unsigned batch; /* writes per batch */
	unsigned slots; /* slots of the target, used in turn */
	unsigned slot;
	unsigned under_way[RNA_LOOPBACK_QPS_MAX]; /* writes */
	uint64_t posted;                          /* in all */
	uint64_t complete;
	struct { /* the next gate check: after so many posted writes, or at that time */
		uint64_t writes;
		rna_usec time;
	} look;
};

/* Sets bandwidth and bytes of the result. False: the result says why there is none. */
bool rna_writing_bandwidth(struct rna_writing *writing);

/* Collects completed batches. Their number; -1: the test has failed. */
int rna_writing_reap(struct rna_writing *writing);
/* Polls until a batch is complete. False: the test has failed. */
bool rna_writing_await(struct rna_writing *writing);
/* A write did not complete in RNA_WRITING_PATIENCE. Returns false. */
bool rna_writing_fail_late(struct rna_writing *writing);
