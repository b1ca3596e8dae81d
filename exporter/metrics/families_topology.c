// SPDX-License-Identifier: Apache-2.0
/*
 * Metrics of the topology. A GPU is named by its PCI address: indexes depend on who counts, and on
 * CUDA_VISIBLE_DEVICES.
 */
#include "rna/model/topology.h"

#include "view/topology_tree.h"

#include "family_rows.h"

static void write_gpu(const struct rna_topology *topology, const struct rna_gpu *gpu,
		      struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
	const struct rna_pci_object *object = &topology->objects[gpu->object];
	char scratch[RNA_FIELD_TEXT_MAX];

	rna_label_add(&labels, "gpu", object->address);
	rna_label_add(&labels, "vendor", rna_gpu_vendor(object->vendor_id, scratch));
	rna_label_add(&labels, "model", gpu->model);
	rna_label_add(&labels, "uuid", gpu->uuid);
	rna_label_add(&labels, "driver", gpu->driver);
	if (rna_value_is_known(gpu->minor))
		rna_label_add_number(&labels, "minor", gpu->minor.number);
	if (object->numa_node >= 0)
		rna_label_add_number(&labels, "numa_node", (unsigned)object->numa_node);
	rna_writer_sample_labels(writer, &labels, 1);
}

static void gpu_info(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_topology *topology = rna_snapshot_topology(node->view->snapshot);

	for (size_t i = 0; topology && i < topology->gpu_count; i++)
		write_gpu(topology, &topology->gpus[i], writer);
}

/* -- Paths ------------------------------------------------------------------------------------- */

/* One of the RDMA devices of a NIC; NULL: it has none. */
static void write_path(const struct rna_topology *topology, unsigned gpu, unsigned nic,
		       const char *device, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
	enum rna_path_class path = rna_topology_gpu_path(topology, gpu, nic);

	rna_label_add(&labels, "gpu", topology->objects[topology->gpus[gpu].object].address);
	rna_label_add(&labels, "nic", topology->objects[topology->nics[nic].object].address);
	rna_label_add(&labels, "device", device);
	rna_label_add(&labels, "path", rna_path_class_name(path));
	rna_writer_sample_labels(writer, &labels, path);
}

static bool is_nearest(const struct rna_gpu_affinity *affinity, unsigned nic)
{
	return RNA_ANY(i, affinity->nearest_count, affinity->nearest[i] == nic);
}

static bool is_wanted(const struct rna_view *view, const struct rna_topology *topology,
		      unsigned gpu, unsigned nic)
{
	enum rna_path_class path = rna_topology_gpu_path(topology, gpu, nic);

	if (path == RNA_PATH_UNKNOWN)
		return false;
	return is_nearest(&topology->affinities[gpu], nic) || path <= view->metrics.gpu_nic_paths;
}

static void gpu_nic_path(const struct rna_subject *node, struct rna_writer *writer)
{
	const struct rna_topology *topology = rna_snapshot_topology(node->view->snapshot);
	size_t pairs = topology ? topology->gpu_count * topology->nic_count : 0;

	for (size_t i = 0; i < pairs; i++) {
		unsigned gpu = (unsigned)(i / topology->nic_count);
		unsigned nic = (unsigned)(i % topology->nic_count);
		const struct rna_nic *of = &topology->nics[nic];

		if (!is_wanted(node->view, topology, gpu, nic))
			continue;
		if (of->device_count == 0)
			write_path(topology, gpu, nic, NULL, writer);
		for (size_t d = 0; d < of->device_count; d++)
			write_path(topology, gpu, nic, of->devices[d], writer);
	}
}

/* -- Ports ------------------------------------------------------------------------------------- */

static bool is_nearer(const struct rna_gpu_affinity *a, unsigned nic,
		      const struct rna_gpu_affinity *b)
{
	bool assigned = a->nic == (int)nic;

	if (!b)
		return true;
	return assigned != (b->nic == (int)nic) ? assigned : a->path < b->path;
}

/* The PCI address of the GPU that the NIC serves: it is assigned to it, or as near. NULL: none. */
static const char *nearest_gpu(const struct rna_topology *topology, const struct rna_nic *nic)
{
	const struct rna_gpu_affinity *best = NULL;
	unsigned index = (unsigned)(nic - topology->nics);

	RNA_EACH (affinity, topology->affinities, topology->gpu_count)
		if ((affinity->nic == (int)index || is_nearest(affinity, index)) &&
		    is_nearer(affinity, index, best))
			best = affinity;
	return best ? topology->objects[topology->gpus[best - topology->affinities].object].address
		    : NULL;
}

static void rail_info(const struct rna_subject *port, struct rna_writer *writer)
{
	RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
	const struct rna_topology *topology = rna_snapshot_topology(port->view->snapshot);
	const struct rna_nic *nic =
		topology ? rna_topology_find_nic(topology, port->device->device) : NULL;
	const char *gpu = nic ? nearest_gpu(topology, nic) : NULL;

	if (!nic || (nic->rail < 0 && !gpu))
		return;
	rna_labels_begin(&labels, port->labels);
	if (nic->rail >= 0)
		rna_label_add_number(&labels, "rail", (unsigned)nic->rail);
	rna_label_add(&labels, "gpu", gpu);
	rna_writer_sample_labels(writer, &labels, 1);
}

/* -- The table --------------------------------------------------------------------------------- */

/* clang-format off */
static const struct rna_family rows[] = {
	METRIC(NODE, "rdma_gpu_info", INFO, PLAIN,
	       EACH(gpu_info, "gpu, vendor, model, uuid, driver, minor, numa_node"),
	       "GPU of this node, identified by its PCI address."),
	METRIC(NODE, "rdma_gpu_nic_path", GAUGE, PLAIN,
	       EACH(gpu_nic_path, "gpu, nic, device, path"),
	       "Distance between a GPU and a NIC (0 X, 1 PIX, 2 PXB, 3 PHB, 4 NODE, 5 SYS), both "
	       "identified by PCI address. metrics.gpu_nic_paths selects the pairs."),
	METRIC(PORT, "rdma_port_rail_info", INFO, PLAIN, EACH(rail_info, "rail, gpu"),
	       "Rail of the port, counted from 0 by PCI address, and PCI address of the nearest GPU. "
	       "Without the label rail for NICs outside the rails, such as storage NICs."),
};
/* clang-format on */

const struct rna_family_table rna_gpu_table = {ROWS(rows)};
