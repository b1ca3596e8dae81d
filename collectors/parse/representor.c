// SPDX-License-Identifier: Apache-2.0
#include "representor.h"

#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"

bool rna_is_representor(const struct rna_root *root, const char *netdev, struct rna_arena *scratch)
{
	const char *path = rna_arena_printf(scratch, "sys/class/net/%s/phys_port_name", netdev);
	char name[64];

	return path && rna_root_read(root, path, name, sizeof(name)) > 0 && strstr(name, "pf");
}

int rna_vf_parse_representor(const char *text, unsigned *ret_pf, unsigned *ret_vf)
{
	char *copy, *vf;
	uint64_t pf_number, vf_number;
	char buffer[32];

	if (strncmp(text, "pf", 2) != 0 || strlen(text) >= sizeof(buffer))
		return -ENOENT;
	copy = strcpy(buffer, text + 2);
	vf = strstr(copy, "vf");
	if (!vf)
		return -ENOENT;
	*vf = '\0';
	if (rna_parse_u64(copy, &pf_number) < 0 || rna_parse_u64(vf + 2, &vf_number) < 0 ||
	    pf_number > UINT16_MAX || vf_number > UINT16_MAX)
		return -ENOENT;
	*ret_pf = (unsigned)pf_number;
	*ret_vf = (unsigned)vf_number;
	return 0;
}
