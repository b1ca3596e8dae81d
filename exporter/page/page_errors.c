// SPDX-License-Identifier: Apache-2.0
/*
 * What ports count: data, and what should be zero on a good link, or at least not grow.
 */
#include "view/text.h"

#include "page_parts.h"

static struct rna_value value_in(const struct rna_counter_group *group, const char *file)
{
	for (size_t i = 0; group && i < group->count; i++)
		if (strcmp(group->values[i].file, file) == 0)
			return group->values[i].value;
	return (struct rna_value){0};
}

static struct rna_value counter(const struct rna_subject *port, enum rna_counter_place place,
				const char *file)
{
	return value_in(port->groups[place], file);
}

/*
 * mlx5 in switchdev mode counts for the device what it otherwise counts for its port. The first
 * port shows it, which is the uplink.
 */
static struct rna_value device_counter(const struct rna_subject *port, const char *file)
{
	const struct rna_counters_part *part =
		rna_device_counters(port->device, RNA_COLLECTOR_HW_COUNTERS);

	for (size_t i = 0; part && i < part->group_count; i++)
		if (part->groups[i].place == RNA_PLACE_DEVICE_HW_COUNTERS &&
		    port->port == port->rdma_device->ports[0])
			return value_in(&part->groups[i], file);
	return (struct rna_value){0};
}

/* file: counts 4-octet words, as PortCounters do. */
static void add_data(const struct rna_page *page, const struct rna_subject *port, const char *file)
{
	struct rna_value words = counter(port, RNA_PLACE_PORT_COUNTERS, file);

	if (rna_value_is_known(words))
		rna_text_add_bytes(page->out, words.number * 4);
	else
		rna_page_text(page->out, NULL);
}

void rna_page_data(const struct rna_page *page, const struct rna_subject *port)
{
	if (!port->groups[RNA_PLACE_PORT_COUNTERS]) {
		rna_page_text(page->out, NULL);
		return;
	}
	rna_page_add(page, "<small>in</small> ");
	add_data(page, port, "port_rcv_data");
	rna_page_add(page, "<br><small>out</small> ");
	add_data(page, port, "port_xmit_data");
}

/* What should be zero on a good link, or at least not grow. */
static const struct {
	enum rna_counter_place place;
	const char *file;
	const char *name;
} troubles[] = {
	{RNA_PLACE_PORT_COUNTERS, "link_downed", "link downs"},
	{RNA_PLACE_PORT_COUNTERS, "link_error_recovery", "link recoveries"},
	{RNA_PLACE_PORT_COUNTERS, "symbol_error", "symbol errors"},
	{RNA_PLACE_PORT_COUNTERS, "port_rcv_errors", "receive errors"},
	{RNA_PLACE_PORT_COUNTERS, "port_xmit_discards", "transmit discards"},
	{RNA_PLACE_PORT_FABRIC, "fec_uncorrectable_blocks", "uncorrected blocks"},
	{RNA_PLACE_PORT_COUNTERS, "local_link_integrity_errors", "link integrity errors"},
	{RNA_PLACE_PORT_COUNTERS, "excessive_buffer_overrun_errors", "buffer overruns"},
	{RNA_PLACE_PORT_HW_COUNTERS, "out_of_sequence", "out of sequence"},
	{RNA_PLACE_PORT_HW_COUNTERS, "packet_seq_err", "sequence errors"},
	{RNA_PLACE_PORT_HW_COUNTERS, "local_ack_timeout_err", "ACK timeouts"},
	{RNA_PLACE_PORT_HW_COUNTERS, "out_of_buffer", "out of buffer"},
};

void rna_page_errors(const struct rna_page *page, const struct rna_subject *port)
{
	size_t seen = 0, shown = 0;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(troubles); i++) {
		struct rna_value value = counter(port, troubles[i].place, troubles[i].file);
		bool of_device = troubles[i].place == RNA_PLACE_PORT_HW_COUNTERS &&
				 value.state == RNA_VALUE_ABSENT;

		if (of_device)
			value = device_counter(port, troubles[i].file);
		seen += rna_value_is_known(value);
		if (!rna_value_is_known(value) || value.number == 0)
			continue;
		rna_page_add(page, shown++ > 0 ? ", " : "");
		/* a counter at its maximum has stopped: it says "at least" */
		rna_page_add(page, value.state == RNA_VALUE_SATURATED ? "≥&nbsp;" : "");
		rna_strbuf_add_u64(page->out, value.number);
		rna_strbuf_printf(page->out, "&nbsp;<small>%s%s</small>", troubles[i].name,
				  of_device ? " (device)" : "");
	}
	if (shown == 0)
		rna_page_add(page, seen > 0 ? "<small>none</small>" : "–");
}
