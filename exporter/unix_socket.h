/* SPDX-License-Identifier: Apache-2.0 */
/* Listening on unix sockets. Thread: the loop's. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "rna/error.h"

/* The file of a socket that we made, so that we remove no other one. */
struct rna_socket_file {
	char *path; /* NULL: there is none */
	dev_t device;
	ino_t inode;
};

/* Is address one of these, "unix:..."? */
bool rna_is_unix_address(const char *address);

/*
 * address: "unix:/path", or "unix:@name" for a name without a file (abstract, unix(7)). The file
 * is for user and group only. One that a server left behind when it died is replaced; one that is
 * served, or is no socket, is an error. A listening, non-blocking descriptor, or negative errno
 * with error; either way the caller removes what is in *file at the end.
 */
int rna_unix_listen(const char *address, struct rna_socket_file *file, struct rna_error *error);

/* Is fd a unix socket with a file that only its owner and group can open? */
bool rna_socket_is_private(int fd);

/* Removes the file if it is still the one that we made. Fine on a zeroed struct; leaves one. */
void rna_socket_file_remove(struct rna_socket_file *file);
