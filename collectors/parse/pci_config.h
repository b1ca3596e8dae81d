/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads PCI configuration space: the port type of a function, its maximum read request size, and
 * whether ACS redirects peer-to-peer traffic to the root port.
 *
 * Only a process with CAP_SYS_ADMIN can read beyond the first 64 bytes; others get a short read.
 * Each four bytes are a transaction with the device, so only the needed registers are read. Nothing
 * is written.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "rna/base/root.h"
#include "rna/model/topology.h"
#include "rna/model/value.h"

/* Device/Port Type of the PCI Express Capabilities Register (7.5.3.2), the types that are used. */
enum rna_pci_port_type {
	RNA_PCI_PORT_UNKNOWN = -1,
	RNA_PCI_PORT_ROOT = 4,
	RNA_PCI_PORT_UPSTREAM = 5,
	RNA_PCI_PORT_DOWNSTREAM = 6,
};

struct rna_pci_config {
	bool silent; /* all ones: the function does not respond; nothing else is known of it */
	int type;    /* enum rna_pci_port_type, or another code of the specification */
	struct rna_value max_read_request; /* bytes */
	struct rna_value
		relaxed_ordering; /* 1 if the function may relax the order of its packets */
	/*
	 * 1 if ACS redirects peer-to-peer traffic, also with translated addresses; 0 otherwise;
	 * absent: no ACS
	 */
	struct rna_value acs_redirect;
};

/*
 * directory: of the function, below the root. 0, also if only part of the space is readable;
 * negative errno if it cannot be read, -EIO if the function does not respond.
 */
int rna_pci_config_read(const struct rna_root *root, const char *directory,
			struct rna_pci_config *ret);

enum { RNA_PCI_CLASS_BRIDGE = 0x0604 }; /* base class and subclass of a bridge to another bus */

/*
 * The role of a bridge: by its port type if config space is readable. Otherwise it is a PCIe port
 * only if it has a link, that is, link files in /sys; then its parent tells which kind: a port on a
 * host bridge is a root port; below it, upstream and downstream ports of switches alternate.
 */
enum rna_pci_role rna_pci_port_role(int type, bool has_link, enum rna_pci_role above);

/* The minimum size of a config space with ACS. */
enum { RNA_PCI_CONFIG_EXCERPT = 0x108 };

/*
 * For recordings: writes a config space with only the values that rna_pci_config_read() reads from
 * directory, so without serial numbers. Its length; 0: none; or a negative errno if it cannot be
 * opened.
 */
ssize_t rna_pci_config_excerpt(const struct rna_root *root, const char *directory,
			       uint8_t ret[RNA_PCI_CONFIG_EXCERPT]);
