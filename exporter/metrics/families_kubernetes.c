// SPDX-License-Identifier: Apache-2.0
/* Metrics about data published to Kubernetes. */
#include "family_rows.h"

static const void *next_backend(const struct rna_subject *subject, size_t *from)
{
	const struct rna_node_status *node = subject->view->node;

	for (; node && *from < RNA_NODE_BACKEND_COUNT; ++*from)
		if (node->backends[*from].used)
			return &node->backends[(*from)++];
	return NULL;
}

static void add_backend(const struct rna_subject *subject, const void *item,
			struct rna_strbuf *labels)
{
	const struct rna_node_backend *first = subject->view->node->backends, *backend = item;

	rna_label_add(labels, "backend",
		      rna_node_backend_name((enum rna_node_backend_id)(backend - first)));
}

static void node_requests(const struct rna_subject *subject, struct rna_writer *writer)
{
	const struct rna_node_status *node = subject->view->node;

	for (enum rna_node_backend_id id = 0; node && id < RNA_NODE_BACKEND_COUNT; id++)
		for (enum rna_kubernetes_result result = 0; result < RNA_KUBERNETES_RESULT_COUNT;
		     result++) {
			RNA_STRBUF struct rna_strbuf labels = RNA_STRBUF_INIT;
			uint64_t count = node->backends[id].requests[result];

			if (!node->backends[id].used || count == 0)
				continue;
			rna_label_add(&labels, "backend", rna_node_backend_name(id));
			rna_label_add(&labels, "result", rna_kubernetes_result_name(result));
			rna_writer_sample_labels(writer, &labels, count);
		}
}

/* What the client of the API alone does. */
static const void *next_client(const struct rna_subject *subject, size_t *from)
{
	const struct rna_node_status *node = subject->view->node;

	return (*from)++ == 0 && node && node->backends[RNA_NODE_BACKEND_API].used ? node : NULL;
}

static struct rna_value label_held(const void *object)
{
	const struct rna_node_status *node = object;

	return rna_value_ok(node->label_held != NULL);
}

static struct rna_value taint_withheld(const void *object)
{
	const struct rna_node_status *node = object;

	return rna_value_ok(node->taint_withheld != RNA_WITHHELD_NOTHING);
}

static const void *next_resource(const struct rna_subject *subject, size_t *from)
{
	const struct rna_node_status *node = subject->view->node;

	return node && *from < node->resource_count ? &node->resources[(*from)++] : NULL;
}

/* -- The tables -------------------------------------------------------------------------------- */

/* clang-format off */
static const struct rna_family backend_rows[] = {
	METRIC(NODE, "rdma_kubernetes_in_sync", GAUGE, YES_NO, IN(struct rna_node_backend, in_step),
	       "1 if the Node object, or the file for it, matches what the agent wants, 0 "
	       "otherwise."),
	METRIC(NODE, "rdma_kubernetes_problem", GAUGE, YES_NO, IN(struct rna_node_backend, problem),
	       "1 if a problem prevents updates of the Node object or the file for it, 0 "
	       "otherwise. The log has the reason."),
	METRIC(NODE, "rdma_kubernetes_last_write_timestamp_seconds", GAUGE, SECONDS,
	       IN(struct rna_node_backend, written, .zero_is_none = true),
	       "Unix time of the last successful write of the Node object, or the file for it."),
	METRIC(NODE, "rdma_kubernetes_requests_total", COUNTER, PLAIN,
	       EACH(node_requests, "backend, result"),
	       "Requests to the API server, or writes of the file, by result."),
};

static const struct rna_family client_rows[] = {
	METRIC(NODE, "rdma_kubernetes_ignored", GAUGE, YES_NO, IN(struct rna_node_status, ignored),
	       "1 if the Node has the annotation rdma-node-agent/ignore: \"true\", so that the agent "
	       "publishes nothing there, 0 otherwise."),
	METRIC(NODE, "rdma_kubernetes_label_held", GAUGE, YES_NO, OF(label_held),
	       "1 if another client has written the label kubernetes.roce_key with another value "
	       "than the agent would, and kubernetes.roce_label is only-if-unset, 0 otherwise. The "
	       "finding label-held names both."),
	METRIC(NODE, "rdma_kubernetes_taint_withheld", GAUGE, YES_NO, OF(taint_withheld),
	       "1 if the Node does not get the taint that it should have, because of "
	       "kubernetes.taint_leases or kubernetes.taint_dry_run, 0 otherwise. The finding "
	       "taint-withheld has the reason."),
	METRIC(NODE, "rdma_kubernetes_device_taints", GAUGE, PLAIN,
	       IN(struct rna_node_status, device_taints),
	       "DeviceTaintRules of the agent: devices of unhealthy NICs in ResourceSlices "
	       "(kubernetes.device_taints)."),
	METRIC(NODE, "rdma_kubernetes_reverts_total", COUNTER, PLAIN,
	       IN(struct rna_node_status, reverts),
	       "Times another client had changed data of the agent on the Node, which the agent then "
	       "wrote again. The log has the first of equal ones."),
	METRIC(NODE, "rdma_kubernetes_events_sent_total", COUNTER, PLAIN,
	       IN(struct rna_node_status, events_sent),
	       "Kubernetes Events that the API server accepted."),
	METRIC(NODE, "rdma_kubernetes_events_dropped_total", COUNTER, PLAIN,
	       IN(struct rna_node_status, events_dropped),
	       "Kubernetes Events dropped because of limits, or too old when the API server was "
	       "reachable again."),
};

static const struct rna_family resource_rows[] = {
	{TELLS("resource", ABOUT(struct rna_kubernetes_resource, name))},
	METRIC(NODE, "rdma_kubernetes_allocatable", GAUGE, PLAIN,
	       IN(struct rna_kubernetes_resource, allocatable),
	       "Allocatable amount of a device plugin resource on this node."),
	METRIC(NODE, "rdma_kubernetes_capacity", GAUGE, PLAIN,
	       IN(struct rna_kubernetes_resource, capacity),
	       "Capacity of a device plugin resource on this node."),
};
/* clang-format on */

const struct rna_family_table rna_backend_table = {ROWS(backend_rows), .next = next_backend,
						   .add_label = add_backend, .label = "backend"};
const struct rna_family_table rna_kubernetes_client_table = {ROWS(client_rows),
							     .next = next_client};
const struct rna_family_table rna_kubernetes_resource_table = {ROWS(resource_rows),
							       .next = next_resource};
