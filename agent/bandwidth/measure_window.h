/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When in probe.bandwidth_window a port is tested: once in each window, at a time that the name of
 * the node spreads, and again some minutes later if a node was busy. Pure. Thread: any.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rna/base/clock.h"

/* How an attempt ended. */
enum rna_measure_attempt {
	RNA_MEASURE_BUSY, /* no test took place */
	RNA_MEASURE_WELL,
	RNA_MEASURE_BAD, /* slow or failed: it is confirmed by a second one */
};

/* The turn of a port; all zero at the start. */
struct rna_measure_turn {
	bool inside;       /* the window holds */
	bool done;         /* tested in this one */
	bool bad;          /* the last test was */
	unsigned attempts; /* in this one */
	rna_usec due;      /* realtime of the next attempt */
};

/*
 * Is the port to be tested now? windows: as of rna_silence_holds(). place: of the node, a hash of
 * its name.
 */
bool rna_measure_turn_is_due(struct rna_measure_turn *turn, char *const *windows,
			     const char *device, uint64_t place, rna_usec realtime);

/* An attempt is over. */
void rna_measure_turn_end(struct rna_measure_turn *turn, enum rna_measure_attempt how,
			  uint64_t place, rna_usec realtime);
