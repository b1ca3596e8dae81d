// SPDX-License-Identifier: Apache-2.0
#include "rails.h"

#include "rna/base/parse.h"
#include "rna/model/card.h"
#include "rna/model/topology.h"

bool rna_rail_is_same_model(const struct rna_subject *a, const struct rna_subject *b)
{
	return a->identity && b->identity && rna_card_is_same_model(a->device, b->device);
}

/* place: 0 for all of the model */
static bool is_compared(const struct rna_rule_input *in, const struct rna_subject *port,
			unsigned place)
{
	if (place > 0)
		return port->place == place;
	return rna_device_is_nic(port->device->device) && rna_rail_is_same_model(port, in->subject);
}

static bool has_rails(const struct rna_topology *topology)
{
	for (size_t i = 0; topology && i < topology->nic_count; i++)
		if (topology->nics[i].rail >= 0)
			return true;
	return false;
}

bool rna_rail_is_one(const struct rna_rule_input *in, const struct rna_subject *port)
{
	const struct rna_topology *topology = rna_snapshot_topology(in->view->snapshot);
	const struct rna_nic *nic;

	if (!rna_device_is_nic(port->device->device))
		return false;
	if (!has_rails(topology))
		return true;
	nic = rna_topology_find_nic(topology, port->device->device);
	return nic && nic->rail >= 0;
}

static void count_value(const struct rna_rule_input *in, struct rna_rail_usual *usual)
{
	for (size_t i = 0; i < in->ports->count; i++) {
		const struct rna_subject *port = &in->ports->items[i];
		uint64_t value;

		if (!is_compared(in, port, usual->place) || !usual->get(port, &value))
			continue;
		usual->known++;
		usual->count += value == usual->value;
	}
}

/* What more than half have, if there is such a value (Boyer and Moore 1981). */
static uint64_t likely_majority(const struct rna_rule_input *in, rna_rail_trait *get,
				unsigned place)
{
	uint64_t ret = 0, value;
	size_t lead = 0;

	for (size_t i = 0; i < in->ports->count; i++) {
		const struct rna_subject *port = &in->ports->items[i];

		if (!is_compared(in, port, place) || !get(port, &value))
			continue;
		if (lead == 0)
			ret = value;
		if (ret == value)
			lead++;
		else
			lead--;
	}
	return ret;
}

static struct rna_rail_usual find_usual(const struct rna_rule_input *in, rna_rail_trait *get,
					unsigned place)
{
	struct rna_rail_usual ret = {.get = get, .like = in->subject, .place = place};

	ret.value = likely_majority(in, get, place);
	count_value(in, &ret);
	ret.is_majority = ret.count * 2 > ret.known;
	return ret;
}

/* Ports whose models are written alike are compared with the same ports. */
static bool is_written_alike(const struct rna_subject *a, const struct rna_subject *b)
{
	return a->device->device->vendor_id == b->device->device->vendor_id &&
	       a->device->device->device_id == b->device->device->device_id && a->identity &&
	       b->identity && rna_same_text(a->identity->board_id, b->identity->board_id);
}

/* 4,096 devices of one model would otherwise be compared in pairs, for each trait. */
static struct rna_rail_usual usual_of(const struct rna_rule_input *in, rna_rail_trait *get,
				      unsigned place)
{
	struct rna_rail_memo *memo = in->rails;
	struct rna_rail_usual *item;

	if (!memo)
		return find_usual(in, get, place);
	for (size_t i = 0; i < RNA_RAIL_MEMO_MAX && memo->items[i].like; i++)
		if (memo->items[i].get == get && memo->items[i].place == place &&
		    (place > 0 || is_written_alike(memo->items[i].like, in->subject)))
			return memo->items[i];
	item = &memo->items[memo->next++ % RNA_RAIL_MEMO_MAX];
	*item = find_usual(in, get, place);
	return *item;
}

/* What more than half have makes all other ports a minority. */
bool rna_rail_is_odd(const struct rna_rule_input *in, rna_rail_trait *get, uint64_t *ret)
{
	struct rna_rail_usual usual;
	uint64_t own;

	if (in->subject->port == 0 || !rna_device_is_nic(in->subject->device->device) ||
	    !get(in->subject, &own))
		return false;
	usual = usual_of(in, get, 0);
	*ret = usual.value;
	return usual.known >= 3 && usual.is_majority && own != usual.value;
}

bool rna_rail_is_odd_in_place(const struct rna_rule_input *in, rna_rail_trait *get,
			      struct rna_rail_usual *ret)
{
	uint64_t own;

	if (in->subject->place == 0 || !get(in->subject, &own))
		return false;
	*ret = usual_of(in, get, in->subject->place);
	return ret->known >= 3 && ret->is_majority && own != ret->value;
}
