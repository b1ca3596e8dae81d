// SPDX-License-Identifier: Apache-2.0
/*
 * Files below a root. Symbolic links must not leave it: recorded machines and mounted hosts contain
 * absolute links, and a recording may be hostile. The root "/" needs no care: links cannot leave
 * it, and its files are the kernel's and the administrator's.
 */
#include "rna/base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <linux/magic.h>

#include "rna/base/beneath.h"
#include "rna/base/parse.h"

#include "process_files.h"

enum { NAMES_MAX = 65536 }; /* in a directory: each takes memory, and the whole list is sorted */

/* Set by tests, for which a FIFO in a recorded machine stands for a file that never answers. */
#define FIFOS "RNA_TEST_FIFOS"

struct rna_root {
	int fd;
	bool whole; /* it is "/": links cannot leave it */
	bool live;
	bool fifos;            /* may they be opened? */
	rna_root_opener *open; /* NULL: openat() */
	void *userdata;        /* of open */
	char path[];           /* resolved, "" for "/" */
};

static bool is_sysfs(int root_fd)
{
	RNA_CLOSE int fd = rna_open_inside(root_fd, "sys", O_PATH | O_DIRECTORY);
	struct statfs stat;

	return fd >= 0 && fstatfs(fd, &stat) == 0 && stat.f_type == SYSFS_MAGIC;
}

const char rna_root_empty[] = "";

static int open_nothing(void *userdata, const char *path, int flags)
{
	(void)userdata;
	(void)path;
	(void)flags;
	return -ENOENT;
}

/* Its path is "/", of which nothing can be opened. */
static int open_empty(struct rna_root **ret, struct rna_error *error)
{
	struct rna_root *root = calloc(1, sizeof(*root) + 1);

	if (!root)
		return rna_error_set(error, -ENOMEM, "cannot make an empty root");
	root->whole = true;
	root->open = open_nothing;
	root->fd = -1;
	*ret = root;
	return 0;
}

int rna_root_open(const char *path, struct rna_root **ret, struct rna_error *error)
{
	RNA_FREE char *resolved = path == rna_root_empty ? NULL : realpath(path ? path : "/", NULL);
	RNA_CLOSE int fd = -1;
	struct rna_root *root;
	size_t size;

	if (path == rna_root_empty)
		return open_empty(ret, error);
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
	root->fifos = getenv(FIFOS);
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
	if (root->fd >= 0)
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

static int open_plainly(int directory, const char *path, int flags)
{
	int fd = openat(directory, path, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Must what is opened with these flags be looked at before? */
static bool is_checked(const struct rna_root *root, int flags)
{
	return !root->live && !(flags & (O_PATH | O_DIRECTORY));
}

/* Opens what found, an O_PATH descriptor or negative errno, is, and closes found. */
static int open_checked(const struct rna_root *root, int found, int flags)
{
	RNA_CLOSE int fd = found;
	struct stat stat;

	if (fd < 0)
		return fd;
	if (fstat(fd, &stat) < 0)
		return -errno;
	if (S_ISLNK(stat.st_mode))
		return -ELOOP;
	if (!S_ISREG(stat.st_mode) && !S_ISDIR(stat.st_mode) &&
	    !(root->fifos && S_ISFIFO(stat.st_mode)))
		return -EACCES;
	return rna_open_again(fd, flags);
}

/*
 * A known file of a recording is not looked at again, which would double the system calls of a
 * poll. O_NONBLOCK, because it may have become a FIFO; only root can have made it a device file.
 */
static int flags_of_known(const struct rna_root *root, int flags)
{
	return is_checked(root, flags) && !root->fifos ? flags | O_NONBLOCK : flags;
}

static int open_path(const struct rna_root *root, const char *path, bool known, int flags)
{
	if (root->open)
		return root->open(root->userdata, path, flags);
	if (root->live && rna_process_path_is(path))
		return rna_process_open(root->fd, path, flags);
	if (root->whole)
		return open_plainly(root->fd, path, flags);
	if (known || !is_checked(root, flags))
		return rna_open_inside(root->fd, path, flags_of_known(root, flags));
	return open_checked(root, rna_open_inside(root->fd, path, O_PATH | (flags & O_NOFOLLOW)),
			    flags);
}

int rna_root_openat(const struct rna_root *root, const char *path, int flags)
{
	return open_path(root, path, false, flags);
}

/* In the open directory; -ELOOP and -EXDEV: name leads elsewhere. */
static int open_in(const struct rna_root *root, const struct rna_root_place *place, int flags)
{
	if (root->live && rna_process_path_is(place->path))
		return rna_process_open_in(place->directory, place->path, place->name, flags);
	if (root->whole)
		return open_plainly(place->directory, place->name, flags);
	if (place->known || !is_checked(root, flags))
		return rna_open_beneath(place->directory, place->name, flags_of_known(root, flags));
	return open_checked(root, rna_open_beneath(place->directory, place->name, O_PATH), flags);
}

int rna_root_open_below(const struct rna_root *root, const struct rna_root_place *place, int flags)
{
	char whole[PATH_MAX]; /* the kernel takes no longer path */

	if (place->directory >= 0 && !root->open) {
		int fd = open_in(root, place, flags);

		if (fd != -ELOOP && fd != -EXDEV)
			return fd;
	}
	if (snprintf(whole, sizeof(whole), "%s/%s", place->path, place->name) >= (int)sizeof(whole))
		return -ENAMETOOLONG;
	return open_path(root, whole, place->known, flags);
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
	size_t count = 0;
	const char *name;
	int status;

	if (!dir)
		return fd;
	while ((status = next_name(dir, &name)) > 0) {
		if (count == NAMES_MAX)
			return -EFBIG;
		if (!RNA_GROW(names, count, NULL))
			return -ENOMEM;
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
		qsort(names, count, sizeof(*names), rna_compare_name_items);
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
