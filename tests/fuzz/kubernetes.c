// SPDX-License-Identifier: Apache-2.0
/* Replies of the API of Kubernetes, and what is written of the Node in them. */
#include "kubernetes/objects.h"

#include "fuzz.h"

static const char *const resources[] = {"rdma/*", "nvidia.com/*", NULL};
static const char *const keys[] = {"rdma-node-agent/*", "network.nvidia.com/roce", NULL};
static const char *const former[] = {"old.example/rdma", NULL};
static const char *const types[] = {"RdmaPortDown", NULL};

static const struct rna_kubernetes_options options = {
	.taint_key = "rdma-node-agent/rdma-down",
	.taint_effect = "NoSchedule",
	.resources = resources,
	.label_keys = keys,
	.former_taints = former,
	.condition_types = types,
};

static const struct rna_desired_node desired = {
	.labels_decided = true,
	.conditions_decided = true,
	.label_count = 2,
	.labels =
		(const struct rna_node_label[]){
			{"network.nvidia.com/roce", NULL},
			{"rdma-node-agent/ports-up", "8"},
		},
	.condition_count = 1,
	.conditions =
		&(const struct rna_node_condition){
			.type = "RdmaPortDown",
		},
};

static void answer(const struct rna_strbuf *reply, const struct rna_kube_node *node)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	const struct rna_kube_words words = {"node1", &desired, node, .now = 1};

	rna_kube_write_labels(&words, &out);
	rna_kube_write_conditions(&words, &out);
	(void)rna_kube_write_label_removal(&options, &words, &out);
	rna_kube_write_condition_removal(types, &out);
	(void)rna_kube_write_taints(&options, true, reply, &out);
	(void)rna_kube_write_taints(&options, false, reply, &out);
	FUZZ_WANT(rna_strbuf_ok(&out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_STRBUF struct rna_strbuf reply = RNA_STRBUF_INIT, message = RNA_STRBUF_INIT;
	RNA_KUBE_NODE struct rna_kube_node node = {0};

	rna_strbuf_add(&reply, data, size);
	rna_kube_read_message(&reply, &message);
	if (rna_kube_read_node(&reply, &options, &node) < 0)
		rna_kube_node_deinit(&node);
	(void)rna_kube_label_of(&node, "network.nvidia.com/roce");
	(void)rna_kube_condition_of(&node, "RdmaPortDown");
	answer(&reply, &node);
	return 0;
}
