/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ports behind a PCIe link need together. A link is shared by the functions of a card, by
 * the members of a LAG, and below a switch by several cards.
 *
 * A port needs its rate if it is active, its best rate if it is down and expected to be up, and
 * otherwise nothing. Of a bond in mode active-backup, or of unknown mode, only one member transmits
 * (Documentation/networking/bonding.rst, option mode), so that the fastest counts for all. Virtual
 * and scalable functions use the port of their physical function.
 *
 * Behind the uplink of a switch with GPUs, NICs that serve these GPUs do not count together: data
 * between them and the GPUs stays below the switch (PCI Express Base Specification 6.0.1, 1.3.3:
 * switches route between their ports). HGX boards have two NICs and one uplink for the rate of one.
 */
#pragma once

#include "rules.h"

struct rna_pcie_demand {
	uint64_t rate; /* bytes per second; 0: none, or not known */
	size_t count;  /* of the ports that it consists of */
	/* The first of them in the order of the view that is active. NULL: none is. */
	const struct rna_subject *first;
};

/*
 * What all ports behind each link have together, whether they count or not: no demand is higher.
 * Made once for a run of a rule, because to compare each port with all others takes too long on a
 * node with thousands of devices.
 */
struct rna_pcie_bounds {
	bool made;
	size_t size; /* of the hash table, a power of two; 0: not made, or no memory */
	struct rna_pcie_bound {
		const char *upper; /* address of the upper end; NULL: free */
		uint64_t rate;
	} * items;
};

void rna_pcie_bounds_deinit(struct rna_pcie_bounds *bounds); /* idempotent */

/* Of a cage that two functions lead to (DGX Spark), each has to carry a half. */
unsigned rna_pcie_ways_to_cage(const struct rna_rule_input *in);

/* At least the rate of rna_pcie_demand_find(); without in->pcie, or memory, UINT64_MAX. */
uint64_t rna_pcie_demand_bound(const struct rna_rule_input *in, size_t hop);

/* Behind the link from a hop of the subject's path to the next one towards the root. */
struct rna_pcie_demand rna_pcie_demand_find(const struct rna_rule_input *in, size_t hop);

/* Its parts in Gb/s: "mlx5_0/1 200, mlx5_1/1 200", in arena; of many the first ones. */
const char *rna_pcie_demand_say(const struct rna_rule_input *in, size_t hop,
				struct rna_arena *arena);
