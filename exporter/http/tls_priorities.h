/* SPDX-License-Identifier: Apache-2.0 */
/* Versions, cipher suites and curves: from the names of Go, which the file has, to GnuTLS's. */
#pragma once

#include "rna/base/strbuf.h"
#include "rna/web.h"

/*
 * What gnutls_priority_init(3) takes. 0; -ENOMEM; -EINVAL with error where options name what is not
 * known, or what GnuTLS cannot say.
 */
int rna_tls_write_priorities(const struct rna_web_options *options, struct rna_strbuf *out,
			     struct rna_error *error);
