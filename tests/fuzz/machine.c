// SPDX-License-Identifier: Apache-2.0
/*
 * A machine: files of /sys and of a recording, and every collector that reads them. The input is in
 * the language of place.h.
 */
#include "rna/collector.h"

#include "fuzz.h"
#include "place.h"

enum { FILES_MAX = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	RNA_FREE char *text = fuzz_text(data, size);
	char *rest = text, *line, place[FUZZ_PLACE_MAX];
	struct rna_collect_input in = {
		.period = 15 * RNA_USEC_PER_SEC,
		.options = {RNA_COUNTERS_AUTO, RNA_HW_COUNTERS_NETLINK, true, true},
	};
	struct rna_error error;

	fuzz_place_new("root");
	fuzz_place_path("root", place);
	for (int files = 0; files < FILES_MAX && (line = fuzz_line(&rest)); files++)
		fuzz_place_obey(place, line);
	FUZZ_WANT(rna_root_open(place, &root, &error) == 0);
	backends = rna_backends_new(root);
	FUZZ_WANT(backends);
	in.root = root;
	in.backends = backends;
	fuzz_collect_all(&in);
	return 0;
}
