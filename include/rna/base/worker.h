/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers: threads beside the loop that get work and return it, or find things by themselves.
 *
 * A worker may stand in a file system or in the network for as long as it likes. Its owner does not
 * wait for it: the worker goes on alone, and frees what belongs to it when it comes back. Its
 * thread starts with the first piece of work, or by rna_worker_start(), with all signals blocked.
 *
 * The owner is one thread, the loop's for example. A piece of work belongs to the side that has it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "cleanup.h"
#include "clock.h"

struct rna_worker;

/* Stands first in the struct of what is to be done. */
struct rna_work {
	struct rna_work *next;
};

struct rna_worker_options {
	const char *name; /* of the thread, for top(1): 15 characters at most */
	size_t stack;     /* bytes; only pages that are used take memory */
	size_t most;      /* pieces of work that may wait; 0: any number */
	void *userdata;
	/* Does one piece, which is returned then. */
	void (*perform)(struct rna_work *work, void *userdata);
	/* Instead of perform: the whole thread, which ends when it is stopped. */
	void (*run)(struct rna_worker *worker, void *userdata);
	/* Frees a piece that is not taken any more; NULL: free(). */
	void (*drop)(struct rna_work *work);
	/* Frees userdata when thread and owner are done with it; NULL: it is the owner's. */
	void (*release)(void *userdata);
};

/* Copies options; userdata is the worker's from then on. 0 or negative errno, which releases
 * nothing. */
int rna_worker_new(const struct rna_worker_options *options, struct rna_worker **ret);
/* Likewise, and starts the thread. On failure userdata is released. */
int rna_worker_start_new(const struct rna_worker_options *options, struct rna_worker **ret);
/* Tells the thread to stop and does not wait for it. Accepts and returns NULL. */
struct rna_worker *rna_worker_stop(struct rna_worker *worker);
RNA_DEFINE_CLEANUP(struct rna_worker, rna_worker_stop)
/* The same, and waits for the work under way. */
struct rna_worker *rna_worker_finish(struct rna_worker *worker);

/* -- The owner's side -------------------------------------------------------------------------- */

/* 0, also if it runs already, or negative errno. */
int rna_worker_start(struct rna_worker *worker);
/*
 * Hands a piece over. 0, or negative errno, and it is still the caller's: the thread cannot start,
 * or too many wait (-EAGAIN).
 */
int rna_worker_give(struct rna_worker *worker, struct rna_work *work);
/* Readable while there is something to take. */
int rna_worker_fd(const struct rna_worker *worker);
/* The next piece that came back; NULL: there is none now. */
struct rna_work *rna_worker_take(struct rna_worker *worker);

/* -- The thread's side ------------------------------------------------------------------------- */

/* True from when it is to stop; for what can be cancelled. */
const atomic_bool *rna_worker_stopped(const struct rna_worker *worker);
/* Readable while there is work, and for ever when it is to stop. */
int rna_worker_wake_fd(const struct rna_worker *worker);
/* The next piece, waiting for one. NULL: none came, or the worker is to stop. */
struct rna_work *rna_worker_next(struct rna_worker *worker, rna_usec patience);
/* Hands a piece back, or something found, on the heap. Thread: any. */
void rna_worker_return(struct rna_worker *worker, struct rna_work *work);
