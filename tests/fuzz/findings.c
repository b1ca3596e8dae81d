// SPDX-License-Identifier: Apache-2.0
/* What a running agent answers to "rdma-node-agent check". */
#include "rna/check.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	struct rna_check check = {0};

	FUZZ_WANT(arena);
	if (rna_read_check((const char *)data, size, arena, &check) < 0)
		return 0;
	for (enum rna_check_form form = 0; form < RNA_CHECK_JSON; form++) {
		size_t start = out.len;

		rna_write_check(&check, form, 80, &out);
		FUZZ_WANT(out.len > start);
		FUZZ_WANT(form != RNA_CHECK_NPD || out.len - start <= 80 + 1);
	}
	return 0;
}
