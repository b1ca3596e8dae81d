/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bandwidth between two nodes: RDMA writes over RC connections from a port of this node to one of
 * another node, and back. One node asks, the other one answers. They talk over TCP, in messages
 * that both authenticate with the secret of probes; on each side a child process, as that of a
 * self-test, opens the device and writes (rna/model/loopback.h). The asking child connects. The
 * answering agent accepts, reads the call and decides before it starts a child, so that strangers
 * cost it a few packets and no process.
 *
 *	answering agent		CHALLENGE: its nonce
 *	asking child		CALL: its nonce, which port, what its link carries
 *	answering agent		ANSWER: what its link carries
 *	both children		END: queue pairs and memory, after the gate has found the port idle
 *	both children		READY: connected to that end
 *	asking child		OUTCOME: of its writes
 *	answering child		OUTCOME: of its writes, which begin now
 *	asking child		OUTCOME: both directions count
 *
 * In the place of any message an OUTCOME that is not done ends the dialogue: it says why.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rna/base/child.h"
#include "rna/base/error.h"
#include "rna/model/loopback.h"

enum {
	RNA_BANDWIDTH_MESSAGE = 1024, /* bytes; all messages have the same size */
	RNA_BANDWIDTH_KEY_SIZE = 32,
	RNA_BANDWIDTH_NONCE_SIZE = 16,
	RNA_BANDWIDTH_NAME_SIZE = 256, /* of a node or group, with its NUL */
	RNA_BANDWIDTH_HOST_SIZE = 256,
};

/* -- Messages ---------------------------------------------------------------------------------- */

enum rna_bandwidth_kind {
	RNA_BANDWIDTH_KIND_CHALLENGE = 1,
	RNA_BANDWIDTH_KIND_CALL,
	RNA_BANDWIDTH_KIND_ANSWER,
	RNA_BANDWIDTH_KIND_END,
	RNA_BANDWIDTH_KIND_READY,
	RNA_BANDWIDTH_KIND_OUTCOME,
};

struct rna_bandwidth_call {
	char node[RNA_BANDWIDTH_NAME_SIZE]; /* that asks */
	char group[RNA_BANDWIDTH_NAME_SIZE];
	char own_device[RNA_LOOPBACK_NAME_MAX];
	uint32_t own_port;
	char device[RNA_LOOPBACK_NAME_MAX]; /* of the node that answers */
	uint32_t port;
	uint64_t expected; /* bytes per second that the asking port carries; 0: unknown */
};

/* One end of connections. */
struct rna_queue_pairs_end {
	bool infiniband;
	uint8_t gid[16]; /* zeros: connections are addressed by LID alone */
	uint16_t lid;    /* 0: RoCE */
	uint16_t pkey;   /* 0: RoCE */
	uint32_t mtu;    /* enum ibv_mtu: 1 is 256 bytes, 5 is 4096 */
	uint32_t psn;    /* of the first packet of each queue pair; 24 bits */
	uint32_t key;    /* of the memory that may be written to */
	uint64_t address;
	uint64_t room; /* bytes there */
	uint32_t count;
	uint32_t qpns[RNA_LOOPBACK_QPS_MAX];
};

struct rna_bandwidth_outcome {
	enum rna_loopback_end end;
	enum rna_skip skip;
	uint64_t bandwidth; /* bytes per second */
	uint64_t bytes;     /* written in total */
	char text[RNA_LOOPBACK_TEXT_MAX];
};

struct rna_bandwidth_message {
	enum rna_bandwidth_kind kind;
	union {
		struct rna_bandwidth_call call;
		uint64_t expected; /* ANSWER: bytes per second; 0: unknown */
		struct rna_queue_pairs_end end;
		struct rna_bandwidth_outcome outcome;
	};
};

/* One side of a dialogue. It can be handed to another process between two messages. */
struct rna_bandwidth_session {
	uint8_t key[RNA_BANDWIDTH_KEY_SIZE];
	uint8_t nonces[2][RNA_BANDWIDTH_NONCE_SIZE]; /* of the asking side, then of the other */
	uint32_t asks;                               /* 1: this side */
	uint32_t sent, received;                     /* messages */
};

/*
 * Begins a dialogue with a new nonce. key: that of probes (rna_prober_key()). 0 or negative errno.
 */
int rna_bandwidth_session_begin(struct rna_bandwidth_session *session, const uint8_t *key,
				bool asks);

/* Makes the next message of this side. 0, or -ENOMEM. */
int rna_bandwidth_write(struct rna_bandwidth_session *session,
			const struct rna_bandwidth_message *message,
			uint8_t ret[RNA_BANDWIDTH_MESSAGE]);

/*
 * Reads the next message of the other side. 0; -EBADMSG: it is none, or nonsense; -EPROTO: of
 * another version; -EKEYREJECTED: made with another secret, of another dialogue, or replayed. After
 * a failure the dialogue is over.
 */
int rna_bandwidth_read(struct rna_bandwidth_session *session,
		       const uint8_t data[RNA_BANDWIDTH_MESSAGE],
		       struct rna_bandwidth_message *ret);

/* What such an error means, a phrase about the other side. */
const char *rna_bandwidth_mistake(int status);

/* -- The child --------------------------------------------------------------------------------- */

/* A process whose argv[0] begins with this is a child and runs rna_bandwidth_child_main(). */
#define RNA_BANDWIDTH_PROGRAM "rdma-node-agent: bandwidth"

/* Of fixed size: it is sent over a socket unchanged. */
struct rna_bandwidth_order {
	struct rna_bandwidth_session session; /* where the child goes on with it */
	/* What the call says: that of this side, or the one that was read. */
	struct rna_bandwidth_call call;
	/* The asking side only: where the other node listens, and its name. */
	char host[RNA_BANDWIDTH_HOST_SIZE];
	uint32_t tcp_port;
	char node[RNA_BANDWIDTH_NAME_SIZE];
	uint64_t expected; /* the answering side only: what its own port carries */
	/* The own port, what is written, and the gate; without latency. */
	struct rna_loopback_request request;
};

enum { RNA_BANDWIDTH_TEXT_MAX = RNA_LOOPBACK_TEXT_MAX + RNA_BANDWIDTH_NAME_SIZE };

/* Of fixed size, too. The numbers are valid only with RNA_LOOPBACK_DONE. */
struct rna_bandwidth_result {
	uint32_t end;   /* enum rna_loopback_end */
	uint32_t skip;  /* enum rna_skip */
	uint64_t out;   /* bytes per second, payload, that this node wrote */
	uint64_t in;    /* that the other node wrote */
	uint64_t bytes; /* written by both in total */
	uint64_t
		expected; /* bytes per second that the port of the other node carries; 0: unknown */
	char text[RNA_BANDWIDTH_TEXT_MAX]; /* object in front: "mlx5_0/1: ...", "node7: ..." */
};

/* Runs an order in this process; called by the child. fd: the connection; -1: it is made. */
void rna_bandwidth_run(const struct rna_bandwidth_order *order, int fd,
		       struct rna_bandwidth_result *ret);

/* Receives an order from its socket, runs it and sends the result. Returns the exit code. */
int rna_bandwidth_child_main(void);

/*
 * Executes this program again for one order, with the lock of self-tests (agent: as in
 * rna_loopback_child_start()). fd: of the answering side, a copy of which the child gets; -1.
 * 0, or negative errno with error; -EBUSY: a self-test runs on this node.
 */
int rna_bandwidth_child_start(const struct rna_bandwidth_order *order, int fd, uid_t agent,
			      struct rna_loopback_child *ret, struct rna_error *error);

/* As rna_loopback_child_receive(), without waiting. Stop it by rna_loopback_child_stop(). */
int rna_bandwidth_child_receive(struct rna_loopback_child *child, struct rna_bandwidth_result *ret,
				struct rna_error *error);

/* The longest that a child may take, beyond twice the time limit of its request. */
#define RNA_BANDWIDTH_PATIENCE (60 * RNA_USEC_PER_SEC)
