/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ports of this node probe, and how: pure functions of a view and of the settings.
 * Thread: any.
 */
#pragma once

#include "rna/model/view.h"
#include "rna/prober.h"

#include "settings/settings.h"

/*
 * The class of probes: traffic class and service level. Probes say something about the packets of
 * jobs only if switches put both into the same queues.
 */
struct rna_probe_class {
	uint8_t traffic_class; /* of GRH and IP header: DSCP << 2 */
	uint8_t service_level;
	uint8_t dscp; /* that probes leave with; 255: unknown */
};

/*
 * The class of the settings. Where they say auto, it is that of NCCL on this node: of
 * /etc/nccl.conf, else of what "env --for=nccl" advises, else NCCL's own, 0.
 */
struct rna_probe_class rna_probe_class_of_jobs(const struct rna_view *view,
					       const struct rna_settings *settings);

/*
 * The same for a port whose driver writes a class of its own into all RoCE packets
 * (rna_port_identity): that one, or, if the settings name another, one whose DSCP is unknown.
 */
struct rna_probe_class rna_probe_class_of_port(struct rna_probe_class jobs, struct rna_value driver,
					       const struct rna_settings *settings);

/* For settings: "auto", or a number. */
bool rna_probe_traffic_class_is_valid(const char *text);
bool rna_probe_service_level_is_valid(const char *text);

enum { RNA_PROBE_LEAF_SIZE = 128 };

/* A port of a view that can probe, or why it cannot. */
struct rna_probe_plan {
	char device[RNA_PROBER_NAME_MAX];
	unsigned port;
	const char *why; /* it does not probe: a phrase, a constant; NULL: it does */
	bool infiniband;
	bool software;   /* no PCI function: rxe, siw */
	int card;        /* number among the cards of the view; -1: unknown */
	int gid_index;   /* -1: InfiniBand */
	uint8_t gid[16]; /* at that index; zeros on InfiniBand */
	struct rna_probe_class class;
	unsigned rail; /* RNA_PROBE_RAIL_UNKNOWN */
	char leaf[RNA_PROBE_LEAF_SIZE];
};

/*
 * The plans of all ports that are no virtual functions and have RDMA of their own, size at most, in
 * the order of the view. class: of jobs. Returns their number.
 */
size_t rna_probe_plans(const struct rna_view *view, const struct rna_settings *settings,
		       struct rna_probe_class class, struct rna_probe_plan *ret, size_t size);

/* For settings. */
bool rna_probe_leaf_is_valid(const char *entry);        /* "DEVICE=NAME" */
bool rna_probe_name_or_none_is_valid(const char *text); /* a name, or "" */
