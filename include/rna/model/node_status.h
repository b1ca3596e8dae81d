/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of updates of this node's Node object in Kubernetes: each backend's progress, the
 * results of its requests, and the resources that the Node advertises. Thread: made by the loop;
 * part of a view, immutable.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/clock.h"

/* A resource that the Node advertises: "rdma/hca_shared_devices". */
struct rna_kubernetes_resource {
	const char *name;
	uint64_t capacity;
	uint64_t allocatable; /* available to pods; 0 if the device plugin found nothing healthy */
};

enum rna_kubernetes_result {
	RNA_KUBERNETES_OK,
	RNA_KUBERNETES_REFUSED,      /* other 4xx answers */
	RNA_KUBERNETES_UNAUTHORIZED, /* 401 */
	RNA_KUBERNETES_FORBIDDEN,    /* 403, also the answer for a missing Node */
	RNA_KUBERNETES_THROTTLED,    /* 429 */
	RNA_KUBERNETES_FAILED,       /* 5xx answers */
	RNA_KUBERNETES_UNREACHABLE,  /* no answer, or an incomplete one */
	RNA_KUBERNETES_RESULT_COUNT,
};

const char *rna_kubernetes_result_name(enum rna_kubernetes_result result); /* a metric label */

/* The backends that apply the desired state. */
enum rna_node_backend_id {
	RNA_NODE_BACKEND_API,
	RNA_NODE_BACKEND_NFD,
	RNA_NODE_BACKEND_COUNT,
};

#define RNA_NODE_BACKEND_BIT(id) (1 << RNA_NODE_BACKEND_##id)

const char *rna_node_backend_name(enum rna_node_backend_id id); /* "api", "nfd": a metric label */

struct rna_node_backend {
	bool used;
	bool in_step;     /* the newest desired state is applied */
	bool problem;     /* a problem was reported */
	rna_usec written; /* realtime of the last accepted write; 0: none yet */
	uint64_t requests[RNA_KUBERNETES_RESULT_COUNT];
};

/* Why the Node does not have the taint that it should have. */
enum rna_withheld {
	RNA_WITHHELD_NOTHING,
	RNA_WITHHELD_DRY_RUN,   /* kubernetes.taint_dry_run */
	RNA_WITHHELD_LIMIT,     /* other nodes hold all Leases of kubernetes.taint_leases */
	RNA_WITHHELD_NO_LEASES, /* there are none */
	RNA_WITHHELD_DENIED,    /* the API server refuses to list or to change them */
	RNA_WITHHELD_COUNT,
};

/* As a clause: "other nodes hold all Leases of kubernetes.taint_leases". */
const char *rna_withheld_reason(enum rna_withheld why);

/* The status in a view. */
struct rna_node_status {
	struct rna_node_backend backends[RNA_NODE_BACKEND_COUNT];
	uint64_t events_sent;
	uint64_t events_dropped;
	bool ignored;       /* the Node has RNA_KUBERNETES_IGNORE */
	bool taint_limited; /* so that it may be withheld */
	enum rna_withheld taint_withheld;
	/*
	 * The label that the agent leaves to another client with a value that is not its own, as a
	 * clause: "network.nvidia.com/roce is \"yes\" instead of \"true\" (written by nfd-master)";
	 * NULL: there is none.
	 */
	const char *label_held;
	size_t device_taints; /* rules for devices in ResourceSlices that the agent has */
	uint64_t reverts;     /* of data of the agent that another client changed */
	const char *leaf;     /* value of the label probe.leaf_label; NULL: it has none */
	bool resources_known; /* the agent has read the Node */
	size_t resource_count;
	const struct rna_kubernetes_resource *resources; /* by name */
};
