/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history: transitions of the node's ports. The newest are in memory, and those that are not on
 * the disk yet; on the disk are a thousand and more, also of earlier processes, in two files of
 * lines of JSON: lines are appended to the newer one, and when it is full it replaces the older
 * one. A line that is damaged, as the last one is after a loss of power, costs only itself.
 * Thread: the loop's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/error.h"
#include "rna/base/strbuf.h"
#include "rna/model/transition.h"

#define RNA_HISTORY_FILE "events.jsonl"
#define RNA_HISTORY_OLD  "events.old.jsonl"

enum {
	RNA_HISTORY_FULL = 1024,    /* lines of a file; the older one has as many at least */
	RNA_HISTORY_WAITING = 1024, /* that wait for the disk at most; then the oldest are lost */
};

extern const char rna_history_header[]; /* the first line of a file */

struct rna_history {
	size_t room;       /* for so many; 0: RNA_TRANSITIONS_KEPT. Set it before the first */
	bool all;          /* what is on the disk is kept in memory as well */
	uint64_t sequence; /* of the newest */
	size_t count;      /* RNA_TRANSITIONS_KEPT are kept at least */
	size_t first;      /* index of the oldest in ring */
	struct rna_transition *ring; /* NULL: none yet; owns strings */
	bool changed;                /* there are some that are not on the disk */
	uint64_t written;            /* the newest that is */
	uint64_t writing;            /* while it is written: the newest then */
	size_t lines;                /* of the newer file */
	bool turns;                  /* it is full: what is being written begins another one */
};

void rna_history_deinit(struct rna_history *history); /* idempotent */

/*
 * Adds a copy of transition, over the oldest one if there is no room. Its number is that of the
 * newest and one; a greater number of its own stays. False: no memory.
 */
bool rna_history_add(struct rna_history *history, const struct rna_transition *transition);

/* From 0, the oldest. */
const struct rna_transition *rna_history_at(const struct rna_history *history, size_t index);

/* As lines: those that are not on the disk yet. */
void rna_history_write(struct rna_history *history, struct rna_strbuf *out);
/* They are there now, or not: then they wait. */
void rna_history_written(struct rna_history *history, bool there);

/*
 * Adds what is in a file, the older one first. -EBADMSG: it is none; -EOPNOTSUPP: a newer version
 * wrote it; else -ENOMEM. In the first two cases with history as it was, in all with error.
 */
int rna_history_read(struct rna_history *history, const char *text, size_t len,
		     struct rna_error *error);
