// SPDX-License-Identifier: Apache-2.0
/*
 * identity: GUIDs, firmware, board and link layer of a device.
 *
 * Drivers have different files: board_id, hca_type and hw_rev are driver-specific (rxe and efa have
 * none); missing ones are NULL. No file costs a firmware command; port GUIDs are the lower half of
 * GID 0, which comes from the kernel's cache. The version of the driver is that of its module.
 */
#include "identity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/driver.h"

#include "parse/guid.h"
#include "parse/reader.h"

#include "collectors.h"

/* The file with a port's traffic class: in its first line, after these words. */
#define TRAFFIC_CLASS_FILE "tc/%u/traffic_class"
#define TRAFFIC_CLASS_HEAD "Global tclass="

/* Files of the device, in the order in which they are added to the reader. */
enum device_file {
	FILE_NODE_TYPE,
	FILE_NODE_GUID,
	FILE_SYSTEM_IMAGE_GUID,
	FILE_FIRMWARE_VERSION,
	FILE_BOARD_ID,
	FILE_HCA_TYPE,
	FILE_HARDWARE_REVISION,
	FILE_NODE_DESCRIPTION,
	DEVICE_FILE_COUNT,
};

static const char *const device_files[DEVICE_FILE_COUNT] = {
	[FILE_NODE_TYPE] = "node_type",
	[FILE_NODE_GUID] = "node_guid",
	[FILE_SYSTEM_IMAGE_GUID] = "sys_image_guid",
	[FILE_FIRMWARE_VERSION] = "fw_ver",
	[FILE_BOARD_ID] = "board_id",
	[FILE_HCA_TYPE] = "hca_type",
	[FILE_HARDWARE_REVISION] = "hw_rev",
	[FILE_NODE_DESCRIPTION] = "node_desc",
};

/* Then, for each port, these two. */
enum port_file { FILE_LINK_LAYER, FILE_GID, PORT_FILE_COUNT };

static const char *const port_files[PORT_FILE_COUNT] = {
	[FILE_LINK_LAYER] = "link_layer",
	[FILE_GID] = "gids/0",
};

static size_t port_file_index(size_t port, enum port_file file)
{
	return DEVICE_FILE_COUNT + port * PORT_FILE_COUNT + file;
}

static int add_directory(struct rna_reader *reader, const char *path, const char *const *files,
			 size_t count)
{
	int directory = path ? rna_reader_add_directory(reader, path, 0) : -ENOMEM;
	int ret = directory;

	for (size_t i = 0; ret >= 0 && i < count; i++)
		ret = rna_reader_add_file(reader, (unsigned)directory, files[i], NULL);
	return ret;
}

/* After these, one more file for each port, below the directory of the device. */
static size_t traffic_class_index(size_t ports, size_t port)
{
	return port_file_index(ports, 0) + port;
}

static int add_traffic_class(struct rna_reader *reader, unsigned port)
{
	char name[sizeof(TRAFFIC_CLASS_FILE) + 10]; /* digits of a 32-bit number */

	(void)snprintf(name, sizeof(name), TRAFFIC_CLASS_FILE, port);
	return rna_reader_add_file(reader, 0, rna_reader_keep_name(reader, name), NULL);
}

static int add_files(struct rna_reader *reader, const struct rna_device *device,
		     struct rna_arena *arena)
{
	int ret = add_directory(reader, device->sysfs_path, device_files, DEVICE_FILE_COUNT);

	for (size_t i = 0; ret >= 0 && i < device->port_count; i++)
		ret = add_directory(reader,
				    rna_arena_printf(arena, "%s/ports/%u", device->sysfs_path,
						     device->ports[i]),
				    port_files, PORT_FILE_COUNT);
	for (size_t i = 0; ret >= 0 && i < device->port_count; i++)
		ret = add_traffic_class(reader, device->ports[i]);
	if (ret < 0)
		rna_reader_reset(reader);
	return ret < 0 ? ret : 0;
}

enum rna_link_layer rna_link_layer_parse(const struct rna_device *device, const char *text)
{
	const struct rna_driver *driver = rna_driver_named(device->driver);

	if (driver && driver->is_ethernet)
		return RNA_LINK_LAYER_ETHERNET;
	if (strcmp(text, "InfiniBand") == 0)
		return RNA_LINK_LAYER_INFINIBAND;
	if (strcmp(text, "Ethernet") == 0)
		return RNA_LINK_LAYER_ETHERNET;
	return RNA_LINK_LAYER_UNKNOWN;
}

/* One run; status: the first error that ends it. */
struct run {
	struct rna_reader *reader;
	struct rna_part *part;
	int status;
	char text[RNA_ATTRIBUTE_MAX + 1];
};

/* The text of a file, or "" if it is absent or unreadable. Valid until the next call. */
static const char *read_text(struct run *run, size_t index)
{
	ssize_t len;

	if (run->status < 0)
		return "";
	len = rna_reader_read(run->reader, index, run->text, sizeof(run->text));
	if (len >= 0)
		return run->text;
	if (len == -ENODEV)
		run->status = -ENODEV;
	else if (len != -ENOENT)
		rna_part_count_error(run->part, (int)len);
	return "";
}

/* Copies text to the part; NULL for NULL and for an empty text. */
static const char *keep(struct run *run, const char *text)
{
	char *copy;

	if (!text || !*text || run->status < 0)
		return NULL;
	copy = rna_arena_strdup(run->part->arena, text);
	if (!copy)
		run->status = -ENOMEM;
	return copy;
}

static enum rna_node_type read_node_type(struct run *run)
{
	const char *text = read_text(run, FILE_NODE_TYPE);
	uint64_t type;
	int ret;

	if (*text == '\0')
		return RNA_NODE_TYPE_UNKNOWN;
	ret = rna_parse_leading_u64(text, &type);
	if (ret < 0)
		rna_part_count_error(run->part, ret);
	/* An unknown number is newer than this version, not an error of the kernel. */
	if (ret < 0 || type > RNA_NODE_TYPE_UNSPECIFIED)
		return RNA_NODE_TYPE_UNKNOWN;
	return (enum rna_node_type)type;
}

static void read_device(struct run *run, struct rna_identity *identity)
{
	identity->node_type = read_node_type(run);
	identity->node_guid = keep(run, rna_guid_parse(read_text(run, FILE_NODE_GUID)));
	identity->system_image_guid =
		keep(run, rna_guid_parse(read_text(run, FILE_SYSTEM_IMAGE_GUID)));
	identity->firmware_version = keep(run, read_text(run, FILE_FIRMWARE_VERSION));
	identity->board_id = keep(run, read_text(run, FILE_BOARD_ID));
	identity->hca_type = keep(run, read_text(run, FILE_HCA_TYPE));
	identity->hardware_revision = keep(run, read_text(run, FILE_HARDWARE_REVISION));
	identity->node_description = keep(run, read_text(run, FILE_NODE_DESCRIPTION));
}

/* The file exists only if the module declares a version (modinfo_version_exists(), kernel/module).
 */
static void read_driver_version(struct run *run, const struct rna_root *root, const char *driver,
				struct rna_identity *identity)
{
	const char *path = rna_arena_printf(run->part->arena, "sys/module/%s/version", driver);
	ssize_t len = path ? rna_root_read(root, path, run->text, sizeof(run->text)) : -ENOMEM;

	if (len >= 0)
		identity->driver_version = keep(run, run->text);
	else if (len == -ENOMEM)
		run->status = -ENOMEM;
	else if (!rna_error_is_absence((int)len))
		rna_part_count_error(run->part, (int)len);
}

/*
 * Parses "Global tclass=106". Further lines have rules for single addresses and are ignored. The
 * file is empty if no traffic class is configured (mlx5_ib of NVIDIA's driver package).
 */
static int parse_traffic_class(const char *text, uint64_t *ret)
{
	static const char head[] = TRAFFIC_CLASS_HEAD;
	char number[sizeof("255")];
	size_t len;
	int status;

	if (strncmp(text, head, sizeof(head) - 1) != 0)
		return -ENOENT;
	text += sizeof(head) - 1;
	len = strcspn(text, "\n");
	if (len >= sizeof(number))
		return -ERANGE;
	memcpy(number, text, len);
	number[len] = '\0';
	status = rna_parse_u64(number, ret);
	return status == 0 && *ret > UINT8_MAX ? -ERANGE : status;
}

static void read_traffic_classes(struct run *run, const struct rna_device *device,
				 struct rna_port_identity *ports)
{
	for (size_t i = 0; run->status >= 0 && i < device->port_count; i++)
		run->status = rna_reader_read_number(run->reader,
						     traffic_class_index(device->port_count, i),
						     parse_traffic_class, run->part,
						     &ports[i].traffic_class);
}

static void read_ports(struct run *run, const struct rna_device *device,
		       struct rna_port_identity *ports)
{
	for (size_t i = 0; i < device->port_count; i++) {
		ports[i].number = device->ports[i];
		ports[i].link_layer =
			rna_link_layer_parse(device,
					     read_text(run, port_file_index(i, FILE_LINK_LAYER)));
		ports[i].port_guid =
			keep(run, rna_guid_parse(read_text(run, port_file_index(i, FILE_GID))));
	}
}

static int read_all(struct run *run, const struct rna_collect_input *in,
		    struct rna_identity *identity)
{
	const struct rna_device *device = in->device;
	struct rna_port_identity *ports =
		rna_arena_array(run->part->arena, device->port_count, sizeof(*ports));

	if (!ports)
		return -ENOMEM;
	if (rna_reader_is_empty(run->reader))
		run->status = add_files(run->reader, device, run->part->arena);
	read_device(run, identity);
	if (device->driver)
		read_driver_version(run, in->root, device->driver, identity);
	read_ports(run, device, ports);
	read_traffic_classes(run, device, ports);
	identity->ports = ports;
	identity->port_count = device->port_count;
	return run->status;
}

RNA_DEFINE_COLLECT(identity, IDENTITY, struct rna_identity, 384, 0, "cannot read identity",
		   read_all(&(struct run){.reader = in->reader, .part = &part->part}, in, part))
