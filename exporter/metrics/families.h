/* SPDX-License-Identifier: Apache-2.0 */
/* The metric families: which there are, and how each gets its samples from a subject. */
#pragma once

#include "view/subjects.h"
#include "view/walk.h"

#include "exposition.h"

struct rna_family {
	struct rna_metric metric;
	enum rna_scope scope; /* asked once for every subject of it */
	/* The sample of a subject, absent when there is none... */
	struct rna_value (*get)(const struct rna_subject *subject);
	/* ...or a function that writes any number of them, with one more label: label. */
	void (*each)(const struct rna_subject *subject, struct rna_writer *writer);
	const char *label;
	/* A known counter's own family: get and each are NULL. */
	const struct rna_counter *counter;
	bool counters; /* this row of the table stands for all known counters */
	/* The same for statistics of Ethernet ports (rna/model/ethernet.h). */
	const struct rna_ethernet_statistic *statistic;
	bool statistics;
	/*
	 * A known counter of a port under a name of somebody else's (compat.c), whatever the link
	 * layer: rows name its file, from which rna_families_new() finds alias.
	 */
	const char *file;
	enum rna_counter_place place;
	const struct rna_counter *alias;
};

/* The table, in the order of the output, with one row for all known counters. */
extern const struct rna_family rna_family_rows[];
extern const size_t rna_family_row_count;

/* The families of node_exporter's infiniband collector, in the order of the output. */
extern const struct rna_family rna_compat_families[];
extern const size_t rna_compat_family_count;

/* All of them in that order, with a family for each known counter. */
struct rna_families {
	size_t count;
	size_t own_count; /* of them, those in front of rna_compat_families */
	struct rna_family *items;
	struct rna_arena *arena;
};

struct rna_families *rna_families_new(void); /* NULL: no memory */
struct rna_families *rna_families_free(struct rna_families *families);
RNA_DEFINE_CLEANUP(struct rna_families, rna_families_free)

/* Subjects have their labels; walk is where the family before left it. */
void rna_family_write(struct rna_family *family, const struct rna_subjects *subjects,
		      struct rna_walk *walk, struct rna_writer *writer);
