// SPDX-License-Identifier: Apache-2.0
/* What rtnetlink answers of virtual functions. */
#include <errno.h>

#include "parse/link_message.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct rna_vf_list list = {0};
	int status;

	FUZZ_WANT(arena);
	status = rna_vf_message_read((struct rna_bytes){data, size}, arena, &list);
	FUZZ_WANT(status == 0 || status == -EBADMSG || status == -EMSGSIZE);
	for (size_t i = 1; status == 0 && i < list.count; i++)
		FUZZ_WANT(list.functions[i - 1].number <= list.functions[i].number);
	return 0;
}
