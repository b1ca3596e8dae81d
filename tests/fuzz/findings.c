// SPDX-License-Identifier: Apache-2.0
/* What a running agent answers to "rdma-node-agent check". */
#include "rna/exporter.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_finding *findings = NULL;
	ssize_t count;

	FUZZ_WANT(arena);
	count = rna_read_findings((const char *)data, size, arena, &findings);
	if (count < 0)
		return 0;
	rna_write_check(findings, (size_t)count, false, &out);
	FUZZ_WANT(out.len > 0);
	return 0;
}
