/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections: which of them may stay, and for how long. What is sent over them is http.c's
 * business.
 *
 * Thread: the loop's.
 */
#pragma once

#include "slots.h"

struct rna_connections {
	struct rna_slots slots;
};

/*
 * A slot for a client that was accepted from listener. All addresses of this node count as
 * one, and so do all clients of a unix socket that is open to all users. 0, or negative errno as of
 * rna_slots_take().
 */
int rna_connections_admit(struct rna_connections *connections, int fd,
			  const struct sockaddr *address, bool is_private, rna_usec now,
			  struct rna_slot *ret);

/* Closes a connection that libmicrohttpd does not have, by a reset. */
void rna_connection_reset(int fd);
/* Ends a connection at once: what is still to be sent is dropped. The owner of fd closes it. */
void rna_connection_cut(int fd);
