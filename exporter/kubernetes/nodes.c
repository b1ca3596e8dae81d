// SPDX-License-Identifier: Apache-2.0
/*
 * Cleaning up many Nodes, when their agents are gone: the names of all first, because the place in
 * a list is forgotten after some minutes; then each Node, as it is at that moment. A Node that has
 * nothing of ours costs one request. All in order, on one connection, so that the load is that of
 * one client. What fails is tried again: an API server that restarts refuses everything for a
 * moment, and so does one that has not heard yet of the rights that were just given.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "round.h"

enum {
	PAGE = 100, /* Nodes of one answer: 2 MB with all that managedFields may have */
	TRIES_MAX = 4,
	FAILED_MAX = 3, /* Nodes in a row; then it is not about the Nodes */
};

#define LONGEST_WAIT (15 * RNA_USEC_PER_SEC)

#define ADVICE "; check that a ClusterRole allows to list nodes"

struct sweep {
	struct rna_kube_api api;
	const char *selector;
	bool dry_run;
	struct rna_strbuf *out;
	struct rna_strbuf names; /* each with a newline, and behind clean_all() a null byte */
	struct rna_strbuf place; /* in the list; empty: at its beginning, or its end */
	uint64_t random;
	unsigned failing; /* Nodes in a row; a second one is not waited for */
};

typedef enum rna_kubernetes_result step_function(struct sweep *sweep,
						 struct rna_kube_answer *answer);

/* -- Patience ---------------------------------------------------------------------------------- */

static void sleep_until(rna_usec time)
{
	rna_usec now = rna_clock_monotonic(), rest = time > now ? time - now : 0;
	const struct timespec pause = {
		.tv_sec = (time_t)(rest / RNA_USEC_PER_SEC),
		.tv_nsec = (long)(rest % RNA_USEC_PER_SEC) * 1000,
	};

	(void)nanosleep(&pause, NULL); /* a signal that ends it only makes the next try earlier */
}

/* 0, or negative errno with error. */
static int do_step(struct sweep *sweep, step_function *step, struct rna_error *error)
{
	struct rna_wait wait = {0};

	for (;;) {
		RNA_KUBE_ANSWER struct rna_kube_answer answer = RNA_KUBE_ANSWER_INIT;

		if (step(sweep, &answer) == RNA_KUBERNETES_OK)
			return 0;
		rna_wait_longer(&wait, LONGEST_WAIT, answer.reply.retry_after, &sweep->random,
				rna_clock_monotonic());
		if (sweep->failing > 0 || wait.failures == TRIES_MAX) {
			*error = answer.error;
			return answer.error.code < 0 ? answer.error.code : -EIO;
		}
		sleep_until(wait.until);
	}
}

/* -- The list ---------------------------------------------------------------------------------- */

static enum rna_kubernetes_result read_page(struct sweep *sweep, struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf path = RNA_STRBUF_INIT;
	const struct rna_kube_request request = {
		.method = "GET",
		.path = &path,
		.metadata = true,
		.list = true,
		.advice = ADVICE,
	};
	int status;

	rna_strbuf_printf(&path, "/api/v1/nodes?limit=%d&labelSelector=", PAGE);
	rna_strbuf_add_encoded(&path, sweep->selector);
	rna_strbuf_puts(&path, "&continue=");
	rna_strbuf_add_encoded(&path, sweep->place.len > 0 ? sweep->place.data : "");
	if (rna_kube_call(&sweep->api, &request, answer) != RNA_KUBERNETES_OK)
		return answer->result;
	status = rna_kube_read_names(&answer->reply.body, &sweep->names, &sweep->place);
	if (status == -ENOMEM)
		return rna_kube_fail_memory(answer);
	if (status < 0) {
		(void)rna_error_say(&answer->error, status, "the answer is not a list of Nodes");
		return answer->result = RNA_KUBERNETES_UNREACHABLE;
	}
	return RNA_KUBERNETES_OK;
}

static int read_list(struct sweep *sweep, struct rna_error *error)
{
	int status;

	do
		status = do_step(sweep, read_page, error);
	while (status == 0 && sweep->place.len > 0);
	return status;
}

/* -- One Node ---------------------------------------------------------------------------------- */

static size_t count_conditions(const struct sweep *sweep, const struct rna_kube_node *node)
{
	const char *const *types = sweep->api.options->condition_types;
	size_t count = 0;

	for (; types && *types; types++)
		count += rna_kube_condition_of(node, *types) != NULL;
	return count;
}

static enum rna_kubernetes_result send_if(bool wanted, struct rna_kube_api *api,
					  enum rna_kube_write what, const struct rna_strbuf *body,
					  struct rna_kube_answer *answer)
{
	return wanted ? rna_kube_send(api, what, NULL, body, answer) : RNA_KUBERNETES_OK;
}

/*
 * The taints first: their patch has the version of the Node that was read, which any other patch
 * changes.
 */
static enum rna_kubernetes_result take_back(struct sweep *sweep, struct rna_kube_answer *answer)
{
	RNA_STRBUF struct rna_strbuf taints = RNA_STRBUF_INIT, labels = RNA_STRBUF_INIT,
				     conditions = RNA_STRBUF_INIT;
	struct rna_kube_api *api = &sweep->api;
	RNA_KUBE_NODE struct rna_kube_node node = {0};
	const struct rna_kube_words words = {api->node, &rna_kube_nothing, &node};
	size_t label_count, condition_count;
	bool tainted;

	if (rna_kube_fetch_node(api, "", false, answer, &node) != RNA_KUBERNETES_OK)
		return answer->result;
	tainted = node.tainted || node.tainted_formerly;
	label_count = rna_kube_write_label_removal(api->options, &words, &labels);
	condition_count = count_conditions(sweep, &node);
	if (!tainted && label_count == 0 && condition_count == 0)
		return RNA_KUBERNETES_OK;
	if (tainted && rna_kube_write_taints(api->options, false, &answer->reply.body, &taints) < 0)
		return rna_kube_fail_memory(answer);
	rna_kube_write_condition_removal(api->options->condition_types, &conditions);
	if (!sweep->dry_run &&
	    (send_if(tainted, api, RNA_KUBE_MERGE_NODE, &taints, answer) != RNA_KUBERNETES_OK ||
	     send_if(label_count > 0, api, RNA_KUBE_MERGE_NODE, &labels, answer) !=
		     RNA_KUBERNETES_OK ||
	     send_if(condition_count > 0, api, RNA_KUBE_REMOVE_CONDITIONS, &conditions, answer) !=
		     RNA_KUBERNETES_OK))
		return answer->result;
	rna_strbuf_printf(sweep->out, "%s: %zu labels, %zu conditions, %s\n", api->node,
			  label_count, condition_count, tainted ? "the taint" : "no taint");
	return RNA_KUBERNETES_OK;
}

/* A Node that was deleted meanwhile needs no more. */
static enum rna_kubernetes_result clean_node(struct sweep *sweep, struct rna_kube_answer *answer)
{
	if (take_back(sweep, answer) != RNA_KUBERNETES_OK &&
	    answer->reply.status == RNA_KUBE_NOT_FOUND)
		answer->result = RNA_KUBERNETES_OK;
	return answer->result;
}

/* One Node that cannot be cleaned up does not keep the others from it. Returns how many could not.
 */
static size_t clean_all(struct sweep *sweep, struct rna_error *first)
{
	struct rna_error error = {0};
	char *rest = sweep->names.data;
	size_t failed = 0;

	for (char *name; rest && (name = strsep(&rest, "\n")) && *name;) {
		sweep->api.node = name;
		if (sweep->failing < FAILED_MAX && do_step(sweep, clean_node, &error) == 0) {
			sweep->failing = 0;
			continue;
		}
		sweep->failing++;
		if (failed++ == 0)
			*first = error;
	}
	return failed;
}

/*
 * Rules for devices are objects of the cluster, not of a Node. Those of Nodes that are gone are
 * found without a selector only: with one there may be agents of another release.
 */
static enum rna_kubernetes_result clean_devices(struct sweep *sweep, struct rna_kube_answer *answer)
{
	const bool all = *sweep->selector == '\0';
	size_t count = 0;

	if (rna_kube_delete_device_rules(&sweep->api, all ? NULL : &sweep->names, sweep->dry_run,
					 &count, answer) == RNA_KUBERNETES_OK &&
	    count > 0)
		rna_strbuf_printf(sweep->out, "%zu DeviceTaintRules\n", count);
	return answer->result;
}

int rna_kubernetes_cleanup_nodes(const struct rna_kubernetes_options *options, const char *selector,
				 bool dry_run, struct rna_strbuf *out, struct rna_error *error)
{
	struct sweep sweep = {
		.api = {.options = options, .node = ""},
		.selector = selector,
		.dry_run = dry_run,
		.out = out,
		.names = RNA_STRBUF_INIT,
		.place = RNA_STRBUF_INIT,
		.random = rna_clock_now().realtime,
	};
	struct rna_error first = {0};
	int status = read_list(&sweep, error);
	size_t failed = status == 0 ? clean_all(&sweep, &first) : 0;

	sweep.failing = 0;
	if (status == 0 && options->device_taint_effect)
		status = do_step(&sweep, clean_devices, error);
	if (failed > 0)
		status = rna_error_say(error, first.code < 0 ? first.code : -EIO,
				       "%zu Nodes are not cleaned up: %s", failed, first.text);
	rna_kube_disconnect(&sweep.api);
	rna_strbuf_deinit(&sweep.names);
	rna_strbuf_deinit(&sweep.place);
	return status;
}
