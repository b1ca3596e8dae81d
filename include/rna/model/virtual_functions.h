/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual functions (SR-IOV) of a device: the user of each, and what its physical function
 * allows it. Virtual machines and containers use them, so a problem shows there, but its cause is
 * visible only on this node. Sources: linux/if_link.h (IFLA_VF_*), ip-link(8);
 * Documentation/networking/representors.rst; NVIDIA's driver package, device/sriov/N of an RDMA
 * device.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/model/part.h"
#include "rna/model/value.h"

/* Configured link state; IFLA_VF_LINK_STATE_*. */
enum rna_vf_link {
	RNA_VF_LINK_AUTO, /* follows the physical port */
	RNA_VF_LINK_UP,   /* always up, also without a cable: for traffic within the node */
	RNA_VF_LINK_DOWN,
	RNA_VF_LINK_COUNT,
};

const char *rna_vf_link_name(uint64_t link); /* "auto", "up", "down"; "?" */

struct rna_virtual_function {
	unsigned number;
	/*
	 * PCI address and what the host sees of the function. NULL: not present, or in another
	 * network namespace.
	 */
	const char *pci_address;
	const char *driver; /* vfio-pci if a virtual machine uses it */
	const char *device; /* its RDMA device */
	const char *netdev;
	const char *representor; /* the interface that represents it in switchdev mode */
	/*
	 * Addresses assigned by the physical function. NULL: none; assigned says whether that is
	 * known.
	 */
	const char *mac;
	const char *node_guid; /* "1070:fd03:0000:0001" */
	const char *port_guid;
	/* 1 if it has a MAC address or an InfiniBand GUID, 0 otherwise. Absent: not reported. */
	struct rna_value assigned;
	struct rna_value link; /* enum rna_vf_link */
	/* 0 or 1; absent: not reported by the driver, like all below */
	struct rna_value spoof_check;
	struct rna_value trust;
	struct rna_value vlan; /* 0: none */
	struct rna_value vlan_priority;
	struct rna_value max_rate; /* bits per second that it may send; 0: no limit */
};

/* Properties of virtual functions, to be counted. */
enum rna_vf_property {
	RNA_VF_BOUND,           /* bound to a driver on this node */
	RNA_VF_PASSED,          /* bound to vfio-pci: assigned or assignable to a virtual machine */
	RNA_VF_RDMA,            /* it has an RDMA device on this node */
	RNA_VF_REPRESENTED,     /* it has a representor */
	RNA_VF_UNASSIGNED,      /* neither MAC address nor GUID assigned */
	RNA_VF_LINK_IS_DOWN,    /* by configuration */
	RNA_VF_TRUSTED,         /* it may change its address and receive other traffic */
	RNA_VF_SPOOF_UNCHECKED, /* it may send from any address */
	RNA_VF_PROPERTY_COUNT,
};

const char *rna_vf_property_name(enum rna_vf_property property); /* "bound", "passed", ... */

enum { RNA_VIRTUAL_FUNCTIONS_MAX = 512 }; /* of one device; further ones are not read */

struct rna_virtual_functions {
	struct rna_part part;
	size_t count;
	const struct rna_virtual_function *functions; /* ascending by number */
};

/* 1 if the function has that property, 0 otherwise; absent or unreadable: unknown. */
struct rna_value rna_vf_has(const struct rna_virtual_function *function,
			    enum rna_vf_property property);

/*
 * The number of functions known to have the property; absent if it is absent for all, unreadable if
 * it is for one: the number would be too low.
 */
struct rna_value rna_vf_count(const struct rna_virtual_functions *functions,
			      enum rna_vf_property property);
