// SPDX-License-Identifier: Apache-2.0
/* /proc/PID/cgroup: whatever it says, a name is made of what such names are made of. */
#include "parse/cgroup.h"

#include <string.h>

#include "fuzz.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static void check_made_of(const char *name, const char *characters)
{
	FUZZ_WANT(!name || (name[0] != '\0' && name[strspn(name, characters)] == '\0'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_FREE char *text = fuzz_text(data, size);
	struct rna_cgroup_owner owner;

	rna_cgroup_read(text, &owner);
	check_made_of(owner.pod, "0123456789abcdef-");
	check_made_of(owner.container, "0123456789abcdef");
	check_made_of(owner.job, LETTERS);
	FUZZ_WANT(!owner.container || strlen(owner.container) == RNA_CONTAINER_ID);
	FUZZ_WANT(!owner.unit || (!owner.pod && !owner.container && !owner.job));
	FUZZ_WANT(!owner.unit || !strpbrk(owner.unit, "/\n"));
	return 0;
}
