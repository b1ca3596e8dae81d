/* SPDX-License-Identifier: Apache-2.0 */
/* Pure functions of presence, declared for its tests. */
#pragma once

#include <stddef.h>

#include "rna/base/arena.h"

/*
 * The key of a device, see struct rna_device. pci_address and subfunction (digits of sfnum) may be
 * NULL. The result is in arena or one of the arguments; NULL: no memory.
 */
const char *rna_device_key(const char *pci_address, const char *subfunction, const char *name,
			   struct rna_arena *arena);

/*
 * The port numbers among the sorted names of a ports/ directory, ascending. Skips other names. ret
 * has room for count. Number of ports.
 */
size_t rna_device_ports(char *const *names, size_t count, unsigned *ret);
