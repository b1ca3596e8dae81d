/* SPDX-License-Identifier: Apache-2.0 */
/* The man pages, in the man(7) language, written from the tables of the code. */
#pragma once

#include "rna/base/strbuf.h"

void rna_manual_write_program(struct rna_strbuf *out);       /* rdma-node-agent(8) */
void rna_manual_write_configuration(struct rna_strbuf *out); /* rdma-node-agent.yaml(5) */
