/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of a loopback test: a device that is opened, memory that is registered, RC connections
 * from the port to itself, and writes over them. Each connection has a QP that writes and one that
 * is written to. What is measured with that is loopback.c's.
 * Thread: the only one of the child.
 */
#pragma once

#include "budget.h"
#include "loopback_memory.h"

enum { RNA_LOOPBACK_BATCH_MAX = 32 }; /* writes that are posted at once */

struct rna_loopback_verbs;

/*
 * For a request that makes sense. memory is got once it is known that device and port are good for
 * a test; the caller frees it, after closing. NULL: result says why there can be no test.
 */
struct rna_loopback_verbs *rna_loopback_verbs_open(const struct rna_loopback_request *request,
						   struct rna_loopback_memory *memory,
						   struct rna_loopback_result *result);
/* Accepts and returns NULL. */
struct rna_loopback_verbs *rna_loopback_verbs_close(struct rna_loopback_verbs *verbs);

/*
 * Posts a batch on connection number qp: count writes of size bytes each, from those offsets of the
 * source to the same ones of the target. Only the last one is signaled. False: result says why.
 */
bool rna_loopback_post(struct rna_loopback_verbs *verbs, unsigned qp, const size_t *offsets,
		       unsigned count, uint32_t size);

/* A batch that is complete. */
struct rna_loopback_batch {
	unsigned qp;
	unsigned count; /* of writes */
};

/* Those since the last call. How many; -1: a write has failed, result says how. */
int rna_loopback_poll(struct rna_loopback_verbs *verbs,
		      struct rna_loopback_batch ret[RNA_LOOPBACK_BATCH_MAX]);
