// SPDX-License-Identifier: Apache-2.0
/*
 * The prober's process: its loop, orders, ports, aims and reports, over doubles of the verbs, of
 * the thread that makes aims, of the parent's socket and of the clock. The input says, byte for
 * byte, what happens before each turn of the loop: orders, datagrams, completions, aims, time.
 * Datagrams of peers have the right code, or nothing behind it would be reached; some are damaged
 * then.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <string.h>
#include <sys/socket.h>

#include "rna/base/child.h"

#include "prober/probe_targets.h"

#include "fuzz.h"

enum {
	EVENTS_MAX = 512, /* that wait at a port */
	SENDS_MAX = 128,  /* under way at a port */
	JOBS_MAX = 64,
	ORDERS_MAX = 64,
	PORT_IDS = 6,
	TARGET_IDS = 6,
	PEERS = 4,
	SENT_MAX = 64,      /* probes that peers may answer */
	HEARD_MAX = 1024,   /* probes of peers, each once */
	REPLAYS_MAX = 16,   /* datagrams that may come again */
	STEPS_MAX = 1000,   /* of an input */
	ANSWERS_BURST = 80, /* answers at once for one visitor */
	/* as probe_targets.c has them */
	OVERHEAD = 90,
	BYTES_PER_SECOND = 7500,
	CREDIT_MAX = 2 * (4096 + OVERHEAD),
};

#define SESSION  UINT64_C(1000) /* of the first port; each opening has the next one */
#define BEGIN    (1000 * RNA_USEC_PER_SEC)
#define PACE     (RNA_USEC_PER_SEC / RNA_PROBER_RATE_MAX)
#define CATCH_UP (RNA_USEC_PER_SEC / 2)
#define ASYNC_FD 2000
#define EVENT_FD 1000

struct rna_aim {
	struct rna_probe_verbs *verbs;
};

/* What has happened at a port: a datagram came, or one has left. */
struct event {
	bool received, failed;
	uint32_t id;
	uint8_t *data;
	size_t len;
	unsigned peer;
};

struct rna_probe_verbs {
	unsigned number;
	uint64_t session;
	bool tells;     /* that something came, since it was armed */
	unsigned taken; /* events, in this turn */
	bool by_qp, own_clock, lost, dead;
	struct rna_probe_address address;
	unsigned aims;
	struct event events[EVENTS_MAX];
	size_t first, count;       /* of events */
	uint32_t sends[SENDS_MAX]; /* whose completion is to come */
	size_t send_count;
	uint8_t *shown; /* the data of the event that the caller has */
	rna_usec probed, paced;
	double credit; /* bytes */
};

/* A probe that was sent, for peers to answer. */
struct sent {
	uint32_t target, number;
	uint64_t session;
	bool large;
};

/* A valid probe that came, perhaps several times. */
struct heard {
	struct rna_packet packet;
	size_t len;
	bool answered;
};

/* What the reports of a target add up to, since it was set with this address and session. */
struct account {
	struct rna_prober_target target;
	struct rna_probe_counts counts;
	uint64_t late;     /* and excused: of the lost ones */
	uint64_t accepted; /* by the verbs */
};

/* How many answers a visitor may still have. */
struct allowance {
	double left;
	rna_usec since;
};

static struct {
	rna_usec now;
	struct fuzz_bytes script;
	unsigned steps, endings;
	bool running;
	jmp_buf end;
	struct rna_prober *prober;
	struct rna_packet_key key;
	struct rna_probe_verbs *verbs[PORT_IDS]; /* that are open */
	struct rna_prober_order orders[ORDERS_MAX];
	size_t order_count;
	struct rna_aim_job *jobs[JOBS_MAX]; /* the first done of them are back */
	size_t job_count, done;
	bool hangs_up, refuses_jobs;
	unsigned refused_sends, deaf;
	const struct rna_prober_report *told;
	uint64_t sessions; /* that were given to ports, from SESSION on */
	uint64_t opened;   /* the one of the newest order to open a port */
	struct account accounts[PORT_IDS][TARGET_IDS];
	struct allowance allowances[PORT_IDS][PEERS][TARGET_IDS];
	struct sent sent[SENT_MAX];
	size_t sent_count;
	struct heard heard[HEARD_MAX];
	size_t heard_count;
	struct event replays[REPLAYS_MAX];
	size_t replay_count;
	uint32_t numbers[PEERS][TARGET_IDS][2];
	uint64_t strangers;
} world;

/* Called by the linker in the place of the functions without that prefix. */
rna_usec __wrap_rna_clock_monotonic(void);
bool __wrap_rna_child_begin(const struct rna_child_limits *limits);
int __wrap_poll(struct pollfd *descriptors, nfds_t count, int timeout);
ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags);
_Noreturn void __wrap__Exit(int status);
_Noreturn void __real__Exit(int status);

/* -- What has to be true ----------------------------------------------------------------------- */

static struct rna_prober_port *find_port(const struct rna_probe_verbs *verbs)
{
	size_t i = 0;

	while (i < RNA_PROBER_PORTS_MAX && world.prober->ports[i].verbs != verbs)
		i++;
	FUZZ_WANT(i < RNA_PROBER_PORTS_MAX);
	return &world.prober->ports[i];
}

static struct account *account_of(uint32_t port, uint32_t target)
{
	return port < PORT_IDS && target < TARGET_IDS ? &world.accounts[port][target] : NULL;
}

static size_t count_waiting(const struct rna_under_way *under_way)
{
	size_t count = 0;

	for (size_t i = 0; i < RNA_UNDER_WAY_MAX; i++) {
		const struct rna_under_way_probe *probe = &under_way->probes[i];

		if (probe->fate != RNA_UNDER_WAY_WAITING)
			continue;
		FUZZ_WANT(rna_usec_since(probe->begun, world.now) <= RNA_PROBER_PATIENCE);
		count++;
	}
	return count;
}

/* Each probe that was sent has one fate, or waits for it, for as long as it may. */
static void want_target(const struct rna_prober_port *port, const struct rna_probe_target *target)
{
	const struct account *account = account_of(port->id, target->id);
	const struct rna_prober_target_report *report = &target->under_way.report;
	struct rna_probe_counts counts;
	size_t waiting = count_waiting(&target->under_way);

	if (!account)
		return;
	counts = account->counts;
	rna_probe_counts_merge(&counts, &report->counts);
	FUZZ_WANT(counts.sent == counts.answered + counts.lost + counts.voided + waiting);
	FUZZ_WANT(counts.sent <= account->accepted);
	FUZZ_WANT(counts.large_sent <= counts.sent && counts.large_lost <= counts.lost &&
		  counts.large_answered <= counts.answered && counts.ecn_marked <= counts.answered);
	FUZZ_WANT(account->late + report->late + report->excused <= counts.lost);
	FUZZ_WANT(target->session == account->target.session);
}

static void want_all(void)
{
	for (size_t i = 0; i < RNA_PROBER_PORTS_MAX; i++) {
		const struct rna_prober_port *port = &world.prober->ports[i];

		for (size_t k = 0; port->id && !port->closing && k < RNA_PROBER_TARGETS_MAX; k++)
			if (port->targets[k].id)
				want_target(port, &port->targets[k]);
		FUZZ_WANT(port->id == 0 || port->jobs <= world.job_count);
	}
}

static void want_nothing_open(void)
{
	for (size_t i = 0; i < RNA_PROBER_PORTS_MAX; i++)
		FUZZ_WANT(world.prober->ports[i].id == 0);
	for (size_t i = 0; i < PORT_IDS; i++)
		FUZZ_WANT(!world.verbs[i]);
}

static bool is_one_of(uint32_t qpn, const struct rna_probe_address *address)
{
	for (size_t i = 0; i < address->qpn_count; i++)
		if (address->qpns[i] == qpn)
			return true;
	return false;
}

/* No more probes and bytes than the rate of a port. */
static void spend_rate(struct rna_probe_verbs *verbs, size_t len)
{
	double passed = rna_seconds(world.now - verbs->probed);

	FUZZ_WANT(verbs->paced <= world.now);
	verbs->paced =
		(verbs->paced > world.now - CATCH_UP ? verbs->paced : world.now - CATCH_UP) + PACE;
	verbs->credit += passed * BYTES_PER_SECOND;
	if (verbs->credit > CREDIT_MAX)
		verbs->credit = CREDIT_MAX;
	verbs->credit -= (double)len + OVERHEAD;
	FUZZ_WANT(verbs->credit >= 0);
	verbs->probed = world.now;
}

static void want_probe(struct rna_probe_verbs *verbs, const struct rna_packet *packet,
		       const struct rna_probe_end *to, size_t len)
{
	struct rna_probe_target *target = rna_prober_find_target(find_port(verbs), packet->target);

	FUZZ_WANT(target && packet->to == target->session);
	FUZZ_WANT(is_one_of(to->qpn, &target->address));
	FUZZ_WANT(packet->large == (len > RNA_PACKET_SIZE));
	FUZZ_WANT(!packet->large || len <= target->address.mtu);
	spend_rate(verbs, len);
}

static void spend_allowance(const struct rna_probe_verbs *verbs, const struct rna_packet *packet)
{
	struct allowance *own;

	FUZZ_WANT(packet->to > 0 && packet->to <= PEERS && packet->target < TARGET_IDS);
	own = &world.allowances[verbs->number][packet->to - 1][packet->target];
	own->left += rna_seconds(world.now - own->since) * RNA_VISITOR_RATE;
	if (own->since == 0 || own->left > ANSWERS_BURST)
		own->left = ANSWERS_BURST;
	own->since = world.now;
	FUZZ_WANT(own->left >= -1e-6); /* the first one may have waited for its aim */
	own->left -= 1;
}

/* The probe, which from sent to that session. */
static struct heard *find_heard(const struct rna_packet *packet, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < world.heard_count; i++) {
		const struct rna_packet *probe = &world.heard[i].packet;

		if (probe->from == from && probe->to == to && probe->target == packet->target &&
		    probe->large == packet->large && probe->number == packet->number)
			return &world.heard[i];
	}
	return NULL;
}

/* Only to a valid probe, once, and not with more bytes than that has. */
static void want_answer(const struct rna_probe_verbs *verbs, const struct rna_packet *packet,
			size_t len)
{
	struct heard *heard = find_heard(packet, packet->to, packet->from);

	FUZZ_WANT(heard && !heard->answered && len <= heard->len);
	heard->answered = true;
	spend_allowance(verbs, packet);
}

/* -- Verbs ------------------------------------------------------------------------------------- */

static uint32_t qkey_of(uint64_t session)
{
	uint32_t ret;

	FUZZ_WANT(rna_packet_qkey(&world.key, session, &ret) == 0);
	return ret;
}

/* The name says what the device is like. */
int rna_probe_verbs_open(const char *device, unsigned port, int gid_index, const uint8_t gid[16],
			 uint32_t qkey, struct rna_probe_verbs **ret, struct rna_error *error)
{
	struct rna_probe_verbs *verbs;
	unsigned place = 0;

	(void)gid_index;
	FUZZ_WANT(port > 0 && qkey == qkey_of(SESSION + world.opened));
	while (place < PORT_IDS && world.verbs[place])
		place++;
	if (device[0] == 'x' || place == PORT_IDS)
		return rna_error_say(error, -ENODEV, "%s/%u: no such device", device, port);
	verbs = calloc(1, sizeof(*verbs));
	FUZZ_WANT(verbs);
	world.verbs[place] = verbs;
	verbs->number = place;
	verbs->credit = CREDIT_MAX;
	verbs->session = SESSION + world.opened;
	memset(world.allowances[place], 0, sizeof(world.allowances[place]));
	verbs->by_qp = device[0] & 1;
	verbs->own_clock = device[0] & 2;
	verbs->address = (struct rna_probe_address){.mtu = device[0] & 4 ? 4096 : 1024,
						    .qpn_count = 1 + (unsigned)device[0] / 8 % 4,
						    .qpns = {17, 18, 19, 20}};
	memcpy(verbs->address.gid, gid, sizeof(verbs->address.gid));
	*ret = verbs;
	return 0;
}

struct rna_probe_verbs *rna_probe_verbs_close(struct rna_probe_verbs *verbs)
{
	if (!verbs)
		return NULL;
	FUZZ_WANT(verbs->aims == 0 && world.verbs[verbs->number] == verbs);
	world.verbs[verbs->number] = NULL;
	for (; verbs->count > 0; verbs->count--)
		free(verbs->events[verbs->first++ % EVENTS_MAX].data);
	free(verbs->shown);
	free(verbs);
	return NULL;
}

const struct rna_probe_address *rna_probe_verbs_address(const struct rna_probe_verbs *verbs)
{
	return &verbs->address;
}

bool rna_probe_verbs_has_clock(const struct rna_probe_verbs *verbs)
{
	return verbs->own_clock;
}

static uint64_t clock_of(const struct rna_probe_verbs *verbs)
{
	return (world.now + (verbs->own_clock ? RNA_USEC_PER_SEC : 0)) * 1000;
}

uint64_t rna_probe_verbs_now(const struct rna_probe_verbs *verbs)
{
	return verbs->own_clock ? 0 : clock_of(verbs);
}

bool rna_probe_verbs_port_by_qp(const struct rna_probe_verbs *verbs)
{
	return verbs->by_qp;
}

int rna_aim_make(struct rna_probe_verbs *verbs, const struct rna_aim_request *request,
		 struct rna_aim **ret)
{
	struct rna_aim *aim = calloc(1, sizeof(*aim));

	(void)request;
	FUZZ_WANT(aim);
	aim->verbs = verbs;
	verbs->aims++;
	*ret = aim;
	return 0;
}

struct rna_aim *rna_aim_free(struct rna_aim *aim)
{
	if (!aim)
		return NULL;
	FUZZ_WANT(aim->verbs->aims-- > 0);
	free(aim);
	return NULL;
}

static void note_sent(const struct rna_probe_verbs *verbs, const struct rna_packet *packet)
{
	struct account *account = account_of(find_port(verbs)->id, packet->target);

	if (account)
		account->accepted++;
	world.sent[world.sent_count++ % SENT_MAX] = (struct sent){
		.target = packet->target,
		.number = packet->number,
		.session = packet->to,
		.large = packet->large,
	};
}

int rna_probe_verbs_send(struct rna_probe_verbs *verbs, unsigned from,
			 const struct rna_probe_end *to, const uint8_t data[RNA_PACKET_SIZE],
			 size_t len, uint32_t id)
{
	struct rna_packet packet;

	(void)from; /* any number: the port takes it modulo its queue pairs */
	FUZZ_WANT(to->aim && to->aim->verbs == verbs && len <= verbs->address.mtu);
	FUZZ_WANT(rna_packet_read(data, RNA_PACKET_SIZE, &world.key, &packet));
	FUZZ_WANT(packet.from == verbs->session && to->qkey == qkey_of(packet.to));
	if (packet.kind == RNA_PACKET_PROBE)
		want_probe(verbs, &packet, to, len);
	else
		want_answer(verbs, &packet, len);
	if (world.refused_sends > 0 || verbs->send_count == SENDS_MAX) {
		world.refused_sends -= world.refused_sends > 0;
		return -EAGAIN;
	}
	verbs->sends[verbs->send_count++] = id;
	if (packet.kind == RNA_PACKET_PROBE)
		note_sent(verbs, &packet);
	return 0;
}

int rna_probe_verbs_fd(const struct rna_probe_verbs *verbs)
{
	return EVENT_FD + (int)verbs->number;
}

int rna_probe_verbs_async_fd(const struct rna_probe_verbs *verbs)
{
	return ASYNC_FD + (int)verbs->number;
}

void rna_probe_verbs_arm(struct rna_probe_verbs *verbs)
{
	FUZZ_WANT(world.verbs[verbs->number] == verbs);
	verbs->tells = false;
}

int rna_probe_verbs_next(struct rna_probe_verbs *verbs, struct rna_probe_event *ret)
{
	const struct event *event = &verbs->events[verbs->first % EVENTS_MAX];

	free(verbs->shown);
	verbs->shown = NULL;
	if (verbs->count == 0)
		return verbs->dead ? -EIO : 0;
	FUZZ_WANT(verbs->taken++ < RNA_PROBER_EVENTS_MAX); /* other ports have their turn */
	verbs->shown = event->data;
	*ret = (struct rna_probe_event){
		.received = event->received,
		.failed = event->failed,
		.at = clock_of(verbs),
		.id = event->id,
		.data = event->data,
		.len = event->len,
		.way = {26, event->peer & 3, 64},
		.source = {[0] = 0xfe, [15] = (uint8_t)event->peer},
		.source_lid = (uint16_t)event->peer,
		.source_qpn = 100 + event->peer,
	};
	verbs->first++;
	verbs->count--;
	return 1;
}

bool rna_probe_verbs_is_lost(struct rna_probe_verbs *verbs, const char **ret_why)
{
	*ret_why = "it is removed";
	return verbs->lost;
}

/* -- Aims -------------------------------------------------------------------------------------- */

int rna_aimer_start(struct rna_worker **ret)
{
	const struct rna_worker_options options = {.name = "fuzz"};

	world.prober =
		(struct rna_prober *)(void *)((char *)ret - offsetof(struct rna_prober, aimer));
	return rna_worker_new(&options, ret); /* its thread is never started */
}

int rna_aimer_put(struct rna_worker *aimer, struct rna_aim_job *job)
{
	(void)aimer;
	if (world.refuses_jobs || world.job_count == JOBS_MAX)
		return -EAGAIN;
	world.jobs[world.job_count++] = job;
	return 0;
}

struct rna_aim_job *rna_aimer_take(struct rna_worker *aimer)
{
	struct rna_aim_job *job = world.jobs[0];

	(void)aimer;
	if (world.done == 0)
		return NULL;
	world.done--;
	world.job_count--;
	memmove(world.jobs, world.jobs + 1, world.job_count * sizeof(world.jobs[0]));
	return job;
}

/* The thread takes jobs in their order. */
static void do_job(bool fails)
{
	struct rna_aim_job *job = world.jobs[world.done];

	if (world.done == world.job_count)
		return;
	world.done++;
	job->status = fails ? -EHOSTUNREACH : rna_aim_make(job->verbs, &job->request, &job->aim);
}

/* -- The parent -------------------------------------------------------------------------------- */

bool __wrap_rna_child_begin(const struct rna_child_limits *limits)
{
	(void)limits;
	return true;
}

static void forget_port(uint32_t id)
{
	for (uint32_t i = 0; i < TARGET_IDS; i++)
		if (account_of(id, i))
			*account_of(id, i) = (struct account){0};
}

static struct rna_prober_order take_order(void)
{
	struct rna_prober_order order = world.orders[0];
	struct account *account = account_of(order.port_id, order.target_id);

	world.order_count--;
	memmove(world.orders, world.orders + 1, world.order_count * sizeof(order));
	if (order.kind == RNA_PROBER_PORT_OPEN) {
		forget_port(order.port_id);
		world.opened = order.port.session - SESSION;
	}
	if (account && order.kind == RNA_PROBER_TARGET_CLEAR)
		*account = (struct account){0};
	if (!account || order.kind != RNA_PROBER_TARGET_SET)
		return order;
	if (account->target.session != order.target.session ||
	    memcmp(&account->target.address, &order.target.address, sizeof(order.target.address)))
		*account = (struct account){0};
	account->target = order.target;
	return order;
}

/* Of both ends of the socket. */
ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags)
{
	static const struct rna_prober_order setup = {.kind = RNA_PROBER_SETUP,
						      .setup = {.confine = 1}};
	struct rna_prober_order order = setup;

	if (fd != RNA_CHILD_SOCKET) {
		FUZZ_WANT(size == sizeof(*world.told));
		memcpy(buffer, world.told, size);
		return (ssize_t)size;
	}
	FUZZ_WANT(size == sizeof(order));
	if (flags & MSG_DONTWAIT) {
		if (world.order_count == 0 && world.hangs_up)
			return 0;
		if (world.order_count == 0) {
			errno = EAGAIN;
			return -1;
		}
		order = take_order();
	}
	memcpy(buffer, &order, sizeof(order));
	return sizeof(order);
}

static void take_target_report(const struct rna_prober_report *report)
{
	struct account *account = account_of(report->port_id, report->target_id);

	if (!account)
		return;
	rna_probe_counts_merge(&account->counts, &report->target.counts);
	account->late += report->target.late + report->target.excused;
}

static void take_report(const struct rna_prober_report *report)
{
	uint64_t strangers = 0;

	switch (report->kind) {
	case RNA_PROBER_PORT_REPORT:
		FUZZ_WANT(memchr(report->port.text, '\0', sizeof(report->port.text)));
		FUZZ_WANT(report->port.use != RNA_PROBE_PAUSED ||
			  report->port.flood.packets > RNA_PROBER_FLOOD);
		if (report->port.use != RNA_PROBE_OPEN)
			forget_port(report->port_id);
		break;
	case RNA_PROBER_TARGET_REPORT:
		take_target_report(report);
		break;
	case RNA_PROBER_CHILD_REPORT:
		for (size_t i = 0; i < RNA_STRANGER_COUNT; i++)
			strangers += report->child.strangers[i];
		FUZZ_WANT(strangers >= world.strangers);
		world.strangers = strangers;
		break;
	default:
		break;
	}
}

/* The parent checks each report: one that it refuses would end the prober. */
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags)
{
	const struct rna_child parent = {.fd = -1};
	struct rna_prober_report report;

	(void)flags;
	FUZZ_WANT(fd == RNA_CHILD_SOCKET && len == sizeof(report));
	if (world.deaf > 0) {
		world.deaf--;
		errno = EAGAIN;
		return -1;
	}
	world.told = data;
	FUZZ_WANT(rna_prober_receive(&parent, &report) == 1);
	take_report(&report);
	return (ssize_t)len;
}

static void put_order(const struct rna_prober_order *order)
{
	if (world.order_count < ORDERS_MAX)
		world.orders[world.order_count++] = *order;
}

static void order_open(struct fuzz_bytes *script)
{
	struct rna_prober_order wanted = {
		.kind = RNA_PROBER_PORT_OPEN,
		.port_id = 1 + fuzz_byte(script) % (PORT_IDS - 1),
		.port = {.device = {(char)(1 + fuzz_byte(script) % 127)}, .port = 1},
	};

	wanted.port.session = SESSION + ++world.sessions;
	if (!rna_prober_find_port(world.prober, wanted.port_id))
		put_order(&wanted); /* else the prober would take it for nonsense, and end */
}

static void order_target(struct fuzz_bytes *script)
{
	struct rna_prober_order wanted = {
		.kind = RNA_PROBER_TARGET_SET,
		.port_id = fuzz_byte(script) % PORT_IDS,
		.target_id = 1 + fuzz_byte(script) % (TARGET_IDS - 1),
	};
	unsigned peer = fuzz_byte(script) % PEERS;

	wanted.target = (struct rna_prober_target){
		.address = {.gid = {[15] = (uint8_t)peer},
			    .mtu = peer & 1 ? 4096 : 256,
			    .qpn_count = 1 + peer % RNA_PROBE_QPS_MAX,
			    .qpns = {30, 31, 32, 33}},
		.session = 1 + peer,
		.period = (1 + fuzz_byte(script)) * 50 * RNA_USEC_PER_MSEC,
		.large_every = peer,
	};
	put_order(&wanted);
}

static void order_about(uint32_t kind, struct fuzz_bytes *script)
{
	const struct rna_prober_order wanted = {
		.kind = kind,
		.port_id = fuzz_byte(script) % PORT_IDS,
		.target_id = fuzz_byte(script) % TARGET_IDS,
	};

	put_order(&wanted);
}

static void order_anything(struct fuzz_bytes *script)
{
	struct rna_prober_order wanted = {0};
	size_t len = script->left < sizeof(wanted) ? script->left : sizeof(wanted);

	memcpy(&wanted, script->at, len);
	script->at += len;
	script->left -= len;
	put_order(&wanted);
}

/* -- Datagrams --------------------------------------------------------------------------------- */

static struct rna_probe_verbs *choose_verbs(struct fuzz_bytes *script)
{
	return world.verbs[fuzz_byte(script) % PORT_IDS];
}

static void push(struct rna_probe_verbs *verbs, const struct event *event)
{
	struct event *place;

	if (!verbs || verbs->count == EVENTS_MAX)
		return;
	place = &verbs->events[(verbs->first + verbs->count++) % EVENTS_MAX];
	*place = *event;
	verbs->tells = true;
	if (!event->data)
		return;
	place->data = malloc(event->len + (event->len == 0));
	FUZZ_WANT(place->data);
	memcpy(place->data, event->data, event->len);
}

/* The same probe again is still the same one. */
static void note_heard(const struct event *event)
{
	struct rna_packet packet;

	if (!rna_packet_read(event->data, event->len, &world.key, &packet) ||
	    packet.kind != RNA_PACKET_PROBE)
		return;
	if (!find_heard(&packet, packet.from, packet.to) && world.heard_count < HEARD_MAX)
		world.heard[world.heard_count++] = (struct heard){packet, event->len, false};
}

static void deliver(struct rna_probe_verbs *verbs, uint8_t *data, size_t len, unsigned peer)
{
	const struct event event = {.received = true, .data = data, .len = len, .peer = peer};
	struct event *kept = &world.replays[world.replay_count % REPLAYS_MAX];

	note_heard(&event);
	push(verbs, &event);
	free(kept->data);
	*kept = event;
	kept->data = malloc(len + (len == 0));
	FUZZ_WANT(kept->data);
	memcpy(kept->data, data, len);
	world.replay_count++;
}

static void send_packet(struct rna_probe_verbs *verbs, const struct rna_packet *packet, size_t len,
			unsigned peer, unsigned damage)
{
	uint8_t data[4096] = {0};

	FUZZ_WANT(rna_packet_write(packet, &world.key, data) == 0);
	if (damage > 0)
		data[(damage / 8 * 7) % RNA_PACKET_SIZE] ^= (uint8_t)(1 << damage % 8);
	deliver(verbs, data, len, peer);
}

static void probe_us(struct fuzz_bytes *script)
{
	struct rna_probe_verbs *verbs = choose_verbs(script);
	unsigned how = fuzz_byte(script), peer = how % PEERS, target = how / PEERS % TARGET_IDS;
	bool large = how & 128;
	uint32_t *number = &world.numbers[peer][target][large];
	const struct rna_packet packet = {
		.kind = RNA_PACKET_PROBE,
		.large = large,
		.from = 1 + peer,
		.to = verbs && how != 127 ? verbs->session : SESSION,
		.target = target,
		.number = *number,
	};

	*number += 1 + fuzz_byte(script) % 8;
	if (world.heard_count < HEARD_MAX)
		send_packet(verbs, &packet, large ? 65 + 15 * how : RNA_PACKET_SIZE, how / 8,
			    fuzz_byte(script));
}

static void answer_us(struct fuzz_bytes *script)
{
	struct rna_probe_verbs *verbs = choose_verbs(script);
	unsigned which = fuzz_byte(script), how = fuzz_byte(script);
	const struct sent *sent = &world.sent[which % SENT_MAX];
	const struct rna_packet packet = {
		.kind = RNA_PACKET_ANSWER,
		.large = sent->large,
		.from = sent->session,
		.to = verbs ? verbs->session : SESSION,
		.target = sent->target,
		.number = sent->number,
		.held = how * 1000,
		.held_number = sent->number - how % 4,
		.there = {26, how & 3, 64},
		.late = how > 240 ? (uint8_t)(how - 240) : 0,
	};

	send_packet(verbs, &packet, RNA_PACKET_SIZE, how, fuzz_byte(script));
}

static void replay(struct fuzz_bytes *script)
{
	struct rna_probe_verbs *verbs = choose_verbs(script);
	struct event event = world.replays[fuzz_byte(script) % REPLAYS_MAX];

	event.peer = fuzz_byte(script);
	if (event.data)
		push(verbs, &event);
}

static void flood(struct fuzz_bytes *script)
{
	struct rna_probe_verbs *verbs = choose_verbs(script);
	unsigned count = fuzz_byte(script);
	uint8_t data[RNA_PACKET_SIZE];

	memset(data, (int)fuzz_byte(script), sizeof(data));
	while (count-- > 0)
		push(verbs,
		     &(const struct event){.received = true, .data = data, .len = sizeof(data)});
}

static void complete(struct fuzz_bytes *script)
{
	struct rna_probe_verbs *verbs = choose_verbs(script);
	unsigned how = fuzz_byte(script);
	size_t which;

	if (!verbs || verbs->send_count == 0)
		return;
	which = how / 2 % verbs->send_count;
	push(verbs, &(const struct event){.failed = how & 1, .id = verbs->sends[which]});
	verbs->sends[which] = verbs->sends[--verbs->send_count];
}

/* -- Steps ------------------------------------------------------------------------------------- */

static void break_port(struct fuzz_bytes *script)
{
	struct rna_probe_verbs *verbs = choose_verbs(script);

	if (!verbs)
		return;
	if (fuzz_byte(script) & 1)
		verbs->lost = true;
	else
		verbs->dead = true;
}

static void hinder(struct fuzz_bytes *script)
{
	unsigned how = fuzz_byte(script);

	world.refused_sends = how & 3;
	world.deaf = how >> 2 & 7;
	world.refuses_jobs = how & 32;
	world.hangs_up = how == 255;
}

enum step {
	TURN, /* the loop goes on, at once or after some milliseconds */
	WAIT, /* or seconds */
	OPEN,
	CLOSE,
	SET,
	CLEAR,
	ANYTHING,
	AIM,
	PROBE,
	ANSWER,
	REPLAY,
	FLOOD,
	COMPLETE,
	BREAK,
	HINDER,
	STEPS
};

/* False: the loop's turn. */
static bool do_step(struct fuzz_bytes *script)
{
	static void (*const others[STEPS])(struct fuzz_bytes * script) = {
		[OPEN] = order_open, [SET] = order_target,  [ANYTHING] = order_anything,
		[PROBE] = probe_us,  [ANSWER] = answer_us,  [REPLAY] = replay,
		[FLOOD] = flood,     [COMPLETE] = complete, [BREAK] = break_port,
		[HINDER] = hinder,
	};
	enum step step = fuzz_byte(script) % STEPS;

	if (step == TURN || step == WAIT) {
		world.now += fuzz_byte(script) *
			     (step == TURN ? RNA_USEC_PER_MSEC : 100 * RNA_USEC_PER_MSEC);
		return false;
	}
	if (others[step])
		others[step](script);
	else if (step == AIM)
		do_job(fuzz_byte(script) % 4 == 3);
	else
		order_about(step == CLOSE ? RNA_PROBER_PORT_CLOSE : RNA_PROBER_TARGET_CLEAR,
			    script);
	return true;
}

/* The parent closes what it has opened, and all jobs come back. Then nothing is left. */
static void end_turn(void)
{
	world.refuses_jobs = false;
	world.deaf = 0;
	world.order_count = 0;
	while (world.done < world.job_count)
		do_job(false);
	for (size_t i = 0; i < RNA_PROBER_PORTS_MAX && world.endings == 0; i++)
		if (world.prober->ports[i].id)
			put_order(&(const struct rna_prober_order){
				.kind = RNA_PROBER_PORT_CLOSE,
				.port_id = world.prober->ports[i].id,
			});
	if (world.endings++ < 3)
		return;
	want_nothing_open();
	longjmp(world.end, 1);
}

static bool is_readable(int fd)
{
	if (fd == RNA_CHILD_SOCKET)
		return world.order_count > 0 || world.hangs_up;
	if (fd == rna_worker_fd(world.prober->aimer))
		return world.done > 0;
	if (fd >= ASYNC_FD)
		return world.verbs[fd - ASYNC_FD]->lost;
	return world.verbs[fd - EVENT_FD]->tells || world.verbs[fd - EVENT_FD]->dead;
}

/* The loop takes what is left, or something makes it. */
static void want_wakened(int timeout)
{
	for (size_t i = 0; i < PORT_IDS; i++) {
		struct rna_probe_verbs *verbs = world.verbs[i];

		if (!verbs)
			continue;
		verbs->taken = 0;
		FUZZ_WANT(verbs->count == 0 || verbs->tells || timeout == 0 ||
			  find_port(verbs)->closing);
	}
}

/* A turn of the loop begins here, and the one before has ended. */
int __wrap_poll(struct pollfd *descriptors, nfds_t count, int timeout)
{
	int ready = 0;

	FUZZ_WANT(timeout >= 0 && timeout <= 1000); /* it has to give signs of life */
	want_wakened(timeout);
	want_all();
	while (world.script.left > 0 && world.steps++ < STEPS_MAX && do_step(&world.script))
		;
	if (world.script.left == 0 || world.steps >= STEPS_MAX)
		end_turn();
	for (nfds_t i = 0; i < count; i++) {
		descriptors[i].revents = is_readable(descriptors[i].fd) ? POLLIN : 0;
		ready += descriptors[i].revents != 0;
	}
	return ready;
}

rna_usec __wrap_rna_clock_monotonic(void)
{
	return world.now;
}

/* libFuzzer ends with other codes. */
_Noreturn void __wrap__Exit(int status)
{
	if (world.running && status == EXIT_SUCCESS)
		longjmp(world.end, 1);
	__real__Exit(status);
}

static bool confine(void)
{
	return true;
}

static void clean_up(void)
{
	for (size_t i = 0; i < world.job_count; i++) {
		(void)rna_aim_free(world.jobs[i]->aim);
		free(world.jobs[i]);
	}
	for (size_t i = 0; i < RNA_PROBER_PORTS_MAX; i++)
		if (world.prober->ports[i].id)
			rna_prober_close_port(&world.prober->ports[i]);
	for (size_t i = 0; i < REPLAYS_MAX; i++)
		free(world.replays[i].data);
	(void)rna_worker_stop(world.prober->aimer);
	free(world.prober);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t bytes[RNA_PROBER_KEY_SIZE];

	memset(&world, 0, sizeof(world));
	world.now = BEGIN;
	world.script = (struct fuzz_bytes){data, size};
	FUZZ_WANT(rna_packet_key_make(bytes, &world.key) == 0);
	world.running = true;
	if (setjmp(world.end) == 0)
		(void)rna_prober_main(confine);
	world.running = false;
	FUZZ_WANT(world.prober);
	clean_up();
	return 0;
}
