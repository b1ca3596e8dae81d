// SPDX-License-Identifier: Apache-2.0
/*
 * The command env: poll once and write the environment that a communication library needs on this
 * node, or for one of its GPUs. The command nccl is env --for=nccl.
 */
#include <errno.h>
#include <string.h>

#include "rna/base/file.h"
#include "rna/base/log.h"
#include "rna/base/parse.h"
#include "rna/base/words.h"
#include "rna/collector.h"
#include "rna/exporter.h"
#include "rna/model/inside.h"

#include "loop/agent.h"

#include "once.h"

const char *const rna_env_forms[] = {
	[RNA_ENV_FORM_SHELL] = "shell", [RNA_ENV_FORM_ENV] = "env",  [RNA_ENV_FORM_YAML] = "yaml",
	[RNA_ENV_FORM_JSON] = "json",   [RNA_ENV_FORM_COUNT] = NULL,
};

/* Names the reason that left out most ports, and the first of them, so that it stays short. */
static int fail_without_port(const struct rna_env_advice *advice, struct rna_error *error)
{
	const struct rna_env_left_out *most = advice->left_out;

	if (advice->left_out_count == 0)
		return rna_error_say(error, -ENODEV, "no port for %s: this node has no RDMA port",
				     advice->title);
	for (size_t i = 1; i < advice->left_out_count; i++)
		if (advice->left_out[i].count > most->count)
			most = &advice->left_out[i];
	return rna_error_say(error, -ENODEV, "no port for %s: %s%s (%s); status shows all ports",
			     advice->title, most->ports[0], most->count > 1 ? " and others" : "",
			     most->reason);
}

/* Do values of this collector decide about the variables? */
static bool is_needed(enum rna_collector_id id)
{
	switch (id) {
	case RNA_COLLECTOR_STATE:
	case RNA_COLLECTOR_IDENTITY:
	case RNA_COLLECTOR_LINK:
	case RNA_COLLECTOR_GIDS:
	case RNA_COLLECTOR_QOS:
	case RNA_COLLECTOR_NETDEV:
	case RNA_COLLECTOR_TOPOLOGY:
		return true;
	default:
		return false;
	}
}

static void warn_of_values(const struct rna_job_status *job)
{
	for (unsigned reason = 0; reason < RNA_REASON_COUNT; reason++)
		if (rna_job_errors(job, reason) > 0)
			rna_log_warning("%s: collector %s could not read %ju value%s (%s): the "
					"variables may leave out ports",
					job->device, job->name,
					(uintmax_t)rna_job_errors(job, reason),
					rna_job_errors(job, reason) == 1 ? "" : "s",
					rna_reason_name(reason));
}

/*
 * A comment of the output says which port was left out and why, but a shell that evaluates it shows
 * no comments. A collector that failed has had a line in the log.
 */
static void warn_of_reads(const struct rna_view *view)
{
	for (size_t i = 0; i < view->job_count; i++)
		if (view->jobs[i].success && is_needed(view->jobs[i].collector))
			warn_of_values(&view->jobs[i]);
}

static const char *get_own_variable(const char *name, void *userdata)
{
	(void)userdata;
	return getenv(name);
}

/* Of a process, as /proc has it: each variable ends with a NUL. */
static const char *get_its_variable(const char *name, void *userdata)
{
	const struct rna_strbuf *environment = userdata;
	const char *end = environment->data + environment->len;
	size_t len = strlen(name);

	for (const char *at = environment->data; at && at < end; at += strlen(at) + 1)
		if (strncmp(at, name, len) == 0 && at[len] == '=')
			return at + len + 1;
	return NULL;
}

/* The environment that it was started with. root: NULL: "/". */
static int read_environment(const char *root, uint32_t process, struct rna_strbuf *text,
			    struct rna_error *error)
{
	enum { ENVIRONMENT_MAX = 1024 * 1024 };
	RNA_FREE char *path = NULL;

	if (asprintf(&path, "%s/proc/%u/environ", root ? root : "", process) < 0)
		return rna_error_set(error, -ENOMEM, "cannot read an environment");
	return rna_file_read(path, ENVIRONMENT_MAX, text, error);
}

/* -- The GPU ----------------------------------------------------------------------------------- */

/* By PCI address, or by number in the order of addresses, as the command topology shows it. */
static bool is_gpu(const struct rna_topology *topology, size_t i, const char *text)
{
	uint64_t number;

	if (strcmp(topology->objects[topology->gpus[i].object].address, text) == 0)
		return true;
	return rna_parse_u64(text, &number) == 0 && number == i;
}

/* text: NULL: none is wanted. */
static int find_gpu(const struct rna_view *view, const char *text, int *ret,
		    struct rna_error *error)
{
	const struct rna_topology *topology = rna_snapshot_topology(view->snapshot);

	*ret = RNA_ENV_NODE;
	if (!text)
		return 0;
	for (size_t i = 0; topology && i < topology->gpu_count; i++)
		if (is_gpu(topology, i, text)) {
			*ret = (int)i;
			return 0;
		}
	return rna_error_say(error, -ENODEV,
			     "--gpu: no GPU \"%.*s\"; this node has %zu, see the command topology",
			     RNA_SHOWN(text), topology ? topology->gpu_count : 0);
}

/* -- The commands ------------------------------------------------------------------------------ */

static int write_advice(const struct rna_env_advice *advice, const char *format,
			struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	enum rna_env_form form = 0;

	if (advice->port_count == 0)
		return fail_without_port(advice, error);
	while (strcmp(rna_env_forms[form], format) != 0)
		form++;
	rna_write_env(advice, form, &text);
	return rna_output_strbuf(&text, error);
}

/* Returns the exit code, or negative errno. */
static int write_check(const struct rna_once *once, const struct rna_env_request *request,
		       const struct rna_env_advice *advice, struct rna_arena *arena,
		       struct rna_error *error)
{
	const struct rna_presence *presence = rna_snapshot_presence(once->view->snapshot);
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_root *root = rna_agent_root(once->agent);
	struct rna_pod_resources resources = {0};
	struct rna_inside inside;
	struct rna_env_check check;
	int ret;

	if (!presence) /* the log says why */
		return rna_error_say(error, -ENODEV, "the process shows no RDMA devices");
	ret = rna_look_inside(root, presence, arena, &inside);
	if (ret < 0)
		return rna_error_set(error, ret, "cannot look at the process");
	if (rna_read_pod_resources(root, arena, &resources) < 0)
		resources.count = 0; /* no kubelet, or no right to read its file */
	ret = rna_env_check(&(struct rna_env_check_input){once->view, request, advice, &inside,
							  &resources},
			    arena, &check);
	if (ret < 0)
		return rna_error_set(error, ret, "cannot write the output");
	rna_write_env_check(&check, advice, &text);
	ret = rna_output_strbuf(&text, error);
	if (ret == 0 && advice->port_count == 0)
		return fail_without_port(advice, error);
	return ret < 0 || check.bad == 0 ? ret : RNA_EXIT_FAILURE;
}

static int advise(const struct rna_once *once, const char *const *options,
		  const struct rna_env_request *request, struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	struct rna_env_advice advice;
	int ret = arena ? rna_env_advise(once->view, request, arena, &advice) : -ENOMEM;

	if (ret < 0)
		return rna_error_set(error, ret, "cannot write the output");
	return options[RNA_OPTION_CHECK] ? write_check(once, request, &advice, arena, error)
					 : write_advice(&advice, options[RNA_OPTION_FORMAT], error);
}

static int execute(struct rna_call *call, enum rna_env_library library, const char *gpu,
		   struct rna_error *error)
{
	struct rna_env_request request = {.library = library, .get = get_own_variable};
	const char *const *options = call->arguments.options;
	RNA_STRBUF struct rna_strbuf environment = RNA_STRBUF_INIT;
	RNA_ONCE struct rna_once once = {0};
	int ret;

	ret = rna_once_poll(call, &once, error);
	if (ret == 0 && once.process) {
		request.get = get_its_variable;
		request.userdata = &environment;
		ret = read_environment(options[RNA_OPTION_ROOT], once.process, &environment, error);
	}
	if (ret < 0)
		return ret;
	request.own_network =
		strcmp(options[RNA_OPTION_FORMAT], rna_env_forms[RNA_ENV_FORM_YAML]) == 0 &&
		!options[RNA_OPTION_HOST_NETWORK] && !once.process;
	warn_of_reads(once.view);
	ret = find_gpu(once.view, gpu, &request.gpu, error);
	return ret < 0 ? ret : advise(&once, options, &request, error);
}

int rna_command_nccl(struct rna_call *call, struct rna_error *error)
{
	return execute(call, RNA_ENV_NCCL, NULL, error);
}

int rna_command_env(struct rna_call *call, struct rna_error *error)
{
	enum rna_env_library library = 0;

	while (strcmp(rna_env_names[library], call->arguments.options[RNA_OPTION_FOR]) != 0)
		library++;
	return execute(call, library, call->arguments.options[RNA_OPTION_GPU], error);
}
