// SPDX-License-Identifier: Apache-2.0
/*
 * Cards and devices: what they are, their PCIe path, their virtual functions and the RDMA objects
 * on them. A card may have hundreds of virtual functions, on each of which a job of the neighbours
 * may run: so they are counted, and only on demand have a series each.
 */
#include "rna/model/resources.h"
#include "rna/model/virtual_functions.h"

#include "view/facts.h"

#include "family_rows.h"

/* -- Identity ---------------------------------------------------------------------------------- */

static const char *function(const void *subject)
{
	return rna_function_name(((const struct rna_subject *)subject)->rdma_device->function);
}

static const char *print_pci_id(char scratch[RNA_FIELD_TEXT_MAX], uint32_t id)
{
	if (id == 0)
		return NULL;
	(void)snprintf(scratch, RNA_FIELD_TEXT_MAX, "0x%04x", id);
	return scratch;
}

static const char *vendor_id(const void *subject, char scratch[RNA_FIELD_TEXT_MAX])
{
	return print_pci_id(scratch, ((const struct rna_subject *)subject)->rdma_device->vendor_id);
}

static const char *device_id(const void *subject, char scratch[RNA_FIELD_TEXT_MAX])
{
	return print_pci_id(scratch, ((const struct rna_subject *)subject)->rdma_device->device_id);
}

static const char *node_type(const void *subject)
{
	const struct rna_identity *identity = ((const struct rna_subject *)subject)->identity;

	if (!identity || identity->node_type == RNA_NODE_TYPE_UNKNOWN)
		return NULL;
	return rna_node_type_name(identity->node_type);
}

/* -- Cards ------------------------------------------------------------------------------------- */

static const char *card_model(const void *subject)
{
	const struct rna_card *card = ((const struct rna_subject *)subject)->card;

	return card->model ? card->model : card->hca_type;
}

/* A PCI number that cannot be read must not make another series: it has no other model. */
static void card_info(const struct rna_subject *device, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;

	if (!device->card)
		return;
	rna_labels_begin(&labels, device->labels);
	rna_label_add(&labels, "card", device->card->address);
	rna_label_add(&labels, "model",
		      device->card->identified ? card_model(device) : device->card->model);
	rna_writer_sample_labels(writer, &labels, 1);
}

static struct rna_value followed(const struct rna_subject *device)
{
	return device->rdma_device->process ? rna_value_ok(1) : rna_no_value;
}

/* -- PCIe path --------------------------------------------------------------------------------- */

static struct rna_value pcie_speed(const struct rna_subject *device)
{
	return device->hop ? rna_transfers_per_second(device->hop->link.speed) : rna_no_value;
}

static struct rna_value pcie_max_speed(const struct rna_subject *device)
{
	return device->hop ? rna_transfers_per_second(device->hop->link.max_speed) : rna_no_value;
}

static struct rna_value pcie_rate(const struct rna_subject *device)
{
	return device->pcie ? rna_pcie_path_rate(device->pcie) : rna_no_value;
}

/* Is the path slower than the device's own link can be? */
static bool is_limited(const struct rna_pcie *pcie)
{
	const struct rna_pcie_link *own = &pcie->hops[0].link;

	return rna_pcie_path_rate(pcie).number < rna_pcie_rate(own->max_speed, own->max_width);
}

static void pcie_bottleneck(const struct rna_subject *device, struct rna_writer *writer)
{
	int hop = device->pcie ? rna_pcie_bottleneck(device->pcie) : -1;

	if (hop >= 0 && (device->view->metrics.details || is_limited(device->pcie)))
		rna_writer_sample_with(writer, device->labels, "pci_address",
				       device->pcie->hops[hop].address, 1);
}

static void pcie_errors(const struct rna_subject *device, struct rna_writer *writer)
{
	for (enum rna_aer severity = 0; device->pcie && severity < RNA_AER_COUNT; severity++) {
		struct rna_value sum = rna_pcie_errors(device->pcie, severity);

		if (rna_value_is_known(sum))
			rna_writer_sample_with(writer, device->labels, "severity",
					       rna_aer_name(severity), sum.number);
	}
}

static struct rna_value acs_redirect(const struct rna_subject *device)
{
	return device->pcie ? rna_pcie_acs_redirect(device->pcie, NULL) : rna_no_value;
}

static void iommu_info(const struct rna_subject *device, struct rna_writer *writer)
{
	if (device->pcie && rna_value_is_known(device->pcie->iommu))
		rna_writer_sample_with(writer, device->labels, "mode",
				       rna_iommu_mode_name(
					       (enum rna_iommu_mode)device->pcie->iommu.number),
				       1);
}

/* -- Virtual functions ------------------------------------------------------------------------- */

enum { SERIES_MAX = 256 }; /* of one device */

static void vf_properties(const struct rna_subject *device, struct rna_writer *writer)
{
	const struct rna_virtual_functions *functions =
		rna_device_virtual_functions(device->device);

	for (enum rna_vf_property i = 0; functions && i < RNA_VF_PROPERTY_COUNT; i++) {
		struct rna_value count = rna_vf_count(functions, i);

		if (rna_value_is_known(count))
			rna_writer_sample_with(writer, device->labels, "property",
					       rna_vf_property_name(i), count.number);
	}
}

static const void *next_function(const struct rna_subject *device, size_t *from)
{
	const struct rna_virtual_functions *functions =
		rna_device_virtual_functions(device->device);

	if (!device->view->metrics.virtual_functions || !functions || *from >= functions->count ||
	    *from >= SERIES_MAX)
		return NULL;
	return &functions->functions[(*from)++];
}

/* 0 is none, which JSON says and a label does not. */
static struct rna_value vlan_if_any(const void *item)
{
	const struct rna_virtual_function *function = item;

	return function->vlan.number > 0 ? function->vlan : rna_no_value;
}

/* -- Resources --------------------------------------------------------------------------------- */

static struct rna_value in_use(const struct rna_subject *device)
{
	const struct rna_resources *resources = rna_device_resources(device->device);
	struct rna_value users = {0};

	if (resources)
		users = rna_resources_users(&resources->now);
	return rna_value_is_known(users) ? rna_value_ok(users.number > 0) : users;
}

static void write_count(const struct rna_subject *device, const struct rna_value *counts,
			enum rna_resource resource, struct rna_writer *writer)
{
	if (rna_value_is_known(counts[resource]))
		rna_writer_sample_with(writer, device->labels, "resource",
				       rna_resource_name(resource), counts[resource].number);
}

static void write_counts(const struct rna_subject *device, const struct rna_value *counts,
			 struct rna_writer *writer)
{
	for (enum rna_resource i = 0; i < RNA_RESOURCE_COUNT; i++)
		write_count(device, counts, i, writer);
}

static void write_resources(const struct rna_subject *device, struct rna_writer *writer)
{
	const struct rna_resources *resources = rna_device_resources(device->device);

	if (resources)
		write_counts(device, resources->now.of, writer);
}

static void idle_resources(const struct rna_subject *device, struct rna_writer *writer)
{
	const struct rna_resources *resources = rna_device_resources(device->device);

	if (resources && device->view->metrics.details)
		write_counts(device, resources->idle, writer);
	else if (resources)
		write_count(device, resources->idle, RNA_RESOURCE_QP, writer);
}

static void unnamed_contexts(const struct rna_subject *device, struct rna_writer *writer)
{
	const struct rna_users *users = rna_device_users(device->device);

	if (!device->view->metrics.users || !users)
		return;
	for (enum rna_unnamed reason = 0; reason < RNA_UNNAMED_COUNT; reason++)
		if (users->unnamed[reason] > 0)
			rna_writer_sample_with(writer, device->labels, "reason",
					       rna_unnamed_name(reason), users->unnamed[reason]);
}

static const void *next_user(const struct rna_subject *device, size_t *from)
{
	const struct rna_users *users = rna_device_users(device->device);

	if (!device->view->metrics.users || !users || *from >= users->count)
		return NULL;
	return &users->items[(*from)++];
}

/* -- The tables -------------------------------------------------------------------------------- */

#define VF(member)   ABOUT(struct rna_virtual_function, member)
#define USER(member) ABOUT(struct rna_user, member)

/* clang-format off */
static const struct rna_family card_rows[] = {
	{JSON("card", BEHIND(card, address), .column = "CARD")},
	{JSON("model", BEHIND(card, model))},
	{.field = {.text = card_model, .column = "MODEL"}},
	{JSON("hca_type", BEHIND(card, hca_type))},
	{JSON("board_id", BEHIND(card, board_id), .column = "BOARD")},
	{JSON("firmware_version", BEHIND(card, firmware_version))},
	{JSON_FLAG("firmware_differs", BEHIND(card, firmware_differs))},
	{JSON("numa_node", BEHIND(card, numa_node), .column = "NUMA", .right = true)},
};

static const struct rna_family device_rows[] = {
	{JSON("name", BEHIND(rdma_device, name), .column = "DEVICE", .title = "Device")},
	{JSON("key", BEHIND(rdma_device, key))},
	{JSON("process", BEHIND(rdma_device, process), .zero_is_none = true)},
	{JSON("network_namespace", BEHIND(rdma_device, network_namespace), .zero_is_none = true)},
	{JSON("card", BEHIND(card, address))},
	{JSON("former_name", BEHIND(changes, name.text))},
	{JSON("renamed", BEHIND(changes, name.changed), .time = true, .zero_is_none = true)},
	{JSON("former_node_guid", BEHIND(changes, guid.text))},
	{JSON("replaced", BEHIND(changes, guid.changed), .time = true, .zero_is_none = true)},
	{JSON("driver_version", BEHIND(identity, driver_version))},
	METRIC(DEVICE, "rdma_device_info", INFO, PLAIN, GET(rna_family_one),
	       "RDMA device with its PCI address, board, firmware and GUIDs."),
	{BOTH("pci_address", BEHIND(rdma_device, pci_address), .column = "PCI",
	      .title = "PCI address")},
	{BOTH("driver", BEHIND(rdma_device, driver), .title = "Driver")},
	{BOTH("function", .text = function, .title = "Function")},
	{BOTH("physical_function", BEHIND(rdma_device, physical_function))},
	{BOTH("vendor_id", .print = vendor_id)},
	{BOTH("device_id", .print = device_id)},
	{BOTH("numa_node", BEHIND(rdma_device, numa_node), .column = "NUMA", .right = true,
	      .title = "NUMA node")},
	{BOTH("node_type", .text = node_type)},
	{BOTH("hca_type", BEHIND(identity, hca_type), .column = "HCA", .title = "Type")},
	{BOTH("board_id", BEHIND(identity, board_id), .title = "Board")},
	{BOTH("firmware_version", BEHIND(identity, firmware_version), .column = "FIRMWARE",
	      .title = "Firmware")},
	{BOTH("hardware_revision", BEHIND(identity, hardware_revision))},
	{BOTH("node_guid", BEHIND(identity, node_guid), .title = "Node GUID")},
	{BOTH("system_image_guid", BEHIND(identity, system_image_guid))},
	{BOTH("node_description", BEHIND(identity, node_description), .title = "Description")},
	METRIC(DEVICE, "rdma_device_followed", GAUGE, PLAIN, GET(followed),
	       "1: the device is in another network namespace, usually that of a pod, and the agent "
	       "reads it there (follow.enabled). Absent for devices in the agent's own."),
	DETAIL(DEVICE, "rdma_device_card_info", INFO, PLAIN, EACH(card_info, "card, model"),
	       "Card to which the device belongs, by PCI address without the function. Devices with "
	       "the same card are functions of one adapter."),
	DETAIL(DEVICE, "rdma_device_pcie_link_transfers_per_second", GAUGE, PLAIN, GET(pcie_speed),
	       "Trained speed of the device's own PCIe link in transfers per second and lane (16e9"
	       " for 16 GT/s). Absent for VFs and SFs, which share the link of their PF."),
	DETAIL(DEVICE, "rdma_device_pcie_max_link_transfers_per_second", GAUGE, PLAIN,
	       GET(pcie_max_speed),
	       "Highest PCIe link speed that the device supports, in transfers per second and "
	       "lane."),
	DETAIL(DEVICE, "rdma_device_pcie_link_lanes", GAUGE, PLAIN, AT(hop, link.width),
	       "Trained width of the device's own PCIe link in lanes."),
	DETAIL(DEVICE, "rdma_device_pcie_max_link_lanes", GAUGE, PLAIN, AT(hop, link.max_width),
	       "Largest PCIe link width that the device supports, in lanes."),
	METRIC(DEVICE, "rdma_device_pcie_path_bytes_per_second", GAUGE, BYTES_PER_SEC,
	       GET(pcie_rate),
	       "Bandwidth of the slowest PCIe link between the device and its root port, in bytes "
	       "per second and direction, after line coding and packet headers."),
	METRIC(DEVICE, "rdma_device_pcie_bottleneck_info", INFO, PLAIN,
	       EACH(pcie_bottleneck, "pci_address"),
	       "PCI address of the function at the lower end of the slowest link between the "
	       "device and its root port, if that is slower than the device's own link can be."),
	METRIC(DEVICE, "rdma_device_pcie_errors_total", COUNTER, PLAIN,
	       EACH(pcie_errors, "severity"),
	       "PCIe errors (AER) of all functions from the device up to its root port, by "
	       "severity: correctable, nonfatal, fatal. Errors of a switch port are counted for "
	       "every device below it."),
	DETAIL(DEVICE, "rdma_device_pcie_max_read_request_bytes", GAUGE, BYTES,
	       AT(hop, max_read_request),
	       "Largest PCIe read request that the device may issue, in bytes. Readable by root "
	       "only."),
	METRIC(DEVICE, "rdma_device_pcie_acs_redirect", GAUGE, YES_NO, GET(acs_redirect),
	       "1 if ACS of a PCIe switch port above the device redirects peer-to-peer traffic to the "
	       "root port, 0 otherwise. Readable by root only; absent without a switch with ACS."),
	METRIC(DEVICE, "rdma_device_iommu_info", INFO, PLAIN, EACH(iommu_info, "mode"),
	       "What the IOMMU does with the addresses of the device: off, identity, DMA-FQ or DMA "
	       "(both translate; DMA is strict), other. Absent if unknown."),
	METRIC(DEVICE, "rdma_device_virtual_functions", GAUGE, PLAIN, AT(pcie, virtual_functions),
	       "Configured virtual functions (SR-IOV) of the device."),
	DETAIL(DEVICE, "rdma_device_max_virtual_functions", GAUGE, PLAIN,
	       AT(pcie, max_virtual_functions),
	       "Largest number of virtual functions (SR-IOV) that the device supports. Absent if "
	       "it supports none."),
	METRIC(DEVICE, "rdma_device_virtual_function_properties", GAUGE, PLAIN,
	       EACH(vf_properties, "property"),
	       "Virtual functions of the device by property: bound (to a driver of this node), "
	       "passed (to virtual machines), rdma (has an RDMA device here), represented, "
	       "unassigned (no MAC address or GUID), link-down (link forced down), trusted, spoof-"
	       "unchecked. Absent if unknown."),
};

static const struct rna_family function_rows[] = {
	METRIC(DEVICE, "rdma_device_virtual_function_info", INFO, PLAIN, LABELS,
	       "Virtual function of the device. Requires metrics.virtual_functions."),
	{BOTH("vf", VF(number))},
	{BOTH("pci_address", VF(pci_address))},
	{BOTH("driver", VF(driver))},
	{.field = {.json = "device", .label = "vf_device", VF(device)}},
	{JSON("netdev", VF(netdev))},
	{BOTH("representor", VF(representor))},
	{BOTH("mac", VF(mac))},
	{JSON("node_guid", VF(node_guid))},
	{BOTH("port_guid", VF(port_guid))},
	{BOTH("link", VF(link), .word = rna_vf_link_name)},
	{JSON_FLAG("assigned", VF(assigned))},
	{BOTH("spoof_check", VF(spoof_check), .yes_no = true)},
	{BOTH("trust", VF(trust), .yes_no = true)},
	{.field = {.label = "vlan", .number = vlan_if_any}},
	{JSON("vlan", VF(vlan))},
	{JSON("vlan_priority", VF(vlan_priority))},
	{JSON("max_rate_bits_per_second", VF(max_rate))},
};

static const struct rna_family resource_rows[] = {
	METRIC(DEVICE, "rdma_device_in_use", GAUGE, YES_NO, GET(in_use),
	       "1 if an application has the device open, 0 otherwise. Kernel users (IPoIB, "
	       "storage) and the agent itself do not count."),
	METRIC(DEVICE, "rdma_device_resources", GAUGE, PLAIN, EACH(write_resources, "resource"),
	       "RDMA objects on the device, including the kernel's own: qp, mr, cq, pd, srq, "
	       "cm_id, comp_cntr, and ctx (one for each time the device is open)."),
	METRIC(DEVICE, "rdma_device_idle_resources", GAUGE, PLAIN, EACH(idle_resources, "resource"),
	       "rdma_device_resources at the last time no application had the device open, that "
	       "is, the kernel's own objects. Absent until the agent has seen the device idle; all "
	       "but qp only with metrics.details."),
	METRIC(DEVICE, "rdma_device_unnamed_contexts", GAUGE, PLAIN, EACH(unnamed_contexts, "reason"),
	       "How often processes without a series in rdma_device_user_info have the device open, "
	       "by reason: others (of more than 32 users), unnamed (of no pod, job, container or "
	       "unit), hidden (in another PID namespace). Absent if there is none. Requires "
	       "metrics.users."),
};

static const struct rna_family user_rows[] = {
	METRIC(DEVICE, "rdma_device_user_info", INFO, PLAIN, LABELS,
	       "Pod and container, Slurm job and user ID, or systemd unit that has the device open. "
	       "A pod without a known name has its UID. Requires metrics.users."),
	{BOTH("namespace", USER(namespace))},
	{BOTH("pod", USER(pod))},
	{BOTH("container", USER(container))},
	{BOTH("job", USER(job))},
	{BOTH("uid", USER(uid))},
	{BOTH("unit", USER(unit))},
	{JSON("pod_uid", USER(pod_uid))},
	{JSON("container_id", USER(container_id))},
	{JSON("contexts", USER(contexts))},
};
/* clang-format on */

const struct rna_family_table rna_card_table = {ROWS(card_rows)};
const struct rna_family_table rna_device_table = {ROWS(device_rows)};
const struct rna_family_table rna_virtual_function_table = {ROWS(function_rows),
							    .next = next_function};
const struct rna_family_table rna_resource_table = {ROWS(resource_rows)};
const struct rna_family_table rna_user_table = {ROWS(user_rows), .next = next_user};
