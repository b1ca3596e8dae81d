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

#include <sys/socket.h>

#include "rna/exporter.h"
#include "rna/model/web_status.h"

/*
 * Of a client. Addresses of IPv6 are their /64, which one machine can have all of, and 127.0.0.0/8
 * is one address.
 */
struct rna_address {
	unsigned char bytes[16];
};

/* NULL, and what is no IP address, is one address for all. */
struct rna_address rna_address_of(const struct sockaddr *address);
bool rna_address_is_same(const struct rna_address *a, const struct rna_address *b);

/* -- Slots ------------------------------------------------------------------------------------- */

/*
 * Who may have a connection. A slot is one of http.max_connections.
 *
 * One address has at most a quarter of them, and so has the node itself, with all of its addresses.
 * Three sixteenths of the slots are kept free, so that a crowd of strangers cannot lock out those
 * who matter: one for private unix sockets, one for the node itself, where probes come from, one
 * for the addresses of scrapers.
 *
 * A scraper is known by its address, which got metrics at least twice, the last time not long ago.
 * Eight are known at a time; a new one has to wait until one of them is forgotten, so that
 * strangers cannot take their places.
 *
 * No descriptors and no clock here: pure.
 */
enum rna_client_class {
	RNA_CLASS_STRANGER,
	RNA_CLASS_SCRAPER,
	RNA_CLASS_NODE,    /* comes from this node */
	RNA_CLASS_PRIVATE, /* of a private unix socket: no limit for its address */
	RNA_CLASS_COUNT,
};

enum { RNA_SCRAPERS = 8 };

struct rna_slot_holder; /* an address and its connections */

struct rna_known_scraper {
	struct rna_address address;
	rna_usec last; /* when it got metrics; 0: a free place */
	unsigned times;
};

struct rna_slots {
	unsigned limit, per_address, reserve;
	unsigned taken[RNA_CLASS_COUNT]; /* of reserves; of strangers: of what is for all */
	size_t holder_count;
	struct rna_slot_holder *holders;
	struct rna_known_scraper scrapers[RNA_SCRAPERS];
};

/* A slot that is taken. */
struct rna_client_slot {
	struct rna_address address;
	enum rna_client_class kind;
	enum rna_client_class
		pool; /* from which it is: of what is for all (stranger), or of a reserve */
};

int rna_slots_init(struct rna_slots *slots, unsigned limit); /* 0 or -ENOMEM */
void rna_slots_deinit(struct rna_slots *slots);              /* fine on a zeroed struct */

/*
 * Takes a slot for slot->address and slot->kind, where a stranger may turn out to be a scraper. 0;
 * -EUSERS: the address has its share; -EBUSY: all slots that it could have are taken.
 */
int rna_slots_take(struct rna_slots *slots, struct rna_client_slot *slot, rna_usec now);
void rna_slots_give(struct rna_slots *slots, const struct rna_client_slot *slot);
/* How many slots an address has. */
unsigned rna_slots_held(const struct rna_slots *slots, const struct rna_address *address);

/* The address got metrics. */
void rna_slots_scraped(struct rna_slots *slots, const struct rna_address *address, rna_usec now);

/* -- Scrapes ----------------------------------------------------------------------------------- */

/*
 * Who asks for metrics in a rhythm, and so when and in which form they are wanted next. That is a
 * connection: Prometheus keeps one per target, so several servers, each with its own rhythm, do not
 * confuse each other, and one that leaves is forgotten with its connection.
 */
struct rna_scraper {
	rna_usec asked;    /* when it did last; 0: never */
	rna_usec interval; /* between the last two times; 0: there are no two */
	enum rna_exposition format;
	bool gzip;
};

/* It asks for metrics in this form. */
void rna_scraper_asks(struct rna_scraper *scraper, enum rna_exposition format, bool gzip,
		      rna_usec now);

/*
 * The first moment, not before earliest, in which it is expected to ask; RNA_USEC_NEVER: it has no
 * rhythm, or has left it. All monotonic.
 */
rna_usec rna_scraper_next(const struct rna_scraper *scraper, rna_usec earliest, rna_usec now);

/* Is it expected to ask again in the next span? It may be late by as much. */
bool rna_scraper_is_due(const struct rna_scraper *scraper, rna_usec now, rna_usec span);

/* -- Connections ------------------------------------------------------------------------------- */

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
	struct rna_scraper scraper;
	struct rna_body *body; /* of the reply */
	uint64_t rate;         /* of the reply, in bytes per second; set before it is used */
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
