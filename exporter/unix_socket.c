// SPDX-License-Identifier: Apache-2.0
/*
 * Listening on unix sockets.
 *
 * The file of a unix socket outlives its server, and bind() fails where there is one. Whether
 * somebody still serves it is what connect() tells, without waiting: refused means nobody does.
 * Between that answer and our bind() another server may start; two of them with one path are a
 * mistake of the configuration, and the second of them fails at bind().
 */
#include "unix_socket.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "listen.h"

#define PREFIX "unix:"

enum { SOCKET_MODE = 0660 };

bool rna_is_unix_address(const char *address)
{
	return strncmp(address, PREFIX, strlen(PREFIX)) == 0;
}

/* *ret_len counts the end of a path; a name without a file has none. */
static int fill_address(const char *name, struct sockaddr_un *ret, socklen_t *ret_len)
{
	size_t len = strlen(name);

	if ((name[0] != '/' && name[0] != '@') || len < 2)
		return -EINVAL;
	if (len >= sizeof(ret->sun_path))
		return -ENAMETOOLONG;
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(ret->sun_path, name, len);
	*ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	if (name[0] == '@')
		ret->sun_path[0] = '\0';
	else
		(*ret_len)++;
	return 0;
}

static int open_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/*
 * The mode that the descriptor has when bind() makes the file is what it gets, less the umask
 * (net/unix/af_unix.c): so at no time is it open to more than it should be.
 */
static int bind_file(int fd, const struct sockaddr_un *address, socklen_t len)
{
	if (fchmod(fd, SOCKET_MODE) < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)address, len) < 0)
		return -errno;
	if (address->sun_path[0] != '\0' && chmod(address->sun_path, SOCKET_MODE) < 0)
		return -errno;
	return 0;
}

/* Is the file a socket that nobody listens on any more? Anything we do not know for sure: no. */
static bool is_stale(const struct sockaddr_un *address, socklen_t len)
{
	RNA_CLOSE int fd = open_socket();

	return fd >= 0 && connect(fd, (const struct sockaddr *)address, len) < 0 &&
	       errno == ECONNREFUSED;
}

static int fail(int code, const char *shown, struct rna_error *error)
{
	return rna_error_set(error, code, "http.listen: cannot listen on %s", shown);
}

/* Makes room for bind(), which found the address in use. */
static int remove_stale(const struct sockaddr_un *address, socklen_t len, const char *shown,
			struct rna_error *error)
{
	struct stat stat;
	bool is_file = address->sun_path[0] != '\0';

	if (is_file && lstat(address->sun_path, &stat) == 0 && !S_ISSOCK(stat.st_mode))
		return rna_error_say(error, -EEXIST,
				     "http.listen: cannot listen on %s: the file is no socket",
				     shown);
	if (!is_file || !is_stale(address, len))
		return fail(-EADDRINUSE, shown, error);
	return unlink(address->sun_path) < 0 ? fail(-errno, shown, error) : 0;
}

static int bind_name(int fd, const struct sockaddr_un *address, socklen_t len, const char *shown,
		     struct rna_error *error)
{
	int ret = bind_file(fd, address, len);

	if (ret == -EADDRINUSE) {
		ret = remove_stale(address, len, shown, error);
		if (ret < 0)
			return ret;
		ret = bind_file(fd, address, len);
	}
	return ret < 0 ? fail(ret, shown, error) : 0;
}

/* What has been made, so that the end removes this and nothing else. */
static int remember_file(const struct sockaddr_un *address, struct rna_socket_file *file)
{
	struct stat stat;

	if (address->sun_path[0] == '\0')
		return 0;
	if (lstat(address->sun_path, &stat) < 0)
		return -errno;
	file->path = strdup(address->sun_path);
	file->device = stat.st_dev;
	file->inode = stat.st_ino;
	return file->path ? 0 : -ENOMEM;
}

int rna_unix_listen(const char *address, struct rna_socket_file *file, struct rna_error *error)
{
	struct sockaddr_un name;
	RNA_CLOSE int fd = open_socket();
	socklen_t len = 0;
	int ret;

	if (fd < 0)
		return fail(fd, address, error);
	ret = fill_address(address + strlen(PREFIX), &name, &len);
	if (ret < 0)
		return fail(ret, address, error);
	ret = bind_name(fd, &name, len, address, error);
	if (ret < 0)
		return ret;
	ret = remember_file(&name, file);
	if (ret < 0)
		return fail(ret, address, error);
	if (listen(fd, RNA_LISTEN_BACKLOG) < 0)
		return fail(-errno, address, error);
	ret = fd;
	fd = -1;
	return ret;
}

bool rna_socket_is_private(int fd)
{
	struct sockaddr_un name = {0};
	socklen_t len = sizeof(name) - 1; /* so that it ends */
	struct stat stat;

	return getsockname(fd, (struct sockaddr *)&name, &len) == 0 && name.sun_family == AF_UNIX &&
	       name.sun_path[0] == '/' && lstat(name.sun_path, &stat) == 0 &&
	       S_ISSOCK(stat.st_mode) && (stat.st_mode & S_IWOTH) == 0;
}

void rna_socket_file_remove(struct rna_socket_file *file)
{
	struct stat stat;

	if (file->path && lstat(file->path, &stat) == 0 && stat.st_dev == file->device &&
	    stat.st_ino == file->inode)
		(void)unlink(file->path); /* one that stays is found stale by the next start */
	free(file->path);
	*file = (struct rna_socket_file){0};
}
