/* SPDX-License-Identifier: Apache-2.0 */
/* What presence decides without touching the machine, for its tests. */
#pragma once

#include <stddef.h>

#include "rna/base/arena.h"

/*
 * The identity of a device, see struct rna_device: pci_address and subfunction (digits of sfnum)
 * may be NULL. In arena or one of the arguments; NULL: no memory.
 */
const char *rna_device_key(const char *pci_address, const char *subfunction, const char *name,
			   struct rna_arena *arena);

/*
 * The port numbers among the names of a ports/ directory, which is sorted, so they ascend. Other
 * names are left out. ret has room for count. Number of ports.
 */
size_t rna_device_ports(char *const *names, size_t count, unsigned *ret);
