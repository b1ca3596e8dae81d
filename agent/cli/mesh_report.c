// SPDX-License-Identifier: Apache-2.0
/*
 * The report of mesh. A fleet of which most members are missing is unknown, even if no pair of the
 * others loses.
 */
#include "mesh_report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "rna/base/json_document.h"

enum {
	LISTED_PORTS = 8, /* of a verdict, in the text; JSON has all */
	LISTED_PAIRS = 10,
	HALF = 2,
};

#define SHARE_OF_PATHS 0.5 /* more is not one of several equal paths */
#define PER_CENT       100.0

struct report {
	const struct rna_fleet *fleet;
	struct rna_blames blames;
	enum rna_mesh_state state;
};

static const char *const state_names[] = {
	[RNA_MESH_WELL] = "well",
	[RNA_MESH_UNEXPLAINED] = "unexplained",
	[RNA_MESH_BLAMED] = "blamed",
	[RNA_MESH_UNKNOWN] = "unknown",
};

/* -- The state --------------------------------------------------------------------------------- */

static bool is_known(const struct rna_fleet *fleet)
{
	return fleet->judged_ports > 0 && HALF * fleet->judged_ports >= fleet->reporting_ports &&
	       HALF * fleet->job_reporting >= fleet->members;
}

static enum rna_mesh_state find_state(const struct rna_fleet *fleet,
				      const struct rna_blames *blames)
{
	if (blames->count > 0)
		return RNA_MESH_BLAMED;
	if (!is_known(fleet))
		return RNA_MESH_UNKNOWN;
	return fleet->losing > 0 || blames->left_count > 0 ? RNA_MESH_UNEXPLAINED : RNA_MESH_WELL;
}

/* By what has to be done: a verdict counts more than what is not known. */
static int weigh(enum rna_mesh_state state)
{
	static const int weights[] = {
		[RNA_MESH_WELL] = 0,
		[RNA_MESH_UNEXPLAINED] = 1,
		[RNA_MESH_UNKNOWN] = 2,
		[RNA_MESH_BLAMED] = 3,
	};

	return weights[state];
}

/* -- Text -------------------------------------------------------------------------------------- */

static const char *node_of(const struct rna_fleet *fleet, uint32_t port)
{
	return fleet->nodes[fleet->mesh.ports[port].node];
}

static void write_share(double share, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, share >= 0.1 ? "%.0f %%" : "%.2g %%", share * PER_CENT);
}

static void write_signs(unsigned signs, struct rna_strbuf *out)
{
	for (unsigned i = 0; i < RNA_PROBE_SIGNS; i++)
		if (signs >> i & 1)
			rna_strbuf_printf(out, ", %s", rna_probe_sign_name(1u << i));
}

/* The ports below are behind it. */
static bool is_unknown_leaf(const struct rna_fleet *fleet, const struct rna_mesh_part *part)
{
	return (part->kind == RNA_BLAME_LEAF || part->kind == RNA_BLAME_UPLINK) &&
	       part->leaf >= fleet->mesh.leaf_count;
}

static void write_leaf(const struct rna_fleet *fleet, const struct rna_mesh_part *part,
		       struct rna_strbuf *out)
{
	const char *leaf = is_unknown_leaf(fleet, part) ? NULL : fleet->leaves[part->leaf];
	bool uplink = part->kind == RNA_BLAME_UPLINK;

	if (leaf)
		rna_strbuf_printf(out,
				  uplink ? "uplink: a link between leaf %s and a spine"
					 : "leaf: %s",
				  leaf);
	else
		rna_strbuf_puts(out, uplink ? "uplink: a link between an unknown leaf and a spine"
					    : "leaf: an unknown leaf");
	if (!leaf && part->leaf != RNA_MESH_NONE)
		rna_strbuf_puts(out, ", or each of these ports by itself");
	if (!leaf && part->rail != RNA_PROBE_RAIL_UNKNOWN)
		rna_strbuf_printf(out, "; rail %u", part->rail);
}

static void write_part(const struct rna_fleet *fleet, const struct rna_mesh_part *part,
		       struct rna_strbuf *out)
{
	switch (part->kind) {
	case RNA_BLAME_SPINE:
		rna_strbuf_puts(out, "spine: a spine or its links, which one is not known");
		if (part->rail != RNA_PROBE_RAIL_UNKNOWN)
			rna_strbuf_printf(out, "; rail %u", part->rail);
		break;
	case RNA_BLAME_LEAF:
	case RNA_BLAME_UPLINK:
		write_leaf(fleet, part, out);
		break;
	case RNA_BLAME_HOST:
		rna_strbuf_printf(out, "host: %s", fleet->nodes[part->node]);
		break;
	case RNA_BLAME_PATH:
		rna_strbuf_printf(out, "path: between leaves %s and %s", fleet->leaves[part->leaf],
				  fleet->leaves[part->other_leaf]);
		break;
	default:
		rna_strbuf_printf(out, "port: %s %s", fleet->nodes[part->node],
				  fleet->ports[part->port]);
		if (part->leaf < fleet->mesh.leaf_count)
			rna_strbuf_printf(out, " at leaf %s", fleet->leaves[part->leaf]);
		rna_strbuf_puts(out, ": NIC, cable or port of the leaf");
	}
	rna_strbuf_puts(out, "\n");
}

static void write_title(const struct rna_fleet *fleet, const struct rna_blame *blame,
			struct rna_strbuf *out)
{
	rna_strbuf_puts(out, blame->other_count > 0 ? "  one of these:\n    " : "  ");
	write_part(fleet, &blame->part, out);
	for (uint32_t i = 0; i < blame->other_count; i++) {
		rna_strbuf_puts(out, "    ");
		write_part(fleet, &blame->others[i], out);
	}
}

/* Equal paths share probes equally: the share of losses says how many there are. */
static void write_paths(const struct rna_blame *blame, struct rna_strbuf *out)
{
	if ((blame->part.kind != RNA_BLAME_SPINE && blame->part.kind != RNA_BLAME_UPLINK) ||
	    !(blame->ratio < SHARE_OF_PATHS) || blame->ratio <= 0)
		return;
	rna_strbuf_printf(
		out,
		"    as one of %.0f equal paths that loses all in both directions, or one of "
		"%.0f in one\n",
		2 / blame->ratio, 1 / blame->ratio);
}

/* Those of an unknown leaf are what is known of it. */
static bool is_listed(const struct report *report, const struct rna_blame *blame, uint32_t port)
{
	const struct rna_fleet *fleet = report->fleet;

	return rna_blame_has_port(&report->blames, &fleet->mesh, &blame->part, port) &&
	       (fleet->mesh.ports[port].losing > 0 || is_unknown_leaf(fleet, &blame->part));
}

static void write_ports(const struct report *report, const struct rna_blame *blame,
			struct rna_strbuf *out)
{
	const struct rna_fleet *fleet = report->fleet;
	size_t count = 0;

	if (blame->part.kind != RNA_BLAME_LEAF && blame->part.kind != RNA_BLAME_HOST &&
	    !is_unknown_leaf(fleet, &blame->part))
		return;
	for (uint32_t i = 0; i < fleet->mesh.port_count; i++) {
		if (!is_listed(report, blame, i) || count++ >= LISTED_PORTS)
			continue;
		rna_strbuf_puts(out, count == 1 ? "    ports: " : ", ");
		rna_strbuf_printf(out, "%s %s", node_of(fleet, i), fleet->ports[i]);
	}
	if (count > LISTED_PORTS)
		rna_strbuf_printf(out, " and %zu more", count - LISTED_PORTS);
	if (count > 0)
		rna_strbuf_puts(out, "\n");
}

static void write_blame(const struct report *report, const struct rna_blame *blame,
			struct rna_strbuf *out)
{
	write_title(report->fleet, blame, out);
	rna_strbuf_puts(out, "    ");
	if (blame->ports > 1)
		rna_strbuf_printf(out, "%u of %u ports lose; ", blame->losing_ports, blame->ports);
	if (blame->pairs > 0)
		rna_strbuf_printf(out, "%u of %u pairs that it sends through lose; ", blame->losing,
				  blame->pairs);
	rna_strbuf_printf(out, "%u pairs explained, median loss ", blame->explained);
	write_share(blame->ratio, out);
	write_signs(blame->signs, out);
	rna_strbuf_puts(out, "\n");
	write_paths(blame, out);
	write_ports(report, blame, out);
}

static void write_left(const struct report *report, struct rna_strbuf *out)
{
	const struct rna_fleet *fleet = report->fleet;
	size_t count = report->blames.left_count;

	if (count == 0)
		return;
	rna_strbuf_printf(out, "  %zu %s that no part explains:\n", count,
			  count == 1 ? "pair loses" : "pairs lose");
	for (size_t i = 0; i < count && i < LISTED_PAIRS; i++) {
		const struct rna_mesh_pair *pair = &fleet->mesh.pairs[report->blames.left[i]];

		rna_strbuf_printf(out, "    %s %s to %s %s: ", node_of(fleet, pair->from),
				  fleet->ports[pair->from], node_of(fleet, pair->to),
				  fleet->ports[pair->to]);
		write_share(pair->ratio, out);
		write_signs(pair->sign, out);
		rna_strbuf_puts(out, "\n");
	}
	if (count > LISTED_PAIRS)
		rna_strbuf_printf(out, "    and %zu more\n", count - LISTED_PAIRS);
}

static void write_other_signs(const struct rna_fleet *fleet, struct rna_strbuf *out)
{
	const char *between = "  Pairs with other signs: ";

	for (unsigned i = 0; i < RNA_PROBE_SIGNS; i++) {
		if ((1u << i & RNA_PROBE_LOSING) || fleet->signs[i] == 0)
			continue;
		rna_strbuf_printf(out, "%s%zu %s", between, fleet->signs[i],
				  rna_probe_sign_name(1u << i));
		between = ", ";
	}
	if (between[0] == ',')
		rna_strbuf_puts(out, "\n");
}

static size_t count_without_leaf(const struct rna_mesh *mesh)
{
	return RNA_COUNT(i, mesh->port_count, mesh->ports[i].leaf == RNA_MESH_NONE);
}

static void write_known(const struct rna_fleet *fleet, struct rna_strbuf *out)
{
	size_t unknown = count_without_leaf(&fleet->mesh);

	rna_strbuf_printf(out,
			  "  Known: %zu nodes report %zu ports, %zu of them with results; "
			  "%" PRIu64 " pairs answer, %" PRIu64 " lose.\n",
			  fleet->reporting, fleet->reporting_ports, fleet->judged_ports,
			  fleet->answering, fleet->losing);
	if (fleet->members > 0)
		rna_strbuf_printf(out,
				  "  The agents of the job know %" PRIu64
				  " members; %zu nodes of the job report.\n",
				  fleet->members, fleet->job_reporting);
	if (unknown > 0)
		rna_strbuf_printf(out,
				  "  The leaf of %zu of %zu ports is unknown: what their leaf or "
				  "its links do looks like a fault of the ports.\n",
				  unknown, fleet->mesh.port_count);
	if (fleet->stopped > 0)
		rna_strbuf_printf(out, "  The prober of %zu agents of the job does not run.\n",
				  fleet->stopped);
	if (!isnan(fleet->age))
		rna_strbuf_printf(out, "  The oldest scrape was %.0f seconds ago.\n", fleet->age);
}

static void write_summary(const struct report *report, struct rna_strbuf *out)
{
	switch (report->state) {
	case RNA_MESH_BLAMED:
		rna_strbuf_printf(out, "%zu %s to blame", report->blames.count,
				  report->blames.count == 1 ? "part is" : "parts are");
		break;
	case RNA_MESH_UNEXPLAINED:
		rna_strbuf_puts(out, "pairs lose probes, and no part explains them");
		break;
	case RNA_MESH_UNKNOWN:
		rna_strbuf_puts(out, "unknown, because too few ports or members have results");
		break;
	default:
		rna_strbuf_puts(out, "no pair loses probes");
	}
}

static void write_text(const struct report *report, struct rna_strbuf *out)
{
	const struct rna_fleet *fleet = report->fleet;

	rna_strbuf_printf(out, "job %s", fleet->job);
	if (fleet->group[0] != '\0')
		rna_strbuf_printf(out, ", group %s", fleet->group);
	rna_strbuf_puts(out, ": ");
	write_summary(report, out);
	rna_strbuf_puts(out, "\n");
	for (size_t i = 0; i < report->blames.count; i++)
		write_blame(report, &report->blames.list[i], out);
	write_left(report, out);
	write_other_signs(fleet, out);
	write_known(fleet, out);
}

/* -- JSON -------------------------------------------------------------------------------------- */

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static void set_name(struct rna_json_writer *writer, json_t *object, const char *key,
		     const char *const *names, size_t count, uint32_t which)
{
	if (which < count)
		rna_json_set(writer, object, key, json_string(names[which]));
}

static json_t *signs_json(struct rna_json_writer *writer, unsigned signs)
{
	json_t *ret = json_array();

	for (unsigned i = 0; i < RNA_PROBE_SIGNS; i++)
		if (signs >> i & 1)
			rna_json_append(writer, ret, json_string(rna_probe_sign_name(1u << i)));
	return ret;
}

static json_t *port_json(const struct rna_fleet *fleet, uint32_t port)
{
	return json_pack("{s:s, s:s}", "node", node_of(fleet, port), "port", fleet->ports[port]);
}

static json_t *part_json(struct rna_json_writer *writer, const struct rna_fleet *fleet,
			 const struct rna_mesh_part *part)
{
	json_t *ret = json_object();

	rna_json_set(writer, ret, "kind", json_string(rna_blame_kind_name(part->kind)));
	set_name(writer, ret, "node", fleet->nodes, fleet->mesh.node_count, part->node);
	set_name(writer, ret, "port", fleet->ports, fleet->mesh.port_count, part->port);
	set_name(writer, ret, "leaf", fleet->leaves, fleet->mesh.leaf_count, part->leaf);
	set_name(writer, ret, "other_leaf", fleet->leaves, fleet->mesh.leaf_count,
		 part->other_leaf);
	if (part->rail != RNA_PROBE_RAIL_UNKNOWN)
		rna_json_set(writer, ret, "rail", number(part->rail));
	return ret;
}

static json_t *blame_json(struct rna_json_writer *writer, const struct report *report,
			  const struct rna_blame *blame)
{
	const struct rna_fleet *fleet = report->fleet;
	json_t *ret = part_json(writer, fleet, &blame->part), *ports = json_array();
	json_t *others = json_array();

	for (uint32_t i = 0; i < blame->other_count; i++)
		rna_json_append(writer, others, part_json(writer, fleet, &blame->others[i]));
	rna_json_set(writer, ret, "or_one_of", others);
	rna_json_set(writer, ret, "losing_ports", number(blame->losing_ports));
	rna_json_set(writer, ret, "ports", number(blame->ports));
	rna_json_set(writer, ret, "losing_pairs", number(blame->losing));
	rna_json_set(writer, ret, "pairs", number(blame->pairs));
	rna_json_set(writer, ret, "explained_pairs", number(blame->explained));
	rna_json_set(writer, ret, "lost_ratio", json_real(blame->ratio));
	rna_json_set(writer, ret, "signs", signs_json(writer, blame->signs));
	for (uint32_t i = 0; i < fleet->mesh.port_count; i++)
		if (blame->part.kind != RNA_BLAME_PATH && is_listed(report, blame, i))
			rna_json_append(writer, ports, port_json(fleet, i));
	rna_json_set(writer, ret, "losing", ports);
	return ret;
}

static json_t *pair_json(const struct rna_fleet *fleet, const struct rna_mesh_pair *pair)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:f}", "node", node_of(fleet, pair->from),
			 "port", fleet->ports[pair->from], "peer", node_of(fleet, pair->to),
			 "peer_port", fleet->ports[pair->to], "sign",
			 rna_probe_sign_name(pair->sign), "lost_ratio", pair->ratio);
}

static void set_known(struct rna_json_writer *writer, const struct rna_fleet *fleet, json_t *ret)
{
	json_t *signs = json_object();

	for (unsigned i = 0; i < RNA_PROBE_SIGNS; i++)
		rna_json_set(writer, signs, rna_probe_sign_name(1u << i), number(fleet->signs[i]));
	rna_json_set(writer, ret, "pairs_by_sign", signs);
	rna_json_set(writer, ret, "nodes", number(fleet->reporting));
	rna_json_set(writer, ret, "ports", number(fleet->reporting_ports));
	rna_json_set(writer, ret, "ports_with_results", number(fleet->judged_ports));
	rna_json_set(writer, ret, "ports_without_leaf", number(count_without_leaf(&fleet->mesh)));
	rna_json_set(writer, ret, "answering_pairs", number(fleet->answering));
	rna_json_set(writer, ret, "losing_pairs", number(fleet->losing));
	rna_json_set(writer, ret, "members_of_job", number(fleet->members));
	rna_json_set(writer, ret, "nodes_of_job", number(fleet->job_reporting));
	rna_json_set(writer, ret, "probers_stopped_of_job", number(fleet->stopped));
	if (!isnan(fleet->age))
		rna_json_set(writer, ret, "oldest_scrape_seconds", json_real(fleet->age));
}

static json_t *fleet_json(struct rna_json_writer *writer, const struct report *report)
{
	json_t *ret = json_object(), *verdicts = json_array(), *left = json_array();
	const struct rna_fleet *fleet = report->fleet;

	for (size_t i = 0; i < report->blames.count; i++)
		rna_json_append(writer, verdicts,
				blame_json(writer, report, &report->blames.list[i]));
	for (size_t i = 0; i < report->blames.left_count; i++)
		rna_json_append(writer, left,
				pair_json(fleet, &fleet->mesh.pairs[report->blames.left[i]]));
	rna_json_set(writer, ret, "job", json_string(fleet->job));
	rna_json_set(writer, ret, "group", json_string(fleet->group));
	rna_json_set(writer, ret, "state", json_string(state_names[report->state]));
	rna_json_set(writer, ret, "verdicts", verdicts);
	rna_json_set(writer, ret, "unexplained", left);
	set_known(writer, fleet, ret);
	return ret;
}

/* -- Both -------------------------------------------------------------------------------------- */

static void write_nothing(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "unknown: Prometheus has no rdma_probe_port_info of such agents.\n"
			     "Is probe.enabled set, and does this Prometheus scrape the agents?\n");
}

int rna_mesh_report(const struct rna_fleets *fleets, bool json, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *root = json ? json_object() : NULL, *list = json ? json_array() : NULL;
	enum rna_mesh_state ret = fleets->count > 0 ? RNA_MESH_WELL : RNA_MESH_UNKNOWN;
	int status = 0;

	for (size_t i = 0; status == 0 && i < fleets->count; i++) {
		struct report report = {.fleet = &fleets->list[i]};

		status = rna_mesh_blame(&report.fleet->mesh, &report.blames);
		report.state = find_state(report.fleet, &report.blames);
		if (status == 0 && json)
			rna_json_append(&writer, list, fleet_json(&writer, &report));
		else if (status == 0)
			write_text(&report, out);
		rna_blames_deinit(&report.blames);
		if (weigh(report.state) > weigh(ret))
			ret = report.state;
	}
	if (json) {
		rna_json_set(&writer, root, "state", json_string(state_names[ret]));
		rna_json_set(&writer, root, "fleets", list);
		rna_json_write(&writer, root, 2, out);
	} else if (fleets->count == 0) {
		write_nothing(out);
	}
	return status < 0 || !rna_strbuf_ok(out) ? -ENOMEM : (int)ret;
}
