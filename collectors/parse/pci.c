// SPDX-License-Identifier: Apache-2.0
#include "pci.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"
#include "rna/model/pcie.h"

enum {
	VPD_MAX = 4096, /* bytes read; the VPD of an HCA has a few hundred */
	RESOURCE_HEAD = 3,
	RESOURCE_LARGE = 0x80,
	RESOURCE_VPD_R = 0x90, /* read-only values */
	KEYWORD_HEAD = 3,
};

const char *rna_pci_find_last(const char *path, size_t *ret_len)
{
	const char *last = NULL;

	while (*path) {
		size_t len = strcspn(path, "/");

		if (rna_pci_is_address(path, len)) {
			last = path;
			*ret_len = len;
		}
		path += len;
		path += strspn(path, "/");
	}
	return last;
}

int rna_pci_find_directory(const struct rna_root *root, const char *sysfs_path,
			   struct rna_arena *arena, char **ret)
{
	const char *path = sysfs_path, *address;
	size_t len;

	address = rna_pci_find_last(path, &len);
	if (!address) {
		const char *link = rna_arena_printf(arena, "%s/device", sysfs_path);
		int status = -ENOMEM;

		path = link ? rna_root_realpath(root, link, arena, &status) : NULL;
		if (!path)
			return status;
		address = rna_pci_find_last(path, &len);
	}
	if (!address)
		return -ENOENT;
	*ret = rna_arena_printf(arena, "%.*s", (int)(address + len - path), path);
	return *ret ? 0 : -ENOMEM;
}

/* Reads the VPD of the function in directory. Number of bytes, or negative errno. */
static ssize_t read_vpd(const struct rna_root *root, const char *directory, char vpd[VPD_MAX])
{
	RNA_CLOSE int fd = -1;
	char path[PATH_MAX];
	ssize_t len;

	if (snprintf(path, sizeof(path), "%s/vpd", directory) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = rna_root_openat(root, path, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return fd;
	len = pread(fd, vpd, VPD_MAX, 0);
	return len < 0 ? -errno : len;
}

/*
 * 15b3:0087, the only id found in public sources: nvidia-fabricmanager-condition.sh of awslabs/
 * amazon-eks-ami shows it for 0000:73:00.0, a ConnectX-7 of AWS p6-b200 that is no NIC (aws/
 * sagemaker-hyperpod-cli#282). Whether other boards with NVSwitches have it is not known.
 */
static bool has_switch_subsystem(const struct rna_root *root, const char *directory)
{
	enum { VENDOR_MELLANOX = 0x15b3, SUBSYSTEM_SWITCH_MANAGEMENT = 0x0087 };
	static const char *const files[] = {"subsystem_vendor", "subsystem_device"};
	uint64_t ids[RNA_ARRAY_SIZE(files)];
	char path[PATH_MAX];

	for (size_t i = 0; i < RNA_ARRAY_SIZE(files); i++)
		if (snprintf(path, sizeof(path), "%s/%s", directory, files[i]) >=
			    (int)sizeof(path) ||
		    rna_root_read_hex(root, path, &ids[i]) < 0)
			return false;
	return ids[0] == VENDOR_MELLANOX && ids[1] == SUBSYSTEM_SWITCH_MANAGEMENT;
}

bool rna_pci_is_switch_management(const struct rna_root *root, const char *directory)
{
	static const char mark[] = RNA_PCI_SWITCH_MANAGEMENT_MARK;
	char vpd[VPD_MAX];
	ssize_t len = read_vpd(root, directory, vpd);

	if (len <= 0)
		return has_switch_subsystem(root, directory);
	return memmem(vpd, (size_t)len, mark, sizeof(mark) - 1);
}

/*
 * Each value follows its keyword and length (6.28.2.1); those with a V are the vendor's. NVIDIA has
 * the UUID of the chip at "V3" (parse_vpd() in kernel-boot/rdma_topo, rdma-core 0434340c3bdb), and
 * at "VU" (mlx5_data_direct_vpd_get_vuid() in hw/mlx5/data_direct.c, Linux 6.12). "SN", the serial
 * number, is that of a board, which may have several chips.
 */
static const char *find_uuid(const uint8_t *at, size_t len, struct rna_arena *arena)
{
	const char *ret = NULL;

	while (len > KEYWORD_HEAD && KEYWORD_HEAD + (size_t)at[2] <= len) {
		size_t size = at[2];

		if (at[0] == 'V' && (at[1] == '3' || (at[1] == 'U' && !ret)))
			ret = rna_arena_printf(arena, "%.*s", (int)size,
					       (const char *)at + KEYWORD_HEAD);
		at += KEYWORD_HEAD + size;
		len -= KEYWORD_HEAD + size;
	}
	return ret;
}

/*
 * VPD is a sequence of resources, each with a tag and a length: PCI Local Bus Specification 3.0,
 * I.1.
 */
const char *rna_pci_read_uuid(const struct rna_root *root, const char *directory,
			      struct rna_arena *arena)
{
	char vpd[VPD_MAX];
	ssize_t read = read_vpd(root, directory, vpd);
	size_t len = read > 0 ? (size_t)read : 0, at = 0;
	const uint8_t *bytes = (const uint8_t *)vpd;

	while (at + RESOURCE_HEAD < len) {
		size_t size = bytes[at + 1] | (size_t)bytes[at + 2] << 8;

		if (!(bytes[at] & RESOURCE_LARGE) || at + RESOURCE_HEAD + size > len)
			return NULL; /* end tag or malformed */
		if (bytes[at] == RESOURCE_VPD_R)
			return find_uuid(bytes + at + RESOURCE_HEAD, size, arena);
		at += RESOURCE_HEAD + size;
	}
	return NULL;
}

static struct rna_value iommu_mode(const char *type)
{
	for (enum rna_iommu_mode mode = RNA_IOMMU_IDENTITY; mode < RNA_IOMMU_COUNT; mode++)
		if (strcmp(type, rna_iommu_mode_name(mode)) == 0)
			return rna_value_ok(mode);
	return rna_value_ok(RNA_IOMMU_OTHER);
}

struct rna_value rna_pci_read_iommu(const struct rna_root *root, const char *directory)
{
	char path[PATH_MAX], type[64];
	ssize_t len;

	if (snprintf(path, sizeof(path), "%s/iommu_group/type", directory) >= (int)sizeof(path))
		return (struct rna_value){0};
	len = rna_root_read(root, path, type, sizeof(type));
	if (len >= 0)
		return iommu_mode(type);
	path[strlen(path) - strlen("/type")] = '\0';
	if (len != -ENOENT || !rna_root_exists(root, RNA_PCI_IOMMUS) || rna_root_exists(root, path))
		return (struct rna_value){0};
	return rna_value_ok(RNA_IOMMU_OFF);
}
