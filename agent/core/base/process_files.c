// SPDX-License-Identifier: Apache-2.0
#include "process_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/beneath.h"
#include "rna/base/cleanup.h"

/* A container has some forty lines, and a node hundreds; those of /sys and /dev are among the
 * first. */
enum { MOUNTINFO_MAX = 64 * 1024 };

/* "proc/PID/root/INSIDE" */
struct process_path {
	char process[sizeof("proc/4294967295")];
	const char *inside;
};

static bool split(const char *path, struct process_path *ret)
{
	static const char proc[] = "proc/", top[] = "/root/";
	size_t len = strlen(proc);

	if (strncmp(path, proc, len) != 0)
		return false;
	len += strspn(path + len, "0123456789");
	if (len >= sizeof(ret->process) || strncmp(path + len, top, strlen(top)) != 0)
		return false;
	memcpy(ret->process, path, len);
	ret->process[len] = '\0';
	ret->inside = path + len + strlen(top);
	return true;
}

bool rna_process_path_is(const char *path)
{
	struct process_path unused;

	return split(path, &unused);
}

/* -- Which file system is mounted there -------------------------------------------------------- */

struct place {
	const char *name; /* what it is mounted on */
	const char *file_systems[2];
	bool whole; /* it must be the root of the file system that is mounted */
};

static const struct place sys = {"sys", {"sysfs"}, .whole = true};
static const struct place dev = {"dev", {"tmpfs", "devtmpfs"}};

/* The path below the place; NULL: it is not there. */
static const char *find_below(const struct place *place, const char *inside)
{
	size_t len = strlen(place->name);

	return strncmp(inside, place->name, len) == 0 && inside[len] == '/' ? inside + len + 1
									    : NULL;
}

/* NULL: there is none that is opened so. */
static const struct place *find_place(const char *inside, int flags)
{
	if (find_below(&sys, inside))
		return &sys;
	return find_below(&dev, inside) && (flags & O_PATH) ? &dev : NULL;
}

/*
 * "36 35 0:21 / /sys rw,relatime shared:7 - sysfs sysfs rw" (proc_pid_mountinfo(5)): is one of
 * these file systems mounted, and its root, where a part of it would not do?
 */
static bool is_of_place(const char *line, const struct place *place)
{
	const char *end = strstr(line, " - ");
	char type[32];
	int root = 0;

	(void)sscanf(line, "%*u %*u %*u:%*u %n", &root);
	if (root == 0 || (place->whole && strncmp(line + root, "/ ", 2) != 0) || !end ||
	    sscanf(end, " - %31s", type) != 1)
		return false;
	return RNA_ANY(i, RNA_ARRAY_SIZE(place->file_systems),
		       place->file_systems[i] && strcmp(type, place->file_systems[i]) == 0);
}

/* Looks for the mount in mountinfo, which is of procfs: no other file system is asked. */
static int check_mount(int process, uint64_t mount, const struct place *place)
{
	int fd = openat(process, "mountinfo", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	RNA_FREE char *line = NULL;
	size_t size = 0, total = 0;
	int status = -EXDEV;
	ssize_t len;

	if (!file) {
		status = -errno;
		rna_close_p(&fd);
		return status;
	}
	while (total < MOUNTINFO_MAX && (len = getline(&line, &size, file)) > 0) {
		uint64_t number;

		total += (size_t)len;
		if (sscanf(line, "%" SCNu64, &number) != 1 || number != mount)
			continue;
		status = is_of_place(line, place) ? 0 : -EXDEV;
		break;
	}
	(void)fclose(file); /* it was only read */
	return status;
}

/*
 * Is the process in the agent's own user namespace? Then root mounted what it has, and its file
 * systems may be waited for: those of a network answer only when they are asked, and are the root
 * of nodes without disks. In a user namespace any user may mount.
 */
static bool has_mounts_of_root(int process)
{
	char own[64] = "", other[64] = "";

	return readlink("/proc/self/ns/user", own, sizeof(own) - 1) > 0 &&
	       readlinkat(process, "ns/user", other, sizeof(other) - 1) > 0 &&
	       strcmp(own, other) == 0;
}

/* What is mounted on name; O_PATH. process: the directory of procfs, for its mounts. */
static int open_mount(int process, int directory, const char *name, const struct place *place)
{
	RNA_CLOSE int fd = rna_open_mountpoint(directory, name);
	uint64_t mount;
	int ret;

	if (fd == -EAGAIN && has_mounts_of_root(process))
		fd = rna_open_beneath(directory, name, O_PATH | O_DIRECTORY);
	ret = fd < 0 ? fd : rna_mount_of(fd, &mount);

	if (ret >= 0)
		ret = check_mount(process, mount, place);
	if (ret < 0)
		return ret;
	ret = fd;
	fd = -1;
	return ret;
}

/* -- Opening ----------------------------------------------------------------------------------- */

/*
 * A runtime may bind a directory of the node's /dev into the container, and single device files,
 * which are on a mount of their own then.
 */
static int open_in_dev(int process, int top, const char *rest, int flags)
{
	RNA_CLOSE int directory = rna_open_again(top, O_PATH | O_DIRECTORY);
	char path[PATH_MAX], *at = path, *name;
	int ret;

	if (directory < 0 || snprintf(path, sizeof(path), "%s", rest) >= (int)sizeof(path))
		return directory < 0 ? directory : -ENAMETOOLONG;
	for (name = strsep(&at, "/"); at; name = strsep(&at, "/")) {
		int next = rna_open_beneath_mount(directory, name, O_PATH | O_DIRECTORY);

		if (next == -EXDEV)
			next = open_mount(process, directory, name, &dev);
		if (next < 0)
			return next;
		rna_close_p(&directory);
		directory = next;
	}
	ret = openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC);
	return ret < 0 ? -errno : ret;
}

int rna_process_open(int root, const char *path, int flags)
{
	struct process_path parts;
	const struct place *place;
	RNA_CLOSE int process = -1, top = -1, fd = -1;

	if (!split(path, &parts))
		return -ENOENT;
	place = find_place(parts.inside, flags);
	if (!place)
		return -EXDEV;
	process = rna_open_inside(root, parts.process, O_PATH | O_DIRECTORY);
	if (process < 0)
		return process;
	top = openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC); /* a link of procfs */
	if (top < 0)
		return -errno;
	fd = open_mount(process, top, place->name, place);
	if (fd < 0)
		return fd;
	return place == &sys ? rna_open_inside_mount(fd, find_below(place, parts.inside), flags)
			     : open_in_dev(process, fd, find_below(place, parts.inside), flags);
}

int rna_process_open_in(int directory, const char *path, const char *name, int flags)
{
	struct process_path parts;

	if (!split(path, &parts) || !find_place(parts.inside, flags))
		return -EXDEV;
	return rna_open_beneath_mount(directory, name, flags);
}
