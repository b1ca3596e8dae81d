// SPDX-License-Identifier: Apache-2.0
/*
 * exporter/http/tls_relay.c: with real sessions of GnuTLS. The client's connection is a TCP
 * connection of the loopback interface; the server is the test itself.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"

#include "http/connections.h"
#include "http/tls_relay.h"

#include "certificate.h"

enum {
	PATIENCE_MSEC = 10000, /* of the test */
	LONG = 1000 * 1000,    /* bytes: much more than all buffers on the way */
};

static struct certificate certificate;
static gnutls_certificate_credentials_t nothing;

/* One connection. */
struct line {
	struct rna_tls_relay *relay;
	struct rna_web *web;
	struct rna_tls_channel *channel;
	int client;   /* the client's end of the TCP connection */
	int accepted; /* the other end */
	int server;   /* where the client speaks in plain text */
	gnutls_session_t session;
};

/* What the kernel holds for a client that does not read is little. */
static void connect_tcp(int *ret_client, int *ret_accepted)
{
	const int little = 4096;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(address);
	RNA_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof(little));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*ret_client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)setsockopt(*ret_client, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
	assert_int_equal(connect(*ret_client, (struct sockaddr *)&address, len), 0);
	*ret_accepted = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	assert_true(*ret_accepted >= 0);
}

static struct line open_line(rna_usec patience)
{
	struct line line = {.web = make_web(&certificate, false)};

	assert_non_null(line.web);
	assert_int_equal(rna_tls_relay_new(patience, &line.relay), 0);
	connect_tcp(&line.client, &line.accepted);
	line.server = rna_tls_relay_add(line.relay, line.accepted, line.web, &line.channel);
	assert_true(line.server >= 0);
	assert_int_equal(gnutls_init(&line.session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL), 0);
	assert_int_equal(gnutls_set_default_priority(line.session), 0);
	assert_int_equal(gnutls_credentials_set(line.session, GNUTLS_CRD_CERTIFICATE, nothing), 0);
	gnutls_transport_set_int(line.session, line.client);
	return line;
}

static void hang_up(struct line *line)
{
	assert_int_equal(close(line->server), 0);
	line->server = -1;
}

static void close_line(struct line *line)
{
	gnutls_deinit(line->session);
	if (line->client >= 0)
		(void)close(line->client);
	if (line->server >= 0)
		(void)close(line->server);
	line->channel = rna_tls_channel_unref(line->channel);
	line->relay = rna_tls_relay_free(line->relay);
	line->web = rna_web_unref(line->web);
}

static void greet(struct line *line)
{
	int code;

	do
		code = gnutls_handshake(line->session);
	while (code < 0 && !gnutls_error_is_fatal(code));
	assert_int_equal(code, 0);
}

static void say(struct line *line, const char *text)
{
	assert_int_equal(gnutls_record_send(line->session, text, strlen(text)),
			 (ssize_t)strlen(text));
}

static bool is_readable(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	return poll(&poll_fd, 1, PATIENCE_MSEC) == 1;
}

/* The server hears that. */
static void want_heard(const struct line *line, const char *text)
{
	char heard[256] = "";

	for (size_t len = 0; len < strlen(text);) {
		ssize_t got;

		assert_true(is_readable(line->server));
		got = recv(line->server, heard + len, sizeof(heard) - 1 - len, MSG_DONTWAIT);
		assert_true(got > 0);
		len += (size_t)got;
	}
	assert_string_equal(heard, text);
}

/* The server hears nothing more. */
static void want_end(const struct line *line)
{
	char heard;

	assert_true(is_readable(line->server));
	assert_true(recv(line->server, &heard, 1, MSG_DONTWAIT) <= 0);
}

/* How many bytes the client gets until the end, all of them byte. *ret_code: of the end. */
static size_t drink(struct line *line, char byte, ssize_t *ret_code)
{
	char text[4096];
	size_t sum = 0;
	ssize_t got;

	while ((got = gnutls_record_recv(line->session, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < got; i++)
			assert_int_equal(text[i], byte);
		sum += (size_t)got;
	}
	*ret_code = got;
	return sum;
}

/* What a server has sent when the relay takes no more for now; then it hangs up. */
static size_t fill(struct line *line, char byte)
{
	char text[4096];
	size_t sum = 0;
	ssize_t len;
	struct pollfd poll_fd = {.fd = line->server, .events = POLLOUT};

	memset(text, byte, sizeof(text));
	while (poll(&poll_fd, 1, 200) == 1 &&
	       (len = send(line->server, text, sizeof(text), MSG_DONTWAIT | MSG_NOSIGNAL)) > 0)
		sum += (size_t)len;
	return sum;
}

/* -- Tests ------------------------------------------------------------------------------------- */

static void test_question_and_answer(void **state)
{
	struct line line = open_line(RNA_USEC_PER_SEC);
	char heard[16] = "";

	(void)state;
	greet(&line);
	for (unsigned i = 0; i < 3; i++) {
		say(&line, "GET / HTTP/1.1\r\n");
		say(&line, "Host: x\r\n\r\n");
		want_heard(&line, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
		assert_int_equal(send(line.server, "200 OK", 6, 0), 6);
		assert_int_equal(gnutls_record_recv(line.session, heard, sizeof(heard)), 6);
		assert_string_equal(heard, "200 OK");
	}
	assert_int_equal(gnutls_bye(line.session, GNUTLS_SHUT_WR), 0);
	want_end(&line);
	assert_int_equal(send(line.server, "rest", 4, 0), 4); /* it is still there to listen */
	assert_int_equal(gnutls_record_recv(line.session, heard, sizeof(heard)), 4);
	close_line(&line);
}

struct speech {
	struct line *line;
	size_t sent;
};

static void *speak(void *userdata)
{
	struct speech *speech = userdata;
	char text[5000];

	memset(text, 'q', sizeof(text));
	while (speech->sent < LONG) {
		ssize_t len = gnutls_record_send(speech->line->session, text, sizeof(text));

		if (len <= 0)
			break;
		speech->sent += (size_t)len;
	}
	return NULL;
}

/* A server that reads slowly slows the client down, and gets everything. */
static void test_much_is_said(void **state)
{
	struct line line = open_line(RNA_USEC_PER_SEC);
	struct speech speech = {.line = &line};
	size_t heard = 0;
	pthread_t thread;
	char text[3000];

	(void)state;
	greet(&line);
	assert_int_equal(pthread_create(&thread, NULL, speak, &speech), 0);
	(void)usleep(50 * 1000);
	while (heard < LONG) {
		ssize_t got = recv(line.server, text, sizeof(text), 0);

		if (got < 0) {
			assert_int_equal(errno, EAGAIN);
			assert_true(is_readable(line.server));
			continue;
		}
		assert_true(got > 0);
		heard += (size_t)got;
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(heard, speech.sent);
	close_line(&line);
}

/* The server sends all that is taken, hangs up, and a client that reads later gets all of it. */
static void want_rest_of_a_reply(struct line *line)
{
	size_t sent = fill(line, 'r');
	ssize_t code;

	assert_true(sent > 0);
	hang_up(line);
	line->channel = rna_tls_channel_unref(line->channel);
	assert_int_equal(drink(line, 'r', &code), sent);
	assert_int_equal(code, 0); /* and a proper end */
	close_line(line);
}

static void test_rest_of_a_reply(void **state)
{
	struct line line = open_line(PATIENCE_MSEC * RNA_USEC_PER_MSEC);

	(void)state;
	greet(&line);
	want_rest_of_a_reply(&line);
}

/* To a client that said more than the server heard: then the kernel says ECONNRESET at the end. */
static void test_rest_of_a_reply_to_a_talker(void **state)
{
	struct line line = open_line(PATIENCE_MSEC * RNA_USEC_PER_MSEC);

	(void)state;
	greet(&line);
	say(&line, "GET / HTTP/1.1\r\n");
	assert_true(is_readable(line.server));
	want_rest_of_a_reply(&line);
}

/* The patience with one that does not read comes to an end. */
static void test_rest_without_a_reader(void **state)
{
	struct line line = open_line(100 * RNA_USEC_PER_MSEC);
	size_t sent;
	ssize_t code;

	(void)state;
	greet(&line);
	sent = fill(&line, 'r');
	hang_up(&line);
	line.channel = rna_tls_channel_unref(line.channel);
	(void)usleep(500 * 1000);
	assert_true(drink(&line, 'r', &code) < sent);
	assert_true(code < 0);
	close_line(&line);
}

static void test_client_leaves(void **state)
{
	struct line line = open_line(RNA_USEC_PER_SEC);

	(void)state;
	greet(&line);
	say(&line, "GET");
	want_heard(&line, "GET");
	(void)close(line.client);
	line.client = -1;
	want_end(&line);
	close_line(&line);
}

/* As connections.h cuts one: also one whose server does not listen. */
static void test_cut(void **state)
{
	struct line line = open_line(RNA_USEC_PER_SEC);

	(void)state;
	greet(&line);
	rna_connection_cut(line.accepted);
	want_end(&line);
	close_line(&line);
}

static void test_garbage(void **state)
{
	struct line line = open_line(RNA_USEC_PER_SEC);
	static const char plain[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
	char answer[256];
	ssize_t len;

	(void)state;
	assert_int_equal(send(line.client, plain, strlen(plain), MSG_NOSIGNAL), strlen(plain));
	want_end(&line);
	len = recv(line.client, answer, sizeof(answer), 0);
	assert_true(len <= 0 || answer[0] == 21); /* an alert: RFC 8446, section 5.1 */
	close_line(&line);
}

/* A server that hangs up in the handshake has a client that notices. */
static void test_server_hangs_up_early(void **state)
{
	struct line line = open_line(RNA_USEC_PER_SEC);
	char answer;

	(void)state;
	hang_up(&line);
	line.channel = rna_tls_channel_unref(line.channel);
	assert_true(is_readable(line.client));
	assert_true(recv(line.client, &answer, 1, 0) <= 0);
	close_line(&line);
}

/* Handshakes that stop are no work, and hold up no other. */
static void test_silent_clients(void **state)
{
	enum { SILENT = 50 };
	struct line line = open_line(RNA_USEC_PER_SEC);
	struct rna_tls_channel *channels[SILENT];
	int clients[SILENT], accepted[SILENT], servers[SILENT];

	(void)state;
	for (size_t i = 0; i < SILENT; i++) {
		connect_tcp(&clients[i], &accepted[i]);
		servers[i] = rna_tls_relay_add(line.relay, accepted[i], line.web, &channels[i]);
		assert_true(servers[i] >= 0);
		if (i % 2)
			assert_int_equal(send(clients[i], "\x16\x03\x01", 3, 0), 3);
	}
	greet(&line);
	say(&line, "GET");
	want_heard(&line, "GET");
	for (size_t i = 0; i < SILENT; i++) {
		(void)close(servers[i]);
		(void)close(clients[i]);
		(void)rna_tls_channel_unref(channels[i]);
	}
	close_line(&line);
}

static void test_without_tls(void **state)
{
	struct line line = open_line(RNA_USEC_PER_SEC);
	struct rna_tls_channel *channel = NULL;

	(void)state;
	assert_int_equal(rna_tls_relay_add(line.relay, line.client, NULL, &channel), -ENOENT);
	assert_null(channel);
	close_line(&line);
}

static void test_signs_of_life(void **state)
{
	struct rna_tls_relay *relay = NULL;
	unsigned signs = 0;

	(void)state;
	assert_int_equal(rna_tls_relay_new(RNA_USEC_PER_SEC, &relay), 0);
	assert_true(rna_tls_relay_check(relay));
	for (unsigned msec = 0; msec < PATIENCE_MSEC && signs < 3; msec++) {
		(void)usleep(1000);
		signs += rna_tls_relay_check(relay);
	}
	assert_int_equal(signs, 3);
	relay = rna_tls_relay_free(relay);
	assert_null(rna_tls_relay_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_question_and_answer),
		cmocka_unit_test(test_much_is_said),
		cmocka_unit_test(test_rest_of_a_reply),
		cmocka_unit_test(test_rest_of_a_reply_to_a_talker),
		cmocka_unit_test(test_rest_without_a_reader),
		cmocka_unit_test(test_client_leaves),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_server_hangs_up_early),
		cmocka_unit_test(test_silent_clients),
		cmocka_unit_test(test_without_tls),
		cmocka_unit_test(test_signs_of_life),
	};

	if (!make_certificate(&certificate) ||
	    gnutls_certificate_allocate_credentials(&nothing) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
