/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths: equal-cost paths between two ports, told apart by classes of source ports. One of them may
 * rewrite the DSCP, or drop what is large: then a share of the probes shows it, and the same
 * classes again and again. How likely the counts are by such a share, and how likely by chance,
 * decides that there is a fault, and that it is over. Pure. Thread: any.
 */
#pragma once

#include "rna/model/probe.h"

/* The share of probes that may show anything by chance. */
#define RNA_PATHS_NOISE 0.02

/* Of a class of source ports, or of all, since the first one that showed it. */
struct rna_path_counts {
	uint16_t shown, clean;
	uint16_t run; /* clean ones since the newest that showed it */
};

struct rna_paths {
	struct rna_path_counts all, classes[RNA_PROBE_CLASSES];
	uint32_t seen;   /* classes, a bit each */
	rna_usec newest; /* monotonic: that showed it */
	bool found;
	double refuted; /* since it was found: the logarithm of the odds that it is over */
};

/*
 * One more probe. classes: a bit for its class; none, or several: not known. noise: the share that
 * chance explains, RNA_PATHS_NOISE at least. now: monotonic.
 */
void rna_paths_add(struct rna_paths *paths, bool shows, uint32_t classes, double noise,
		   rna_usec now);

/* It was found before a restart: on how many paths is not known. */
void rna_paths_recall(struct rna_paths *paths);

/* Was it found, and do some paths not show it? */
bool rna_paths_are_some(const struct rna_paths *paths);
