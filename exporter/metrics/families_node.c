// SPDX-License-Identifier: Apache-2.0
/* Metrics of the node as a whole: its devices, what it has beside them, what is wrong with it. */
#include <stddef.h>
#include <string.h>

#include "family_rows.h"

/* -- Devices ----------------------------------------------------------------------------------- */

static struct rna_value devices_missing(const struct rna_subject *node)
{
	return node->view->missing ? rna_value_ok(node->view->missing_count) : rna_no_value;
}

static const void *next_missing(const struct rna_subject *node, size_t *from)
{
	return *from < node->view->missing_count ? &node->view->missing[(*from)++] : NULL;
}

static const char *whereabouts(uint64_t number)
{
	return rna_whereabouts_name((enum rna_whereabouts)number);
}

/* -- Readiness --------------------------------------------------------------------------------- */

static void node_info(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_readiness *readiness = node->readiness;
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	if (!readiness || (!readiness->kernel && !readiness->gpu_driver.name &&
			   !readiness->dmi.vendor && !readiness->dmi.product))
		return;
	rna_label_add(&labels, "kernel", readiness->kernel);
	rna_label_add(&labels, "gpu_driver", readiness->gpu_driver.name);
	rna_label_add(&labels, "gpu_driver_version", readiness->gpu_driver.version);
	rna_label_add(&labels, "vendor", readiness->dmi.vendor);
	rna_label_add(&labels, "product", readiness->dmi.product);
	rna_label_add(&labels, "board", readiness->dmi.board);
	rna_writer_sample_labels(writer, &labels, 1);
}

static void gpudirect_ready(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_readiness *readiness = node->readiness;

	for (enum rna_gpudirect method = 0; readiness && method < RNA_GPUDIRECT_COUNT; method++)
		if (rna_value_is_known(readiness->gpudirect[method]))
			rna_writer_sample_with(writer, node->labels, "method",
					       rna_gpudirect_name(method),
					       readiness->gpudirect[method].number);
}

static void cpu_policies(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_readiness *readiness = node->readiness;

	for (size_t i = 0; readiness && i < readiness->cpu_frequency.governor_count; i++) {
		const struct rna_cpu_governor *governor = &readiness->cpu_frequency.governors[i];
		RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

		rna_label_add(&labels, "driver", readiness->cpu_frequency.driver);
		rna_label_add(&labels, "governor", governor->name);
		rna_writer_sample_labels(writer, &labels, governor->policies);
	}
}

static void gpu_iommu(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_readiness *readiness = node->readiness;

	if (readiness && rna_value_is_known(readiness->gpu_iommu))
		rna_writer_sample_with(writer, node->labels, "mode",
				       rna_iommu_mode_name(
					       (enum rna_iommu_mode)readiness->gpu_iommu.number),
				       1);
}

/* -- Neighbours -------------------------------------------------------------------------------- */

static void neighbour_samples(const struct rna_subject *node, struct rna_writer *writer,
			      size_t offset)
{
	const struct rna_gateways *part = rna_snapshot_gateways(node->view->snapshot);

	for (enum rna_gid_family i = 0; part && i < RNA_GID_FAMILY_COUNT; i++) {
		const char *table = (const char *)&part->host.tables[i];
		struct rna_value value;

		memcpy(&value, table + offset, sizeof(value));
		if (rna_value_is_known(value))
			rna_writer_sample_with(writer, node->labels, "family",
					       rna_gid_family_name(i), value.number);
	}
}

static void neighbours(const struct rna_subject *node, struct rna_writer *writer)
{
	neighbour_samples(node, writer, offsetof(struct rna_neighbour_table, entries));
}

static void neighbours_limit(const struct rna_subject *node, struct rna_writer *writer)
{
	neighbour_samples(node, writer, offsetof(struct rna_neighbour_table, limit));
}

static void neighbour_overflows(const struct rna_subject *node, struct rna_writer *writer)
{
	neighbour_samples(node, writer, offsetof(struct rna_neighbour_table, overflows));
}

static const void *next_module(const struct rna_subject *node, size_t *from)
{
	const struct rna_readiness *readiness = node->readiness;

	return readiness && *from < readiness->module_count ? &readiness->modules[(*from)++] : NULL;
}

/* -- Findings ---------------------------------------------------------------------------------- */

/* Two devices that are missing may have had the same name, one after the other: one series. */
static bool has_own_series(const struct rna_finding *all, size_t i)
{
	size_t last = i;

	while (last > 0 && all[last - 1].silenced)
		last--;
	return !all[i].silenced && (last == 0 || rna_finding_compare(&all[last - 1], &all[i]) != 0);
}

static const void *next_finding(const struct rna_subject *node, size_t *from)
{
	const struct rna_view *view = node->view;

	for (; *from < view->finding_count; ++*from)
		if (has_own_series(view->findings, *from))
			return &view->findings[(*from)++];
	return NULL;
}

static void finding_texts(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_finding *finding;
	size_t from = 0;

	while (node->view->metrics.finding_text && (finding = next_finding(node, &from))) {
		RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

		if (!finding->told_text)
			continue;
		rna_family_add_labels(&rna_finding_table, false, finding, &labels);
		rna_label_add(&labels, "text", finding->told_text);
		rna_writer_sample_labels(writer, &labels, 1);
	}
}

static struct rna_value one(const void *item)
{
	(void)item;
	return rna_value_ok(1);
}

static const char *severity(uint64_t number)
{
	return rna_severity_name((enum rna_severity)number);
}

static const char *impact(uint64_t number)
{
	return rna_impact_name((enum rna_impact)number);
}

static const char *cause(uint64_t number)
{
	return rna_cause_name((enum rna_cause)number);
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

/* Only where it follows devices; otherwise it does not know of any. */
static void not_followed(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_presence *presence = node->presence;

	if (!presence || !presence->reach.asked)
		return;
	rna_writer_sample_with(writer, node->labels, "reason", "limit", presence->reach.left_out);
	rna_writer_sample_with(writer, node->labels, "reason", "contested",
			       presence->contested_count);
}

/* -- The tables -------------------------------------------------------------------------------- */

#define MISSING(member) ABOUT(struct rna_missing_device, member)
#define FINDING(member) ABOUT(struct rna_finding, member)

/* clang-format off */
static const struct rna_family node_rows[] = {
	METRIC(NODE, "rdma_devices", GAUGE, PLAIN, AT(presence, device_count),
	       "RDMA devices on this node that the agent watches."),
	METRIC(NODE, "rdma_devices_excluded", GAUGE, PLAIN, AT(presence, excluded_count),
	       "RDMA devices on this node that devices.include and devices.exclude leave out."),
	METRIC(NODE, "rdma_devices_not_followed", GAUGE, PLAIN, EACH(not_followed, "reason"),
	       "RDMA devices in other network namespaces that the agent does not read: beyond "
	       "follow.max_devices or follow.max_ports (limit), or in two of them at once "
	       "(contested). Absent unless follow.enabled is set."),
	METRIC(NODE, "rdma_devices_missing", GAUGE, PLAIN, GET(devices_missing),
	       "RDMA devices seen earlier, by this or a previous agent process, that are now "
	       "absent."),
};

/* Missing devices; behind them, as the output has it, facts of the node. */
static const struct rna_family missing_rows[] = {
	{.field = {.json = "name", .label = "device", MISSING(name)}},
	{JSON("key", MISSING(key))},
	{BOTH("pci_address", MISSING(pci_address))},
	{BOTH("whereabouts", RNA_FIELD_ENUM(struct rna_missing_device, whereabouts, whereabouts))},
	{JSON("new_name", MISSING(new_name))},
	{JSON("new_pci_address", MISSING(new_address))},
	{JSON("last_seen", MISSING(last_seen), .time = true)},
	METRIC(NODE, "rdma_device_missing_info", INFO, PLAIN, LABELS,
	       "Missing RDMA device and where it is: lost, unbound, moved to another network "
	       "namespace, relocated to another PCI address, or unknown."),
	METRIC(NODE, "rdma_node_info", INFO, PLAIN,
	       EACH(node_info, "kernel, gpu_driver, gpu_driver_version, vendor, product, board"),
	       "Kernel version and, if present, GPU driver name and version, and the vendor, product "
	       "and board that the firmware names (DMI)."),
	METRIC(NODE, "rdma_node_virtual_machine", GAUGE, YES_NO, AT(readiness, virtual_machine),
	       "1 if the node is a virtual machine, 0 otherwise. Absent if unknown."),
	METRIC(NODE, "rdma_node_cpu_frequency_policies", GAUGE, PLAIN,
	       EACH(cpu_policies, "driver, governor"),
	       "CPU frequency policies (sets of CPUs that share a clock) by governor, and the driver "
	       "of the kernel that sets frequencies."),
	METRIC(NODE, "rdma_node_gpu_iommu_info", INFO, PLAIN, EACH(gpu_iommu, "mode"),
	       "What the IOMMU does with the addresses of GPUs: off, identity, DMA-FQ or DMA (both "
	       "translate; DMA is strict), other. Absent if unknown."),
	METRIC(NODE, "rdma_node_neighbours", GAUGE, PLAIN, EACH(neighbours, "family"),
	       "Entries of the kernel's tables of neighbours (ARP, neighbour discovery), of all network "
	       "namespaces. Absent outside the host's network namespace."),
	METRIC(NODE, "rdma_node_neighbours_limit", GAUGE, PLAIN, EACH(neighbours_limit, "family"),
	       "Entries that the kernel's tables of neighbours may have (gc_thresh3). Permanent entries "
	       "do not count towards the limit."),
	METRIC(NODE, "rdma_node_neighbour_overflows_total", COUNTER, PLAIN,
	       EACH(neighbour_overflows, "family"),
	       "Neighbours that the kernel refused since boot because the table was full: connections "
	       "to them failed."),
	METRIC(NODE, "rdma_gpudirect_ready", GAUGE, YES_NO, EACH(gpudirect_ready, "method"),
	       "1 if NICs can access GPU memory by this method (peer memory module or dma-buf), 0 "
	       "otherwise. Absent without a GPU driver, or if unknown."),
};

/* Modules of the kernel. */
static const struct rna_family module_rows[] = {
	{TELLS("module", ABOUT(struct rna_module, name))},
	METRIC(NODE, "rdma_module_loaded", GAUGE, YES_NO, IN(struct rna_module, loaded),
	       "1 if a kernel module of the RDMA stack is loaded or built in, 0 otherwise."),
	METRIC(NODE, "rdma_netns_exclusive", GAUGE, YES_NO, AT(readiness, netns_exclusive),
	       "1 if each RDMA device belongs to one network namespace, 0 if all namespaces share "
	       "the devices."),
};

/* Active findings, and how many there are. */
static const struct rna_family finding_rows[] = {
	{BOTH("rule", FINDING(rule), .tells = true)},
	{BOTH("severity", RNA_FIELD_ENUM(struct rna_finding, severity, severity), .tells = true)},
	{JSON("impact", RNA_FIELD_ENUM(struct rna_finding, impact, impact))},
	{JSON("cause", RNA_FIELD_ENUM(struct rna_finding, cause, cause))},
	{BOTH("device", FINDING(device), .tells = true)},
	{BOTH("port", FINDING(port), .zero_is_none = true, .tells = true)},
	{JSON("since", FINDING(since.realtime), .time = true)},
	{JSON_FLAG("silenced", FINDING(silenced))},
	{JSON("text", FINDING(text))},
	{JSON("remedy", FINDING(remedy))},
	{JSON("runbook", FINDING(runbook))},
	METRIC(NODE, "rdma_finding", GAUGE, PLAIN, OF(one),
	       "1 for each active finding. Without a port label it concerns the device; without a "
	       "device label, the node."),
	METRIC(NODE, "rdma_finding_since_seconds", GAUGE, SECONDS,
	       IN(struct rna_finding, since.realtime, .zero_is_none = true),
	       "Unix time of the start of each active finding, also over restarts of the agent."),
	METRIC(NODE, "rdma_finding_info", GAUGE, PLAIN,
	       EACH(finding_texts, "rule, severity, device, port, text"),
	       "Text of each active finding, as it was when the finding was reported or got worse: "
	       "numbers in it do not change afterwards. Requires metrics.finding_text."),
	METRIC(NODE, "rdma_findings", GAUGE, PLAIN, EACH(finding_counts, "severity"),
	       "Active findings by severity."),
};
/* clang-format on */

const struct rna_family_table rna_node_table = {ROWS(node_rows)};
const struct rna_family_table rna_missing_table = {ROWS(missing_rows), .next = next_missing};
const struct rna_family_table rna_loaded_module_table = {ROWS(module_rows), .next = next_module};
const struct rna_family_table rna_finding_table = {ROWS(finding_rows), .next = next_finding};
