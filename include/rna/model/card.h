/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cards: what one person can pull out of a node. A card has PCI functions, most of which have an
 * RDMA device; a device has ports (rna/model/device.h); a port of a multi-plane card has planes
 * (struct rna_link); and a cable leads from a port to its peer (rna_port_peer()).
 *
 * Devices belong to one card
 * - if their PCI functions are of one PCI device: their addresses differ in the function only;
 * - if one is a virtual or scalable function of the other;
 * - if they have the same system image GUID, which is not zero, and the same vendor. A card in two
 *   slots (Socket Direct) has PCI addresses on two sockets. The kernel compares this GUID, too:
 *   mlx5_same_hw_devs() in drivers/net/ethernet/mellanox/mlx5/core/dev.c, Linux 5.19.
 *
 * Not used are the node GUID, which drivers assign to each function in ways of their own, and the
 * serial number in the VPD, which only root can read: what is one card must not depend on rights.
 *
 * A function without an RDMA device belongs to a card if it is of the same PCI device as one that
 * has a device, and if the topology lists it: a port in Ethernet mode without mlx5_ib, the second
 * port of a LAG. Functions of a PCI device that has no RDMA device at all make no card: neither a
 * GUID nor a board tells what else they belong to. The rule rdma-driver-missing and the topology
 * speak of these.
 *
 * Source: the parts presence, identity and link of devices, and topology of the node. Ownership:
 * all lies in the arena that the caller gives, for a view that of the view; some strings lie in
 * parts of the snapshot. Thread: any; immutable.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rna_arena;
struct rna_device;
struct rna_nic;
struct rna_snapshot;
struct rna_snapshot_device;

enum { RNA_NO_DEVICE = -1 };

/* A physical function, or a virtual one whose physical function is outside of this VM. */
struct rna_card_function {
	const char *address;       /* "0000:3b:00.1" */
	int device;                /* index of its RDMA device in the snapshot, or RNA_NO_DEVICE */
	const struct rna_nic *nic; /* as the topology has it; NULL: not there, or not known */
};

/* Has it no RDMA device, and no part in one as the second port of a LAG? */
bool rna_card_function_is_bare(const struct rna_card_function *function);

struct rna_card {
	/* The lowest PCI address of its functions, without the function: "0000:3b:00". */
	const char *address;
	/* The first that is known of its functions; NULL: of none. */
	const char *model;    /* "ConnectX-7"; NULL also for one without a common name */
	const char *hca_type; /* "MT4129" */
	const char *board_id; /* PSID */
	const char *firmware_version;
	bool identified;       /* the PCI numbers of all its devices are known */
	bool firmware_differs; /* functions run other versions as well */
	int numa_node;         /* -1: unknown, or functions are on several */
	size_t function_count;
	const struct rna_card_function *functions; /* by address */
	size_t device_count;
	const unsigned *devices; /* indexes of the snapshot's devices, ascending: by name */
};

/* A PCI device, and whose it is. */
struct rna_card_slot {
	const char *address; /* of one of its functions */
	unsigned card;       /* index of items */
};

struct rna_cards {
	size_t count;
	const struct rna_card *items; /* by address */
	const int *of_devices;        /* for each device of the snapshot: index of items, or -1 */
	/* For each device: the index of its first port among the ports of all devices. */
	const size_t *first_ports;
	size_t slot_count;
	const struct rna_card_slot *slots; /* by address */
};

/* Pure. 0, or -ENOMEM. Devices without a PCI function (rxe, siw) have no card. */
int rna_cards_make(const struct rna_snapshot *snapshot, struct rna_arena *arena,
		   struct rna_cards *ret);

/* The card of a device, by its index in the snapshot. NULL: none, or cards is NULL. */
const struct rna_card *rna_card_of(const struct rna_cards *cards, size_t device);

/* The card to whose PCI device that function belongs. NULL: none, or cards or address is NULL. */
const struct rna_card *rna_card_at(const struct rna_cards *cards, const char *address);

/*
 * Are the devices functions of one model of card: of one vendor, device and board? Boards are
 * compared if both are known.
 */
bool rna_card_is_same_model(const struct rna_snapshot_device *a,
			    const struct rna_snapshot_device *b);

/* -- PCI devices ------------------------------------------------------------------------------- */

/*
 * Orders addresses of functions ("0000:3b:00.1") by their PCI device. 0: it is the same one, for
 * the addresses differ in the function only.
 */
int rna_pci_compare_devices(const char *a, const char *b);

/* The same as a question; false of what is no address of a function, as of a host bridge. */
bool rna_pci_is_one_device(const char *a, const char *b);
