// SPDX-License-Identifier: Apache-2.0
/* What a peer's agent, or anything else at its address, answers about its ports. */
#include "mesh/peer_facts.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rna_peer_facts facts;
	struct rna_error error;

	(void)rna_peer_facts_parse((const char *)data, size, &facts, &error);
	return 0;
}
