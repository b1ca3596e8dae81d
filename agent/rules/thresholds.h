/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thresholds: how fast a counter may rise before it is worth a finding; and windows, which follow
 * one counter. A threshold is a number of events within a span of time: "120/h" is crossed as soon
 * as the last hour has seen 120, be it in one minute, and holds until it has seen fewer than 60.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/clock.h"
#include "rna/base/strbuf.h"
#include "rna/model/counter.h"
#include "rna/model/ethernet.h"
#include "rna/model/finding.h"
#include "rna/model/pcie.h"

#include "meanings.h"
#include "rules.h"

/* What is followed beside the counter files: how often the port went down. */
#define RNA_THRESHOLD_DOWNS "downs"
/* The same over a longer time: a link that goes down every few hours. */
#define RNA_THRESHOLD_DOWNS_DAILY "downs_daily"
/* Frames dropped of priorities that PFC makes lossless. */
#define RNA_THRESHOLD_LOSSLESS "ethernet_lossless_discards"

enum rna_threshold_source {
	RNA_THRESHOLD_OF_COUNTER,  /* a meaning, see meanings.h, or one counter file */
	RNA_THRESHOLD_OF_DOWNS,    /* RNA_THRESHOLD_DOWNS, RNA_THRESHOLD_DOWNS_DAILY */
	RNA_THRESHOLD_OF_ETHERNET, /* a statistic of a port, see rna_ethernet_sum() */
	RNA_THRESHOLD_OF_LOSSLESS, /* RNA_THRESHOLD_LOSSLESS, see discards.h */
	RNA_THRESHOLD_OF_PCIE,     /* errors on the PCIe path of a device, see rna_pcie_errors() */
};

enum { RNA_THRESHOLD_WAYS_MAX = 12 };

struct rna_threshold {
	/* A meaning, a counter file, a statistic, aer_ and a severity, or one of those above. */
	const char *name;
	enum rna_counter_place place; /* of a file */
	unsigned char link_layers;    /* RNA_ON_*; 0: any */
	const struct rna_rule *rule;  /* that speaks of it */
	enum rna_severity severity;
	uint64_t count;
	char unit;       /* of the span that count is for: s, m, h, d */
	const char *why; /* what a rise means, "the cable or a transceiver goes bad" */
	/*
	 * So many events more are allowed for each million packets that the counter base has
	 * counted meanwhile. Without a reading of base there is no finding. NULL: count alone.
	 */
	const char *base;
	unsigned share;
	bool is_base;  /* of another threshold; never a finding */
	bool evidence; /* the rule acknowledgements-missing uses it as well */
	/* Set by rna_thresholds_new(). */
	enum rna_threshold_source source;
	/* The counters of each way to count it, up to NULL; see rna_threshold_counters(). */
	const struct rna_counter *ways[RNA_THRESHOLD_WAYS_MAX][RNA_WAY_FILES_MAX];
	enum rna_aer aer; /* of the PCIe path */
	enum rna_ethernet_statistic_id statistic;
	int base_item;   /* index of items that counts base; -1: none */
	uint64_t limit;  /* count, for all of the window */
	rna_usec window; /* a unit, or more of them: a minute at least, and some readings long */
};

struct rna_thresholds {
	size_t count;
	struct rna_threshold items[];
};

/*
 * "symbol_error=120/h", "sequence_naks_received=1/s+100ppm", or "symbol_error=off". The name is
 * that of a threshold, a meaning, or a counter of the counter table, which stands for its meaning
 * if that has a threshold. A share of the packets (ppm: for each million) is for those that have
 * one by default.
 */
bool rna_threshold_is_valid(const char *entry);
void rna_threshold_explain(const char *entry, struct rna_strbuf *out); /* why not, if by name */

/*
 * The table, with entries (NULL-ended; NULL: none) in the place of its rows, for counters that are
 * read as often as poll says. NULL: no memory.
 */
struct rna_thresholds *rna_thresholds_new(char *const *entries,
					  const rna_usec poll[RNA_COLLECTOR_COUNT]);
/*
 * The limit of item i for the traffic of its window: windows are those of one port, one for each
 * item. *ret_known: false if it depends on traffic that is not known.
 */
struct rna_window;
uint64_t rna_threshold_limit(const struct rna_thresholds *thresholds, size_t i,
			     const struct rna_window *windows, bool *ret_known);

/*
 * The counters of the first way that a subject with these groups (by place) has, which are added
 * up; they end with NULL unless they are RNA_WAY_FILES_MAX. NULL: it has none.
 */
const struct rna_counter *const *rna_threshold_counters(
	const struct rna_threshold *threshold,
	const struct rna_counter_group *const groups[RNA_PLACE_COUNT]);
/* Is the counter one of them, whatever the driver? */
bool rna_threshold_has(const struct rna_threshold *threshold, const struct rna_counter *counter);

/* Are windows made for one fit for the other? */
bool rna_thresholds_same(const struct rna_thresholds *a, const struct rna_thresholds *b);

/*
 * The check function of all rules that the table names: one finding has all counters of the subject
 * that exceed their thresholds.
 */
void rna_check_threshold(const struct rna_rule_input *in, struct rna_finds *out);

/* The table for the command describe. */
void rna_thresholds_describe(struct rna_strbuf *out);

enum { RNA_WINDOW_SLOTS = 4 };

/*
 * One counter, over the last three to four quarters of its threshold's window: never longer, so
 * what it tells is true of the window. What was counted before the first look is no rise.
 */
struct rna_window {
	bool known; /* is there a last value? */
	bool over;  /* the threshold was crossed, and the rise has not halved since */
	uint64_t last;
	uint64_t summands;   /* where last is a sum, see rna/model/ethernet.h */
	rna_usec when;       /* monotonic, of last */
	rna_usec slot_start; /* monotonic */
	unsigned slot;
	uint64_t rises[RNA_WINDOW_SLOTS];
};

/*
 * Takes a reading, absent when there is none: time goes on all the same. A value that fell was
 * reset: it counts from there on. True: the counter rose.
 */
bool rna_window_add(struct rna_window *window, const struct rna_threshold *threshold,
		    struct rna_value value, rna_usec now);
uint64_t rna_window_rise(const struct rna_window *window);

/*
 * A window that an earlier boot wrote at that monotonic time of its own, so long before now. It
 * goes on with the next quarter: what is not known of the last one must not make it longer.
 */
void rna_window_carry_over(struct rna_window *window, const struct rna_threshold *threshold,
			   rna_usec written, rna_usec between, rna_usec now);

/*
 * The sum as a reading. A sum over other members than before does not count as a rise; a missing
 * sum has no effect on the next one.
 */
struct rna_value rna_window_follow(struct rna_window *window, struct rna_ethernet_sum sum);
