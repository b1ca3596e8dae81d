// SPDX-License-Identifier: Apache-2.0
/*
 * What a probe costs on the wire, in bytes beside its payload: preamble and gap 20, Ethernet 18,
 * IPv4 20, UDP 8, BTH 12, DETH 8, ICRC 4 (IBTA 9.2, 9.3, annex A17). InfiniBand has less.
 */
#include "probe_targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	OVERHEAD = 90,
	BYTES_PER_SECOND = 60000 / 8,
	CREDIT_MAX = 2 * (4096 + OVERHEAD),
	FLOW_LABELS = 1 << 20,
};

#define AIM_PAUSE    (1 * RNA_USEC_PER_SEC) /* after an aim could not be made */
#define PACE         (RNA_USEC_PER_SEC / RNA_PROBER_RATE_MAX)
#define CATCH_UP     (RNA_USEC_PER_SEC / 2) /* what a late turn may send at once */
#define FIRST_SPREAD (50 * RNA_USEC_PER_MSEC)

/* -- Places ------------------------------------------------------------------------------------ */

struct rna_prober_port *rna_prober_find_port(struct rna_prober *prober, uint32_t id)
{
	for (size_t i = 0; id != 0 && i < RNA_PROBER_PORTS_MAX; i++)
		if (prober->ports[i].id == id)
			return &prober->ports[i];
	return NULL;
}

struct rna_probe_target *rna_prober_find_target(struct rna_prober_port *port, uint32_t id)
{
	for (size_t i = 0; i < RNA_PROBER_TARGETS_MAX; i++)
		if (port->targets[i].id == id)
			return &port->targets[i];
	return NULL;
}

static void free_aims(struct rna_aims *aims)
{
	for (size_t i = 0; i < RNA_AIM_PLACES; i++)
		(void)rna_aim_free(aims->aims[i]);
	*aims = (struct rna_aims){0};
}

/* Those of its targets and visitors. */
static unsigned places_of(const struct rna_prober_port *port)
{
	return rna_probe_verbs_port_by_qp(port->verbs) ? 1 : RNA_AIM_PLACES;
}

void rna_prober_clear_target(struct rna_probe_target *target)
{
	free_aims(&target->aims);
	*target = (struct rna_probe_target){0};
}

bool rna_prober_set_target(struct rna_prober_port *port, const struct rna_prober_order *order,
			   rna_usec now)
{
	struct rna_probe_target *target = rna_prober_find_target(port, order->target_id);

	if (target &&
	    (memcmp(&target->address, &order->target.address, sizeof(target->address)) != 0 ||
	     target->session != order->target.session))
		rna_prober_clear_target(target); /* another peer, or another life of it */
	if (!target || target->id == 0) {
		target = target ? target : rna_prober_find_target(port, 0);
		if (!target)
			return false;
		*target = (struct rna_probe_target){.id = order->target_id};
		target->due = now + (rna_usec)(target - port->targets) * FIRST_SPREAD;
		rna_under_way_init(&target->under_way);
	}
	target->address = order->target.address;
	target->session = order->target.session;
	target->period = order->target.period;
	target->large_every = order->target.large_every;
	return true;
}

void rna_prober_close_port(struct rna_prober_port *port)
{
	for (size_t i = 0; i < RNA_PROBER_TARGETS_MAX; i++)
		rna_prober_clear_target(&port->targets[i]);
	for (size_t i = 0; i < RNA_VISITORS_MAX; i++)
		free_aims(&port->visitors.visitors[i].aims);
	(void)rna_probe_verbs_close(port->verbs);
	*port = (struct rna_prober_port){0};
}

/* -- Answering --------------------------------------------------------------------------------- */

static uint32_t remember_sent(struct rna_prober_port *port, const struct rna_sent *sent)
{
	uint32_t id = port->next_sent++ % RNA_SENT_MAX;

	port->sent[id] = *sent;
	return id;
}

/* The answer left at that time of the port's clock; 0: that is not known yet. */
static void note_held(struct rna_visitor_held *held, uint64_t left)
{
	if (left > held->arrived && left - held->arrived <= UINT32_MAX)
		held->nanoseconds = (uint32_t)(left - held->arrived);
}

/* way, at: what the probe's headers said, and when it arrived. */
static void answer(struct rna_prober *prober, struct rna_prober_port *port,
		   struct rna_visitor *visitor, const struct rna_packet *probe,
		   struct rna_probe_way way, uint64_t at)
{
	struct rna_visitor_held *held = &visitor->held[probe->large];
	struct rna_packet packet = {
		.kind = RNA_PACKET_ANSWER,
		.large = probe->large,
		.source_class = probe->source_class,
		.from = port->session,
		.to = visitor->session,
		.target = visitor->target,
		.number = probe->number,
		.held = held->nanoseconds,
		.held_number = held->number,
		.there = way,
		.late = prober->late,
	};
	const struct rna_sent sent = {
		.is_answer = true,
		.target_id = visitor->target,
		.visitor = visitor->session,
		.large = probe->large,
		.number = probe->number,
	};
	uint8_t data[RNA_PACKET_SIZE], class;
	/* One step more in each round: each path there meets each path back. */
	uint32_t turn = visitor->answers + visitor->answers / RNA_AIM_PLACES;
	struct rna_probe_end to = {
		.aim = rna_aims_choose(&visitor->aims, turn, places_of(port), &class),
		.qpn = visitor->qpn,
	};

	visitor->answers++;
	*held = (struct rna_visitor_held){.number = probe->number, .arrived = at};
	if (rna_packet_write(&packet, &prober->key, data) == 0 &&
	    rna_packet_qkey(&prober->key, visitor->session, &to.qkey) == 0)
		/* If it cannot be sent, the peer counts it as lost, and rightly so. */
		(void)rna_probe_verbs_send(port->verbs, turn, &to, data, sizeof(data),
					   remember_sent(port, &sent));
	note_held(held, rna_probe_verbs_now(port->verbs));
}

/* -- Aims -------------------------------------------------------------------------------------- */

static bool start_job(struct rna_prober *prober, struct rna_prober_port *port,
		      const struct rna_aim_job *wanted)
{
	struct rna_aim_job *job = malloc(sizeof(*job));

	if (!job)
		return false;
	*job = *wanted;
	job->verbs = port->verbs;
	job->port_id = port->id;
	if (rna_aimer_put(prober->aimer, job) < 0) {
		free(job);
		return false;
	}
	port->jobs++;
	return true;
}

/* Any function that spreads does: each label gives another source port. 0 would mean "none". */
static uint32_t flow_label(uint32_t qpn, uint8_t source_class)
{
	uint32_t mixed = (qpn * 2654435761u) ^ (source_class * 40503u);

	return mixed % (FLOW_LABELS - 1) + 1;
}

static void aim_at_target(struct rna_prober *prober, struct rna_prober_port *port,
			  struct rna_probe_target *target)
{
	uint8_t class = rna_aims_class(target->turn, places_of(port));
	struct rna_aim_job job = {
		.target_id = target->id,
		.source_class = class,
		.request = {.lid = target->address.lid,
			    .service_level = port->service_level,
			    .traffic_class = port->traffic_class,
			    .flow_label = flow_label(target->address.qpns[0], class)},
	};

	memcpy(job.request.gid, target->address.gid, sizeof(job.request.gid));
	target->aiming = start_job(prober, port, &job);
}

static void aim_at_visitor(struct rna_prober *prober, struct rna_prober_port *port,
			   struct rna_visitor *visitor)
{
	uint8_t class = rna_aims_class(visitor->answers, places_of(port));
	struct rna_aim_job job = {
		.visitor = visitor->session,
		.visitor_target = visitor->target,
		.source_class = class,
		.request = {.lid = visitor->lid,
			    .service_level = port->service_level,
			    .traffic_class = port->traffic_class,
			    .flow_label = flow_label(visitor->qpn, class)},
	};

	memcpy(job.request.gid, visitor->gid, sizeof(job.request.gid));
	visitor->aiming = start_job(prober, port, &job);
}

static struct rna_visitor *find_visitor(struct rna_prober_port *port, uint64_t session,
					uint32_t target)
{
	for (size_t i = 0; i < RNA_VISITORS_MAX; i++) {
		struct rna_visitor *visitor = &port->visitors.visitors[i];

		if (visitor->session == session && visitor->target == target)
			return visitor;
	}
	return NULL;
}

static void put_aim(struct rna_prober_port *port, struct rna_aims *aims, struct rna_aim_job *job)
{
	(void)rna_aim_free(
		rna_aims_put(aims, job->source_class, places_of(port), RNA_TAKE(job->aim)));
}

static void give_to_target(struct rna_prober_port *port, struct rna_probe_target *target,
			   struct rna_aim_job *job, rna_usec now)
{
	target->aiming = false;
	target->aim_status = job->status;
	if (!job->aim) {
		target->aim_again = now + AIM_PAUSE;
		return;
	}
	put_aim(port, &target->aims, job);
}

static void give_to_visitor(struct rna_prober *prober, struct rna_prober_port *port,
			    struct rna_visitor *visitor, struct rna_aim_job *job)
{
	bool waits = visitor->waits;

	visitor->aiming = visitor->waits = false;
	if (!job->aim)
		return;
	put_aim(port, &visitor->aims, job);
	if (waits && !port->closing)
		answer(prober, port, visitor, &visitor->waiting, visitor->waiting_way,
		       visitor->waiting_at);
}

void rna_prober_take_aim(struct rna_prober *prober, struct rna_aim_job *job, rna_usec now)
{
	struct rna_prober_port *port = rna_prober_find_port(prober, job->port_id);
	struct rna_probe_target *target =
		job->target_id ? rna_prober_find_target(port, job->target_id) : NULL;
	struct rna_visitor *visitor =
		job->target_id ? NULL : find_visitor(port, job->visitor, job->visitor_target);

	port->jobs--; /* the port stays until its last job is back */
	if (target && target->aiming) {
		give_to_target(port, target, job, now);
	} else if (visitor && visitor->aiming) {
		give_to_visitor(prober, port, visitor, job);
	}
	(void)rna_aim_free(job->aim); /* nothing needs it any more */
	free(job);
}

/* -- Sending ----------------------------------------------------------------------------------- */

static void earn(struct rna_prober_port *port, rna_usec now)
{
	rna_usec passed = rna_usec_since(port->credited, now);
	uint64_t earned = passed * BYTES_PER_SECOND / RNA_USEC_PER_SEC;

	if (passed > RNA_USEC_PER_SEC * 10)
		earned = CREDIT_MAX;
	if (earned == 0)
		return;
	port->credited = now;
	port->credit = port->credit + earned > CREDIT_MAX ? CREDIT_MAX : port->credit + earned;
}

static bool spend(struct rna_prober_port *port, size_t len)
{
	if (port->credit < len + OVERHEAD)
		return false;
	port->credit -= len + OVERHEAD;
	return true;
}

/* A large one when its turn has come and the port may send so much; else a small one. 0: none. */
static size_t choose_size(struct rna_prober_port *port, struct rna_probe_target *target)
{
	uint32_t own = rna_probe_verbs_address(port->verbs)->mtu;
	size_t large = target->address.mtu < own ? target->address.mtu : own;
	bool turn = target->large_every > 0 && target->since_large + 1 >= target->large_every;

	if (turn && large > RNA_PACKET_SIZE && spend(port, large))
		return large;
	return spend(port, RNA_PACKET_SIZE) ? RNA_PACKET_SIZE : 0;
}

static void send_probe(struct rna_prober *prober, struct rna_prober_port *port,
		       struct rna_probe_target *target, size_t len, rna_usec now)
{
	bool large = len > RNA_PACKET_SIZE, by_qp = rna_probe_verbs_port_by_qp(port->verbs);
	/* Large ones take turns of their own, or they would take the same few paths. */
	uint32_t turn = large ? target->large_turn++ : target->turn;
	unsigned from = turn % rna_probe_verbs_address(port->verbs)->qpn_count;
	uint8_t class;
	struct rna_probe_end to = {
		.aim = rna_aims_choose(&target->aims, turn, places_of(port), &class),
		.qpn = target->address.qpns[turn % target->address.qpn_count],
	};
	struct rna_packet packet = {
		.kind = RNA_PACKET_PROBE,
		.large = large,
		.source_class = by_qp ? (uint8_t)from : class,
		.from = port->session,
		.to = target->session,
		.target = target->id,
		.there = {255, 255, 255},
	};
	uint8_t data[RNA_PACKET_SIZE];
	int status;

	packet.number = rna_under_way_send(&target->under_way, large, packet.source_class, now);
	rna_under_way_left(&target->under_way, large, packet.number,
			   rna_probe_verbs_now(port->verbs));
	status = rna_packet_write(&packet, &prober->key, data);
	if (status == 0)
		status = rna_packet_qkey(&prober->key, target->session, &to.qkey);
	if (status == 0)
		status = rna_probe_verbs_send(
			port->verbs, from, &to, data, len,
			remember_sent(port, &(const struct rna_sent){.target_id = target->id,
								     .large = large,
								     .number = packet.number}));
	if (status < 0)
		rna_under_way_refuse(&target->under_way, large, packet.number, -status);
	target->since_large = large ? 0 : target->since_large + 1;
	target->turn++;
}

/* True: a probe was sent. */
static bool send_to(struct rna_prober *prober, struct rna_prober_port *port,
		    struct rna_probe_target *target, rna_usec now)
{
	unsigned places = places_of(port);
	uint8_t class;
	size_t len = 0;

	if (rna_aims_want(&target->aims, target->turn, places) && !target->aiming &&
	    now >= target->aim_again)
		aim_at_target(prober, port, target);
	if (rna_aims_choose(&target->aims, target->turn, places, &class)) {
		len = choose_size(port, target);
		if (len > 0)
			send_probe(prober, port, target, len, now);
	} else if (target->aim_status < 0) {
		target->under_way.report.refused++;
		target->under_way.report.refusal = -target->aim_status;
		target->under_way.news = true;
	}
	return len > 0;
}

/* NULL: there are no targets. */
static struct rna_probe_target *find_next(struct rna_prober_port *port)
{
	struct rna_probe_target *next = NULL;

	for (size_t i = 0; i < RNA_PROBER_TARGETS_MAX; i++)
		if (port->targets[i].id != 0 && (!next || port->targets[i].due < next->due))
			next = &port->targets[i];
	return next;
}

static rna_usec later(rna_usec a, rna_usec b)
{
	return a > b ? a : b;
}

/* This process could not send them in time. They are not made up for, but counted. */
static void miss(struct rna_probe_target *target, rna_usec now)
{
	uint64_t missed = rna_usec_since(target->due, now) / target->period + 1;

	rna_under_way_miss(&target->under_way, missed);
	target->due = now + target->period;
}

rna_usec rna_prober_send_due(struct rna_prober *prober, struct rna_prober_port *port, rna_usec now)
{
	struct rna_probe_target *target;

	earn(port, now);
	while ((target = find_next(port)) && target->due <= now && port->paced <= now) {
		if (send_to(prober, port, target, now))
			port->paced = later(port->paced, now - CATCH_UP) + PACE;
		target->due += target->period;
		if (target->due <= now)
			miss(target, now);
	}
	if (!target)
		return RNA_USEC_NEVER;
	return later(target->due, port->paced);
}

/* -- Receiving --------------------------------------------------------------------------------- */

static bool is_from(const struct rna_visitor *visitor, const struct rna_probe_event *event)
{
	return memcmp(visitor->gid, event->source, sizeof(visitor->gid)) == 0 &&
	       visitor->lid == event->source_lid;
}

/* Where its probes come from can change: a bond's other port, another GID. */
static bool knows_way_back(struct rna_visitor *visitor, const struct rna_probe_event *event,
			   unsigned places)
{
	uint8_t class;
	bool same = is_from(visitor, event);

	memcpy(visitor->gid, event->source, sizeof(visitor->gid));
	visitor->lid = event->source_lid;
	visitor->qpn = event->source_qpn;
	if (!same)
		free_aims(&visitor->aims);
	return rna_aims_choose(&visitor->aims, visitor->answers, places, &class) != NULL;
}

static enum rna_probe_stranger take_probe(struct rna_prober *prober, struct rna_prober_port *port,
					  const struct rna_packet *probe,
					  const struct rna_probe_event *event, rna_usec now)
{
	struct rna_visitor *visitor;
	struct rna_aims old;
	enum rna_probe_stranger stranger =
		rna_visitors_find(&port->visitors, probe, now, &visitor, &old);

	free_aims(&old);
	if (stranger == RNA_STRANGER_COUNT)
		stranger = rna_visitor_accept(visitor, probe, now);
	if (stranger == RNA_STRANGER_DUPLICATE && !is_from(visitor, event))
		stranger = RNA_STRANGER_REPLAY;
	if (stranger != RNA_STRANGER_COUNT)
		return stranger;
	if (knows_way_back(visitor, event, places_of(port))) {
		answer(prober, port, visitor, probe, event->way, event->at);
	} else {
		visitor->waits = true;
		visitor->waiting = *probe;
		visitor->waiting_way = event->way;
		visitor->waiting_at = event->at;
	}
	if (!visitor->aiming && rna_aims_want(&visitor->aims, visitor->answers, places_of(port)))
		aim_at_visitor(prober, port, visitor);
	return RNA_STRANGER_COUNT;
}

static enum rna_probe_stranger take_answer(struct rna_prober_port *port,
					   const struct rna_packet *packet,
					   const struct rna_probe_event *event, rna_usec now)
{
	struct rna_probe_target *target =
		packet->target ? rna_prober_find_target(port, packet->target) : NULL;

	if (!target || packet->from != target->session)
		return RNA_STRANGER_REPLAY;
	if (rna_under_way_answer(&target->under_way, packet, event->way, now, event->at))
		return RNA_STRANGER_COUNT;
	return rna_under_way_is_copy(&target->under_way, packet, now) ? RNA_STRANGER_DUPLICATE
								      : RNA_STRANGER_REPLAY;
}

static void refuse(struct rna_prober_port *port, const struct rna_probe_event *event, rna_usec now)
{
	struct rna_probe_flood *flood = &port->flood;

	if (flood->packets == 0 || rna_usec_since(port->flood_since, now) >= RNA_USEC_PER_SEC) {
		flood->packets = 0;
		port->flood_since = now;
		port->flood_since_at = event->at;
	}
	flood->packets++;
	flood->nanoseconds =
		event->at > port->flood_since_at ? event->at - port->flood_since_at : 0;
	memcpy(flood->gid, event->source, sizeof(flood->gid));
	flood->lid = event->source_lid;
	flood->qpn = event->source_qpn;
}

/*
 * Is it made with the secret, for this session of the port? Only such packets are counted where
 * others can see it: any other one, also a valid one that was recorded earlier, can be sent to find
 * out by that count whether its Q_Key is right.
 */
static bool is_of_peer(const struct rna_prober *prober, const struct rna_prober_port *port,
		       const struct rna_probe_event *event, struct rna_packet *ret)
{
	return !event->failed && rna_packet_read(event->data, event->len, &prober->key, ret) &&
	       ret->to == port->session;
}

static void take_received(struct rna_prober *prober, struct rna_prober_port *port,
			  const struct rna_probe_event *event, rna_usec now)
{
	struct rna_packet packet;
	enum rna_probe_stranger stranger;

	if (!is_of_peer(prober, port, event, &packet)) {
		refuse(port, event, now);
		return;
	}
	stranger = packet.kind == RNA_PACKET_PROBE ? take_probe(prober, port, &packet, event, now)
						   : take_answer(port, &packet, event, now);
	if (stranger == RNA_STRANGER_COUNT)
		return;
	prober->strangers[stranger]++;
	refuse(port, event, now);
}

static void take_left_probe(struct rna_prober_port *port, const struct rna_sent *sent,
			    const struct rna_probe_event *event)
{
	struct rna_probe_target *target = rna_prober_find_target(port, sent->target_id);

	if (!target || target->id == 0)
		return;
	if (event->failed)
		rna_under_way_refuse(&target->under_way, sent->large, sent->number, EIO);
	else if (rna_probe_verbs_has_clock(port->verbs))
		rna_under_way_left(&target->under_way, sent->large, sent->number, event->at);
}

static void take_left(struct rna_prober_port *port, const struct rna_probe_event *event)
{
	const struct rna_sent *sent = &port->sent[event->id % RNA_SENT_MAX];
	struct rna_visitor *visitor;

	if (!sent->is_answer) {
		take_left_probe(port, sent, event);
		return;
	}
	visitor = find_visitor(port, sent->visitor, sent->target_id);
	if (visitor && visitor->held[sent->large].number == sent->number && !event->failed &&
	    rna_probe_verbs_has_clock(port->verbs))
		note_held(&visitor->held[sent->large], event->at);
}

/* 1: it goes on; negative errno: it is to be closed. */
static int look_for_end(const struct rna_prober_port *port)
{
	if (port->flood.packets > RNA_PROBER_FLOOD)
		return -EDQUOT;
	return port->visitors.full ? -ENOSPC : 1;
}

int rna_prober_take_events(struct rna_prober *prober, struct rna_prober_port *port, rna_usec now)
{
	struct rna_probe_event event;
	int status = 1;

	rna_probe_verbs_arm(port->verbs);
	for (unsigned i = 0; status > 0 && i < RNA_PROBER_EVENTS_MAX; i++) {
		status = rna_probe_verbs_next(port->verbs, &event);
		if (status <= 0)
			break;
		if (event.received)
			take_received(prober, port, &event, now);
		else
			take_left(port, &event);
		status = look_for_end(port);
	}
	return status;
}
