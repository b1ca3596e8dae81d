/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PCIe path of an RDMA device: its own function and every hop up to the root port, each with
 * the current and maximum speed and width of its link and its error counters.
 *
 * A path is a chain of functions. A link connects two of them: the upper end is a root port or the
 * downstream port of a switch, the lower end is the device or the upstream port of a switch. There
 * is no link between two ports of the same switch. Both ends report the same current speed and
 * width, but each its own maximum. Sources: Documentation/ABI/testing/sysfs-bus-pci
 * (current_link_*, max_link_*) and sysfs-bus-pci-devices-aer_stats; PCI Express Base Specification
 * 7.5.3, 7.7.11 (ACS).
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

/*
 * What the IOMMU does with the addresses of a function: the type of the default domain of its
 * group. Source: Documentation/ABI/testing/sysfs-kernel-iommu_groups (Linux 5.11, DMA-FQ: 5.15).
 */
enum rna_iommu_mode {
	RNA_IOMMU_OFF,      /* the function is in no group */
	RNA_IOMMU_IDENTITY, /* bus addresses are physical ones (iommu=pt) */
	RNA_IOMMU_OTHER,    /* another type, for example of a function for virtual machines */
	RNA_IOMMU_LAZY,     /* translates; forgets mappings in batches (DMA-FQ) */
	RNA_IOMMU_STRICT,   /* translates; forgets each mapping at once (DMA) */
	RNA_IOMMU_COUNT,
};

/* "off", "identity", "other", "DMA-FQ", "DMA": as the kernel says, where it has a word. */
const char *rna_iommu_mode_name(enum rna_iommu_mode mode);
bool rna_iommu_translates(struct rna_value mode); /* false also if it is not known */

/* One function of the path. */
struct rna_pcie_hop {
	const char *address;
	/* RNA_PCI_BRIDGE: the port type is unknown, so its links are unknown. */
	enum rna_pci_role role;
	struct rna_pcie_link link;           /* as reported by this end */
	struct rna_value aer[RNA_AER_COUNT]; /* TOTAL_ERR_* of the function */
	struct rna_value max_read_request;   /* bytes; absent if config space is not readable */
	/* 1 if ACS redirects peer-to-peer traffic to the root port, 0 otherwise */
	struct rna_value acs_redirect;
	/*
	 * The function is listed but does not respond: its vendor reads as all ones, which is no
	 * vendor's number (Linux 5.17 include/linux/pci.h, PCI_ERROR_RESPONSE).
	 */
	bool silent;
};

/*
 * Virtual and scalable functions have no link of their own. If their physical function is
 * monitored, only that has hops (there may be hundreds of virtual ones); otherwise they have its
 * hops.
 */
struct rna_pcie {
	struct rna_part part;
	size_t hop_count;                /* 0: not on PCI, or the physical function has them */
	const struct rna_pcie_hop *hops; /* from the device's own function to the root port */
	/* Current and maximum number of virtual functions of the device's function. */
	struct rna_value virtual_functions;
	struct rna_value max_virtual_functions;
	struct rna_value iommu; /* enum rna_iommu_mode of its function; absent: not known */
};

/*
 * 1 if ACS of a switch port above the device redirects peer-to-peer traffic, 0 if none does, absent
 * if it is not known of any. A root port does not count: beyond it nothing is reached directly.
 * ret_hop: the first one that does; NULL is fine.
 */
struct rna_value rna_pcie_acs_redirect(const struct rna_pcie *pcie,
				       const struct rna_pcie_hop **ret_hop);

/*
 * Data rate of a link in bytes per second and direction, after line coding and the overhead of
 * packets of 256 bytes. 0: speed or width is unknown. The rate of a path is that of its slowest
 * link.
 */
uint64_t rna_pcie_rate(struct rna_value speed, struct rna_value width);

/*
 * The link from a hop to the next one towards the root. The maximum is what both ends support;
 * absent if either does not report it. False: there is no link.
 */
bool rna_pcie_link_above(const struct rna_pcie *pcie, size_t hop, struct rna_pcie_link *ret);

/*
 * The hop whose link towards the root has the lowest rate, of several the one nearest to the
 * device; -1: unknown. rna_pcie_path_rate(): that rate in bytes per second; absent: unknown.
 */
int rna_pcie_bottleneck(const struct rna_pcie *pcie);
struct rna_value rna_pcie_path_rate(const struct rna_pcie *pcie);

/*
 * The sum of errors of all functions on the path; several paths share ports of switches. Absent if
 * no function counts them. Unreadable if one is unreadable: a sum without it would fall.
 */
struct rna_value rna_pcie_errors(const struct rna_pcie *pcie, enum rna_aer severity);
