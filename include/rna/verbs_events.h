/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous events of libibverbs. They need an open context, which is what we else hold for no
 * longer than a call: it pins ib_uverbs, and where the driver cannot take contexts away from
 * their owners, the removal of a device waits until it is closed. So this is by choice of the
 * administrator (watch.verbs_events), and only for drivers that can.
 */
#pragma once

#include "rna/collector.h"

struct ibv_context; /* <infiniband/verbs.h> */

/* An open context, as a part that a lane made. It is to be closed in a lane as well. */
struct rna_verbs_context {
	struct rna_part part;
	struct ibv_context *context;
	const char *node; /* its device node, "uverbs0" */
	int fd;           /* readable when there are events; belongs to the context */
};

/*
 * The two jobs, for lanes; rows of no table. Opening fails with -ENOENT where there is no way to
 * the device. Closing takes the context as input.previous and gives a part with nothing in it.
 */
extern const struct rna_collector rna_verbs_open;
extern const struct rna_collector rna_verbs_close;

/* Can the RDMA driver on a PCI function of that driver take contexts away from their owners? */
bool rna_verbs_lets_go(const char *driver);

/* What an event says to read again. */
enum rna_verbs_event {
	RNA_VERBS_PORT, /* the state of a port */
	RNA_VERBS_LINK, /* LIDs, subnet manager, P_Keys */
	RNA_VERBS_GIDS,
	RNA_VERBS_OTHER, /* nothing that is polled */
	RNA_VERBS_GONE,  /* the device is broken or no more: close the context */
};

/* The next event. 1, or 0 when there is none. Thread: the loop's; never waits. */
int rna_verbs_read(const struct rna_verbs_context *context, enum rna_verbs_event *ret);
