/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loopback: an RC connection from a port to itself, over which data is written by RDMA. It goes
 * through memory, PCIe and the engines of the HCA, and not through cable, optics or fabric. What it
 * is good for is finding a slow path inside of the node.
 *
 * Verbs can hang for minutes and cannot be interrupted, so a test is run in a child: this same
 * program, started anew, that gets a request on a socket and sends its result back. Whoever started
 * it has a deadline; a child that is stuck in the kernel is left behind and told of.
 * Sources: rdma-core libibverbs/man; IBTA 9.7 (RC), 11.4; perftest's write_bw and write_lat as the
 * measure of comparison.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rna/base/clock.h"
#include "rna/base/error.h"

enum {
	RNA_LOOPBACK_NAME_MAX = 64, /* of a device, as the kernel has it (IB_DEVICE_NAME_MAX) */
	RNA_LOOPBACK_TEXT_MAX = 256,
	RNA_LOOPBACK_QPS_MAX = 16,
};

/* Where the data lies. */
enum rna_endpoint {
	RNA_ENDPOINT_LOCAL,  /* memory of the NUMA node that the NIC is at */
	RNA_ENDPOINT_REMOTE, /* memory of another one */
	RNA_ENDPOINT_GPU,    /* memory of a GPU, by dma-buf */
	RNA_ENDPOINT_COUNT,
};

const char *rna_endpoint_name(enum rna_endpoint endpoint); /* "local", "remote", "gpu" */

/* One cell of the matrix NIC x endpoint. Fixed size: it travels over a socket as it is. */
struct rna_loopback_request {
	char device[RNA_LOOPBACK_NAME_MAX];
	uint32_t port;
	int32_t gid_index; /* -1: by LID, as InfiniBand does within a subnet */
	uint32_t service_level;
	uint32_t traffic_class;
	uint32_t endpoint;       /* enum rna_endpoint */
	int32_t memory_node;     /* NUMA node of the buffers and the CPU; -1: any */
	char gpu[32];            /* PCI address, for RNA_ENDPOINT_GPU */
	uint32_t size;           /* bytes of one write */
	uint32_t qps;            /* connections side by side */
	uint32_t depth;          /* writes under way on each */
	uint64_t bytes;          /* to write at most, for bandwidth */
	uint64_t time_limit;     /* microseconds of bandwidth test at most */
	uint32_t latency_rounds; /* small writes, one after the other; 0: latency is not tested */
	/* The gate: */
	uint32_t gate;        /* 0: the test begins whatever goes on; else only on an idle port */
	uint64_t sample_time; /* microseconds between two looks at the port's counters */
	uint64_t busy_rate;   /* bytes per second, in and out, from which on the port is not idle */
	uint64_t idle_qps;    /* QPs of the device while nobody works; RNA_QPS_UNKNOWN */
	uint64_t idle_contexts; /* how often services that are always there have the device open */
	uint64_t own_contexts;  /* and the agent, for kernels that do not say whose one is */
};

#define RNA_QPS_UNKNOWN UINT64_MAX

/* How far a test came. */
enum rna_loopback_end {
	RNA_LOOPBACK_DONE,
	RNA_LOOPBACK_SKIPPED, /* it could not begin: reason says why, text more */
	RNA_LOOPBACK_FAILED,  /* the hardware, or the kernel, did not do what it should: text */
	RNA_LOOPBACK_CORRUPT, /* data arrived other than it was sent */
	RNA_LOOPBACK_END_COUNT,
};

const char *rna_loopback_end_name(enum rna_loopback_end end); /* "done", "skipped", ... */

/* Why there was no test, or none that counts: a closed list, it is a metric label. */
enum rna_skip {
	RNA_SKIP_NONE,
	RNA_SKIP_DISABLED,       /* the setting says so */
	RNA_SKIP_QUIESCED,       /* somebody asked the agent to keep its hands off */
	RNA_SKIP_NOT_ACTIVE,     /* state of the port */
	RNA_SKIP_NO_GID,         /* RoCE without a usable GID; InfiniBand without a LID */
	RNA_SKIP_VIRTUAL,        /* a VF, an SF: shares its link with others */
	RNA_SKIP_MANAGEMENT,     /* of NVSwitches, carries no traffic */
	RNA_SKIP_TRANSPORT,      /* iWARP, EFA: no RC that can be connected to itself */
	RNA_SKIP_BUSY,           /* bytes move, or somebody has it open, or holds QPs */
	RNA_SKIP_DISTURBED,      /* foreign traffic while it ran: the result was thrown away */
	RNA_SKIP_RECENT_CHANGE,  /* a port changed state not long ago */
	RNA_SKIP_WINDOW,         /* outside of the hours that the setting allows */
	RNA_SKIP_NODE_GATE,      /* the Node lacks the label that the setting asks for */
	RNA_SKIP_LOCKED,         /* another test runs on this node */
	RNA_SKIP_DENIED,         /* no right to open the device */
	RNA_SKIP_MEMLOCK,        /* RLIMIT_MEMLOCK is below what the test needs */
	RNA_SKIP_NO_MEMORY_NODE, /* there is no such NUMA node, or it is full */
	RNA_SKIP_NO_GPU,         /* no CUDA, no such GPU, or no dma-buf of it */
	RNA_SKIP_STALLED,      /* the device does not answer, or an earlier child is stuck there */
	RNA_SKIP_NO_DEVICE,    /* there is no such device, or no verbs at all */
	RNA_SKIP_NO_RESOURCES, /* memory, processes or files ran out, or the test was ended */
	RNA_SKIP_COUNT,
};

const char *rna_skip_name(enum rna_skip skip); /* "busy", "denied", ... */

/* Likewise fixed. Numbers mean something only with RNA_LOOPBACK_DONE. */
struct rna_loopback_result {
	uint32_t end;            /* enum rna_loopback_end */
	uint32_t skip;           /* enum rna_skip */
	uint64_t bandwidth;      /* bytes per second, payload, one direction */
	uint64_t bytes;          /* written in all, warm-up and latency included */
	uint64_t duration;       /* microseconds of all, from open to close */
	uint64_t latency_median; /* nanoseconds, of one small write until it can be read; 0: none */
	uint64_t latency_p99;
	uint64_t qps;               /* of the device, before the test's own; RNA_QPS_UNKNOWN */
	uint64_t memlock_needed;    /* bytes, with RNA_SKIP_MEMLOCK */
	uint32_t completion_status; /* enum ibv_wc_status, of an error completion */
	uint32_t vendor_error;
	char text[RNA_LOOPBACK_TEXT_MAX]; /* object in front: "mlx5_0/1: ..." */
};

/*
 * Runs one cell in this process: for the child. Everything that it made is gone when it returns.
 */
void rna_loopback_run(const struct rna_loopback_request *request, struct rna_loopback_result *ret);

/* -- The child --------------------------------------------------------------------------------- */

/* A program whose argv[0] begins so is a child of ours, and does what rna_loopback_child_main says.
 */
#define RNA_LOOPBACK_PROGRAM "rdma-node-agent: loopback"

/* Takes a request from its socket, runs it, sends the result. The exit code of the process. */
int rna_loopback_child_main(void);

/* Who else has the lock of tests. */
struct rna_loopback_holder {
	bool is_there;
	pid_t pid; /* 0: not known, as in another PID namespace */
	uid_t uid; /* RNA_UID_UNKNOWN: he does not answer */
};

#define RNA_UID_UNKNOWN ((uid_t)-1)

struct rna_loopback_child {
	pid_t pid; /* 0: none */
	int pidfd; /* readable when it has ended; -1: the kernel gives none */
	int fd;    /* readable when it has sent its result, or has ended without one */
	int lock;  /* for which there is one child on a node; -1: none */
	struct rna_loopback_holder holder; /* met when it was started, or was not for his sake */
};

#define RNA_LOOPBACK_CHILD_INIT ((struct rna_loopback_child){.pidfd = -1, .fd = -1, .lock = -1})

/*
 * Starts this program anew for one request. agent: the user of agents on this node, 0: root or a
 * service. 0, or negative errno with error; -EBUSY: another test of root's, of a service's (uid up
 * to 999), of that user's or of our own runs on this node (in this network namespace).
 */
int rna_loopback_child_start(const struct rna_loopback_request *request, uid_t agent,
			     struct rna_loopback_child *ret, struct rna_error *error);

/*
 * Its result, when fd is readable, or when patience (0: none) is over. 0; -ETIMEDOUT; -ECHILD when
 * the child ended without one (text says how, if it has ended by then); -ECANCELED when it was
 * killed by SIGKILL, SIGTERM or SIGXCPU. Any other: there is nothing to wait with.
 */
int rna_loopback_child_receive(struct rna_loopback_child *child, rna_usec patience,
			       struct rna_loopback_result *ret, struct rna_error *error);

/* For one that was killed, until it must be stuck: a driver may take a while to clean up. */
#define RNA_LOOPBACK_LAST_PATIENCE (2 * RNA_USEC_PER_SEC)

/* Has a child of this process ended, and is only to be reaped? */
bool rna_loopback_child_has_ended(pid_t pid);

/* Ends it, and does not wait for that: pidfd becomes readable. */
void rna_loopback_child_kill(const struct rna_loopback_child *child);
/*
 * Ends it, in the midst of its test if need be. False: it did not end within patience (0: none) and
 * was left behind; pidfd stays open then, and is for the caller to watch and to reap.
 */
bool rna_loopback_child_stop(struct rna_loopback_child *child, rna_usec patience);
