// SPDX-License-Identifier: Apache-2.0
#include "rna/base/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <linux/openat2.h>

#include "rna/base/cleanup.h"

enum {
	RACES_MAX = 1000,
	RACES_AT_ONCE = 50, /* then with pauses: the holder's processor may be taken away */
	RACES_CACHED = 20,  /* where EAGAIN may also be the answer */
	LINKS_MAX = 40,     /* as in the kernel */
};

/* -- Mounts ------------------------------------------------------------------------------------ */

/* From procfs, because it does not ask the file system of fd, and knows mounts since Linux 3.15. */
int rna_mount_of(int fd, uint64_t *ret)
{
	char path[64], line[64];
	FILE *file;
	int status = -ENOENT;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (status < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "mnt_id:%" SCNu64, ret) == 1)
			status = 0;
	(void)fclose(file); /* it was only read */
	return status;
}

/* -- openat2() --------------------------------------------------------------------------------- */

/* Who renames or mounts may wait for this core, or for its own. */
static void let_others_run(int tries)
{
	const struct timespec pause = {.tv_nsec = 50 * 1000};

	if (tries < RACES_AT_ONCE)
		(void)sched_yield();
	else
		(void)nanosleep(&pause, NULL);
}

/*
 * The kernel refuses a path with "..", as in all links of /sys, with EAGAIN if anything on the
 * machine was renamed or mounted meanwhile. openat2(2) says to try again.
 */
static int open_by_kernel(int directory, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = resolve | RESOLVE_NO_MAGICLINKS,
	};
	const int most = resolve & RESOLVE_CACHED ? RACES_CACHED : RACES_MAX;
	long fd = -1;

	for (int tries = 0; tries < most; tries++) {
		fd = syscall(SYS_openat2, directory, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
		let_others_run(tries);
	}
	return fd < 0 ? -errno : (int)fd;
}

static bool is_missing(int status)
{
	return status == -ENOSYS || status == -EPERM;
}

/* -- Without it: one component after the other ------------------------------------------------- */

/* -EXDEV: fd is not on the mount of directory. */
static int check_mount(int directory, int fd)
{
	uint64_t mount, other;
	int status = rna_mount_of(directory, &mount);

	if (status == 0)
		status = rna_mount_of(fd, &other);
	if (status == 0 && mount != other)
		status = -EXDEV;
	return status;
}

/* One step down to name, which may be a link; O_PATH. resolve: as of openat2(). */
static int step(int directory, const char *name, uint64_t resolve)
{
	RNA_CLOSE int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int ret = fd < 0 ? -errno : fd;

	if (fd >= 0 && (resolve & RESOLVE_NO_XDEV))
		ret = check_mount(directory, fd);
	if (ret < 0)
		return ret;
	ret = fd;
	fd = -1;
	return ret;
}

/* 0 if fd is a directory, otherwise -ENOTDIR: what stands in front of a slash has to be one. */
static int check_directory(int fd)
{
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return -errno;
	return S_ISDIR(stat.st_mode) ? 0 : -ENOTDIR;
}

/* Does name mean the directory that it is in? */
static bool is_here(const char *name)
{
	return *name == '\0' || strcmp(name, ".") == 0;
}

static bool is_parent(const char *name)
{
	return strcmp(name, "..") == 0;
}

static int copy(int fd)
{
	int ret = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return ret < 0 ? -errno : ret;
}

int rna_open_again(int fd, int flags)
{
	char link[32];
	int ret;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ret = open(link, (flags & ~O_NOFOLLOW) | O_CLOEXEC);
	return ret < 0 ? -errno : ret;
}

/* The object at the end of a walk, an O_PATH descriptor, opened as was asked. */
static int finish(int fd, int flags)
{
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return -errno;
	if ((flags & O_DIRECTORY) && !S_ISDIR(stat.st_mode))
		return -ENOTDIR;
	if (S_ISLNK(stat.st_mode) && !(flags & O_PATH))
		return -ELOOP;
	if (flags & O_PATH)
		return copy(fd);
	return rna_open_again(fd, flags);
}

/* One step down from directory, of which at is the rest of the path. */
static int go_beneath(int directory, const char *name, const char *at, int flags, uint64_t resolve)
{
	RNA_CLOSE int fd = is_here(name) ? copy(directory) : step(directory, name, resolve);
	bool wants_link = !at && (flags & O_PATH) && (flags & O_NOFOLLOW);
	struct stat stat;
	int ret;

	if (fd < 0 || fstat(fd, &stat) < 0)
		return fd < 0 ? fd : -errno;
	if (is_here(name) && !S_ISDIR(stat.st_mode))
		return -ENOTDIR;
	if (S_ISLNK(stat.st_mode) && !wants_link)
		return -ELOOP;
	ret = fd;
	fd = -1;
	return ret;
}

static int walk_beneath(int directory, const char *path, int flags, uint64_t resolve)
{
	RNA_CLOSE int fd = copy(directory);
	char rest[PATH_MAX], *at = rest;
	const char *name;

	if (snprintf(rest, sizeof(rest), "%s", path) >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	if (*path == '/')
		return -EXDEV;
	while (fd >= 0 && (name = strsep(&at, "/"))) {
		RNA_CLOSE int above = fd;

		fd = go_beneath(above, name, at, flags, resolve);
	}
	return fd < 0 ? fd : finish(fd, flags);
}

/* A place in a walk that follows links. */
struct walk {
	int root;
	int fd; /* O_PATH */
	uint64_t resolve;
	char real[PATH_MAX]; /* the path to fd, without links */
	char rest[PATH_MAX]; /* the names that follow */
	char *at;            /* in rest; NULL: its end */
	unsigned links;
};

static void end_walk(struct walk *walk)
{
	rna_close_p(&walk->fd);
}

static int go_to(struct walk *walk, int fd)
{
	if (fd < 0)
		return fd;
	rna_close_p(&walk->fd);
	walk->fd = fd;
	return 0;
}

static int go_back_to(struct walk *walk, size_t len)
{
	walk->real[len] = '\0';
	return go_to(walk, len > 0 ? walk_beneath(walk->root, walk->real, O_PATH | O_DIRECTORY,
						  walk->resolve)
				   : copy(walk->root));
}

static int go_up(struct walk *walk)
{
	const char *slash = strrchr(walk->real, '/');
	int status = check_directory(walk->fd);

	return status < 0 ? status : go_back_to(walk, slash ? (size_t)(slash - walk->real) : 0);
}

/* Puts the target of a link in front of the names that follow. */
static int follow(struct walk *walk, int link)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t len = readlinkat(link, "", target, sizeof(target));

	if (len < 0)
		return -errno;
	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	if (snprintf(rest, sizeof(rest), "%.*s%s%s", (int)len, target, walk->at ? "/" : "",
		     walk->at ? walk->at : "") >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	walk->at = strcpy(walk->rest, rest);
	return *rest == '/' ? go_back_to(walk, 0) : 0;
}

static int go_down(struct walk *walk, const char *name, bool follows)
{
	RNA_CLOSE int next = step(walk->fd, name, walk->resolve);
	size_t len = strlen(walk->real);
	int fd = next;
	struct stat stat;

	if (next < 0 || fstat(next, &stat) < 0)
		return next < 0 ? next : -errno;
	if (S_ISLNK(stat.st_mode) && (follows || walk->at))
		return follow(walk, next);
	if (snprintf(walk->real + len, sizeof(walk->real) - len, "%s%s", len > 0 ? "/" : "",
		     name) >= (int)(sizeof(walk->real) - len))
		return -ENAMETOOLONG;
	next = -1;
	return go_to(walk, fd);
}

static int go(struct walk *walk, const char *name, bool follows)
{
	if (is_here(name))
		return check_directory(walk->fd);
	return is_parent(name) ? go_up(walk) : go_down(walk, name, follows);
}

static int walk_inside(int directory, const char *path, int flags, uint64_t resolve)
{
	RNA_CLEANUP(end_walk) struct walk walk = {.root = directory, .fd = -1, .resolve = resolve};
	int status = go_back_to(&walk, 0);
	const char *name;

	if (snprintf(walk.rest, sizeof(walk.rest), "%s", path) >= (int)sizeof(walk.rest))
		return -ENAMETOOLONG;
	walk.at = walk.rest;
	while (status == 0 && (name = strsep(&walk.at, "/")))
		status = go(&walk, name, !(flags & O_NOFOLLOW));
	return status < 0 ? status : finish(walk.fd, flags);
}

/* -- Either way -------------------------------------------------------------------------------- */

static int open_inside(int directory, const char *path, int flags, uint64_t resolve)
{
	int fd = open_by_kernel(directory, path, flags, RESOLVE_IN_ROOT | resolve);

	if (!is_missing(fd))
		return fd;
	return *path ? walk_inside(directory, path, flags, resolve) : -ENOENT;
}

static bool has_parent(const char *path)
{
	for (; path; path = strchr(path, '/')) {
		path += *path == '/';
		if (strncmp(path, "..", 2) == 0 && (path[2] == '/' || path[2] == '\0'))
			return true;
	}
	return false;
}

static int open_beneath(int directory, const char *path, int flags, uint64_t resolve)
{
	int fd;

	if (has_parent(path))
		return -EXDEV;
	fd = open_by_kernel(directory, path, flags,
			    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | resolve);
	if (!is_missing(fd))
		return fd;
	return *path ? walk_beneath(directory, path, flags, resolve) : -ENOENT;
}

int rna_open_inside(int directory, const char *path, int flags)
{
	return open_inside(directory, path, flags, 0);
}

int rna_open_beneath(int directory, const char *path, int flags)
{
	return open_beneath(directory, path, flags, 0);
}

int rna_open_inside_mount(int directory, const char *path, int flags)
{
	return open_inside(directory, path, flags, RESOLVE_NO_XDEV);
}

int rna_open_beneath_mount(int directory, const char *path, int flags)
{
	return open_beneath(directory, path, flags, RESOLVE_NO_XDEV);
}

/*
 * The name of a mount is in the cache of the kernel as long as something is mounted on it. Linux
 * before 5.12 has no RESOLVE_CACHED, and asks the file system above.
 */
int rna_open_mountpoint(int directory, const char *name)
{
	const uint64_t resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
	int fd = open_by_kernel(directory, name, O_PATH | O_DIRECTORY, resolve | RESOLVE_CACHED);

	return fd == -EINVAL || is_missing(fd)
		       ? open_beneath(directory, name, O_PATH | O_DIRECTORY, 0)
		       : fd;
}

bool rna_path_is_plain(const char *path)
{
	for (;;) {
		size_t len = strcspn(path, "/");

		if (len == 0 || len > NAME_MAX || (len == 1 && path[0] == '.') ||
		    (len == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		if (path[len] == '\0')
			return true;
		path += len + 1;
	}
}

/* Each of the directories, made if it is missing. */
static int make_each(int directory, char *path)
{
	RNA_CLOSE int fd = copy(directory);
	char *at = path;
	const char *name;
	int ret;

	while (fd >= 0 && (name = strsep(&at, "/"))) {
		RNA_CLOSE int above = fd;

		if (mkdirat(above, name, 0755) < 0 && errno != EEXIST)
			fd = -errno;
		else
			fd = rna_open_beneath(above, name, O_PATH | O_DIRECTORY);
	}
	ret = fd;
	fd = -1;
	return ret;
}

int rna_make_beneath(int directory, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char above[PATH_MAX];
	int fd;

	if (!rna_path_is_plain(path))
		return -EINVAL;
	if (snprintf(above, sizeof(above), "%s", path) >= (int)sizeof(above))
		return -ENAMETOOLONG;
	*ret_name = slash ? slash + 1 : path;
	above[slash ? slash - path : 0] = '\0';
	fd = rna_open_beneath(directory, *above ? above : ".", O_PATH | O_DIRECTORY);
	return fd == -ENOENT ? make_each(directory, above) : fd;
}
