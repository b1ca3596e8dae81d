/* SPDX-License-Identifier: Apache-2.0 */
/* PCI addresses in sysfs paths: "0000:3b:00.0", domain:bus:device.function. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/root.h"
#include "rna/model/value.h"

/*
 * The last component of path that is a PCI address, or NULL; *ret_len is its length. It is the
 * function itself; earlier ones are the bridges above it.
 */
const char *rna_pci_find_last(const char *path, size_t *ret_len);

/*
 * The directory of the PCI function of an RDMA device, in arena. 0, -ENOENT if it has none, or
 * another negative errno. It is part of the device's resolved path; in trees that were copied
 * without links it may be found through "device".
 */
int rna_pci_find_directory(const struct rna_root *root, const char *sysfs_path,
			   struct rna_arena *arena, char **ret);

/*
 * The UUID of the chip in the VPD of the function in directory, in arena. NULL: none, or no
 * permission. Reads from the device, which takes milliseconds.
 */
const char *rna_pci_read_uuid(const struct rna_root *root, const char *directory,
			      struct rna_arena *arena);

#define RNA_PCI_IOMMUS "sys/class/iommu" /* there, if empty, in each kernel that knows IOMMUs */

/*
 * enum rna_iommu_mode of the function in directory. Absent: not known, as with kernels before 5.11,
 * or with a recording that has no IOMMU class.
 */
struct rna_value rna_pci_read_iommu(const struct rna_root *root, const char *directory);

/* The VPD text of a function that manages NVSwitches. */
#define RNA_PCI_SWITCH_MANAGEMENT_MARK "SMDL=SW_MNG"

/*
 * Does the function in directory (below the root) manage NVSwitches, according to its VPD? Reads
 * from the device, which takes milliseconds and requires root. Without permission, or without VPD,
 * the PCI subsystem decides.
 */
bool rna_pci_is_switch_management(const struct rna_root *root, const char *directory);
