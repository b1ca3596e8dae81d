// SPDX-License-Identifier: Apache-2.0
/*
 * kube agents: asks every agent behind a Service whether it is ready, and for its metrics, as
 * Prometheus would. With TLS it is Kubernetes that is believed about readiness: the certificate has
 * no addresses of nodes, and the agents may want one of their clients.
 */
#include "kube_agents.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "client.h"

enum {
	ARENA = 64 * 1024,
	LIST_TRIES = 10, /* a Service that is new has no endpoints for a moment */
	LIST_PAUSE = 2,  /* seconds */
};

/* -- One agent --------------------------------------------------------------------------------- */

static int get(const char *origin, const char *path, struct rna_https_reply *reply,
	       struct rna_error *error)
{
	const struct rna_https_peer peer = {
		.origin = origin,
		.connect_deadline = RNA_CLIENT_PATIENCE,
		.deadline = RNA_CLIENT_PATIENCE,
		.reply_max = RNA_CLIENT_REPLY_MAX,
	};
	const struct rna_https_request request = {.method = "GET", .path = path};

	return rna_client_ask(&peer, &request, reply, error);
}

static int check_readiness(const char *origin, struct rna_error *error)
{
	RNA_HTTPS_REPLY struct rna_https_reply reply = RNA_HTTPS_REPLY_INIT;
	const char *text;
	int status = get(origin, "/readyz", &reply, error);

	if (status < 0 || reply.status == RNA_HTTP_OK)
		return status;
	text = reply.body.data ? reply.body.data : "";
	return rna_error_say(error, -EPROTO, "%s: not ready (HTTP status %u): %.*s", origin,
			     reply.status, (int)strcspn(text, "\n"), text);
}

/* One that wants a login has metrics for those who have one. */
static int check_metrics(const char *origin, struct rna_error *error)
{
	RNA_HTTPS_REPLY struct rna_https_reply reply = RNA_HTTPS_REPLY_INIT;
	int status = get(origin, "/metrics", &reply, error);

	if (status < 0 || reply.status == RNA_HTTP_UNAUTHORIZED)
		return status;
	if (reply.status != RNA_HTTP_OK)
		return rna_error_say(error, -EPROTO, "%s: /metrics: HTTP status %u", origin,
				     reply.status);
	if (!reply.body.data || !strstr(reply.body.data, "\nrdma_agent_build_info{"))
		return rna_error_say(error, -EPROTO, "%s: /metrics is not that of an agent",
				     origin);
	return 0;
}

static int check_agent(const struct rna_kubernetes_endpoint *endpoint, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf origin = RNA_STRBUF_INIT;
	bool brackets = strchr(endpoint->address, ':');
	int status;

	rna_strbuf_printf(&origin, "http://%s%s%s:%u", brackets ? "[" : "", endpoint->address,
			  brackets ? "]" : "", endpoint->port);
	if (!rna_strbuf_ok(&origin))
		return rna_error_set(error, -ENOMEM, "%s", endpoint->address);
	if (endpoint->https)
		return endpoint->ready ? 0
				       : rna_error_say(error, -EPROTO,
						       "%s: not ready, as Kubernetes sees it",
						       endpoint->address);
	status = check_readiness(origin.data, error);
	return status < 0 ? status : check_metrics(origin.data, error);
}

/* -- All of them ------------------------------------------------------------------------------- */

static int read_agents(const struct rna_kubernetes_options *options, const char *service,
		       struct rna_arena *arena, struct rna_kubernetes_endpoints *ret,
		       struct rna_error *error)
{
	const struct timespec pause = {.tv_sec = LIST_PAUSE};
	int status;

	for (int tries = 1;; tries++) {
		status = rna_kubernetes_read_endpoints(options, service, false, NULL, arena, ret,
						       error);
		if (status == 0 && ret->count > 0)
			return 0;
		if (tries == LIST_TRIES)
			break;
		(void)nanosleep(&pause, NULL);
	}
	if (status < 0)
		return status;
	return rna_error_say(error, -ENOENT, "there is no agent behind the Service %s", service);
}

int rna_kube_check_agents(const struct rna_kubernetes_options *options, const char *service,
			  struct rna_strbuf *out, struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	struct rna_kubernetes_endpoints agents;
	size_t failed = 0, closed = 0;
	int status = arena ? read_agents(options, service, arena, &agents, error)
			   : rna_error_set(error, -ENOMEM, "cannot list the agents");

	if (status < 0)
		return status;
	for (size_t i = 0; i < agents.count; i++) {
		struct rna_error why = {0};

		closed += agents.endpoints[i].https;
		if (check_agent(&agents.endpoints[i], &why) == 0)
			continue;
		failed++;
		rna_strbuf_printf(out, "%s: %s\n", agents.endpoints[i].node, why.text);
	}
	rna_strbuf_printf(out, "%zu of %zu agents are ready%s\n", agents.count - failed,
			  agents.count, closed > 0 ? "" : " and have metrics");
	if (closed > 0)
		rna_strbuf_printf(out,
				  "%zu of them have TLS, and were not asked: Kubernetes says "
				  "whether they are ready\n",
				  closed);
	return failed > 0 ? RNA_EXIT_FAILURE : RNA_EXIT_SUCCESS;
}
