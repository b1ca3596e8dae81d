/* SPDX-License-Identifier: Apache-2.0 */
/* What the memory knows of peers, as the collector fabric would say it: before that has asked. */
#pragma once

#include "rna/model/device.h"
#include "rna/model/part.h"

struct rna_device_memory;
struct rna_memory;

/* A part of the collector fabric with the peers of this HCA's ports. NULL: none, or no memory. */
struct rna_part *rna_peers_recall(const struct rna_device_memory *device, const char *hca);

/*
 * What the memory knows of a device, as a part of that collector; identity: NULL: not read yet.
 * NULL: nothing, or no memory.
 */
struct rna_part *rna_memory_recall(struct rna_memory *memory, enum rna_collector_id id,
				   const struct rna_device *device,
				   const struct rna_identity *identity);
