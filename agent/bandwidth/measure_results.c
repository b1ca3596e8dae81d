// SPDX-License-Identifier: Apache-2.0
#include "measure_results.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	const struct rna_bandwidth_test *first = &((const struct rna_bandwidth_port *)a)->last;
	const struct rna_bandwidth_test *second = &((const struct rna_bandwidth_port *)b)->last;
	int order = strcmp(first->device, second->device);

	return order != 0 ? order : (first->port > second->port) - (first->port < second->port);
}

static struct rna_bandwidth_port *find(struct rna_measure_memory *memory,
				       const struct rna_bandwidth_test *test)
{
	for (size_t i = 0; i < memory->count; i++)
		if (memory->ports[i].last.port == test->port &&
		    strcmp(memory->ports[i].last.device, test->device) == 0)
			return &memory->ports[i];
	return NULL;
}

void rna_measure_remember(struct rna_measure_memory *memory, const struct rna_bandwidth_test *test)
{
	struct rna_bandwidth_port *port = find(memory, test);

	if (!port && memory->count == RNA_PROBING_PORTS_MAX)
		return;
	if (!port)
		port = &memory->ports[memory->count++];
	port->last = *test;
	if (test->end == RNA_LOOPBACK_DONE)
		port->done = *test;
	qsort(memory->ports, memory->count, sizeof(memory->ports[0]), compare);
}

struct rna_bandwidths *rna_measure_results(const struct rna_measure_memory *memory,
					   unsigned tcp_port, const char *problem,
					   uint64_t strangers)
{
	size_t size = memory->count * sizeof(memory->ports[0]);
	struct rna_bandwidths *ret =
		rna_part_new(RNA_COLLECTOR_COUNT, sizeof(*ret), sizeof(*ret) + size + 256);
	struct rna_bandwidth_port *ports = NULL;
	bool failed = false;

	if (!ret)
		return NULL;
	ret->part.started = ret->part.taken = rna_clock_now();
	ports = rna_arena_array(ret->part.arena, memory->count + 1, sizeof(*ports));
	ret->problem =
		problem[0] != '\0' ? rna_arena_keep(ret->part.arena, problem, &failed) : NULL;
	if (!ports || failed) {
		(void)rna_part_unref(&ret->part);
		return NULL;
	}
	memcpy(ports, memory->ports, size);
	ret->ports = ports;
	ret->count = memory->count;
	ret->tcp_port = tcp_port;
	ret->strangers = strangers;
	return ret;
}
