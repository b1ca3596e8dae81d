// SPDX-License-Identifier: Apache-2.0
/*
 * floor ROOT KEEP: for each byte on stdin it reads the files of all ports that the agent polls for
 * scrapes, and writes a byte to stdout. It keeps up to KEEP of them open and does nothing with what
 * it reads: no agent can cost less that reads those files with as many descriptors.
 */
#include <err.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const patterns[] = {"state", "phys_state", "counters/*", "hw_counters/*"};

/* Returns all paths, and their number. */
static char **list_files(const char *root, size_t *ret_count)
{
	glob_t found = {0};
	char pattern[4096];

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		(void)snprintf(pattern, sizeof(pattern), "%s/sys/class/infiniband/*/ports/*/%s",
			       root, patterns[i]);
		(void)glob(pattern, i > 0 ? GLOB_APPEND | GLOB_NOSORT : GLOB_NOSORT, NULL, &found);
	}
	*ret_count = found.gl_pathc;
	return found.gl_pathv;
}

/* *fd: -1, or of the file that is kept open. */
static void read_file(const char *path, int *fd, size_t *keep)
{
	char text[4096];
	int opened = *fd >= 0 ? *fd : open(path, O_RDONLY | O_CLOEXEC);

	if (opened < 0 || pread(opened, text, sizeof(text), 0) < 0)
		warn("%s", path);
	if (opened < 0 || *fd >= 0)
		return;
	if (*keep == 0) {
		(void)close(opened);
		return;
	}
	*fd = opened;
	(*keep)--;
}

int main(int argc, char **argv)
{
	size_t count, keep = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	char **paths, byte;
	int *fds;

	if (argc != 3)
		errx(2, "floor ROOT KEEP");
	paths = list_files(argv[1], &count);
	fds = calloc(count > 0 ? count : 1, sizeof(*fds));
	if (!fds)
		errx(1, "no memory");
	memset(fds, -1, count * sizeof(*fds));
	while (read(STDIN_FILENO, &byte, 1) == 1) {
		for (size_t i = 0; i < count; i++)
			read_file(paths[i], &fds[i], &keep);
		if (write(STDOUT_FILENO, &byte, 1) != 1)
			return 1;
	}
	return 0;
}
