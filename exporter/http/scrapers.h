/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrapers: who asks for metrics in a rhythm, and so when and in which form they are wanted next.
 *
 * A scraper is a connection. Prometheus keeps one per target, so several servers, each with its
 * own rhythm, do not confuse each other, and one that leaves is forgotten with its connection.
 */
#pragma once

#include "rna/exporter.h"

struct rna_scraper {
	struct rna_scraper *next;
	rna_usec asked;    /* when it did last; 0: never */
	rna_usec interval; /* between the last two times; 0: there are no two */
	enum rna_exposition format;
	bool gzip;
};

/* Puts a new one into the list. NULL: no memory, which costs only the foresight. */
struct rna_scraper *rna_scraper_add(struct rna_scraper **list);
void rna_scraper_remove(struct rna_scraper **list, struct rna_scraper *scraper); /* accepts NULL */

/* It asks for metrics in this form. Accepts NULL. */
void rna_scraper_asks(struct rna_scraper *scraper, enum rna_exposition format, bool gzip,
		      rna_usec now);

/*
 * The first moment, not before earliest, in which it is expected to ask; RNA_USEC_NEVER: it has no
 * rhythm, or has left it. All monotonic.
 */
rna_usec rna_scraper_next(const struct rna_scraper *scraper, rna_usec earliest, rna_usec now);

/* Is it expected to ask again in the next span? It may be late by as much. */
bool rna_scraper_is_due(const struct rna_scraper *scraper, rna_usec now, rna_usec span);
