// SPDX-License-Identifier: Apache-2.0
/*
 * The HTTP server: libmicrohttpd inside the event loop. No other file knows it.
 *
 * libmicrohttpd runs without a thread of its own (MHD_USE_EPOLL alone): its epoll descriptor is
 * watched by our loop, and MHD_run() does whatever can be done without waiting, for all of its
 * connections. So a slow or silent client needs a few kilobytes and delays no other. Connections
 * are accepted by us (listen.h), who may have one is decided by slots.h, and libmicrohttpd gets
 * them one by one.
 *
 * The trap is the timer. MHD_get_timeout() says in how many milliseconds MHD wants to run again
 * even if nothing happens. Given to sd_event_source_set_time(), which takes a point in time, that
 * is always in the past, and one idle keep-alive connection makes the loop spin. Hence the
 * relative call in arm_timer(), after each run, and only when there is a timeout at all.
 *
 * What is answered is routes.c's business, and is never waited for. Who may have it follows from
 * the web configuration (rna/web.h). TLS is spoken by a thread (tls_relay.h), with the credentials
 * of the configuration that was the newest when the connection came. A request whose password has
 * to be hashed is suspended until a thread has done so (logins.h). A unix socket that only its
 * owner and group can open is as good as a login, and has neither TLS nor any.
 */
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "rna/exporter.h"

#include "connections.h"
#include "listen.h"
#include "logins.h"
#include "negotiate.h"
#include "routes.h"
#include "scrapers.h"
#include "tls_relay.h"

/* A scrape that is expected so soon after a new view finds it rendered. */
#define AHEAD (2 * RNA_USEC_PER_SEC)

enum {
	REPLY_HEADER_ROOM = 4096, /* of a connection's memory, beside the request */
	TIMER_ACCURACY = 1000,    /* microseconds; the default of sd-event is 250 ms */
	TURNS = 16,               /* of libmicrohttpd, without one of the loop */
	NUMBER_MAX = 24,          /* bytes of one in decimal, with the end */
	SPARE = 256,              /* connections beside those with a slot: questions of our own, and
				     those that are cut, until libmicrohttpd has noticed: a batch,
				     and as many as can wait for a login */
	COPIED = 32 * 1024,       /* bytes at a time by a libmicrohttpd that has to copy a body */
};

/* A connection that libmicrohttpd gets now. */
struct arrival {
	int fd; /* of the client */
	struct rna_address address;
	struct rna_client_slot slot;
	struct rna_tls_channel *channel; /* NULL: no TLS */
};

/* One listening address. */
struct listener {
	struct rna_http *http;
	struct MHD_Daemon *daemon;
	bool is_private; /* a unix socket that is as good as a login */
	bool tls;
	struct rna_socket_file file; /* of a unix socket that we made */
	struct rna_accept accept;
	struct arrival *arrives; /* NULL: none, or it has a client by now */
	int question; /* a connection with a request of our own, to see whether it is answered */
	sd_event_source *io;
	sd_event_source *timer;
};

struct rna_http {
	sd_event *event;
	struct rna_http_source source;
	struct rna_routes *routes;
	struct rna_logins *logins; /* NULL: no logins */
	sd_event_source *login_io;
	struct client *waiting;   /* for logins */
	struct client *postponed; /* until what they want is rendered */
	sd_event_source *rendered_io;
	struct rna_bucket requests;
	unsigned idle_seconds;
	struct rna_tls_relay *relay; /* NULL: no listener has TLS */
	struct rna_connections connections;
	sd_event_source *deadlines; /* of connections, while one of them has a deadline */
	bool stirred;               /* since the last check, see watch_deadlines() */
	struct rna_scraper *scrapers;
	size_t listener_count;
	struct listener *listeners;
};

/* One connection. */
struct client {
	struct listener *listener;
	struct MHD_Connection *connection;
	struct rna_connection line;      /* its slot and its deadlines */
	struct rna_scraper *scraper;     /* NULL: no memory, which costs only foresight */
	struct rna_tls_channel *channel; /* keeps the descriptor of line; NULL: no TLS */
	struct rna_address address;
	struct rna_login_proof proof;
	enum rna_login login;   /* of the request: PENDING until it is known */
	bool has_nul;           /* the target of the request */
	const char *target_end; /* as it came */
	bool again;             /* the request got -EAGAIN */
	bool waited;            /* it did at the last check */
	struct client *next;    /* of those that wait, or are postponed */
};

/* Of the event that is served; the clock is not read again. */
static rna_usec event_time(const struct rna_http *http)
{
	rna_usec now = 0;

	(void)sd_event_now(http->event, CLOCK_MONOTONIC, &now); /* cannot fail while it runs */
	return now;
}

static unsigned whole_seconds(rna_usec usec)
{
	return (unsigned)((usec + RNA_USEC_PER_SEC - 1) / RNA_USEC_PER_SEC);
}

/* -- Libmicrohttpd ----------------------------------------------------------------------------- */

static struct MHD_Response *free_response(struct MHD_Response *response)
{
	if (response)
		MHD_destroy_response(response); /* drops our reference; MHD holds its own */
	return NULL;
}
RNA_DEFINE_CLEANUP(struct MHD_Response, free_response)

static void body_sent(void *body)
{
	(void)rna_body_unref(body);
}

#if MHD_VERSION >= 0x00097302 && !defined(RNA_COPY_BODIES)
static struct MHD_Response *response_of(struct rna_body *body)
{
	return MHD_create_response_from_buffer_with_free_callback_cls(body->len, body->data,
								      body_sent, body);
}
#else
/* For libmicrohttpd 0.9.72, which RHEL 9 has. ./check builds and runs it with RNA_COPY_BODIES. */
static ssize_t copy_body(void *userdata, uint64_t position, char *buffer, size_t room)
{
	const struct rna_body *body = userdata;
	size_t rest = body->len - position;
	size_t count = room < rest ? room : rest;

	memcpy(buffer, body->data + position, count);
	return (ssize_t)count;
}

static struct MHD_Response *response_of(struct rna_body *body)
{
	return MHD_create_response_from_callback(body->len, COPIED, copy_body, body, body_sent);
}
#endif

/* The current configuration; NULL: there is none, and everything is open to all clients. */
static struct rna_web *newest_web(const struct rna_http *http)
{
	return http->source.web ? http->source.web(http->source.userdata) : NULL;
}

/* NULL: there was no memory for it. */
static struct client *client_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

static const char *header_of(const struct client *client, const char *name)
{
	return MHD_lookup_connection_value(client->connection, MHD_HEADER_KIND, name);
}

/* What each reply has; a configuration may choose others, or none. */
static void set_headers(const struct rna_web *web, struct rna_reply *reply)
{
	rna_reply_set(reply, "Cache-Control", "no-store");
	rna_reply_set(reply, "X-Content-Type-Options", "nosniff");
	rna_reply_set(reply, "X-Frame-Options", "deny");
	rna_reply_set(reply, "Referrer-Policy", "no-referrer");
	/* page and drawings bring their style along and need nothing else from anywhere */
	rna_reply_set(reply, "Content-Security-Policy",
		      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
		      "form-action 'none'; frame-ancestors 'none'");
	for (size_t i = 0; web && i < rna_web_options(web)->headers.count; i++)
		rna_reply_set(reply, rna_web_options(web)->headers.items[i].name,
			      rna_web_options(web)->headers.items[i].value);
}

/* -- Who may have an answer -------------------------------------------------------------------- */

/* Probes are open: kubelets have no password, and probes disclose nothing. */
static bool is_probe(const char *path)
{
	return strcmp(path, "/healthz") == 0 || strcmp(path, "/readyz") == 0;
}

static bool is_within_rate(struct rna_http *http, const struct rna_web *web, rna_usec *ret_wait)
{
	const struct rna_rate_limit limit = {rna_web_options(web)->rate_interval,
					     rna_web_options(web)->rate_burst};

	return limit.interval == 0 ||
	       rna_bucket_take(&http->requests, &limit, event_time(http), ret_wait);
}

static enum rna_login ask_login(struct client *client, const struct rna_web *web,
				rna_usec *ret_wait)
{
	struct rna_http *http = client->listener->http;
	const struct rna_login_request request = {
		.users = &rna_web_options(web)->users,
		.authorization = header_of(client, MHD_HTTP_HEADER_AUTHORIZATION),
		.address = client->address,
		.proof = &client->proof,
		.who = client,
	};

	return rna_logins_ask(http->logins, &request, event_time(http), ret_wait);
}

/* Of a request; *ret_wait: with LIMITED, when to come again. */
static enum rna_login admit(struct client *client, const struct rna_web *web, const char *path,
			    rna_usec *ret_wait)
{
	enum rna_login known = client->login;

	client->login = RNA_LOGIN_PENDING; /* of the next request */
	if (known != RNA_LOGIN_PENDING)
		return known;
	if (!web || client->listener->is_private || is_probe(path))
		return RNA_LOGIN_OK;
	if (!is_within_rate(client->listener->http, web, ret_wait))
		return RNA_LOGIN_LIMITED;
	return rna_web_options(web)->users.count == 0 ? RNA_LOGIN_OK
						      : ask_login(client, web, ret_wait);
}

static void wait_for_login(struct client *client)
{
	struct rna_http *http = client->listener->http;

	client->next = http->waiting;
	http->waiting = client;
	rna_connection_waits(&client->line, event_time(http));
	MHD_suspend_connection(client->connection);
}

/* Its login is known, and is not asked for again. */
static void postpone(struct client *client)
{
	struct rna_http *http = client->listener->http;

	client->login = RNA_LOGIN_OK;
	client->again = true;
	client->next = http->postponed;
	http->postponed = client;
	rna_connection_waits(&client->line, event_time(http));
	MHD_suspend_connection(client->connection);
}

/* -- Replies ----------------------------------------------------------------------------------- */

static int reply_refused(struct rna_reply *reply)
{
	rna_reply_set(reply, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
		      "Basic realm=\"rdma-node-agent\", charset=\"UTF-8\"");
	return rna_reply_text(reply, MHD_HTTP_UNAUTHORIZED, "unauthorized");
}

static int reply_limited(struct rna_reply *reply, rna_usec wait, char text[NUMBER_MAX])
{
	(void)snprintf(text, NUMBER_MAX, "%u", whole_seconds(wait));
	rna_reply_set(reply, MHD_HTTP_HEADER_RETRY_AFTER, text);
	return rna_reply_text(reply, MHD_HTTP_TOO_MANY_REQUESTS, "too many requests");
}

static int reply_bad(struct rna_reply *reply)
{
	rna_reply_set(reply, MHD_HTTP_HEADER_CONNECTION, "close");
	return rna_reply_text(reply, MHD_HTTP_BAD_REQUEST, "bad request");
}

static int reply_nul(struct rna_reply *reply)
{
	rna_reply_set(reply, MHD_HTTP_HEADER_CONNECTION, "close");
	return rna_reply_text(reply, MHD_HTTP_BAD_REQUEST,
			      "bad request: a NUL in the path or the query");
}

static int reply_not_allowed(struct rna_reply *reply)
{
	rna_reply_set(reply, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	return rna_reply_text(reply, MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed");
}

static int reply_route(const struct client *client, const char *path, struct rna_reply *reply)
{
	struct rna_http *http = client->listener->http;
	const struct rna_request request = {
		.path = path,
		.accept = header_of(client, MHD_HTTP_HEADER_ACCEPT),
		.accept_encoding = header_of(client, MHD_HTTP_HEADER_ACCEPT_ENCODING),
		.scraper = client->scraper,
		.again = client->again,
		.now = event_time(http),
	};
	int ret = rna_routes_answer(http->routes, &request, reply);

	if (ret == 0 && reply->status == MHD_HTTP_OK && strcmp(path, "/metrics") == 0 &&
	    client->line.has_slot && client->line.slot.kind < RNA_CLASS_NODE)
		rna_slots_scraped(&http->connections.slots, &client->line.slot.address,
				  request.now);
	return ret;
}

static enum MHD_Result send_reply(struct client *client, struct rna_reply *reply)
{
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = reply->body;
	RNA_CLEANUP(free_response_p) struct MHD_Response *response = NULL;
	struct rna_http *http = client->listener->http;
	enum MHD_Result ok = MHD_YES;

	client->again = client->waited = false;
	rna_connection_replies(&http->connections, &client->line, body, event_time(http));
	response = response_of(body);
	if (!response)
		return MHD_NO;
	(void)RNA_TAKE(body); /* the response's now */

	for (size_t i = 0; ok == MHD_YES && i < reply->header_count; i++)
		if (*reply->headers[i].value)
			ok = MHD_add_response_header(response, reply->headers[i].name,
						     reply->headers[i].value);
	return ok == MHD_YES ? MHD_queue_response(client->connection, reply->status, response)
			     : MHD_NO;
}

/* Replies to a GET or HEAD, or suspends it. */
static enum MHD_Result reply_to(struct client *client, const char *path)
{
	const struct rna_web *web = newest_web(client->listener->http);
	struct rna_reply reply = {0};
	char text[NUMBER_MAX];
	rna_usec wait = RNA_USEC_PER_SEC; /* unless admit() knows better */
	int ret;

	set_headers(web, &reply);
	switch (admit(client, web, path, &wait)) {
	case RNA_LOGIN_PENDING:
		wait_for_login(client);
		return MHD_YES;
	case RNA_LOGIN_REFUSED:
		ret = reply_refused(&reply);
		break;
	case RNA_LOGIN_LIMITED:
		ret = reply_limited(&reply, wait, text);
		break;
	default:
		ret = reply_route(client, path, &reply);
	}
	if (ret == -EAGAIN) {
		postpone(client);
		return MHD_YES;
	}
	return ret < 0 ? MHD_NO : send_reply(client, &reply);
}

/* The reply is the same for every client and path. */
static enum MHD_Result refuse(struct client *client, int (*fill)(struct rna_reply *reply))
{
	struct rna_reply reply = {0};

	set_headers(newest_web(client->listener->http), &reply);
	return fill(&reply) < 0 ? MHD_NO : send_reply(client, &reply);
}

/*
 * MHD calls this before it unescapes the target, of which we get a C string: "/metrics%00x" is
 * "/metrics" then, but another path for a proxy that forbids this one.
 */
static void *look_at_target(void *userdata, const char *target, struct MHD_Connection *connection)
{
	struct client *client = client_of(connection);

	(void)userdata;
	if (client && target) {
		client->has_nul = strstr(target, "%00");
		client->target_end = target + strlen(target);
	}
	return NULL; /* the state of the first call of answer() */
}

/*
 * A byte that is NUL ends the text as well. Up to 0.9.77 MHD splits the line in its place, so that
 * the version follows the target (parse_initial_message_line()); 1.0 refuses the byte.
 */
static bool has_nul(const struct client *client, const char *version)
{
	return client->has_nul || (MHD_VERSION < 0x01000000 && version != client->target_end + 1);
}

/* The headers of a request that tell where it ends. */
struct framing {
	unsigned lengths, encodings;
	bool bad;
};

static enum MHD_Result look_at_header(void *userdata, enum MHD_ValueKind kind, const char *name,
				      const char *value)
{
	struct framing *framing = userdata;

	(void)kind;
	framing->lengths += strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0;
	if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
		framing->encodings++;
		framing->bad |= !value || strcasecmp(value, "chunked") != 0;
	}
	framing->bad |= strpbrk(name, " \t") != NULL; /* before the colon */
	return MHD_YES;
}

/*
 * Is it clear where the request ends? If a proxy takes another end for it, the rest of the body
 * becomes a request of the next client (RFC 9112, sections 5.1, 6.1 and 6.3). libmicrohttpd refuses
 * only lengths that are no number.
 */
static bool has_clear_end(struct MHD_Connection *connection)
{
	struct framing framing = {0};

	(void)MHD_get_connection_values(connection, MHD_HEADER_KIND, look_at_header, &framing);
	return !framing.bad && framing.lengths + framing.encodings <= 1;
}

/*
 * MHD calls this when the headers are there, then for each piece of a body, and once more at the
 * end, or when the connection was suspended there. GET and HEAD are answered at the end, which
 * leaves the connection fit for the next request; other methods at once, so that clients do
 * not send a body. MHD_NO closes.
 */
static enum MHD_Result answer(void *userdata, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	bool allowed = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
		       strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
	struct client *client = client_of(connection);
	bool first = !*state;

	(void)upload;
	if (!client || client->line.state == RNA_CONNECTION_CUT)
		return MHD_NO;
	*state = userdata; /* anything but NULL */
	if (first)
		rna_connection_asks(&client->line, event_time(client->listener->http));
	if (first && !has_clear_end(connection))
		return refuse(client, reply_bad);
	if (first && has_nul(client, version))
		return refuse(client, reply_nul);
	if (allowed && (first || *upload_size > 0)) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (!allowed)
		return refuse(client, reply_not_allowed); /* nothing can be changed over HTTP */
	return reply_to(client, rna_negotiate_path(path));
}

static int socket_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/* If the timer cannot be armed, deadlines are not checked until the next event. */
static void set_deadlines(struct rna_http *http, bool wanted)
{
	if (!wanted)
		(void)sd_event_source_set_enabled(http->deadlines, SD_EVENT_OFF);
	else if (sd_event_source_set_time_relative(http->deadlines,
						   rna_connections_pace(&http->connections)) >= 0)
		(void)sd_event_source_set_enabled(http->deadlines, SD_EVENT_ONESHOT);
}

/*
 * Idle connections have no deadline of ours, and shall not wake us. stirred: something came that
 * did not lead to a reply, and may be the first byte of a request, which the next check looks for.
 */
static void watch_deadlines(struct rna_http *http, bool stirred)
{
	int on = SD_EVENT_OFF;
	bool wanted;

	http->stirred = http->stirred || stirred;
	wanted = rna_connections_need_check(&http->connections, http->stirred);
	(void)sd_event_source_get_enabled(http->deadlines, &on); /* cannot fail */
	if (wanted != (on != SD_EVENT_OFF))
		set_deadlines(http, wanted);
}

/* What is cut here wakes libmicrohttpd, which closes it. */
static int on_deadlines(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct rna_http *http = userdata;

	(void)source, (void)usec;
	rna_connections_check(&http->connections, event_time(http));
	http->stirred = false;
	watch_deadlines(http, false);
	return 0;
}

/* A question of our own did not arrive. */
static struct client *client_new(struct listener *listener, struct MHD_Connection *connection)
{
	struct client *client = calloc(1, sizeof(*client));
	const struct arrival *arrival;
	struct rna_http *http = listener->http;

	if (!client)
		return NULL;
	arrival = RNA_TAKE(listener->arrives);
	client->listener = listener;
	client->connection = connection;
	if (arrival) {
		client->channel = arrival->channel;
		client->address = arrival->address;
	}
	rna_connections_add(&http->connections, &client->line,
			    arrival ? arrival->fd : socket_of(connection),
			    arrival ? &arrival->slot : NULL, event_time(http));
	client->login = RNA_LOGIN_PENDING;
	client->scraper = rna_scraper_add(&http->scrapers);
	return client;
}

static struct client *client_free(struct client *client)
{
	if (!client)
		return NULL;
	rna_connections_remove(&client->listener->http->connections, &client->line);
	rna_scraper_remove(&client->listener->http->scrapers, client->scraper);
	(void)rna_tls_channel_unref(client->channel);
	free(client);
	return NULL;
}

/* The reply is sent, or the connection has ended before. */
static void on_completed(void *userdata, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode code)
{
	const struct listener *listener = userdata;
	struct client *client = client_of(connection);

	(void)state, (void)code;
	if (client)
		rna_connection_rests(&listener->http->connections, &client->line,
				     event_time(listener->http));
}

static void on_connection(void *userdata, struct MHD_Connection *connection, void **client,
			  enum MHD_ConnectionNotificationCode code)
{
	*client = code == MHD_CONNECTION_NOTIFY_STARTED ? client_new(userdata, connection)
							: client_free(*client);
}

/* In how many milliseconds MHD wants to run again; false: when something comes. */
static bool next_run(struct listener *listener, MHD_UNSIGNED_LONG_LONG *ret)
{
	return MHD_get_timeout(listener->daemon, ret) == MHD_YES;
}

static int arm_timer(struct listener *listener)
{
	MHD_UNSIGNED_LONG_LONG msec;
	int r;

	if (!next_run(listener, &msec))
		return sd_event_source_set_enabled(listener->timer, SD_EVENT_OFF);
	r = sd_event_source_set_time_relative(listener->timer, msec * RNA_USEC_PER_MSEC);
	if (r < 0)
		return r;
	return sd_event_source_set_enabled(listener->timer, SD_EVENT_ONESHOT);
}

/* A question of our own is over when something comes back. */
static void hear_answer(struct listener *listener)
{
	char answer;

	if (listener->question < 0 ||
	    (recv(listener->question, &answer, sizeof(answer), MSG_DONTWAIT) < 0 &&
	     errno == EAGAIN))
		return;
	(void)close(listener->question);
	listener->question = -1;
}

/*
 * A reply takes several turns: a scrape that waited for the timer each time would take long. No
 * failure to arm the timer is returned to sd-event, which would stop watching what it came from;
 * the next event arms it.
 */
static void run(struct listener *listener)
{
	struct rna_http *http = listener->http;
	uint64_t completed = http->connections.completed;
	MHD_UNSIGNED_LONG_LONG msec;
	int turns = 0;

	do
		(void)MHD_run(listener->daemon); /* fails only for those with threads */
	while (++turns < TURNS && next_run(listener, &msec) && msec == 0);
	hear_answer(listener);
	watch_deadlines(http, http->connections.completed == completed);
	(void)arm_timer(listener);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	(void)source;
	(void)fd;
	(void)events;
	run(userdata);
	return 0;
}

static bool give_to_libmicrohttpd(struct listener *listener, int fd, const struct sockaddr *address,
				  socklen_t len)
{
	static const struct sockaddr local = {.sa_family = AF_UNIX};
	int plain;

	if (!listener->tls)
		return MHD_add_connection(listener->daemon, fd, address, len) == MHD_YES;
	plain = rna_tls_relay_add(listener->http->relay, fd, newest_web(listener->http),
				  &listener->arrives->channel);
	if (plain < 0) {
		rna_connection_reset(fd);
		return false;
	}
	return MHD_add_connection(listener->daemon, plain, &local, sizeof(local.sa_family)) ==
	       MHD_YES;
}

/* A client without a slot is not answered: its request may not have arrived yet. */
static void take_connection(int fd, const struct sockaddr *address, socklen_t len, void *userdata)
{
	struct listener *listener = userdata;
	struct rna_http *http = listener->http;
	struct arrival arrival = {.fd = fd, .address = rna_address_of(address)};
	bool added;

	if (rna_connections_admit(&http->connections, fd, address, listener->is_private,
				  event_time(http), &arrival.slot) < 0) {
		rna_connection_reset(fd);
		return;
	}
	listener->arrives = &arrival;
	added = give_to_libmicrohttpd(listener, fd, address, len);
	if (!listener->arrives)
		return; /* a client has the slot, or had it */
	listener->arrives = NULL;
	http->connections.drops[RNA_DROP_FAILED]++;
	rna_slots_give(&http->connections.slots, &arrival.slot);
	if (added)
		rna_connection_cut(fd); /* no memory for a client */
	(void)rna_tls_channel_unref(arrival.channel);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	run(userdata);
	return 0;
}

/* The connections come to answer() again; of resuming as such no descriptor tells. */
static void run_resumed(struct rna_http *http)
{
	for (size_t i = 0; i < http->listener_count; i++)
		run(&http->listeners[i]);
}

/*
 * Those that gave way while they waited for a document: libmicrohttpd closes nothing that is
 * suspended. Those that wait for a login are few; their passwords are hashed all the same.
 */
static bool resume_cut(struct rna_http *http)
{
	struct client **at = &http->postponed;
	bool ret = false;

	while (*at) {
		struct client *client = *at;

		if (client->line.state != RNA_CONNECTION_CUT) {
			at = &client->next;
			continue;
		}
		*at = client->next;
		MHD_resume_connection(client->connection);
		ret = true;
	}
	return ret;
}

/* Some connections have come; libmicrohttpd looks for their requests. */
static void run_after(void *userdata)
{
	struct listener *listener = userdata;

	if (resume_cut(listener->http))
		run_resumed(listener->http);
	else
		run(listener);
}

static int on_login(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_http *http = userdata;
	enum rna_login login;
	void *who;

	(void)source, (void)fd, (void)events;
	while (rna_logins_next(http->logins, &who, &login)) {
		struct client *client = who, **at = &http->waiting;

		while (*at != client)
			at = &(*at)->next;
		*at = client->next;
		client->login = login;
		MHD_resume_connection(client->connection);
	}
	run_resumed(http);
	return 0;
}

static void resume(struct client **list)
{
	for (struct client *client = *list; client; client = client->next)
		MHD_resume_connection(client->connection);
	*list = NULL;
}

/*
 * Who wants something else is postponed again. Without a client that waits nothing is run, because
 * a run that answers nothing makes us look for requests that have begun.
 */
static int on_rendered(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct rna_http *http = userdata;

	(void)source, (void)fd, (void)events;
	if (!rna_routes_take_rendered(http->routes))
		return 0;
	if (http->postponed) {
		resume(&http->postponed);
		run_resumed(http);
	}
	rna_routes_forget_rendered(http->routes);
	return 0;
}

/* -- Liveness ---------------------------------------------------------------------------------- */

static bool has_answer(struct listener *listener)
{
	bool answered;

	hear_answer(listener);
	answered = listener->question < 0;
	if (!answered)
		(void)close(listener->question);
	listener->question = -1;
	return answered;
}

/*
 * A pair of sockets, of which libmicrohttpd gets one: no packets, so that no firewall can drop
 * them, and no slot, so that no crowd can take it. It is not run here: the loop has to do that.
 */
static void ask_question(struct listener *listener)
{
	static const char question[] = "GET /healthz HTTP/1.0\r\n\r\n";
	const struct sockaddr address = {.sa_family = AF_UNIX};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		return; /* no descriptors: there is nothing to learn */
	(void)send(pair[0], question, strlen(question), MSG_NOSIGNAL); /* there is room */
	(void)MHD_add_connection(listener->daemon, pair[1], &address, sizeof(address.sa_family));
	listener->question = pair[0];
}

/* Has a client waited for a document since the last check? */
static bool waits_for_long(struct rna_http *http)
{
	bool ret = false;

	for (struct client *client = http->postponed; client; client = client->next) {
		ret = ret || client->waited;
		client->waited = true;
	}
	return ret;
}

bool rna_http_check(struct rna_http *http)
{
	bool ret = !http || !waits_for_long(http);

	for (size_t i = 0; http && i < http->listener_count; i++) {
		struct listener *listener = &http->listeners[i];
		bool accepts = rna_accept_check(&listener->accept);

		ret = has_answer(listener) && accepts && ret;
		ask_question(listener);
	}
	return (!http || !http->relay || rna_tls_relay_check(http->relay)) && ret;
}

/* -- Ahead of scrapes -------------------------------------------------------------------------- */

/*
 * A scrape does not wait for a thread to render when it comes as expected: counters are read, and a
 * view is made, about one second before it (loop/rhythm.h). Views that no scrape is expected for
 * are not rendered.
 */
void rna_http_new_view(struct rna_http *http)
{
	rna_usec now;

	if (!http)
		return;
	now = event_time(http);
	rna_connections_new_view(&http->connections, now);
	for (const struct rna_scraper *s = http->scrapers; s; s = s->next)
		if (rna_scraper_is_due(s, now, AHEAD))
			rna_routes_prepare(http->routes, s);
}

rna_usec rna_http_next_scrape(const struct rna_http *http, rna_usec earliest)
{
	rna_usec now = rna_clock_monotonic(), next = RNA_USEC_NEVER;

	for (const struct rna_scraper *s = http ? http->scrapers : NULL; s; s = s->next) {
		rna_usec own = rna_scraper_next(s, earliest, now);

		next = own < next ? own : next;
	}
	return next;
}

/* -- Start and stop ---------------------------------------------------------------------------- */

/*
 * Since 0.9.77 libmicrohttpd queues a new connection for its next run, because another thread may
 * have added it. take_connection() needs its client at once, and all calls are from one thread.
 */
#if MHD_VERSION >= 0x00097707
#define ONE_THREAD MHD_USE_NO_THREAD_SAFETY
#else
#define ONE_THREAD 0
#endif

/* NULL: no memory, or no epoll descriptor. */
static struct MHD_Daemon *start_daemon(struct listener *listener,
				       const struct rna_http_options *options)
{
	size_t memory = options->max_header_bytes + (size_t)REPLY_HEADER_ROOM;
	unsigned flags =
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | ONE_THREAD;

	return MHD_start_daemon(flags, 0, NULL, NULL, answer, listener, MHD_OPTION_CONNECTION_LIMIT,
				options->max_connections + SPARE, MHD_OPTION_CONNECTION_TIMEOUT,
				listener->http->idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				memory, MHD_OPTION_NOTIFY_CONNECTION, on_connection, listener,
				MHD_OPTION_NOTIFY_COMPLETED, on_completed, listener,
				MHD_OPTION_URI_LOG_CALLBACK, look_at_target, NULL, MHD_OPTION_END);
}

/* The caller's own sockets must outlive the listener, hence the duplicate. */
static int listener_open(struct listener *listener, const struct rna_http_options *options,
			 size_t index, struct rna_error *error)
{
	int fd;

	if (options->socket_count == 0)
		return rna_listen(options->listen[index], &listener->file, error);
	fd = fcntl(options->sockets[index], F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? rna_error_set(error, -errno, "http: cannot use a passed socket") : fd;
}

/* index: of options->sockets, or of options->listen where there are none. */
static int listener_start(struct rna_http *http, struct listener *listener, sd_event *event,
			  const struct rna_http_options *options, size_t index,
			  struct rna_error *error)
{
	const char *address = options->socket_count ? "a passed socket" : options->listen[index];
	const struct rna_accept_handlers handlers = {
		.connection = take_connection,
		.done = run_after,
		.batch = rna_connections_batch(&http->connections),
		.userdata = listener,
	};
	const struct rna_web *web = newest_web(http);
	const union MHD_DaemonInfo *info;
	int fd, r;

	listener->question = -1;
	fd = listener_open(listener, options, index, error);
	if (fd < 0)
		return fd;
	listener->http = http;
	listener->is_private = rna_socket_is_private(fd);
	listener->tls = web && rna_web_options(web)->tls && !listener->is_private;
	r = listener->tls && !http->relay ? rna_tls_relay_new(options->reply_timeout, &http->relay)
					  : 0;
	if (r < 0)
		return rna_error_set(error, r, "http: cannot start the thread for TLS");
	r = rna_accept_start(&listener->accept, event, fd, &handlers);
	if (r < 0)
		return rna_error_set(error, r, "http: cannot watch %s", address);
	listener->daemon = start_daemon(listener, options);
	if (!listener->daemon)
		return rna_error_say(error, -ENOMEM, "http: cannot serve on %s", address);

	info = MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	r = sd_event_add_io(event, &listener->io, info->epoll_fd, EPOLLIN, on_io, listener);
	if (r < 0)
		return rna_error_set(error, r, "http: cannot watch %s", address);
	r = sd_event_add_time_relative(event, &listener->timer, CLOCK_MONOTONIC, 0, TIMER_ACCURACY,
				       on_timer, listener);
	if (r < 0)
		return rna_error_set(error, r, "http: cannot set a timer for %s", address);
	return 0;
}

static void listener_stop(struct listener *listener)
{
	listener->io = sd_event_source_disable_unref(listener->io);
	listener->timer = sd_event_source_disable_unref(listener->timer);
	rna_socket_file_remove(
		&listener->file); /* first, so that no client connects that would not be served */
	rna_accept_stop(&listener->accept);
	(void)has_answer(listener); /* closes it */
	if (listener->daemon)
		MHD_stop_daemon(listener->daemon); /* closes its connections */
}

/* Where there is a web configuration, a change of it may want logins at any time. */
static int start_logins(struct rna_http *http)
{
	if (!newest_web(http))
		return 0;
	http->logins = rna_logins_new();
	if (!http->logins)
		return -ENOMEM;
	return sd_event_add_io(http->event, &http->login_io, rna_logins_fd(http->logins), EPOLLIN,
			       on_login, http);
}

/* Before the listeners: libmicrohttpd does not end while a connection is suspended. */
static void stop_waiting(struct rna_http *http)
{
	resume(&http->waiting);
	resume(&http->postponed);
	http->rendered_io = sd_event_source_disable_unref(http->rendered_io);
	http->login_io = sd_event_source_disable_unref(http->login_io);
	http->logins = rna_logins_free(http->logins);
}

static int add_routes(struct rna_http *http)
{
	int r = rna_routes_new(&http->source, &http->routes);

	return r < 0 ? r
		     : sd_event_add_io(http->event, &http->rendered_io, rna_routes_fd(http->routes),
				       EPOLLIN, on_rendered, http);
}

static int add_deadlines(struct rna_http *http)
{
	int r = sd_event_add_time_relative(http->event, &http->deadlines, CLOCK_MONOTONIC, 0, 0,
					   on_deadlines, http);

	return r < 0 ? r : sd_event_source_set_enabled(http->deadlines, SD_EVENT_OFF);
}

static struct rna_http *http_new(sd_event *event, const struct rna_http_options *options,
				 const struct rna_http_source *source, size_t listener_count)
{
	RNA_CLEANUP(rna_http_stop_p) struct rna_http *http = calloc(1, sizeof(*http));

	if (!http)
		return NULL;
	http->event = sd_event_ref(event);
	http->source = *source;
	http->idle_seconds = whole_seconds(options->idle_timeout);
	if (add_routes(http) < 0 || start_logins(http) < 0)
		return NULL;
	if (rna_connections_init(&http->connections, options) < 0 || add_deadlines(http) < 0)
		return NULL;
	http->listeners = calloc(listener_count, sizeof(*http->listeners));
	if (!http->listeners)
		return NULL;
	return RNA_TAKE(http);
}

int rna_http_start(sd_event *event, const struct rna_http_options *options,
		   const struct rna_http_source *source, struct rna_http **ret,
		   struct rna_error *error)
{
	RNA_CLEANUP(rna_http_stop_p) struct rna_http *http = NULL;
	size_t count = options->socket_count;

	while (options->socket_count == 0 && options->listen[count])
		count++;
	http = http_new(event, options, source, count);
	if (!http)
		return rna_error_set(error, -ENOMEM, "http");

	for (; http->listener_count < count; http->listener_count++) {
		struct listener *listener = &http->listeners[http->listener_count];
		int r = listener_start(http, listener, event, options, http->listener_count, error);

		if (r < 0) {
			listener_stop(listener);
			return r;
		}
	}
	*ret = RNA_TAKE(http);
	return 0;
}

const uint64_t *rna_http_logins(const struct rna_http *http)
{
	return http && http->logins ? rna_logins_counts(http->logins) : NULL;
}

const uint64_t *rna_http_drops(const struct rna_http *http)
{
	return http ? http->connections.drops : NULL;
}

void rna_http_forget_view(struct rna_http *http)
{
	if (http)
		rna_routes_forget_view(http->routes);
}

struct rna_http *rna_http_stop(struct rna_http *http)
{
	if (!http)
		return NULL;
	stop_waiting(http);
	for (size_t i = 0; i < http->listener_count; i++)
		listener_stop(&http->listeners[i]);
	free(http->listeners);
	(void)rna_tls_relay_free(http->relay);
	(void)sd_event_source_disable_unref(http->deadlines);
	(void)sd_event_unref(http->event);
	(void)rna_routes_free(http->routes);
	rna_connections_deinit(&http->connections);
	free(http);
	return NULL;
}
