// SPDX-License-Identifier: Apache-2.0
/* All families there are: the rows of the table, and one for each known counter and statistic. */
#include <errno.h>

#include "families.h"
#include "families_counters.h"
#include "families_ethernet.h"

enum { NAME_USUAL = 64 }; /* bytes; what needs more makes the arena grow */

static struct rna_family counter_family(struct rna_arena *arena, const struct rna_counter *counter)
{
	bool device = counter->place == RNA_PLACE_DEVICE_HW_COUNTERS;
	bool rises = counter->kind == RNA_COUNTER;

	return (struct rna_family){
		.metric =
			{
				.name = rna_arena_printf(arena, "rdma_%s_%s%s",
							 device ? "device" : "port",
							 counter->metric, rises ? "_total" : ""),
				.type = rises ? RNA_METRIC_COUNTER : RNA_METRIC_GAUGE,
				.unit = counter->unit == RNA_UNIT_NONE ? RNA_METRIC_PLAIN
								       : RNA_METRIC_BYTES,
				.help = counter->help,
			},
		.scope = device ? RNA_SCOPE_DEVICE : RNA_SCOPE_PORT,
		.label = counter->label,
		.counter = counter,
	};
}

static int add(struct rna_families *families, struct rna_family family)
{
	if (!family.metric.name)
		return -ENOMEM;
	families->items[families->count++] = family;
	return 0;
}

static int add_counters(struct rna_families *families)
{
	for (size_t i = 0; i < rna_counter_count; i++)
		if (!rna_family_counter_follows(&rna_counters[i]) &&
		    add(families, counter_family(families->arena, &rna_counters[i])) < 0)
			return -ENOMEM;
	return 0;
}

static int add_statistics(struct rna_families *families)
{
	for (enum rna_ethernet_statistic_id id = 0; id < RNA_ETHERNET_STATISTIC_COUNT; id++)
		if (add(families, rna_family_of_statistic(id, families->arena)) < 0)
			return -ENOMEM;
	return 0;
}

static int add_alias(struct rna_families *families, struct rna_family family)
{
	family.alias = rna_counter_find(family.place, family.file);
	if (!family.alias)
		return 0; /* the unit test looks for each */
	family.metric.help = family.alias->help;
	family.metric.unit =
		family.alias->unit == RNA_UNIT_NONE ? RNA_METRIC_PLAIN : RNA_METRIC_BYTES;
	return add(families, family);
}

static int add_compat(struct rna_families *families)
{
	for (size_t i = 0; i < rna_compat_family_count; i++) {
		const struct rna_family *family = &rna_compat_families[i];

		if ((family->file ? add_alias(families, *family) : add(families, *family)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_all(struct rna_families *families)
{
	int status = 0;

	for (size_t i = 0; i < rna_family_row_count && status == 0; i++) {
		if (rna_family_rows[i].counters)
			status = add_counters(families);
		else if (rna_family_rows[i].statistics)
			status = add_statistics(families);
		else
			status = add(families, rna_family_rows[i]);
	}
	return status;
}

struct rna_families *rna_families_new(void)
{
	size_t most = rna_family_row_count + RNA_ETHERNET_STATISTIC_COUNT + rna_counter_count +
		      rna_compat_family_count;
	RNA_CLEANUP(rna_families_free_p)
	struct rna_families *families = calloc(1, sizeof(*families));

	if (!families)
		return NULL;
	families->arena = rna_arena_new(most * (sizeof(*families->items) + NAME_USUAL));
	if (!families->arena)
		return NULL;
	families->items = rna_arena_array(families->arena, most, sizeof(*families->items));
	if (!families->items || add_all(families) < 0)
		return NULL;
	families->own_count = families->count;
	if (add_compat(families) < 0)
		return NULL;
	return RNA_TAKE(families);
}

struct rna_families *rna_families_free(struct rna_families *families)
{
	if (families)
		(void)rna_arena_free(families->arena);
	free(families);
	return NULL;
}
