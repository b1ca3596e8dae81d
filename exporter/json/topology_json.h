/* SPDX-License-Identifier: Apache-2.0 */
/* The topology in documents of JSON that have more in them. */
#pragma once

#include "rna/model/topology.h"

#include "json_writer.h"

/* GPUs, NICs and who is nearest to whom. */
json_t *rna_json_topology(struct rna_json_writer *writer, const struct rna_topology *topology);
