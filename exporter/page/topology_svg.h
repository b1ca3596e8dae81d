/* SPDX-License-Identifier: Apache-2.0 */
/* The drawing of the topology as a part of an HTML document, where no name space is to be told. */
#pragma once

#include "rna/base/strbuf.h"
#include "rna/model/view.h"

void rna_write_topology_inline(const struct rna_view *view, struct rna_strbuf *out);
