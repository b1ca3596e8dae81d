// SPDX-License-Identifier: Apache-2.0
#include "representor.h"

#include <string.h>

bool rna_is_representor(const struct rna_root *root, const char *netdev, struct rna_arena *scratch)
{
	const char *path = rna_arena_printf(scratch, "sys/class/net/%s/phys_port_name", netdev);
	char name[64];

	return path && rna_root_read(root, path, name, sizeof(name)) > 0 && strstr(name, "pf");
}
