// SPDX-License-Identifier: Apache-2.0
/*
 * Thousands of agents in one process, for tests: the client's own rounds and paces, in virtual
 * time, whose requests really go out.
 *
 *	fleet AGENTS KUBECONFIG	commands are read from standard input, a line each
 *	change			within a second all agents want something else, and tell an Event
 *	run SECONDS		lets so much time pass
 *
 * Before each second in which a client is awake, its number is written to standard output and a
 * line is awaited, so that the server can live in the same time. A run ends with "done BEHIND",
 * the number of those whose Node is not as they want it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"

#include "kubernetes/round.h"

enum { LINE = 128, NAME_SIZE = 32 };

#define SECOND RNA_USEC_PER_SEC
/* Virtual time begins when the agents do; the wall clock of a real API server is near. */
#define BEGIN (1000 * SECOND)

struct agent {
	char name[NAME_SIZE];
	struct rna_kubernetes_options options; /* the fleet's, and its name */
	struct rna_kube_round round;
	rna_usec wants; /* monotonic; when it notices the change; RNA_USEC_NEVER: it has */
	rna_usec next;
};

struct fleet {
	struct rna_kubernetes_options options;
	size_t count;
	struct agent *agents;
	bool changed; /* which of the two desired states is the newest */
	rna_usec now;
	rna_usec realtime; /* at BEGIN */
	uint64_t random;
};

static const char *const condition_types[] = {"RdmaPortDown", NULL};
static const char *const label_keys[] = {"network.nvidia.com/roce", "rdma-node-agent/*", NULL};

/* -- What they want ---------------------------------------------------------------------------- */

static const struct rna_node_label labels[2][2] = {
	{{"network.nvidia.com/roce", "true"}, {"rdma-node-agent/ports-up", "8"}},
	{{"rdma-node-agent/ports-up", "0"}},
};

static const struct rna_node_condition conditions[2] = {
	{.type = "RdmaPortDown",
	 .status = RNA_CONDITION_STATUS_FALSE,
	 .reason = "PortsUp",
	 .message = "All RDMA ports that are expected to be up are up.",
	 .since.realtime = 1763716800 * SECOND},
	{.type = "RdmaPortDown",
	 .status = RNA_CONDITION_STATUS_TRUE,
	 .reason = "PortDown",
	 .message = "port-down: mlx5_0/1, mlx5_1/1",
	 .since.realtime = 1763716800 * SECOND},
};

#define STATE(index, number)                                                                       \
	{                                                                                          \
		.labels_decided = true, .conditions_decided = true, .taint_decided = true,         \
		.label_count = (number), .labels = labels[index], .condition_count = 1,            \
		.conditions = &conditions[index]                                                   \
	}
static const struct rna_desired_node states[2] = {STATE(0, 2), STATE(1, 1)};

static void want(const struct fleet *fleet, struct agent *agent)
{
	const struct rna_node_event event = {
		.warning = fleet->changed,
		.reason = "RdmaPortDown",
		.message = fleet->changed ? "mlx5_0/1: down" : "resolved: mlx5_0/1: down",
		.time = {fleet->now, fleet->realtime + fleet->now - BEGIN},
	};

	agent->wants = RNA_USEC_NEVER;
	if (!agent->round.desired)
		rna_pace_start(&agent->round.pace, fleet->now);
	rna_kube_take_desired(&agent->round, &states[fleet->changed]);
	rna_kube_add_event(&agent->round, &event);
}

static void change(struct fleet *fleet)
{
	fleet->changed = !fleet->changed;
	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = &fleet->agents[i];

		agent->wants = fleet->now + rna_pace_random(&fleet->random, SECOND);
		if (agent->wants < agent->next)
			agent->next = agent->wants;
	}
}

/* -- Time -------------------------------------------------------------------------------------- */

static void wake(struct fleet *fleet, struct agent *agent)
{
	struct rna_time now = {fleet->now, fleet->realtime + fleet->now - BEGIN};

	if (agent->wants <= fleet->now)
		want(fleet, agent);
	if (agent->round.desired)
		(void)rna_kube_step(&agent->round, now);
	agent->next = rna_kube_wake_time(&agent->round);
	if (agent->wants < agent->next)
		agent->next = agent->wants;
}

static struct agent *first_of(const struct fleet *fleet)
{
	struct agent *first = &fleet->agents[0];

	for (size_t i = 1; i < fleet->count; i++)
		if (fleet->agents[i].next < first->next)
			first = &fleet->agents[i];
	return first;
}

/* Those that wake up in one second, in any order: the server counts by seconds. */
static void run_second(struct fleet *fleet, rna_usec second)
{
	char line[LINE];

	(void)printf("%ju\n", (uintmax_t)((second - BEGIN) / SECOND));
	(void)fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(EXIT_FAILURE);
	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = &fleet->agents[i];

		while (agent->next < second + SECOND) {
			fleet->now = agent->next > second ? agent->next : second;
			wake(fleet, agent);
		}
	}
}

static size_t count_behind(const struct fleet *fleet)
{
	size_t count = 0;

	for (size_t i = 0; i < fleet->count; i++)
		count += rna_kube_is_behind(&fleet->agents[i].round);
	return count;
}

static void run(struct fleet *fleet, uint64_t seconds)
{
	rna_usec end = fleet->now - fleet->now % SECOND + seconds * SECOND;
	rna_usec next;

	while ((next = first_of(fleet)->next) < end)
		run_second(fleet, next - next % SECOND);
	fleet->now = end;
	(void)printf("done %zu\n", count_behind(fleet));
	(void)fflush(stdout);
}

/* -- Beginning --------------------------------------------------------------------------------- */

static void make_agent(struct fleet *fleet, size_t index)
{
	struct agent *agent = &fleet->agents[index];

	(void)snprintf(agent->name, sizeof(agent->name), "node-%zu", index);
	agent->options = fleet->options;
	agent->options.node = agent->name;
	agent->wants = RNA_USEC_NEVER;
	agent->next = RNA_USEC_NEVER;
	rna_kube_round_init(&agent->round, &agent->options, index + 1);
}

static void init(struct fleet *fleet, size_t count, const char *kubeconfig)
{
	*fleet = (struct fleet){
		.options = {.kubeconfig = kubeconfig,
			    .label_keys = label_keys,
			    .condition_types = condition_types,
			    .first_delay = RNA_KUBERNETES_FIRST_DELAY,
			    .spread = RNA_KUBERNETES_SPREAD,
			    .resync = RNA_KUBERNETES_RESYNC,
			    .look = RNA_KUBERNETES_LOOK,
			    .heartbeat = RNA_KUBERNETES_HEARTBEAT,
			    .burst = RNA_KUBERNETES_BURST,
			    .reserve = RNA_KUBERNETES_RESERVE,
			    .refill = RNA_KUBERNETES_REFILL},
		.count = count,
		.agents = calloc(count, sizeof(*fleet->agents)),
		.changed = true,
		.now = BEGIN,
		.realtime = rna_clock_now().realtime,
		.random = 1,
	};
	if (!fleet->agents)
		abort();
	for (size_t i = 0; i < count; i++)
		make_agent(fleet, i);
}

int main(int argc, char **argv)
{
	static struct fleet fleet;
	uint64_t count, seconds;
	char line[LINE];

	if (argc != 3 || rna_parse_u64(argv[1], &count) < 0 || count == 0) {
		(void)fputs("fleet AGENTS KUBECONFIG\n", stderr);
		return 2;
	}
	init(&fleet, count, argv[2]);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "change") == 0)
			change(&fleet);
		else if (strncmp(line, "run ", 4) == 0 && rna_parse_u64(line + 4, &seconds) == 0)
			run(&fleet, seconds);
		else
			return 2;
	}
	for (size_t i = 0; i < fleet.count; i++)
		rna_kube_round_deinit(&fleet.agents[i].round);
	free(fleet.agents);
	return 0;
}
