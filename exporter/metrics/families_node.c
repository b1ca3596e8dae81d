// SPDX-License-Identifier: Apache-2.0
/* Metrics of the node as a whole: its devices, what it has beside them, what is wrong with it. */
#include "families_node.h"

#include "families_parts.h"

/* -- Devices ----------------------------------------------------------------------------------- */

struct rna_value rna_family_devices(const struct rna_subject *node)
{
	const struct rna_presence *presence = rna_snapshot_presence(node->view->snapshot);

	return presence ? rna_value_ok(presence->device_count) : rna_no_value;
}

struct rna_value rna_family_devices_excluded(const struct rna_subject *node)
{
	const struct rna_presence *presence = rna_snapshot_presence(node->view->snapshot);

	return presence ? rna_value_ok(presence->excluded_count) : rna_no_value;
}

/* -- Readiness --------------------------------------------------------------------------------- */

static const struct rna_readiness *readiness_of(const struct rna_subject *node)
{
	return rna_snapshot_readiness(node->view->snapshot);
}

void rna_family_node_info(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_readiness *readiness = readiness_of(node);
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	if (!readiness || (!readiness->kernel && !readiness->gpu_driver.name))
		return;
	rna_label_add(&labels, "kernel", readiness->kernel);
	rna_label_add(&labels, "gpu_driver", readiness->gpu_driver.name);
	rna_label_add(&labels, "gpu_driver_version", readiness->gpu_driver.version);
	rna_writer_sample_labels(writer, &labels, 1);
}

void rna_family_gpudirect_ready(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_readiness *readiness = readiness_of(node);

	for (enum rna_gpudirect method = 0; readiness && method < RNA_GPUDIRECT_COUNT; method++)
		if (rna_value_is_known(readiness->gpudirect[method]))
			rna_writer_sample_with(writer, node->labels, "method",
					       rna_gpudirect_name(method),
					       readiness->gpudirect[method].number);
}

void rna_family_modules_loaded(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_readiness *readiness = readiness_of(node);

	for (size_t i = 0; readiness && i < readiness->module_count; i++)
		rna_writer_sample_with(writer, node->labels, "module", readiness->modules[i].name,
				       readiness->modules[i].loaded);
}

struct rna_value rna_family_netns_exclusive(const struct rna_subject *node)
{
	const struct rna_readiness *readiness = readiness_of(node);

	return readiness ? readiness->netns_exclusive : rna_no_value;
}

/* -- Findings ---------------------------------------------------------------------------------- */

static void write_finding(const struct rna_finding *finding, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	rna_label_add(&labels, "rule", finding->rule);
	rna_label_add(&labels, "severity", rna_severity_name(finding->severity));
	rna_label_add(&labels, "device", finding->device);
	if (finding->port)
		rna_label_add_number(&labels, "port", finding->port);
	rna_writer_sample_labels(writer, &labels, 1);
}

/* Two devices that are missing may have had the same name, one after the other: one series. */
void rna_family_findings(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_finding *all = node->view->findings, *last = NULL;

	for (size_t i = 0; i < node->view->finding_count; i++) {
		if (all[i].silenced || (last && rna_finding_compare(last, &all[i]) == 0))
			continue;
		write_finding(&all[i], writer);
		last = &all[i];
	}
}

void rna_family_finding_counts(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_view *view = node->view;

	for (enum rna_severity severity = 0; severity < RNA_SEVERITY_COUNT; severity++)
		rna_writer_sample_with(writer, node->labels, "severity",
				       rna_severity_name(severity),
				       rna_finding_count(view->findings, view->finding_count,
							 severity));
}
