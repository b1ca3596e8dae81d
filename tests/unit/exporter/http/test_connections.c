// SPDX-License-Identifier: Apache-2.0
/* exporter/http/connections: which connection gives way where no slot is free. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include <linux/sockios.h>

#include "http/connections.h"
#include "metrics/body.h"

#include "emulated.h"

#define SECOND RNA_USEC_PER_SEC

enum {
	LIMIT = 64,
	SHARE = LIMIT / 4,
	SHARED = LIMIT - 3 * (LIMIT / 16),
	CLIENTS = 2 * LIMIT,
};

/* The clients of a test, in the order in which they came. */
static struct {
	struct rna_connections connections;
	struct rna_connection lines[CLIENTS];
	int ends[CLIENTS]; /* of the client */
	bool added[CLIENTS];
	unsigned count;
	rna_usec now;
	struct rna_body *body;
} test;

static int set_up(void **state)
{
	const struct rna_http_options options = {.max_connections = LIMIT};
	struct rna_strbuf text = RNA_STRBUF_INIT;

	(void)state;
	memset(&test, 0, sizeof(test));
	test.now = 1000 * SECOND;
	rna_strbuf_puts(&text, "text");
	return rna_connections_init(&test.connections, &options) < 0 ||
			       rna_body_take(&text, &test.body) < 0
		       ? -1
		       : 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (unsigned i = 0; i < test.count; i++) {
		(void)close(test.ends[i]);
		if (!test.added[i])
			continue;
		(void)close(test.lines[i].fd);
		rna_connections_remove(&test.connections, &test.lines[i]);
	}
	assert_null(test.connections.first);
	rna_connections_deinit(&test.connections);
	(void)rna_body_unref(test.body);
	return 0;
}

/* A client of an address, over a pair of sockets, a millisecond after the one before. */
static int come_by(int pair[2], unsigned host)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(0xc0000200 + host)};
	unsigned number = test.count++;
	struct rna_client_slot slot;
	int status;

	assert_true(number < CLIENTS);
	test.now += RNA_USEC_PER_MSEC;
	test.ends[number] = pair[0];
	status = rna_connections_admit(&test.connections, pair[1], (struct sockaddr *)&address,
				       false, test.now, &slot);
	test.added[number] = status == 0;
	if (status == 0)
		rna_connections_add(&test.connections, &test.lines[number], pair[1], &slot,
				    test.now);
	else
		(void)close(pair[1]);
	return status;
}

static int come(unsigned host)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	return come_by(pair, host);
}

static void come_all(unsigned host, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(come(host), 0);
}

static bool is_cut(unsigned number)
{
	return test.added[number] && test.lines[number].state == RNA_CONNECTION_CUT;
}

/* Which of them has been cut; there is one. */
static unsigned the_cut(void)
{
	unsigned ret = CLIENTS;

	for (unsigned i = 0; i < test.count; i++)
		if (is_cut(i)) {
			assert_int_equal(ret, CLIENTS);
			ret = i;
		}
	assert_int_not_equal(ret, CLIENTS);
	return ret;
}

static void reply(unsigned number)
{
	rna_connection_replies(&test.connections, &test.lines[number], test.body, test.now);
}

/* -- One address ------------------------------------------------------------------------------- */

static void test_a_request_has_the_time_of_a_share(void **state)
{
	(void)state;
	come_all(1, SHARE);
	for (unsigned i = 0; i < 2 * SHARE; i++) {
		assert_int_equal(come(1), 0);
		assert_true(is_cut(i));
		assert_false(is_cut(i + 1));
	}
	assert_int_equal(test.connections.drops[RNA_DROP_ADDRESS_LIMIT], 2 * SHARE);
}

/* Whatever they do, clients that go no further are displaced before one that has just come. */
static void test_every_state_gives_way(void **state)
{
	(void)state;
	come_all(1, SHARE);
	for (unsigned i = 0; i < SHARE; i += 4) {
		rna_connection_waits(&test.lines[i], test.now);
		reply(i + 1);
		reply(i + 2);
		rna_connection_rests(&test.connections, &test.lines[i + 2], test.now);
	}
	come_all(1, SHARE);
	for (unsigned i = 0; i < SHARE; i++)
		assert_true(is_cut(i));
	assert_int_equal(test.connections.bytes, 0);
}

static void test_progress_counts(void **state)
{
	(void)state;
	come_all(1, SHARE);
	for (unsigned i = 0; i < 3; i++) {
		test.now += RNA_USEC_PER_MSEC;
		reply(i);
	}
	rna_connection_rests(&test.connections, &test.lines[1], test.now);
	come_all(1, SHARE - 3);
	for (unsigned i = 0; i < SHARE; i++)
		assert_int_equal(is_cut(i), i >= 3);
	assert_int_equal(come(1), 0);
	assert_true(is_cut(0));
	assert_false(is_cut(1));
}

/* Over TCP, where the kernel tells what the client has taken. */
static void make_tcp_pair(int ret[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	ret[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(ret[0], (struct sockaddr *)&address, len), 0);
	ret[1] = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	assert_true(ret[1] >= 0);
	(void)close(fd);
}

/* A part of the reply, until the client has it. */
static void send_some(unsigned number)
{
	int fd = test.lines[number].fd, left = 1;

	assert_int_equal(send(fd, "x", 1, MSG_NOSIGNAL), 1);
	while (left > 0)
		assert_int_equal(ioctl(fd, SIOCOUTQ, &left), 0);
}

static void test_a_reply_that_is_read_stays(void **state)
{
	(void)state;
	need_kernel("passes no TCP_INFO");
	for (unsigned i = 0; i < SHARE; i++) {
		int pair[2];

		make_tcp_pair(pair);
		assert_int_equal(come_by(pair, 1), 0);
		reply(i);
	}
	send_some(0);
	assert_int_equal(come(1), 0);
	assert_int_equal(the_cut(), 1);
	test.now += SECOND;
	for (unsigned i = 2; i < SHARE; i++)
		send_some(i);
	assert_int_equal(come(1), 0);
	assert_true(is_cut(0));
	assert_int_equal(test.connections.drops[RNA_DROP_ADDRESS_LIMIT], 2);
}

static void test_a_client_that_has_gone_is_not_counted(void **state)
{
	(void)state;
	come_all(1, SHARE);
	assert_int_equal(shutdown(test.ends[0], SHUT_WR), 0);
	assert_int_equal(come(1), 0);
	assert_int_equal(the_cut(), 0);
	assert_int_equal(test.connections.drops[RNA_DROP_ADDRESS_LIMIT], 0);
}

/* -- Many addresses ---------------------------------------------------------------------------- */

static void test_the_address_with_most_gives(void **state)
{
	(void)state;
	come_all(1, 1);
	come_all(2, 2);
	come_all(3, SHARE - 1);
	come_all(4, SHARE);
	come_all(5, SHARE - 1);
	come_all(6, SHARED - test.count);
	for (unsigned i = 0; i < SHARED; i++)
		reply(i);
	assert_int_equal(come(7), 0);
	assert_int_equal(the_cut(), 1 + 2 + SHARE - 1); /* the first one of 4 */
	assert_int_equal(come(5), 0);
	assert_true(is_cut(1 + 2)); /* 4 and 5 have as many, but later ones */
	for (unsigned i = 0; i < SHARE / 2; i++)
		assert_int_equal(come(10 + i), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_false(is_cut(i));
	assert_int_equal(test.connections.drops[RNA_DROP_MADE_ROOM], 2 + SHARE / 2);
}

/* A crowd of one address is not in the way of another one, which is as slow as it is. */
static void test_a_crowd_displaces_only_itself(void **state)
{
	(void)state;
	come_all(1, 2);
	reply(1);
	for (unsigned host = 2; host < 6; host++)
		come_all(host, SHARE);
	come_all(2, SHARE);
	assert_false(is_cut(0));
	assert_false(is_cut(1));
}

static void test_an_only_connection_has_a_second(void **state)
{
	(void)state;
	for (unsigned host = 0; host < SHARED; host++)
		assert_int_equal(come(host), 0);
	for (unsigned i = 0; i < SHARED; i += 2)
		reply(i);
	assert_int_equal(come(100), -EBUSY);
	assert_int_equal(test.connections.drops[RNA_DROP_FULL], 1);
	test.now += SECOND;
	for (unsigned i = 1; i < SHARED; i += 2) {
		assert_int_equal(come(100 + i), 0);
		assert_true(is_cut(i));
	}
	assert_int_equal(come(100), -EBUSY); /* what is left are replies, and new ones */
	for (unsigned i = 0; i < SHARED; i += 2)
		assert_false(is_cut(i));
}

static void test_an_only_client_that_has_gone(void **state)
{
	(void)state;
	for (unsigned host = 0; host < SHARED; host++)
		assert_int_equal(come(host), 0);
	(void)shutdown(test.ends[5], SHUT_WR);
	assert_int_equal(come(100), 0);
	assert_int_equal(the_cut(), 5);
	assert_int_equal(test.connections.drops[RNA_DROP_MADE_ROOM], 0);
}

/* With this limit the share of an address is one. */
static void test_the_smallest_limit(void **state)
{
	(void)state;
	rna_connections_deinit(&test.connections);
	assert_int_equal(rna_connections_init(&test.connections,
					      &(const struct rna_http_options){.max_connections =
										       4}),
			 0);
	assert_int_equal(rna_connections_batch(&test.connections), 1);
	assert_int_equal(come(1), 0);
	assert_int_equal(come(1), -EUSERS);
	test.now += SECOND;
	assert_int_equal(come(1), 0);
	assert_int_equal(the_cut(), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_a_request_has_the_time_of_a_share),
		TEST(test_every_state_gives_way),
		TEST(test_progress_counts),
		TEST(test_a_reply_that_is_read_stays),
		TEST(test_a_client_that_has_gone_is_not_counted),
		TEST(test_the_address_with_most_gives),
		TEST(test_a_crowd_displaces_only_itself),
		TEST(test_an_only_connection_has_a_second),
		TEST(test_an_only_client_that_has_gone),
		TEST(test_the_smallest_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
