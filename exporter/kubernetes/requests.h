/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests that there are, on our Node and its Events: their paths, what kind of patch each is,
 * and in whose name it is made. What the bodies say is the callers' business; one that has failed
 * for want of memory is not sent.
 */
#pragma once

#include "call.h"
#include "objects.h"

/* Reads the Node, or only its metadata. query: "", or what goes behind the path. */
enum rna_kubernetes_result rna_kube_get_node(struct rna_kube_api *api, const char *query,
					     bool metadata, struct rna_kube_answer *answer);

/* The Node that was answered, in arena; what is none is as bad as no answer. */
enum rna_kubernetes_result rna_kube_answered_node(struct rna_kube_api *api,
						  struct rna_kube_answer *answer,
						  struct rna_arena *arena,
						  struct rna_kube_node *ret);

/* Both: the Node as it is now. arena: NULL counts as no memory. */
enum rna_kubernetes_result rna_kube_fetch_node(struct rna_kube_api *api, bool metadata,
					       struct rna_kube_answer *answer,
					       struct rna_arena *arena, struct rna_kube_node *ret);

/*
 * Labels and conditions by server-side apply, and by patches if the API does not know that; a new
 * Event, and another count for one that was sent.
 */
enum rna_kube_write {
	RNA_KUBE_APPLY_LABELS,
	RNA_KUBE_MERGE_NODE,
	RNA_KUBE_APPLY_CONDITIONS,
	RNA_KUBE_MERGE_CONDITIONS,
	RNA_KUBE_POST_EVENT,
	RNA_KUBE_MERGE_EVENT,
	RNA_KUBE_WRITE_COUNT,
};

/* event: its name, for RNA_KUBE_MERGE_EVENT; else NULL. */
enum rna_kubernetes_result rna_kube_send(struct rna_kube_api *api, enum rna_kube_write what,
					 const char *event, const struct rna_strbuf *body,
					 struct rna_kube_answer *answer);

/* Makes no memory the answer. */
enum rna_kubernetes_result rna_kube_fail_memory(struct rna_kube_answer *answer);

/* The requests for labels and conditions, as they would be sent. */
void rna_kube_write_requests(const char *node, const struct rna_node_wish *wish,
			     struct rna_strbuf *out);
