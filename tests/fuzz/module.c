// SPDX-License-Identifier: Apache-2.0
/*
 * The memory of a module: the input is what stands in it, part by part; and an answer of ethtool
 * netlink that brings one range of it.
 */
#include <string.h>
#include <linux/ethtool_netlink.h>

#include "fuzz.h"
#include "module_pages.h"

static void read_memory(const struct rna_module_memory *memory)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct rna_port_module module = {0};

	FUZZ_WANT(arena);
	(void)rna_module_has_monitors(memory);
	FUZZ_WANT(rna_module_read(memory, arena, &module) == 0);
	FUZZ_WANT(module.lane_count <= RNA_MODULE_LANES_MAX);
	FUZZ_WANT(rna_module_weak_lane(&module) < (int)module.lane_count);
	(void)rna_module_exceeded(&module, RNA_MODULE_TEMPERATURE, module.temperature);
}

static void take_answer(struct rna_bytes message)
{
	const struct rna_ethtool_question question = {
		.name = "module-id",
		.command = ETHTOOL_MSG_MODULE_EEPROM_GET,
		.reply = ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY,
		.header = 1,
	};

	for (size_t i = 0; i < rna_module_range_count; i++) {
		struct rna_module_memory memory = {0};

		if (rna_module_take(message, &question, &rna_module_ranges[i], &memory) == 0)
			read_memory(&memory);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rna_module_memory memory = {0};

	memcpy(memory.bytes, data, size < sizeof(memory.bytes) ? size : sizeof(memory.bytes));
	for (size_t i = 0; i < size && i < sizeof(memory.known); i++)
		(&memory.known[0][0])[i] = true;
	read_memory(&memory);
	take_answer((struct rna_bytes){data, size});
	return 0;
}
