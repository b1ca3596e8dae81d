// SPDX-License-Identifier: Apache-2.0
/*
 * What the topology of a node is made of, for a recording: the PCI tree above GPUs and NICs, what
 * drivers say of GPUs, where processors are, and what hwloc found. What identifies a card (UUIDs,
 * serial numbers) is replaced; files that have more than what is read are written anew.
 */
#include <errno.h>
#include <string.h>

#include "rna/model/topology.h"

#include "parse/pci.h"

#include "collectors.h"
#include "recording.h"

#define FUNCTIONS "sys/bus/pci/devices"
#define NODES     "sys/devices/system/node"
#define KFD_NODES "sys/class/kfd/kfd/topology/nodes"

enum {
	SERIAL_MAX = 64,
	VPD_HEAD = 6, /* in front of a serial number that is the only value */
	VPD_END = 0x78,
};

static const struct rna_recorded_attribute gpu_attributes[] = {
	{"product_name"},
	{"unique_id", RNA_DISGUISE_TEXT},
};

static const struct rna_recorded_attribute virtual_attributes[] = {{"class"}};

static const struct rna_recorded_attribute nodes_attributes[] = {{"online"}};
static const struct rna_recorded_attribute node_attributes[] = {{"cpulist"}};
static const struct rna_recorded_attribute cpu_attributes[] = {{"physical_package_id"}};

/* Of three texts, in scratch. */
static const char *concatenate(struct rna_recording *recording, const char *before,
			       const char *name, const char *behind)
{
	return rna_recording_need(recording, rna_arena_printf(recording->scratch, "%s%s%s", before,
							      name, behind));
}

/* Where the function's link leads; NULL: it has none, as in a tree of hwloc alone. */
static const char *find_directory(struct rna_recording *recording, const char *address)
{
	const char *link = rna_recording_join(recording, FUNCTIONS, address);

	return link ? rna_root_realpath(recording->root, link, recording->scratch, NULL) : NULL;
}

static void write_text(struct rna_recording *recording, const char *path, const char *text)
{
	if (path && text)
		rna_recording_write_file(recording, path, text, strlen(text));
}

/* -- NICs -------------------------------------------------------------------------------------- */

/* They are counted, so class and physical function will do. */
static void copy_virtual(struct rna_recording *recording, const char *directory)
{
	char **names;
	size_t count = rna_recording_list(recording, directory, &names);

	for (size_t i = 0; i < count; i++) {
		const char *link = strncmp(names[i], "virtfn", strlen("virtfn")) == 0
					   ? rna_recording_join(recording, directory, names[i])
					   : NULL;
		const char *virtual = link ? rna_root_realpath(recording->root, link,
							       recording->scratch, NULL)
					   : NULL;
		const char *slash = virtual ? strrchr(virtual, '/') : NULL;

		if (!slash)
			continue;
		rna_recording_copy_link(recording, FUNCTIONS, slash + 1);
		if (rna_recording_has(recording, virtual, "class"))
			continue;
		RNA_RECORDING_COPY_ATTRIBUTES(recording, virtual, virtual_attributes);
		rna_recording_copy_link(recording, virtual, "physfn");
	}
}

/* A serial number that is as equal as the real one: a VPD with nothing else in it. */
static void write_serial(struct rna_recording *recording, const char *address)
{
	const char *directory = find_directory(recording, address);
	const char *path = directory ? rna_recording_join(recording, directory, "vpd") : NULL;
	const char *serial =
		directory ? rna_pci_read_serial(recording->root, directory, recording->scratch)
			  : NULL;
	char vpd[VPD_HEAD + SERIAL_MAX + 1] = "\x90\0\0SN";
	size_t len;

	if (!path || !serial)
		return;
	serial = rna_recording_disguise(recording, RNA_DISGUISE_TEXT, serial);
	len = serial ? strlen(serial) : 0;
	if (len == 0 || len > SERIAL_MAX)
		return;
	vpd[1] = (char)(len + 3); /* of the resource, whose keyword has three bytes in front */
	vpd[5] = (char)len;
	memcpy(vpd + VPD_HEAD, serial, len);
	vpd[VPD_HEAD + len] = VPD_END;
	rna_recording_write_file(recording, path, vpd, VPD_HEAD + len + 1);
}

static void copy_nic(struct rna_recording *recording, const struct rna_topology *topology,
		     const struct rna_nic *nic)
{
	const char *directory = find_directory(recording, topology->objects[nic->object].address);

	if (directory)
		copy_virtual(recording, directory);
	for (size_t i = 0; i < nic->netdev_count; i++)
		rna_record_netdev(recording, nic->netdevs[i]);
	if (nic->data_direct == RNA_NO_OBJECT)
		return;
	write_serial(recording, topology->objects[nic->object].address);
	write_serial(recording, topology->objects[nic->data_direct].address);
}

/* -- GPUs -------------------------------------------------------------------------------------- */

static void write_nvidia(struct rna_recording *recording, const char *address,
			 const struct rna_gpu *gpu)
{
	const char *path =
		concatenate(recording, "proc/driver/nvidia/gpus/", address, "/information");
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char *uuid;

	if (!path || !rna_root_exists(recording->root, path))
		return;
	uuid = gpu->uuid ? rna_recording_disguise(recording, RNA_DISGUISE_TEXT, gpu->uuid) : NULL;
	if (gpu->model)
		rna_strbuf_printf(&text, "Model: \t\t %s\n", gpu->model);
	if (uuid)
		rna_strbuf_printf(&text, "GPU UUID: \t %s\n", uuid);
	rna_strbuf_printf(&text, "Bus Location: \t %s\n", address);
	if (rna_value_is_known(gpu->minor))
		rna_strbuf_printf(&text, "Device Minor: \t %ju\n", (uintmax_t)gpu->minor.number);
	if (!rna_strbuf_ok(&text))
		rna_recording_fail(recording, -ENOMEM, NULL);
	else
		write_text(recording, path, text.data);
}

static void copy_gpu(struct rna_recording *recording, const struct rna_topology *topology,
		     const struct rna_gpu *gpu)
{
	const char *address = topology->objects[gpu->object].address;
	const char *directory = find_directory(recording, address);
	const char *drm = directory ? rna_recording_join(recording, directory, "drm") : NULL;
	char **names;
	size_t count = drm ? rna_recording_list(recording, drm, &names) : 0;

	write_nvidia(recording, address, gpu);
	if (directory)
		RNA_RECORDING_COPY_ATTRIBUTES(recording, directory, gpu_attributes);
	for (size_t i = 0; i < count; i++) {
		const char *path = rna_recording_join(recording, drm, names[i]);

		if (path && strncmp(names[i], "renderD", strlen("renderD")) == 0)
			rna_recording_write_directory(recording, path);
	}
}

/* Only the lines that are read: unique_id is one of the others. */
static void copy_kfd_node(struct rna_recording *recording, const char *name)
{
	static const char *const wanted[] = {"simd_count ", "location_id ", "domain "};
	const char *path = concatenate(recording, KFD_NODES "/", name, "/properties");
	RNA_STRBUF struct rna_strbuf kept = RNA_STRBUF_INIT;
	char text[RNA_ATTRIBUTE_MAX], *rest = text, *line;

	if (!path || rna_root_read(recording->root, path, text, sizeof(text)) <= 0)
		return;
	while ((line = strsep(&rest, "\n")))
		for (size_t i = 0; i < RNA_ARRAY_SIZE(wanted); i++)
			if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
				rna_strbuf_printf(&kept, "%s\n", line);
	if (!rna_strbuf_ok(&kept))
		rna_recording_fail(recording, -ENOMEM, NULL);
	else
		write_text(recording, path, kept.data);
}

static void copy_kfd(struct rna_recording *recording)
{
	char **names;
	size_t count = rna_root_exists(recording->root, KFD_NODES)
			       ? rna_recording_list(recording, KFD_NODES, &names)
			       : 0;

	for (size_t i = 0; i < count; i++)
		copy_kfd_node(recording, names[i]);
}

/* -- Places ------------------------------------------------------------------------------------ */

/* The node's processors, and the package of the first one. */
static void copy_node(struct rna_recording *recording, int node)
{
	const char *directory =
		rna_recording_need(recording,
				   rna_arena_printf(recording->scratch, NODES "/node%d", node));
	const char *path = directory ? rna_recording_join(recording, directory, "cpulist") : NULL;
	char cpus[RNA_ATTRIBUTE_MAX];

	if (!path || rna_recording_has(recording, directory, "cpulist") ||
	    rna_root_read(recording->root, path, cpus, sizeof(cpus)) <= 0)
		return;
	RNA_RECORDING_COPY_ATTRIBUTES(recording, directory, node_attributes);
	cpus[strspn(cpus, "0123456789")] = '\0';
	directory = concatenate(recording, "sys/devices/system/cpu/cpu", cpus, "/topology");
	if (directory)
		RNA_RECORDING_COPY_ATTRIBUTES(recording, directory, cpu_attributes);
}

/* Host name, serial numbers of the board and the like are infos, and nothing else is. */
static void drop_infos(char *xml)
{
	static const char mark[] = "<info ";
	char *info;

	while ((info = strstr(xml, mark))) {
		const char *end = strchr(info, '>');

		if (!end)
			return;
		end += 1 + strspn(end + 1, " \n");
		memmove(info, end, strlen(end) + 1);
		xml = info;
	}
}

static void write_hwloc(struct rna_recording *recording)
{
	struct rna_error error = {0};
	char *xml = NULL;
	int status = recording->backends->hwloc->write(recording->root, recording->scratch, &xml,
						       &error);

	if (status == -ENOMEM)
		rna_recording_fail(recording, -ENOMEM, NULL);
	else if (status < 0 && status != -ENOENT)
		rna_recording_note(recording, RNA_RECORDED_HWLOC, status);
	if (status < 0)
		return;
	if (recording->disguise)
		drop_infos(xml);
	write_text(recording, RNA_RECORDED_HWLOC, xml);
}

static void copy_topology(struct rna_recording *recording, const struct rna_topology *topology)
{
	for (size_t i = 0; i < topology->object_count; i++) {
		const struct rna_pci_object *object = &topology->objects[i];
		const char *directory = find_directory(recording, object->address);

		if (directory) {
			rna_recording_copy_link(recording, FUNCTIONS, object->address);
			rna_record_function(recording, directory);
		}
		if (object->numa_node >= 0)
			copy_node(recording, object->numa_node);
	}
	for (size_t i = 0; i < topology->gpu_count; i++)
		copy_gpu(recording, topology, &topology->gpus[i]);
	for (size_t i = 0; i < topology->nic_count; i++)
		copy_nic(recording, topology, &topology->nics[i]);
	RNA_RECORDING_COPY_ATTRIBUTES(recording, NODES, nodes_attributes);
	copy_kfd(recording);
	write_hwloc(recording);
}

int rna_record_topology(struct rna_recording *recording, const struct rna_collect_input *input)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	int status = rna_collect_topology(input, &part, recording->error);

	if (status < 0)
		return status;
	copy_topology(recording, (const struct rna_topology *)part);
	return recording->status;
}
