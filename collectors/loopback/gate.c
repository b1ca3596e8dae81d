// SPDX-License-Identifier: Apache-2.0
#include "gate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"
#include "rna/base/root.h"
#include "rna/model/activity.h"
#include "rna/model/resources.h"

#include "backend/backends.h"

#include "loopback_memory.h"

#define LIFESPAN (12 * RNA_USEC_PER_MSEC) /* lifespan of hw_counters, 10 ms, plus a jiffy */

enum { CONTEXT_CHECKS = 5 }; /* checks for open contexts before the device counts as in use */

#define OWN_SHARE     1.15 /* of the expected count of the test's own traffic */
#define FOREIGN_SHARE 0.1  /* of that count; less has no visible effect on the result */

static bool read_text(const char *path, char *text, size_t size)
{
	RNA_FCLOSE FILE *file = fopen(path, "re");

	if (!file || !fgets(text, (int)size, file))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return true;
}

/* 0 if there is no such counter; then it has no effect. */
static uint64_t read_number(const char *path)
{
	uint64_t number = 0;
	char text[64];

	if (!read_text(path, text, sizeof(text)) || rna_parse_u64(text, &number) < 0)
		return 0;
	return number;
}

static uint64_t port_activity(const struct rna_loopback_request *request)
{
	uint64_t sum = 0;
	char path[256];

	RNA_EACH (activity, rna_activities, RNA_ACTIVITY_COUNT) {
		bool pma = activity->place == RNA_PLACE_PORT_COUNTERS;

		(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%u/%s/%s",
			       request->device, request->port, pma ? "counters" : "hw_counters",
			       activity->file);
		sum += read_number(path) * activity->bytes;
	}
	return sum;
}

static uint64_t netdev_activity(const char *netdev)
{
	static const char *const files[] = {"tx_bytes", "rx_bytes"};
	uint64_t sum = 0;
	char path[256];

	for (size_t i = 0; netdev[0] && i < RNA_ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/%s", netdev,
			       files[i]);
		sum += read_number(path);
	}
	return sum;
}

static uint64_t activity(const struct rna_loopback_gate *gate)
{
	return port_activity(gate->request) + netdev_activity(gate->netdev);
}

static void find_netdev(struct rna_loopback_gate *gate)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/0",
		       gate->request->device, gate->request->port);
	if (!read_text(path, gate->netdev, sizeof(gate->netdev)) || strchr(gate->netdev, '/'))
		gate->netdev[0] = '\0';
}

/* -- Before ------------------------------------------------------------------------------------ */

/* Reads the kernel's object counts of the device. False: not available. */
static bool count_resources(const struct rna_loopback_request *request,
			    struct rna_resource_counts *ret)
{
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_CLEANUP(rna_rdma_numbers_free)
	struct rna_rdma_numbers numbers = {.process = getppid()};

	if (rna_root_open(NULL, &root, NULL) < 0)
		return false;
	numbers.root = root;
	return rna_rdma_netlink.get_resources(&numbers, request->device, ret, NULL) == 0;
}

/* Has a process the device open, apart from the agent and permanent services? */
static bool is_open(const struct rna_loopback_request *request,
		    const struct rna_resource_counts *counts)
{
	struct rna_value users = rna_resources_users(counts);
	uint64_t allowed = request->idle_contexts;

	if (!rna_value_is_known(counts->own_contexts))
		allowed += request->own_contexts;
	return rna_value_is_known(users) && users.number > allowed;
}

/*
 * Programs that only read device data, such as other agents, have it open for a moment; so check
 * several times.
 */
static bool stays_open(const struct rna_loopback_request *request,
		       struct rna_resource_counts *counts)
{
	bool open = is_open(request, counts);

	for (unsigned look = 1; open && look < CONTEXT_CHECKS; look++) {
		(void)usleep((useconds_t)request->sample_time / CONTEXT_CHECKS);
		open = count_resources(request, counts) && is_open(request, counts);
	}
	return open;
}

/*
 * A job has the device open all the time, also while it computes and sends nothing. Queue pairs of
 * the kernel, such as those of a file system, need no context; their idle number is the lowest one
 * seen while no context was open.
 */
static bool look_for_jobs(const struct rna_loopback_request *request,
			  struct rna_loopback_result *result)
{
	struct rna_resource_counts counts;

	if (!count_resources(request, &counts))
		return true; /* only the traffic counters decide */
	if (stays_open(request, &counts))
		return rna_loopback_skip(
			result, RNA_SKIP_BUSY,
			"%s/%u: in use: it is open in another process (contexts: %" PRIu64 ")",
			request->device, request->port, rna_resources_users(&counts).number);
	if (!rna_value_is_known(counts.of[RNA_RESOURCE_QP]))
		return true;
	result->qps = counts.of[RNA_RESOURCE_QP].number;
	result->qps -= request->own_qps < result->qps ? request->own_qps : result->qps;
	if (result->qps <= request->idle_qps)
		return true;
	return rna_loopback_skip(result, RNA_SKIP_BUSY,
				 "%s/%u: in use: %" PRIu64 " queue pairs, %" PRIu64 " when idle",
				 request->device, request->port, result->qps, request->idle_qps);
}

static bool look_for_traffic(const struct rna_loopback_gate *gate,
			     struct rna_loopback_result *result)
{
	const struct rna_loopback_request *request = gate->request;
	rna_usec begin = rna_clock_monotonic();
	uint64_t before = activity(gate), moved;
	double rate;

	(void)usleep((useconds_t)request->sample_time);
	moved = activity(gate) - before;
	rate = (double)moved / rna_seconds(rna_usec_since(begin, rna_clock_monotonic()) + 1);
	if (rate < (double)request->busy_rate)
		return true;
	return rna_loopback_skip(result, RNA_SKIP_BUSY, "%s/%u: in use: %.1f MB/s move",
				 request->device, request->port, rate / 1e6);
}

bool rna_loopback_gate_open(const struct rna_loopback_request *request,
			    struct rna_loopback_gate *ret, struct rna_loopback_result *result)
{
	ret->request = request;
	result->qps = RNA_QPS_UNKNOWN;
	find_netdev(ret);
	if (request->gate && (!look_for_jobs(request, result) || !look_for_traffic(ret, result)))
		return false;
	*result = (struct rna_loopback_result){.end = RNA_LOOPBACK_FAILED, .qps = result->qps};
	ret->activity = activity(ret);
	ret->looked = rna_clock_monotonic();
	return true;
}

/* -- Meanwhile --------------------------------------------------------------------------------- */

/* Within this time the kernel returns cached hw_counters (lifespan of ib_core). */
static void wait_for_fresh_counters(const struct rna_loopback_gate *gate)
{
	rna_usec age = rna_usec_since(gate->looked, rna_clock_monotonic());

	if (gate->request->gate && age < LIFESPAN)
		(void)usleep((useconds_t)(LIFESPAN - age));
}

void rna_loopback_gate_begin(struct rna_loopback_gate *gate, uint64_t written)
{
	uint64_t before = gate->activity;

	wait_for_fresh_counters(gate);
	gate->activity = activity(gate);
	gate->share = (double)(gate->activity - before) / (double)written;
	gate->written = written;
	gate->begin = rna_clock_monotonic();
}

void rna_loopback_gate_rearm(struct rna_loopback_gate *gate)
{
	wait_for_fresh_counters(gate);
	gate->activity = activity(gate);
	gate->looked = gate->begin = rna_clock_monotonic();
	gate->written = 0;
}

struct rna_loopback_traffic rna_loopback_gate_traffic(const struct rna_loopback_gate *gate)
{
	wait_for_fresh_counters(gate);
	return (struct rna_loopback_traffic){
		.moved = activity(gate) - gate->activity,
		.time = rna_usec_since(gate->begin, rna_clock_monotonic()),
	};
}

bool rna_loopback_gate_allows(const struct rna_loopback_gate *gate,
			      const struct rna_loopback_traffic *traffic, uint64_t own_bytes,
			      struct rna_loopback_result *result)
{
	const struct rna_loopback_request *request = gate->request;
	double own = (double)own_bytes, foreign, allowed;

	if (!request->gate)
		return true;
	foreign = (double)traffic->moved - own * gate->share * OWN_SHARE;
	allowed = own * FOREIGN_SHARE * (gate->share > 0 ? gate->share : 1) +
		  rna_seconds(traffic->time) * (double)request->busy_rate;
	if (foreign <= allowed)
		return true;
	return rna_loopback_skip(result, RNA_SKIP_DISTURBED,
				 "%s/%u: other traffic on the port during the test (%.1f MB)",
				 request->device, request->port, foreign / 1e6);
}

bool rna_loopback_gate_holds(const struct rna_loopback_gate *gate, uint64_t written,
			     struct rna_loopback_result *result)
{
	struct rna_loopback_traffic traffic = {
		.moved = gate->request->gate ? activity(gate) - gate->activity : 0,
		.time = rna_usec_since(gate->begin, rna_clock_monotonic()),
	};

	return rna_loopback_gate_allows(gate, &traffic, written - gate->written, result);
}
