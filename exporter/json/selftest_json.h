/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of the self-test as JSON. */
#pragma once

#include "rna/model/selftest.h"

#include "json_writer.h"

/* What stands of the self-test in the document of all that is known: the newest test. */
json_t *rna_selftest_summary(struct rna_json_writer *writer, const struct rna_selftest_port *port);

void rna_selftest_write_json(const struct rna_selftest_run *runs, size_t count,
			     struct rna_strbuf *out);
