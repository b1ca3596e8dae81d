/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state directory: what the memory keeps over restarts and reboots.
 *
 * Two files, and each has one writer: memory.json is the daemon's, accepted.json is written by
 * "expect accept", whether a daemon runs or not, and a daemon reads it when it changes. So nothing
 * is ever asked of a running agent that an unprivileged client could ask as well.
 * Thread: the loop's. Disks may be slow and network file systems may hang: once the loop runs,
 * files are read and written by a thread, one at a time.
 */
#pragma once

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "settings/settings.h"

#include "memory.h"

struct rna_state_directory;

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
 * Reads both files into memory, which is empty; waits for the disk. keep: damaged files are set
 * aside and later calls may write. What is wrong is logged; there is always a memory to go on with.
 */
struct rna_state_directory *rna_state_open(const char *directory, bool keep,
					   struct rna_memory *memory);

/* Follows accepted.json. on_change is called when the memory was changed by it. */
int rna_state_watch(struct rna_state_directory *state, sd_event *event,
		    void (*on_change)(void *userdata), void *userdata);

/*
 * Writes soon if the memory has changed. A write that failed is repeated after a pause
 * that grows, and logged once. Accepts NULL.
 */
void rna_state_keep(struct rna_state_directory *state);

/* Writes now, and waits no longer than patience. Accepts NULL. */
void rna_state_flush(struct rna_state_directory *state, rna_usec patience);

struct rna_state_directory *rna_state_free(
	struct rna_state_directory *state); /* accepts and returns NULL */
RNA_DEFINE_CLEANUP(struct rna_state_directory, rna_state_free)
