// SPDX-License-Identifier: Apache-2.0
/*
 * Rules about probes between nodes: what agent/probe judged becomes findings. Its verdicts have
 * waited already until the evidence suffices, so most of these rules have no hold-down.
 *
 * What a single pair shows may be of its other end, whose own agent has the finding then. So a
 * warning about losses needs several pairs, and a peer that is silent alone is severity info.
 */
#include <inttypes.h>
#include <string.h>

#include "rna/base/clock.h"

#include "rules.h"

enum { PAIRS_TOLD = 3 }; /* by name; of the others the number */

/* -- The pairs of the port --------------------------------------------------------------------- */

static bool is_of(const struct rna_probe_pair *pair, const struct rna_probe_port *port)
{
	return pair->scope != RNA_PROBE_HOST && pair->port == port->port &&
	       strcmp(pair->device, port->device) == 0;
}

/* Writes what a pair shows; NULL: its name says enough. */
typedef void describe_pair(const struct rna_probe_port *port, const struct rna_probe_pair *pair,
			   struct rna_strbuf *out);

struct shown {
	size_t count;     /* pairs that show it */
	size_t all;       /* pairs of the port with other nodes to which probes are sent */
	const char *text; /* "n2 mlx5_0/1 (5 of 300), n3 mlx5_0/1 (...) and 2 more", in arena */
};

static void add_pair(struct rna_strbuf *out, const struct rna_probe_port *port,
		     const struct rna_probe_pair *pair, describe_pair *describe, size_t before)
{
	rna_strbuf_printf(out, "%s%s %s/%u", before > 0 ? ", " : "", pair->peer, pair->peer_device,
			  pair->peer_port);
	if (!describe)
		return;
	rna_strbuf_puts(out, " (");
	describe(port, pair, out);
	rna_strbuf_puts(out, ")");
}

static struct shown show(const struct rna_rule_input *in, const struct rna_probe_port *port,
			 unsigned sign, describe_pair *describe, struct rna_arena *arena)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	const struct rna_probes *probes = in->view->probes;
	struct shown shown = {.text = "?"};

	RNA_EACH (pair, probes->pairs, probes->pair_count) {
		if (!is_of(pair, port))
			continue;
		shown.all += pair->state == RNA_PROBE_RUNNING || (pair->signs & sign);
		if (!(pair->signs & sign))
			continue;
		if (shown.count < PAIRS_TOLD)
			add_pair(&out, port, pair, describe, shown.count);
		shown.count++;
	}
	if (shown.count > PAIRS_TOLD)
		rna_strbuf_printf(&out, " and %zu more", shown.count - PAIRS_TOLD);
	if (rna_strbuf_ok(&out) && out.data) {
		const char *text = rna_arena_strdup(arena, out.data);

		shown.text = text ? text : "?";
	}
	return shown;
}

static bool has_pairs(const struct rna_probes *probes, const struct rna_probe_port *port)
{
	return RNA_ANY(i, probes->pair_count,
		       probes->pairs[i].port == port->port &&
			       probes->pairs[i].state != RNA_PROBE_LOCAL &&
			       strcmp(probes->pairs[i].device, port->device) == 0);
}

/* There will be pairs: the list of members was not read yet, or has others. */
static bool waits_for_pairs(const struct rna_probes *probes, const struct rna_probe_port *port)
{
	const struct rna_probe_source *source = &probes->source;

	return source->name && source->name[0] != '\0' &&
	       (source->looked == 0 || source->members > 1) && !has_pairs(probes, port);
}

/* The first view after a start shows no ports: they are taken from it. */
static bool has_ports(const struct rna_probes *probes)
{
	return probes->port_count > 0 || (probes->node && probes->node[0] != '\0');
}

/*
 * The port, if probes can say something of it. While the prober or the agent starts, or the prober
 * is away, a finding stays: what was seen before holds until something else is seen. Once the port
 * is not probed any more, other rules have it.
 */
static const struct rna_probe_port *find_port(const struct rna_rule_input *in,
					      struct rna_finds *out)
{
	const struct rna_probes *probes = in->view->probes;
	const struct rna_probe_port *port =
		rna_probes_find_port(probes, in->subject->device->device->name, in->subject->port);

	if (!probes || (!port && has_ports(probes)) || (port && port->use == RNA_PROBE_OFF))
		return NULL;
	if (port && port->use == RNA_PROBE_OPEN && !probes->stopped &&
	    !waits_for_pairs(probes, port))
		return port;
	rna_finds_add_unknown(out);
	return NULL;
}

static const char *which_paths(const struct rna_probe_pair *pair, unsigned sign)
{
	return pair->some_paths & sign ? " on some paths" : "";
}

/* "WHAT 2 of 6 peers: n2 mlx5_0/1 (...), ...", where pairs of the port show that sign. */
static struct rna_finding *report(const struct rna_rule_input *in, struct rna_finds *out,
				  unsigned sign, describe_pair *describe, const char *what)
{
	const struct rna_probe_port *port = find_port(in, out);
	struct shown shown;

	if (!port || port->verdict == RNA_PROBE_UNREACHABLE)
		return NULL; /* the rest is of the time before */
	shown = show(in, port, sign, describe, out->arena);
	if (shown.count == 0)
		return NULL;
	return rna_finds_add(out, "%s %zu of %zu peers: %s", what, shown.count, shown.all,
			     shown.text);
}

/* -- Silence ----------------------------------------------------------------------------------- */

/* If the peers go as well after that, nothing has shown yet that the port is well. */
static void check_probe_unreachable(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_probe_port *port = find_port(in, out);
	struct shown shown;

	if (!port)
		return;
	if (port->verdict == RNA_PROBE_UNKNOWN && has_pairs(in->view->probes, port))
		rna_finds_add_unknown(out);
	if (port->verdict != RNA_PROBE_UNREACHABLE)
		return;
	shown = show(in, port, RNA_PROBE_SILENT, NULL, out->arena);
	(void)rna_finds_add(out,
			    "none of %u peers answers its probes, although their agents say that "
			    "they run, and other ports of this node are answered: %s",
			    port->pairs_judged, shown.text);
}

const struct rna_rule rna_rule_probe_unreachable = {
	RNA_RULE_ROW("probe-unreachable", PORT, CRITICAL, RAIL_LOST, CABLE, PORT_UNREACHABLE),
	.hold = "0s", /* three seconds of silence, ten after a start, and the peers were asked */
	.help = "Probes from a port to all its peers are not answered, although the agents "
		"of these peers say that they run, and other ports of this node are "
		"answered: the NIC, its cable or its leaf port does not forward. Only with "
		"probe.enabled.",
	.check = check_probe_unreachable,
	.remedy = "rdma-node-agent probe shows each path. {provider}See the leaf port of "
		  "{device}/{port} on the switch: counters, VLAN, MTU, PFC watchdog. Then "
		  "reseat or replace the cable and its transceivers.",
	.message_id = "b84fa73b222545478f5e541b4ca555dc",
};

/*
 * Where no other port of the node is answered either, the fault may be the host's or that of all
 * peers: then no port is blamed, and this finding is a warning.
 */
static void check_probe_peer_unreachable(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_probe_port *port =
		rna_probes_find_port(in->view->probes, in->subject->device->device->name,
				     in->subject->port);
	struct rna_finding *finding =
		report(in, out, RNA_PROBE_SILENT, NULL,
		       "probes are not answered, although the peer's agent says that it runs, by");

	if (finding && (port->verdict != RNA_PROBE_UNKNOWN || port->pairs_judged < 2 ||
			port->pairs_bad < port->pairs_judged))
		finding->severity = RNA_SEVERITY_INFO;
}

const struct rna_rule rna_rule_probe_peer_unreachable = {
	RNA_RULE_ROW("probe-peer-unreachable", PORT, WARNING, FABRIC, FABRIC, FABRIC_UNHEALTHY),
	.help = "Probes from a port to some of its peers are not answered, although the "
		"agents of these peers say that they run. The other ends report "
		"probe-unreachable if it is their port. Severity warning if none of "
		"its peers answers, two at least, and no other port of the node is "
		"answered by them, so that the port alone is not blamed.",
	.check = check_probe_peer_unreachable,
	.remedy = "No action required if the peer has probe-unreachable itself. Otherwise "
		  "look for a path between the leaves of both ends that does not forward: "
		  "rdma-node-agent probe --wide lists the peers and their leaves. With severity "
		  "warning, look at the host as well: addresses and routes of {device}, and "
		  "whether all of its ports are up.",
	.message_id = "87d8545306de46038aebed06d5b5c694",
};

/* -- Losses ------------------------------------------------------------------------------------ */

static void describe_loss(const struct rna_probe_port *port, const struct rna_probe_pair *pair,
			  struct rna_strbuf *out)
{
	const struct rna_probe_counts *recent = &pair->recent;

	(void)port;
	rna_strbuf_printf(out, "%" PRIu64 " of %" PRIu64 " in ten minutes", recent->lost,
			  recent->lost + recent->answered);
}

static void report_lossy(const struct rna_rule_input *in, const struct rna_probe_port *port,
			 struct rna_finds *out)
{
	const struct rna_probe_counts *window = &port->window;
	uint64_t count = window->lost + window->answered;
	struct shown shown = show(in, port, RNA_PROBE_LOSS, describe_loss, out->arena);

	(void)rna_finds_add(out,
			    "%" PRIu64 " of %" PRIu64 " probes were lost within %.0f s (%.2g %%), "
			    "on the way to %u of %u peers%s%s",
			    window->lost, count, rna_seconds(port->window_length),
			    100 * (double)window->lost / (double)(count > 0 ? count : 1),
			    port->pairs_bad, port->pairs_judged, shown.count > 0 ? ": " : "",
			    shown.count > 0 ? shown.text : "");
}

static void check_probe_loss(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_probe_port *port = find_port(in, out);
	struct rna_finding *finding;

	if (port && port->verdict == RNA_PROBE_LOSSY) {
		report_lossy(in, port, out);
		return;
	}
	if (port && port->verdict == RNA_PROBE_UNKNOWN && has_pairs(in->view->probes, port)) {
		rna_finds_add_unknown(out); /* after a start, for some seconds */
		return;
	}
	finding = report(in, out, RNA_PROBE_LOSS, describe_loss,
			 "probes are lost on the way to or from");
	if (finding)
		finding->severity = RNA_SEVERITY_INFO;
}

const struct rna_rule rna_rule_probe_loss = {
	RNA_RULE_ROW("probe-loss", PORT, WARNING, ERRORS, CABLE, LINK_DEGRADED),
	.hold = "0s", /* the losses are next to impossible on a sound path */
	.help = "A port loses probes to or from a third of its peers or more, two at "
		"least, or the only one that answers. Severity info if only single paths lose, "
		"which may be of their other ends.",
	.check = check_probe_loss,
	.remedy = "Compare the error and discard counters of {device} (status, findings "
		  "errors-rising and packets-lost). {provider}Look at those of its leaf port. "
		  "Clean or replace the cable and its transceivers; on the switch look for "
		  "discards of the traffic class of the probes.",
	.message_id = "533f4bd69b2048758a698a3673e9eb58",
};

static void describe_large_loss(const struct rna_probe_port *port,
				const struct rna_probe_pair *pair, struct rna_strbuf *out)
{
	const struct rna_probe_counts *recent = &pair->recent;

	rna_strbuf_printf(out, "%" PRIu64 " of %" PRIu64 " with %" PRIu32 " bytes%s",
			  recent->large_lost, recent->large_lost + recent->large_answered,
			  port->address.mtu, which_paths(pair, RNA_PROBE_MTU_HOLE));
}

static void check_probe_mtu_hole(const struct rna_rule_input *in, struct rna_finds *out)
{
	(void)report(in, out, RNA_PROBE_MTU_HOLE, describe_large_loss,
		     "probes as large as the MTU are lost, and small ones are not, on the way to");
}

const struct rna_rule rna_rule_probe_mtu_hole = {
	RNA_RULE_ROW("probe-mtu-hole", PORT, WARNING, FABRIC, FABRIC, FABRIC_UNHEALTHY),
	.hold = "0s", /* so many are next to impossible by chance */
	.help = "Probes as large as the MTU are lost on the way to a peer, on all paths or on "
		"some of several equal ones, while small ones come back.",
	.check = check_probe_mtu_hole,
	.remedy = "{provider}Compare the MTU of all switch ports on the way: with an RDMA MTU of "
		  "4096 bytes it must be 4200 or more. On some paths only: compare those of the "
		  "spines with each other. If they agree, look for a port that discards by size or "
		  "by a full buffer (PFC, headroom).",
	.message_id = "262562dc0f3e445aa4df1d1dbda0d776",
};

/* -- What arrives late or changed -------------------------------------------------------------- */

static void describe_slow(const struct rna_probe_port *port, const struct rna_probe_pair *pair,
			  struct rna_strbuf *out)
{
	(void)port;
	rna_strbuf_printf(out, "%.4g us, usually %.4g us", (double)pair->rtt_median / 1e3,
			  (double)pair->rtt_usual / 1e3);
}

static void check_probe_slow(const struct rna_rule_input *in, struct rna_finds *out)
{
	(void)report(in, out, RNA_PROBE_SLOW, describe_slow,
		     "round trips take more than twice the usual time to");
}

const struct rna_rule rna_rule_probe_slow = {
	RNA_RULE_ROW("probe-slow", PORT, WARNING, FABRIC, FABRIC, FABRIC_UNHEALTHY),
	.hold = "0s", /* a minute */
	.help = "For a minute, round trips to a peer take more than twice as long as they "
		"usually did, and more than to the other peers.",
	.check = check_probe_slow,
	.remedy = "Look for congestion (ECN marks, pause frames) or a detour on the way: "
		  "rdma-node-agent probe --wide shows round trips, hop limits and ECN marks "
		  "of each path.",
	.message_id = "6c0bebb068fa4d2cb2ee0f4afe8fd9db",
};

static void describe_dscp(const struct rna_probe_port *port, const struct rna_probe_pair *pair,
			  struct rna_strbuf *out)
{
	(void)port;
	rna_strbuf_printf(out, "%u becomes %u%s", pair->dscp_sent, pair->dscp_other,
			  which_paths(pair, RNA_PROBE_DSCP));
}

static void check_probe_dscp_rewritten(const struct rna_rule_input *in, struct rna_finds *out)
{
	(void)report(in, out, RNA_PROBE_DSCP, describe_dscp,
		     "the DSCP of probes is changed on the way to");
}

const struct rna_rule rna_rule_probe_dscp_rewritten = {
	RNA_RULE_ROW("probe-dscp-rewritten", PORT, WARNING, FABRIC, FABRIC, FABRIC_UNHEALTHY),
	.hold = "0s", /* so many are next to impossible by chance */
	.help = "Probes arrive with another DSCP than they left with, on all paths or on some of "
		"several equal ones: RoCE traffic may take the wrong queue, without PFC and ECN.",
	.check = check_probe_dscp_rewritten,
	.remedy =
		"{provider}Set the switch ports on the way to trust DSCP and not to rewrite it; "
		"compare the leaf port of {device}/{port} with those of its sibling rails. On some "
		"paths only: compare the ports of the spines with each other.",
	.message_id = "03add9aaa8114d37b24f95c014bdafa2",
};

static void describe_detour(const struct rna_probe_port *port, const struct rna_probe_pair *pair,
			    struct rna_strbuf *out)
{
	(void)port;
	rna_strbuf_printf(out, "hop limit %u arrives, usually %u", pair->there.hop_limit,
			  pair->hops_usual);
}

static void check_probe_detour(const struct rna_rule_input *in, struct rna_finds *out)
{
	(void)report(in, out, RNA_PROBE_DETOUR, describe_detour,
		     "probes take more hops than usual to");
}

const struct rna_rule rna_rule_probe_detour = {
	RNA_RULE_ROW("probe-detour", PORT, WARNING, FABRIC, FABRIC, FABRIC_UNHEALTHY),
	.hold = "0s", /* a minute */
	.help = "For a minute, probes to a peer arrive with a lower hop limit than they "
		"usually did, and those to other peers do not: they take more hops.",
	.check = check_probe_detour,
	.remedy = "{provider}Look for links between leaf and spine that are down, and for changed "
		  "routes. After a planned change the finding ends by itself, when the new "
		  "path is the usual one.",
	.message_id = "5aa3589aa1f14e7b9b3893eca29a63b3",
};

/* -- Floods ------------------------------------------------------------------------------------ */

static void describe_sender(const struct rna_probe_flood *flood, struct rna_strbuf *out)
{
	struct rna_gid gid;
	char text[RNA_GID_TEXT_MAX];

	memcpy(gid.bytes, flood->gid, sizeof(gid.bytes));
	if (!rna_gid_ipv4(&gid, text))
		rna_gid_format(&gid, text);
	if (!rna_gid_is_zero(&gid))
		rna_strbuf_printf(out, "%s, ", text);
	if (flood->lid != 0)
		rna_strbuf_printf(out, "LID %u, ", flood->lid);
	rna_strbuf_printf(out, "QP 0x%06" PRIx32, flood->qpn);
}

static void check_probe_flooded(const struct rna_rule_input *in, struct rna_finds *out)
{
	RNA_STRBUF struct rna_strbuf sender = RNA_STRBUF_INIT;
	const struct rna_probe_port *port =
		rna_probes_find_port(in->view->probes, in->subject->device->device->name,
				     in->subject->port);
	const struct rna_probe_flood *flood;

	if (!port || port->pauses.count == 0)
		return;
	flood = &port->pauses.flood;
	describe_sender(flood, &sender);
	(void)rna_finds_add(out,
			    "probes %s paused (pause %u) after a flood: %" PRIu64 " packets within "
			    "%.3g ms were not made with the secret for this port, or were "
			    "received before; the last one names as its sender %s, which can be "
			    "forged",
			    port->use == RNA_PROBE_PAUSED ? "are" : "were", port->pauses.count,
			    flood->packets, (double)flood->nanoseconds / 1e6,
			    rna_strbuf_ok(&sender) ? sender.data : "?");
}

const struct rna_rule rna_rule_probe_flooded = {
	RNA_RULE_ROW("probe-flooded", PORT, WARNING, AGENT, JOB, NOT_OBSERVED),
	.hold = "0s", /* each pause is a fact */
	.help = "A port received more than 2,000 packets within a second that no member "
		"made for it, or that it had received before. It is closed for five "
		"seconds, each further time for twice as long, and then has another Q_Key. "
		"The finding ends five minutes after the last pause.",
	.check = check_probe_flooded,
	.remedy = "{provider}Find where the packets come from: the leaf port of {device}/{port} "
		  "shows their rate, and so do the ports on their way; the address in the finding "
		  "can be forged. If the port pauses each time it is opened, the sender sees "
		  "packets of probes or knows their secret: look for mirror ports, and give all "
		  "members another secret.",
	.message_id = "dcacbb1517714501a1d770c7127e35ba",
};

/* -- This host --------------------------------------------------------------------------------- */

static void check_probe_host_busy(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_probes *probes = in->view->probes;

	if (!rna_probes_are_missed(probes))
		return;
	(void)rna_finds_add(out,
			    "this host is too busy to judge paths by probes: of %" PRIu64
			    " that were due within a minute, %" PRIu64
			    " were not sent, because the prober got no CPU",
			    probes->minute.sent + probes->minute.missed, probes->minute.missed);
}

const struct rna_rule rna_rule_probe_host_busy = {
	RNA_RULE_ROW("probe-host-busy", NODE, WARNING, AGENT, JOB, NOT_OBSERVED),
	.hold = "1m",
	.help = "The node sent less than half of its probes for a minute, because other programs "
		"took the CPU. Faults of its ports and paths may not be seen, and its ports are "
		"not judged to be well.",
	.check = check_probe_host_busy,
	.remedy = "Find what takes the CPU: systemd-cgtop, or the CPU pressure in "
		  "/proc/pressure/cpu. Leave a core of the node to the system, or let the prober "
		  "have the CPU before other programs: link the profile priority to the unit, or "
		  "set probe.priority of the Helm chart to true.",
	.message_id = "93f5ae86dbde43a7980893bdf71213c0",
};
