/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of a test: opens the device, registers memory, connects the port by RC to itself or to
 * a port of another node, and writes over these connections. A port that is connected to itself has
 * a QP that writes and one that is the target for each connection; otherwise the target is a QP of
 * the other node, which writes back over the same connection. writing.c does the measurement.
 * Thread: the only one of the child.
 */
#pragma once

#include "rna/bandwidth.h"

#include "budget.h"
#include "loopback_memory.h"

enum { RNA_LOOPBACK_BATCH_MAX = 32 }; /* maximum writes per batch */

struct rna_loopback_verbs;

/*
 * Opens a port and connects it to itself.
 * request must be valid. Allocates memory after it has found device and port suitable; the caller
 * frees memory after closing. NULL: the test is not possible; result says why.
 */
struct rna_loopback_verbs *rna_loopback_verbs_open(const struct rna_loopback_request *request,
						   struct rna_loopback_memory *memory,
						   struct rna_loopback_result *result);
/* The same with queue pairs that are not connected to anything. */
struct rna_loopback_verbs *rna_loopback_verbs_make(const struct rna_loopback_request *request,
						   struct rna_loopback_memory *memory,
						   struct rna_loopback_result *result);
/* Our end; psn is that of our packets. */
void rna_loopback_verbs_describe(const struct rna_loopback_verbs *verbs, uint32_t psn,
				 struct rna_queue_pairs_end *ret);
/* Connects as many as both ends have. False: the result says why not. */
bool rna_loopback_verbs_connect(struct rna_loopback_verbs *verbs, uint32_t psn,
				const struct rna_queue_pairs_end *end);
/* Accepts and returns NULL. */
struct rna_loopback_verbs *rna_loopback_verbs_close(struct rna_loopback_verbs *verbs);

/*
 * Posts a batch on connection number qp: count writes of size bytes each, from the given offsets of
 * the source to the same offsets of the target. Only the last one is signaled. False: result says
 * why.
 */
bool rna_loopback_post(struct rna_loopback_verbs *verbs, unsigned qp, const size_t *offsets,
		       unsigned count, uint32_t size);

/* A completed batch. */
struct rna_loopback_batch {
	unsigned qp;
	unsigned count; /* number of writes */
};

/*
 * Returns batches completed since the last call. Their number; -1: a write failed; result says how.
 */
int rna_loopback_poll(struct rna_loopback_verbs *verbs,
		      struct rna_loopback_batch ret[RNA_LOOPBACK_BATCH_MAX]);
