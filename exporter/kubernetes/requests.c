// SPDX-License-Identifier: Apache-2.0
#include "requests.h"

#include <errno.h>

#define NODES  "/api/v1/nodes/"
#define EVENTS "/api/v1/namespaces/default/events"

/* Owners of fields in server-side apply; with one name for both, labels are lost on 1.20. */
#define LABELS     "?fieldManager=rdma-node-agent"
#define CONDITIONS "/status?fieldManager=rdma-node-agent-status"

#define APPLY  "PATCH", "application/apply-patch+yaml"
#define MERGE  "PATCH", "application/merge-patch+json"
#define STATUS "PATCH", "application/strategic-merge-patch+json"
#define CREATE "POST", "application/json"

static const struct {
	const char *method;
	const char *type;
	const char *before; /* the name, in the path */
	const char *behind; /* it */
} writes[RNA_KUBE_WRITE_COUNT] = {
	[RNA_KUBE_APPLY_LABELS] = {APPLY, NODES, LABELS "&force=true"},
	[RNA_KUBE_MERGE_NODE] = {MERGE, NODES, LABELS},
	[RNA_KUBE_APPLY_CONDITIONS] = {APPLY, NODES, CONDITIONS "&force=true"},
	[RNA_KUBE_MERGE_CONDITIONS] = {STATUS, NODES, CONDITIONS},
	[RNA_KUBE_POST_EVENT] = {CREATE, EVENTS, LABELS},
	[RNA_KUBE_MERGE_EVENT] = {MERGE, EVENTS "/", LABELS},
};

enum rna_kubernetes_result rna_kube_fail_memory(struct rna_kube_answer *answer)
{
	(void)rna_error_set(&answer->error, -ENOMEM, "cannot call the Kubernetes API");
	return answer->result = RNA_KUBERNETES_UNREACHABLE;
}

static void write_path(enum rna_kube_write what, const char *name, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%s%s%s", writes[what].before, name, writes[what].behind);
}

void rna_kube_write_requests(const char *node, const struct rna_node_wish *wish,
			     struct rna_strbuf *out)
{
	const struct rna_kube_node none = {0};
	const struct rna_kube_words words = {node, wish, &none};

	rna_strbuf_puts(out, "PATCH ");
	write_path(RNA_KUBE_APPLY_LABELS, node, out);
	rna_strbuf_add_char(out, '\n');
	rna_kube_write_labels(&words, out);
	rna_strbuf_puts(out, "PATCH ");
	write_path(RNA_KUBE_APPLY_CONDITIONS, node, out);
	rna_strbuf_add_char(out, '\n');
	rna_kube_write_conditions(&words, 0, out);
}

/* -- Reading the Node -------------------------------------------------------------------------- */

enum rna_kubernetes_result rna_kube_get_node(struct rna_kube_api *api, const char *query,
					     bool metadata, struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;
	struct rna_kube_request request = {.method = "GET", .metadata = metadata};

	rna_strbuf_printf(&path, NODES "%s%s", api->node, query);
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

/* -- Writing ----------------------------------------------------------------------------------- */

/* Events are created in a list, without a name in the path. */
static const char *name_in_path(const struct rna_kube_api *api, enum rna_kube_write what,
				const char *event)
{
	if (event)
		return event;
	return what == RNA_KUBE_POST_EVENT ? "" : api->node;
}

enum rna_kubernetes_result rna_kube_send(struct rna_kube_api *api, enum rna_kube_write what,
					 const char *event, const struct rna_strbuf *body,
					 struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;
	struct rna_kube_request request = {
		.method = writes[what].method,
		.type = writes[what].type,
		.body = body->data,
		.metadata = what != RNA_KUBE_POST_EVENT,
	};

	write_path(what, name_in_path(api, what, event), &path);
	if (!rna_strbuf_ok(&path) || !rna_strbuf_ok(body))
		return rna_kube_fail_memory(answer);
	request.path = path.data;
	return rna_kube_call(api, &request, answer);
}
