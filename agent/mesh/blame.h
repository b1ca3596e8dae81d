/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blame: which parts of a fabric explain the pairs that lose probes. A pair crosses both hosts and
 * ports, their leaves and, between two leaves, an uplink of each and a spine. The parts that
 * explain most are blamed, each only if most of what crosses it loses: answers are evidence against
 * it. Where pairs cannot separate parts, the verdict is one of these. Pure: what all agents of a
 * fleet export goes in, verdicts come out. Thread: any.
 *
 * A probe is lost if it or its answer is: so a fault in one direction looks like one in both. Which
 * of the spines loses cannot be told: switches choose it by a hash of addresses and source port, so
 * that one class of source ports takes another spine in each pair. A share of losses near one by
 * the number of spines, or twice that if both directions are hit, says that it is one of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/model/probe.h"

#define RNA_MESH_NONE UINT32_MAX

/* A port that sends probes, or that others name. Places are numbers below the counts of the mesh.
 */
struct rna_mesh_port {
	uint32_t node;
	uint32_t leaf;              /* RNA_MESH_NONE: unknown */
	uint32_t rail;              /* RNA_PROBE_RAIL_UNKNOWN */
	uint32_t losing, answering; /* its pairs, as its agent judges them; 0: it says nothing */
	/* Probes of some minutes; 0: unknown, as of ports without a pair that loses. */
	double sent[RNA_PROBE_SCOPE_COUNT], lost[RNA_PROBE_SCOPE_COUNT];
};

/* A pair that loses. Agents list the worst ones only: ports may have more than are here. */
struct rna_mesh_pair {
	uint32_t from, to; /* ports */
	enum rna_probe_scope scope;
	unsigned sign; /* one of RNA_PROBE_LOSING */
	double ratio;  /* share of lost probes */
};

struct rna_mesh {
	size_t node_count, leaf_count;
	size_t port_count, pair_count;
	const struct rna_mesh_port *ports;
	const struct rna_mesh_pair *pairs;
};

enum rna_blame_kind {
	RNA_BLAME_SPINE,  /* a spine of the fleet; of one rail, if rail is known */
	RNA_BLAME_LEAF,   /* the switch */
	RNA_BLAME_UPLINK, /* links between a leaf and spines */
	RNA_BLAME_HOST,   /* several ports of a node */
	RNA_BLAME_PORT,   /* the NIC, the cable, or the port of the leaf */
	RNA_BLAME_PATH,   /* between two leaves, while both are well elsewhere */
	RNA_BLAME_KIND_COUNT,
};

const char *rna_blame_kind_name(enum rna_blame_kind kind); /* "spine", "leaf", ... */

/* What does not belong to the kind is RNA_MESH_NONE, or RNA_PROBE_RAIL_UNKNOWN. */
struct rna_mesh_part {
	enum rna_blame_kind kind;
	uint32_t node, port;       /* of a host; of a port */
	uint32_t leaf, other_leaf; /* of a port, leaf, uplink; both ends of a path */
	uint32_t rail;             /* of a spine, a port, a leaf that is unknown */
};

enum { RNA_BLAME_OTHERS_MAX = 4 };

struct rna_blame {
	/* Its leaf may be an inferred one, or RNA_MESH_NONE: one of those of the rail. */
	struct rna_mesh_part part;
	struct rna_mesh_part others[RNA_BLAME_OTHERS_MAX]; /* it is one of these, or the part */
	uint32_t other_count;
	uint32_t losing_ports, ports; /* of the part: that lose by it, and all */
	uint32_t losing, pairs;       /* likewise, pairs that its ports send to; 0: not known */
	uint32_t explained;           /* pairs that lose and cross it, those of others included */
	uint32_t signs;               /* of these, a bit each */
	double ratio;                 /* the median share of their losses */
};

struct rna_blames {
	struct rna_blame *list; /* those that explain most first */
	size_t count;
	uint32_t *left; /* pairs that no part explains, the worst first */
	size_t left_count;
	uint32_t *leaves; /* of each port; from mesh->leaf_count on: one that was inferred */
};

/* 0, or -ENOMEM; *ret can be freed in any case. */
int rna_mesh_blame(const struct rna_mesh *mesh, struct rna_blames *ret);
void rna_blames_deinit(struct rna_blames *blames);

/* Is the port one of the part's? Not of a path. */
bool rna_blame_has_port(const struct rna_blames *blames, const struct rna_mesh *mesh,
			const struct rna_mesh_part *part, uint32_t port);
