// SPDX-License-Identifier: Apache-2.0
#include "collector_sets.h"

/* The set of those rows of the table for which the condition holds. */
#define SET_OF(row, condition)                                                                     \
	({                                                                                         \
		unsigned set_ = 0;                                                                 \
		for (const struct rna_collector *row = rna_collectors;                             \
		     row < rna_collectors + RNA_COLLECTOR_COUNT; row++)                            \
			if (condition)                                                             \
				set_ |= rna_collector_bit(row->id);                                \
		set_;                                                                              \
	})

enum rna_collector_id rna_collector_listing(enum rna_listing what)
{
	enum rna_collector_id id = 0;

	while (rna_collectors[id].lists != what)
		id++;
	return id;
}

unsigned rna_collectors_later(void)
{
	return SET_OF(row, row->later);
}

unsigned rna_collectors_settling(void)
{
	return SET_OF(row, row->settles > 0);
}

unsigned rna_collectors_numbering_rails(void)
{
	return SET_OF(row, row->numbers_rails);
}

unsigned rna_collectors_needing(unsigned others)
{
	return SET_OF(row, row->needs & others);
}

unsigned rna_collectors_following(enum rna_collector_id id, enum rna_source source)
{
	return SET_OF(row, (row->follows & rna_collector_bit(id)) &&
				   (source == RNA_SOURCE_POLL || row->source != source));
}

unsigned rna_collectors_for(enum rna_event event)
{
	return SET_OF(row, row->events & 1U << event);
}

unsigned rna_collectors_later_for(enum rna_event event)
{
	return SET_OF(row, row->events_later & 1U << event);
}
