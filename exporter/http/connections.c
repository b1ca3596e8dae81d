// SPDX-License-Identifier: Apache-2.0
#include "connections.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/tcp.h>

#include "metrics/body.h"

/* The only connection of an address is not cut to make room before. */
#define GRACE RNA_USEC_PER_SEC

/* Between two looks for progress, of which each costs a system call for each reply. */
#define LOOK (10 * RNA_USEC_PER_MSEC)

#define REMEMBERED (15 * 60 * RNA_USEC_PER_SEC) /* a scraper, since its last scrape */
#define SHORTEST   (2 * RNA_USEC_PER_SEC)       /* what asks more often is served what there is */

/* Between checks, at most. */
#define PACE_MAX (2500 * RNA_USEC_PER_MSEC)

enum {
	CHECKS = 4,     /* in the shortest timeout */
	BATCHES = 4,    /* in the share of an address */
	BATCH_MAX = 64, /* connections, lest the loop does nothing else for long */
	/*
	 * Bytes that the kernel takes for a client and has not sent. By default it takes megabytes
	 * for each, which count as memory of the agent's control group.
	 */
	UNSENT_MAX = 128 * 1024,
	SHARE = 4,       /* a quarter of the slots for an address */
	RESERVE = 16,    /* a sixteenth is kept for each class of clients */
	TIMES_KNOWN = 2, /* scrapes that make a scraper */
};

/* -- Addresses --------------------------------------------------------------------------------- */

struct rna_address rna_address_of(const struct sockaddr *address)
{
	enum { NETWORK = 8 }; /* bytes of a /64 */
	struct rna_address ret = {0};

	if (address && address->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;

		ret.bytes[10] = ret.bytes[11] = 0xff; /* as a socket of both families has it */
		memcpy(ret.bytes + 12, &v4->sin_addr, sizeof(v4->sin_addr));
		if (ret.bytes[12] == IN_LOOPBACKNET) /* a client may choose any of them */
			memcpy(ret.bytes + 13, (const unsigned char[]){0, 0, 1}, 3);
	} else if (address && address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;

		memcpy(ret.bytes, &v6->sin6_addr,
		       IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) ? sizeof(ret.bytes) : NETWORK);
	}
	return ret;
}

bool rna_address_is_same(const struct rna_address *a, const struct rna_address *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* -- Slots ------------------------------------------------------------------------------------- */

struct rna_slot_holder {
	struct rna_address address;
	unsigned taken, reserved; /* all slots; those from the reserve for scrapers */
};

static unsigned at_least_one(unsigned count)
{
	return count > 0 ? count : 1;
}

int rna_slots_init(struct rna_slots *slots, unsigned limit)
{
	*slots = (struct rna_slots){
		.limit = limit,
		.per_address = at_least_one(limit / SHARE),
		.reserve = at_least_one(limit / RESERVE),
		.holders = calloc(limit, sizeof(*slots->holders)),
	};
	return slots->holders ? 0 : -ENOMEM;
}

void rna_slots_deinit(struct rna_slots *slots)
{
	free(slots->holders);
	*slots = (struct rna_slots){0};
}

static bool is_remembered(const struct rna_known_scraper *scraper, rna_usec now)
{
	return scraper->last > 0 && rna_usec_since(scraper->last, now) < REMEMBERED;
}

/* NULL: it is not among them, and, to add it, no place is free. */
static struct rna_known_scraper *find_scraper(struct rna_slots *slots,
					      const struct rna_address *address, rna_usec now,
					      bool add)
{
	struct rna_known_scraper *place = NULL;

	for (size_t i = 0; i < RNA_SCRAPERS; i++) {
		struct rna_known_scraper *scraper = &slots->scrapers[i];

		if (!is_remembered(scraper, now))
			place = scraper;
		else if (rna_address_is_same(&scraper->address, address))
			return scraper;
	}
	if (place && add)
		*place = (struct rna_known_scraper){.address = *address};
	return add ? place : NULL;
}

void rna_slots_scraped(struct rna_slots *slots, const struct rna_address *address, rna_usec now)
{
	struct rna_known_scraper *scraper = find_scraper(slots, address, now, true);

	if (!scraper)
		return;
	scraper->last = now;
	scraper->times += scraper->times < TIMES_KNOWN;
}

static bool is_scraper(struct rna_slots *slots, const struct rna_address *address, rna_usec now)
{
	const struct rna_known_scraper *scraper = find_scraper(slots, address, now, false);

	return scraper && scraper->times >= TIMES_KNOWN;
}

static struct rna_slot_holder *find_holder(const struct rna_slots *slots,
					   const struct rna_address *address)
{
	return RNA_FIND(i, slots->holders, slots->holder_count,
			rna_address_is_same(&slots->holders[i].address, address));
}

unsigned rna_slots_held(const struct rna_slots *slots, const struct rna_address *address)
{
	const struct rna_slot_holder *holder = find_holder(slots, address);

	return holder ? holder->taken : 0;
}

/* Scrapers share their reserve, so that one of them cannot have all of it. */
static bool has_reserve(const struct rna_slots *slots, const struct rna_slot_holder *holder,
			enum rna_client_class kind)
{
	if (kind == RNA_CLASS_STRANGER || slots->taken[kind] >= slots->reserve)
		return false;
	return kind != RNA_CLASS_SCRAPER || !holder ||
	       holder->reserved < at_least_one(slots->reserve / RNA_SCRAPERS);
}

/* What is for all is left when all reserves are subtracted. */
static bool has_shared(const struct rna_slots *slots)
{
	return slots->taken[RNA_CLASS_STRANGER] <
	       slots->limit - (RNA_CLASS_COUNT - 1) * slots->reserve;
}

/* There is room: each holder has a slot at least, and there are as many places as slots. */
static struct rna_slot_holder *add_holder(struct rna_slots *slots,
					  const struct rna_address *address)
{
	struct rna_slot_holder *holder = &slots->holders[slots->holder_count++];

	*holder = (struct rna_slot_holder){.address = *address};
	return holder;
}

int rna_slots_take(struct rna_slots *slots, struct rna_client_slot *slot, rna_usec now)
{
	struct rna_slot_holder *holder = find_holder(slots, &slot->address);

	if (slot->kind == RNA_CLASS_STRANGER && is_scraper(slots, &slot->address, now))
		slot->kind = RNA_CLASS_SCRAPER;
	if (slot->kind != RNA_CLASS_PRIVATE && holder && holder->taken >= slots->per_address)
		return -EUSERS;
	if (has_shared(slots))
		slot->pool = RNA_CLASS_STRANGER;
	else if (has_reserve(slots, holder, slot->kind))
		slot->pool = slot->kind;
	else
		return -EBUSY;
	slots->taken[slot->pool]++;
	if (!holder)
		holder = add_holder(slots, &slot->address);
	holder->taken++;
	holder->reserved += slot->pool == RNA_CLASS_SCRAPER;
	return 0;
}

void rna_slots_give(struct rna_slots *slots, const struct rna_client_slot *slot)
{
	struct rna_slot_holder *holder = find_holder(slots, &slot->address);

	slots->taken[slot->pool]--;
	holder->reserved -= slot->pool == RNA_CLASS_SCRAPER;
	if (--holder->taken == 0)
		*holder = slots->holders[--slots->holder_count];
}

/* -- Scrapes ----------------------------------------------------------------------------------- */

void rna_scraper_asks(struct rna_scraper *scraper, enum rna_exposition format, bool gzip,
		      rna_usec now)
{
	scraper->interval = scraper->asked ? rna_usec_since(scraper->asked, now) : 0;
	scraper->asked = now;
	scraper->format = format;
	scraper->gzip = gzip;
}

bool rna_scraper_is_due(const struct rna_scraper *scraper, rna_usec now, rna_usec span)
{
	rna_usec next = scraper->asked + scraper->interval;

	return scraper->interval > 0 && next <= now + span && next + span >= now;
}

rna_usec rna_scraper_next(const struct rna_scraper *scraper, rna_usec earliest, rna_usec now)
{
	rna_usec interval = scraper->interval, passed;

	if (interval < SHORTEST || rna_usec_since(scraper->asked, now) > 2 * interval)
		return RNA_USEC_NEVER;
	passed = rna_usec_since(scraper->asked, earliest);
	return scraper->asked + (passed + interval - 1) / interval * interval;
}

/* -- Sockets ----------------------------------------------------------------------------------- */

/* Zeros for a unix socket. */
static struct tcp_info tcp_info_of(int fd)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		return (struct tcp_info){0};
	return info;
}

/* If that fails, the kernel sends what is left, and the end is the same. */
static void drop_output(int fd)
{
	const struct linger drop = {.l_onoff = 1, .l_linger = 0};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &drop, sizeof(drop));
}

/* A unix socket has a small buffer anyway. */
static void limit_unsent(int fd)
{
	const int bytes = UNSENT_MAX;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof(bytes));
}

void rna_connection_reset(int fd)
{
	drop_output(fd);
	(void)close(fd);
}

void rna_connection_cut(int fd)
{
	drop_output(fd);
	(void)shutdown(fd, SHUT_RDWR);
}

/* -- Bodies ------------------------------------------------------------------------------------ */

static void hold_body(struct rna_connections *connections, struct rna_connection *connection,
		      struct rna_body *body)
{
	connection->body = rna_body_ref(body);
	if (body->readers++ == 0)
		connections->bytes += body->len;
}

static void let_go_of_body(struct rna_connections *connections, struct rna_connection *connection)
{
	struct rna_body *body = RNA_TAKE(connection->body);

	if (!body)
		return;
	if (--body->readers == 0)
		connections->bytes -= body->len;
	(void)rna_body_unref(body);
}

/* -- Ends -------------------------------------------------------------------------------------- */

static void give_slot(struct rna_connections *connections, struct rna_connection *connection)
{
	if (connection->has_slot)
		rna_slots_give(&connections->slots, &connection->slot);
	connection->has_slot = false;
}

/* NONE: the client has gone. */
static void count_drop(struct rna_connections *connections, enum rna_drop drop)
{
	if (drop != RNA_DROP_NONE)
		connections->drops[drop]++;
}

/* libmicrohttpd still has the connection, and drops its own reference to the body when it runs. */
static void cut(struct rna_connections *connections, struct rna_connection *connection,
		enum rna_drop drop)
{
	count_drop(connections, drop);
	rna_connection_cut(connection->fd);
	connection->state = RNA_CONNECTION_CUT;
	give_slot(connections, connection);
	let_go_of_body(connections, connection);
}

/* -- Admission --------------------------------------------------------------------------------- */

/* Of all clients of unix sockets: open to all users, and private. IPv6 discards this block. */
static const struct rna_address local_users = {{0x01}}, private_users = {{0x01, 0x01}};

static bool is_loopback(const struct rna_address *address)
{
	static const struct rna_address nowhere; /* ::1 is in the /64 of zeros */
	static const unsigned char v4_loopback[] = {
		[10] = 0xff, [11] = 0xff, [12] = IN_LOOPBACKNET};

	return rna_address_is_same(address, &nowhere) ||
	       memcmp(address, v4_loopback, sizeof(v4_loopback)) == 0;
}

/* Both ends of a connection within a machine have the same address, unless the client binds. */
static bool has_same_ends(int fd, const struct sockaddr *address)
{
	struct sockaddr_storage own = {0};
	socklen_t len = sizeof(own);

	if (getsockname(fd, (struct sockaddr *)&own, &len) < 0 ||
	    own.ss_family != address->sa_family)
		return false;
	if (own.ss_family == AF_INET)
		return ((const struct sockaddr_in *)&own)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr;
	return own.ss_family == AF_INET6 &&
	       IN6_ARE_ADDR_EQUAL(&((const struct sockaddr_in6 *)&own)->sin6_addr,
				  &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/*
 * The client sends nothing more: a request that is not complete will never be. libmicrohttpd 0.9.75
 * does not see an end that arrives together with bytes (recv_param_adapter() takes a short read for
 * all that there is, and epoll reports both once), nor one after blank lines.
 */
static bool has_ended(const struct rna_connection *connection)
{
	char next;

	return recv(connection->fd, &next, sizeof(next), MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* It is the client's turn. */
static bool is_asked(const struct rna_connection *connection)
{
	return connection->state == RNA_CONNECTION_REQUEST ||
	       connection->state == RNA_CONNECTION_IDLE;
}

/* The client has gone, and no reply to it is under way. */
static bool is_over(const struct rna_connection *connection)
{
	return is_asked(connection) && has_ended(connection);
}

/* If it ends: a client that wants slot, and cannot have it because of error. */
static bool would_help(const struct rna_connection *connection, const struct rna_client_slot *slot,
		       int error)
{
	bool same = rna_address_is_same(&connection->slot.address, &slot->address);

	if (!connection->has_slot)
		return false;
	if (error == -EUSERS)
		return same;
	return connection->slot.pool == RNA_CLASS_STRANGER ||
	       (same && connection->slot.pool == slot->kind);
}

/* held: by its address. */
static bool may_give_way(const struct rna_connection *connection, unsigned held, rna_usec now)
{
	if (held > 1 || is_over(connection))
		return true;
	return is_asked(connection) && rna_usec_since(connection->since, now) >= GRACE;
}

/* Of a unix socket the kernel does not tell, so that the age of the reply counts. */
static void look_for_progress(struct rna_connections *connections, rna_usec now)
{
	if (rna_usec_since(connections->looked, now) < LOOK)
		return;
	connections->looked = now;
	for (struct rna_connection *c = connections->first; c; c = c->next) {
		uint64_t acked;

		if (c->state != RNA_CONNECTION_REPLY)
			continue;
		acked = tcp_info_of(c->fd).tcpi_bytes_acked;
		if (acked != c->taken)
			c->moved = now;
		c->taken = acked;
	}
}

/* Of two that moved at the same time the older one, which comes later in the list. */
static struct rna_connection *find_victim(const struct rna_connections *connections,
					  const struct rna_client_slot *slot, int error,
					  rna_usec now)
{
	struct rna_connection *ret = NULL;
	unsigned most = 1;

	for (struct rna_connection *c = connections->first; c; c = c->next) {
		unsigned held;

		if (!would_help(c, slot, error))
			continue;
		held = rna_slots_held(&connections->slots, &c->slot.address);
		if (held < most || !may_give_way(c, held, now))
			continue;
		if (held > most || !ret || c->moved <= ret->moved)
			ret = c;
		most = held;
	}
	return ret;
}

static bool make_room(struct rna_connections *connections, const struct rna_client_slot *slot,
		      int error, rna_usec now)
{
	struct rna_connection *victim;

	look_for_progress(connections, now);
	victim = find_victim(connections, slot, error, now);
	if (!victim)
		return false;
	cut(connections, victim,
	    is_over(victim)    ? RNA_DROP_NONE
	    : error == -EUSERS ? RNA_DROP_ADDRESS_LIMIT
			       : RNA_DROP_MADE_ROOM);
	return true;
}

int rna_connections_admit(struct rna_connections *connections, int fd,
			  const struct sockaddr *address, bool is_private, rna_usec now,
			  struct rna_client_slot *ret)
{
	int error;

	*ret = (struct rna_client_slot){.address = rna_address_of(address)};
	if (is_private) {
		ret->kind = RNA_CLASS_PRIVATE;
		ret->address = private_users;
	} else if (address->sa_family == AF_UNIX) {
		ret->address = local_users;
	} else if (is_loopback(&ret->address) || has_same_ends(fd, address)) {
		ret->kind = RNA_CLASS_NODE;
		ret->address = (struct rna_address){0};
	}
	error = rna_slots_take(&connections->slots, ret, now);
	if (error < 0 && make_room(connections, ret, error, now))
		error = rna_slots_take(&connections->slots, ret, now);
	if (error < 0)
		count_drop(connections, error == -EUSERS ? RNA_DROP_ADDRESS_LIMIT : RNA_DROP_FULL);
	return error;
}

unsigned rna_connections_batch(const struct rna_connections *connections)
{
	unsigned batch = connections->slots.per_address / BATCHES;

	if (batch == 0)
		return 1;
	return batch < BATCH_MAX ? batch : BATCH_MAX;
}

void rna_connections_add(struct rna_connections *connections, struct rna_connection *connection,
			 int fd, const struct rna_client_slot *slot, rna_usec now)
{
	*connection = (struct rna_connection){
		.next = connections->first, .fd = fd, .has_slot = slot, .since = now, .moved = now};
	if (slot)
		connection->slot = *slot;
	connections->first = connection;
	limit_unsent(fd);
}

void rna_connections_remove(struct rna_connections *connections, struct rna_connection *connection)
{
	struct rna_connection **at = &connections->first;

	while (*at != connection)
		at = &(*at)->next;
	*at = connection->next;
	give_slot(connections, connection);
	let_go_of_body(connections, connection);
}

/* -- Deadlines --------------------------------------------------------------------------------- */

static void enter(struct rna_connection *connection, enum rna_connection_state state, rna_usec now)
{
	if (connection->state == RNA_CONNECTION_CUT)
		return; /* libmicrohttpd does not know yet */
	connection->state = state;
	connection->since = connection->moved = now;
}

void rna_connection_asks(struct rna_connection *connection, rna_usec now)
{
	if (connection->state == RNA_CONNECTION_IDLE)
		enter(connection, RNA_CONNECTION_REQUEST, now);
}

void rna_connection_waits(struct rna_connection *connection, rna_usec now)
{
	enter(connection, RNA_CONNECTION_WAITING, now);
}

void rna_connection_replies(struct rna_connections *connections, struct rna_connection *connection,
			    struct rna_body *body, rna_usec now)
{
	struct tcp_info info = tcp_info_of(connection->fd);

	enter(connection, RNA_CONNECTION_REPLY, now);
	connection->received = info.tcpi_bytes_received;
	connection->acked = connection->taken = info.tcpi_bytes_acked;
	let_go_of_body(connections, connection); /* there is none */
	if (connection->state == RNA_CONNECTION_REPLY)
		hold_body(connections, connection, body);
}

void rna_connection_rests(struct rna_connections *connections, struct rna_connection *connection,
			  rna_usec now)
{
	let_go_of_body(connections, connection);
	enter(connection, RNA_CONNECTION_IDLE, now);
	connections->completed++;
}

bool rna_connections_need_check(const struct rna_connections *connections, bool stirred)
{
	for (const struct rna_connection *c = connections->first; c; c = c->next)
		if (c->state == RNA_CONNECTION_REQUEST || c->state == RNA_CONNECTION_REPLY ||
		    (c->state == RNA_CONNECTION_IDLE && stirred))
			return true;
	return false;
}

rna_usec rna_connections_pace(const struct rna_connections *connections)
{
	rna_usec shortest = connections->request_timeout < connections->reply_timeout
				    ? connections->request_timeout
				    : connections->reply_timeout;

	return shortest / CHECKS < PACE_MAX ? shortest / CHECKS : PACE_MAX;
}

/* Has the next request begun? Unknown for a unix socket, which has time for both. */
static bool is_late_when_idle(const struct rna_connections *connections,
			      struct rna_connection *connection, rna_usec now)
{
	if (tcp_info_of(connection->fd).tcpi_bytes_received != connection->received) {
		enter(connection, RNA_CONNECTION_REQUEST, now);
		return false;
	}
	return rna_usec_since(connection->since, now) >
	       connections->idle_timeout + connections->request_timeout;
}

/* The deadline that it has missed, or none. */
static enum rna_drop find_missed(const struct rna_connections *connections,
				 struct rna_connection *connection, rna_usec now)
{
	rna_usec time = rna_usec_since(connection->since, now);
	bool late = false;

	switch (connection->state) {
	case RNA_CONNECTION_REPLY:
		return time > connections->reply_timeout ? RNA_DROP_REPLY_TIMEOUT : RNA_DROP_NONE;
	case RNA_CONNECTION_REQUEST:
		late = time > connections->request_timeout;
		break;
	case RNA_CONNECTION_IDLE:
		late = is_late_when_idle(connections, connection, now);
		break;
	default:
		break;
	}
	return late ? RNA_DROP_REQUEST_TIMEOUT : RNA_DROP_NONE;
}

void rna_connections_check(struct rna_connections *connections, rna_usec now)
{
	look_for_progress(connections, now);
	for (struct rna_connection *c = connections->first; c; c = c->next) {
		bool over = is_over(c);
		enum rna_drop missed = over ? RNA_DROP_NONE : find_missed(connections, c, now);

		if (over || missed != RNA_DROP_NONE)
			cut(connections, c, missed);
	}
}

/* -- Old views --------------------------------------------------------------------------------- */

/* 0 for a unix socket, so that of these the oldest goes first. */
static void measure_rate(struct rna_connection *connection, rna_usec now)
{
	uint64_t acked = tcp_info_of(connection->fd).tcpi_bytes_acked - connection->acked;

	connection->rate = acked * RNA_USEC_PER_SEC / (rna_usec_since(connection->since, now) + 1);
}

static struct rna_connection *find_slowest(const struct rna_connections *connections)
{
	struct rna_connection *slowest = NULL;

	for (struct rna_connection *c = connections->first; c; c = c->next)
		if (c->body && (!slowest || c->rate < slowest->rate ||
				(c->rate == slowest->rate && c->since < slowest->since)))
			slowest = c;
	return slowest;
}

/*
 * All bodies that are being sent are of old views: nothing was sent of the new one yet. Between two
 * views there is nothing to cut: of one view each document exists once, in each of its formats
 * (routes.c), so that it adds no more than these, however many clients there are.
 */
void rna_connections_new_view(struct rna_connections *connections, rna_usec now)
{
	if (connections->bytes <= connections->max_old_bytes)
		return;
	for (struct rna_connection *c = connections->first; c; c = c->next)
		if (c->body)
			measure_rate(c, now);
	while (connections->bytes > connections->max_old_bytes)
		cut(connections, find_slowest(connections), RNA_DROP_MAX_OLD_BYTES);
}

int rna_connections_init(struct rna_connections *connections,
			 const struct rna_http_options *options)
{
	*connections = (struct rna_connections){
		.request_timeout = options->request_timeout,
		.reply_timeout = options->reply_timeout,
		.idle_timeout = options->idle_timeout,
		.max_old_bytes = options->max_old_bytes,
	};
	return rna_slots_init(&connections->slots, options->max_connections);
}

void rna_connections_deinit(struct rna_connections *connections)
{
	rna_slots_deinit(&connections->slots);
}
