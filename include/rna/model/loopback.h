/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loopback: RDMA writes over an RC connection from a port to itself. The data passes memory, PCIe
 * and the HCA, but neither cable, optics nor fabric. It finds slow paths inside the node.
 *
 * Verbs can hang for minutes and cannot be interrupted, so a test runs in a child process: this
 * program, executed again, which receives a request on a socket and sends back its result. The
 * parent has a deadline; it abandons and reports a child that is stuck in the kernel. Sources:
 * rdma-core libibverbs/man; IBTA 9.7 (RC), 11.4; perftest's write_bw and write_lat for comparison.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rna/base/child.h"
#include "rna/base/clock.h"
#include "rna/base/error.h"
#include "rna/base/strbuf.h"
#include "rna/model/value.h"

enum {
	RNA_LOOPBACK_NAME_MAX = 64, /* of a device name, as in the kernel (IB_DEVICE_NAME_MAX) */
	RNA_LOOPBACK_TEXT_MAX = 256,
	RNA_LOOPBACK_QPS_MAX = 16,
};

/* Where the buffers are. */
enum rna_endpoint {
	RNA_ENDPOINT_LOCAL,  /* memory of the NIC's own NUMA node */
	RNA_ENDPOINT_REMOTE, /* memory of another NUMA node */
	RNA_ENDPOINT_GPU,    /* memory of a GPU, by dma-buf */
	RNA_ENDPOINT_COUNT,
};

const char *rna_endpoint_name(enum rna_endpoint endpoint); /* "local", "remote", "gpu" */

/* One cell of the matrix NIC x endpoint. Fixed size: it is sent over a socket unchanged. */
struct rna_loopback_request {
	char device[RNA_LOOPBACK_NAME_MAX];
	uint32_t port;
	int32_t gid_index; /* -1: address by LID, and by GID 0 if the port requires a GRH */
	uint32_t service_level;
	uint32_t traffic_class;
	uint32_t endpoint;   /* enum rna_endpoint */
	int32_t memory_node; /* NUMA node of the buffers and the CPU; -1: any */
	char gpu[32];        /* PCI address, for RNA_ENDPOINT_GPU */
	uint32_t size;       /* bytes of one write */
	uint32_t qps;        /* parallel connections */
	uint32_t depth;      /* outstanding writes per connection */
	uint64_t bytes;      /* limit of the bandwidth test */
	uint64_t time_limit; /* limit of the bandwidth test in microseconds */
	/* 1: register memory so that PCIe may relax the order of writes */
	uint32_t relaxed_ordering;
	uint32_t latency_rounds; /* number of sequential small writes; 0: no latency test */
	/* The gate: */
	uint32_t gate;          /* 0: always start; 1: only on an idle port */
	uint64_t sample_time;   /* microseconds between two reads of the port's counters */
	uint64_t busy_rate;     /* bytes per second, in and out, at which the port is busy */
	uint64_t idle_qps;      /* QPs of the idle device, or RNA_QPS_UNKNOWN */
	uint64_t idle_contexts; /* contexts that permanent services hold */
	uint64_t own_contexts;  /* contexts of the agent and of its prober, for kernels that do not
				   report owners */
	uint64_t own_qps;       /* QPs of the prober, which idle_qps does not count */
};

#define RNA_QPS_UNKNOWN UINT64_MAX

/* How a test ended. */
enum rna_loopback_end {
	RNA_LOOPBACK_DONE,
	RNA_LOOPBACK_SKIPPED, /* it could not start: see skip and text */
	RNA_LOOPBACK_FAILED,  /* hardware or kernel failed: see text */
	RNA_LOOPBACK_CORRUPT, /* received data differs from sent data */
	RNA_LOOPBACK_END_COUNT,
};

const char *rna_loopback_end_name(enum rna_loopback_end end); /* "done", "skipped", ... */

/* Why a test did not run or does not count. A metric label, so the list is closed. */
enum rna_skip {
	RNA_SKIP_NONE,
	RNA_SKIP_DISABLED,       /* by the setting */
	RNA_SKIP_QUIESCED,       /* the agent is quiesced */
	RNA_SKIP_NOT_ACTIVE,     /* the port is not ACTIVE */
	RNA_SKIP_NO_GID,         /* RoCE: no usable GID; InfiniBand: no LID */
	RNA_SKIP_NO_PKEY,        /* full member of no partition */
	RNA_SKIP_VIRTUAL,        /* VF or SF: its link is shared */
	RNA_SKIP_MANAGEMENT,     /* manages NVSwitches, carries no traffic */
	RNA_SKIP_ELSEWHERE,      /* in another network namespace */
	RNA_SKIP_TRANSPORT,      /* iWARP, EFA: no RC loopback */
	RNA_SKIP_BUSY,           /* traffic, or another process has the device open or QPs on it */
	RNA_SKIP_DISTURBED,      /* other traffic during the test; result discarded */
	RNA_SKIP_RECENT_CHANGE,  /* a port changed state recently */
	RNA_SKIP_WINDOW,         /* outside the hours that the setting allows */
	RNA_SKIP_NODE_GATE,      /* the Node lacks the label that the setting requires */
	RNA_SKIP_LOCKED,         /* another test runs on this node */
	RNA_SKIP_DENIED,         /* no permission to open the device */
	RNA_SKIP_MEMLOCK,        /* RLIMIT_MEMLOCK is too low for the test */
	RNA_SKIP_NO_MEMORY_NODE, /* no such NUMA node, or it has no free memory */
	RNA_SKIP_NO_GPU,         /* no CUDA, no such GPU, or no dma-buf from it */
	RNA_SKIP_STALLED,      /* the device does not answer, or an earlier child is stuck on it */
	RNA_SKIP_NO_DEVICE,    /* no such device, or no verbs */
	RNA_SKIP_NO_RESOURCES, /* out of memory, processes or files, or the test was killed */
	RNA_SKIP_COUNT,
};

const char *rna_skip_name(enum rna_skip skip); /* "busy", "denied", ... */

/* Also of fixed size. The numbers are valid only with RNA_LOOPBACK_DONE. */
struct rna_loopback_result {
	uint32_t end;            /* enum rna_loopback_end */
	uint32_t skip;           /* enum rna_skip */
	uint64_t bandwidth;      /* bytes per second, payload, one direction */
	uint64_t bytes;          /* written in total, including warm-up and latency test */
	uint64_t duration;       /* microseconds from open to close */
	uint64_t latency_median; /* nanoseconds until one small write is visible; 0: not tested */
	uint64_t latency_p99;
	uint64_t qps; /* of the device, before the test creates its own; or RNA_QPS_UNKNOWN */
	/*
	 * 1 if the memory was registered for relaxed ordering. Drivers and kernels that do not
	 * support it ignore it.
	 */
	struct rna_value relaxed_ordering;
	/* 1 if the PCI function may use it; absent: its configuration space is not readable */
	struct rna_value pci_relaxed_ordering;
	uint64_t memlock_needed;    /* bytes, with RNA_SKIP_MEMLOCK */
	uint32_t completion_status; /* enum ibv_wc_status, of an error completion */
	uint32_t vendor_error;
	char text[RNA_LOOPBACK_TEXT_MAX]; /* object in front: "mlx5_0/1: ..." */
};

/* Set result: the test is not possible, or has failed. Both return false. */
bool rna_loopback_skip(struct rna_loopback_result *result, enum rna_skip skip, const char *format,
		       ...) RNA_PRINTF(3, 4);
bool rna_loopback_fail(struct rna_loopback_result *result, const char *format, ...)
	RNA_PRINTF(2, 3);

/* Runs one cell in this process; called by the child. Releases everything before it returns. */
void rna_loopback_run(const struct rna_loopback_request *request, struct rna_loopback_result *ret);

/* -- The child --------------------------------------------------------------------------------- */

/* A process whose argv[0] begins with this is a child and runs rna_loopback_child_main(). */
#define RNA_LOOPBACK_PROGRAM "rdma-node-agent: loopback"

/* Receives a request from its socket, runs it and sends the result. Returns the exit code. */
int rna_loopback_child_main(void);

/* The process that holds the lock of self-tests. */
struct rna_loopback_holder {
	bool is_there;
	pid_t pid; /* 0: unknown, for example in another PID namespace */
	uid_t uid; /* RNA_UID_UNKNOWN: the process does not answer */
};

#define RNA_UID_UNKNOWN ((uid_t)-1)

struct rna_loopback_child {
	struct rna_child process; /* its fd is readable when it has sent its result */
	int lock;                 /* held so that only one test runs on a node; -1: none */
	/* holder found when the child was, or could not be, started */
	struct rna_loopback_holder holder;
};

#define RNA_LOOPBACK_CHILD_INIT ((struct rna_loopback_child){.process = RNA_CHILD_INIT, .lock = -1})

/*
 * Executes this program again for one request. agent: the user that runs agents on this node; 0:
 * root or a service. 0, or negative errno with error. -EBUSY: another test runs on this node (in
 * this network namespace), of root, a service (uid up to 999), that user or our own user.
 */
int rna_loopback_child_start(const struct rna_loopback_request *request, uid_t agent,
			     struct rna_loopback_child *ret, struct rna_error *error);

/*
 * Receives the child's result; waits at most patience (0: does not wait). 0; -ETIMEDOUT; -ECHILD if
 * the child ended without a result (error says how, if known); -ECANCELED if SIGKILL, SIGTERM or
 * SIGXCPU killed it. Any other error: waiting itself failed.
 */
int rna_loopback_child_receive(struct rna_loopback_child *child, rna_usec patience,
			       struct rna_loopback_result *ret, struct rna_error *error);

/*
 * How long to wait for a killed child, because a driver may take a while to clean up; after that it
 * counts as stuck.
 */
#define RNA_LOOPBACK_LAST_PATIENCE (2 * RNA_USEC_PER_SEC)

/*
 * Kills the child, also during a test, and waits at most patience (0: does not wait). False: it has
 * not ended; then its process stays in *child, and the caller must watch it and reap it.
 */
bool rna_loopback_child_stop(struct rna_loopback_child *child, rna_usec patience);
