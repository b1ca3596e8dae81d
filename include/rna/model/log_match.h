/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pattern a message of the kernel log has, and which object it names. The table of patterns
 * is agent/core/model/log_table.c.
 *
 * Cheap first: one pass over the message looks for the anchors of all patterns at once and reads
 * about one byte in four; a message without an anchor costs some 50 ns. Only the regexes of
 * patterns whose anchor occurs run. Each begins with ^, and none has a repetition of a repetition,
 * so that a message that someone else wrote cannot make them slow.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/model/kernel_log.h"

struct rna_arena;

enum {
	/* Further bytes of a message are ignored. The kernel's own limit (PRINTKRB_RECORD_MAX). */
	RNA_LOG_MESSAGE_MAX = 1024,
	RNA_LOG_ANCHOR_MIN = 8,     /* bytes of the shortest anchor: the pass skips as many */
	RNA_LOG_REPORT_LINES = 150, /* lines within which a report over several lines ends */
};

extern const struct rna_log_pattern rna_log_patterns[];
extern const size_t rna_log_pattern_count;

/* The pattern of that name, of the table or of the site (log_site.h); NULL: there is none. */
const struct rna_log_pattern *rna_log_pattern_find(const char *name);

/* A piece of another text, not terminated; len 0: nothing. */
struct rna_text {
	const char *data;
	size_t len;
};

/*
 * The anchors of all patterns, made by the first caller, const afterwards and never freed. Any
 * thread may use it. Never NULL. Regexes are compiled when their anchor occurs for the first time;
 * without memory for that, the message does not match.
 */
struct rna_log_matcher;
const struct rna_log_matcher *rna_log_matcher(void);

/*
 * One of other patterns, at most 256, which must live as long as it. It lies in arena; what it
 * compiles stays until the process ends. NULL: no memory.
 */
const struct rna_log_matcher *rna_log_matcher_new(struct rna_arena *arena,
						  const struct rna_log_pattern *patterns,
						  size_t count);

/*
 * What a message is. pattern is a row of the matcher's table. The texts point into message or
 * device and name the object as far as it is named: an address of a PCI function ("0000:3b:00.0";
 * "3b:00.0" where the kernel leaves the domain out, see rna_log_pci_is()), a network interface, an
 * RDMA device.
 */
struct rna_log_match {
	const struct rna_log_pattern *pattern;
	struct rna_text pci, netdev, rdma;
};

/*
 * message: without time, level and dictionary; any bytes, in which a NUL counts as a blank.
 * device: the value of DEVICE= of its dictionary, or _KERNEL_DEVICE of the journal
 * ("+pci:0000:3b:00.0"), or NULL. False: no pattern, and *ret is undefined. The first line of a
 * report over several lines has no match; the line that completes it has.
 */
bool rna_log_match(const struct rna_log_matcher *matcher, struct rna_log_pending *pending,
		   const char *message, size_t len, const char *device, struct rna_log_match *ret);

/*
 * Is the function that a message named the one at address? Intel's IOMMU leaves the domain out:
 * then that of address is not compared.
 */
bool rna_log_pci_is(const char *named, const char *address);
