/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of a port that probes: its queue pairs, what they received and sent, and aims, which
 * are addresses that packets can be sent to. Unreliable datagrams need no connection: one set of
 * QPs serves all peers (IBTA 9.8.3). Thread: the child's loop, but for rna_aim_make(), which waits
 * and may run in another thread while the port is open.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/error.h"
#include "rna/prober.h"

#include "packet.h"

struct rna_probe_verbs;
struct rna_aim;

/*
 * Opens device and port. May wait for firmware. 0, or negative errno with error, object in front:
 * -ENETDOWN: the port is not ACTIVE; -EADDRNOTAVAIL: another GID at the index, or no LID.
 */
int rna_probe_verbs_open(const char *device, unsigned port, int gid_index, const uint8_t gid[16],
			 uint32_t qkey, struct rna_probe_verbs **ret, struct rna_error *error);
/* All aims must be freed before. Accepts and returns NULL. */
struct rna_probe_verbs *rna_probe_verbs_close(struct rna_probe_verbs *verbs);

const struct rna_probe_address *rna_probe_verbs_address(const struct rna_probe_verbs *verbs);
bool rna_probe_verbs_has_clock(const struct rna_probe_verbs *verbs); /* the HCA's own */
/*
 * Now, in nanoseconds of the port's clock, where that is the kernel's. 0: it is the HCA's, and
 * events alone say when a packet has left. The completion of a packet that has left can be taken
 * from the queue long after that, even behind its answer.
 */
uint64_t rna_probe_verbs_now(const struct rna_probe_verbs *verbs);
/* Does the driver derive the source port from the QP, not from the flow label of an aim? */
bool rna_probe_verbs_port_by_qp(const struct rna_probe_verbs *verbs);

/* -- Aims -------------------------------------------------------------------------------------- */

struct rna_aim_request {
	uint8_t gid[16];
	uint16_t lid;
	uint8_t service_level;
	uint8_t traffic_class;
	uint32_t flow_label;
};

/*
 * Waits up to seconds where the kernel has to resolve the address. 0 or negative errno:
 * -EHOSTUNREACH where there is no neighbour or route.
 */
int rna_aim_make(struct rna_probe_verbs *verbs, const struct rna_aim_request *request,
		 struct rna_aim **ret);
struct rna_aim *rna_aim_free(struct rna_aim *aim); /* accepts and returns NULL */

/* -- Packets ----------------------------------------------------------------------------------- */

/* A queue pair of a peer's port. */
struct rna_probe_end {
	const struct rna_aim *aim;
	uint32_t qpn, qkey;
};

/*
 * Sends a packet of len bytes: RNA_PACKET_SIZE and padding behind it. from: number of our QP. id
 * comes back with its completion. 0 or negative errno: -EAGAIN when too many are under way.
 */
int rna_probe_verbs_send(struct rna_probe_verbs *verbs, unsigned from,
			 const struct rna_probe_end *to, const uint8_t packet[RNA_PACKET_SIZE],
			 size_t len, uint32_t id);

struct rna_probe_event {
	bool received;       /* otherwise a packet has left */
	bool failed;         /* it has not, or nothing was received */
	uint64_t at;         /* nanoseconds of the port's clock */
	uint32_t id;         /* of what has left */
	const uint8_t *data; /* of what was received: valid until the next call */
	size_t len;
	struct rna_probe_way way;
	uint8_t source[16]; /* GID of the sender; zeros: unknown */
	uint16_t source_lid;
	uint8_t service_level;
	uint32_t source_qpn;
};

/* Readable when there may be events. */
int rna_probe_verbs_fd(const struct rna_probe_verbs *verbs);
/* Readable when the device reports events of its own, for rna_probe_verbs_is_lost(). */
int rna_probe_verbs_async_fd(const struct rna_probe_verbs *verbs);

/*
 * After the fd was readable and before the last calls of rna_probe_verbs_next(). What comes after
 * this makes the fd readable; what was there before does not, if it is not taken.
 */
void rna_probe_verbs_arm(struct rna_probe_verbs *verbs);
/* 1: *ret is the next event; 0: there is none now; negative errno: the port is of no use any more.
 */
int rna_probe_verbs_next(struct rna_probe_verbs *verbs, struct rna_probe_event *ret);

/* Takes the device's events. True: it is going away, or the port's address may have changed. */
bool rna_probe_verbs_is_lost(struct rna_probe_verbs *verbs, const char **ret_why);
