/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of the kernel's log in the format of /dev/kmsg (Linux, Documentation/ABI/testing/
 * dev-kmsg): a prefix, the message, and lines with keys and values behind it.
 *
 *	4,339,5140900,-;mlx5_core 0000:3b:00.0: firmware version: 28.39.1002
 *	 SUBSYSTEM=pci
 *	 DEVICE=+pci:0000:3b:00.0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/clock.h"
#include "rna/base/root.h"
#include "rna/base/strbuf.h"

#define RNA_KMSG_PATH "dev/kmsg"

enum {
	/*
	 * A record is no longer: CONSOLE_EXT_LOG_MAX of Linux 3.6 to 6.2, PRINTK_MESSAGE_MAX (2048)
	 * later. A longer one in a recording is skipped.
	 */
	RNA_KMSG_RECORD_MAX = 8192,
};

/* Texts end with a NUL, lie in the memory of the record, and are valid as long as that is. */
struct rna_kmsg_record {
	uint64_t sequence;
	rna_usec time; /* CLOCK_MONOTONIC, apart from drift; 0: unknown */
	unsigned facility;
	unsigned level;
	bool fragment;      /* it continues the message before */
	const char *caller; /* the thread or CPU that wrote it; NULL: unknown */
	char *message;      /* as it was written: escapes are undone, so it may have any byte */
	size_t len;         /* of message */
	const char *device; /* "+pci:0000:3b:00.0", "n12"; NULL: none */
};

enum {
	RNA_KMSG_KERNEL = 0, /* facility of the kernel's own messages; programs cannot use it */
};

/*
 * Takes a record apart in place; text has room for a NUL behind len. 0, or -EBADMSG: it is not
 * one, or cut.
 */
int rna_kmsg_parse(char *text, size_t len, struct rna_kmsg_record *ret);

/*
 * Writes text for people: bytes other than printable ASCII as \xNN, cut to less than size bytes
 * with a NUL, and never within an escape. Its length.
 */
size_t rna_kmsg_escape(const char *text, size_t len, char *ret, size_t size);

/* Writes the record in the format of /dev/kmsg. */
void rna_kmsg_write(const struct rna_kmsg_record *record, struct rna_strbuf *ret);

/*
 * Opens the log of a root without waiting for it. Descriptor, whose position is the oldest record;
 * -ENODEV if dev/kmsg of a live root is not the kernel's device, as in some containers; or another
 * negative errno.
 */
int rna_kmsg_open(const struct rna_root *root);

/* For each record. False: no more of them. */
typedef bool rna_kmsg_take(void *userdata, struct rna_kmsg_record *record);

struct rna_kmsg_drained {
	uint64_t records;     /* that were taken */
	uint64_t malformed;   /* that could not be taken apart, or were too long */
	uint64_t overwritten; /* how often records had been overwritten before they were read */
	bool limited;         /* there may be more */
};

/*
 * Reads what there is behind the position of the descriptor, at most so many records. It never
 * waits. Of a file, it leaves an incomplete record at the end for later. 0, or the negative errno
 * of a failed read: the records before it were taken.
 */
int rna_kmsg_drain(int fd, uint64_t most, rna_kmsg_take *take, void *userdata,
		   struct rna_kmsg_drained *ret);

/* Moves behind the newest record. 0 or negative errno. */
int rna_kmsg_skip(int fd);
