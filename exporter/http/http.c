// SPDX-License-Identifier: Apache-2.0
/*
 * The HTTP server: libmicrohttpd inside the event loop.
 *
 * libmicrohttpd runs without a thread of its own (MHD_USE_EPOLL alone): its epoll descriptor is
 * watched by our loop, and MHD_run() does whatever can be done without waiting, for all of its
 * connections. So a slow or silent client needs a few kilobytes and delays no other. Connections
 * are accepted by us (listen.h), connections.h decides which of them are served, and libmicrohttpd
 * gets them one by one.
 *
 * The trap is the timer. MHD_get_timeout() says in how many milliseconds MHD wants to run again
 * even if nothing happens. Given to sd_event_source_set_time(), which takes a point in time, that
 * is always in the past, and one idle keep-alive connection makes the loop spin. Hence the
 * relative call in arm_timer(), after each run, and only when there is a timeout at all.
 *
 * What one request gets is requests.c's business, and is never waited for. Who may have it follows
 * from the web configuration (rna/web.h). TLS is spoken by a thread (tls_relay.h), with the
 * credentials of the configuration that was the newest when the connection came. A request whose
 * password has to be hashed is suspended until a thread has done so (logins.h). A unix socket that
 * only its owner and group can open is as good as a login, and has neither TLS nor any.
 *
 * libmicrohttpd has a thread and TLS of its own (MHD_USE_INTERNAL_POLLING_THREAD, MHD_USE_TLS).
 * They were tried with 0.9.75, and one lock around everything that the thread and the loop share:
 *
 * - A handshake that stalls makes the thread spin, because MHD_run_tls_handshake_() leaves the
 *   connection marked as readable (so does the source of 0.9.72 and of 1.0.1). One took 54 % of a
 *   CPU on a busy machine, here none, and twenty raised the median of a scrape from 0.8 to 11 ms;
 *   250 handshakes a second, from 1.4 to 54 ms.
 * - A connection that the loop accepts is read by the thread some time later. In a flood the next
 *   ones of the same address cut it before, with a probe of the node that was already received.
 *   Here MHD_run() reads it first (rna_connections_batch()).
 * - A handshake that fails ends without an alert, and /healthz would say that the thread lives
 *   instead of the loop.
 *
 * For all that, a scrape took 0.08 ms instead of 0.12, and with TLS 0.34 instead of 0.47. A silent
 * connection with TLS took 15 KiB and one descriptor, here 9 KiB and three.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "requests.h"

/* A scrape that is expected so soon after a new view finds it rendered. */
#define AHEAD (2 * RNA_USEC_PER_SEC)

enum {
	REPLY_HEADER_ROOM = 4096, /* of a connection's memory, beside the request */
	TIMER_ACCURACY = 1000,    /* microseconds; the default of sd-event is 250 ms */
	TURNS = 16,               /* of libmicrohttpd, without one of the loop */
	SPARE = 256,              /* connections beside those with a slot: questions of our own, and
				     those that are cut, until libmicrohttpd has noticed: a batch,
				     and as many as can wait for a login */
};

/* A connection that libmicrohttpd gets now. */
struct rna_http_arrival {
	int fd; /* of the client */
	struct rna_address address;
	struct rna_client_slot slot;
	struct rna_tls_channel *channel; /* NULL: no TLS */
};

/* -- Connections ------------------------------------------------------------------------------- */

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
	rna_connections_check(&http->connections, rna_http_time(http));
	http->stirred = false;
	watch_deadlines(http, false);
	return 0;
}

/* A question of our own did not arrive. */
static struct rna_http_client *client_new(struct rna_http_listener *listener,
					  struct MHD_Connection *connection)
{
	struct rna_http_client *client = calloc(1, sizeof(*client));
	const struct rna_http_arrival *arrival;
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
			    arrival ? &arrival->slot : NULL, rna_http_time(http));
	client->login = RNA_LOGIN_PENDING;
	return client;
}

static struct rna_http_client *client_free(struct rna_http_client *client)
{
	if (!client)
		return NULL;
	rna_connections_remove(&client->listener->http->connections, &client->line);
	(void)rna_tls_channel_unref(client->channel);
	free(client);
	return NULL;
}

/* The reply is sent, or the connection has ended before. */
static void on_completed(void *userdata, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode code)
{
	const struct rna_http_listener *listener = userdata;
	struct rna_http_client *client = rna_http_client_of(connection);

	(void)state, (void)code;
	if (client)
		rna_connection_rests(&listener->http->connections, &client->line,
				     rna_http_time(listener->http));
}

static void on_connection(void *userdata, struct MHD_Connection *connection, void **client,
			  enum MHD_ConnectionNotificationCode code)
{
	*client = code == MHD_CONNECTION_NOTIFY_STARTED ? client_new(userdata, connection)
							: client_free(*client);
}

/* In how many milliseconds MHD wants to run again; false: when something comes. */
static bool next_run(struct rna_http_listener *listener, MHD_UNSIGNED_LONG_LONG *ret)
{
	return MHD_get_timeout(listener->daemon, ret) == MHD_YES;
}

static int arm_timer(struct rna_http_listener *listener)
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
static void hear_answer(struct rna_http_listener *listener)
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
static void run(struct rna_http_listener *listener)
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

static bool give_to_libmicrohttpd(struct rna_http_listener *listener, int fd,
				  const struct sockaddr *address, socklen_t len)
{
	static const struct sockaddr local = {.sa_family = AF_UNIX};
	int plain;

	if (!listener->tls)
		return MHD_add_connection(listener->daemon, fd, address, len) == MHD_YES;
	plain = rna_tls_relay_add(listener->http->relay, fd, rna_http_web(listener->http),
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
	struct rna_http_listener *listener = userdata;
	struct rna_http *http = listener->http;
	struct rna_http_arrival arrival = {.fd = fd, .address = rna_address_of(address)};
	bool added;

	if (rna_connections_admit(&http->connections, fd, address, listener->is_private,
				  rna_http_time(http), &arrival.slot) < 0) {
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
	struct rna_http_client **at = &http->postponed;
	bool ret = false;

	while (*at) {
		struct rna_http_client *client = *at;

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
	struct rna_http_listener *listener = userdata;

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
		struct rna_http_client *client = who, **at = &http->waiting;

		while (*at != client)
			at = &(*at)->next;
		*at = client->next;
		client->login = login;
		MHD_resume_connection(client->connection);
	}
	run_resumed(http);
	return 0;
}

static void resume(struct rna_http_client **list)
{
	for (struct rna_http_client *client = *list; client; client = client->next)
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

static bool has_answer(struct rna_http_listener *listener)
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
static void ask_question(struct rna_http_listener *listener)
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

	for (struct rna_http_client *client = http->postponed; client; client = client->next) {
		ret = ret || client->waited;
		client->waited = true;
	}
	return ret;
}

bool rna_http_check(struct rna_http *http)
{
	bool ret = !http || !waits_for_long(http);

	for (size_t i = 0; http && i < http->listener_count; i++) {
		struct rna_http_listener *listener = &http->listeners[i];
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
	now = rna_http_time(http);
	rna_connections_new_view(&http->connections, now);
	for (const struct rna_connection *c = http->connections.first; c; c = c->next)
		if (rna_scraper_is_due(&c->scraper, now, AHEAD))
			rna_routes_prepare(http->routes, &c->scraper);
}

rna_usec rna_http_next_scrape(const struct rna_http *http, rna_usec earliest)
{
	rna_usec now = rna_clock_monotonic(), next = RNA_USEC_NEVER;

	for (const struct rna_connection *c = http ? http->connections.first : NULL; c;
	     c = c->next) {
		rna_usec own = rna_scraper_next(&c->scraper, earliest, now);

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
static struct MHD_Daemon *start_daemon(struct rna_http_listener *listener,
				       const struct rna_http_options *options)
{
	size_t memory = options->max_header_bytes + (size_t)REPLY_HEADER_ROOM;
	unsigned flags =
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | ONE_THREAD;

	return MHD_start_daemon(flags, 0, NULL, NULL, rna_http_answer, listener,
				MHD_OPTION_CONNECTION_LIMIT, options->max_connections + SPARE,
				MHD_OPTION_CONNECTION_TIMEOUT,
				rna_whole_seconds(options->idle_timeout),
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
				MHD_OPTION_NOTIFY_CONNECTION, on_connection, listener,
				MHD_OPTION_NOTIFY_COMPLETED, on_completed, listener,
				MHD_OPTION_URI_LOG_CALLBACK, rna_http_look_at_target, NULL,
				MHD_OPTION_END);
}

/* The caller's own sockets must outlive the listener, hence the duplicate. */
static int listener_open(struct rna_http_listener *listener, const struct rna_http_options *options,
			 size_t index, struct rna_error *error)
{
	int fd;

	if (options->socket_count == 0)
		return rna_listen(options->listen[index], &listener->file, error);
	fd = fcntl(options->sockets[index], F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? rna_error_set(error, -errno, "http: cannot use a passed socket") : fd;
}

/* index: of options->sockets, or of options->listen where there are none. */
static int listener_start(struct rna_http *http, struct rna_http_listener *listener,
			  sd_event *event, const struct rna_http_options *options, size_t index,
			  struct rna_error *error)
{
	const char *address = options->socket_count ? "a passed socket" : options->listen[index];
	const struct rna_accept_handlers handlers = {
		.connection = take_connection,
		.done = run_after,
		.batch = rna_connections_batch(&http->connections),
		.userdata = listener,
	};
	const struct rna_web *web = rna_http_web(http);
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

static void listener_stop(struct rna_http_listener *listener)
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
	if (!rna_http_web(http))
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
		struct rna_http_listener *listener = &http->listeners[http->listener_count];
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
