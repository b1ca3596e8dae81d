/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCI functions that had an RDMA device: presence looks what has become of those that have none.
 * Thread: counted by the loop, as parts are; const in between, so any lane may read.
 */
#pragma once

#include <stddef.h>

#include "rna/arena.h"

struct rna_addresses {
	unsigned refs;
	struct rna_arena *arena; /* owns this struct and its texts */
	size_t count;
	const char **items; /* "0000:3b:00.0" */
};

/* Room for count addresses, which the caller fills in, counting them; one reference. NULL: no
 * memory. */
struct rna_addresses *rna_addresses_new(size_t room);
struct rna_addresses *rna_addresses_ref(struct rna_addresses *addresses);   /* accepts NULL */
struct rna_addresses *rna_addresses_unref(struct rna_addresses *addresses); /* accepts NULL */
RNA_DEFINE_CLEANUP(struct rna_addresses, rna_addresses_unref)
