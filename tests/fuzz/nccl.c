// SPDX-License-Identifier: Apache-2.0
/* NCCL's choice: five lines are what the environment says, each further one is a GID. */
#include "rna/model/nccl.h"

#include "fuzz.h"

enum { ENTRIES_MAX = 64 };

/* Types in turn, as tables have them. */
static size_t read_table(char *rest, struct rna_gid_entry entries[ENTRIES_MAX])
{
	size_t count = 0;

	for (unsigned index = 0; index < ENTRIES_MAX; index++) {
		const char *line = fuzz_line(&rest);

		if (!line)
			break;
		if (rna_gid_parse(line, &entries[count].gid) < 0)
			continue; /* an index without an entry */
		entries[count].index = index;
		entries[count].type = index % 2 ? RNA_GID_TYPE_ROCE_V2 : RNA_GID_TYPE_ROCE_V1;
		count++;
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_FREE char *text = fuzz_text(data, size);
	char *rest = text;
	struct rna_nccl_environment environment;
	struct rna_nccl_settings settings;
	struct rna_gid_entry entries[ENTRIES_MAX] = {0};
	struct rna_port_gids gids = {.number = 1, .entries = entries};

	environment.gid_index = fuzz_line(&rest);
	environment.addr_family = fuzz_line(&rest);
	environment.addr_range = fuzz_line(&rest);
	environment.roce_version = fuzz_line(&rest);
	environment.flid_index = fuzz_line(&rest);
	settings = rna_nccl_settings_parse(&environment);
	FUZZ_WANT(settings.family < RNA_GID_FAMILY_COUNT);
	FUZZ_WANT(settings.range_bits <= 128);
	gids.count = read_table(rest, entries);
	(void)rna_nccl_gid_index(&gids, false, &settings);
	(void)rna_nccl_gid_index(&gids, true, &settings);
	return 0;
}
