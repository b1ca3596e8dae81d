// SPDX-License-Identifier: Apache-2.0
/* MADs: PortInfo, then PortCounters of a PMA with the capability that the first bytes say. */
#include "backend/mad.h"

#include <string.h>

#include "fuzz.h"

enum { DATA = 192 }; /* bytes of a MAD that are an attribute, at most */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_FREE uint8_t *attribute = calloc(1, DATA);
	struct rna_mad_port port;
	struct rna_mad_counters counters = {0};

	FUZZ_WANT(attribute);
	if (size > 0)
		memcpy(attribute, data, size < DATA ? size : DATA);
	rna_mad_read_port_info(attribute, &port);
	rna_mad_init_counters(&counters);
	counters.capability = rna_value_ok((uint64_t)attribute[0] << 8 | attribute[1]);
	rna_mad_read_counters(attribute, &counters);
	rna_mad_read_extended(attribute, &counters);
	for (size_t i = 0; i < RNA_MAD_COUNTERS; i++)
		FUZZ_WANT(counters.items[i].file);
	return 0;
}
