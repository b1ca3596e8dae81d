/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Auxiliary devices: the parts that a driver divides a PCI function into, so that other drivers can
 * bind to them. They are directories below that of the function: "mlx5_core.rdma.0", "ice.roce.1".
 */
#pragma once

/* What an auxiliary device is for. */
enum rna_auxiliary_kind {
	RNA_AUXILIARY_NONE, /* the name is not that of an auxiliary device of a NIC */
	RNA_AUXILIARY_RDMA, /* an RDMA device of its own */
	/*
	 * RDMA through the device of another function of the card: a port of dual-port RoCE, or of
	 * a LAG in switchdev mode (mlx5_core_is_mp_slave() and is_ib_rep_supported() in
	 * drivers/net/ethernet/mellanox/mlx5/core, Linux 5.11).
	 */
	RNA_AUXILIARY_SHARED,
	RNA_AUXILIARY_ETHERNET,
};

enum rna_auxiliary_kind rna_auxiliary_kind(const char *name);
