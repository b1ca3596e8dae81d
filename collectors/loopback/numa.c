// SPDX-License-Identifier: Apache-2.0
/*
 * Memory is preferred from a node (MPOL_PREFERRED) and not bound to it (MPOL_BIND): if the node has
 * no memory left, a bound process wakes the OOM killer. Pages that the kernel placed elsewhere are
 * moved afterwards. For a move the kernel frees what it can, the page cache first, and kills
 * nothing.
 *
 * The seccomp profile of a container may refuse these calls (those of Docker and containerd do
 * without CAP_SYS_NICE). Memory that is first touched on a CPU of the node is usually on the node
 * as well, and numa_maps in /proc says where it is, without any privilege.
 *
 * libnuma is left out. Its constructor runs before main() in every process that links it, the agent
 * and all commands, and only one child process would use it: libnuma 2.0.16 opens four files of
 * /proc and /sys and one more for each node, and calls set_mempolicy() twice. It would replace
 * run_on() only: numa_set_preferred() returns no errno, which tells a refusal by a container from a
 * node that does not exist, and writes to stderr; move_pages(), which reports where a page is, is
 * refused by the same profiles.
 *
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
	STRAY = 16, /* one page in 16 may be elsewhere: the effect is too small to measure */
};

struct nodes {
	unsigned long mask[MEMORY_NODES_MAX / LONG_BITS];
};

static struct nodes single_node(int node)
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

/* A container may not have those CPUs: then the test runs where it is; only memory matters. */
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
	nodes = single_node(node);
	if (syscall(SYS_set_mempolicy, MPOL_PREFERRED, nodes.mask, MEMORY_NODES_MAX) < 0)
		return -errno;
	return 0;
}

/* -- Looking ----------------------------------------------------------------------------------- */

/* For a line "7f0c... prefer:1 anon=1024 dirty=1024 N0=24 N1=1000 kernelpagesize_kB=4". */
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

/*
 * The kernel may have merged neighbouring mappings: the line is the last one that begins at or
 * before the address.
 */
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

static int query_pages(int node, const void *pages)
{
	RNA_FCLOSE FILE *maps = fopen("/proc/self/numa_maps", "re");

	return maps ? rna_numa_look(maps, (uintptr_t)pages, (unsigned)node) : -errno;
}

int rna_numa_gather(int node, void *pages, size_t len)
{
	struct nodes nodes = single_node(node);
	int there = query_pages(node, pages);

	if (there != 0)
		return there;
	/* All pages are already faulted in, so MPOL_BIND cannot trigger the OOM killer. */
	(void)syscall(SYS_mbind, pages, len, MPOL_BIND, nodes.mask, MEMORY_NODES_MAX, MPOL_MF_MOVE);
	return query_pages(node, pages);
}
