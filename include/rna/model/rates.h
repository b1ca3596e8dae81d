/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates: by how much the counters of a port have risen lately. A total since the last reset does
 * not tell a fault of this minute from one of last year. The agent keeps the readings of an hour
 * (agent/memory/port_traffic.c); Prometheus keeps longer ones.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rna/base/clock.h"
#include "rna/model/counter.h"

/* What is followed, in the order of the table. */
enum rna_rate_id {
	RNA_RATE_RECEIVED, /* words of four bytes, as is the next */
	RNA_RATE_TRANSMITTED,
	RNA_RATE_ERRORS, /* the first of those that should not rise on a good link */
	RNA_RATE_COUNT = RNA_RATE_ERRORS + 12,
};

struct rna_rate_row {
	enum rna_counter_place place;
	const char *file;
	const char *name; /* for people: "symbol errors" */
};

extern const struct rna_rate_row rna_rate_rows[RNA_RATE_COUNT];

enum rna_rate_span {
	RNA_RATE_MINUTE,
	RNA_RATE_HOUR,
	RNA_RATE_SPAN_COUNT,
};

/* One counter at its newest reading. */
struct rna_rate {
	bool known;     /* it was read; otherwise the rest is meaningless */
	bool of_device; /* the driver has it only for the device, whose first port this is */
	bool saturated; /* it stands at its maximum, and does not rise any further */
	uint64_t total; /* since its last reset */
	uint64_t risen[RNA_RATE_SPAN_COUNT];
};

struct rna_port_rates {
	/*
	 * How far back the readings go: a minute and an hour, or more if the agent reads seldom;
	 * less while the agent is younger than that. 0: there was one reading only.
	 */
	rna_usec spans[RNA_RATE_SPAN_COUNT];
	struct rna_rate of[RNA_RATE_COUNT];
};
