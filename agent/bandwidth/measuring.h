/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measuring: the guest of the loop that measures bandwidth between ports of this node and of other
 * nodes (rna/bandwidth.h). It answers the calls of peers, asks them when a person wants to know or
 * in the window of the settings, and runs one test at a time, by a child. It takes members, ports
 * and the secret from the guest that probes. While it is disabled it does not listen and has no
 * timer. Functions that follow the agent accept NULL. Thread: the loop's.
 */
#pragma once

#include "rna/model/bandwidths.h"
#include "rna/model/view.h"

#include "measure_plan.h"

typedef struct sd_event sd_event; /* <systemd/sd-event.h> */

struct rna_measuring;
struct rna_probing;  /* probe/probing.h */
struct rna_selftest; /* selftest/selftest_schedule.h */

/* What it works with, all of which outlives it. */
struct rna_measuring_host {
	sd_event *event;
	const struct rna_settings *settings; /* may change their content, not their place */
	const struct rna_probing *probing;
	const struct rna_selftest *selftest;
	void (*news)(void *userdata); /* there is a new result */
	void *userdata;
};

struct rna_measuring *rna_measuring_new(
	const struct rna_measuring_host *host); /* NULL: no memory */
/* Ends a test that is under way. Accepts and returns NULL. */
struct rna_measuring *rna_measuring_free(struct rna_measuring *measuring);

/* There is a new view, which it holds until the next. */
void rna_measuring_follow(struct rna_measuring *measuring, const struct rna_view *view);

/* The settings have changed, and the guest that probes has followed them already. */
void rna_measuring_update(struct rna_measuring *measuring);

/*
 * Why nothing may be tested, RNA_SKIP_QUIESCED or RNA_SKIP_NODE_GATE; RNA_SKIP_NONE. A quiesce ends
 * the test under way.
 */
void rna_measuring_hold(struct rna_measuring *measuring, enum rna_skip why);

/* A device is being removed: the test under way ends, it may hold it. */
void rna_measuring_let_go(struct rna_measuring *measuring);

/* The test that has a device open, in words: one under way or stuck. NULL: none. */
const char *rna_measuring_holds(const struct rna_measuring *measuring);

/* What is known now, a new reference for the caller; NULL: disabled, or no memory. */
struct rna_bandwidths *rna_measuring_results(struct rna_measuring *measuring);

/* Callbacks for tests that were requested. */
struct rna_measuring_listener {
	void (*progress)(const struct rna_bandwidth_test *test, void *userdata); /* it begins */
	void (*done)(const struct rna_measure_runs *runs, void *userdata);       /* the last call */
	void *userdata;
};

/*
 * Runs at once the tests that rna_measure_with_peer() makes of target. 0, or negative errno with
 * error; then listener hears nothing.
 */
int rna_measuring_demand(struct rna_measuring *measuring, const char *target,
			 const struct rna_measuring_listener *listener, struct rna_error *error);
/* Drops the listener with that userdata; the tests go on. */
void rna_measuring_forget(struct rna_measuring *measuring, const void *userdata);
