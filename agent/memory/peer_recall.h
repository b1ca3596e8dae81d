/* SPDX-License-Identifier: Apache-2.0 */
/* What the memory knows of peers, as the collector fabric would say it: before that has asked. */
#pragma once

struct rna_device_memory;
struct rna_part;

/* A part of the collector fabric with the peers of this HCA's ports. NULL: none, or no memory. */
struct rna_part *rna_peers_recall(const struct rna_device_memory *device, const char *hca);
