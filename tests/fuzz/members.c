// SPDX-License-Identifier: Apache-2.0
/* Files that list the members of the mesh, and who probes whom among them. */
#include <stdio.h>
#include <unistd.h>

#include "mesh/neighbours.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	struct rna_neighbours neighbours;
	struct rna_members members;
	struct rna_error error = {0};
	static char path[64];
	RNA_FCLOSE FILE *file = NULL;
	int status;

	FUZZ_WANT(arena);
	(void)snprintf(path, sizeof(path), "/tmp/rna-fuzz-members.%d", getpid());
	file = fopen(path, "we");
	FUZZ_WANT(file);
	(void)fwrite(data, 1, size, file);
	(void)fflush(file);
	status = rna_members_read(path, arena, &members, &error);
	(void)unlink(path);
	fuzz_want_error(status, &error);
	for (size_t i = 0; i < members.count && i < 8; i++) {
		const struct rna_member *member = &members.members[i];

		FUZZ_WANT(rna_neighbours_choose(&members, member->name, member->leaf, 3,
						&neighbours) == 0);
		for (size_t k = 0; k < neighbours.count; k++)
			FUZZ_WANT(neighbours.members[k] < members.count &&
				  neighbours.members[k] != i);
	}
	return 0;
}
