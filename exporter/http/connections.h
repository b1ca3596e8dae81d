/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections: which of them may stay, and for how long. What is sent over them is http.c's
 * business.
 *
 * The timeout of libmicrohttpd begins again with each byte, so that a byte now and then keeps a
 * connection forever. Here a whole request has a deadline, and so has a whole reply. Where no slot
 * is free, the request that is under way for longest gives way, or else the connection that is idle
 * for longest.
 *
 * A reply keeps its body until it is sent, and clients that read slowly keep those of views that
 * were replaced long ago. If these bodies exceed a limit, the slowest clients are cut.
 *
 * Thread: the loop's.
 */
#pragma once

#include "rna/exporter.h"
#include "rna/model/web_status.h"

#include "slots.h"

enum rna_connection_state {
	RNA_CONNECTION_REQUEST, /* a request is under way, or the first one is expected */
	RNA_CONNECTION_IDLE,    /* between two requests */
	RNA_CONNECTION_WAITING, /* for its password to be hashed, or for a document */
	RNA_CONNECTION_REPLY,
	RNA_CONNECTION_CUT, /* libmicrohttpd closes it when it is run */
};

struct rna_connection {
	struct rna_connection *next;
	int fd;
	bool has_slot; /* a question of our own has none, and one that is cut */
	struct rna_slot slot;
	enum rna_connection_state state;
	rna_usec since;           /* when the state began */
	uint64_t received, acked; /* bytes, when the last reply began */
	struct rna_body *body;    /* of the reply */
	uint64_t rate;            /* of the reply, in bytes per second; set before it is used */
};

struct rna_connections {
	struct rna_connection *first;
	struct rna_slots slots;
	rna_usec request_timeout, reply_timeout, idle_timeout;
	size_t max_old_bytes;
	size_t bytes;       /* of bodies that are being sent */
	uint64_t completed; /* replies */
	uint64_t drops[RNA_DROP_COUNT];
};

int rna_connections_init(struct rna_connections *connections,
			 const struct rna_http_options *options); /* 0 or -ENOMEM */
void rna_connections_deinit(struct rna_connections *connections); /* fine on a zeroed struct */

/*
 * A slot for a client that was accepted. All addresses of this node count as one, and so do all
 * clients of a unix socket that is open to all users. If necessary, another connection is cut. 0,
 * or negative errno as of rna_slots_take().
 */
int rna_connections_admit(struct rna_connections *connections, int fd,
			  const struct sockaddr *address, bool is_private, rna_usec now,
			  struct rna_slot *ret);
/* slot: NULL: none. The connection is the caller's, until it is removed. */
void rna_connections_add(struct rna_connections *connections, struct rna_connection *connection,
			 int fd, const struct rna_slot *slot, rna_usec now);
void rna_connections_remove(struct rna_connections *connections, struct rna_connection *connection);

/* What happens on a connection: the headers of a request are complete;... */
void rna_connection_asks(struct rna_connection *connection, rna_usec now);
/* ...it waits for a login;... */
void rna_connection_waits(struct rna_connection *connection, rna_usec now);
/* ...its reply begins;... */
void rna_connection_replies(struct rna_connections *connections, struct rna_connection *connection,
			    struct rna_body *body, rna_usec now);
/* ...and ends. */
void rna_connection_rests(struct rna_connections *connections, struct rna_connection *connection,
			  rna_usec now);

/*
 * Is there a request or a reply under way, so that a deadline is near? stirred: also one that was
 * idle, and may have begun a request.
 */
bool rna_connections_need_check(const struct rna_connections *connections, bool stirred);
/* How often rna_connections_check() is to be called then. */
rna_usec rna_connections_pace(const struct rna_connections *connections);
/*
 * Cuts those that are past a deadline. Whether the next request has begun on one that is idle, is
 * only known here.
 */
void rna_connections_check(struct rna_connections *connections, rna_usec now);
/* A view is replaced: cuts the slowest, if bodies of old views are too large together. */
void rna_connections_new_view(struct rna_connections *connections, rna_usec now);

/* Closes a connection that libmicrohttpd does not have, by a reset. */
void rna_connection_reset(int fd);
/* Ends a connection at once: what is still to be sent is dropped. The owner of fd closes it. */
void rna_connection_cut(int fd);
