/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a loopback test: two buffers, one that is read and one that is written to, at the
 * endpoint that the test is about.
 * Thread: the only one of the child.
 */
#pragma once

#include "rna/model/loopback.h"

struct rna_cuda;

struct rna_loopback_memory {
	size_t size;  /* of each buffer, in pages */
	char *source; /* addresses of the GPU's memory where cuda is set: not for us to touch */
	char *target; /* follows the source */
	struct rna_cuda *cuda;
	int dma_buf; /* of both buffers together, with cuda; -1: by address, through nvidia_peermem
		      */
};

#define RNA_LOOPBACK_MEMORY_INIT ((struct rna_loopback_memory){.dma_buf = -1})

/*
 * Buffers of size bytes each, at least, on the NUMA node of the request, on whose CPUs this thread
 * runs from then on. False: result says why there can be no test.
 */
bool rna_loopback_memory_get(const struct rna_loopback_request *request, size_t size,
			     struct rna_loopback_memory *ret, struct rna_loopback_result *result);
void rna_loopback_memory_free(struct rna_loopback_memory *memory); /* idempotent */

/* Puts a pattern into the source, other than the one before, and clears the target. */
int rna_loopback_memory_fill(struct rna_loopback_memory *memory);
/* Is the first len bytes of the target what the source has? 1, 0, or negative errno. */
int rna_loopback_memory_compare(const struct rna_loopback_memory *memory, size_t len);

/* For whoever finds out that there can be no test, or that it failed. Both return false. */
bool rna_loopback_skip(struct rna_loopback_result *result, enum rna_skip skip, const char *format,
		       ...) RNA_PRINTF(3, 4);
bool rna_loopback_fail(struct rna_loopback_result *result, const char *format, ...)
	RNA_PRINTF(2, 3);
