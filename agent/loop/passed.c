// SPDX-License-Identifier: Apache-2.0
/*
 * Sockets that the service manager opened for us.
 *
 * They stay open for as long as the agent runs, also while there is no HTTP server: a reload that
 * starts another one needs them again, and no other process could open them a second time.
 */
#include "passed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

static int check_socket(int fd, const char *name, struct rna_error *error)
{
	int ret = sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, 1);
	int flags;

	if (ret < 0)
		return rna_error_set(error, ret, "passed socket %s", name);
	if (ret == 0)
		return rna_error_say(error, -ENOTSOCK,
				     "passed socket %s: expected a listening stream socket "
				     "(ListenStream=, and Accept=no)",
				     name);
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return rna_error_set(error, -errno, "passed socket %s", name);
	return 0;
}

static char **free_names(char **names)
{
	for (char **name = names; name && *name; name++)
		free(*name);
	free(names);
	return NULL;
}
RNA_DEFINE_CLEANUP(char *, free_names)

int rna_passed_take(struct rna_passed *ret, struct rna_error *error)
{
	RNA_CLEANUP(free_names_p) char **names = NULL;
	int count = sd_listen_fds_with_names(true, &names);

	*ret = (struct rna_passed){0};
	if (count < 0)
		return rna_error_set(error, count, "cannot take the sockets that were passed");
	if (count == 0)
		return 0;
	ret->sockets = calloc((size_t)count, sizeof(*ret->sockets));
	if (!ret->sockets)
		return rna_error_set(error, -ENOMEM, "cannot take the sockets that were passed");
	for (int i = 0; i < count; i++)
		ret->sockets[ret->count++] = SD_LISTEN_FDS_START + i;
	for (int i = 0; i < count; i++) {
		int status = check_socket(ret->sockets[i], names[i], error);

		if (status < 0)
			return status;
	}
	return 0;
}

void rna_passed_close(struct rna_passed *passed)
{
	for (size_t i = 0; i < passed->count; i++)
		(void)close(passed->sockets[i]); /* the service manager keeps its own */
	free(passed->sockets);
	*passed = (struct rna_passed){0};
}
