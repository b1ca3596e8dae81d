// SPDX-License-Identifier: Apache-2.0
/*
 * Files below a root. Symbolic links must not leave it: recorded machines and mounted hosts contain
 * absolute links. openat2(RESOLVE_IN_ROOT) ensures that in the kernel (Linux 5.6). If a seccomp
 * filter rejects openat2(), plain openat() is used. The root "/" needs neither.
 */
#include "rna/base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <linux/magic.h>
#include <linux/openat2.h>

#include "rna/base/parse.h"

enum { RACES_MAX = 1000 };

struct rna_root {
	int fd;
	bool whole; /* it is "/": links cannot leave it */
	bool live;
	rna_root_opener *open; /* NULL: openat() */
	void *userdata;        /* of open */
	char path[];           /* resolved, "" for "/" */
};

static bool is_sysfs(int root_fd)
{
	RNA_CLOSE int fd = openat(root_fd, "sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs stat;

	return fd >= 0 && fstatfs(fd, &stat) == 0 && stat.f_type == SYSFS_MAGIC;
}

int rna_root_open(const char *path, struct rna_root **ret, struct rna_error *error)
{
	RNA_FREE char *resolved = realpath(path ? path : "/", NULL);
	RNA_CLOSE int fd = -1;
	struct rna_root *root;
	size_t size;

	if (!resolved)
		return rna_error_set(error, -errno, "%s: cannot be the root", path);
	fd = open(resolved, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return rna_error_set(error, -errno, "%s: cannot be the root", resolved);
	size = strlen(resolved) + 1;
	root = calloc(1, sizeof(*root) + size);
	if (!root)
		return rna_error_set(error, -ENOMEM, "%s: cannot be the root", resolved);
	root->whole = strcmp(resolved, "/") == 0;
	if (!root->whole)
		memcpy(root->path, resolved, size);
	root->live = is_sysfs(fd);
	root->fd = fd;
	fd = -1;
	*ret = root;
	return 0;
}

int rna_root_open_through(const struct rna_root *base, rna_root_opener *open, void *userdata,
			  struct rna_root **ret, struct rna_error *error)
{
	int status = rna_root_open(rna_root_path(base), ret, error);

	if (status < 0)
		return status;
	(*ret)->open = open;
	(*ret)->userdata = userdata;
	return 0;
}

struct rna_root *rna_root_close(struct rna_root *root)
{
	if (!root)
		return NULL;
	(void)close(root->fd); /* O_PATH: nothing to lose */
	free(root);
	return NULL;
}

const char *rna_root_path(const struct rna_root *root)
{
	return root->whole ? "/" : root->path;
}

bool rna_root_is_live(const struct rna_root *root)
{
	return root->live;
}

void *rna_root_userdata(const struct rna_root *root)
{
	return root->userdata;
}

int rna_root_openat(const struct rna_root *root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT,
	};
	long fd = -1;

	if (root->open)
		return root->open(root->userdata, path, flags);

	/*
	 * The kernel refuses a path with "..", as in all links of /sys, with EAGAIN if anything on
	 * the machine was renamed or mounted meanwhile. openat2(2) says to try again.
	 */
	for (int tries = 0; !root->whole && tries < RACES_MAX; tries++) {
		fd = syscall(SYS_openat2, root->fd, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	if (root->whole || (fd < 0 && (errno == ENOSYS || errno == EPERM)))
		fd = openat(root->fd, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

int rna_root_open_below(const struct rna_root *root, int directory, const char *path,
			const char *name, int flags)
{
	char whole[PATH_MAX]; /* the kernel takes no longer path */
	int fd;

	if (directory >= 0 && !root->open) {
		fd = openat(directory, name, flags | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	if (snprintf(whole, sizeof(whole), "%s/%s", path, name) >= (int)sizeof(whole))
		return -ENAMETOOLONG;
	return rna_root_openat(root, whole, flags);
}

bool rna_root_exists(const struct rna_root *root, const char *path)
{
	RNA_CLOSE int fd = rna_root_openat(root, path, O_PATH);

	return fd >= 0;
}

/* Removes trailing blanks and line ends; a NUL byte inside is an error. */
static ssize_t finish_text(char *buffer, size_t len)
{
	while (len > 0 && strchr(" \t\r\n", buffer[len - 1]) && buffer[len - 1] != '\0')
		len--;
	buffer[len] = '\0';
	return memchr(buffer, '\0', len) ? -EILSEQ : (ssize_t)len;
}

ssize_t rna_root_pread_text(int fd, char *buffer, size_t size)
{
	ssize_t len;

	do
		len = pread(fd, buffer, size, 0);
	while (len < 0 && errno == EINTR);
	if (len < 0)
		return -errno;
	if ((size_t)len == size)
		return -EMSGSIZE;
	return finish_text(buffer, (size_t)len);
}

ssize_t rna_root_read(const struct rna_root *root, const char *path, char *buffer, size_t size)
{
	RNA_CLOSE int fd = rna_root_openat(root, path, O_RDONLY);

	return fd < 0 ? fd : rna_root_pread_text(fd, buffer, size);
}

int rna_root_read_u64(const struct rna_root *root, const char *path, uint64_t *ret)
{
	char text[64];
	ssize_t len = rna_root_read(root, path, text, sizeof(text));

	return len < 0 ? (int)len : rna_parse_u64(text, ret);
}

int rna_root_read_hex(const struct rna_root *root, const char *path, uint64_t *ret)
{
	char text[64];
	ssize_t len = rna_root_read(root, path, text, sizeof(text));

	return len < 0 ? (int)len : rna_parse_hex_u64(text, ret);
}

/* Copies text to arena. NULL: *ret_error is len if that is an errno, otherwise -ENOMEM. */
static char *keep(struct rna_arena *arena, const char *text, ssize_t len, int *ret_error)
{
	char *copy = len < 0 ? NULL : rna_arena_strdup(arena, text);

	if (!copy && ret_error)
		*ret_error = len < 0 ? (int)len : -ENOMEM;
	return copy;
}

static ssize_t read_link(int fd, const char *path, char *buffer, size_t size)
{
	ssize_t len = readlinkat(fd, path, buffer, size);

	if (len < 0)
		return -errno;
	if ((size_t)len >= size)
		return -ENAMETOOLONG;
	buffer[len] = '\0';
	return len;
}

ssize_t rna_root_readlink(const struct rna_root *root, const char *path, char *buffer, size_t size)
{
	RNA_CLOSE int fd = rna_root_openat(root, path, O_PATH | O_NOFOLLOW);

	return fd < 0 ? fd : read_link(fd, "", buffer, size);
}

/* The kernel resolves the path; the descriptor's link in /proc has the result. */
char *rna_root_realpath(const struct rna_root *root, const char *path, struct rna_arena *arena,
			int *ret_error)
{
	RNA_CLOSE int fd = rna_root_openat(root, path, O_PATH);
	char link[32], target[PATH_MAX], *inside = target;
	size_t skip = strlen(root->path);
	ssize_t len = fd;

	if (fd >= 0) {
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		len = read_link(AT_FDCWD, link, target, sizeof(target));
	}
	if (len >= 0 && strncmp(target, root->path, skip) == 0)
		inside = target + skip + (target[skip] == '/');
	return keep(arena, inside, len, ret_error);
}

static int compare_names(const void *a, const void *b)
{
	return rna_compare_names(*(char *const *)a, *(char *const *)b);
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Takes over *fd, a descriptor or a negative errno. NULL: *fd is the error. */
static DIR *open_directory(int *fd)
{
	DIR *dir = *fd < 0 ? NULL : fdopendir(*fd);
	int opened = *fd;

	if (!dir && opened >= 0) {
		*fd = -errno;
		(void)close(opened); /* nothing was written */
	}
	return dir;
}

/*
 * 1, 0 after the last entry, or negative errno. An error fails the whole list, because a partial
 * one would report the other entries as removed.
 */
static int next_name(DIR *dir, const char **ret)
{
	const struct dirent *entry;

	do {
		errno = 0;
		entry = readdir(dir);
	} while (entry && is_dot(entry->d_name));
	*ret = entry ? entry->d_name : NULL;
	return entry ? 1 : -errno;
}

ssize_t rna_root_list_fd(int fd, struct rna_arena *arena, char ***ret_names)
{
	RNA_CLOSEDIR DIR *dir = open_directory(&fd);
	RNA_FREE char **names = NULL;
	size_t count = 0, size = 0;
	const char *name;
	int status;

	if (!dir)
		return fd;
	while ((status = next_name(dir, &name)) > 0) {
		if (count == size) {
			char **more;

			size = size ? size * 2 : 64;
			more = reallocarray(names, size, sizeof(*names));
			if (!more)
				return -ENOMEM;
			names = more;
		}
		names[count] = rna_arena_strdup(arena, name);
		if (!names[count++])
			return -ENOMEM;
	}
	if (status < 0)
		return status;
	*ret_names = rna_arena_array(arena, count + 1, sizeof(**ret_names));
	if (!*ret_names)
		return -ENOMEM;
	if (count > 0) {
		qsort(names, count, sizeof(*names), compare_names);
		memcpy(*ret_names, names, count * sizeof(*names));
	}
	return (ssize_t)count;
}

ssize_t rna_root_list(const struct rna_root *root, const char *path, struct rna_arena *arena,
		      char ***ret_names)
{
	return rna_root_list_fd(rna_root_openat(root, path, O_RDONLY | O_DIRECTORY), arena,
				ret_names);
}
