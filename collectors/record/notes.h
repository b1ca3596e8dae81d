/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes: what a child process reads of a machine, for its parent to write down.
 *
 * The child appends each note to a file in memory at once, so nothing is lost when the parent has
 * to leave it behind. The next child starts with all notes that the parent has taken from that file
 * and reads none of it again. Thread: the only one of its process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "rna/base/arena.h"

enum rna_note_kind {
	RNA_NOTE_DIRECTORY,
	RNA_NOTE_NODE,     /* it exists and was not read; value: its permissions */
	RNA_NOTE_LINK,     /* data: the target as it is written */
	RNA_NOTE_CONTENT,  /* data: of a file */
	RNA_NOTE_ERROR,    /* value: why a file cannot be read, negative errno */
	RNA_NOTE_FAILURE,  /* value: why a directory or a library has no answer, negative errno */
	RNA_NOTE_QUESTION, /* value: kind of note if no answer comes; data: what is silent then */
	RNA_NOTE_END, /* value: number of devices, or negative errno; data: text of the error */
};

struct rna_note {
	enum rna_note_kind kind;
	int value;
	const char *path; /* of the machine, links resolved */
	const char *data; /* NUL behind it */
	size_t len;
};

struct rna_notes {
	struct rna_arena *arena; /* all paths and data */
	size_t count;
	struct rna_note **items;   /* in the order of reading */
	struct rna_note *question; /* parent: without an answer yet, or NULL */
	struct rna_note *end;      /* parent: NULL: the child has not finished */
	/* of notes.c */
	bool writes; /* this is the child */
	bool no_memory;
	int error; /* negative errno of the last read of the log; 0: none */
	int log;
	off_t taken;
	size_t size;
	void *by_path;
	struct silent *silent;
};

int rna_notes_init(struct rna_notes *notes); /* 0 or negative errno */
void rna_notes_deinit(struct rna_notes *notes);

/* The note about path; NULL: there is none yet. */
const struct rna_note *rna_notes_find(const struct rna_notes *notes, const char *path);

/*
 * Adds a note; the child logs it. The first one about a path counts, but what was read of it
 * replaces that it exists. data need not last.
 */
void rna_notes_add(struct rna_notes *notes, const struct rna_note *note);

/*
 * Child: about to ask for path, which may take for ever. unit: what is not asked for any more when
 * it does, a directory of files for example. kind: ERROR or FAILURE, of the note about that.
 * 0; -ETIMEDOUT, which is noted: the unit is silent.
 */
int rna_notes_ask(struct rna_notes *notes, const char *path, const char *unit,
		  enum rna_note_kind kind);

/* Parent: takes what the child has logged until now. */
void rna_notes_take(struct rna_notes *notes);
/* Parent: the child is gone. What it had no answer to fails with error from now on. */
void rna_notes_give_up(struct rna_notes *notes, int error);
