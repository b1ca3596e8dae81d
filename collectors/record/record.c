// SPDX-License-Identifier: Apache-2.0
/*
 * Recording a machine: its devices, and in which order the rest. Tables say which files, functions
 * below them where these are; how they are copied is recording.c's business.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "parse/pci.h"

#include "collectors.h"
#include "identity.h"
#include "recording.h"

#define CLASS_INFINIBAND "sys/class/infiniband"
#define NOTES            "recorded/unreadable"

enum {
	GIDS_MAX = 1024, /* used ones, of each port */
	PKEYS_MAX = 16,
};

static const struct rna_recorded_attribute device_attributes[] = {
	{"node_type"},
	{"node_guid", RNA_DISGUISE_GUID},
	{"sys_image_guid", RNA_DISGUISE_GUID},
	{"fw_ver"},
	{"board_id"},
	{"hca_type"},
	{"hw_rev"},
	{"node_desc", RNA_DISGUISE_TEXT},
	{"parent", RNA_DISGUISE_NAME},
};

static const struct rna_recorded_attribute port_attributes[] = {
	{"link_layer"}, {"state"}, {"phys_state"}, {"rate"},           {"lid"},
	{"sm_lid"},     {"sm_sl"}, {"cap_mask"},   {"lid_mask_count"},
};

/* Of the auxiliary device that a subfunction's RDMA device hangs on. */
static const struct rna_recorded_attribute parent_attributes[] = {{"sfnum"}};

/* Of an InfiniBand virtual function, below sriov/N. Their GUIDs are written in groups of one. */
static const struct rna_recorded_attribute vf_attributes[] = {
	{"node", RNA_DISGUISE_ADDRESS},
	{"port", RNA_DISGUISE_ADDRESS},
	{"policy"},
};

/* -- Devices ----------------------------------------------------------------------------------- */

static bool is_used_gid(struct rna_recording *recording, const char *path)
{
	char text[RNA_ATTRIBUTE_MAX + 1];
	ssize_t len = rna_root_read(recording->root, path, text, sizeof(text));

	return len > 0 && text[strspn(text, "0:")] != '\0';
}

static const struct {
	const char *directory;
	struct rna_recorded_attribute attribute;
} gid_files[] = {
	{"gids", {.kind = RNA_DISGUISE_GID}},
	{"gid_attrs/types", {.may_be_invalid = true}},
	{"gid_attrs/ndevs", {.kind = RNA_DISGUISE_NAME, .may_be_invalid = true}},
};

static void add_gid(struct rna_recording *recording, struct rna_recorded_files *files,
		    const char *port, const char *index)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(gid_files); i++) {
		const char *directory = rna_recording_join(recording, port, gid_files[i].directory);

		if (directory)
			rna_recording_add_file(recording, files,
					       rna_recording_join(recording, directory, index),
					       &gid_files[i].attribute);
	}
}

/*
 * Those in use, and entry 0: tables have 256 entries and more, nearly all of them zero. Which are
 * in use comes from the kernel's cache; no driver is asked.
 */
static void copy_gids(struct rna_recording *recording, const char *port)
{
	const char *directory = rna_recording_join(recording, port, "gids");
	char **names;
	size_t count = rna_recording_list(recording, directory, &names), copied = 0;
	struct rna_recorded_files files =
		rna_recording_new_files(recording, count * RNA_ARRAY_SIZE(gid_files));

	for (size_t i = 0; i < count && copied < GIDS_MAX; i++) {
		const char *path = rna_recording_join(recording, directory, names[i]);

		if (!path || (strcmp(names[i], "0") != 0 && !is_used_gid(recording, path)))
			continue;
		add_gid(recording, &files, port, names[i]);
		copied++;
	}
	rna_recording_copy(recording, &files);
}

/* Nothing reads the counters of what manages NVSwitches, see rna/model/device.h; nor does a
 * recorder. */
static void copy_counters(struct rna_recording *recording, const struct rna_device *device,
			  const char *path)
{
	if (device->function != RNA_FUNCTION_SWITCH_MANAGEMENT)
		rna_recording_copy_files(recording, path, SIZE_MAX);
}

/* The first line: behind it may be rules, with addresses. */
static void copy_traffic_class(struct rna_recording *recording, const struct rna_device *device,
			       unsigned number)
{
	const char *path =
		rna_recording_need(recording, rna_arena_printf(recording->scratch,
							       "%s/" RNA_TRAFFIC_CLASS_FILE,
							       device->sysfs_path, number));
	char text[RNA_ATTRIBUTE_MAX + 1];

	if (!path || rna_root_read(recording->root, path, text, sizeof(text)) < 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, RNA_TRAFFIC_CLASS_HEAD, strlen(RNA_TRAFFIC_CLASS_HEAD)) == 0)
		rna_recording_write_file(recording, path, text, strlen(text));
}

static void copy_port(struct rna_recording *recording, const struct rna_device *device,
		      unsigned number)
{
	static const char *const counters[] = {"counters", "hw_counters"};
	const char *port =
		rna_recording_need(recording, rna_arena_printf(recording->scratch, "%s/ports/%u",
							       device->sysfs_path, number));

	if (!port)
		return;
	rna_recording_write_directory(recording, port);
	RNA_RECORDING_COPY_ATTRIBUTES(recording, port, port_attributes);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(counters); i++)
		copy_counters(recording, device, rna_recording_join(recording, port, counters[i]));
	rna_recording_copy_files(recording, rna_recording_join(recording, port, "pkeys"),
				 PKEYS_MAX);
	copy_gids(recording, port);
	copy_traffic_class(recording, device, number);
}

/* Who drives each of its virtual functions; of those that are RDMA devices there is more. */
static void copy_vf_drivers(struct rna_recording *recording, const char *physical)
{
	char **names;
	size_t count = rna_recording_list(recording, physical, &names);

	for (size_t i = 0; i < count; i++) {
		const char *link, *directory;

		if (strncmp(names[i], "virtfn", strlen("virtfn")) != 0)
			continue;
		link = rna_recording_join(recording, physical, names[i]);
		directory =
			link ? rna_root_realpath(recording->root, link, recording->scratch, NULL)
			     : NULL;
		if (directory)
			rna_recording_copy_link(recording, directory, "driver");
	}
}

/* The function and the bridges above it; of a virtual one also its physical one. */
static void copy_pci_path(struct rna_recording *recording, char *directory)
{
	const char *link = rna_recording_join(recording, directory, "physfn");
	char *physical =
		link ? rna_root_realpath(recording->root, link, recording->scratch, NULL) : NULL;
	char *slash = strrchr(directory, '/');

	if (physical && rna_pci_is_address(slash + 1, strlen(slash + 1)))
		rna_record_function(recording, physical);
	for (; slash && rna_pci_is_address(slash + 1, strlen(slash + 1));
	     slash = strrchr(directory, '/')) {
		rna_record_function(recording, directory);
		*slash = '\0';
	}
}

/* The interfaces of the function, also those that serve no port: what tells them apart is read. */
static void copy_netdevs_below(struct rna_recording *recording, const struct rna_device *device,
			       const char *parent)
{
	const char *directory = rna_recording_join(recording, parent, "net");
	char **names;
	size_t count = rna_recording_list(recording, directory, &names);

	for (size_t i = 0; i < count; i++) {
		rna_record_netdev_at(recording, rna_recording_join(recording, directory, names[i]),
				     names[i]);
		if (device->function == RNA_FUNCTION_PF)
			rna_record_virtual_functions(recording, names[i]);
	}
}

/* Of NVIDIA's own driver package; other drivers have no such directory. */
static void copy_infiniband_vfs(struct rna_recording *recording, const struct rna_device *device)
{
	const char *directory = rna_recording_join(recording, device->sysfs_path, "device/sriov");
	char **names;
	size_t count = directory ? rna_recording_list(recording, directory, &names) : 0;

	for (size_t i = 0; i < count; i++) {
		const char *path = rna_recording_join(recording, directory, names[i]);

		if (path)
			RNA_RECORDING_COPY_ATTRIBUTES(recording, path, vf_attributes);
	}
}

/* Of the VPD only what makes the function known: the rest is serial numbers. */
static void record_vpd(struct rna_recording *recording, const struct rna_device *device,
		       const char *pci)
{
	static const char mark[] = RNA_PCI_SWITCH_MANAGEMENT_MARK;
	const char *path = rna_recording_join(recording, pci, "vpd");

	if (path && device->function == RNA_FUNCTION_SWITCH_MANAGEMENT)
		rna_recording_write_file(recording, path, mark, sizeof(mark) - 1);
}

/* What "device" leads to: a PCI function, or an auxiliary device below one. */
static void copy_parent(struct rna_recording *recording, const struct rna_device *device)
{
	const char *link = rna_recording_join(recording, device->sysfs_path, "device");
	const char *parent =
		link ? rna_root_realpath(recording->root, link, recording->scratch, NULL) : NULL;
	char *pci = NULL;

	if (rna_pci_find_directory(recording->root, device->sysfs_path, recording->scratch, &pci) ==
	    -ENOMEM)
		rna_recording_fail(recording, -ENOMEM, NULL);
	if (pci) {
		record_vpd(recording, device, pci);
		copy_vf_drivers(recording, pci);
		copy_pci_path(recording, pci);
	}
	if (!parent)
		return;
	rna_recording_copy_link(recording, device->sysfs_path, "device");
	rna_recording_write_directory(recording, parent);
	RNA_RECORDING_COPY_ATTRIBUTES(recording, parent, parent_attributes);
	copy_netdevs_below(recording, device, parent);
	copy_infiniband_vfs(recording, device);
}

static void copy_device(struct rna_recording *recording, const struct rna_device *device)
{
	rna_recording_copy_link(recording, CLASS_INFINIBAND, device->name);
	rna_recording_write_directory(recording, device->sysfs_path);
	RNA_RECORDING_COPY_ATTRIBUTES(recording, device->sysfs_path, device_attributes);
	copy_counters(recording, device,
		      rna_recording_join(recording, device->sysfs_path, "hw_counters"));
	for (size_t i = 0; i < device->port_count; i++)
		copy_port(recording, device, device->ports[i]);
	copy_parent(recording, device);
	rna_record_verbs(recording, device);
	rna_record_mads(recording, device);
	rna_record_resources(recording, device);
	rna_record_qos_device(recording, device);
	recording->result.devices++;
}

/* -- The machine ------------------------------------------------------------------------------- */

/* The interfaces that serve a port, wherever they are, their masters and members of bonds. */
static int copy_serving_netdevs(struct rna_recording *recording,
				const struct rna_collect_input *input)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_netdevs *netdevs;
	int status;

	if (!rna_record_netdevs_answer(recording, input))
		return 0;
	status = rna_collect_netdev(input, &part, recording->error);
	if (status < 0)
		return status;
	netdevs = (const struct rna_netdevs *)part;
	for (size_t i = 0; i < netdevs->count; i++) {
		const char *name = netdevs->netdevs[i].name;

		rna_record_netdev(recording, name);
		rna_record_module(recording, name);
		rna_record_addresses(recording, &netdevs->netdevs[i]);
		rna_record_qos_netdev(recording, name);
		rna_record_ethtool(recording, &netdevs->netdevs[i]);
	}
	if (netdevs->uplink)
		rna_record_uplink(recording, netdevs->uplink);
	for (size_t i = 0; i < netdevs->port_count; i++)
		if (netdevs->ports[i].source == RNA_NETDEV_BY_NETLINK)
			rna_record_netlink(recording, &netdevs->ports[i]);
	return recording->status;
}

static int copy_machine(struct rna_recording *recording)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	struct rna_collect_input input = {.root = recording->root, .backends = recording->backends};
	int status = rna_collect_presence(&input, &part, recording->error);

	if (status < 0)
		return status;
	input.presence = (const struct rna_presence *)part;
	rna_recording_write_directory(recording, "sys");
	if (input.presence->stack)
		rna_recording_write_directory(recording, CLASS_INFINIBAND);
	for (size_t i = 0; i < input.presence->device_count; i++)
		copy_device(recording, &input.presence->devices[i]);
	rna_record_readiness(recording);
	rna_record_lldp(recording);
	status = copy_serving_netdevs(recording, &input);
	if (status == 0)
		status = rna_record_topology(recording, &input);
	if (status == 0 && !rna_strbuf_ok(&recording->notes))
		rna_recording_fail(recording, -ENOMEM, NULL);
	if (recording->status == 0 && recording->notes.len > 0)
		rna_recording_write_file(recording, NOTES, recording->notes.data,
					 recording->notes.len);
	return status < 0 ? status : recording->status;
}
/* Descriptor of a directory that is empty, made when it does not exist; or negative errno. */
static int open_directory(const char *path, struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(256);
	char **names;
	ssize_t count;
	int fd;

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return rna_error_set(error, -errno, "%s: cannot make the directory", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return rna_error_set(error, -errno, "%s: cannot open", path);
	count = scratch ? rna_root_list_fd(dup(fd), scratch, &names) : -ENOMEM;
	if (count > 0)
		count = -ENOTEMPTY;
	if (count == 0)
		return fd;
	(void)close(fd); /* nothing was written */
	return rna_error_set(error, (int)count, "%s: a recording wants a directory of its own",
			     path);
}

static void deinit(struct rna_recording *recording)
{
	rna_close_p(&recording->fd);
	recording->disguise = rna_disguise_free(recording->disguise);
	recording->scratch = rna_arena_free(recording->scratch);
	rna_strbuf_deinit(&recording->notes);
}

int rna_record(const struct rna_root *root, const struct rna_record_options *options,
	       struct rna_record_result *ret, struct rna_error *error)
{
	bool keep_identity = options->keep_identity;
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = rna_backends_new(root);
	RNA_CLEANUP(deinit)
	struct rna_recording recording = {
		.root = root,
		.backends = backends,
		.options = options,
		.fd = -1,
		.disguise = keep_identity ? NULL : rna_disguise_new(),
		.scratch = rna_arena_new(64 * 1024),
		.error = error,
	};
	int status;

	if (!backends || !recording.scratch || (!keep_identity && !recording.disguise))
		return rna_error_set(error, -ENOMEM, "%s: cannot write", options->directory);
	recording.fd = open_directory(options->directory, error);
	if (recording.fd < 0)
		return recording.fd;
	status = copy_machine(&recording);
	if (status < 0)
		return status;
	*ret = recording.result;
	return 0;
}
