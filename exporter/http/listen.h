/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets. */
#pragma once

#include "rna/base/error.h"
#include "rna/base/unix_socket.h"

/*
 * address: "127.0.0.1:10879", "[::1]:10879", "localhost:10879", or ":10879" for all addresses of
 * both families; or "unix:/path" or "unix:@name", whose file, for user and group only, is put in
 * *file, to be removed at the end, also after a failure. Other host names are refused: looking them
 * up may wait for a network. A listening, non-blocking descriptor, or negative errno
 * with error: "http.listen: cannot listen on ...".
 */
int rna_listen(const char *address, struct rna_socket_file *file, struct rna_error *error);
