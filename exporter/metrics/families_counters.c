// SPDX-License-Identifier: Apache-2.0
/* Metrics of counters/ and hw_counters/, by the counter table where it has a row. */
#include "family_rows.h"

/* Has the counter a meaning on this port? Where the link layer is not known, it may have. */
static bool fits(const struct rna_counter *counter, const struct rna_subject *subject)
{
	switch (subject->port ? subject->link_layer : RNA_LINK_LAYER_UNKNOWN) {
	case RNA_LINK_LAYER_INFINIBAND:
		return counter->link_layers & RNA_ON_INFINIBAND;
	case RNA_LINK_LAYER_ETHERNET:
		return counter->link_layers & RNA_ON_ETHERNET;
	default:
		return true;
	}
}

static uint64_t in_base_unit(const struct rna_counter *counter, uint64_t number)
{
	enum { WORD = 4 }; /* octets, IBTA 16.1.3.5 */

	if (counter->unit == RNA_UNIT_WORDS && __builtin_mul_overflow(number, WORD, &number))
		return UINT64_MAX; /* a 64-bit counter of all ones */
	return number;
}

void rna_family_write_known_counter(const struct rna_counter *counter, struct rna_walk *walk,
				    struct rna_writer *writer)
{
	const struct rna_counter_value *found;
	const struct rna_subject *subject;
	size_t from = 0;

	while ((found = rna_walk_next(walk, counter, &from, &subject)))
		if (rna_value_is_known(found->value) && fits(counter, subject))
			rna_writer_sample(writer, subject->labels,
					  in_base_unit(counter, found->value.number));
}

bool rna_family_counter_follows(const struct rna_counter *row)
{
	return row > rna_counters && row < rna_counters + rna_counter_count && row->label &&
	       strcmp(row->metric, row[-1].metric) == 0;
}

/* Rows with a label are few: they are looked up, so that samples of a port stand together. */
void rna_family_write_labelled_counters(const struct rna_counter *first,
					const struct rna_subject_list *ports,
					struct rna_writer *writer)
{
	RNA_EACH (port, ports->items, ports->count) {
		const struct rna_counter *row = first;

		do {
			const struct rna_counter_value *found =
				rna_counter_group_find(port->groups[row->place], row);

			if (found && rna_value_is_known(found->value) && fits(row, port))
				rna_writer_sample_with(writer, port->labels, row->label,
						       row->instance,
						       in_base_unit(row, found->value.number));
		} while (rna_family_counter_follows(++row));
	}
}

/* A search and no walk: these are few, and not in the order of the table. */
void rna_family_write_alias(const struct rna_counter *counter, const struct rna_subject_list *ports,
			    struct rna_writer *writer)
{
	for (size_t i = 0; i < ports->count; i++) {
		const struct rna_counter_value *found =
			rna_counter_group_find(ports->items[i].groups[counter->place], counter);

		if (found && rna_value_is_known(found->value))
			rna_writer_sample(writer, ports->items[i].labels,
					  in_base_unit(counter, found->value.number));
	}
}

/* Files without a row in the counter table, which stand behind the others; the name is a label. */
static void unknown_counters(const struct rna_subject *subject, enum rna_counter_place place,
			     struct rna_writer *writer)
{
	const struct rna_counter_group *group = subject->groups[place];
	size_t first = group ? group->count : 0;

	while (first > 0 && !group->values[first - 1].counter)
		first--;
	for (size_t i = first; group && i < group->count; i++)
		if (rna_value_is_known(group->values[i].value))
			rna_writer_sample_with(writer, subject->labels, "counter",
					       group->values[i].file,
					       group->values[i].value.number);
}

static void write_port_counters(const struct rna_subject *port, struct rna_writer *writer)
{
	unknown_counters(port, RNA_PLACE_PORT_COUNTERS, writer);
}

static void write_port_hw_counters(const struct rna_subject *port, struct rna_writer *writer)
{
	unknown_counters(port, RNA_PLACE_PORT_HW_COUNTERS, writer);
}

static void write_device_hw_counters(const struct rna_subject *device, struct rna_writer *writer)
{
	unknown_counters(device, RNA_PLACE_DEVICE_HW_COUNTERS, writer);
}

static const void *next_optional(const struct rna_subject *port, size_t *from)
{
	const struct rna_port_optional_counters *counters =
		rna_port_optional_counters(port->device, port->port);

	return counters && *from < counters->count ? &counters->items[(*from)++] : NULL;
}

static struct rna_value saturated_counters(const struct rna_subject *port)
{
	struct rna_value ret = rna_no_value;

	for (size_t place = 0; place < RNA_PLACE_COUNT; place++) {
		const struct rna_counter_group *group = port->groups[place];

		if (group)
			ret.state = RNA_VALUE_OK;
		for (size_t i = 0; group && i < group->count; i++)
			ret.number += rna_counter_is_stuck(&group->values[i]);
	}
	return ret;
}

static struct rna_value resets(const struct rna_subject *subject, enum rna_counter_place place)
{
	const struct rna_counter_group *group = subject->groups[place];

	return group ? rna_value_ok(group->resets) : rna_no_value;
}

static struct rna_value counters_resets(const struct rna_subject *port)
{
	return resets(port, RNA_PLACE_PORT_COUNTERS);
}

static struct rna_value hw_counters_resets(const struct rna_subject *port)
{
	return resets(port, RNA_PLACE_PORT_HW_COUNTERS);
}

static struct rna_value fabric_counters_resets(const struct rna_subject *port)
{
	return resets(port, RNA_PLACE_PORT_FABRIC);
}

static struct rna_value device_hw_counters_resets(const struct rna_subject *device)
{
	return resets(device, RNA_PLACE_DEVICE_HW_COUNTERS);
}

/* -- The tables -------------------------------------------------------------------------------- */

/* clang-format off */
static const struct rna_family unknown_rows[] = {
	{.counters = true},
	METRIC(PORT, "rdma_port_unknown_total", COUNTER, PLAIN,
	       EACH(write_port_counters, "counter"),
	       "Raw value of a port counters/ file that this version does not recognise."),
	METRIC(PORT, "rdma_port_hw_unknown_total", COUNTER, PLAIN,
	       EACH(write_port_hw_counters, "counter"),
	       "Raw value of a port hw_counters/ file that this version does not recognise."),
	METRIC(DEVICE, "rdma_device_hw_unknown_total", COUNTER, PLAIN,
	       EACH(write_device_hw_counters, "counter"),
	       "Raw value of a device hw_counters/ file that this version does not recognise."),
};

static const struct rna_family optional_rows[] = {
	{.field = {.json = "name", .label = "counter", .tells = true,
		   ABOUT(struct rna_optional_counter, name)}},
	METRIC(PORT, "rdma_port_optional_counter_enabled", GAUGE, YES_NO,
	       IN(struct rna_optional_counter, enabled, .json = "enabled", .yes_no = true),
	       "1 if an optional hardware counter is enabled (rdma statistic set), 0 otherwise. "
	       "Requires hw_counters.optional_status."),
};

static const struct rna_family health_rows[] = {
	METRIC(PORT, "rdma_port_saturated_counters", GAUGE, PLAIN, GET(saturated_counters),
	       "Counters of the port that stopped at their maximum and count again only after a "
	       "reset, without those that saturate in normal operation."),
	METRIC(PORT, "rdma_port_counters_resets_total", COUNTER, PLAIN, GET(counters_resets),
	       "Resets of the port's counters/: they were cleared, or the device was registered "
	       "again."),
	DETAIL(PORT, "rdma_port_hw_counters_resets_total", COUNTER, PLAIN, GET(hw_counters_resets),
	       "Resets of the port's hw_counters/: a value decreased without a wrap, or the device"
	       " was registered again."),
	DETAIL(PORT, "rdma_port_fabric_counters_resets_total", COUNTER, PLAIN,
	       GET(fabric_counters_resets),
	       "Resets of the port's counters that only MADs can read: they were cleared, or the "
	       "device was registered again."),
	DETAIL(DEVICE, "rdma_device_hw_counters_resets_total", COUNTER, PLAIN,
	       GET(device_hw_counters_resets),
	       "Resets of the device's hw_counters/: a value decreased, or the device was "
	       "registered again."),
};
/* clang-format on */

const struct rna_family_table rna_counter_table = {ROWS(unknown_rows)};
const struct rna_family_table rna_optional_counter_table = {ROWS(optional_rows),
							    .next = next_optional};
const struct rna_family_table rna_counter_health_table = {ROWS(health_rows)};
