/* SPDX-License-Identifier: Apache-2.0 */
/* What the table of ports shows of the wire below an Ethernet port: its link, and its module. */
#pragma once

#include "page_parts.h"

/* Lines below what the RDMA port says of its link: FEC and lanes, or why there is no link. */
void rna_page_wire(struct rna_strbuf *out, const struct rna_subject *port);

/* The modules in its cages; a dash without any. */
void rna_page_modules(struct rna_strbuf *out, const struct rna_subject *port);
bool rna_page_has_modules(const struct rna_subject *port);
