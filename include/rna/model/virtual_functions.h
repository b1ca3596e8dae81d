/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual functions (SR-IOV) of a device: who has each of them, and what its physical function
 * allows it. They are what a virtual machine or a container gets, so what is wrong with one shows
 * only there, and its cause only here.
 * Sources: linux/if_link.h (IFLA_VF_*), ip-link(8); Documentation/networking/representors.rst;
 * NVIDIA's driver package, device/sriov/N of an RDMA device.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/model/part.h"
#include "rna/model/value.h"

/* What somebody wants of its link; IFLA_VF_LINK_STATE_*. */
enum rna_vf_link {
	RNA_VF_LINK_AUTO, /* as the physical port's */
	RNA_VF_LINK_UP,   /* always, also without a cable: for traffic within the node */
	RNA_VF_LINK_DOWN,
	RNA_VF_LINK_COUNT,
};

const char *rna_vf_link_name(uint64_t link); /* "auto", "up", "down"; "?" */

struct rna_virtual_function {
	unsigned number;
	/* As the PCI bus has it; NULL: not there, or in another network namespace. */
	const char *pci_address;
	const char *driver; /* vfio-pci where a virtual machine has it */
	const char *device; /* its RDMA device */
	const char *netdev;
	const char *representor; /* the interface that stands for it in switchdev mode */
	/* What the physical function gave it; NULL: nothing, and assigned says if that is known. */
	const char *mac;
	const char *node_guid; /* "1070:fd03:0000:0001" */
	const char *port_guid;
	/* 0 or 1: an address of Ethernet, or a GUID of InfiniBand; absent: not told. */
	struct rna_value assigned;
	struct rna_value link;        /* enum rna_vf_link */
	struct rna_value spoof_check; /* 0 or 1; absent: the driver does not tell, as all below */
	struct rna_value trust;
	struct rna_value vlan; /* 0: none */
	struct rna_value vlan_priority;
	struct rna_value max_rate; /* bits per second that it may send; 0: no limit of its own */
};

/* What can be said of each of them, to be counted. */
enum rna_vf_property {
	RNA_VF_BOUND,           /* a driver of this node has it */
	RNA_VF_PASSED,          /* vfio-pci: given to a virtual machine, or ready to be */
	RNA_VF_RDMA,            /* it has an RDMA device here */
	RNA_VF_REPRESENTED,     /* it has a representor */
	RNA_VF_UNASSIGNED,      /* neither MAC address nor GUID was given to it */
	RNA_VF_LINK_IS_DOWN,    /* because somebody wants it so */
	RNA_VF_TRUSTED,         /* it may change its address and see what is not for it */
	RNA_VF_SPOOF_UNCHECKED, /* it may send under any address */
	RNA_VF_PROPERTY_COUNT,
};

const char *rna_vf_property_name(enum rna_vf_property property); /* "bound", "passed", ... */

enum { RNA_VIRTUAL_FUNCTIONS_MAX = 512 }; /* of one device; more are not looked at */

struct rna_virtual_functions {
	struct rna_part part;
	size_t count;
	const struct rna_virtual_function *functions; /* ascending by number */
};

/* Has the function that property? 0 or 1; absent or unreadable: not known. */
struct rna_value rna_vf_has(const struct rna_virtual_function *function,
			    enum rna_vf_property property);

/* How many have it, of those of which it is known; absent where it is known of none. */
struct rna_value rna_vf_count(const struct rna_virtual_functions *functions,
			      enum rna_vf_property property);
