/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters: the table of known counters, and the parts with their values.
 *
 * Each known counter file has one row: its directory, metric name, unit, width, and the link layers
 * on which it is meaningful. The collector reads the file and exporters write the metric from this
 * row. A file without a row is exported in the generic family of its directory, under its own name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/model/part.h"
#include "rna/model/value.h"

/* The directory of a counter file. */
enum rna_counter_place {
	RNA_PLACE_PORT_COUNTERS,      /* ports/N/counters: IBTA PMA attributes */
	RNA_PLACE_PORT_HW_COUNTERS,   /* ports/N/hw_counters: the driver's */
	RNA_PLACE_DEVICE_HW_COUNTERS, /* hw_counters of the device */
	RNA_PLACE_PORT_FABRIC,        /* no file: PMA attributes that only MADs return */
	RNA_PLACE_PORT_COUNTERS_EXT,  /* ports/N/counters_ext: 64 bits, of old MLNX_OFED */
	RNA_PLACE_PORT_PLANES,        /* ports of the SMI device, N/counters: planes of the port */
	RNA_PLACE_PORT_CM_TX,         /* ports/N/cm_*: the kernel's connection manager */
	RNA_PLACE_PORT_CM_TX_RETRIES,
	RNA_PLACE_PORT_CM_RX,
	RNA_PLACE_PORT_CM_RX_DUPLICATES,
	RNA_PLACE_COUNT,
};

enum rna_counter_unit {
	RNA_UNIT_NONE,
	RNA_UNIT_BYTES,
	RNA_UNIT_WORDS, /* 4-octet words, exported as bytes */
};

enum rna_counter_kind {
	RNA_COUNTER, /* only rises, until reset or wrap */
	RNA_GAUGE,   /* active_*, watermark_*: rises and falls */
};

/* Bits for the link layers on which a counter is meaningful. */
enum {
	RNA_ON_INFINIBAND = 1,
	RNA_ON_ETHERNET = 2,
	RNA_ON_ANY = RNA_ON_INFINIBAND | RNA_ON_ETHERNET,
};

struct rna_counter {
	const char *file; /* name in its directory */
	/* without the prefix "rdma_port_" or "rdma_device_" and the suffix "_total" */
	const char *metric;
	const char *help; /* one sentence, full stop at the end */
	enum rna_counter_place place;
	enum rna_counter_unit unit;
	enum rna_counter_kind kind;
	/*
	 * Bits of the register. saturates: it sticks at 2^width - 1 (IBTA 16.1.3.5), otherwise it
	 * wraps. 0: unknown; then the agent detects neither.
	 */
	unsigned char width;
	/*
	 * Bits of a smaller register that some drivers show under this name, and which saturates;
	 * 0: none is known. Neither a file nor a driver states its width: a number that stands at
	 * exactly 2^small_width - 1 does.
	 */
	unsigned char small_width;
	bool saturates;
	bool fills_up;             /* reaches its maximum in normal operation; no finding */
	bool detail;               /* a metric only with metrics.details; always in JSON */
	unsigned char link_layers; /* RNA_ON_* */
	/*
	 * Adjacent rows with the same metric form one family; this label and value (lane, "0")
	 * distinguish their samples. NULL: the row is its own family.
	 */
	const char *label;
	const char *instance;
};

/* The table. Rows of one place are adjacent, in the order in which metrics are exported. */
extern const struct rna_counter rna_counters[];
extern const size_t rna_counter_count;

/* The row of a file, or NULL. */
const struct rna_counter *rna_counter_find(enum rna_counter_place place, const char *file);

/* The directory of place in sysfs and its name in JSON (planes: only that); NULL: it has none. */
const char *rna_counter_directory(enum rna_counter_place place);

/* Which collector reads the counters of place. */
enum rna_collector_id rna_counter_collector(enum rna_counter_place place);

/* One counter. */
struct rna_counter_value {
	const struct rna_counter *counter; /* NULL: unknown file */
	const char *file;
	/*
	 * The published number: the raw reading plus all wraps since the device was registered or
	 * the counter was reset. Exporters apply the unit. While it is unreadable, number and raw
	 * keep the last successful reading.
	 */
	struct rna_value value;
	uint64_t raw; /* as read */
};

/* Is it saturated although it does not saturate in normal operation? */
bool rna_counter_is_stuck(const struct rna_counter_value *value);

/* The counters of one directory. */
struct rna_counter_group {
	enum rna_counter_place place;
	unsigned port; /* 0 for the device's own */
	/*
	 * Changes when the kernel registers the device again: the inode of the opened directory.
	 * The generation in struct rna_device is only as recent as the last presence run.
	 */
	uint64_t generation;
	uint64_t resets; /* runs that found a new generation or a lower counter */
	/*
	 * Monotonic time. Before it the collector does not query netlink for this group, because
	 * the last query had no answer.
	 */
	rna_usec netlink_retry;
	/* ClassPortInfo:CapabilityMask of the port's PMA; absent: not queried yet. */
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
