/* SPDX-License-Identifier: Apache-2.0 */
/* What a process finds of RDMA, as lines for a terminal. */
#pragma once

#include <stddef.h>

#include "rna/base/strbuf.h"
#include "rna/model/inside.h"

/* The lines in front of the table of its ports, with a blank one at the end. width: 0: any. */
void rna_write_inside(const struct rna_inside *inside, size_t width, struct rna_strbuf *out);
