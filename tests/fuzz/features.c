// SPDX-License-Identifier: Apache-2.0
/* The file of node-feature-discovery as another program left it; labels that are not decided come
 * out. */
#include <string.h>

#include "rna/kubernetes.h"

#include "fuzz.h"

static const struct rna_desired_node desired = {
	.label_count = 2,
	.labels =
		(const struct rna_node_label[]){
			{"network.nvidia.com/roce", NULL},
			{"rdma-node-agent/health", NULL},
		},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_FREE char *before = fuzz_text(data, size);
	RNA_STRBUF struct rna_strbuf first = RNA_STRBUF_INIT, second = RNA_STRBUF_INIT;

	rna_nfd_write_features(&desired, 0, before, &first);
	rna_nfd_write_features(&desired, 0, first.data, &second);
	FUZZ_WANT(strcmp(first.data, second.data) == 0);
	return 0;
}
