// SPDX-License-Identifier: Apache-2.0
/* A kubeconfig. Files that it names are read, and not written: let them be those of the machine. */
#include <string.h>

#include "kubernetes/access.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	const struct rna_kubernetes_options options = {.kubeconfig = fuzz_file(data, size)};
	struct rna_kube_access access = {0};
	struct rna_error error = {0};
	int status;

	FUZZ_WANT(arena);
	status = rna_kube_access_read(&options, arena, &access, &error);
	fuzz_want_error(status, &error);
	if (status < 0)
		return 0;
	FUZZ_WANT(strncmp(access.server, "http", 4) == 0);
	FUZZ_WANT(access.server[strlen(access.server) - 1] != '/');
	/* it becomes a line of a request */
	FUZZ_WANT(!access.token || !strpbrk(access.token, "\r\n"));
	return 0;
}
