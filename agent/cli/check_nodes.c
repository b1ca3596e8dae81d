// SPDX-License-Identifier: Apache-2.0
/*
 * check --nodes. The nodes come from the sources that probes have (mesh/member_source.h). Each
 * agent gets one request; an answer is read when it is there, and one line is kept of it. What an
 * agent answers is a claim: it is limited in size, and it does not say which node it is about.
 */
#include "check_nodes.h"

#include <errno.h>
#include <string.h>

#include "rna/check.h"

#include "loop/collector_sets.h"
#include "mesh/dns.h"
#include "mesh/member_source.h"

#include "client.h"

/*
 * For one agent, which answers within milliseconds, or not at all. It is as long as 2,000 nodes
 * that are all silent take ten seconds.
 */
#define PATIENCE     (2400 * RNA_USEC_PER_MSEC)
#define PATIENCE_MIN (50 * RNA_USEC_PER_MSEC)

enum {
	REPLY_MAX = 2 << 20, /* thousands of findings; of 512 nodes at once */
	OLD_PERIODS = 2,     /* of views; older data is not the present state */
};

static const char dns_prefix[] = "dns:", kubernetes_word[] = "kubernetes";

struct nodes {
	const struct rna_settings *settings;
	struct rna_member_list *list; /* its arena owns the rest */
	const char **origins;         /* of members */
	struct rna_node_check *nodes; /* in the order of members */
	bool no_memory;
};

static void deinit_nodes(struct nodes *nodes)
{
	(void)rna_member_list_free(nodes->list);
}

/* -- The list ---------------------------------------------------------------------------------- */

/* 0, or with error -EINVAL: the option names no source. */
static int find_source(const struct rna_settings *settings, const char *text,
		       struct rna_member_source_options *ret, struct rna_error *error)
{
	struct rna_dns_place place;

	*ret = (struct rna_member_source_options){.kind = RNA_MEMBERS_FILE, .place = text};
	if (strncmp(text, dns_prefix, strlen(dns_prefix)) == 0) {
		ret->kind = RNA_MEMBERS_DNS;
		ret->place = text + strlen(dns_prefix);
		if (rna_dns_place_parse(ret->place, &place))
			return 0;
		return rna_error_say(error, -EINVAL,
				     "--nodes: \"%s\" is not dns:NAME, dns:NAME:PORT or "
				     "dns:_SERVICE._tcp.NAME",
				     text);
	}
	if (strcmp(text, kubernetes_word) != 0)
		return 0;
	ret->kind = RNA_MEMBERS_KUBERNETES;
	ret->place = settings->probe_members_kubernetes;
	ret->kubeconfig = settings->kubernetes_kubeconfig;
	ret->server = settings->kubernetes_server;
	if (ret->place[0] != '\0')
		return 0;
	return rna_error_say(error, -EINVAL,
			     "--nodes=kubernetes: probe.members_kubernetes names no Service");
}

static int read_list(struct nodes *nodes, const struct rna_member_source_options *source,
		     rna_usec until, struct rna_error *error)
{
	nodes->list = rna_member_source_look(source, until);
	if (!nodes->list)
		return rna_error_say(error, -ETIMEDOUT, "%s: no list of nodes came in time",
				     source->place);
	if (nodes->list->error[0] != '\0')
		return rna_error_say(error, -EIO, "%s", nodes->list->error);
	if (nodes->list->members.count == 0) /* a check of nothing must not say that all is well */
		return rna_error_say(error, -ENOENT, "%s: there is no node in it", source->place);
	return 0;
}

static int make_nodes(struct nodes *nodes, struct rna_error *error)
{
	const struct rna_members *members = &nodes->list->members;
	struct rna_arena *arena = nodes->list->arena;

	nodes->origins = rna_arena_array(arena, members->count, sizeof(*nodes->origins));
	nodes->nodes = rna_arena_array(arena, members->count, sizeof(*nodes->nodes));
	if (!nodes->origins || !nodes->nodes)
		return rna_error_set(error, -ENOMEM, "the list of nodes");
	for (size_t i = 0; i < members->count; i++) {
		const struct rna_member *member = &members->members[i];

		nodes->nodes[i].node = member->name;
		nodes->nodes[i].address = member->address;
		nodes->origins[i] =
			rna_arena_printf(arena, "%s://%s", member->https ? "https" : "http",
					 member->address);
		if (!nodes->origins[i])
			return rna_error_set(error, -ENOMEM, "%s", member->name);
	}
	return 0;
}

/* -- The answers ------------------------------------------------------------------------------- */

int rna_check_answer_read(const struct rna_strbuf *json, struct rna_arena *arena,
			  struct rna_check *ret, struct rna_error *error)
{
	int status =
		arena && json->data ? rna_read_check(json->data, json->len, arena, ret) : -ENOMEM;

	if (status < 0)
		return rna_error_set(error, status, "cannot read the reply of the agent");
	ret->now = rna_clock_now().realtime;
	return 0;
}

int rna_check_answer_is_new(const struct rna_check *check, const struct rna_settings *settings,
			    bool far, struct rna_error *error)
{
	rna_usec limit = OLD_PERIODS * RNA_VIEW_PERIOD + settings->poll_deadline;
	rna_usec age = rna_usec_since(check->time, check->now);

	if (check->time == 0 || age <= limit)
		return 0;
	return rna_error_say(error, -ESTALE, "the data of the agent is %.0f s old%s",
			     rna_seconds(age), far ? ", by the clock of this machine" : "");
}

static int read_answer(const struct nodes *nodes, const struct rna_strbuf *body,
		       struct rna_arena *arena, struct rna_check *ret, struct rna_error *error)
{
	int status = rna_check_answer_read(body, arena, ret, error);

	return status < 0 ? status : rna_check_answer_is_new(ret, nodes->settings, true, error);
}

static void take_answer(size_t i, int status, const struct rna_strbuf *body,
			const struct rna_error *error, void *userdata)
{
	struct nodes *nodes = userdata;
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(body->len + 1);
	struct rna_error why = *error;
	struct rna_check check = {0};

	if (status == 0)
		status = read_answer(nodes, body, arena, &check, &why);
	if (status < 0)
		check = (struct rna_check){.failure = why.text};
	nodes->no_memory |= rna_node_check_fill(&check, nodes->list->arena, &nodes->nodes[i]) < 0;
}

/* With a deadline each node has its share, so that those at the end are asked as well. */
static rna_usec find_patience(size_t count, rna_usec until)
{
	rna_usec share, rounds = (count + RNA_CLIENT_AT_ONCE - 1) / RNA_CLIENT_AT_ONCE;

	if (until == 0)
		return PATIENCE;
	share = rna_usec_since(rna_clock_monotonic(), until) / rounds;
	share = share < PATIENCE_MIN ? PATIENCE_MIN : share;
	return share < PATIENCE ? share : PATIENCE;
}

static int ask_all(const struct rna_call *call, struct nodes *nodes, rna_usec until,
		   struct rna_error *error)
{
	const struct rna_client_many many = {
		.options = call->arguments.options,
		.origins = nodes->origins,
		.count = nodes->list->members.count,
		.patience = find_patience(nodes->list->members.count, until),
		.until = until,
		.reply_max = REPLY_MAX,
		.done = take_answer,
		.userdata = nodes,
	};
	int status = rna_client_ask_many(&many, "/api/v1/findings", error);

	if (status == 0 && nodes->no_memory)
		return rna_error_set(error, -ENOMEM, "the answers of the nodes");
	return status;
}

/* -- All --------------------------------------------------------------------------------------- */

int rna_check_nodes(struct rna_call *call, bool json, rna_usec until, struct rna_error *error)
{
	RNA_CLEANUP(deinit_nodes)
	struct nodes nodes = {.settings = &call->settings};
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_member_source_options source;
	size_t count;
	int status;

	if (find_source(&call->settings, call->arguments.options[RNA_OPTION_NODES], &source,
			error) < 0)
		return RNA_EXIT_USAGE;
	status = read_list(&nodes, &source, until, error);
	if (status == 0)
		status = make_nodes(&nodes, error);
	if (status == 0)
		status = ask_all(call, &nodes, until, error);
	if (status < 0)
		return status;
	count = nodes.list->members.count;
	rna_node_checks_sort(nodes.nodes, count);
	rna_write_node_checks(nodes.nodes, count, json, &text);
	status = rna_output_strbuf(&text, error);
	return status < 0 ? status : rna_node_checks_exit_code(nodes.nodes, count);
}
