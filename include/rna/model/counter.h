/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters: the table of those we know, and the parts that carry what was read.
 *
 * One row per known counter file says everything about it: where it is, what it is called in
 * metrics, its unit, its width, and on which link layers it means something. The collector reads
 * the file and exporters write the metric from the same row; a file without a row goes to the
 * generic family of its directory, under its own name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/model/part.h"
#include "rna/model/value.h"

/* Directory that a counter file lives in. */
enum rna_counter_place {
	RNA_PLACE_PORT_COUNTERS,      /* ports/N/counters: IBTA PMA attributes */
	RNA_PLACE_PORT_HW_COUNTERS,   /* ports/N/hw_counters: the driver's */
	RNA_PLACE_DEVICE_HW_COUNTERS, /* hw_counters of the device */
	RNA_PLACE_PORT_FABRIC,        /* in no file: attributes of the PMA that only MADs have */
	RNA_PLACE_COUNT,
};

enum rna_counter_unit {
	RNA_UNIT_NONE,
	RNA_UNIT_BYTES,
	RNA_UNIT_WORDS, /* 4-octet words, exported as bytes */
};

enum rna_counter_kind {
	RNA_COUNTER, /* only rises, until reset or wrap */
	RNA_GAUGE,   /* active_*, watermark_*: goes both ways */
};

/* Bits for the link layers where a counter has a meaning. */
enum {
	RNA_ON_INFINIBAND = 1,
	RNA_ON_ETHERNET = 2,
	RNA_ON_ANY = RNA_ON_INFINIBAND | RNA_ON_ETHERNET,
};

struct rna_counter {
	const char *file; /* name in its directory */
	const char
		*metric;  /* without "rdma_port_" or "rdma_device_" in front and "_total" behind */
	const char *help; /* one sentence, full stop at the end */
	enum rna_counter_place place;
	enum rna_counter_unit unit;
	enum rna_counter_kind kind;
	/*
	 * Bits of the register. saturates: it sticks at 2^width - 1 (IBTA 16.1.3.5), else it
	 * wraps. 0: not known, then neither is concluded.
	 */
	unsigned char width;
	bool saturates;
	bool fills_up; /* in ordinary work, so that standing at the maximum is no news */
	unsigned char link_layers; /* RNA_ON_* */
	/*
	 * Rows that follow each other with one metric are one family, whose samples this label
	 * tells apart: lane, and "0". NULL: a family of its own.
	 */
	const char *label;
	const char *instance;
};

/* The table; rows of one place stand together, in the order in which metrics are exported. */
extern const struct rna_counter rna_counters[];
extern const size_t rna_counter_count;

/* The row of a file, or NULL. */
const struct rna_counter *rna_counter_find(enum rna_counter_place place, const char *file);

/* Which collector reads the counters of place. */
enum rna_collector_id rna_counter_collector(enum rna_counter_place place);

/* One counter. */
struct rna_counter_value {
	const struct rna_counter *counter; /* NULL: unknown file */
	const char *file;
	/*
	 * As published: the number that was read, and the wraps since the device was registered or
	 * the counter reset; units are applied by exporters. While it cannot be read, number and
	 * raw are those of the last time that it could.
	 */
	struct rna_value value;
	uint64_t raw; /* as read */
};

/* Does it count no more, and is that worth a word? */
bool rna_counter_is_stuck(const struct rna_counter_value *value);

/* The counters of one directory. */
struct rna_counter_group {
	enum rna_counter_place place;
	unsigned port; /* 0 for the device's own */
	/*
	 * Changes when the kernel registers the device anew: the inode of the directory that was
	 * opened. The one of struct rna_device is as old as the newest presence.
	 */
	uint64_t generation;
	uint64_t resets; /* runs that found it of a new generation, or a counter fallen */
	/*
	 * Monotonic time: until then netlink, if it is to be the source, is not asked for this
	 * group, because it had no answer.
	 */
	rna_usec netlink_retry;
	/* What the PMA of the port can do, ClassPortInfo:CapabilityMask; absent: not asked yet. */
	struct rna_value capability;
	size_t count;
	/* known ones first, in the order of the table; then unknown ones, by name */
	const struct rna_counter_value *values;
};

/* The value of a known counter, or NULL. group: NULL for none. */
const struct rna_counter_value *rna_counter_group_find(const struct rna_counter_group *group,
						       const struct rna_counter *counter);

/* The part of the collectors counters and hw_counters. */
struct rna_counters_part {
	struct rna_part part;
	size_t group_count;
	const struct rna_counter_group *groups; /* by place, then port */
};
