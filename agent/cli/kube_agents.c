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
	LIST_TRIES = 30, /* a Service that is new has no endpoints for a moment, on a busy control
			    plane for a minute */
	LIST_PAUSE = 2,  /* seconds */
	AT_ONCE = 16,    /* metrics of large nodes have megabytes */
};

/* -- One agent --------------------------------------------------------------------------------- */

struct agent {
	const struct rna_kubernetes_endpoint *endpoint;
	const char *origin;
	struct rna_error why; /* what is wrong with it; its code is 0: nothing so far */
};

static void judge_readiness(struct agent *agent, const struct rna_https_reply *reply)
{
	const char *text = reply->body.data ? reply->body.data : "";

	if (reply->status != RNA_HTTP_OK)
		(void)rna_error_say(&agent->why, -EPROTO, "%s: not ready (HTTP status %u): %.*s",
				    agent->origin, reply->status, (int)strcspn(text, "\n"), text);
}

/* One that wants a login has metrics for those who have one. */
static void judge_metrics(struct agent *agent, const struct rna_https_reply *reply)
{
	if (reply->status == RNA_HTTP_UNAUTHORIZED)
		return;
	if (reply->status != RNA_HTTP_OK)
		(void)rna_error_say(&agent->why, -EPROTO, "%s: /metrics: HTTP status %u",
				    agent->origin, reply->status);
	else if (!reply->body.data || !strstr(reply->body.data, "\nrdma_agent_build_info{"))
		(void)rna_error_say(&agent->why, -EPROTO, "%s: /metrics is not that of an agent",
				    agent->origin);
}

static int make_agent(const struct rna_kubernetes_endpoint *endpoint, struct rna_arena *arena,
		      struct agent *ret)
{
	bool brackets = strchr(endpoint->address, ':');

	*ret = (struct agent){.endpoint = endpoint};
	ret->origin = rna_arena_printf(arena, "http://%s%s%s:%u", brackets ? "[" : "",
				       endpoint->address, brackets ? "]" : "", endpoint->port);
	if (endpoint->https && !endpoint->ready)
		(void)rna_error_say(&ret->why, -EPROTO, "%s: not ready, as Kubernetes sees it",
				    endpoint->address);
	return ret->origin ? 0 : -ENOMEM;
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
	return rna_error_say(
		error, -ENOENT,
		"there is no agent behind the Service %s: it has no EndpointSlice with "
		"an address, after %d s; look for its pods (kubectl get pods), and for "
		"the EndpointSlice controller",
		service, (LIST_TRIES - 1) * LIST_PAUSE);
}

/* Those that are asked for the same at once. */
struct round {
	struct agent **agents;
	size_t count;
	void (*judge)(struct agent *agent, const struct rna_https_reply *reply);
};

static void set_peer(size_t i, void *userdata, struct rna_https_peer *ret)
{
	const struct round *round = userdata;

	*ret = (struct rna_https_peer){
		.origin = round->agents[i]->origin,
		.connect_deadline = RNA_CLIENT_PATIENCE,
		.deadline = RNA_CLIENT_PATIENCE,
		.reply_max = RNA_CLIENT_REPLY_MAX,
	};
}

static void take_reply(size_t i, int status, struct rna_https_reply *reply, struct rna_error *error,
		       void *userdata)
{
	const struct round *round = userdata;

	if (status < 0)
		round->agents[i]->why = *error;
	else
		round->judge(round->agents[i], reply);
}

/* Asks those of which nothing is wrong so far. */
static int ask(struct agent *agents, size_t count, const char *path, struct round *round,
	       struct rna_error *error)
{
	const struct rna_https_request request = {.method = "GET", .path = path};
	struct rna_https_many many = {
		.at_once = AT_ONCE,
		.request = &request,
		.peer = set_peer,
		.done = take_reply,
		.userdata = round,
	};

	round->count = 0;
	for (size_t i = 0; i < count; i++)
		if (!agents[i].endpoint->https && agents[i].why.code == 0)
			round->agents[round->count++] = &agents[i];
	many.count = round->count;
	return rna_https_ask_many(&many, error);
}

static int ask_all(const struct rna_kubernetes_endpoints *list, struct rna_arena *arena,
		   struct agent **ret, struct rna_error *error)
{
	struct agent *agents = rna_arena_array(arena, list->count, sizeof(*agents));
	struct round round = {.agents = rna_arena_array(arena, list->count, sizeof(agents))};
	int status = agents && round.agents ? 0 : -ENOMEM;

	for (size_t i = 0; status == 0 && i < list->count; i++)
		status = make_agent(&list->endpoints[i], arena, &agents[i]);
	if (status < 0)
		return rna_error_set(error, status, "cannot ask the agents");
	*ret = agents;
	round.judge = judge_readiness;
	status = ask(agents, list->count, "/readyz", &round, error);
	round.judge = judge_metrics;
	return status < 0 ? status : ask(agents, list->count, "/metrics", &round, error);
}

int rna_kube_check_agents(const struct rna_kubernetes_options *options, const char *service,
			  struct rna_strbuf *out, struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(ARENA);
	struct rna_kubernetes_endpoints list;
	struct agent *agents = NULL;
	size_t failed = 0, closed = 0;
	int status = arena ? read_agents(options, service, arena, &list, error)
			   : rna_error_set(error, -ENOMEM, "cannot list the agents");

	if (status == 0)
		status = ask_all(&list, arena, &agents, error);
	if (status < 0)
		return status;
	for (size_t i = 0; i < list.count; i++) {
		closed += agents[i].endpoint->https;
		if (agents[i].why.code == 0)
			continue;
		failed++;
		rna_strbuf_printf(out, "%s: ", agents[i].endpoint->node);
		if (agents[i].endpoint->pod)
			rna_strbuf_printf(out, "pod %s: ", agents[i].endpoint->pod);
		rna_strbuf_printf(out, "%s\n", agents[i].why.text);
	}
	rna_strbuf_printf(out, "%zu of %zu agents are ready%s\n", list.count - failed, list.count,
			  closed > 0 ? "" : " and have metrics");
	if (closed > 0)
		rna_strbuf_printf(out,
				  "%zu of them have TLS, and were not asked: Kubernetes says "
				  "whether they are ready\n",
				  closed);
	return failed > 0 ? RNA_EXIT_FAILURE : RNA_EXIT_SUCCESS;
}
