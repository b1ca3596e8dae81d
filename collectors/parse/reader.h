/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader keeps the attribute files of one (collector, device) pair open for the next run.
 *
 * Opening a file by path costs ten times as much as reading it (4 us, 0.36 us), so the descriptors
 * stay open for pread(); they pin no kernel module. If the descriptor limit is too low, a reader
 * keeps only directories open and opens files relative to them, or opens files by path.
 *
 * After a failure a file is not read for a growing pause (one period, doubling up to five minutes):
 * on some functions each read costs a firmware command and a line in the kernel log.
 *
 * Use, in a collector:
 *
 *	rna_reader_start(reader, now, period)
 *	if (rna_reader_is_empty(reader))
 *		rna_reader_add_directory(), then rna_reader_add_file() for each file
 *	for each file: rna_reader_read_number()
 *
 * If a read returns -ENODEV, the device is gone or was registered again: the collector must fail
 * with that error. The reader has been reset, and the next run starts from scratch. Thread: one at
 * a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rna/collector.h"
#include "rna/model/value.h"

struct rna_reader_file {
	const char *name;     /* relative to its directory */
	unsigned directory;   /* index returned by rna_reader_add_directory() */
	const void *userdata; /* for the collector, to identify the file */
};

/* Begins a run. period: interval of runs, which is also the first pause after a failure. */
void rna_reader_start(struct rna_reader *reader, rna_usec now, rna_usec period);

/* Closes everything and forgets all files and pauses. */
void rna_reader_reset(struct rna_reader *reader);
bool rna_reader_is_empty(const struct rna_reader *reader);

/*
 * Adds a directory of the root. tag: for the collector, to identify it. Its index, or negative
 * errno (-ENOENT: no such directory, which is normal with many drivers).
 */
int rna_reader_add_directory(struct rna_reader *reader, const char *path, unsigned tag);
/*
 * Adds a group of entries without a directory, whose values come from another source. Reading one
 * returns -ENOENT. Returns like rna_reader_add_directory().
 */
int rna_reader_add_source(struct rna_reader *reader, unsigned tag);
bool rna_reader_is_source(const struct rna_reader *reader, unsigned directory);

unsigned rna_reader_directory_count(const struct rna_reader *reader);
unsigned rna_reader_directory_tag(const struct rna_reader *reader, unsigned directory);
uint64_t rna_reader_directory_inode(const struct rna_reader *reader, unsigned directory);

/* Copies name; the copy is valid until rna_reader_reset(). NULL: no memory. */
const char *rna_reader_keep_name(struct rna_reader *reader, const char *name);

/*
 * Adds one file of a directory; the first read opens it. name is not copied: pass a constant or the
 * result of rna_reader_keep_name(), whose NULL gives -ENOMEM. Its index, or -ENOMEM.
 */
int rna_reader_add_file(struct rna_reader *reader, unsigned directory, const char *name,
			const void *userdata);

/* The names in a directory, sorted, in arena. Number, or negative errno. */
ssize_t rna_reader_list(const struct rna_reader *reader, unsigned directory,
			struct rna_arena *arena, char ***ret_names);

size_t rna_reader_count(const struct rna_reader *reader);
struct rna_reader_file rna_reader_file(const struct rna_reader *reader, size_t index);

/*
 * Reads a file as NUL-terminated text without trailing blanks. Length, or negative errno: -ENOENT
 * if it never existed, -ENODEV if the device is gone, -ENXIO if only this file returns ENODEV.
 * During a pause it returns the last error without reading.
 */
ssize_t rna_reader_read(struct rna_reader *reader, size_t index, char *buffer, size_t size);

/* Does the file still exist? 0, or -ENODEV. Does not read it and keeps no descriptor. */
int rna_reader_check(struct rna_reader *reader, size_t index);

/*
 * Reads a file that contains a number. parse: a function of rna/base/parse.h, or another one, which
 * may return -ENOENT for an absent value. 0 with *ret ok, absent, or unreadable (counted in part);
 * or -ENODEV.
 */
int rna_reader_read_number(struct rna_reader *reader, size_t index,
			   int (*parse)(const char *text, uint64_t *ret), struct rna_part *part,
			   struct rna_value *ret);

/*
 * A stream: one file for the whole reader, whose descriptor keeps the position from run to run. It
 * stays open whatever the maximum is, until the reader is reset or freed. The descriptor, or -1.
 */
int rna_reader_stream(const struct rna_reader *reader);
void rna_reader_keep_stream(struct rna_reader *reader, int fd); /* takes fd over */
void rna_reader_close_stream(struct rna_reader *reader);

/*
 * A source other than files (one for the whole reader) has the same pauses after failures. May the
 * collector query it now? 0, or during a pause the last error. A reset keeps this state.
 */
int rna_reader_may_ask(const struct rna_reader *reader);
void rna_reader_was_asked(struct rna_reader *reader, int status); /* 0 or negative errno */

/*
 * A source that rejects queries is not queried again as long as something else looks the same: look
 * is a hash of that, 0 for none. A reset keeps it as well.
 */
uint64_t rna_reader_rejected_look(const struct rna_reader *reader);
void rna_reader_set_rejected_look(struct rna_reader *reader, uint64_t look);
