// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <search.h>
#include <string.h>

#include "rna/base/parse.h"

bool rna_memory_set_text(char **field, const char *text)
{
	return !rna_same_text(*field, text) && rna_text_set(field, text);
}

static struct rna_device_memory *free_device(struct rna_device_memory *device)
{
	if (!device)
		return NULL;
	for (size_t i = 0; i < device->port_count; i++) {
		free(device->ports[i].netdev);
		rna_former_memory_deinit(&device->ports[i].former_netdev);
		free(device->ports[i].tests);
		rna_peer_memory_deinit(&device->ports[i].peer);
		(void)rna_rates_free(device->ports[i].rates);
		(void)rna_user_memory_free(device->ports[i].user);
	}
	free(device->ports);
	free(device->key);
	free(device->name);
	rna_former_memory_deinit(&device->former_name);
	free(device->pci_address);
	free(device->guid);
	rna_former_memory_deinit(&device->former_guid);
	free(device);
	return NULL;
}
RNA_DEFINE_CLEANUP(struct rna_device_memory, free_device)

static void keep_in_list(void *device)
{
	(void)device; /* the list owns it */
}

void rna_memory_deinit(struct rna_memory *memory)
{
	tdestroy(memory->by_key, keep_in_list);
	for (size_t i = 0; i < memory->count; i++)
		(void)free_device(memory->devices[i]);
	free(memory->devices);
	rna_history_deinit(&memory->history);
	rna_rail_memory_deinit(&memory->rails);
	rna_node_memory_deinit(&memory->node);
	free(memory->quiesced.boot);
	free(memory->quiesced.node);
	*memory = RNA_MEMORY_INIT;
}

/* -- Devices by their key ---------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
	const struct rna_device_memory *x = a, *y = b;

	return strcmp(x->key, y->key);
}

/* The tree of tsearch(3) is balanced: a state file with many devices must not hold up the start. */
struct rna_device_memory *rna_memory_find(struct rna_memory *memory, const char *key)
{
	const struct rna_device_memory wanted = {.key = (char *)(uintptr_t)key}; /* only read */
	struct rna_device_memory *device = NULL, *const * found;

	if (memory->next < memory->count)
		device = memory->devices[memory->next];
	if (!device || strcmp(device->key, key) != 0) {
		found = tfind(&wanted, &memory->by_key, compare_keys);
		device = found ? *found : NULL;
	}
	if (device)
		memory->next = device->place + 1;
	return device;
}

/* The list has room for the next power of two, so that it is copied rarely. */
static bool make_room(struct rna_memory *memory)
{
	bool is_full = (memory->count & (memory->count - 1)) == 0; /* or empty */
	struct rna_device_memory **more;

	if (!is_full)
		return true;
	more = reallocarray(memory->devices, memory->count > 0 ? 2 * memory->count : 1,
			    sizeof(struct rna_device_memory *));
	if (more)
		memory->devices = more;
	return more;
}

static bool keep_device(struct rna_memory *memory, struct rna_device_memory *device)
{
	if (!make_room(memory) || !tsearch(device, &memory->by_key, compare_keys))
		return false;
	device->place = memory->count;
	memory->devices[memory->count++] = device;
	return true;
}

static struct rna_device_memory *add_device(struct rna_memory *memory, const char *key)
{
	RNA_CLEANUP(free_device_p) struct rna_device_memory *device = calloc(1, sizeof(*device));

	if (!device)
		return NULL;
	device->key = strdup(key);
	device->name = strdup(key);
	if (!device->key || !device->name || !keep_device(memory, device))
		return NULL;
	return RNA_TAKE(device);
}

struct rna_device_memory *rna_memory_device(struct rna_memory *memory, const char *key)
{
	struct rna_device_memory *found = rna_memory_find(memory, key);

	return found ? found : add_device(memory, key);
}

/* -- Ports and tests --------------------------------------------------------------------------- */

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
	struct rna_selftest_run *tests = calloc(RNA_TESTS_REMEMBERED, sizeof(*tests));

	if (!tests)
		return false;
	free(port->tests);
	port->tests = tests;
	port->test_count = 0;
	for (enum rna_endpoint e = 0; e < RNA_ENDPOINT_COUNT; e++) {
		const struct rna_selftest_run *run = rna_selftest_newest(tested, e, NULL);

		keep_test(port, run ? rna_selftest_newest(tested, e, run) : NULL);
		keep_test(port, run);
	}
	return true;
}
