/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children in the loop: waiting for the end of one, the process of a test with its deadline, and
 * what is left of a child that a driver holds in the kernel.
 *
 * None of the structs may move while it waits. Functions that end something accept what has not
 * begun. Thread: the loop's.
 */
#pragma once

#include <stdbool.h>

#include "rna/model/loopback.h"

typedef struct sd_event sd_event;               /* <systemd/sd-event.h> */
typedef struct sd_event_source sd_event_source; /* likewise */

/* -- The end of a child ------------------------------------------------------------------------ */

/*
 * Waits by the pidfd of the child, or, where the kernel gives none (before 5.3, or in a container
 * that does not let us ask), by looking again, ever more rarely. Does not reap the child.
 */
struct rna_child_watch {
	pid_t pid;
	void (*ended)(void *userdata); /* called once; the child needs nothing but to be reaped */
	void *userdata;
	rna_usec begin; /* monotonic */
	sd_event_source *source;
};

/* Without a pidfd: how long until the next look, so that a test's end is seen at once. */
rna_usec rna_child_watch_pause(rna_usec waited);

/* -- Stuck children ---------------------------------------------------------------------------- */

/* A child that was killed but has not ended. It is reaped when it ends. All zero: none. */
struct rna_stuck_child {
	struct rna_child child; /* pid 0: none */
	struct rna_child_watch watch;
	void (*ended)(void *userdata); /* after it was reaped */
	void *userdata;
};

/* Takes the child, which is stopped but not ended. Without memory for a watch it stays a zombie. */
void rna_stuck_child_keep(struct rna_stuck_child *stuck, sd_event *event, struct rna_child *child,
			  void (*ended)(void *userdata), void *userdata);

/* Does not wait for it any more. */
void rna_stuck_child_deinit(struct rna_stuck_child *stuck);

/* -- The process of a test --------------------------------------------------------------------- */

struct rna_test_process {
	sd_event *event;
	/*
	 * The child has ended, which includes that it has sent its result, or is stuck: it was
	 * killed RNA_LOOPBACK_LAST_PATIENCE ago. To be answered by rna_test_process_end().
	 */
	void (*over)(void *userdata);
	void *userdata;
	struct rna_loopback_child child; /* initially RNA_LOOPBACK_CHILD_INIT */
	struct rna_child_watch watch;    /* ended: nothing of the child can keep us waiting then */
	sd_event_source *deadline;
	bool killed; /* it was not to go on, or is... */
	bool late;
};

/*
 * Waits for the child that was started, patience at most; then the child is killed. 0 or negative
 * errno.
 */
int rna_test_process_wait(struct rna_test_process *process, rna_usec patience);

/* Kills the child before its time. False: none runs, or it was killed because it was late. */
bool rna_test_process_kill(struct rna_test_process *process);

/*
 * Ends what is left of the child without waiting. False: it is stuck; then process has no child any
 * more, but *stuck has, as by rna_stuck_child_keep().
 */
bool rna_test_process_end(struct rna_test_process *process, struct rna_stuck_child *stuck,
			  void (*ended)(void *userdata), void *userdata);

/* Ends the child, and waits for RNA_LOOPBACK_LAST_PATIENCE at most. */
void rna_test_process_deinit(struct rna_test_process *process);
