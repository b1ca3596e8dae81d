// SPDX-License-Identifier: Apache-2.0
/*
 * The view as JSON, for programs.
 *
 * It says what the metrics say, in the same units and the same order: members are made of the rows
 * of families.c: their name without the prefix of the scope, or their name in JSON. Only counters
 * come in the unit of their files, under the names of these, with their state.
 */
#include <errno.h>
#include <sys/types.h>

#include "rna/base/project.h"
#include "rna/base/words.h"
#include "rna/check.h"
#include "rna/exporter.h"

#include "view/card_text.h"
#include "view/facts.h"
#include "view/text.h"

#include "json_parts.h"
#include "json_writer.h"

struct document {
	struct rna_json_writer writer;
	const struct rna_subjects *subjects;
	struct rna_families *families;
};

static json_t *metric_number(const struct rna_metric *metric, uint64_t number)
{
	switch (metric->unit) {
	case RNA_METRIC_BOOLEAN:
		return json_boolean(number);
	case RNA_METRIC_SECONDS:
		return json_real(rna_seconds(number));
	default:
		return rna_json_number(number);
	}
}

static bool is_member(const struct rna_family *family, enum rna_scope scope)
{
	return family->scope == scope && family->metric.type != RNA_METRIC_INFO &&
	       rna_family_is_number(family);
}

/* The families of subject's scope that have one value, with prefix in front of their name. */
static void set_families(struct document *document, json_t *object,
			 const struct rna_subject *subject, enum rna_scope scope,
			 const char *prefix)
{
	size_t len = strlen(prefix);

	RNA_EACH (family, document->families->items, document->families->own_count) {
		struct rna_value value;

		if (!is_member(family, scope) || strncmp(family->metric.name, prefix, len) != 0)
			continue;
		value = rna_family_value(family, subject);
		if (rna_value_is_known(value))
			rna_json_set(&document->writer, object, family->metric.name + len,
				     metric_number(&family->metric, value.number));
	}
}

static void set_counters(struct rna_json_writer *writer, json_t *object, const char *name,
			 const struct rna_counter_group *group)
{
	RNA_STRBUF struct rna_strbuf clean = RNA_STRBUF_INIT; /* the name of the file */
	json_t *counters = json_object();

	for (size_t i = 0; group && i < group->count; i++) {
		const struct rna_counter_value *counter = &group->values[i];
		json_t *member = json_object();

		rna_json_set_value(writer, member, "value", counter->value);
		rna_json_set_text(writer, member, "state",
				  rna_value_state_name(counter->value.state));
		clean.len = 0;
		rna_strbuf_add_utf8(&clean, counter->file, strlen(counter->file));
		rna_json_set(writer, counters, clean.data, member);
	}
	if (group)
		rna_json_set(writer, object, name, counters);
	else
		json_decref(counters);
}

/* A table that is empty is one; where it is not known, there is no member. */
static void set_gids(struct rna_json_writer *writer, json_t *object, const struct rna_subject *port)
{
	json_t *array;

	if (!port->gids)
		return;
	array = json_array();
	for (size_t i = 0; i < port->gids->count; i++) {
		struct rna_subject gid = rna_subject_of_gid(port, i);

		rna_json_append(writer, array, rna_json_item(writer, &rna_gid_table, &gid));
	}
	rna_json_set(writer, object, "gids", array);
}

/* Times past a second matter here: what flaps does so faster. */
static void set_moment(struct rna_json_writer *writer, json_t *object, rna_usec realtime)
{
	rna_json_set_time(writer, object, "time", realtime);
	rna_json_set(writer, object, "timestamp_seconds", json_real(rna_seconds(realtime)));
}

static void set_history(struct rna_json_writer *writer, json_t *object,
			const struct rna_view_port *account)
{
	if (!account)
		return;
	rna_json_set_number(writer, object, "ups", account->history.ups);
	rna_json_set_number(writer, object, "downs", account->history.downs);
}

static json_t *port_object(struct document *document, const struct rna_subject *port)
{
	struct rna_json_writer *writer = &document->writer;
	json_t *object = rna_json_item(writer, &rna_port_table, port);

	set_families(document, object, port, RNA_SCOPE_PORT, "rdma_port_");
	set_history(writer, object, port->account);
	if (port->selftest)
		rna_json_set(writer, object, "selftest",
			     rna_selftest_summary(writer, port->selftest));
	rna_json_set_ethernet(writer, object, rna_device_ethernet(port->device), port->port);
	set_gids(writer, object, port);
	rna_json_set_qos(writer, object, rna_device_qos(port->device), port->port);
	set_counters(writer, object, "counters", port->groups[RNA_PLACE_PORT_COUNTERS]);
	set_counters(writer, object, "hw_counters", port->groups[RNA_PLACE_PORT_HW_COUNTERS]);
	rna_json_set_modules(writer, object, rna_device_modules(port->device), port->port);
	rna_json_set_optional_counters(writer, object,
				       rna_port_optional_counters(port->device, port->port));
	set_counters(writer, object, "fabric_counters", port->groups[RNA_PLACE_PORT_FABRIC]);
	for (enum rna_counter_place place = RNA_PLACE_PORT_COUNTERS_EXT; place < RNA_PLACE_COUNT;
	     place++)
		set_counters(writer, object, rna_counter_directory(place), port->groups[place]);
	rna_json_set_user_traffic(writer, object, port->account);
	rna_json_set_network(writer, object, port);
	rna_json_set_fabric(writer, object, port);
	return object;
}

static json_t *device_object(struct document *document, const struct rna_subject *device)
{
	struct rna_json_writer *writer = &document->writer;
	json_t *object = rna_json_item(writer, &rna_device_table, device);
	json_t *array = json_array();

	set_families(document, object, device, RNA_SCOPE_DEVICE, "rdma_device_");
	rna_json_set_pcie(writer, object, device->pcie);
	rna_json_set_virtual_functions(writer, object, rna_device_virtual_functions(device->device),
				       device->view->metrics.virtual_functions);
	rna_json_set_resources(writer, object, rna_device_resources(device->device));
	set_counters(writer, object, "hw_counters", device->groups[RNA_PLACE_DEVICE_HW_COUNTERS]);
	for (size_t i = 0; i < device->rdma_device->port_count; i++)
		rna_json_append(writer, array, port_object(document, &device->ports[i]));
	rna_json_set(writer, object, "ports", array);
	return object;
}

static json_t *device_array(struct document *document)
{
	const struct rna_subject_list *devices = &document->subjects->scopes[RNA_SCOPE_DEVICE];
	json_t *array = json_array();

	for (size_t i = 0; i < devices->count; i++)
		rna_json_append(&document->writer, array,
				device_object(document, &devices->items[i]));
	return array;
}

/* A port with its cable; all else of it stands with its device. */
static json_t *card_port_object(struct rna_json_writer *writer, const struct rna_subject *port)
{
	json_t *object = json_object();

	rna_json_set_text(writer, object, "device", port->rdma_device->name);
	rna_json_set(writer, object, "port", json_integer(port->port));
	if (port->peer) {
		rna_json_set_text(writer, object, "peer", port->peer->name);
		rna_json_set_text(writer, object, "peer_port", port->peer->port);
	}
	return object;
}

static json_t *card_function_object(struct document *document,
				    const struct rna_card_function *function)
{
	const struct rna_subject_list *devices = &document->subjects->scopes[RNA_SCOPE_DEVICE];
	struct rna_json_writer *writer = &document->writer;
	json_t *object = json_object();

	rna_json_set_text(writer, object, "pci_address", function->address);
	if (function->device != RNA_NO_DEVICE)
		rna_json_set_text(writer, object, "device",
				  devices->items[function->device].rdma_device->name);
	return object;
}

static void set_card_counts(struct rna_json_writer *writer, json_t *object,
			    const struct rna_card_ports *ports)
{
	rna_json_set_number(writer, object, "ports_up", ports->up);
	rna_json_set_number(writer, object, "ports_unwired", ports->unwired);
	rna_json_set_value(writer, object, "planes", ports->planes);
	rna_json_set_value(writer, object, "planes_up", ports->planes_up);
}

static json_t *card_object(struct document *document, const struct rna_subject *subject)
{
	struct rna_json_writer *writer = &document->writer;
	json_t *object = rna_json_item(writer, &rna_card_table, subject);
	json_t *functions = json_array(), *devices = json_array(), *ports = json_array();
	struct rna_card_ports counts = rna_card_count_ports(document->subjects, subject->card);
	struct rna_card_cursor next = RNA_CARD_CURSOR_INIT;
	const struct rna_subject *port;

	for (size_t i = 0; i < subject->card->function_count; i++)
		rna_json_append(writer, functions,
				card_function_object(document, &subject->card->functions[i]));
	for (size_t i = 0; i < subject->card->device_count; i++) {
		const struct rna_subject *device = &document->subjects->scopes[RNA_SCOPE_DEVICE]
							    .items[subject->card->devices[i]];

		rna_json_append(writer, devices, rna_json_text(writer, device->rdma_device->name));
	}
	while ((port = rna_card_next_port(document->subjects, subject->card, &next)))
		rna_json_append(writer, ports, card_port_object(writer, port));
	set_card_counts(writer, object, &counts);
	rna_json_set(writer, object, "functions", functions);
	rna_json_set(writer, object, "devices", devices);
	rna_json_set(writer, object, "ports", ports);
	return object;
}

static json_t *card_array(struct document *document)
{
	const struct rna_subject_list *cards = &document->subjects->scopes[RNA_SCOPE_CARD];
	json_t *array = json_array();

	for (size_t i = 0; i < cards->count; i++)
		rna_json_append(&document->writer, array, card_object(document, &cards->items[i]));
	return array;
}

static json_t *job_object(struct document *document, const struct rna_subject *job)
{
	struct rna_json_writer *writer = &document->writer;
	json_t *object = json_object(), *errors = json_object();

	rna_json_set_text(writer, object, "collector", job->job->name);
	rna_json_set_text(writer, object, "device", job->job->device);
	set_families(document, object, job, RNA_SCOPE_JOB, "rdma_collector_");
	for (enum rna_reason reason = 0; reason < RNA_REASON_COUNT; reason++) {
		uint64_t count = rna_job_errors(job->job, reason);

		if (count > 0)
			rna_json_set_number(writer, errors, rna_reason_name(reason), count);
	}
	rna_json_set(writer, object, "errors", errors);
	return object;
}

/* How many jobs there are in each state. */
static void set_job_counts(struct rna_json_writer *writer, json_t *agent,
			   const struct rna_view *view)
{
	uint64_t counts[RNA_JOB_STATE_COUNT] = {0};
	json_t *object = json_object();

	for (size_t i = 0; i < view->job_count; i++)
		counts[rna_job_state(&view->jobs[i])]++;
	for (enum rna_job_state state = 0; state < RNA_JOB_STATE_COUNT; state++)
		rna_json_set_number(writer, object, rna_job_state_name(state), counts[state]);
	rna_json_set(writer, agent, "jobs", object);
}

static json_t *job_array(struct document *document)
{
	const struct rna_view *view = document->subjects->scopes[RNA_SCOPE_NODE].items[0].view;
	json_t *array = json_array();

	for (size_t i = 0; i < view->job_count; i++) {
		struct rna_subject job = rna_subject_of_job(view, i);

		rna_json_append(&document->writer, array, job_object(document, &job));
	}
	return array;
}

static void set_port_change(struct rna_json_writer *writer, json_t *object,
			    const struct rna_change *change)
{
	rna_json_set_text(writer, object, "netdev", change->netdev);
	rna_json_set_text(writer, object, "state", rna_change_name(change->what));
	rna_json_set_number(writer, object, "count", change->count);
	rna_json_set_text(writer, object, "source", rna_source_name(change->source));
	rna_json_set_text(writer, object, "reason", change->text);
}

static void set_finding_change(struct rna_json_writer *writer, json_t *object,
			       const struct rna_change *change)
{
	rna_json_set_text(writer, object, "rule", change->rule);
	rna_json_set_text(writer, object, "severity", rna_severity_name(change->severity));
	rna_json_set_text(writer, object, "impact", rna_impact_name(change->impact));
	rna_json_set_text(writer, object, "cause", rna_cause_name(change->cause));
	rna_json_set_time(writer, object, "since", change->since);
}

static json_t *event_object(struct rna_json_writer *writer, const struct rna_change *change)
{
	enum rna_change_kind kind = rna_change_kind_of(change->what);
	json_t *object = json_object();

	rna_json_set_number(writer, object, "sequence", change->sequence);
	set_moment(writer, object, change->time.realtime);
	rna_json_set_text(writer, object, "kind", rna_change_kind_name(kind));
	rna_json_set_text(writer, object, "device", change->device);
	if (change->port > 0)
		rna_json_set(writer, object, "port", json_integer(change->port));
	if (kind == RNA_CHANGE_OF_PORT) {
		set_port_change(writer, object, change);
		return object;
	}
	rna_json_set_text(writer, object, "change", rna_change_name(change->what));
	if (kind == RNA_CHANGE_OF_FINDING)
		set_finding_change(writer, object, change);
	rna_json_set_text(writer, object, "text", change->text);
	return object;
}

static json_t *events_object(struct rna_json_writer *writer, const struct rna_view *view)
{
	json_t *object = json_object(), *array = json_array();

	rna_json_set_time(writer, object, "time", view->snapshot->time.realtime);
	for (size_t i = 0; i < view->change_count; i++)
		rna_json_append(writer, array, event_object(writer, &view->changes[i]));
	rna_json_set(writer, object, "events", array);
	return object;
}

static json_t *finding_array(struct rna_json_writer *writer, const struct rna_view *view)
{
	json_t *array = json_array();

	RNA_EACH (finding, view->findings, view->finding_count) {
		json_t *item = rna_json_item(writer, &rna_finding_table, finding);
		json_t *others = finding->other_count > 0 ? json_array() : NULL;

		for (size_t k = 0; k < finding->other_count; k++)
			rna_json_append(writer, others, rna_json_text(writer, finding->others[k]));
		if (others)
			rna_json_set(writer, item, "other_devices", others);
		rna_json_append(writer, array, item);
	}
	return array;
}

static json_t *profile_object(struct rna_json_writer *writer,
			      const struct rna_profile_status *profile)
{
	json_t *object = json_object();

	rna_json_set_text(writer, object, "name", profile->name);
	rna_json_set_text(writer, object, "source", profile->source);
	rna_json_set_text(writer, object, "use", profile->alarms ? "findings" : "information");
	if (profile->problem)
		rna_json_set_text(writer, object, "problem", profile->problem);
	return object;
}

/* Without a log, or where none is wanted, there is no such member. */
static void set_kernel_log(struct document *document, json_t *object,
			   const struct rna_subject *node)
{
	const struct rna_kernel_log *log = rna_snapshot_kernel_log(node->view->snapshot);
	json_t *member;

	if (!log || (log->source == RNA_KERNEL_LOG_NONE && log->error == 0))
		return;
	member = json_object();
	set_families(document, member, node, RNA_SCOPE_NODE, "rdma_kernel_log_");
	rna_json_set_kernel_log(&document->writer, member, node->view->snapshot);
	rna_json_set(&document->writer, object, "kernel_log", member);
}

static json_t *node_object(struct document *document, const struct rna_view *view)
{
	struct rna_json_writer *writer = &document->writer;
	const struct rna_subject *node = &document->subjects->scopes[RNA_SCOPE_NODE].items[0];
	const struct rna_topology *topology = rna_snapshot_topology(view->snapshot);
	json_t *object = json_object(), *agent = json_object(), *process = json_object();

	rna_json_set_time(writer, object, "time", view->snapshot->time.realtime);
	rna_json_set_text(writer, agent, "version", RNA_VERSION);
	rna_json_set_text(writer, agent, "root", view->agent.root);
	rna_json_set(writer, agent, "live", json_boolean(view->agent.live));
	if (view->agent.seccomp)
		rna_json_set_text(writer, agent, "seccomp", view->agent.seccomp);
	if (view->agent.quiesced)
		rna_json_set_text(writer, agent, "quiesced_because", view->agent.quiesced);
	set_families(document, agent, node, RNA_SCOPE_NODE, "rdma_agent_");
	set_job_counts(writer, agent, view);
	rna_json_set(writer, object, "agent", agent);
	set_families(document, process, node, RNA_SCOPE_NODE, "process_");
	rna_json_set(writer, object, "process", process);
	if (view->profile.name || view->profile.problem)
		rna_json_set(writer, object, "profile", profile_object(writer, &view->profile));
	rna_json_set_readiness(writer, object, rna_snapshot_readiness(view->snapshot));
	rna_json_set_neighbours(writer, object, rna_snapshot_gateways(view->snapshot));
	rna_json_set(writer, object, "findings", finding_array(writer, view));
	set_kernel_log(document, object, node);
	rna_json_set(writer, object, "collectors", job_array(document));
	rna_json_set(writer, object, "cards", card_array(document));
	rna_json_set(writer, object, "devices", device_array(document));
	rna_json_set(writer, object, "missing_devices",
		     rna_json_items(writer, &rna_missing_table, view->missing, view->missing_count,
				    sizeof(*view->missing)));
	if (topology)
		rna_json_set(writer, object, "topology",
			     rna_json_topology(writer, topology, view->cards));
	return object;
}

void rna_write_json(const struct rna_view *view, struct rna_strbuf *out)
{
	struct document document = {.subjects = view->subjects, .families = rna_families_new()};

	if (document.families)
		rna_json_write(&document.writer, node_object(&document, view), RNA_JSON_INDENT,
			       out);
	else
		out->failed = true;
	(void)rna_families_free(document.families);
}

void rna_write_events_json(const struct rna_view *view, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};

	rna_json_write(&writer, events_object(&writer, view), RNA_JSON_INDENT, out);
}

/* -- Findings alone ---------------------------------------------------------------------------- */

/* Members of the document, and where the number of each is. */
static const struct {
	const char *name;
	size_t offset;
} inventory_fields[] = {
	{"devices", offsetof(struct rna_inventory, devices)},
	{"devices_missing", offsetof(struct rna_inventory, missing)},
	{"ports", offsetof(struct rna_inventory, ports)},
	{"ports_up", offsetof(struct rna_inventory, up)},
	{"ports_expected_up", offsetof(struct rna_inventory, expected)},
	{"ports_unread", offsetof(struct rna_inventory, unread)},
};

static size_t *inventory_field(struct rna_inventory *inventory, size_t i)
{
	return (size_t *)((char *)inventory + inventory_fields[i].offset);
}

static struct rna_inventory take_inventory(const struct rna_view *view)
{
	const struct rna_subject_list *ports = rna_view_ports(view);
	struct rna_inventory found = {
		.known = true,
		.devices = view->snapshot->device_count,
		.missing = view->missing_count,
	};

	for (size_t i = 0; i < ports->count; i++) {
		if (ports->items[i].represents)
			continue;
		found.ports++;
		found.up += rna_subject_is_active(&ports->items[i]);
		found.unread += !rna_subject_state_is_known(&ports->items[i]);
		found.expected += rna_subject_expected(&ports->items[i]) == RNA_EXPECTED_UP;
	}
	return found;
}

static json_t *inventory_object(struct rna_json_writer *writer, struct rna_inventory *inventory)
{
	json_t *object = json_object();

	for (size_t i = 0; i < RNA_ARRAY_SIZE(inventory_fields); i++)
		rna_json_set(writer, object, inventory_fields[i].name,
			     rna_json_number(*inventory_field(inventory, i)));
	return object;
}

static json_t *findings_object(struct rna_json_writer *writer, const struct rna_view *view)
{
	json_t *object = json_object(), *counts = json_object();
	struct rna_check check = {view->findings, view->finding_count, take_inventory(view)};

	rna_json_set_time(writer, object, "time", view->snapshot->time.realtime);
	if (!view->agent.live && view->agent.root)
		rna_json_set_text(writer, object, "recording", view->agent.root);
	rna_json_set_text(writer, object, "state", rna_health_state_name(rna_check_state(&check)));
	rna_json_set(writer, object, "inventory", inventory_object(writer, &check.inventory));
	for (enum rna_severity severity = 0; severity < RNA_SEVERITY_COUNT; severity++)
		rna_json_set_number(writer, counts, rna_severity_name(severity),
				    rna_finding_count(view->findings, view->finding_count,
						      severity));
	rna_json_set(writer, object, "counts", counts);
	rna_json_set(writer, object, "findings", finding_array(writer, view));
	return object;
}

void rna_write_findings(const struct rna_view *view, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};

	rna_json_write(&writer, findings_object(&writer, view), RNA_JSON_INDENT, out);
}

#define READ_WORD(object, name, member, word_of, words)                                            \
	RNA_FIND_WORD(json_string_value(json_object_get(object, name)), member, word_of, words)

/* A text member, in arena; NULL when there is none, or no memory. */
static const char *get_text(const json_t *object, const char *name, struct rna_arena *arena)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? rna_arena_strdup(arena, text) : NULL;
}

static bool read_finding(const json_t *object, struct rna_arena *arena, struct rna_finding *ret)
{
	*ret = (struct rna_finding){
		.rule = get_text(object, "rule", arena),
		.silenced = json_is_true(json_object_get(object, "silenced")),
		.device = get_text(object, "device", arena),
		.port = (unsigned)json_integer_value(json_object_get(object, "port")),
		.text = get_text(object, "text", arena),
		.remedy = get_text(object, "remedy", arena),
		.runbook = get_text(object, "runbook", arena),
	};
	READ_WORD(object, "severity", ret->severity, rna_severity_name, RNA_SEVERITY_COUNT);
	/* An agent of an earlier version does not say them: what is critical takes the node. */
	READ_WORD(object, "impact", ret->impact, rna_impact_name, RNA_IMPACT_COUNT);
	READ_WORD(object, "cause", ret->cause, rna_cause_name, RNA_CAUSE_COUNT);
	ret->since.realtime =
		rna_text_parse_time(json_string_value(json_object_get(object, "since")));
	return ret->rule && ret->severity < RNA_SEVERITY_COUNT && ret->text && ret->remedy;
}

static ssize_t read_findings(const json_t *array, struct rna_arena *arena,
			     const struct rna_finding **ret)
{
	struct rna_finding *findings;
	size_t count = json_array_size(array);

	if (!json_is_array(array))
		return -EBADMSG;
	findings = rna_arena_array(arena, count + 1, sizeof(*findings));
	if (!findings)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (!read_finding(json_array_get(array, i), arena, &findings[i]))
			return -EBADMSG;
	*ret = findings;
	return (ssize_t)count;
}

/* Not known if a member is missing or cannot be a number of objects. */
static struct rna_inventory read_inventory(const json_t *object)
{
	struct rna_inventory inventory = {.known = true};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(inventory_fields); i++) {
		const json_t *number = json_object_get(object, inventory_fields[i].name);

		if (!json_is_integer(number) || json_integer_value(number) < 0)
			return (struct rna_inventory){0};
		*inventory_field(&inventory, i) = (size_t)json_integer_value(number);
	}
	return inventory;
}

int rna_read_check(const char *json, size_t len, struct rna_arena *arena, struct rna_check *ret)
{
	/* A finding takes some 3 KiB */
	static const struct rna_json_limits limits = {
		.memory = 64 << 20,
		.levels = 16,
		.flags = JSON_REJECT_DUPLICATES,
	};
	RNA_CLEANUP(rna_json_free_p) json_t *document = NULL;
	int status = rna_json_parse(json, len, &limits, &document, NULL);
	ssize_t count;

	if (status < 0)
		return status;
	count = read_findings(json_object_get(document, "findings"), arena, &ret->findings);
	if (count < 0)
		return (int)count;
	ret->count = (size_t)count;
	ret->inventory = read_inventory(json_object_get(document, "inventory"));
	ret->time = rna_text_parse_time(json_string_value(json_object_get(document, "time")));
	ret->recording = get_text(document, "recording", arena);
	return 0;
}

void rna_write_check_failure(const char *failure, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *object = json_object();

	rna_json_set_text(&writer, object, "state", rna_health_state_name(RNA_HEALTH_UNKNOWN));
	rna_json_set_text(&writer, object, "error", failure);
	rna_json_write(&writer, object, RNA_JSON_INDENT, out);
}
