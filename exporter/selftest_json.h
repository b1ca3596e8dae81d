/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of the self-test as JSON. */
#pragma once

#include "rna/selftest.h"
#include "rna/strbuf.h"

void rna_selftest_write_json(const struct rna_selftest_run *runs, size_t count,
			     struct rna_strbuf *out);
