/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probing: the guest of the loop that lets ports of this node and of its peers probe each other. It
 * follows views, keeps a prober, learns of peers by their HTTP servers, and judges what comes back
 * once a second. While it is disabled it has no timer, no child and no thread.
 * Functions that follow the agent accept NULL. Thread: the loop's.
 */
#pragma once

#include <stdbool.h>

#include "rna/model/probe.h"
#include "rna/model/view.h"

#include "settings/settings.h"

#include "probe_memory.h"

typedef struct sd_event sd_event; /* <systemd/sd-event.h> */

struct rna_pairs; /* pairs.h */
struct rna_probing;

/* What the guest is given. */
struct rna_probing_host {
	sd_event *event;
	const struct rna_settings *settings; /* may change their content, not their place */
	struct rna_probe_memory *memory;     /* it learns; outlives the guest */
	void (*news)(void *userdata);        /* something is judged otherwise than before */
	void *userdata;
};

/* NULL: no memory. */
struct rna_probing *rna_probing_new(const struct rna_probing_host *host);
/* Ends the prober. Accepts and returns NULL. */
struct rna_probing *rna_probing_free(struct rna_probing *probing);

/* There is a new view; it is not held. It has the ports, and the name of this node. */
void rna_probing_follow(struct rna_probing *probing, const struct rna_view *view);

/* The settings have changed. */
void rna_probing_update(struct rna_probing *probing);

/* No device may be open from now on, or may be again. */
void rna_probing_hold(struct rna_probing *probing, bool quiet);

/* A device is being removed: the prober may hold it, and ends. It starts again by itself. */
void rna_probing_let_go(struct rna_probing *probing);

/* What has devices open, in words; NULL: nothing. */
const char *rna_probing_holds(const struct rna_probing *probing);

/*
 * Ports, peers and pairs as they are now, for other guests: until the next turn of the loop. NULL:
 * disabled.
 */
const struct rna_pairs *rna_probing_pairs(const struct rna_probing *probing);
/* The key made of the secret; NULL: there is none. */
const uint8_t *rna_probing_key(const struct rna_probing *probing);

/* What is known now, a new reference for the caller; NULL: disabled, or no memory. */
struct rna_probes *rna_probing_results(struct rna_probing *probing);
