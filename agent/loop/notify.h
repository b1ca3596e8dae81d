/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What systemd is told of the process, by sd_notify(3); where nobody listens, nothing. The watchdog
 * is fed by the loop itself.
 * Thread: the loop's.
 */
#pragma once

#include "rna/base/clock.h"
#include "rna/model/view.h"

/* The last line that was sent, so that it is sent when it changes only. */
struct rna_notify {
	char status[128];
};

void rna_notify_ready(void); /* started, or reloaded */
void rna_notify_reloading(rna_usec now);
void rna_notify_stopping(void);

/* The line that "systemctl status" shows: how many ports are up, and the worst that is wrong. */
void rna_notify_status(struct rna_notify *notify, const struct rna_view *view);
