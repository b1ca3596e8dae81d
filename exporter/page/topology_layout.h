/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the items of a topology go in a drawing: a card for each place, the tree in it growing to
 * the right, GPUs and NICs one below the other in the right-most column. Pure; drawing is not known
 * here. Lengths are pixels of the drawing.
 */
#pragma once

#include "view/topology_tree.h"

struct rna_box {
	int x, y, width, height; /* width 0: the item is not drawn */
};

struct rna_topology_layout {
	int width, height;
	struct rna_box *boxes; /* one for each item of the tree, owned */
};

#define RNA_TOPOLOGY_LAYOUT_INIT ((struct rna_topology_layout){0})

enum {
	RNA_LAYOUT_LINK = 74,  /* room for a link between two columns */
	RNA_LAYOUT_TRUNK = 14, /* of it, up to where the links of one box part */
	RNA_LAYOUT_HEAD = 38,  /* of a card, for its title */
	RNA_LAYOUT_PAD = 18,   /* of a card, on its sides */
	RNA_LAYOUT_LINE = 15,  /* one more line of text in a box */
};

/* 0 or -ENOMEM. */
int rna_topology_layout_make(const struct rna_topology_tree *tree, struct rna_topology_layout *ret);
void rna_topology_layout_deinit(struct rna_topology_layout *layout); /* idempotent */
#define RNA_TOPOLOGY_LAYOUT RNA_CLEANUP(rna_topology_layout_deinit)

/* The item that the link of item comes from: the nearest one above that is drawn as a box. */
int rna_topology_layout_above(const struct rna_topology_tree *tree, int item);
