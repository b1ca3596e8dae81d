// SPDX-License-Identifier: Apache-2.0
/* The web configuration, and what is made of it before a connection comes. */
#include <string.h>

#include "config/web_config.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);
	struct rna_arena *arena = rna_arena_new(0);
	struct rna_web_options options = {0};
	struct rna_error error = {0};
	struct rna_web *web = NULL;
	int status;

	FUZZ_WANT(arena);
	status = rna_web_config_read(path, arena, &options, &error);
	fuzz_want_error(status, &error);
	if (status < 0) {
		FUZZ_WANT(strncmp(error.text, path, strlen(path)) == 0);
		(void)rna_arena_free(arena);
		return 0;
	}
	for (size_t i = 0; i < options.users.count; i++)
		FUZZ_WANT(rna_web_hash_cost(options.users.items[i].value) <= RNA_WEB_COST_MAX);
	status = rna_web_new(&options, arena, &web, &error);
	fuzz_want_error(status, &error);
	(void)rna_web_unref(web);
	return 0;
}
