// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "rna/base/duration.h"
#include "rna/base/parse.h"

enum { MEMORY_NODES_MAX = 1024, SIZE_LEAST = 64, SIZE_MOST = 8 << 20 };

#define DURATION_MOST (60 * RNA_USEC_PER_SEC)

/* -- Options ----------------------------------------------------------------------------------- */

const char *const rna_selftest_option_keys[RNA_SELFTEST_OPTION_COUNT] = {
	[RNA_SELFTEST_OPTION_DEVICE] = "device", [RNA_SELFTEST_OPTION_GPU] = "gpu",
	[RNA_SELFTEST_OPTION_NUMA] = "numa",     [RNA_SELFTEST_OPTION_SIZE] = "size",
	[RNA_SELFTEST_OPTION_QPS] = "qps",       [RNA_SELFTEST_OPTION_DURATION] = "duration",
	[RNA_SELFTEST_OPTION_FORCE] = "force",
};

static int take_number(const char *const *values, enum rna_selftest_option key, unsigned least,
		       unsigned most, unsigned *ret, struct rna_error *error)
{
	uint64_t number;

	if (!values[key])
		return 0;
	if (rna_parse_u64(values[key], &number) < 0 || number < least || number > most)
		return rna_error_say(error, -EINVAL, "--%s: \"%s\" is not a number from %u to %u",
				     rna_selftest_option_keys[key], values[key], least, most);
	*ret = (unsigned)number;
	return 0;
}

static int take_duration(const char *text, rna_usec *ret, struct rna_error *error)
{
	if (!text)
		return 0;
	if (rna_duration_parse(text, ret) < 0 || *ret == 0 || *ret > DURATION_MOST)
		return rna_error_say(error, -EINVAL,
				     "--duration: \"%s\" is not a duration up to 1m, such as 500ms",
				     text);
	return 0;
}

int rna_selftest_options_parse(const char *const values[RNA_SELFTEST_OPTION_COUNT],
			       struct rna_selftest_options *ret, struct rna_error *error)
{
	unsigned node = UINT_MAX;
	int status;

	*ret = (struct rna_selftest_options){
		.device = values[RNA_SELFTEST_OPTION_DEVICE],
		.gpu = values[RNA_SELFTEST_OPTION_GPU],
		.force = values[RNA_SELFTEST_OPTION_FORCE],
	};
	status = take_number(values, RNA_SELFTEST_OPTION_NUMA, 0, MEMORY_NODES_MAX - 1, &node,
			     error);
	if (status == 0)
		status = take_number(values, RNA_SELFTEST_OPTION_SIZE, SIZE_LEAST, SIZE_MOST,
				     &ret->size, error);
	if (status == 0)
		status = take_number(values, RNA_SELFTEST_OPTION_QPS, 1, RNA_LOOPBACK_QPS_MAX,
				     &ret->qps, error);
	if (status == 0)
		status = take_duration(values[RNA_SELFTEST_OPTION_DURATION], &ret->duration, error);
	ret->numa_node = node == UINT_MAX ? -1 : (int)node;
	return status;
}

/* -- Lists ------------------------------------------------------------------------------------- */

void rna_selftest_runs_deinit(struct rna_selftest_runs *runs)
{
	free(runs->items);
	*runs = (struct rna_selftest_runs){0};
}

bool rna_selftest_runs_have(const struct rna_selftest_runs *runs,
			    const struct rna_selftest_run *run)
{
	return RNA_ANY(i, runs->count,
		       runs->items[i].request.port == run->request.port &&
			       runs->items[i].request.endpoint == run->request.endpoint &&
			       strcmp(runs->items[i].request.device, run->request.device) == 0);
}

/* -- Planning ---------------------------------------------------------------------------------- */

bool rna_test_names_port(const char *text, const char *device, unsigned port)
{
	size_t len = strlen(device);
	uint64_t number;

	if (strncmp(text, device, len) != 0)
		return false;
	return text[len] == '\0' || ((text[len] == '/' || text[len] == ':') &&
				     rna_parse_u64(text + len + 1, &number) == 0 && number == port);
}

static bool is_chosen(const struct rna_selftest_options *options, const struct rna_subject *subject)
{
	return !options->device ||
	       rna_test_names_port(options->device, subject->device->device->name, subject->port);
}

static void change(struct rna_loopback_request *request, const struct rna_selftest_options *options)
{
	if (options->numa_node >= 0)
		request->memory_node = options->numa_node;
	if (options->gpu)
		(void)snprintf(request->gpu, sizeof(request->gpu), "%s", options->gpu);
	if (options->qps > 0)
		request->qps = options->qps;
	if (options->size > 0)
		rna_selftest_set_size(request, options->size);
	if (options->duration > 0) {
		request->time_limit = options->duration;
		request->bytes = UINT64_MAX;
	}
	request->gate = !options->force;
}

/* Longer than usual is still as usual: bandwidth does not depend on it. */
static bool is_special(const struct rna_selftest_options *options)
{
	return options->numa_node >= 0 || options->gpu || options->qps > 0 || options->size > 0 ||
	       options->force;
}

static struct rna_selftest_run *add_run(struct rna_selftest_runs *runs)
{
	struct rna_selftest_run *run = RNA_GROW(runs->items, runs->count, NULL);

	if (!run)
		return NULL;
	*run = (struct rna_selftest_run){
		.on_demand = true,
		.result.qps = RNA_QPS_UNKNOWN,
	};
	runs->count++;
	return run;
}

static int plan_endpoint(const struct rna_subject *subject, const struct rna_settings *settings,
			 enum rna_endpoint endpoint, const struct rna_selftest_options *options,
			 struct rna_selftest_runs *runs)
{
	struct rna_time now = rna_clock_now();
	enum rna_skip skip = rna_selftest_look(subject, settings, &now, true);
	struct rna_loopback_request request;
	struct rna_selftest_run *run;

	if (!rna_selftest_request(subject, settings, endpoint, &request) && !options->gpu)
		return 0;
	run = add_run(runs);
	if (!run)
		return -ENOMEM;
	change(&request, options);
	run->time = now;
	run->request = request;
	run->expected = rna_selftest_expected(subject);
	run->special = is_special(options);
	if (skip != RNA_SKIP_NONE)
		(void)rna_loopback_skip(&run->result, skip, "%s/%u: %s", request.device,
					request.port, rna_skip_meaning(skip));
	return 0;
}

/* An option for a certain memory is one for that alone. */
static bool is_endpoint_chosen(enum rna_endpoint endpoint, const struct rna_settings *settings,
			       const struct rna_selftest_options *options)
{
	switch (endpoint) {
	case RNA_ENDPOINT_LOCAL:
		return !options->gpu;
	case RNA_ENDPOINT_REMOTE:
		return !options->gpu && options->numa_node < 0 && settings->selftest_remote_memory;
	case RNA_ENDPOINT_GPU:
		return options->gpu || (options->numa_node < 0 && settings->selftest_gpu_memory);
	default:
		return false;
	}
}

static int check_size(const struct rna_selftest_options *options,
		      const struct rna_settings *settings, struct rna_error *error)
{
	if (options->size == 0 || options->duration > 0 ||
	    rna_selftest_size_fits(settings, options->size))
		return 0;
	return rna_error_say(error, -EINVAL,
			     "--size %u: a test writes at least twice, and selftest.bytes is %u "
			     "MiB; use a smaller size, or --duration instead of the byte limit",
			     options->size, settings->selftest_bytes);
}

int rna_selftest_plan(const struct rna_view *view, const struct rna_settings *settings,
		      const struct rna_selftest_options *options, struct rna_selftest_runs *ret,
		      struct rna_error *error)
{
	const struct rna_subject_list *ports = rna_view_ports(view);
	int status = check_size(options, settings, error);

	if (status < 0)
		return status;
	for (size_t i = 0; status == 0 && i < ports->count; i++)
		for (enum rna_endpoint e = 0; status == 0 && e < RNA_ENDPOINT_COUNT; e++)
			if (is_chosen(options, &ports->items[i]) &&
			    is_endpoint_chosen(e, settings, options))
				status = plan_endpoint(&ports->items[i], settings, e, options, ret);
	if (status < 0)
		return rna_error_set(error, status, "cannot plan self-tests");
	if (ret->count > 0)
		return 0;
	if (options->device)
		return rna_error_say(error, -ENODEV,
				     "no port matches \"%s\"; the command status lists all ports",
				     options->device);
	return rna_error_say(error, -ENODEV, "this node has no RDMA port to test");
}

void rna_selftest_describe(const struct rna_selftest_run *run, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%s/%u, %s memory ...", run->request.device, run->request.port,
			  rna_endpoint_name(run->request.endpoint));
}

/* -- Failures ---------------------------------------------------------------------------------- */

/* Only what went wrong in the test itself may be the port's fault. */
static enum rna_skip why_skipped(const struct rna_error *why)
{
	switch (why->code) {
	case -EBUSY:
		return RNA_SKIP_LOCKED;
	case -ECHILD:
	case -ETIMEDOUT:
		return RNA_SKIP_NONE;
	default:
		return RNA_SKIP_NO_RESOURCES;
	}
}

void rna_selftest_run_fail(struct rna_selftest_run *run, const struct rna_error *why, bool ended)
{
	enum rna_skip skip = why_skipped(why);
	bool skipped = skip != RNA_SKIP_NONE;

	run->result = (struct rna_loopback_result){
		.end = skipped ? RNA_LOOPBACK_SKIPPED : RNA_LOOPBACK_FAILED,
		.skip = skip,
		.qps = RNA_QPS_UNKNOWN,
	};
	(void)snprintf(run->result.text, sizeof(run->result.text), "%.64s/%u: %.120s%s",
		       run->request.device, run->request.port, why->text,
		       ended || skipped ? "" : "; it is stuck in the kernel");
}

/* -- Judging ----------------------------------------------------------------------------------- */

static bool are_siblings(const struct rna_selftest_run *a, const struct rna_selftest_run *b)
{
	return a->result.end == RNA_LOOPBACK_DONE && b->result.end == RNA_LOOPBACK_DONE &&
	       a->expected == b->expected && a->request.endpoint == b->request.endpoint &&
	       a->request.size == b->request.size && a->request.qps == b->request.qps;
}

/* A median of two would be one of them, and the other bad by definition. */
static uint64_t median_of_siblings(const struct rna_selftest_run *runs, size_t count,
				   const struct rna_selftest_run *of)
{
	RNA_FREE uint64_t *bandwidths = calloc(count, sizeof(*bandwidths));
	size_t found = 0;

	for (size_t i = 0; bandwidths && i < count; i++)
		if (are_siblings(&runs[i], of))
			bandwidths[found++] = runs[i].result.bandwidth;
	return found > 2 ? rna_selftest_median(bandwidths, found) : 0;
}

enum rna_grade rna_test_grade(enum rna_loopback_end end, uint64_t bandwidth, uint64_t expected,
			      uint64_t siblings, const struct rna_settings *settings)
{
	struct rna_selftest_limits limits = rna_selftest_limits_for(settings, expected);

	switch (end) {
	case RNA_LOOPBACK_DONE:
		return rna_selftest_judge(bandwidth, expected, siblings, &limits);
	case RNA_LOOPBACK_SKIPPED:
		return RNA_GRADE_NONE;
	default:
		return RNA_GRADE_FAILED;
	}
}

void rna_selftest_judge_all(struct rna_selftest_run *runs, size_t count,
			    const struct rna_settings *settings)
{
	for (size_t i = 0; i < count; i++) {
		struct rna_selftest_run *run = &runs[i];

		run->grade =
			rna_test_grade(run->result.end, run->result.bandwidth, run->expected,
				       run->expected > 0 ? median_of_siblings(runs, count, run) : 0,
				       settings);
	}
}

enum rna_selftest_exit rna_test_sum_up(enum rna_selftest_exit before, enum rna_loopback_end end,
				       enum rna_grade grade)
{
	if (grade == RNA_GRADE_FAILED || before == RNA_SELFTEST_FAILED)
		return RNA_SELFTEST_FAILED;
	if (grade == RNA_GRADE_WARNING || before == RNA_SELFTEST_WARNING)
		return RNA_SELFTEST_WARNING;
	return end == RNA_LOOPBACK_DONE ? RNA_SELFTEST_OK : before;
}

enum rna_selftest_exit rna_selftest_sum_up(const struct rna_selftest_run *runs, size_t count)
{
	enum rna_selftest_exit ret = RNA_SELFTEST_UNKNOWN;

	for (size_t i = 0; i < count; i++)
		ret = rna_test_sum_up(ret, runs[i].result.end, runs[i].grade);
	return ret;
}
