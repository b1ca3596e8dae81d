// SPDX-License-Identifier: Apache-2.0
/* Metrics of what the agent remembers: what was there before, and what of it is expected. */
#include "families_past.h"

#include "families_parts.h"

void rna_family_expected_up(const struct rna_subject *port, struct rna_writer *writer)
{
	const struct rna_view_port *account = port->account;

	if (account)
		rna_writer_sample_with(writer, port->labels, "reason",
				       rna_expectation_reason_name(account->expectation.reason),
				       account->expectation.expected == RNA_EXPECTED_UP);
}

void rna_family_transitions(const struct rna_subject *port, struct rna_writer *writer)
{
	if (!port->account)
		return;
	rna_writer_sample_with(writer, port->labels, "direction", "down",
			       port->account->history.downs);
	rna_writer_sample_with(writer, port->labels, "direction", "up", port->account->history.ups);
}

struct rna_value rna_family_last_transition(const struct rna_subject *port)
{
	if (!port->account || port->account->history.last.realtime == 0)
		return rna_no_value;
	return rna_value_ok(port->account->history.last.realtime);
}

struct rna_value rna_family_devices_missing(const struct rna_subject *node)
{
	return node->view->missing ? rna_value_ok(node->view->missing_count) : rna_no_value;
}

void rna_family_missing_info(const struct rna_subject *node, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	for (size_t i = 0; i < node->view->missing_count; i++) {
		const struct rna_missing_device *missing = &node->view->missing[i];

		rna_labels_begin(&labels, node->labels);
		rna_label_add(&labels, "device", missing->name);
		rna_label_add(&labels, "pci_address", missing->pci_address);
		rna_label_add(&labels, "whereabouts", rna_whereabouts_name(missing->whereabouts));
		rna_writer_sample_labels(writer, &labels, 1);
	}
}
