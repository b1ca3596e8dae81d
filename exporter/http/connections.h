/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections: which of them may stay, and for how long. What is sent over them is http.c's
 * business.
 *
 * The timeout of libmicrohttpd begins again with each byte, so that a byte now and then keeps a
 * connection forever. Here a whole request has a deadline, and so has a whole reply.
 *
 * Where no slot is free, the address with most connections loses the one that has made no progress
 * for longest, at once and whatever it does. So if an address has S slots and opens R connections
 * a second, each of them has S/R seconds to send its request: a probe of the node needs a few
 * milliseconds. Progress is what costs the client as much as a connection: a state that ends, or a
 * part of a reply that the client takes. A byte of a request is none. The only connection of an
 * address has a second, and its reply is not cut.
 *
 * (nginx does the same with connections that are idle or wait for a request, the oldest first:
 * ngx_drain_connections(). It never ends replies, which would hold all slots here.)
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
	struct rna_client_slot slot;
	enum rna_connection_state state;
	rna_usec since;           /* when the state began */
	rna_usec moved;           /* when progress was seen last */
	uint64_t received, acked; /* bytes, when the last reply began */
	uint64_t taken;           /* bytes that were acked then */
	struct rna_body *body;    /* of the reply */
	uint64_t rate;            /* of the reply, in bytes per second; set before it is used */
};

struct rna_connections {
	struct rna_connection *first;
	struct rna_slots slots;
	rna_usec request_timeout, reply_timeout, idle_timeout;
	size_t max_old_bytes;
	rna_usec looked;    /* for progress */
	size_t bytes;       /* of bodies that are being sent */
	uint64_t completed; /* replies */
	uint64_t drops[RNA_DROP_COUNT];
};

int rna_connections_init(struct rna_connections *connections,
			 const struct rna_http_options *options); /* 0 or -ENOMEM */
void rna_connections_deinit(struct rna_connections *connections); /* fine on a zeroed struct */

/*
 * A slot for a client that was accepted. All addresses of this node count as one, and so do all
 * clients of unix sockets that are open to all users, and those of private ones. If necessary,
 * another connection is cut. 0, or negative errno as of rna_slots_take().
 */
int rna_connections_admit(struct rna_connections *connections, int fd,
			  const struct sockaddr *address, bool is_private, rna_usec now,
			  struct rna_client_slot *ret);
/*
 * How many to admit before libmicrohttpd is run: a request that came with its connection, or soon
 * after it, is read before the connection can give way.
 */
unsigned rna_connections_batch(const struct rna_connections *connections);
/* slot: NULL: none. The connection is the caller's, until it is removed. */
void rna_connections_add(struct rna_connections *connections, struct rna_connection *connection,
			 int fd, const struct rna_client_slot *slot, rna_usec now);
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
