// SPDX-License-Identifier: Apache-2.0
/*
 * What the devices of a view tell of the functions of its NICs, so that the collector topology
 * numbers cables and not functions. It cannot read this itself: a device that does not answer would
 * keep the whole node waiting.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/arena.h"
#include "rna/base/parse.h"
#include "rna/model/card.h"
#include "rna/model/snapshot.h"
#include "rna/model/subject.h"
#include "rna/model/topology.h"
#include "rna/model/view.h"

/* A physical function with a device, and what its ports say. */
struct function {
	const struct rna_subject *device;
	const struct rna_card *card;
	size_t place;                  /* among the functions of its card */
	const struct rna_gid *address; /* the first that a router carries; NULL: none */
	uint64_t rate;
	bool used;
	bool unread; /* it is not known whether it is used */
};

struct work {
	const struct rna_nic_facts *previous;
	size_t count;
	struct function *functions; /* those of a card together, by address */
};

/* -- One function ------------------------------------------------------------------------------ */

static const struct rna_gid *find_address(const struct rna_subject *port)
{
	for (size_t i = 0; port->gids && i < port->gids->count; i++)
		if (rna_gid_is_routable(&port->gids->entries[i]))
			return &port->gids->entries[i].gid;
	return NULL;
}

static void look_at_port(const struct rna_subject *port, struct function *ret)
{
	uint64_t rate = port->account ? port->account->best.rate : 0;

	if (port->represents)
		return;
	if (rna_subject_is_active(port) && port->link && port->link->speed_name &&
	    port->link->rate.number > rate)
		rate = port->link->rate.number;
	ret->rate = rate > ret->rate ? rate : ret->rate;
	ret->used |= rna_subject_is_active(port) || rna_subject_expected(port) == RNA_EXPECTED_UP;
	ret->unread |= !rna_subject_state_is_known(port);
	if (!ret->address)
		ret->address = find_address(port);
}

static struct function look_at(const struct rna_view *view, const struct rna_card *card,
			       size_t place)
{
	const struct rna_subject *device =
		&rna_view_devices(view)->items[card->functions[place].device];
	struct function ret = {.device = device, .card = card, .place = place};

	for (size_t i = 0; i < device->rdma_device->port_count; i++)
		look_at_port(&device->ports[i], &ret);
	return ret;
}

static bool is_looked_at(const struct rna_view *view, const struct rna_card *card, size_t place)
{
	int device = card->functions[place].device;

	return device != RNA_NO_DEVICE &&
	       view->snapshot->devices[device].device->function == RNA_FUNCTION_PF;
}

static int list_functions(const struct rna_view *view, struct rna_arena *scratch, struct work *work)
{
	work->functions = rna_arena_array(scratch, view->snapshot->device_count + 1,
					  sizeof(*work->functions));
	if (!work->functions)
		return -ENOMEM;
	for (size_t c = 0; view->cards && c < view->cards->count; c++) {
		const struct rna_card *card = &view->cards->items[c];

		for (size_t place = 0; place < card->function_count; place++)
			if (is_looked_at(view, card, place))
				work->functions[work->count++] = look_at(view, card, place);
	}
	return 0;
}

static const char *address_of(const struct function *function)
{
	return function->device->rdma_device->pci_address;
}

static const struct rna_nic_fact *fact_before(const struct work *work,
					      const struct function *function)
{
	return rna_nic_facts_find(work->previous, address_of(function));
}

/* -- Functions that no card of their model uses ------------------------------------------------ */

static bool is_same_model(const struct function *a, const struct function *b)
{
	return rna_card_is_same_model(a->device->device, b->device->device);
}

/*
 * The second port of a dual-port card without a second cable; the silent half of a card in two
 * slots. Where no function of a model is used, all of them may be.
 */
static bool is_unused(const struct work *work, const struct function *function)
{
	const struct rna_nic_fact *before = fact_before(work, function);
	bool others_used = false;

	if (function->card->function_count < 2 || function->used)
		return false;
	RNA_EACH (other, work->functions, work->count) {
		if (!is_same_model(function, other))
			continue;
		if (other->place != function->place)
			others_used |= other->used;
		else if (other->used)
			return false;
		else if (other->unread)
			return before && before->unused;
	}
	return others_used;
}

/* -- Planes ------------------------------------------------------------------------------------ */

/* The smallest prefix that has the addresses of one place on all cards of the model. */
struct prefix {
	const struct rna_gid *address;
	unsigned bits;
	size_t count; /* of addresses */
};

static struct prefix prefix_of(const struct work *work, const struct function *function)
{
	struct prefix ret = {.bits = RNA_GID_BITS};
	unsigned bits;

	RNA_EACH (other, work->functions, work->count) {
		if (other->place != function->place || !other->address ||
		    !is_same_model(function, other))
			continue;
		ret.address = ret.address ? ret.address : other->address;
		bits = rna_gid_common_bits(ret.address, other->address);
		ret.bits = bits < ret.bits ? bits : ret.bits;
		ret.count++;
	}
	return ret;
}

/*
 * Two functions of a card are planes of one rail if each has a network of its own, which it shares
 * with the same function of other cards. Where each port has a network of its own, those of the
 * first functions lie between those of the second ones: these are rails.
 */
static bool are_planes(const struct work *work, const struct function *a, const struct function *b)
{
	struct prefix x = prefix_of(work, a), y = prefix_of(work, b);

	return x.count >= 2 && y.count >= 2 &&
	       rna_gid_common_bits(x.address, y.address) < (x.bits < y.bits ? x.bits : y.bits);
}

/* -- Halves ------------------------------------------------------------------------------------ */

/*
 * One card in two slots (Socket Direct): functions of the same number are at one cable. The kernel
 * tells such a card by its system image GUID, too (card.h).
 */
static bool are_halves(const struct function *a, const struct function *b)
{
	const char *x = strrchr(address_of(a), '.'), *y = strrchr(address_of(b), '.');

	return x && y && strcmp(x, y) == 0 && !rna_pci_is_one_device(address_of(a), address_of(b));
}

/* The first function of the card whose rail is that of this one as well; NULL: it has its own. */
static const char *find_leader(const struct work *work, const struct function *function)
{
	const struct rna_nic_fact *before = fact_before(work, function);
	const struct function *other = function;

	if (is_unused(work, function))
		return NULL;
	while (other > work->functions && other[-1].card == function->card)
		other--;
	for (; other < function; other++)
		if ((are_halves(other, function) || are_planes(work, other, function)) &&
		    !is_unused(work, other))
			return address_of(other);
	return before && !function->address ? before->rail_of : NULL;
}

/* -- All of them ------------------------------------------------------------------------------- */

/* Rates that are all alike choose nothing. */
static bool have_other_rates(const struct work *work)
{
	uint64_t rate = 0;

	for (size_t i = 0; i < work->count; i++) {
		if (rate > 0 && work->functions[i].rate > 0 && work->functions[i].rate != rate)
			return true;
		rate = work->functions[i].rate > 0 ? work->functions[i].rate : rate;
	}
	return false;
}

static bool add_facts(const struct work *work, struct rna_nic_facts *facts)
{
	bool rates_differ = have_other_rates(work), no_memory = false;

	RNA_EACH (function, work->functions, work->count) {
		const char *leader = find_leader(work, function);
		struct rna_nic_fact fact = {
			.rate = rates_differ ? function->rate : 0,
			.unused = is_unused(work, function),
		};

		if (fact.rate == 0 && !fact.unused && !leader)
			continue;
		fact.address = rna_arena_keep(facts->arena, address_of(function), &no_memory);
		if (leader)
			fact.rail_of = rna_arena_keep(facts->arena, leader, &no_memory);
		facts->items[facts->count++] = fact;
	}
	if (!no_memory)
		qsort(facts->items, facts->count, sizeof(*facts->items), rna_compare_text_items);
	return !no_memory;
}

struct rna_nic_facts *rna_nic_facts_make(const struct rna_view *view,
					 const struct rna_nic_facts *previous)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(4096);
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(1024);
	struct rna_nic_facts *facts = arena ? rna_arena_alloc(arena, sizeof(*facts)) : NULL;
	struct work work = {.previous = previous};

	if (!facts || !scratch || list_functions(view, scratch, &work) < 0)
		return NULL;
	facts->refs = 1;
	facts->arena = arena;
	facts->items = rna_arena_array(arena, work.count + 1, sizeof(*facts->items));
	if (!facts->items || !add_facts(&work, facts))
		return NULL;
	(void)RNA_TAKE(arena);
	return facts;
}

/* -- Questions --------------------------------------------------------------------------------- */

const struct rna_nic_fact *rna_nic_facts_find(const struct rna_nic_facts *facts,
					      const char *address)
{
	return facts && facts->count > 0 && address
		       ? bsearch(&address, facts->items, facts->count, sizeof(*facts->items),
				 rna_compare_text_items)
		       : NULL;
}

bool rna_nic_facts_are_same(const struct rna_nic_facts *a, const struct rna_nic_facts *b)
{
	if (!a || !b)
		return (a ? a->count : 0) == (b ? b->count : 0);
	if (a->count != b->count)
		return false;
	return !RNA_ANY(i, a->count,
			strcmp(a->items[i].address, b->items[i].address) != 0 ||
				a->items[i].rate != b->items[i].rate ||
				a->items[i].unused != b->items[i].unused ||
				!rna_same_text(a->items[i].rail_of, b->items[i].rail_of));
}

struct rna_nic_facts *rna_nic_facts_ref(struct rna_nic_facts *facts)
{
	if (facts)
		facts->refs++;
	return facts;
}

struct rna_nic_facts *rna_nic_facts_unref(struct rna_nic_facts *facts)
{
	if (facts && --facts->refs == 0)
		(void)rna_arena_free(facts->arena);
	return NULL;
}
