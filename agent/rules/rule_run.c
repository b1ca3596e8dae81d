// SPDX-License-Identifier: Apache-2.0
/*
 * Running a rule: which subjects it is checked for, when its result is unknown, and how the
 * findings of a check function are completed with object, severity and remedy.
 */
#include <stdarg.h>

#include "settings/settings.h"

#include "past.h"
#include "pcie_demand.h"
#include "rails.h"
#include "remedy.h"
#include "rules.h"

/* Room for one more at the end; NULL: no memory. */
static struct rna_find *next_find(struct rna_finds *out)
{
	struct rna_find *items = out->items;
	size_t size = out->size ? out->size * 2 : 32;

	if (out->count == out->size) {
		items = reallocarray(out->items, size, sizeof(*items));
		if (!items)
			return NULL;
		out->items = items;
		out->size = size;
	}
	return &items[out->count];
}

static struct rna_find *add_find(struct rna_finds *out)
{
	const struct rna_subject *subject = out->subject;
	struct rna_find *find = next_find(out);

	if (!find) {
		out->failed = true;
		return NULL;
	}
	*find = (struct rna_find){
		.rule = out->number,
		.key = subject ? subject->device->device->key : NULL,
		.link_layer = subject ? subject->link_layer : RNA_LINK_LAYER_UNKNOWN,
		.finding =
			{
				.rule = out->rule->name,
				.severity = out->rule->severity,
				.impact = out->rule->impact,
				.cause = out->rule->cause,
				.device = subject ? subject->device->device->name : NULL,
				.port = subject ? subject->port : 0,
				.remedy = out->rule->remedy,
			},
	};
	out->count++;
	return find;
}

static const char *with_object(struct rna_arena *arena, const struct rna_finding *finding,
			       const char *text)
{
	if (!finding->device)
		return rna_arena_strdup(arena, text);
	if (finding->port == 0)
		return rna_arena_printf(arena, "%s: %s", finding->device, text);
	return rna_arena_printf(arena, "%s/%u: %s", finding->device, finding->port, text);
}

struct rna_finding *rna_finds_add(struct rna_finds *out, const char *format, ...)
{
	struct rna_find *find = add_find(out);
	RNA_FREE char *text = NULL;
	va_list args;
	int len;

	if (!find)
		return &out->spare;
	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		text = NULL;
	else
		find->finding.text = with_object(out->arena, &find->finding, text);
	if (!find->finding.text) {
		out->failed = true;
		out->count--;
	}
	return &find->finding; /* behind the end it is still ours */
}

void rna_finds_share_cause(struct rna_finds *out, const char *cause)
{
	if (!out->failed && out->count > 0)
		out->items[out->count - 1].fold = cause;
}

void rna_finds_add_unknown(struct rna_finds *out)
{
	struct rna_find *find = add_find(out);

	if (find)
		find->unknown = true;
}

/* -- Remedies ---------------------------------------------------------------------------------- */

const char *rna_rule_fill_remedy(const char *remedy, const struct rna_remedy_place *place,
				 struct rna_arena *arena)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char *filled = NULL;

	if (!strchr(remedy, '{'))
		return remedy;
	rna_remedy_write(remedy, place, &text);
	if (rna_strbuf_ok(&text) && text.len > 0)
		filled = rna_arena_strdup(arena, text.data);
	return filled ? filled : "See the runbook of this rule.";
}

static void set_interface(const struct rna_rule_input *in, const struct rna_netdev *netdev,
			  struct rna_remedy_place *place)
{
	const struct rna_netdev *bond =
		rna_netdevs_bond_of(rna_snapshot_netdevs(in->view->snapshot), netdev);

	if (!netdev)
		return;
	place->netdev = netdev->name;
	place->interface = bond ? bond->name : netdev->name;
	place->traits |=
		(bond ? RNA_REMEDY_BONDED : 0) | (netdev->representor ? RNA_REMEDY_REPRESENTOR : 0);
}

/* A device as a whole has the interface of its first port. */
struct rna_remedy_place rna_rule_place_of(const struct rna_rule_input *in,
					  const struct rna_subject *subject)
{
	const struct rna_device *device = subject ? subject->device->device : NULL;
	struct rna_remedy_place place = {0};

	rna_remedy_place_set_node(&place, rna_snapshot_readiness(in->view->snapshot));
	if (!subject)
		return place;
	place.device = device->name;
	place.port = subject->port;
	place.pci_address = device->pci_address;
	rna_remedy_place_set_driver(&place, rna_driver_named(device->driver));
	rna_remedy_place_set_function(&place, device->function);
	rna_remedy_place_set_link_layer(&place, subject->link_layer);
	set_interface(in,
		      subject->port == 0 && subject->ports ? subject->ports->netdev
							   : subject->netdev,
		      &place);
	return place;
}

struct rna_remedy_place rna_rule_place_at(const struct rna_rule_input *in, const char *address)
{
	const struct rna_topology *topology = rna_snapshot_topology(in->view->snapshot);
	struct rna_remedy_place place = rna_rule_place_of(in, NULL);
	const struct rna_pci_object *object;
	const struct rna_nic *nic;

	place.pci_address = address;
	nic = rna_topology_nic_at(topology, address);
	if (!nic)
		return place;
	object = &topology->objects[nic->object];
	rna_remedy_place_set_driver(&place, rna_driver_of(nic->driver, object->vendor_id,
							  object->device_id));
	if (rna_driver_takes_as_virtual(object->vendor_id, object->device_id))
		rna_remedy_place_set_function(&place, RNA_FUNCTION_VF);
	return place;
}

static void fill_remedies(const struct rna_rule_input *in, size_t first, struct rna_finds *out)
{
	struct rna_remedy_place place;

	if (first == out->count)
		return; /* nearly always */
	place = rna_rule_place_of(in, in->subject);
	for (size_t i = first; i < out->count; i++)
		if (!out->items[i].unknown)
			out->items[i].finding.remedy =
				rna_rule_fill_remedy(out->items[i].finding.remedy, &place,
						     out->arena);
}

void rna_finds_name_runbooks(struct rna_finds *finds)
{
	for (size_t i = 0; i < finds->count; i++) {
		struct rna_find *find = &finds->items[i];

		if (find->unknown)
			continue;
		find->finding.runbook = rna_rule_find_runbook(find->finding.rule, find->link_layer,
							      find->finding.severity);
	}
}

/* -- Users ------------------------------------------------------------------------------------- */

/* The first question about a fault is whom it hits. */
static void name_users(const struct rna_subject *subject, size_t first, struct rna_finds *out)
{
	const struct rna_users *users = rna_device_users(subject->device);
	RNA_STRBUF struct rna_strbuf names = RNA_STRBUF_INIT;

	if (first == out->count)
		return; /* nearly always */
	rna_users_describe(users, &names);
	out->failed |= names.failed;
	for (size_t i = first; names.len > 0 && !names.failed && i < out->count; i++) {
		struct rna_finding *finding = &out->items[i].finding;
		const char *text;

		if (out->items[i].unknown || finding->severity == RNA_SEVERITY_INFO)
			continue;
		text = rna_arena_printf(out->arena, "%s; %s %s", finding->text,
					rna_users_relation(users), names.data);
		if (text)
			finding->text = text;
		else
			out->failed = true;
	}
}

/* -- Subjects ---------------------------------------------------------------------------------- */

static bool applies_to(const struct rna_rule *rule, const struct rna_subject *subject)
{
	switch (rule->scope) {
	case RNA_RULE_OF_DEVICE:
		return subject->port == 0;
	case RNA_RULE_OF_PORT:
		return (subject->port > 0 || rule->devices_too) && subject->judged;
	default:
		return false;
	}
}

static bool is_of_layer(const struct rna_rule *rule, const struct rna_subject *subject)
{
	return rule->link_layer == RNA_LINK_LAYER_UNKNOWN ||
	       rule->link_layer == subject->link_layer;
}

/* Links come up some time after their driver; until then the previous findings stay. */
static bool is_settling(const struct rna_rule_input *in, const struct rna_subject *subject)
{
	const struct rna_past *past = rna_rule_past_of(in, subject);
	rna_usec now = in->view->snapshot->time.monotonic;

	return past && past->registered &&
	       rna_usec_since(past->registered, now) < in->settings->health_boot_grace;
}

/* The Node does not wait for functions that are not judged. */
static void add_settling(const struct rna_subject *subject, struct rna_finds *out)
{
	struct rna_find *find = add_find(out);

	if (find)
		find->unknown = find->settling = true;
	if (subject->judged)
		out->settling |= RNA_CONDITION_BIT(out->rule->condition);
}

/*
 * A finding counts even if only part of the subject can be read. No finding means "resolved" only
 * if everything could be read; rules about unreadable data are exempt.
 */
static void check(const struct rna_rule *rule, const struct rna_rule_input *in,
		  struct rna_finds *out)
{
	size_t before = out->count;

	if (rule->settles && is_settling(in, in->subject)) {
		add_settling(in->subject, out);
		return;
	}
	if (is_of_layer(rule, in->subject))
		rule->check(in, out);
	fill_remedies(in, before, out);
	name_users(in->subject, before, out);
	if (in->subject->unseen && rule->condition != RNA_CONDITION_NOT_OBSERVED &&
	    out->count == before)
		rna_finds_add_unknown(out);
}

static void check_all(const struct rna_rule *rule, const struct rna_subject_list *subjects,
		      struct rna_rule_input *in, struct rna_finds *out)
{
	for (size_t i = 0; i < subjects->count; i++) {
		if (!applies_to(rule, &subjects->items[i]))
			continue;
		out->subject = in->subject = &subjects->items[i];
		check(rule, in, out);
	}
}

void rna_rule_run(size_t number, const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_rule *rule = rna_rules[number];
	struct rna_rail_memo rails = {0};
	struct rna_rail_rate_memo rates = {0};
	struct rna_pcie_bounds pcie = {0};
	struct rna_rule_input input = *in;

	input.rails = &rails;
	input.rates = &rates;
	input.pcie = &pcie;
	out->rule = rule;
	out->number = number;
	out->subject = input.subject = NULL;
	if (rule->scope != RNA_RULE_OF_PORT) {
		size_t before = out->count;

		rule->check(&input, out);
		fill_remedies(&input, before, out);
	}
	check_all(rule, in->devices, &input, out);
	check_all(rule, in->ports, &input, out);
	rna_pcie_bounds_deinit(&pcie);
}
