/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous events of libibverbs. They need a context that stays open, which the agent otherwise
 * avoids: it pins ib_uverbs, and if the driver cannot revoke contexts, the removal of the device
 * waits until the context is closed. So they are only for drivers that can revoke contexts
 * (ib_uverbs_open() in drivers/infiniband/core/uverbs_main.c, Linux 6.12: with
 * disassociate_ucontext an open file holds no reference to the module of the driver), and by
 * default only where nothing else tells of a port (watch.verbs_events). mlx5 turns on loopback in
 * the NIC when a second context exists, on Ethernet ports only, which by default are not held
 * (mlx5_ib_enable_lb() in drivers/infiniband/hw/mlx5/main.c, Linux 6.12).
 */
#pragma once

#include "rna/collector.h"

struct ibv_context; /* <infiniband/verbs.h> */

/* An open context, as a part created in a lane. It must also be closed in a lane. */
struct rna_verbs_context {
	struct rna_part part;
	struct ibv_context *context;
	const char *node; /* its device node, "uverbs0" */
	int fd;           /* readable when there are events; owned by the context */
};

/*
 * The jobs for lanes; they are in no table. Opening fails with -ENOENT if the device cannot be
 * accessed. Closing takes the context from input.previous and returns an empty part.
 */
extern const struct rna_collector rna_verbs_open;
extern const struct rna_collector rna_verbs_close;

/*
 * As rna_verbs_open, but -EBUSY if openibd, the service of MLNX_OFED and DOCA, may manage the
 * drivers: it refuses to unload them while any process has a file of /dev/infiniband open, before
 * it begins, so that closing on removal comes too late (stop() in ofed_scripts/openibd,
 * MLNX_OFED 24.07: "lsof +c 0 -a +d /dev/infiniband").
 */
extern const struct rna_collector rna_verbs_open_without_openibd;

/* Can the RDMA driver that belongs to this PCI driver revoke contexts from processes? */
bool rna_verbs_lets_go(const char *driver);

/* What must be read again after an event. */
enum rna_verbs_event {
	RNA_VERBS_PORT, /* the state of a port */
	RNA_VERBS_LINK, /* LIDs, subnet manager, P_Keys */
	RNA_VERBS_GIDS,
	RNA_VERBS_OTHER, /* nothing that the agent reads */
	RNA_VERBS_GONE,  /* the device failed or was removed: close the context */
};

/* Reads the next event. 1, or 0 if there is none. Thread: the loop's; never waits. */
int rna_verbs_read(const struct rna_verbs_context *context, enum rna_verbs_event *ret);
