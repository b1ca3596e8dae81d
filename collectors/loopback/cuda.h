/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of an NVIDIA GPU through the CUDA driver, if the node has it: libcuda.so.1 is loaded at
 * run time, and building needs nothing of CUDA. A context takes seconds and hundreds of megabytes
 * of the GPU, and may hang: so it is used only in a child process and only on request. Source: CUDA
 * Driver API reference (cuda.h; its functions are a stable ABI).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rna/base/error.h"

struct rna_cuda;

/*
 * Allocates size bytes on the GPU at that PCI address. 0; -ENOENT: no CUDA, or no such GPU; another
 * negative errno; with error.
 */
int rna_cuda_get(const char *pci_address, size_t size, struct rna_cuda **ret,
		 struct rna_error *error);
struct rna_cuda *rna_cuda_free(struct rna_cuda *cuda); /* accepts and returns NULL */

uint64_t rna_cuda_address(const struct rna_cuda *cuda);
/*
 * A dma-buf of the whole memory, which the caller closes. Negative errno: not supported by this
 * driver or GPU.
 */
int rna_cuda_dma_buf(const struct rna_cuda *cuda);

/* Copy from and to host memory. 0 or -EIO. */
int rna_cuda_write(struct rna_cuda *cuda, size_t offset, const void *from, size_t len);
int rna_cuda_read(const struct rna_cuda *cuda, size_t offset, void *to, size_t len);
