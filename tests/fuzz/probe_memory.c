// SPDX-License-Identifier: Apache-2.0
/* The memory of probes: what was read can be written, and says the same again. */
#include "probe/probe_memory.h"

#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_probe_memory_deinit) struct rna_probe_memory memory = {0}, again = {0};
	RNA_STRBUF struct rna_strbuf first = RNA_STRBUF_INIT, second = RNA_STRBUF_INIT;
	struct rna_error error = {0};
	int status = rna_probe_memory_read(&memory, (const char *)data, size, &error);

	fuzz_want_error(status, &error);
	FUZZ_WANT(status == 0 || memory.peer_count + memory.port_count + memory.pair_count == 0);
	rna_probe_memory_write(&memory, &first);
	FUZZ_WANT(rna_strbuf_ok(&first));
	FUZZ_WANT(rna_probe_memory_read(&again, first.data, first.len, &error) == 0);
	rna_probe_memory_write(&again, &second);
	FUZZ_WANT(rna_strbuf_ok(&second) && strcmp(first.data, second.data) == 0);
	return 0;
}
