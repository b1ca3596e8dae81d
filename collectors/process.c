// SPDX-License-Identifier: Apache-2.0
/* process: the resources of the agent's own process. These paths are not below the root. */
#include "rna/model/process.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "rna/base/proc_stat.h"

#include "collectors.h"

/* Fields of /proc/self/stat after the name, from 0: proc(5) numbers state as 3. */
enum {
	FIELD_THREADS = 20 - 3,
	FIELD_VIRTUAL_MEMORY = 23 - 3,  /* bytes */
	FIELD_RESIDENT_MEMORY = 24 - 3, /* pages */
	FIELD_COUNT,
};

static rna_usec timeval_usec(struct timeval time)
{
	return (rna_usec)time.tv_sec * RNA_USEC_PER_SEC + (rna_usec)time.tv_usec;
}

static rna_usec read_cpu(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage); /* cannot fail with these arguments */
	return timeval_usec(usage.ru_utime) + timeval_usec(usage.ru_stime);
}

static int read_stat(uint64_t fields[FIELD_COUNT])
{
	char text[RNA_PROC_STAT_MAX], *rest;
	int error = rna_proc_stat_read(RNA_PROC_STAT_SELF, text, &rest);
	unsigned i = 0;

	if (error < 0)
		return error;
	for (char *word = strtok_r(rest, " \n", &rest); word && i < FIELD_COUNT;
	     word = strtok_r(NULL, " \n", &rest))
		fields[i++] = strtoull(word, NULL, 10);
	return i == FIELD_COUNT ? 0 : -EBADMSG;
}

static void fill_stat(struct rna_process *process)
{
	uint64_t fields[FIELD_COUNT];
	int error = read_stat(fields);

	if (error < 0) {
		rna_part_count_error(&process->part, error);
		process->threads = rna_value_unreadable();
		process->virtual_memory = rna_value_unreadable();
		process->resident_memory = rna_value_unreadable();
		return;
	}
	process->threads = rna_value_ok(fields[FIELD_THREADS]);
	process->virtual_memory = rna_value_ok(fields[FIELD_VIRTUAL_MEMORY]);
	process->resident_memory =
		rna_value_ok(fields[FIELD_RESIDENT_MEMORY] * (uint64_t)sysconf(_SC_PAGESIZE));
}

/* Counts the entries of the directory fd and closes it. */
static ssize_t count_entries(int fd)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(4096);
	char **names;

	if (scratch)
		return rna_root_list_fd(fd, scratch, &names);
	rna_close_p(&fd);
	return -ENOMEM;
}

/* Since Linux 6.2 the size of the directory is the number of descriptors; before it was 0. */
static struct rna_value read_open_fds(struct rna_part *part)
{
	int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat stat;
	ssize_t count;

	if (fd >= 0 && fstat(fd, &stat) == 0 && stat.st_size > 0) {
		count = stat.st_size;
		rna_close_p(&fd);
	} else {
		count = fd < 0 ? -errno : count_entries(fd);
	}
	if (count < 0) {
		rna_part_count_error(part, (int)count);
		return rna_value_unreadable();
	}
	return rna_value_ok((uint64_t)count - 1); /* without fd itself */
}

/* Absent: no limit. */
static struct rna_value read_max_fds(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return (struct rna_value){0};
	return rna_value_ok(limit.rlim_cur);
}

static int read_all(struct rna_process *process)
{
	process->cpu = read_cpu();
	fill_stat(process);
	process->open_fds = read_open_fds(&process->part);
	process->max_fds = read_max_fds();
	return 0;
}

RNA_DEFINE_COLLECT(process, PROCESS, struct rna_process, 0, 0,
		   "cannot read the agent's own process", read_all(part))
