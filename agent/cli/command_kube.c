// SPDX-License-Identifier: Apache-2.0
/*
 * The command kube: shows, applies once, or removes the labels, conditions and taint of this node;
 * and asks the agents of a cluster whether they are well.
 * It polls once and uses the result at once; the agent waits until a state is stable.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "rna/base/log.h"
#include "rna/base/root.h"
#include "rna/base/words.h"
#include "rna/kubernetes.h"

#include "loop/agent.h"
#include "memory/state_directory.h"
#include "memory/state_file.h"
#include "node/desired.h"
#include "node/node_options.h"

#include "commands.h"
#include "kube_agents.h"
#include "once.h"

const char *const rna_kube_actions[] = {"show", "apply", "cleanup", "agents", NULL};

/* One call of the command. The arena, or the settings of the agent that polled, own the data. */
struct kube {
	struct rna_once once;
	struct rna_arena *arena;
	struct rna_node_memory published;
	struct rna_memory memory; /* of the agent: names of labels and taints applied before */
	const struct rna_settings *settings;
	const struct rna_kubernetes_options *options;
	struct rna_desired_node *desired;
	bool dry_run;
	struct rna_strbuf out;
};

static void kube_deinit(struct kube *kube)
{
	(void)rna_desired_node_unref(kube->desired);
	rna_node_memory_deinit(&kube->published);
	rna_memory_deinit(&kube->memory);
	(void)rna_arena_free(kube->arena);
	rna_strbuf_deinit(&kube->out);
	rna_once_deinit(&kube->once);
}

/* Without a readable memory only the names of the settings are known. */
static void recall(struct kube *kube, const char *directory)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_error error = {0};
	RNA_CLOSE int fd = rna_state_directory_open(directory, false, &error);
	int ret = fd < 0 ? fd : rna_state_file_read(fd, RNA_STATE_MEMORY, &text, &error);

	if (ret >= 0 && text.data)
		ret = rna_memory_read(&kube->memory, text.data, text.len, &error);
	if (ret < 0 && ret != -ENOENT)
		rna_log_warning("%s: %s: former names of labels and taints are unknown", directory,
				error.text);
}

static int find_former(struct rna_call *call, struct kube *kube, struct rna_error *error)
{
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	const char *directory;
	int ret = rna_root_open(call->arguments.options[RNA_OPTION_ROOT], &root, error);

	if (ret < 0)
		return ret;
	directory = rna_state_directory(kube->settings, rna_root_is_live(root));
	if (directory)
		recall(kube, directory);
	return 0;
}

static int set_options(struct rna_call *call, struct kube *kube, struct rna_error *error)
{
	int ret = rna_settings_check_names(kube->settings, error);

	if (ret < 0)
		rna_config_point(call->config, error);
	else
		ret = find_former(call, kube, error);
	if (ret < 0)
		return ret;
	kube->arena = rna_arena_new(2048);
	kube->options = kube->arena
				? rna_node_options(kube->settings, &kube->memory.node, kube->arena)
				: NULL;
	return kube->options ? 0 : rna_error_set(error, -ENOMEM, "cannot update Kubernetes");
}

static int make_desired(struct rna_call *call, struct kube *kube, struct rna_error *error)
{
	struct rna_desired_input in = {.booting = false,
				       .settled = RNA_CONDITION_ALL_BITS,
				       .once = true};
	int ret = rna_once_poll(call, &kube->once, error);

	if (ret < 0)
		return ret;
	in.view = kube->once.view;
	in.settings = kube->settings = rna_agent_settings(kube->once.agent);
	ret = set_options(call, kube, error);
	if (ret < 0)
		return ret;
	ret = rna_desired_follow(&kube->published, &in);
	if (ret >= 0)
		kube->desired = rna_desired_new(&kube->published, &in, NULL);
	return kube->desired ? 0 : rna_error_set(error, -ENOMEM, "cannot update Kubernetes");
}

static bool uses(const struct kube *kube, int backend)
{
	return kube->settings->kubernetes_backend & backend;
}

/* -- Show -------------------------------------------------------------------------------------- */

static int show(struct rna_call *call, struct kube *kube, struct rna_error *error)
{
	int ret = make_desired(call, kube, error);

	if (ret == 0)
		rna_desired_node_write(kube->desired, kube->options, &kube->out);
	return ret;
}

/* -- Apply ------------------------------------------------------------------------------------- */

static int apply_file(struct kube *kube, struct rna_error *error)
{
	const char *directory = kube->settings->kubernetes_nfd_directory;
	rna_usec expires = rna_clock_now().realtime + RNA_NFD_EXPIRY;

	rna_strbuf_printf(&kube->out, "%s: %s\n", directory,
			  kube->dry_run ? "would write the file" : "wrote the file");
	if (!kube->dry_run)
		return rna_nfd_put_file(directory, kube->desired, expires, error);
	rna_nfd_write_features(kube->desired, expires, NULL, &kube->out);
	return 0;
}

static int apply(struct rna_call *call, struct kube *kube, struct rna_error *error)
{
	int ret = make_desired(call, kube, error);

	if (ret < 0)
		return ret;
	if (kube->settings->kubernetes_backend == 0) {
		(void)rna_error_say(
			error, -EINVAL,
			"kubernetes.backend is off, so there is nothing to apply; use `kube show`");
		return RNA_EXIT_USAGE;
	}
	if (uses(kube, RNA_NODE_BACKEND_BIT(API)) && kube->dry_run)
		rna_kubernetes_write_requests(kube->options, kube->desired, &kube->out);
	else if (uses(kube, RNA_NODE_BACKEND_BIT(API)))
		ret = rna_kubernetes_apply(kube->options, kube->desired, error);
	if (ret == 0 && uses(kube, RNA_NODE_BACKEND_BIT(NFD)))
		ret = apply_file(kube, error);
	return ret;
}

/* -- Cleanup ----------------------------------------------------------------------------------- */

static void list(const char *what, const char *const *items, struct rna_strbuf *out)
{
	for (; items && *items; items++)
		rna_strbuf_printf(out, "would be removed: %s %s\n", what, *items);
}

static int cleanup_api(struct kube *kube, struct rna_error *error)
{
	if (!kube->dry_run)
		return rna_kubernetes_cleanup(kube->options, error);
	list("label", kube->options->label_keys, &kube->out);
	list("condition", kube->options->condition_types, &kube->out);
	if (kube->options->taint_key)
		rna_strbuf_printf(&kube->out, "would be removed: taint %s\n",
				  kube->options->taint_key);
	list("taint", kube->options->former_taints, &kube->out);
	return 0;
}

static int cleanup_file(struct kube *kube, struct rna_error *error)
{
	const char *directory = kube->settings->kubernetes_nfd_directory;

	if (!kube->dry_run)
		return rna_nfd_remove_file(directory, error);
	rna_strbuf_printf(&kube->out, "would be removed: the file in %s\n", directory);
	return 0;
}

/*
 * With kubernetes.backend off, both backends are cleaned up: they may have been on before. If one
 * fails, the other is cleaned up nevertheless; the first error is reported.
 */
static int cleanup(struct rna_call *call, struct kube *kube, struct rna_error *error)
{
	const char *nodes = call->arguments.options[RNA_OPTION_NODES];
	bool off = call->settings.kubernetes_backend == 0;
	int ret, file = 0;

	kube->settings = &call->settings;
	ret = set_options(call, kube, error);
	if (ret < 0)
		return ret;
	if (nodes)
		return rna_kubernetes_cleanup_nodes(kube->options,
						    strcmp(nodes, "all") == 0 ? "" : nodes,
						    kube->dry_run, &kube->out, error);
	if (off || uses(kube, RNA_NODE_BACKEND_BIT(NFD)))
		file = cleanup_file(kube, error);
	if (off || uses(kube, RNA_NODE_BACKEND_BIT(API)))
		ret = cleanup_api(kube, file < 0 ? NULL : error);
	return file < 0 ? file : ret;
}

/* -- Agents ------------------------------------------------------------------------------------ */

static int agents(struct rna_call *call, struct kube *kube, struct rna_error *error)
{
	const char *service = call->settings.probe_members_kubernetes;
	int ret;

	if (!service[0]) {
		(void)rna_error_say(error, -EINVAL,
				    "kube agents: probe.members_kubernetes names no Service");
		return RNA_EXIT_USAGE;
	}
	kube->settings = &call->settings;
	ret = set_options(call, kube, error);
	return ret < 0 ? ret : rna_kube_check_agents(kube->options, service, &kube->out, error);
}

/* Also "pool in (a, b)"; the API server knows the rest. */
static bool is_selector(const char *value)
{
	for (; *value; value++)
		if (!isalnum((unsigned char)*value) && !strchr("-._/=!,() ", *value))
			return false;
	return true;
}

static int check_nodes(const struct rna_arguments *arguments, struct rna_error *error)
{
	const char *nodes = arguments->options[RNA_OPTION_NODES];

	if (nodes && strcmp(arguments->operand, "cleanup") != 0)
		return rna_error_say(error, -EINVAL, "kube %s: --nodes is for cleanup only",
				     arguments->operand);
	if (nodes && !is_selector(nodes))
		return rna_error_say(error, -EINVAL,
				     "--nodes: \"%.*s\" is not all, or labels such as "
				     "pool=gpu,zone!=a",
				     RNA_SHOWN(nodes));
	return 0;
}

int rna_command_kube(struct rna_call *call, struct rna_error *error)
{
	const char *action = call->arguments.operand;
	RNA_CLEANUP(kube_deinit)
	struct kube kube = {
		.dry_run = call->arguments.options[RNA_OPTION_DRY_RUN],
	};
	int ret;

	if (check_nodes(&call->arguments, error) < 0)
		return RNA_EXIT_USAGE;
	if (strcmp(action, "show") == 0)
		ret = show(call, &kube, error);
	else if (strcmp(action, "apply") == 0)
		ret = apply(call, &kube, error);
	else if (strcmp(action, "cleanup") == 0)
		ret = cleanup(call, &kube, error);
	else
		ret = agents(call, &kube, error);
	if (ret >= 0 && rna_output_strbuf(&kube.out, error) < 0)
		return RNA_EXIT_FAILURE;
	return ret;
}
