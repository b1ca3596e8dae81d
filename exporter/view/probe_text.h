/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes in words, as the tables of the terminal and of the status page show them. Texts contain
 * names of other nodes: the caller escapes them.
 */
#pragma once

#include "facts.h"

/* What a pair comes to, worst first: its first sign, else its state. */
enum rna_probe_result {
	/* the bits of enum rna_probe_sign, in their order, then: */
	RNA_PROBE_RESULT_REFUSED = RNA_PROBE_SIGNS,
	RNA_PROBE_RESULT_NO_NEIGHBOUR,
	RNA_PROBE_RESULT_WAITING,
	RNA_PROBE_RESULT_PEER_DOWN,
	RNA_PROBE_RESULT_STARTING, /* it runs, and nothing was answered lately */
	RNA_PROBE_RESULT_OK,
	RNA_PROBE_RESULT_LOCAL,
	RNA_PROBE_RESULT_COUNT,
};

enum rna_probe_result rna_probe_result(const struct rna_probe_pair *pair);

/* "silent", "peer_down", "ok"; of signs and states the names that JSON has. */
const char *rna_probe_result_name(enum rna_probe_result result);

/* Likewise of a port: the verdict on it, or why there is none. */
enum rna_probe_port_result {
	RNA_PROBE_PORT_UNREACHABLE,
	RNA_PROBE_PORT_LOSSY,
	RNA_PROBE_PORT_PAUSED,
	RNA_PROBE_PORT_FAILED,
	RNA_PROBE_PORT_OPENING,
	RNA_PROBE_PORT_UNKNOWN,
	RNA_PROBE_PORT_WELL,
	RNA_PROBE_PORT_OFF,
	RNA_PROBE_PORT_RESULT_COUNT,
};

enum rna_probe_port_result rna_probe_port_result(const struct rna_probe_port *port);
const char *rna_probe_port_result_name(enum rna_probe_port_result result);

/*
 * Is it a pair of two ports of this node that cannot be probed? With RoCE all of them are, for one
 * reason, on most nodes.
 */
bool rna_probe_pair_is_idle(const struct rna_probe_pair *pair);

/* "8 ports: 1 unreachable, 7 well; 48 pairs: 6 silent, 42 ok" */
void rna_probes_add_summary(const struct rna_probes *probes, struct rna_strbuf *out);

/* A round trip, "5.2 µs"; nothing if it is 0, which is unknown. */
void rna_probe_add_rtt(uint64_t nanoseconds, struct rna_strbuf *out);
