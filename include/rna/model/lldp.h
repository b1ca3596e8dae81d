/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LLDP neighbours (IEEE 802.1AB) of Ethernet interfaces, as lldpd received them. On a rail that is
 * the switch and its port.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/model/fabric.h"
#include "rna/model/netdev.h"
#include "rna/model/part.h"

struct rna_lldp_neighbour {
	const char *netdev;   /* local interface that received it */
	struct rna_peer peer; /* as announced; stale: its announcements have stopped */
};

enum { RNA_LLDP_MAX = 64 }; /* neighbours; further ones are left out */

struct rna_lldp {
	struct rna_part part;
	bool running; /* is lldpd running and does it answer? */
	size_t count;
	const struct rna_lldp_neighbour *neighbours; /* by netdev, one for each */
};

/* The neighbour of that interface. NULL: none. lldp: may be NULL. */
const struct rna_peer *rna_lldp_find(const struct rna_lldp *lldp, const char *netdev);

/*
 * The neighbour of the interface of a port of device; of a bond, that of a member of the device.
 * NULL: none, also if any of them is NULL.
 */
const struct rna_peer *rna_lldp_find_port(const struct rna_lldp *lldp,
					  const struct rna_netdevs *netdevs,
					  const struct rna_device *device,
					  const struct rna_netdev *netdev);
