/* SPDX-License-Identifier: Apache-2.0 */
/* Unix sockets: listening on one, and asking at one. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "rna/base/cleanup.h"

/* The file of a socket that we made, so that we remove no other one. */
struct rna_socket_file {
	char *path; /* NULL: there is none */
	dev_t device;
	ino_t inode;
};

struct rna_unix_place {
	const char *name; /* "/path", or "@name" for one without a file (abstract, unix(7)) */
	int type;         /* SOCK_STREAM, SOCK_SEQPACKET */
	mode_t mode;      /* of the file */
	int backlog;
};

/*
 * A listening, non-blocking descriptor. A file that a server left behind when it died is replaced.
 * -EADDRINUSE: one is served there; -EEXIST: the file is no socket; else another negative errno. In
 * all cases the caller removes what is in *file at the end.
 */
int rna_unix_listen(const struct rna_unix_place *place, struct rna_socket_file *file);

/* A descriptor that waits, connected to who listens there, or negative errno. */
int rna_unix_connect(const char *name, int type);

/* Is fd a unix socket with a file that only its owner and group can open? */
bool rna_socket_is_private(int fd);

/* Removes the file if it is still the one that we made. Fine on a zeroed struct; leaves one. */
void rna_socket_file_remove(struct rna_socket_file *file);
