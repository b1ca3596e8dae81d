// SPDX-License-Identifier: Apache-2.0
/* Headers of requests: Accept, Accept-Encoding and Authorization. */
#include <string.h>

#include "http/requests.h"

#include "fuzz.h"

enum { HEADERS_MAX = 65536 }; /* of http.max_header_bytes: the server takes no more */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_FREE char *text = NULL;
	struct rna_basic basic;

	if (size > HEADERS_MAX)
		return 0;
	text = fuzz_text(data, size);
	FUZZ_WANT(rna_negotiate_exposition(text) < RNA_EXPOSITION_COUNT);
	(void)rna_negotiate_gzip(text);
	if (rna_basic_read(text, &basic) == 0) {
		FUZZ_WANT(memchr(basic.user, '\0', sizeof(basic.user)));
		FUZZ_WANT(memchr(basic.password, '\0', sizeof(basic.password)));
		FUZZ_WANT(!strchr(basic.user, ':'));
	}
	return 0;
}
