// SPDX-License-Identifier: Apache-2.0
/* Answers of DCB netlink. */
#include "backend/dcb.h"

#include <errno.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rna_dcb dcb = {0};
	int status = rna_dcb_parse((struct rna_bytes){data, size}, &dcb);

	FUZZ_WANT(status == 0 || status == -EBADMSG);
	for (size_t i = 0; status == 0 && i < RNA_DSCP_COUNT; i++)
		FUZZ_WANT(dcb.dscp_priority[i] < RNA_PRIORITY_COUNT ||
			  dcb.dscp_priority[i] == RNA_PRIORITY_NONE ||
			  dcb.dscp_priority[i] == RNA_PRIORITY_SEVERAL);
	return 0;
}
