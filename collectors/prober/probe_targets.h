/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ports and targets of the prober: sends probes when they are due, answers those of visitors,
 * counts. Thread: the child's loop.
 */
#pragma once

#include "aimer.h"
#include "aims.h"
#include "under_way.h"
#include "visitors.h"

struct rna_probe_target {
	uint32_t id; /* 0: this place is free */
	struct rna_probe_address address;
	uint64_t session;
	rna_usec period;
	uint32_t large_every;
	uint32_t turn;        /* probes sent, or refused, so far */
	uint32_t large_turn;  /* of these, large ones */
	uint32_t since_large; /* of these, since the last large one */
	rna_usec due;         /* monotonic */
	rna_usec reported;
	struct rna_aims aims;
	bool aiming;
	rna_usec aim_again; /* after a failure */
	int aim_status;     /* negative errno of the last failure; 0 */
	struct rna_under_way under_way;
};

/* Who gave id to what is under way: so that the completion finds them. */
struct rna_sent {
	bool is_answer;
	uint32_t target_id; /* or that of the visitor */
	uint64_t visitor;
	bool large;
	uint32_t number;
};

enum {
	RNA_SENT_MAX = 128,
	/* Completions that a port takes in a turn of the loop: as many as it posts receives. */
	RNA_PROBER_EVENTS_MAX = 128,
	/*
	 * Refused packets within a second with which a port is flooded. More than all visitors may
	 * send together, so that a network that delivers everything twice is no flood; and what is
	 * below costs less than 1 % of a core (1 us each, and what verbs cost).
	 */
	RNA_PROBER_FLOOD = 2000,
};
_Static_assert(RNA_PROBER_FLOOD > RNA_VISITORS_MAX * RNA_VISITOR_RATE, "raise it");

struct rna_prober_port {
	uint32_t id; /* 0: this place is free */
	uint64_t session;
	bool more; /* completions may be left that make nothing readable */
	bool closing;
	bool reported; /* its last report was sent: it failed, or was flooded */
	unsigned jobs; /* of the aimer, that have not come back */
	struct rna_probe_verbs *verbs;
	uint8_t service_level;
	uint8_t traffic_class;
	uint64_t credit;   /* bytes that may be sent */
	rna_usec credited; /* monotonic */
	rna_usec paced;    /* monotonic: no probe before */
	uint32_t next_sent;
	struct rna_sent sent[RNA_SENT_MAX];
	struct rna_probe_target targets[RNA_PROBER_TARGETS_MAX];
	struct rna_visitors visitors;
	rna_usec visitors_reported;
	struct rna_probe_flood flood; /* packets that were refused within a second... */
	rna_usec flood_since;         /* ...from then on, monotonic; */
	uint64_t flood_since_at;      /* the same by the port's clock */
};

struct rna_prober {
	struct rna_packet_key key;
	struct rna_worker *aimer;
	struct rna_prober_port ports[RNA_PROBER_PORTS_MAX];
	uint64_t strangers[RNA_STRANGER_COUNT];
	rna_usec stood_until; /* monotonic: when this process ran again; 0: it never stood still */
	uint8_t late;         /* seconds, as answers tell it; 0: nothing to tell */
};

/* NULL: none. */
struct rna_prober_port *rna_prober_find_port(struct rna_prober *prober, uint32_t id);
struct rna_probe_target *rna_prober_find_target(struct rna_prober_port *port, uint32_t id);

/* Adds or changes a target. False: there is no place for it. */
bool rna_prober_set_target(struct rna_prober_port *port, const struct rna_prober_order *order,
			   rna_usec now);
void rna_prober_clear_target(struct rna_probe_target *target);

/* Frees what a port has, but for the port's place. Its jobs are back. */
void rna_prober_close_port(struct rna_prober_port *port);

/* Sends what is due. Returns when it is to be called again, at the latest. */
rna_usec rna_prober_send_due(struct rna_prober *prober, struct rna_prober_port *port, rna_usec now);

/*
 * Takes what has arrived and left, RNA_PROBER_EVENTS_MAX at most, however fast more arrives. 1:
 * there may be more, of which nothing tells; 0: there is not. Negative errno: the port is to be
 * closed, because it is flooded by packets that it refuses (-EDQUOT), cannot keep the numbers of
 * more visitors (-ENOSPC), or is of no use any more.
 */
int rna_prober_take_events(struct rna_prober *prober, struct rna_prober_port *port, rna_usec now);

/* An aim is made, or could not be. Takes over job. */
void rna_prober_take_aim(struct rna_prober *prober, struct rna_aim_job *job, rna_usec now);
