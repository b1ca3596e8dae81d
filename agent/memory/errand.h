/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An errand: a thread of its own that is started, does one thing that may wait for a disk, says so
 * and ends. The loop starts the next one when the last has come back, and what an errand needs is
 * handed to it and handed back: no lock. The lanes are left out: they are for collectors, with
 * their deadlines and replacements, and a disk that hangs must not take one away from the hardware.
 * Thread: the loop's.
 */
#pragma once

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "rna/base/cleanup.h"
#include "rna/base/clock.h"

struct rna_errands;

/* work is done in the thread, back is called in the loop when it is done. */
int rna_errands_new(sd_event *event, void (*work)(void *job), void (*back)(void *job),
		    struct rna_errands **ret);

/* Is one under way? */
bool rna_errands_busy(const struct rna_errands *errands);

/* 0, or negative errno: then nothing was begun. None may be under way. */
int rna_errands_start(struct rna_errands *errands, void *job);

/*
 * Waits for the one that is under way, and for those that back starts. false: it is stuck, and what
 * it uses must stay.
 */
bool rna_errands_wait(struct rna_errands *errands, rna_usec patience);

/* Only when none is under way. Accepts and returns NULL. */
struct rna_errands *rna_errands_free(struct rna_errands *errands);
RNA_DEFINE_CLEANUP(struct rna_errands, rna_errands_free)
