/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate of a loopback test: it begins on a port where nothing moves, and its result counts when
 * nothing else moved meanwhile.
 *
 * Counters of sysfs show the traffic: bytes of the port where its driver counts them, packets
 * elsewhere, and bytes of its network interface. Some drivers count loopback traffic, too, others
 * do not, or count it otherwise; the warm-up shows how much of it.
 * Thread: the only one of the child.
 */
#pragma once

#include "rna/model/loopback.h"

struct rna_loopback_gate {
	const struct rna_loopback_request *request;
	char netdev[64]; /* of the port; "": none */
	double share;    /* of what the test writes that the driver counts: 0 none, 2 out and in */
	uint64_t activity; /* at the begin of the test: bytes in and out since boot */
	rna_usec looked;   /* when that was */
	uint64_t written;  /* by the test itself until then */
	rna_usec begin;
};

/* False: result says why there can be no test now. */
bool rna_loopback_gate_open(const struct rna_loopback_request *request,
			    struct rna_loopback_gate *ret, struct rna_loopback_result *result);

/*
 * The warm-up is over, in which the test wrote so many bytes; the measured part begins. Waits for
 * some milliseconds where counters would else be those of before.
 */
void rna_loopback_gate_begin(struct rna_loopback_gate *gate, uint64_t written);
/*
 * The test has written this many bytes by now. False: there was other traffic too, as result
 * says.
 */
bool rna_loopback_gate_holds(const struct rna_loopback_gate *gate, uint64_t written,
			     struct rna_loopback_result *result);
