/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PCIe path of an RDMA device: its own function and every hop up to the root port, with what
 * each link was trained to, what its ends can do, and the errors that were seen on it.
 *
 * A path is a chain of functions, a link is between two of them: the upper one is a root port or
 * the downstream port of a switch, the lower one the device or the upstream port of a switch.
 * Between the two ports of one switch there is no link. Each end tells of the link by itself: what
 * it was trained to is the same at both, what it could do is not.
 * Sources: Documentation/ABI/testing/sysfs-bus-pci (current_link_*, max_link_*) and
 * sysfs-bus-pci-devices-aer_stats; PCI Express Base Specification 7.5.3, 7.7.11 (ACS).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/model/part.h"
#include "rna/model/topology.h"
#include "rna/model/value.h"

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
	/* RNA_PCI_BRIDGE: what kind of port it is cannot be told, so nothing is said of links. */
	enum rna_pci_role role;
	struct rna_pcie_link link;           /* as this end of it tells */
	struct rna_value aer[RNA_AER_COUNT]; /* TOTAL_ERR_* of the function */
	struct rna_value max_read_request;   /* bytes; absent where config space is closed */
	struct rna_value acs_redirect;       /* 0 or 1: peer-to-peer goes up to the root */
};

/*
 * Virtual and scalable functions have no link of their own. Where their physical function is
 * watched it has the hops and they have none (there may be hundreds); else they have its.
 */
struct rna_pcie {
	struct rna_part part;
	size_t hop_count;                /* 0: not on PCI, or said of the physical function */
	const struct rna_pcie_hop *hops; /* the device's own function first, the root port last */
	/* Of the device's function: virtual functions that there are, and that there may be. */
	struct rna_value virtual_functions;
	struct rna_value max_virtual_functions;
};

/*
 * Data rate of a link in bytes per second and direction, after line coding and the overhead of
 * packets of 256 bytes; 0: speed or width is not known. What a path carries is its slowest link's.
 */
uint64_t rna_pcie_rate(struct rna_value speed, struct rna_value width);

/*
 * The link from a hop to the next one towards the root: what it was trained to, and as maximum what
 * both of its ends can do, absent when one of them does not tell. False: there is no link there.
 */
bool rna_pcie_link_above(const struct rna_pcie *pcie, size_t hop, struct rna_pcie_link *ret);

/*
 * The hop whose link towards the root carries least, the one nearest to the device of several; -1:
 * not known. And how much that is in bytes per second; absent when it is not known.
 */
int rna_pcie_bottleneck(const struct rna_pcie *pcie);
struct rna_value rna_pcie_path_rate(const struct rna_pcie *pcie);

/*
 * Errors of all functions on the path, which have ports of switches in common with others. Absent
 * when none of them counts; unreadable when one could not be read: a sum without it would fall.
 */
struct rna_value rna_pcie_errors(const struct rna_pcie *pcie, enum rna_aer severity);
