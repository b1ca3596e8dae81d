/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a view shows of the updates of this node's Node object in Kubernetes: each backend's
 * progress, the results of its requests, and the resources that the Node advertises.
 * Thread: made by the loop; part of a view, immutable.
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
	uint64_t
		allocatable; /* what pods can have: 0 where a device plugin found nothing healthy */
};

enum rna_kubernetes_result {
	RNA_KUBERNETES_OK,
	RNA_KUBERNETES_REFUSED,      /* answers 4xx other than these */
	RNA_KUBERNETES_UNAUTHORIZED, /* 401 */
	RNA_KUBERNETES_FORBIDDEN,    /* 403, which is also what a missing Node gives */
	RNA_KUBERNETES_THROTTLED,    /* 429 */
	RNA_KUBERNETES_FAILED,       /* answers 5xx */
	RNA_KUBERNETES_UNREACHABLE,  /* no answer, or half of one */
	RNA_KUBERNETES_RESULT_COUNT,
};

const char *rna_kubernetes_result_name(enum rna_kubernetes_result result); /* a metric label */

/* Those who make a wish true. */
enum rna_node_backend_id {
	RNA_NODE_BACKEND_API,
	RNA_NODE_BACKEND_NFD,
	RNA_NODE_BACKEND_COUNT,
};

#define RNA_NODE_BACKEND_BIT(id) (1 << RNA_NODE_BACKEND_##id)

const char *rna_node_backend_name(enum rna_node_backend_id id); /* "api", "nfd": a metric label */

struct rna_node_backend {
	bool used;
	bool in_step;     /* the newest wish has come true */
	bool problem;     /* it was said what it is */
	rna_usec written; /* realtime of the last write that was taken; 0: none yet */
	uint64_t requests[RNA_KUBERNETES_RESULT_COUNT];
};

/* What a view shows of it. */
struct rna_node_status {
	struct rna_node_backend backends[RNA_NODE_BACKEND_COUNT];
	uint64_t events_sent;
	uint64_t events_dropped;
	bool resources_known; /* the Node was read */
	size_t resource_count;
	const struct rna_kubernetes_resource *resources; /* by name */
};
