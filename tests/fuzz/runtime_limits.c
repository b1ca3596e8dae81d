// SPDX-License-Identifier: Apache-2.0
/*
 * Configurations of container runtimes, with the specifications that they name and the files that
 * they import, and processes in containers. The input is in the language of place.h.
 */
#include "processes/runtime_limits.h"

#include <string.h>

#include "fuzz.h"
#include "place.h"

enum { FILES_MAX = 64, CONTAINERS_MAX = 1024 /* as runtime_limits.c has it */ };

static const char *const units[] = {
	"containerd.service", "crio.service",        "docker.service",
	"k3s-agent.service",  "rke2-server.service", "another.service",
};

/* Where the limit is from, as the user reads it. */
static void want_file(const struct rna_root *root, const struct rna_runtime *runtime)
{
	bool says = runtime->spec.state != RNA_VALUE_ABSENT;

	FUZZ_WANT(says == (runtime->spec_file != NULL));
	FUZZ_WANT(!says || runtime->spec_file[0] == '/');
	/* an unreadable one may lead nowhere, in a loop, or through a file */
	FUZZ_WANT(!rna_value_is_known(runtime->spec) ||
		  rna_root_exists(root, runtime->spec_file + 1));
}

static void read_specs(const struct rna_root *root, struct rna_arena *arena,
		       struct rna_runtime *runtimes)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(units); i++) {
		struct rna_runtime again = {.unit = units[i]};

		runtimes[i] = (struct rna_runtime){.unit = units[i]};
		FUZZ_WANT(rna_read_runtime_spec(root, arena, &runtimes[i]) == 0);
		FUZZ_WANT(rna_read_runtime_spec(root, arena, &again) == 0);
		want_file(root, &runtimes[i]);
		FUZZ_WANT(runtimes[i].spec.state == again.spec.state &&
			  runtimes[i].spec.number == again.spec.number);
	}
	FUZZ_WANT(runtimes[RNA_ARRAY_SIZE(units) - 1].spec.state == RNA_VALUE_ABSENT);
}

static void read_processes(const struct rna_root *root, struct rna_arena *arena,
			   struct rna_runtime *runtimes)
{
	struct rna_container_limits limits = {0};
	bool low;

	FUZZ_WANT(rna_read_process_limits(root, arena, runtimes, RNA_ARRAY_SIZE(units), &limits) ==
		  0);
	low = limits.low > 0;
	FUZZ_WANT(limits.low <= limits.count && limits.count <= CONTAINERS_MAX);
	FUZZ_WANT(low == rna_value_is_known(limits.lowest) && low == (limits.example != NULL));
	FUZZ_WANT(!low || limits.lowest.number < RNA_MEMLOCK_ENOUGH);
	FUZZ_WANT(!low || strspn(limits.example, "0123456789abcdef") == strlen(limits.example));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct rna_runtime runtimes[RNA_ARRAY_SIZE(units)];
	RNA_FREE char *text = fuzz_text(data, size);
	char *rest = text, *line, place[FUZZ_PLACE_MAX];
	struct rna_error error;

	FUZZ_WANT(arena);
	fuzz_place_new("root");
	fuzz_place_path("root", place);
	for (int files = 0; files < FILES_MAX && (line = fuzz_line(&rest)); files++)
		fuzz_place_obey(place, line);
	FUZZ_WANT(rna_root_open(place, &root, &error) == 0);
	read_specs(root, arena, runtimes);
	read_processes(root, arena, runtimes);
	return 0;
}
