/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCI configuration space, as far as we want it: what kind of port a function is, the largest read
 * request that it makes, and whether it sends peer-to-peer traffic up to the root.
 *
 * Only CAP_SYS_ADMIN sees more than the first 64 bytes, others get a short read. Each four bytes
 * are a transaction with the device, so only the registers on the way are read. Nothing is written.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "rna/base/root.h"
#include "rna/model/topology.h"
#include "rna/model/value.h"

/* Device/Port Type of the PCI Express Capabilities Register (7.5.3.2), as far as it matters. */
enum rna_pci_port_type {
	RNA_PCI_PORT_UNKNOWN = -1,
	RNA_PCI_PORT_ROOT = 4,
	RNA_PCI_PORT_UPSTREAM = 5,
	RNA_PCI_PORT_DOWNSTREAM = 6,
};

struct rna_pci_config {
	int type; /* enum rna_pci_port_type, or another number of the specification */
	struct rna_value max_read_request; /* bytes */
	struct rna_value acs_redirect;     /* 0 or 1; absent: the function has no ACS */
};

/*
 * directory: of the function, below the root. 0, also when little or nothing may be seen; negative
 * errno when it cannot be read, -EIO when the function does not answer.
 */
int rna_pci_config_read(const struct rna_root *root, const char *directory,
			struct rna_pci_config *ret);

/*
 * What a bridge is: by its type where config space tells, else by what is above it. A port on a
 * host bridge is a root port, and ports of switches alternate on the way down.
 */
enum rna_pci_role rna_pci_port_role(int type, enum rna_pci_role above);

/* The least that a config space with ACS has. */
enum { RNA_PCI_CONFIG_EXCERPT = 0x108 };

/*
 * For recordings: a config space that reads like that of directory and has nothing else, no serial
 * number above all. Its length; 0: there is none; or a negative errno when it cannot be opened.
 */
ssize_t rna_pci_config_excerpt(const struct rna_root *root, const char *directory,
			       uint8_t ret[RNA_PCI_CONFIG_EXCERPT]);
