/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The topology as people look at it: the PCI tree with the ports of a switch folded into one item,
 * below the places (sockets and NUMA nodes) that its host bridges belong to, and what is known of
 * each GPU and NIC in words. Text, DOT and SVG only differ in how they draw these items.
 */
#pragma once

#include "rna/base/arena.h"
#include "rna/model/topology.h"
#include "rna/model/view.h"

#include "facts.h"
#include "field.h"

enum rna_item_kind {
	RNA_ITEM_PLACE, /* a NUMA node and its socket; a root of the tree */
	RNA_ITEM_HOST_BRIDGE,
	RNA_ITEM_ROOT_PORT,
	RNA_ITEM_SWITCH,
	RNA_ITEM_BRIDGE,
	RNA_ITEM_GPU,
	RNA_ITEM_NIC,
	RNA_ITEM_DATA_DIRECT,
	RNA_ITEM_KIND_COUNT,
};

enum { RNA_NO_ITEM = -1 };

/* Texts are NULL where there is nothing to say. */
struct rna_item {
	enum rna_item_kind kind;
	int parent;             /* index of an item in front of this one, or RNA_NO_ITEM */
	unsigned depth;         /* of places 0 */
	bool last;              /* of the children of its parent, or of the places */
	int object;             /* of a switch its upstream port; of a place RNA_NO_OBJECT */
	int number;             /* index in gpus or nics; -1: it is neither */
	const char *name;       /* "GPU0", "switch", "Socket 0, NUMA node 1" */
	const char *address;    /* PCI address */
	const char *what;       /* a GPU's model; a NIC's RDMA devices, or its interfaces */
	const char *state;      /* of a NIC's ports: "400 Gb/s", "DOWN" */
	enum rna_tone tone;     /* of state */
	const char *notes;      /* "rail 0, 16 VFs"; a GPU's nearest NICs */
	struct rna_value width; /* of the link to what is above */
	struct rna_value speed;
	const char *trouble; /* what is wrong with that link: "of x16" */
};

struct rna_topology_tree {
	const struct rna_topology *topology; /* NULL: it is not known; then there are no items */
	size_t count;
	struct rna_item *items;  /* each before those below it */
	unsigned troubles;       /* links with a trouble */
	unsigned ports_down;     /* expected to be up or not */
	struct rna_arena *arena; /* owns items and their texts; others are the view's */
};

#define RNA_TOPOLOGY_TREE_INIT ((struct rna_topology_tree){0})

/* The tree of view, which must outlive it. 0 or -ENOMEM. */
int rna_topology_tree_make(const struct rna_view *view, struct rna_topology_tree *ret);
void rna_topology_tree_deinit(struct rna_topology_tree *tree); /* idempotent */
#define RNA_TOPOLOGY_TREE RNA_CLEANUP(rna_topology_tree_deinit)

/* "8 GPUs, 10 NICs, 1 port down": what a picture of it is called. */
void rna_topology_summary(const struct rna_topology_tree *tree, struct rna_strbuf *out);

/* What is missing, in sentences for people; NULL: there are GPUs and NICs. */
const char *rna_topology_why_little(const struct rna_topology *topology);

/* "x16", "32 GT/s"; NULL: not known. */
const char *rna_item_width(const struct rna_item *item, char scratch[RNA_FIELD_TEXT_MAX]);
const char *rna_item_speed(const struct rna_item *item, char scratch[RNA_FIELD_TEXT_MAX]);

/* "nvidia", "amd", ...; else the number in hexadecimal, in scratch; NULL: not known. */
const char *rna_gpu_vendor(uint32_t vendor_id, char scratch[RNA_FIELD_TEXT_MAX]);
