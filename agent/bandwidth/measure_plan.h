/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bandwidth tests there are, when, and what comes of them: what a request comes to, whether
 * this node answers a call, when a port is due in the window, how a result is graded, and what is
 * kept of it. Functions of a view, the pairs of probes and the settings; whether a port is idle is
 * for the child to see. Thread: the loop's.
 */
#pragma once

#include "rna/bandwidth.h"
#include "rna/model/bandwidths.h"
#include "rna/model/view.h"

#include "probe/pairs.h"
#include "selftest/run.h"
#include "settings/settings.h"

/* What a decision rests on. */
struct rna_measure_terms {
	const struct rna_view *view;   /* NULL: there is none yet */
	const struct rna_pairs *pairs; /* NULL: nothing is probed */
	const struct rna_settings *settings;
	enum rna_skip hold; /* why nothing may be tested at all; RNA_SKIP_NONE */
	const char *busy;   /* the test that runs on this node, in words; NULL: none */
};

/* One test: with its result at the end. */
struct rna_measure_run {
	struct rna_bandwidth_test test;
	struct rna_bandwidth_call call; /* to the other node, or from it */
	struct rna_loopback_request request;
	uint64_t expected; /* bytes per second that our port carries; 0: unknown */
	/* Where the other node listens, if this one asks: */
	char host[RNA_BANDWIDTH_HOST_SIZE];
	unsigned tcp_port;
};

struct rna_measure_runs {
	size_t count;
	struct rna_measure_run *items; /* free() */
};

void rna_measure_runs_deinit(struct rna_measure_runs *runs); /* idempotent */

/*
 * The tests with a member: with each port that has a pair there. target: NODE, or NODE:DEVICE,
 * DEVICE with /PORT or :PORT behind it for one port of several. A test that cannot begin has its
 * result. 0, or negative errno with error, a sentence for the user.
 */
int rna_measure_with_peer(const struct rna_measure_terms *terms, const char *target,
			  struct rna_measure_runs *ret, struct rna_error *error);

/*
 * The test of a port with the next node on its rail, for the window: the nearest member behind
 * this one in the ring that lets bandwidth be measured, on the same leaf if there is one. False:
 * there is none now.
 */
bool rna_measure_next(const struct rna_measure_terms *terms, const struct rna_probing_port *port,
		      const char *member, struct rna_measure_run *ret);

/* Does this node answer that call? If not, the test of *ret says why. */
bool rna_measure_answer(const struct rna_measure_terms *terms,
			const struct rna_bandwidth_call *call, struct rna_measure_run *ret);

/* There is no result: the reason becomes the one of the test. */
void rna_measure_skip(struct rna_bandwidth_test *test, enum rna_skip skip, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Takes what the child has sent, and grades it. */
void rna_measure_take(struct rna_measure_run *run, const struct rna_bandwidth_result *result,
		      const struct rna_settings *settings);

/* The exit code of the command. */
enum rna_selftest_exit rna_measure_sum_up(const struct rna_measure_runs *runs);

/* -- The window -------------------------------------------------------------------------------- */

/*
 * In probe.bandwidth_window a port is tested once in each window, at a time that the name of the
 * node spreads, and again some minutes later if a node was busy. Pure.
 */

/* How an attempt ended. */
enum rna_measure_attempt {
	RNA_MEASURE_BUSY, /* no test took place */
	RNA_MEASURE_WELL,
	RNA_MEASURE_BAD, /* slow or failed: it is confirmed by a second one */
};

/* The turn of a port; all zero at the start. */
struct rna_measure_turn {
	bool inside;       /* the window holds */
	bool done;         /* tested in this one */
	bool bad;          /* the last test was */
	unsigned attempts; /* in this one */
	rna_usec due;      /* realtime of the next attempt */
};

/*
 * Is the port to be tested now? windows: as of rna_silence_holds(). place: of the node, a hash of
 * its name.
 */
bool rna_measure_turn_is_due(struct rna_measure_turn *turn, char *const *windows,
			     const char *device, uint64_t place, rna_usec realtime);

/* An attempt is over. */
void rna_measure_turn_end(struct rna_measure_turn *turn, enum rna_measure_attempt how,
			  uint64_t place, rna_usec realtime);

/* -- What is known of ports -------------------------------------------------------------------- */

struct rna_measured_port {
	char device[RNA_LOOPBACK_NAME_MAX]; /* "": this place is free */
	unsigned port;
	struct rna_measure_turn turn;
	struct rna_bandwidth_port tests; /* last.time 0: none */
};

struct rna_measured_ports {
	struct rna_measured_port items[RNA_PROBING_PORTS_MAX];
};

/*
 * The place of a port, a new one if need be, which may be that of the port whose newest test is the
 * oldest of all. NULL: all places have a turn in this window.
 */
struct rna_measured_port *rna_measured_port(struct rna_measured_ports *ports, const char *device,
					    unsigned number);

/* A test is over. */
void rna_measured_keep(struct rna_measured_ports *ports, const struct rna_bandwidth_test *test);

/*
 * The part that views show. problem: why this node does not listen; "": it does. NULL: no memory.
 */
struct rna_bandwidths *rna_measured_results(const struct rna_measured_ports *ports,
					    unsigned tcp_port, const char *problem,
					    uint64_t strangers);
