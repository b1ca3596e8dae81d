/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The aims at one port of a peer. Where the source port follows the flow label, equal-cost paths
 * take turns only if labels do: so there are several aims, each with another label, which packets
 * use one after the other. A path that loses everything then loses some packets of each round, not
 * all of several seconds. Each is replaced after some rounds, so that all labels have their turn
 * while few aims are made. Where the source port follows the QP, there is one place, and one label.
 * Pure. Thread: the child's loop.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	RNA_AIM_PLACES = 8,
	RNA_AIM_ROUNDS = 8,     /* packets with one aim, before it is replaced */
	RNA_FLOW_CLASSES = 128, /* flow labels: 115 ports reach 16 equal paths at 99 % */
};

struct rna_aims {
	void *aims[RNA_AIM_PLACES]; /* the port's; NULL: not made yet */
	uint8_t classes[RNA_AIM_PLACES];
};

/* The place of packet number turn. places: 1 or RNA_AIM_PLACES. */
unsigned rna_aims_place(uint32_t turn, unsigned places);

/* The class of flow label that the aim at this place should have then. */
uint8_t rna_aims_class(uint32_t turn, unsigned places);

/* Is the aim at the place of that packet to be made, or made anew? */
bool rna_aims_want(const struct rna_aims *aims, uint32_t turn, unsigned places);

/*
 * The aim for that packet: the one at its place, or another one while there is none; its class in
 * *ret_class. NULL: there is none at all.
 */
void *rna_aims_choose(const struct rna_aims *aims, uint32_t turn, unsigned places,
		      uint8_t *ret_class);

/* Returns the one that was there, or NULL: the caller's. */
void *rna_aims_put(struct rna_aims *aims, uint8_t class, unsigned places, void *aim);
