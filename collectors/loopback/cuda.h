/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of an NVIDIA GPU, through the CUDA driver that is on the node or is not: libcuda.so.1 is
 * opened at run time, nothing of CUDA is needed to build. A context takes seconds, hundreds of
 * megabytes of the GPU, and may hang: so this is for a child process, and for who asked for it.
 * Source: CUDA Driver API reference (cuda.h; its functions are a stable ABI).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rna/base/error.h"

struct rna_cuda;

/*
 * size bytes of the GPU at the PCI address. 0; -ENOENT: there is no CUDA, or no such GPU; another
 * negative errno with error.
 */
int rna_cuda_get(const char *pci_address, size_t size, struct rna_cuda **ret,
		 struct rna_error *error);
struct rna_cuda *rna_cuda_free(struct rna_cuda *cuda); /* accepts and returns NULL */

uint64_t rna_cuda_address(const struct rna_cuda *cuda);
/* A dma-buf of all of it, for the caller to close; negative errno: not with this driver or GPU. */
int rna_cuda_dma_buf(const struct rna_cuda *cuda);

/* To and from memory of the host. 0 or -EIO. */
int rna_cuda_write(struct rna_cuda *cuda, size_t offset, const void *from, size_t len);
int rna_cuda_read(const struct rna_cuda *cuda, size_t offset, void *to, size_t len);
