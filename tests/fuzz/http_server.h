/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server itself, with libmicrohttpd in it, for the targets that are clients of it, and a
 * loop that runs until nothing is left to do. One in a process; it ends with it.
 */
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-event.h>

#include "rna/exporter.h"

enum {
	FUZZ_VIEWS = 2,
	FUZZ_REQUESTS = 6,
	FUZZ_PROBE = FUZZ_REQUESTS - 1, /* the one that is always answered at once */
};

/* Whole ones, and parts of one. */
extern const char *const fuzz_requests[FUZZ_REQUESTS];

struct fuzz_server {
	sd_event *event;
	struct rna_http *http; /* NULL: not started */
	struct rna_view *views[FUZZ_VIEWS];
	unsigned view; /* that is the newest */
};

extern struct fuzz_server fuzz_server;

/* A unix socket that listens under a name of the kernel's; *ret_len: of the address. */
int fuzz_server_listen(int backlog, struct sockaddr_un *ret, socklen_t *ret_len);
/*
 * Closes the sockets of options, which the server duplicates. web: of rna_http_source, or NULL.
 * Limits of options that are 0 get values that no input reaches.
 */
void fuzz_server_start(const struct rna_http_options *options,
		       struct rna_web *(*web)(void *userdata));
/* Until nothing is left to do. */
void fuzz_server_run(void);
