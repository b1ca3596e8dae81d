// SPDX-License-Identifier: Apache-2.0
/*
 * The metric families: the tables of facts in the order of the output, and one family for each
 * known counter and statistic; how each is written.
 *
 * Naming rules:
 *   - what hardware says begins with rdma_device_ or rdma_port_, what the agent says of its work
 *     with rdma_collector_ or rdma_agent_, what it found by testing with rdma_selftest_; process_
 *     is the name that all exporters share;
 *   - base units only, bytes and seconds, and the unit ends the name, before _total;
 *   - values carry the labels device and port and no others. All else that is known of a device
 *     or a port stands on rdma_device_info and rdma_port_info, to be joined in a query:
 *         rdma_port_up * on(instance, device, port) group_left(netdev) rdma_port_info
 *   - what the kernel says in its log begins with rdma_kernel_log_, and messages of a pattern have
 *     the labels pattern and object, because what they name need not be a device;
 *   - with metrics.collectors: full, a collector that reads the whole node has the device node;
 *   - self-tests have the label memory besides, for each kind of memory is tested by itself;
 *   - what ethtool says has the label netdev besides, for a bond has several interfaces, and where
 *     there is one of each, priority or lane;
 *   - GIDs are counted with the labels type and family; each has a series of its own only as
 *     rdma_port_gid_info, which can be turned on;
 *   - a series must answer a question of an operator: an error counter that is always 0 does, a
 *     constant does not. Constants, and what other families say as well, are DETAIL() rows, for
 *     metrics.details; tests/docs/series.py and tests/golden/installed.py have limits;
 *   - collectors have series by collector, not by device, unless metrics.collectors is full;
 *   - files of counters/ and hw_counters/ have families by the counter table (rna/model/counter.h);
 * those without a row go to the _unknown_ family of their directory, with the label counter;
 *   - a value that is absent or unreadable has no sample: 0 always means zero;
 *   - samples of a family are sorted by device and port, and the order never changes;
 *   - names of other exporters, which break these rules, stand apart in compat.c.
 *
 * To add a fact: a row in the table of its subject, in a families_*.c.
 */
#include "families.h"

#include <errno.h>

static const struct rna_family_table *const tables[] = {
	&rna_node_table,
	&rna_missing_table,
	&rna_loaded_module_table,
	&rna_finding_table,
	&rna_kernel_log_table,
	&rna_log_episode_table,
	&rna_device_table,
	&rna_virtual_function_table,
	&rna_resource_table,
	&rna_user_table,
	&rna_port_table,
	&rna_peer_table,
	&rna_manager_table,
	&rna_interface_table,
	&rna_bond_table,
	&rna_bond_member_table,
	&rna_gateway_table,
	&rna_gid_table,
	&rna_ethernet_table,
	&rna_counter_table,
	&rna_ethernet_unknown_table,
	&rna_module_table,
	&rna_optional_counter_table,
	&rna_counter_health_table,
	&rna_selftest_run_table,
	&rna_selftest_table,
	&rna_probe_port_table,
	&rna_probe_table,
	&rna_qos_table,
	&rna_vlan_table,
	&rna_qos_parameter_table,
	&rna_gpu_table,
	&rna_job_table,
	&rna_agent_table,
	&rna_backend_table,
	&rna_kubernetes_client_table,
	&rna_kubernetes_resource_table,
	&rna_process_table,
};

/* -- All of them ------------------------------------------------------------------------------- */

enum { NAME_USUAL = 64 }; /* bytes; what needs more makes the arena grow */

/* families_counters.c converts numbers to it. */
static enum rna_metric_unit unit_of(const struct rna_counter *counter)
{
	switch (counter->unit) {
	case RNA_UNIT_NONE:
		return RNA_METRIC_PLAIN;
	case RNA_UNIT_BYTES:
	case RNA_UNIT_WORDS:
		return RNA_METRIC_BYTES;
	}
	return RNA_METRIC_PLAIN;
}

static struct rna_family counter_family(struct rna_arena *arena, const struct rna_counter *counter)
{
	bool device = counter->place == RNA_PLACE_DEVICE_HW_COUNTERS;
	bool rises = counter->kind == RNA_COUNTER;

	return (struct rna_family){
		.metric =
			{
				.name = rna_arena_printf(arena, "rdma_%s_%s%s",
							 device ? "device" : "port",
							 counter->metric, rises ? "_total" : ""),
				.type = rises ? RNA_METRIC_COUNTER : RNA_METRIC_GAUGE,
				.unit = unit_of(counter),
				.help = counter->help,
			},
		.scope = device ? RNA_SCOPE_DEVICE : RNA_SCOPE_PORT,
		.detail = counter->detail,
		.label = counter->label,
		.counter = counter,
	};
}

static int add(struct rna_families *families, struct rna_family family)
{
	if (family.detail)
		family.metric.help =
			rna_arena_printf(families->arena, "%s Requires metrics.details.",
					 family.metric.help);
	if (!family.metric.name || !family.metric.help)
		return -ENOMEM;
	families->items[families->count++] = family;
	return 0;
}

static int add_counters(struct rna_families *families)
{
	for (size_t i = 0; i < rna_counter_count; i++)
		if (!rna_family_counter_follows(&rna_counters[i]) &&
		    add(families, counter_family(families->arena, &rna_counters[i])) < 0)
			return -ENOMEM;
	return 0;
}

static int add_statistics(struct rna_families *families)
{
	for (enum rna_ethernet_statistic_id id = 0; id < RNA_ETHERNET_STATISTIC_COUNT; id++)
		if (add(families, rna_family_of_statistic(id, families->arena)) < 0)
			return -ENOMEM;
	return 0;
}

static int add_alias(struct rna_families *families, struct rna_family family)
{
	family.alias = rna_counter_find(family.place, family.file);
	if (!family.alias)
		return 0; /* the unit test looks for each */
	family.metric.help = family.alias->help;
	family.metric.unit = unit_of(family.alias);
	return add(families, family);
}

static int add_table(struct rna_families *families, const struct rna_family_table *table)
{
	int status = 0;

	for (size_t i = 0; i < table->count && status == 0; i++) {
		struct rna_family row = table->rows[i];

		if (table->next && !row.each && !row.get && !row.field.behind)
			row.table = table;
		if (row.counters)
			status = add_counters(families);
		else if (row.statistics)
			status = add_statistics(families);
		else if (row.file)
			status = add_alias(families, row);
		else if (row.metric.name)
			status = add(families, row);
	}
	return status;
}

static size_t count_rows(void)
{
	size_t count = rna_compat_table.count;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(tables); i++)
		count += tables[i]->count;
	return count;
}

struct rna_families *rna_families_new(void)
{
	size_t most = count_rows() + RNA_ETHERNET_STATISTIC_COUNT + rna_counter_count;
	RNA_CLEANUP(rna_families_free_p)
	struct rna_families *families = calloc(1, sizeof(*families));

	if (!families)
		return NULL;
	families->arena = rna_arena_new(most * (sizeof(*families->items) + NAME_USUAL));
	if (!families->arena)
		return NULL;
	families->items = rna_arena_array(families->arena, most, sizeof(*families->items));
	if (!families->items)
		return NULL;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(tables); i++)
		if (add_table(families, tables[i]) < 0)
			return NULL;
	families->own_count = families->count;
	if (add_table(families, &rna_compat_table) < 0)
		return NULL;
	return RNA_TAKE(families);
}

struct rna_families *rna_families_free(struct rna_families *families)
{
	if (families)
		(void)rna_arena_free(families->arena);
	free(families);
	return NULL;
}

/* -- Samples ----------------------------------------------------------------------------------- */

bool rna_family_is_number(const struct rna_family *family)
{
	return family->get || (family->field.kind != RNA_FIELD_NONE && !family->table);
}

struct rna_value rna_family_value(const struct rna_family *family,
				  const struct rna_subject *subject)
{
	return family->get ? family->get(subject) : rna_field_value(&family->field, subject);
}

static void write_numbers(const struct rna_family *family, const struct rna_subject_list *list,
			  struct rna_writer *writer)
{
	bool info = family->metric.type == RNA_METRIC_INFO;

	RNA_EACH (subject, list->items, list->count) {
		struct rna_value value = rna_family_value(family, subject);

		if (rna_value_is_known(value))
			rna_writer_sample(writer, info ? subject->info : subject->labels,
					  value.number);
	}
}

const struct rna_family_table *rna_family_table_of(enum rna_scope scope)
{
	static const struct rna_family_table *const of_scope[RNA_SCOPE_COUNT] = {
		[RNA_SCOPE_DEVICE] = &rna_device_table,
		[RNA_SCOPE_PORT] = &rna_port_table,
		[RNA_SCOPE_GID] = &rna_gid_table,
	};

	return of_scope[scope];
}

/* What tells items apart is a label of all metrics of the table; the rest, of its info metric. */
static bool has_label(const struct rna_family *row, bool all)
{
	return row->field.label && (row->field.tells || all);
}

/* No label where it is not known. */
static void add_label(const struct rna_family *row, const void *item, struct rna_strbuf *labels)
{
	char scratch[RNA_FIELD_TEXT_MAX];
	struct rna_value value;

	if (rna_field_is_text(&row->field)) {
		rna_label_add(labels, row->field.label, rna_field_text(&row->field, item, scratch));
		return;
	}
	value = rna_field_value(&row->field, item);
	if (!rna_value_is_known(value))
		return;
	if (row->field.yes_no)
		rna_label_add(labels, row->field.label, value.number ? "yes" : "no");
	else
		rna_label_add_number(labels, row->field.label, value.number);
}

void rna_family_add_labels(const struct rna_family_table *table, bool all, const void *object,
			   struct rna_strbuf *labels)
{
	for (size_t i = 0; i < table->count; i++)
		if (has_label(&table->rows[i], all))
			add_label(&table->rows[i], object, labels);
}

static void write_item(const struct rna_family *family, const struct rna_subject *subject,
		       const void *item, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
	const struct rna_family_table *table = family->table;
	bool info = family->metric.type == RNA_METRIC_INFO;
	struct rna_value value = info ? rna_value_ok(1) : rna_field_value(&family->field, item);

	if (!rna_value_is_known(value))
		return;
	rna_labels_begin(&labels, subject->labels);
	if (table->add_label)
		table->add_label(subject, item, &labels);
	rna_family_add_labels(table, info, item, &labels);
	rna_writer_sample_labels(writer, &labels, value.number);
}

static void write_items(const struct rna_family *family, const struct rna_subject_list *list,
			struct rna_writer *writer)
{
	for (size_t i = 0; i < list->count; i++) {
		const void *item;
		size_t from = 0;

		while ((item = family->table->next(&list->items[i], &from)))
			write_item(family, &list->items[i], item, writer);
	}
}

static void write_each(const struct rna_family *family, const struct rna_subject_list *list,
		       struct rna_writer *writer)
{
	for (size_t i = 0; i < list->count; i++)
		family->each(&list->items[i], writer);
}

void rna_family_write(struct rna_family *family, const struct rna_subjects *subjects,
		      struct rna_walk *walk, struct rna_writer *writer)
{
	const struct rna_subject_list *list = &subjects->scopes[family->scope];
	const struct rna_view *view = subjects->scopes[RNA_SCOPE_NODE].items[0].view;

	if (family->detail && !view->metrics.details)
		return;
	rna_writer_metric(writer, &family->metric);
	if (family->scope == RNA_SCOPE_JOB && !view->metrics.all_jobs) {
		if (family->summary)
			family->summary(family, view, writer);
	} else if (family->counter && family->counter->label)
		rna_family_write_labelled_counters(family->counter, list, writer);
	else if (family->counter)
		rna_family_write_known_counter(family->counter, walk, writer);
	else if (family->statistic)
		rna_family_write_statistic(family, list, writer);
	else if (family->alias)
		rna_family_write_alias(family->alias, list, writer);
	else if (family->table)
		write_items(family, list, writer);
	else if (family->each)
		write_each(family, list, writer);
	else
		write_numbers(family, list, writer);
}

/* -- Documents --------------------------------------------------------------------------------- */

/* Those of its rows that are labels: of an info metric all, else those that tell items apart. */
static void write_row_labels(const struct rna_family_table *table, bool all, const char *separator,
			     struct rna_strbuf *out)
{
	if (table->label) {
		rna_strbuf_printf(out, "%s%s", separator, table->label);
		separator = ", ";
	}
	for (size_t i = 0; i < table->count; i++)
		if (has_label(&table->rows[i], all)) {
			rna_strbuf_printf(out, "%s%s", separator, table->rows[i].field.label);
			separator = ", ";
		}
}

static void write_labels(const struct rna_family *family, struct rna_strbuf *out)
{
	static const char *const of_scope[] = {
		[RNA_SCOPE_NODE] = "",
		[RNA_SCOPE_CARD] = "card",
		[RNA_SCOPE_DEVICE] = "device",
		[RNA_SCOPE_PORT] = "device, port",
		[RNA_SCOPE_GID] = "device, port",
		[RNA_SCOPE_JOB] = "collector, device",
	};
	const struct rna_family_table *table = rna_family_table_of(family->scope);
	bool info = family->metric.type == RNA_METRIC_INFO;

	rna_strbuf_puts(out, of_scope[family->scope]);
	if (family->statistic)
		rna_strbuf_printf(out, ", %s", rna_family_statistic_labels(family));
	if (family->label)
		rna_strbuf_printf(out, "%s%s", *of_scope[family->scope] ? ", " : "", family->label);
	if (family->table)
		write_row_labels(family->table, info, *of_scope[family->scope] ? ", " : "", out);
	else if (info && !family->each && family->scope == RNA_SCOPE_NODE)
		rna_strbuf_puts(out, "version");
	else if (info && !family->each)
		write_row_labels(table, info, ", ", out);
}

void rna_write_families(struct rna_strbuf *out)
{
	RNA_CLEANUP(rna_families_free_p) struct rna_families *families = rna_families_new();

	if (!families) {
		out->failed = true;
		return;
	}
	rna_strbuf_puts(out, "family\ttype\tlabels\tmeaning\n");
	for (size_t i = 0; i < families->count; i++) {
		const struct rna_metric *metric = &families->items[i].metric;

		rna_strbuf_printf(out, "`%s`\t%s\t", metric->name,
				  rna_metric_type_name(metric->type));
		write_labels(&families->items[i], out);
		rna_strbuf_printf(out, "\t%s\n", metric->help);
	}
}
