// SPDX-License-Identifier: Apache-2.0
/*
 * loopback_numa: memory is preferred from a node, and not bound to it (MPOL_BIND): where a node
 * that a process is bound to has nothing left, the kernel ends somebody. What it gave instead is
 * moved, for which it frees what it can, the page cache first, and ends nobody.
 *
 * A container's seccomp profile may refuse all of that (those of Docker and containerd do without
 * CAP_SYS_NICE). What has been touched on a CPU of the node is usually of the node as well, and
 * where it is can be read in /proc, for which no right is needed.
 * Source: Documentation/admin-guide/mm/numa_memory_policy.rst; proc(5), numa_maps; mm/migrate.c.
 */
#include "numa.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/mempolicy.h>

#include "rna/base/cleanup.h"

enum {
	MEMORY_NODES_MAX = 1024,
	LONG_BITS = CHAR_BIT * sizeof(unsigned long),
	STRAY = 16, /* one page in so many may be elsewhere: it hardly shows */
};

struct nodes {
	unsigned long mask[MEMORY_NODES_MAX / LONG_BITS];
};

static struct nodes only(int node)
{
	struct nodes ret = {0};

	ret.mask[(unsigned)node / LONG_BITS] = 1UL << (unsigned)node % LONG_BITS;
	return ret;
}

/* -- Settling ---------------------------------------------------------------------------------- */

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

int rna_numa_settle(int node)
{
	struct nodes nodes;
	int status;

	if (node < 0 || node >= MEMORY_NODES_MAX)
		return -EINVAL;
	status = run_on(node);
	if (status < 0)
		return status;
	nodes = only(node);
	if (syscall(SYS_set_mempolicy, MPOL_PREFERRED, nodes.mask, MEMORY_NODES_MAX) < 0)
		return -errno;
	return 0;
}

/* -- Looking ----------------------------------------------------------------------------------- */

/* Of "7f0c... prefer:1 anon=1024 dirty=1024 N0=24 N1=1000 kernelpagesize_kB=4". */
static int judge(char *line, unsigned node)
{
	uint64_t own = 0, all = 0, count;
	char *rest = NULL;

	for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
		unsigned of;

		if (sscanf(word, "N%u=%" SCNu64, &of, &count) != 2)
			continue;
		all += count;
		own += of == node ? count : 0;
	}
	if (all == 0)
		return -ENODATA;
	return (all - own) * STRAY <= all;
}

/* The kernel may have put neighbours together: it is the last line that begins before or there. */
int rna_numa_look(FILE *maps, uint64_t address, unsigned node)
{
	RNA_FREE char *line = NULL, *found = NULL;
	size_t size = 0;
	uint64_t begin;

	while (getline(&line, &size, maps) >= 0) {
		if (sscanf(line, "%" SCNx64, &begin) != 1 || begin > address)
			break;
		free(found);
		found = line;
		line = NULL;
		size = 0;
	}
	return found ? judge(found, node) : -ENODATA;
}

static int look(int node, const void *pages)
{
	RNA_FCLOSE FILE *maps = fopen("/proc/self/numa_maps", "re");

	return maps ? rna_numa_look(maps, (uintptr_t)pages, (unsigned)node) : -errno;
}

int rna_numa_gather(int node, void *pages, size_t len)
{
	struct nodes nodes = only(node);
	int there = look(node, pages);

	if (there != 0)
		return there;
	/* Nothing of it is left to be touched, so that being bound costs nobody his life. */
	(void)syscall(SYS_mbind, pages, len, MPOL_BIND, nodes.mask, MEMORY_NODES_MAX, MPOL_MF_MOVE);
	return look(node, pages);
}
