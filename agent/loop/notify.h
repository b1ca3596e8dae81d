/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifications for systemd: the state of the process, by sd_notify(3), and changes of findings, in
 * the journal. The loop itself feeds the watchdog.
 * Thread: the loop's.
 */
#pragma once

#include "rna/base/clock.h"
#include "rna/model/view.h"

#include "rules/rules.h"

/* The last line that was sent, so that it is sent when it changes only. */
struct rna_notify {
	char status[128];
};

void rna_notify_ready(void); /* started, or reloaded */
void rna_notify_reloading(rna_usec now);
void rna_notify_stopping(void);

/* The line that "systemctl status" shows: how many ports are up, and the worst that is wrong. */
void rna_notify_status(struct rna_notify *notify, const struct rna_view *view);

/*
 * Logs that a finding is active, or resolved (over) after so long, with the fields RULE, SEVERITY,
 * DEVICE, PORT and MESSAGE_ID. The catalog explains a rule by its own id; all resolved findings
 * share one.
 */
void rna_notify_finding(const struct rna_rule *rule, const struct rna_finding *finding, bool over,
			rna_usec lasted);
