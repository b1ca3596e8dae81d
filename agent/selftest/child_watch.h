/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits in the loop for the end of a child of ours: by its pidfd, or, where the kernel gives none
 * (before 5.3, or in a container that does not let us ask), by looking again, ever more rarely.
 * The watch does not reap the child: its parent code does.
 * Thread: the loop's.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "rna/base/cleanup.h"
#include "rna/base/clock.h"

typedef struct sd_event sd_event; /* <systemd/sd-event.h> */

struct rna_child_watch;

/*
 * ended is called once, when the child needs nothing but to be reaped; it may free the watch.
 * pidfd: the caller's, -1: there is none. 0 or negative errno.
 */
int rna_child_watch_new(sd_event *event, pid_t pid, int pidfd, void (*ended)(void *userdata),
			void *userdata, struct rna_child_watch **ret);

/*
 * Where it is looked for: how long until the next look. The end of a test is seen at once, and one
 * that is stuck in the kernel for days costs next to nothing.
 */
rna_usec rna_child_watch_pause(rna_usec waited);

struct rna_child_watch *rna_child_watch_free(struct rna_child_watch *watch); /* accepts NULL */
RNA_DEFINE_CLEANUP(struct rna_child_watch, rna_child_watch_free)
