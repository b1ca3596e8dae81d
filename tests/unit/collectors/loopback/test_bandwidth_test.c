// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/loopback, bandwidth_test: both sides of a bandwidth test, in two processes that talk
 * over TCP, with HCAs that are made up. The answering side begins as the agent does.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/bandwidth.h"
#include "rna/base/cleanup.h"

#include "loopback/writing.h"

enum { ROOM = 2 << 20, BATCHES = 4096 };

/* -- An HCA ------------------------------------------------------------------------------------ */

/* That of this process, and what goes wrong with it. */
static struct hca {
	unsigned count; /* queue pairs */
	uint64_t room;
	uint16_t pkey;  /* 0: RoCE */
	bool busy;      /* the port is in use */
	bool dies;      /* no write completes: the other node is gone */
	bool leaves;    /* the process ends before it writes */
	uint64_t moved; /* counted while the other node wrote, beside what it says */
	/* what it was given */
	struct rna_loopback_result *result;
	struct rna_queue_pairs_end peer;
	unsigned last_qp;
	uint32_t size;
	uint64_t posted_bytes;
	struct rna_loopback_batch batches[BATCHES];
	unsigned posted, polled;
} hca;

struct rna_loopback_verbs *__wrap_rna_loopback_verbs_make(
	const struct rna_loopback_request *request, struct rna_loopback_memory *memory,
	struct rna_loopback_result *result);
struct rna_loopback_verbs *__wrap_rna_loopback_verbs_close(struct rna_loopback_verbs *verbs);
void __wrap_rna_loopback_verbs_describe(const struct rna_loopback_verbs *verbs, uint32_t psn,
					struct rna_queue_pairs_end *ret);
bool __wrap_rna_loopback_verbs_connect(struct rna_loopback_verbs *verbs, uint32_t psn,
				       const struct rna_queue_pairs_end *end);
bool __wrap_rna_loopback_post(struct rna_loopback_verbs *verbs, unsigned qp, const size_t *offsets,
			      unsigned count, uint32_t size);
int __wrap_rna_loopback_poll(struct rna_loopback_verbs *verbs,
			     struct rna_loopback_batch ret[RNA_LOOPBACK_BATCH_MAX]);
int __wrap_rna_loopback_memory_fill(struct rna_loopback_memory *memory);
void __wrap_rna_loopback_memory_free(struct rna_loopback_memory *memory);
struct rna_loopback_traffic __wrap_rna_loopback_gate_traffic(const struct rna_loopback_gate *gate);

struct rna_loopback_verbs *__wrap_rna_loopback_verbs_make(
	const struct rna_loopback_request *request, struct rna_loopback_memory *memory,
	struct rna_loopback_result *result)
{
	hca.result = result;
	memory->size = hca.room;
	if (!hca.busy)
		return (struct rna_loopback_verbs *)&hca;
	(void)rna_loopback_skip(result, RNA_SKIP_BUSY, "%s/%u: in use: 7.0 MB/s move",
				request->device, request->port);
	return NULL;
}

struct rna_loopback_verbs *__wrap_rna_loopback_verbs_close(struct rna_loopback_verbs *verbs)
{
	(void)verbs;
	return NULL;
}

void __wrap_rna_loopback_verbs_describe(const struct rna_loopback_verbs *verbs, uint32_t psn,
					struct rna_queue_pairs_end *ret)
{
	(void)verbs;
	*ret = (struct rna_queue_pairs_end){
		.infiniband = hca.pkey != 0,
		.lid = hca.pkey != 0 ? 5 : 0,
		.pkey = hca.pkey,
		.gid = {[15] = hca.pkey != 0 ? 0 : 1},
		.mtu = 3,
		.psn = psn,
		.room = hca.room,
		.count = hca.count,
	};
	for (unsigned i = 0; i < hca.count; i++)
		ret->qpns[i] = 17 + i;
}

bool __wrap_rna_loopback_verbs_connect(struct rna_loopback_verbs *verbs, uint32_t psn,
				       const struct rna_queue_pairs_end *end)
{
	(void)verbs, (void)psn;
	hca.peer = *end;
	return true;
}

bool __wrap_rna_loopback_post(struct rna_loopback_verbs *verbs, unsigned qp, const size_t *offsets,
			      unsigned count, uint32_t size)
{
	(void)verbs;
	if (hca.leaves)
		_exit(0);
	if (hca.dies)
		return rna_loopback_fail(hca.result, "hca0/1: a write failed: retries exceeded");
	for (unsigned i = 0; i < count; i++)
		if (offsets[i] + size > hca.peer.room || hca.posted - hca.polled >= BATCHES)
			return rna_loopback_fail(hca.result, "out of the buffer of the peer");
	hca.last_qp = qp > hca.last_qp ? qp : hca.last_qp;
	hca.size = size;
	hca.posted_bytes += (uint64_t)count * size;
	hca.batches[hca.posted++ % BATCHES] = (struct rna_loopback_batch){qp, count};
	return true;
}

int __wrap_rna_loopback_poll(struct rna_loopback_verbs *verbs,
			     struct rna_loopback_batch ret[RNA_LOOPBACK_BATCH_MAX])
{
	int count = 0;

	(void)verbs;
	(void)usleep(10); /* a write takes time */
	while (hca.polled < hca.posted && count < RNA_LOOPBACK_BATCH_MAX)
		ret[count++] = hca.batches[hca.polled++ % BATCHES];
	return count;
}

int __wrap_rna_loopback_memory_fill(struct rna_loopback_memory *memory)
{
	(void)memory;
	return 0;
}

void __wrap_rna_loopback_memory_free(struct rna_loopback_memory *memory)
{
	(void)memory;
}

struct rna_loopback_traffic __wrap_rna_loopback_gate_traffic(const struct rna_loopback_gate *gate)
{
	(void)gate;
	return (struct rna_loopback_traffic){.moved = hca.moved, .time = 1000};
}

/* -- Two sides --------------------------------------------------------------------------------- */

static const struct hca idle = {.count = 2, .room = ROOM};

/* How the answering side is, and what it comes to. */
struct other {
	struct hca hca;
	uint8_t key[RNA_BANDWIDTH_KEY_SIZE];
	bool silent; /* it accepts, and says nothing any more */
};

static struct rna_loopback_request make_request(void)
{
	return (struct rna_loopback_request){
		.device = "hca0",
		.port = 1,
		.size = 65536,
		.qps = 2,
		.depth = 16,
		.bytes = 8 << 20,
		.time_limit = 200 * RNA_USEC_PER_MSEC,
		.busy_rate = 10000000,
		.idle_qps = RNA_QPS_UNKNOWN,
	};
}

static void fetch(int fd, struct rna_bandwidth_session *session, struct rna_bandwidth_message *ret)
{
	uint8_t data[RNA_BANDWIDTH_MESSAGE];

	if (recv(fd, data, sizeof(data), MSG_WAITALL) != sizeof(data) ||
	    rna_bandwidth_read(session, data, ret) < 0)
		_exit(1); /* as the agent does, which closes the connection */
}

/* What the agent does, and then its child; the result goes to a pipe. */
static void answer(int listening, const struct other *other, int results)
{
	const struct rna_bandwidth_message challenge = {.kind = RNA_BANDWIDTH_KIND_CHALLENGE};
	struct rna_bandwidth_order order = {.request = make_request(), .expected = 50000000};
	uint8_t data[RNA_BANDWIDTH_MESSAGE];
	struct rna_bandwidth_message call;
	struct rna_bandwidth_result result;
	int fd = accept(listening, NULL, NULL);

	hca = other->hca;
	if (rna_bandwidth_session_begin(&order.session, other->key, false) < 0 ||
	    rna_bandwidth_write(&order.session, &challenge, data) < 0 ||
	    send(fd, data, sizeof(data), MSG_NOSIGNAL) != sizeof(data))
		_exit(1);
	fetch(fd, &order.session, &call);
	if (other->silent)
		_exit(0);
	order.call = call.call;
	order.request.gate = hca.moved > 0;
	rna_bandwidth_run(&order, fd, &result);
	(void)!write(results, &result, sizeof(result));
	_exit(0);
}

static int listen_locally(uint32_t *ret_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

static struct rna_bandwidth_order make_order(uint32_t tcp_port)
{
	static const uint8_t key[RNA_BANDWIDTH_KEY_SIZE];
	struct rna_bandwidth_order order = {
		.call = {.node = "node0",
			 .own_device = "hca0",
			 .own_port = 1,
			 .device = "hca0",
			 .port = 1,
			 .expected = 25000000},
		.host = "127.0.0.1",
		.tcp_port = tcp_port,
		.node = "node1",
		.request = make_request(),
	};

	assert_int_equal(rna_bandwidth_session_begin(&order.session, key, true), 0);
	return order;
}

/* Runs both. True: the answering side has a result, too. */
static bool test_both(const struct other *other, struct rna_bandwidth_result *ours,
		      struct rna_bandwidth_result *theirs)
{
	uint32_t tcp_port;
	RNA_CLOSE int listening = listen_locally(&tcp_port);
	struct rna_bandwidth_order order = make_order(tcp_port);
	int results[2];
	ssize_t len;
	pid_t pid;

	assert_int_equal(pipe(results), 0);
	pid = fork();
	if (pid == 0)
		answer(listening, other, results[1]);
	(void)close(results[1]);
	order.request.gate = hca.moved > 0;
	rna_bandwidth_run(&order, -1, ours);
	len = read(results[0], theirs, sizeof(*theirs));
	(void)close(results[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return len == sizeof(*theirs);
}

/* -- Tests ------------------------------------------------------------------------------------- */

static struct rna_bandwidth_result ours, theirs;

static void test_both_directions_are_measured(void **state)
{
	const struct other other = {.hca = idle};

	(void)state;
	hca = idle;
	assert_true(test_both(&other, &ours, &theirs));
	assert_int_equal(ours.end, RNA_LOOPBACK_DONE);
	assert_string_equal(ours.text, "");
	assert_true(ours.out > 0 && ours.in > 0);
	assert_int_equal(theirs.end, RNA_LOOPBACK_DONE);
	assert_int_equal(theirs.in, ours.out);
	assert_int_equal(theirs.out, ours.in);
	assert_int_equal(theirs.bytes, ours.bytes);
	assert_int_equal(ours.expected, 50000000);
	assert_int_equal(theirs.expected, 25000000);
	assert_true(hca.posted_bytes <= make_request().bytes);
	assert_true(ours.bytes <= 2 * make_request().bytes && ours.bytes > hca.posted_bytes);
	assert_int_equal(hca.last_qp, 1);
}

static void test_the_smaller_end_decides(void **state)
{
	struct other other = {.hca = idle};

	(void)state;
	other.hca.count = 1;
	other.hca.room = 4096;
	hca = idle;
	assert_true(test_both(&other, &ours, &theirs));
	assert_int_equal(ours.end, RNA_LOOPBACK_DONE);
	assert_int_equal(hca.last_qp, 0);
	assert_int_equal(hca.size, 4096);
}

static void test_a_busy_port_there_is_named(void **state)
{
	struct other other = {.hca = idle};

	(void)state;
	other.hca.busy = true;
	hca = idle;
	assert_true(test_both(&other, &ours, &theirs));
	assert_int_equal(ours.end, RNA_LOOPBACK_SKIPPED);
	assert_int_equal(ours.skip, RNA_SKIP_BUSY);
	assert_string_equal(ours.text, "node1: hca0/1: in use: 7.0 MB/s move");
	assert_string_equal(theirs.text, "hca0/1: in use: 7.0 MB/s move");
	assert_int_equal(hca.posted, 0);
}

static void test_a_busy_port_here_is_named_there(void **state)
{
	const struct other other = {.hca = idle};

	(void)state;
	hca = idle;
	hca.busy = true;
	assert_true(test_both(&other, &ours, &theirs));
	assert_string_equal(ours.text, "hca0/1: in use: 7.0 MB/s move");
	assert_string_equal(theirs.text, "node0: hca0/1: in use: 7.0 MB/s move");
}

static void test_writes_that_fail_are_a_failure_on_both_sides(void **state)
{
	struct other other = {.hca = idle};

	(void)state;
	other.hca.dies = true;
	hca = idle;
	assert_true(test_both(&other, &ours, &theirs));
	assert_int_equal(ours.end, RNA_LOOPBACK_FAILED);
	assert_int_equal(theirs.end, RNA_LOOPBACK_FAILED);
	assert_string_equal(ours.text, "node1: hca0/1: a write failed: retries exceeded");
	assert_int_equal(ours.out, 0); /* although that direction was measured */
}

static void test_other_traffic_discards_both_directions(void **state)
{
	struct other other = {.hca = idle};

	(void)state;
	other.hca.moved = 4 * make_request().bytes;
	hca = idle;
	assert_true(test_both(&other, &ours, &theirs));
	assert_int_equal(theirs.end, RNA_LOOPBACK_SKIPPED);
	assert_int_equal(theirs.skip, RNA_SKIP_DISTURBED);
	assert_int_equal(ours.skip, RNA_SKIP_DISTURBED);
	assert_non_null(strstr(ours.text, "node1: hca0/1: other traffic"));
}

static void test_other_traffic_here_discards_both_directions(void **state)
{
	const struct other other = {.hca = idle};

	(void)state;
	hca = idle;
	hca.moved = 4 * make_request().bytes;
	assert_true(test_both(&other, &ours, &theirs));
	assert_int_equal(ours.skip, RNA_SKIP_DISTURBED);
	assert_int_equal(theirs.skip, RNA_SKIP_DISTURBED);
}

static void test_an_end_in_the_middle_is_no_failure_of_the_port(void **state)
{
	struct other other = {.hca = idle, .silent = true};

	(void)state;
	hca = idle;
	assert_false(test_both(&other, &ours, &theirs));
	assert_int_equal(ours.end, RNA_LOOPBACK_SKIPPED);
	assert_string_equal(ours.text, "node1: it closed the connection");
	other = (struct other){.hca = idle};
	other.hca.leaves = true;
	hca = idle;
	assert_false(test_both(&other, &ours, &theirs));
	assert_int_equal(ours.end, RNA_LOOPBACK_SKIPPED);
	assert_string_equal(ours.text, "node1: it closed the connection");
}

static void test_a_stranger_learns_nothing(void **state)
{
	const struct other other = {.hca = idle, .key = {1}};

	(void)state;
	hca = idle;
	assert_false(test_both(&other, &ours, &theirs));
	assert_string_equal(ours.text, "node1: it closed the connection");
	assert_int_equal(hca.posted, 0);
}

static void test_partitions_and_link_layers_must_fit(void **state)
{
	struct other other = {.hca = idle};

	(void)state;
	other.hca.pkey = 0xffff;
	hca = idle;
	assert_true(test_both(&other, &ours, &theirs));
	assert_non_null(strstr(ours.text, "another link layer"));
	other.hca.pkey = 0x8001;
	hca.pkey = 0xffff;
	assert_true(test_both(&other, &ours, &theirs));
	assert_non_null(strstr(ours.text, "P_Key"));
	other.hca.pkey = 0x7fff; /* a limited member of the same one */
	assert_true(test_both(&other, &ours, &theirs));
	assert_int_equal(ours.end, RNA_LOOPBACK_DONE);
}

static void test_a_closed_port_is_explained(void **state)
{
	uint32_t tcp_port;
	int fd = listen_locally(&tcp_port);
	struct rna_bandwidth_order order = make_order(tcp_port);

	(void)state;
	(void)close(fd);
	hca = idle;
	rna_bandwidth_run(&order, -1, &ours);
	assert_int_equal(ours.end, RNA_LOOPBACK_SKIPPED);
	assert_non_null(strstr(ours.text, "Connection refused"));
	assert_non_null(strstr(ours.text, "firewall"));
}

static void test_an_order_without_sense_is_refused(void **state)
{
	struct rna_bandwidth_order order = make_order(1);

	(void)state;
	order.request.qps = 0;
	rna_bandwidth_run(&order, -1, &ours);
	assert_int_equal(ours.end, RNA_LOOPBACK_FAILED);
	assert_non_null(strstr(ours.text, "makes no sense"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_directions_are_measured),
		cmocka_unit_test(test_the_smaller_end_decides),
		cmocka_unit_test(test_a_busy_port_there_is_named),
		cmocka_unit_test(test_a_busy_port_here_is_named_there),
		cmocka_unit_test(test_writes_that_fail_are_a_failure_on_both_sides),
		cmocka_unit_test(test_other_traffic_discards_both_directions),
		cmocka_unit_test(test_other_traffic_here_discards_both_directions),
		cmocka_unit_test(test_an_end_in_the_middle_is_no_failure_of_the_port),
		cmocka_unit_test(test_a_stranger_learns_nothing),
		cmocka_unit_test(test_partitions_and_link_layers_must_fit),
		cmocka_unit_test(test_a_closed_port_is_explained),
		cmocka_unit_test(test_an_order_without_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
