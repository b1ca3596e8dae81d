/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory in memory with the files of an input, and the collectors that read it. Lines are in
 * the language of tests/machines, as far as it goes without models, and some more:
 *
 *	write PATH = TEXT
 *	bytes PATH = TEXT	with escapes: \n and \xNN, which a PATH may always have
 *	link PATH -> TARGET	"@" in front means the directory of fuzz_place_path("")
 *	directory PATH
 *	fifo PATH
 *	socket PATH
 *
 * Thread: any for what is const; only one at a time may make a directory anew.
 */
#pragma once

#include <stdbool.h>

#include "rna/collector.h"

enum { FUZZ_PLACE_MAX = 96 };

/* The path of a directory that is, or will be, made by fuzz_place_new(). */
void fuzz_place_path(const char *name, char ret[FUZZ_PLACE_MAX]);
/* An empty directory of that name. All are removed when the process exits. */
void fuzz_place_new(const char *name);

/*
 * Descriptor of the directory of *path below place, made if it is missing; -1: it cannot be. *path
 * loses all but its last name. Never leaves place, whatever is in it.
 */
int fuzz_place_directory_of(const char *place, char **path);
/*
 * Makes a link as the line "link" does. path is changed. Needs no memory, so that a thread may do
 * it while another forks: sanitizers of clang 14 can leave their allocator locked in the child.
 */
void fuzz_place_link(const char *place, char *path, const char *target);
/* Exchanges two names, if both are there. Like that, for a thread. */
void fuzz_place_swap(const char *place, const char *path, const char *other);

/*
 * Makes the directory "outside", with a file, and watches it from now on. Was anything there
 * opened, read, written, made, or given other rights since the last call? The kernel tells, also
 * if nothing of it gets into a result.
 */
void fuzz_place_watch(void);
bool fuzz_place_is_touched(void);

/* Makes what line says below place, or nothing. line is changed. */
void fuzz_place_obey(const char *place, char *line);

/* Runs a collector; NULL: it failed, with an error that says why. */
struct rna_part *fuzz_collect(enum rna_collector_id id, const struct rna_collect_input *in);
/* Runs all collectors, those of a device twice. What they need is in root and backends of in. */
void fuzz_collect_all(struct rna_collect_input *in);
