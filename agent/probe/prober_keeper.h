/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a prober running: starts it, gives it its key, passes its reports on, replaces one that has
 * ended or does not report any more, and reaps those that a driver holds in the kernel.
 * Thread: the loop's.
 */
#pragma once

#include "rna/prober.h"

typedef struct sd_event sd_event; /* <systemd/sd-event.h> */

struct rna_prober_keeper;

struct rna_prober_handlers {
	void (*report)(const struct rna_prober_report *report, void *userdata);
	/* It has ended, why: all its ports are closed. It starts again by itself. */
	void (*ended)(const char *why, void *userdata);
	/* It has begun; ports may be opened. */
	void (*started)(void *userdata);
	void *userdata;
};

/* setup: of probers, but for the key. NULL: no memory. */
struct rna_prober_keeper *rna_prober_keeper_new(sd_event *event,
						const struct rna_prober_handlers *handlers,
						const struct rna_prober_order *setup);
/* Ends the prober. Accepts and returns NULL. */
struct rna_prober_keeper *rna_prober_keeper_free(struct rna_prober_keeper *keeper);

/* Starts the prober with that key, another one if the key has changed. NULL: ends it. */
void rna_prober_keeper_want(struct rna_prober_keeper *keeper,
			    const uint8_t key[RNA_PROBER_KEY_SIZE]);

/* Called each second: starts one that is due, and ends one that hangs. */
void rna_prober_keeper_look(struct rna_prober_keeper *keeper, rna_usec now);

/* 0; -EAGAIN: it does not run, or cannot take the order now. */
int rna_prober_keeper_order(struct rna_prober_keeper *keeper, const struct rna_prober_order *order);

bool rna_prober_keeper_runs(const struct rna_prober_keeper *keeper);
rna_usec rna_prober_keeper_heard(const struct rna_prober_keeper *keeper); /* monotonic; 0 */
uint64_t rna_prober_keeper_restarts(const struct rna_prober_keeper *keeper);
/* Why none runs, a phrase; NULL: one runs. */
const char *rna_prober_keeper_why(const struct rna_prober_keeper *keeper);
/* Does a prober run, or one that was ended still have devices open? */
bool rna_prober_keeper_holds(const struct rna_prober_keeper *keeper);
