// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rna/base/parse.h"

#include "memory/state_directory.h"

/* Beyond what was asked for: to open the device, to fill buffers, for retries that fail. */
#define PATIENCE (30 * RNA_USEC_PER_SEC)

void rna_selftest_runs_deinit(struct rna_selftest_runs *runs)
{
	free(runs->items);
	*runs = (struct rna_selftest_runs){0};
}

bool rna_selftest_runs_have(const struct rna_selftest_runs *runs,
			    const struct rna_selftest_run *run)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->items[i].request.port == run->request.port &&
		    runs->items[i].request.endpoint == run->request.endpoint &&
		    strcmp(runs->items[i].request.device, run->request.device) == 0)
			return true;
	return false;
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

static bool is_wished(const struct rna_selftest_wish *wish, const struct rna_subject *subject)
{
	return !wish->device ||
	       rna_test_names_port(wish->device, subject->device->device->name, subject->port);
}

static void change(struct rna_loopback_request *request, const struct rna_selftest_wish *wish)
{
	if (wish->numa_node >= 0)
		request->memory_node = wish->numa_node;
	if (wish->gpu)
		(void)snprintf(request->gpu, sizeof(request->gpu), "%s", wish->gpu);
	if (wish->qps > 0)
		request->qps = wish->qps;
	if (wish->size > 0)
		rna_selftest_set_size(request, wish->size);
	if (wish->duration > 0) {
		request->time_limit = wish->duration;
		request->bytes = UINT64_MAX;
	}
	request->gate = !wish->force;
}

/* Longer than usual is still as usual: bandwidth does not depend on it. */
static bool is_special(const struct rna_selftest_wish *wish)
{
	return wish->numa_node >= 0 || wish->gpu || wish->qps > 0 || wish->size > 0 || wish->force;
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
			 enum rna_endpoint endpoint, const struct rna_selftest_wish *wish,
			 struct rna_selftest_runs *runs)
{
	struct rna_time now = rna_clock_now();
	enum rna_skip skip = rna_selftest_look(subject, settings, &now, true);
	struct rna_loopback_request request;
	struct rna_selftest_run *run;

	if (!rna_selftest_request(subject, settings, endpoint, &request) && !wish->gpu)
		return 0;
	run = add_run(runs);
	if (!run)
		return -ENOMEM;
	change(&request, wish);
	run->time = now;
	run->request = request;
	run->expected = rna_selftest_expected(subject);
	run->special = is_special(wish);
	if (skip != RNA_SKIP_NONE)
		(void)rna_loopback_skip(&run->result, skip, "%s/%u: %s", request.device,
					request.port, rna_skip_meaning(skip));
	return 0;
}

/* A wish for a certain memory is one for that alone. */
static bool is_endpoint_wished(enum rna_endpoint endpoint, const struct rna_settings *settings,
			       const struct rna_selftest_wish *wish)
{
	switch (endpoint) {
	case RNA_ENDPOINT_LOCAL:
		return !wish->gpu;
	case RNA_ENDPOINT_REMOTE:
		return !wish->gpu && wish->numa_node < 0 && settings->selftest_remote_memory;
	case RNA_ENDPOINT_GPU:
		return wish->gpu || (wish->numa_node < 0 && settings->selftest_gpu_memory);
	default:
		return false;
	}
}

static int check_size(const struct rna_selftest_wish *wish, const struct rna_settings *settings,
		      struct rna_error *error)
{
	if (wish->size == 0 || wish->duration > 0 || rna_selftest_size_fits(settings, wish->size))
		return 0;
	return rna_error_say(error, -EINVAL,
			     "--size %u: a test writes at least twice, and selftest.bytes is %u "
			     "MiB; use a smaller size, or --duration instead of the byte limit",
			     wish->size, settings->selftest_bytes);
}

int rna_selftest_plan(const struct rna_view *view, const struct rna_settings *settings,
		      const struct rna_selftest_wish *wish, struct rna_selftest_runs *ret,
		      struct rna_error *error)
{
	const struct rna_subject_list *ports = rna_view_ports(view);
	int status = check_size(wish, settings, error);

	if (status < 0)
		return status;
	for (size_t i = 0; status == 0 && i < ports->count; i++)
		for (enum rna_endpoint e = 0; status == 0 && e < RNA_ENDPOINT_COUNT; e++)
			if (is_wished(wish, &ports->items[i]) &&
			    is_endpoint_wished(e, settings, wish))
				status = plan_endpoint(&ports->items[i], settings, e, wish, ret);
	if (status < 0)
		return rna_error_set(error, status, "cannot plan self-tests");
	if (ret->count > 0)
		return 0;
	if (wish->device)
		return rna_error_say(error, -ENODEV,
				     "no port matches \"%s\"; the command status lists all ports",
				     wish->device);
	return rna_error_say(error, -ENODEV, "this node has no RDMA port to test");
}

void rna_selftest_describe(const struct rna_selftest_run *run, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%s/%u, %s memory ...", run->request.device, run->request.port,
			  rna_endpoint_name(run->request.endpoint));
}

/* -- Running ----------------------------------------------------------------------------------- */

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

/* A child that cannot be ended stays behind; what it holds, the kernel holds. */
static void run_one(struct rna_selftest_run *run, uid_t agent)
{
	rna_usec patience = PATIENCE + run->request.time_limit + run->request.sample_time;
	struct rna_loopback_child child;
	struct rna_error why = {0};
	bool ended;
	int status;

	run->time = rna_clock_now();
	status = rna_loopback_child_start(&run->request, agent, &child, &why);
	if (status < 0) {
		rna_selftest_run_fail(run, &why, true);
		return;
	}
	status = rna_loopback_child_receive(&child, patience, &run->result, &why);
	ended = rna_loopback_child_stop(&child, RNA_LOOPBACK_LAST_PATIENCE);
	if (status == -ETIMEDOUT)
		(void)rna_error_say(&why, status, RNA_SELFTEST_TOO_LATE);
	if (status < 0)
		rna_selftest_run_fail(run, &why, ended);
}

void rna_selftest_run_all(struct rna_selftest_runs *runs, const struct rna_settings *settings,
			  void (*progress)(const struct rna_selftest_run *run, void *userdata),
			  void *userdata)
{
	uid_t agent = rna_state_owner(settings);

	for (size_t i = 0; i < runs->count; i++) {
		if (runs->items[i].result.end == RNA_LOOPBACK_SKIPPED)
			continue;
		if (progress)
			progress(&runs->items[i], userdata);
		run_one(&runs->items[i], agent);
	}
	rna_selftest_judge_all(runs->items, runs->count, settings);
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
