// SPDX-License-Identifier: Apache-2.0
/*
 * Endpoints of a Service. The endpoints of 10,000 nodes would take 40 MiB as a tree, so slices are
 * read one by one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "rna/base/json_list.h"
#include "rna/kubernetes.h"

#include "api.h"

#define ADVICE                                                                                     \
	"; check that a Role in that namespace allows the agent to list endpointslices "           \
	"(discovery.k8s.io/v1, since Kubernetes 1.21)"

enum {
	ENDPOINTS_MAX = 100000, /* dual-stack, and pods that are about to end */
	SLICE_MAX = 4 << 20,    /* bytes; etcd holds objects of 1.5 MiB */
	NAME_MAX_LENGTH = 253,
};

/* A slice has at most 1,000 endpoints, with 100 addresses each in theory and one in practice. */
static const struct rna_json_limits slice_limits = {.memory = 16 << 20, .levels = 32};

struct reading {
	struct rna_arena *arena;
	bool slices_only;
	struct rna_kubernetes_endpoints *ret;
};

/* -- Slices ------------------------------------------------------------------------------------ */

struct slice_port {
	unsigned port; /* 0: none */
	bool https;
};

static bool is_text(const json_t *object, const char *name, const char *text)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value && strcmp(value, text) == 0;
}

static bool is_true(const json_t *object, const char *name, bool standard)
{
	const json_t *value = json_object_get(object, name);

	return json_is_boolean(value) ? json_is_true(value) : standard;
}

/* protocol: TCP where nothing is said. */
static struct slice_port choose_port(const json_t *slice)
{
	struct slice_port ret = {0};
	const json_t *port;
	size_t i;

	json_array_foreach (json_object_get(slice, "ports"), i, port) {
		json_int_t number = json_integer_value(json_object_get(port, "port"));
		bool https = is_text(port, "name", "https");
		bool named = https || is_text(port, "name", "http");

		if (number < 1 || number > UINT16_MAX || (ret.port != 0 && !named) ||
		    (json_object_get(port, "protocol") && !is_text(port, "protocol", "TCP")))
			continue;
		ret.port = (unsigned)number;
		ret.https = https || is_text(port, "appProtocol", "https");
		if (named)
			break;
	}
	return ret;
}

/* A pod that ends may still be "ready", if the Service publishes addresses that are not. */
static bool is_ready(const json_t *endpoint)
{
	const json_t *conditions = json_object_get(endpoint, "conditions");
	bool ready = is_true(conditions, "ready", true);

	return is_true(conditions, "serving", ready) && !is_true(conditions, "terminating", false);
}

static bool is_address(const char *text)
{
	uint8_t bytes[16];

	return text &&
	       (inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1);
}

/* Becomes a part of names and metrics. Names of pods are like those of Nodes. */
static bool is_node_name(const char *text)
{
	size_t len = text ? strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-") : 0;

	return len > 0 && len <= NAME_MAX_LENGTH && text[len] == '\0';
}

static struct rna_kubernetes_endpoint *new_endpoint(struct reading *reading)
{
	struct rna_kubernetes_endpoints *list = reading->ret;
	struct rna_kubernetes_endpoint *endpoint =
		RNA_GROW(list->endpoints, list->count, reading->arena);

	list->count += endpoint != NULL;
	return endpoint;
}

static int add_endpoint(struct reading *reading, const json_t *object,
			const struct slice_port *port, struct rna_error *error)
{
	const char *node = json_string_value(json_object_get(object, "nodeName"));
	const char *address =
		json_string_value(json_array_get(json_object_get(object, "addresses"), 0));
	const char *pod =
		json_string_value(json_object_get(json_object_get(object, "targetRef"), "name"));
	struct rna_kubernetes_endpoint *endpoint;
	bool failed = false;

	if (!is_address(address) || (node && !is_node_name(node)))
		return 0;
	if (reading->ret->count >= ENDPOINTS_MAX)
		return rna_error_say(error, -EBADMSG, "more than %d endpoints", ENDPOINTS_MAX);
	endpoint = new_endpoint(reading);
	if (!endpoint)
		return rna_error_set(error, -ENOMEM, "cannot keep an endpoint");
	*endpoint = (struct rna_kubernetes_endpoint){
		.node = rna_arena_keep(reading->arena, node ? node : address, &failed),
		.pod = rna_arena_keep(reading->arena, is_node_name(pod) ? pod : NULL, &failed),
		.address = rna_arena_keep(reading->arena, address, &failed),
		.port = port->port,
		.https = port->https,
		.ready = is_ready(object),
	};
	return failed ? rna_error_set(error, -ENOMEM, "cannot keep an endpoint") : 0;
}

static int read_slice(const char *text, size_t len, void *userdata, struct rna_error *error)
{
	struct reading *reading = userdata;
	RNA_CLEANUP(rna_json_free_p) json_t *slice = NULL;
	struct slice_port port;
	const json_t *endpoint;
	int status;
	size_t i;

	reading->ret->slice_count++;
	if (reading->slices_only)
		return 0;
	status = rna_json_parse(text, len, &slice_limits, &slice, error);
	if (status < 0)
		return status;
	port = choose_port(slice);
	if (port.port == 0 || is_text(slice, "addressType", "FQDN"))
		return 0;
	json_array_foreach (json_object_get(slice, "endpoints"), i, endpoint) {
		status = add_endpoint(reading, endpoint, &port, error);
		if (status < 0)
			return status;
	}
	return 0;
}

/* -- The list ---------------------------------------------------------------------------------- */

int rna_kubernetes_parse_endpoints(const char *text, size_t len, bool slices_only,
				   struct rna_arena *arena, struct rna_kubernetes_endpoints *ret,
				   struct rna_error *error)
{
	static const char *const path[] = {"items", NULL};
	struct reading reading = {arena, slices_only, ret};
	RNA_JSON_LIST struct rna_json_list list = {.path = path,
						   .item_max = SLICE_MAX,
						   .take = read_slice,
						   .userdata = &reading};
	RNA_CLEANUP(rna_json_free_p) json_t *frame = NULL;
	int status;

	*ret = (struct rna_kubernetes_endpoints){0};
	status = rna_json_list_read(&list, text, len, error);
	if (status == 0)
		status = rna_json_list_end(&list, &slice_limits, &frame, error);
	/* an empty list of metadata is null */
	if (status == 0 && !list.seen && !json_is_null(json_object_get(frame, "items")))
		status = rna_error_say(error, -EBADMSG, "the reply is not a list");
	if (status < 0)
		(void)rna_error_prefix(error, "EndpointSlices");
	return status;
}

/* -- The request ------------------------------------------------------------------------------- */

static int write_path(const char *service, struct rna_strbuf *out)
{
	const char *slash = strchr(service, '/');

	if (!slash)
		return -EINVAL;
	rna_strbuf_printf(out,
			  "/apis/discovery.k8s.io/v1/namespaces/%.*s/endpointslices?"
			  "labelSelector=kubernetes.io%%2Fservice-name%%3D%s&resourceVersion=0",
			  (int)(slash - service), service, slash + 1);
	return 0;
}

int rna_kubernetes_read_endpoints(const struct rna_kubernetes_options *options, const char *service,
				  bool slices_only, const atomic_bool *cancel,
				  struct rna_arena *arena, struct rna_kubernetes_endpoints *ret,
				  struct rna_error *error)
{
	RNA_KUBE_ANSWER struct rna_kube_answer answer = RNA_KUBE_ANSWER_INIT;
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;
	struct rna_kube_api api = {.options = options, .node = "", .cancel = cancel};
	const struct rna_kube_request request = {
		.method = "GET",
		.path = &path,
		.metadata = slices_only,
		.list = true,
		.advice = ADVICE,
	};
	int status = write_path(service, &path);

	*ret = (struct rna_kubernetes_endpoints){0};
	if (status < 0)
		return rna_error_set(error, status, "%s", service);
	if (rna_kube_call(&api, &request, &answer) == RNA_KUBERNETES_OK) {
		status = rna_kubernetes_parse_endpoints(answer.reply.body.data
								? answer.reply.body.data
								: "",
							answer.reply.body.len, slices_only, arena,
							ret, error);
	} else {
		status = answer.error.code < 0 ? answer.error.code : -EIO;
		if (error)
			*error = answer.error;
	}
	ret->retry_after = answer.reply.retry_after;
	rna_kube_disconnect(&api);
	return status;
}
