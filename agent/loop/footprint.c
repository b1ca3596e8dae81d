// SPDX-License-Identifier: Apache-2.0
#include "footprint.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>

#include "rna/base/cleanup.h"

/*
 * Parts are made in lanes and freed in the loop, thousands of small ones: one heap for all threads
 * keeps the memory that a burst took from staying with the thread that happened to serve it.
 */
void rna_footprint_share_heap(void)
{
	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_MMAP_THRESHOLD, 256 * 1024);
	(void)mallopt(M_TRIM_THRESHOLD, 512 * 1024);
}

/*
 * The kernel enlarges a process's table of descriptors when it is full, and where there are several
 * threads it waits for an RCU grace period then (fs/file.c, expand_fdtable): some 10 ms each time.
 * So the table gets its size now, while there is one thread.
 */
void rna_footprint_reserve_descriptors(int fd, unsigned count)
{
	rlim_t wanted = count;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == 0)
		return; /* it is done in steps, then */
	if (wanted >= limit.rlim_cur)
		wanted = limit.rlim_cur - 1;
	RNA_CLOSE int copy = fcntl(fd, F_DUPFD_CLOEXEC, (int)wanted);

	(void)copy; /* having been there is all */
}
