// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/prober: what the prober makes of floods, of old packets and of sessions. Instead of
 * verbs there is a fabric within this process: a packet that is sent with the Q_Key of a port is
 * received by that port. For the loop, this program is executed again as the prober.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "prober/probe_targets.h"

#define SECOND RNA_USEC_PER_SEC
#define START  (1000 * SECOND)

/* -- The fabric -------------------------------------------------------------------------------- */

enum { OPEN_MAX = 8, QUEUE_MAX = 4096 };

/* Of two ports a device is flooded: they never have nothing to take. */
#define RUBBISH     "rubbish" /* of packets that are no probes, while its Q_Key is the first one */
#define COMPLETIONS "completions" /* of what the port itself has sent */

struct rna_probe_verbs {
	char device[RNA_PROBER_NAME_MAX];
	uint32_t qkey;
	struct rna_probe_address address;
	int fd, async_fd;
	struct rna_probe_event events[QUEUE_MAX];
	uint8_t packets[QUEUE_MAX][RNA_PACKET_SIZE];
	size_t count, taken;
	unsigned arms;
	bool rubbish;
};

struct rna_aim {
	uint32_t label;
};

static struct rna_probe_verbs *ports[OPEN_MAX];
static struct rna_probe_end last_end; /* of the newest packet */
static bool was_flooded;

static struct rna_probe_verbs *find_verbs(uint32_t qkey)
{
	for (size_t i = 0; i < OPEN_MAX; i++)
		if (ports[i] && ports[i]->qkey == qkey)
			return ports[i];
	return NULL;
}

static void wake(struct rna_probe_verbs *verbs)
{
	assert_int_equal(eventfd_write(verbs->fd, 1), 0);
}

static void add_event(struct rna_probe_verbs *verbs, const struct rna_probe_event *event,
		      const uint8_t packet[RNA_PACKET_SIZE])
{
	size_t place = verbs->count++ % QUEUE_MAX;

	assert_true(verbs->count - verbs->taken <= QUEUE_MAX);
	verbs->events[place] = *event;
	if (event->received) {
		memcpy(verbs->packets[place], packet, RNA_PACKET_SIZE);
		verbs->events[place].data = verbs->packets[place];
		verbs->events[place].len = RNA_PACKET_SIZE;
	}
	wake(verbs);
}

static void receive(struct rna_probe_verbs *verbs, const uint8_t packet[RNA_PACKET_SIZE],
		    uint64_t at)
{
	add_event(verbs,
		  &(const struct rna_probe_event){
			  .received = true, .at = at, .source = {0xfe, 0x80}, .source_qpn = 17},
		  packet);
}

int __wrap_rna_probe_verbs_open(const char *device, unsigned port, int gid_index,
				const uint8_t gid[16], uint32_t qkey, struct rna_probe_verbs **ret,
				struct rna_error *error);
struct rna_probe_verbs *__wrap_rna_probe_verbs_close(struct rna_probe_verbs *verbs);
const struct rna_probe_address *__wrap_rna_probe_verbs_address(const struct rna_probe_verbs *verbs);
bool __wrap_rna_probe_verbs_has_clock(const struct rna_probe_verbs *verbs);
uint64_t __wrap_rna_probe_verbs_now(const struct rna_probe_verbs *verbs);
bool __wrap_rna_probe_verbs_port_by_qp(const struct rna_probe_verbs *verbs);
int __wrap_rna_aim_make(struct rna_probe_verbs *verbs, const struct rna_aim_request *request,
			struct rna_aim **ret);
struct rna_aim *__wrap_rna_aim_free(struct rna_aim *aim);
int __wrap_rna_probe_verbs_send(struct rna_probe_verbs *verbs, unsigned from,
				const struct rna_probe_end *to,
				const uint8_t packet[RNA_PACKET_SIZE], size_t len, uint32_t id);
int __wrap_rna_probe_verbs_fd(const struct rna_probe_verbs *verbs);
int __wrap_rna_probe_verbs_async_fd(const struct rna_probe_verbs *verbs);
void __wrap_rna_probe_verbs_arm(struct rna_probe_verbs *verbs);
int __wrap_rna_probe_verbs_next(struct rna_probe_verbs *verbs, struct rna_probe_event *ret);
bool __wrap_rna_probe_verbs_is_lost(struct rna_probe_verbs *verbs, const char **ret_why);

int __wrap_rna_probe_verbs_open(const char *device, unsigned port, int gid_index,
				const uint8_t gid[16], uint32_t qkey, struct rna_probe_verbs **ret,
				struct rna_error *error)
{
	struct rna_probe_verbs *verbs = calloc(1, sizeof(*verbs));
	size_t place = 0;

	(void)port, (void)gid_index, (void)gid, (void)error;
	assert_non_null(verbs);
	while (ports[place])
		assert_true(++place < OPEN_MAX);
	ports[place] = verbs;
	(void)snprintf(verbs->device, sizeof(verbs->device), "%s", device);
	verbs->qkey = qkey;
	verbs->address = (struct rna_probe_address){.mtu = 1024, .qpn_count = 1, .qpns = {17}};
	verbs->fd = eventfd(0, EFD_NONBLOCK);
	verbs->async_fd = eventfd(0, EFD_NONBLOCK);
	verbs->rubbish = strcmp(device, RUBBISH) == 0 && !was_flooded;
	was_flooded |= verbs->rubbish;
	if (verbs->rubbish || strcmp(device, COMPLETIONS) == 0)
		wake(verbs);
	*ret = verbs;
	return 0;
}

struct rna_probe_verbs *__wrap_rna_probe_verbs_close(struct rna_probe_verbs *verbs)
{
	for (size_t i = 0; i < OPEN_MAX; i++)
		if (ports[i] == verbs)
			ports[i] = NULL;
	(void)close(verbs->fd);
	(void)close(verbs->async_fd);
	free(verbs);
	return NULL;
}

const struct rna_probe_address *__wrap_rna_probe_verbs_address(const struct rna_probe_verbs *verbs)
{
	return &verbs->address;
}

bool __wrap_rna_probe_verbs_has_clock(const struct rna_probe_verbs *verbs)
{
	(void)verbs;
	return false;
}

uint64_t __wrap_rna_probe_verbs_now(const struct rna_probe_verbs *verbs)
{
	(void)verbs;
	return rna_clock_monotonic() * 1000;
}

bool __wrap_rna_probe_verbs_port_by_qp(const struct rna_probe_verbs *verbs)
{
	(void)verbs;
	return true;
}

int __wrap_rna_aim_make(struct rna_probe_verbs *verbs, const struct rna_aim_request *request,
			struct rna_aim **ret)
{
	(void)verbs;
	*ret = malloc(sizeof(**ret));
	if (*ret)
		(*ret)->label = request->flow_label;
	return *ret ? 0 : -ENOMEM;
}

struct rna_aim *__wrap_rna_aim_free(struct rna_aim *aim)
{
	free(aim);
	return NULL;
}

int __wrap_rna_probe_verbs_send(struct rna_probe_verbs *verbs, unsigned from,
				const struct rna_probe_end *to,
				const uint8_t packet[RNA_PACKET_SIZE], size_t len, uint32_t id)
{
	struct rna_probe_verbs *receiver = find_verbs(to->qkey);

	(void)from, (void)len;
	last_end = *to;
	add_event(verbs, &(const struct rna_probe_event){.id = id}, NULL);
	if (receiver)
		receive(receiver, packet, rna_clock_monotonic() * 1000);
	return 0;
}

int __wrap_rna_probe_verbs_fd(const struct rna_probe_verbs *verbs)
{
	return verbs->fd;
}

int __wrap_rna_probe_verbs_async_fd(const struct rna_probe_verbs *verbs)
{
	return verbs->async_fd;
}

void __wrap_rna_probe_verbs_arm(struct rna_probe_verbs *verbs)
{
	eventfd_t count;

	(void)eventfd_read(verbs->fd, &count);
	verbs->arms++;
}

int __wrap_rna_probe_verbs_next(struct rna_probe_verbs *verbs, struct rna_probe_event *ret)
{
	static const uint8_t zeros[RNA_PACKET_SIZE];

	if (verbs->taken < verbs->count) {
		*ret = verbs->events[verbs->taken++ % QUEUE_MAX];
		return 1;
	}
	*ret = (struct rna_probe_event){.id = RNA_SENT_MAX - 1};
	if (!verbs->rubbish)
		return strcmp(verbs->device, COMPLETIONS) == 0;
	ret->received = true;
	ret->at = rna_clock_monotonic() * 1000;
	ret->data = zeros;
	ret->len = sizeof(zeros);
	ret->source_qpn = 4711;
	return 1;
}

bool __wrap_rna_probe_verbs_is_lost(struct rna_probe_verbs *verbs, const char **ret_why)
{
	(void)verbs, (void)ret_why;
	return false;
}

/* -- One port ---------------------------------------------------------------------------------- */

static struct rna_prober *prober;
static struct rna_prober_port *port;
static struct rna_probe_verbs *verbs;

static uint32_t qkey_of(uint64_t session)
{
	uint32_t qkey;

	assert_int_equal(rna_packet_qkey(&prober->key, session, &qkey), 0);
	return qkey;
}

static struct rna_probe_verbs *open_verbs(uint64_t session)
{
	static const uint8_t gid[16];
	struct rna_probe_verbs *ret;

	assert_int_equal(__wrap_rna_probe_verbs_open("a", 1, 0, gid, qkey_of(session), &ret, NULL),
			 0);
	return ret;
}

/* With session 7, and a thread that makes aims. */
static int set_up(void **state)
{
	static const uint8_t key[RNA_PROBER_KEY_SIZE] = {1};

	(void)state;
	prober = calloc(1, sizeof(*prober));
	if (!prober || rna_packet_key_make(key, &prober->key) < 0 ||
	    rna_aimer_start(&prober->aimer) < 0)
		return -1;
	verbs = open_verbs(7);
	port = &prober->ports[0];
	*port = (struct rna_prober_port){.id = 1, .session = 7, .verbs = verbs};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rna_prober_close_port(port);
	prober->aimer = rna_worker_stop(prober->aimer);
	free(prober);
	return 0;
}

static void take_aim(void)
{
	struct pollfd results = {.fd = rna_worker_fd(prober->aimer), .events = POLLIN};

	assert_int_equal(poll(&results, 1, -1), 1);
	rna_prober_take_aim(prober, rna_aimer_take(prober->aimer), START);
}

static void come(const struct rna_packet *packet, uint64_t at)
{
	uint8_t data[RNA_PACKET_SIZE];

	assert_int_equal(rna_packet_write(packet, &prober->key, data), 0);
	receive(verbs, data, at);
}

static struct rna_packet probe_of(uint64_t from, uint32_t number)
{
	return (struct rna_packet){
		.kind = RNA_PACKET_PROBE, .from = from, .to = 7, .target = 3, .number = number};
}

static void come_rubbish(unsigned count, uint64_t at)
{
	static const uint8_t zeros[RNA_PACKET_SIZE];

	for (unsigned i = 0; i < count; i++)
		receive(verbs, zeros, at + i);
}

/* Until nothing is left, or the port is to be closed. */
static int take_all(rna_usec now)
{
	int status;

	while ((status = rna_prober_take_events(prober, port, now)) > 0)
		;
	return status;
}

static uint64_t count_strangers(void)
{
	return prober->strangers[RNA_STRANGER_REPLAY] + prober->strangers[RNA_STRANGER_RATE];
}

/* What arrives after it was armed makes it readable; what is left did so before. */
static void test_a_turn_takes_some_and_says_that_there_is_more(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * RNA_PROBER_EVENTS_MAX + 1; i++)
		add_event(verbs, &(const struct rna_probe_event){.id = 1}, NULL);
	assert_int_equal(rna_prober_take_events(prober, port, START), 1);
	assert_int_equal(verbs->taken, RNA_PROBER_EVENTS_MAX);
	assert_int_equal(rna_prober_take_events(prober, port, START), 1);
	assert_int_equal(rna_prober_take_events(prober, port, START), 0);
	assert_int_equal(verbs->taken, verbs->count);
	assert_int_equal(verbs->arms, 3);
}

static void test_so_much_in_a_second_is_a_flood(void **state)
{
	static const uint8_t gid[16] = {0xfe, 0x80};

	(void)state;
	come_rubbish(RNA_PROBER_FLOOD, 0);
	assert_int_equal(take_all(START), 0);
	come_rubbish(RNA_PROBER_FLOOD, 5000);
	assert_int_equal(take_all(START + SECOND), 0);
	come_rubbish(1, 905000);
	assert_int_equal(take_all(START + 2 * SECOND - 1), -EDQUOT);
	assert_int_equal(port->flood.packets, RNA_PROBER_FLOOD + 1);
	assert_int_equal(port->flood.nanoseconds, 900000);
	assert_int_equal(port->flood.qpn, 17);
	assert_memory_equal(port->flood.gid, gid, sizeof(gid));
}

/* Nor do they count where a stranger could read that he has guessed the Q_Key. */
static void test_rubbish_is_not_counted(void **state)
{
	struct rna_packet recorded = probe_of(1000, 1);

	(void)state;
	come_rubbish(10, 0);
	recorded.to = 6; /* of the session before, or of another port */
	come(&recorded, 0);
	recorded.kind = RNA_PACKET_ANSWER;
	come(&recorded, 0);
	add_event(verbs, &(const struct rna_probe_event){.received = true, .failed = true},
		  (const uint8_t[RNA_PACKET_SIZE]){0});
	assert_int_equal(take_all(START), 0);
	assert_int_equal(port->flood.packets, 13);
	assert_int_equal(count_strangers(), 0);
}

static void test_a_repeated_probe_is_counted_and_not_answered(void **state)
{
	struct rna_packet probe = probe_of(1000, 1);

	(void)state;
	come(&probe, 0);
	assert_int_equal(take_all(START), 0);
	take_aim();
	assert_int_equal(last_end.qkey, qkey_of(1000)); /* the Q_Key of the peer */
	assert_int_equal(verbs->count, 2);              /* the answer has left */
	come(&probe, 0);
	assert_int_equal(take_all(START + SECOND), 0);
	assert_int_equal(prober->strangers[RNA_STRANGER_REPLAY], 1);
	assert_int_equal(port->flood.packets, 1);
	assert_int_equal(verbs->count, 3);
	probe.number++;
	come(&probe, 0);
	come(&probe, 0);
	assert_int_equal(take_all(START + 2 * SECOND), 0);
	assert_int_equal(prober->strangers[RNA_STRANGER_DUPLICATE], 1);
	assert_int_equal(prober->strangers[RNA_STRANGER_REPLAY], 1);
}

static void test_a_probe_has_the_qkey_of_its_receiver(void **state)
{
	const struct rna_prober_order order = {
		.kind = RNA_PROBER_TARGET_SET,
		.target_id = 5,
		.target = {.address = {.mtu = 1024, .qpn_count = 1, .qpns = {99}},
			   .session = 4242,
			   .period = SECOND},
	};

	(void)state;
	assert_true(rna_prober_set_target(port, &order, START));
	(void)rna_prober_send_due(prober, port, START);
	take_aim();
	(void)rna_prober_send_due(prober, port, START + SECOND);
	assert_int_equal(verbs->count, 1);
	assert_int_equal(last_end.qpn, 99);
	assert_int_equal(last_end.qkey, qkey_of(4242));
	assert_int_not_equal(last_end.qkey, verbs->qkey);
}

/* Members alone can get so far, by beginning anew a thousand times. */
static void test_a_port_that_can_keep_no_more_visitors_is_closed(void **state)
{
	rna_usec now = START;
	uint64_t session = 1;
	int status = 0;

	(void)state;
	for (; session <= RNA_VISITORS_MAX + RNA_FORMER_VISITORS_MAX; session++) {
		struct rna_packet probe = probe_of(session, 1);

		come(&probe, 0);
		assert_int_equal(take_all(now += SECOND), 0);
		take_aim();
	}
	come(&(const struct rna_packet){.kind = RNA_PACKET_PROBE, .from = session, .to = 7}, 0);
	status = take_all(now + SECOND);
	assert_int_equal(status, -ENOSPC);
}

/* -- Priority ---------------------------------------------------------------------------------- */

/* Takes it, and then the CPU until it has lost it, or for five seconds. */
static enum rna_probe_priority spend_budget(void)
{
	const clock_t end = clock() + 5 * CLOCKS_PER_SEC;

	(void)rna_prober_take_priority();
	while (rna_prober_priority() == RNA_PROBE_PRIORITY_REALTIME && clock() < end)
		;
	return rna_prober_priority();
}

/* In a child, with the rights of this process or with none. */
static enum rna_probe_priority priority_in_child(bool rights, enum rna_probe_priority take(void))
{
	const struct rlimit none = {0, 0};
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (!rights &&
		    (setrlimit(RLIMIT_NICE, &none) < 0 || setrlimit(RLIMIT_RTPRIO, &none) < 0 ||
		     (geteuid() == 0 && setuid(65534) < 0)))
			_exit(RNA_PROBE_PRIORITY_COUNT);
		_exit((int)take());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return (enum rna_probe_priority)WEXITSTATUS(status);
}

static void test_the_priority_is_what_it_has_the_right_to(void **state)
{
	(void)state;
	assert_int_equal(priority_in_child(false, rna_prober_take_priority),
			 RNA_PROBE_PRIORITY_NORMAL);
	if (priority_in_child(true, rna_prober_take_priority) != RNA_PROBE_PRIORITY_REALTIME)
		skip(); /* no right to real time here */
	assert_int_equal(priority_in_child(true, spend_budget), RNA_PROBE_PRIORITY_NORMAL);
}

/* -- The loop ---------------------------------------------------------------------------------- */

enum { FLOODED = 1, ASKING, ANSWERING, REOPENED, SESSION = 100, PATIENCE = 60000 };

struct heard {
	bool open[REOPENED + 1];
	struct rna_probe_flood flood; /* packets 0: no port has paused */
	uint64_t answered[REOPENED + 1];
	unsigned lives;
};

static struct rna_child child;

static void order(const struct rna_prober_order *what)
{
	assert_int_equal(rna_prober_send(&child, what), 0);
}

static int start(void **state)
{
	struct rna_error error;

	(void)state;
	if (rna_prober_start(&child, &error) < 0)
		return -1;
	order(&(const struct rna_prober_order){.kind = RNA_PROBER_SETUP, .setup.key = {1}});
	return 0;
}

static int stop(void **state)
{
	(void)state;
	return rna_child_stop(&child, 60 * SECOND) ? 0 : -1;
}

static void open_port(uint32_t id, const char *device)
{
	struct rna_prober_order open = {
		.kind = RNA_PROBER_PORT_OPEN,
		.port_id = id,
		.port = {.port = 1, .session = SESSION + id},
	};

	(void)snprintf(open.port.device, sizeof(open.port.device), "%s", device);
	order(&open);
}

static void probe(uint32_t from, uint32_t to)
{
	order(&(const struct rna_prober_order){
		.kind = RNA_PROBER_TARGET_SET,
		.port_id = from,
		.target_id = 10 + from,
		.target = {.address = {.mtu = 1024, .qpn_count = 1, .qpns = {17}},
			   .session = SESSION + to,
			   .period = SECOND / 20},
	});
}

static void take(struct heard *heard, const struct rna_prober_report *report)
{
	switch (report->kind) {
	case RNA_PROBER_PORT_REPORT:
		assert_int_not_equal(report->port.use, RNA_PROBE_FAILED);
		heard->open[report->port_id] = report->port.use == RNA_PROBE_OPEN;
		if (report->port.use == RNA_PROBE_PAUSED)
			heard->flood = report->port.flood;
		break;
	case RNA_PROBER_TARGET_REPORT:
		heard->answered[report->port_id] += report->target.counts.answered;
		break;
	case RNA_PROBER_CHILD_REPORT:
		heard->lives++;
		break;
	default:
		break;
	}
}

/* The next report. The prober sends one each second at least. */
static void hear(struct heard *heard)
{
	struct pollfd reports = {.fd = child.fd, .events = POLLIN};
	struct rna_prober_report report;
	int status;

	assert_int_equal(poll(&reports, 1, PATIENCE), 1);
	while ((status = rna_prober_receive(&child, &report)) > 0)
		take(heard, &report);
	assert_int_equal(status, 0);
}

/* A port that never has nothing to take: the others have their turns, and so have reports. */
static void test_a_busy_port_holds_up_nobody(void **state)
{
	struct heard heard = {0};

	(void)state;
	open_port(FLOODED, COMPLETIONS);
	open_port(ASKING, "a");
	open_port(ANSWERING, "b");
	probe(ASKING, ANSWERING);
	while (heard.answered[ASKING] < 10 || heard.lives < 2)
		hear(&heard);
	assert_true(heard.open[FLOODED]);
	order(&(const struct rna_prober_order){.kind = RNA_PROBER_PORT_CLOSE, .port_id = FLOODED});
	while (heard.open[FLOODED])
		hear(&heard);
}

static void test_a_flooded_port_pauses_and_comes_back_with_another_qkey(void **state)
{
	struct heard heard = {0};
	uint64_t before;

	(void)state;
	open_port(ASKING, "a");
	open_port(ANSWERING, "b");
	probe(ASKING, ANSWERING);
	while (heard.answered[ASKING] == 0)
		hear(&heard);
	open_port(FLOODED, RUBBISH);
	while (heard.flood.packets == 0)
		hear(&heard);
	assert_false(heard.open[FLOODED]);
	assert_int_equal(heard.flood.packets, RNA_PROBER_FLOOD + 1);
	assert_int_equal(heard.flood.qpn, 4711);
	before = heard.answered[ASKING];
	while (heard.answered[ASKING] < before + 5)
		hear(&heard);
	open_port(REOPENED, RUBBISH); /* the flood is for the Q_Key before */
	probe(REOPENED, ANSWERING);
	while (heard.answered[REOPENED] < 5)
		hear(&heard);
	assert_true(heard.open[REOPENED]);
}

int main(int argc, char *argv[])
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define LOOP(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_priority_is_what_it_has_the_right_to),
		TEST(test_a_turn_takes_some_and_says_that_there_is_more),
		TEST(test_so_much_in_a_second_is_a_flood),
		TEST(test_rubbish_is_not_counted),
		TEST(test_a_repeated_probe_is_counted_and_not_answered),
		TEST(test_a_probe_has_the_qkey_of_its_receiver),
		TEST(test_a_port_that_can_keep_no_more_visitors_is_closed),
		LOOP(test_a_busy_port_holds_up_nobody),
		LOOP(test_a_flooded_port_pauses_and_comes_back_with_another_qkey),
	};

	if (argc > 0 && strncmp(argv[0], RNA_PROBER_PROGRAM, strlen(RNA_PROBER_PROGRAM)) == 0)
		return rna_prober_main(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
