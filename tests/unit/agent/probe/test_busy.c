// SPDX-License-Identifier: Apache-2.0
/*
 * agent/probe: what is known of losses while the hosts are busy. The prober's own loop runs, with
 * six peers, on times that are made up: it gets the CPU late, and so do the peers. What it reports
 * is judged as the agent judges it.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"

#include "probe/verdicts.h"
#include "prober/probe_targets.h"

#define SECOND RNA_USEC_PER_SEC
#define START  (100000 * SECOND)
#define WIRE   10 /* microseconds from one end to the other */

enum { PEERS = 6, TRIALS = 10, WAITING_MAX = 1024, PORT_FD = 100, SESSION = 50 };

/* How late a process gets the CPU that it waits for. */
struct load {
	double share;         /* of its turns are late */
	double mean, longest; /* seconds; longer than mean by chance */
};

static const struct load idle = {0, 0, 0};
static const struct load busy = {0.6, 0.15, 1.5};  /* two cores, and a dozen that want them */
static const struct load stopped = {0.02, 1.5, 5}; /* a VM that does not run now and then */
static const struct load starved = {1, 4, 6};

struct sent {
	rna_usec at; /* it arrives */
	uint8_t data[RNA_PACKET_SIZE];
};

struct queue {
	struct sent packets[WAITING_MAX];
	size_t count;
};

struct peer {
	struct queue queue; /* probes that it has not answered yet */
	rna_usec wakes;     /* 0: it waits for nothing */
	rna_usec late_until;
	uint8_t late;              /* seconds, as its answers tell it */
	struct rna_peer_word word; /* of its agent, which stands still with it */
	struct rna_ledger ledger;
	unsigned signs;
};

static struct {
	rna_usec now, end, judged;
	uint64_t chance;
	double loss; /* on each way */
	struct load own, theirs;
	struct rna_packet_key key;
	struct rna_prober *prober;
	unsigned orders;
	struct rna_aim_job *job; /* that is back */
	struct queue queue;      /* answers */
	struct rna_probe_event event;
	uint8_t shown[RNA_PACKET_SIZE];
	struct peer peers[PEERS];
	struct rna_port_verdict verdict;
	rna_usec found; /* the port was lossy; 0: it was not */
	bool wrong;     /* a sign, or a port that is not well, once it was */
	jmp_buf over;
} world;

static double draw(void)
{
	uint64_t z = (world.chance += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static rna_usec draw_lateness(const struct load *load)
{
	double late = draw() < load->share ? -load->mean * log(1 - draw()) : draw() * 0.001;

	return (rna_usec)(fmin(late, load->longest) * (double)SECOND);
}

/* -- The peers --------------------------------------------------------------------------------- */

static void push(struct queue *queue, const uint8_t data[RNA_PACKET_SIZE], rna_usec at)
{
	assert_true(queue->count < WAITING_MAX);
	queue->packets[queue->count].at = at;
	memcpy(queue->packets[queue->count++].data, data, RNA_PACKET_SIZE);
}

static void reply(const struct peer *peer, const struct sent *sent)
{
	struct rna_packet packet;
	uint8_t data[RNA_PACKET_SIZE];

	assert_true(rna_packet_read(sent->data, RNA_PACKET_SIZE, &world.key, &packet));
	packet = (struct rna_packet){
		.kind = RNA_PACKET_ANSWER,
		.large = packet.large,
		.source_class = packet.source_class,
		.from = packet.to,
		.to = packet.from,
		.target = packet.target,
		.number = packet.number,
		.there = {26, 0, 62},
		.late = peer->wakes < peer->late_until ? peer->late : 0,
	};
	assert_int_equal(rna_packet_write(&packet, &world.key, data), 0);
	if (draw() >= world.loss)
		push(&world.queue, data, peer->wakes + WIRE);
}

/* Answers in the order in which probes came, whenever it gets the CPU. */
static void run_peers(rna_usec until)
{
	for (size_t i = 0; i < PEERS; i++) {
		struct peer *peer = &world.peers[i];

		if (peer->wakes == 0 || peer->wakes > until)
			continue;
		for (size_t k = 0; k < peer->queue.count; k++)
			reply(peer, &peer->queue.packets[k]);
		peer->queue.count = 0;
		peer->wakes = 0;
	}
}

static void wake_peer(struct peer *peer, rna_usec at)
{
	rna_usec late = draw_lateness(&world.theirs);

	peer->wakes = at + late;
	if (late <= RNA_PROBER_PATIENCE / 2)
		return;
	peer->late = (uint8_t)((late + SECOND - 1) / SECOND);
	peer->late_until = peer->wakes + RNA_PROBER_LATE_TOLD;
}

/* -- The agent --------------------------------------------------------------------------------- */

static void judge(rna_usec now)
{
	struct rna_port_evidence evidence[PEERS];

	for (size_t i = 0; i < PEERS; i++) {
		struct peer *peer = &world.peers[i];
		const struct rna_judged_pair pair = {.ledger = &peer->ledger,
						     .peer = &peer->word,
						     .dscp = 26};

		if (peer->wakes < now + SECOND)
			peer->word.asked = now;
		if (peer->late > 1 && now < peer->late_until)
			peer->word.back = now;
		rna_ledger_advance(&peer->ledger, now);
		rna_ledger_set_confirmed(&peer->ledger, rna_pair_is_confirmed(&pair), now);
		peer->signs = rna_pair_signs(&pair, now);
		rna_ledger_set_silent(&peer->ledger, peer->signs & RNA_PROBE_SILENT, now);
		world.wrong |= peer->signs != 0;
		evidence[i] = (struct rna_port_evidence){.ledger = &peer->ledger,
							 .signs = peer->signs,
							 .judged = true};
	}
	world.verdict = rna_port_judge(evidence, PEERS);
	world.wrong |= world.verdict.verdict == RNA_PROBE_LOSSY ||
		       world.verdict.verdict == RNA_PROBE_UNREACHABLE;
	if (world.verdict.verdict == RNA_PROBE_LOSSY && world.found == 0)
		world.found = now;
}

/* -- The prober -------------------------------------------------------------------------------- */

rna_usec __wrap_rna_clock_monotonic(void);
bool __wrap_rna_child_begin(const struct rna_child_limits *limits);
int __wrap_poll(struct pollfd *descriptors, nfds_t count, int timeout);
ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags);
_Noreturn void __wrap__Exit(int status);
_Noreturn void __real__Exit(int status);
int __wrap_rna_worker_fd(const struct rna_worker *worker);
int __wrap_rna_aimer_start(struct rna_worker **ret);
int __wrap_rna_aimer_put(struct rna_worker *aimer, struct rna_aim_job *job);
struct rna_aim_job *__wrap_rna_aimer_take(struct rna_worker *aimer);
int __wrap_rna_probe_verbs_open(const char *device, unsigned port, int gid_index,
				const uint8_t gid[16], uint32_t qkey, struct rna_probe_verbs **ret,
				struct rna_error *error);
const struct rna_probe_address *__wrap_rna_probe_verbs_address(const struct rna_probe_verbs *verbs);
bool __wrap_rna_probe_verbs_has_clock(const struct rna_probe_verbs *verbs);
uint64_t __wrap_rna_probe_verbs_now(const struct rna_probe_verbs *verbs);
bool __wrap_rna_probe_verbs_port_by_qp(const struct rna_probe_verbs *verbs);
struct rna_aim *__wrap_rna_aim_free(struct rna_aim *aim);
int __wrap_rna_probe_verbs_send(struct rna_probe_verbs *verbs, unsigned from,
				const struct rna_probe_end *to,
				const uint8_t packet[RNA_PACKET_SIZE], size_t len, uint32_t id);
int __wrap_rna_probe_verbs_fd(const struct rna_probe_verbs *verbs);
int __wrap_rna_probe_verbs_async_fd(const struct rna_probe_verbs *verbs);
void __wrap_rna_probe_verbs_arm(struct rna_probe_verbs *verbs);
int __wrap_rna_probe_verbs_next(struct rna_probe_verbs *verbs, struct rna_probe_event *ret);
bool __wrap_rna_probe_verbs_is_lost(struct rna_probe_verbs *verbs, const char **ret_why);

rna_usec __wrap_rna_clock_monotonic(void)
{
	return world.now;
}

bool __wrap_rna_child_begin(const struct rna_child_limits *limits)
{
	(void)limits;
	return true;
}

static rna_usec earliest(rna_usec next)
{
	for (size_t i = 0; i < world.queue.count; i++)
		next = world.queue.packets[i].at < next ? world.queue.packets[i].at : next;
	for (size_t i = 0; i < PEERS; i++)
		if (world.peers[i].wakes > 0 && world.peers[i].wakes + WIRE < next)
			next = world.peers[i].wakes + WIRE;
	return next;
}

static bool has_come(void)
{
	return earliest(RNA_USEC_NEVER) <= world.now;
}

/* The agent judges each second; a process gets the CPU some time after what it waits for. */
int __wrap_poll(struct pollfd *descriptors, nfds_t count, int timeout)
{
	rna_usec next = earliest(world.now + (rna_usec)timeout * RNA_USEC_PER_MSEC);

	world.now = (next > world.now ? next : world.now) + draw_lateness(&world.own);
	for (; world.judged + SECOND <= world.now; world.judged += SECOND)
		judge(world.judged + SECOND);
	run_peers(world.now);
	for (nfds_t i = 0; i < count; i++)
		descriptors[i].revents =
			(descriptors[i].fd == PORT_FD && has_come()) ||
					(i == 0 && (world.orders > 0 || world.now >= world.end)) ||
					(i == 1 && world.job)
				? POLLIN
				: 0;
	return 1;
}

/* Orders: the key, a port, a target for each peer; then nothing until the agent ends. */
ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags)
{
	unsigned done = 2 + PEERS - world.orders;
	struct rna_prober_order order = {.kind = done == 0 ? RNA_PROBER_SETUP
							   : RNA_PROBER_PORT_OPEN,
					 .port_id = 1};

	(void)fd, (void)flags, (void)size;
	if (world.orders == 0 && world.now >= world.end)
		return 0;
	errno = EAGAIN;
	if (world.orders == 0)
		return -1;
	world.orders--;
	if (done == 1)
		order.port.session = order.port.port = 1;
	if (done > 1) {
		order.kind = RNA_PROBER_TARGET_SET;
		order.target_id = done - 1;
		order.target = (struct rna_prober_target){
			.address = {.mtu = 1024, .qpn_count = 1, .qpns = {17}},
			.session = SESSION + done - 2,
			.period = SECOND / 2,
			.large_every = 4,
		};
	}
	memcpy(buffer, &order, sizeof(order));
	return sizeof(order);
}

ssize_t __wrap_send(int fd, const void *data, size_t len, int flags)
{
	const struct rna_prober_report *report = data;

	(void)fd, (void)flags;
	if (report->kind == RNA_PROBER_TARGET_REPORT)
		rna_ledger_add(&world.peers[report->target_id - 1].ledger, &report->target, 26,
			       world.now);
	return (ssize_t)len;
}

_Noreturn void __wrap__Exit(int status)
{
	if (world.end == 0)
		__real__Exit(status);
	longjmp(world.over, 1);
}

int __wrap_rna_worker_fd(const struct rna_worker *worker)
{
	(void)worker;
	return PORT_FD + 2;
}

int __wrap_rna_aimer_start(struct rna_worker **ret)
{
	world.prober = (struct rna_prober *)((char *)ret - offsetof(struct rna_prober, aimer));
	return 0;
}

int __wrap_rna_aimer_put(struct rna_worker *aimer, struct rna_aim_job *job)
{
	(void)aimer;
	if (world.job)
		return -EAGAIN;
	job->aim = malloc(1);
	world.job = job;
	return 0;
}

struct rna_aim_job *__wrap_rna_aimer_take(struct rna_worker *aimer)
{
	(void)aimer;
	return RNA_TAKE(world.job);
}

int __wrap_rna_probe_verbs_open(const char *device, unsigned port, int gid_index,
				const uint8_t gid[16], uint32_t qkey, struct rna_probe_verbs **ret,
				struct rna_error *error)
{
	(void)device, (void)port, (void)gid_index, (void)gid, (void)qkey, (void)error;
	*ret = (struct rna_probe_verbs *)&world;
	return 0;
}

const struct rna_probe_address *__wrap_rna_probe_verbs_address(const struct rna_probe_verbs *verbs)
{
	static const struct rna_probe_address address = {.mtu = 1024, .qpn_count = 1, .qpns = {17}};

	(void)verbs;
	return &address;
}

bool __wrap_rna_probe_verbs_has_clock(const struct rna_probe_verbs *verbs)
{
	(void)verbs;
	return false;
}

uint64_t __wrap_rna_probe_verbs_now(const struct rna_probe_verbs *verbs)
{
	(void)verbs;
	return world.now * 1000;
}

bool __wrap_rna_probe_verbs_port_by_qp(const struct rna_probe_verbs *verbs)
{
	(void)verbs;
	return true;
}

struct rna_aim *__wrap_rna_aim_free(struct rna_aim *aim)
{
	free(aim);
	return NULL;
}

int __wrap_rna_probe_verbs_send(struct rna_probe_verbs *verbs, unsigned from,
				const struct rna_probe_end *to, const uint8_t data[RNA_PACKET_SIZE],
				size_t len, uint32_t id)
{
	struct rna_packet packet;
	struct peer *peer;

	(void)verbs, (void)from, (void)to, (void)len, (void)id;
	run_peers(world.now);
	assert_true(rna_packet_read(data, RNA_PACKET_SIZE, &world.key, &packet));
	if (draw() < world.loss)
		return 0;
	peer = &world.peers[packet.to - SESSION];
	push(&peer->queue, data, world.now + WIRE);
	if (peer->wakes == 0)
		wake_peer(peer, world.now + WIRE);
	return 0;
}

int __wrap_rna_probe_verbs_fd(const struct rna_probe_verbs *verbs)
{
	(void)verbs;
	return PORT_FD;
}

int __wrap_rna_probe_verbs_async_fd(const struct rna_probe_verbs *verbs)
{
	(void)verbs;
	return PORT_FD + 1;
}

void __wrap_rna_probe_verbs_arm(struct rna_probe_verbs *verbs)
{
	(void)verbs;
}

int __wrap_rna_probe_verbs_next(struct rna_probe_verbs *verbs, struct rna_probe_event *ret)
{
	struct queue *queue = &world.queue;
	size_t first = 0;

	(void)verbs;
	for (size_t i = 1; i < queue->count; i++)
		if (queue->packets[i].at < queue->packets[first].at)
			first = i;
	if (queue->count == 0 || queue->packets[first].at > world.now)
		return 0;
	memcpy(world.shown, queue->packets[first].data, RNA_PACKET_SIZE);
	memmove(&queue->packets[first], &queue->packets[first + 1],
		(--queue->count - first) * sizeof(queue->packets[0]));
	*ret = (struct rna_probe_event){
		.received = true,
		.at = world.now * 1000,
		.data = world.shown,
		.len = RNA_PACKET_SIZE,
		.way = {26, 0, 62},
	};
	return 1;
}

bool __wrap_rna_probe_verbs_is_lost(struct rna_probe_verbs *verbs, const char **ret_why)
{
	(void)verbs, (void)ret_why;
	return false;
}

/* -- Tests ------------------------------------------------------------------------------------- */

static void run(uint64_t seed, struct load own, struct load theirs, double loss, unsigned seconds)
{
	static const uint8_t key[RNA_PROBER_KEY_SIZE] = {0};

	memset(&world, 0, sizeof(world));
	world.chance = seed;
	world.own = own;
	world.theirs = theirs;
	world.loss = loss;
	world.now = world.judged = START;
	world.end = START + seconds * SECOND;
	world.orders = 2 + PEERS;
	assert_int_equal(rna_packet_key_make(key, &world.key), 0);
	for (size_t i = 0; i < PEERS; i++) {
		rna_ledger_init(&world.peers[i].ledger);
		world.peers[i].word = (struct rna_peer_word){START, START - 100 * SECOND, true};
	}
	if (setjmp(world.over) == 0)
		(void)rna_prober_main(NULL);
	world.end = 0;
	for (size_t i = 0; i < PEERS; i++)
		rna_prober_clear_target(&world.prober->ports[0].targets[i]);
	free(world.prober);
	free(world.job);
}

static struct rna_probe_counts sum_up(void)
{
	struct rna_probe_counts sum = {0};

	for (size_t i = 0; i < PEERS; i++)
		rna_probe_counts_merge(&sum, &world.peers[i].ledger.total);
	return sum;
}

/* The share of the probes that should have been sent, in percent, of which the end is known. */
static unsigned judged_share(void)
{
	struct rna_probe_counts sum = sum_up();

	print_message("sent %lu, answered %lu, lost %lu, void %lu, missed %lu\n", sum.sent,
		      sum.answered, sum.lost, sum.voided, sum.missed);
	return (unsigned)(100 * (sum.answered + sum.lost) / (sum.sent + sum.missed));
}

static void find(struct load own, struct load theirs, double loss)
{
	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		run(seed, own, theirs, loss, 60);
		print_message("found after %lu s\n",
			      world.found > 0 ? (world.found - START) / SECOND : 0);
		assert_true(world.found > 0);
	}
}

static void test_one_percent_is_found_in_a_minute_on_busy_hosts(void **state)
{
	(void)state;
	find(idle, idle, 0.01);
	find(busy, idle, 0.01);
	find(idle, busy, 0.01);
	find(busy, busy, 0.01);
}

static void test_a_busy_host_judges_nearly_all(void **state)
{
	struct rna_probe_counts sum;

	(void)state;
	run(20, busy, busy, 0.01, 1800);
	assert_in_range(judged_share(), 90, 100);
	sum = sum_up();
	assert_in_range(1000 * sum.lost / (sum.lost + sum.answered), 18, 22); /* as it is */
}

static void test_an_hour_of_busy_hosts_without_a_false_finding(void **state)
{
	(void)state;
	run(21, busy, busy, 0, 3600);
	assert_false(world.wrong);
	assert_int_equal(sum_up().lost, 0);
	assert_int_equal(world.verdict.verdict, RNA_PROBE_WELL);
	run(22, stopped, stopped, 0, 3600);
	assert_in_range(judged_share(), 50, 100);
	assert_int_equal(sum_up().lost, 0);
	assert_false(world.wrong);
}

/* Most probes are not even sent: what they would have shown is not known. */
static void test_a_starved_host_knows_that_it_sees_nothing(void **state)
{
	struct rna_probes probes = {0};

	(void)state;
	run(23, starved, idle, 0, 600);
	assert_false(world.wrong);
	assert_in_range(judged_share(), 0, 40);
	assert_int_equal(world.verdict.verdict, RNA_PROBE_UNKNOWN);
	probes.minute = sum_up();
	assert_true(rna_probes_are_missed(&probes));
	run(24, busy, busy, 0, 600);
	probes.minute = sum_up();
	assert_false(rna_probes_are_missed(&probes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_percent_is_found_in_a_minute_on_busy_hosts),
		cmocka_unit_test(test_a_busy_host_judges_nearly_all),
		cmocka_unit_test(test_an_hour_of_busy_hosts_without_a_false_finding),
		cmocka_unit_test(test_a_starved_host_knows_that_it_sees_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
