// SPDX-License-Identifier: Apache-2.0
#include "slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REMEMBERED (15 * 60 * RNA_USEC_PER_SEC) /* a scraper, since its last scrape */

enum {
	SHARE = 4,       /* a quarter for an address */
	RESERVE = 16,    /* a sixteenth is kept for each class of clients */
	TIMES_KNOWN = 2, /* scrapes that make a scraper */
};

struct rna_slot_holder {
	struct rna_address address;
	unsigned taken, reserved; /* all slots; those from the reserve for scrapers */
};

static unsigned at_least_one(unsigned count)
{
	return count > 0 ? count : 1;
}

int rna_slots_init(struct rna_slots *slots, unsigned limit)
{
	*slots = (struct rna_slots){
		.limit = limit,
		.per_address = at_least_one(limit / SHARE),
		.reserve = at_least_one(limit / RESERVE),
		.holders = calloc(limit, sizeof(*slots->holders)),
	};
	return slots->holders ? 0 : -ENOMEM;
}

void rna_slots_deinit(struct rna_slots *slots)
{
	free(slots->holders);
	*slots = (struct rna_slots){0};
}

/* -- Scrapers ---------------------------------------------------------------------------------- */

static bool is_remembered(const struct rna_known_scraper *scraper, rna_usec now)
{
	return scraper->last > 0 && rna_usec_since(scraper->last, now) < REMEMBERED;
}

/* NULL: it is not among them, and, to add it, no place is free. */
static struct rna_known_scraper *find_scraper(struct rna_slots *slots,
					      const struct rna_address *address, rna_usec now,
					      bool add)
{
	struct rna_known_scraper *place = NULL;

	for (size_t i = 0; i < RNA_SCRAPERS; i++) {
		struct rna_known_scraper *scraper = &slots->scrapers[i];

		if (!is_remembered(scraper, now))
			place = scraper;
		else if (rna_address_is_same(&scraper->address, address))
			return scraper;
	}
	if (place && add)
		*place = (struct rna_known_scraper){.address = *address};
	return add ? place : NULL;
}

void rna_slots_scraped(struct rna_slots *slots, const struct rna_address *address, rna_usec now)
{
	struct rna_known_scraper *scraper = find_scraper(slots, address, now, true);

	if (!scraper)
		return;
	scraper->last = now;
	scraper->times += scraper->times < TIMES_KNOWN;
}

static bool is_scraper(struct rna_slots *slots, const struct rna_address *address, rna_usec now)
{
	const struct rna_known_scraper *scraper = find_scraper(slots, address, now, false);

	return scraper && scraper->times >= TIMES_KNOWN;
}

/* -- Slots ------------------------------------------------------------------------------------- */

static struct rna_slot_holder *find_holder(const struct rna_slots *slots,
					   const struct rna_address *address)
{
	for (size_t i = 0; i < slots->holder_count; i++)
		if (rna_address_is_same(&slots->holders[i].address, address))
			return &slots->holders[i];
	return NULL;
}

unsigned rna_slots_held(const struct rna_slots *slots, const struct rna_address *address)
{
	const struct rna_slot_holder *holder = find_holder(slots, address);

	return holder ? holder->taken : 0;
}

/* Scrapers share their reserve, so that one of them cannot have all of it. */
static bool has_reserve(const struct rna_slots *slots, const struct rna_slot_holder *holder,
			enum rna_client_class kind)
{
	if (kind == RNA_CLASS_STRANGER || slots->taken[kind] >= slots->reserve)
		return false;
	return kind != RNA_CLASS_SCRAPER || !holder ||
	       holder->reserved < at_least_one(slots->reserve / RNA_SCRAPERS);
}

/* What is for all is left when all reserves are subtracted. */
static bool has_shared(const struct rna_slots *slots)
{
	return slots->taken[RNA_CLASS_STRANGER] <
	       slots->limit - (RNA_CLASS_COUNT - 1) * slots->reserve;
}

/* There is room: each holder has a slot at least, and there are as many places as slots. */
static struct rna_slot_holder *add_holder(struct rna_slots *slots,
					  const struct rna_address *address)
{
	struct rna_slot_holder *holder = &slots->holders[slots->holder_count++];

	*holder = (struct rna_slot_holder){.address = *address};
	return holder;
}

int rna_slots_take(struct rna_slots *slots, struct rna_client_slot *slot, rna_usec now)
{
	struct rna_slot_holder *holder = find_holder(slots, &slot->address);

	if (slot->kind == RNA_CLASS_STRANGER && is_scraper(slots, &slot->address, now))
		slot->kind = RNA_CLASS_SCRAPER;
	if (slot->kind != RNA_CLASS_PRIVATE && holder && holder->taken >= slots->per_address)
		return -EUSERS;
	if (has_shared(slots))
		slot->pool = RNA_CLASS_STRANGER;
	else if (has_reserve(slots, holder, slot->kind))
		slot->pool = slot->kind;
	else
		return -EBUSY;
	slots->taken[slot->pool]++;
	if (!holder)
		holder = add_holder(slots, &slot->address);
	holder->taken++;
	holder->reserved += slot->pool == RNA_CLASS_SCRAPER;
	return 0;
}

void rna_slots_give(struct rna_slots *slots, const struct rna_client_slot *slot)
{
	struct rna_slot_holder *holder = find_holder(slots, &slot->address);

	slots->taken[slot->pool]--;
	holder->reserved -= slot->pool == RNA_CLASS_SCRAPER;
	if (--holder->taken == 0)
		*holder = slots->holders[--slots->holder_count];
}
