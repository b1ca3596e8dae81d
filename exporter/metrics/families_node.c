// SPDX-License-Identifier: Apache-2.0
/* Metrics of the node as a whole: its devices, what it has beside them, what is wrong with it. */
#include "family_rows.h"

/* -- Devices ----------------------------------------------------------------------------------- */

static struct rna_value devices(const struct rna_subject *node)
{
	const struct rna_presence *presence = rna_snapshot_presence(node->view->snapshot);

	return presence ? rna_value_ok(presence->device_count) : rna_no_value;
}

static struct rna_value devices_excluded(const struct rna_subject *node)
{
	const struct rna_presence *presence = rna_snapshot_presence(node->view->snapshot);

	return presence ? rna_value_ok(presence->excluded_count) : rna_no_value;
}

static struct rna_value devices_missing(const struct rna_subject *node)
{
	return node->view->missing ? rna_value_ok(node->view->missing_count) : rna_no_value;
}

static void missing_info(const struct rna_subject *node, struct rna_writer *writer)
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

/* -- Readiness --------------------------------------------------------------------------------- */

static const struct rna_readiness *readiness_of(const struct rna_subject *node)
{
	return rna_snapshot_readiness(node->view->snapshot);
}

static void node_info(const struct rna_subject *node, struct rna_writer *writer)
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

static void gpudirect_ready(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_readiness *readiness = readiness_of(node);

	for (enum rna_gpudirect method = 0; readiness && method < RNA_GPUDIRECT_COUNT; method++)
		if (rna_value_is_known(readiness->gpudirect[method]))
			rna_writer_sample_with(writer, node->labels, "method",
					       rna_gpudirect_name(method),
					       readiness->gpudirect[method].number);
}

static void modules_loaded(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_readiness *readiness = readiness_of(node);

	for (size_t i = 0; readiness && i < readiness->module_count; i++)
		rna_writer_sample_with(writer, node->labels, "module", readiness->modules[i].name,
				       readiness->modules[i].loaded);
}

static struct rna_value netns_exclusive(const struct rna_subject *node)
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
static void write_findings(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_finding *all = node->view->findings, *last = NULL;

	for (size_t i = 0; i < node->view->finding_count; i++) {
		if (all[i].silenced || (last && rna_finding_compare(last, &all[i]) == 0))
			continue;
		write_finding(&all[i], writer);
		last = &all[i];
	}
}

static void finding_counts(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_view *view = node->view;

	for (enum rna_severity severity = 0; severity < RNA_SEVERITY_COUNT; severity++)
		rna_writer_sample_with(writer, node->labels, "severity",
				       rna_severity_name(severity),
				       rna_finding_count(view->findings, view->finding_count,
							 severity));
}

/* -- The table --------------------------------------------------------------------------------- */

/* clang-format off */
static const struct rna_family rows[] = {
	METRIC(NODE, "rdma_devices", GAUGE, PLAIN, GET(devices),
	       "RDMA devices on this node that the agent watches."),
	METRIC(NODE, "rdma_devices_excluded", GAUGE, PLAIN, GET(devices_excluded),
	       "RDMA devices on this node that devices.include and devices.exclude leave out."),
	METRIC(NODE, "rdma_devices_missing", GAUGE, PLAIN, GET(devices_missing),
	       "RDMA devices seen earlier, by this or a previous agent process, that are now "
	       "absent."),
	METRIC(NODE, "rdma_device_missing_info", INFO, PLAIN,
	       EACH(missing_info, "device, pci_address, whereabouts"),
	       "Missing RDMA device and where it is: lost, unbound, moved to another network "
	       "namespace, or unknown."),
	METRIC(NODE, "rdma_node_info", INFO, PLAIN,
	       EACH(node_info, "kernel, gpu_driver, gpu_driver_version"),
	       "Kernel version and, if present, GPU driver name and version."),
	METRIC(NODE, "rdma_gpudirect_ready", GAUGE, YES_NO, EACH(gpudirect_ready, "method"),
	       "1 if NICs can access GPU memory by this method (peer memory module or dma-buf), 0 "
	       "otherwise. Absent without a GPU driver, or if unknown."),
	METRIC(NODE, "rdma_module_loaded", GAUGE, YES_NO, EACH(modules_loaded, "module"),
	       "1 if a kernel module of the RDMA stack is loaded or built in, 0 otherwise."),
	METRIC(NODE, "rdma_netns_exclusive", GAUGE, YES_NO, GET(netns_exclusive),
	       "1 if each RDMA device belongs to one network namespace, 0 if all namespaces share "
	       "the devices."),
	METRIC(NODE, "rdma_finding", GAUGE, PLAIN,
	       EACH(write_findings, "rule, severity, device, port"),
	       "1 for each active finding. Without a port label it concerns the device; without a "
	       "device label, the node."),
	METRIC(NODE, "rdma_findings", GAUGE, PLAIN, EACH(finding_counts, "severity"),
	       "Active findings by severity."),
};
/* clang-format on */

const struct rna_family_table rna_node_table = {ROWS(rows)};
