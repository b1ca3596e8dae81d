// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <string.h>

#include "rna/base/parse.h"

bool rna_memory_set_text(char **field, const char *text)
{
	char *copy;

	if (rna_same_text(*field, text))
		return false;
	copy = text ? strdup(text) : NULL;
	if (text && !copy)
		return false; /* no memory: the old one stays, the next call tries again */
	free(*field);
	*field = copy;
	return true;
}

static struct rna_device_memory *free_device(struct rna_device_memory *device)
{
	if (!device)
		return NULL;
	for (size_t i = 0; i < device->port_count; i++) {
		free(device->ports[i].netdev);
		free(device->ports[i].tests);
		rna_peer_memory_deinit(&device->ports[i].peer);
	}
	free(device->ports);
	free(device->key);
	free(device->name);
	free(device->pci_address);
	free(device);
	return NULL;
}
RNA_DEFINE_CLEANUP(struct rna_device_memory, free_device)

static void free_text(const char *text)
{
	free((void *)(uintptr_t)text); /* ours; const only for readers */
}

void rna_transition_deinit(struct rna_transition *transition)
{
	free_text(transition->device);
	free_text(transition->netdev);
	free_text(transition->reason);
	*transition = (struct rna_transition){0};
}

void rna_memory_deinit(struct rna_memory *memory)
{
	for (size_t i = 0; i < memory->count; i++)
		(void)free_device(memory->devices[i]);
	free(memory->devices);
	for (size_t i = 0; memory->transitions && i < RNA_TRANSITIONS_KEPT; i++)
		rna_transition_deinit(&memory->transitions[i]);
	free(memory->transitions);
	rna_node_memory_deinit(&memory->node);
	free(memory->quiesced.boot);
	free(memory->quiesced.node);
	*memory = RNA_MEMORY_INIT;
}

/* Callers ask in the order in which devices were first seen, or nearly so. */
struct rna_device_memory *rna_memory_find(struct rna_memory *memory, const char *key)
{
	for (size_t tried = 0; tried < memory->count; tried++) {
		struct rna_device_memory *device = memory->devices[memory->hint++ % memory->count];

		if (strcmp(device->key, key) == 0)
			return device;
	}
	return NULL;
}

static struct rna_device_memory *add_device(struct rna_memory *memory, const char *key)
{
	RNA_CLEANUP(free_device_p) struct rna_device_memory *device = calloc(1, sizeof(*device));
	struct rna_device_memory **more;

	if (!device)
		return NULL;
	device->key = strdup(key);
	device->name = strdup(key);
	if (!device->key || !device->name)
		return NULL;
	more = reallocarray(memory->devices, memory->count + 1, sizeof(struct rna_device_memory *));
	if (!more)
		return NULL;
	memory->devices = more;
	memory->devices[memory->count++] = device;
	return RNA_TAKE(device);
}

struct rna_device_memory *rna_memory_device(struct rna_memory *memory, const char *key)
{
	struct rna_device_memory *found = rna_memory_find(memory, key);

	return found ? found : add_device(memory, key);
}

struct rna_port_memory *rna_memory_port(struct rna_device_memory *device, unsigned number)
{
	struct rna_port_memory *more;

	for (size_t i = 0; i < device->port_count; i++)
		if (device->ports[i].number == number)
			return &device->ports[i];
	more = reallocarray(device->ports, device->port_count + 1, sizeof(*more));
	if (!more)
		return NULL;
	device->ports = more;
	more[device->port_count] = (struct rna_port_memory){.number = number};
	return &more[device->port_count++];
}

static void keep_test(struct rna_port_memory *port, const struct rna_selftest_run *run)
{
	if (run)
		port->tests[port->test_count++] = *run;
}

bool rna_memory_keep_tests(struct rna_port_memory *port, const struct rna_selftest_port *tested)
{
	if (!port->tests)
		port->tests = calloc(RNA_TESTS_REMEMBERED, sizeof(*port->tests));
	if (!port->tests)
		return false;
	port->test_count = 0;
	for (enum rna_endpoint e = 0; e < RNA_ENDPOINT_COUNT; e++) {
		const struct rna_selftest_run *run = rna_selftest_newest(tested, e, NULL);

		keep_test(port, run ? rna_selftest_newest(tested, e, run) : NULL);
		keep_test(port, run);
	}
	return true;
}
