/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subjects: what an output speaks about. A view is taken apart once into the node, its cards and
 * devices, their ports, the GIDs of these and the collectors' jobs, each joined with all that is
 * known about it; from there on every output is a table whose rows look at one subject.
 */
#pragma once

#include "rna/model/view.h"

#include "text.h"

enum rna_scope {
	RNA_SCOPE_NODE, /* always one subject */
	RNA_SCOPE_CARD,
	RNA_SCOPE_DEVICE,
	RNA_SCOPE_PORT,
	RNA_SCOPE_GID,
	RNA_SCOPE_JOB,
	RNA_SCOPE_COUNT,
};

/* Pointers are NULL where nothing is known, or where the scope does not go that far. */
struct rna_subject {
	const struct rna_view *view;
	const struct rna_card *card; /* of the device, too */
	const struct rna_snapshot_device *device;
	const struct rna_device *rdma_device; /* the same as device->device */
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
	/* Of the peer, unless it is stale: old abilities do not apply to the present link. */
	const struct rna_link_end *peer_link;
	const struct rna_port_gids *gids;
	const struct rna_qos_port *qos;        /* of a port with an Ethernet interface */
	const struct rna_gid_entry *gid;       /* one of gids */
	const struct rna_view_port *account;   /* of the port */
	const struct rna_view_device *changes; /* of the device; NULL: none is known */
	const struct rna_selftest_port *selftest;
	const struct rna_job_status *job;
	const struct rna_job_status *finished; /* the same, once a run has ended */
	/* Of the node. */
	const struct rna_process *process;
	const struct rna_presence *presence;
	const struct rna_readiness *readiness;
	const struct rna_web_status *web; /* with a web configuration */
	const struct rna_counter_group *groups[RNA_PLACE_COUNT];
	struct rna_value nccl_index;    /* of the GID that NCCL uses of the port; absent: none */
	unsigned port;                  /* number; 0 in other scopes */
	enum rna_link_layer link_layer; /* of the port */
	struct rna_span labels;         /* that name it; empty until labels.h sets them */
	struct rna_span info;           /* all that is known of it in words, labels included */
};

struct rna_subject_list {
	size_t count;
	size_t size; /* room in items */
	struct rna_subject *items;
};

/*
 * Cards, devices and ports in the order of the view: by address, name, port. GIDs and jobs, of
 * which there are many, only after the calls for them.
 */
struct rna_subjects {
	struct rna_subject_list scopes[RNA_SCOPE_COUNT];
};

#define RNA_SUBJECTS_INIT ((struct rna_subjects){0})

/* The GID with that number in the port's table, as a subject of its own. */
struct rna_subject rna_subject_of_gid(const struct rna_subject *port, size_t i);

/*
 * Can NCCL's own transport use the port at this moment? It takes ports that are ACTIVE, and makes
 * its connections in a way that only channel adapters have: not iWARP, and not EFA.
 */
bool rna_subject_suits_nccl(const struct rna_subject *port);

/* The job with that number in the view, as a subject of its own. */
struct rna_subject rna_subject_of_job(const struct rna_view *view, size_t i);

/* Subjects point into view, which must outlive their use. 0 or -ENOMEM. May be called again. */
int rna_subjects_set(struct rna_subjects *subjects, const struct rna_view *view);

/* These add all GIDs, by port and index, and all jobs of the view. 0 or -ENOMEM. */
int rna_subjects_add_gids(struct rna_subjects *subjects);
int rna_subjects_add_jobs(struct rna_subjects *subjects);

void rna_subjects_deinit(struct rna_subjects *subjects); /* idempotent */
#define RNA_SUBJECTS RNA_CLEANUP(rna_subjects_deinit)

/*
 * The ports of the physical functions of a card, in the order of these: the one behind *next, from
 * the beginning with RNA_CARD_CURSOR_INIT. NULL: there are no more.
 */
struct rna_card_cursor {
	size_t function;
	size_t port; /* of the function's device */
};

#define RNA_CARD_CURSOR_INIT ((struct rna_card_cursor){0})

const struct rna_subject *rna_subjects_next_of_card(const struct rna_subjects *subjects,
						    const struct rna_card *card,
						    struct rna_card_cursor *next);

/* The ports of one device: the run of port subjects that follows from *from, which moves on. */
struct rna_subject_list rna_subjects_ports_of(const struct rna_subjects *subjects,
					      const struct rna_subject *device, size_t *from);
