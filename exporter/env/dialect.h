/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dialect: what one library calls the variables, and how it differs from the others. The table is
 * in dialects.c. An advising is what the functions of a request share; its helpers keep the first
 * lack of memory in mind, so that callers need not check.
 */
#pragma once

#include "rna/model/env.h"
#include "rna/model/nccl.h"

#include "env_ports.h"
#include "env_qos.h"

struct rna_env_advising;

/* How a library chooses the GID of a RoCE port. */
struct rna_env_gid_names {
	const char *title; /* who chooses so: "NCCL", "UCX before 1.21" */
	const char *index; /* NCCL_IB_GID_INDEX */
	/* Further variables of the choice; NULL: the library has no such variable. */
	const char *family;
	const char *range;
	const char *range_since; /* the version that has it first; NULL: all of interest have it */
	const char *roce_version;
	rna_env_select_gid *select;
};

/* How a library chooses the P_Key of an InfiniBand port. */
struct rna_env_pkey_names {
	const char *name;  /* NCCL_IB_PKEY */
	bool by_value;     /* a partition; otherwise an index of the table */
	const char *alone; /* what it does without a value */
};

struct rna_env_dialect {
	struct rna_env_words words;
	const char *source;     /* whose source says all this: "NVIDIA/nccl 2.30.7" */
	const char *list_start; /* first character of the list of ports: "=" */
	const char *list_end;   /* behind ports of other drivers than mlx5; NULL: nothing */
	bool lists_devices;     /* without their ports */
	bool lists_planes;      /* behind the port: ":RAIL:PLANE" */
	size_t ports_max;       /* that the library can use */
	const char *apart;      /* what to do if its ports do not reach each other */
	struct rna_env_pkey_names pkey;
	struct rna_env_gid_names gids;
	struct rna_env_qos_names qos;
	/* The interface for connections that are no RDMA; NULL: no variable, or no need for it. */
	const char *sockets;
	const char *sockets_alone; /* what it does without a value */
	/* What only this library has; NULL: nothing. */
	void (*choose)(struct rna_env_advising *advising);
};

extern const struct rna_env_dialect rna_env_dialects[RNA_ENV_LIBRARY_COUNT];

struct rna_env_advising {
	const struct rna_view *view;
	const struct rna_env_request *request;
	const struct rna_env_dialect *dialect;
	struct rna_env_ports ports;
	struct rna_arena *arena;
	struct rna_env_variable *variables;
	size_t variable_count;
	const char **warnings;
	size_t warning_count;
	bool failed; /* no memory */
};

/* In advising.c. value and reason: in the arena, or static; NULL: there was no memory. */
void rna_env_set(struct rna_env_advising *advising, const char *name, const char *value,
		 const char *reason);
/* text: as value. */
void rna_env_warn(struct rna_env_advising *advising, const char *text);
#define RNA_ENV_WARN(advising, ...)                                                                \
	rna_env_warn(advising, rna_arena_printf((advising)->arena, __VA_ARGS__))

/* "mlx5_0/1"; never NULL. */
const char *rna_env_name(struct rna_env_advising *advising, const struct rna_subject *port);
/* A variable of the caller's environment. name may be NULL. NULL: not set, or empty. */
const char *rna_env_ask(const struct rna_env_request *request, const char *name);
const char *rna_env_given(const struct rna_env_advising *advising, const char *name);
/* Are ports chosen for one GPU? */
bool rna_env_is_of_gpu(const struct rna_env_advising *advising);

/* The GIDs of RoCE ports: env_gids.c. */
void rna_env_choose_gids(struct rna_env_advising *advising);
/* Why other nodes cannot reach the port by that entry, which may be NULL. NULL: they can. */
const char *rna_env_gid_defect(const struct rna_subject *port, const struct rna_gid_entry *entry);
/* What the caller's environment says of GIDs. False: nothing. */
bool rna_env_given_gids(const struct rna_env_gid_names *names,
			const struct rna_env_request *request, struct rna_nccl_settings *ret);

/* Partitions, and networks that do not reach each other: env_networks.c. */
void rna_env_choose_networks(struct rna_env_advising *advising);
/* Are there several, and is that proven? */
bool rna_env_networks_are_apart(const struct rna_env_ports *ports);
/* The number of the network of one of the ports, from 0. */
size_t rna_env_plane(const struct rna_env_ports *ports, size_t of);
/*
 * The most members of a bond whose members transmit at the same time; 0: there is none. Bonds with
 * LACP do not count if without_lacp.
 */
size_t rna_env_count_members(const struct rna_env_advising *advising, bool without_lacp);
/* The first port of another driver than mlx4 and mlx5, or in software; NULL: none. */
const struct rna_subject *rna_env_other_driver(const struct rna_env_ports *ports);

/*
 * Is this a virtual machine whose PCI tree has no GPU with NICs nearer than others: all behind host
 * bridges, or no known path?
 */
bool rna_env_is_flat_guest(const struct rna_env_advising *advising);

/* Is dma-buf the only way for NICs to access the memory of GPUs of that driver? */
bool rna_env_needs_dma_buf(const struct rna_env_advising *advising, const char *driver);

/* The choose of each: env_nccl.c, env_ucx.c, env_nvshmem.c. */
void rna_env_choose_nccl(struct rna_env_advising *advising);
void rna_env_choose_rccl(struct rna_env_advising *advising);
void rna_env_choose_ucx(struct rna_env_advising *advising);
void rna_env_choose_nixl(struct rna_env_advising *advising);
void rna_env_choose_openmpi(struct rna_env_advising *advising);
void rna_env_choose_nvshmem(struct rna_env_advising *advising);
void rna_env_choose_mooncake(struct rna_env_advising *advising);

/* select of UCX, and of libraries with NCCL's algorithm. */
rna_env_select_gid rna_env_nccl_select, rna_env_ucx_select, rna_env_mooncake_select;

/* A warning if the topology has no GPU of that vendor, for which alone the library is. */
void rna_env_warn_of_vendor(struct rna_env_advising *advising, uint32_t vendor, const char *name);

enum {
	RNA_ENV_VENDOR_NVIDIA = 0x10de,
	RNA_ENV_VENDOR_AMD = 0x1002,
};
