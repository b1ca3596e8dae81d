/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file worker does one job at a time that may wait for a disk, in a worker of its own. The loop
 * starts the next job when the last has come back, and what a job needs is handed over and handed
 * back. The lanes are left out: they are for collectors,
 * with their deadlines and replacements, and a disk that hangs must not take one away from the
 * hardware. Thread: the loop's.
 */
#pragma once

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "rna/base/cleanup.h"
#include "rna/base/clock.h"

struct rna_file_worker;

/* work is done in the thread, back is called in the loop when it is done. */
int rna_file_worker_new(sd_event *event, void (*work)(void *job), void (*back)(void *job),
			struct rna_file_worker **ret);

/* Is a job under way? */
bool rna_file_worker_busy(const struct rna_file_worker *worker);

/* 0, or negative errno: then nothing was begun. None may be under way. */
int rna_file_worker_start(struct rna_file_worker *worker, void *job);

/*
 * Waits for the one that is under way, and for those that back starts. false: it is stuck, and what
 * it uses must stay.
 */
bool rna_file_worker_wait(struct rna_file_worker *worker, rna_usec patience);

/* Only when none is under way. Accepts and returns NULL. */
struct rna_file_worker *rna_file_worker_free(struct rna_file_worker *worker);
RNA_DEFINE_CLEANUP(struct rna_file_worker, rna_file_worker_free)
