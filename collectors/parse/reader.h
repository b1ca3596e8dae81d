/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader keeps the attribute files of one (collector, device) pair ready for the next run.
 *
 * Opening a file by path costs ten times what reading it does (4 us against 0.36 us), so the
 * descriptors stay open and are pread(); they pin no kernel module. A reader that may not keep so
 * many keeps its directories and opens below them, and without even these it opens by path.
 *
 * A file that fails is left alone for a growing pause (one period, doubling up to five minutes):
 * on some functions each read costs a firmware command and a line in the kernel log.
 *
 * Use, in a collector:
 *
 *	rna_reader_start(reader, now, period)
 *	if (rna_reader_is_empty(reader))
 *		rna_reader_add_directory(), then rna_reader_add_file() for each file
 *	for each file: rna_reader_read_number()
 *
 * When a read says -ENODEV, the device is gone or was registered anew: fail with it,
 * the reader has forgotten everything and the next run starts afresh.
 * Thread: one at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rna/collector.h"
#include "rna/model/value.h"

struct rna_reader_file {
	const char *name;     /* below its directory */
	unsigned directory;   /* index, as rna_reader_add_directory() gave it */
	const void *userdata; /* the collector's: what this file is */
};

/* Begins a run. period: how often runs come; the first pause of a failing file. */
void rna_reader_start(struct rna_reader *reader, rna_usec now, rna_usec period);

/* Closes everything and forgets all files and pauses. */
void rna_reader_reset(struct rna_reader *reader);
bool rna_reader_is_empty(const struct rna_reader *reader);

/*
 * Adds a directory of the root. tag: the collector's, to know it again. Its index, or negative
 * errno (-ENOENT: there is none, which many drivers find normal).
 */
int rna_reader_add_directory(struct rna_reader *reader, const char *path, unsigned tag);
/*
 * Adds a group of files that no directory has: what they hold comes from another source. Reading
 * one says -ENOENT. Returns like rna_reader_add_directory().
 */
int rna_reader_add_source(struct rna_reader *reader, unsigned tag);
bool rna_reader_is_source(const struct rna_reader *reader, unsigned directory);

unsigned rna_reader_directory_count(const struct rna_reader *reader);
unsigned rna_reader_directory_tag(const struct rna_reader *reader, unsigned directory);
uint64_t rna_reader_directory_inode(const struct rna_reader *reader, unsigned directory);

/* A copy that lives as long as the files, until a reset. NULL: no memory. */
const char *rna_reader_keep_name(struct rna_reader *reader, const char *name);

/*
 * Adds one file of a directory; it is opened at its first read. name is not copied: a constant, or
 * one that is kept; NULL, what keeping says without memory, is -ENOMEM. Its index, or -ENOMEM.
 */
int rna_reader_add_file(struct rna_reader *reader, unsigned directory, const char *name,
			const void *userdata);

/* The names in a directory, sorted, in arena. Number, or negative errno. */
ssize_t rna_reader_list(const struct rna_reader *reader, unsigned directory,
			struct rna_arena *arena, char ***ret_names);

size_t rna_reader_count(const struct rna_reader *reader);
const struct rna_reader_file *rna_reader_file(const struct rna_reader *reader, size_t index);

/*
 * Reads a file: text without trailing blanks, NUL-ended. Length, or negative errno: -ENOENT when
 * it was never there, -ENODEV when the device is gone, -ENXIO when only this file says so. While a
 * pause lasts, the last error comes back and nothing is touched.
 */
ssize_t rna_reader_read(struct rna_reader *reader, size_t index, char *buffer, size_t size);

/* Is the file still there? 0, or -ENODEV; it is not read and needs no descriptor afterwards. */
int rna_reader_check(struct rna_reader *reader, size_t index);

/*
 * Reads a file that holds a number. parse: one of rna/base/parse.h, or one's own that may also
 * return -ENOENT for "there is no such value". 0 with *ret ok, absent, or unreadable (counted in
 * part); or -ENODEV.
 */
int rna_reader_read_number(struct rna_reader *reader, size_t index,
			   int (*parse)(const char *text, uint64_t *ret), struct rna_part *part,
			   struct rna_value *ret);

/*
 * Another source than files, one for the whole reader, is left alone for the same pauses when it
 * fails. May it be asked now? 0, or while a pause lasts what it failed with. A reset keeps this.
 */
int rna_reader_may_ask(const struct rna_reader *reader);
void rna_reader_was_asked(struct rna_reader *reader, int status); /* 0 or negative errno */
