/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drivers of RDMA NICs: what is known of each from its source. A row is one driver of PCI
 * functions; the table is agent/core/model/drivers.c. Who needs to know something of a driver reads
 * its row, or adds a column.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* PCI functions that a driver takes, and what people call them. */
struct rna_driver_functions {
	uint16_t vendor_id;
	uint16_t first, last;  /* device ids */
	bool virtual_function; /* of SR-IOV */
	const char *name;      /* "ConnectX-7" (pci.ids); NULL: they go by their numbers */
};

/* Which reads of a device ask its firmware, and fail if it does not answer. */
enum rna_driver_answers {
	RNA_DRIVER_ANSWERS_NOTHING, /* or it is not known */
	RNA_DRIVER_ANSWERS_STATE,
	RNA_DRIVER_ANSWERS_COUNTERS,
};

struct rna_driver {
	const char *name; /* of the driver that is bound to the PCI function, and of its module */
	const char *rdma; /* the module that makes the RDMA devices; of some drivers the same */
	const struct rna_driver_functions *functions; /* up to one whose vendor is 0 */
	/* It also takes functions that have no RDMA: only those of the list are meant. */
	bool listed_only;
	/* Its functions are for RDMA alone: another function of the card is the Ethernet NIC. */
	bool rdma_alone;
	/* Each function gets an RDMA device, unless an administrator decided otherwise. */
	bool serves_all;
	enum rna_driver_answers answers;
	/*
	 * Its ports are of Ethernet, also where the file of their link layer says InfiniBand: so
	 * the kernel does for each CA whose driver does not know the question (core/verbs.c).
	 */
	bool is_ethernet;
	bool always_up; /* it reports ports as ACTIVE and LinkUp whatever happens */
	bool of_clouds; /* only clouds have such devices: their instances get them as they are */
	/*
	 * The command by which it brings a function back whose firmware failed. It asks the
	 * firmware for nothing, unlike a reload by devlink. NULL: there is none.
	 */
	const char *recover;
	bool flashes;      /* devlink dev flash (flash_update), of physical functions */
	bool activates;    /* devlink dev reload with the action fw_activate, of these and no LAG */
	bool nvidia_tools; /* mlxconfig and mlnx_qos are for its cards */
	bool trusts_table; /* it trusts DSCP exactly while its table has entries */
	bool reads_little; /* it leaves a small maximum read request of the firmware as it is */
	/*
	 * Its devices have the node type CA and no other (node_type in drivers/infiniband/hw).
	 * irdma, qedr and erdma set CA for RoCE and RNIC for iWARP.
	 */
	bool is_ca;
	/*
	 * Its completions of RoCE datagrams do not tell IPv4 from IPv6. mlx5, bnxt_re and hns put
	 * that into their service level (rdma-core 64.0, providers); ionic puts the priority of the
	 * VLAN there, and irdma nothing.
	 */
	bool hides_family;
	bool whole_mtu; /* the RDMA MTU may be as large as that of the interface */
	/*
	 * Its RDMA driver has disassociate_ucontext in every kernel since Linux 5.14 and
	 * dispatches port events. bnxt_en, erdma and others have it in newer kernels only, and
	 * nothing in sysfs shows that: the administrator lists those in watch.verbs_drivers.
	 */
	bool lets_go;
	/*
	 * The newest ABI of verbs that the provider of rdma-core 64 for it knows
	 * (match_max_abi_version in providers). Drivers outside Linux number theirs themselves:
	 * Broadcom's bnxt_re has 6 (sriov-cni#348), AMD's ionic 4 (vllm#56713). 0: it takes any, or
	 * is not looked up.
	 */
	unsigned abi;
	/* How an administrator makes devices that run iWARP run RoCE. NULL: none is known. */
	const char *to_roce;
};

/* Of a function with this driver; unbound functions are known by their ids. NULL: none of them. */
const struct rna_driver *rna_driver_of(const char *bound, uint32_t vendor_id, uint32_t device_id);

/* By the name of the driver alone; NULL: none, or name is NULL. */
const struct rna_driver *rna_driver_named(const char *name);

/* The rows in order, *at: 0 at first. NULL: no further one. */
const struct rna_driver *rna_driver_next(size_t *at);

/* What people call a card (pci.ids): "ConnectX-7". NULL: it goes by its numbers. */
const char *rna_driver_card_name(uint32_t vendor_id, uint32_t device_id);

/*
 * Are these the ids of a virtual function? A virtual machine does not see the physical one, which
 * physfn would lead to.
 */
bool rna_driver_takes_as_virtual(uint32_t vendor_id, uint32_t device_id);

/*
 * So many Ethernet NICs of one model, by their first functions, are more than a server has ports:
 * beside GPUs they are there for RDMA.
 */
enum { RNA_DRIVER_CARDS_MANY = 4 };
