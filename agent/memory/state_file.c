// SPDX-License-Identifier: Apache-2.0
#include "state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>

#include "rna/base/file.h"

enum {
	SIZE_MAX_READ = 16 * 1024 * 1024, /* thousands of devices; more is not ours */
	PIECE = 16 * 1024,
	NAME_SIZE = 64,
	FULL_LEAST = 64 * 1024, /* bytes of a full file of lines; a thousand are longer */
};

int rna_state_directory_open(const char *path, bool make, struct rna_error *error)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && make) {
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return rna_error_set(error, -errno, "%s: cannot make the state directory",
					     path);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	return fd < 0 ? rna_error_set(error, -errno, "%s", path) : fd;
}

static int read_all(int fd, struct rna_strbuf *ret)
{
	ssize_t got;

	do {
		char *end = rna_strbuf_reserve(ret, PIECE);

		if (!end)
			return -ENOMEM;
		got = read(fd, end, PIECE);
		if (got > 0)
			ret->len += (size_t)got;
		if (ret->len > SIZE_MAX_READ)
			return -EFBIG;
	} while (got > 0 || (got < 0 && errno == EINTR));
	return got < 0 ? -errno : 0;
}

/* May the content of a file be believed? Others can write to a directory like /tmp. */
static int check_file(int directory, int fd, const char *name, struct rna_error *error)
{
	struct stat file, above;

	if (fstat(fd, &file) < 0 || fstat(directory, &above) < 0)
		return rna_error_set(error, -errno, "%s", name);
	if (!S_ISREG(file.st_mode))
		return rna_error_say(error, -EINVAL, "%s: not a regular file", name);
	if (file.st_uid != 0 && file.st_uid != geteuid() && file.st_uid != above.st_uid)
		return rna_error_say(error, -EACCES,
				     "%s: owned by user %ju; wanted: root, the agent's user or the "
				     "owner of the directory",
				     name, (uintmax_t)file.st_uid);
	return 0;
}

int rna_state_file_read(int directory, const char *name, struct rna_strbuf *ret,
			struct rna_error *error)
{
	RNA_CLOSE int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int status;

	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0)
		return rna_error_set(error, -errno, "%s", name);
	status = check_file(directory, fd, name, error);
	if (status < 0)
		return status;
	status = read_all(fd, ret);
	return status < 0 ? rna_error_set(error, status, "%s", name) : 0;
}

int rna_state_file_write(int directory, const char *name, const char *text, size_t len,
			 struct rna_error *error)
{
	char fresh[NAME_SIZE];
	const struct rna_file_place place = {directory, name, fresh, .lasting = true};
	int status;

	(void)snprintf(fresh, sizeof(fresh), "%s.new", name);
	status = rna_file_replace(&place, text, len);
	return status < 0 ? rna_error_set(error, status, "cannot write %s", name) : 0;
}

/* -- Lines ------------------------------------------------------------------------------------- */

/* The header and the lines, all or nothing. */
static int begin_file(const struct rna_state_lines *place, const char *lines, size_t len)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	char fresh[NAME_SIZE];
	const struct rna_file_place file = {place->directory, place->name, fresh, .lasting = true};

	(void)snprintf(fresh, sizeof(fresh), "%s.new", place->name);
	rna_strbuf_puts(&text, place->header);
	rna_strbuf_add(&text, lines, len);
	return rna_strbuf_ok(&text) ? rna_file_replace(&file, text.data, text.len) : -ENOMEM;
}

/* Behind a line that was torn, a line end. What cannot be written whole is taken back. */
static int append_lines(int fd, off_t size, const char *lines, size_t len)
{
	char last = '\n';
	int status = 0;

	if (pread(fd, &last, 1, size - 1) < 0)
		return -errno;
	if (last != '\n')
		status = rna_file_write_all(fd, "\n", 1);
	if (status == 0)
		status = rna_file_write_all(fd, lines, len);
	if (status == 0 && fsync(fd) < 0)
		status = -errno;
	if (status < 0)
		(void)!ftruncate(fd, size); /* else the last line may be torn */
	return status;
}

static int open_lines(const struct rna_state_lines *place, off_t *ret_size, struct rna_error *error)
{
	enum { HOW = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK };
	RNA_CLOSE int fd = openat(place->directory, place->name, HOW);
	struct stat file;
	int status;

	*ret_size = 0;
	if (fd < 0)
		return errno == ENOENT
			       ? -ENOENT
			       : rna_error_set(error, -errno, "cannot write %s", place->name);
	status = check_file(place->directory, fd, place->name, error);
	if (status < 0)
		return status;
	if (fstat(fd, &file) < 0)
		return rna_error_set(error, -errno, "cannot write %s", place->name);
	*ret_size = file.st_size;
	status = fd;
	fd = -1;
	return status;
}

/* Is there a full file to be moved out of the way? A short one was begun by a try that failed. */
static bool is_full(const struct rna_state_lines *place, off_t size)
{
	return place->turns && size >= FULL_LEAST;
}

int rna_state_file_append(const struct rna_state_lines *place, const char *lines, size_t len,
			  struct rna_error *error)
{
	RNA_CLOSE int fd = -1;
	off_t size = 0;
	bool begins;
	int status = 0;

	if (len == 0)
		return 0;
	fd = open_lines(place, &size, error);
	if (fd < 0 && fd != -ENOENT)
		return fd;
	begins = fd < 0 || size == 0 || is_full(place, size);
	if (is_full(place, size) &&
	    renameat(place->directory, place->name, place->directory, place->old) < 0)
		status = -errno;
	if (status == 0)
		status =
			begins ? begin_file(place, lines, len) : append_lines(fd, size, lines, len);
	return status < 0 ? rna_error_set(error, status, "cannot write %s", place->name) : 0;
}

int rna_state_file_set_aside(int directory, const char *name, rna_usec now, struct rna_error *error)
{
	char aside[NAME_SIZE];

	(void)snprintf(aside, sizeof(aside), "%s.corrupt-%ju", name,
		       (uintmax_t)(now / RNA_USEC_PER_SEC));
	if (renameat(directory, name, directory, aside) < 0)
		return rna_error_set(error, -errno, "%s: cannot be set aside", name);
	return 0;
}
