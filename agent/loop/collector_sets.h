/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of collectors, by the columns of their table: this is how the schedule knows what depends on
 * what, and it knows nothing else of collectors. A set has a bit for each collector.
 * Thread: any; pure.
 */
#pragma once

#include "rna/collector.h"

static inline unsigned rna_collector_bit(enum rna_collector_id id)
{
	return 1u << id;
}

/* The collector that lists `what`: devices, or interfaces. */
enum rna_collector_id rna_collector_listing(enum rna_listing what);

unsigned rna_collectors_later(void);
unsigned rna_collectors_settling(void);
unsigned rna_collectors_numbering_rails(void);
unsigned rna_collectors_needing(unsigned others); /* any of these */

/* Those that run again after news in a part of that collector, read for an event of source. */
unsigned rna_collectors_following(enum rna_collector_id id, enum rna_source source);

unsigned rna_collectors_for(enum rna_event event);
unsigned rna_collectors_later_for(enum rna_event event);
