/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prober: a child process that sends probes from ports of this node and answers those of peers.
 * It holds verbs contexts open, so it is closed on quiesce, on uevents of its devices and when the
 * feature is off. A device that hangs costs the child; the agent kills and replaces it.
 *
 * Parent and child exchange messages over a SOCK_SEQPACKET socket: one struct, of a fixed size per
 * kind, is one message. Neither side trusts the other's counts: sizes, ids and ranges are checked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rna/base/child.h"
#include "rna/base/clock.h"
#include "rna/base/error.h"
#include "rna/model/probe.h"

/* A process whose argv[0] begins with this is a child and runs rna_prober_main(). */
#define RNA_PROBER_PROGRAM "rdma-node-agent: prober"

enum {
	RNA_PROBER_NAME_MAX = 64,
	RNA_PROBER_TEXT_MAX = 160,
	RNA_PROBER_PORTS_MAX = 32,
	RNA_PROBER_TARGETS_MAX = 32, /* of a port */
	RNA_PROBER_RATE_MAX = 20,    /* probes per second of a port, all targets together */
	RNA_PROBER_SAMPLES_MAX = 16, /* round trips in one report; more are only counted */
	RNA_PROBER_KEY_SIZE = 32,
	RNA_PROBER_CHECK_SIZE = 9,
};

/* Without an answer for this time, in which the prober could look, a probe is reported as lost. */
#define RNA_PROBER_PATIENCE (1 * RNA_USEC_PER_SEC)
/* How long a responder that stood still says so in its answers. */
#define RNA_PROBER_LATE_TOLD (4 * RNA_USEC_PER_SEC)
/* Reports of a target come at least as often while anything changes. */
#define RNA_PROBER_REPORT_PERIOD (500 * RNA_USEC_PER_MSEC)

/* -- From the parent --------------------------------------------------------------------------- */

enum rna_prober_order_kind {
	RNA_PROBER_SETUP = 1, /* the first order */
	RNA_PROBER_PORT_OPEN,
	RNA_PROBER_PORT_CLOSE, /* its targets go as well; answered by a port report */
	RNA_PROBER_TARGET_SET, /* begins, or changes what differs */
	RNA_PROBER_TARGET_CLEAR,
};

struct rna_prober_target {
	struct rna_probe_address address;
	uint64_t session;     /* of the peer's port */
	uint64_t period;      /* microseconds between two probes */
	uint32_t large_every; /* every so many-th probe is large; 0: none */
};

struct rna_prober_order {
	uint32_t kind;
	uint32_t port_id;   /* the parent's number of the port, not reused */
	uint32_t target_id; /* likewise, of the target */
	uint32_t reserved;
	union {
		struct {
			uint8_t key[RNA_PROBER_KEY_SIZE]; /* made of the secret */
			uint32_t confine;  /* 1: filter system calls before ports are opened */
			uint32_t priority; /* 1: take a higher one, if there is the right */
		} setup;
		struct {
			char device[RNA_PROBER_NAME_MAX];
			uint32_t port;
			int32_t gid_index; /* -1: InfiniBand by LID, with GID 0 in a GRH */
			uint8_t gid[16];   /* expected at gid_index; another one is a failure */
			uint32_t service_level;
			uint32_t traffic_class; /* of GRH and IP header: DSCP << 2 */
			uint64_t session;       /* random, of this opening of the port; not 0 */
		} port;
		struct rna_prober_target target;
	};
};

/* -- From the child ---------------------------------------------------------------------------- */

enum rna_prober_report_kind {
	RNA_PROBER_PORT_REPORT = 1, /* a port was opened, failed, was flooded or was closed */
	RNA_PROBER_TARGET_REPORT,
	RNA_PROBER_VISITOR_REPORT, /* of a peer that probes us */
	RNA_PROBER_CHILD_REPORT,   /* each second: it is alive */
};

struct rna_prober_target_report {
	/* since the last report of this target: */
	struct rna_probe_counts counts;
	/* Of probes reported as lost before: answered now; void, as an end stood still. */
	uint32_t late, late_large, excused, excused_large;
	uint32_t unanswered;   /* in a row until now, each older than the patience */
	uint64_t refused;      /* sends that the kernel or HCA refused: not in counts.sent */
	int32_t refusal;       /* errno, or 0; EHOSTUNREACH: no neighbour; EADDRINUSE: local */
	uint32_t sample_count; /* round trips without the peer's own time, nanoseconds: */
	uint32_t samples[RNA_PROBER_SAMPLES_MAX];
	struct rna_probe_way there, back; /* newest; 255: unknown */
	uint32_t classes_lost;            /* by source-port class, see rna/model/probe.h */
	uint32_t classes_seen;
	rna_usec last_answer; /* monotonic; 0: none yet */
};

/* Probes of a peer that arrived here: shows loss on the way to us alone. */
struct rna_prober_visitor_report {
	uint64_t session; /* of the peer's port */
	uint8_t gid[16];  /* likewise */
	uint64_t heard;   /* since the last report */
	uint64_t missing; /* new gaps in its small and large numbers, each with two newer ones */
	uint64_t large_missing; /* of missing */
};

struct rna_prober_report {
	uint32_t kind;
	uint32_t port_id;
	uint32_t target_id;
	uint32_t reserved;
	union {
		struct {
			/*
			 * enum rna_probe_use: OPEN, FAILED, PAUSED (was flooded) or OFF (closed).
			 * All but OPEN end the port. One that closes unasked is to be opened again,
			 * with another session.
			 */
			uint32_t use;
			uint32_t hardware_times;
			struct rna_probe_address address;
			struct rna_probe_flood flood;
			char text[RNA_PROBER_TEXT_MAX]; /* object in front: "mlx5_0/1: ..." */
		} port;
		struct rna_prober_target_report target;
		struct rna_prober_visitor_report visitor;
		struct {
			uint64_t strangers[RNA_STRANGER_COUNT]; /* since it started */
			uint32_t priority;                      /* enum rna_probe_priority */
			uint32_t reserved;
		} child;
	};
};

/* -- The child --------------------------------------------------------------------------------- */

/* Runs until the socket is closed. confine: puts a filter of system calls on it, as far as there is
 * one. Returns the exit code. */
int rna_prober_main(bool (*confine)(void));

/*
 * Executes this program again as prober. Its fd is readable when there is a report, and when it
 * has ended. Stop it by rna_child_stop(). 0 or negative errno.
 */
int rna_prober_start(struct rna_child *ret, struct rna_error *error);

/* 0; -EAGAIN: its socket is full, try later; another negative errno: it has ended. */
int rna_prober_send(const struct rna_child *child, const struct rna_prober_order *order);

/* 1: *ret is a valid report; 0: none is there now; negative errno: it has ended, or talks nonsense
 * (-EPROTO). Never waits. */
int rna_prober_receive(const struct rna_child *child, struct rna_prober_report *ret);

/*
 * Takes the highest priority to which this process has a right: real time, with a budget of the CPU
 * after which it is lost, else a nice value of -10. Threads made afterwards are ordinary in real
 * time. Returns what it is then, as does the second function.
 */
enum rna_probe_priority rna_prober_take_priority(void);
enum rna_probe_priority rna_prober_priority(void);

/* The key that both ends derive from the secret's bytes. 0 or negative errno. */
int rna_prober_key(const void *secret, size_t len, uint8_t ret[RNA_PROBER_KEY_SIZE]);
/* A text that is the same at both ends if their keys are. 0 or negative errno. */
int rna_prober_key_check(const uint8_t key[RNA_PROBER_KEY_SIZE], char ret[RNA_PROBER_CHECK_SIZE]);
