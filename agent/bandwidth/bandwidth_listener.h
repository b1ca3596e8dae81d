/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TCP port on which other nodes ask for a bandwidth test. A process that connects gets a
 * challenge and a few seconds for an authentic call; without one the connection is closed and
 * counted. So a stranger costs some packets and no process. Thread: the loop's.
 */
#pragma once

#include <stdint.h>

#include "rna/bandwidth.h"

typedef struct sd_event sd_event; /* <systemd/sd-event.h> */

struct rna_bandwidth_listener;

struct rna_bandwidth_listener_handlers {
	/* The key of calls; NULL: there is none now, so connections are closed at once. */
	const uint8_t *(*key)(void *userdata);
	/*
	 * An authentic call. The connection is closed when the handler returns: one that goes on
	 * with it has given a copy to a child; another one uses rna_bandwidth_listener_refuse().
	 */
	void (*called)(int fd, struct rna_bandwidth_session *session,
		       const struct rna_bandwidth_call *call, void *userdata);
	void *userdata;
};

/* Listens on all addresses. 0, or negative errno with error. */
int rna_bandwidth_listener_open(sd_event *event, unsigned tcp_port,
				const struct rna_bandwidth_listener_handlers *handlers,
				struct rna_bandwidth_listener **ret, struct rna_error *error);
/* Closes all connections. Accepts and returns NULL. */
struct rna_bandwidth_listener *rna_bandwidth_listener_close(
	struct rna_bandwidth_listener *listener);

/* Tells the other node why there is no test. It may not hear it. */
void rna_bandwidth_listener_refuse(int fd, struct rna_bandwidth_session *session,
				   enum rna_skip skip, const char *text);

/* Connections without an authentic call so far. Accepts NULL. */
uint64_t rna_bandwidth_listener_strangers(const struct rna_bandwidth_listener *listener);
