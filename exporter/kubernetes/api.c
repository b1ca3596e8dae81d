// SPDX-License-Identifier: Apache-2.0
#include "api.h"

#include <errno.h>
#include <string.h>

#define CONNECT_DEADLINE (5 * RNA_USEC_PER_SEC)
#define DEADLINE         (15 * RNA_USEC_PER_SEC)

enum {
	REPLY_MAX = 8 * 1024 * 1024, /* etcd holds objects of 1.5 MiB, JSON may be wordier; and */
	/* 20,000 endpoints have 6 MiB */
	ARENA = 16 * 1024,
	OK_FIRST = 200,
	OK_LAST = 299,
	UNAUTHORIZED = 401,
	FORBIDDEN = 403,
	REQUEST_TIMEOUT = 408,
	TOO_MANY = 429,
	FAILED_FIRST = 500,
};

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
	[RNA_KUBE_REMOVE_CONDITIONS] = {STATUS, NODES, CONDITIONS},
	[RNA_KUBE_POST_EVENT] = {CREATE, EVENTS, LABELS},
	[RNA_KUBE_MERGE_EVENT] = {MERGE, EVENTS "/", LABELS},
};

static enum rna_kubernetes_result result_of(unsigned status)
{
	if (status >= OK_FIRST && status <= OK_LAST)
		return RNA_KUBERNETES_OK;
	if (status == UNAUTHORIZED)
		return RNA_KUBERNETES_UNAUTHORIZED;
	if (status == FORBIDDEN)
		return RNA_KUBERNETES_FORBIDDEN;
	if (status == TOO_MANY)
		return RNA_KUBERNETES_THROTTLED;
	if (status >= FAILED_FIRST || status == REQUEST_TIMEOUT)
		return RNA_KUBERNETES_FAILED;
	return RNA_KUBERNETES_REFUSED;
}

/* -- Connection -------------------------------------------------------------------------------- */

void rna_kube_disconnect(struct rna_kube_api *api)
{
	api->https = rna_https_close(api->https);
	api->access = (struct rna_kube_access){0};
	api->arena = rna_arena_free(api->arena);
}

static int connect_to(struct rna_kube_api *api, struct rna_error *error)
{
	struct rna_https_peer peer = {
		.connect_deadline = CONNECT_DEADLINE,
		.deadline = DEADLINE,
		.reply_max = REPLY_MAX,
		.cancel = api->cancel,
	};
	int ret;

	api->arena = rna_arena_new(ARENA);
	if (!api->arena)
		return rna_error_set(error, -ENOMEM, "cannot call the Kubernetes API");
	ret = rna_kube_access_read(api->options, api->arena, &api->access, error);
	if (ret < 0)
		return ret;
	peer.origin = api->access.server;
	peer.authorities = api->access.authorities;
	peer.certificate = api->access.certificate;
	peer.key = api->access.key;
	return rna_https_open(&peer, &api->https, error);
}

/* -- One request ------------------------------------------------------------------------------- */

/* Of any status: a refusal is read as well. */
static int check_reply(const struct rna_kube_api *api, const struct rna_kube_request *request,
		       struct rna_kube_answer *answer)
{
	struct rna_error why = {0};
	int status;

	if (request->list && result_of(answer->reply.status) == RNA_KUBERNETES_OK)
		return 0; /* each piece of it has limits */
	status = rna_kube_check_reply(&answer->reply.body, &why);
	if (status == 0)
		return 0;
	return rna_error_say(&answer->error, status, "%s: the reply is not read: %s",
			     api->access.server ? api->access.server : "?", why.text);
}

static int ask(struct rna_kube_api *api, const struct rna_kube_request *request,
	       struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf token = RNA_STRBUF_INIT, type = RNA_STRBUF_INIT;
	static const char *const accepts[2][2] = {
		{"Accept: application/json", "Accept: application/json"},
		{"Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
		 "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"},
	};
	const char *headers[4] = {accepts[request->metadata][request->list]};
	const struct rna_https_request https_request = {
		.method = request->method,
		.path = request->path->data,
		.headers = headers,
		.body = request->body ? request->body->data : NULL,
		.compressed = request->list,
	};
	size_t count = 1;

	rna_strbuf_printf(&token, "Authorization: Bearer %s",
			  api->access.token ? api->access.token : "");
	rna_strbuf_printf(&type, "Content-Type: %s", request->type ? request->type : "");
	if (!rna_strbuf_ok(&token) || !rna_strbuf_ok(&type))
		return rna_error_set(&answer->error, -ENOMEM, "cannot call the Kubernetes API");
	if (api->access.token)
		headers[count++] = token.data;
	if (request->body)
		headers[count++] = type.data;
	return rna_https_ask(api->https, &https_request, &answer->reply, &answer->error);
}

static enum rna_kubernetes_result ask_once(struct rna_kube_api *api,
					   const struct rna_kube_request *request,
					   struct rna_kube_answer *answer)
{
	int ret;

	answer->reply.status = 0; /* of the request before */
	answer->reply.retry_after = 0;
	ret = api->https ? 0 : connect_to(api, &answer->error);
	if (ret >= 0)
		ret = ask(api, request, answer);
	if (ret >= 0)
		ret = check_reply(api, request, answer);
	answer->result = ret < 0 ? RNA_KUBERNETES_UNREACHABLE : result_of(answer->reply.status);
	api->requests[answer->result]++;
	if (ret < 0)
		rna_kube_disconnect(api); /* half an answer may still be in it */
	return answer->result;
}

/* What a person should look at. */
static const char *advice(const struct rna_kube_request *request,
			  const struct rna_kube_answer *answer, const char *message)
{
	bool missing = answer->reply.status == RNA_KUBE_NOT_FOUND ||
		       (answer->result == RNA_KUBERNETES_FORBIDDEN &&
			strstr(message, "cannot create resource \"nodes\""));

	if (request->advice && (answer->result == RNA_KUBERNETES_FORBIDDEN ||
				answer->reply.status == RNA_KUBE_NOT_FOUND))
		return request->advice;
	if (missing)
		return "; the Node does not exist (yet), or kubernetes.node_name is wrong";
	if (answer->result == RNA_KUBERNETES_FORBIDDEN)
		return "; check that a ClusterRole allows the agent to get and patch nodes, to "
		       "patch nodes/status, and to create and patch events";
	if (answer->result == RNA_KUBERNETES_UNAUTHORIZED)
		return "; the token or certificate is invalid or has expired";
	return "";
}

/* The query is left out: it is always the same. */
static void explain(const struct rna_kube_request *request, struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf message = RNA_STRBUF_INIT;
	const char *text;

	rna_kube_read_message(&answer->reply.body, &message);
	text = message.data ? message.data : "";
	(void)rna_error_say(&answer->error, -EPROTO, "%s %.*s: Kubernetes answered %u%s%s%s",
			    request->method, (int)strcspn(request->path->data, "?"),
			    request->path->data, answer->reply.status, *text ? ": " : "", text,
			    advice(request, answer, text));
}

enum rna_kubernetes_result rna_kube_call(struct rna_kube_api *api,
					 const struct rna_kube_request *request,
					 struct rna_kube_answer *answer)
{
	if (!rna_strbuf_ok(request->path) || (request->body && !rna_strbuf_ok(request->body)))
		return rna_kube_fail_memory(answer);
	/* A token that was rotated since the round began is in its file already. */
	if (ask_once(api, request, answer) == RNA_KUBERNETES_UNAUTHORIZED) {
		rna_kube_disconnect(api);
		(void)ask_once(api, request, answer);
	}
	if (answer->result != RNA_KUBERNETES_OK && answer->result != RNA_KUBERNETES_UNREACHABLE)
		explain(request, answer);
	return answer->result;
}

json_t *rna_kube_parse(const struct rna_kube_answer *answer)
{
	const struct rna_strbuf *body = &answer->reply.body;
	json_t *json = NULL;

	if (body->data)
		(void)rna_json_parse(body->data, body->len, &rna_kube_reply_limits, &json, NULL);
	return json;
}

enum rna_kubernetes_result rna_kube_fail_memory(struct rna_kube_answer *answer)
{
	(void)rna_error_set(&answer->error, -ENOMEM, "cannot call the Kubernetes API");
	return answer->result = RNA_KUBERNETES_UNREACHABLE;
}

/* -- The Node and its Events ------------------------------------------------------------------- */

enum rna_kubernetes_result rna_kube_answered_node(struct rna_kube_api *api,
						  struct rna_kube_answer *answer,
						  struct rna_kube_node *ret)
{
	int status = rna_kube_read_node(&answer->reply.body, api->options, ret);

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

enum rna_kubernetes_result rna_kube_fetch_node(struct rna_kube_api *api, const char *query,
					       bool metadata, struct rna_kube_answer *answer,
					       struct rna_kube_node *ret)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;
	const struct rna_kube_request request = {.method = "GET",
						 .path = &path,
						 .metadata = metadata};

	rna_strbuf_printf(&path, NODES "%s%s", api->node, query);
	if (rna_kube_call(api, &request, answer) != RNA_KUBERNETES_OK)
		return answer->result;
	return rna_kube_answered_node(api, answer, ret);
}

static void write_path(enum rna_kube_write what, const char *name, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%s%s%s", writes[what].before, name, writes[what].behind);
}

/* Events are created in a list, without a name in the path. */
enum rna_kubernetes_result rna_kube_send(struct rna_kube_api *api, enum rna_kube_write what,
					 const char *event, const struct rna_strbuf *body,
					 struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;
	const char *name = what == RNA_KUBE_POST_EVENT ? "" : event ? event : api->node;
	const struct rna_kube_request request = {
		.method = writes[what].method,
		.path = &path,
		.type = writes[what].type,
		.body = body,
		.metadata = what != RNA_KUBE_POST_EVENT,
	};

	write_path(what, name, &path);
	return rna_kube_call(api, &request, answer);
}

static void write_request(enum rna_kube_write what, const char *node, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "PATCH ");
	write_path(what, node, out);
	rna_strbuf_add_char(out, '\n');
}

void rna_kubernetes_write_requests(const struct rna_kubernetes_options *options,
				   const struct rna_desired_node *desired, struct rna_strbuf *out)
{
	const struct rna_kube_node none = {0};
	const char *node = rna_kubernetes_node_name(options->node);
	const struct rna_kube_words words = {node ? node : "NODE", desired, &none};

	write_request(RNA_KUBE_APPLY_LABELS, words.name, out);
	rna_kube_write_labels(&words, out);
	write_request(RNA_KUBE_APPLY_CONDITIONS, words.name, out);
	rna_kube_write_conditions(&words, out);
}
