/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measured bandwidth between ports of this node and ports of other nodes, and its grade
 * (rna/bandwidth.h has the test itself). Only the newest tests of each port are kept. Thread:
 * created by the loop; part of a view, immutable.
 */
#pragma once

#include "rna/model/part.h"
#include "rna/model/selftest.h"

/* Who wanted a test. */
enum rna_bandwidth_cause {
	RNA_BANDWIDTH_DEMAND, /* a person on this node */
	RNA_BANDWIDTH_WINDOW, /* probe.bandwidth_window of this node */
	RNA_BANDWIDTH_PEER,   /* the other node */
	RNA_BANDWIDTH_CAUSE_COUNT,
};

const char *rna_bandwidth_cause_name(enum rna_bandwidth_cause cause); /* "demand", ... */

enum { RNA_BANDWIDTH_PEER_SIZE = 256, RNA_BANDWIDTH_REASON_SIZE = 512 };

struct rna_bandwidth_test {
	struct rna_time time; /* of its start; realtime 0: there was none */
	enum rna_bandwidth_cause cause;
	char device[RNA_LOOPBACK_NAME_MAX]; /* ours */
	unsigned port;
	char peer[RNA_BANDWIDTH_PEER_SIZE]; /* name of the other node */
	char peer_device[RNA_LOOPBACK_NAME_MAX];
	unsigned peer_port;
	enum rna_loopback_end end;
	enum rna_skip skip;
	/* Bytes per second, valid with RNA_LOOPBACK_DONE: */
	uint64_t out, in;     /* that this node wrote, and the other one */
	uint64_t expected;    /* that the slower of both ports carries; 0: unknown */
	enum rna_grade grade; /* of the slower direction */
	char text[RNA_BANDWIDTH_REASON_SIZE]; /* why there is no result; "": there is one */
};

/* The tests of a port. */
struct rna_bandwidth_port {
	struct rna_bandwidth_test done; /* the newest that was completed */
	struct rna_bandwidth_test last; /* the newest of all */
};

struct rna_bandwidths {
	struct rna_part part;
	unsigned tcp_port;   /* on which this node listens; 0: it does not */
	const char *problem; /* why it does not; NULL: it does */
	uint64_t strangers;  /* connections without a valid call, since the agent started */
	size_t count;
	const struct rna_bandwidth_port *ports; /* by device, then port */
};

/* The tests of a port; NULL: none. bandwidths: may be NULL. */
const struct rna_bandwidth_port *rna_bandwidths_find(const struct rna_bandwidths *bandwidths,
						     const char *device, unsigned port);
