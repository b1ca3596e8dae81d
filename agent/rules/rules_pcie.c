// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about the PCIe path of a device. NCCL and most checks use the maximum speed of a link, not
 * the speed that it trained to.
 *
 * Only paths of RDMA devices are checked: GPUs fall to 2.5 GT/s when they are idle, NICs do not.
 */
#include "rna/base/parse.h"
#include "rna/model/card.h"
#include "rna/model/driver.h"
#include "rna/model/readiness.h"

#include "past.h"
#include "pcie_demand.h"
#include "rails.h"
#include "remedy.h"
#include "rules.h"
#include "thresholds.h"

/*
 * Devices that manage NVSwitches carry no traffic; virtual functions have no path of their own, and
 * above those of a virtual machine are bridges that the hypervisor makes up.
 */
static const struct rna_pcie *path_of(const struct rna_subject *subject)
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

	RNA_EACH (port, in->subject->ports, in->subject->rdma_device->port_count)
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
	const struct rna_subject *port = demand->first;

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

/* The highest port of the path that does not respond either: what failed is there. */
static void check_device_off_bus(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_pcie *pcie = path_of(in->subject);
	size_t top = 0;

	if (!pcie || pcie->hop_count == 0 || !pcie->hops[0].silent)
		return;
	while (top + 1 < pcie->hop_count && pcie->hops[top + 1].silent)
		top++;
	if (top == 0)
		(void)rna_finds_add(out, "PCI function %s does not respond: it fell off the bus",
				    pcie->hops[0].address);
	else
		(void)rna_finds_add(out,
				    "PCI function %s does not respond, and neither does %s above "
				    "it: they fell off the bus",
				    pcie->hops[0].address, pcie->hops[top].address);
}

const struct rna_rule rna_rule_device_off_bus = {
	RNA_RULE_ROW("device-off-bus", DEVICE, CRITICAL, RAIL_LOST, CARD, DEVICE_MISSING),
	.settles = true,
	.hold = "30s", /* a reset of the firmware takes some seconds */
	.help = "The PCI function of a device is listed but does not respond: its "
		"configuration space reads all ones. It fell off the bus, or lost its "
		"power.",
	.check = check_device_off_bus,
	.remedy = "Search the kernel log{bmc} for {pci}. Drain the node, then {cycle}. A "
		  "reboot may not suffice.",
	.message_id = "608330454b234e57b2c0676606dc310e",
};

/* Of one model, and its own link is degraded like the link that is looked at. */
static bool is_degraded_alike(const struct rna_subject *device, const struct rna_pcie_link *own)
{
	const struct rna_pcie *pcie = path_of(device);
	struct rna_pcie_link link;

	return pcie && rna_pcie_link_above(pcie, 0, &link) && is_degraded(&link) &&
	       link.speed.number == own->speed.number && link.width.number == own->width.number;
}

/* Are the links of all physical functions of the model alike, on three cards at least? */
static bool are_all_degraded_alike(const struct rna_rule_input *in, const struct rna_pcie_link *own)
{
	enum { CARDS_LEAST = 3 };
	const struct rna_card *last = NULL;
	size_t cards = 0;

	RNA_EACH (device, in->devices->items, in->devices->count) {
		if (device->device->device->function != RNA_FUNCTION_PF ||
		    !rna_rail_is_same_model(device, in->subject))
			continue;
		if (!is_degraded_alike(device, own))
			return false;
		cards += device->card && device->card != last;
		last = device->card;
	}
	return cards >= CARDS_LEAST;
}

/* Functions of one card share its link, and cards the links above them. */
static void share_cause(const struct rna_rule_input *in, size_t hop,
			const struct rna_pcie_link *link, struct rna_finds *out,
			struct rna_finding *found)
{
	const struct rna_pcie *pcie = path_of(in->subject);

	if (hop > 0 || !are_all_degraded_alike(in, link)) {
		rna_finds_share_cause(out, pcie->hops[hop + 1].address);
		return;
	}
	rna_finds_share_cause(out, in->subject->identity->board_id ? in->subject->identity->board_id
								   : "all of the model");
	found->remedy = "{slots} lspci -vv -s {pci} shows LnkCap and LnkSta.";
}

/*
 * Lost lanes are always a fault. A lower speed may be intended (firmware setting, riser), so it is
 * only information if the ports behind the link do not need more.
 */
static void check_pcie_degraded(const struct rna_rule_input *in, struct rna_finds *out)
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
	share_cause(in, (size_t)hop, &link, out, found);
}

const struct rna_rule rna_rule_pcie_degraded = {
	RNA_RULE_ROW("pcie-degraded", DEVICE, WARNING, RAIL_SLOW, CARD, LINK_DEGRADED),
	.hold = "6m", /* so that two readings say it: links are trained anew now and then */
	.help = "A PCIe link between a device and its root port runs at a lower speed or "
		"with fewer lanes than both of its ends support. Severity info if only "
		"the speed is lower and the ports behind the link together need no more.",
	.check = check_pcie_degraded,
	.remedy = "{reseat} lspci -vv -s {pci} shows LnkCap and LnkSta.",
	.message_id = "ad3299798a0648ef8356da94dffec3ec",
};

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
	if (rate >= wanted / rna_pcie_ways_to_cage(in))
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
static void check_pcie_limits_port(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject;
	const struct rna_pcie *pcie = port->port > 0 ? path_of(port) : NULL;
	size_t degraded;

	if (!pcie || !rna_subject_is_active(port) || !port->link ||
	    !rna_value_is_known(port->link->rate) || find_degraded(pcie, &degraded) >= 0)
		return;
	if (!check_own_rate(in, pcie, out) && port->device->device->function == RNA_FUNCTION_PF)
		check_shared(in, pcie, out);
}

const struct rna_rule rna_rule_pcie_limits_port = {
	RNA_RULE_ROW("pcie-limits-port", PORT, INFO, RAIL_SLOW, PLATFORM, LINK_DEGRADED),
	.hold = "6m",
	.help = "The PCIe path of an active port carries less than the port, or one of its "
		"links carries less than all ports behind it need together, although every "
		"link of the path runs at its best.",
	.check = check_pcie_limits_port,
	.remedy = "{lanes}",
	.message_id = "6c165daa4db6461c8236fe421bf2073a",
};

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
static void check_pcie_errors(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_pcie *pcie = path_of(in->subject);
	const struct rna_past *past = in->subject ? rna_rule_past_of(in, in->subject) : NULL;
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

const struct rna_rule rna_rule_pcie_errors = {
	RNA_RULE_ROW("pcie-errors", DEVICE, WARNING, ERRORS, CARD, LINK_DEGRADED),
	.help = "PCIe errors (AER) between a device and its root port rise faster than "
		"their threshold allows.",
	.check = check_pcie_errors,
	.remedy = "Search the kernel log for AER and the function it names. {reseat}",
	.message_id = "dff6f97996ad4881bb816d60f5916cf9",
};

/* -- Traffic between NIC and GPU --------------------------------------------------------------- */

static bool is_below(const struct rna_topology *topology, unsigned object, const char *address)
{
	for (int i = topology->objects[object].parent; i >= 0; i = topology->objects[i].parent)
		if (rna_same_text(topology->objects[i].address, address))
			return true;
	return false;
}

/* The hop nearest to the device that is above the GPU as well; 0: none is. */
static size_t find_common_hop(const struct rna_topology *topology, const struct rna_gpu *gpu,
			      const struct rna_pcie *pcie)
{
	for (size_t i = 1; i < pcie->hop_count; i++)
		if (is_below(topology, gpu->object, pcie->hops[i].address))
			return i;
	return 0;
}

/* Below the common hop, as pci_bridge_has_acs_redir() is used in drivers/pci/p2pdma.c (4.20). */
static const struct rna_pcie_hop *find_redirect(const struct rna_pcie *pcie, size_t common)
{
	for (size_t i = 1; i < common; i++)
		if (rna_value_is_known(pcie->hops[i].acs_redirect) &&
		    pcie->hops[i].acs_redirect.number)
			return &pcie->hops[i];
	return NULL;
}

/*
 * In a virtual machine the switches are those that the hypervisor makes up, and ACS of the real
 * ones is needed and not visible. A NIC with a Data Direct function reaches GPUs through that one,
 * for which certain redirects are required (kernel-boot/rdma_topo of rdma-core 61).
 */
static const struct rna_topology *topology_for_acs(const struct rna_rule_input *in)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(in->view->snapshot);
	const struct rna_topology *topology = rna_snapshot_topology(in->view->snapshot);
	const struct rna_nic *nic;

	if (!readiness || !rna_value_is_known(readiness->virtual_machine) ||
	    readiness->virtual_machine.number || !topology ||
	    in->subject->device->device->function != RNA_FUNCTION_PF)
		return NULL;
	nic = rna_topology_find_nic(topology, in->subject->device->device);
	return nic && nic->data_direct == RNA_NO_OBJECT ? topology : NULL;
}

/*
 * Packets between functions below one switch stay in it, unless ACS of a port redirects them to the
 * root port, for the IOMMU to look at them. Source: NCCL user guide, Troubleshooting, "PCI Access
 * Control Services": much slower, or a hang; it must be off on bare metal and on for virtual
 * machines. Ports above the GPU are not read; where one redirects, all usually do, because the
 * kernel sets it for all when an IOMMU is on (pci_std_enable_acs() in drivers/pci/pci.c, 6.12).
 */
static void check_gpudirect_redirected(const struct rna_rule_input *in, struct rna_finds *out)
{
	enum { DISPLAY_CONTROLLER = 0x0300 };
	const struct rna_pcie *pcie = path_of(in->subject);
	const struct rna_topology *topology = pcie ? topology_for_acs(in) : NULL;
	const struct rna_pcie_hop *redirect = NULL;
	const char *gpu = NULL, *remedy;
	size_t count = 0;

	for (size_t i = 0; topology && i < topology->gpu_count; i++) {
		const struct rna_pci_object *object = &topology->objects[topology->gpus[i].object];
		const struct rna_pcie_hop *hop;

		if (object->class_id == DISPLAY_CONTROLLER)
			continue;
		hop = find_redirect(pcie, find_common_hop(topology, &topology->gpus[i], pcie));
		if (!hop)
			continue;
		redirect = redirect ? redirect : hop;
		gpu = gpu ? gpu : object->address;
		count++;
	}
	if (!redirect)
		return;
	remedy = rna_arena_printf(
		out->arena,
		"Boot with pci=disable_acs_redir=%s (and the other ports of its switch), or run: "
		"setpci -s %s ECAP_ACS+0x6.w=0000, after each boot. If virtual machines need the "
		"isolation, add gpudirect-redirected to health.disable.",
		redirect->address, redirect->address);
	if (count > 1)
		gpu = rna_arena_printf(out->arena, "%s and %zu more", gpu, count - 1);
	rna_finds_add(out,
		      "ACS of %s redirects traffic with GPU %s, below the same PCIe switch, to "
		      "the root port: GPUDirect RDMA is slow, or hangs",
		      redirect->address, gpu ? gpu : "")
		->remedy = remedy ? remedy : out->rule->remedy;
}

const struct rna_rule rna_rule_gpudirect_redirected = {
	RNA_RULE_ROW("gpudirect-redirected", DEVICE, WARNING, HOST, HOST, NOT_READY),
	.hold = "90s", /* scripts that turn it off run late in the boot */
	.help = "ACS of a PCIe switch port between a NIC and a GPU redirects their traffic "
		"to the root port, which slows GPUDirect RDMA down or makes it hang. Not "
		"in virtual machines, which need ACS.",
	.check = check_gpudirect_redirected,
	.remedy = "Turn ACS off on the ports of the switch above {pci} (setpci -s PORT "
		  "ECAP_ACS+0x6.w=0000, after each boot; or the kernel parameter "
		  "pci=disable_acs_redir).",
	.message_id = "f79f8725c52a4664b65380885e25173d",
};

/* -- Read requests ----------------------------------------------------------------------------- */

static bool read_request_of(const struct rna_subject *port, uint64_t *ret)
{
	const struct rna_pcie *pcie = rna_device_pcie(port->device);

	if (!pcie || pcie->hop_count == 0 || !rna_value_is_known(pcie->hops[0].max_read_request))
		return false;
	*ret = pcie->hops[0].max_read_request.number;
	return true;
}

/* False also where it is not known what siblings have. */
static bool reads_less_than_siblings(const struct rna_rule_input *in,
				     const struct rna_subject *port, uint64_t *ret_usual)
{
	struct rna_rule_input input = *in;
	uint64_t own;

	input.subject = port;
	return rna_rail_is_odd(&input, read_request_of, ret_usual) && read_request_of(port, &own) &&
	       own < *ret_usual;
}

static void compare_read_request(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_subject *port = in->subject->ports;
	struct rna_finding *found;
	const char *remedy;
	unsigned digit = 0; /* 0: 128 bytes; each further one doubles that */
	uint64_t own, usual;

	if (!port || !path_of(in->subject) || !reads_less_than_siblings(in, port, &usual) ||
	    !read_request_of(port, &own))
		return;
	found = rna_finds_add(out,
			      "reads at most %ju bytes of memory at a time (MaxReadReq); most "
			      "cards of this model read %ju",
			      (uintmax_t)own, (uintmax_t)usual);
	found->severity = RNA_SEVERITY_WARNING;
	for (uint64_t size = usual; size > 128; size /= 2)
		digit++;
	remedy = rna_arena_printf(out->arena,
				  "To set %ju bytes as well, read the register by setpci -s {pci} "
				  "CAP_EXP+8.w and write it with %u as its first digit, after each "
				  "boot; or use the setting of the BIOS.",
				  (uintmax_t)usual, digit);
	found->remedy = remedy ? remedy : found->remedy;
}

/*
 * mlx5 leaves the setting of the firmware, often 512 bytes. SciTix's sichek and Oracle's images for
 * GPU shapes (agent/baseline/shipped/oracle.yaml) set 4096 for ConnectX; Mellanox's community page
 * DOC-2496 names it among what limits the bandwidth. It matters where each request is small against
 * what is in flight: from 100 Gb/s on.
 */
static bool is_fast_connectx(const struct rna_subject *port)
{
	static const uint64_t rate_min = UINT64_C(12500000000); /* 100 Gb/s */
	const struct rna_driver *driver = rna_driver_named(port->device->device->driver);

	return rna_device_is_nic(port->device->device) && path_of(port) && driver &&
	       driver->reads_little && rna_subject_is_active(port) && port->link &&
	       rna_value_is_known(port->link->rate) && port->link->rate.number >= rate_min;
}

static void count_small_read_requests(const struct rna_rule_input *in, struct rna_finds *out)
{
	enum { BEST = 4096 };
	const struct rna_subject *first = NULL;
	uint64_t least = BEST, own, usual;
	struct rna_remedy_place place;
	struct rna_finding *found;
	size_t count = 0;

	RNA_EACH (port, in->ports->items, in->ports->count) {
		if (!is_fast_connectx(port) || !read_request_of(port, &own) || own >= BEST ||
		    reads_less_than_siblings(in, port, &usual))
			continue;
		first = first ? first : port;
		least = own < least ? own : least;
		count++;
	}
	if (!first)
		return;
	found = rna_finds_add(out,
			      "%zu fast port%s can read no more than %ju bytes of memory at "
			      "a time (MaxReadReq), where 4096 are possible: %s%s",
			      count, count == 1 ? "" : "s", (uintmax_t)least,
			      first->device->device->name, count > 1 ? " and others" : "");
	place = rna_rule_place_of(in, first);
	found->remedy = rna_rule_fill_remedy(found->remedy, &place, out->arena);
}

/* Of the node where all are alike; a warning of a device that differs from its siblings. */
static void check_pcie_read_request(const struct rna_rule_input *in, struct rna_finds *out)
{
	if (in->subject)
		compare_read_request(in, out);
	else
		count_small_read_requests(in, out);
}

const struct rna_rule rna_rule_pcie_read_request = {
	RNA_RULE_ROW("pcie-read-request", DEVICE, INFO, HOST, HOST, NOT_READY),
	.hold = "90s",
	.help = "ConnectX ports of 100 Gb/s or more read less than 4096 bytes of memory at a "
		"time (MaxReadReq). Severity warning, of a device, if most cards of its "
		"model read more.",
	.check = check_pcie_read_request,
	.remedy = "No action required if the bandwidth suffices. To set 4096 bytes, read "
		  "the register by setpci -s {pci} CAP_EXP+8.w and write it with 5 "
		  "as its first digit, after each boot; or use the setting of the BIOS.",
	.message_id = "089996be4c994d009c3c95181c2ea06d",
};
