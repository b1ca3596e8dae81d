/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Meanings: what counters of several drivers have in common, under one name. A row says which
 * counters of each driver count it, or why none does. Thresholds name meanings
 * (agent/rules/thresholds.c); the recording rules of Prometheus (records.yaml of the chart) and
 * exporter/meanings.md are made from the same table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/strbuf.h"
#include "rna/model/counter.h"
#include "rna/model/ethernet.h"

enum { RNA_WAY_FILES_MAX = 3 };

/* How some drivers count it. The first way whose counters a port has is used. */
struct rna_way {
	const char *drivers; /* "mlx5, bnxt_re" */
	enum rna_counter_place place;
	/* Counters that are added up, up to NULL; none: a statistic, or it is not counted. */
	const char *files[RNA_WAY_FILES_MAX];
	bool of_ethernet; /* a statistic, over the interfaces and priorities of the port */
	enum rna_ethernet_statistic_id statistic;
	enum rna_ethernet_statistic_id otherwise; /* where a port has no statistic; or the same */
	const char *source; /* key of the list in meanings.c; NULL: it is not counted */
	const char *note;   /* what differs from other drivers; or why it is not counted */
	const char *normal; /* a rise is normal for these drivers, and why; NULL: it is not */
};

struct rna_meaning {
	const char *name;
	const char *counts; /* one sentence */
	bool ratio;         /* it counts time, and its rate is a fraction */
	bool base;          /* traffic, to which losses are compared; it has no recording rule */
	const char *normal; /* why a rise is no finding; NULL: thresholds know it */
	const struct rna_way *ways; /* up to one without drivers */
};

/* The rows in order, *at: 0 at first. NULL: no further one. */
const struct rna_meaning *rna_meaning_next(size_t *at);
const struct rna_meaning *rna_meaning_find(const char *name); /* NULL: none */

/* Each driver of which every meaning has a way or a reason; ends with NULL. */
extern const char *const rna_meaning_drivers[];

/* Does the way count by this file? */
bool rna_way_has(const struct rna_way *way, const char *file);

/* The table for the command describe. */
void rna_meanings_describe(struct rna_strbuf *out);
