/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of a loopback test: opens the device, registers memory, connects the port to itself by
 * RC, and writes over these connections. Each connection has a QP that writes and a QP that is the
 * target. loopback.c does the measurement. Thread: the only one of the child.
 */
#pragma once

#include "budget.h"
#include "loopback_memory.h"

enum { RNA_LOOPBACK_BATCH_MAX = 32 }; /* maximum writes per batch */

struct rna_loopback_verbs;

/*
 * request must be valid. Allocates memory after it has found device and port suitable; the caller
 * frees memory after closing. NULL: the test is not possible; result says why.
 */
struct rna_loopback_verbs *rna_loopback_verbs_open(const struct rna_loopback_request *request,
						   struct rna_loopback_memory *memory,
						   struct rna_loopback_result *result);
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
