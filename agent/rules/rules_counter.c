// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about counters. The windows of a port's past (past.h) count how far each counter rose;
 * these rules make findings of it.
 */
#include <string.h>

#include "rna/base/duration.h"

#include "past.h"
#include "rules.h"
#include "thresholds.h"

/* Times in seconds: microseconds are for machines. */
static void write_amount(const struct rna_threshold *threshold, uint64_t amount,
			 struct rna_strbuf *out)
{
	bool time = threshold->source == RNA_THRESHOLD_OF_ETHERNET &&
		    rna_ethernet_statistics[threshold->statistic].unit == RNA_ETHERNET_MICROSECONDS;

	if (time)
		rna_strbuf_printf(out, "%.3g s", (double)amount / 1e6);
	else
		rna_strbuf_printf(out, "%ju", (uintmax_t)amount);
}

/* The counters by which the subject's driver counts it: operators know those names. */
static void write_name(const struct rna_rule_input *in, const struct rna_threshold *threshold,
		       struct rna_strbuf *out)
{
	const struct rna_counter *const *counters =
		rna_threshold_counters(threshold, in->subject->groups);

	if (!counters)
		rna_strbuf_puts(out, threshold->name);
	for (size_t i = 0; counters && i < RNA_WAY_FILES_MAX && counters[i]; i++)
		rna_strbuf_printf(out, "%s%s", i > 0 ? " + " : "", counters[i]->file);
}

static void write_rise(const struct rna_rule_input *in, size_t i, struct rna_strbuf *out)
{
	const struct rna_threshold *threshold = &in->thresholds->items[i];
	const struct rna_window *windows = rna_rule_past_of(in, in->subject)->windows;
	bool known;

	rna_strbuf_puts(out, out->len > 0 ? "; " : "");
	write_name(in, threshold, out);
	rna_strbuf_puts(out, " rose by ");
	write_amount(threshold, rna_window_rise(&windows[i]), out);
	rna_strbuf_puts(out, " in ");
	rna_duration_write(threshold->window, out);
	rna_strbuf_puts(out, " (threshold ");
	write_amount(threshold, rna_threshold_limit(in->thresholds, i, windows, &known), out);
	if (threshold->base) {
		rna_strbuf_printf(out, ": %ju, and %u for each million ",
				  (uintmax_t)threshold->limit, threshold->share);
		write_name(in, &in->thresholds->items[threshold->base_item], out);
	}
	rna_strbuf_printf(out, "): %s", threshold->why);
}

/* Is the rise of one counter beyond its threshold, with what it depends on known? */
static bool is_over(const struct rna_rule_input *in, size_t i)
{
	const struct rna_window *windows = rna_rule_past_of(in, in->subject)->windows;
	bool known;

	if (!windows[i].over || in->thresholds->items[i].is_base)
		return false; /* nearly always */
	(void)rna_threshold_limit(in->thresholds, i, windows, &known);
	return known;
}

/* Of two thresholds the first that is exceeded suffices. */
static void write_downs(const struct rna_threshold *threshold, const struct rna_window *window,
			struct rna_strbuf *out)
{
	if (out->len > 0)
		return;
	rna_strbuf_printf(out, "the port went down %ju times in ",
			  (uintmax_t)rna_window_rise(window));
	rna_duration_write(threshold->window, out);
}

void rna_check_threshold(const struct rna_rule_input *in, struct rna_finds *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_past *past = rna_rule_past_of(in, in->subject);
	enum rna_severity worst = RNA_SEVERITY_INFO;

	for (size_t i = 0; past && past->windows && i < in->thresholds->count; i++) {
		const struct rna_threshold *threshold = &in->thresholds->items[i];
		const struct rna_window *window = &past->windows[i];

		if (out->rule != threshold->rule || !is_over(in, i))
			continue;
		if (threshold->source == RNA_THRESHOLD_OF_DOWNS)
			write_downs(threshold, window, &text);
		else
			write_rise(in, i, &text);
		worst = threshold->severity > worst ? threshold->severity : worst;
	}
	if (!rna_strbuf_ok(&text))
		out->failed = true;
	else if (text.len > 0)
		rna_finds_add(out, "%s", text.data)->severity = worst;
}

const struct rna_rule rna_rule_port_flapping = {
	RNA_RULE_ROW("port-flapping", PORT, WARNING, ERRORS, CABLE, LINK_DEGRADED),
	.help = "The port went down more often than its threshold allows.",
	.devices_too = true,
	.check = rna_check_threshold,
	.remedy = "{provider}Replace the cable or a transceiver of {object}, and check the peer "
		  "port.",
	.message_id = "cd4f5a650edc42259f52521f0b7ea57b",
};

const struct rna_rule rna_rule_errors_rising = {
	RNA_RULE_ROW("errors-rising", PORT, WARNING, ERRORS, CABLE, LINK_DEGRADED),
	.help = "An error counter rises faster than its threshold allows.",
	.devices_too = true,
	.check = rna_check_threshold,
	.remedy = "{provider}If the counters of the link rise, start with the cable and the "
		  "transceivers; if packets are lost, with the fabric.",
	.message_id = "31e6b24379f8455e95101b7cd955b72e",
};

const struct rna_rule rna_rule_packets_lost = {
	RNA_RULE_ROW("packets-lost", PORT, WARNING, ERRORS, FABRIC, FABRIC_UNHEALTHY),
	.help = "More packets of a port are lost than its threshold allows for the traffic: "
		"on their way to or from peers, or by the port itself, which drops what "
		"it receives.",
	.devices_too = true,
	.check = rna_check_threshold,
	.remedy = "Compare {object} with its siblings and with other nodes. If receive "
		  "discards rise, see the findings pcie-* and pause-transmitted of this "
		  "host. {provider}If one port loses packets, check its cable, and the "
		  "discards and the buffers of its switch port; if many do, the ECN "
		  "thresholds and the PFC of the fabric.",
	.message_id = "3a07d77cbd33463589f64060b684a9c0",
};

const struct rna_rule rna_rule_congestion_ignored = {
	RNA_RULE_ROW("congestion-ignored", PORT, WARNING, HOST, HOST, NOT_READY),
	.help = "The port receives congestion notifications and does not react to them.",
	.devices_too = true,
	.check = rna_check_threshold,
	.remedy = "Enable the DCQCN reaction point for the priority in use, at both ends.",
	.message_id = "999ac24655fc4fbd8cd5959fa236443e",
};

const struct rna_rule rna_rule_pause_storm = {
	RNA_RULE_ROW("pause-storm", PORT, WARNING, RAIL_SLOW, HOST, LINK_DEGRADED),
	.help = "An Ethernet port sent pause frames for so long that its device raised an "
		"alarm; critical if the device turned flow control off.",
	.check = rna_check_threshold,
	.remedy = "Find out why the host does not accept packets: a process stuck with "
		  "its memory, PCIe errors, a GPU that fell off the bus. Until then keep "
		  "jobs off this node, because the pauses spread through the network.",
	.message_id = "8d7cb7cc8a254b8cbbd0e9aa1d5e64d2",
};

const struct rna_rule rna_rule_pause_transmitted = {
	RNA_RULE_ROW("pause-transmitted", PORT, WARNING, RAIL_SLOW, HOST, LINK_DEGRADED),
	.help = "An Ethernet port makes the network pause a priority (PFC) for more than a "
		"tenth of the time: this host is too slow.",
	.check = rna_check_threshold,
	.remedy = "Compare this host with its siblings: PCIe link of the NIC {pci}, NUMA "
		  "node of the memory in use, IOMMU and ACS settings, firmware of host "
		  "and NIC.",
	.message_id = "0e5f9f7b6f2b4f7caa24c9b6cf1e40f3",
};

const struct rna_rule rna_rule_pause_received = {
	RNA_RULE_ROW("pause-received", PORT, INFO, FABRIC, FABRIC, FABRIC_UNHEALTHY),
	.help = "The network makes an Ethernet port pause a priority (PFC) for more than a "
		"tenth of the time: the network is congested.",
	.check = rna_check_threshold,
	.remedy = "No action required on this host. {provider}Look for the port that causes it, "
		  "which sends pause frames and receives none, and check the ECN "
		  "thresholds of the switches.",
	.message_id = "7b1e4a3cf2d548d5a5c0a8e27a1f9b64",
};

const struct rna_rule rna_rule_link_pause = {
	RNA_RULE_ROW("link-pause", PORT, WARNING, RAIL_SLOW, HOST, LINK_DEGRADED),
	.help = "Link-level pause frames (802.3x) stop an Ethernet port or its switch port for "
		"more than a tenth of the time, every priority at once, whatever PFC is set to. "
		"Severity info if the port only receives them.",
	.check = rna_check_threshold,
	.remedy =
		"Where the fabric uses PFC, turn flow control (802.3x) off on the host{switches}. "
		"Run on the host: ethtool -A {netdev} rx off tx off. If {object} sends the pauses, "
		"this host is too slow: check the PCIe link of the NIC {pci}. If it only receives "
		"them, the network is congested.",
	.message_id = "a2adca28143e4192bc4be83e2478ae30",
};

const struct rna_rule rna_rule_pcie_stalled = {
	RNA_RULE_ROW("pcie-stalled", PORT, WARNING, RAIL_SLOW, HOST, LINK_DEGRADED),
	.help = "A device repeatedly waits for host memory, or drops packets because of "
		"it.",
	.check = rna_check_threshold,
	.remedy = "Check the PCIe link of {device} (findings pcie-*), relaxed ordering "
		  "and the maximum read request (lspci -vv -s {pci}), and what else uses "
		  "the same root port or NUMA node.",
	.message_id = "c3a5d0f64b8e49d09d0a8dbd9f2b7c15",
};

/*
 * A requester counts a timeout when nothing returns: one dead peer lets it rise at each of its
 * healthy neighbours. Sequence error answers are of peers that are alive and miss packets of this
 * port: if they agree, the port or its path loses packets. No counter says how many peers they are.
 */
static void check_acknowledgements_missing(const struct rna_rule_input *in, struct rna_finds *out)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_past *past = rna_rule_past_of(in, in->subject);
	struct rna_finding *found;
	bool peers_agree = false;

	for (size_t i = 0; past && past->windows && i < in->thresholds->count; i++) {
		const struct rna_threshold *threshold = &in->thresholds->items[i];

		if (threshold->evidence && past->windows[i].over)
			peers_agree = true;
		else if (out->rule == threshold->rule && is_over(in, i))
			write_rise(in, i, &text);
	}
	if (!rna_strbuf_ok(&text))
		out->failed = true;
	if (out->failed || text.len == 0)
		return;
	found = rna_finds_add(out, "%s; %s", text.data,
			      peers_agree ? "peers that answer report lost packets as well"
					  : "peers that answer report no loss");
	if (!peers_agree)
		return;
	found->severity = RNA_SEVERITY_WARNING;
	found->remedy = "{provider}Check the cable of {object}, and discards and QoS of its switch "
			"port: this port or its path loses packets.";
}

const struct rna_rule rna_rule_acknowledgements_missing = {
	RNA_RULE_ROW("acknowledgements-missing", PORT, INFO, ERRORS, FABRIC, FABRIC_UNHEALTHY),
	.help = "Peers do not acknowledge in time, which alone is a fault at the far end. "
		"Severity warning if peers that answer report lost packets as well.",
	.devices_too = true,
	.check = check_acknowledgements_missing,
	.remedy = "Look for a peer that is down or overloaded; other nodes that talk to it "
		  "have the same finding. {object} needs no repair.",
	.message_id = "5a0298e8c2c140a4b11ecb1824902fc3",
};

static bool is_watched(const struct rna_thresholds *thresholds, const struct rna_counter *counter)
{
	for (size_t i = 0; i < thresholds->count; i++)
		if (rna_threshold_has(&thresholds->items[i], counter) &&
		    !thresholds->items[i].is_base)
			return true;
	return strcmp(counter->file, "link_downed") == 0; /* transitions are counted by it */
}

/* 32 bits of traffic fill within seconds: a reset does not help. */
static const char traffic_remedy[] =
	"The driver of {object} counts traffic in 32 bits. Permit MADs to the agent, which read "
	"64-bit counters (systemd/profiles/umad.conf; umad.enabled of the chart), or ignore "
	"these counters.";

/* Counters that stand at their maximum. */
struct stuck {
	struct rna_strbuf *names;
	size_t count, watched, traffic;
};

static void add_stuck(const struct rna_rule_input *in, enum rna_collector_id collector,
		      struct stuck *stuck)
{
	const struct rna_counters_part *part = rna_device_counters(in->subject->device, collector);

	for (size_t g = 0; part && g < part->group_count; g++)
		RNA_EACH (value, part->groups[g].values, part->groups[g].count) {
			if (part->groups[g].port != in->subject->port ||
			    !rna_counter_is_stuck(value))
				continue;
			rna_strbuf_printf(stuck->names, "%s%s", stuck->count++ > 0 ? ", " : "",
					  value->file);
			stuck->watched += is_watched(in->thresholds, value->counter);
			stuck->traffic += value->counter->small_width > 0;
		}
}

/* A warning if a threshold watches the counter, because its rule cannot see further errors. */
static void check_counter_saturated(const struct rna_rule_input *in, struct rna_finds *out)
{
	RNA_STRBUF struct rna_strbuf names = RNA_STRBUF_INIT;
	struct stuck stuck = {.names = &names};
	struct rna_finding *found;

	add_stuck(in, RNA_COLLECTOR_COUNTERS, &stuck);
	add_stuck(in, RNA_COLLECTOR_FABRIC, &stuck);
	if (!rna_strbuf_ok(&names))
		out->failed = true;
	if (out->failed || stuck.count == 0)
		return;
	found = rna_finds_add(out, "counter%s stopped at the maximum: %s",
			      stuck.count > 1 ? "s" : "", names.data);
	found->severity = stuck.watched > 0 ? RNA_SEVERITY_WARNING : RNA_SEVERITY_INFO;
	if (stuck.traffic == stuck.count)
		found->remedy = traffic_remedy;
}

const struct rna_rule rna_rule_counter_saturated = {
	RNA_RULE_ROW("counter-saturated", PORT, INFO, AGENT, HOST, NOT_OBSERVED),
	.help = "A counter has reached its maximum and stopped; further errors are not "
		"counted. Severity warning if a threshold watches the counter.",
	.check = check_counter_saturated,
	.remedy = "No action required; {reset-counters}.",
	.message_id = "f8b39f00f8d14039bb8deece995d4219",
};
