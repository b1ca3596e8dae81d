/* SPDX-License-Identifier: Apache-2.0 */
/* The GIDs of this machine's devices, for the programs in this folder. */
#pragma once

#include <arpa/inet.h>
#include <stdio.h>

#include "rna/base/cleanup.h"

/* That of port 1 at that index. False: there is none. */
static inline bool read_own_gid(const char *device, int index, uint8_t ret[16])
{
	char path[256], text[64] = "";
	RNA_FCLOSE FILE *file = NULL;

	(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gids/%d", device,
		       index);
	file = fopen(path, "re");
	return file && fscanf(file, "%63s", text) == 1 && inet_pton(AF_INET6, text, ret) == 1;
}
