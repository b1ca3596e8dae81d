/* SPDX-License-Identifier: Apache-2.0 */
/* PCI addresses in sysfs paths: "0000:3b:00.0", domain:bus:device.function. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/base/root.h"

/*
 * Is text (len bytes of it) a PCI address? The domain has four digits or more: hosts with VMD or
 * Hyper-V number them beyond ffff.
 */
bool rna_pci_is_address(const char *text, size_t len);

/*
 * The last component of path that is a PCI address, or NULL; *ret_len is its length. The last one
 * is the function itself, those before it are the bridges above it.
 */
const char *rna_pci_find_last(const char *path, size_t *ret_len);

/*
 * The directory of the PCI function that an RDMA device is on, in arena: 0, -ENOENT where it is
 * on none, or why that cannot be told. It is part of the device's own path; trees that were copied
 * without links have it behind "device" at best.
 */
int rna_pci_find_directory(const struct rna_root *root, const char *sysfs_path,
			   struct rna_arena *arena, char **ret);

/*
 * The serial number in the VPD of the function in directory, in arena; NULL: none, or no right to
 * read it. This asks the device, for milliseconds.
 */
const char *rna_pci_read_serial(const struct rna_root *root, const char *directory,
				struct rna_arena *arena);

/* What stands in the VPD of such a function. */
#define RNA_PCI_SWITCH_MANAGEMENT_MARK "SMDL=SW_MNG"

/*
 * Does the function in directory (below the root) manage NVSwitches? Its VPD says so. This asks
 * the device, for milliseconds, and only root may: without the right the answer is no.
 */
bool rna_pci_is_switch_management(const struct rna_root *root, const char *directory);
