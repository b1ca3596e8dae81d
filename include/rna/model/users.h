/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users of a device: what has it open. RDMA netlink names the process of each context, its control
 * group says which pod, container, Slurm job or unit it works for, and the kubelet's names of log
 * files what these are called. The agent and its children are no users.
 *
 * Queue pairs and memory regions are not told by user: to list queue pairs, the kernel queries each
 * from the device (fill_res_qp_entry() in drivers/infiniband/core/nldev.c, Linux 6.1).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/arena.h"
#include "rna/base/strbuf.h"
#include "rna/model/value.h"

enum {
	RNA_USERS_MAX = 32,      /* of a device, each by itself */
	RNA_CONTEXTS_MAX = 1024, /* of a device; further ones are counted only */
};

/* NULL: it has none. A Slurm job may run in a pod. No two of a device have the same five names. */
struct rna_user {
	const char *namespace; /* of the pod; NULL as well: the kubelet has left no name of it */
	const char *pod;       /* its name, or its UID */
	const char *container; /* its name, or the first digits of its ID */
	const char *job;       /* of Slurm */
	const char *unit;      /* of systemd, if it is neither a container nor a job */
	struct rna_value uid;  /* of the user whose job it is */
	const char *pod_uid;
	const char *container_id;
	uint64_t contexts; /* one for each time it has opened the device; 0: given to it */
};

#define RNA_NO_USER SIZE_MAX

/* A context, as RDMA netlink names it. */
struct rna_context {
	uint32_t number; /* of this device; not used again soon */
	uint32_t pid;    /* 0: of a process outside of the agent's PID namespace */
	bool own;        /* of the agent or of a child of it */
	size_t user;     /* for the collector: the index of its user, or RNA_NO_USER */
};

struct rna_context_list {
	struct rna_arena *arena; /* of items */
	size_t count;            /* RNA_CONTEXTS_MAX at most */
	struct rna_context *items;
	uint64_t others; /* further ones */
};

/* Why contexts are of no user that is listed. */
enum rna_unnamed {
	RNA_UNNAMED_OTHERS, /* of users beyond RNA_USERS_MAX, or beyond RNA_CONTEXTS_MAX */
	RNA_UNNAMED_GROUP,  /* of processes that are of no pod, job, container or unit */
	RNA_UNNAMED_HIDDEN, /* of processes outside of the agent's PID namespace */
	RNA_UNNAMED_COUNT,
};

const char *rna_unnamed_name(enum rna_unnamed reason); /* "others", "unnamed", "hidden" */

struct rna_users {
	/*
	 * The device is in the network namespace of its user, so nothing else can open it. What has
	 * it open, is not known: the kernel tells that in this namespace only.
	 */
	bool given;
	size_t count;
	const struct rna_user *items;        /* by name */
	uint64_t unnamed[RNA_UNNAMED_COUNT]; /* contexts of none of them */
	/* For the collector only: whom it knows already. */
	struct rna_context_list contexts;
};

/* "pod default/train-0 (worker)", "Slurm job 4711 of user 1000", "nvmet.service". */
void rna_user_describe(const struct rna_user *user, struct rna_strbuf *out);

/* All of them in a phrase: "pod a/b and 3 others"; nothing if there is none. NULL is no users. */
void rna_users_describe(const struct rna_users *users, struct rna_strbuf *out);

/* What a port has carried since its device has the user that it has now, and no other. */
enum rna_user_traffic_id {
	RNA_USER_BYTES_TRANSMITTED,
	RNA_USER_BYTES_RECEIVED,
	RNA_USER_PACKETS_TRANSMITTED,
	RNA_USER_PACKETS_RECEIVED,
	RNA_USER_TRAFFIC_COUNT,
};

const char *rna_user_traffic_name(enum rna_user_traffic_id id); /* "transmitted_bytes", ... */

struct rna_user_traffic {
	struct rna_value of[RNA_USER_TRAFFIC_COUNT]; /* absent: the driver does not count it */
};

/* What they are to the device: "in use by", or "given to". */
const char *rna_users_relation(const struct rna_users *users);

/* By their names. */
int rna_user_compare(const struct rna_user *a, const struct rna_user *b);

/*
 * Devices that the kubelet gave to containers for resources of device plugins, as its checkpoint
 * has them: kubelet_internal_checkpoint, PodDevicesEntry in
 * pkg/kubelet/cm/devicemanager/checkpoint. Resources of DRA are not there.
 */
struct rna_pod_resource {
	const char *pod_uid;
	const char *container;
	const char *resource;  /* "nvidia.com/hostdev" */
	const char *device_id; /* the plugin's: for SR-IOV a PCI address */
};

struct rna_pod_resources {
	size_t count;
	const struct rna_pod_resource *items;
};

/* The resource for which a pod got a PCI function; NULL: not known. */
const struct rna_pod_resource *rna_pod_resource_find(const struct rna_pod_resources *resources,
						     const char *pod_uid, const char *pci_address);
