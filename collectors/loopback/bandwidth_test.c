// SPDX-License-Identifier: Apache-2.0
/*
 * One side of a bandwidth test: the dialogue with the other node, and the writes. While the other
 * node writes, this process sleeps; the HCA does the work. Every wait has an end.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rna/bandwidth.h"
#include "rna/base/cleanup.h"

#include "loopback_memory.h"
#include "writing.h"

/* For the other side: */
#define CONNECT_PATIENCE (3 * RNA_USEC_PER_SEC) /* of each address */
#define ANSWER_PATIENCE  (10 * RNA_USEC_PER_SEC)
#define OPEN_PATIENCE    (20 * RNA_USEC_PER_SEC) /* its gate waits, its device opens */
#define WRITE_PATIENCE   (RNA_WRITING_PATIENCE + 5 * RNA_USEC_PER_SEC)

enum { PKEY_PARTITION = 0x7fff, BITS_24 = 0xffffff };

struct test {
	const struct rna_bandwidth_order *order;
	struct rna_bandwidth_result *result;
	struct rna_bandwidth_session session;
	int fd;
	const char *peer;                    /* name of the other node */
	bool told;                           /* the other side has said why it ends */
	struct rna_loopback_request request; /* fitted to the other end */
	struct rna_loopback_result own;      /* of our writes, or why there are none */
	struct rna_loopback_gate gate;
	struct rna_loopback_memory memory;
	struct rna_loopback_verbs *verbs;
	uint32_t psn;
	struct rna_queue_pairs_end peer_end;
	struct rna_bandwidth_outcome peer_outcome;
	struct rna_loopback_traffic received; /* while the other node wrote */
};

/* The object at the start of each text. */
#define PORT(test) (test)->order->request.device, (test)->order->request.port

static void test_free(struct test *test)
{
	test->verbs = rna_loopback_verbs_close(test->verbs);
	rna_loopback_memory_free(&test->memory);
	if (!test->session.asks)
		return; /* the caller's */
	rna_close_p(&test->fd);
	test->fd = -1;
}

/* -- Talking ----------------------------------------------------------------------------------- */

/* The other node, or what is between, is the reason. Says so only once. */
static bool fail_talk(struct test *test, const char *why)
{
	return rna_loopback_skip(&test->own, RNA_SKIP_NO_RESOURCES, "%.128s: %s", test->peer, why);
}

static bool send_all(int fd, const uint8_t *data, size_t len)
{
	while (len > 0) {
		ssize_t sent = send(fd, data, len, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		data += sent;
		len -= (size_t)sent;
	}
	return true;
}

static bool say(struct test *test, const struct rna_bandwidth_message *message)
{
	uint8_t data[RNA_BANDWIDTH_MESSAGE];

	if (rna_bandwidth_write(&test->session, message, data) < 0)
		return fail_talk(test, "not enough memory for a message");
	if (!send_all(test->fd, data, sizeof(data)))
		return fail_talk(test, "it closed the connection");
	return true;
}

/* Waits until there is something to read. 1; 0: it is too late; negative errno. */
static int await_input(int fd, rna_usec end)
{
	struct pollfd waiting = {.fd = fd, .events = POLLIN};
	rna_usec now = rna_clock_monotonic();

	if (now >= end)
		return 0;
	return poll(&waiting, 1, (int)((end - now) / RNA_USEC_PER_MSEC) + 1) < 0 ? -errno : 1;
}

static bool receive_all(struct test *test, rna_usec patience, uint8_t data[RNA_BANDWIDTH_MESSAGE])
{
	rna_usec end = rna_clock_monotonic() + patience;
	size_t got = 0;

	while (got < RNA_BANDWIDTH_MESSAGE) {
		int ready = await_input(test->fd, end);
		ssize_t len;

		if (ready == 0)
			return fail_talk(test, "it does not answer any more");
		len = recv(test->fd, data + got, RNA_BANDWIDTH_MESSAGE - got, MSG_DONTWAIT);
		if (len < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (len <= 0)
			return fail_talk(test, "it closed the connection");
		got += (size_t)len;
	}
	return true;
}

/* An outcome that is not done ends the dialogue. */
static bool take_refusal(struct test *test, const struct rna_bandwidth_outcome *outcome)
{
	test->told = true;
	test->own.end = outcome->end;
	test->own.skip = outcome->skip;
	(void)snprintf(test->result->text, sizeof(test->result->text), "%s: %s", test->peer,
		       outcome->text);
	return false;
}

static bool hear(struct test *test, enum rna_bandwidth_kind kind, rna_usec patience,
		 struct rna_bandwidth_message *ret)
{
	uint8_t data[RNA_BANDWIDTH_MESSAGE];
	int status;

	if (!receive_all(test, patience, data))
		return false;
	status = rna_bandwidth_read(&test->session, data, ret);
	if (status < 0)
		return fail_talk(test, rna_bandwidth_mistake(status));
	if (ret->kind == RNA_BANDWIDTH_KIND_OUTCOME && ret->outcome.end != RNA_LOOPBACK_DONE)
		return take_refusal(test, &ret->outcome);
	if (ret->kind != kind)
		return fail_talk(test, "it sends another message than the one expected");
	return true;
}

static bool say_outcome(struct test *test, enum rna_loopback_end end)
{
	struct rna_bandwidth_message message = {
		.kind = RNA_BANDWIDTH_KIND_OUTCOME,
		.outcome = {.end = end,
			    .skip = test->own.skip,
			    .bandwidth = test->own.bandwidth,
			    .bytes = test->own.bytes},
	};

	memcpy(message.outcome.text, test->own.text, sizeof(message.outcome.text));
	return say(test, &message);
}

/* -- Connecting -------------------------------------------------------------------------------- */

static int connect_to(const struct addrinfo *address)
{
	RNA_CLOSE int fd =
		socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd waiting = {.fd = fd, .events = POLLOUT};
	socklen_t size = sizeof(int);
	int error = 0, ret;

	if (fd < 0)
		return -errno;
	if (connect(fd, address->ai_addr, address->ai_addrlen) < 0 && errno != EINPROGRESS)
		return -errno;
	if (poll(&waiting, 1, (int)(CONNECT_PATIENCE / RNA_USEC_PER_MSEC)) <= 0)
		return -ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error != 0)
		return error != 0 ? -error : -errno;
	ret = fd;
	fd = -1;
	return ret;
}

static bool fail_connect(struct test *test, const char *why)
{
	return rna_loopback_skip(&test->own, RNA_SKIP_NO_RESOURCES,
				 "%.64s: cannot connect to port %u of %.64s: %s; a firewall or a "
				 "NetworkPolicy has to let TCP pass",
				 test->peer, test->order->tcp_port, test->order->host, why);
}

static bool connect_host(struct test *test)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *list = NULL;
	char service[16];
	int status;

	(void)snprintf(service, sizeof(service), "%u", test->order->tcp_port);
	status = getaddrinfo(test->order->host, service, &hints, &list);
	if (status != 0)
		return fail_connect(test, gai_strerror(status));
	for (const struct addrinfo *address = list; address; address = address->ai_next) {
		test->fd = connect_to(address);
		if (test->fd >= 0)
			break;
	}
	freeaddrinfo(list);
	return test->fd >= 0 ? true : fail_connect(test, strerror(-test->fd));
}

/* Both sides block in send() only as long as the parent lets them; messages fit a socket buffer. */
static bool set_options(struct test *test)
{
	static const int on = 1;

	(void)setsockopt(test->fd, IPPROTO_TCP, TCP_NODELAY, &on,
			 sizeof(on)); /* faster, that is all */
	return true;
}

static bool open_dialogue(struct test *test)
{
	struct rna_bandwidth_message message;

	if (!test->session.asks) {
		message = (struct rna_bandwidth_message){.kind = RNA_BANDWIDTH_KIND_ANSWER,
							 .expected = test->order->expected};
		test->result->expected = test->order->call.expected;
		return set_options(test) && say(test, &message);
	}
	if (!connect_host(test) || !set_options(test) ||
	    !hear(test, RNA_BANDWIDTH_KIND_CHALLENGE, ANSWER_PATIENCE, &message))
		return false;
	message = (struct rna_bandwidth_message){.kind = RNA_BANDWIDTH_KIND_CALL,
						 .call = test->order->call};
	if (!say(test, &message) ||
	    !hear(test, RNA_BANDWIDTH_KIND_ANSWER, ANSWER_PATIENCE, &message))
		return false;
	test->result->expected = message.expected;
	return true;
}

/* -- Queue pairs ------------------------------------------------------------------------------- */

static bool open_port(struct test *test)
{
	const struct rna_loopback_request *request = &test->order->request;
	int status;

	if (!rna_loopback_gate_open(request, &test->gate, &test->own))
		return false;
	test->verbs = rna_loopback_verbs_make(request, &test->memory, &test->own);
	if (!test->verbs)
		return false;
	status = rna_loopback_memory_fill(&test->memory);
	if (status < 0)
		return rna_loopback_fail(&test->own, "%s/%u: cannot fill the buffers: %s",
					 PORT(test), strerror(-status));
	return true;
}

static bool is_zero_gid(const uint8_t gid[16])
{
	static const uint8_t zeros[16];

	return memcmp(gid, zeros, sizeof(zeros)) == 0;
}

static bool check_end(struct test *test, const struct rna_queue_pairs_end *own)
{
	const struct rna_queue_pairs_end *peer = &test->peer_end;

	if (peer->infiniband != own->infiniband)
		return fail_talk(test, "its port is of another link layer (InfiniBand, Ethernet)");
	if (!own->infiniband && is_zero_gid(peer->gid))
		return fail_talk(test, "its port has no GID");
	if (own->infiniband && is_zero_gid(own->gid) != is_zero_gid(peer->gid))
		return fail_talk(test,
				 "one of the ports requires a GRH and the other one has none");
	if (own->infiniband && (own->pkey & PKEY_PARTITION) != (peer->pkey & PKEY_PARTITION))
		return fail_talk(test, "its port is in another partition (P_Key)");
	return true;
}

static size_t room_there(const struct test *test)
{
	return test->memory.size < test->peer_end.room ? test->memory.size
						       : (size_t)test->peer_end.room;
}

/* Another buffer there, and fewer queue pairs, limit what this side does. */
static void fit_request(struct test *test)
{
	test->request = test->order->request;
	if (test->request.qps > test->peer_end.count)
		test->request.qps = test->peer_end.count;
	if (test->request.size > room_there(test))
		test->request.size = (uint32_t)room_there(test);
}

static bool connect_ends(struct test *test)
{
	struct rna_bandwidth_message message = {.kind = RNA_BANDWIDTH_KIND_END};
	struct rna_queue_pairs_end own;

	if (getrandom(&test->psn, sizeof(test->psn), GRND_NONBLOCK) != sizeof(test->psn))
		test->psn = (uint32_t)rna_clock_monotonic();
	test->psn &= BITS_24;
	rna_loopback_verbs_describe(test->verbs, test->psn, &own);
	message.end = own;
	if (!say(test, &message) || !hear(test, RNA_BANDWIDTH_KIND_END, OPEN_PATIENCE, &message))
		return false;
	test->peer_end = message.end;
	if (!check_end(test, &own) ||
	    !rna_loopback_verbs_connect(test->verbs, test->psn, &test->peer_end))
		return false;
	fit_request(test);
	rna_loopback_gate_rearm(&test->gate);
	message.kind = RNA_BANDWIDTH_KIND_READY;
	return say(test, &message) &&
	       hear(test, RNA_BANDWIDTH_KIND_READY, ANSWER_PATIENCE, &message);
}

/* -- Both ways --------------------------------------------------------------------------------- */

static bool write_there(struct test *test)
{
	struct rna_writing writing = {
		.request = &test->request,
		.result = &test->own,
		.gate = &test->gate,
		.verbs = test->verbs,
		.room = room_there(test),
	};

	rna_loopback_gate_rearm(&test->gate);
	return rna_writing_bandwidth(&writing);
}

static bool let_write(struct test *test)
{
	struct rna_bandwidth_message message;
	rna_usec patience = WRITE_PATIENCE + test->order->request.time_limit;

	if (!hear(test, RNA_BANDWIDTH_KIND_OUTCOME, patience, &message))
		return false;
	test->received = rna_loopback_gate_traffic(&test->gate);
	test->peer_outcome = message.outcome;
	return true;
}

/* What was received counts as what was sent: the counters show how much of it. */
static bool was_alone(struct test *test)
{
	return rna_loopback_gate_allows(&test->gate, &test->received, test->peer_outcome.bytes,
					&test->own);
}

static bool ask_side(struct test *test)
{
	if (!write_there(test))
		return false;
	rna_loopback_gate_rearm(&test->gate);
	return say_outcome(test, RNA_LOOPBACK_DONE) && let_write(test) && was_alone(test) &&
	       say_outcome(test, RNA_LOOPBACK_DONE);
}

static bool answer_side(struct test *test)
{
	struct rna_bandwidth_message message;

	return let_write(test) && write_there(test) && was_alone(test) &&
	       say_outcome(test, RNA_LOOPBACK_DONE) &&
	       hear(test, RNA_BANDWIDTH_KIND_OUTCOME, ANSWER_PATIENCE, &message);
}

static bool write_both_ways(struct test *test)
{
	return test->session.asks ? ask_side(test) : answer_side(test);
}

/* -- The whole --------------------------------------------------------------------------------- */

static bool check_order(struct test *test)
{
	const struct rna_bandwidth_order *order = test->order;

	if (rna_loopback_request_is_valid(&order->request) && order->request.latency_rounds == 0 &&
	    memchr(order->host, '\0', sizeof(order->host)) &&
	    memchr(order->node, '\0', sizeof(order->node)) &&
	    memchr(order->call.node, '\0', sizeof(order->call.node)))
		return true;
	return rna_loopback_fail(&test->own, "the order of a bandwidth test makes no sense");
}

static void take_result(struct test *test, bool done)
{
	struct rna_bandwidth_result *result = test->result;

	result->end = done ? RNA_LOOPBACK_DONE : test->own.end;
	result->skip = done ? RNA_SKIP_NONE : test->own.skip;
	result->bytes = test->own.bytes + test->peer_outcome.bytes;
	if (done) {
		result->out = test->own.bandwidth;
		result->in = test->peer_outcome.bandwidth;
	} else if (!test->told) {
		memcpy(result->text, test->own.text, sizeof(test->own.text));
	}
}

void rna_bandwidth_run(const struct rna_bandwidth_order *order, int fd,
		       struct rna_bandwidth_result *ret)
{
	struct test test = {
		.order = order,
		.result = ret,
		.session = order->session,
		.fd = fd,
		.peer = order->session.asks ? order->node : order->call.node,
		.own = {.end = RNA_LOOPBACK_FAILED},
		.memory = RNA_LOOPBACK_MEMORY_INIT,
	};
	bool done;

	*ret = (struct rna_bandwidth_result){0};
	done = check_order(&test) && open_dialogue(&test) && open_port(&test) &&
	       connect_ends(&test) && write_both_ways(&test);
	if (!done && !test.told && test.fd >= 0 && test.session.received > 0)
		(void)say_outcome(&test, test.own.end); /* it may be gone */
	take_result(&test, done);
	test_free(&test);
}
