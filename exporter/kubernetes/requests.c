// SPDX-License-Identifier: Apache-2.0
#include "requests.h"

#include <errno.h>

/* Owners of fields in server-side apply; with one name for both, labels are lost on 1.20. */
#define LABEL_MANAGER     "rdma-node-agent"
#define CONDITION_MANAGER "rdma-node-agent-status"

#define NODE_PATH   "/api/v1/nodes/%s"
#define EVENTS_PATH "/api/v1/namespaces/default/events"

#define APPLY_TYPE     "application/apply-patch+yaml"
#define MERGE_TYPE     "application/merge-patch+json"
#define STRATEGIC_TYPE "application/strategic-merge-patch+json"

enum rna_kubernetes_result rna_kube_fail_memory(struct rna_kube_answer *answer)
{
	(void)rna_error_set(&answer->error, -ENOMEM, "cannot call the Kubernetes API");
	return answer->result = RNA_KUBERNETES_UNREACHABLE;
}

static void write_label_path(const char *node, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, NODE_PATH "?fieldManager=" LABEL_MANAGER "&force=true", node);
}

static void write_condition_path(const char *node, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, NODE_PATH "/status?fieldManager=" CONDITION_MANAGER "&force=true",
			  node);
}

void rna_kube_write_requests(const char *node, const struct rna_node_wish *wish,
			     struct rna_strbuf *out)
{
	const struct rna_kube_node none = {0};
	const struct rna_kube_words words = {node, wish, &none};

	rna_strbuf_puts(out, "PATCH ");
	write_label_path(node, out);
	rna_strbuf_add_char(out, '\n');
	rna_kube_write_labels(&words, out);
	rna_strbuf_puts(out, "PATCH ");
	write_condition_path(node, out);
	rna_strbuf_add_char(out, '\n');
	rna_kube_write_conditions(&words, 0, out);
}

/* -- Reading the Node -------------------------------------------------------------------------- */

enum rna_kubernetes_result rna_kube_get_node(struct rna_kube_api *api, const char *query,
					     bool metadata, struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;
	struct rna_kube_request request = {.method = "GET", .metadata = metadata};

	rna_strbuf_printf(&path, NODE_PATH "%s", api->node, query);
	if (!rna_strbuf_ok(&path))
		return rna_kube_fail_memory(answer);
	request.path = path.data;
	return rna_kube_call(api, &request, answer);
}

enum rna_kubernetes_result rna_kube_answered_node(struct rna_kube_api *api,
						  struct rna_kube_answer *answer,
						  struct rna_arena *arena,
						  struct rna_kube_node *ret)
{
	int status = rna_kube_read_node(&answer->reply.body, api->options, arena, ret);

	if (status == -ENOMEM)
		return rna_kube_fail_memory(answer);
	if (status < 0) {
		(void)rna_error_say(
			&answer->error, status,
			"%s: the answer is not a Node; check the address of the API server",
			api->access.server ? api->access.server : "?");
		answer->result = RNA_KUBERNETES_UNREACHABLE;
	}
	return answer->result;
}

enum rna_kubernetes_result rna_kube_fetch_node(struct rna_kube_api *api, bool metadata,
					       struct rna_kube_answer *answer,
					       struct rna_arena *arena, struct rna_kube_node *ret)
{
	if (!arena)
		return rna_kube_fail_memory(answer);
	if (rna_kube_get_node(api, "", metadata, answer) != RNA_KUBERNETES_OK)
		return answer->result;
	return rna_kube_answered_node(api, answer, arena, ret);
}

/* -- Writing to it ----------------------------------------------------------------------------- */

static enum rna_kubernetes_result send(struct rna_kube_api *api, const char *type,
				       const struct rna_strbuf *path, const struct rna_strbuf *body,
				       struct rna_kube_answer *answer)
{
	const struct rna_kube_request request = {
		.method = "PATCH",
		.path = path->data,
		.type = type,
		.body = body->data,
		.metadata = true,
	};

	if (!rna_strbuf_ok(path) || !rna_strbuf_ok(body))
		return rna_kube_fail_memory(answer);
	return rna_kube_call(api, &request, answer);
}

enum rna_kubernetes_result rna_kube_apply_labels(struct rna_kube_api *api,
						 const struct rna_strbuf *body,
						 struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;

	write_label_path(api->node, &path);
	return send(api, APPLY_TYPE, &path, body, answer);
}

enum rna_kubernetes_result rna_kube_merge(struct rna_kube_api *api, const struct rna_strbuf *body,
					  struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;

	rna_strbuf_printf(&path, NODE_PATH "?fieldManager=" LABEL_MANAGER, api->node);
	return send(api, MERGE_TYPE, &path, body, answer);
}

enum rna_kubernetes_result rna_kube_apply_conditions(struct rna_kube_api *api,
						     const struct rna_strbuf *body,
						     struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;

	write_condition_path(api->node, &path);
	return send(api, APPLY_TYPE, &path, body, answer);
}

enum rna_kubernetes_result rna_kube_merge_conditions(struct rna_kube_api *api,
						     const struct rna_strbuf *body,
						     struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;

	rna_strbuf_printf(&path, NODE_PATH "/status?fieldManager=" CONDITION_MANAGER, api->node);
	return send(api, STRATEGIC_TYPE, &path, body, answer);
}

/* -- Events ------------------------------------------------------------------------------------ */

enum rna_kubernetes_result rna_kube_post_event(struct rna_kube_api *api,
					       const struct rna_strbuf *body,
					       struct rna_kube_answer *answer)
{
	const struct rna_kube_request request = {
		.method = "POST",
		.path = EVENTS_PATH "?fieldManager=" LABEL_MANAGER,
		.type = "application/json",
		.body = body->data,
	};

	if (!rna_strbuf_ok(body))
		return rna_kube_fail_memory(answer);
	return rna_kube_call(api, &request, answer);
}

enum rna_kubernetes_result rna_kube_merge_event(struct rna_kube_api *api, const char *name,
						const struct rna_strbuf *body,
						struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;

	rna_strbuf_printf(&path, EVENTS_PATH "/%s?fieldManager=" LABEL_MANAGER, name);
	return send(api, MERGE_TYPE, &path, body, answer);
}
