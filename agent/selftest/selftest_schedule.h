/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The self-test: a guest of the loop that tests each port once in a period, one after the other,
 * when the port is idle. The tests are run by children; the loop only waits for them.
 * Where there is nothing to test, functions that follow the agent accept NULL.
 * Thread: the loop's.
 */
#pragma once

#include <stdbool.h>

#include "rna/model/selftest.h"
#include "rna/model/view.h"

#include "run.h"

typedef struct sd_event sd_event; /* <systemd/sd-event.h> */

struct rna_selftest;
struct rna_port_memory; /* memory.h */

/*
 * settings may change their content, not their place. news: there are new results, which are to be
 * remembered at once, not with the next poll; NULL: of a command, whose listener shows them, so
 * that failures are not logged. Returns NULL: no memory.
 */
struct rna_selftest *rna_selftest_new(sd_event *event, const struct rna_settings *settings,
				      void (*news)(void *userdata), void *userdata);
/* Ends a test that is under way. Accepts and returns NULL. */
struct rna_selftest *rna_selftest_free(struct rna_selftest *selftest);

/* What an earlier process knew of a port's tests. */
void rna_selftest_recall(struct rna_selftest *selftest, const char *key,
			 const struct rna_port_memory *memory);

/* There is a new view, which it holds until the next. It has the ports that are to be tested. */
void rna_selftest_follow(struct rna_selftest *selftest, const struct rna_view *view);

/* The settings have changed. */
void rna_selftest_update(struct rna_selftest *selftest);

/*
 * Why nothing may be tested at all, RNA_SKIP_QUIESCED or RNA_SKIP_NODE_GATE; RNA_SKIP_NONE. The
 * test under way is the last one when it is to be quiet.
 */
void rna_selftest_hold(struct rna_selftest *selftest, enum rna_skip why);

/* The test that has a device open, in words: one under way or stuck. NULL: none. */
const char *rna_selftest_holds(const struct rna_selftest *selftest);

/* Queue pairs of the idle device, as tests of the port have learned; RNA_QPS_UNKNOWN. */
uint64_t rna_selftest_idle_qps(const struct rna_selftest *selftest, const char *device,
			       unsigned port);

/* What is known now, a new reference for the caller; NULL: nothing yet, or no memory. */
struct rna_selftests *rna_selftest_results(struct rna_selftest *selftest);

/* Callbacks for tests that were requested. */
struct rna_selftest_listener {
	void (*progress)(const struct rna_selftest_run *run, void *userdata); /* it begins */
	/* All have ended; grades are given. The last call. */
	void (*done)(const struct rna_selftest_run *runs, size_t count, void *userdata);
	void *userdata;
};

/*
 * Runs at once the tests that rna_selftest_plan() makes of options. 0; -EBUSY with error when other
 * tests are under way; or as rna_selftest_plan(). In case of failure listener hears nothing.
 */
int rna_selftest_demand(struct rna_selftest *selftest, const struct rna_selftest_options *options,
			const struct rna_selftest_listener *listener, struct rna_error *error);
/* Drops the listener with that userdata; the tests go on. */
void rna_selftest_forget(struct rna_selftest *selftest, const void *userdata);
