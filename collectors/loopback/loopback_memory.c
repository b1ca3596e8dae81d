// SPDX-License-Identifier: Apache-2.0
#include "loopback_memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rna/base/arena.h"
#include "rna/base/cleanup.h"

#include "cuda.h"
#include "numa.h"

/* -- Buffers ----------------------------------------------------------------------------------- */

static bool get_host_memory(const struct rna_loopback_request *request,
			    struct rna_loopback_memory *memory, struct rna_loopback_result *result)
{
	void *both = mmap(NULL, 2 * memory->size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (both == MAP_FAILED)
		return rna_loopback_skip(result, RNA_SKIP_NO_RESOURCES,
					 "%s/%u: no memory for buffers of %zu bytes",
					 request->device, request->port, memory->size);
	memory->source = both;
	return true;
}

/* The result of a test depends on where its memory is, so this is verified. */
static bool verify_node(const struct rna_loopback_request *request, int policy,
			const struct rna_loopback_memory *memory,
			struct rna_loopback_result *result)
{
	int there = request->memory_node < 0 ? 1
					     : rna_numa_gather(request->memory_node, memory->source,
							       2 * memory->size);

	if (there > 0 || (there < 0 && policy == 0))
		return true;
	if (policy == 0)
		return rna_loopback_skip(result, RNA_SKIP_NO_MEMORY_NODE,
					 "%s/%u: no free memory on NUMA node %d for the test",
					 request->device, request->port, request->memory_node);
	return rna_loopback_skip(result, RNA_SKIP_NO_MEMORY_NODE,
				 "%s/%u: no memory of NUMA node %d for the test: set_mempolicy is "
				 "refused, as by the seccomp profile of a container: %s",
				 request->device, request->port, request->memory_node,
				 strerror(-policy));
}

static bool get_gpu_memory(const struct rna_loopback_request *request,
			   struct rna_loopback_memory *memory, struct rna_loopback_result *result)
{
	struct rna_error error = {0};
	int status = rna_cuda_get(request->gpu, 2 * memory->size, &memory->cuda, &error);

	if (status < 0) /* also a GPU without free memory: a job runs there, the NIC is fine */
		return rna_loopback_skip(result, RNA_SKIP_NO_GPU, "%s/%u: %s", request->device,
					 request->port, error.text);
	memory->source = (char *)(uintptr_t)rna_cuda_address(memory->cuda);
	memory->dma_buf = rna_cuda_dma_buf(memory->cuda); /* -1: by address */
	return true;
}

/* *policy: the result of rna_numa_settle(). */
static bool bind_to_node(const struct rna_loopback_request *request, int *policy,
			 struct rna_loopback_result *result)
{
	*policy = request->memory_node < 0 ? 0 : rna_numa_settle(request->memory_node);
	if (*policy == 0 || *policy == -EPERM || *policy == -ENOSYS)
		return true;
	return rna_loopback_skip(result, RNA_SKIP_NO_MEMORY_NODE,
				 "%s/%u: no memory of NUMA node %d for the test: %s",
				 request->device, request->port, request->memory_node,
				 strerror(-*policy));
}

bool rna_loopback_memory_get(const struct rna_loopback_request *request, size_t size,
			     struct rna_loopback_memory *ret, struct rna_loopback_result *result)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int policy;
	bool got;

	if (!bind_to_node(request, &policy, result))
		return false;
	ret->size = (size + page - 1) / page * page;
	if (request->endpoint == RNA_ENDPOINT_GPU)
		got = get_gpu_memory(request, ret, result);
	else
		got = get_host_memory(request, ret, result) &&
		      verify_node(request, policy, ret, result);
	if (got)
		ret->target = ret->source + ret->size;
	return got;
}

void rna_loopback_memory_free(struct rna_loopback_memory *memory)
{
	if (memory->dma_buf >= 0)
		(void)close(memory->dma_buf);
	if (memory->cuda)
		memory->cuda = rna_cuda_free(memory->cuda);
	else if (memory->source)
		(void)munmap(memory->source, 2 * memory->size);
	*memory = RNA_LOOPBACK_MEMORY_INIT;
}

/* -- Content ----------------------------------------------------------------------------------- */

/* The pattern does not repeat with pages or packets, so misplaced data is detected. */
static void write_pattern(char *at, size_t len, uint64_t seed)
{
	for (size_t i = 0; i < len; i += sizeof(seed)) {
		seed = seed * 6364136223846793005U + 1442695040888963407U; /* Knuth, MMIX */
		memcpy(at + i, &seed, sizeof(seed));
	}
}

int rna_loopback_memory_fill(struct rna_loopback_memory *memory)
{
	RNA_FREE char *copy = NULL;
	char *source = memory->source;
	int status;

	if (memory->cuda)
		source = copy = malloc(memory->size);
	if (!source)
		return -ENOMEM;
	write_pattern(source, memory->size, rna_clock_monotonic());
	if (!memory->cuda) {
		memset(memory->target, 0, memory->size);
		return 0;
	}
	status = rna_cuda_write(memory->cuda, 0, source, memory->size);
	memset(source, 0, memory->size);
	return status < 0 ? status
			  : rna_cuda_write(memory->cuda, memory->size, source, memory->size);
}

int rna_loopback_memory_compare(const struct rna_loopback_memory *memory, size_t len)
{
	RNA_FREE char *copy = NULL;
	int status;

	if (!memory->cuda)
		return memcmp(memory->source, memory->target, len) == 0;
	copy = malloc(2 * len);
	if (!copy)
		return -ENOMEM;
	status = rna_cuda_read(memory->cuda, 0, copy, len);
	if (status == 0)
		status = rna_cuda_read(memory->cuda, memory->size, copy + len, len);
	return status < 0 ? status : memcmp(copy, copy + len, len) == 0;
}
