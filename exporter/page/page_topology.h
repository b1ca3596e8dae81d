/* SPDX-License-Identifier: Apache-2.0 */
/* The section of the status page that shows which GPU and which NIC are near each other. */
#pragma once

#include "rna/base/strbuf.h"
#include "rna/model/view.h"

/* Also adds to failed when there is no memory. Writes nothing while the topology is not known. */
void rna_write_page_topology(const struct rna_view *view, struct rna_strbuf *out);
