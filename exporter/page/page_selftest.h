/* SPDX-License-Identifier: Apache-2.0 */
/* The section of the status page that shows what self-tests came to. */
#pragma once

#include "rna/base/strbuf.h"
#include "rna/model/view.h"

/* Writes nothing where no port is to be tested. */
void rna_write_page_selftest(const struct rna_view *view, struct rna_strbuf *out);
