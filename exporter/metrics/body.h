/* SPDX-License-Identifier: Apache-2.0 */
/* How bodies are made; what they are stands in rna/exporter.h. */
#pragma once

#include "rna/exporter.h"

RNA_DEFINE_CLEANUP(struct rna_body, rna_body_unref)

/* *ret holds one reference. Both take over the data, also on failure. 0 or -ENOMEM. */
int rna_body_new(char *data, size_t len, struct rna_body **ret);
int rna_body_take(struct rna_strbuf *buf, struct rna_body **ret); /* leaves buf empty */
