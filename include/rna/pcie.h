/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PCIe path of an RDMA device: its own function and every hop up to the root port, with what
 * each link was trained to, what both of its ends can do, and the errors that were seen on it.
 * Sources: Documentation/ABI/testing/sysfs-bus-pci (current_link_*, max_link_*) and
 * sysfs-bus-pci-devices-aer_stats; PCI Express Base Specification 7.5.3, 7.7.11 (ACS).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/part.h"
#include "rna/topology.h"
#include "rna/value.h"

enum rna_aer {
	RNA_AER_CORRECTABLE,
	RNA_AER_NONFATAL,
	RNA_AER_FATAL,
	RNA_AER_COUNT,
};

const char *rna_aer_name(enum rna_aer severity); /* "correctable", "nonfatal", "fatal" */

/* One function on the way up. */
struct rna_pcie_hop {
	const char *address;
	enum rna_pci_role role;
	struct rna_pcie_link link;           /* towards the root */
	struct rna_value aer[RNA_AER_COUNT]; /* TOTAL_ERR_* of the function */
	struct rna_value max_read_request;   /* bytes; absent where config space is closed */
	struct rna_value acs_redirect;       /* 0 or 1: peer-to-peer goes up to the root */
};

struct rna_pcie {
	struct rna_part part;
	size_t hop_count;                /* 0: not on PCI */
	const struct rna_pcie_hop *hops; /* the device's own function first, the root port last */
};

/*
 * Data rate of a link in bytes per second and direction, after line coding and the overhead of
 * packets of 256 bytes; 0: speed or width is not known. What a path carries is its slowest link's.
 */
uint64_t rna_pcie_rate(struct rna_value speed, struct rna_value width);

/*
 * The hop whose link towards the root carries least, the one nearest to the device of several; -1:
 * not known.
 */
int rna_pcie_bottleneck(const struct rna_pcie *pcie);
