// SPDX-License-Identifier: Apache-2.0
/*
 * Probes between nodes as JSON: what a peer needs to know to probe this node, and everything that
 * is known of each pair.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rna/exporter.h"

#include "json_parts.h"

enum {
	UNKNOWN = 255,
	SESSION_SIZE = 17,
};

/* Also where it is empty: a peer wants it. */
static void set_text(struct rna_json_writer *writer, json_t *object, const char *name,
		     const char *text)
{
	rna_json_set(writer, object, name, rna_json_text(writer, text ? text : ""));
}

static void set_session(struct rna_json_writer *writer, json_t *object, uint64_t session)
{
	char text[SESSION_SIZE];

	(void)snprintf(text, sizeof(text), "%016" PRIx64, session);
	rna_json_set_text(writer, object, "session", text);
}

/* -- Ports ------------------------------------------------------------------------------------- */

static void set_address(struct rna_json_writer *writer, json_t *object,
			const struct rna_probe_address *address)
{
	char gid[INET6_ADDRSTRLEN] = "";
	json_t *qpns = json_array();

	(void)inet_ntop(AF_INET6, address->gid, gid, sizeof(gid));
	rna_json_set_text(writer, object, "gid", gid);
	rna_json_set_number(writer, object, "lid", address->lid);
	rna_json_set_number(writer, object, "mtu", address->mtu);
	for (unsigned i = 0; i < address->qpn_count; i++)
		rna_json_append(writer, qpns, rna_json_number(address->qpns[i]));
	rna_json_set(writer, object, "qpns", qpns);
}

static void set_source(struct rna_json_writer *writer, json_t *object,
		       const struct rna_probe_flood *flood)
{
	static const uint8_t none[sizeof(flood->gid)];
	char gid[INET6_ADDRSTRLEN] = "";
	json_t *source = json_object();

	if (memcmp(flood->gid, none, sizeof(none)) != 0 &&
	    inet_ntop(AF_INET6, flood->gid, gid, sizeof(gid)))
		rna_json_set_text(writer, source, "gid", gid);
	if (flood->lid != 0)
		rna_json_set_number(writer, source, "lid", flood->lid);
	rna_json_set_number(writer, source, "qpn", flood->qpn);
	rna_json_set(writer, object, "claimed_source", source);
}

static json_t *describe_pauses(struct rna_json_writer *writer,
			       const struct rna_probe_pauses *pauses)
{
	json_t *object = json_object();

	rna_json_set_number(writer, object, "count", pauses->count);
	rna_json_set_time(writer, object, "since", pauses->since);
	rna_json_set_time(writer, object, "until", pauses->until);
	rna_json_set_number(writer, object, "packets_refused", pauses->flood.packets);
	rna_json_set(writer, object, "within_seconds",
		     json_real((double)pauses->flood.nanoseconds / 1e9));
	set_source(writer, object, &pauses->flood);
	return object;
}

static json_t *describe_port(struct rna_json_writer *writer, const struct rna_probe_port *port)
{
	json_t *object = json_object();

	rna_json_set_text(writer, object, "device", port->device);
	rna_json_set_number(writer, object, "port", port->port);
	rna_json_set_text(writer, object, "use", rna_probe_use_name(port->use));
	rna_json_set_text(writer, object, "link_layer",
			  port->infiniband ? "infiniband" : "ethernet");
	if (port->use == RNA_PROBE_OPEN) {
		set_session(writer, object, port->session);
		set_address(writer, object, &port->address);
	}
	if (port->rail != RNA_PROBE_RAIL_UNKNOWN)
		rna_json_set_number(writer, object, "rail", port->rail);
	set_text(writer, object, "leaf", port->leaf);
	return object;
}

static const char *why_stopped(const struct rna_view *view)
{
	return rna_probes_why_stopped(view->probes, view->snapshot->time.monotonic);
}

void rna_write_probe_json(const struct rna_view *view, struct rna_strbuf *out)
{
	const struct rna_probes *probes = view->probes;
	struct rna_json_writer writer = {0};
	json_t *document = json_object(), *ports = json_array();
	const char *why = why_stopped(view);
	unsigned tcp_port = view->bandwidths ? view->bandwidths->tcp_port : 0;

	rna_json_set_number(&writer, document, "version", RNA_PROBE_VERSION);
	set_text(&writer, document, "node", view->agent.name);
	set_text(&writer, document, "group", probes ? probes->group : "");
	set_text(&writer, document, "key_check", probes ? probes->key_check : "");
	rna_json_set_text(&writer, document, "state", why ? "stopped" : "running");
	set_text(&writer, document, "why", why);
	rna_json_set(&writer, document, "late",
		     json_boolean(rna_probes_are_late(probes, view->snapshot->time.monotonic)));
	rna_json_set(&writer, document, "bandwidth", json_boolean(tcp_port > 0));
	if (tcp_port > 0)
		rna_json_set_number(&writer, document, "bandwidth_port", tcp_port);
	for (size_t i = 0; !why && i < probes->port_count; i++)
		rna_json_append(&writer, ports, describe_port(&writer, &probes->ports[i]));
	rna_json_set(&writer, document, "ports", ports);
	rna_json_write(&writer, document, RNA_JSON_INDENT, out);
}

/* -- Pairs ------------------------------------------------------------------------------------- */

static json_t *describe_counts(struct rna_json_writer *writer,
			       const struct rna_probe_counts *counts)
{
	struct rna_probe_counts copy = *counts;
	json_t *object = json_object();

	for (size_t i = 0; i < RNA_PROBE_COUNTS; i++)
		rna_json_set_number(writer, object, rna_probe_count_name(i),
				    *rna_probe_count_of(&copy, i));
	return object;
}

static void set_seconds(struct rna_json_writer *writer, json_t *object, const char *name,
			uint64_t nanoseconds)
{
	if (nanoseconds > 0)
		rna_json_set(writer, object, name, json_real((double)nanoseconds / 1e9));
}

static void set_byte(struct rna_json_writer *writer, json_t *object, const char *name,
		     uint8_t value)
{
	if (value != UNKNOWN)
		rna_json_set_number(writer, object, name, value);
}

static json_t *describe_way(struct rna_json_writer *writer, const struct rna_probe_way *way)
{
	json_t *object = json_object();

	set_byte(writer, object, "dscp", way->dscp);
	set_byte(writer, object, "ecn", way->ecn);
	set_byte(writer, object, "hop_limit", way->hop_limit);
	return object;
}

static void set_peer(struct rna_json_writer *writer, json_t *object,
		     const struct rna_probe_pair *pair)
{
	rna_json_set_text(writer, object, "peer", pair->peer);
	if (pair->peer_device[0] == '\0')
		return; /* it has not said */
	rna_json_set_text(writer, object, "peer_device", pair->peer_device);
	rna_json_set_number(writer, object, "peer_port", pair->peer_port);
	if (pair->peer_rail != RNA_PROBE_RAIL_UNKNOWN)
		rna_json_set_number(writer, object, "peer_rail", pair->peer_rail);
	if (pair->peer_leaf[0] != '\0')
		rna_json_set_text(writer, object, "peer_leaf", pair->peer_leaf);
}

static json_t *describe_signs(struct rna_json_writer *writer, unsigned signs)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < RNA_PROBE_SIGNS; i++)
		if (signs & 1u << i)
			rna_json_append(writer, list, json_string(rna_probe_sign_name(1u << i)));
	return list;
}

static json_t *describe_pair(struct rna_json_writer *writer, const struct rna_probe_pair *pair)
{
	json_t *object = json_object();

	rna_json_set_text(writer, object, "device", pair->device);
	rna_json_set_number(writer, object, "port", pair->port);
	set_peer(writer, object, pair);
	rna_json_set_text(writer, object, "scope", rna_probe_scope_name(pair->scope));
	rna_json_set_text(writer, object, "state", rna_probe_state_name(pair->state));
	if (pair->text[0] != '\0')
		rna_json_set_text(writer, object, "text", pair->text);
	rna_json_set(writer, object, "signs", describe_signs(writer, pair->signs));
	if (pair->some_paths != 0)
		rna_json_set(writer, object, "some_paths",
			     describe_signs(writer, pair->some_paths));
	if (pair->since > 0)
		rna_json_set_time(writer, object, "since", pair->since);
	if (pair->last_answer > 0)
		rna_json_set_time(writer, object, "last_answer", pair->last_answer);
	rna_json_set(writer, object, "total", describe_counts(writer, &pair->total));
	rna_json_set(writer, object, "recent", describe_counts(writer, &pair->recent));
	set_seconds(writer, object, "rtt_median_seconds", pair->rtt_median);
	set_seconds(writer, object, "rtt_p99_seconds", pair->rtt_p99);
	set_seconds(writer, object, "rtt_usual_seconds", pair->rtt_usual);
	set_byte(writer, object, "dscp_sent", pair->dscp_sent);
	rna_json_set(writer, object, "there", describe_way(writer, &pair->there));
	rna_json_set(writer, object, "back", describe_way(writer, &pair->back));
	set_byte(writer, object, "hop_limit_usual", pair->hops_usual);
	return object;
}

static json_t *describe_own_port(struct rna_json_writer *writer, const struct rna_probe_port *port)
{
	json_t *object = describe_port(writer, port), *verdict = json_object();

	if (port->text[0] != '\0')
		rna_json_set_text(writer, object, "text", port->text);
	if (port->pauses.count > 0)
		rna_json_set(writer, object, "pauses", describe_pauses(writer, &port->pauses));
	rna_json_set(writer, object, "hardware_times", json_boolean(port->hardware_times));
	rna_json_set_text(writer, verdict, "verdict", rna_probe_verdict_name(port->verdict));
	if (port->since > 0)
		rna_json_set_time(writer, verdict, "since", port->since);
	rna_json_set_number(writer, verdict, "pairs_bad", port->pairs_bad);
	rna_json_set_number(writer, verdict, "pairs_judged", port->pairs_judged);
	rna_json_set(writer, verdict, "window", describe_counts(writer, &port->window));
	rna_json_set(writer, verdict, "window_seconds",
		     json_real(rna_seconds(port->window_length)));
	rna_json_set(writer, object, "judgement", verdict);
	return object;
}

static json_t *describe_source(struct rna_json_writer *writer,
			       const struct rna_probe_source *source)
{
	json_t *object = json_object();

	if (source->name[0] != '\0') {
		rna_json_set_text(writer, object, "source", source->kind);
		rna_json_set_text(writer, object, "name", source->name);
	}
	if (source->error)
		rna_json_set_text(writer, object, "error", source->error);
	if (source->looked > 0)
		rna_json_set_time(writer, object, "read", source->looked);
	rna_json_set_number(writer, object, "members", source->members);
	return object;
}

void rna_write_probes_json(const struct rna_view *view, struct rna_strbuf *out)
{
	const struct rna_probes *probes = view->probes;
	const char *why = why_stopped(view);
	enum rna_probes_result result = rna_probes_result(probes, view->snapshot->time.monotonic);
	struct rna_json_writer writer = {0};
	json_t *document = json_object(), *ports = json_array(), *pairs = json_array();
	json_t *strangers = json_object();

	rna_json_set(&writer, document, "enabled", json_boolean(probes != NULL));
	rna_json_set_text(&writer, document, "state", why ? "stopped" : "running");
	if (why)
		rna_json_set_text(&writer, document, "why", why);
	rna_json_set_text(&writer, document, "result", rna_probes_result_name(result));
	if (probes) {
		rna_json_set_number(&writer, document, "restarts", probes->restarts);
		rna_json_set_text(&writer, document, "priority",
				  rna_probe_priority_name(probes->priority));
		rna_json_set_number(&writer, document, "ports_without_leaf",
				    rna_probes_without_leaf(probes));
		rna_json_set(&writer, document, "members",
			     describe_source(&writer, &probes->source));
	}
	for (enum rna_probe_stranger i = 0; probes && i < RNA_STRANGER_COUNT; i++)
		rna_json_set_number(&writer, strangers, rna_probe_stranger_name(i),
				    probes->strangers[i]);
	for (size_t i = 0; probes && i < probes->port_count; i++)
		rna_json_append(&writer, ports, describe_own_port(&writer, &probes->ports[i]));
	for (size_t i = 0; probes && i < probes->pair_count; i++)
		rna_json_append(&writer, pairs, describe_pair(&writer, &probes->pairs[i]));
	rna_json_set(&writer, document, "strangers", strangers);
	rna_json_set(&writer, document, "ports", ports);
	rna_json_set(&writer, document, "pairs", pairs);
	if (view->bandwidths)
		rna_json_set(&writer, document, "bandwidth",
			     rna_bandwidth_summary(&writer, view->bandwidths));
	rna_json_write(&writer, document, RNA_JSON_INDENT, out);
}
