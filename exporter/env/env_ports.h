/* SPDX-License-Identifier: Apache-2.0 */
/* Which ports of a node a library should use, and why not the others. */
#pragma once

#include "rna/model/env.h"

#include "view/subjects.h"

/* What a library says of ports. */
struct rna_env_words {
	const char *title;       /* "NCCL" */
	const char *list;        /* the variable that lists ports: NCCL_IB_HCA */
	const char *reserved;    /* characters with a meaning in that list */
	const char *no_verbs;    /* what is for NICs that are neither InfiniBand nor RoCE */
	const char *other_layer; /* why ports of the lesser link layer are left out */
};

struct rna_env_ports {
	size_t count;
	const struct rna_subject **items; /* in the order of the view */
	const char *why;                  /* these */
	bool are_nearest;                 /* reduced to those for one GPU */
	size_t left_out_count;
	struct rna_env_left_out *left_out; /* with room for one more of each reason */
};

/* What decides which ports remain. */
struct rna_env_choice {
	struct rna_env_ports *ports;         /* those that remain */
	const struct rna_topology *topology; /* with NICs that serve GPUs; NULL: not known */
	const struct rna_env_words *words;
	enum rna_link_layer layer;   /* of most of their bandwidth */
	uint64_t fastest;            /* their highest rate */
	bool inside;                 /* a process sees the ports, so that none is elsewhere */
	unsigned gpu;                /* for one GPU: which one, */
	enum rna_path_class nearest; /* and the distance of the nearest port */
};

/* Is this port, one of those that remain, to be left out? */
typedef bool rna_env_leaves_out(const struct rna_env_choice *choice,
				const struct rna_subject *port);

/*
 * Leaves out the ports that a reason is for, but not all of them unless always. why: in the arena,
 * or static; NULL: there was no memory. Returns how many it is for, or -ENOMEM.
 */
int rna_env_leave_out(struct rna_env_choice *choice, const char *why, rna_env_leaves_out *applies,
		      bool always, struct rna_arena *arena);

/* In arena; items are of subjects. 0 or -ENOMEM. */
int rna_env_ports_choose(const struct rna_subjects *subjects, const struct rna_env_words *words,
			 struct rna_arena *arena, struct rna_env_ports *ret);

/*
 * Reduces ports to those for one GPU: of the nearest NICs, those that are not the own NIC of
 * another GPU, or all of them if there is no other. ret_warning: what is not as it should be, or
 * NULL. 0 or -ENOMEM.
 */
int rna_env_ports_of_gpu(const struct rna_topology *topology, unsigned gpu, struct rna_arena *arena,
			 struct rna_env_ports *ports, const char **ret_warning);

/*
 * Reduces ports to those on the NUMA node of one GPU, where the PCI tree says no more, as in a
 * virtual machine. Where it does not even say that, all stay. 0 or -ENOMEM.
 */
int rna_env_ports_of_numa_node(const struct rna_topology *topology, unsigned gpu,
			       struct rna_arena *arena, struct rna_env_ports *ports);

/*
 * Does the default route use the port: by its own interface, by the bond that it is in, or by a
 * VLAN on either, whose addresses are in its GID table? False: no, or not known.
 */
bool rna_env_port_has_uplink(const struct rna_subject *port);

/* "mlx5_0/1" in arena; NULL: no memory. */
const char *rna_env_port_name(const struct rna_subject *port, struct rna_arena *arena);

/* Are both on one card, or on one device where cards are not known? */
bool rna_env_is_one_card(const struct rna_subject *a, const struct rna_subject *b);

/* Leaves most ports at most, as many of each card as possible. Returns how many are left out. */
size_t rna_env_ports_cut(struct rna_env_ports *ports, size_t most);
