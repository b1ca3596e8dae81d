// SPDX-License-Identifier: Apache-2.0
#include "tls_relay.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <linux/tcp.h>

#include "rna/base/thread.h"

#include "web_tls.h"

enum {
	STACK = 256 * 1024,
	TEXT_MAX = 4096, /* of what a client says, at a time */
	RECORD_MAX = 16384,
	PIPE_MAX = 32 * 1024, /* bytes of a reply between the server and us */
	TURNS = 16,           /* pieces of one connection before another has its turn */
	LEAVING_MAX = 64,     /* whose server has hung up; one more, and the oldest is cut */
};

/* A socket of a channel, as epoll knows it. */
struct end {
	struct rna_tls_channel *channel;
	int fd;
	uint32_t events; /* that are waited for */
};

struct rna_tls_channel {
	atomic_uint owners; /* the loop and the thread; who comes last frees it */
	struct rna_web *web;
	gnutls_session_t session; /* NULL: the client has said nothing yet */
	struct end client, server;
	bool greeted;  /* the handshake is over */
	bool sending;  /* GnuTLS has a record that the client has not taken as a whole */
	bool heard;    /* the client says nothing more */
	bool answered; /* the server says nothing more */
	bool parting;  /* GnuTLS has the close_notify, which the client has not taken */
	bool leaving;  /* the server has hung up */
	size_t passed, said;
	char text[TEXT_MAX]; /* of the client, for the server: from passed to said */
	/* of those that leave, in the order in which they began: */
	rna_usec since;
	struct rna_tls_channel *next;
};

struct rna_tls_relay {
	pthread_t thread;
	int epoll;
	int wake; /* eventfd: is asked for a sign of life, or to stop */
	rna_usec patience;
	atomic_bool stop;
	atomic_uint asked, lived;
	/* The thread's: */
	struct rna_tls_channel *leaving;
	unsigned leaving_count;
	char record[RECORD_MAX];
};

/* -- Channels ---------------------------------------------------------------------------------- */

struct rna_tls_channel *rna_tls_channel_unref(struct rna_tls_channel *channel)
{
	if (!channel || atomic_fetch_sub(&channel->owners, 1) > 1)
		return NULL;
	(void)close(channel->client.fd);
	(void)rna_web_unref(channel->web);
	free(channel);
	return NULL;
}

/* If the kernel has no memory for it, the channel stays as it is until a deadline cuts it. */
static void wait_for(const struct rna_tls_relay *relay, struct end *end, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = end};

	if (end->events == events)
		return;
	end->events = events;
	(void)epoll_ctl(relay->epoll, EPOLL_CTL_MOD, end->fd, &event);
}

static void forget_leaving(struct rna_tls_relay *relay, const struct rna_tls_channel *channel)
{
	struct rna_tls_channel **at = &relay->leaving;

	while (*at != channel)
		at = &(*at)->next;
	*at = channel->next;
	relay->leaving_count--;
}

static void end(struct rna_tls_relay *relay, struct rna_tls_channel *channel)
{
	(void)epoll_ctl(relay->epoll, EPOLL_CTL_DEL, channel->client.fd, NULL);
	if (channel->leaving)
		forget_leaving(relay, channel);
	(void)close(channel->server.fd); /* which epoll forgets by itself */
	if (channel->session)
		gnutls_deinit(channel->session);
	(void)shutdown(channel->client.fd, SHUT_WR);
	(void)rna_tls_channel_unref(channel);
}

/* -- One step of each kind --------------------------------------------------------------------- */

/* Each returns whether the channel goes on. */

static bool again(ssize_t code)
{
	return code == GNUTLS_E_AGAIN || code == GNUTLS_E_INTERRUPTED;
}

/* The client has a right to know. */
static bool fail(const struct rna_tls_channel *channel, ssize_t code)
{
	(void)gnutls_alert_send_appropriate(channel->session, (int)code);
	return false;
}

/*
 * Without the close_notify a client takes a reply of unknown length for one that was cut off.
 * False: GnuTLS has sent it, or never will.
 */
static bool say_bye(struct rna_tls_channel *channel)
{
	channel->parting = again(gnutls_bye(channel->session, GNUTLS_SHUT_WR));
	return channel->parting;
}

static bool begin(struct rna_tls_channel *channel)
{
	const unsigned flags = GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL;

	if (gnutls_init(&channel->session, flags) < 0)
		return false;
	gnutls_transport_set_int(channel->session, channel->client.fd);
	return rna_web_begin_tls(channel->web, channel->session) == 0;
}

static bool greet(struct rna_tls_channel *channel)
{
	int code;

	if (!channel->session && !begin(channel))
		return false;
	do
		code = gnutls_handshake(channel->session);
	while (code < 0 && !again(code) && !gnutls_error_is_fatal(code));
	channel->greeted = code == GNUTLS_E_SUCCESS;
	return channel->greeted || again(code) || fail(channel, code);
}

/* Another handshake is refused: no client needs one. *ret_more: there may be more to pass on. */
static bool hear(struct rna_tls_channel *channel, bool *ret_more)
{
	ssize_t len = gnutls_record_recv(channel->session, channel->text, sizeof(channel->text));

	*ret_more = !again(len);
	if (len > 0) {
		channel->passed = 0;
		channel->said = (size_t)len;
		return true;
	}
	if (len == 0 || len == GNUTLS_E_PREMATURE_TERMINATION) {
		channel->heard = true;
		(void)shutdown(channel->server.fd, SHUT_WR);
		return true;
	}
	if (len == GNUTLS_E_REHANDSHAKE) {
		(void)say_bye(channel);
		return false;
	}
	return !gnutls_error_is_fatal((int)len) || fail(channel, len);
}

/* If the server has hung up, it is noticed elsewhere. */
static void pass(struct rna_tls_channel *channel, bool *ret_more)
{
	ssize_t len = send(channel->server.fd, channel->text + channel->passed,
			   channel->said - channel->passed, MSG_DONTWAIT | MSG_NOSIGNAL);

	*ret_more = len > 0;
	if (len > 0)
		channel->passed += (size_t)len;
}

static bool listen_to_client(struct rna_tls_channel *channel)
{
	bool more = true, well = true;

	for (unsigned turn = 0; turn < TURNS && more && well; turn++)
		if (channel->passed < channel->said)
			pass(channel, &more);
		else if (channel->heard || channel->leaving)
			more = false;
		else
			well = hear(channel, &more);
	return well;
}

/* *ret_more: the client can take more. */
static bool send_record(struct rna_tls_channel *channel, const char *data, size_t len,
			bool *ret_more)
{
	ssize_t code = gnutls_record_send(channel->session, data, len);

	channel->sending = again(code);
	*ret_more = !channel->sending;
	return code >= 0 || channel->sending || !gnutls_error_is_fatal((int)code);
}

/*
 * A record has place for all that is taken from the server at once. A server that hangs up before
 * it has read all that the client said resets the socket, whose bytes arrive all the same.
 */
static bool take_from_server(struct rna_tls_relay *relay, struct rna_tls_channel *channel,
			     bool *ret_more)
{
	size_t most = gnutls_record_get_max_size(channel->session);
	ssize_t len =
		recv(channel->server.fd, relay->record,
		     most < sizeof(relay->record) ? most : sizeof(relay->record), MSG_DONTWAIT);

	*ret_more = false;
	if (len > 0)
		return send_record(channel, relay->record, (size_t)len, ret_more);
	if (len < 0 && errno != ECONNRESET)
		return errno == EAGAIN || errno == EINTR;
	channel->answered = true;
	return true;
}

static bool answer_client(struct rna_tls_relay *relay, struct rna_tls_channel *channel)
{
	bool more = true, well = true;

	/* nothing tells of what one that has hung up has left */
	for (unsigned turn = 0; (turn < TURNS || channel->leaving) && more && well; turn++)
		if (channel->sending)
			well = send_record(channel, NULL, 0, &more);
		else if (channel->answered)
			more = false;
		else
			well = take_from_server(relay, channel, &more);
	return well;
}

static void await(const struct rna_tls_relay *relay, struct rna_tls_channel *channel)
{
	bool full = channel->passed < channel->said;
	bool listens = !full && !channel->heard && !channel->leaving;
	bool sends = channel->sending || channel->parting;

	if (!channel->greeted) {
		sends = channel->session && gnutls_record_get_direction(channel->session);
		wait_for(relay, &channel->client, sends ? EPOLLOUT : EPOLLIN);
		return;
	}
	wait_for(relay, &channel->client, (listens ? EPOLLIN : 0) | (sends ? EPOLLOUT : 0));
	if (channel->leaving)
		return;
	/* what GnuTLS has decrypted already, no descriptor tells of: the server is free for it */
	full |= listens && gnutls_record_check_pending(channel->session) > 0;
	wait_for(relay, &channel->server,
		 (full ? EPOLLOUT : 0) | (sends || channel->answered ? 0 : EPOLLIN));
}

static bool step(struct rna_tls_relay *relay, struct rna_tls_channel *channel)
{
	if (!channel->greeted && !greet(channel))
		return false;
	if (channel->greeted && (!listen_to_client(channel) || !answer_client(relay, channel)))
		return false;
	if (channel->answered && !channel->sending && !say_bye(channel))
		return false;
	await(relay, channel);
	return true;
}

/* -- The thread -------------------------------------------------------------------------------- */

/* True: the channel goes on, to send what is left of a reply. */
static bool leave(struct rna_tls_relay *relay, struct rna_tls_channel *channel)
{
	struct rna_tls_channel **tail = &relay->leaving;

	if (!channel->greeted)
		return false;
	(void)epoll_ctl(relay->epoll, EPOLL_CTL_DEL, channel->server.fd, NULL);
	channel->leaving = true;
	channel->passed = channel->said; /* no process reads it */
	channel->since = rna_clock_monotonic();
	channel->next = NULL;
	while (*tail)
		tail = &(*tail)->next;
	*tail = channel;
	if (++relay->leaving_count > LEAVING_MAX)
		end(relay, relay->leaving);
	return true;
}

static void serve(struct rna_tls_relay *relay, struct end *at, uint32_t events)
{
	struct rna_tls_channel *channel = at->channel;
	bool hung_up = events & (EPOLLHUP | EPOLLERR);
	bool well = !hung_up;

	if (hung_up && at == &channel->server)
		well = leave(relay, channel);
	if (!well || !step(relay, channel))
		end(relay, channel);
}

static int milliseconds_to_wait(const struct rna_tls_relay *relay)
{
	rna_usec passed;

	if (atomic_load(&relay->stop))
		return 0;
	if (!relay->leaving)
		return -1;
	passed = rna_usec_since(relay->leaving->since, rna_clock_monotonic());
	return passed >= relay->patience
		       ? 0
		       : (int)((relay->patience - passed) / RNA_USEC_PER_MSEC) + 1;
}

static void cut_late(struct rna_tls_relay *relay)
{
	rna_usec now = rna_clock_monotonic();

	while (relay->leaving && rna_usec_since(relay->leaving->since, now) >= relay->patience)
		end(relay, relay->leaving);
}

static void show_life(struct rna_tls_relay *relay)
{
	eventfd_t count;

	(void)eventfd_read(relay->wake, &count);
	atomic_store(&relay->lived, atomic_load(&relay->asked));
}

/* One event at a time: the next one may be of a channel that this one ends. */
static void *run(void *userdata)
{
	struct rna_tls_relay *relay = userdata;
	struct epoll_event event;
	int count;

	do {
		count = epoll_wait(relay->epoll, &event, 1, milliseconds_to_wait(relay));
		if (count > 0 && event.data.ptr)
			serve(relay, event.data.ptr, event.events);
		else if (count > 0)
			show_life(relay);
		cut_late(relay);
	} while (count != 0 || !atomic_load(&relay->stop));
	while (relay->leaving)
		end(relay, relay->leaving);
	return NULL;
}

/* -- The loop's side --------------------------------------------------------------------------- */

static int watch(const struct rna_tls_relay *relay, struct end *end, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = end};

	end->events = events;
	return epoll_ctl(relay->epoll, EPOLL_CTL_ADD, end->fd, &event) < 0 ? -errno : 0;
}

/* Two sockets, of which the server's holds little of a reply; the other one of a request. */
static int make_pair(int ret[2])
{
	const int most = PIPE_MAX;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ret) < 0)
		return -errno;
	(void)setsockopt(ret[0], SOL_SOCKET, SO_SNDBUF, &most, sizeof(most));
	(void)setsockopt(ret[1], SOL_SOCKET, SO_SNDBUF, &most, sizeof(most));
	return 0;
}

/* The server is watched first: nothing is reported of it before the client says something. */
static int start_channel(struct rna_tls_relay *relay, struct rna_tls_channel *channel)
{
	int status = watch(relay, &channel->server, 0);

	if (status < 0)
		return status;
	atomic_init(&channel->owners, 2);
	return watch(relay, &channel->client, EPOLLIN);
}

int rna_tls_relay_add(struct rna_tls_relay *relay, int fd, struct rna_web *web,
		      struct rna_tls_channel **ret)
{
	RNA_FREE struct rna_tls_channel *channel = calloc(1, sizeof(*channel));
	const int on = 1;
	int pair[2], status;

	if (!web || !rna_web_options(web)->tls)
		return -ENOENT;
	if (!channel)
		return -ENOMEM;
	status = make_pair(pair);
	if (status < 0)
		return status;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* records are whole */
	channel->client = (struct end){.channel = channel, .fd = fd};
	channel->server = (struct end){.channel = channel, .fd = pair[0]};
	channel->web = rna_web_ref(web);
	status = start_channel(relay, channel);
	if (status < 0) {
		(void)close(pair[0]);
		(void)close(pair[1]);
		(void)rna_web_unref(web);
		return status;
	}
	*ret = RNA_TAKE(channel);
	return pair[1];
}

bool rna_tls_relay_check(struct rna_tls_relay *relay)
{
	bool lives = atomic_load(&relay->lived) == atomic_load(&relay->asked);

	atomic_fetch_add(&relay->asked, 1);
	(void)eventfd_write(relay->wake, 1); /* the counter is nowhere near its end */
	return lives;
}

static int start_relay(struct rna_tls_relay *relay)
{
	struct epoll_event event = {.events = EPOLLIN};

	relay->epoll = epoll_create1(EPOLL_CLOEXEC);
	relay->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (relay->epoll < 0 || relay->wake < 0 ||
	    epoll_ctl(relay->epoll, EPOLL_CTL_ADD, relay->wake, &event) < 0)
		return -errno;
	return rna_thread_start(&relay->thread, STACK, "rna-tls", run, relay);
}

static struct rna_tls_relay *free_relay(struct rna_tls_relay *relay)
{
	rna_close_p(&relay->epoll);
	rna_close_p(&relay->wake);
	free(relay);
	return NULL;
}

int rna_tls_relay_new(rna_usec patience, struct rna_tls_relay **ret)
{
	struct rna_tls_relay *relay = calloc(1, sizeof(*relay));
	int status;

	if (!relay)
		return -ENOMEM;
	*relay = (struct rna_tls_relay){.epoll = -1, .wake = -1, .patience = patience};
	status = start_relay(relay);
	if (status < 0)
		(void)free_relay(relay);
	else
		*ret = relay;
	return status;
}

struct rna_tls_relay *rna_tls_relay_free(struct rna_tls_relay *relay)
{
	if (!relay)
		return NULL;
	atomic_store(&relay->stop, true);
	(void)eventfd_write(relay->wake, 1);
	(void)pthread_join(relay->thread, NULL);
	return free_relay(relay);
}
