/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subjects: what outputs and rules speak about. When a view is made, each of its devices and each
 * port is joined once with all that is known about it; from there on every output is a table whose
 * rows look at one subject, and rules check the same subjects.
 *
 * Ownership: they lie in the arena of the view and point into it. Thread: as the view.
 */
#pragma once

#include "rna/base/strbuf.h"
#include "rna/model/view.h"

enum rna_scope {
	RNA_SCOPE_NODE, /* always one subject */
	RNA_SCOPE_CARD,
	RNA_SCOPE_DEVICE,
	RNA_SCOPE_PORT,
	RNA_SCOPE_GID,
	RNA_SCOPE_JOB,
	RNA_SCOPE_COUNT,
};

enum { RNA_SUBJECT_MODELS_MAX = 64 }; /* ports of further models have no siblings */

/* Pointers are NULL where nothing is known, or where the scope does not go that far. */
struct rna_subject {
	const struct rna_view *view;
	const struct rna_card *card; /* of the device, too */
	const struct rna_snapshot_device *device;
	const struct rna_device *rdma_device; /* the same as device->device */
	const struct rna_subject *ports;      /* all of the device, in its order; NULL: none */
	const struct rna_identity *identity;
	const struct rna_pcie *pcie;    /* of the device, if it has a path of its own */
	const struct rna_pcie_hop *hop; /* the device's own function on that path */
	const struct rna_port_identity *port_identity;
	const struct rna_port_state_value *state;
	const struct rna_port_link *link;
	const struct rna_port_netdev *port_netdev; /* how netdev was found */
	const struct rna_netdev *netdev;
	const struct rna_port_fabric *fabric;
	const struct rna_peer *peer; /* at the other end of the cable */
	const struct rna_network *network;
	/* Of the peer, unless it is stale: old abilities do not apply to the present link. */
	const struct rna_link_end *peer_link;
	const struct rna_port_gids *gids;
	const struct rna_qos_port *qos;        /* of a port with an Ethernet interface */
	const struct rna_gid_entry *gid;       /* one of gids */
	const struct rna_view_port *account;   /* of the port */
	const struct rna_view_device *changes; /* of the device; NULL: none is known */
	const struct rna_selftest_port *selftest;
	const struct rna_job_status *jobs; /* of the device, job_count of them */
	const struct rna_job_status *job;
	const struct rna_job_status *finished; /* the same, once a run has ended */
	/* Of the node. */
	const struct rna_process *process;
	const struct rna_presence *presence;
	const struct rna_readiness *readiness;
	const struct rna_web_status *web; /* with a web configuration */
	/* Counters of the port, or of the device as a whole. */
	const struct rna_counter_group *groups[RNA_PLACE_COUNT];
	struct rna_value nccl_index; /* of the GID that NCCL uses of the port; absent: none */
	/* The same of RoCE, if the address of that GID can be reached from other hosts. */
	struct rna_value nccl_routable;
	unsigned port; /* number; 0 in other scopes */
	/* Of the port; of a device that of all its ports, which decides what its counters mean. */
	enum rna_link_layer link_layer;
	unsigned job_count;
	/* Ports of one number are of one model, each of a function of its own: siblings. 0: none */
	unsigned model;
	/*
	 * Ports of one number are in one place: the same port of the same function on cards of one
	 * model with as many functions, of any link layer, and all are rails or none is. 0: none
	 */
	unsigned place;
	unsigned card_functions; /* of its card, those that are NICs; 0: not known */
	bool rail;               /* its NIC serves GPUs, or has a rail on a node without GPUs */
	/* Of a port: it is one of the embedded switch (switchdev mode), and has no cable. */
	bool represents;
	bool judged;            /* all rules apply; otherwise only those about its PCIe path */
	bool unseen;            /* some of its data is missing: findings of before stay */
	struct rna_span labels; /* that name it; empty but in metrics (labels.h) */
	struct rna_span info;   /* all that is known of it in words, labels included */
};

struct rna_subject_list {
	size_t count;
	const struct rna_subject *items;
};

/*
 * Cards, devices and ports in the order of the view: by address, name, port. Those of a view have
 * no GIDs and jobs, of which there are many and few are shown.
 */
struct rna_subjects {
	struct rna_subject_list scopes[RNA_SCOPE_COUNT];
};

/*
 * Sets view->subjects and view->networks. All else of the view is there but the findings.
 * virtual_functions: are they judged? networks: the setting fabric.networks. 0 or -ENOMEM.
 */
int rna_subjects_join(struct rna_view *view, bool virtual_functions, char *const *networks);

const struct rna_subject_list *rna_view_devices(const struct rna_view *view);
const struct rna_subject_list *rna_view_ports(const struct rna_view *view);

/* -- Questions about a port that several ask --------------------------------------------------- */

/* False for NOP and numbers that IBTA does not have, too: they say neither up nor down. */
bool rna_subject_state_is_known(const struct rna_subject *port);
const char *rna_subject_state_name(const struct rna_subject *port); /* "ACTIVE"; NULL: not known */
bool rna_subject_in_state(const struct rna_subject *port, enum rna_port_state state);
bool rna_subject_is_active(const struct rna_subject *port); /* false: no, or unknown */
/*
 * False for iWARP, which also runs on Ethernet but has no RoCE versions, one GID made of a MAC
 * address, MTUs of TCP, and TCP's retransmissions instead of lossless priorities.
 */
bool rna_subject_is_active_roce(const struct rna_subject *port);

/*
 * The port of a device in switchdev mode that has the cable. Such a device does no RDMA: its ports
 * are for raw packets alone, and their GIDs are zero (mlx5_port_rep_immutable() in hw/mlx5/main.c,
 * Linux 6.12); its virtual and scalable functions do.
 */
bool rna_subject_is_uplink(const struct rna_subject *port);

/*
 * Can NCCL's own transport use the port at this moment? It takes ports that are ACTIVE, and makes
 * its connections in a way that only channel adapters have: not iWARP, and not EFA.
 */
bool rna_subject_suits_nccl(const struct rna_subject *port);

/*
 * Bytes per second; of a port whose bond spreads traffic that of all its members. Absent: the rate
 * is not known.
 */
struct rna_value rna_subject_rate(const struct rna_subject *port);

enum rna_expected rna_subject_expected(const struct rna_subject *port);
/* Has it a GID that is not link-local? Its table must be known. */
bool rna_subject_has_routable_gid(const struct rna_subject *port);
