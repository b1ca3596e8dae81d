// SPDX-License-Identifier: Apache-2.0
/* Metrics of what Kubernetes is told. */
#include "families_kubernetes.h"

#include "families_parts.h"

static void write_backends(const struct rna_subject *subject, struct rna_writer *writer,
			   struct rna_value (*get)(const struct rna_node_backend *backend))
{
	const struct rna_node_status *node = subject->view->node;

	for (enum rna_node_backend_id id = 0; node && id < RNA_NODE_BACKEND_COUNT; id++) {
		struct rna_value value = get(&node->backends[id]);

		if (node->backends[id].used && rna_value_is_known(value))
			rna_writer_sample_with(writer, subject->labels, "backend",
					       rna_node_backend_name(id), value.number);
	}
}

static struct rna_value is_in_step(const struct rna_node_backend *backend)
{
	return rna_family_yes_or_no(backend->in_step);
}

static struct rna_value has_problem(const struct rna_node_backend *backend)
{
	return rna_family_yes_or_no(backend->problem);
}

static struct rna_value when_written(const struct rna_node_backend *backend)
{
	return backend->written ? rna_value_ok(backend->written) : rna_no_value;
}

void rna_family_node_in_step(const struct rna_subject *node, struct rna_writer *writer)
{
	write_backends(node, writer, is_in_step);
}

void rna_family_node_problem(const struct rna_subject *node, struct rna_writer *writer)
{
	write_backends(node, writer, has_problem);
}

void rna_family_node_written(const struct rna_subject *node, struct rna_writer *writer)
{
	write_backends(node, writer, when_written);
}

void rna_family_node_requests(const struct rna_subject *subject, struct rna_writer *writer)
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

static bool has_client(const struct rna_node_status *node)
{
	return node && node->backends[RNA_NODE_BACKEND_API].used;
}

struct rna_value rna_family_node_events_sent(const struct rna_subject *subject)
{
	const struct rna_node_status *node = subject->view->node;

	return has_client(node) ? rna_value_ok(node->events_sent) : rna_no_value;
}

struct rna_value rna_family_node_events_dropped(const struct rna_subject *subject)
{
	const struct rna_node_status *node = subject->view->node;

	return has_client(node) ? rna_value_ok(node->events_dropped) : rna_no_value;
}

void rna_family_node_allocatable(const struct rna_subject *subject, struct rna_writer *writer)
{
	const struct rna_node_status *node = subject->view->node;

	for (size_t i = 0; node && i < node->resource_count; i++)
		rna_writer_sample_with(writer, subject->labels, "resource", node->resources[i].name,
				       node->resources[i].allocatable);
}

void rna_family_node_capacity(const struct rna_subject *subject, struct rna_writer *writer)
{
	const struct rna_node_status *node = subject->view->node;

	for (size_t i = 0; node && i < node->resource_count; i++)
		rna_writer_sample_with(writer, subject->labels, "resource", node->resources[i].name,
				       node->resources[i].capacity);
}
