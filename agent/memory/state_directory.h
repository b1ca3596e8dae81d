/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state directory: what the memory keeps over restarts and reboots.
 *
 * Each file has one writer. accepted.json is written by "expect accept", whether a daemon runs or
 * not, and a daemon reads it when it changes: so nothing is ever asked of a running agent that an
 * unprivileged client could ask as well. The others are the daemon's: memory.json, and what else is
 * kept (rna_state_add()).
 * Thread: the loop's. Disks may be slow and network file systems may hang: once the loop runs,
 * files are read and written by a thread, one at a time.
 */
#pragma once

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "settings/settings.h"

#include "memory.h"

struct rna_state_directory;

/* A file that the daemon keeps: what it is made of, and how it is read. */
struct rna_state_document {
	const char *name;
	void *owner;
	/* As rna_memory_read(): -EBADMSG, -EOPNOTSUPP or -ENOMEM with error, and owner as it was.
	 */
	int (*read)(void *owner, const char *text, size_t len, struct rna_error *error);
	void (*write)(void *owner, struct rna_strbuf *out);
	bool *changed;  /* set by the owner; reset when the file is written */
	bool on_change; /* it is written only then, not at the end as well */
	/*
	 * Of a file to which lines are appended (rna_state_file_append()); both files are read, the
	 * older one first. header: NULL: the file is replaced instead.
	 */
	const char *header, *old;
	bool *turns; /* what write() wrote begins the next file */
	/* NULL: need not be told. What was written is there now, or not. */
	void (*written)(void *owner, bool there);
};

enum { RNA_STATE_DOCUMENTS_MAX = 6 };

/*
 * The directory to use, or NULL: none. live: is the root the running system's own? Points into
 * settings or the environment.
 */
const char *rna_state_directory(const struct rna_settings *settings, bool live);

/*
 * The user that agents of this node run as, beside root: the owner of the system's directory, which
 * root gave it to. 0: root, or there is none. Waits for the disk.
 */
uid_t rna_state_owner(const struct rna_settings *settings);

/*
 * Reads memory.json and accepted.json into memory, which is empty; waits for the disk. keep:
 * damaged files are set aside and later calls may write. What is wrong is logged; there is always a
 * memory to go on with.
 */
struct rna_state_directory *rna_state_open(const char *directory, bool keep,
					   struct rna_memory *memory);

/*
 * Reads one more file likewise, and keeps it from then on. A file that a newer version wrote is
 * left alone. Before rna_state_watch(). Accepts NULL.
 */
void rna_state_add(struct rna_state_directory *state, const struct rna_state_document *document);

/* Follows accepted.json. on_change is called when the memory was changed by it. */
int rna_state_watch(struct rna_state_directory *state, sd_event *event,
		    void (*on_change)(void *userdata), void *userdata);

/*
 * Writes soon what has changed. A write that failed is repeated after a pause
 * that grows, and logged once. Accepts NULL.
 */
void rna_state_keep(struct rna_state_directory *state);

/* Writes now, and waits no longer than patience. Accepts NULL. */
void rna_state_flush(struct rna_state_directory *state, rna_usec patience);

struct rna_state_directory *rna_state_free(
	struct rna_state_directory *state); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_state_directory, rna_state_free)
