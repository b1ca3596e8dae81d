// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about the PCIe path of a device. NCCL and most checks use the maximum speed of a link, not
 * the speed that it trained to.
 *
 * Only paths of RDMA devices are checked: GPUs fall to 2.5 GT/s when they are idle, NICs do not.
 */
#include "rna/model/card.h"

#include "past.h"
#include "pcie_demand.h"
#include "rules.h"
#include "thresholds.h"

/*
 * Devices that manage NVSwitches carry no traffic; virtual functions have no path of their own, and
 * above those of a virtual machine are bridges that the hypervisor makes up.
 */
static const struct rna_pcie *path_of(const struct rna_rule_subject *subject)
{
	if (!subject || subject->device->device->function == RNA_FUNCTION_SWITCH_MANAGEMENT ||
	    subject->device->device->function == RNA_FUNCTION_GUEST_VF)
		return NULL;
	return rna_device_pcie(subject->device);
}

static bool is_degraded(const struct rna_pcie_link *link)
{
	return rna_value_is_below(link->speed, link->max_speed) ||
	       rna_value_is_below(link->width, link->max_width);
}

static void write_speed(struct rna_value speed, struct rna_strbuf *out)
{
	static const uint64_t generations[] = {2500, 5000, 8000, 16000, 32000, 64000, 128000};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(generations); i++)
		if (generations[i] == speed.number) {
			rna_strbuf_printf(out, "Gen%zu", i + 1);
			return;
		}
	rna_strbuf_printf(out, "%.6g GT/s", (double)speed.number / 1000);
}

/* "Gen4 x8", in arena; or what is known of that. */
static const char *say(struct rna_arena *arena, struct rna_value speed, struct rna_value width)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	const char *text = NULL;

	if (rna_value_is_known(speed))
		write_speed(speed, &out);
	if (rna_value_is_known(width))
		rna_strbuf_printf(&out, "%sx%ju", out.len > 0 ? " " : "", (uintmax_t)width.number);
	if (rna_strbuf_ok(&out) && out.len > 0)
		text = rna_arena_strdup(arena, out.data);
	return text ? text : "an unknown speed";
}

/*
 * The fastest of its own ports that are active, in bytes per second; 0: none is, or not known. Of a
 * virtual function, which is no part of a demand, it is all that is known.
 */
static uint64_t port_rate(const struct rna_rule_input *in)
{
	uint64_t rate = 0;

	for (const struct rna_rule_subject *port = in->subject + 1;
	     port < in->subjects + in->count && port->device == in->subject->device; port++)
		if (rna_subject_is_active(port) && port->link &&
		    rna_value_is_known(port->link->rate) && port->link->rate.number > rate)
			rate = port->link->rate.number;
	return rate;
}

/* Behind the link of a function itself are the functions of its card, and no other card. */
static const char *say_place(const struct rna_rule_input *in, size_t hop, struct rna_arena *arena)
{
	const struct rna_pcie *pcie = rna_device_pcie(in->subject->device);
	const struct rna_card *card =
		hop == 0 ? rna_card_at(in->view->cards, pcie->hops[0].address) : NULL;
	const char *text = card ? rna_arena_printf(arena, "of the card %s", card->address) : NULL;

	return text ? text : "behind it";
}

/* What the ports behind a link need, in arena. */
static const char *say_demand(const struct rna_rule_input *in, size_t hop,
			      const struct rna_pcie_demand *demand, struct rna_arena *arena)
{
	const struct rna_rule_subject *port = demand->first;

	if (demand->count <= 1)
		return rna_arena_printf(arena, "the %s %.6g",
					port && port->link->rate.number < demand->rate
						? "members of the port's bond need"
						: "port needs",
					rna_gigabits(demand->rate));
	return rna_arena_printf(arena, "the %zu ports %s need %.6g together (%s)", demand->count,
				say_place(in, hop, arena), rna_gigabits(demand->rate),
				rna_pcie_demand_say(in, hop, arena));
}

/* The hop whose link is degraded and slowest; -1: none. */
static int find_degraded(const struct rna_pcie *pcie, size_t *ret_count)
{
	uint64_t least = UINT64_MAX;
	int ret = -1;

	*ret_count = 0;
	for (size_t i = 0; pcie && i < pcie->hop_count; i++) {
		struct rna_pcie_link link;
		uint64_t rate;

		if (!rna_pcie_link_above(pcie, i, &link) || !is_degraded(&link))
			continue;
		++*ret_count;
		rate = rna_pcie_rate(link.speed, link.width);
		if (ret >= 0 && rate >= least)
			continue;
		least = rate;
		ret = (int)i;
	}
	return ret;
}

/*
 * Lost lanes are always a fault. A lower speed may be intended (firmware setting, riser), so it is
 * only information if the ports behind the link do not need more.
 */
void rna_check_pcie_degraded(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_pcie *pcie = path_of(in->subject);
	struct rna_arena *arena = out->arena;
	struct rna_finding *found;
	struct rna_pcie_demand demand;
	struct rna_pcie_link link;
	uint64_t rate, possible;
	size_t count;
	int hop = find_degraded(pcie, &count);

	if (hop < 0 || !rna_pcie_link_above(pcie, (size_t)hop, &link))
		return;
	rate = rna_pcie_rate(link.speed, link.width);
	possible = rna_pcie_rate(link.max_speed, link.max_width);
	demand = rna_pcie_demand_find(in, (size_t)hop);
	if (demand.rate < port_rate(in))
		demand = (struct rna_pcie_demand){.rate = port_rate(in), .count = 1};
	found = rna_finds_add(
		out,
		"the PCIe link from %s up to %s runs at %s although both ends support %s%s%s%s",
		pcie->hops[hop].address, pcie->hops[hop + 1].address,
		say(arena, link.speed, link.width), say(arena, link.max_speed, link.max_width),
		rate && possible ? rna_arena_printf(arena, ": %.4g of %.4g Gb/s available",
						    rna_gigabits(rate), rna_gigabits(possible))
				 : "",
		rate < demand.rate ? rna_arena_printf(arena, ", %s",
						      say_demand(in, (size_t)hop, &demand, arena))
				   : "",
		count > 1 ? "; other links of the path are degraded too" : "");
	if (!rna_value_is_below(link.width, link.max_width) && demand.rate > 0 &&
	    rate >= demand.rate)
		found->severity = RNA_SEVERITY_INFO;
}

/* The link of a path that lacks most of what the ports behind it need together. */
struct shortage {
	int hop; /* -1: none lacks anything */
	uint64_t rate;
	struct rna_pcie_link link;
	struct rna_pcie_demand demand;
};

static struct shortage find_shortage(const struct rna_rule_input *in, const struct rna_pcie *pcie)
{
	struct shortage ret = {.hop = -1};

	for (size_t i = 0; i < pcie->hop_count; i++) {
		struct shortage here = {.hop = (int)i};

		if (!rna_pcie_link_above(pcie, i, &here.link))
			continue;
		here.rate = rna_pcie_rate(here.link.speed, here.link.width);
		if (here.rate == 0 || rna_pcie_demand_bound(in, i) <= here.rate)
			continue;
		here.demand = rna_pcie_demand_find(in, i);
		if (here.demand.rate <= here.rate)
			continue;
		if (ret.hop < 0 || (double)here.rate * (double)ret.demand.rate <
					   (double)ret.rate * (double)here.demand.rate)
			ret = here;
	}
	return ret;
}

/* Each port that is faster than its path says so itself. */
static bool check_own_rate(const struct rna_rule_input *in, const struct rna_pcie *pcie,
			   struct rna_finds *out)
{
	uint64_t wanted = in->subject->link->rate.number, rate;
	int hop = rna_pcie_bottleneck(pcie);
	struct rna_pcie_demand demand;
	struct rna_pcie_link link;

	if (hop < 0 || !rna_pcie_link_above(pcie, (size_t)hop, &link))
		return false;
	rate = rna_pcie_rate(link.speed, link.width);
	if (rate >= wanted)
		return false;
	demand = rna_pcie_demand_find(in, (size_t)hop);
	(void)rna_finds_add(out,
			    "the PCIe path carries %.4g Gb/s, less than the %.6g of the port: "
			    "the link from %s up to %s runs at %s, its maximum%s%s",
			    rna_gigabits(rate), rna_gigabits(wanted), pcie->hops[hop].address,
			    pcie->hops[hop + 1].address, say(out->arena, link.speed, link.width),
			    demand.count > 1 ? "; " : "",
			    demand.count > 1 ? say_demand(in, (size_t)hop, &demand, out->arena)
					     : "");
	return true;
}

/* One port says it for all that share the link. */
static void check_shared(const struct rna_rule_input *in, const struct rna_pcie *pcie,
			 struct rna_finds *out)
{
	struct shortage shortage = find_shortage(in, pcie);

	if (shortage.hop < 0 || shortage.demand.first != in->subject)
		return;
	(void)rna_finds_add(out,
			    "the PCIe link from %s up to %s runs at %s, its maximum: %.4g Gb/s, "
			    "%s",
			    pcie->hops[shortage.hop].address, pcie->hops[shortage.hop + 1].address,
			    say(out->arena, shortage.link.speed, shortage.link.width),
			    rna_gigabits(shortage.rate),
			    say_demand(in, (size_t)shortage.hop, &shortage.demand, out->arena));
}

/* Only for paths without a degraded link, which pcie-degraded reports. */
void rna_check_pcie_limits_port(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_rule_subject *port = in->subject;
	const struct rna_pcie *pcie = port->number > 0 ? path_of(port) : NULL;
	size_t degraded;

	if (!pcie || !rna_subject_is_active(port) || !port->link ||
	    !rna_value_is_known(port->link->rate) || find_degraded(pcie, &degraded) >= 0)
		return;
	if (!check_own_rate(in, pcie, out) && port->device->device->function == RNA_FUNCTION_PF)
		check_shared(in, pcie, out);
}

/* -- Errors ------------------------------------------------------------------------------------ */

/* The function that has counted most of them since the node booted. */
static const struct rna_pcie_hop *worst_hop(const struct rna_pcie *pcie, enum rna_aer severity)
{
	const struct rna_pcie_hop *worst = NULL;

	for (size_t i = 0; i < pcie->hop_count; i++) {
		struct rna_value count = pcie->hops[i].aer[severity];

		if (rna_value_is_known(count) && count.number > 0 &&
		    (!worst || count.number > worst->aer[severity].number))
			worst = &pcie->hops[i];
	}
	return worst;
}

/* Text as for any counter, then the function of the path that counted most. */
void rna_check_pcie_errors(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_pcie *pcie = path_of(in->subject);
	const struct rna_past *past = in->subject ? in->subject->past : NULL;
	const struct rna_pcie_hop *hop = NULL;
	size_t before = out->count;
	const char *text = NULL;

	if (!pcie)
		return;
	rna_check_threshold(in, out);
	if (out->count == before)
		return;
	for (size_t i = 0; i < in->thresholds->count; i++) /* the worst comes last */
		if (in->thresholds->items[i].source == RNA_THRESHOLD_OF_PCIE &&
		    past->windows[i].over)
			hop = worst_hop(pcie, in->thresholds->items[i].aer);
	if (hop)
		text = rna_arena_printf(out->arena, "%s; most since boot at %s",
					out->items[before].finding.text, hop->address);
	if (text)
		out->items[before].finding.text = text;
}
