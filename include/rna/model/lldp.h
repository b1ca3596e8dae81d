/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbours by LLDP (IEEE 802.1AB): who announced itself on an Ethernet interface, as lldpd heard
 * it. On a rail that is the switch, and the port of it that the cable is in.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rna/model/fabric.h"
#include "rna/model/part.h"

struct rna_lldp_neighbour {
	const char *netdev;   /* ours, on which it was heard */
	struct rna_peer peer; /* in its own words; stale: it fell silent */
};

enum { RNA_LLDP_MAX = 64 }; /* neighbours; further ones are left out */

struct rna_lldp {
	struct rna_part part;
	bool running; /* does lldpd, and could it be asked? */
	size_t count;
	const struct rna_lldp_neighbour *neighbours; /* by netdev, one of each */
};

/* Who is on that interface; NULL: nobody was heard. lldp: may be NULL. */
const struct rna_peer *rna_lldp_find(const struct rna_lldp *lldp, const char *netdev);
