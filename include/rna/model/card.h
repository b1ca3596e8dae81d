/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cards: what one person can pull out of a node. A card has functions, each with an RDMA device; a
 * device has ports; a port of a multi-plane card has planes (struct rna_device, smi); and a cable
 * leads from a port to its peer (rna_port_peer()).
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
 * Source: parts presence, identity and link of a snapshot. Ownership: all lies in the arena that
 * the caller gives, for a view that of the view; strings lie in parts of the snapshot. Thread: any;
 * immutable.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct rna_arena;
struct rna_device;
struct rna_snapshot;
struct rna_snapshot_device;

struct rna_card {
	/* The lowest PCI address of its devices, of physical functions if it has any. */
	const char *address;
	size_t device_count;
	const unsigned *devices; /* indexes of the snapshot's devices, ascending: by name */
};

struct rna_cards {
	size_t count;
	const struct rna_card *items; /* by address */
	const int *of_devices;        /* for each device of the snapshot: index of items, or -1 */
};

/* Pure. 0, or -ENOMEM. Devices without a PCI function (rxe, siw) have no card. */
int rna_cards_make(const struct rna_snapshot *snapshot, struct rna_arena *arena,
		   struct rna_cards *ret);

/* The card of a device, by its index in the snapshot. NULL: none, or cards is NULL. */
const struct rna_card *rna_card_of(const struct rna_cards *cards, size_t device);

/*
 * Are the devices functions of one model of card: of one vendor, device and board? Boards are
 * compared if both are known.
 */
bool rna_card_is_same_model(const struct rna_snapshot_device *a,
			    const struct rna_snapshot_device *b);
