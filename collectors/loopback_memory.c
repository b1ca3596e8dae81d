// SPDX-License-Identifier: Apache-2.0
#include "loopback_memory.h"

#include "cuda.h"
#include "rna/arena.h"
#include "rna/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MEMORY_NODES_MAX = 1024, LONG_BITS = CHAR_BIT * sizeof(unsigned long) };

static RNA_PRINTF(3, 0) void put(struct rna_loopback_result *result, enum rna_loopback_end end,
				 const char *format, va_list args)
{
	result->end = end;
	(void)vsnprintf(result->text, sizeof(result->text), format, args); /* cut where too long */
}

bool rna_loopback_skip(struct rna_loopback_result *result, enum rna_skip skip, const char *format,
		       ...)
{
	va_list args;

	result->skip = skip;
	va_start(args, format);
	put(result, RNA_LOOPBACK_SKIPPED, format, args);
	va_end(args);
	return false;
}

bool rna_loopback_fail(struct rna_loopback_result *result, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put(result, RNA_LOOPBACK_FAILED, format, args);
	va_end(args);
	return false;
}

/* ---- NUMA: two system calls, for which libnuma would be a library more ----------------------- */

static int read_line(const char *path, char *text, int size)
{
	RNA_FCLOSE FILE *file = fopen(path, "re");

	if (!file)
		return -errno;
	return fgets(text, size, file) ? 0 : -ENODATA;
}

/* "0-15,64-79", as the kernel writes it. CPUs beyond the set are left out. */
static void parse_cpus(char *text, cpu_set_t *ret)
{
	char *rest = NULL;

	CPU_ZERO(ret);
	for (char *range = strtok_r(text, ",\n", &rest); range;
	     range = strtok_r(NULL, ",\n", &rest)) {
		unsigned first, last;
		int count = sscanf(range, "%u-%u", &first, &last);

		for (unsigned cpu = first;
		     count > 0 && cpu <= (count > 1 ? last : first) && cpu < CPU_SETSIZE; cpu++)
			CPU_SET(cpu, ret);
	}
}

/* A container may not give us those CPUs: then the test runs where it is, and memory counts. */
static int run_on(int node)
{
	char path[64], text[4096];
	cpu_set_t cpus;
	int status;

	(void)snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
	status = read_line(path, text, sizeof(text));
	if (status < 0)
		return status;
	parse_cpus(text, &cpus);
	if (CPU_COUNT(&cpus) > 0)
		(void)sched_setaffinity(0, sizeof(cpus), &cpus);
	return 0;
}

/* Memory that is touched from now on comes from that node. */
static int allocate_on(int node)
{
	unsigned long mask[MEMORY_NODES_MAX / LONG_BITS] = {0};

	if (node >= MEMORY_NODES_MAX)
		return -EINVAL;
	mask[(unsigned)node / LONG_BITS] = 1UL << (unsigned)node % LONG_BITS;
	if (syscall(SYS_set_mempolicy, MPOL_BIND, mask, MEMORY_NODES_MAX) < 0)
		return -errno;
	return 0;
}

static bool settle(const struct rna_loopback_request *request, struct rna_loopback_result *result)
{
	int node = request->memory_node;
	int status;

	if (node < 0)
		return true;
	status = run_on(node);
	if (status == 0)
		status = allocate_on(node);
	if (status < 0)
		return rna_loopback_skip(result, RNA_SKIP_NO_MEMORY_NODE,
					 "%s/%u: no memory of NUMA node %d for the test: %s",
					 request->device, request->port, node, strerror(-status));
	return true;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static bool get_host_memory(const struct rna_loopback_request *request,
			    struct rna_loopback_memory *memory, struct rna_loopback_result *result)
{
	void *both = mmap(NULL, 2 * memory->size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (both == MAP_FAILED)
		return rna_loopback_fail(result, "%s/%u: no memory for buffers of %zu bytes",
					 request->device, request->port, memory->size);
	memory->source = both;
	return true;
}

static bool get_gpu_memory(const struct rna_loopback_request *request,
			   struct rna_loopback_memory *memory, struct rna_loopback_result *result)
{
	struct rna_error error = {0};
	int status = rna_cuda_get(request->gpu, 2 * memory->size, &memory->cuda, &error);

	if (status < 0) /* a GPU that is full, too: a job works there, the NIC is not to blame */
		return rna_loopback_skip(result, RNA_SKIP_NO_GPU, "%s/%u: %s", request->device,
					 request->port, error.text);
	memory->source = (char *)(uintptr_t)rna_cuda_address(memory->cuda);
	memory->dma_buf = rna_cuda_dma_buf(memory->cuda); /* without, by address */
	return true;
}

bool rna_loopback_memory_get(const struct rna_loopback_request *request, size_t size,
			     struct rna_loopback_memory *ret, struct rna_loopback_result *result)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	bool got;

	if (!settle(request, result))
		return false;
	ret->size = (size + page - 1) / page * page;
	if (request->endpoint == RNA_ENDPOINT_GPU)
		got = get_gpu_memory(request, ret, result);
	else
		got = get_host_memory(request, ret, result);
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

/* ---- content --------------------------------------------------------------------------------- */

/* A pattern without a period that a page or a packet has: what lands elsewhere is seen. */
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
