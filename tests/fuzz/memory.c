// SPDX-License-Identifier: Apache-2.0
/* The files of the state directory: what was read can be written, and says the same again. */
#include "memory/memory.h"

#include <string.h>

#include "fuzz.h"

/* Writing leaves out what says nothing, and so the second turn is the one that changes nothing. */
static void turn_memory(const struct rna_memory *memory, int turns)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory again = RNA_MEMORY_INIT;
	RNA_STRBUF struct rna_strbuf first = RNA_STRBUF_INIT, second = RNA_STRBUF_INIT;
	struct rna_error error = {0};

	rna_memory_write(memory, &first);
	FUZZ_WANT(rna_strbuf_ok(&first));
	FUZZ_WANT(rna_memory_read(&again, first.data, first.len, &error) == 0);
	if (turns > 1) {
		turn_memory(&again, turns - 1);
		return;
	}
	rna_memory_write(&again, &second);
	FUZZ_WANT(rna_strbuf_ok(&second) && strcmp(first.data, second.data) == 0);
}

static void turn_accepted(const struct rna_memory *memory)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory again = RNA_MEMORY_INIT;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_error error = {0};

	rna_accepted_write(memory, &text);
	FUZZ_WANT(rna_strbuf_ok(&text));
	FUZZ_WANT(rna_accepted_read(&again, text.data, text.len, &error) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory memory = RNA_MEMORY_INIT;
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory accepted = RNA_MEMORY_INIT;
	struct rna_error error = {0};
	int status = rna_memory_read(&memory, (const char *)data, size, &error);

	fuzz_want_error(status, &error);
	FUZZ_WANT(status == 0 || memory.count == 0);
	turn_memory(&memory, 2);
	status = rna_accepted_read(&accepted, (const char *)data, size, &error);
	fuzz_want_error(status, &error);
	turn_accepted(&accepted);
	return 0;
}
