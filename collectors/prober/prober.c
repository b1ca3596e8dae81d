// SPDX-License-Identifier: Apache-2.0
/*
 * The prober's process: one loop over the parent's socket, the ports and the aimer. It checks each
 * order, reports what it cannot do, and ends with its parent.
 */
#include "rna/prober.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "rna/base/child.h"

#include "probe_targets.h"

enum {
	DESCRIPTORS = 512,
	FIXED = 2, /* descriptors to wait for beside those of ports: the parent, the aimer */
	MTU_MIN = 256,
	MTU_MAX = 4096,
	GLOBAL_PORTS_MAX = 254,
};

/* A turn of the loop that begins later than it should by more than this delays what waits. */
#define LATE (50 * RNA_USEC_PER_MSEC)
/* One so much later was too late for probes that came meanwhile; answers tell that for some time.
 */
#define TOO_LATE    (RNA_PROBER_PATIENCE / 2)
#define PULSE       RNA_USEC_PER_SEC          /* between two signs of life */
#define LOOK        (250 * RNA_USEC_PER_MSEC) /* while probes wait: are they lost? */
#define PERIOD_MIN  (50 * RNA_USEC_PER_MSEC)
#define PERIOD_MAX  (3600 * RNA_USEC_PER_SEC)
#define REPORT_IDLE (1 * RNA_USEC_PER_SEC)

/* -- Reports ----------------------------------------------------------------------------------- */

/* False: the parent does not read at present. */
static bool say(const struct rna_prober_report *report)
{
	return send(RNA_CHILD_SOCKET, report, sizeof(*report), MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       sizeof(*report);
}

static void report_port(uint32_t id, const struct rna_probe_verbs *verbs, enum rna_probe_use use,
			const char *text)
{
	struct rna_prober_report report = {
		.kind = RNA_PROBER_PORT_REPORT,
		.port_id = id,
		.port = {.use = use, .hardware_times = verbs && rna_probe_verbs_has_clock(verbs)},
	};

	if (verbs)
		report.port.address = *rna_probe_verbs_address(verbs);
	(void)snprintf(report.port.text, sizeof(report.port.text), "%.*s",
		       (int)sizeof(report.port.text) - 1, text);
	(void)say(&report); /* a parent that does not read restarts this process */
}

static void report_target(const struct rna_prober_port *port, struct rna_probe_target *target,
			  rna_usec now)
{
	struct rna_prober_report report = {
		.kind = RNA_PROBER_TARGET_REPORT,
		.port_id = port->id,
		.target_id = target->id,
	};
	struct rna_prober_target_report before = target->under_way.report;

	if (rna_usec_since(target->reported, now) < RNA_PROBER_REPORT_PERIOD ||
	    !rna_under_way_report(&target->under_way, &report.target))
		return;
	if (say(&report)) {
		target->reported = now;
		return;
	}
	target->under_way.report = before; /* nothing that was counted is forgotten */
	target->under_way.news = true;
}

static void report_visitors(struct rna_prober_port *port, rna_usec now)
{
	if (rna_usec_since(port->visitors_reported, now) < REPORT_IDLE)
		return;
	port->visitors_reported = now;
	for (size_t i = 0; i < RNA_VISITORS_MAX; i++) {
		struct rna_prober_report report = {
			.kind = RNA_PROBER_VISITOR_REPORT,
			.port_id = port->id,
		};

		if (rna_visitor_report(&port->visitors.visitors[i], &report.visitor))
			(void)say(&report); /* the next one tells more */
	}
}

static void report_life(const struct rna_prober *prober)
{
	struct rna_prober_report report = {
		.kind = RNA_PROBER_CHILD_REPORT,
		.child = {.priority = rna_prober_priority()},
	};

	memcpy(report.child.strangers, prober->strangers, sizeof(report.child.strangers));
	(void)say(&report);
}

/* -- Ports ------------------------------------------------------------------------------------- */

static void finish_closing(struct rna_prober_port *port)
{
	uint32_t id = port->id;
	bool reported = port->reported;

	if (!port->closing || port->jobs > 0)
		return;
	rna_prober_close_port(port);
	if (!reported)
		report_port(id, NULL, RNA_PROBE_OFF, "");
}

static void begin_closing(struct rna_prober_port *port)
{
	port->closing = true;
	port->more = false;
	finish_closing(port);
}

/* A port that failed has no place here; the parent closes and opens it when it wants. */
static void fail_port(struct rna_prober_port *port, const char *why)
{
	report_port(port->id, NULL, RNA_PROBE_FAILED, why);
	port->reported = true;
	begin_closing(port);
}

/*
 * To close it ends a flood on each HCA: without QPs, packets to them are dropped by hardware (by
 * rxe_rcv() on Soft-RoCE), and the next QPs have another Q_Key. Without receives posted they would
 * be dropped as well, but the HCA would count them as lost for want of buffers, which is a finding,
 * and they would be back with the receives.
 */
static void pause_port(struct rna_prober_port *port)
{
	const struct rna_prober_report report = {
		.kind = RNA_PROBER_PORT_REPORT,
		.port_id = port->id,
		.port = {.use = RNA_PROBE_PAUSED, .flood = port->flood},
	};

	(void)say(&report); /* a parent that does not read restarts this process */
	port->reported = true;
	begin_closing(port);
}

static void open_port(struct rna_prober *prober, const struct rna_prober_order *order, rna_usec now)
{
	struct rna_error error = {0};
	struct rna_prober_port *port = NULL;
	struct rna_probe_verbs *verbs;
	uint32_t qkey;

	for (size_t i = 0; !port && i < RNA_PROBER_PORTS_MAX; i++)
		port = prober->ports[i].id == 0 ? &prober->ports[i] : NULL;
	if (!port) {
		report_port(order->port_id, NULL, RNA_PROBE_FAILED,
			    "more ports than one prober serves");
		return;
	}
	if (rna_packet_qkey(&prober->key, order->port.session, &qkey) < 0) {
		report_port(order->port_id, NULL, RNA_PROBE_FAILED, "not enough memory");
		return;
	}
	if (rna_probe_verbs_open(order->port.device, order->port.port, order->port.gid_index,
				 order->port.gid, qkey, &verbs, &error) < 0) {
		report_port(order->port_id, NULL, RNA_PROBE_FAILED, error.text);
		return;
	}
	*port = (struct rna_prober_port){
		.id = order->port_id,
		.session = order->port.session,
		.verbs = verbs,
		.service_level = (uint8_t)order->port.service_level,
		.traffic_class = (uint8_t)order->port.traffic_class,
		.credited = now,
	};
	report_port(port->id, verbs, RNA_PROBE_OPEN, "");
}

/* -- Orders ------------------------------------------------------------------------------------ */

static bool is_valid(const struct rna_prober_order *order)
{
	const struct rna_probe_address *address = &order->target.address;

	switch (order->kind) {
	case RNA_PROBER_PORT_OPEN:
		return order->port_id != 0 && order->port.session != 0 && order->port.port > 0 &&
		       order->port.port <= GLOBAL_PORTS_MAX && order->port.service_level < 16 &&
		       order->port.traffic_class < 256 &&
		       memchr(order->port.device, '\0', sizeof(order->port.device));
	case RNA_PROBER_TARGET_SET:
		return order->target_id != 0 && order->target.session != 0 &&
		       order->target.period >= PERIOD_MIN && order->target.period <= PERIOD_MAX &&
		       address->qpn_count > 0 && address->qpn_count <= RNA_PROBE_QPS_MAX &&
		       address->mtu >= MTU_MIN && address->mtu <= MTU_MAX;
	default:
		return order->kind == RNA_PROBER_PORT_CLOSE ||
		       order->kind == RNA_PROBER_TARGET_CLEAR;
	}
}

static void obey_about_target(struct rna_prober *prober, const struct rna_prober_order *order,
			      rna_usec now)
{
	struct rna_prober_port *port = rna_prober_find_port(prober, order->port_id);
	struct rna_probe_target *target =
		port && order->target_id ? rna_prober_find_target(port, order->target_id) : NULL;

	if (!port || port->closing)
		return; /* it has failed meanwhile, as was reported */
	if (order->kind == RNA_PROBER_TARGET_SET)
		(void)rna_prober_set_target(port, order, now); /* the parent knows the maximum */
	else if (target)
		rna_prober_clear_target(target);
}

/* False: the parent talks nonsense. */
static bool obey(struct rna_prober *prober, const struct rna_prober_order *order, rna_usec now)
{
	struct rna_prober_port *port = rna_prober_find_port(prober, order->port_id);

	if (!is_valid(order))
		return false;
	switch (order->kind) {
	case RNA_PROBER_PORT_OPEN:
		if (port)
			return false;
		open_port(prober, order, now);
		return true;
	case RNA_PROBER_PORT_CLOSE:
		if (port)
			begin_closing(port);
		else
			report_port(order->port_id, NULL, RNA_PROBE_OFF, "");
		return true;
	default:
		obey_about_target(prober, order, now);
		return true;
	}
}

/* A filter is inherited by threads, so there are none yet. */
static bool set_up(struct rna_prober *prober, bool (*confine)(void))
{
	struct rna_prober_order order;

	if (recv(RNA_CHILD_SOCKET, &order, sizeof(order), 0) != sizeof(order) ||
	    order.kind != RNA_PROBER_SETUP)
		return false;
	if (order.setup.priority)
		(void)rna_prober_take_priority(); /* without the right it is like other programs */
	if (order.setup.confine)
		(void)confine(); /* without it, there are still the other limits */
	return rna_packet_key_make(order.setup.key, &prober->key) == 0;
}

/* False: the parent is gone, or talks nonsense. */
static bool take_orders(struct rna_prober *prober, rna_usec now)
{
	struct rna_prober_order order;
	ssize_t len;

	while ((len = recv(RNA_CHILD_SOCKET, &order, sizeof(order), MSG_DONTWAIT)) > 0)
		if (len != sizeof(order) || !obey(prober, &order, now))
			return false;
	return len < 0 && (errno == EAGAIN || errno == EINTR);
}

/* -- The loop ---------------------------------------------------------------------------------- */

static bool has_waiting(const struct rna_under_way *under_way)
{
	for (size_t i = 0; i < RNA_UNDER_WAY_MAX; i++)
		if (under_way->probes[i].fate == RNA_UNDER_WAY_WAITING)
			return true;
	return false;
}

/* Everything of a port that goes by the clock. Returns when it has to be done again. */
static rna_usec look_after(struct rna_prober *prober, struct rna_prober_port *port, rna_usec now)
{
	rna_usec next = rna_prober_send_due(prober, port, now);

	for (size_t i = 0; i < RNA_PROBER_TARGETS_MAX; i++) {
		struct rna_probe_target *target = &port->targets[i];

		if (target->id == 0)
			continue;
		rna_under_way_expire(&target->under_way, now);
		report_target(port, target, now);
		if (has_waiting(&target->under_way) && now + LOOK < next)
			next = now + LOOK;
	}
	report_visitors(port, now);
	return next;
}

static void delay(struct rna_prober *prober, rna_usec late)
{
	for (size_t i = 0; i < RNA_PROBER_PORTS_MAX; i++) {
		struct rna_prober_port *port = &prober->ports[i];

		for (size_t k = 0; port->id && k < RNA_PROBER_TARGETS_MAX; k++)
			rna_under_way_delay(&port->targets[k].under_way, late,
					    rna_probe_verbs_has_clock(port->verbs));
	}
}

/*
 * What is due at that time begins now. A flood delays it by less: a turn takes some completions of
 * each port only.
 */
static void note_lateness(struct rna_prober *prober, rna_usec due, rna_usec now)
{
	rna_usec late = rna_usec_since(due, now);
	uint64_t seconds = (late + RNA_USEC_PER_SEC - 1) / RNA_USEC_PER_SEC;

	if (late > LATE)
		delay(prober, late);
	if (late > TOO_LATE) {
		prober->late = seconds < UINT8_MAX ? (uint8_t)seconds : UINT8_MAX;
		prober->stood_until = now;
	} else if (rna_usec_since(prober->stood_until, now) > RNA_PROBER_LATE_TOLD) {
		prober->late = 0;
	}
}

static void take_aims(struct rna_prober *prober, rna_usec now)
{
	struct rna_aim_job *job;

	while ((job = rna_aimer_take(prober->aimer))) {
		struct rna_prober_port *port = rna_prober_find_port(prober, job->port_id);

		rna_prober_take_aim(prober, job, now);
		finish_closing(port);
	}
}

static void take_port(struct rna_prober *prober, struct rna_prober_port *port, bool readable,
		      bool told, rna_usec now)
{
	const char *why = "";
	int status = readable || port->more ? rna_prober_take_events(prober, port, now) : 0;

	port->more = status > 0;
	if (status == -EDQUOT)
		pause_port(port);
	else if (status == -ENOSPC)
		begin_closing(port); /* the parent opens it again */
	else if (status < 0)
		fail_port(port, "its queue pairs are of no use any more");
	else if (told && rna_probe_verbs_is_lost(port->verbs, &why))
		fail_port(port, why);
}

/* Then nothing is waited for. Each port has its turn, and orders, reports and probes have theirs.
 */
static bool has_more(const struct rna_prober *prober)
{
	for (size_t i = 0; i < RNA_PROBER_PORTS_MAX; i++)
		if (prober->ports[i].more)
			return true;
	return false;
}

/* Descriptors: the parent, the aimer, then two of each port, in the order of places. */
static nfds_t list_descriptors(struct rna_prober *prober, struct pollfd *ret,
			       struct rna_prober_port **ret_ports)
{
	nfds_t count = FIXED;

	ret[0] = (struct pollfd){.fd = RNA_CHILD_SOCKET, .events = POLLIN};
	ret[1] = (struct pollfd){.fd = rna_worker_fd(prober->aimer), .events = POLLIN};
	for (size_t i = 0; i < RNA_PROBER_PORTS_MAX; i++) {
		struct rna_prober_port *port = &prober->ports[i];

		if (port->id == 0 || port->closing)
			continue;
		ret_ports[(count - FIXED) / 2] = port;
		ret[count++] =
			(struct pollfd){.fd = rna_probe_verbs_fd(port->verbs), .events = POLLIN};
		ret[count++] = (struct pollfd){.fd = rna_probe_verbs_async_fd(port->verbs),
					       .events = POLLIN};
	}
	return count;
}

/* Waits until something happens or next has come. False: waiting is impossible. */
static bool wait_until(struct pollfd *descriptors, nfds_t count, rna_usec next)
{
	rna_usec now = rna_clock_monotonic();
	int timeout = (int)((rna_usec_since(now, next) + 999) / RNA_USEC_PER_MSEC);

	return poll(descriptors, count, timeout) >= 0 || errno == EINTR;
}

/* One turn. False: the process is to end. */
static bool turn(struct rna_prober *prober, rna_usec *next, rna_usec *pulse)
{
	struct pollfd descriptors[FIXED + 2 * RNA_PROBER_PORTS_MAX];
	struct rna_prober_port *ports[RNA_PROBER_PORTS_MAX];
	nfds_t count = list_descriptors(prober, descriptors, ports);
	rna_usec now;

	if (!wait_until(descriptors, count, has_more(prober) ? 0 : *next))
		return false;
	now = rna_clock_monotonic();
	note_lateness(prober, *next, now);
	for (nfds_t i = FIXED; i < count; i += 2)
		take_port(prober, ports[(i - FIXED) / 2], descriptors[i].revents != 0,
			  descriptors[i + 1].revents != 0, now);
	take_aims(prober, now);
	if (descriptors[0].revents != 0 && !take_orders(prober, now))
		return false;
	if (now >= *pulse) {
		report_life(prober);
		*pulse = now + PULSE;
	}
	*next = *pulse;
	for (size_t i = 0; i < RNA_PROBER_PORTS_MAX; i++) {
		rna_usec own = prober->ports[i].id == 0 || prober->ports[i].closing
				       ? RNA_USEC_NEVER
				       : look_after(prober, &prober->ports[i], now);

		*next = own < *next ? own : *next;
	}
	return true;
}

int rna_prober_main(bool (*confine)(void))
{
	static const struct rna_child_limits limits = {
		.name = "rna-prober",
		.descriptors = DESCRIPTORS,
		.file_bytes = 0,
	};
	struct rna_prober *prober = calloc(1, sizeof(*prober));
	rna_usec next = 0, pulse = 0;

	if (!prober || !rna_child_begin(&limits) || !set_up(prober, confine) ||
	    rna_aimer_start(&prober->aimer) < 0)
		return EXIT_FAILURE;
	next = pulse = rna_clock_monotonic();
	while (turn(prober, &next, &pulse))
		;
	/* The kernel closes what is open. A thread may be in a system call that takes seconds. */
	_Exit(EXIT_SUCCESS);
}
