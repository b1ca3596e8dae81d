/* SPDX-License-Identifier: Apache-2.0 */
/* Unix sockets: listening and connecting. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "rna/base/cleanup.h"

/* The file of a socket that this process created, so that it removes no other file. */
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
 * Returns a listening, non-blocking descriptor. Replaces a socket file that a dead server left
 * behind. -EADDRINUSE: another server listens there; -EEXIST: the file is not a socket; else
 * another negative errno. In all cases the caller finally calls rna_socket_file_remove(file).
 */
int rna_unix_listen(const struct rna_unix_place *place, struct rna_socket_file *file);

/* Connects to the server that listens there. A blocking descriptor, or negative errno. */
int rna_unix_connect(const char *name, int type);

/* Is fd a unix socket with a file that only its owner and group can open? */
bool rna_socket_is_private(int fd);

/*
 * Removes the file if it is still the one that this process created, and zeroes the struct. Does
 * nothing on a zeroed struct.
 */
void rna_socket_file_remove(struct rna_socket_file *file);
