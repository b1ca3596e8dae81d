/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay: a thread that speaks TLS with clients, because a handshake takes milliseconds of CPU,
 * which the loop has not. Of each connection it passes on what the client says, in plain text, over
 * a pair of sockets, and the replies back; so libmicrohttpd knows nothing of TLS. It holds little
 * for a client, and reads no more of one side than the other takes.
 *
 * Deadlines and limits of connections are connections.h's business: who cuts the client's socket
 * ends the channel. Only what is left of a reply when its server has hung up has a deadline here.
 */
#pragma once

#include "rna/base/clock.h"
#include "rna/web.h"

struct rna_tls_relay;
struct rna_tls_channel; /* one connection */

/* patience: for the rest of a reply whose server has hung up. 0 or negative errno. Thread: one. */
int rna_tls_relay_new(rna_usec patience, struct rna_tls_relay **ret);
/* After the servers of all channels have hung up: ends them. Accepts and returns NULL. */
struct rna_tls_relay *rna_tls_relay_free(struct rna_tls_relay *relay);
RNA_DEFINE_CLEANUP(struct rna_tls_relay, rna_tls_relay_free)

/*
 * A client at the socket fd, with the credentials of web. Returns the socket for its server, which
 * is the caller's, and a reference to the channel. Or negative errno: then fd is still the
 * caller's; -ENOENT: web has no TLS.
 */
int rna_tls_relay_add(struct rna_tls_relay *relay, int fd, struct rna_web *web,
		      struct rna_tls_channel **ret);
/* The client's socket is open until then. Thread: any. Accepts and returns NULL. */
struct rna_tls_channel *rna_tls_channel_unref(struct rna_tls_channel *channel);

/* Call now and then. false: the thread has done nothing since the last call. */
bool rna_tls_relay_check(struct rna_tls_relay *relay);
