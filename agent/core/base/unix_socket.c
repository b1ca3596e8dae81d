// SPDX-License-Identifier: Apache-2.0
/*
 * Listening on unix sockets, and connecting to them.
 *
 * The file of a unix socket outlives its server, and bind() fails if the file exists. A
 * non-blocking connect() shows whether a server still listens: ECONNREFUSED means none does.
 * Another server may start between that answer and bind(). Two servers with one path are a
 * configuration error; the second one fails at bind().
 */
#include "rna/base/unix_socket.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* *ret_len includes the NUL of a path; an abstract name has none. */
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

/*
 * bind() creates the file with the mode of the descriptor, less the umask (net/unix/af_unix.c). So
 * the file never has more permissions than intended.
 */
static int bind_file(int fd, const struct sockaddr_un *address, socklen_t len, mode_t mode)
{
	if (fchmod(fd, mode) < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)address, len) < 0)
		return -errno;
	if (address->sun_path[0] != '\0' && chmod(address->sun_path, mode) < 0)
		return -errno;
	return 0;
}

/* Is the file a socket without a listener? False if in doubt. */
static bool is_stale(const struct sockaddr_un *address, socklen_t len, int type)
{
	RNA_CLOSE int fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd >= 0 && connect(fd, (const struct sockaddr *)address, len) < 0 &&
	       errno == ECONNREFUSED;
}

/* Removes a stale socket file after bind() failed with EADDRINUSE. */
static int remove_stale(const struct sockaddr_un *address, socklen_t len, int type)
{
	struct stat stat;
	bool is_file = address->sun_path[0] != '\0';

	if (is_file && lstat(address->sun_path, &stat) == 0 && !S_ISSOCK(stat.st_mode))
		return -EEXIST;
	if (!is_file || !is_stale(address, len, type))
		return -EADDRINUSE;
	return unlink(address->sun_path) < 0 ? -errno : 0;
}

/* Remembers the created file, so that rna_socket_file_remove() removes no other one. */
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

int rna_unix_listen(const struct rna_unix_place *place, struct rna_socket_file *file)
{
	RNA_CLOSE int fd = socket(AF_UNIX, place->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_un name;
	socklen_t len = 0;
	int ret = fd < 0 ? -errno : fill_address(place->name, &name, &len);

	if (ret < 0)
		return ret;
	ret = bind_file(fd, &name, len, place->mode);
	if (ret == -EADDRINUSE) {
		ret = remove_stale(&name, len, place->type);
		if (ret == 0)
			ret = bind_file(fd, &name, len, place->mode);
	}
	if (ret == 0)
		ret = remember_file(&name, file);
	if (ret == 0 && listen(fd, place->backlog) < 0)
		ret = -errno;
	if (ret < 0)
		return ret;
	ret = fd;
	fd = -1;
	return ret;
}

int rna_unix_connect(const char *name, int type)
{
	RNA_CLOSE int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	socklen_t len = 0;
	int ret = fd < 0 ? -errno : fill_address(name, &address, &len);

	if (ret < 0)
		return ret;
	if (connect(fd, (const struct sockaddr *)&address, len) < 0)
		return -errno;
	ret = fd;
	fd = -1;
	return ret;
}

bool rna_socket_is_private(int fd)
{
	struct sockaddr_un name = {0};
	socklen_t len = sizeof(name) - 1; /* leaves room for a NUL */
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
		(void)unlink(file->path); /* if this fails, the next start finds the file stale */
	free(file->path);
	*file = (struct rna_socket_file){0};
}
