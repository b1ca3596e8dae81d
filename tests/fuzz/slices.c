// SPDX-License-Identifier: Apache-2.0
/* Lists of EndpointSlices of the API of Kubernetes. */
#include <string.h>

#include "rna/kubernetes.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	RNA_FREE char *text = malloc(size > 0 ? size : 1); /* without an end, for sanitizers */
	struct rna_kubernetes_endpoints all, slices;
	struct rna_error error = {0};
	int status;

	FUZZ_WANT(arena && text);
	memcpy(text, data, size);
	status = rna_kubernetes_parse_endpoints(text, size, false, arena, &all, &error);
	fuzz_want_error(status, &error);
	if (status < 0)
		return 0;
	FUZZ_WANT(rna_kubernetes_parse_endpoints(text, size, true, arena, &slices, &error) == 0);
	FUZZ_WANT(slices.count == 0 && slices.slice_count == all.slice_count);
	for (size_t i = 0; i < all.count; i++) {
		const struct rna_kubernetes_endpoint *endpoint = &all.endpoints[i];

		FUZZ_WANT(endpoint->port > 0 && endpoint->port <= UINT16_MAX);
		FUZZ_WANT(endpoint->node[0] != '\0');
		FUZZ_WANT(strspn(endpoint->address, "0123456789abcdefABCDEF.:") ==
			  strlen(endpoint->address));
	}
	return 0;
}
