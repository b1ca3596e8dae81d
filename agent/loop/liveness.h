/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Liveness: the watchdog of systemd is fed as long as the loop turns and HTTP is served.
 *
 * The loop feeds it by itself (sd_event_set_watchdog()). Here it is checked now and then whether
 * clients are accepted and answered (rna_http_check()). If they are not, several times in a row,
 * feeding ends, and systemd restarts the agent. Without a watchdog nothing is checked. Nothing else
 * is a reason: neither that all connections are taken, nor that an address is not available yet,
 * nor that a firewall drops packets. On Kubernetes the liveness probe of the kubelet has the same
 * effect.
 *
 * Thread: the loop's.
 */
#pragma once

#include "rna/base/error.h"

#include "server.h"

struct rna_liveness {
	sd_event *event; /* the owner's */
	struct rna_server *server;
	sd_event_source *timer;
	rna_usec interval;
	unsigned missed; /* checks in a row */
};

/* From here on the watchdog is fed. 0 or negative errno. */
int rna_liveness_start(struct rna_liveness *liveness, sd_event *event, struct rna_server *server,
		       struct rna_error *error);
void rna_liveness_stop(struct rna_liveness *liveness); /* fine on a zeroed struct */
