// SPDX-License-Identifier: Apache-2.0
#include "rna/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "rna/base/arena.h"

enum { CHUNK = 16 * 1024 }; /* bytes that are read at a time */

/* O_NONBLOCK: opening a FIFO would wait for its writer, and a reload happens in the loop. */
static int open_file(const char *path, struct rna_error *error)
{
	RNA_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat info;
	int ret;

	if (fd < 0)
		return rna_error_set(error, -errno, "%s: cannot open", path);
	if (fstat(fd, &info) < 0)
		return rna_error_set(error, -errno, "%s: cannot get file status", path);
	if (S_ISDIR(info.st_mode))
		return rna_error_say(error, -EISDIR, "%s: is a directory; give the path of a file",
				     path);
	if (!S_ISREG(info.st_mode))
		return rna_error_say(error, -EINVAL, "%s: not a regular file", path);
	ret = fd;
	fd = -1;
	return ret;
}

int rna_file_write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t written = write(fd, text, len);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			text += written;
			len -= (size_t)written;
		}
	}
	return 0;
}

/*
 * A new file. What has the temporary name is of a process that was killed while it wrote, or placed
 * there by another user: a link to a file that must not be written, or a FIFO to wait for.
 */
static int make_file(const struct rna_file_place *place)
{
	enum { HOW = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW };
	int fd;

	if (unlinkat(place->directory, place->fresh, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(place->directory, place->fresh, HOW, 0644);
	return fd < 0 ? -errno : fd;
}

int rna_file_replace(const struct rna_file_place *place, const char *text, size_t len)
{
	RNA_CLOSE int fd = make_file(place);
	int status = fd < 0 ? fd : rna_file_write_all(fd, text, len);

	if (status == 0 && place->lasting && fsync(fd) < 0)
		status = -errno;
	if (status == 0 &&
	    renameat(place->directory, place->fresh, place->directory, place->name) < 0)
		status = -errno;
	if (status == 0 && place->lasting && fsync(place->directory) < 0)
		status = -errno;
	if (status < 0 && fd >= 0)
		(void)unlinkat(place->directory, place->fresh, 0);
	return status;
}

const char *rna_file_beside(struct rna_arena *arena, const char *file, const char *path)
{
	const char *slash = strrchr(file, '/');

	if (*path == '/' || !slash)
		return rna_arena_strdup(arena, path);
	return rna_arena_printf(arena, "%.*s/%s", (int)(slash - file), file, path);
}

int rna_file_read(const char *path, size_t max, struct rna_strbuf *text, struct rna_error *error)
{
	RNA_CLOSE int fd = open_file(path, error);
	size_t before = text->len;

	if (fd < 0)
		return fd;
	for (;;) {
		char *end = rna_strbuf_reserve(text, CHUNK);
		ssize_t len;

		if (!end)
			return rna_error_set(error, -ENOMEM, "%s", path);
		len = read(fd, end, CHUNK);
		if (len < 0)
			return rna_error_set(error, -errno, "%s: cannot read", path);
		if (len == 0)
			break;
		text->len += (size_t)len;
		if (text->len - before > max)
			return rna_error_say(error, -EFBIG, "%s: larger than %zu KiB", path,
					     max / 1024);
	}
	text->data[text->len] = '\0'; /* reserved with the bytes */
	return 0;
}
