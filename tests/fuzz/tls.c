// SPDX-License-Identifier: Apache-2.0
/*
 * HTTP over TLS: the server itself, with GnuTLS in it, on a unix socket of the abstract namespace,
 * and up to four clients.
 *
 * A client is a real session of GnuTLS, because mutated bytes alone never get past the first
 * message of a handshake: each side has random numbers and keys of its own. So an input does not
 * have the bytes of a session but what is done to them, one step after the other: a handshake or a
 * part of one, a damaged, missing, doubled or divided record, bytes in place of a record, requests
 * through the session, another handshake, keys that change, a session that is resumed, alerts, a
 * configuration that changes meanwhile. Keys are new in each process, but the same input goes the
 * same way: a step depends on the number and length of records, not on their content, and the loop
 * runs until nothing is left to do. A handshake takes two milliseconds with an elliptic curve.
 *
 * Whatever the clients did, nothing but TLS comes back on a connection, nothing but HTTP through a
 * session, and the next client is answered.
 */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "certificate.h"
#include "fuzz.h"
#include "http_server.h"

enum {
	CLIENTS = 4,
	STEPS_MAX = 64,
	WEBS = 2,
	WOUND_BYTES = 4, /* of an input, for a struct wound */
	PATIENCE = 3,    /* turns of the loop in which nothing comes */
};

/* A byte of an input is one of these and the number of a client; do_step() has what follows. */
enum step {
	CONNECT,
	HANDSHAKE, /* until it is over, or the server is silent */
	BEGIN,     /* the first message of it, or the next */
	REQUEST,
	SEND, /* through the session */
	RAW,  /* in place of a record */
	DAMAGE,
	AGAIN, /* renegotiate (TLS 1.2), or new keys (TLS 1.3) */
	RESUME,
	READ,
	ALERT,
	LEAVE,
	OTHER,
	STEPS,
};

enum damage { NONE, CHANGED, CUT, MISSING, DOUBLED, DIVIDED, DAMAGES };

/* Of a record that is to be sent. */
struct wound {
	enum damage damage;
	unsigned skip; /* records that are sent as they are, before */
	uint8_t at;    /* from the start, or from the end */
	uint8_t value;
};

struct client {
	int fd; /* -1: none */
	gnutls_session_t session;
	gnutls_datum_t ticket; /* of an earlier session */
	struct wound wound;
	bool greeted;   /* its handshake is over */
	size_t got_raw; /* bytes of the connection */
	size_t got;     /* bytes of the session */
};

static struct {
	struct rna_web *webs[WEBS];
	unsigned web;
	struct certificate certificate;
	gnutls_certificate_credentials_t none, own; /* of clients */
	struct sockaddr_un address;
	socklen_t address_len;
} server;

static struct client clients[CLIENTS];

/* Some of them have nothing in common with the server. */
static const char *const priorities[] = {
	"NORMAL",
	"NORMAL:-VERS-ALL:+VERS-TLS1.3",
	"NORMAL:-VERS-ALL:+VERS-TLS1.2",
	"NORMAL:-VERS-ALL:+VERS-TLS1.1:+VERS-TLS1.0",
	"NORMAL:-VERS-ALL:+VERS-TLS1.2:%NO_EXTENSIONS",
	"NORMAL:-GROUP-ALL:+GROUP-SECP521R1:+GROUP-FFDHE2048",
	"NORMAL:-SIGN-ALL:+SIGN-RSA-SHA256",
	"NORMAL:-VERS-ALL:+VERS-TLS1.2:%UNSAFE_RENEGOTIATION:%DISABLE_SAFE_RENEGOTIATION",
};

/* -- The server -------------------------------------------------------------------------------- */

static struct rna_web *newest_web(void *userdata)
{
	(void)userdata;
	return server.webs[server.web];
}

static void make_credentials(void)
{
	const struct certificate *own = &server.certificate;
	const gnutls_datum_t certificate = {(unsigned char *)(uintptr_t)own->certificate,
					    (unsigned)strlen(own->certificate)};
	const gnutls_datum_t key = {(unsigned char *)(uintptr_t)own->key,
				    (unsigned)strlen(own->key)};

	FUZZ_WANT(gnutls_certificate_allocate_credentials(&server.none) == 0);
	FUZZ_WANT(gnutls_certificate_allocate_credentials(&server.own) == 0);
	FUZZ_WANT(gnutls_certificate_set_x509_key_mem(server.own, &certificate, &key,
						      GNUTLS_X509_FMT_PEM) == 0);
}

static void start(void)
{
	int fd = fuzz_server_listen(4 * CLIENTS, &server.address, &server.address_len);
	const struct rna_http_options options = {
		.sockets = &fd,
		.socket_count = 1,
		.max_connections = 4 * CLIENTS,
		.max_header_bytes = 1024,
	};

	FUZZ_WANT(make_certificate(&server.certificate));
	make_credentials();
	for (size_t i = 0; i < WEBS; i++) {
		server.webs[i] = make_web(&server.certificate, i > 0);
		FUZZ_WANT(server.webs[i]);
	}
	for (size_t i = 0; i < CLIENTS; i++)
		clients[i].fd = -1;
	fuzz_server_start(&options, newest_web);
}

/* -- Records ----------------------------------------------------------------------------------- */

static void send_raw(const struct client *client, const void *data, size_t size)
{
	if (client->fd >= 0 && size > 0)
		(void)send(client->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void send_divided(const struct client *client, const uint8_t *data, size_t size)
{
	enum { PIECES = 8 };

	for (size_t i = 0; i + 1 < PIECES && i < size; i++) {
		send_raw(client, data + i, 1);
		fuzz_server_run();
	}
	if (size >= PIECES)
		send_raw(client, data + PIECES - 1, size - (PIECES - 1));
}

/* The record, which is not ours, with one byte changed. */
static void send_changed(const struct client *client, const uint8_t *data, size_t size)
{
	RNA_FREE uint8_t *copy = malloc(size + 1);
	size_t at = client->wound.at < 0x80 ? client->wound.at : size - client->wound.at % 0x80;

	FUZZ_WANT(copy);
	memcpy(copy, data, size);
	copy[at < size ? at : 0] ^= client->wound.value;
	send_raw(client, copy, size);
}

static void send_damaged(const struct client *client, const uint8_t *data, size_t size)
{
	switch (client->wound.damage) {
	case CHANGED:
		send_changed(client, data, size);
		break;
	case CUT:
		send_raw(client, data, client->wound.at < size ? client->wound.at : size);
		break;
	case DOUBLED:
		send_raw(client, data, size);
		send_raw(client, data, size);
		break;
	case DIVIDED:
		send_divided(client, data, size);
		break;
	case MISSING:
		break;
	default:
		send_raw(client, data, size);
	}
}

/* Called by GnuTLS with a record. */
static ssize_t push(gnutls_transport_ptr_t userdata, const void *data, size_t size)
{
	struct client *client = userdata;

	if (client->wound.damage == NONE || client->wound.skip > 0) {
		if (client->wound.skip > 0)
			client->wound.skip--;
		send_raw(client, data, size);
	} else {
		send_damaged(client, data, size);
		client->wound.damage = NONE;
	}
	return (ssize_t)size;
}

/* Called by GnuTLS. What comes first is an alert or a message of a handshake (RFC 8446, 5.1). */
static ssize_t pull(gnutls_transport_ptr_t userdata, void *data, size_t size)
{
	enum { TLS_ALERT = 21, TLS_HANDSHAKE = 22 };
	struct client *client = userdata;
	const uint8_t *bytes = data;
	ssize_t got = client->fd < 0 ? 0 : recv(client->fd, data, size, MSG_DONTWAIT);

	if (got > 0 && client->got_raw == 0)
		FUZZ_WANT(bytes[0] == TLS_ALERT || bytes[0] == TLS_HANDSHAKE);
	if (got > 0)
		client->got_raw += (size_t)got;
	return got;
}

static int pull_timeout(gnutls_transport_ptr_t userdata, unsigned timeout)
{
	const struct client *client = userdata;
	struct pollfd poll_fd = {.fd = client->fd, .events = POLLIN};

	(void)timeout;
	return poll(&poll_fd, 1, 0);
}

/* -- Clients ----------------------------------------------------------------------------------- */

static void leave(struct client *client)
{
	if (client->session)
		gnutls_deinit(client->session);
	if (client->fd >= 0)
		(void)close(client->fd);
	gnutls_free(client->ticket.data);
	*client = (struct client){.fd = -1};
}

/* how: its priorities, and whether it has a certificate. */
static void connect_client(struct client *client, uint8_t how)
{
	const size_t count = RNA_ARRAY_SIZE(priorities);

	leave(client);
	client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FUZZ_WANT(client->fd >= 0);
	FUZZ_WANT(connect(client->fd, (struct sockaddr *)&server.address, server.address_len) == 0);
	FUZZ_WANT(gnutls_init(&client->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK) == 0);
	/* a policy of this machine may refuse old versions */
	if (gnutls_priority_set_direct(client->session, priorities[how % count], NULL) < 0)
		FUZZ_WANT(gnutls_set_default_priority(client->session) == 0);
	FUZZ_WANT(gnutls_credentials_set(client->session, GNUTLS_CRD_CERTIFICATE,
					 how / count % 2 ? server.own : server.none) == 0);
	gnutls_transport_set_ptr(client->session, client);
	gnutls_transport_set_push_function(client->session, push);
	gnutls_transport_set_pull_function(client->session, pull);
	gnutls_transport_set_pull_timeout_function(client->session, pull_timeout);
	fuzz_server_run();
}

static void continue_handshake(struct client *client, bool to_the_end)
{
	size_t before = client->got_raw;
	int status, idle = 0;

	if (!client->session)
		return;
	do {
		status = gnutls_handshake(client->session);
		fuzz_server_run();
		idle = client->got_raw == before ? idle + 1 : 0;
		before = client->got_raw;
	} while (to_the_end && status < 0 && !gnutls_error_is_fatal(status) && idle < PATIENCE);
	client->greeted |= status == 0;
}

static void send_text(struct client *client, const void *data, size_t size)
{
	if (client->greeted && size > 0)
		(void)gnutls_record_send(client->session, data, size);
	fuzz_server_run();
}

/* The first bytes of what comes through the session. */
static void read_session(struct client *client, char *ret, size_t size)
{
	char text[16 * 1024] = "";
	size_t before = client->got_raw;
	ssize_t got;

	for (int idle = 0; client->greeted && idle < PATIENCE;) {
		got = gnutls_record_recv(client->session, text, sizeof(text) - 1);
		if (got > 0 && client->got == 0) {
			text[got] = '\0';
			FUZZ_WANT(strncmp(text, "HTTP/1.", got < 7 ? (size_t)got : 7) == 0);
			(void)snprintf(ret, size, "%.*s", (int)size - 1, text);
		}
		if (got > 0)
			client->got += (size_t)got;
		else if (got == 0 || gnutls_error_is_fatal((int)got))
			break;
		fuzz_server_run();
		idle = client->got_raw == before ? idle + 1 : 0;
		before = client->got_raw;
	}
}

static void greet_again(struct client *client)
{
	if (!client->greeted)
		return;
	if (gnutls_protocol_get_version(client->session) == GNUTLS_TLS1_3)
		(void)gnutls_session_key_update(client->session, GNUTLS_KU_PEER);
	else
		continue_handshake(client, true);
	fuzz_server_run();
}

/* A new connection with what the last one has learned. */
static void resume(struct client *client, uint8_t how)
{
	gnutls_datum_t ticket = {0};

	if (client->greeted)
		(void)gnutls_session_get_data2(client->session, &ticket);
	connect_client(client, how);
	client->ticket = ticket;
	if (ticket.data)
		(void)gnutls_session_set_data(client->session, ticket.data, ticket.size);
}

/* -- Steps ------------------------------------------------------------------------------------- */

static void send_alert(const struct client *client, uint8_t what)
{
	if (!client->session)
		return;
	if (what % 4 == 0)
		(void)gnutls_bye(client->session, GNUTLS_SHUT_WR);
	else
		(void)gnutls_alert_send(client->session,
					what % 2 ? GNUTLS_AL_FATAL : GNUTLS_AL_WARNING, what / 4);
	fuzz_server_run();
}

static void do_other(const struct client *client, uint8_t what)
{
	switch (what % 4) {
	case 0:
		if (client->fd >= 0)
			(void)shutdown(client->fd, SHUT_WR);
		break;
	case 1: /* for connections that come from now on */
		server.web = !server.web;
		break;
	case 2:
		rna_http_forget_view(fuzz_server.http);
		rna_http_new_view(fuzz_server.http);
		break;
	default:
		(void)rna_http_check(fuzz_server.http);
	}
	fuzz_server_run();
}

/* The bytes that follow a step with their length in front; how many were used. */
static size_t do_send(struct client *client, bool raw, const uint8_t *rest, size_t size)
{
	size_t len = size > 0 ? rest[0] : 0;

	if (size == 0)
		return 0;
	if (len > size - 1)
		len = size - 1;
	if (raw)
		send_raw(client, rest + 1, len);
	else
		send_text(client, rest + 1, len);
	fuzz_server_run();
	return 1 + len;
}

static void set_wound(struct client *client, const uint8_t *rest, size_t size)
{
	if (size < WOUND_BYTES)
		return;
	client->wound = (struct wound){.damage = rest[0] % DAMAGES,
				       .skip = rest[1] % 8,
				       .at = rest[2],
				       .value = rest[3]};
}

static void do_simple(struct client *client, enum step step)
{
	char reply[16];

	switch (step) {
	case HANDSHAKE:
	case BEGIN:
		continue_handshake(client, step == HANDSHAKE);
		break;
	case AGAIN:
		greet_again(client);
		break;
	case READ:
		read_session(client, reply, sizeof(reply));
		break;
	default:
		leave(client);
		fuzz_server_run();
	}
}

/* With rest, of which there are size bytes, if the step needs any; how many were used. */
static size_t do_step(struct client *client, enum step step, const uint8_t *rest, size_t size)
{
	uint8_t first = size > 0 ? rest[0] : 0;
	const char *request = fuzz_requests[first % FUZZ_REQUESTS];

	switch (step) {
	case CONNECT:
		connect_client(client, first);
		return 1;
	case RESUME:
		resume(client, first);
		return 1;
	case REQUEST:
		send_text(client, request, strlen(request));
		return 1;
	case SEND:
	case RAW:
		return do_send(client, step == RAW, rest, size);
	case DAMAGE:
		set_wound(client, rest, size);
		return WOUND_BYTES;
	case ALERT:
		send_alert(client, first);
		return 1;
	case OTHER:
		do_other(client, first);
		return 1;
	default:
		do_simple(client, step);
		return 0;
	}
}

/* A client that does what it should. */
static void want_answer(void)
{
	struct client *client = &clients[0];
	char reply[16] = "";

	connect_client(client, 0);
	continue_handshake(client, true);
	FUZZ_WANT(client->greeted);
	send_text(client, fuzz_requests[FUZZ_PROBE], strlen(fuzz_requests[FUZZ_PROBE]));
	read_session(client, reply, sizeof(reply));
	FUZZ_WANT(strncmp(reply, "HTTP/1.1 200", 12) == 0);
	leave(client);
	fuzz_server_run();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!fuzz_server.http)
		start();
	server.web = 0;
	for (unsigned steps = 0; size > 0 && steps < STEPS_MAX; steps++) {
		struct client *client = &clients[data[0] / STEPS % CLIENTS];
		size_t used = 1 + do_step(client, data[0] % STEPS, data + 1, size - 1);

		used = used < size ? used : size;
		data += used;
		size -= used;
	}
	for (size_t i = 0; i < CLIENTS; i++)
		leave(&clients[i]);
	fuzz_server_run();
	want_answer();
	fuzz_server_run(); /* does not return before the server answers its own questions */
	return 0;
}
