// SPDX-License-Identifier: Apache-2.0
/* agent/bandwidth: who gets through the TCP port. Connections are real, over loopback. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/base/clock.h"

#include "bandwidth/bandwidth_listener.h"

#define PATIENCE (10 * RNA_USEC_PER_SEC)

enum { TRIES = 50 };

static const uint8_t key[RNA_BANDWIDTH_KEY_SIZE] = {1, 2, 3};
static const uint8_t other_key[RNA_BANDWIDTH_KEY_SIZE] = {9};

struct scene {
	sd_event *event;
	struct rna_bandwidth_listener *door;
	unsigned port;
	bool keyless;
	unsigned calls;
	struct rna_bandwidth_call call;
};

static const uint8_t *find_key(void *userdata)
{
	const struct scene *scene = userdata;

	return scene->keyless ? NULL : key;
}

static void on_call(int fd, struct rna_bandwidth_session *session,
		    const struct rna_bandwidth_call *call, void *userdata)
{
	struct scene *scene = userdata;

	scene->calls++;
	scene->call = *call;
	rna_bandwidth_listener_refuse(fd, session, RNA_SKIP_BUSY, "a job runs");
}

/* On a port that no other process has. */
static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	const struct rna_bandwidth_listener_handlers handlers = {find_key, on_call, scene};
	struct rna_error error = {0};

	if (!scene)
		return -1;
	assert_true(sd_event_new(&scene->event) >= 0);
	scene->port = 20000 + (unsigned)getpid() % 10000;
	for (unsigned i = 0; i < TRIES && !scene->door; i++)
		(void)rna_bandwidth_listener_open(scene->event, ++scene->port, &handlers,
						  &scene->door, &error);
	assert_non_null(scene->door);
	*state = scene;
	return 0;
}

static int clean_up(void **state)
{
	struct scene *scene = *state;

	(void)rna_bandwidth_listener_close(scene->door);
	(void)sd_event_unref(scene->event);
	free(scene);
	return 0;
}

static int connect_to(const struct scene *scene)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)scene->port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const void *)&address, sizeof(address)), 0);
	return fd;
}

/* Turns the loop until the door has written to fd, or closed it. */
static void await_answer(struct scene *scene, int fd)
{
	rna_usec begin = rna_clock_monotonic();
	struct pollfd waiting = {.fd = fd, .events = POLLIN};

	while (poll(&waiting, 1, 0) == 0) {
		assert_true(rna_usec_since(begin, rna_clock_monotonic()) < PATIENCE);
		assert_true(sd_event_run(scene->event, 100 * RNA_USEC_PER_MSEC) >= 0);
	}
}

static bool hear(struct scene *scene, int fd, struct rna_bandwidth_session *session,
		 struct rna_bandwidth_message *ret)
{
	uint8_t data[RNA_BANDWIDTH_MESSAGE];

	await_answer(scene, fd);
	return recv(fd, data, sizeof(data), MSG_WAITALL) == sizeof(data) &&
	       rna_bandwidth_read(session, data, ret) == 0;
}

/* Asks as a peer with that key does. True: a message comes back behind the call, in *ret. */
static bool call(struct scene *scene, const uint8_t *with, struct rna_bandwidth_message *ret)
{
	struct rna_bandwidth_message message = {.kind = RNA_BANDWIDTH_KIND_CALL,
						.call = {.node = "n2", .device = "mlx5_0"}};
	RNA_CLOSE int fd = connect_to(scene);
	struct rna_bandwidth_session session;
	uint8_t data[RNA_BANDWIDTH_MESSAGE];

	message.call.port = message.call.own_port = 1;
	(void)snprintf(message.call.own_device, sizeof(message.call.own_device), "mlx5_1");
	assert_int_equal(rna_bandwidth_session_begin(&session, with, true), 0);
	if (!hear(scene, fd, &session, ret))
		return false;
	assert_int_equal(ret->kind, RNA_BANDWIDTH_KIND_CHALLENGE);
	assert_int_equal(rna_bandwidth_write(&session, &message, data), 0);
	assert_int_equal(send(fd, data, sizeof(data), MSG_NOSIGNAL), sizeof(data));
	return hear(scene, fd, &session, ret);
}

/* How the door closes a connection on which that is sent behind its challenge. */
static void assert_closed(struct scene *scene, int fd)
{
	char data[RNA_BANDWIDTH_MESSAGE];
	rna_usec begin = rna_clock_monotonic();
	ssize_t len = 1;

	while (len > 0 || (len < 0 && errno == EAGAIN)) {
		assert_true(rna_usec_since(begin, rna_clock_monotonic()) < PATIENCE);
		assert_true(sd_event_run(scene->event, 100 * RNA_USEC_PER_MSEC) >= 0);
		len = recv(fd, data, sizeof(data), MSG_DONTWAIT);
	}
}

static void test_an_authentic_call_is_handed_on(void **state)
{
	struct scene *scene = *state;
	struct rna_bandwidth_message message;

	assert_true(call(scene, key, &message));
	assert_int_equal(scene->calls, 1);
	assert_string_equal(scene->call.node, "n2");
	assert_string_equal(scene->call.own_device, "mlx5_1");
	assert_int_equal(message.kind, RNA_BANDWIDTH_KIND_OUTCOME);
	assert_int_equal(message.outcome.end, RNA_LOOPBACK_SKIPPED);
	assert_int_equal(message.outcome.skip, RNA_SKIP_BUSY);
	assert_string_equal(message.outcome.text, "a job runs");
	assert_int_equal(rna_bandwidth_listener_strangers(scene->door), 0);
}

static void test_another_secret_gets_no_further_than_the_challenge(void **state)
{
	struct scene *scene = *state;
	struct rna_bandwidth_message message;

	assert_false(call(scene, other_key, &message));
	assert_int_equal(scene->calls, 0);
}

static void test_garbage_is_counted_and_closed(void **state)
{
	static const uint8_t garbage[RNA_BANDWIDTH_MESSAGE] = "GET / HTTP/1.1\r\n";
	struct scene *scene = *state;
	struct rna_bandwidth_message message;
	RNA_CLOSE int fd = connect_to(scene);

	assert_int_equal(send(fd, garbage, sizeof(garbage), MSG_NOSIGNAL), sizeof(garbage));
	assert_closed(scene, fd);
	assert_int_equal(rna_bandwidth_listener_strangers(scene->door), 1);
	assert_int_equal(scene->calls, 0);
	assert_true(call(scene, key, &message));
}

static void test_silence_ends(void **state)
{
	struct scene *scene = *state;
	RNA_CLOSE int fd = connect_to(scene);
	rna_usec begin = rna_clock_monotonic();

	assert_closed(scene, fd);
	assert_true(rna_usec_since(begin, rna_clock_monotonic()) >= 2 * RNA_USEC_PER_SEC);
	assert_int_equal(rna_bandwidth_listener_strangers(scene->door), 1);
}

/* Those who only connect cannot keep a node out. */
static void test_the_oldest_makes_room(void **state)
{
	enum { SILENT = 12 };
	struct scene *scene = *state;
	struct rna_bandwidth_message message;
	int fds[SILENT];

	for (size_t i = 0; i < SILENT; i++) {
		fds[i] = connect_to(scene);
		await_answer(scene, fds[i]);
	}
	assert_true(call(scene, key, &message));
	assert_int_equal(scene->calls, 1);
	assert_true(rna_bandwidth_listener_strangers(scene->door) >= SILENT + 1 - 8);
	for (size_t i = 0; i < SILENT; i++)
		(void)close(fds[i]);
}

static void test_without_a_key_no_one_gets_in(void **state)
{
	struct scene *scene = *state;
	RNA_CLOSE int fd = connect_to(scene);

	scene->keyless = true;
	assert_closed(scene, fd);
	assert_int_equal(scene->calls, 0);
}

static void test_a_port_in_use(void **state)
{
	struct scene *scene = *state;
	const struct rna_bandwidth_listener_handlers handlers = {find_key, on_call, scene};
	struct rna_bandwidth_listener *second = NULL;
	struct rna_error error = {0};
	char text[80];

	assert_int_equal(rna_bandwidth_listener_open(scene->event, scene->port, &handlers, &second,
						     &error),
			 -EADDRINUSE);
	(void)snprintf(text, sizeof(text), "probe.bandwidth_port: cannot listen on port %u: %s",
		       scene->port, strerror(EADDRINUSE));
	assert_string_equal(error.text, text);
	assert_null(second);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, clean_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_an_authentic_call_is_handed_on),
		TEST(test_another_secret_gets_no_further_than_the_challenge),
		TEST(test_garbage_is_counted_and_closed),
		TEST(test_silence_ends),
		TEST(test_the_oldest_makes_room),
		TEST(test_without_a_key_no_one_gets_in),
		TEST(test_a_port_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
