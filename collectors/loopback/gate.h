/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate of a loopback test: the test starts only on a port without traffic, and its result
 * counts only if there was no other traffic meanwhile.
 *
 * Counters of sysfs show traffic: bytes of the port if its driver counts them, otherwise packets,
 * and bytes of its network interface. Some drivers count loopback traffic fully, partly or not at
 * all; the warm-up shows how much of it. Thread: the only one of the child.
 */
#pragma once

#include "rna/model/loopback.h"

struct rna_loopback_gate {
	const struct rna_loopback_request *request;
	char netdev[64];   /* interface of the port; "": none */
	double share;      /* counted bytes per written byte: 0: none, 2: counted out and in */
	uint64_t activity; /* bytes in and out since boot, at the start of the test */
	rna_usec looked;   /* time of that reading */
	uint64_t written;  /* bytes written by the test until then */
	rna_usec begin;
};

/* False: the test cannot run now; result says why. */
bool rna_loopback_gate_open(const struct rna_loopback_request *request,
			    struct rna_loopback_gate *ret, struct rna_loopback_result *result);

/*
 * Call at the end of the warm-up, before the measured part. written: bytes of the warm-up. Waits
 * some milliseconds if the counters would otherwise be outdated.
 */
void rna_loopback_gate_begin(struct rna_loopback_gate *gate, uint64_t written);
/*
 * written: bytes written by the test so far. False: there was other traffic on the port; result
 * says so.
 */
bool rna_loopback_gate_holds(const struct rna_loopback_gate *gate, uint64_t written,
			     struct rna_loopback_result *result);

/* Bytes that were counted in a time. */
struct rna_loopback_traffic {
	uint64_t moved;
	rna_usec time;
};

/*
 * For a port that is written to by another node. Its counters are read anew, waiting some
 * milliseconds if they would be outdated; from then on traffic counts.
 */
void rna_loopback_gate_rearm(struct rna_loopback_gate *gate);
/* Since then. */
struct rna_loopback_traffic rna_loopback_gate_traffic(const struct rna_loopback_gate *gate);
/* Are own_bytes all of it, counted as those that this node has written? False: result says not. */
bool rna_loopback_gate_allows(const struct rna_loopback_gate *gate,
			      const struct rna_loopback_traffic *traffic, uint64_t own_bytes,
			      struct rna_loopback_result *result);
