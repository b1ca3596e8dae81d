// SPDX-License-Identifier: Apache-2.0
#include "scrapers.h"

#define SHORTEST (2 * RNA_USEC_PER_SEC) /* what asks more often is served what there is */

struct rna_scraper *rna_scraper_add(struct rna_scraper **list)
{
	struct rna_scraper *scraper = calloc(1, sizeof(*scraper));

	if (!scraper)
		return NULL;
	scraper->next = *list;
	*list = scraper;
	return scraper;
}

void rna_scraper_remove(struct rna_scraper **list, struct rna_scraper *scraper)
{
	while (*list && *list != scraper)
		list = &(*list)->next;
	if (*list)
		*list = scraper->next;
	free(scraper);
}

void rna_scraper_asks(struct rna_scraper *scraper, enum rna_exposition format, bool gzip,
		      rna_usec now)
{
	if (!scraper)
		return;
	scraper->interval = scraper->asked ? rna_usec_since(scraper->asked, now) : 0;
	scraper->asked = now;
	scraper->format = format;
	scraper->gzip = gzip;
}

bool rna_scraper_is_due(const struct rna_scraper *scraper, rna_usec now, rna_usec span)
{
	rna_usec next = scraper->asked + scraper->interval;

	return scraper->interval > 0 && next <= now + span && next + span >= now;
}

rna_usec rna_scraper_next(const struct rna_scraper *scraper, rna_usec earliest, rna_usec now)
{
	rna_usec interval = scraper->interval, passed;

	if (interval < SHORTEST || rna_usec_since(scraper->asked, now) > 2 * interval)
		return RNA_USEC_NEVER;
	passed = rna_usec_since(scraper->asked, earliest);
	return scraper->asked + (passed + interval - 1) / interval * interval;
}
