/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets, and accepting connections in the event loop. Thread: the loop's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "rna/base/error.h"
#include "rna/base/unix_socket.h"

typedef struct sd_event sd_event;               /* <systemd/sd-event.h> */
typedef struct sd_event_source sd_event_source; /* <systemd/sd-event.h> */

/*
 * address: "127.0.0.1:10879", "[::1]:10879", "localhost:10879", or ":10879" for all addresses of
 * both families; or "unix:/path" or "unix:@name", whose file, for user and group only, is put in
 * *file, to be removed at the end, also after a failure. Other host names are refused: looking them
 * up may wait for a network. A listening, non-blocking descriptor, or negative errno
 * with error: "http.listen: cannot listen on ...".
 */
int rna_listen(const char *address, struct rna_socket_file *file, struct rna_error *error);

/*
 * libmicrohttpd could accept by itself. At its connection limit it takes the listening socket out
 * of its epoll set, and puts it back at the beginning of a later MHD_run(), which no event causes
 * if the last connections ended in the run in between (0.9.75 and 1.0.1: MHD_epoll()). Also, it
 * cannot distinguish a probe from a flood. So the socket stays in the loop's own set, connections
 * are accepted at all times, and connections.h decides which of them are served.
 */
struct rna_accept_handlers {
	/* Takes over fd, which does not block. */
	void (*connection)(int fd, const struct sockaddr *address, socklen_t len, void *userdata);
	void (*done)(void *userdata); /* after some connections; more may wait */
	unsigned batch;               /* how many of them, at most; not 0 */
	void *userdata;
};

struct rna_accept {
	int fd; /* listens */
	struct rna_accept_handlers handlers;
	sd_event_source *io;
	sd_event_source *again; /* after a failure, for example if there are no descriptors */
	uint64_t count;         /* of connections, since the start */
	uint64_t checked;       /* what it was at the last check */
	bool waited;            /* at the last check a client was waiting */
};

/* Takes over fd, also on failure. 0 or negative errno. */
int rna_accept_start(struct rna_accept *accept, sd_event *event, int fd,
		     const struct rna_accept_handlers *handlers);
void rna_accept_stop(struct rna_accept *accept); /* fine on a zeroed struct */

/*
 * Call now and then. false: clients have been waiting since the last call, and none of them was
 * accepted. A kernel that drops packets on their way makes no difference.
 */
bool rna_accept_check(struct rna_accept *accept);
