/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a loopback test: two buffers, a source and a target, at the endpoint of the test.
 * Thread: the only one of the child.
 */
#pragma once

#include "rna/model/loopback.h"

struct rna_cuda;

struct rna_loopback_memory {
	size_t size;  /* of each buffer, in pages */
	char *source; /* with cuda: an address of the GPU, which the CPU must not access */
	char *target; /* directly after the source */
	struct rna_cuda *cuda;
	int dma_buf; /* with cuda: of both buffers; -1: by address, through nvidia_peermem */
};

#define RNA_LOOPBACK_MEMORY_INIT ((struct rna_loopback_memory){.dma_buf = -1})

/*
 * Allocates two buffers of at least size bytes on the NUMA node of the request, and runs this
 * thread on the CPUs of that node from then on. False: result says why the test is not possible.
 */
bool rna_loopback_memory_get(const struct rna_loopback_request *request, size_t size,
			     struct rna_loopback_memory *ret, struct rna_loopback_result *result);
void rna_loopback_memory_free(struct rna_loopback_memory *memory); /* idempotent */

/* Fills the source with a new pattern and clears the target. */
int rna_loopback_memory_fill(struct rna_loopback_memory *memory);
/* Are the first len bytes of source and target equal? 1, 0, or negative errno. */
int rna_loopback_memory_compare(const struct rna_loopback_memory *memory, size_t len);
